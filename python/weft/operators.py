"""Operators of plans: what `weft.Plan` multiplies arrays by as it loads, transforms and stores them.

A plan takes one operator, or a sequence of them in the order in which they are applied, as `load` (on the array in real
space, before a forward transform), `spectral` (on the spectrum, after it) and `store` (on the result of an inverse
transform). They see the axes that are transformed, not that of a batch.

>>> import numpy, weft
>>> plan = weft.Plan(8, load=weft.operators.window("hann"))
>>> x = numpy.ones(8, complex)
>>> bool(numpy.allclose(plan.forward(x), numpy.fft.fft(x * (0.5 - 0.5 * numpy.cos(numpy.pi * numpy.arange(8) / 4)))))
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_SCALE, _WINDOW, _SHIFT, _TABLE, _FUNCTION = 1, 2, 3, 4, 5  # weft_operator_kind


class Operator(NamedTuple):
    """One operator, made by the functions of this module; its members are those of weft_operator."""

    kind: int
    factor: float = 0
    windows: tuple[tuple[str, bool, float], ...] = ()  # weft_window: one for all axes, or one for each
    shift: tuple[float, ...] = ()
    tables: tuple[np.ndarray[Any, Any] | None, ...] = ()  # contiguous, all of doubles or all of pairs of doubles
    complex_factors: bool = False
    snippet: str | None = None
    function: int = 0
    argument: int = 0
    parameters: int = 0
    kept: object = None  # what must live as long as plans do


def scale(factor: float) -> Operator:
    """A factor."""
    return Operator(_SCALE, factor=float(factor))


def window(name: str | Sequence[str], *, symmetric: bool = False, parameter: float = 0.0) -> Operator:
    """A window along each axis: a name for all axes, or a sequence with one for each of several.

    Names are none, hann, hamming, blackman, blackman-harris, flat-top, kaiser, gaussian and tukey. Periodic windows are
    for spectra, symmetric ones end as they begin. `parameter` is Kaiser's beta, the standard deviation of the Gaussian
    in points, or Tukey's alpha.
    """
    names = [name] if isinstance(name, str) else list(name)
    return Operator(_WINDOW, windows=tuple((one, bool(symmetric), float(parameter)) for one in names))


def shift(*points: float) -> Operator:
    """Moves what is on the other side of the transform cyclically by so many points along each axis, fractions too."""
    return Operator(_SHIFT, shift=tuple(map(float, points)))


def table(*factors: Any) -> Operator:
    """The product of one factor for each index of each axis; None for an axis without. Complex for complex data."""
    given = [None if one is None else np.asarray(one) for one in factors]
    is_complex = any(one is not None and one.dtype.kind == "c" for one in given)
    wanted = np.complex128 if is_complex else np.float64
    tables = tuple(None if one is None else np.ascontiguousarray(one, wanted) for one in given)
    for one in tables:
        if one is not None and one.ndim != 1:
            raise ValueError(f"weft.operators.table: the factors of an axis are one-dimensional, not of shape {one.shape}")
    return Operator(_TABLE, tables=tables, complex_factors=is_complex)


def function(
    function: Any = None, *, argument: int = 0, snippet: str | None = None, parameters: int = 0
) -> Operator:  # fmt: skip
    """The caller's own: a C function for the host, a snippet of C for GPUs, or both.

    function is an address, a function of ctypes or one that numba.cfunc has compiled, of the type
    weft_operator_function, and gets the address `argument`. A snippet changes `value`; what it may read is told in
    weft.h (weft_operator.snippet). Both read `parameters` numbers that weft.Plan.set_parameter sets.
    """
    address = function
    if function is not None and not isinstance(function, int):
        address = getattr(function, "address", None)
        if address is None:
            import ctypes

            address = ctypes.cast(function, ctypes.c_void_p).value
    return Operator(
        _FUNCTION, snippet=snippet, function=address or 0, argument=argument, parameters=parameters, kept=function
    )
