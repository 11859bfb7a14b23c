"""Contestants that run in turn: peers in every block, and what becomes of those that cannot, fail or are wrong."""

from __future__ import annotations

import resource
import unittest

from worker_case import Case, problem, weft_cell


class Blocks(Case):
    def test_peers_run_in_every_block(self) -> None:
        peer = {"cell": "f" * 12, "library": "scripted", "config": "-", "adapter": self.adapter()}
        cells = [weft_cell(1), peer, weft_cell(2), weft_cell(3)]
        self.work([problem(cells, together=1)], 2, first_block=7)
        self.assertEqual([line["block"] for line in self.lines("done")], [7, 8, 9])
        self.assertEqual([line["cells"] for line in self.lines("done")], [["f" * 12, f"{n:012x}"] for n in (1, 2, 3)])
        self.assertEqual(len(self.rows(cell="f" * 12)), 3 * 3 * 2)
        self.assertEqual({(row["version"], row["library"]) for row in self.rows(cell="f" * 12)}, {("1.0", "scripted")})

    def test_weft_alone_needs_no_peers_and_peers_alone_no_weft(self) -> None:
        peer = {"cell": "f" * 12, "library": "scripted", "adapter": self.adapter()}
        self.work([problem([weft_cell(1), weft_cell(2), weft_cell(3)], together=2), problem([peer])])
        self.assertEqual([len(line["cells"]) for line in self.lines("done")], [2, 1, 1])

    def test_contestants_that_cannot_run_are_skipped_with_a_reason(self) -> None:
        cells = [
            weft_cell(1, strategy="pencil", grid=[3, 1]),
            weft_cell(2, strategy="spiral"),
            weft_cell(3, exchange=["nccl"]),
            weft_cell(4, device="cuda"),
            weft_cell(5, strategy="pencil", config="pencil:natural"),
            {"cell": "a" * 12, "library": "nothing"},
            weft_cell(6),
        ]
        output = self.work(
            [problem(cells, together=1), problem([weft_cell(7)], batch=2), problem([weft_cell(8)], (4,))], 2
        )
        reasons = {line["cell"]: line["reason"] for line in self.lines("skipped")}
        self.assertEqual(set(reasons), {f"{n:012x}" for n in (1, 2, 3, 4, 5, 7)} | {"a" * 12})
        self.assertIn("3 ranks, but there are 2", reasons[f"{1:012x}"])
        self.assertIn("spiral", reasons[f"{2:012x}"])
        self.assertIn("nothing", reasons["a" * 12])
        self.assertIn("one process", reasons[f"{7:012x}"])
        self.assertEqual(output.count(": skipped: "), 7)
        self.assertEqual({row["cell"] for row in self.rows()}, {f"{n:012x}" for n in (6, 8)})
        self.assertEqual([line["block"] for line in self.lines("done")], [0, 1])

    def test_a_wrong_result_is_loud(self) -> None:
        liar = {"cell": "b" * 12, "library": "scripted", "config": "-", "adapter": self.adapter(error=1.0)}
        output = self.work([problem([liar, weft_cell(1)])], 2, status=1)
        (wrong,) = self.lines("wrong")
        self.assertEqual((wrong["cell"], wrong["error"]), ("b" * 12, 1))
        self.assertLess(wrong["bound"], 1e-13)
        self.assertIn("12x10x8 r2c double forward, 2 ranks: scripted -", wrong["what"])
        self.assertIn("WRONG", output)
        self.assertEqual({row["error"] for row in self.rows(cell="b" * 12)}, {"1"})
        self.assertEqual(self.lines("done")[0]["cells"], ["b" * 12, f"{1:012x}"])

    def test_an_engine_that_does_not_transform_is_found_out(self) -> None:
        cells = [weft_cell(1, engine="identity"), weft_cell(2)]
        for kind, way, layout, ranks in (("c2c", "forward", "contiguous", 3), ("c2c", "inverse", "strided", 1)):
            self.work([problem(cells, kind=kind, direction=way, layout=layout)], ranks, status=1)
            (wrong,) = self.lines("wrong")
            self.assertEqual(wrong["cell"], cells[0]["cell"])
            self.assertGreater(wrong["error"], 0.1)
            self.assertEqual(float(self.rows(cell=wrong["cell"])[0]["error"]), wrong["error"])
            self.table.unlink()
            self.journal.unlink()

    def test_a_failure_takes_one_contestant_out_and_the_others_go_on(self) -> None:
        failing = weft_cell(1, device="simulated")
        cells = [failing, weft_cell(2), weft_cell(3)]
        for fault in ("fail=run:6", "fail=run:40,rank=1", "fail=allocate:1", "fail=copy:1"):
            self.work(
                [problem(cells, iterations=40)], 2, status=1, environment={"WEFT_SIMULATE": f"delay_us=0,{fault}"}
            )
            (failed,) = self.lines("failed")
            self.assertEqual(failed["cell"], failing["cell"])
            self.assertIn("simulated", failed["reason"])
            self.assertEqual(self.lines("done")[0]["cells"], [f"{n:012x}" for n in (2, 3)])
            self.assertEqual(self.rows(cell=failing["cell"]), [])
            self.check_counts(cells[1], 2, 40)
            self.table.unlink()
            self.journal.unlink()

    def test_a_device_of_its_own_memory_is_loaded_and_read_back(self) -> None:
        cells = [
            weft_cell(1, device="simulated"),
            weft_cell(2, device="simulated", transfer="staged", strategy="slab-2d1d"),
        ]
        self.work(
            [problem(cells, kind=kind, direction=way) for kind in ("r2c", "c2c") for way in ("forward", "inverse")], 3
        )
        self.assertEqual({(row["device"], row["aware"]) for row in self.rows()}, {("simulated", "staged")})
        self.check_errors(1e-14)

    def test_an_adapter_that_dies_fails_alone(self) -> None:
        mortal = {"cell": "c" * 12, "library": "scripted", "adapter": self.adapter(answers=4)}
        self.work([problem([mortal, weft_cell(1)], iterations=20)], 2, status=1)
        self.assertEqual([line["cell"] for line in self.lines("failed")], ["c" * 12])
        self.check_counts(weft_cell(1), 2, 20)

    def test_ranks_sleep_while_an_adapter_works(self) -> None:
        sleeper = {"cell": "d" * 12, "library": "scripted", "adapter": self.adapter(nap=0.1)}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.work([problem([sleeper, weft_cell(1)], iterations=40)], 2)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.assertLess(used, 3.0)  # one spinning rank would take 4 s and more


if __name__ == "__main__":
    unittest.main()
