"""Which axes a call transforms, and to what extents: the arguments n, s, axis and axes."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

Shape = tuple[int, ...]


def _whole_numbers(value: Any, what: str) -> list[int | None]:
    """A list of whole numbers, or one alone; None stays."""
    listed: list[Any] = list(value) if np.iterable(value) else [value]
    try:
        return [None if entry is None else operator.index(entry) for entry in listed]
    except TypeError as reason:
        raise ValueError(f"{what} must be a scalar or iterable of integers") from reason


def one_axis(shape: Shape, n: Any, axis: Any) -> tuple[Shape, list[int | None]]:
    """Axis and extent of a transform along one axis."""
    number = operator.index(axis)
    if not -len(shape) <= number < len(shape):
        raise AxisError(number, len(shape))
    return (number % len(shape),), [None if n is None else operator.index(n)]


def several_axes(shape: Shape, s: Any, axes: Any) -> tuple[Shape, list[int | None]]:
    """Axes and extents of a transform along several axes; without axes, the last ones that s has extents for."""
    extents = None if s is None else _whole_numbers(s, "shape")
    if axes is None:
        count = len(shape) if extents is None else len(extents)
        if count > len(shape):
            raise ValueError("shape requires more axes than are present")
        numbers = list(range(len(shape) - count, len(shape)))
    else:
        numbers = [a for a in _whole_numbers(axes, "axes") if a is not None]
        for number in numbers:
            if not -len(shape) <= number < len(shape):
                raise AxisError(number, len(shape), "axes exceeds dimensionality of input")
    if extents is None:
        extents = [None] * len(numbers)
    if len(extents) != len(numbers):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    found = tuple(a % len(shape) for a in numbers)
    return found, [shape[a] if e == -1 else e for a, e in zip(found, extents)]


def warn_as_numpy(s: Any, axes: Any) -> None:
    """Tells the caller of a function of weft.fft of what NumPy deprecates."""
    if s is None:
        return
    if axes is None:
        message = "`axes` should not be `None` if `s` is not `None`: NumPy 2.0 deprecates it"
        warnings.warn(message, DeprecationWarning, stacklevel=3)
    if np.iterable(s) and any(extent is None for extent in s):
        message = "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0"
        warnings.warn(message, DeprecationWarning, stacklevel=3)


def are_repeated(axes: Shape) -> bool:
    """Whether an axis occurs more than once."""
    return len(set(axes)) < len(axes)


def real_extents(shape: Shape, axes: Shape, extents: list[int | None], halved: bool) -> Shape:
    """Extents in real space; that of a halved last axis is 2 (m - 1) unless it is given."""
    found = []
    for place, (axis, extent) in enumerate(zip(axes, extents)):
        if extent is None:
            extent = shape[axis]
            if halved and place == len(axes) - 1:
                extent = 2 * (extent - 1)
        if extent < 1:
            raise ValueError(f"Invalid number of FFT data points ({extent}) specified.")
        found.append(extent)
    return tuple(found)
