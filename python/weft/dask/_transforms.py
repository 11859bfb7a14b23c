"""fft, rfft, dct and their siblings for Dask arrays and xarray's DataArrays."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from weft.dask import _labelled
from weft.dask._passes import most_bytes, one_pass, passes_of
from weft.fft import _axes

_COMPLEX = {np.dtype(t): np.dtype(c) for t, c in (("f2", "c8"), ("f4", "c8"), ("c8", "c8"))}


def _complex_type(dtype: Any) -> Any:
    return _COMPLEX.get(dtype, np.dtype("c16"))


def _shaped(x: Any) -> Any:
    return x if hasattr(x, "shape") else da.asarray(x)


def _checked(x: Any) -> Any:
    array = da.asarray(x)
    if any(np.isnan(extent) for extent in array.shape):
        raise ValueError("an extent of the array is unknown; call its method compute_chunk_sizes first")
    return array


def _unique(axes: tuple[int, ...]) -> None:
    if _axes.are_repeated(axes):
        raise ValueError("an axis occurs more than once")


def fourier(
    kind: str, inverse: bool, x: Any, axes: tuple[int, ...], extents: list[int | None], norm: Any, workers: Any
) -> Any:
    """Transforms a Dask array. kind is "fft", or "rfft" for one that halves the last of the axes."""
    array = _checked(x)
    _unique(axes)
    halved = kind == "rfft"
    n = _axes.real_extents(array.shape, axes, extents, halved and inverse)
    if not axes:
        return array.astype(_complex_type(array.dtype))
    item = _complex_type(array.dtype).itemsize
    passes = passes_of(array, axes, n, item, most_bytes())
    if halved:  # the pass with the halved axis comes first, or last in the inverse
        last = len(axes) - 1
        passes.sort(key=lambda places: (last in places) == inverse)
    for places in passes:
        places = sorted(places)
        real = halved and len(axes) - 1 in places
        options = {"s": [n[p] for p in places], "norm": norm, "workers": workers}
        found = [n[p] // 2 + 1 if real and not inverse and p == len(axes) - 1 else n[p] for p in places]
        name = ("i" if inverse else "") + ("rfftn" if real else "fftn")
        array = one_pass(array, name, tuple(axes[p] for p in places), found, item, options)
    return array


def trigonometric(
    name: str, x: Any, type: int, axes: tuple[int, ...], extents: list[int | None], norm: Any, orthogonalize: Any,
    workers: Any,
) -> Any:  # fmt: skip
    """dctn, dstn or one of their inverses of a Dask array."""
    array = _checked(x)
    _unique(axes)
    n = _axes.real_extents(array.shape, axes, extents, False)
    item = max(8, array.dtype.itemsize)
    for places in passes_of(array, axes, n, item, most_bytes()):
        chosen = [n[p] for p in sorted(places)]
        options = {"type": type, "s": chosen, "norm": norm, "orthogonalize": orthogonalize, "workers": workers}
        array = one_pass(array, name, tuple(axes[p] for p in sorted(places)), chosen, item, options)
    return array


def _named(name: str, suffix: str, function: Any, summary: str) -> Any:
    function.__name__ = function.__qualname__ = name + suffix
    function.__module__ = "weft.dask"
    function.__doc__ = summary
    return function


def _fourier_functions(name: str) -> tuple[Any, Any, Any]:
    kind, inverse = name.removeprefix("i"), name.startswith("i")

    def transform(x: Any, axes: Any, extents: Any, norm: Any, workers: Any) -> Any:
        if _labelled.is_labelled(x):
            return _labelled.transform(
                kind, inverse, x, axes, extents, lambda a, b, c: fourier(kind, inverse, a, b, c, norm, workers)
            )
        return fourier(kind, inverse, x, axes, extents, norm, workers)

    def one(x: Any, n: Any = None, axis: Any = -1, norm: Any = None, *, workers: Any = None) -> Any:
        x = _shaped(x)
        return transform(x, *_axes.one_axis(x.shape, n, _labelled.number(x, axis)), norm, workers)

    def two(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, *, workers: Any = None) -> Any:
        x = _shaped(x)
        return transform(x, *_axes.several_axes(x.shape, s, _labelled.numbers(x, axes)), norm, workers)

    def several(x: Any, s: Any = None, axes: Any = None, norm: Any = None, *, workers: Any = None) -> Any:
        x = _shaped(x)
        return transform(x, *_axes.several_axes(x.shape, s, _labelled.numbers(x, axes)), norm, workers)

    tell = f"weft.fft.{name}%s of a Dask array, or of a DataArray, whose axes may be given by name."
    return (
        _named(name, "", one, tell % ""),
        _named(name, "2", two, tell % "2"),
        _named(name, "n", several, tell % "n"),
    )


def _trigonometric_functions(name: str) -> tuple[Any, Any]:
    def one(
        x: Any, type: int = 2, n: Any = None, axis: Any = -1, norm: Any = None, *, orthogonalize: Any = None,
        workers: Any = None,
    ) -> Any:  # fmt: skip
        x = _shaped(x)
        axes, extents = _axes.one_axis(x.shape, n, axis)
        return trigonometric(name + "n", x, type, axes, extents, norm, orthogonalize, workers)

    def several(
        x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, *, orthogonalize: Any = None,
        workers: Any = None,
    ) -> Any:  # fmt: skip
        x = _shaped(x)
        found, extents = _axes.several_axes(x.shape, s, axes)
        return trigonometric(name + "n", x, type, found, extents, norm, orthogonalize, workers)

    tell = f"weft.fft.{name}%s of a Dask array."
    return _named(name, "", one, tell % ""), _named(name, "n", several, tell % "n")


fft, fft2, fftn = _fourier_functions("fft")
ifft, ifft2, ifftn = _fourier_functions("ifft")
rfft, rfft2, rfftn = _fourier_functions("rfft")
irfft, irfft2, irfftn = _fourier_functions("irfft")
dct, dctn = _trigonometric_functions("dct")
idct, idctn = _trigonometric_functions("idct")
dst, dstn = _trigonometric_functions("dst")
idst, idstn = _trigonometric_functions("idst")
