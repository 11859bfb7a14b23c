"""The general case of fft, rfft and their siblings: whatever weft._core does not answer by itself.

weft._core calls `general` with the arguments of the caller. Here they become what the library takes: an array of
single or double precision, axes and extents. Strides, cropping and padding are the C part's.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from weft import _core
from weft._adapters import adapter_of, through
from weft._gpu import calls as _calls_on_gpus
from weft._gpu import transforms as _on_gpus
from weft._gpu.libraries import Library, library_of
from weft.fft import _arrays, _autograd, _axes, _workers
from weft.fft._arrays import Array
from weft.fft._elsewhere import by_scipy

_C2C, _R2C = 0, 1  # weft_kind
_NORMS = {None: 1, "backward": 1, "ortho": 2, "forward": 3}  # weft_norm
MOST_AXES = 8  # WEFT_MAX_RANK


class Call(NamedTuple):
    """What a function of weft.fft computes."""

    kind: int
    inverse: bool
    one: bool  # along one axis


CALLS = {
    name + suffix: Call(kind, inverse, suffix == "")
    for name, kind, inverse in (
        ("fft", _C2C, False),
        ("ifft", _C2C, True),
        ("rfft", _R2C, False),
        ("irfft", _R2C, True),
    )
    for suffix in ("", "2", "n")
}


def norm_number(norm: Any) -> int:
    """The library's number of a norm."""
    try:
        return _NORMS[norm]
    except (KeyError, TypeError):
        raise ValueError(f'Invalid norm value {norm!r}; should be "backward", "ortho" or "forward".') from None


def _prepared(call: Call, given: Array) -> Array:
    array = _arrays.for_transform(given)
    if call.kind == _R2C and not call.inverse and array.dtype.kind == "c":
        raise TypeError("x must be a real sequence")
    if call.kind == _R2C and call.inverse and array.dtype.kind != "c":
        array = array.astype(_arrays.complex_type(array))
    return array


def _run(
    call: Call, array: Array, out: Array, norm: int, threads: int, axes: tuple[int, ...], n: tuple[int, ...]
) -> None:
    """Transforms along any number of axes, as many at a time as the library does."""
    if len(axes) <= MOST_AXES:
        _core.transform(array, out, call.kind, call.inverse, norm, threads, axes, n)
        return
    first = Call(_C2C, call.inverse, False)
    if call.kind == _R2C and not call.inverse:  # the halved axis is the last one, and comes first
        _run(call, array, out, norm, threads, axes[-MOST_AXES:], n[-MOST_AXES:])
        _run(first, out, out, norm, threads, axes[:-MOST_AXES], n[:-MOST_AXES])
        return
    shape = list(array.shape)
    for axis, extent in zip(axes[:MOST_AXES], n[:MOST_AXES]):
        shape[axis] = extent
    between = np.empty(shape, _arrays.complex_type(array))
    _run(first, array, between, norm, threads, axes[:MOST_AXES], n[:MOST_AXES])
    _run(call, between, out, norm, threads, axes[MOST_AXES:], n[MOST_AXES:])


def _fits(out: Array, dtype: np.dtype[Any]) -> bool:
    return bool(out.dtype == dtype and out.flags.aligned and out.flags.writeable)


def _check_out(out: Any, shape: list[int], dtype: np.dtype[Any]) -> None:
    if not isinstance(out, np.ndarray):
        raise TypeError("return arrays must be of ArrayType")
    if out.shape != tuple(shape):
        raise ValueError(f"output array has wrong shape: {out.shape}, and the result has {tuple(shape)}")
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(f"Cannot cast the result from {dtype} to {out.dtype}, the type of the output array")
    if not out.flags.writeable:
        raise ValueError("output array is read-only")


def general(
    name: str, x: Any, s: Any, axes: Any, norm: Any, overwrite_x: Any, workers: Any, plan: Any, out: Any
) -> Any:
    """One call of weft.fft, such as general("fft", x, n, axis, ...)."""
    if plan is not None:
        raise NotImplementedError("Passing a precomputed plan is not yet supported by weft.fft; see weft.Plan")
    if isinstance(x, np.ndarray):
        return _on_host(name, x, s, axes, norm, overwrite_x, workers, out)
    adapter = adapter_of(x)
    if adapter is not None:
        return through(
            adapter, x, out, lambda a, o: general(name, a, s, axes, norm, overwrite_x, workers, None, o)
        )  # fmt: skip
    if _autograd.tracks(x):
        return _with_derivatives(name, x, s, axes, norm, workers, out)
    library = library_of(x)
    if library is not None:
        return _on_gpu(library, name, x, s, axes, norm, overwrite_x, workers, out)
    return _on_host(name, x, s, axes, norm, overwrite_x, workers, out)


def _on_host(name: str, x: Any, s: Any, axes: Any, norm: Any, overwrite_x: Any, workers: Any, out: Any) -> Any:
    call = CALLS[name]
    taken = _arrays.take(x)
    if out is not None and not isinstance(out, np.ndarray) and taken.array is not x:
        _on_host(name, taken.array, s, axes, norm, overwrite_x, workers, _arrays.take(out).array)
        return out
    if _arrays.is_long(taken.array):
        return _by_scipy(name, taken, s, axes, norm, overwrite_x, workers, out)
    array = _prepared(call, taken.array)
    number, threads = norm_number(norm), _workers.count_workers(workers)
    places, extents = _places(call, array.shape, s, axes)
    if not places:
        return taken.give(array.copy())
    if _axes.are_repeated(places):
        result = _one_by_one(name, taken.array, places, extents, norm, threads, out)
        return result if out is not None else taken.give(result)
    n = _axes.real_extents(array.shape, places, extents, call.kind == _R2C and call.inverse)

    shape = list(array.shape)
    for axis, extent in zip(places, n):
        shape[axis] = extent
    if call.kind == _R2C and not call.inverse:
        shape[places[-1]] = n[-1] // 2 + 1
    dtype = _arrays.real_type(array) if call.kind == _R2C and call.inverse else _arrays.complex_type(array)
    if out is not None:
        _check_out(out, shape, dtype)
    if out is not None and _fits(out, dtype):
        result = np.asarray(out)
        if result is not array and np.may_share_memory(result, array):
            array = array.copy()
    elif overwrite_x and call.kind == _C2C and array.shape == tuple(shape) and _fits(array, dtype):
        result = array
    else:
        result = np.empty(shape, dtype)
    _run(call, array, result, number, threads, places, n)
    if out is None:
        return taken.give(result)
    if not _fits(out, dtype):
        np.copyto(out, result, casting="same_kind")
    return out


def _places(call: Call, shape: tuple[int, ...], s: Any, axes: Any) -> tuple[tuple[int, ...], list[int | None]]:
    """Which axes are transformed, and to what extents."""
    if call.one:
        return _axes.one_axis(shape, s, axes)
    _axes.warn_as_numpy(s, axes)
    places, extents = _axes.several_axes(shape, s, axes)
    if not places and call.kind == _R2C:
        raise ValueError("at least 1 axis must be transformed")
    return places, extents


def _on_gpu(
    library: Library, name: str, x: Any, s: Any, axes: Any, norm: Any, overwrite_x: Any, workers: Any, out: Any
) -> Any:
    key = None if overwrite_x or out is not None else _key(library, name, x, s, axes, norm, workers)
    if key is not None:
        result = _calls_on_gpus.again(library, key, x)
        if result is not None:
            return result
    call, number = CALLS[name], norm_number(norm)
    _workers.count_workers(workers)  # mistakes only: a GPU's threads are its own
    shape = library.shape(x)
    places, extents = _places(call, shape, s, axes)
    n = _axes.real_extents(shape, places, extents, call.kind == _R2C and call.inverse)
    if not places:
        return _on_gpus.converted(library, x, True)
    if _axes.are_repeated(places) or len(places) > MOST_AXES:
        return _one_by_one(name, x, places, extents, norm, None, out)
    transform = _on_gpus.Transform(call.kind, call.inverse, number, places, n)
    return _on_gpus.run(library, transform, x, bool(overwrite_x), out, key)


def _key(library: Library, name: str, x: Any, s: Any, axes: Any, norm: Any, workers: Any) -> Hashable:
    """What a call has in common with others that come to the same; None where nothing is remembered of it."""
    place = library.place(x)
    if place is None or isinstance(s, list) or isinstance(axes, list):
        return None
    return name, s, type(s), axes, type(axes), norm, workers, place


def _with_derivatives(name: str, x: Any, s: Any, axes: Any, norm: Any, workers: Any, out: Any) -> Any:
    """The transform of a tensor that PyTorch differentiates."""
    if out is not None:
        raise _core.ArgumentError("weft.fft: out takes no result of which PyTorch follows the derivatives")
    norm_number(norm)
    places, extents = _places(CALLS[name], tuple(x.shape), s, axes)
    if not places:
        return x * 1
    if _axes.are_repeated(places):
        return _one_by_one(name, x, places, extents, norm, workers, None)
    return _autograd.differentiable(name, x, s, axes, norm, workers)


def _one_by_one(
    name: str, x: Any, axes: tuple[int, ...], extents: list[int | None], norm: Any, workers: Any, out: Any
) -> Any:
    """Transforms along each axis in turn, as NumPy does, since some axis occurs more than once, or they are many."""
    alone, others = name.rstrip("2n"), "ifft" if CALLS[name].inverse else "fft"
    turns = list(zip(axes, extents))
    steps = [(alone, *turns[-1])] + [(others, *turn) for turn in reversed(turns[:-1])]
    if alone == "irfft":
        steps = [(others, *turn) for turn in turns[:-1]] + [(alone, *turns[-1])]
    result = x
    for number, (step, axis, extent) in enumerate(steps):
        given = out if number == len(steps) - 1 else None
        result = general(step, result, extent, axis, norm, False, workers, None, given)
    return result


def _by_scipy(
    name: str, taken: _arrays.Taken, s: Any, axes: Any, norm: Any, overwrite_x: Any, workers: Any, out: Any
) -> Any:
    missing = TypeError(
        f"weft.fft.{name}: arrays of {taken.array.dtype} need SciPy, which is not installed; weft has double precision"
    )
    result = by_scipy(name, missing, taken.array, s, axes, norm, overwrite_x, workers)
    if out is None:
        return taken.give(result)
    _check_out(out, list(result.shape), result.dtype)
    np.copyto(out, result, casting="same_kind")
    return out


_core.set_general(general)
