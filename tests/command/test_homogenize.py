"""weft homogenize against exact solutions, bounds, identities and other numbers of ranks."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
import unittest
import zlib
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import numpy as np

from weft_case import HDF5, WEFT, Case, environment

SOURCE = Path(__file__).parents[2]

SCHEMES = ("fourier", "willot", "staggered")
SOLVERS = ("cg", "basic", "eyre-milton", "barzilai-borwein")
SOFT, HARD = {"label": 0, "lambda": 1, "mu": 1}, {"label": 1, "lambda": 10, "mu": 10}
COPPER = [
    [168.4, 121.4, 121.4, 0, 0, 0],
    [121.4, 168.4, 121.4, 0, 0, 0],
    [121.4, 121.4, 168.4, 0, 0, 0],
    [0, 0, 0, 75.4, 0, 0],
    [0, 0, 0, 0, 75.4, 0],
    [0, 0, 0, 0, 0, 75.4],
]
ENGINEERING = np.array([1, 1, 1, 2, 2, 2])


def laminate(axis: int, n: int, hard: int) -> np.ndarray:
    shape = [3, 4, 5]
    shape[axis] = n
    volume = np.zeros(shape, "u1")
    volume[tuple(slice(n - hard, None) if a == axis else slice(None) for a in range(3))] = 1
    return volume


def layers(f: float) -> list[float]:
    """C11, C12, C22, C23, C44, C55 of layers of SOFT and a share f of HARD with normal 1 (VERIFY)."""
    lame, mu, share = np.array([1.0, 10]), np.array([1.0, 10]), np.array([1 - f, f])
    m = lame + 2 * mu
    c11 = 1 / (share / m).sum()
    ratio = (share * lame / m).sum()
    c22 = (share * (m - lame**2 / m)).sum() + c11 * ratio**2
    c23 = (share * (lame - lame**2 / m)).sum() + c11 * ratio**2
    return [c11, c11 * ratio, c22, c23, (share * mu).sum(), 1 / (share / mu).sum()]


def rotated(stiffness: np.ndarray, axis: int) -> list[float]:
    """The six constants of a stiffness with layers along another axis."""
    b = [(axis + i) % 3 for i in range(3)]
    shear = {(1, 2): 3, (0, 2): 4, (0, 1): 5}
    c44, c55 = shear[tuple(sorted(b[1:]))], shear[tuple(sorted(b[:2]))]
    pairs = [(b[0], b[0]), (b[0], b[1]), (b[1], b[1]), (b[1], b[2]), (c44, c44), (c55, c55)]
    return [stiffness[p] for p in pairs]


def read_grey(path: Path) -> np.ndarray:
    """An 8-bit grey PNG whose rows have no filter or those of one byte a pixel."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height = (int.from_bytes(body[i : i + 4], "big") for i in (0, 4))
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), "u1").reshape(height, width + 1).astype(int)
    out = np.zeros((height, width), int)
    for y in range(height):
        for x in range(width):
            left, up = (out[y, x - 1] if x else 0), (out[y - 1, x] if y else 0)
            corner = out[y - 1, x - 1] if x and y else 0
            paeth = min((left, up, corner), key=lambda near: abs(left + up - corner - near))
            guess = (0, left, up, (left + up) // 2, paeth)[rows[y, 0]]
            out[y, x] = (rows[y, x + 1] + guess) % 256
    return out


class Homogenize(Case):
    def case(self, volume: np.ndarray, phases: list, **more: object) -> None:
        self.save("volume.npy", volume)
        text = json.dumps({"labels": "volume.npy", "phases": phases} | more)
        (self.folder / "case.json").write_text(text)

    def homogenize(self, volume: np.ndarray, phases: list, ranks: int = 1, **more: object) -> dict:
        self.case(volume, phases, **more)
        self.succeed("homogenize", "case.json", "--report", "report.json", ranks=ranks)
        return json.loads((self.folder / "report.json").read_text())

    def stiffness(self, *arguments, **more: object) -> np.ndarray:
        return np.array(self.homogenize(*arguments, **more)["effective"]["stiffness_voigt"])

    # ---- exact solutions ----

    def test_layers_along_each_axis(self) -> None:
        """Their exact stiffness on even and odd grids, with every discretization."""
        np.testing.assert_allclose(
            layers(0.5),
            [5.454545454545, 1.818181818182, 15.272727272727, 4.272727272727, 5.5, 1.818181818182],
            rtol=1e-12,
        )
        cases = (("fourier", 0, 8, 4), ("fourier", 2, 9, 5), ("willot", 1, 6, 3), ("staggered", 2, 8, 3))
        for scheme, axis, n, hard in cases:
            with self.subTest(scheme=scheme, axis=axis, n=n):
                c = self.stiffness(laminate(axis, n, hard), [SOFT, HARD], discretization=scheme, tolerance=1e-13)
                np.testing.assert_allclose(rotated(c, axis), layers(hard / n), rtol=1e-12)

    def test_layers_of_the_table(self) -> None:
        """10 % (lambda, mu) = (22, 11) and 90 % (2, 1)."""
        phases = [{"label": 0, "lambda": 2, "mu": 1}, {"label": 1, "lambda": 22, "mu": 11}]
        c = self.stiffness(laminate(0, 10, 1), phases, tolerance=1e-13)
        np.testing.assert_allclose(rotated(c, 0), [4.4, 2.2, 7.1, 3.1, 2.0, 1.1], rtol=1e-12)

    def test_one_shear_modulus(self) -> None:
        """Hill: K* of any structure where G is the same everywhere, here of random voxels."""
        rng = np.random.default_rng(36)
        for shape in ((8, 8, 8), (5, 7, 9)):
            volume = np.resize([0, 1], shape).astype("u1")
            rng.shuffle(volume.reshape(-1))
            f = volume.mean()
            for bulk in (10, 100) if shape == (8, 8, 8) else (10,):
                phases = [{"label": 0, "K": 1, "G": 1}, {"label": 1, "K": bulk, "G": 1}]
                expected = 1 / ((1 - f) / (1 + 4 / 3) + f / (bulk + 4 / 3)) - 4 / 3
                if f == 0.5:
                    known = {10: 2.536585365854, 100: 3.228295819936}[bulk]
                    self.assertAlmostEqual(expected, known, 12)
                for scheme in SCHEMES:
                    if scheme == "willot" and any(n % 2 == 0 for n in shape):
                        continue  # it has frequencies without strain on even grids
                    with self.subTest(shape=shape, scheme=scheme, bulk=bulk):
                        c = self.stiffness(volume, phases, discretization=scheme, tolerance=1e-13)
                        self.assertLess(abs(c[:3, :3].sum() / 9 / expected - 1), 1e-11)

    def test_homogeneous_medium(self) -> None:
        """It has its own stiffness, without an iteration; also under stress, and if it is a crystal."""
        volume = np.zeros((4, 5, 6), "u1")
        for solver in SOLVERS[::2]:
            report = self.homogenize(volume, [SOFT], solver=solver)
            self.assertEqual([load["iterations"] for load in report["loads"]], [0] * 6)
            self.assertLess(max(load["residual"] for load in report["loads"]), 1e-15)
            c = np.array(report["effective"]["stiffness_voigt"])
            np.testing.assert_allclose(np.diag(c), [3, 3, 3, 1, 1, 1], rtol=1e-14)
        load = {"stress": [1, None, 0, 0, 0, 0.5], "strain": [None, 0.1, None, None, None, None]}
        report = self.homogenize(volume, [SOFT], load=load)
        self.assertEqual(report["loads"][0]["iterations"], 0)
        phase = {"label": 0, "stiffness": COPPER, "notation": "voigt"}
        c = self.stiffness(volume, [phase], discretization="fourier")
        np.testing.assert_allclose(c, COPPER, atol=1e-11)

    def test_checkerboard_and_squares(self) -> None:
        """sqrt(k1 k2), and Obnosov's sqrt((1 + 3 r) / (3 + r)): errors fall with the grid."""
        for shape, exact in (("board", 10**0.5), ("square", (31 / 13) ** 0.5)):
            for scheme, bound in (("willot", 0.02), ("staggered", 0.13)):
                errors = []
                for n in (16, 32):
                    i = np.arange(n) // (n // 2)
                    volume = (i[:, None] + i) % 2 if shape == "board" else i[:, None] * i
                    report = self.homogenize(
                        volume.astype("u1")[:, :, None],
                        [{"label": 0, "conductivity": 1}, {"label": 1, "conductivity": 10}],
                        physics="conduction",
                        discretization=scheme,
                        load={"gradient": [1, 0, 0], "flux": [None, None, None]},
                    )
                    errors.append(abs(report["loads"][0]["flux"][0] / exact - 1))
                self.assertLess(errors[0], bound, (shape, scheme))
                self.assertLess(errors[1], 0.65 * errors[0], (shape, scheme))

    def test_sphere(self) -> None:
        """10 % of spheres: near the published 3 K* = 207.36, within the bounds."""
        n = 32
        at = np.arange(n) - n / 2 + 0.5
        ball = at[:, None, None] ** 2 + at[:, None] ** 2 + at**2 < (0.288 * n) ** 2
        phases = [{"label": 0, "K": 62.5, "G": 28.8462}, {"label": 1, "K": 222.222, "G": 166.6667}]
        for scheme in SCHEMES:
            report = self.homogenize(ball.astype("u1"), phases, discretization=scheme)
            found = report["effective"]["closest_isotropic"]
            bounds = report["bounds"]["hashin_shtrikman"]
            self.assertAlmostEqual(3 * found["K"], 207.36, delta=0.5)
            for modulus, slack in (("K", 0), ("G", 1e-3)):  # an array of spheres is cubic, so its G may be less
                self.assertLess(bounds[modulus][0] * (1 - slack), found[modulus])
                self.assertLess(found[modulus], bounds[modulus][1])

    def test_eshelby(self) -> None:
        """The strain in a small sphere, far from its images, within 1 % of Eshelby's solution."""
        n, k1, g1 = 48, 5 / 3, 1.0
        at = np.arange(n) - n / 2 + 0.5
        ball = (at[:, None, None] ** 2 + at[:, None] ** 2 + at**2 < 25).astype("u1")
        phases = [{"label": 0, "K": k1, "G": g1}, {"label": 1, "K": 2 * k1, "G": 2 * g1}]
        volume = 1 / (1 + 3 * k1 / (3 * k1 + 4 * g1))
        shear = 1 / (1 + 6 * (k1 + 2 * g1) / (5 * (3 * k1 + 4 * g1)))
        for mean, expected in (([1, 1, 1, 0, 0, 0], volume), ([0, 0, 0, 0, 0, 1], shear), ([1, -1, 0, 0, 0, 0], shear)):
            report = self.homogenize(ball, phases, discretization="fourier", load={"strain": mean})
            inside = np.array(report["loads"][0]["phases"][1]["strain"])
            np.testing.assert_allclose(inside, np.array(mean) * expected, rtol=0, atol=0.01 * expected)

    def test_polycrystal(self) -> None:
        """Copper: the crystal's K, and a G near Hershey's self-consistent one."""
        made = ["--size", "16x16x16", "--count", "200", "--orientations", "grains.json"]
        self.succeed("microstructure", "voronoi", "grains.npy", *made)
        files = [self.folder / name for name in ("grains.npy", "grains.json", "copper.json")]
        script = SOURCE / "examples" / "polycrystal.py"
        subprocess.run([sys.executable, script, "copper", *files], check=True, stdout=subprocess.DEVNULL)
        self.succeed("homogenize", "copper.json", "--report", "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        found = report["effective"]["closest_isotropic"]
        self.assertEqual(report["discretization"], "willot")
        self.assertAlmostEqual(found["K"], (168.4 + 2 * 121.4) / 3, delta=1e-6)
        self.assertAlmostEqual(found["G"], 48.172, delta=0.5)
        self.assertIsNone(report["bounds"]["hashin_shtrikman"])

    # ---- identities ----

    def grains(self, shape: tuple[int, ...] = (5, 6, 7)) -> tuple[np.ndarray, list]:
        rng = np.random.default_rng(5)
        phases = []
        for label in range(3):
            angles = rng.uniform(0, 180, 3).tolist()
            phases.append({"label": 7 * label - 3, "stiffness": COPPER, "notation": "voigt", "rotation": angles})
        return (7 * rng.integers(0, 3, shape) - 3).astype("i2"), phases

    def structures(self) -> list[tuple[str, np.ndarray, list]]:
        grains, crystals = self.grains()
        spots = np.random.default_rng(6).integers(0, 2, (6, 5, 4)).astype("i4")
        return [("fourier", grains, crystals), ("willot", grains, crystals), ("staggered", spots, [SOFT, HARD])]

    def test_solvers_agree(self) -> None:
        """One stiffness, whatever the solver and the reference medium; symmetric, between its bounds; Hill-Mandel;
        the means of the phases make those of the whole."""
        for scheme, volume, phases in self.structures()[::2]:
            reference = {"lambda": 100, "mu": 60} if scheme != "staggered" else {"lambda": 9, "mu": 12}
            found = []
            for solver in SOLVERS if scheme == "staggered" else SOLVERS[::2]:
                for more in ({}, {"reference": reference}) if solver == "cg" else ({},):
                    report = self.homogenize(
                        volume, phases, discretization=scheme, solver=solver, tolerance=1e-11, **more
                    )
                    found.append(np.array(report["effective"]["stiffness_mandel"]))
                    self.assertLess(report["asymmetry"], 1e-10)
                    self.check_loads(report)
            for c in found[1:]:
                np.testing.assert_allclose(c, found[0], rtol=0, atol=1e-10 * abs(found[0]).max())
            least, most = (np.array(report["bounds"][b]["stiffness_mandel"]) for b in ("reuss", "voigt"))
            self.assertGreater(np.linalg.eigvalsh(found[0] - least).min(), -1e-9)
            self.assertGreater(np.linalg.eigvalsh(most - found[0]).min(), -1e-9)

    def check_loads(self, report: dict) -> None:
        shares = [phase["volume_fraction"] for phase in report["phases"]]
        for load in report["loads"]:
            self.assertTrue(load["converged"])
            self.assertEqual(len(load["residuals"]), load["iterations"] + 1)
            self.assertLess(load["hill_mandel_error"], 1e-10)
            for field in ("strain", "stress"):
                total = sum(f * np.array(phase[field]) for f, phase in zip(shares, load["phases"]))
                np.testing.assert_allclose(total, load[field], rtol=0, atol=1e-11 * (1 + abs(total).max()))

    def test_mixed_loads(self) -> None:
        """Means that are given are met; the others are those of the stiffness."""
        for scheme, volume, phases in self.structures()[1:2]:
            c = self.stiffness(volume, phases, discretization=scheme, tolerance=1e-12)
            loads = (
                {"stress": [1, 2, None, None, 0.5, 0], "strain": [None, None, 0.01, 0.02, None, None]},
                {"stress": [0, 0, 0, 0, 0, 1]},
                {"strain": [0.1, 0, 0, 0.2, 0, 0]},
            )
            solvers = ("cg", "eyre-milton", "barzilai-borwein")
            for number, load in enumerate(loads):
                report = self.homogenize(
                    volume, phases, discretization=scheme, tolerance=1e-12, load=load, solver=solvers[number]
                )
                strain, stress = (np.array(report["loads"][0][f]) for f in ("strain", "stress"))
                np.testing.assert_allclose(c @ (strain * ENGINEERING), stress, rtol=0, atol=1e-10 * abs(c).max())
                for given, found in ((load.get("strain", []), strain), (load.get("stress", []), stress)):
                    for g, f in zip(given, found):
                        if g is not None:
                            self.assertAlmostEqual(g, f, delta=1e-9)

    def test_conduction_solvers_agree(self) -> None:
        volume = np.random.default_rng(7).integers(0, 2, (5, 4, 6)).astype("u1")
        tilted = [[4, 1, 0], [1, 3, 0], [0, 0, 2]]
        for scheme in SCHEMES:
            second = 9.0 if scheme == "staggered" else tilted
            phases = [{"label": 0, "conductivity": 1}, {"label": 1, "conductivity": second}]
            found = [
                np.array(
                    self.homogenize(
                        volume, phases, discretization=scheme, solver=solver, tolerance=1e-11, physics="conduction"
                    )["effective"]["conductivity"]
                )
                for solver in SOLVERS[:3:2]
            ]
            for k in found:
                np.testing.assert_allclose(k, found[0], rtol=0, atol=1e-10)
                np.testing.assert_allclose(k, k.T, rtol=0, atol=1e-10)

    def test_box_lengths(self) -> None:
        """Half of the voxels along an axis, of twice the length, are the same structure of layers; other lengths are
        another structure of grains."""
        volume, phases = self.grains((4, 5, 6))
        plain, same, other = (
            self.stiffness(volume, phases, discretization="fourier", tolerance=1e-12, **more)
            for more in ({}, {"length": [8, 10, 12]}, {"length": [4, 5, 12]})
        )
        np.testing.assert_allclose(same, plain, atol=1e-10)
        self.assertGreater(abs(other - plain).max(), 0.01)

    def test_numbers_of_ranks(self) -> None:
        """The same on 1, 2, 3 and 5 ranks, of which some own nothing; on several threads; by other engines."""
        numbers = {"fourier": (2,), "willot": (3,), "staggered": (5,)}
        for scheme, volume, phases in self.structures():
            alone = self.stiffness(volume, phases, discretization=scheme, tolerance=1e-12)
            for ranks in numbers[scheme]:
                many = self.stiffness(volume, phases, discretization=scheme, tolerance=1e-12, ranks=ranks)
                np.testing.assert_allclose(many, alone, rtol=0, atol=1e-12 * abs(alone).max())
        small = volume[:2, :1, :]
        alone = self.stiffness(small, phases, tolerance=1e-12)
        many = self.stiffness(small, phases, tolerance=1e-12, ranks=5)
        np.testing.assert_allclose(many, alone, rtol=0, atol=1e-12)
        for ranks, flags in ((1, ["--threads", 2]), (2, ["--engine", "reference", "--decomposition", "slab-1d2d"])):
            self.succeed("homogenize", "case.json", "--report", "report.json", *flags, ranks=ranks)
            report = json.loads((self.folder / "report.json").read_text())
            np.testing.assert_allclose(report["effective"]["stiffness_voigt"], alone, rtol=0, atol=1e-12)

    def test_single_precision(self) -> None:
        """By the case and by the flag, which has a tolerance of its own."""
        _, volume, phases = self.structures()[2]
        double = self.stiffness(volume, phases, tolerance=1e-8)
        single = self.stiffness(volume, phases, precision="single", tolerance=1e-5)
        np.testing.assert_allclose(single, double, rtol=0, atol=2e-5 * abs(double).max())
        self.case(volume, phases)
        text = self.succeed("homogenize", "case.json", "--precision", "single")
        self.assertIn("single, tolerance 0.0001", text)

    # ---- what people give ----

    def test_materials_in_every_way(self) -> None:
        """E and nu, lambda and mu, K and G, a stiffness in either notation are one material."""
        volume = laminate(0, 4, 2)
        lame, mu = 3.0, 2.0
        bulk = lame + 2 * mu / 3
        voigt = np.diag([2 * mu] * 3 + [mu] * 3) + np.pad(np.full((3, 3), lame), (0, 3))
        mandel = np.diag([1, 1, 1, 2, 2, 2]) @ voigt
        ways = [
            {"lambda": lame, "mu": mu},
            {"K": bulk, "G": mu},
            {"E": 9 * bulk * mu / (3 * bulk + mu), "nu": lame / (2 * (lame + mu))},
            {"stiffness": voigt.tolist(), "notation": "voigt"},
            {"stiffness": mandel.tolist(), "notation": "mandel"},
            {"stiffness": mandel.tolist(), "notation": "mandel", "rotation": [20, 30, 40]},
        ]
        found = [self.stiffness(volume, [SOFT, {"label": 1} | way], tolerance=1e-12) for way in ways]
        for c in found[1:]:
            np.testing.assert_allclose(c, found[0], rtol=0, atol=1e-12)

    def test_rotated_grain(self) -> None:
        """A quarter turn about z exchanges x and y of an orthotropic phase, by angles and by a matrix."""
        stiffness = np.array(COPPER)
        stiffness[0, 0], stiffness[3, 3] = 300, 50
        turned = []
        for rotation in ([90, 0, 0], [[0, -1, 0], [1, 0, 0], [0, 0, 1]]):
            phase = {"label": 0, "stiffness": stiffness.tolist(), "notation": "voigt", "rotation": rotation}
            turned.append(self.stiffness(np.zeros((2, 2, 2), "u1"), [phase]))
        swap = [1, 0, 2, 4, 3, 5]
        for c in turned:
            np.testing.assert_allclose(c, stiffness[np.ix_(swap, swap)], atol=1e-12)

    def test_summary_and_choices(self) -> None:
        self.case(laminate(0, 4, 2), [SOFT, HARD])
        text = self.succeed("homogenize", "case.json")
        self.assertIn("discretization staggered, solver cg, double, tolerance 1e-06", text)
        self.assertIn("label 0 50 %, label 1 50 %", text)
        self.assertIn("bytes a voxel", text)
        self.assertIn("5.4545455", text)
        volume, phases = self.grains()
        self.case(volume, phases, load={"strain": [0.001, 0, 0, 0, 0, 0]})
        text = self.succeed("homogenize", "case.json")
        self.assertIn("discretization willot", text)
        self.assertIn("mean strain: 0.001 0 0 0 0 0", text)
        self.assertEqual(self.succeed("homogenize", "case.json", "--quiet"), "")

    def test_output_beside_the_case(self) -> None:
        (self.folder / "below").mkdir()
        self.save("below/volume.npy", laminate(0, 4, 2))
        case = {"labels": "volume.npy", "phases": [SOFT, HARD], "output": "out.json"}
        (self.folder / "below" / "case.json").write_text(json.dumps(case))
        self.succeed("homogenize", "below/case.json", "--quiet")
        report = json.loads((self.folder / "below" / "out.json").read_text())
        self.assertEqual(report["components"], ["xx", "yy", "zz", "yz", "xz", "xy"])

    @unittest.skipUnless(HDF5, "no parallel HDF5")
    def test_fields(self) -> None:
        """Strain and stress of every voxel, of which the means are the report's; the description for ParaView."""
        volume, phases = self.grains((3, 4, 5))
        report = self.homogenize(volume, phases, ranks=2, fields="f.h5", length=[3, 2, 5])
        self.assertEqual([f"f-{i}.{end}" for i in range(1, 7) for end in ("h5", "xdmf")], self.names()[1:13])
        for load in (1, 6):
            for field in ("strain", "stress"):
                self.succeed("transform", f"f-{load}.h5:/{field}", "s.npy", "--axes", "none,none,none,fft")
                values = np.fft.irfft(self.load("s.npy"), 5, axis=3)
                self.assertEqual(values.shape, (6, 3, 4, 5))
                expected = report["loads"][load - 1][field]
                np.testing.assert_allclose(values.mean(axis=(1, 2, 3)), expected, rtol=0, atol=1e-10)
        grid = ElementTree.parse(self.folder / "f-6.xdmf").find(".//Grid")
        self.assertEqual(grid.find("Topology").get("Dimensions"), "4 5 6")
        self.assertEqual(grid.findall("Geometry/DataItem")[1].text, "1 0.5 1")
        self.assertEqual(len(grid.findall("Attribute")), 12)
        self.assertEqual(grid.findall("Attribute")[7].get("Name"), "stress_yy")
        self.assertEqual(grid.findall("Attribute/DataItem/DataItem")[-1].text, "f-6.h5:/stress")
        self.homogenize(volume, phases, fields="one.h5", load={"strain": [1, 0, 0, 0, 0, 0]}, precision="single")
        self.assertTrue((self.folder / "one.h5").exists() and (self.folder / "one.xdmf").exists())
        self.case(volume, phases, fields="absent/f.h5")
        self.assertIn("absent/f-1.h5: its folder", self.refuse("homogenize", "case.json"))

    @unittest.skipUnless(HDF5, "no parallel HDF5")
    def test_histograms(self) -> None:
        """They count the voxels of each phase by what the fields in the files have there."""
        volume, phases = self.grains()
        load = {"strain": [1, 0, 0, 0, 0.5, 0]}
        report = self.homogenize(volume, phases, ranks=2, fields="f.h5", load=load)
        for field, factor in (("strain", 2 / 3), ("stress", 3 / 2)):
            self.succeed("transform", f"f.h5:/{field}", "s.npy", "--axes", "none,none,none,fft")
            values = np.fft.irfft(self.load("s.npy"), volume.shape[2], axis=3)
            deviator = values.copy()
            deviator[:3] -= values[:3].mean(axis=0)
            weights = np.array([1, 1, 1, 2, 2, 2])[:, None, None, None]
            equivalent = np.sqrt(factor * (weights * deviator**2).sum(axis=0))
            for phase in report["loads"][0]["phases"]:
                found = phase["von_mises"][field]
                inside = equivalent[volume == phase["label"]]
                self.assertAlmostEqual(found["most"] / inside.max(), 1, 9)
                counts, _ = np.histogram(inside, 32, (0, found["most"] * (1 + 1e-9)))
                self.assertEqual(sum(found["voxels"]), inside.size)
                # What lies between two bins may have been rounded into the other.
                self.assertLessEqual(abs(counts - found["voxels"]).sum(), 2)

    def test_histograms_of_layers(self) -> None:
        """In layers fields are constant in each phase; a conductor has magnitudes."""
        volume = laminate(0, 8, 4)
        report = self.homogenize(volume, [SOFT, HARD], discretization="fourier", tolerance=1e-12, load={"strain": [0, 0, 0, 0, 0, 1]})
        for phase, mu, strain in zip(report["loads"][0]["phases"], (1, 10), (20 / 11, 2 / 11)):
            for field, most in (("strain", 2 / 3**0.5 * strain), ("stress", 2 * 3**0.5 * mu * strain)):
                self.assertAlmostEqual(phase["von_mises"][field]["most"], most, 9)
                self.assertEqual(phase["von_mises"][field]["voxels"], [0] * 31 + [80])
        phases = [{"label": 0, "conductivity": 1}, {"label": 1, "conductivity": 4}]
        report = self.homogenize(volume, phases, physics="conduction", discretization="fourier", load={"gradient": [3, 4, 0]})
        for phase, factor, along in zip(report["loads"][0]["phases"], (1, 4), (4.8, 1.2)):
            for field, most in (("gradient", np.hypot(along, 4)), ("flux", factor * np.hypot(along, 4))):
                self.assertAlmostEqual(phase["magnitude"][field]["most"], most, 4)
                self.assertEqual(sum(phase["magnitude"][field]["voxels"]), 80)

    def test_picture(self) -> None:
        """Labels beside von Mises' stress in the middle plane, alike on any number of ranks."""
        volume = laminate(2, 8, 4)  # 3 x 4 x 8
        found = []
        for ranks in (1, 3):
            load = {"strain": [0, 0, 0, 0, 0, 1]}
            self.homogenize(volume, [SOFT, HARD], ranks=ranks, picture="p.png", load=load, tolerance=1e-10)
            found.append(read_grey(self.folder / "p.png"))
        np.testing.assert_array_equal(found[0], found[1])
        expected = np.where(volume[1], 255, 0)
        # Of layers under shear along them stress is as stiffness.
        np.testing.assert_array_equal(found[0][:, :8], expected)
        np.testing.assert_array_equal(found[0][:, -8:], expected)
        self.case(volume, [SOFT, HARD], picture="absent/p.png")
        self.assertIn("absent/p.png: its folder", self.refuse("homogenize", "case.json"))

    def test_schema(self) -> None:
        """It takes what the command takes, and has every key of it."""
        schema = json.loads((SOURCE / "apps" / "homogenize" / "case.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        volume, phases = self.grains()
        load = {"stress": [1, 2, None, None, 0.5, 0], "strain": [None, None, 0.01, 0.02, None, None]}
        for case in (
            {"phases": [SOFT, HARD], "load": "all", "length": [1, 2, 3], "output": "r.json"},
            {"phases": phases, "load": load, "reference": {"lambda": 1, "mu": 2}, "solver": "basic"},
            {"phases": [{"label": 0, "conductivity": 2}], "physics": "conduction", "fields": "a.h5"},
        ):
            jsonschema.validate(case | {"labels": "a.npy"}, schema)
        for wrong in ({"solvr": "cg"}, {"phases": [{"label": 0, "E": 1}]}, {"phases": [HARD | {"K": 1, "G": 1}]}):
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate({"labels": "a.npy", "phases": [SOFT]} | wrong, schema)
        self.case(volume, phases, other=1)
        keys = self.refuse("homogenize", "case.json").split("there are ")[1].replace(" and ", ", ").split(", ")
        self.assertEqual(set(keys), set(schema["properties"]))

    def test_types_of_labels(self) -> None:
        volume = laminate(1, 4, 2)
        found = []
        for kind in ("u1", "u2"):
            found.append(self.stiffness(volume.astype(kind), [SOFT, HARD]))
        found.append(self.stiffness(np.asfortranarray(volume), [SOFT, HARD]))
        for c in found[1:]:
            np.testing.assert_array_equal(c, found[0])

    # ---- progress ----

    def test_progress(self) -> None:
        """Where it is asked for at once; of long work on a terminal after two seconds; nothing in a pipe."""
        volume, phases = self.grains((20, 20, 20))
        self.case(volume, phases, tolerance=1e-9)
        self.assertEqual(self.run_weft("homogenize", "case.json", "--quiet").stderr, "")
        shown = self.run_weft("homogenize", "case.json", "--quiet", "--progress").stderr
        self.assertRegex(shown, r"load [1-6] of 6  \[#*\.*\] +\d+ % \d:\d\d left")
        self.assertTrue(shown.endswith("\n\x1b[K"), shown)  # "\r" is read as "\n"
        self.case(np.tile(volume, (4, 4, 4)), phases, tolerance=1e-9)
        main, terminal = pty.openpty()
        self.addCleanup(os.close, main)
        began, said = time.monotonic(), ""
        line = [WEFT, "homogenize", "case.json"]
        streams = {"stdout": subprocess.DEVNULL, "stderr": terminal}
        with subprocess.Popen(line, cwd=self.folder, env=environment(), **streams) as process:
            os.close(terminal)
            while " left" not in said:
                said += os.read(main, 4096).decode()
            process.terminate()
        self.assertGreaterEqual(time.monotonic() - began, 2)
        self.assertRegex(said, "\rload [1-6] of 6")

    # ---- failures ----

    def test_wrong_cases(self) -> None:
        """One sentence that names the key, and status 2; tests/homogenize/test_case.c has the others."""
        volume = laminate(0, 4, 2)
        soft = [SOFT]
        for more, words in (
            ({"solvr": "cg"}, "case.json: solvr: there is no such key"),
            ({"labels": "absent.npy"}, "absent.npy"),
            ({"phases": soft}, "phases: label 1 of volume.npy has no phase"),
            ({"phases": [SOFT, {"label": 1, "E": 3, "nu": 0.5}]}, "phases[1].nu: Poisson's ratio 0.5"),
            (
                {
                    "phases": [SOFT, {"label": 1, "stiffness": COPPER, "notation": "voigt", "rotation": [10, 20, 30]}],
                    "discretization": "staggered",
                },
                "discretization: the staggered grid is for phases",
            ),
        ):
            with self.subTest(words=words):
                self.case(volume, [SOFT, HARD])
                case = json.loads((self.folder / "case.json").read_text()) | more
                (self.folder / "case.json").write_text(json.dumps(case))
                self.assertIn(words, self.refuse("homogenize", "case.json"))

    def test_wrong_files(self) -> None:
        self.assertIn("absent.json: it cannot be read", self.refuse("homogenize", "absent.json"))
        for text, words in (
            ('{"labels": "volume.npy", "phases": [}', "case.json: line 1"),
            ('{"labels": "a", "labels": "b"}', "duplicate"),
            ('{"tolerance": NaN}', "case.json: line 1"),
            ("[1]", "a case is an object"),
        ):
            (self.folder / "case.json").write_text(text)
            self.assertIn(words, self.refuse("homogenize", "case.json"))
        for volume, words in (
            (np.zeros((4, 4), "u1"), "labels: the array has 2 axes"),
            (np.full((4, 4, 4), np.nan), "labels: the elements are f8"),
        ):
            self.case(volume, [SOFT])
            self.assertIn(words, self.refuse("homogenize", "case.json"))
        self.case(laminate(0, 4, 2), [SOFT])
        self.assertIn("label 1 of volume.npy has no phase", self.refuse("homogenize", "case.json", ranks=3))
        (self.folder / "volume.npy").write_bytes((self.folder / "volume.npy").read_bytes()[:-9])
        self.assertIn("volume.npy", self.refuse("homogenize", "case.json"))

    def test_no_convergence(self) -> None:
        """An error that tells how far it came, unless the case accepts that."""
        volume, phases = self.grains()
        for ranks in (1, 2):
            self.case(volume, phases, max_iterations=3)
            line = self.refuse("homogenize", "case.json", "--report", "report.json", status=1, ranks=ranks)
            self.assertIn("load 1 of 6: the residual is", line)
            self.assertIn("after 3 iterations, above the tolerance 1e-06", line)
        self.assertEqual(self.names(), ["case.json", "volume.npy"])
        report = self.homogenize(volume, phases, max_iterations=3, unconverged="accept")
        self.assertEqual([load["iterations"] for load in report["loads"]], [3] * 6)
        self.assertFalse(report["loads"][0]["converged"])
        self.case(volume, phases, solver="basic", reference={"lambda": 1, "mu": 1}, max_iterations=2000)
        self.assertIn("the residual is", self.refuse("homogenize", "case.json", status=1))

    def test_flags(self) -> None:
        self.case(laminate(0, 4, 2), [SOFT, HARD])
        for flags, words in (
            (["--device", "simulated"], "weft homogenize computes on the host"),
            (["--stream"], "fields pass a device on their way"),
            (["--trace", "t.json"], "--trace belongs to single transforms"),
            (["--report", "absent/report.json"], "absent/report.json"),
        ):
            line = self.run_weft("homogenize", "case.json", *flags)
            self.assertIn(words, line.stderr)
            self.assertIn(line.returncode, (1, 2))
        self.assertIn("argument is missing", self.refuse("homogenize"))
        self.assertIn("CASE.json", self.succeed("homogenize", "--help"))


if __name__ == "__main__":
    unittest.main()
