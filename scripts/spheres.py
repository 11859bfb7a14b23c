#!/usr/bin/env python3
"""Writes a periodic cube of labels: 1 in spheres that do not overlap, 0 elsewhere.

Usage: scripts/spheres.py FILE.npy --edge 64 --count 30 --radius 8 --seed 1
"""

from __future__ import annotations

import argparse

import numpy as np


def place(edge: int, count: int, radius: float, seed: int) -> np.ndarray:
    """Centres, each at random, and again where it would overlap another or its images."""
    rng = np.random.default_rng(seed)
    centres = np.empty((0, 3))
    for _ in range(1000 * count):
        if len(centres) == count:
            return centres
        centre = rng.uniform(0, edge, 3)
        apart = abs(centres - centre)
        apart = np.minimum(apart, edge - apart)
        if ((apart**2).sum(1) >= (2 * radius) ** 2).all():
            centres = np.vstack([centres, centre])
    raise SystemExit(f"spheres.py: {count} spheres of radius {radius} do not fit; give fewer, or smaller ones")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--edge", type=int, default=64, help="voxels along each axis")
    parser.add_argument("--count", type=int, default=30, help="spheres")
    parser.add_argument("--radius", type=float, default=8, help="in voxels")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    middle = np.arange(given.edge) + 0.5
    labels = np.zeros((given.edge,) * 3, "u1")
    for centre in place(given.edge, given.count, given.radius, given.seed):
        apart = [abs(middle - c) for c in centre]
        x, y, z = (np.minimum(a, given.edge - a) ** 2 for a in apart)
        labels[x[:, None, None] + y[:, None] + z <= given.radius**2] = 1
    np.save(given.file, labels)
    print(f"{given.file}: {given.count} spheres, {100 * labels.mean():.2f} % of the volume")


if __name__ == "__main__":
    main()
