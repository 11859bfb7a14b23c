"""weft filter: pictures and arrays against numpy.fft, formats, what is refused, and what is left behind."""

from __future__ import annotations

import math
import os
import resource
import signal
import struct
import subprocess
import time
import unittest
import zlib

import numpy as np

import filter_formulas as formulas
from picture_files import png_bytes, read_png, write_png
from weft_case import HDF5, WEFT, Case, environment

JPEG, TIFF, MUPARSER = (os.environ.get(f"WEFT_{name}", "1") == "1" for name in ("JPEG", "TIFF", "MUPARSER"))

FILTERS = [
    (["--gaussian", "2"], formulas.gaussian(2, 2)),
    (["--gaussian", "3,0.5"], formulas.gaussian(3, 0.5)),
    (["--gaussian", "4,1,30"], formulas.gaussian(4, 1, 30)),
    (["--lowpass", "ideal,0.1234"], formulas.lowpass("ideal", 0.1234)),
    (["--lowpass", "butterworth,0.1,3"], formulas.lowpass("butterworth", 0.1, 3)),
    (["--lowpass", "gaussian,0.08"], formulas.lowpass("gaussian", 0.08)),
    (["--highpass", "ideal,0.0567"], formulas.highpass("ideal", 0.0567)),
    (["--highpass", "butterworth,0.05"], formulas.highpass("butterworth", 0.05)),
    (["--highpass", "gaussian,0.05"], formulas.highpass("gaussian", 0.05)),
    (["--bandpass", "ideal,0.0567,0.2345"], formulas.bandpass("ideal", 0.0567, 0.2345)),
    (["--bandpass", "butterworth,0.05,0.2,1.5"], formulas.bandpass("butterworth", 0.05, 0.2, 1.5)),
    (["--bandpass", "gaussian,0.05,0.2"], formulas.bandpass("gaussian", 0.05, 0.2)),
    (["--notch", "0.123,-0.234,0.0345"], formulas.notch(0.123, -0.234, 0.0345)),
    (["--notch", "0.48,0.49,0.0567"], formulas.notch(0.48, 0.49, 0.0567)),
    (["--notch", "0,0.011,0.0876"], formulas.notch(0, 0.011, 0.0876)),
    (["--notch", "0.3,0.1,0.05,gaussian"], formulas.notch(0.3, 0.1, 0.05, "gaussian")),
    (["--notch", "0.3,0.1,0.05,butterworth,1"], formulas.notch(0.3, 0.1, 0.05, "butterworth", 1)),
    (["--wiener", "gaussian,1.5,0.01"], formulas.wiener(formulas.gaussian(1.5, 1.5), 0.01)),
    (["--wiener", "motion,9,20,0.02"], formulas.wiener(formulas.motion(9, 20), 0.02)),
    (["--wiener", "disc,3,0.01"], formulas.wiener(formulas.disc(3), 0.01)),
]
if MUPARSER:
    FILTERS += [
        (["--formula", "f == 0 ? 1 : sin(9*f)/(9*f) * (abs(u) < 0.3)"],
         lambda u, v: np.sinc(9 / math.pi * np.hypot(u, v)) * (np.abs(u) < 0.3)),
        (["--formula", "exp(-40*(u-2*v)^2) + v"], lambda u, v: np.exp(-40 * (u - 2 * v) ** 2)),  # v is odd
    ]


def noisy(rows: int, columns: int, samples: int = 1, dtype: str = "u1") -> np.ndarray:
    """Bright and dark patches with noise, which filters overshoot: so some results are clipped."""
    rng = np.random.default_rng(7)
    most = np.iinfo(dtype).max
    y, x, s = np.mgrid[:rows, :columns, :samples]
    wave = np.sin(x / 5 + s) * np.cos(y / 7 - s) > 0
    picture = np.clip(np.where(wave, 0.9, 0.1) + rng.normal(0, 0.05, wave.shape), 0, 1) * most
    return np.rint(picture).astype(dtype)[..., 0 if samples == 1 else slice(None)]


class Filter(Case):
    def filter(self, pixels: np.ndarray, *flags: str, names: tuple[str, str] = ("in.png", "out.png")) -> np.ndarray:
        write_png(self.folder / names[0], pixels)
        self.said = self.succeed("filter", *names, *flags)
        return read_png(self.folder / names[1])

    def assert_grey_levels(self, got: np.ndarray, expected: np.ndarray, levels: int = 1) -> None:
        self.assertEqual(got.shape, expected.shape)
        self.assertLessEqual(np.abs(got.astype(float) - expected).max(), levels)


class Pictures(Filter):
    def test_each_filter_is_its_formula(self) -> None:
        picture = noisy(60, 48)
        for flags, response in FILTERS:
            with self.subTest(flags):
                self.assert_grey_levels(self.filter(picture, *flags), formulas.filtered(picture, response))

    def test_filters_are_multiplied_and_notches_repeat(self) -> None:
        picture = noisy(64, 50)
        flags = ["--gaussian", "1,2,-40", "--notch", "0.2,0.1,0.05", "--notch", "-0.1,0.3,0.04", "--highpass", "gaussian,0.01"]
        parts = [formulas.gaussian(1, 2, -40), formulas.notch(0.2, 0.1, 0.05), formulas.notch(-0.1, 0.3, 0.04),
                 formulas.highpass("gaussian", 0.01)]
        response = lambda u, v: math.prod(part(u, v) for part in parts)  # noqa: E731
        self.assert_grey_levels(self.filter(picture, *flags), formulas.filtered(picture, response))

    def test_boundaries_and_odd_extents(self) -> None:
        for shape in [(45, 37), (30, 49), (1, 20), (17, 1), (1, 1)]:
            picture = noisy(*shape)
            for boundary in ["periodic", "mirror", "zero"]:
                with self.subTest(shape=shape, boundary=boundary):
                    got = self.filter(picture, "--gaussian", "3,1,25", "--boundary", boundary)
                    self.assert_grey_levels(got, formulas.filtered(picture, formulas.gaussian(3, 1, 25), boundary))

    def test_depths_colours_and_alpha(self) -> None:
        for dtype in ["u1", "u2"]:
            for samples in [1, 2, 3, 4]:
                with self.subTest(dtype=dtype, samples=samples):
                    picture = noisy(40, 33, samples, dtype)
                    got = self.filter(picture, "--gaussian", "1.5", "--boundary", "mirror")
                    planes = picture.reshape(40, 33, samples)
                    for s in range(samples):
                        plane = got.reshape(planes.shape)[..., s]
                        if samples % 2 == 0 and s == samples - 1:
                            np.testing.assert_array_equal(plane, planes[..., s])
                        else:
                            self.assert_grey_levels(
                                plane, formulas.filtered(planes[..., s], formulas.gaussian(1.5, 1.5), "mirror"))

    def test_palettes_few_bits_and_interlacing_are_read(self) -> None:
        def chunk(name: bytes, data: bytes) -> bytes:
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

        rows = b"".join(b"\0" + bytes([0b10110000, 0b01000000]) for _ in range(3))
        for colour, palette in [(3, chunk(b"PLTE", bytes([10, 20, 30, 200, 100, 50]))), (0, b"")]:
            head = chunk(b"IHDR", struct.pack(">IIBBBBB", 10, 3, 1, colour, 0, 0, 0))
            (self.folder / "bits.png").write_bytes(
                b"\x89PNG\r\n\x1a\n" + head + palette + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
            self.succeed("filter", "bits.png", "out.png", "--gaussian", "0")
            bits = np.array([[1, 0, 1, 1, 0, 0, 0, 0, 0, 1]] * 3)
            expected = np.array([[10, 20, 30], [200, 100, 50]])[bits] if palette else bits * 255
            np.testing.assert_array_equal(read_png(self.folder / "out.png"), expected)

        picture = noisy(11, 13)
        passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
        parts = [picture[y::dy, x::dx] for y, x, dy, dx in passes]
        rows = b"".join(b"\0" + row.tobytes() for part in parts if part.size for row in part)
        head = chunk(b"IHDR", struct.pack(">IIBBBBB", 13, 11, 8, 0, 0, 0, 1))
        (self.folder / "interlaced.png").write_bytes(
            b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
        self.succeed("filter", "interlaced.png", "out.png", "--gaussian", "0")
        np.testing.assert_array_equal(read_png(self.folder / "out.png"), picture)

    def test_the_spectrum_is_in_decibels(self) -> None:
        for shape, boundary in [((60, 48), "periodic"), ((31, 45), "periodic"), ((20, 26), "mirror"), ((20, 26), "zero")]:
            with self.subTest(shape=shape, boundary=boundary):
                picture = noisy(*shape)
                self.filter(picture, "--gaussian", "0.7", "--spectrum", "spectrum.png", "--boundary", boundary)
                got = read_png(self.folder / "spectrum.png")
                exact = formulas.filtered_spectrum(picture, formulas.gaussian(0.7, 0.7), boundary)
                decibels = 20 * np.log10(np.abs(exact) + 1e-30) - 20 * math.log10(255 * exact.size) + 110
                expected = np.fft.fftshift(np.clip(decibels, 0, 80) * (255 / 80))
                # Magnitudes near rounding's have no digits to compare.
                clear = expected > 60
                self.assertEqual(got.shape, expected.shape)
                self.assertLess(np.abs(got - expected)[clear].max(), 2)
                self.assertGreater(clear.mean(), 0.2)

    def test_engines_precision_and_threads_agree(self) -> None:
        picture = noisy(64, 64, 3)
        expected = self.filter(picture, "--gaussian", "2,1,10")
        for flags in [["--engine", "native"], ["--engine", "reference"], ["--precision", "double"], ["--threads", "2"]]:
            self.assert_grey_levels(self.filter(picture, "--gaussian", "2,1,10", *flags), expected)

    def test_what_was_done_is_told_unless_quiet(self) -> None:
        self.filter(noisy(20, 30), "--gaussian", "1")
        self.assertRegex(self.said, r"^30 x 20 grey, 8 bits, filtered in .* ms by \w+ on host\n$")
        self.filter(noisy(20, 30), "--gaussian", "1", "--quiet")
        self.assertEqual(self.said, "")


class Formats(Filter):
    @unittest.skipUnless(TIFF, "this build has no libtiff")
    def test_tiff_keeps_every_sample(self) -> None:
        for dtype in ["u1", "u2"]:
            for samples in [1, 2, 3, 4]:
                picture = noisy(33, 21, samples, dtype)
                write_png(self.folder / "in.png", picture)
                self.succeed("filter", "in.png", "there.tif", "--gaussian", "0")
                self.succeed("filter", "there.tif", "back.png", "--gaussian", "0")
                np.testing.assert_array_equal(read_png(self.folder / "back.png"), picture)

    @unittest.skipUnless(JPEG, "this build has no libjpeg")
    def test_jpeg_is_near(self) -> None:
        y, x = np.mgrid[:40, :56]
        for picture in [x * 4.0, np.stack([x * 4.0, y * 5.0, 200 - x * 2.0], -1)]:
            picture = picture.astype("u1")
            write_png(self.folder / "in.png", picture)
            self.succeed("filter", "in.png", "there.jpg", "--gaussian", "0")
            self.succeed("filter", "there.jpg", "back.png", "--gaussian", "0")
            self.assert_grey_levels(read_png(self.folder / "back.png"), picture, 6)

    @unittest.skipUnless(JPEG, "this build has no libjpeg")
    def test_jpeg_refuses_what_it_cannot_hold(self) -> None:
        for picture in [noisy(8, 8, 1, "u2"), noisy(8, 8, 4)]:
            write_png(self.folder / "in.png", picture)
            self.assertIn("write .png or .tif", self.refuse("filter", "in.png", "out.jpg", "--gaussian", "1"))

    def test_absent_libraries_are_named(self) -> None:
        write_png(self.folder / "in.png", noisy(8, 8))
        if not MUPARSER:
            self.assertIn("muParser", self.refuse("filter", "in.png", "out.png", "--formula", "1"))
        for there, ending, library in [(JPEG, "jpg", "libjpeg"), (TIFF, "tif", "libtiff")]:
            if not there:
                self.assertIn(library, self.refuse("filter", "in.png", f"out.{ending}", "--gaussian", "1"))


class Refusals(Filter):
    def setUp(self) -> None:
        super().setUp()
        write_png(self.folder / "in.png", noisy(24, 20))

    def test_values_of_flags(self) -> None:
        wrong = {
            "gaussian": ["", "a", "1,2,3,4", "-1", "1,", "nan", "1e9", " 1"],
            "lowpass": ["ideal", "box,0.1", "ideal,0", "ideal,-1", "ideal,0.1,2", "butterworth,0.1,0"],
            "highpass": ["0.1", "gaussian,x"],
            "bandpass": ["ideal,0.2,0.1", "ideal,0.1", "ideal,0.1,0.1"],
            "notch": ["0.1", "0.1,0.2", "0.6,0,0.1", "0.1,0.1,0", "0.1,0.1,0.1,box"],
            "wiener": ["gaussian,1", "motion,3,0.1", "disc,3,0", "disc,-1,1", "box,3,1"],
            "boundary": ["linear"],
        }
        if MUPARSER:
            wrong["formula"] = ["", "u +", "w", "exp(", "1; 2"]
            for text in ("1/f", "log(u)", "0/0"):
                self.assertIn("no finite number", self.refuse("filter", "in.png", "out.png", f"--formula={text}"))
        for flag, values in wrong.items():
            for value in values:
                with self.subTest(flag=flag, value=value):
                    self.assertIn("give", self.refuse("filter", "in.png", "out.png", f"--{flag}={value}"))
        self.assertIn("say what to do", self.refuse("filter", "in.png", "out.png"))
        self.assertIn("drop --ranks", self.refuse("filter", "in.png", "out.png", "--gaussian", "1", ranks=2))
        self.refuse("filter", "in.png", "out.png", "--gaussian", "1", "--report", "r.json")
        self.assertEqual(self.names(), ["in.png"])

    def test_names(self) -> None:
        for output in ["out.gif", "out", "out.npy"]:
            self.assertIn(".png", self.refuse("filter", "in.png", output, "--gaussian", "1"))
        self.refuse("filter", "in.png", "out.png", "--gaussian", "1", "--spectrum", "s.npy")
        self.assertIn("cannot be opened", self.refuse("filter", "absent.png", "out.png", "--gaussian", "1"))
        (self.folder / "folder.png").mkdir()
        self.refuse("filter", "folder.png", "out.png", "--gaussian", "1")
        self.refuse("filter", "in.png", "folder.png", "--gaussian", "1")
        os.mkfifo(self.folder / "pipe.png")
        self.assertIn("plain file", self.refuse("filter", "pipe.png", "out.png", "--gaussian", "1"))
        self.save("in.npy", np.zeros((4, 4)))
        self.refuse("filter", "in.npy", "out.png", "--gaussian", "1")
        self.assertEqual(self.names(), ["folder.png", "in.npy", "in.png", "pipe.png"])

    def test_damaged_files(self) -> None:
        whole = (self.folder / "in.png").read_bytes()
        contents = {"cut.png": whole[:-40], "head.png": whole[:20], "empty.png": b"", "text.png": b"no picture at all",
                    "flipped.png": whole[:60] + bytes([whole[60] ^ 255]) + whole[61:]}
        for there, ending in [(JPEG, "jpg"), (TIFF, "tif")]:
            if there:
                self.succeed("filter", "in.png", f"whole.{ending}", "--gaussian", "0")
                other = (self.folder / f"whole.{ending}").read_bytes()
                contents |= {f"cut.{ending}": other[: len(other) * 2 // 3], f"head.{ending}": other[:6]}
        before = self.names()
        for name, content in contents.items():
            with self.subTest(name):
                (self.folder / name).write_bytes(content)
                self.assertIn(name, self.refuse("filter", name, "out.png", "--gaussian", "1"))
                (self.folder / name).unlink()
        self.assertEqual(self.names(), before)

    def test_random_damage_never_crashes(self) -> None:
        rng = np.random.default_rng()
        names = ["in.png"]
        for there, ending in [(JPEG, "jpg"), (TIFF, "tif")]:
            if there:
                self.succeed("filter", "in.png", f"whole.{ending}", "--gaussian", "0")
                names.append(f"whole.{ending}")
        for name in names:
            whole = (self.folder / name).read_bytes()
            for _ in range(12):
                content = bytearray(whole)
                for at in rng.integers(3, len(content), 3):
                    content[at] = rng.integers(256)
                bad = f"bad{name[-4:]}"
                (self.folder / bad).write_bytes(content)
                done = self.run_weft("filter", bad, "out.png", "--gaussian", "1")
                self.assertIn(done.returncode, (0, 2), (bytes(content), done.stderr))

    def test_huge_pictures(self) -> None:
        for columns, rows in [(900000, 900000), (2**31 - 1, 1), (0, 5)]:
            content = bytearray(png_bytes(noisy(4, 4)))
            content[16:24] = struct.pack(">II", columns, rows)
            content[29:33] = struct.pack(">I", zlib.crc32(bytes(content[12:29])))
            (self.folder / "huge.png").write_bytes(content)
            self.refuse("filter", "huge.png", "out.png", "--gaussian", "1")
        self.assertNotIn("out.png", self.names())

    def test_a_full_disk_leaves_nothing(self) -> None:
        write_png(self.folder / "in.png", noisy(300, 300))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))  # noqa: E731
        for output in ["out.png"] + (["out.tif"] if TIFF else []) + (["out.jpg"] if JPEG else []):
            with self.subTest(output):
                line = self.refuse("filter", "in.png", output, "--gaussian", "0.3", status=1, preexec_fn=limit)
                self.assertIn(output, line)
                self.assertEqual(self.names(), ["in.png"])

    def test_an_older_output_survives_a_failure(self) -> None:
        (self.folder / "out.png").write_bytes(b"old")
        self.refuse("filter", "absent.png", "out.png", "--gaussian", "1")
        self.assertEqual((self.folder / "out.png").read_bytes(), b"old")

    def test_a_signal_leaves_nothing_half_written(self) -> None:
        write_png(self.folder / "in.png", noisy(700, 900, 3, "u2"))
        for delay in [0.02, 0.2, 0.3, 0.4]:
            process = subprocess.Popen([WEFT, "filter", "in.png", "out.png", "--gaussian", "1"], cwd=self.folder,
                                       env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
            self.assertLessEqual(set(self.names()), {"in.png", "out.png"})


class Arrays(Filter):
    def frequencies(self, shape: tuple[int, ...]) -> list[np.ndarray]:
        return np.meshgrid(*[np.fft.fftfreq(n) for n in shape], indexing="ij", sparse=True)

    def test_volumes_over_ranks(self) -> None:
        volume = np.random.default_rng(3).standard_normal((20, 18, 15))
        self.save("in.npy", volume)
        x, y, z = self.frequencies(volume.shape)
        f = np.sqrt(x**2 + y**2 + z**2)
        gauss = np.exp(-2 * math.pi**2 * ((1.5 * x) ** 2 + y**2 + (0.5 * z) ** 2))
        for flags, response in [(["--gaussian", "1.5,1,0.5"], gauss),
                                (["--bandpass", "butterworth,0.1,0.3"], (1 - low(f, 0.1)) * low(f, 0.3)),
                                (["--formula", "1 / (1 + 3*u*v + w^2)"], 1 / (1 + 3 * x * y + z**2))]:
            if flags[0] == "--formula" and not MUPARSER:
                continue
            expected = np.fft.ifftn(np.fft.fftn(volume) * response).real
            for ranks in [1, 3]:
                self.succeed("filter", "in.npy", "out.npy", *flags, ranks=ranks)
                self.assert_close(self.load("out.npy"), expected)

    def test_a_mirror_is_the_even_extension(self) -> None:
        volume = np.random.default_rng(4).standard_normal((9, 12, 10))
        self.save("in.npy", volume)
        extended = np.pad(volume, [(0, n) for n in volume.shape], mode="symmetric")
        f = np.sqrt(sum(g**2 for g in self.frequencies(extended.shape)))
        expected = np.fft.ifftn(np.fft.fftn(extended) * np.exp(-((f / 0.1) ** 2) / 2)).real[:9, :12, :10]
        for ranks in [1, 2]:
            self.succeed("filter", "in.npy", "out.npy", "--lowpass", "gaussian,0.1", "--boundary", "mirror", ranks=ranks)
            self.assert_close(self.load("out.npy"), expected)

    def test_planes_lines_and_types(self) -> None:
        rng = np.random.default_rng(5)
        for array, flags, response in [
            (rng.integers(0, 255, (16, 18), "u1"), ["--gaussian", "2,0.5,30"], "plane"),
            (rng.standard_normal((16, 18)).astype("f4"), ["--gaussian", "2,0.5,30"], "plane"),
            (rng.standard_normal(50), ["--gaussian", "2"], "line"),
            (rng.standard_normal((12, 14)) + 1j, ["--gaussian", "2,0.5"], "straight"),
        ]:
            with self.subTest(flags, dtype=array.dtype):
                self.save("in.npy", array)
                self.succeed("filter", "in.npy", "out.npy", *flags)
                k = self.frequencies(array.shape)
                angle = math.radians(30 if response == "plane" else 0)
                c, s = math.cos(angle), math.sin(angle)
                if response == "line":
                    exponent = (2 * k[0]) ** 2
                else:
                    exponent = (2 * (k[0] * c + k[1] * s)) ** 2 + (0.5 * (k[1] * c - k[0] * s)) ** 2
                expected = np.fft.ifftn(np.fft.fftn(array) * np.exp(-2 * math.pi**2 * exponent))
                got = self.load("out.npy")
                self.assert_close(got, expected if array.dtype.kind == "c" else expected.real, array.dtype.char == "f")

    @unittest.skipUnless(HDF5, "this build has no HDF5")
    def test_hdf5(self) -> None:
        volume = np.random.default_rng(6).standard_normal((8, 8, 8))
        self.save("in.npy", volume)
        self.succeed("filter", "in.npy", "a.h5:/x", "--gaussian", "0")
        self.succeed("filter", "a.h5:/x", "out.npy", "--gaussian", "0")
        self.assert_close(self.load("out.npy"), volume)

    def test_raw_files(self) -> None:
        plane = np.random.default_rng(7).standard_normal((12, 10))
        (self.folder / "in.raw").write_bytes(plane.tobytes())
        self.refuse("filter", "in.raw", "out.npy", "--gaussian", "0", "--shape", "12x10")
        self.succeed("filter", "in.raw", "out.npy", "--gaussian", "0", "--shape", "12x10", "--dtype", "f8")
        self.assert_close(self.load("out.npy"), plane)

    def test_refusals(self) -> None:
        self.save("in.npy", np.zeros((6, 6)))
        self.save("volume.npy", np.zeros((6, 6, 6)))
        for name, *flags in [
            ("in.npy", "--gaussian", "1", "--spectrum", "s.png"),
            ("in.npy", "--gaussian", "1", "--boundary", "zero"),
            ("in.npy", "--gaussian", "1,2,30", "--boundary", "mirror"),
            ("in.npy", "--notch", "0.1,0.1,0.1", "--boundary", "mirror"),
            ("in.npy", "--wiener", "motion,3,30,0.1", "--boundary", "mirror"),
            ("in.npy", "--formula", "1", "--boundary", "mirror"),
            ("in.npy", "--formula", "1/u"),
            ("volume.npy", "--gaussian", "1,2"),
            ("volume.npy", "--wiener", "disc,3,0.1"),
            ("absent.npy", "--gaussian", "1"),
        ]:
            with self.subTest(flags):
                self.refuse("filter", name, "out.npy", *flags)
        self.assertEqual(self.names(), ["in.npy", "volume.npy"])


def low(f: np.ndarray, cutoff: float) -> np.ndarray:
    return formulas.low("butterworth", f, cutoff)


if __name__ == "__main__":
    unittest.main()
