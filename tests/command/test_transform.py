"""weft transform against numpy.fft: types, shapes, ranks, norms, precisions."""

from __future__ import annotations

import unittest

import numpy as np

from weft_case import TYPES, Case, random_array, transform


def matrix(name: str, n: int) -> np.ndarray:
    """A cosine or sine transform by its definition, as weft.h has it."""
    j, k = np.arange(n), np.arange(n)[:, None]
    if name == "none":
        return np.eye(n)
    angles = {
        "dct1": j * k / max(n - 1, 1),
        "dct2": (2 * j + 1) * k / (2 * n),
        "dct3": j * (2 * k + 1) / (2 * n),
        "dct4": (2 * j + 1) * (2 * k + 1) / (4 * n),
        "dst1": (j + 1) * (k + 1) / (n + 1),
        "dst2": (2 * j + 1) * (k + 1) / (2 * n),
        "dst3": (j + 1) * (2 * k + 1) / (2 * n),
        "dst4": (2 * j + 1) * (2 * k + 1) / (4 * n),
    }
    made = 2 * (np.cos if name[1] == "c" else np.sin)(np.pi * angles[name])
    for end in {"dct1": (0, -1), "dct3": (0,), "dst3": (-1,)}.get(name, ()):
        made[:, end] /= 2
    return made


def real_to_real(array: np.ndarray, names: list[str]) -> np.ndarray:
    for axis, name in enumerate(names):
        array = np.moveaxis(np.tensordot(matrix(name, array.shape[axis]), array, (1, axis)), 0, axis)
    return array


class Transform(Case):
    def test_cosine_and_sine_transforms_are_those_of_the_definition(self) -> None:
        lists = ["dct1,dst2,dct3", "dct4,dst1,none", "dst3,dct2,dst4", "none,none,dct2"]
        for place, (names, dtype) in enumerate(zip(lists, ("f8", "f4", "u1", "f8"))):
            array = random_array((9, 7, 5), dtype)
            self.save("in.npy", array)
            single = dtype == "f4"
            wide = array.astype("f8")
            for ranks in (1, 2 + place % 3):
                with self.subTest(axes=names, ranks=ranks):
                    self.succeed("transform", "in.npy", "out.npy", "--axes", names, "--check", ranks=ranks)
                    got = self.load("out.npy")
                    self.assertEqual(got.dtype, np.dtype("f4" if single else "f8"))
                    self.assert_close(got, real_to_real(wide, names.split(",")), single)
                    self.succeed("transform", "out.npy", "back.npy", "--axes", names, "--inverse", ranks=ranks)
                    self.assert_close(self.load("back.npy"), wide, single)
        self.save("in.npy", array)
        self.succeed("transform", "in.npy", "out.npy", "--axes", "dst1", "--norm", "ortho")
        scale = np.sqrt(np.prod([2 * (n + 1) for n in array.shape]))
        self.assert_close(self.load("out.npy"), real_to_real(array, ["dst1"] * 3) / scale)
        self.succeed("transform", "in.npy", "out.npy", "--axes", "dct2", "--norm", "none", "--check", ranks=3)
        self.succeed("transform", "out.npy", "back.npy", "--axes", "dct2", "--norm", "none", "--inverse")
        self.assert_close(self.load("back.npy"), 8 * array.size * array)

    def test_fourier_cosine_and_sine_transforms_mix(self) -> None:
        for ranks, (names, dtype) in enumerate(
            (("fft,fft,dct2", "f8"), ("dst1,fft,none", "f4"), ("fft,dct1,fft", "c16"), ("dct4,none,dst2", "c16")), 1
        ):
            array = random_array((6, 7, 5), dtype)
            self.save("in.npy", array)
            single = dtype == "f4"
            types = names.split(",")
            expected = real_to_real(array.astype("c16"), ["none" if name == "fft" else name for name in types])
            fourier = [axis for axis, name in enumerate(types) if name == "fft"]
            if dtype == "c16":
                expected = np.fft.fftn(expected, axes=fourier) if fourier else expected
            else:
                expected = np.fft.rfftn(expected.real, axes=fourier)
            back = ["--last-axis", array.shape[fourier[-1]]] if dtype != "c16" else []
            with self.subTest(axes=names, ranks=ranks):
                self.succeed("transform", "in.npy", "out.npy", "--axes", names, "--check", ranks=ranks)
                self.assert_close(self.load("out.npy"), expected, single)
                self.succeed("transform", "out.npy", "back.npy", "--axes", names, "--inverse", *back, ranks=ranks)
                self.assertEqual(self.load("back.npy").dtype, array.dtype)
                self.assert_close(self.load("back.npy"), array, single)

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
        for shape in [
            (1,),
            (13,),
            (1, 1),
            (6, 10),
            (7, 1, 9),
            (3, 4, 5, 6),
            (2, 3, 2, 3, 2),
            (2,) * 8,
        ]:
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
                self.succeed(
                    "transform",
                    "spectrum.npy",
                    "out.npy",
                    "--inverse",
                    "--last-axis",
                    last,
                    ranks=ranks,
                )
                got = self.load("out.npy")
                self.assertEqual(got.dtype, np.float64)
                self.assert_close(got, array)

    def test_inverse_of_complex_arrays(self) -> None:
        array = random_array((6, 5, 4), "c16")
        self.save("in.npy", array)
        self.succeed("transform", "--inverse", "in.npy", "out.npy", ranks=3)
        self.assert_close(self.load("out.npy"), np.fft.ifftn(array))

    def test_windows_are_the_product_over_all_axes(self) -> None:
        array = random_array((8, 5, 6), "f8")
        self.save("in.npy", array)
        for flag, extra in (("hann", 1), ("hann,periodic", 1), ("hann,symmetric", 0)):
            window = np.ones(())
            for n in array.shape:
                window = np.multiply.outer(window, np.hanning(n + extra)[:n])
            for ranks in (1, 3):
                self.succeed("transform", "in.npy", "out.npy", "--window", flag, ranks=ranks)
                self.assert_close(self.load("out.npy"), np.fft.rfftn(array * window))
        window = np.multiply.outer(
            np.multiply.outer(np.kaiser(9, 5.5)[:8], np.kaiser(6, 5.5)[:5]), np.kaiser(7, 5.5)[:6]
        )
        self.succeed("transform", "in.npy", "out.npy", "--window", "kaiser:5.5", ranks=2)
        self.assert_close(self.load("out.npy"), np.fft.rfftn(array * window))

    def test_norms_have_the_meaning_of_numpy(self) -> None:
        array = random_array((6, 5, 4), "f8")
        self.save("in.npy", array)
        for norm in ("backward", "ortho", "forward"):
            self.succeed("transform", "in.npy", "out.npy", "--norm", norm, ranks=2)
            expected = np.fft.rfftn(array, norm=norm)
            self.assert_close(self.load("out.npy"), expected)
            self.succeed(
                "transform", "out.npy", "back.npy", "--norm", norm, "--inverse", "--last-axis", 4
            )
            self.assert_close(self.load("back.npy"), array)
        self.succeed("transform", "in.npy", "out.npy", "--norm", "none")
        self.succeed(
            "transform", "out.npy", "back.npy", "--norm", "none", "--inverse", "--last-axis", 4
        )
        self.assert_close(self.load("back.npy"), array.size * array)

    def test_precision_is_chosen_by_input_or_flag(self) -> None:
        for dtype, flag, expected in [
            ("f4", "double", "c16"),
            ("f8", "single", "c8"),
            ("u1", "single", "c8"),
        ]:
            array = random_array((6, 5, 4), dtype)
            self.save("in.npy", array)
            self.succeed("transform", "in.npy", "out.npy", "--precision", flag)
            self.assertEqual(self.load("out.npy").dtype, np.dtype(expected))
            self.assert_close(self.load("out.npy"), transform(array), flag == "single")

    def test_output_bits_do_not_depend_on_exchange_or_threads(self) -> None:
        self.save("in.npy", random_array((9, 8, 7), "f8"))
        outputs = set()
        for exchange in (
            "p2p-sync",
            "p2p-streams",
            "p2p-type",
            "a2a-sync",
            "a2a-type",
            "peer",
            "a2a-sync,p2p-type",
            "peer,a2a-sync",
        ):
            self.succeed(
                "transform",
                "in.npy",
                "out.npy",
                "--decomposition",
                "pencil",
                "--grid",
                "2x2",
                "--variant",
                "realigned",
                "--exchange",
                exchange,
                ranks=4,
            )
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
            said = self.succeed(
                "transform", "in.npy", "out.npy", "--check", "--norm", norm, ranks=2
            )
            self.assertIn("round trip", said)


if __name__ == "__main__":
    unittest.main()
