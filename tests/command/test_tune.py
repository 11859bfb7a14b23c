"""The subcommand tune, and plans that predict by what it wrote."""

from __future__ import annotations

import json
import os
import subprocess
import unittest
from pathlib import Path

from weft_case import WEFT, Case, environment


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

    def test_the_machine_files_that_are_shipped_can_be_used(self) -> None:
        flags = ("plan", "--shape", "512x512x512", "--ranks", "4096", "--json", "--machine")
        files = sorted((Path(__file__).parents[2] / "data" / "machines").glob("*.json"))
        times = [json.loads(self.succeed(*flags, file))["chosen"]["predicted_seconds"] for file in files]
        self.assertEqual([file.stem[:4] for file in files], ["ethe", "infi", "v100"])
        self.assertGreater(times[0], 2 * times[1])

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

    def measured(self, ranks: int = 2) -> dict:
        return json.loads(
            self.succeed(
                *("plan", "--shape", "24x20x16", "--effort", "measure", "--measure=1", "--json"), ranks=ranks
            )
        )

    def test_what_was_measured_once_is_chosen_again(self) -> None:
        wisdom = self.folder / "wisdom.json"
        first = self.measured()
        self.assertNotIn("wisdom", first)
        choices = json.loads(wisdom.read_text())
        self.assertEqual(len(choices), 1)
        ((key, choice),) = choices.items()
        for word in ("24x20x16 r2c double", "2 ranks", "native host", "measure", "weft "):
            self.assertIn(word, key)
        self.assertEqual(choice["decomposition"], first["chosen"]["decomposition"])
        # Another choice in the file is taken, so nothing was measured.
        other = next(c for c in first["rejected"] if c["variant"] != choice["variant"] and "left_out" not in c)
        changed = {name: other[name] for name in ("decomposition", "variant", "grid", "exchange", "tiles")}
        wisdom.write_text(json.dumps({key: choice | changed | {"seconds": 7}}))
        second = self.measured()
        self.assertEqual(second["wisdom"], "the choice was measured before")
        self.assertEqual({name: second["chosen"][name] for name in changed}, changed)
        self.assertEqual(second["chosen"]["measured_seconds"], 7)
        self.assertNotIn("measured_seconds", json.dumps(second["rejected"]))
        self.assertIn("7000 ms", self.succeed("wisdom", "list"))

    def test_planning_ends_when_its_time_is_over(self) -> None:
        os.environ["WEFT_WISDOM_DIR"] = ""
        flags = ("plan", "--shape", "24x20x16", "--effort", "measure", "--measure=1", "--json")
        for more, most in ((("--plan-seconds", "1e-6"), 1), ((), 6)):
            plan = json.loads(self.succeed(*flags, *more, ranks=2))
            timed = [c for c in (plan["chosen"], *plan["rejected"]) if "measured_seconds" in c]
            self.assertEqual(len(timed), most)
        for wrong in ("0", "-1", "x", "1,2", "nan", "1e10"):
            self.assertIn("give a time in seconds", self.refuse(*flags, "--plan-seconds", wrong))

    def test_wisdom_is_carried_and_forgotten(self) -> None:
        wisdom, other = self.folder / "wisdom.json", self.folder / "other.json"
        self.assertIn("0 choices", self.succeed("wisdom", "list"))
        self.measured()
        kept = json.loads(wisdom.read_text())
        self.succeed("wisdom", "export", other)
        self.assertEqual(json.loads(other.read_text()), kept)
        self.succeed("wisdom", "forget", "24x20x17")
        self.assertEqual(json.loads(wisdom.read_text()), kept)
        self.succeed("wisdom", "forget", "24x?0x16 r2c*2 ranks")
        self.assertEqual(json.loads(wisdom.read_text()), {})
        self.succeed("wisdom", "import", other)
        self.assertEqual(json.loads(wisdom.read_text()), kept)
        self.succeed("wisdom", "forget")
        self.assertFalse(wisdom.exists())

    def test_damaged_wisdom_is_ignored_and_said(self) -> None:
        wisdom = self.folder / "wisdom.json"
        for text in ("", "[]", '{"a": 5}', '{"a": {"decomposition": "pencil"}}'):
            wisdom.write_text(text)
            self.assertIn("ignored: wisdom file", self.measured()["wisdom"])
            self.assertEqual(wisdom.read_text(), text)
            self.refuse("wisdom", "list")
        self.refuse("wisdom", "export", "x.json")
        self.succeed("wisdom", "forget")
        self.assertNotIn("wisdom", self.measured())
        os.environ["WEFT_WISDOM_DIR"] = ""
        self.assertNotIn("wisdom", self.measured())
        self.refuse("wisdom", "list")

    def test_writers_at_the_same_time_lose_nothing(self) -> None:
        choice = {"decomposition": "pencil", "variant": "default", "grid": [2, 2], "exchange": ["peer"]}
        choice |= {"tiles": 1, "streamed": False, "resident": False, "seconds": 1.0}
        for i in range(8):
            (self.folder / f"{i}.json").write_text(json.dumps({f"call {i}": choice}))
        runs = [
            subprocess.Popen([WEFT, "wisdom", "import", f"{i}.json"], cwd=self.folder, env=environment())
            for i in range(8)
        ]
        self.assertEqual([run.wait() for run in runs], [0] * 8)
        kept = json.loads((self.folder / "wisdom.json").read_text())
        self.assertEqual(sorted(kept), [f"call {i}" for i in range(8)])

    def test_a_file_that_cannot_be_written_is_a_failure(self) -> None:
        said = self.refuse("tune", "--seconds", "1", "--output", "none/machine.json", status=1)
        self.assertIn("none/machine.json cannot be written", said)
        os.environ["WEFT_WISDOM_DIR"] = ""
        self.assertIn("give --output", self.refuse("tune"))


if __name__ == "__main__":
    unittest.main()
