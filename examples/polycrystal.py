"""A polycrystal of copper or iron as a case for homogenization: each grain a cubic crystal, turned at random.

    weft microstructure voronoi grains.npy --size 64x64x64 --count 100 --orientations grains.json --seed 1
    python3 polycrystal.py copper grains.npy grains.json case.json

The case gives each label the crystal's stiffness, a 6 x 6 matrix in Voigt's notation in GPa, and the rotation of its grain from
the crystal's axes to the volume's. An aggregate of many grains without texture is isotropic; its moduli lie between the bounds
of Reuss and Voigt, which this prints.
"""

import json
import os
import sys

# C11, C12, C44 in GPa at 300 K.
CRYSTALS = {
    "copper": (168.4, 121.4, 75.4),  # Overton and Gaffney, Phys. Rev. 98, 969 (1955)
    "iron": (231.4, 134.6, 116.4),  # Rayne and Chandrasekhar, Phys. Rev. 122, 1714 (1961)
}


def cubic(c11: float, c12: float, c44: float) -> list[list[float]]:
    normal = [[c11 if i == j else c12 for j in range(3)] + [0.0] * 3 for i in range(3)]
    return normal + [[c44 if j == i + 3 else 0.0 for j in range(6)] for i in range(3)]


def bounds(c11: float, c12: float, c44: float) -> tuple[float, float, float]:
    """Bulk modulus, and the shear modulus by Reuss and by Voigt (Hill, Proc. Phys. Soc. A 65, 349 (1952))."""
    reuss = 5 * (c11 - c12) * c44 / (4 * c44 + 3 * (c11 - c12))
    return (c11 + 2 * c12) / 3, reuss, (c11 - c12 + 3 * c44) / 5


def main() -> None:
    if len(sys.argv) != 5 or sys.argv[1] not in CRYSTALS:
        sys.exit("usage: polycrystal.py copper|iron LABELS.npy ORIENTATIONS.json CASE.json")
    metal, labels, orientations, case = sys.argv[1:]
    with open(orientations) as file:
        grains = json.load(file)["phases"]
    crystal = {"stiffness": cubic(*CRYSTALS[metal]), "notation": "voigt"}
    # Paths in a case count from its folder.
    path = os.path.relpath(labels, os.path.dirname(case) or ".")
    with open(case, "w") as file:
        json.dump({"labels": path, "phases": [grain | crystal for grain in grains]}, file)
    bulk, reuss, voigt = bounds(*CRYSTALS[metal])
    print(f"{len(grains)} grains of {metal}: K {bulk:.2f} GPa, G between {reuss:.2f} (Reuss) and {voigt:.2f} (Voigt)")


if __name__ == "__main__":
    main()
