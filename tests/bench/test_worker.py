"""One process group measures what a worker file says: rows, shapes, memory, known answers."""

from __future__ import annotations

import unittest

from worker_case import PHASES, Case, problem, weft_cell


class Timing(Case):
    def test_every_rank_and_iteration_has_a_row_on_1_2_and_3_ranks(self) -> None:
        cells = [
            weft_cell(1, strategy="slab-2d1d", variant="default", exchange=["p2p-sync"], engine="fftw", threads=1),
            weft_cell(2, strategy="slab-1d2d", variant="realigned", exchange=["a2a-type"]),
            weft_cell(3, strategy="pencil", variant="default", exchange=["p2p-streams"]),
            weft_cell(4),
        ]
        for ranks in (1, 2, 3):
            self.table.unlink(missing_ok=True)
            self.journal.unlink(missing_ok=True)
            output = self.work([problem(cells)], ranks)
            for cell in cells:
                for row in self.check_counts(cell, ranks, 3):
                    phases = sum(float(row[name]) for name in PHASES if name != "exchange")
                    self.assertLess(phases, float(row["total"]) if row["exchange1"] != "p2p-streams" else 60)
                    self.assertGreater(float(row["memory_peak"]), 0)
                    self.assertEqual(float(row["bytes_sent"]) > 0, ranks > 1)
                    self.assertEqual(row["first_message"] != "", ranks > 1 and row["exchange1"] != "peer")
                    self.assertEqual((row["exchange1"], row["aware"]) == ("", ""), ranks == 1)
            self.check_errors(1e-14)
            self.assertEqual(output.count("GFLOP/s"), len(cells))
            self.assertIn(f"12x10x8 r2c double forward, {ranks} rank", output)
            (group,) = self.lines("group")
            self.assertEqual([bound["rank"] for bound in group["binding"]], list(range(ranks)))
            self.assertEqual({bound["host"] for bound in group["binding"]}, {row["host"] for row in self.rows()})
            self.assertRegex(group["binding"][0]["cpus"], r"^\d+(-\d+)?(,\d+(-\d+)?)*$")
            self.assertRegex(group["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertEqual(group["versions"]["weft"], self.rows()[0]["version"])
            self.assertEqual(group["ranks"], ranks)

    def test_columns_tell_what_a_plan_settled_on(self) -> None:
        slab = weft_cell(1, strategy="slab-2d1d", variant="realigned", exchange=["p2p-type"], transfer="staged")
        pencil = weft_cell(2, strategy="pencil", grid=[2, 2], exchange=["p2p-sync", "a2a-sync"], variant="default")
        narrow = weft_cell(3, strategy="pencil", grid=[4, 1], exchange=["p2p-sync", "a2a-sync"], variant="default")
        natural = weft_cell(4, config="slab-2d1d:natural", strategy="slab-2d1d", exchange=["a2a-sync"])
        single = weft_cell(5, strategy="slab-2d1d", engine="reference", threads=2, effort="measure")
        self.work([problem([slab, pencil, narrow, natural, single])], 4)
        columns = ["device", "grid", "strategy", "variant", "exchange1", "exchange2", "aware", "threads", "effort"]
        found = {
            cell["cell"]: [self.rows(cell=cell["cell"])[0][name] for name in columns] for cell in (slab, pencil, narrow)
        }
        self.assertEqual(
            list(found.values()),
            [
                ["host", "4", "slab-2d1d", "realigned", "p2p-type", "", "staged", "1", "estimate"],
                ["host", "2x2", "pencil", "default", "p2p-sync", "a2a-sync", "aware", "1", "estimate"],
                ["host", "4x1", "pencil", "default", "a2a-sync", "", "aware", "1", "estimate"],
            ],
        )
        row = self.rows(cell=natural["cell"])[0]
        self.assertEqual((row["exchange1"], row["exchange2"]), ("a2a-sync", "a2a-sync"))
        row = self.rows(cell=single["cell"])[0]
        self.assertEqual((row["engine"], row["threads"], row["effort"]), ("reference", "2", "measure"))

    def test_any_shape_is_right_on_any_number_of_ranks(self) -> None:
        shapes: list[tuple[int, ...]] = [(3, 2, 7), (1, 5, 1), (13, 4), (16, 16, 16), (2, 2, 2)]
        cells = [
            weft_cell(1),
            weft_cell(2, config="auto:natural"),
            weft_cell(3, strategy="slab-2d1d", variant="realigned"),
        ]
        for ranks in (1, 2, 5):
            problems = [
                problem(cells, shape, kind=kind, precision=precision, direction=direction, iterations=2, warmups=0)
                for shape in shapes
                for kind in ("r2c", "c2c", "+".join(("dst2", "dct3", "dst4")[: len(shape)]))
                for precision, direction in (("double", "inverse"), ("single", "forward"), ("single", "inverse"))
            ]
            self.work(problems, ranks)
            done = self.lines("done")
            self.assertEqual([line["block"] for line in done], list(range(len(problems))))
            self.assertEqual(self.lines("skipped"), [])
            self.assertEqual(len(self.rows()), len(problems) * len(cells) * 2 * ranks)
            for row in self.rows():
                self.assertLess(float(row["error"]), 1e-15 * 30 if row["precision"] == "double" else 3e-6, row)
            self.table.unlink()
            self.journal.unlink()

    def test_one_process_takes_batches_strides_and_lines(self) -> None:
        engines = [weft_cell(1, engine="fftw"), weft_cell(2, engine="reference"), weft_cell(3)]
        problems = [
            problem(engines, shape, kind=kind, direction=direction, precision=precision, batch=batch, layout=layout)
            for shape in ((30,), (9, 8), (5, 4, 6))
            for kind in ("r2c", "c2c", "dst1", "+".join(("dct2", "none", "dct4")[: len(shape)]))
            for direction in ("forward", "inverse")
            for precision in ("double", "single")
            for batch, layout in ((1, "contiguous"), (3, "contiguous"), (4, "strided"))
        ]
        self.work(problems)
        self.assertEqual(self.lines("skipped"), [])
        for row in self.rows():
            self.assertLess(float(row["error"]), 3e-14 if row["precision"] == "double" else 3e-6, row)
            self.assertEqual(
                row["engine"] if row["cell"][-1] != "3" else "",
                {"1": "fftw", "2": "reference", "3": ""}[row["cell"][-1]],
            )
        self.assertEqual(
            {(row["batch"], row["layout"]) for row in self.rows()},
            {("1", "contiguous"), ("3", "contiguous"), ("4", "strided")},
        )
        self.assertEqual(len(self.rows()), len(problems) * 3 * 3)

    def test_repeats_of_an_iteration_have_one_time_their_mean(self) -> None:
        runs = 1 + (2 + 1) * 4 + 1  # checked before and after
        cell = {"cell": f"{1:012x}", "library": "scripted", "config": "-", "adapter": self.adapter(answers=runs)}
        self.work([problem([cell, weft_cell(2, engine="fftw")], iterations=2, warmups=1, repeats=4)])
        self.assertEqual([float(row["total"]) for row in self.rows(library="scripted")], [0.001, 0.001])
        self.assertEqual(len(self.rows(library="weft")), 2)

    def test_memory_peak_counts_buffers_and_plan(self) -> None:
        self.work([problem([weft_cell(1)], (160, 160, 160), kind="c2c", iterations=1, warmups=0)], 2)
        share = 160**3 * 16 / 2
        # Input, output, and what the plan sends and receives: a share each. What MPI, libraries and tables take beside them
        # depends on the machine, not on the shape: 3 MB, 15 MB with the address sanitizer. An array that is counted twice
        # too often makes six shares.
        for row in self.rows():
            self.assertGreater(float(row["memory_peak"]), 4 * share)
            self.assertLess(float(row["memory_peak"]), 5.5 * share)

    def test_what_each_phase_of_a_block_took_is_told(self) -> None:
        self.work([problem([weft_cell(1), weft_cell(2)], (48, 48, 48), iterations=20)], 2)
        (done,) = self.lines("done")
        parts = done["planning"] + done["running"] + done["checking"]
        self.assertLess(parts, done["wall"])
        self.assertGreater(parts, 0.5 * done["wall"])
        totals = sum(
            max(float(row["total"]) for row in self.rows(cell=cell["cell"], iteration=i))
            for cell in (weft_cell(1), weft_cell(2))
            for i in range(20)
        )
        self.assertLess(totals, done["running"])


class Validation(Case):
    def test_known_answers_get_a_row_each(self) -> None:
        cells = [
            weft_cell(1),
            weft_cell(2, strategy="pencil", variant="realigned"),
            weft_cell(3, config="auto:natural"),
            weft_cell(4, device="simulated"),
            {"cell": "e" * 12, "library": "fftw"},
        ]
        output = self.work(
            [
                problem(cells, mode="validate"),
                problem(cells[:1], (9, 7), mode="validate", precision="single", kind="c2c"),
                problem(cells[:2], (9, 8, 7), mode="validate", kind="dst1+dct2+dct3"),
            ],
            3,
        )
        self.assertEqual(output.count(" valid "), 7)
        for line, count in zip(self.lines("done"), (4, 1, 2), strict=True):
            self.assertEqual(len(line["cells"]), count)
        for cell in cells[:4]:
            rows = self.rows(cell=cell["cell"], shape="12x10x8")
            self.assertEqual(
                [(row["check"], row["rank"]) for row in rows],
                [(check, str(rank)) for check in ("round-trip", "laplacian", "placement") for rank in range(3)],
            )
            for row in rows:
                self.assertEqual([row[name] for name in ["total", *PHASES, "iteration"]], [""] * 7 + ["0"])
                self.assertTrue(0 <= float(row["error"]) < 1e-13, row)
                self.assertNotEqual(row["strategy"], "")
        self.assertEqual(self.rows(cell="e" * 12), [])

    def test_a_plan_that_moves_nothing_right_is_wrong(self) -> None:
        """The identity engine transforms nothing, so the known answers are missed."""
        self.work([problem([weft_cell(1, engine="identity")], mode="validate", kind="c2c")], 2, status=1)
        self.assertEqual({line["cell"] for line in self.lines("wrong")}, {f"{1:012x}"})
        self.assertGreater(float(self.rows(check="placement")[0]["error"]), 0.1)


if __name__ == "__main__":
    unittest.main()
