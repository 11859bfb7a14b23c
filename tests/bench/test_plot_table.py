"""Tables of weft plot: what is read, what is left out, and that bad input is refused in one line that names the place.

ctest runs this; by hand: PYTHONPATH=python python3 tests/bench/test_plot_table.py
"""

from __future__ import annotations

import importlib.util
import json
import unittest
from pathlib import Path

import numpy as np
from sample_table import COLUMNS, Case, Contestant, Problem

from weft.plot.table import InputError, load

SLAB = Contestant("weft", "slab-2d1d:default:p2p-sync")
FFTW = Contestant("fftw")


class Reading(Case):
    def test_every_field_is_read_with_its_type_and_empty_ones_are_missing(self) -> None:
        table = self.table()
        table.block(Problem("16x16x8", ranks=2), [SLAB, FFTW], 3)
        rows = load(table.write(self.folder / "run")).rows
        self.assertEqual(len(rows), 2 * 3 * 2)
        self.assertEqual(sorted(rows.columns), sorted(COLUMNS))
        for column in ("library", "shape", "cell", "exchange1"):
            self.assertEqual(rows[column].dtype.name, "category")
        for column in ("ranks", "iteration", "rank", "batch", "threads", "block"):
            self.assertEqual(rows[column].dtype.kind, "i")
        for row, wanted in zip(rows.to_dict("records"), table.rows):
            for column in COLUMNS:
                if wanted[column] == "":
                    self.assertTrue(row[column] != row[column], (column, row[column]))  # NaN
                elif isinstance(wanted[column], float):
                    self.assertAlmostEqual(row[column], wanted[column], delta=1e-8 * wanted[column])
                else:
                    self.assertEqual(row[column], wanted[column])

    def test_a_compressed_table_reads_like_a_plain_one(self) -> None:
        table = self.table()
        table.block(Problem("8x8x8"), [SLAB, FFTW])
        plain = load(table.write(self.folder / "plain")).rows
        packed = load(table.write(self.folder / "packed", compress=True)).rows
        self.assertTrue(plain.equals(packed))

    def test_a_table_alone_is_enough(self) -> None:
        table = self.table()
        table.block(Problem("8x8x8"), [SLAB])
        folder = table.write(self.folder / "run")
        (folder / "journal.jsonl").unlink()
        self.assertEqual(len(load(folder).rows), 20)
        moved = (folder / "table.csv").rename(folder / "mine.csv")
        self.assertEqual(len(load(moved).rows), 20)

    def test_rows_behind_what_the_journal_speaks_of_are_left_out(self) -> None:
        table = self.table()
        table.block(Problem("8x8x8"), [SLAB], 4)
        folder = table.write(self.folder / "run")
        with (folder / "table.csv").open("a") as stream:
            stream.write("weft,0.1.0,sample,host,8x8x8,r2c,dou")  # cut off in the middle of a line
        self.assertEqual(len(load(folder).rows), 4)

    def test_the_journal_line_that_an_interruption_tore_is_left_out(self) -> None:
        table = self.table()
        table.block(Problem("8x8x8"), [SLAB], 4)
        folder = table.write(self.folder / "run")
        with (folder / "journal.jsonl").open("a") as stream:
            stream.write('{"type": "done", "bytes": 99')
        self.assertEqual(len(load(folder).journal.done), 1)

    def test_a_cell_that_failed_first_and_ran_later_has_not_failed(self) -> None:
        table = self.table()
        cell = table.block(Problem("8x8x8"), [SLAB], 4)[0]
        table.journal = [
            {"type": "failed", "cell": cell, "reason": "r"},
            {"type": "failed", "cell": "0" * 12, "reason": "s"},
        ]
        journal = load(table.write(self.folder / "run")).journal
        self.assertEqual([entry["cell"] for entry in journal.failed], ["0" * 12])

    def test_ten_thousand_cells_load_right(self) -> None:
        table = self.table()
        cells = [f"{n:012x}" for n in range(10_000)]
        problem, times = Problem("64x64x64"), self.rng.uniform(1e-4, 1, (10_000, 20))
        table.block(problem, [SLAB], 1)
        like = table.rows.pop()
        for cell, total in zip(cells, times):
            table.rows += [like | {"cell": cell, "iteration": i, "total": float(t)} for i, t in enumerate(total)]
        table.ends[0] = len(table.rows)
        rows = load(table.write(self.folder / "run")).rows
        self.assertEqual(len(rows), 200_000)
        self.assertEqual(list(rows["cell"].cat.categories), cells)
        self.assertTrue(np.allclose(rows["total"].to_numpy().reshape(times.shape), times, rtol=1e-8))


# Where in the text of a small table (line, column) something stands instead, and what the refusal says.
FAULTS = [
    (3, "total", "fast", r"table\.csv line 3, column total: 'fast' is not a number"),
    (3, "ranks", "two", r"line 3, column ranks: 'two' is not an integer"),
    (4, "iteration", "", r"line 4, column iteration: '' is not an integer"),
    (2, "total", "", r"line 2, column total: nan is not a time"),
    (5, "total", "-1", r"line 5, column total: -1.0 is not a time"),
    (5, "total", "inf", r"line 5, column total: inf is not a time"),
    (2, "shape", "16x", r"line 2, column shape: 16x is not of the form"),
    (2, "kind", "r2r", r"line 2, column kind: r2r is not"),
    (2, "precision", "half", r"line 2, column precision: half is not"),
    (2, "direction", "", r"line 2, column direction: nan is not"),
    (2, "layout", "heap", r"line 2, column layout: heap is not"),
    (3, "cell", "xyz", r"line 3, column cell: xyz is not"),
    (3, "rank", "7", r"line 3, column rank: 7 is not below the number of ranks"),
    (3, "batch", "0", r"line 3, column batch: 0 is less than 1"),
    (3, "iteration", "0", r"line 3, column cell: [0-9a-f]{12} has two rows with the same block, iteration and rank"),
    (3, "cell", None, r"line 3 has 37 fields instead of 38"),
    (3, "cell", "a,b", r"line 3 has 39 fields instead of 38"),
    (1, "engine", "motor", r"line 1 has no column engine"),
    (1, "engine", "total", r"line 1 has no column engine"),
]


class Refusing(Case):
    def small(self) -> Path:
        table = self.table()
        table.block(Problem("8x8x8"), [SLAB], 5)
        folder = table.write(self.folder / "run")
        (folder / "journal.jsonl").unlink()
        return folder

    def test_a_fault_in_the_table_is_named_with_line_and_column(self) -> None:
        folder = self.small()
        lines = (folder / "table.csv").read_text().splitlines()
        for line, column, text, said in FAULTS:
            fields = [row.split(",") for row in lines]
            place = COLUMNS.index(column)
            fields[line - 1][place : place + 1] = [] if text is None else [text]
            (folder / "table.csv").write_text("\n".join(",".join(row) for row in fields) + "\n")
            with self.subTest(line=line, column=column, text=text), self.assertRaisesRegex(InputError, said):
                load(folder)

    def test_other_broken_files_are_named(self) -> None:
        cases = {
            "table.csv": [("", "line 1 has no column library"), (",".join(COLUMNS) + "\n", "has no rows")],
            "table.csv.gz": [("no gzip", "cannot be read")],
            "journal.jsonl": [("{}\n[1]\n", "line 2 is not a JSON object"), ("{\n", "line 1 is not JSON"),
                              ('{"type": "done", "cells": []}\n', "line 1: a done line needs bytes"),
                              ('{"type": "done", "bytes": 1000000, "cells": []}\n', "restore the table")],
            "run.json": [("[]", "must hold a JSON object"), ('{\n"a" 1}', "line 2 is not JSON")],
            "ceilings.json": [("{", "is not JSON")],
            "job.json": [("\x00", "is not JSON")],
        }  # fmt: skip
        for name, contents in cases.items():
            for text, said in contents:
                folder = self.small()
                if name == "table.csv.gz":
                    (folder / "table.csv").unlink()
                (folder / name).write_text(text)
                with self.subTest(name=name, text=text):
                    line = self.refuse(folder)
                    self.assertIn(said, line)
                    self.assertIn(name.replace("journal.jsonl", ""), line)
                (folder / name).unlink()

    def test_a_folder_without_a_table_is_refused(self) -> None:
        self.assertIn("has no table.csv", self.refuse(self.folder))
        self.assertIn("does not exist", self.refuse(self.folder / "nowhere"))

    def test_flags_that_are_not_there_are_refused(self) -> None:
        for arguments in ([], ["--colour"], ["a", "b"], ["a", "--format", "gif"], ["--compare", "a"],
                          ["a", "--compare", "b", "c"], ["a", "--comp", "b", "c"]):  # fmt: skip
            self.refuse(*arguments)

    def test_help_says_what_is_there(self) -> None:
        self.assertRegex(self.succeed("--help"), r"(?s)usage: weft plot.*--compare.*--format.*--quiet")

    def test_missing_packages_are_named_as_debian_calls_them(self) -> None:
        folder = self.small()
        (self.folder / "front").mkdir()
        for name in ("pandas", "matplotlib"):
            (self.folder / "front" / f"{name}.py").write_text("raise ImportError")
        line = self.refuse(folder, front=str(self.folder / "front"))
        self.assertRegex(line, r"apt-get install python3-pandas python3-matplotlib$")

    @unittest.skipUnless(importlib.util.find_spec("jsonschema"), "jobs cannot be read without jsonschema")
    def test_cells_that_left_no_row_are_called_by_what_the_job_says(self) -> None:
        folder = self.small()
        job = {"name": "job", "sets": [{"shapes": ["8x8x8"], "ranks": [2], "strategies": ["pencil"]}]}
        (folder / "job.json").write_text(json.dumps(job))
        self.assertEqual(list(load(folder).names.values()), ["weft pencil: r2c double 8x8x8 forward on 2 ranks"])
        (folder / "job.json").write_text('{"sets": 7}')
        self.assertEqual(load(folder).names, {})

    def test_what_went_wrong_in_the_journal_is_kept(self) -> None:
        folder = self.small()
        lines = [
            {"type": "wrong", "cell": "0" * 12, "error": 1e3, "bound": 1e-14, "what": "weft"},
            {"type": "skipped", "cell": "1" * 12, "reason": "unsupported"},
            {"type": "group", "ranks": 2, "mpi": "Open MPI", "binding": [], "versions": {}},
        ]
        (folder / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        journal = load(folder).journal
        self.assertEqual((len(journal.wrong), len(journal.skipped), len(journal.groups)), (1, 1, 1))


if __name__ == "__main__":
    unittest.main()
