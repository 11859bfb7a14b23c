#!/usr/bin/env python3
"""Writes a periodic polycrystal of copper, Voronoi cells with random orientations, as a case of weft homogenize.

Usage: scripts/polycrystal.py FOLDER --edge 48 --grains 100 --seed 3     writes FOLDER/copper.npy and copper.json
Single-crystal constants: Overton and Gaffney, Phys. Rev. 98, 969, 1955 (300 K).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

C11, C12, C44 = 168.4, 121.4, 75.4  # GPa


def voronoi(edge: int, grains: int, rng: np.random.Generator) -> np.ndarray:
    """The number of the nearest of random points, of which each has its images around."""
    at = np.stack(np.meshgrid(*[np.arange(edge) + 0.5] * 3, indexing="ij"), -1)
    nearest = np.full((edge,) * 3, np.inf)
    labels = np.zeros((edge,) * 3, "u2")
    for label, point in enumerate(rng.uniform(0, edge, (grains, 3))):
        apart = abs(at - point)
        distance = (np.minimum(apart, edge - apart) ** 2).sum(-1)
        labels[distance < nearest] = label
        nearest = np.minimum(distance, nearest)
    return labels


def orientation(rng: np.random.Generator) -> list[float]:
    """Bunge's Euler angles, all orientations being as likely."""
    phi1, phi2 = rng.uniform(0, 360, 2)
    return [phi1, float(np.degrees(np.arccos(rng.uniform(-1, 1)))), phi2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--edge", type=int, default=48, help="voxels along each axis")
    parser.add_argument("--grains", type=int, default=100)
    parser.add_argument("--seed", type=int, default=3)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    np.save(given.folder / "copper.npy", voronoi(given.edge, given.grains, rng))
    stiffness = np.diag([C11 - C12] * 3 + [C44] * 3) + np.pad(np.full((3, 3), C12), (0, 3))
    phases = [
        {"label": label, "stiffness": stiffness.tolist(), "notation": "voigt", "rotation": orientation(rng)}
        for label in range(given.grains)
    ]
    case = {"labels": "copper.npy", "phases": phases}
    (given.folder / "copper.json").write_text(json.dumps(case, indent=1) + "\n")


if __name__ == "__main__":
    main()
