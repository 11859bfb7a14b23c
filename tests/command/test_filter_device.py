"""weft filter and weft live on the device that WEFT_TEST_DEVICE names: the grey levels of the host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest

import numpy as np

from live_server import Server
from picture_files import read_png, write_png
from weft_case import WEFT, Case, environment

DEVICE = os.environ["WEFT_TEST_DEVICE"]


class Device(Case):
    def setUp(self) -> None:
        super().setUp()
        rng = np.random.default_rng(8)
        write_png(self.folder / "grey.png", rng.integers(0, 256, (24, 20), "u1"))
        write_png(self.folder / "colours.png", rng.integers(0, 65536, (20, 18, 3), "u2"))

    def assert_near(self, got: np.ndarray, expected: np.ndarray) -> None:
        self.assertEqual(got.shape, expected.shape)
        self.assertLessEqual(np.abs(got.astype(int) - expected).max(), 1)

    def test_pictures(self) -> None:
        for name, boundary in [("grey.png", "mirror"), ("colours.png", "zero")]:
            flags = ["--gaussian", "2,0.5,30", "--notch", "0.1,0.2,0.05", "--boundary", boundary, "--quiet"]
            pictures = {}
            for device in ["host", DEVICE]:
                self.succeed("filter", name, f"{device}.png", *flags, "--device", device, "--spectrum", f"{device}-s.png")
                pictures[device] = read_png(self.folder / f"{device}.png"), read_png(self.folder / f"{device}-s.png")
            for got, expected in zip(pictures[DEVICE], pictures["host"]):
                self.assert_near(got, expected)

    def test_frames(self) -> None:
        server = Server(self, "grey.png")
        if DEVICE != "simulated":
            self.assertIn(DEVICE, json.loads(server.ask(server.path + "description")[2])["devices"])
        for lines in [["gaussian 2,1,40"], ["gaussian 1,2,10", "notch 0.1,0.1,0.05"]]:
            expected = server.frame("device host", *lines)
            for _ in range(2):  # with a new plan and with the one that is there
                header, *planes = server.frame(f"device {DEVICE}", *lines)
                self.assertEqual(header["device"], DEVICE)
                for got, right in zip(planes, expected[1:]):
                    self.assert_near(got, right)


def is_there() -> bool:
    line = [WEFT, "plan", "--shape", "4", "--kind", "r2c", "--device", DEVICE]
    return subprocess.run(line, env=environment(), capture_output=True).returncode == 0


if __name__ == "__main__":
    # As the other tests of OpenCL: skipped where there is none, unless one is promised.
    if DEVICE == "opencl" and os.environ.get("WEFT_TEST_OPENCL") != "1" and not is_there():
        sys.exit(77)
    unittest.main()
