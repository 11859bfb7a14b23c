"""Flags, right and wrong: exit statuses, one line of explanation, reports."""

from __future__ import annotations

import json
import unittest

from weft_case import Case, random_array


class Flags(Case):
    def setUp(self) -> None:
        super().setUp()
        self.save("in.npy", random_array((6, 5, 4), "f8"))
        self.save("spectrum.npy", random_array((6, 5, 4), "c16"))
        self.save("line.npy", random_array((6,), "f8"))

    def test_wrong_flags_exit_2_with_one_line(self) -> None:
        transform_in = ["transform", "in.npy", "out.npy"]
        for arguments in [
            [],
            ["dance"],
            ["--dance"],
            ["transform"],
            ["transform", "in.npy"],
            [*transform_in, "more"],
            [*transform_in, "--dance"],
            [*transform_in, "-x"],
            [*transform_in, "--quiet=1"],
            [*transform_in, "--grid"],
            [*transform_in, "--grid", "2x"],
            [*transform_in, "--grid", "0x2"],
            [*transform_in, "--grid", "1x1x1x1x1x1x1x1x1"],
            [*transform_in, "--grid", "5"],
            [*transform_in, "--exchange", "pigeon"],
            [*transform_in, "--exchange", "a2a-sync,"],
            [*transform_in, "--variant", "baroque"],
            [*transform_in, "--decomposition", "soup"],
            [*transform_in, "--decomposition", "brick"],
            [*transform_in, "--engine", "steam"],
            [*transform_in, "--engine", "cufft"],
            [*transform_in, "--effort", "none"],
            [*transform_in, "--precision", "half"],
            [*transform_in, "--threads", "0"],
            [*transform_in, "--threads", "1e3"],
            [*transform_in, "--memory-limit", "12Q"],
            [*transform_in, "--memory-limit", "99999999999G"],
            [*transform_in, "--norm", "loud"],
            [*transform_in, "--axes", "dct5"],
            [*transform_in, "--axes", "dct2,"],
            [*transform_in, "--axes", "dct2,dct2"],
            [*transform_in, "--axes", "none"],
            [*transform_in, "--axes", "fft,dct2,dct2", "--inverse"],
            ["transform", "spectrum.npy", "out.npy", "--axes", "fft,dct2,dct2", "--inverse", "--last-axis", "4"],
            [*transform_in, "--axes", "dct2", "--inverse", "--last-axis", "4"],
            [*transform_in, "--window", "door"],
            [*transform_in, "--window", "none"],
            [*transform_in, "--window", "hann:3"],
            [*transform_in, "--window", "hann,"],
            [*transform_in, "--window", "hann,round"],
            [*transform_in, "--window", "kaiser"],
            [*transform_in, "--window", "kaiser:"],
            [*transform_in, "--window", "kaiser:-1"],
            [*transform_in, "--window", "gaussian:0"],
            [*transform_in, "--window", "tukey:x"],
            [*transform_in, "--window", "tukey:nan"],
            [*transform_in, "--window", "hann", "--check"],
            ["transform", "spectrum.npy", "out.npy", "--window", "hann", "--inverse"],
            [*transform_in, "--ranks", "0"],
            [*transform_in, "--ranks", "two"],
            [*transform_in, "--device", "cuda"],
            [*transform_in, "--device", "toaster"],
            [*transform_in, "--inverse"],
            [*transform_in, "--last-axis", "4"],
            [*transform_in, "--check", "--inverse"],
            [*transform_in, "--shape", "6x5x4"],
            [*transform_in, "--dtype", "f2"],
            ["transform", "spectrum.npy", "out.npy", "--inverse", "--last-axis", "8"],
            ["transform", "none.npy", "out.npy"],
            ["transform", "in.txt", "out.npy"],
            ["transform", "in.npy", "out.txt"],
            ["transform", "in.npy", "none/out.npy"],
            ["transform", "in.npy", "/dev/full"],
            ["transform", "in.npy", "."],
            ["transform", "in.raw", "out.npy"],
            ["plan"],
            ["plan", "--shape", "8x"],
            ["plan", "--shape", "8x8", "--kind", "c2r"],
            ["plan", "--shape", "8x8", "--kind", "r2r"],
            ["plan", "--shape", "8x8", "--axes", "dct2,dct2,dct2", "--kind", "r2r"],
            ["plan", "--shape", "8x1", "--axes", "dct1", "--kind", "r2r"],
            ["plan", "--shape", "0x8"],
            ["plan", "--shape", "8x8", "--batch", "0"],
            ["plan", "--shape", "8x8", "more"],
            ["info", "more"],
            ["validate", "--shape", "x"],
            ["validate", "--axes", "kind"],
            ["validate", "--axes", "dct2,fft,fft"],
            ["view"],
            ["view", "in.npy"],
            ["view", "line.npy", "-o", "x.png"],
            ["view", "in.npy", "-o", "x.png", "--axis", "3"],
            ["view", "in.npy", "-o", "x.png", "--index", "99"],
            ["view", "in.npy", "in.npy", "in.npy", "-o", "x.png"],
            ["bench", "job.json"],
            ["plot", "."],
            ["compare", "--sizes", "0"],
            ["convolve"],
            ["homogenize"],
            ["filter"],
            ["tune", "--seconds", "0"],
            ["tune", "more"],
            ["wisdom"],
            ["wisdom", "dance"],
            ["wisdom", "export"],
            ["wisdom", "list", "in.npy"],
            ["wisdom", "import", "none.json"],
            ["tune", "--grid", "2x2"],
        ]:
            with self.subTest(" ".join(arguments)):
                self.refuse(*arguments)
                self.assertEqual(self.names(), ["in.npy", "line.npy", "spectrum.npy"])

    def test_one_rank_speaks_for_all(self) -> None:
        self.refuse("transform", "in.npy", "out.npy", "--dance", ranks=3)
        self.refuse("transform", "none.npy", "out.npy", ranks=3)
        self.refuse(
            "transform", "in.npy", "out.npy", "--grid", "2x2", "--decomposition", "pencil", ranks=3
        )
        self.refuse("transform", "in.npy", "none/out.npy", ranks=3)
        self.assertEqual(self.names(), ["in.npy", "line.npy", "spectrum.npy"])

    def test_quiet_says_nothing_and_no_bar_shows_in_a_pipe(self) -> None:
        self.assertEqual(self.succeed("transform", "in.npy", "out.npy", "--quiet", ranks=2), "")
        self.assertIn("6x5x3", self.succeed("transform", "in.npy", "out.npy", ranks=2))

    def test_ranks_may_stand_before_or_behind(self) -> None:
        for arguments in (
            ["--ranks=2", "transform"],
            ["transform", "--ranks", "2"],
            ["transform", "--ranks=2"],
        ):
            self.assertIn("on 2 ranks", self.succeed(*arguments, "in.npy", "out.npy"))

    def test_help_and_version(self) -> None:
        self.assertIn("transform", self.succeed("--help"))
        for command in ("transform", "convolve", "plan", "validate", "info", "view"):
            self.assertIn("--help", self.succeed(command, "--help"))
        self.assertEqual(self.succeed("--version"), self.succeed("transform", "--version"))

    def test_report_and_trace_are_json(self) -> None:
        self.succeed(
            "transform",
            "in.npy",
            "out.npy",
            "--report",
            "r.json",
            "--trace",
            "t.json",
            "--check",
            ranks=3,
        )
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(report["problem"]["shape"], [6, 5, 4])
        self.assertEqual(report["problem"]["kind"], "r2c")
        self.assertEqual(report["ranks"], 3)
        self.assertEqual([t["rank"] for t in report["timings"]], [0, 1, 2])
        self.assertTrue(all(t["total"] > 0 for t in report["timings"]))
        self.assertIn(
            report["options"]["decomposition"], ("slab-2d1d", "slab-1d2d", "slab-y-zx", "pencil")
        )
        self.assertIsInstance(report["plan"], dict)
        self.assertLess(report["round_trip_error"], 1e-14)
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        spans = [e for e in events if e["ph"] == "X"]
        self.assertEqual({e["pid"] for e in spans}, {0, 1, 2})
        self.assertLessEqual({"plan", "read", "transform", "write", "fft"}, {e["name"] for e in spans})
        stages = {(e["pid"], e["name"]): e for e in spans if e["cat"] == "stage"}
        for e in spans:
            if e["cat"] == "phase":
                transform = stages[e["pid"], "transform"]
                self.assertGreaterEqual(e["ts"], transform["ts"])
                self.assertLessEqual(e["ts"] + e["dur"], transform["ts"] + transform["dur"] + 1)

    def test_trace_of_streams_has_a_row_for_each_queue_and_the_sender(self) -> None:
        # This engine's blocks are packed; the native one stores them as they travel.
        flags = ("--exchange", "p2p-streams", "--decomposition", "slab-2d1d", "--trace", "t.json")
        engine = ("--engine", "reference", "--variant", "default")
        self.succeed("transform", "in.npy", "out.npy", *flags, *engine, ranks=3)
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        names = {(e["pid"], e["args"]["name"]) for e in events if e["name"] == "thread_name"}
        for rank in range(3):
            for row in ("calling thread", "queue 1", "queue 2", "sender"):
                self.assertIn((rank, row), names)


if __name__ == "__main__":
    unittest.main()
