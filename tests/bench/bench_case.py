"""What the tests of the front end of weft bench share: a folder for each, and ways to run weft in it.

ctest runs each test_*.py; by hand: WEFT=build/tools/weft PYTHONPATH=python python3 tests/bench/test_job.py
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

WEFT = os.environ["WEFT"]
SOURCE = Path(__file__).resolve().parents[2]
ENVIRONMENT = os.environ | {"WEFT_WISDOM_DIR": "", "PYTHONDONTWRITEBYTECODE": "1"}


def no_adapter(library: str, name: str, mpi: bool, ranks: int, threads: int) -> list[str] | None:
    return None


def every_adapter(library: str, name: str, mpi: bool, ranks: int, threads: int) -> list[str] | None:
    return [f"/adapters/{name}"]


class Case(unittest.TestCase):
    """A folder for each test, and ways to run `weft bench` in it."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="weft-bench-")
        self.folder = Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)

    def save(self, job: Any, name: str = "job.json") -> Path:
        path = self.folder / name
        path.write_text(job if isinstance(job, str) else json.dumps(job))
        return path

    def bench(self, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        line = [WEFT, "bench", *map(str, arguments)]
        return subprocess.run(
            line,
            check=False,
            capture_output=True,
            text=True,
            cwd=self.folder,
            timeout=300,
            env=ENVIRONMENT | environment,
        )

    def succeed(self, *arguments: object, **environment: str) -> str:
        done = self.bench(*arguments, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), (arguments, done.stdout))
        return done.stdout

    def refuse(self, *arguments: object, status: int = 2) -> str:
        """Runs what must fail with one line on standard error, and returns the line."""
        done = self.bench(*arguments)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, (arguments, done.stderr))
        self.assertTrue(lines[0].startswith("weft: "), lines)
        return lines[0]

    def rows(self, folder: str) -> list[dict[str, str]]:
        with (self.folder / folder / "table.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    def journal(self, folder: str) -> list[dict[str, Any]]:
        lines = (self.folder / folder / "journal.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def done_cells(self, folder: str) -> list[str]:
        return [cell for entry in self.journal(folder) if entry["type"] == "done" for cell in entry["cells"]]
