"""Results folders as weft bench writes them, with known times, for the tests of weft plot.

A block has a time per contestant, a drift that hits all contestants of an iteration alike, and noise of each run.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import secrets
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "python"))
os.environ.setdefault("MPLBACKEND", "Agg")

COLUMNS = (
    "library,version,host,device,shape,kind,precision,direction,ranks,grid,strategy,variant,exchange1,exchange2,aware,"
    "engine,iteration,rank,total,fft,pack,exchange,unpack,copy,local,first_message,last_message,bytes_sent,memory_peak,"
    "error,batch,layout,threads,effort,config,check,block,cell"
).split(",")
EXCHANGES = ["p2p-sync", "p2p-streams", "p2p-type", "a2a-sync", "a2a-type"]
SHARES = {"fft": 0.5, "pack": 0.08, "exchange": 0.25, "unpack": 0.07, "copy": 0.0, "local": 0.04}


@dataclass(frozen=True)
class Problem:
    shape: str
    kind: str = "r2c"
    precision: str = "double"
    direction: str = "forward"
    ranks: int = 1
    batch: int = 1
    layout: str = "contiguous"

    @property
    def points(self) -> int:
        return int(np.prod([int(n) for n in self.shape.split("x")]))

    @property
    def flops(self) -> float:
        return (2.5 if self.kind == "r2c" else 5) * self.points * np.log2(self.points) * self.batch

    @property
    def bytes(self) -> int:
        """Of input and output together, without the padding of half spectra."""
        return (2 if self.kind == "r2c" else 4) * (8 if self.precision == "double" else 4) * self.points * self.batch


@dataclass(frozen=True)
class Contestant:
    """`slowness` multiplies the time that 2 GFLOP/s per rank would take."""

    library: str
    config: str = "-"
    slowness: float = 1.0
    threads: int = 1
    error: float | None = None  # None: a good one
    changes: tuple[tuple[str, Any], ...] = ()  # columns that differ from what config says

    @property
    def columns(self) -> dict[str, Any]:
        columns = dict.fromkeys("grid strategy variant exchange1 exchange2 aware engine".split(), "")
        if self.library == "weft":
            words = self.config.split(":")
            if words[0] == "auto":
                words = ["slab-2d1d", "default", "p2p-sync"]
            columns["strategy"] = words[0]
            if words[0] == "pencil":
                columns["grid"] = words.pop(1)
            columns["variant"] = words[1]
            methods = words[2].split("+")
            columns["exchange1"] = methods[0]
            if columns["strategy"] == "pencil":
                columns["exchange2"] = methods[-1]
            columns["engine"] = "fftw"
        return {**columns, **dict(self.changes)}


def cell_of(problem: Problem, contestant: Contestant, effort: str = "measure") -> str:
    identity = repr((problem, contestant.library, contestant.config, contestant.threads, contestant.changes, effort))
    return hashlib.sha256(identity.encode()).hexdigest()[:12]


@dataclass
class SampleTable:
    """Rows and journal lines, block by block."""

    rng: np.random.Generator
    noise: float = 0.01
    drift: float = 0.05
    rows: list[dict[str, Any]] = field(default_factory=list)
    journal: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[list[str]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)  # rows up to the end of each block

    def block(self, problem: Problem, contestants: list[Contestant], iterations: int = 20) -> list[str]:
        """Adds a block; returns the cells of its contestants."""
        number = len(self.blocks)
        cells = [cell_of(problem, contestant) for contestant in contestants]
        drift = np.cumsum(self.rng.normal(0, self.drift / 3, iterations))
        for contestant, cell in zip(contestants, cells):
            usual = problem.flops / 2e9 / problem.ranks / contestant.threads * contestant.slowness
            for iteration in range(iterations):
                time = usual * float(np.exp(drift[iteration] + self.rng.normal(0, self.noise)))
                self._rows_of(problem, contestant, iteration, time, number, cell)
        self.blocks.append(cells)
        self.ends.append(len(self.rows))
        return cells

    def _rows_of(
        self, problem: Problem, contestant: Contestant, iteration: int, time: float, block: int, cell: str
    ) -> None:
        slowest = int(self.rng.integers(problem.ranks))
        unit = 2.0**-53 if problem.precision == "double" else 2.0**-24
        good = unit * np.sqrt(np.log2(problem.points) + 1) * 1.1
        for rank in range(problem.ranks):
            mine = time if rank == slowest else time * float(self.rng.uniform(0.9, 0.999))
            phases: dict[str, Any] = dict.fromkeys([*SHARES, "first_message", "last_message"], "")
            if contestant.library == "weft":
                alone = problem.ranks == 1
                phases = {
                    name: mine * (0.97 if name == "fft" else 0.0) if alone else mine * share
                    for name, share in SHARES.items()
                }
                phases |= {"first_message": "", "last_message": ""}
                if not alone:
                    phases |= {"first_message": mine * 0.3, "last_message": mine * 0.7}
            distributed = contestant.library == "weft" and problem.ranks > 1
            self.rows.append(
                {
                    "library": contestant.library,
                    "version": "0.1.0" if contestant.library == "weft" else "FFTW 3.3.10 (sse2, avx)",
                    "host": "sample",
                    "device": "host",
                    "shape": problem.shape,
                    "kind": problem.kind,
                    "precision": problem.precision,
                    "direction": problem.direction,
                    "ranks": problem.ranks,
                    **contestant.columns,
                    "iteration": iteration,
                    "rank": rank,
                    "total": mine,
                    **phases,
                    "bytes_sent": problem.bytes // 2 // problem.ranks**2 * (problem.ranks - 1) if distributed else "",
                    "memory_peak": round(problem.bytes * (1.5 if distributed else 1.02) / problem.ranks),
                    "error": good if contestant.error is None else contestant.error,
                    "batch": problem.batch,
                    "layout": problem.layout,
                    "threads": contestant.threads,
                    "effort": "measure",
                    "config": contestant.config,
                    "check": "probe",
                    "block": block,
                    "cell": cell,
                }
            )

    def validation(self, problem: Problem, contestant: Contestant, check: str, error: float) -> str:
        """Adds the row of a validation test; returns the cell."""
        cell = cell_of(problem, contestant)
        self._rows_of(problem, contestant, 0, 1e-3, len(self.blocks), cell)
        for row in self.rows[-problem.ranks :]:
            row |= {"check": check, "error": error}
        self.blocks.append([cell])
        self.ends.append(len(self.rows))
        return cell

    def write(self, folder: Path, compress: bool = False, **objects: dict[str, Any]) -> Path:
        """Writes the folder: the table, the journal, and an object into each NAME.json."""
        folder.mkdir(parents=True, exist_ok=True)
        lines = _lines([COLUMNS, *([row[name] for name in COLUMNS] for row in self.rows)])
        text = "".join(lines)
        if compress:
            with gzip.open(folder / "table.csv.gz", "wt", encoding="utf-8", compresslevel=1) as stream:
                stream.write(text)
        else:
            (folder / "table.csv").write_text(text, encoding="utf-8")
        lengths = np.cumsum([len(line.encode()) for line in lines])
        done = [
            {"type": "done", "block": b, "bytes": int(lengths[end]), "cells": cells, "planning": 0.1, "running": 1.0}
            for b, (cells, end) in enumerate(zip(self.blocks, self.ends))
        ]
        (folder / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in self.journal + done))
        for name, content in objects.items():
            (folder / f"{name}.json").write_text(json.dumps(content))
        return folder


def _lines(rows: list[list[Any]]) -> list[str]:
    """Rows as the lines of a CSV file."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        writer.writerow([f"{field:.9g}" if isinstance(field, float) else field for field in row])
    return stream.getvalue().splitlines(keepends=True)


class Case(unittest.TestCase):
    """A folder for each test and fresh random numbers, whose seed is shown when the test fails."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="weft-plot-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.seed = int(os.environ.get("WEFT_SEED") or secrets.randbits(32))
        self.rng = np.random.default_rng(self.seed)

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        before = len(result.failures) + len(result.errors) if result else 0
        done = super().run(result)
        if result and len(result.failures) + len(result.errors) > before:
            print(f"{self.id()}: to repeat, set WEFT_SEED={self.seed}", file=sys.stderr)
        return done

    def table(self, **options: float) -> SampleTable:
        return SampleTable(self.rng, **options)

    def plot(self, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs weft plot as the command does."""
        path = os.pathsep.join([*environment.pop("front", "").split(), str(SOURCE / "python")])
        return subprocess.run(
            [sys.executable, "-m", "weft.plot", *map(str, arguments)],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.folder,
            timeout=300,
            env=os.environ | {"PYTHONPATH": path} | environment,
        )

    def succeed(self, *arguments: object) -> str:
        done = self.plot(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def refuse(self, *arguments: object, **environment: str) -> str:
        """Runs weft plot, which must refuse with one line; returns it."""
        done = self.plot(*arguments, **environment)
        self.assertEqual(done.returncode, 2, (arguments, done.stdout, done.stderr))
        self.assertRegex(done.stderr, r"\Aweft: [^\n]+\n\Z")
        return done.stderr.rstrip("\n")
