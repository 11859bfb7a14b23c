"""xarray's DataArrays: axes by name, and frequencies as coordinates.

Dimension "x" becomes "freq_x" and back. Frequencies are in cycles for each unit of the coordinate, which must be evenly
spaced; where there is none, points are one apart. Inverse transforms give coordinates that begin at 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PREFIX = "freq_"


def is_labelled(x: Any) -> bool:
    return type(x).__module__.split(".")[0] == "xarray" and hasattr(x, "dims")


def number(x: Any, axis: Any) -> Any:
    """The number of an axis that may be given by the name of its dimension."""
    if not isinstance(axis, str):
        return axis
    if not is_labelled(x):
        raise TypeError(f"axis {axis!r}: only the axes of a DataArray have names")
    if axis not in x.dims:
        raise ValueError(f"axis {axis!r} is not among the dimensions {', '.join(map(str, x.dims))}")
    return list(x.dims).index(axis)


def numbers(x: Any, axes: Any) -> Any:
    if axes is None:
        return None
    listed = [axes] if isinstance(axes, str) or not np.iterable(axes) else list(axes)
    return [number(x, axis) for axis in listed]


def spacing(x: Any, axis: int) -> float:
    """The distance of neighbouring points along an axis."""
    name = x.dims[axis]
    if name not in x.coords or x.shape[axis] < 2:
        return 1.0
    steps: Any = np.diff(np.asarray(x.coords[name].values, float))
    if not np.allclose(steps, steps[0], rtol=1e-5, atol=0):
        raise ValueError(f"the coordinate {name!r} is not evenly spaced")
    return float(steps[0])


def _frequency_step(x: Any, axis: int) -> float:
    """The distance of neighbouring frequencies, in the order of fftfreq or rfftfreq."""
    name = x.dims[axis]
    if name not in x.coords or x.shape[axis] < 2:
        return 1.0 / int(x.shape[axis])
    first, second = np.asarray(x.coords[name].values, float)[:2]
    return float(second) - float(first)


def transform(
    kind: str, inverse: bool, x: Any, axes: tuple[int, ...], extents: list[int | None],
    run: Callable[[Any, tuple[int, ...], list[int | None]], Any],
) -> Any:  # fmt: skip
    """The transform of a DataArray by `run`, which transforms its data."""
    data = run(x.data, axes, extents)
    dims = list(x.dims)
    coords = {name: c for name, c in x.coords.items() if not set(c.dims) & {x.dims[a] for a in axes}}
    for place, axis in enumerate(axes):
        old, n = str(x.dims[axis]), data.shape[axis]
        if inverse:
            new = old.removeprefix(PREFIX)
            real = n if extents[place] is None else extents[place]
            coords[new] = (new, np.arange(n) / (_frequency_step(x, axis) * (real or n)))
        else:
            new, step = PREFIX + old, spacing(x, axis)
            halved = kind == "rfft" and place == len(axes) - 1
            if halved:
                real = x.shape[axis] if extents[place] is None else extents[place]
                coords[new] = (new, np.fft.rfftfreq(real or 1, step))
            else:
                coords[new] = (new, np.fft.fftfreq(n, step))
        dims[axis] = new
    return type(x)(data, dims=dims, coords=coords, name=x.name, attrs=x.attrs)
