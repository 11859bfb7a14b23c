"""Random transforms, and what NumPy makes of them in double precision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

REAL_INPUT = ("rfft", "rfftn", "rfft2", "ihfft")
COMPLEX_OUTPUT = ("fft", "ifft", "fftn", "ifftn", "fft2", "ifft2", *REAL_INPUT)
NAMES = (*COMPLEX_OUTPUT, "irfft", "irfftn", "irfft2", "hfft")
TYPES = ("f4", "f8", "c8", "c16", ">f8", ">c8", "i2", "u1", "?", "f2")


@dataclass
class Case:
    name: str
    array: np.ndarray
    keywords: dict[str, Any] = field(default_factory=dict)

    def expected(self) -> np.ndarray:
        wide = self.array.astype("c16" if self.array.dtype.kind == "c" else "f8")
        return getattr(np.fft, self.name)(wide, **self.keywords)

    def is_single(self) -> bool:
        return self.array.dtype.newbyteorder("=") in (np.float16, np.float32, np.complex64)

    def tolerance(self) -> float:
        points = max(self.array.size, self.expected().size, 2)
        return (1e-6 if self.is_single() else 2e-15) * np.log2(points) * 4


def random_array(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    values = rng.standard_normal(shape)
    if "c" in dtype:
        values = values + 1j * rng.standard_normal(shape)
    elif dtype in ("i2", "u1", "?"):
        values = np.abs(values * 50)
    return values.astype(dtype)


def strided(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """The same shape with other strides: steps, reversed axes, axes in another order."""
    order = rng.permutation(array.ndim)
    steps = rng.choice([-2, -1, 1, 2, 3], array.ndim)
    base = np.empty([array.shape[a] * abs(steps[a]) for a in order], array.dtype)
    view = base.transpose(np.argsort(order))[tuple(slice(None, None, int(s)) for s in steps)]
    view = view[tuple(slice(0, n) for n in array.shape)]
    view[...] = array
    return view


def random_case(rng: np.random.Generator) -> Case:
    name = str(rng.choice(NAMES))
    types = [t for t in TYPES if "c" not in t] if name in REAL_INPUT else TYPES
    ndim = int(rng.integers(2 if name.endswith("2") else 1, 5))
    low = 2 if name in ("irfft", "irfftn", "irfft2", "hfft") else 1
    shape = tuple(int(n) for n in rng.integers(low, 24 if ndim < 3 else 9, ndim))
    array = random_array(rng, shape, str(rng.choice(types)))
    if rng.random() < 0.5:
        array = strided(rng, array)
    keywords: dict[str, Any] = {"norm": rng.choice([None, "backward", "ortho", "forward"])}
    if name.endswith(("2", "n")):
        count = 2 if name.endswith("2") else int(rng.integers(1, ndim + 1))
        axes = tuple(int(a) for a in rng.permutation(ndim)[:count] - ndim * rng.integers(0, 2))
        keywords["axes"] = axes
        if rng.random() < 0.5:
            keywords["s"] = tuple(int(n) for n in rng.integers(1, 20, count))
    else:
        keywords["axis"] = int(rng.integers(-ndim, ndim))
        if rng.random() < 0.5:
            keywords["n"] = int(rng.integers(1, 40))
    return Case(name, array, keywords)
