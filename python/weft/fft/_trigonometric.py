"""Sine and cosine transforms, and the fast Hankel transform: scipy.fft's functions.

Sine and cosine transforms are the library's real-to-real ones. What it does not have is left to SciPy: numbers of
more than double precision, types that do not exist, and the Hankel transform.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft import _core
from weft._adapters import adapter_of, through
from weft._gpu import transforms as _on_gpus
from weft._gpu.libraries import Library, library_of
from weft.fft import _arrays, _autograd, _axes, _transforms, _workers
from weft.fft._arrays import Array
from weft.fft._elsewhere import by_scipy

_C2C, _R2R = 0, 2  # weft_kind
_FIRST, _LAST = 1, 2  # CORE_FIRST, CORE_LAST: ends of an axis
_DCT1, _DST1 = 2, 6  # weft_axis; the other types follow
_OTHER = {1: 1, 2: 3, 3: 2, 4: 4}  # the type of the inverse


def _by_scipy(name: str, taken: _arrays.Taken, *args: Any, **keywords: Any) -> Any:
    missing = NotImplementedError(f"weft.fft.{name} of these arguments needs SciPy, which is not installed")
    return taken.give(by_scipy(name, missing, taken.array, *args, **keywords))


def _scaled_ends(sine: bool, type: int) -> tuple[int, int]:
    """The ends of each axis that are scaled by the square root of 2 before, and by that of 1/2 after the transform, so
    that with norm "ortho" it is an orthogonal matrix, as SciPy's: the terms that occur once where the others occur
    twice."""
    ends = (0 if sine else _FIRST) | (_LAST if sine or type == 1 else 0)
    both = type == 1 and not sine
    return ends if type == 3 or both else 0, ends if type == 2 or both else 0


def _scale_ends(array: Array, axes: _axes.Shape, factor: float, ends: int) -> None:
    for axis in axes:
        along = np.moveaxis(array, axis, 0)
        if ends & _FIRST:
            along[0] *= factor
        if ends & _LAST:
            along[-1] *= factor


def _orthogonal(array: Array, result: Array, sine: bool, type: int, axes: _axes.Shape, compute: Any) -> None:
    before, after = _scaled_ends(sine, type)
    if before:
        array = array.copy()
        _scale_ends(array, axes, math.sqrt(2), before)
    compute(array, result)
    if after:
        _scale_ends(result, axes, math.sqrt(0.5), after)


def _cropped(array: Array, axes: _axes.Shape, n: _axes.Shape) -> Array:
    """The array with these extents, padded with zeros where it is shorter."""
    kept = array[tuple(slice(n[axes.index(a)]) if a in axes else slice(None) for a in range(array.ndim))]
    missing = [(0, n[axes.index(a)] - kept.shape[a]) if a in axes else (0, 0) for a in range(array.ndim)]
    return np.pad(kept, missing) if any(after for _, after in missing) else kept


def _compute(
    name: str, x: Any, type: Any, s: Any, axes: Any, norm: Any, overwrite_x: Any, workers: Any, orthogonalize: Any
) -> Any:
    adapter = adapter_of(x)
    if adapter is not None:
        return through(
            adapter, x, None, lambda a, _: _compute(name, a, type, s, axes, norm, overwrite_x, workers, orthogonalize)
        )  # fmt: skip
    if _autograd.tracks(x):
        raise _core.UnsupportedError(f"weft.fft.{name}: real-to-real transforms have no gradients; detach the tensor")
    library = library_of(x)
    if library is not None:
        return _on_gpu(library, name, x, type, s, axes, norm, overwrite_x, workers, orthogonalize)
    taken = _arrays.take(x)
    sine, inverse, one = "dst" in name, name.startswith("i"), not name.endswith("n")
    if _arrays.is_long(taken.array) or type not in _OTHER:
        return _by_scipy(name, taken, type, s, axes, norm, overwrite_x, workers, orthogonalize=orthogonalize)
    array = _arrays.for_transform(taken.array)
    number, threads = _transforms.norm_number(norm), _workers.count_workers(workers)
    places, extents = (_axes.one_axis if one else _axes.several_axes)(array.shape, s, axes)
    n = _axes.real_extents(array.shape, places, extents, False)
    shortest = 2 if type == 1 and not sine else 1
    if _axes.are_repeated(places) or len(places) > _transforms.MOST_AXES or min(n, default=1) < shortest:
        return _by_scipy(name, taken, type, s, axes, norm, overwrite_x, workers, orthogonalize=orthogonalize)
    if not places:
        return taken.give(array.copy())
    shape = list(array.shape)
    for axis, extent in zip(places, n):
        shape[axis] = extent

    def compute(given: Array, result: Array) -> None:
        kind = (_DST1 if sine else _DCT1) + type - 1
        _core.transform(given, result, _R2R, inverse, number, threads, places, n, kind)

    def real(given: Array) -> Array:
        fits = array.shape == tuple(shape) and given.flags.aligned and given.flags.writeable
        result = given if overwrite_x and fits else np.empty(shape, given.dtype)
        if norm == "ortho" if orthogonalize is None else orthogonalize:
            _orthogonal(_cropped(given, places, n), result, sine, _OTHER[type] if inverse else type, places, compute)
        else:
            compute(given, result)
        return result

    if array.dtype.kind != "c":
        return taken.give(real(array))
    result = np.empty(shape, array.dtype)
    result.real, result.imag = real(array.real), real(array.imag)
    return taken.give(result)


def _on_gpu(
    library: Library, name: str, x: Any, type: Any, s: Any, axes: Any, norm: Any, overwrite_x: Any, workers: Any,
    orthogonalize: Any,
) -> Any:  # fmt: skip
    """The inverse of a type is the other type with the norm of the other direction."""
    sine, inverse, one = "dst" in name, name.startswith("i"), not name.endswith("n")
    number = _transforms.norm_number(norm)
    _workers.count_workers(workers)  # mistakes only: a GPU's threads are its own
    if type not in _OTHER:
        raise ValueError(f"weft.fft.{name}: type is {type!r}; it is 1, 2, 3 or 4")
    shape = library.shape(x)
    places, extents = (_axes.one_axis if one else _axes.several_axes)(shape, s, axes)
    n = _axes.real_extents(shape, places, extents, False)
    if _axes.are_repeated(places) or len(places) > _transforms.MOST_AXES:
        raise _core.UnsupportedError(f"weft.fft.{name}: axes {places} on a GPU; give at most 8 that differ")
    if type == 1 and not sine and min(n, default=2) < 2:
        raise ValueError(f"weft.fft.{name}: type 1 is of at least 2 points along each axis, and here of {min(n)}")
    settled = library.settled(x)
    is_complex = library.view(settled, library.stream(settled)).dtype.kind == "c"
    if not places:
        return _on_gpus.converted(library, x, is_complex)
    if inverse:
        type, number = _OTHER[type], 4 - number
    orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
    before, after = _scaled_ends(sine, type) if orthogonal else (0, 0)
    transform = _on_gpus.Transform(
        _C2C if is_complex else _R2R, False, number, places, n, (_DST1 if sine else _DCT1) + type - 1, before, after
    )
    return _on_gpus.run(library, transform, x, bool(overwrite_x), None)


def _hankel(name: str, x: Any, *args: Any) -> Any:
    if library_of(x) is not None:
        raise _core.UnsupportedError(f"weft.fft.{name}: there are no Hankel transforms on GPUs")
    return _by_scipy(name, _arrays.take(x), *args)


def dct(
    x: Any, type: int = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The discrete cosine transform along an axis."""
    return _compute("dct", x, type, n, axis, norm, overwrite_x, workers, orthogonalize)


def idct(
    x: Any, type: int = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The inverse of dct."""
    return _compute("idct", x, type, n, axis, norm, overwrite_x, workers, orthogonalize)


def dst(
    x: Any, type: int = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The discrete sine transform along an axis."""
    return _compute("dst", x, type, n, axis, norm, overwrite_x, workers, orthogonalize)


def idst(
    x: Any, type: int = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The inverse of dst."""
    return _compute("idst", x, type, n, axis, norm, overwrite_x, workers, orthogonalize)


def dctn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, *, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The discrete cosine transform along all axes, or those given."""
    return _compute("dctn", x, type, s, axes, norm, overwrite_x, workers, orthogonalize)


def idctn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, *, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The inverse of dctn."""
    return _compute("idctn", x, type, s, axes, norm, overwrite_x, workers, orthogonalize)


def dstn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, *, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The discrete sine transform along all axes, or those given."""
    return _compute("dstn", x, type, s, axes, norm, overwrite_x, workers, orthogonalize)


def idstn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, *, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The inverse of dstn."""
    return _compute("idstn", x, type, s, axes, norm, overwrite_x, workers, orthogonalize)


def fht(a: Any, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> Any:
    """The fast Hankel transform of points that are spaced logarithmically."""
    return _hankel("fht", a, dln, mu, offset, bias)


def ifht(A: Any, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> Any:
    """The inverse of fht."""
    return _hankel("ifht", A, dln, mu, offset, bias)
