"""Writes what a job needs to run on a cluster: a batch script, a rankfile for each number of ranks, a binding to GPUs.

The script runs `weft bench` inside the allocation. Open MPI's processes are placed by the rankfiles, which name nodes
by their place in the allocation; those of other MPIs, or where --launcher says so, by srun.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.bench.cells import Group
from weft.bench.job import Refusal
from weft.bench.journal import Folder
from weft.bench.launch import Launcher
from weft.bench.run import groups_of, weft_command, with_absolute_adapters

GPU_WRAPPER = """\
#!/bin/sh
# Shows each process one of the {gpus} GPUs of its node: rank 0 of a node the first, and so on.
CUDA_VISIBLE_DEVICES=$((${{OMPI_COMM_WORLD_LOCAL_RANK:-${{SLURM_LOCALID:-0}}}} % {gpus}))
export CUDA_VISIBLE_DEVICES
exec "$@"
"""


@dataclass
class Cluster:
    """What the command line says of the cluster."""

    nodes: int = 1
    ranks_per_node: int = 0  # 0: what the job needs
    gpus_per_node: int = 0
    partition: str | None = None
    time: str | None = None
    launcher: str | None = None  # mpirun or srun; None: what suits the MPI
    flags: tuple[str, ...] = ()  # words more for it

    @classmethod
    def of(cls, options: argparse.Namespace) -> Cluster:
        return cls(
            options.nodes or 1,
            options.ranks_per_node or 0,
            options.gpus_per_node or 0,
            options.partition,
            options.time,
            options.launcher,
            tuple(options.launcher_flag),
        )

    def starts_by_mpirun(self, mpi: str) -> bool:
        """Open MPI's mpirun places processes, by rankfiles; srun those of other MPIs, or where it is asked for."""
        return (self.launcher or ("mpirun" if mpi == "openmpi" else "srun")) == "mpirun"


def rankfile(ranks: int, threads: int, ranks_per_node: int) -> str:
    """Fills one node after the other; each rank has a core for each of its threads."""
    lines = []
    for rank in range(ranks):
        node, local = divmod(rank, ranks_per_node)
        first, last = local * threads, (local + 1) * threads - 1
        lines.append(f"rank {rank}=+n{node} slot={first}" + (f"-{last}" if last > first else ""))
    return "\n".join(lines) + "\n"


def gpu_map(ranks_per_node: int, gpus: int) -> str:
    return "--gpu-bind=map_gpu:" + ",".join(str(local % gpus) for local in range(ranks_per_node))


def sbatch_lines(job: dict[str, Any], folder: Path, cluster: Cluster, threads: int) -> list[str]:
    wanted = {
        "job-name": f"weft-{job['name']}",
        "output": str(folder / "slurm-%j.out"),
        "nodes": cluster.nodes,
        "ntasks-per-node": cluster.ranks_per_node,
        "cpus-per-task": threads,
        "gpus-per-node": cluster.gpus_per_node or None,
        "partition": cluster.partition,
        "time": cluster.time,
    }
    # A while before the time limit weft is told to end, and does so in order.
    return ["#SBATCH --exclusive", "#SBATCH --signal=B:TERM@30"] + [
        f"#SBATCH --{name}={value}" for name, value in wanted.items() if value
    ]


def bench_words(folder: Path, cluster: Cluster, mpi: str) -> list[str]:
    """The command of the script."""
    words = [os.path.abspath(weft_command()), "bench", str(folder / "job.json"), "-o", str(folder)]
    words += [f"--launcher-flag={flag}" for flag in cluster.flags]
    if cluster.starts_by_mpirun(mpi):
        words += ["--launcher", "mpirun"]
        words += ["--rankfile", str(folder / "rankfile-{ranks}")] if mpi == "openmpi" else []
        return words + (["--wrap", str(folder / "bind-gpu")] if cluster.gpus_per_node else [])
    gpus = (
        [f"--launcher-flag={gpu_map(cluster.ranks_per_node, cluster.gpus_per_node)}"] if cluster.gpus_per_node else []
    )
    return [*words, "--launcher", "srun", *gpus]


def script(job: dict[str, Any], folder: Path, cluster: Cluster, threads: int, mpi: str) -> str:
    kept = {
        name: os.environ[name] for name in ("WEFT_WISDOM_DIR", "WEFT_PYTHON", "WEFT_PYTHONPATH") if name in os.environ
    }
    return "\n".join(
        [
            "#!/bin/bash",
            f"# Runs the job {job['name']} of weft bench. Submitted again, it continues where it stopped.",
            *sbatch_lines(job, folder, cluster, threads),
            "",
            "set -eu",
            *(f"export {name}={shlex.quote(value)}" for name, value in kept.items()),
            f"exec {shlex.join(bench_words(folder, cluster, mpi))}",
            "",
        ]
    )


def _fit(groups: list[Group], cluster: Cluster) -> None:
    """Sets the ranks of each node, or refuses rank counts for which there is no room."""
    most = max(group.ranks for group in groups)
    needed = -(-most // cluster.nodes)
    if cluster.ranks_per_node == 0:
        cluster.ranks_per_node = needed
    if cluster.ranks_per_node < needed:
        raise Refusal(
            f"--nodes {cluster.nodes} --ranks-per-node {cluster.ranks_per_node}: there is no room for the job's {most} "
            f"ranks; give --ranks-per-node {needed}, or more nodes"
        )


def write(job: dict[str, Any], path: Path, folder: Path, cluster: Cluster) -> int:
    """Writes the files into the results folder and says how to submit."""
    launcher = Launcher()
    groups = groups_of(job, path, launcher)
    _fit(groups, cluster)
    threads = max(group.threads for group in groups)
    folder = folder.resolve()
    results = Folder(folder)
    try:
        results.open(fresh=False)
        results.write_json("job.json", with_absolute_adapters(job, path.resolve().parent))
        if cluster.starts_by_mpirun(launcher.mpi) and launcher.mpi == "openmpi":
            for group in groups:
                text = rankfile(group.ranks, group.threads, cluster.ranks_per_node)
                (folder / f"rankfile-{group.ranks}").write_text(text)
        if cluster.gpus_per_node and cluster.starts_by_mpirun(launcher.mpi):
            wrapper = folder / "bind-gpu"
            wrapper.write_text(GPU_WRAPPER.format(gpus=cluster.gpus_per_node))
            wrapper.chmod(0o755)
        batch = folder / "job.sbatch"
        batch.write_text(script(job, folder, cluster, threads, launcher.mpi))
    except OSError as error:
        raise Refusal(f"{folder}: {error.strerror}; use another folder with -o") from None
    finally:
        results.close()
    where = "" if shutil.which("sbatch") else ", where SLURM is"
    print(f"wrote {batch}; submit it{where}: sbatch {shlex.quote(str(batch))}")
    return 0
