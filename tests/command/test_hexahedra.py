"""weft homogenize with hexahedra against an assembled stiffness, upper bounds, Willot's scheme and other numbers of ranks."""

from __future__ import annotations

import json
import unittest

import numpy as np

from weft_case import HDF5, Case

COPPER = np.diag([168.4] * 3 + [2 * 75.4] * 3)  # in Mandel's notation
COPPER[:3, :3] += 121.4 * (1 - np.eye(3))
PAIRS = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
CORNERS = np.array(list(np.ndindex(2, 2, 2)))


def isotropic(lame: float, mu: float) -> np.ndarray:
    return np.pad(np.full((3, 3), lame), (0, 3)) + 2 * mu * np.eye(6)


def gradients(edges: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Strains in Mandel's notation, or gradients below them, of the eight shape functions at a point: [6 + 3][8][3]."""
    sign = 2 * CORNERS - 1
    factors = (1 + sign * at) / 2
    slope = np.stack([sign[:, a] / edges[a] * np.delete(factors, a, 1).prod(1) for a in range(3)], 1)
    strain = np.zeros((9, 8, 3))
    for row, (a, b) in enumerate(PAIRS):
        strain[row, :, a] += slope[:, b] / (1 if a == b else 2**0.5)
        strain[row, :, b] += slope[:, a] / 2**0.5 if a != b else 0
    strain[6:, :, 0] = slope.T
    return strain


class Assembled:
    """The periodic stiffness of a volume, integrated by 2 x 2 x 2 Gauss points and solved directly: the effective
    stiffness (or conductivity), and the mean strain of each voxel under every unit strain."""

    def __init__(self, volume: np.ndarray, laws: list[np.ndarray], edges: np.ndarray) -> None:
        n, size = volume.shape, laws[0].shape[0]
        d = size // 2 if size == 6 else 1
        rows = slice(0, 6) if size == 6 else slice(6, 9)
        points = [(2 * np.array(p) - 1) / 3**0.5 for p in np.ndindex(2, 2, 2)]
        strains = [gradients(edges, p)[rows, :, :d].reshape(size, -1) for p in points]
        mean = np.mean(strains, axis=0)
        whole, forces = np.zeros((volume.size * d,) * 2), np.zeros((volume.size * d, size))
        places = {}
        for voxel in np.ndindex(*n):
            law = laws[volume[voxel]]
            nodes = np.ravel_multi_index(tuple(((voxel + CORNERS) % n).T), n)
            at = places[voxel] = (d * nodes[:, None] + np.arange(d)).ravel()
            np.add.at(whole, (at[:, None], at), np.mean([b.T @ law @ b for b in strains], axis=0))
            np.add.at(forces, at, mean.T @ law)
        u = -np.linalg.lstsq(whole, forces, rcond=1e-12)[0]
        average = sum(laws[label] for label in volume.flat)
        self.effective = (average + forces.T @ u) / volume.size
        self.strain = np.zeros((size, size, *n))  # component, load, voxel
        for voxel, at in places.items():
            self.strain[(..., *voxel)] = np.eye(size) + mean @ u[at]


class Hexahedra(Case):
    def homogenize(self, volume: np.ndarray, phases: list, *flags: str, ranks: int = 1, **more: object) -> dict:
        self.save("volume.npy", volume.astype("u1"))
        case = {"labels": "volume.npy", "phases": phases, "discretization": "hexahedra"} | more
        (self.folder / "case.json").write_text(json.dumps(case))
        self.succeed("homogenize", "case.json", "--report", "report.json", *flags, ranks=ranks)
        return json.loads((self.folder / "report.json").read_text())

    def crystals(self) -> tuple[list, list[np.ndarray]]:
        """Phases, and their stiffness: a soft one, a stiff one, and one without any symmetry."""
        random = np.random.default_rng(8).standard_normal((6, 6))
        laws = [isotropic(1, 1), isotropic(10, 7), random @ random.T + np.eye(6)]
        phases = [
            {"label": label, "stiffness": law.tolist(), "notation": "mandel"} for label, law in enumerate(laws)
        ]
        return phases, laws

    def check_loads(self, report: dict) -> None:
        shares = [phase["volume_fraction"] for phase in report["phases"]]
        for load in report["loads"]:
            self.assertLess(load["hill_mandel_error"], 1e-10)
            for field in ("strain", "stress"):
                total = sum(f * np.array(phase[field]) for f, phase in zip(shares, load["phases"]))
                np.testing.assert_allclose(total, load[field], rtol=0, atol=1e-11 * (1 + abs(total).max()))

    # ---- an assembled stiffness ----

    def test_the_stiffness_is_that_of_an_assembly(self) -> None:
        """With voxels that are no cubes, one and two voxels along an axis, on slabs and on pencils."""
        phases, laws = self.crystals()
        rows = (
            ((4, 3, 5), (4, 1.5, 10), 1, ()),
            ((4, 3, 5), (4, 3, 5), 4, ("--decomposition", "pencil", "--grid", "2x2")),
            ((1, 4, 3), (2, 4, 3), 1, ()),
            ((2, 1, 6), (2, 1, 6), 3, ()),
            ((2, 2, 2), (2, 4, 2), 1, ("--threads", "2")),
        )
        for shape, length, ranks, flags in rows:
            with self.subTest(shape=shape, ranks=ranks):
                volume = np.resize([0, 1, 2, 1, 0, 2, 2, 0], shape)
                np.random.default_rng(9).shuffle(volume.reshape(-1))
                expected = Assembled(volume, laws, np.divide(length, shape)).effective
                report = self.homogenize(volume, phases, *flags, ranks=ranks, length=length, tolerance=1e-12)
                found = np.array(report["effective"]["stiffness_mandel"])
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * abs(expected).max())
                self.assertLess(report["asymmetry"], 1e-11)
                self.check_loads(report)
        single = self.homogenize(volume, phases, length=length, precision="single", tolerance=1e-5)
        found = np.array(single["effective"]["stiffness_mandel"])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * abs(expected).max())

    def test_the_conductivity_is_that_of_an_assembly(self) -> None:
        laws = [np.eye(3), 9 * np.eye(3), np.array([[4, 1, 0], [1, 3, 0], [0, 0, 2.0]])]
        phases = [{"label": label, "conductivity": law.tolist()} for label, law in enumerate(laws)]
        volume = np.random.default_rng(10).integers(0, 3, (5, 3, 4))
        expected = Assembled(volume, laws, np.array([1, 0.5, 2])).effective
        more = {"physics": "conduction", "length": [5, 1.5, 8], "tolerance": 1e-12}
        report = self.homogenize(volume, phases, **more)
        np.testing.assert_allclose(report["effective"]["conductivity"], expected, rtol=0, atol=1e-11)
        threads = self.homogenize(volume, phases, "--threads", "3", **more)
        self.assertEqual(threads["effective"], report["effective"])

    @unittest.skipUnless(HDF5, "no parallel HDF5")
    def test_fields_are_means_of_the_elements(self) -> None:
        phases, laws = self.crystals()
        volume = np.random.default_rng(11).integers(0, 3, (3, 4, 5))
        expected = Assembled(volume, laws, np.ones(3)).strain[:, 1] / np.array([1, 1, 1, 2, 2, 2])[:, None, None, None] ** 0.5
        load = {"strain": [0, 1, 0, 0, 0, 0]}
        self.homogenize(volume, phases, ranks=2, fields="f.h5", load=load, tolerance=1e-12)
        self.succeed("transform", "f.h5:/strain", "s.npy", "--axes", "none,none,none,fft")
        found = np.fft.irfft(self.load("s.npy"), 5, axis=3)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)

    # ---- bounds ----

    def test_a_homogeneous_medium_needs_no_iteration(self) -> None:
        phase = {"label": 0, "stiffness": COPPER.tolist(), "notation": "mandel"}
        report = self.homogenize(np.zeros((4, 5, 6)), [phase])
        self.assertEqual([load["iterations"] for load in report["loads"]], [0] * 6)
        np.testing.assert_allclose(report["effective"]["stiffness_mandel"], COPPER, atol=1e-11)

    def test_hourglasses_make_it_stiffer_than_one_gauss_point(self) -> None:
        phases, _ = self.crystals()
        for shape in ((4, 6, 4), (5, 3, 5)):
            volume = np.random.default_rng(12).integers(0, 3, shape)
            hexahedra, willot = (
                np.array(
                    self.homogenize(volume, phases, discretization=scheme, tolerance=1e-11)["effective"]["stiffness_mandel"]
                )
                for scheme in ("hexahedra", "willot")
            )
            differences = np.linalg.eigvalsh(hexahedra - willot)
            self.assertGreater(differences.min(), -1e-9)
            self.assertGreater(differences.max(), 1e-3)

    def falls_to(self, exact: float, found: list[float]) -> None:
        """As energies of finer and finer elements do, from above; the error falls with the edge at least."""
        errors = np.array(found) - exact
        self.assertGreater(errors[-1], 0)
        for coarse, fine in zip(errors, errors[1:]):
            self.assertLess(fine, 0.6 * coarse)

    def test_finer_elements_fall_to_hills_modulus(self) -> None:
        """Where G is the same everywhere, of any structure, here of random voxels that are cut into smaller ones."""
        volume = np.resize([0, 1], (2, 3, 2))
        np.random.default_rng(13).shuffle(volume.reshape(-1))
        phases = [{"label": 0, "K": 1, "G": 1}, {"label": 1, "K": 10, "G": 1}]
        found = []
        for times in (1, 2, 4):
            finer = volume.repeat(times, 0).repeat(times, 1).repeat(times, 2)
            report = self.homogenize(finer, phases, load={"strain": [1, 1, 1, 0, 0, 0]}, tolerance=1e-9)
            found.append(sum(report["loads"][0]["stress"][:3]) / 9)
        self.falls_to(2.536585365854, found)

    def test_finer_elements_fall_to_the_checkerboards_conductivity(self) -> None:
        phases = [{"label": 0, "conductivity": 1}, {"label": 1, "conductivity": 4}]
        found = []
        for n in (4, 16):
            i = np.arange(n) // (n // 2)
            volume = ((i[:, None] + i) % 2)[:, :, None]
            report = self.homogenize(volume, phases, physics="conduction", load={"gradient": [1, 0, 0]}, tolerance=1e-9)
            found.append(report["loads"][0]["flux"][0])
        self.falls_to(2, found)

    def test_iterations_do_not_grow_with_the_contrast(self) -> None:
        """Of random voxels, whose hard and soft ones are both connected; one Gauss point takes thousands."""
        volume = np.random.default_rng(14).integers(0, 2, (8, 8, 8))
        found = []
        for contrast in (1e3, 1e6):
            phases = [{"label": 0, "K": 1, "G": 1}, {"label": 1, "K": contrast, "G": contrast}]
            report = self.homogenize(volume, phases, load={"strain": [1, 0, 0, 0, 0, 0]})
            found.append(report["loads"][0]["iterations"])
        self.assertLess(max(found), 80)
        self.assertLess(abs(found[1] - found[0]), 5)

    # ---- failures ----

    def test_what_is_refused(self) -> None:
        phases, _ = self.crystals()
        self.homogenize(np.zeros((2, 2, 2)), phases[:1])
        case = json.loads((self.folder / "case.json").read_text())
        for more, words in (
            ({"solver": "basic"}, "case.json: solver: basic has strains as its vectors"),
            ({"convolution": {"method": "samples"}}, "convolution.method: samples are for elasticity on the staggered"),
        ):
            (self.folder / "case.json").write_text(json.dumps(case | more))
            self.assertIn(words, self.refuse("homogenize", "case.json"))


if __name__ == "__main__":
    unittest.main()
