"""What the tests of the worker share: worker files, a folder for each test, and what holds of every results folder.

ctest runs each test_*.py; by hand: WEFT=build/tools/weft WEFT_MPIEXEC=mpirun python3 test_worker.py
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any

WEFT = os.environ["WEFT"]
MPIEXEC = os.environ.get("WEFT_MPIEXEC", "mpiexec")
COLUMNS = [
    "library",
    "version",
    "host",
    "device",
    "shape",
    "kind",
    "precision",
    "direction",
    "ranks",
    "grid",
    "strategy",
    "variant",
    "exchange1",
    "exchange2",
    "aware",
    "engine",
    "iteration",
    "rank",
    "total",
    "fft",
    "pack",
    "exchange",
    "unpack",
    "copy",
    "local",
    "first_message",
    "last_message",
    "bytes_sent",
    "memory_peak",
    "error",
    "batch",
    "layout",
    "threads",
    "effort",
    "config",
    "check",
    "block",
    "cell",
]
PHASES = ["fft", "pack", "exchange", "unpack", "copy", "local"]

# An adapter computes nothing; it answers every line as the test wants.
ADAPTER = """\
    import sys, time
    error, nap, answers = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    print("ready scripted 1.0", flush=True)
    for line in sys.stdin:
        if answers == 0:
            sys.exit(3)
        answers -= 1
        time.sleep(nap)
        print(f"{nap + 0.001} error={error} fft=0.0005", flush=True)
"""

Cell = dict[str, Any]
Row = dict[str, str]


def weft_cell(number: int, **members: Any) -> Cell:
    words = [str(members.get(name, "")) for name in ("strategy", "variant")] + members.get("exchange", [])
    config = members.pop("config", ":".join(word for word in words if word) or "auto")
    return {"cell": f"{number:012x}", "library": "weft", "config": config, **members}


def problem(cells: list[Cell], shape: tuple[int, ...] = (12, 10, 8), **members: Any) -> dict[str, Any]:
    standard = {"kind": "r2c", "iterations": 3, "warmups": 1, "effort": "estimate", "together": 8}
    return {"shape": list(shape), **standard, **members, "contestants": cells}


class Case(unittest.TestCase):
    """A folder for each test, and ways to run workers in it."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="weft-worker-")
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)
        self.table, self.journal = self.folder / "table.csv", self.folder / "journal.jsonl"

    def adapter(self, error: float = 0.0, nap: float = 0.0, answers: int = -1) -> list[str]:
        script = self.folder / "adapter.py"
        script.write_text(textwrap.dedent(ADAPTER), encoding="utf-8")
        return [sys.executable, str(script), str(error), str(nap), str(answers)]

    def write(self, problems: list[dict[str, Any]], first_block: int = 0) -> Path:
        path = self.folder / "worker.json"
        work = {"table": str(self.table), "journal": str(self.journal), "first_block": first_block}
        path.write_text(json.dumps({**work, "problems": problems}), encoding="utf-8")
        return path

    def command(self, path: Path, ranks: int) -> list[str]:
        return [MPIEXEC, "-n", str(ranks), WEFT, "bench", "--worker", str(path)]

    def work(
        self, problems: list[dict[str, Any]], ranks: int = 1, status: int = 0, first_block: int = 0, **options: Any
    ) -> str:
        """Runs a worker to its end and checks what holds of every table and journal."""
        environment = {**os.environ, **options.pop("environment", {})}
        done = subprocess.run(
            self.command(self.write(problems, first_block), ranks),
            capture_output=True,
            text=True,
            timeout=240,
            env=environment,
            **options,
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.check_bytes()
        return done.stdout

    def rows(self, **wanted: Any) -> list[Row]:
        with self.table.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
        self.assertEqual(reader.fieldnames, COLUMNS)
        for row in rows:
            self.assertNotIn(None, row.values())
            self.assertNotIn(None, row)
        return [row for row in rows if all(row[name] == str(value) for name, value in wanted.items())]

    def lines(self, kind: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.journal.read_text(encoding="utf-8").splitlines()]
        return [line for line in lines if line["type"] == kind]

    def check_bytes(self) -> None:
        """The table ends where the journal says, and each block's rows lie between its mark and the one before."""
        text = self.table.read_bytes()
        start = text.index(b"\n") + 1
        for done in self.lines("done"):
            block = text[start : done["bytes"]].decode()
            self.assertTrue(block == "" or block.endswith("\n"))
            rows = list(csv.reader(block.splitlines()))
            self.assertEqual({int(row[COLUMNS.index("block")]) for row in rows}, {done["block"]} if rows else set())
            self.assertEqual(list(dict.fromkeys(row[-1] for row in rows)), done["cells"])
            start = done["bytes"]
        self.assertEqual(start, len(text))

    def check_counts(self, cell: Cell, ranks: int, iterations: int) -> list[Row]:
        """Every iteration of every rank has one row; returns them."""
        rows = self.rows(cell=cell["cell"])
        self.assertEqual(
            [(int(row["iteration"]), int(row["rank"])) for row in rows],
            [(i, r) for i in range(iterations) for r in range(ranks)],
        )
        for row in rows:
            self.assertEqual(
                (row["ranks"], row["library"], row["config"]), (str(ranks), cell["library"], cell["config"])
            )
            self.assertEqual(row["check"], "probe")
            self.assertGreater(float(row["total"]), 0)
        return rows

    def check_errors(self, bound: float) -> None:
        for row in self.rows():
            self.assertLess(float(row["error"]), bound, row)
