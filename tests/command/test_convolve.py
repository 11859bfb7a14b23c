"""weft convolve against scipy.signal, scipy.ndimage, sums by definition and formulas of the wavenumber."""

from __future__ import annotations

import itertools
import json
import resource
import unittest
from pathlib import Path

import numpy as np
import scipy.fft
import scipy.ndimage
import scipy.signal
from scipy.special import erf

from weft_case import HDF5, TYPES, Case, random_array

BRAIN = Path(__file__).parents[2] / "data" / "brain-t1-181x217x181-uint8.npy"
BOUNDARIES = ("periodic", "linear", "free", "dirichlet", "neumann")


def beyond(field: np.ndarray, axis: int, at: np.ndarray, boundary: str) -> np.ndarray:
    """The field at indices along an axis that may lie outside of it."""
    n = field.shape[axis]
    if boundary == "periodic":
        index, sign = at % n, np.ones(at.shape)
    elif boundary in ("linear", "free"):
        index, sign = at.clip(0, n - 1), ((at >= 0) & (at < n)).astype(float)
    else:
        turned = at % (2 * n) >= n
        index = np.where(turned, 2 * n - 1 - at % (2 * n), at % (2 * n))
        sign = np.where(turned & (boundary == "dirichlet"), -1.0, 1.0)
    shape = [1] * field.ndim
    shape[axis] = -1
    return np.take(field, index, axis) * sign.reshape(shape)


def rows(n: int, m: int, boundary: str, mode: str) -> np.ndarray:
    """Indices of the result along an axis; element 0 of `full` is that of elements 0 of field and kernel."""
    if boundary != "linear":
        return np.arange(n)
    first, count = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (min(n, m) - 1, abs(n - m) + 1)}[mode]
    return first + np.arange(count)


def convolved(
    field: np.ndarray,
    kernel: np.ndarray,
    boundaries: list[str],
    origin: list[int],
    mode: str = "full",
    correlate: bool = False,
) -> np.ndarray:
    """The sum over the kernel's elements that defines a convolution, or a correlation."""
    wide = field.astype(complex if np.iscomplexobj(field) else float)
    result = 0
    for j in np.ndindex(kernel.shape):
        moved, value = wide, kernel[j]
        if correlate:
            value = np.conj(value)
        for a, (boundary, m) in enumerate(zip(boundaries, kernel.shape)):
            at = rows(field.shape[a], m, boundary, mode)
            if boundary == "linear":
                moved = beyond(moved, a, at + j[a] - (m - 1) if correlate else at - j[a], boundary)
            else:
                moved = beyond(moved, a, at + (j[a] - origin[a]) * (1 if correlate else -1), boundary)
        result = result + value * moved
    return result


def symmetric(shape: tuple[int, ...], dtype: str, axes: list[int]) -> np.ndarray:
    """A random kernel that is symmetric about its middle along some axes."""
    kernel = random_array(shape, dtype)
    for a in axes:
        kernel = kernel + np.flip(kernel, a)
    return kernel


def by_symbol(field: np.ndarray, symbol, boundaries: list[str], length: list[float]) -> np.ndarray:
    """The field whose spectrum is multiplied by symbol(k0, k1, ...): waves, sines and cosines of the middles of cells."""
    spectrum, waves = field.astype(complex), []
    for a, (boundary, n) in enumerate(zip(boundaries, field.shape)):
        if boundary == "periodic":
            spectrum = np.fft.fft(spectrum, axis=a)
            k = 2 * np.pi * np.fft.fftfreq(n, length[a] / n)
        else:
            forward = scipy.fft.dct if boundary == "neumann" else scipy.fft.dst
            spectrum = forward(spectrum.real, 2, axis=a) + 1j * forward(spectrum.imag, 2, axis=a)
            k = np.pi * (np.arange(n) + (boundary == "dirichlet")) / length[a]
        waves.append(k.reshape([-1 if b == a else 1 for b in range(field.ndim)]))
    spectrum = spectrum * symbol(*waves)
    for a, boundary in enumerate(boundaries):
        if boundary == "periodic":
            spectrum = np.fft.ifft(spectrum, axis=a)
        else:
            back = scipy.fft.idct if boundary == "neumann" else scipy.fft.idst
            spectrum = back(spectrum.real, 2, axis=a) + 1j * back(spectrum.imag, 2, axis=a)
    return spectrum if np.iscomplexobj(field) else spectrum.real


class Convolve(Case):
    def convolve(
        self, field: np.ndarray, kernel: np.ndarray | str, *flags: object, ranks: int = 1
    ) -> np.ndarray:
        self.save("in.npy", field)
        if not isinstance(kernel, str):
            self.save("kernel.npy", kernel)
            kernel = "kernel.npy"
        self.succeed("convolve", "in.npy", kernel, "out.npy", "--quiet", *flags, ranks=ranks)
        got = self.load("out.npy")
        self.assertEqual(got.dtype, field.dtype if field.dtype.char in "fdFD" else np.dtype("f8"))
        return got

    def test_linear_modes_are_those_of_scipy_signal(self) -> None:
        shapes = [
            ((13,), (4,)),
            ((12,), (5,)),
            ((5,), (16,)),
            ((1,), (1,)),
            ((9, 8), (3, 4)),
            ((4, 5), (7, 6)),
            ((8, 7, 9), (3, 2, 5)),
            ((3, 4, 2), (4, 7, 3)),
        ]
        some = list(itertools.product(shapes, ("f8", "c16"), ("full", "same", "valid")))[::4]
        for place, ((shape, extents), dtype, mode) in enumerate(some):
            ranks = 1 + place % 4 % 3
            field, kernel = random_array(shape, dtype), random_array(extents, dtype)
            with self.subTest(shape=shape, extents=extents, dtype=dtype, mode=mode, ranks=ranks):
                flags = ("--boundary", "linear", "--mode", mode)
                expected = scipy.signal.convolve(field, kernel, mode, "direct")
                self.assert_close(self.convolve(field, kernel, *flags, ranks=ranks), expected)
                expected = scipy.signal.correlate(field, kernel, mode, "direct")
                self.assert_close(self.convolve(field, kernel, *flags, "--correlate"), expected)
                tiles = ("--method", "overlap-save", "--threads", "2")
                self.assert_close(self.convolve(field, kernel, *flags, "--correlate", *tiles), expected)

    def test_samples_have_the_error_that_is_asked_for(self) -> None:
        field = random_array((32, 24, 32), "f8")
        staggered = ("--zero", "0", "--discretization", "staggered")
        exact = self.convolve(field, "poisson", *staggered)
        laplacian = sum(2 * exact - np.roll(exact, 1, a) - np.roll(exact, -1, a) for a in range(3))
        self.assert_close(laplacian, field - field.mean())
        for ranks, flags in ((1, ("--subdomain", "8")), (3, ()), (4, ("--decomposition", "pencil"))):
            for tolerance in (1e-2, 1e-4):
                with self.subTest(ranks=ranks, tolerance=tolerance):
                    how = ("--method", "samples", "--tolerance", str(tolerance), *flags)
                    got = self.convolve(field, "poisson", *staggered, *how, ranks=ranks)
                    error = np.linalg.norm(got - exact) / np.linalg.norm(exact)
                    self.assertGreater(error, 1e-9)
                    self.assertLessEqual(error, tolerance)
        how = ("--method", "multilevel", "--tolerance", "1e-4")
        got = self.convolve(field, "poisson", *staggered, *how, ranks=3)
        error = np.linalg.norm(got - exact) / np.linalg.norm(exact)
        self.assertTrue(1e-9 < error <= 1e-4, error)
        how = ("--method", "samples", "--pattern", "fixed", "--interpolation", "2", "--subdomain", "8")
        got = self.convolve(field, "poisson", *staggered, *how)
        self.assertLess(np.linalg.norm(got - exact) / np.linalg.norm(exact), 0.3)

    def test_octrees_are_written(self) -> None:
        field = random_array((32, 24, 16), "f8")
        how = ("--zero", "0", "--discretization", "staggered", "--method", "samples", "--opening", "0.5", "--octree", "t.json")
        for ranks, flags in ((1, ("--subdomain", "8")), (4, ("--decomposition", "pencil")), (3, ("--pattern", "fixed", "--subdomain", "6"))):
            with self.subTest(ranks=ranks):
                self.convolve(field, "poisson", *how, *flags, ranks=ranks)
                document = json.loads((self.folder / "t.json").read_text())
                self.assertEqual(document["shape"], [32, 24, 16])
                cut = "--subdomain" in flags
                self.assertEqual([t["rank"] for t in document["octrees"] if t["subdomain"] is None], list(range(ranks)))
                self.assertEqual(sum(t["subdomain"] is not None for t in document["octrees"]), ranks * cut)
                owned = np.zeros(field.shape, int)
                for tree in document["octrees"]:
                    inside = tuple(np.s_[lo : lo + n] for lo, n in zip(tree["lo"], tree["n"]))
                    owned[inside] += tree["subdomain"] is None
                    steps = np.zeros(field.shape, int)
                    for x, y, z, edge, step in tree["cells"]:
                        self.assertEqual(steps[x : x + edge, y : y + edge, z : z + edge].max(), 0)
                        steps[x : x + edge, y : y + edge, z : z + edge] = step
                    self.assertTrue((steps[inside] == 1).all())
                    self.assertEqual(steps.min(), 1)
                    alone = ranks == 1 and tree["subdomain"] is None
                    self.assertEqual(steps.max() > 1, not alone, tree["n"])
                self.assertTrue((owned == 1).all())
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["in.npy", "out.npy", "t.json"])
        self.convolve(random_array((2, 16), "f8"), "poisson", *how, ranks=3)  # one rank has no points
        trees = json.loads((self.folder / "t.json").read_text())["octrees"]
        self.assertEqual([len(t["cells"]) > 0 for t in trees], [True, True, False])

    def test_full_is_the_default_mode_and_origins_do_not_matter_there(self) -> None:
        field, kernel = random_array((6, 7), "f8"), random_array((3, 4), "f8")
        for flags in ([], ["--mode", "full"], ["--origin", "center"], ["--origin", "2,1"]):
            got = self.convolve(field, kernel, "--boundary", "linear", *flags)
            self.assert_close(got, scipy.signal.convolve(field, kernel))

    def test_periodic_and_neumann_are_wrap_and_reflect_of_scipy_ndimage(self) -> None:
        for place, (shape, extents) in enumerate(
            [((9,), (4,)), ((8, 7), (3, 4)), ((6, 9, 5), (3, 5, 3)), ((4, 5), (9, 7))]
        ):
            ranks = 1 if len(shape) == 1 else 1 + place % 3
            field = random_array(shape, "f8")
            with self.subTest(shape=shape, extents=extents, ranks=ranks):
                kernel = random_array(extents, "f8")
                middle = ",".join(str(m // 2) for m in extents)
                got = self.convolve(field, kernel, "--origin", middle, ranks=ranks)
                self.assert_close(got, scipy.ndimage.convolve(field, kernel, mode="wrap"))
                odd = tuple(m | 1 for m in extents)
                kernel = symmetric(odd, "f8", list(range(len(odd))))
                flags = ("--boundary", "neumann", "--origin", "center")
                got = self.convolve(field, kernel, *flags, ranks=ranks)
                self.assert_close(got, scipy.ndimage.convolve(field, kernel, mode="reflect"))

    def test_a_shorter_kernel_begins_at_index_0(self) -> None:
        for dtype in ("f8", "c16"):
            field, kernel = random_array((8, 9), dtype), random_array((3, 5), dtype)
            padded = np.zeros(field.shape, dtype)
            padded[:3, :5] = kernel
            expected = np.fft.ifftn(np.fft.fftn(field) * np.fft.fftn(padded))
            self.assert_close(self.convolve(field, kernel, ranks=2), expected if dtype == "c16" else expected.real)

    def test_kernels_are_given_by_their_spectrum(self) -> None:
        for dtype, shape in (("f8", (8, 9)), ("c16", (6, 5, 7)), ("f4", (9,))):
            field, kernel = random_array(shape, dtype), random_array(shape, dtype)
            transform = np.fft.fftn if dtype == "c16" else np.fft.rfftn
            spectrum = transform(kernel).astype("c8" if dtype == "f4" else "c16")
            expected = np.fft.ifftn(np.fft.fftn(field) * np.fft.fftn(kernel))
            expected = expected if dtype == "c16" else expected.real
            for ranks in (1, 2) if len(shape) > 1 else (1,):
                self.assert_close(self.convolve(field, spectrum, "--spectrum", ranks=ranks), expected)
        self.save("in.npy", random_array((8, 9), "f8"))
        self.save("kernel.npy", random_array((8, 5), "c16"))
        for kernel, flags, words in (
            ("kernel.npy", ["--boundary", "linear"], "which --boundary linear and free pad"),
            ("kernel.npy", ["--origin", "center"], "belongs to a kernel in real space"),
            ("in.npy", [], "9 elements along axis 1, where the spectrum of in.npy has 5"),
            ("heat:t=1", [], "belongs to a kernel in a file"),
        ):
            self.assertIn(words, self.refuse("convolve", "in.npy", kernel, "out.npy", "--spectrum", *flags))

    def test_every_mixture_of_boundaries_is_the_sum_of_the_definition(self) -> None:
        rng = np.random.default_rng()
        mixtures = list(itertools.product(BOUNDARIES, repeat=2)) + [
            tuple(rng.choice(BOUNDARIES, 3)) for _ in range(12)
        ]
        for place, boundaries in enumerate(mixtures):
            dtype, correlate = rng.choice(["f8", "c16"]), bool(rng.integers(2))
            shape = tuple(int(n) for n in rng.integers(1, 9, len(boundaries)))
            reflecting = [a for a, b in enumerate(boundaries) if b in ("dirichlet", "neumann")]
            extents = [int(m) for m in rng.integers(1, 7, len(boundaries))]
            for a in reflecting:
                extents[a] |= 1
            origin = [int(rng.integers(m)) for m in extents]
            for a in reflecting:
                origin[a] = extents[a] // 2
            kernel = symmetric(tuple(extents), dtype, reflecting)
            field, mode = random_array(shape, dtype), rng.choice(["full", "same", "valid"])
            flags = ["--boundary", ",".join(boundaries), "--origin", ",".join(map(str, origin))]
            flags += ["--mode", mode] if "linear" in boundaries else []
            flags += ["--correlate"] if correlate else []
            ranks = 1 + place % 3
            with self.subTest(shape=shape, extents=extents, dtype=dtype, flags=flags, ranks=ranks):
                expected = convolved(field, kernel, boundaries, origin, mode, correlate)
                self.assert_close(self.convolve(field, kernel, *flags, ranks=ranks), expected)

    def test_half_of_a_symmetric_kernel_stands_for_the_whole(self) -> None:
        whole = symmetric((5, 7), "f8", [0, 1])
        field = random_array((6, 5), "f8")
        for boundary in ("dirichlet", "neumann"):
            expected = convolved(field, whole, [boundary] * 2, [2, 3])
            for flags in (("--origin", 0), (), ("--correlate",)):
                got = self.convolve(field, whole[2:, 3:], "--boundary", boundary, *flags, ranks=2)
                self.assert_close(got, expected)
            self.assert_close(self.convolve(field, whole, "--boundary", boundary, "--origin", "center"), expected)

    def test_built_in_kernels_are_formulas_of_the_wavenumber(self) -> None:
        def square(*k):
            return sum(one * one for one in k)

        def inverse(*k):
            return np.divide(1, square(*k), where=square(*k) > 0, out=np.zeros(np.broadcast_shapes(*(o.shape for o in k))))

        def riesz(*k):
            return square(*k) ** 0.75

        cases = [
            ("gaussian:sigma=1.5", lambda *k: np.exp(-(1.5**2) * square(*k) / 2), []),
            ("gaussian:sigma=0.5,0,2", lambda x, y, z: np.exp(-(0.25 * x * x + 4 * z * z) / 2) + 0 * y, []),
            ("poisson", inverse, ["--zero", 0]),
            ("screened-poisson:lambda=0.7", lambda *k: 1 / (square(*k) + 0.49), []),
            ("heat:t=0.3", lambda *k: np.exp(-0.3 * square(*k)), []),
            ("riesz:s=1.5", riesz, []),
            ("derivative:order=2,0,4", lambda x, y, z: -x * x * z**4 + 0 * y, []),
            ("laplacian", lambda *k: -square(*k), []),
        ]
        mixtures = [["periodic"] * 3, ["dirichlet"] * 3, ["neumann"] * 3, ["periodic", "neumann", "dirichlet"]]
        some = list(itertools.product(cases, mixtures))[::5]
        for place, ((name, symbol, flags), boundaries) in enumerate(some):
            shape = [(7, 9, 5), (8, 6, 4)][place % 2]
            length = [3.0, 2.5, 4.0] if place % 3 else list(map(float, shape))
            field = random_array(shape, ("f8", "c16")[place // 4 % 2])
            flags = [*flags, "--boundary", ",".join(boundaries)]
            flags += ["--length", ",".join(map(str, length))] if place % 3 else []
            flags += ["--zero", 0] if name == "poisson" and "dirichlet" not in boundaries else []
            with self.subTest(name=name, boundaries=boundaries, shape=shape):
                expected = by_symbol(field, symbol, boundaries, length)
                self.assert_close(self.convolve(field, name, *flags, ranks=1 + place % 3), expected)

    def test_odd_derivatives_of_waves_are_waves(self) -> None:
        x = 2 * np.pi * np.arange(12)[:, None] / 12
        y = 2 * np.pi * np.arange(9) / 9
        field = np.sin(2 * x) * np.cos(3 * y)
        expected = np.cos(2 * x) * 2 * -np.sin(3 * y) * 3
        flags = ("--length", 2 * np.pi)
        got = self.convolve(field, "derivative:order=1,1", *flags, ranks=2)
        np.testing.assert_allclose(got, expected, atol=1e-13)
        # Of an even extent the highest wave has no odd derivative.
        got = self.convolve(np.cos(6 * x) + 0 * y, "derivative:order=1,0", *flags)
        np.testing.assert_allclose(got, 0, atol=1e-12)
        middles = (np.arange(12)[:, None] + 0.5) * np.pi / 12
        walls = ("--length", f"{np.pi},{2 * np.pi}", "--boundary", "dirichlet,periodic")
        got = self.convolve(np.sin(5 * middles) * np.cos(2 * y), "derivative:order=3,0", *walls, ranks=2)
        np.testing.assert_allclose(got, -125 * np.cos(5 * middles) * np.cos(2 * y), atol=1e-10)
        got = self.convolve(np.exp(1j * (3 * x - 2 * y)), "derivative:order=0,1", *flags, ranks=3)
        np.testing.assert_allclose(got, -2j * np.exp(1j * (3 * x - 2 * y)), atol=1e-13)

    def test_vectors_have_their_components_first(self) -> None:
        extents = (12, 10, 9)
        x, y, z = np.meshgrid(*[(np.arange(n) + 0.5) * np.pi / n for n in extents], indexing="ij")
        walls = ("--length", np.pi, "--boundary", "dirichlet,neumann,neumann")
        potential = np.sin(2 * x) * np.cos(3 * y) * np.cos(z)
        gradient = self.convolve(potential, "gradient", *walls, ranks=2)
        expected = [
            2 * np.cos(2 * x) * np.cos(3 * y) * np.cos(z),
            -3 * np.sin(2 * x) * np.sin(3 * y) * np.cos(z),
            -np.sin(2 * x) * np.cos(3 * y) * np.sin(z),
        ]
        np.testing.assert_allclose(gradient, expected, atol=1e-13)
        np.testing.assert_allclose(self.convolve(gradient, "divergence", *walls, ranks=3), -14 * potential, atol=1e-12)
        np.testing.assert_allclose(self.convolve(gradient, "curl", *walls), 0, atol=1e-12)
        np.testing.assert_allclose(self.convolve(gradient, "leray", *walls, ranks=2), 0, atol=1e-13)
        plane = random_array((2, 6, 7), "f8")
        self.assertEqual(self.convolve(plane, "curl", ranks=2).shape, (6, 7))
        stress = np.zeros((3, 8, 4))
        stress[0] = 3 + np.cos(2 * np.pi * np.arange(8) / 8)[:, None]
        strain = self.convolve(stress, "elastic:lame=1,0.5", ranks=2)
        np.testing.assert_allclose(strain[0], (stress[0] - 3) / 2, atol=1e-14)
        np.testing.assert_allclose(strain[1:], 0, atol=1e-14)

    def test_poisson_in_free_space_is_the_potential_of_a_gaussian_charge(self) -> None:
        n, box, sigma = 32, 10.0, 0.6
        x = (np.arange(n) + 0.5) * box / n - box / 2
        r = np.sqrt(x[:, None, None] ** 2 + x[:, None] ** 2 + x**2)
        charge = np.exp(-(r**2) / (2 * sigma**2)) / (2 * np.pi * sigma**2) ** 1.5
        expected = erf(r / (np.sqrt(2) * sigma)) / (4 * np.pi * r)
        flags = ("--boundary", "free", "--length", box)
        for ranks in (1, 2):
            got = self.convolve(charge, "poisson", *flags, ranks=ranks)
            np.testing.assert_allclose(got, expected, rtol=1e-8)
        got = self.convolve(charge, "screened-poisson:lambda=1e-6", *flags)
        np.testing.assert_allclose(got, expected, rtol=1e-4)

    def test_zero_is_what_the_mean_is_multiplied_by(self) -> None:
        field = random_array((6, 5, 4), "f8")
        for kernel in ("poisson", "riesz:s=-1", "screened-poisson:lambda=0", "laplacian"):
            got = self.convolve(field, kernel, "--zero", -2.5, ranks=2)
            self.assertAlmostEqual(got.mean(), -2.5 * field.mean(), 12)

    def test_deconvolution_gives_the_field_back(self) -> None:
        field = random_array((8, 9, 7), "f8")
        kernel = np.zeros((3, 3, 3))
        kernel[0, 0, 0], kernel[2, 1, 1], kernel[0, 1, 2] = 1, 0.25, -0.5
        blurred = self.convolve(field, kernel, ranks=2)
        self.assert_close(self.convolve(blurred, kernel, "--deconvolve", 0, ranks=3), field)
        padded = np.zeros(field.shape)
        padded[:3, :3, :3] = kernel
        spectrum = np.fft.fftn(padded)
        expected = np.fft.ifftn(np.fft.fftn(field) * spectrum.conj() / (np.abs(spectrum) ** 2 + 0.1)).real
        self.assert_close(self.convolve(field, kernel, "--deconvolve", 0.1), expected)

    def test_every_type_of_field_and_kernel(self) -> None:
        for place, (name, dtype) in enumerate(TYPES.items()):
            field = random_array((6, 5, 4), dtype)
            for other in ("u1", "f4", "c16"):
                if other == "c16" and not np.iscomplexobj(field):
                    continue
                kernel = random_array((2, 3, 2), other)
                wide = field.astype("c16" if np.iscomplexobj(field) else "f8")
                with self.subTest(field=name, kernel=other):
                    got = self.convolve(field, kernel, "--boundary", "linear", ranks=1 + place % 2)
                    expected = scipy.signal.convolve(wide, kernel.astype(wide.dtype), method="direct")
                    self.assert_close(got, expected)

    def test_single_precision(self) -> None:
        for dtype in ("u1", "f4", "f8", "c8", "c16"):
            field = random_array((9, 8, 7), dtype)
            complex_field = np.iscomplexobj(field)
            wide = field.astype("c16" if complex_field else "f8")
            kernel = random_array((3, 4, 2), "c16" if complex_field else "f8")
            self.save("in.npy", field)
            self.save("kernel.npy", kernel)
            for name, expected in (
                ("kernel.npy", convolved(wide, kernel, ["periodic"] * 3, [0] * 3)),
                ("gaussian:sigma=1", by_symbol(wide, lambda *k: np.exp(-sum(o * o for o in k) / 2), ["periodic"] * 3, [9, 8, 7])),
            ):
                self.succeed("convolve", "in.npy", name, "out.npy", "--precision", "single", ranks=2)
                got = self.load("out.npy")
                self.assertEqual(got.dtype, np.dtype("c8" if complex_field else "f4"))
                self.assert_close(got, expected, single=True)

    def test_more_ranks_than_rows_and_every_decomposition(self) -> None:
        field, kernel = random_array((3, 2, 5), "f8"), random_array((2, 2, 3), "f8")
        expected = scipy.signal.convolve(field, kernel)
        for flags in (
            ["--decomposition", "pencil", "--grid", "2x2"],
            ["--decomposition", "slab-1d2d", "--exchange", "p2p-type"],
            ["--decomposition", "slab-2d1d", "--variant", "realigned", "--exchange", "p2p-streams"],
            ["--engine", "reference"],
            ["--device", "simulated", "--threads", 2],
        ):
            with self.subTest(flags=flags):
                got = self.convolve(field, kernel, "--boundary", "linear", *flags, ranks=4)
                self.assert_close(got, expected)

    def test_one_to_eight_axes(self) -> None:
        for shape in [(1,), (13,), (1, 1), (7, 1, 9), (3, 4, 5, 6), (2, 3, 2, 3, 2), (2,) * 8]:
            field, kernel = random_array(shape, "f8"), random_array(tuple(min(2, n) for n in shape), "f8")
            expected = convolved(field, kernel, ["periodic"] * len(shape), [0] * len(shape))
            for ranks in (1, 3):
                with self.subTest(shape=shape, ranks=ranks):
                    self.assert_close(self.convolve(field, kernel, ranks=ranks), expected)

    def test_raw_files(self) -> None:
        field, kernel = random_array((6, 5, 4), "i2"), random_array((2, 3, 2), "f4")
        field.tofile(self.folder / "in.raw")
        kernel.tofile(self.folder / "kernel.bin")
        raw = ["--shape", "6x5x4", "--dtype", "i16", "--kernel-shape", "2x3x2", "--kernel-dtype", "f4"]
        self.succeed("convolve", "in.raw", "kernel.bin", "out.raw", "--boundary", "linear", *raw, ranks=2)
        expected = scipy.signal.convolve(field.astype("f8"), kernel.astype("f8"))
        self.assert_close(np.fromfile(self.folder / "out.raw").reshape(expected.shape), expected)

    @unittest.skipUnless(HDF5, "this build has no HDF5")
    def test_hdf5_files(self) -> None:
        field, kernel = random_array((6, 5, 4), "f8"), random_array((2, 3, 2), "f8")
        self.save("delta.npy", np.ones((1, 1, 1)))
        self.save("in.npy", field)
        self.save("kernel.npy", kernel)
        for ranks in (1, 2, 3):
            # A convolution with one point copies.
            self.succeed("convolve", "in.npy", "delta.npy", "file.h5:/deep/field", ranks=ranks)
            self.succeed("convolve", "kernel.npy", "delta.npy", "file.h5:/kernel", ranks=ranks)
            names = ("file.h5:/deep/field", "file.h5:/kernel", "file.h5:/deep/result")
            self.succeed("convolve", *names, "--boundary", "linear", "--mode", "same", ranks=ranks)
            self.succeed("convolve", names[2], "delta.npy", "out.npy", ranks=ranks)
            self.assert_close(self.load("out.npy"), scipy.signal.convolve(field, kernel, "same"))
        self.assertEqual(self.names(), ["delta.npy", "file.h5", "in.npy", "kernel.npy", "out.npy"])

    def test_a_head_is_blurred(self) -> None:
        head = np.load(BRAIN)
        self.succeed("convolve", BRAIN, "gaussian:sigma=2,1,3", "out.npy", "--precision", "single", ranks=2)
        expected = scipy.ndimage.fourier_gaussian(np.fft.rfftn(head.astype("f8")), (2, 1, 3), n=head.shape[2])
        self.assert_close(self.load("out.npy"), np.fft.irfftn(expected, head.shape), single=True)
        box = np.full((5, 5, 5), 1 / 125)
        self.save("box.npy", box)
        self.succeed("convolve", BRAIN, "box.npy", "out.npy", "--boundary", "neumann", "--origin", "center", ranks=3)
        expected = scipy.ndimage.uniform_filter(head.astype("f8"), 5, mode="reflect")
        self.assert_close(self.load("out.npy"), expected)

    def test_files_win_over_built_in_kernels_if_their_names_say_so(self) -> None:
        field, kernel = random_array((6, 5), "f8"), random_array((2, 2), "f8")
        expected = convolved(field, kernel, ["periodic"] * 2, [0] * 2)
        self.save("heat:t=3.npy", kernel)
        self.assert_close(self.convolve(field, "heat:t=3.npy"), expected)
        self.assert_close(self.convolve(field, "./heat:t=3.npy", ranks=2), expected)
        for name in ("laplacian", "heat:t=0.5"):
            (self.folder / name).touch()
        got = self.convolve(field, "laplacian")  # without a dot or slash it is not looked for
        self.assert_close(got, by_symbol(field, lambda x, y: -x * x - y * y, ["periodic"] * 2, [6, 5]))
        self.assertIn("FILE.npy", self.refuse("convolve", "in.npy", "heat:t=0.5", "out.npy"))
        self.succeed("convolve", "in.npy", "heat:t=0.50", "out.npy")

    def test_an_array_can_be_convolved_into_itself_or_its_kernel(self) -> None:
        field, kernel = random_array((6, 5), "f8"), random_array((6, 5), "f8")
        expected = convolved(field, kernel, ["periodic"] * 2, [0] * 2)
        for out in ("in.npy", "kernel.npy"):
            self.save("in.npy", field)
            self.save("kernel.npy", kernel)
            self.succeed("convolve", "in.npy", "kernel.npy", out, ranks=2)
            self.assert_close(self.load(out), expected)

    def test_summary_report_and_trace(self) -> None:
        self.save("in.npy", random_array((6, 5, 4), "f8"))
        self.save("kernel.npy", random_array((2, 3, 2), "f8"))
        files = ["--report", "r.json", "--trace", "t.json"]
        flags = ["--boundary", "periodic,linear,free", "--mode", "same", "--correlate"]
        said = self.succeed("convolve", "in.npy", "kernel.npy", "out.npy", *flags, *files, ranks=2)
        for words in ("correlation with kernel.npy, boundary periodic,linear,free, mode same on 2 ranks", "convolve 0."):
            self.assertIn(words, said)
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual((report["command"], report["ranks"]), ("convolve", 2))
        problem = report["problem"]
        self.assertEqual(problem["boundary"], ["periodic", "linear", "free"])
        self.assertEqual(problem["kernel"]["shape"], [2, 3, 2])
        self.assertEqual((problem["mode"], problem["correlate"]), ("same", True))
        self.assertTrue(all(t["convolve_stage"] > 0 for t in report["timings"]))
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        names = {e["name"] for e in events if e["ph"] == "X"}
        self.assertLessEqual({"plan", "read", "convolve", "write", "fft"}, names)
        self.assertEqual(self.succeed("convolve", "in.npy", "heat:t=1", "out.npy", "--quiet"), "")

    def test_help(self) -> None:
        said = self.succeed("convolve", "--help")
        for word in (*BOUNDARIES, "--mode", "--origin", "screened-poisson", "dot or a slash", "--ranks"):
            self.assertIn(word, said)
        self.assertIn("convolve IN KERNEL OUT", self.succeed("--help"))


class Misuse(Case):
    def setUp(self) -> None:
        super().setUp()
        self.save("in.npy", random_array((6, 5, 4), "f8"))
        self.save("complex.npy", random_array((6, 5, 4), "c16"))
        self.save("line.npy", random_array((6,), "f8"))
        self.save("kernel.npy", random_array((3, 3, 3), "f8"))
        self.save("plane.npy", random_array((3, 3), "f8"))
        self.before = self.names()

    def test_wrong_commands_exit_2_with_a_line_that_says_what_to_change(self) -> None:
        built_in = ["in.npy", "heat:t=1", "out.npy"]
        given = ["in.npy", "kernel.npy", "out.npy"]
        for arguments, words in [
            ([], "missing"),
            (["in.npy", "kernel.npy"], "missing"),
            ([*given, "more"], "one too many"),
            ([*given, "--inverse"], "not a flag"),
            ([*given, "--boundary"], "needs a value"),
            ([*given, "--boundary", "round"], "periodic, linear, free, dirichlet or neumann"),
            ([*given, "--boundary", "periodic,"], "periodic, linear, free, dirichlet or neumann"),
            ([*given, "--boundary", "periodic,linear"], "2 of them for a field of 3 axes"),
            ([*given, "--boundary", ",".join(["linear"] * 9)], "--boundary"),
            ([*given, "--mode", "valid"], "add --boundary linear"),
            ([*given, "--boundary", "linear", "--mode", "wide"], "full, same or valid"),
            ([*given, "--method", "fast"], "auto, whole, overlap-save, samples or multilevel"),
            ([*given, "--method", "samples"], "the kernel is an array"),
            ([*given, "--tolerance", "0"], "above 0"),
            ([*given, "--opening", "wide"], "above 0"),
            ([*given, "--interpolation", "0"], "interpolation"),
            ([*given, "--subdomain", "-8"], "subdomain"),
            ([*given, "--pattern", "octree"], "graded or fixed"),
            ([*given, "--octree", "t.json"], "add that, or drop it"),
            ([*given, "--discretization", "fine"], "spectral or staggered"),
            ([*given, "--method", "overlap-save"], "is not linear"),
            ([*given, "--deconvolve", "-1"], "0 or more"),
            ([*given, "--deconvolve", "nan"], "0 or more"),
            ([*given, "--origin", "3"], "give 0 to 2, or center"),
            ([*given, "--origin", "0,1"], "2 of them for a field of 3 axes"),
            ([*given, "--origin", "0,1,-1"], "whole numbers from 0"),
            ([*given, "--origin", "0.5"], "whole numbers from 0"),
            ([*given, "--origin", "middle"], "give center"),
            ([*given, "--length", "0"], "above 0"),
            ([*given, "--length", "1,2"], "2 of them for a field of 3 axes"),
            ([*given, "--length", "1,2,x"], "above 0"),
            ([*given, "--zero", "0"], "belongs to built-in kernels"),
            ([*given, "--zero", "inf"], "give a number"),
            ([*given, "--boundary", "neumann", "--origin", "center"], "not symmetric"),
            ([*given, "--kernel-shape", "3x3x3"], "--kernel-dtype"),
            ([*given, "--shape", "6x5x4"], "--dtype"),
            ([*built_in, "--kernel-shape", "3x3x3", "--kernel-dtype", "f4"], "--kernel-shape belongs"),
            ([*built_in, "--origin", "0"], "--origin belongs"),
            ([*built_in, "--boundary", "linear"], "another boundary, or give a file"),
            ([*built_in, "--boundary", "free"], "poisson or screened-poisson"),
            (["in.npy", "heat:t=1", "out.npy", "--boundary", "free,free,periodic"], "poisson or screened-poisson"),
            (["in.npy", "poisson", "out.npy"], "--zero 0"),
            (["in.npy", "poisson", "out.npy", "--boundary", "neumann"], "--zero 0"),
            (["in.npy", "riesz:s=-1", "out.npy"], "--zero 0"),
            (["in.npy", "derivative:order=1", "out.npy"], "1 number for a field of 3 axes"),
            (["in.npy", "leray", "out.npy"], "first axis has the components of a point, 2 of 2 axes, and in.npy has 6"),
            (["line.npy", "divergence", "out.npy"], "first axis has the components of a point"),
            (["in.npy", "elastic:lame=1", "out.npy"], "give elastic:lame=LAMBDA,MU"),
            (["in.npy", "gradient:order=1", "out.npy"], "gradient takes no parameter"),
            (["in.npy", "derivative:order=0.5,0,0", "out.npy"], "whole number"),
            (["in.npy", "derivative:order=-1,0,0", "out.npy"], "0 or more"),
            (["in.npy", "gaussian", "out.npy"], "gaussian:sigma=NUMBER"),
            (["in.npy", "gaussian:width=1", "out.npy"], "gaussian:sigma=NUMBER"),
            (["in.npy", "gaussian:sigma=1,2", "out.npy"], "2 numbers for a field of 3 axes"),
            (["in.npy", "gaussian:sigma=-1", "out.npy"], "0 or more"),
            (["in.npy", "gaussian:sigma=", "out.npy"], "gaussian:sigma=NUMBER"),
            (["in.npy", "gaussian:sigma=1 ", "out.npy"], "gaussian:sigma=NUMBER"),
            (["in.npy", "heat:t=1,2", "out.npy"], "one number"),
            (["in.npy", "heat:t=-1", "out.npy"], "0 or more"),
            (["in.npy", "poisson:lambda=1", "out.npy"], "takes no parameter"),
            (["in.npy", "laplacian:", "out.npy"], "takes no parameter"),
            (["in.npy", "wave", "out.npy"], "gaussian"),
            (["in.npy", "wave:c=0.2", "out.npy"], "gaussian"),
            (["in.npy", "wave.txt", "out.npy"], "FILE.npy"),
            (["in.npy", "array", "out.npy"], "gaussian"),
            (["in.npy", "none.npy", "out.npy"], "none.npy"),
            (["none.npy", "kernel.npy", "out.npy"], "none.npy"),
            (["in.npy", "plane.npy", "out.npy"], "it has 2 axes, but in.npy has 3"),
            (["line.npy", "plane.npy", "out.npy"], "it has 2 axes, but line.npy has 1"),
            (["in.npy", "complex.npy", "out.npy"], "give a real kernel"),
            (["in.npy", "kernel.npy", "none/out.npy"], "none/out.npy"),
            (["in.npy", "kernel.npy", "out.txt"], "out.txt"),
            ([*given, "--report", "none/r.json"], "none/r.json"),
            ([*given, "--grid", "5"], "grid"),
        ]:
            with self.subTest(" ".join(arguments)):
                self.assertIn(words, self.refuse("convolve", *arguments))
                self.assertEqual(self.names(), self.before)

    def test_one_rank_speaks_for_all(self) -> None:
        for arguments, words in [
            (["in.npy", "kernel.npy", "out.npy", "--mode", "wide"], "full, same or valid"),
            (["in.npy", "none.npy", "out.npy"], "none.npy"),
            (["in.npy", "plane.npy", "out.npy"], "2 axes"),
            (["in.npy", "gaussian:sigma=x", "out.npy"], "sigma=NUMBER"),
            (["in.npy", "kernel.npy", "out.npy", "--boundary", "dirichlet", "--origin", "center"], "not symmetric"),
            (["line.npy", "heat:t=1", "out.npy", "--boundary", "neumann"], "runs on one process"),
            (["in.npy", "poisson", "none/out.npy", "--zero", 0], "none/out.npy"),
        ]:
            with self.subTest(" ".join(map(str, arguments))):
                self.assertIn(words, self.refuse("convolve", *arguments, ranks=3))
                self.assertEqual(self.names(), self.before)

    def test_a_result_that_cannot_be_written_leaves_nothing(self) -> None:
        self.save("large.npy", np.zeros((160, 160, 160), "u1"))

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (24 << 20, 24 << 20))  # MPI needs some for itself

        before = self.names()
        for name in ["out.npy", "kernel.npy"] + (["new.h5:/x"] if HDF5 else []):
            self.refuse("convolve", "large.npy", "kernel.npy", name, status=1, preexec_fn=limit)
            self.assertEqual(self.names(), before)
        self.assertEqual(self.load("kernel.npy").shape, (3, 3, 3))

    def test_what_does_not_fit_is_refused_before_anything_is_done(self) -> None:
        lines = Path("/proc/meminfo").read_text().splitlines()
        kib = {line.split()[0]: int(line.split()[1]) for line in lines}
        rows = (kib["MemAvailable:"] + kib["SwapFree:"]) * 1024 * 6 // 10 // (1 << 20)
        with open(self.folder / "large.raw", "wb") as file:
            file.truncate(rows << 20)  # sparse
        shape = ["--shape", f"{rows}x512x512", "--dtype", "f4", "--precision", "single"]
        for ranks in (1, 2):
            said = self.refuse("convolve", "large.raw", "heat:t=1", "out.raw", *shape, ranks=ranks, status=1)
            self.assertIn("has too little memory", said)
        kernel = ["--kernel-shape", f"{rows}x512x512", "--kernel-dtype", "f4", "--precision", "single"]
        said = self.refuse("convolve", "in.npy", "large.raw", "out.raw", *kernel, status=1)
        self.assertIn("has too little memory", said)
        self.assertEqual(self.names(), sorted([*self.before, "large.raw"]))


if __name__ == "__main__":
    unittest.main()
