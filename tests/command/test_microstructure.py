"""weft microstructure: volumes compared with geometry that is made again here, by the generator and the rules that
docs/microstructure.md tells, without any of the shortcuts."""

from __future__ import annotations

import itertools
import json
import math
import resource
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

from weft_case import HDF5, Case

WORD = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
    return z ^ (z >> 31)


class Random:
    """SplitMix64: one stream of a seed."""

    def __init__(self, seed: int, stream: int) -> None:
        self.state = mix((mix((seed + STEP) & WORD) + STEP * stream) & WORD)

    def unit(self) -> float:
        self.state = (self.state + STEP) & WORD
        return (mix(self.state) >> 11) * 2.0**-53

    def signed(self) -> float:
        return 2 * self.unit() - 1

    def place(self, size: tuple[int, ...]) -> np.ndarray:
        return np.array([self.unit() * n for n in size])


def images(size: tuple[int, ...], reach: int = 1) -> np.ndarray:
    shifts = itertools.product(range(-reach, reach + 1), repeat=len(size))
    return np.array(list(shifts), float) * size


def centres(size: tuple[int, ...]) -> np.ndarray:
    return np.moveaxis(np.indices(size), 0, -1) + 0.5


def nearest_seeds(size: tuple[int, ...], seeds: np.ndarray) -> np.ndarray:
    at = centres(size)[..., None, :]
    distance = np.full((*size, len(seeds)), np.inf)
    for shift in images(size):
        distance = np.minimum(distance, ((at - seeds - shift) ** 2).sum(-1))
    return distance.argmin(-1)


def from_segments(points: np.ndarray, middle: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """Distances of points from segments middle + t arm, |t| <= 1."""
    off, square = points - middle, max((arm**2).sum(), 1e-300)
    t = np.clip((off * arm).sum(-1, keepdims=True) / square, -1, 1)
    return np.sqrt(((off - t * arm) ** 2).sum(-1))


def between_segments(p: np.ndarray, u: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Of one segment and many others: the least of a convex function of one place, by ternary search."""
    low, high = np.full((len(q), 1), -1.0), np.full((len(q), 1), 1.0)

    def distance(s: np.ndarray) -> np.ndarray:
        off = p + s * u - q
        t = np.clip((off * v).sum(-1, keepdims=True) / np.maximum((v**2).sum(-1, keepdims=True), 1e-300), -1, 1)
        return np.sqrt(((off - t * v) ** 2).sum(-1, keepdims=True))

    for _ in range(80):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        left = distance(a) < distance(b)
        low, high = np.where(left, low, a), np.where(left, b, high)
    return distance((low + high) / 2)[:, 0]


def pack(size: tuple[int, ...], seed: int, count: int, least: float, half: float = 0.0,
         direction: tuple[float, ...] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Random sequential addition of segments that keep `least` from each other and from all images."""
    random, middles, arms = Random(seed, 1), np.zeros((0, len(size))), np.zeros((0, len(size)))
    shifts = images(size)
    while len(middles) < count:
        middle, arm = random.place(size), np.zeros(len(size))
        if half > 0 and direction is None:
            while True:
                arm = np.array([random.signed() for _ in size])
                if 1e-6 <= arm @ arm <= 1:
                    break
            arm *= half / math.sqrt(arm @ arm)
        elif half > 0:
            arm = half * np.array(direction)
        others = (middles[:, None, :] + shifts).reshape(-1, len(size))
        if len(others) == 0 or between_segments(middle, arm, others, np.repeat(arms, len(shifts), 0)).min() >= least:
            middles, arms = np.vstack([middles, middle]), np.vstack([arms, arm])
    return middles, arms


def inside(size: tuple[int, ...], middles: np.ndarray, arms: np.ndarray, radius: float) -> np.ndarray:
    """The number of the inclusion, from 1, that has each voxel's centre; 0: none."""
    labels = np.zeros(size, int)
    for number, (middle, arm) in reversed(list(enumerate(zip(middles, arms), 1))):
        for shift in images(size):
            labels[from_segments(centres(size), middle + shift, arm) <= radius] = number
    return labels


class Microstructure(Case):
    def make(self, kind: str, size: tuple[int, ...], *flags: object, name: str = "out.npy", ranks: int = 1) -> np.ndarray:
        self.said = self.succeed("microstructure", kind, name, "--size", "x".join(map(str, size)), *flags, ranks=ranks)
        return self.load(name)

    def test_laminates_have_their_layers(self) -> None:
        rows = [((5, 24, 2), 1, 3, (0.25, 0.5, 0.25)), ((10, 3, 4), 0, 1, (0.1, 0.9))]
        for size, axis, periods, fractions in rows:
            got = self.make("laminate", size, "--axis", axis, "--periods", periods, "--fractions", ",".join(map(str, fractions)))
            place = (2 * np.arange(size[axis]) + 1) * periods % (2 * size[axis]) / 2  # in layers of size[axis]
            layer = np.searchsorted(np.cumsum(fractions)[:-1] * size[axis], place, side="right")
            shape = [1, 1, 1]
            shape[axis] = -1
            np.testing.assert_array_equal(got, np.broadcast_to(layer.reshape(shape), size))
            self.assertEqual(got.dtype, np.uint8)
        self.assertIn("10x3x4", self.said)
        self.assertIn("2 phases", self.said)
        self.assertIn("label 0: 12 voxels, fraction 0.100000", self.said)

    def test_checkerboards_alternate(self) -> None:
        for size, flags, axes in [((8, 12), [], (0, 1)), ((8, 5, 4), ["--axis", 1], (0, 2))]:
            got = self.make("checkerboard", size, "--cell", 2, *flags)
            index = np.indices(size) // 2
            np.testing.assert_array_equal(got, sum(index[a] for a in axes) % 2)

    def test_random_voxels_have_exactly_their_fractions(self) -> None:
        volumes = [self.make("voxels", (30, 20, 11), "--fractions", "0.5,0.3,0.2", "--seed", seed) for seed in (1, 2)]
        for volume in volumes:
            np.testing.assert_array_equal(np.bincount(volume.ravel()), [3300, 1980, 1320])
            for axis in range(3):  # neighbours are alike as often as by chance, 0.38, within five deviations
                alike = np.mean(volume == np.roll(volume, 1, axis))
                self.assertLess(abs(alike - 0.38), 0.04)
        self.assertLess(abs(np.mean(volumes[0] == volumes[1]) - 0.38), 0.04)

    def test_each_voxel_of_a_polycrystal_belongs_to_the_nearest_seed(self) -> None:
        rows = [((12, 17, 20), 9, 5), ((30, 8, 9), 300, 6), ((25, 31), 2, 7)]
        for size, count, seed in rows:
            got = self.make("voronoi", size, "--count", count, "--seed", seed)
            random = Random(seed, 1)
            seeds = np.zeros((count, len(size)))
            for s in range(count):
                seeds[s] = [random.unit() * n if n > 1 else 0.5 for n in (*size, 1, 1)[: max(len(size), 3)]][: len(size)]
            np.testing.assert_array_equal(got, nearest_seeds(size, seeds))
            self.assertEqual(got.dtype, np.uint16 if count > 256 else np.uint8)

    def test_seeds_keep_a_gap(self) -> None:
        size = (16, 16, 16)
        seeds, _ = pack(size, 3, 10, 5.0)
        np.testing.assert_array_equal(self.make("voronoi", size, "--count", 10, "--gap", 5, "--seed", 3), nearest_seeds(size, seeds))

    def test_spheres_are_where_they_are_placed_and_do_not_overlap(self) -> None:
        size, radius, gap = (20, 24, 18), 3.25, 0.5
        middles, arms = pack(size, 11, 10, 2 * radius + gap)
        expected = inside(size, middles, arms, radius)
        flags = ["--radius", radius, "--count", 10, "--gap", gap, "--seed", 11]
        np.testing.assert_array_equal(self.make("spheres", size, *flags, "--distinct"), expected)
        # They are periodic: some are cut by a face, and go on behind the opposite one.
        self.assertTrue(((expected[0] > 0) & (expected[0] == expected[-1])).any())
        distances = [np.linalg.norm(a - b - s) for a, b in itertools.combinations(middles, 2) for s in images(size)]
        self.assertGreaterEqual(min(distances), 2 * radius + gap)

    def test_the_third_of_radius_count_and_fraction_follows(self) -> None:
        got = self.make("spheres", (64, 64, 64), "--fractions", 0.25, "--count", 12, "--gap", 1)
        self.assertIn("12 spheres of radius 10.92", self.said)
        self.assertLess(abs(got.mean() - 0.25), 0.002)
        got = self.make("spheres", (64, 64, 1), "--fractions", 0.3, "--radius", 5)
        self.assertIn("16 spheres of radius 5", self.said)  # discs
        self.assertLess(abs(got.mean() - 16 * math.pi * 25 / 64**2), 0.005)
        got = self.make("fibres", (40, 40, 40), "--fractions", 0.1, "--count", 9, "--length", 20, "--axis", "random")
        self.assertLess(abs(got.mean() - 0.1), 0.003)

    def test_fibres_go_on_along_their_axis(self) -> None:
        size = (16, 5, 18)
        got = self.make("fibres", size, "--radius", 2, "--count", 6, "--axis", 1, "--seed", 2, "--distinct")
        middles, arms = pack((16, 18), 2, 6, 4.0)
        expected = inside((16, 18), middles, arms, 2.0)
        np.testing.assert_array_equal(got, np.broadcast_to(expected[:, None, :], size))

    def test_fibres_that_end_keep_clear_of_each_other(self) -> None:
        size, radius, length, gap = (20, 22, 24), 1.5, 13.0, 0.25
        flags = ["--radius", radius, "--count", 14, "--length", length, "--gap", gap, "--seed", 4, "--distinct"]
        for axis, direction in [("random", None), ("2", (0, 0, 1))]:
            middles, arms = pack(size, 4, 14, 2 * radius + gap, length / 2 - radius, direction)
            expected = inside(size, middles, arms, radius)
            np.testing.assert_array_equal(self.make("fibres", size, *flags, "--axis", axis), expected)
        self.assertIn("14 fibres of radius 1.5 and length 13", self.said)

    def test_ranks_and_threads_make_the_same_volume(self) -> None:
        # Five ranks have no plane each along axis 0, so they share out axis 1.
        for kind, all_ranks, flags in [("voronoi", (2, 3, 5), ["--count", 30]), ("voxels", (3,), ["--fractions", "0.5,0.5"])]:
            alone = self.make(kind, (4, 31, 20), *flags)
            for ranks in all_ranks:
                more = self.make(kind, (4, 31, 20), *flags, "--threads", 2, name="more.npy", ranks=ranks)
                np.testing.assert_array_equal(more, alone)
                self.assertIn(f"on {ranks} ranks", self.said)

    def test_other_formats_and_a_report(self) -> None:
        middles, arms = pack((9, 8, 7), 0, 2, 4.0)
        expected = inside((9, 8, 7), middles, arms, 2.0) > 0
        flags = ["--size", "9x8x7", "--radius", 2, "--count", 2, "--quiet"]
        self.assertEqual(self.succeed("microstructure", "spheres", "out.raw", *flags, "--report", "r.json"), "")
        np.testing.assert_array_equal(np.fromfile(self.folder / "out.raw", "u1").reshape(9, 8, 7), expected)
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual([phase["voxels"] for phase in report["phases"]], np.bincount(expected.ravel()).tolist())
        self.assertEqual((report["kind"], report["output"]["shape"], report["seed"]), ("spheres", [9, 8, 7], "0"))
        if HDF5:
            self.succeed("microstructure", "spheres", "out.h5:/labels", *flags, ranks=2)
            self.succeed("transform", "out.h5:/labels", "a.npy")
            self.assert_close(self.load("a.npy"), np.fft.rfftn(expected))

    def test_orientations_are_uniform_rotations(self) -> None:
        self.make("voronoi", (4, 4, 4), "--count", 4000, "--seed", 5, "--orientations", "o.json")
        phases = json.loads((self.folder / "o.json").read_text())["phases"]
        self.assertEqual([phase["label"] for phase in phases], list(range(4000)))
        rotation = np.array([phase["rotation"] for phase in phases])
        np.testing.assert_allclose(rotation @ rotation.transpose(0, 2, 1), np.broadcast_to(np.eye(3), rotation.shape), atol=1e-14)
        np.testing.assert_allclose(np.linalg.det(rotation), 1, atol=1e-14)
        # Uniform by Haar's measure: each element is uniform in [-1, 1] (Archimedes), so its mean is 0 and that of its
        # square 1/3; the angle has the density (1 - cos w) / pi, so that the mean of the trace, 1 + 2 cos w, is 0.
        self.assertLess(abs(rotation.mean(0)).max(), 0.05)
        self.assertLess(abs((rotation**2).mean(0) - 1 / 3).max(), 0.025)
        self.assertLess(abs(np.trace(rotation, axis1=1, axis2=2).mean()), 0.08)
        # The first grain by hand: Marsaglia's point of the sphere in four dimensions, w x y z.
        random, disc = Random(5, 1 << 20), []
        while len(disc) < 2:
            x, y = random.signed(), random.signed()
            if 1e-12 <= x * x + y * y < 1:
                disc.append((x, y))
        (w, x), (y, z) = disc
        scale = math.sqrt((1 - w * w - x * x) / (y * y + z * z))
        self.assertAlmostEqual(rotation[0][1][0], 2 * (x * y * scale + w * z * scale), places=14)

    def test_the_example_of_a_polycrystal_has_a_material_for_each_grain(self) -> None:
        self.make("voronoi", (8, 8, 8), "--count", 20, "--orientations", "o.json")
        grains = json.loads((self.folder / "o.json").read_text())["phases"]
        (self.folder / "cases").mkdir()
        script = Path(__file__).parents[2] / "examples" / "polycrystal.py"
        line = [sys.executable, script, "copper", "out.npy", "o.json", "cases/case.json"]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, text=True, check=True)
        # Hill's bounds of copper: 137.1, 40.0 and 54.6 GPa.
        self.assertEqual(done.stdout, "20 grains of copper: K 137.07 GPa, G between 40.03 (Reuss) and 54.64 (Voigt)\n")
        case = json.loads((self.folder / "cases/case.json").read_text())
        self.assertEqual(case["labels"], "../out.npy")
        self.assertEqual([phase["rotation"] for phase in case["phases"]], [grain["rotation"] for grain in grains])
        self.assertEqual([phase["label"] for phase in case["phases"]], list(range(20)))
        stiffness = np.array(case["phases"][7]["stiffness"])
        np.testing.assert_allclose(np.linalg.eigvalsh(stiffness), [47.0, 47.0, 75.4, 75.4, 75.4, 411.2])

    def test_mistakes_are_one_sentence(self) -> None:
        size = ["--size", "16x16x16"]
        rows = [
            (["cubes", "out.npy", *size], "cubes is not a kind"),
            (["spheres", "out.npy"], "--size"),
            (["spheres", "out.npy", *size, "--radius", "nan", "--count", "1"], "above 0"),
            (["spheres", "out.npy", *size, "--radius", "1", "--count", "1", "--cell", "2"], "--cell: spheres has no use"),
            (["fibres", "out.npy", "--size", "9x9", "--radius", "1", "--count", "2", "--axis", "2"], "2 axes"),
            (["laminate", "out.npy", *size, "--fractions", "0.5,0.5", "--axis", "random"], "belongs to fibres"),
            (["voxels", "out.npy", *size, "--fractions", "1", "--seed", "-1"], "--seed -1"),
            (["voxels", "out.npy", *size, "--fractions", "1", "--orientations", "o.json"], "no grains"),
            (["voronoi", "out.npy", *size, "--count", "2", "--device", "cuda"], "is not a flag of weft microstructure"),
            (["voronoi", "out.npy", *size, "--count", "2", "--orientations", "no/o.json"], "no/o.json"),
        ]
        for arguments, words in rows:
            with self.subTest(arguments=arguments):
                done = self.run_weft("microstructure", *arguments)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(self.names(), [])
        self.refuse("microstructure", "spheres", "out.npy", *size, "--radius", "3", "--fractions", "0.7", ranks=3)
        self.assertEqual(self.names(), [])

    def test_a_volume_that_cannot_be_written_leaves_nothing(self) -> None:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (24 << 20, 24 << 20))  # MPI needs some for itself

        flags = ["--size", "320x320x320", "--count", 300, "--orientations", "o.json"]
        self.refuse("microstructure", "voronoi", "out.npy", *flags, status=1, preexec_fn=limit)
        self.assertEqual(self.names(), [])


if __name__ == "__main__":
    unittest.main()
