"""Convolutions with a small kernel, chunk by chunk, and filters by a function of the frequency."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

import weft.fft
from weft.dask import _labelled
from weft.dask._transforms import fourier
from weft.fft import _axes

_MODES = ("full", "same", "valid")


def convolve(x: Any, kernel: Any, mode: str = "full", axes: Any = None, *, workers: Any = None) -> Any:
    """The linear convolution of a Dask array with a NumPy array, as scipy.signal.oaconvolve's.

    `kernel` has as many axes as x, and one point along those that are not in `axes` (all by default). Each chunk is
    convolved with the kernel by itself, together with as many points of its neighbours as the kernel has, so the kernel
    should be smaller than the chunks.
    """
    if mode not in _MODES:
        raise ValueError(f"mode is {mode!r}; give one of {', '.join(_MODES)}")
    array, points = da.asarray(x), np.asarray(kernel)
    if points.ndim != array.ndim:
        raise ValueError(f"the kernel has {points.ndim} axes, and the array {array.ndim}")
    chosen, _ = _axes.several_axes(array.shape, None, axes)
    for axis in range(array.ndim):
        if axis not in chosen and points.shape[axis] != 1:
            raise ValueError(f"the kernel has more than one point along axis {axis}, which is not convolved")
        if points.shape[axis] < 1 or (mode == "valid" and points.shape[axis] > array.shape[axis]):
            raise ValueError(f"axis {axis}: a kernel of {points.shape[axis]} points for {array.shape[axis]} of the array")
    reach = [points.shape[a] - 1 if a in chosen else 0 for a in range(array.ndim)]
    full = _whole_convolution(array, points, reach, workers)
    return full[tuple(_kept(mode, n, r) for n, r in zip(array.shape, reach))]


def _kept(mode: str, n: int, reach: int) -> slice:
    if mode == "full":
        return slice(None)
    return slice(reach, n) if mode == "valid" else slice(reach // 2, reach // 2 + n)


def _whole_convolution(array: Any, kernel: Any, reach: list[int], workers: Any) -> Any:
    """Chunk [i, j) of the result needs points i .. j + reach - 1 of the array with `reach` zeros before and behind it."""
    axes = tuple(a for a, r in enumerate(reach) if r > 0)
    dtype = np.result_type(array.dtype, kernel.dtype, np.float32)
    if not axes:
        return array.astype(dtype) * kernel.astype(dtype)
    sizes = tuple(_cut(n + r, max(chunks), r) for n, r, chunks in zip(array.shape, reach, array.chunks))
    padded = da.pad(array, [(r, r) for r in reach])
    behind = tuple((*c[:-1], c[-1] + r) for c, r in zip(sizes, reach))  # the last chunk holds the zeros behind
    depth = {a: (0, r) for a, r in enumerate(reach)}
    overlapped = da.overlap.overlap(
        padded.rechunk(behind), depth=depth, boundary=dict.fromkeys(depth, "none"), allow_rechunk=False
    )
    meta = np.empty((0,) * array.ndim, dtype)
    return da.map_blocks(_valid, overlapped, kernel.astype(dtype), axes, workers, chunks=sizes, dtype=dtype, meta=meta)


def _cut(n: int, size: int, reach: int) -> tuple[int, ...]:
    """n points in chunks of about `size`, none smaller than what a neighbour needs of it."""
    count = max(1, n // max(size, reach, 1))
    return tuple(n * (i + 1) // count - n * i // count for i in range(count))


def _valid(block: Any, kernel: Any, axes: tuple[int, ...], workers: Any) -> Any:
    """The points of a convolution for which the block has all neighbours."""
    real = block.dtype.kind != "c" and kernel.dtype.kind != "c"
    sizes = [weft.fft.next_fast_len(block.shape[a], real and a == axes[-1]) for a in axes]
    if real:
        spectrum = weft.fft.rfftn(block.astype(kernel.dtype, copy=False), sizes, axes, workers=workers)
        spectrum *= weft.fft.rfftn(kernel, sizes, axes, workers=workers)
        whole = weft.fft.irfftn(spectrum, sizes, axes, workers=workers)
    else:
        spectrum = weft.fft.fftn(block.astype(kernel.dtype, copy=False), sizes, axes, workers=workers)
        spectrum *= weft.fft.fftn(kernel, sizes, axes, workers=workers)
        whole = weft.fft.ifftn(spectrum, sizes, axes, workers=workers)
    return whole[tuple(slice(kernel.shape[a] - 1, block.shape[a]) for a in range(block.ndim))]


def spectral_filter(
    x: Any, function: Callable[..., Any], axes: Any = None, spacing: Any = None, *, workers: Any = None
) -> Any:
    """Multiplies the spectrum of a Dask array, or of a DataArray, by a function of the frequency and transforms back.

    `function` gets an array of frequencies for each of the axes (all by default), in cycles for each unit of the
    spacing, shaped for broadcasting, and returns the factors. A real array is taken to be filtered by a function whose
    values at opposite frequencies are conjugates, so it stays real, and only half of the spectrum is computed. spacing: the
    distance of neighbouring points, one for all axes or one each; by default that of the coordinates, or 1.
    """
    labelled = _labelled.is_labelled(x)
    array = da.asarray(x.data if labelled else x)
    chosen, _ = _axes.several_axes(array.shape, None, _labelled.numbers(x, axes))
    if not chosen:
        raise ValueError("give at least one axis")
    steps = _spacings(x, chosen, spacing)
    kind = "fft" if array.dtype.kind == "c" else "rfft"
    n: list[int | None] = [array.shape[a] for a in chosen]
    spectrum = fourier(kind, False, array, chosen, n, None, workers)
    meta = np.empty((0,) * array.ndim, spectrum.dtype)
    shape = array.shape
    filtered = da.map_blocks(
        _multiply, spectrum, function, chosen, [shape[a] for a in chosen], steps, kind, dtype=spectrum.dtype, meta=meta
    )
    result = fourier(kind, True, filtered, chosen, n, None, workers)
    return x.copy(data=result) if labelled else result


def _spacings(x: Any, axes: tuple[int, ...], spacing: Any) -> list[float]:
    if spacing is None:
        return [_labelled.spacing(x, a) if _labelled.is_labelled(x) else 1.0 for a in axes]
    given = list(spacing) if np.iterable(spacing) else [spacing] * len(axes)
    if len(given) != len(axes):
        raise ValueError(f"spacing has {len(given)} numbers for {len(axes)} axes")
    return [float(step) for step in given]


def _multiply(
    block: Any, function: Any, axes: tuple[int, ...], extents: list[int], steps: list[float], kind: str,
    block_info: Any = None,
) -> Any:  # fmt: skip
    location = block_info[0]["array-location"]
    frequencies = []
    for place, (axis, n, step) in enumerate(zip(axes, extents, steps)):
        halved = kind == "rfft" and place == len(axes) - 1
        whole = np.fft.rfftfreq(n, step) if halved else np.fft.fftfreq(n, step)
        shape = [1] * block.ndim
        shape[axis] = -1
        frequencies.append(whole[slice(*location[axis])].reshape(shape))
    return (block * function(*frequencies)).astype(block.dtype, copy=False)
