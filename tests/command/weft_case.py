"""What the tests of the command share: a folder for each, and ways to run weft in it.

ctest runs each test_*.py; by hand: WEFT=build/tools/weft python3 test_flags.py
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import tempfile
import time
import unittest
import uuid
from contextlib import suppress
from pathlib import Path

import numpy as np

WEFT = os.environ["WEFT"]
HDF5 = os.environ.get("WEFT_HDF5", "1") == "1"
EXPAT = os.environ.get("WEFT_EXPAT", "1") == "1"
TYPES = {
    "u8": "u1",
    "i16": "i2",
    "u16": "u2",
    "i32": "i4",
    "f4": "f4",
    "f8": "f8",
    "c8": "c8",
    "c16": "c16",
}


SESSIONS = tempfile.TemporaryDirectory(prefix="weft-mpi-")


def environment(**more: str) -> dict[str, str]:
    """For one run: Open MPI's processes that were started alone, without its daemon, would share a folder otherwise,
    which the first one to end removes."""
    return os.environ | {"OMPI_MCA_orte_tmpdir_base": tempfile.mkdtemp(dir=SESSIONS.name)} | more


def random_array(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng()
    kind = np.dtype(dtype)
    if kind.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind)
    if kind.kind == "f":
        return rng.standard_normal(shape).astype(kind)
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, size=shape, dtype=kind, endpoint=True)


def transform(array: np.ndarray) -> np.ndarray:
    """The forward transform in double precision."""
    wide = array.astype("c16" if array.dtype.kind == "c" else "f8")
    return np.fft.fftn(wide) if array.dtype.kind == "c" else np.fft.rfftn(wide)


class SlowRun:
    """A transform that is stopped as soon as its hidden output file is there, so that a test can do to it what it
    likes: kill processes, start others."""

    def __init__(self, case: Case, output: str, ranks: int = 1, launcher: list[str] | None = None) -> None:
        self.folder, self.ranks = case.folder, ranks
        if not (self.folder / "slow.npy").exists():
            case.save("slow.npy", random_array((160, 160, 160), "u1"))
        # By the environment all processes of this run are found, whoever started them.
        self.mark = f"WEFT_TEST_MARK={uuid.uuid4().hex}"
        line = [*(launcher or []), WEFT, *(["--ranks", str(ranks)] if ranks > 1 and not launcher else [])]
        before = set(self.hidden())
        self.process = subprocess.Popen(
            [*line, "transform", "slow.npy", output, "--engine", "reference"],
            cwd=self.folder,
            env=environment(**dict([self.mark.split("=")])),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        case.addCleanup(self.clear)
        deadline = time.monotonic() + 60
        self.stopped: dict[int, int] = {}
        while set(self.hidden()) <= before and self.process.poll() is None and time.monotonic() < deadline:
            if len(self.stopped) < ranks:
                self.stopped = self.workers()
            time.sleep(0.001)
        self._stop()
        case.assertEqual(len(self.stopped), ranks)
        # It may have been stopped between creating the file and locking it, when others may take it for a leftover.
        while not (own := [name for name in self.hidden() if name not in before and self._is_locked(name)]):
            case.assertIsNone(self.process.poll(), "it was faster than the test")
            self.resume()
            time.sleep(0.001)
            self._stop()
        case.assertIsNone(self.process.poll(), "it was faster than the test")
        (self.own,) = own

    def _stop(self) -> None:
        for pid in self.stopped.values():
            os.kill(pid, signal.SIGSTOP)
        for pid in self.stopped.values():
            while Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "TZX":
                time.sleep(0.0001)

    def _is_locked(self, name: str) -> bool:
        with (self.folder / name).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def hidden(self) -> list[str]:
        return sorted(p.name for p in self.folder.iterdir() if p.name.startswith("."))

    def processes(self) -> list[int]:
        """Every process of this run that is alive."""
        alive = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and self.mark.encode() in (entry / "environ").read_bytes():
                    alive.append(int(entry.name))
            except OSError:
                pass
        return alive

    def _started(self) -> dict[int, tuple[int, int]]:
        """The process of each rank and the one that watches it, or that process twice without a launcher."""
        found = {}
        for pid in self.processes():
            try:
                environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                name = Path(f"/proc/{pid}/comm").read_text().strip()
                parent = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
                parent_name = Path(f"/proc/{parent}/comm").read_text().strip()
            except OSError:
                continue
            rank = [e.split(b"=")[1] for e in environment if e.startswith((b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK="))]
            if name == "weft" and rank and parent_name == "weft-watch":
                found[int(rank[0])] = (pid, parent)
            elif name == "weft" and pid == self.process.pid and self.ranks == 1:
                found[0] = (pid, pid)
        return found

    def workers(self) -> dict[int, int]:
        """The process of each rank."""
        return {rank: pids[0] for rank, pids in self._started().items()}

    def parents(self) -> dict[int, int]:
        """The process that watches each rank."""
        return {rank: pids[1] for rank, pids in self._started().items()}

    def launcher(self) -> int:
        """What weft --ranks started."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])

    def resume(self) -> None:
        for pid in self.stopped.values():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def wait(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err

    def all_gone(self, seconds: float = 15.0) -> bool:
        """Whether no process of this run is left after so long."""
        deadline = time.monotonic() + seconds
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.02)
        return not self.processes()

    def clear(self) -> None:
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Case(unittest.TestCase):
    """A folder for each test, and ways to run the command in it."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="weft-command-")
        self.folder = Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)

    def run_weft(
        self, *arguments: object, ranks: int = 1, **options
    ) -> subprocess.CompletedProcess:
        line = [WEFT] + (["--ranks", str(ranks)] if ranks > 1 else []) + [str(a) for a in arguments]
        options.setdefault("env", environment())
        return subprocess.run(
            line, capture_output=True, text=True, cwd=self.folder, timeout=300, **options
        )

    def succeed(self, *arguments: object, ranks: int = 1) -> str:
        done = self.run_weft(*arguments, ranks=ranks)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def refuse(self, *arguments: object, ranks: int = 1, status: int = 2, **options) -> str:
        """Runs what must fail with one line, and returns the line."""
        done = self.run_weft(*arguments, ranks=ranks, **options)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, (arguments, done.stderr))
        self.assertTrue(lines[0].startswith("weft: "), lines)
        return lines[0]

    def save(self, name: str, array: np.ndarray) -> None:
        np.save(self.folder / name, array)

    def load(self, name: str) -> np.ndarray:
        return np.load(self.folder / name)

    def names(self) -> list[str]:
        return sorted(p.name for p in self.folder.iterdir())

    def assert_close(self, got: np.ndarray, expected: np.ndarray, single: bool = False) -> None:
        self.assertEqual(got.shape, expected.shape)
        error = np.linalg.norm((got - expected).ravel()) / max(
            np.linalg.norm(expected.ravel()), 1e-300
        )
        single = single or got.dtype.char in "fF"
        self.assertLess(error, 2e-6 if single else 5e-15)
