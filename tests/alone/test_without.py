"""The command built without MPI, HDF5 and libpng: one process does what needs none of them, and the rest is refused."""

from __future__ import annotations

import os
import unittest

import numpy as np
from weft_case import Case, random_array


class Without(Case):
    def setUp(self) -> None:
        super().setUp()
        self.array = random_array((6, 10, 8), "f8")
        self.save("in.npy", self.array)

    def test_transforms_on_one_process(self) -> None:
        for further in [[], ["--ranks", 1], ["--stream"], ["--device", "simulated"]]:
            self.succeed("transform", "in.npy", "out.npy", *further)
            self.assert_close(self.load("out.npy"), np.fft.rfftn(self.array))
        self.succeed("transform", "out.npy", "back.npy", "--inverse", "--last-axis", 8)
        self.assert_close(self.load("back.npy"), self.array)

    def test_other_subcommands_run_on_one_process(self) -> None:
        self.succeed("convolve", "in.npy", "gaussian:sigma=1", "smooth.npy")
        self.succeed("microstructure", "spheres", "labels.npy", "--size", "8x8x8", "--count", 2, "--fractions", 0.1)
        self.write(
            "case.json",
            '{"labels": "labels.npy", "phases": [{"label": 0, "E": 3, "nu": 0.3}, {"label": 1, "E": 9, "nu": 0.2}]}',
        )
        self.succeed("homogenize", "case.json")
        self.assertIn(" 0 failed", self.succeed("validate", "--shape", "4x6", "--decomposition", "slab-2d1d"))
        self.assertIn("8 simulated ranks", self.succeed("plan", "--shape", "8x8x8", "--ranks", 8))

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def test_processes_need_mpi(self) -> None:
        self.assertIn("this build has no MPI", self.refuse("transform", "in.npy", "out.npy", "--ranks", 2))
        self.assertIn("this build has no MPI", self.refuse("--ranks", 3, "validate"))
        self.assertIn("this build has no MPI", self.refuse("bench", "--worker", "job"))
        self.assertIn("mpi     not in this build", self.succeed("info"))

    def test_info_lists_what_is_there_apart_from_what_is_not(self) -> None:
        said = self.succeed("info").split("\n")
        for name in ("host", "cuda", "opencl", "openmp", "simulated"):
            there = [line for line in said if line.startswith(f"device  {name} ")]
            absent = [line for line in said if line.startswith(f"absent  device {name}: ")]
            self.assertEqual(len(there) + len(absent), 1, name)
            usable = self.run_weft("plan", "--shape", "8", "--device", name).returncode == 0
            self.assertEqual(usable, len(there) == 1, name)

    def test_files_need_their_libraries(self) -> None:
        self.assertIn("this build has no HDF5", self.refuse("transform", "in.npy", "out.h5:/x"))
        self.assertIn("this build has no libpng", self.refuse("view", "in.npy", "-o", "out.png"))
        self.assertIn("libmicrohttpd", self.refuse("live", "in.npy"))
        if os.environ["WEFT_JPEG"] == "1":
            self.succeed("view", "in.npy", "-o", "out.jpg")
            self.assertEqual((self.folder / "out.jpg").read_bytes()[:3], b"\xff\xd8\xff")


if __name__ == "__main__":
    unittest.main()
