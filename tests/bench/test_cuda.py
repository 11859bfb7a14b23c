"""The libraries cufft and cufftxt where there is no GPU: left out with the reason, or on host memory.

WEFT_HOST_CUDA names the folder of a CUDA runtime and a cuFFT that compute on the host (tests/bench/cuda): with them the
whole way of the data is checked, every layout, kind and direction. ctest runs this.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

WEFT = os.environ["WEFT"]
MPIEXEC = os.environ.get("WEFT_MPIEXEC", "mpiexec")
HOST_CUDA = os.environ["WEFT_HOST_CUDA"]
CHOICES = list(itertools.product(("r2c", "c2c"), ("double", "single"), ("forward", "inverse")))
ONE_DIMENSION, TWO_DIMENSIONS, THREE_DIMENSIONS = ([12], [7]), ([6, 8], [5, 7]), ([4, 6, 8], [6, 4, 5])


def problem(shape: list[int], *contestants: dict[str, Any], **members: Any) -> dict[str, Any]:
    standard = {"kind": "r2c", "precision": "double", "direction": "forward", "batch": 1, "layout": "contiguous"}
    settings = {"mode": "time", "iterations": 2, "warmups": 1, "effort": "estimate", "together": 8}
    return {"shape": shape, **standard, **settings, **members, "contestants": list(contestants)}


class Devices(unittest.TestCase):
    """Runs worker files; numbers the cells."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="weft-cuda-")
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)
        self.cells = 0

    def contestant(self, library: str, **members: Any) -> dict[str, Any]:
        self.cells += 1
        return {"cell": f"{self.cells:012x}", "library": library, "config": "-", "threads": 1, **members}

    def run_worker(self, problems: list[dict[str, Any]], ranks: int = 1, **environment: str) -> None:
        """Runs; fills rows and skipped (cell: reason); nothing may be wrong or fail."""
        table, journal, work = (self.folder / name for name in ("table.csv", "journal.jsonl", "work.json"))
        files = {"table": str(table), "journal": str(journal), "first_block": 0}
        work.write_text(json.dumps(files | {"problems": problems}))
        line = [MPIEXEC, "-n", str(ranks), WEFT, "bench", "--worker", str(work)]
        done = subprocess.run(
            line, check=False, capture_output=True, text=True, timeout=300, env=os.environ | environment
        )
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
        entries = [json.loads(text) for text in journal.read_text().splitlines()]
        self.assertEqual([e for e in entries if e["type"] in ("wrong", "failed")], [])
        self.skipped = {e["cell"]: e["reason"] for e in entries if e["type"] == "skipped"}
        with table.open(newline="") as file:
            self.rows = list(csv.DictReader(file))

    def with_host_cuda(self, problems: list[dict[str, Any]], devices: int) -> None:
        self.run_worker(problems, WEFT_CUDA_LIBRARY_PATH=HOST_CUDA, HOST_CUDA_DEVICES=str(devices))

    def assert_all_ran(self, problems: list[dict[str, Any]]) -> None:
        """The harness itself has judged the errors."""
        self.assertEqual(self.skipped, {})
        self.assertEqual(len(self.rows), sum(2 * len(p["contestants"]) for p in problems))
        for row in self.rows:
            self.assertGreater(float(row["total"]), 0)
            self.assertGreater(float(row["memory_peak"]), 4096)
            self.assertEqual((row["device"], row["engine"], row["version"]), ("cuda", "cufft", "12.1.2"))

    def test_without_the_libraries_both_are_left_out_and_told_what_to_do(self) -> None:
        self.run_worker(
            [problem([8, 8, 8], self.contestant("cufft"), self.contestant("cufftxt"))],
            WEFT_CUDA_LIBRARY_PATH=str(self.folder),
        )
        self.assertEqual((len(self.skipped), self.rows), (2, []))
        for reason in self.skipped.values():
            self.assertIn("libcudart", reason)
            self.assertIn("WEFT_CUDA_LIBRARY_PATH", reason)

    def test_without_a_device_both_are_left_out_with_the_reason(self) -> None:
        self.with_host_cuda([problem([8, 8, 8], self.contestant("cufft"), self.contestant("cufftxt"))], devices=0)
        self.assertEqual((len(self.skipped), self.rows), (2, []))
        for reason in self.skipped.values():
            self.assertIn("no CUDA-capable device", reason)

    def test_on_two_ranks_both_are_left_out(self) -> None:
        self.run_worker([problem([8, 8, 8], self.contestant("cufft"), self.contestant("cufftxt"))], ranks=2)
        self.assertEqual(len(self.skipped), 2)
        for reason in self.skipped.values():
            self.assertIn("one process only", reason)

    def test_cufft_does_every_kind_precision_direction_and_layout(self) -> None:
        problems = [
            problem(shape, self.contestant("cufft"), kind=kind, precision=precision, direction=direction,
                    batch=batch, layout=layout)
            for shape in ONE_DIMENSION + TWO_DIMENSIONS + THREE_DIMENSIONS
            for kind, precision, direction in CHOICES
            for batch, layout in ((1, "contiguous"), (3, "contiguous"), (3, "strided"))
        ]  # fmt: skip
        self.with_host_cuda(problems, devices=1)
        self.assert_all_ran(problems)

    def test_cufft_s_memory_is_the_device_s(self) -> None:
        self.with_host_cuda([problem([4, 6, 8], self.contestant("cufft"))], devices=1)
        self.assertEqual({float(row["memory_peak"]) for row in self.rows}, {4 * 6 * (8 * 8 + 5 * 16) + 4096})

    def test_cufftxt_does_two_and_three_dimensions_and_comes_back_in_natural_order(self) -> None:
        problems = [
            problem(shape, self.contestant("cufftxt"), kind=kind, precision=precision, direction=direction)
            for shape in TWO_DIMENSIONS + THREE_DIMENSIONS
            for kind, precision, direction in CHOICES
        ]
        self.with_host_cuda(problems, devices=3)
        self.assert_all_ran(problems)
        self.assertEqual({row["grid"] for row in self.rows}, {"3"})

    def test_cufftxt_takes_as_many_gpus_as_the_cell_says(self) -> None:
        cells = [self.contestant("cufftxt", gpus=gpus) for gpus in (2, 3, 4, 1)]
        self.with_host_cuda([problem([4, 6, 8], *cells)], devices=3)
        self.assertEqual({row["grid"] for row in self.rows}, {"2", "3"})
        self.assertIn("4 GPUs are asked for, 3 are visible", self.skipped[cells[2]["cell"]])
        self.assertIn("cufft is the library for one GPU", self.skipped[cells[3]["cell"]])

    def test_cufftxt_leaves_out_what_it_cannot_do(self) -> None:
        problems = [
            problem([64], self.contestant("cufftxt")),
            problem([8, 8], self.contestant("cufftxt"), batch=2),
            problem([8, 8, 2], self.contestant("cufftxt")),  # an axis too short for cuFFT itself
        ]
        self.with_host_cuda(problems, devices=2)
        self.assertEqual((len(self.skipped), self.rows), (3, []))
        self.assertIn("it does not do this size", self.skipped[problems[2]["contestants"][0]["cell"]])


if __name__ == "__main__":
    unittest.main()
