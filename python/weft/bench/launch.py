"""Starts groups of processes that measure, bound to cores, with mpirun or srun; passes on what they say."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.bench.job import Refusal

PR_SET_PDEATHSIG = 1
SECONDS_TO_LEAVE = 10.0


def processors_of_cores() -> list[list[int]]:
    """The processors (hardware threads) that this process may use, core by core."""
    cores: dict[tuple[str, str], list[int]] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            core = (topology / "physical_package_id").read_text(), (topology / "core_id").read_text()
        except OSError:
            core = str(cpu), ""
        cores.setdefault(core, []).append(cpu)
    return list(cores.values())


def cores_here() -> int:
    """Cores (not hardware threads) that this process may use."""
    return max(1, len(processors_of_cores()))


def inside_slurm() -> bool:
    return "SLURM_JOB_ID" in os.environ and shutil.which("srun") is not None


def pmi_of_srun(mpi: str) -> str | None:
    """The plugin by which srun starts processes of an MPI, or None where it has none."""
    asked = subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, check=False)
    known = (asked.stdout + asked.stderr).split()
    return next((name for name in {"openmpi": ["pmix"], "mpich": ["pmi2"]}[mpi] if name in known), None)


@dataclass
class Launcher:
    """How a process group is started."""

    kind: str = "mpirun"  # or srun
    mpi: str = field(default_factory=lambda: os.environ.get("WEFT_MPI", "openmpi"))
    program: str = field(default_factory=lambda: os.environ.get("WEFT_MPIEXEC", "mpirun"))
    flags: list[str] = field(default_factory=list)
    rankfile: str | None = None  # {ranks} stands for the number of ranks
    wrap: str | None = None  # a program that starts each process
    nodes: int = field(default_factory=lambda: int(os.environ.get("SLURM_JOB_NUM_NODES", "1")))

    @classmethod
    def choose(cls, kind: str | None, flags: list[str], rankfile: str | None, wrap: str | None) -> Launcher:
        made = cls(flags=flags, rankfile=rankfile, wrap=wrap)
        if kind == "srun" and shutil.which("srun") is None:
            raise Refusal("--launcher srun: there is no srun here; use --launcher mpirun")
        if kind == "srun" and pmi_of_srun(made.mpi) is None:
            raise Refusal(f"--launcher srun: this SLURM cannot start processes of {made.mpi}; use --launcher mpirun")
        if kind is None:
            kind = "srun" if inside_slurm() and not rankfile and pmi_of_srun(made.mpi) else "mpirun"
        made.kind = kind
        return made

    def _openmpi(self, ranks: int, threads: int, fits: bool) -> list[str]:
        words = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        rankfile = Path(self.rankfile.replace("{ranks}", str(ranks))) if self.rankfile else None
        if rankfile is not None and rankfile.exists():
            return [*words, "--rankfile", str(rankfile)]
        if not fits:
            return [*words, "--oversubscribe", "--bind-to", "none"]
        return [*words, "--bind-to", "core", "--map-by", "core" if threads == 1 else f"slot:PE={threads}"]

    def _srun(self, threads: int, fits: bool) -> list[str]:
        words = [f"--mpi={pmi_of_srun(self.mpi)}", "-c", str(threads if fits else 1)]
        return words + (["--cpu-bind=cores"] if fits else ["--overcommit", "--cpu-bind=none"])

    def words(self, ranks: int, threads: int) -> list[str]:
        """The command line before the program: a core for each thread of each rank where there are enough."""
        fits = ranks * threads <= cores_here() * self.nodes
        if self.kind == "srun":
            line = ["srun", *self._srun(threads, fits)]
        elif self.mpi == "openmpi":
            line = [self.program, *self._openmpi(ranks, threads, fits)]
        else:
            line = [self.program, *(["-bind-to", f"core:{threads}"] if fits else [])]
        return [*line, *self.flags, "-n", str(ranks), *([self.wrap] if self.wrap else [])]

    def adapter_words(self, ranks: int, threads: int) -> list[str]:
        """The command line before an adapter that runs on MPI, which rank 0 of a group starts beside the group."""
        quiet = ["-q"] if self.mpi == "openmpi" else []  # the adapter says itself what it cannot do
        return replace(self, kind="mpirun", flags=quiet, rankfile=None, wrap=None).words(ranks, threads)

    def environment(self) -> dict[str, str]:
        made = dict(os.environ)
        if self.mpi == "openmpi" and os.geteuid() == 0:
            made |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return made


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a launcher and all that it started: politely, then not."""
    for number, patience in ((signal.SIGTERM, SECONDS_TO_LEAVE), (signal.SIGKILL, SECONDS_TO_LEAVE)):
        try:
            os.killpg(process.pid, number)
            process.wait(patience)
            break
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue


def run(words: list[str], environment: dict[str, str], take_line: Callable[[str], None]) -> tuple[int, list[str]]:
    """Runs a command line in a process group of its own, and returns its exit status and last lines. If this process
    is interrupted or dies, so does the group."""
    last: deque[str] = deque(maxlen=8)
    try:
        process = subprocess.Popen(
            words,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
    except OSError as error:
        raise Refusal(f"cannot start {words[0]}: {error.strerror}; install an MPI, or name its mpiexec") from None
    try:
        assert process.stdout is not None
        for line in process.stdout:
            last.append(line.rstrip("\n"))
            take_line(last[-1])
        return process.wait(), list(last)
    finally:
        if process.poll() is None:
            _end(process)
