"""Tests of the command weft against numpy.fft: files of every type, shapes, flags, failures.

Run by ctest; by hand: WEFT=build/tools/weft python3 test_command.py [GROUP ...]
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np

WEFT = os.environ["WEFT"]
HDF5 = os.environ.get("WEFT_HDF5", "1") == "1"
TYPES = {"u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4", "f4": "f4", "f8": "f8", "c8": "c8", "c16": "c16"}


def random_array(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng()
    kind = np.dtype(dtype)
    if kind.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind)
    if kind.kind == "f":
        return rng.standard_normal(shape).astype(kind)
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, size=shape, dtype=kind, endpoint=True)


def transform(array: np.ndarray) -> np.ndarray:
    """The forward transform in double precision."""
    wide = array.astype("c16" if array.dtype.kind == "c" else "f8")
    return np.fft.fftn(wide) if array.dtype.kind == "c" else np.fft.rfftn(wide)


class Case(unittest.TestCase):
    """A folder for each test, and ways to run the command in it."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="weft-command-")
        self.folder = Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)

    def run_weft(self, *arguments: object, ranks: int = 1, **options) -> subprocess.CompletedProcess:
        line = [WEFT] + (["--ranks", str(ranks)] if ranks > 1 else []) + [str(a) for a in arguments]
        return subprocess.run(line, capture_output=True, text=True, cwd=self.folder, timeout=120, **options)

    def succeed(self, *arguments: object, ranks: int = 1) -> str:
        done = self.run_weft(*arguments, ranks=ranks)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def refuse(self, *arguments: object, ranks: int = 1, status: int = 2, **options) -> str:
        """Runs what must fail with one line, and returns the line."""
        done = self.run_weft(*arguments, ranks=ranks, **options)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, (arguments, done.stderr))
        self.assertTrue(lines[0].startswith("weft: "), lines)
        return lines[0]

    def save(self, name: str, array: np.ndarray) -> None:
        np.save(self.folder / name, array)

    def load(self, name: str) -> np.ndarray:
        return np.load(self.folder / name)

    def names(self) -> list[str]:
        return sorted(p.name for p in self.folder.iterdir())

    def assert_close(self, got: np.ndarray, expected: np.ndarray, single: bool = False) -> None:
        self.assertEqual(got.shape, expected.shape)
        error = np.linalg.norm((got - expected).ravel()) / max(np.linalg.norm(expected.ravel()), 1e-300)
        self.assertLess(error, 2e-6 if single else 5e-15)


class Transform(Case):
    def test_every_type_on_one_to_four_ranks(self) -> None:
        for place, (name, dtype) in enumerate(TYPES.items()):
            array = random_array((9, 7, 5), dtype)
            self.save("in.npy", array)
            single = name in ("f4", "c8")
            for ranks in (1, 1 + place % 3 + 1):
                with self.subTest(type=name, ranks=ranks):
                    self.succeed("transform", "in.npy", "out.npy", ranks=ranks)
                    got = self.load("out.npy")
                    self.assertEqual(got.dtype, np.dtype("c8" if single else "c16"))
                    self.assert_close(got, transform(array), single)

    def test_shapes_of_one_to_eight_axes(self) -> None:
        for shape in [(1,), (13,), (1, 1), (6, 10), (7, 1, 9), (3, 4, 5, 6), (2, 3, 2, 3, 2), (2,) * 8]:
            for dtype in ("f8", "c16"):
                array = random_array(shape, dtype)
                self.save("in.npy", array)
                for ranks in (1,) if len(shape) == 1 else (1, 3):
                    with self.subTest(shape=shape, dtype=dtype, ranks=ranks):
                        self.succeed("transform", "in.npy", "out.npy", ranks=ranks)
                        self.assert_close(self.load("out.npy"), transform(array))

    def test_inverse_of_half_spectra_gives_back_odd_and_even_axes(self) -> None:
        for last in (8, 9):
            array = random_array((6, 5, last), "f8")
            self.save("in.npy", array)
            for ranks in (1, 2, 4):
                self.succeed("transform", "in.npy", "spectrum.npy", ranks=ranks)
                self.succeed("transform", "spectrum.npy", "out.npy", "--inverse", "--last-axis", last, ranks=ranks)
                got = self.load("out.npy")
                self.assertEqual(got.dtype, np.float64)
                self.assert_close(got, array)

    def test_inverse_of_complex_arrays(self) -> None:
        array = random_array((6, 5, 4), "c16")
        self.save("in.npy", array)
        self.succeed("transform", "--inverse", "in.npy", "out.npy", ranks=3)
        self.assert_close(self.load("out.npy"), np.fft.ifftn(array))

    def test_norms_have_the_meaning_of_numpy(self) -> None:
        array = random_array((6, 5, 4), "f8")
        self.save("in.npy", array)
        for norm in ("backward", "ortho", "forward"):
            self.succeed("transform", "in.npy", "out.npy", "--norm", norm, ranks=2)
            expected = np.fft.rfftn(array, norm=norm)
            self.assert_close(self.load("out.npy"), expected)
            self.succeed("transform", "out.npy", "back.npy", "--norm", norm, "--inverse", "--last-axis", 4)
            self.assert_close(self.load("back.npy"), array)
        self.succeed("transform", "in.npy", "out.npy", "--norm", "none")
        self.succeed("transform", "out.npy", "back.npy", "--norm", "none", "--inverse", "--last-axis", 4)
        self.assert_close(self.load("back.npy"), array.size * array)

    def test_precision_is_chosen_by_input_or_flag(self) -> None:
        for dtype, flag, expected in [("f4", "double", "c16"), ("f8", "single", "c8"), ("u1", "single", "c8")]:
            array = random_array((6, 5, 4), dtype)
            self.save("in.npy", array)
            self.succeed("transform", "in.npy", "out.npy", "--precision", flag)
            self.assertEqual(self.load("out.npy").dtype, np.dtype(expected))
            self.assert_close(self.load("out.npy"), transform(array), flag == "single")

    def test_output_bits_do_not_depend_on_exchange_or_threads(self) -> None:
        self.save("in.npy", random_array((9, 8, 7), "f8"))
        outputs = set()
        for exchange in ("p2p-sync", "p2p-streams", "p2p-type", "a2a-sync", "a2a-type", "a2a-sync,p2p-type"):
            self.succeed("transform", "in.npy", "out.npy", "--decomposition", "pencil", "--grid", "2x2",
                         "--variant", "realigned", "--exchange", exchange, ranks=4)
            outputs.add((self.folder / "out.npy").read_bytes())
        self.assertEqual(len(outputs), 1)

    def test_simulated_device_and_reference_engine(self) -> None:
        array = random_array((9, 8, 7), "f8")
        self.save("in.npy", array)
        for flags in (["--device", "simulated"], ["--engine", "reference"], ["--threads", "2"]):
            self.succeed("transform", "in.npy", "out.npy", *flags, ranks=2)
            self.assert_close(self.load("out.npy"), transform(array))

    def test_check_prints_the_round_trip_error(self) -> None:
        self.save("in.npy", random_array((9, 8, 7), "f8"))
        for norm in ("backward", "none"):
            said = self.succeed("transform", "in.npy", "out.npy", "--check", "--norm", norm, ranks=2)
            self.assertIn("round trip", said)


class Files(Case):
    def test_headers_of_every_numpy_version_order_and_byte_order(self) -> None:
        array = random_array((5, 6, 7), "f8")
        for version in ((1, 0), (2, 0), (3, 0)):
            for form in (array, np.asfortranarray(array), array.astype(">f8"), np.asfortranarray(array.astype(">f8"))):
                with open(self.folder / "in.npy", "wb") as file:
                    np.lib.format.write_array(file, form, version=version)
                self.succeed("transform", "in.npy", "out.npy", ranks=2)
                self.assert_close(self.load("out.npy"), transform(array))

    def test_raw_files_of_every_type(self) -> None:
        for name, dtype in TYPES.items():
            array = random_array((5, 6, 7), dtype)
            array.tofile(self.folder / "in.raw")
            self.succeed("transform", "in.raw", "out.bin", "--shape", "5x6x7", "--dtype", name, ranks=2)
            single = name in ("f4", "c8")
            got = np.fromfile(self.folder / "out.bin", dtype="c8" if single else "c16")
            expected = transform(array)
            self.assert_close(got.reshape(expected.shape), expected, single)

    @unittest.skipUnless(HDF5, "this build has no HDF5")
    def test_hdf5_files_go_round(self) -> None:
        for dtype in ("f8", "f4"):
            array = random_array((5, 6, 7), dtype)
            self.save("in.npy", array)
            for ranks in (1, 2, 4):
                self.succeed("transform", "in.npy", "file.h5:/deep/spectrum", ranks=ranks)
                self.succeed("transform", "file.h5:/deep/spectrum", "file.h5:/back", "--inverse", "--last-axis", 7,
                             ranks=ranks)
                self.succeed("transform", "file.h5:/back", "out.npy", ranks=ranks)
                self.assert_close(self.load("out.npy"), transform(array), dtype == "f4")
        self.assertEqual(self.names(), ["file.h5", "in.npy", "out.npy"])

    def test_a_file_can_be_transformed_into_itself(self) -> None:
        array = random_array((5, 6, 7), "c16")
        self.save("in.npy", array)
        self.succeed("transform", "in.npy", "in.npy", ranks=2)
        self.assert_close(self.load("in.npy"), transform(array))

    def test_a_link_is_followed_and_stays(self) -> None:
        array = random_array((5, 6), "c16")
        self.save("in.npy", array)
        (self.folder / "real.npy").touch()
        (self.folder / "link.npy").symlink_to("real.npy")
        self.succeed("transform", "in.npy", "link.npy")
        self.assertTrue((self.folder / "link.npy").is_symlink())
        self.assert_close(self.load("real.npy"), transform(array))

    def test_output_obeys_the_umask(self) -> None:
        self.save("in.npy", random_array((5, 6), "f8"))
        self.succeed("transform", "in.npy", "out.npy")
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual((self.folder / "out.npy").stat().st_mode & 0o777, 0o666 & ~mask)

    def test_larger_arrays_on_uneven_ranks(self) -> None:
        array = random_array((61, 67, 71), "i2")
        self.save("in.npy", array)
        for flags in (["--decomposition", "pencil"], ["--decomposition", "slab-1d2d"]):
            self.succeed("transform", "in.npy", "out.npy", *flags, ranks=3)
            self.assert_close(self.load("out.npy"), transform(array))
            self.succeed("transform", "out.npy", "back.npy", "--inverse", "--last-axis", 71, *flags, ranks=4)
            self.assert_close(self.load("back.npy"), array.astype("f8"))

    def test_malformed_files_are_refused(self) -> None:
        array = random_array((5, 6, 7), "f8")
        self.save("good.npy", array)
        good = (self.folder / "good.npy").read_bytes()
        lying = good.replace(b"(5, 6, 7)", b"(5, 6, 8)")
        huge = good.replace(b"(5, 6, 7), }" + b" " * 20, b"(4294967296, 4294967296), }     ")
        bad = {
            "empty": b"",
            "magic": b"hello" + good[5:],
            "cut_header": good[:40],
            "cut_data": good[:-1],
            "lying": lying,
            "huge": huge,
            "header_length": good[:8] + b"\xff\xff" + good[10:],
            "header_length_2": good[:6] + b"\x02\x00\xff\xff\xff\xff" + good[12:],
            "zero": good.replace(b"(5, 6, 7)", b"(5, 0, 7)"),
            "negative": good.replace(b"(5, 6, 7)", b"(-5, 6,7)"),
            "scalar": good.replace(b"(5, 6, 7)", b"()       "),
        }
        self.assertNotEqual(huge, good)
        for dtype in ("i8", "u4", "f2", "?", "O", "S4", "M8[s]"):
            np.save(self.folder / "odd.npy", np.zeros((2, 2), dtype=dtype), allow_pickle=True)
            bad[f"dtype_{dtype}"] = (self.folder / "odd.npy").read_bytes()
        np.save(self.folder / "odd.npy", np.zeros((2, 2), dtype=[("a", "f8"), ("b", "f8")]))
        bad["record"] = (self.folder / "odd.npy").read_bytes()
        np.save(self.folder / "odd.npy", np.zeros((1,) * 9))
        bad["nine_axes"] = (self.folder / "odd.npy").read_bytes()
        for name, content in bad.items():
            with self.subTest(name):
                (self.folder / "bad.npy").write_bytes(content)
                self.refuse("transform", "bad.npy", "out.npy", ranks=2 if name in ("cut_data", "lying") else 1)
                self.assertNotIn("out.npy", self.names())

    @unittest.skipUnless(HDF5, "this build has no HDF5")
    def test_malformed_hdf5_files_are_refused(self) -> None:
        self.save("in.npy", random_array((5, 6, 7), "f8"))
        self.succeed("transform", "in.npy", "good.h5:/x")
        good = (self.folder / "good.h5").read_bytes()
        for cut in (0, 10, 100, len(good) // 2, len(good) - 1):
            (self.folder / "bad.h5").write_bytes(good[:cut])
            self.refuse("transform", "bad.h5:/x", "out.npy", ranks=2 if cut == 100 else 1)
        self.refuse("transform", "good.h5:/y", "out.npy", ranks=2)
        self.refuse("transform", "good.h5", "out.npy")
        self.refuse("transform", "good.h5:/", "out.npy")
        self.assertEqual(self.names(), ["bad.h5", "good.h5", "in.npy"])


class Flags(Case):
    def setUp(self) -> None:
        super().setUp()
        self.save("in.npy", random_array((6, 5, 4), "f8"))
        self.save("spectrum.npy", random_array((6, 5, 4), "c16"))
        self.save("line.npy", random_array((6,), "f8"))

    def test_wrong_flags_exit_2_with_one_line(self) -> None:
        transform_in = ["transform", "in.npy", "out.npy"]
        for arguments in [
            [], ["dance"], ["--dance"], ["transform"], ["transform", "in.npy"], [*transform_in, "more"],
            [*transform_in, "--dance"], [*transform_in, "-x"], [*transform_in, "--quiet=1"],
            [*transform_in, "--grid"], [*transform_in, "--grid", "2x"], [*transform_in, "--grid", "0x2"],
            [*transform_in, "--grid", "1x1x1x1x1x1x1x1x1"], [*transform_in, "--grid", "5"],
            [*transform_in, "--exchange", "pigeon"], [*transform_in, "--exchange", "a2a-sync,"],
            [*transform_in, "--variant", "baroque"], [*transform_in, "--decomposition", "soup"],
            [*transform_in, "--engine", "steam"], [*transform_in, "--engine", "cufft"],
            [*transform_in, "--effort", "none"], [*transform_in, "--precision", "half"],
            [*transform_in, "--threads", "0"], [*transform_in, "--threads", "1e3"],
            [*transform_in, "--memory-limit", "12Q"], [*transform_in, "--memory-limit", "99999999999G"],
            [*transform_in, "--norm", "loud"], [*transform_in, "--ranks", "0"],
            [*transform_in, "--ranks", "two"], [*transform_in, "--device", "cuda"],
            [*transform_in, "--device", "opencl"], [*transform_in, "--device", "openmp"],
            [*transform_in, "--device", "toaster"], [*transform_in, "--inverse"],
            [*transform_in, "--last-axis", "4"], [*transform_in, "--check", "--inverse"],
            [*transform_in, "--shape", "6x5x4"], [*transform_in, "--dtype", "f2"],
            ["transform", "spectrum.npy", "out.npy", "--inverse", "--last-axis", "8"],
            ["transform", "none.npy", "out.npy"], ["transform", "in.txt", "out.npy"],
            ["transform", "in.npy", "out.txt"], ["transform", "in.npy", "none/out.npy"],
            ["transform", "in.npy", "/dev/full"], ["transform", "in.npy", "."],
            ["transform", "in.raw", "out.npy"],
            ["plan"], ["plan", "--shape", "8x"], ["plan", "--shape", "8x8", "--kind", "c2r"],
            ["plan", "--shape", "0x8"], ["plan", "--shape", "8x8", "--batch", "0"],
            ["plan", "--shape", "8x8", "more"], ["info", "more"], ["validate", "--shape", "x"],
            ["view"], ["view", "in.npy"], ["view", "line.npy", "-o", "x.png"],
            ["view", "in.npy", "-o", "x.png", "--axis", "3"],
            ["view", "in.npy", "-o", "x.png", "--index", "99"],
            ["view", "in.npy", "in.npy", "in.npy", "-o", "x.png"],
            ["bench", "job.json"], ["plot", "."], ["convolve"], ["homogenize"], ["filter"], ["tune"],
        ]:
            with self.subTest(" ".join(arguments)):
                self.refuse(*arguments)
                self.assertEqual(self.names(), ["in.npy", "line.npy", "spectrum.npy"])

    def test_one_rank_speaks_for_all(self) -> None:
        self.refuse("transform", "in.npy", "out.npy", "--dance", ranks=3)
        self.refuse("transform", "none.npy", "out.npy", ranks=3)
        self.refuse("transform", "line.npy", "out.npy", ranks=2)
        self.refuse("transform", "in.npy", "out.npy", "--grid", "2x2", "--decomposition", "pencil", ranks=3)
        self.refuse("transform", "in.npy", "none/out.npy", ranks=3)
        self.assertEqual(self.names(), ["in.npy", "line.npy", "spectrum.npy"])

    def test_quiet_says_nothing_and_no_bar_shows_in_a_pipe(self) -> None:
        self.assertEqual(self.succeed("transform", "in.npy", "out.npy", "--quiet", ranks=2), "")
        self.assertIn("6x5x3", self.succeed("transform", "in.npy", "out.npy", ranks=2))

    def test_ranks_may_stand_before_or_behind(self) -> None:
        for arguments in (["--ranks=2", "transform"], ["transform", "--ranks", "2"], ["transform", "--ranks=2"]):
            self.assertIn("on 2 ranks", self.succeed(*arguments, "in.npy", "out.npy"))

    def test_help_and_version(self) -> None:
        self.assertIn("transform", self.succeed("--help"))
        for command in ("transform", "plan", "validate", "info", "view"):
            self.assertIn("--help", self.succeed(command, "--help"))
        self.assertEqual(self.succeed("--version"), self.succeed("transform", "--version"))

    def test_report_and_trace_are_json(self) -> None:
        self.succeed("transform", "in.npy", "out.npy", "--report", "r.json", "--trace", "t.json", "--check", ranks=3)
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(report["problem"]["shape"], [6, 5, 4])
        self.assertEqual(report["problem"]["kind"], "r2c")
        self.assertEqual(report["ranks"], 3)
        self.assertEqual([t["rank"] for t in report["timings"]], [0, 1, 2])
        self.assertTrue(all(t["total"] > 0 for t in report["timings"]))
        self.assertIn(report["options"]["decomposition"], ("slab-2d1d", "slab-1d2d", "slab-y-zx", "pencil"))
        self.assertIsInstance(report["plan"], dict)
        self.assertLess(report["round_trip_error"], 1e-14)
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        self.assertEqual({e["ph"] for e in events}, {"X"})
        self.assertEqual({e["tid"] for e in events}, {0, 1, 2})
        self.assertLessEqual({"plan", "read", "transform", "write"}, {e["name"] for e in events})


class Failures(Case):
    """Failures while running: exit 1, one line, and nothing left behind."""

    def test_a_file_size_limit_leaves_nothing(self) -> None:
        self.save("in.npy", random_array((160, 160, 160), "u1"))
        self.save("out.npy", np.zeros(3))
        before = (self.folder / "out.npy").read_bytes()

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (24 << 20, 24 << 20))  # MPI needs some for itself

        for name in ["out.npy", "new.raw"] + (["new.h5:/x"] if HDF5 else []):
            self.refuse("transform", "in.npy", name, status=1, preexec_fn=limit)
            self.assertEqual(self.names(), ["in.npy", "out.npy"])
        self.assertEqual((self.folder / "out.npy").read_bytes(), before)

    def mount(self, size: int, read_only: bool = False) -> Path:
        """A small disk of its own; skips the test where mounting is not permitted."""
        disk = self.folder / "disk"
        disk.mkdir()
        flags = f"size={size}" + (",ro" if read_only else "")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", flags, "tmpfs", str(disk)], capture_output=True)
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

    def test_a_read_only_folder_is_an_error(self) -> None:
        self.save("in.npy", random_array((8, 8, 8), "f8"))
        self.mount(65536, read_only=True)
        self.refuse("transform", "in.npy", "disk/out.npy", ranks=2, status=1)

    def test_an_interrupted_command_leaves_nothing(self) -> None:
        self.save("in.npy", random_array((160, 160, 160), "u1"))
        for delay in (0.15, 0.4):
            process = subprocess.Popen([WEFT, "transform", "in.npy", "out.npy", "--engine", "reference"],
                                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 20
            while self.names() == ["in.npy"] and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            time.sleep(delay)
            process.terminate()
            process.wait()
            self.assertLessEqual(set(self.names()), {"in.npy", "out.npy"})
            if "out.npy" in self.names():  # it was faster
                self.assertEqual(self.load("out.npy").shape, (160, 160, 81))
                (self.folder / "out.npy").unlink()


class Others(Case):
    def test_plan_explains_without_running(self) -> None:
        said = self.succeed("plan", "--shape", "256x256x256", "--kind", "r2c", "--ranks", "8")
        self.assertIn("8", said)
        for arguments in (["--ranks", "8", "plan"], ["plan", "--ranks", "8"]):
            plan = json.loads(self.succeed(*arguments, "--shape", "64x64x64", "--json", "--precision", "single",
                                           "--report", "r.json"))
            self.assertEqual(plan["ranks"], 8)
            self.assertEqual(json.loads((self.folder / "r.json").read_text())["plan"], plan)

    def test_plan_takes_more_ranks_than_rows(self) -> None:
        self.succeed("plan", "--shape", "4x4x4", "--kind", "c2c", "--ranks", "1000", "--quiet")

    def test_validate_passes_and_prints_a_line_for_each_case(self) -> None:
        for ranks in (1, 3):
            said = self.succeed("validate", "--shape", "8x9x10", "--table", "--report", "v.json", ranks=ranks)
            lines = said.splitlines()
            self.assertEqual(sum(line.rstrip().endswith("PASS") for line in lines), 160)
            report = json.loads((self.folder / "v.json").read_text())
            self.assertEqual((report["failed"], len(report["cases"])), (0, 160))
        said = self.succeed("validate", "--device", "simulated", "--exchange", "a2a-sync", "--precision", "single",
                            "--decomposition", "pencil", ranks=2)
        self.assertEqual(said.count("PASS"), 4)

    def test_info_names_engines_devices_and_libraries(self) -> None:
        said = self.succeed("info")
        for word in ("weft", "reference", "host", "simulated", "mpi", "hdf5", "cores"):
            self.assertIn(word, said)

    def test_view_paints_what_is_there(self) -> None:
        ramp = np.zeros((4, 5, 6))
        ramp[2] = np.arange(30).reshape(5, 6)
        self.save("in.npy", ramp)
        self.succeed("view", "in.npy", "-o", "out.png")
        self.assertEqual(png(self.folder / "out.png").tolist(),
                         np.rint(ramp[2] * 255 / 29).astype(int).tolist())
        self.succeed("view", "in.npy", "--axis", 1, "--index", 3, "--output", "out.png")
        self.assertEqual(png(self.folder / "out.png").shape, (4, 6))

    def test_view_completes_half_spectra(self) -> None:
        array = random_array((6, 7, 8), "f8")
        self.save("half.npy", np.fft.rfftn(array))
        self.save("full.npy", np.fft.fftn(array))
        for axis in range(3):
            for index in (0, 2, 5):
                self.succeed("view", "half.npy", "--last-axis", 8, "--axis", axis, "--index", index, "-o", "half.png")
                self.succeed("view", "full.npy", "--axis", axis, "--index", index, "-o", "full.png")
                difference = np.abs(png(self.folder / "half.png").astype(int) - png(self.folder / "full.png"))
                self.assertLessEqual(difference.max(), 1)

    def test_two_pictures_stand_side_by_side(self) -> None:
        self.save("a.npy", random_array((4, 10, 12), "f8"))
        self.save("b.npy", random_array((4, 8, 9), "c16"))
        self.succeed("view", "a.npy", "b.npy", "-o", "out.png")
        self.assertEqual(png(self.folder / "out.png").shape, (10, 12 + 8 + 9))


def png(path: Path) -> np.ndarray:
    """Decodes an 8-bit grey PNG (the five filters of the standard)."""
    import struct
    import zlib

    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, width, height = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", data[at + 8 : at + 18])
            assert (depth, colour) == (8, 0)
        if kind == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, width + 1)
    picture = np.zeros((height, width), np.uint8)
    for i, row in enumerate(rows):
        for j in range(width):
            left = int(picture[i, j - 1]) if j else 0
            up = int(picture[i - 1, j]) if i else 0
            corner = int(picture[i - 1, j - 1]) if i and j else 0
            nearest = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            add = (0, left, up, (left + up) // 2, nearest)[row[0]]
            picture[i, j] = (int(row[j + 1]) + add) & 255
    return picture


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
