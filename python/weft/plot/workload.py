"""What a problem costs at least: points, operations, bytes; and how shapes are written.

Operations are benchFFT's convention: 5 N log2 N for a complex transform of N points, half of it for a real one, times
the batch. The least bytes are min(axes, 2) trips through memory, each reading and writing the array once: one axis at a
time needs one trip per axis, and two of three axes fit a plane into the cache.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
UNIT_ROUNDOFF = {"double": 2.0**-53, "single": 2.0**-24, "half": 2.0**-11}
WORD = {"double": 8, "single": 4, "half": 2}  # bytes of a real number


@cache
def extents(shape: str) -> tuple[int, ...]:
    """The extents that a shape such as 256x256x128 names."""
    return tuple(int(part) for part in shape.split("x"))


@cache
def points(shape: str) -> int:
    """Elements of one array in real space."""
    product = 1
    for extent in extents(shape):
        product *= extent
    return product


@cache
def shape_label(shape: str) -> str:
    """A shape as people write it: 128³, 128²×256, 243×250×252; a line of 2^20 points is 2²⁰."""
    sizes = extents(shape)
    if len(sizes) == 1:
        exponent = sizes[0].bit_length() - 1
        return power_of_two(exponent) if sizes[0] == 1 << exponent > 1 else str(sizes[0])
    parts: list[str] = []
    position = 0
    while position < len(sizes):
        run = 1
        while position + run < len(sizes) and sizes[position + run] == sizes[position]:
            run += 1
        parts.append(str(sizes[position]) + (str(run).translate(_SUPERSCRIPTS) if run > 1 else ""))
        position += run
    return "×".join(parts)


@cache
def flops(shape: str, kind: str, batch: int) -> float:
    """Operations of a transform in benchFFT's convention."""
    count = points(shape)
    return (5.0 if kind == "c2c" else 2.5) * count * float(np.log2(count)) * batch


@cache
def array_bytes(shape: str, kind: str, precision: str, batch: int) -> tuple[int, int]:
    """Bytes of the whole input and output (of the forward transform), all ranks together."""
    word = WORD[precision]
    count = points(shape)
    if kind == "c2c":
        return 2 * word * count * batch, 2 * word * count * batch
    if kind != "r2c":  # real to real
        return word * count * batch, word * count * batch
    last = extents(shape)[-1]
    return word * count * batch, 2 * word * (count // last) * (last // 2 + 1) * batch


def power_of_two(exponent: int) -> str:
    """2²⁰."""
    return f"2{str(exponent).translate(_SUPERSCRIPTS)}"


def ten_to_the(exponent: int) -> str:
    """10⁻¹⁶."""
    return f"10{str(exponent).translate(_SUPERSCRIPTS)}"


def trips(shape: str) -> int:
    """The least number of times that the array passes through memory."""
    return min(len(extents(shape)), 2)


def least_bytes(shape: str, kind: str, precision: str, batch: int) -> int:
    """Bytes moved at least, all ranks together: each trip reads and writes the array once."""
    return trips(shape) * sum(array_bytes(shape, kind, precision, batch))


def add_work(cells: pd.DataFrame) -> pd.DataFrame:
    """Adds axes, points, flops, array_bytes (input + output) and least_bytes to a table of cells, in place."""
    shape, kind, precision = (cells[name].astype(str) for name in ("shape", "kind", "precision"))
    problems = list(zip(shape, kind, precision, cells["batch"].astype(int)))
    cells["axes"] = [len(extents(s)) for s, _, _, _ in problems]
    cells["points"] = [points(s) for s, _, _, _ in problems]
    cells["flops"] = [flops(s, k, b) for s, k, _, b in problems]
    cells["array_bytes"] = [sum(array_bytes(*problem)) for problem in problems]
    cells["least_bytes"] = [least_bytes(*problem) for problem in problems]
    return cells


def error_scale(precision: str, count: float) -> float:
    """u sqrt(log2 N): how the error of a good FFT grows."""
    return UNIT_ROUNDOFF[precision] * float(np.sqrt(max(np.log2(count), 1.0)))


def error_bound(precision: str, count: float) -> float:
    """Above this a result is wrong: 20 u (1 + sqrt(log2 N))."""
    return 20 * UNIT_ROUNDOFF[precision] * (1 + float(np.sqrt(np.log2(count))))
