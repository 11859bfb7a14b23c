"""Failures while running: exit 1, one line, and nothing left behind."""

from __future__ import annotations

import resource
import subprocess
import time
import unittest
from pathlib import Path

import numpy as np

from weft_case import HDF5, WEFT, Case, random_array


class Failures(Case):
    def test_a_file_size_limit_leaves_nothing(self) -> None:
        self.save("in.npy", random_array((160, 160, 160), "u1"))
        self.save("out.npy", np.zeros(3))
        before = (self.folder / "out.npy").read_bytes()

        def limit() -> None:
            resource.setrlimit(
                resource.RLIMIT_FSIZE, (24 << 20, 24 << 20)
            )  # MPI needs some for itself

        for name in ["out.npy", "new.raw"] + (["new.h5:/x"] if HDF5 else []):
            self.refuse("transform", "in.npy", name, status=1, preexec_fn=limit)
            self.assertEqual(self.names(), ["in.npy", "out.npy"])
        self.assertEqual((self.folder / "out.npy").read_bytes(), before)

    def mount(self, size: int, read_only: bool = False) -> Path:
        """A small disk of its own; skips the test where mounting is not permitted."""
        disk = self.folder / "disk"
        disk.mkdir()
        flags = f"size={size}" + (",ro" if read_only else "")
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", flags, "tmpfs", str(disk)], capture_output=True
        )
        if done.returncode != 0:
            self.skipTest("mounting is not permitted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], check=True)
        return disk

    def test_a_full_disk_leaves_nothing(self) -> None:
        self.save("in.npy", random_array((32, 32, 32), "f8"))
        disk = self.mount(65536)
        for name in ["disk/out.npy", "disk/out.raw"] + (["disk/out.h5:/x"] if HDF5 else []):
            for ranks in (1, 3):
                self.refuse("transform", "in.npy", name, ranks=ranks, status=1)
                self.assertEqual(list(disk.iterdir()), [])

    def test_an_octree_that_does_not_fit_leaves_nothing(self) -> None:
        self.save("in.npy", np.zeros((48, 40, 64)))
        disk = self.mount(65536)
        how = ("--zero", "0", "--method", "samples", "--opening", "0.25", "--subdomain", "24", "--octree", "disk/t.json")
        said = self.refuse("convolve", "in.npy", "poisson", "out.npy", *how, ranks=2, status=1)
        self.assertIn("disk/t.json: writing failed", said)
        self.assertEqual(list(disk.iterdir()), [])

    def test_a_read_only_folder_is_an_error(self) -> None:
        self.save("in.npy", random_array((8, 8, 8), "f8"))
        self.mount(65536, read_only=True)
        self.refuse("transform", "in.npy", "disk/out.npy", ranks=2)

    def test_an_array_that_does_not_fit_is_refused_before_anything_is_done(self) -> None:
        lines = Path("/proc/meminfo").read_text().splitlines()
        kib = {line.split()[0]: int(line.split()[1]) for line in lines}
        # Each of the two arrays would fit, both together do not.
        rows = (kib["MemAvailable:"] + kib["SwapFree:"]) * 1024 * 6 // 10 // (1 << 20)
        with open(self.folder / "large.raw", "wb") as file:
            file.truncate(rows << 20)  # sparse
        shape = ["--shape", f"{rows}x512x512", "--dtype", "f4"]
        for ranks in (1, 3):
            said = self.refuse("transform", "large.raw", "out.raw", *shape, ranks=ranks, status=1)
            self.assertRegex(
                said, rf"has too little memory: its {ranks} ranks? needs? [0-9.]+ GiB and [0-9.]+ GiB are"
            )
            self.assertEqual(self.names(), ["large.raw"])
        self.refuse("validate", "--shape", f"{rows}x512x512", ranks=2, status=1)

    def test_files_that_cannot_be_written_are_refused_first(self) -> None:
        self.save("in.npy", random_array((8, 8, 8), "f8"))
        for flag in ("--report", "--trace"):
            said = self.refuse("transform", "in.npy", "out.npy", flag, "none/x.json", ranks=2)
            self.assertIn("none/x.json", said)
            self.assertEqual(self.names(), ["in.npy"])
        how = ("poisson", "out.npy", "--method", "samples", "--zero", "0", "--octree", "none/x.json")
        self.assertIn("none/x.json", self.refuse("convolve", "in.npy", *how, ranks=2))
        self.assertEqual(self.names(), ["in.npy"])
        self.assertEqual(self.refuse("validate", "--report", "none/x.json").count("\n"), 0)

    def test_an_interrupted_command_leaves_nothing(self) -> None:
        self.save("in.npy", random_array((160, 160, 160), "u1"))
        for delay in (0.15, 0.4):
            process = subprocess.Popen(
                [WEFT, "transform", "in.npy", "out.npy", "--engine", "reference"],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            deadline = time.monotonic() + 20
            while (
                self.names() == ["in.npy"]
                and process.poll() is None
                and time.monotonic() < deadline
            ):
                time.sleep(0.005)
            time.sleep(delay)
            process.terminate()
            process.wait()
            self.assertLessEqual(set(self.names()), {"in.npy", "out.npy"})
            if "out.npy" in self.names():  # it was faster
                self.assertEqual(self.load("out.npy").shape, (160, 160, 81))
                (self.folder / "out.npy").unlink()


if __name__ == "__main__":
    unittest.main()
