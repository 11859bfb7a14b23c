"""weft.Plan with arrays that are not NumPy's: on the plan's GPU, or of other libraries on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import _core
from weft._adapters import adapter_of, through
from weft._gpu.libraries import library_of
from weft._gpu.views import View
from weft.fft import _arrays


def _dtype(plan: _core.Plan, is_input: bool) -> np.dtype[Any]:
    """Of the numbers on one side of a plan."""
    if plan.precision == "half":
        raise _core.UnsupportedError("Plan: arrays of half precision are given by their addresses")
    is_complex = plan.kind == "c2c" or (plan.kind == "r2c" and not is_input)
    names = ("complex64", "complex128") if is_complex else ("float32", "float64")
    return np.dtype(names[plan.precision == "double"])


def _check(plan: _core.Plan, view: View, is_input: bool, name: str) -> None:
    shape, dtype = plan.input_shape if is_input else plan.output_shape, _dtype(plan, is_input)
    if view.shape != shape or view.dtype != dtype:
        raise _core.ArgumentError(
            f"Plan: {name} is {view.dtype} of shape {view.shape}, and the plan takes {dtype} of shape {shape}"
        )
    if plan.device != f"cuda:{view.number}":
        raise _core.ArgumentError(f"Plan: {name} is on GPU {view.number}, and the plan on {plan.device}")
    if not view.is_packed():
        raise _core.ArgumentError(f"Plan: {name} is not row-major without gaps, or not aligned")


def transform(plan: _core.Plan, inverse: bool, x: Any, out: Any) -> Any:
    """What plan.forward and plan.inverse give for an array of another library."""
    adapter = adapter_of(x)
    if adapter is not None:
        run = plan.inverse if inverse else plan.forward
        return through(adapter, x, out, run)
    library = library_of(x)
    if library is None:
        if not hasattr(x, "__dlpack__"):
            raise TypeError(f"Plan: a {type(x).__module__}.{type(x).__name__} is no array that lends its memory")
        taken = _arrays.take(x)
        given = None if out is None else _arrays.take(out).array
        array = np.ascontiguousarray(taken.array)
        result = plan.inverse(array, given) if inverse else plan.forward(array, given)
        return taken.give(result) if out is None else out
    x = library.settled(x)
    stream = library.stream(x)
    source = library.view(x, stream)
    _check(plan, source, not inverse, "in")
    result = out
    if result is None:
        result = library.empty(plan.input_shape if inverse else plan.output_shape, _dtype(plan, bool(inverse)), x)
    elif library_of(out) is not library:
        raise TypeError("Plan: out must be of the library of in, on the same GPU")
    place = library.view(result, stream)
    _check(plan, place, bool(inverse), "out")
    if out is not None and place.read_only:
        raise ValueError("output array is read-only")
    plan._enqueue(bool(inverse), source.pointer, place.pointer, stream)
    return out if out is not None else library.filled(result, place, source)
