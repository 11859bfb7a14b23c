"""weft homogenize on the device that WEFT_TEST_DEVICE names: what the host finds, and checkpoints."""

from __future__ import annotations

import json
import os
import unittest

import numpy as np

from weft_case import Case, environment

DEVICE = os.environ["WEFT_TEST_DEVICE"]
PHASES = [{"label": 0, "E": 1, "nu": 0.3}, {"label": 1, "E": 20, "nu": 0.2}]


class Device(Case):
    def setUp(self) -> None:
        super().setUp()
        self.save("volume.npy", np.random.default_rng(5).integers(0, 2, (6, 5, 4)).astype("u1"))
        case = {"labels": "volume.npy", "phases": PHASES, "tolerance": 1e-10, "picture": "p.png"}
        case["checkpoint"] = {"file": "c.checkpoint", "iterations": 4}
        (self.folder / "case.json").write_text(json.dumps(case))

    def line(self, device: str) -> tuple[str, ...]:
        return "homogenize", "case.json", "--report", "r.json", "--quiet", "--device", device

    def report(self) -> dict:
        """The report without what differs between runs: times."""
        report = json.loads((self.folder / "r.json").read_text())
        for load in report["loads"]:
            for key in ("seconds", "seconds_in_transforms", "seconds_per_iteration"):
                del load[key]
        return report

    def test_the_report_is_that_of_the_host(self) -> None:
        reports = {}
        for device in ("host", DEVICE):
            self.succeed(*self.line(device))
            reports[device] = self.report()
        expected, found = reports["host"], reports[DEVICE]
        stiffness = [r["effective"]["stiffness_voigt"] for r in (found, expected)]
        np.testing.assert_allclose(*stiffness, rtol=0, atol=1e-9)
        for got, right in zip(found["loads"], expected["loads"], strict=True):
            self.assertAlmostEqual(got["iterations"], right["iterations"], delta=1)
            for phase, other in zip(got["phases"], right["phases"], strict=True):
                np.testing.assert_allclose(phase["stress"], other["stress"], rtol=0, atol=1e-8)
                self.assertEqual(phase["von_mises"]["stress"]["voxels"], other["von_mises"]["stress"]["voxels"])

    def test_a_stopped_run_goes_on_to_the_same_bits(self) -> None:
        self.succeed(*self.line(DEVICE))
        expected = self.report()
        (self.folder / "r.json").unlink()
        done = self.run_weft(*self.line(DEVICE), env=environment(WEFT_FAULT="kill:behind:2:1"))
        self.assertNotEqual(done.returncode, 0)
        done = self.run_weft(*self.line("host"), "--resume")
        self.assertIn("the checkpoint of a case with another device", done.stderr)
        self.succeed(*self.line(DEVICE), "--resume")
        self.assertEqual(self.report(), expected)


if __name__ == "__main__":
    unittest.main()
