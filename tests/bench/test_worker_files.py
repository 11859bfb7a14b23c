"""What the worker reads and writes, whatever happens to it, and what `weft bench` hands over to Python."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
import unittest
from pathlib import Path
from typing import Any

from worker_case import MPIEXEC, WEFT, Case, problem, weft_cell


class Files(Case):
    def refuse(self, work: Any, ranks: int = 1) -> str:
        path = self.folder / "worker.json"
        path.write_text(work if isinstance(work, str) else json.dumps(work), encoding="utf-8")
        done = subprocess.run(
            [WEFT, *(["--ranks", str(ranks)] if ranks > 1 else []), "bench", "--worker", str(path)],
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        (line,) = [line for line in done.stderr.splitlines() if line.startswith("weft: ")]
        return line

    def test_a_mistake_is_named_with_its_place(self) -> None:
        good = problem([weft_cell(1)])
        files = {"table": str(self.table), "journal": str(self.journal)}
        cases: list[tuple[Any, str]] = [
            ("{", "line 1"),
            ([], "worker.json: table: give a string"),
            ({**files}, "problems: give a list"),
            ({**files, "problems": []}, "problems: give a list"),
            ({"table": 3, "journal": "x", "problems": [good]}, "table: give a string"),
            ({**files, "problems": [{**good, "shape": [1, 2, 3, 4]}]}, "problems[0].shape: give 1 to 3"),
            ({**files, "problems": [good, {**good, "shape": [4, 0]}]}, "problems[1].shape: give whole numbers"),
            ({**files, "problems": [{**good, "kind": "r2r"}]}, "problems[0].kind: r2r is not c2c, r2c, or the types"),
            ({**files, "problems": [{**good, "kind": "dct2+"}]}, "problems[0].kind: dct2+ is not c2c, r2c, or"),
            ({**files, "problems": [{**good, "kind": "dct2+dst2"}]}, "problems[0].kind: dct2+dst2: 2 types for 3 axes"),
            ({**files, "problems": [{**good, "precision": 1}]}, "problems[0].precision: give a string"),
            (
                {**files, "problems": [{**good, "iterations": 0}]},
                "problems[0].iterations: give a whole number of 1 to 10000000",
            ),
            (
                {**files, "problems": [{**good, "warmups": -1}]},
                "problems[0].warmups: give a whole number of 0 to 10000000",
            ),
            ({**files, "problems": [{**good, "batch": 1.5}]}, "problems[0].batch: give a whole number"),
            (
                {**files, "problems": [{**good, "mode": "guess"}]},
                "problems[0].mode: guess is not one of time, validate",
            ),
            ({**files, "problems": [{**good, "contestants": []}]}, "problems[0].contestants: give a list"),
            (
                {**files, "problems": [problem([weft_cell(1), {"library": "weft"}])]},
                "problems[0].contestants[1].cell: give a string",
            ),
            (
                {**files, "problems": [problem([{"cell": "12", "library": "weft"}])]},
                "problems[0].contestants[0].cell: 12 is not 12 hex",
            ),
            (
                {**files, "problems": [problem([{"cell": "0" * 12}])]},
                "problems[0].contestants[0].library: give a string",
            ),
            (
                {**files, "problems": [problem([weft_cell(1, threads=0)])]},
                "contestants[0].threads: give a whole number",
            ),
        ]
        for work, sentence in cases:
            self.assertIn(sentence, self.refuse(work), work)
            self.assertFalse(self.table.exists())
        self.assertIn("problems[1].shape", self.refuse({**files, "problems": [good, {**good, "shape": []}]}, ranks=3))

    def test_a_table_that_cannot_be_written_ends_the_run(self) -> None:
        self.table = self.folder / "absent" / "table.csv"
        done = subprocess.run(
            self.command(self.write([problem([weft_cell(1)])]), 2), capture_output=True, text=True, timeout=120
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"weft: {self.table}: cannot be written: No such file or directory", done.stderr)

    def test_a_table_that_outgrows_its_disk_stays_whole(self) -> None:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (24 << 20, 24 << 20))  # MPI needs some for itself

        slow = problem([weft_cell(1, engine="reference")], (64, 64, 64), iterations=5, warmups=800)
        large = problem([weft_cell(2)], (4,), iterations=220000)
        done = subprocess.run(
            [WEFT, "bench", "--worker", str(self.write([slow, large, slow]))],
            capture_output=True,
            text=True,
            timeout=240,
            preexec_fn=limit,
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("writing failed: File too large", done.stderr)
        self.check_bytes()
        self.assertEqual(len(self.lines("done")), 1)

    def test_a_worker_that_is_killed_leaves_whole_blocks_and_is_continued(self) -> None:
        count = 20
        cells = [weft_cell(n, engine="reference") for n in range(1, count + 1)]
        slow = [problem([cell], (64, 64, 48), iterations=24, warmups=100) for cell in cells]
        process = subprocess.Popen(
            self.command(self.write(slow), 2),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (self.journal.exists() and self.lines_so_far("done")):
            time.sleep(0.01)
        self.kill_all()
        process.wait()
        self.wait_for_silence()
        done = self.lines_so_far("done")
        self.assertTrue(0 < len(done) < count, done)
        self.assertGreaterEqual(self.table.stat().st_size, done[-1]["bytes"])
        os.truncate(self.table, done[-1]["bytes"])  # as the front end does
        self.check_bytes()
        self.work(slow[len(done) :], 2, first_block=len(done))
        self.assertEqual([line["block"] for line in self.lines("done")], list(range(count)))
        for n in range(1, count + 1):
            self.check_counts(weft_cell(n), 2, 24)

    def lines_so_far(self, kind: str) -> list[dict[str, Any]]:
        text = self.journal.read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [line for line in lines if line["type"] == kind]

    def kill_all(self) -> None:
        """Kills the launcher and its ranks, which would go on without it for a while."""
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == os.getpid():
                continue
            try:
                if str(self.folder).encode() in (folder / "cmdline").read_bytes():
                    os.kill(int(folder.name), signal.SIGKILL)
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue  # it has ended, or is not ours

    def wait_for_silence(self) -> None:
        """A killed rank's last write may still be under way."""
        size = -1
        while size != self.table.stat().st_size + self.journal.stat().st_size:
            size = self.table.stat().st_size + self.journal.stat().st_size
            time.sleep(1.0)


class Ceilings(Case):
    def test_a_file_of_ceilings_is_written_instead_of_a_table(self) -> None:
        path, target = self.folder / "worker.json", self.folder / "ceilings.json"
        path.write_text(json.dumps({"ceilings": str(target), "threads": 1}), encoding="utf-8")
        done = subprocess.run(self.command(path, 2), capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)
        (run,) = json.loads(target.read_text(encoding="utf-8"))["runs"]
        self.assertEqual((run["ranks"], run["threads"]), (2, 1))
        self.assertLessEqual({"memory", "compute", "network"}, set(run))


class HandOver(Case):
    """Everything but a worker is Python's business."""

    def interpreter(self) -> str:
        """One that writes down what it was given."""
        path = self.folder / "interpreter"
        path.write_text(
            '#!/bin/sh\nfor word in "$@"; do echo "$word"; done\nenv | grep -E "^(WEFT|PYTHONPATH)" | sort\n'
        )
        path.chmod(0o755)
        return str(path)

    def run_weft(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "WEFT_PYTHON"))}
        return subprocess.run(
            [WEFT, *arguments], capture_output=True, text=True, timeout=60, env={**clean, **environment}
        )

    def test_arguments_arrive_unchanged(self) -> None:
        for arguments in (
            ["bench", "--help"],
            ["bench", "job.json", "-o", "a b", "--small"],
            ["plot", "--compare", "A", "B"],
            ["compare", "--quick"],
            ["bench"],
        ):
            done = self.run_weft(*arguments, WEFT_PYTHON=self.interpreter())
            self.assertEqual(done.returncode, 0)
            self.assertEqual(
                done.stdout.splitlines()[: len(arguments) + 1], ["-m", f"weft.{arguments[0]}", *arguments[1:]]
            )

    def test_the_environment_says_where_weft_is(self) -> None:
        done = self.run_weft("bench", WEFT_PYTHON=self.interpreter(), PYTHONPATH="/elsewhere")
        given = dict(line.split("=", 1) for line in done.stdout.splitlines()[2:])
        self.assertEqual(given["WEFT_COMMAND"], str(Path(WEFT).resolve()))
        self.assertTrue(Path(given["WEFT_MPIEXEC"]).exists())
        self.assertIn(given["WEFT_MPI"], ("openmpi", "mpich"))
        folder, before = given["PYTHONPATH"].split(":")
        self.assertEqual(before, "/elsewhere")
        self.assertTrue((Path(folder) / "weft" / "__init__.py").exists())
        done = self.run_weft("plot", WEFT_PYTHON=self.interpreter(), WEFT_PYTHONPATH="/mine")
        self.assertIn("PYTHONPATH=/mine\n", done.stdout)

    def test_without_an_interpreter_packages_are_named(self) -> None:
        done = self.run_weft("plot", "DIR", WEFT_PYTHON="/absent/python3")
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1))
        self.assertTrue(done.stderr.startswith("weft: cannot start /absent/python3: "), done.stderr)
        self.assertIn("python3-matplotlib", done.stderr)

    def test_a_job_starts_its_processes_itself(self) -> None:
        done = self.run_weft("--ranks", "2", "bench", "job.json")
        self.assertEqual((done.returncode, done.stderr.count("drop --ranks")), (2, 1))
        done = subprocess.run([MPIEXEC, "-n", "2", WEFT, "plot", "DIR"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("weft: plot is started alone; run it without mpirun"), 1)


if __name__ == "__main__":
    unittest.main()
