"""Transforms of data that is its own mirror image, conjugated, along the last axis: hfft and its siblings.

hfft(x) is irfft(conj(x)) with the scale of the other direction, ihfft(x) is conj(rfft(x)) likewise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._adapters import adapter_of, through
from weft._gpu.libraries import library_of
from weft.fft import _arrays
from weft.fft._transforms import general

_OTHER_DIRECTION = {None: "forward", "backward": "forward", "forward": "backward"}


def _turned(norm: Any) -> Any:
    return _OTHER_DIRECTION.get(norm, norm) if norm is None or isinstance(norm, str) else norm


def _to_real(name: str, x: Any, s: Any, axes: Any, norm: Any, workers: Any, plan: Any, out: Any) -> Any:
    adapter = adapter_of(x)
    if adapter is not None:
        return through(adapter, x, out, lambda a, o: _to_real(name, a, s, axes, norm, workers, plan, o))
    library = library_of(x, tensors=True)
    if library is not None:
        return general(name, library.conjugated(x), s, axes, _turned(norm), False, workers, plan, out)
    taken = _arrays.take(x)
    array = np.conjugate(taken.array) if taken.array.dtype.kind == "c" else taken.array
    result = general(name, array, s, axes, _turned(norm), False, workers, plan, out)
    return result if out is not None else taken.give(result)


def _to_half(name: str, x: Any, s: Any, axes: Any, norm: Any, workers: Any, plan: Any, out: Any) -> Any:
    adapter = adapter_of(x)
    if adapter is not None:
        return through(adapter, x, out, lambda a, o: _to_half(name, a, s, axes, norm, workers, plan, o))
    library = library_of(x, tensors=True)
    if library is not None:
        conjugate = library.conjugated(general(name, x, s, axes, _turned(norm), False, workers, plan, out))
        if out is None:
            return conjugate
        library.assign(out, conjugate)
        return out
    taken = _arrays.take(x)
    result = general(name, taken.array, s, axes, _turned(norm), False, workers, plan, out)
    np.conjugate(result, out=result)
    return result if out is not None else taken.give(result)


def hfft(
    x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
    plan: Any = None, out: Any = None,
) -> Any:  # fmt: skip
    """The real spectrum, of n points, of a signal of which the half from time 0 on is given."""
    return _to_real("irfft", x, n, axis, norm, workers, plan, out)


def ihfft(
    x: Any, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
    plan: Any = None, out: Any = None,
) -> Any:  # fmt: skip
    """The inverse of hfft."""
    return _to_half("rfft", x, n, axis, norm, workers, plan, out)


def hfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
    plan: Any = None, out: Any = None,
) -> Any:  # fmt: skip
    """hfftn along the last two axes, or those given."""
    return _to_real("irfftn", x, s, axes, norm, workers, plan, out)


def ihfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
    plan: Any = None, out: Any = None,
) -> Any:  # fmt: skip
    """The inverse of hfft2."""
    return _to_half("rfftn", x, s, axes, norm, workers, plan, out)


def hfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
    plan: Any = None, out: Any = None,
) -> Any:  # fmt: skip
    """hfft along the last of the axes, fft along the others."""
    return _to_real("irfftn", x, s, axes, norm, workers, plan, out)


def ihfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
    plan: Any = None, out: Any = None,
) -> Any:  # fmt: skip
    """The inverse of hfftn."""
    return _to_half("rfftn", x, s, axes, norm, workers, plan, out)
