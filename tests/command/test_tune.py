"""The subcommand tune, and plans that predict by what it wrote."""

from __future__ import annotations

import json
import os
import unittest

from weft_case import Case


class Tune(Case):
    def setUp(self) -> None:
        super().setUp()
        self.machine = self.folder / "machine.json"
        os.environ["WEFT_WISDOM_DIR"] = str(self.folder)
        os.environ.pop("WEFT_MACHINE", None)

    def plan(self) -> dict:
        return json.loads(self.succeed("plan", "--shape", "64x64x64", "--ranks", "4", "--json"))

    def test_plans_predict_by_the_file(self) -> None:
        before = self.plan()
        self.assertNotIn("machine", before)
        said = self.succeed("tune", "--seconds", "1", "--threads", "2")
        for word in ("GFLOP/s", "contention", "pass across", str(self.machine)):
            self.assertIn(word, said)
        record = json.loads(self.machine.read_text())
        self.assertGreater(min(record["rate"]["copy"]), 1e8)
        self.assertIn("2 threads", record["about"])
        after = self.plan()
        self.assertEqual(after["machine"], str(self.machine))
        self.assertNotEqual(after["chosen"]["predicted_seconds"], before["chosen"]["predicted_seconds"])
        self.assertEqual([p.name for p in self.folder.iterdir()], ["machine.json"])

    def test_ranks_measure_messages_which_one_process_keeps(self) -> None:
        said = self.succeed("tune", "--seconds", "1", ranks=2)
        self.assertIn("messages between 2 ranks", said)
        messages = ("bandwidth", "latency", "signal")
        rate = json.loads(self.machine.read_text())["rate"]
        self.assertGreater(min(rate["bandwidth"]), 1e6)
        self.assertEqual(self.succeed("tune", "--seconds", "1", "--threads", "1", "--quiet"), "")
        again = json.loads(self.machine.read_text())["rate"]
        self.assertEqual([again[key] for key in messages], [rate[key] for key in messages])

    def test_a_damaged_file_is_ignored_and_said(self) -> None:
        sound = self.plan()
        self.machine.write_text('{"rate": {"latnecy": 1}}')
        plan = self.plan()
        self.assertEqual(plan["chosen"], sound["chosen"])
        self.assertIn("rate.latnecy is no field", plan["machine_ignored"])

    def test_plan_predicts_for_the_machine_of_a_file(self) -> None:
        flags = ("plan", "--shape", "64x64x64", "--ranks", "4", "--json")
        other = self.folder / "other.json"
        other.write_text('{"rate": {"latency": 5}}')
        plan = json.loads(self.succeed(*flags, "--machine", other))
        self.assertEqual(plan["machine"], str(other))
        self.assertGreater(plan["chosen"]["predicted_seconds"], 5)
        other.write_text('{"rate": {"latency": -5}}')
        self.assertIn("rate.latency is -5", self.refuse(*flags, "--machine", other))
        self.refuse(*flags, "--machine", "none.json")

    def test_plan_measures_what_it_predicts(self) -> None:
        for ranks in (1, 2):
            flags = ("plan", "--shape", "32x24x20", "--measure=1", "--precision", "single")
            plan = json.loads(self.succeed(*flags, "--json", "--report", "r.json", ranks=ranks))
            measured = plan["measured"]
            self.assertEqual(plan["ranks"], ranks)
            self.assertFalse(plan["simulated_ranks"])
            self.assertGreater(measured["seconds"], 0)
            self.assertGreaterEqual(measured["runs"], 4)
            phases = measured["phases"].values()
            self.assertAlmostEqual(
                sum(phase["predicted_seconds"] for phase in phases), measured["predicted_seconds"], places=9
            )
            self.assertLessEqual(measured["phases"]["transforms"]["seconds"], 1.01 * measured["seconds"])
            self.assertIn("measured", json.loads((self.folder / "r.json").read_text())["plan"])
        self.assertIn("best of", self.succeed("plan", "--shape", "8x8", "--measure=1"))
        self.assertEqual(self.succeed("plan", "--shape", "8x8", "--measure=1", "--quiet"), "")
        self.refuse("plan", "--shape", "8x8", "--measure=0")

    def test_a_file_that_cannot_be_written_is_a_failure(self) -> None:
        said = self.refuse("tune", "--seconds", "1", "--output", "none/machine.json", status=1)
        self.assertIn("none/machine.json cannot be written", said)
        os.environ["WEFT_WISDOM_DIR"] = ""
        self.assertIn("give --output", self.refuse("tune"))


if __name__ == "__main__":
    unittest.main()
