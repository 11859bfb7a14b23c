"""weft homogenize on the device that WEFT_TEST_DEVICE names: what the host finds, and checkpoints."""

from __future__ import annotations

import json
import os
import unittest

import numpy as np

from weft_case import HDF5, Case, environment

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
                for field in ("strain", "stress"):
                    np.testing.assert_allclose(phase[field], other[field], rtol=0, atol=1e-8)
                    spread, expected_spread = phase["von_mises"][field], other["von_mises"][field]
                    self.assertEqual(spread["voxels"], expected_spread["voxels"])
                    self.assertAlmostEqual(spread["most"], expected_spread["most"], 8)

    def test_as_many_phases_as_voxels(self) -> None:
        """Threads have parts of tables, of which there are few where there are many phases."""
        shape = (6, 7, 8)
        labels = np.random.default_rng(7).permutation(np.prod(shape)).reshape(shape)
        self.save("many.npy", labels.astype("u2"))
        phases = [{"label": int(i), "E": 1 + i % 7, "nu": 0.3} for i in range(labels.size)]
        case = {"labels": "many.npy", "phases": phases, "load": {"strain": [1, 0, 0, 0, 0.5, 0]}, "tolerance": 1e-8}
        (self.folder / "case.json").write_text(json.dumps(case))
        reports = []
        for device in ("host", DEVICE):
            self.succeed(*self.line(device))
            reports.append(self.report()["loads"][0]["phases"])
        for field in ("strain", "stress"):
            means = [[phase[field] for phase in report] for report in reports]
            np.testing.assert_allclose(*means, rtol=0, atol=1e-6)

    @unittest.skipUnless(HDF5, "no parallel HDF5")
    def test_fields_are_those_of_the_host(self) -> None:
        case = json.loads((self.folder / "case.json").read_text())
        load = {"strain": [1, 0, 0, 0, 0.5, 0]}
        for solver in ("cg", "basic"):
            values = {}
            for device in ("host", DEVICE):
                case |= {"fields": f"{device}.h5", "solver": solver, "load": load}
                (self.folder / "case.json").write_text(json.dumps(case))
                self.succeed(*self.line(device))
                for field in ("strain", "stress"):
                    self.succeed("transform", f"{device}.h5:/{field}", "s.npy", "--axes", "none,none,none,fft")
                    values[device, field] = self.load("s.npy")
            for field in ("strain", "stress"):
                np.testing.assert_allclose(values[DEVICE, field], values["host", field], rtol=0, atol=1e-7)

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
