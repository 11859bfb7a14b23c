"""The command line of `weft bench`."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from pathlib import Path
from textwrap import indent
from typing import NoReturn

from weft.bench import ceilings, slurm
from weft.bench.job import Refusal, read_job
from weft.bench.launch import Launcher
from weft.bench.run import Run, Settings, groups_of, say, show_plan, weft_command

NOTES = """\
A folder that has results is continued: cells that were measured are kept, whatever else the job asks for is added. It
must have been measured by the same version of weft on the same kind of processor; use another folder otherwise, or
--fresh. `weft bench DIR` continues what is in DIR. What failed is tried again; what was wrong stays so until --fresh.

Exit status: 0; 1 where a result is wrong or something failed while running; 2 where you must change something.
The members of a job are described in job.schema.json, next to this program's modules.
"""
EXAMPLES = """\
weft bench bench/jobs/exchanges.json
weft bench bench/jobs/exchanges.json --small --output trial
"""


class Parser(argparse.ArgumentParser):
    """Answers mistakes with one sentence and exit status 2."""

    def error(self, message: str) -> NoReturn:
        raise Refusal(f"bench: {message}; see weft bench --help")


def whole_number(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)


# What sbatch takes: minutes, minutes:seconds, hours:minutes:seconds, days-hours, and minutes and seconds behind these.
TIME_LIMIT = re.compile(r"\d+(:\d+){0,2}|\d+-\d+(:\d+){0,2}", re.ASCII)
FOR_SLURM = ("nodes", "ranks_per_node", "gpus_per_node", "partition", "time")
OF_THE_SCRIPT = ("rankfile", "wrap")


def time_limit(text: str) -> str:
    if not TIME_LIMIT.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text} is no time limit; give minutes, hours:minutes:seconds or days-hours")
    return text


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="weft bench",
        description="Measures weft and other libraries as a job file says.",
        epilog=f"{NOTES}\nExamples:\n{indent(EXAMPLES, '  ')}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = made.add_argument
    add("job", nargs="?", metavar="JOB.json", help="the job, or a results folder that holds one")
    add("-o", "--output", metavar="DIR", help="results folder (default: the job's name)")
    add("--small", action="store_true", help="the job's small part: a trial of a few seconds")
    add("--dry-run", action="store_true", help="list process groups, problems and cells; measure nothing")
    add("--fresh", action="store_true", help="forget the results that are in the folder")
    add("--quiet", action="store_true", help="print nothing but errors")
    add(
        "--ceilings",
        action="store_true",
        help="measure what the machine can do at best, before the job if one is given",
    )
    launching = made.add_argument_group("starting processes")
    launching.add_argument(
        "--launcher",
        choices=("mpirun", "srun"),
        help="default: srun inside a SLURM allocation that can start processes of this MPI, else mpirun",
    )
    launching.add_argument(
        "--launcher-flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="a word more for it, such as --launcher-flag=--hostfile=hosts; may be repeated; default: none",
    )
    launching.add_argument(
        "--rankfile",
        metavar="FILE",
        help="Open MPI's rankfile; {ranks} in its name stands for the number of ranks; default: none",
    )
    launching.add_argument(
        "--wrap", metavar="PROGRAM", help="a program that starts each process, to bind it; default: none"
    )
    cluster = made.add_argument_group("clusters")
    cluster.add_argument("--slurm", action="store_true", help="write a batch script for the job; measure nothing")
    cluster.add_argument("--nodes", type=whole_number, metavar="N", help="default: 1")
    cluster.add_argument("--ranks-per-node", type=whole_number, metavar="K", help="default: what the job needs")
    cluster.add_argument(
        "--gpus-per-node", type=whole_number, metavar="G", help="bind ranks to GPUs in turn; default: none"
    )
    cluster.add_argument("--partition", metavar="P", help="where to run; default: the cluster's")
    cluster.add_argument("--time", type=time_limit, metavar="T", help="time limit, as sbatch reads it; default: the cluster's")
    return made


def check_cluster(options: argparse.Namespace) -> None:
    """Refuses flags that would be ignored."""
    ignored = OF_THE_SCRIPT if options.slurm else FOR_SLURM
    for name in ignored:
        if getattr(options, name) is None:
            continue
        flag = f"--{name.replace('_', '-')}"
        raise Refusal(
            f"bench: {flag} is not for --slurm, whose script has its own; drop it"
            if options.slurm
            else f"bench: {flag} is for the batch script that --slurm writes; add --slurm, or drop it"
        )
    if options.slurm and options.job is None:
        raise Refusal("bench: --slurm writes the script of a job; give one, such as weft bench job.json --slurm")


def run_job(options: argparse.Namespace) -> int:
    path = Path(options.job)
    folder = Path(options.output) if options.output else None
    if path.is_dir():
        folder, path = folder or path, path / "job.json"
    job = read_job(path, options.small)
    folder = folder or Path(job["name"])
    if options.slurm:
        return slurm.write(job, path, folder, slurm.Cluster.of(options))
    launcher = Launcher.choose(options.launcher, options.launcher_flag, options.rankfile, options.wrap)
    if options.dry_run:
        show_plan(job, groups_of(job, path, launcher), launcher)
        return 0
    return Run(Settings(job, path, folder, launcher, options.fresh, options.quiet, options.ceilings)).go()


def run_ceilings(options: argparse.Namespace) -> int:
    launcher = Launcher.choose(options.launcher, options.launcher_flag, options.rankfile, options.wrap)
    folder = Path(options.output or ".")
    failures = ceilings.measure(folder, launcher, weft_command(), (lambda line: None) if options.quiet else print)
    if failures:
        say("; ".join(failures))
        return 1
    if not options.quiet:
        print(f"wrote {folder / 'ceilings.json'}")
    return 0


def main(arguments: list[str]) -> int:
    try:
        options = parser().parse_args(arguments)
        check_cluster(options)
        if options.job is not None:
            return run_job(options)
        if not options.ceilings:
            raise Refusal("bench: give a job, such as weft bench job.json; see weft bench --help")
        return run_ceilings(options)
    except Refusal as refusal:
        say(" ".join(str(refusal).split()))
        return 2
    except KeyboardInterrupt:
        return 130


def as_interrupt(number: int, frame: object) -> NoReturn:
    """A polite end, such as a batch system's at the time limit, is an interruption."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, as_interrupt)
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)
