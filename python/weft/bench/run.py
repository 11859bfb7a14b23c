"""Runs a job: starts one process group for each number of ranks, and keeps what they measure in a results folder.

A folder that has results is continued: only cells that it lacks are run. A table is measured by one version of weft on
one kind of machine; where either differs, the folder is left alone.
"""

from __future__ import annotations

import datetime
import os
import shlex
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.bench import ceilings, machine, summary
from weft.bench.adapters import command_of, find_adapter
from weft.bench.cells import Group, Problem, expand
from weft.bench.job import Refusal
from weft.bench.journal import Folder, Progress, what_is_left
from weft.bench.launch import Launcher, run


def weft_command() -> str:
    return os.environ.get("WEFT_COMMAND", "weft")


def say(text: str) -> None:
    print(f"weft: {text}", file=sys.stderr, flush=True)


class AdapterSearch:
    """Finds adapters for a job; says once of each that is not there."""

    def __init__(self, job_folder: Path, launcher: Launcher) -> None:
        self.job_folder, self.launcher = job_folder, launcher
        self.missing: set[str] = set()

    def __call__(self, library: str, name: str, mpi: bool, ranks: int, threads: int) -> list[str] | None:
        path = find_adapter(name, self.job_folder)
        if path is None:
            if name not in self.missing:
                say(f"{library} is left out: there is no adapter {name}")
            self.missing.add(name)
            return None
        return [*(self.launcher.adapter_words(ranks, threads) if mpi else []), *command_of(path)]


def groups_of(job: dict[str, Any], path: Path, launcher: Launcher) -> list[Group]:
    """The cells of a job; a Refusal starts with the file's name."""
    try:
        groups = expand(job, AdapterSearch(path.resolve().parent, launcher))
    except Refusal as refusal:
        raise Refusal(f"{path}: {refusal}") from None
    if not groups:
        raise Refusal(f"{path}: no cell is left; give less to exclude")
    return groups


def with_absolute_adapters(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The job, so that it can be run from another folder."""

    def moved(peers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        made = []
        for peer in peers:
            adapter = peer.get("adapter", "")
            made.append(peer | {"adapter": str((folder / adapter).resolve())} if "/" in adapter else peer)
        return made

    sets = [one | {"peers": moved(one["peers"])} if "peers" in one else one for one in job["sets"]]
    return job | {"sets": sets}


def count(groups: list[Group], together: int) -> tuple[int, int, int]:
    """Problems, cells and transforms of groups."""
    problems = cells = transforms = 0
    for group in groups:
        for problem, contestants in group.problems.items():
            own = sum(c["library"] == "weft" for c in contestants)
            blocks = max(1, -(-own // together))
            repeats = (problem.warmups + problem.iterations) * problem.repeats if problem.mode == "time" else 1
            problems, cells = problems + 1, cells + len(contestants)
            transforms += repeats * (own + (len(contestants) - own) * blocks)
    return problems, cells, transforms


def worker_problem(problem: Problem, contestants: list[dict[str, Any]], together: int) -> dict[str, Any]:
    made = problem._asdict() | {"shape": list(problem.shape), "together": together, "contestants": contestants}
    del made["ranks"]
    return made


def time_left(settled: int, wanted: int, took: float) -> str:
    """Such as ", 1:05 left", if the rest takes as long for each cell; "" where nothing tells."""
    if not 0 < settled < wanted:
        return ""
    minutes, seconds = divmod(round(took / settled * (wanted - settled)), 60)
    hours, minutes = divmod(minutes, 60)
    return f", {hours}:{minutes:02}:{seconds:02} left" if hours else f", {minutes}:{seconds:02} left"


@dataclass
class Settings:
    """What the command line says of a run."""

    job: dict[str, Any]
    path: Path
    folder: Path
    launcher: Launcher
    fresh: bool = False
    quiet: bool = False
    ceilings: bool = False


class Run:
    """One call of weft bench."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = Folder(settings.folder)
        self.together = int(settings.job.get("together", 8))
        self.crashes = 0  # cells that were lost with their process group
        self.ceilings_failed = False
        self.ceilings_seconds = 0.0
        self.interrupted = False
        self.record: dict[str, Any] = {}
        self.wanted: set[str] = set()
        self.began = 0.0

    # Planning

    def prepare(self) -> tuple[list[Group], list[Group]]:
        """All groups, and what of them is left to be run; nothing is written before all is known to be right."""
        groups = groups_of(self.settings.job, self.settings.path, self.settings.launcher)
        progress = self.folder.open(self.settings.fresh)
        self._check_origin()
        job = with_absolute_adapters(self.settings.job, self.settings.path.resolve().parent)
        self.folder.write_json("job.json", job)
        return groups, what_is_left(groups, progress)

    def _check_origin(self) -> None:
        """Refuses to mix what was measured by another version or on another machine."""
        origin = self.folder.read_json("run.json")
        here = {"weft": machine.first_line(weft_command(), "--version"), **machine.fingerprint()}
        there = {"weft": origin.get("weft"), **{k: origin.get("machine", {}).get(k) for k in machine.fingerprint()}}
        if origin and self.folder.journal.progress.done and here != there:
            raise Refusal(
                f"{self.folder.path}: was measured by {there['weft']} on {there['processors']} x {there['processor']}, "
                f"this is {here['weft']} on {here['processors']} x {here['processor']}; use another folder, or --fresh"
            )

    def write_worker_file(self, group: Group) -> Path:
        problems = [worker_problem(p, c, self.together) for p, c in group.problems.items()]
        made = {
            "table": str(self.folder.table.resolve()),
            "journal": str(self.folder.journal_file.resolve()),
            "first_block": self.folder.journal.progress.next_block,
            "problems": problems,
        }
        return self.folder.write_json(f"worker-{group.ranks}.json", made, compact=True)

    # Running

    def _settled(self) -> int:
        """How many of the cells that this run is for have been dealt with."""
        progress = self.folder.journal.progress
        return sum(len(self.wanted & known.keys()) for known in (progress.skipped, progress.failed)) + len(
            self.wanted & progress.done
        )

    def _show(self, line: str) -> None:
        if self.settings.quiet:
            return
        if sys.stdout.isatty():
            self.folder.journal.read()
            settled, took = self._settled(), time.monotonic() - self.began
            line = f"[{settled}/{len(self.wanted)}{time_left(settled, len(self.wanted), took)}] {line}"
        print(line, flush=True)

    def _start(self, ranks: int, threads: int, file: Path) -> tuple[int, list[str]]:
        launcher = self.settings.launcher
        words = [*launcher.words(ranks, threads), weft_command(), "bench", "--worker", str(file.resolve())]
        return run(words, launcher.environment(), self._show)

    def measure(self, left: list[Group]) -> None:
        progress = self.folder.journal.progress
        cells = [one["cell"] for group in left for found in group.problems.values() for one in found]
        self.wanted = {cell for cell in cells if not progress.settled(cell)}
        self.began = time.monotonic()
        for cell in self.wanted:
            progress.failed.pop(cell, None)  # it has another chance
        for group in left:
            file = self.write_worker_file(group)
            status, last = self._start(group.ranks, group.threads, file)
            self.folder.journal.read()
            lost = [
                c
                for found in group.problems.values()
                for c in found
                if not progress.settled(c["cell"]) and c["cell"] not in progress.failed
            ]
            if lost:
                how = f"exit status {status}" if status >= 0 else f"signal {-status}"
                self.crashes += len(lost)
                say(f"the group of {of_ranks(group.ranks)} ended with {how}, {len(lost)} cells before its end")
                for line in last if self.settings.quiet else []:
                    print(f"  {line}", file=sys.stderr)
            else:
                file.unlink(missing_ok=True)

    def measure_ceilings(self) -> None:
        start = time.monotonic()
        failures = ceilings.measure(self.folder.path, self.settings.launcher, weft_command(), self._show)
        self.ceilings_failed = bool(failures)
        self.ceilings_seconds = time.monotonic() - start
        for failure in failures:
            say(failure)

    # Records

    def begin_record(self, groups: list[Group]) -> None:
        before = self.folder.read_json("run.json") if self.folder.journal.progress.done else {}
        earlier = [{name: before.get(name) for name in ("date", "command", "seconds")}] if before else []
        problems, cells, _ = count(groups, self.together)
        self.record = {
            "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "command": shlex.join(["weft", "bench", *sys.argv[1:]]),
            "job": self.settings.job.get("name"),
            "weft": machine.first_line(weft_command(), "--version"),
            "host": socket.gethostname(),
            "machine": machine.describe(),
            "compilers": machine.compilers(),
            "python": sys.version.split()[0],
            "launcher": self.settings.launcher.kind,
            "problems": problems,
            "cells": cells,
            "earlier": before.get("earlier", []) + earlier,
        }
        self.folder.write_json("run.json", self.record)

    def end_record(self, wall: float, before: dict[str, float]) -> None:
        progress = self.folder.journal.progress
        spent = {name: value - before[name] for name, value in progress.seconds.items()}
        known = progress.groups.values()
        self.record |= {
            "mpi": next((group.get("mpi") for group in known), None),
            "versions": {k: v for group in known for k, v in group.get("versions", {}).items()},
            "bindings": {str(ranks): group.get("binding") for ranks, group in sorted(progress.groups.items())},
            "seconds": {name: round(value, 3) for name, value in ({"wall": wall} | spent).items()},
        }
        if not self.interrupted and not self.crashes:  # else what was lost would count
            self.record["overhead"] = round((wall - sum(spent.values())) / wall, 5)
        self.folder.write_json("run.json", self.record)

    # The whole

    def go(self) -> int:
        start = time.monotonic()
        try:
            groups, left = self.prepare()
            return self._go_on(start, groups, left)
        finally:
            self.folder.close()

    def _go_on(self, start: float, groups: list[Group], left: list[Group]) -> int:
        before = dict(self.folder.journal.progress.seconds)
        try:
            if left or self.settings.ceilings:
                self.begin_record(groups)
            if self.settings.ceilings:
                self.measure_ceilings()
            self.measure(left)
        except KeyboardInterrupt:
            self.interrupted = True
            self.folder.journal.read()
            say(f"interrupted; to continue: weft bench {shlex.quote(str(self.folder.path))}")
            return 130
        finally:
            if left or self.settings.ceilings:
                self.end_record(time.monotonic() - start - self.ceilings_seconds, before)
        return self.conclude(groups)

    def conclude(self, groups: list[Group]) -> int:
        if self.folder.table.exists() and not self.settings.quiet:
            print("\n".join(summary.lines(groups, self.folder.table, self.folder.journal.progress.wrong)))
            print(f"wrote {self.folder.table}; draw it: weft plot {shlex.quote(str(self.folder.path))}")
        names = {
            c["cell"]: f"{c['library']} {c['config']}, {p.text}"
            for g in groups
            for p, found in g.problems.items()
            for c in found
        }
        status = complain(names, self.folder.journal.progress, self.crashes)
        return 1 if self.ceilings_failed else status


def of_ranks(number: int) -> str:
    return f"{number} rank" + ("s" if number > 1 else "")


def complain(names: dict[str, str], progress: Progress, crashes: int) -> int:
    """The exit status; on standard error one sentence on what is wrong, if anything is."""
    cells = len(names)
    wrong = [c for c in names if c in progress.wrong]
    failed = [c for c in names if c in progress.failed]
    skipped = [c for c in names if c in progress.skipped]
    if skipped:
        say(
            f"{len(skipped)} of {cells} cells cannot be run here, the first: {names[skipped[0]]}: "
            f"{progress.skipped[skipped[0]]}"
        )
    parts = []
    if wrong:
        first = progress.wrong[wrong[0]]
        parts.append(
            f"{len(wrong)} of {cells} cells gave wrong results, the first: {names[wrong[0]]}: "
            f"error {first.get('error'):.3g} above {first.get('bound'):.3g}"
        )
    if failed:
        parts.append(
            f"{len(failed)} of {cells} cells failed, the first: {names[failed[0]]}: {progress.failed[failed[0]]}"
        )
    if crashes:
        parts.append(
            f"{crashes} of {cells} cells were lost with their process group; run the job again to try them again"
        )
    if parts:
        say("; ".join(parts))
    return 1 if parts else 0


def show_plan(job: dict[str, Any], groups: list[Group], launcher: Launcher) -> None:
    """What --dry-run prints."""
    together = int(job.get("together", 8))
    for group in groups:
        problems, cells, transforms = count([group], together)
        print(f"{of_ranks(group.ranks)}: {shlex.join(launcher.words(group.ranks, group.threads))}")
        for problem, contestants in group.problems.items():
            print(f"  {problem.text}")
            for one in contestants:
                print(f"    {one['cell']} {one['library']} {one['config']}, threads {one['threads']}")
        print(f"  {problems} problems, {cells} cells, {transforms} transforms")
    problems, cells, transforms = count(groups, together)
    print(f"{len(groups)} groups, {problems} problems, {cells} cells, {transforms} transforms")
