"""fft, rfft, dct and their siblings for arrays on GPUs.

A plan takes the transformed axes last, row-major and without gaps. An array that lies so in memory, in whatever order
its axes are numbered, goes in as it is, and the result lies in the same order. For any other array its own library
makes one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from weft import _core
from weft._gpu import calls
from weft._gpu.driver import find_nvrtc
from weft._gpu.libraries import Library, library_of
from weft._gpu.views import View

_R2C, _R2R = 1, 2  # weft_kind; the other one is that of complex data

Shape = tuple[int, ...]


class Transform(NamedTuple):
    """A transform along axes that differ, 8 at most; n are the extents in real space.

    Where `type` is not 0 it is along each axis that weft_axis, a cosine or sine transform, of which the ends `before`
    and `after` are scaled (_core.GpuTransform).
    """

    kind: int
    inverse: bool
    norm: int
    axes: Shape
    n: Shape
    type: int = 0
    before: int = 0
    after: int = 0

    def is_complex(self, result: bool) -> bool:
        """Whether the array that is transformed, or the result, is one of complex numbers."""
        return self.kind != _R2R and (self.kind != _R2C or result != self.inverse)

    def shape(self, given: Shape, result: bool) -> Shape:
        """Of the array that is transformed, or of the result, where `given` is the caller's array's."""
        shape = list(given)
        for axis, extent in zip(self.axes, self.n):
            shape[axis] = extent
        if self.kind == _R2C and result != self.inverse:
            shape[self.axes[-1]] = self.n[-1] // 2 + 1
        return tuple(shape)

    def order(self, view: View) -> Shape:
        """The axes as a plan takes them: those of the batch, then the others, each in the order of memory; an axis
        that is halved is the last one."""

        def in_memory(axes: list[int]) -> list[int]:
            return sorted(axes, key=lambda a: -abs(view.strides[a]))

        batch = [a for a in range(len(view.shape)) if a not in self.axes]
        halved = list(self.axes[-1:]) if self.kind == _R2C else []
        return (*in_memory(batch), *in_memory([a for a in self.axes if a not in halved]), *halved)


def wanted_type(dtype: np.dtype[Any], is_complex: bool) -> np.dtype[Any]:
    """The type in which an array is transformed."""
    if dtype.kind not in "biufc" or dtype.itemsize > (16 if dtype.kind == "c" else 8):
        raise TypeError(f"weft.fft: arrays of {dtype} on GPUs are not transformed")
    single = dtype.kind in "fc" and dtype.itemsize <= (8 if dtype.kind == "c" else 4)
    if is_complex:
        return np.dtype(np.complex64 if single else np.complex128)
    return np.dtype(np.float32 if single else np.float64)


# Real numbers that forward transforms convert as they load them, with their weft_storage.
_STORAGES = {
    np.dtype(name): number
    for number, name in enumerate(("uint8", "int16", "uint16", "float16", "float32", "float64"), 1)
}


class Layout(NamedTuple):
    """What a transform of an array depends on besides its address."""

    order: Shape  # the axes as the plan takes them
    back: Shape  # what brings them back; empty where they are in order
    shape: Shape  # of the array that is transformed, its axes as the plan takes them
    dtype: np.dtype[Any]  # in which the plan takes it
    strides: Shape  # of the caller's array
    is_packed: bool  # the caller's array goes in as it is
    is_whole: bool  # all of the caller's array is transformed
    result_shape: Shape  # its axes as the plan takes them
    result_dtype: np.dtype[Any]
    enqueue: Callable[[int, int, int], None]  # of addresses and a stream; the arrays are not empty


@lru_cache(1024)
def _layout(
    t: Transform, shape: Shape, strides: Shape, dtype: np.dtype[Any], number: int, is_aligned: bool
) -> Layout:  # fmt: skip
    """For an array of that shape, strides and type on that GPU, where every engine takes its address or not."""
    if t.kind == _R2C and not t.inverse and dtype.kind == "c":
        raise TypeError("x must be a real sequence")
    wanted = wanted_type(dtype, t.is_complex(False))
    view = View(0, shape, strides, dtype, 0)
    needed, order = t.shape(shape, False), t.order(view)
    source = view.part(needed).permuted(order)
    lies_right = is_aligned and source.shape == _permuted(needed, order) and source.is_packed()
    is_loaded = lies_right and t.kind != _R2R and not t.inverse and dtype != wanted and dtype in _STORAGES
    taken = dtype if is_loaded else wanted
    result_shape, result_dtype = _permuted(t.shape(shape, True), order), wanted_type(wanted, t.is_complex(True))
    return Layout(
        order=order,
        back=() if order == tuple(range(len(order))) else tuple(order.index(a) for a in range(len(order))),
        shape=_permuted(needed, order),
        dtype=taken,
        strides=source.strides,
        is_packed=lies_right and dtype == taken,
        is_whole=shape == needed,
        result_shape=result_shape,
        result_dtype=result_dtype,
        enqueue=_enqueue(t, number, order, View(0, _permuted(needed, order), (), taken, number),
                         View(0, result_shape, (), result_dtype, number), _STORAGES[dtype] if is_loaded else 0),
    )


def _enqueue(
    t: Transform, number: int, order: Shape, given: View, result: View, storage: int
) -> Callable[[int, int, int], None]:
    """What enqueues the transform of an array to another, with the axes in the order of the plan."""
    find_nvrtc()
    first = len(order) - len(t.axes)
    extents = dict(zip(t.axes, t.n))
    single = result.dtype.itemsize == (8 if result.dtype.kind == "c" else 4)
    return _core.GpuTransform(
        number, given.bytes, result.bytes, t.kind, t.inverse, t.norm, single, math.prod(result.shape[:first]),
        tuple(extents[a] for a in order[first:]), t.type, t.before, t.after, storage,
    ).enqueue  # fmt: skip


def run(library: Library, transform: Transform, x: Any, overwrite_x: bool, out: Any, key: Hashable = None) -> Any:
    """The transform of an array, in an array of its library or in `out`.

    With a key, which has what library.place tells, calls.again answers such calls from then on.
    """
    t = transform
    x = library.settled(x)
    stream = library.stream(x)
    view = library.view(x, stream)
    lay = _layout(t, view.shape, view.strides, view.dtype, view.number, view.is_aligned())
    target = None
    if out is not None:
        target = _target(library, out, t.shape(view.shape, True), lay.result_dtype, stream, view.number)

    source = view._replace(shape=lay.shape, strides=lay.strides)
    if not lay.is_packed:
        source = library.view(library.packed(x, t.shape(view.shape, False), lay.order, lay.dtype), stream)
    if target is not None and _takes(target.permuted(lay.order), source, lay.result_dtype, t):
        _run(lay, source, target, stream)
        return out
    if overwrite_x and out is None and lay.is_packed and t.kind != _R2C and not source.read_only and lay.is_whole:
        _run(lay, source, source, stream)
        return x
    result = library.empty(lay.result_shape, lay.result_dtype, x)
    place = library.view(result, stream)
    _run(lay, source, place, stream)
    if lay.is_packed and place.bytes > 0 and key is not None:
        make = library.maker(lay.result_shape, lay.result_dtype, x)
        calls.remember(key, calls.Call(view.number, source.alignment, make, lay.enqueue, lay.back))
    result = library.filled(result, place, source)
    if lay.back:
        result = library.permuted(result, lay.back)
    if out is None:
        return result
    library.assign(out, result)
    return out


def converted(library: Library, x: Any, is_complex: bool) -> Any:
    """What a transform along no axis is: the array in the type of the result."""
    x = library.settled(x)
    view = library.view(x, library.stream(x))
    return library.packed(x, view.shape, tuple(range(len(view.shape))), wanted_type(view.dtype, is_complex))


def _permuted(shape: Shape, order: Shape) -> Shape:
    return tuple(shape[a] for a in order)


def _target(library: Library, out: Any, shape: Shape, dtype: np.dtype[Any], stream: int, number: int) -> View:
    """Where `out` lies, once it is known to take the result."""
    if library_of(out) is not library:
        raise TypeError("return arrays must be of the library of x, on the same GPU")
    view = library.view(out, stream)
    if view.shape != shape:
        raise ValueError(f"output array has wrong shape: {view.shape}, and the result has {shape}")
    if not np.can_cast(dtype, view.dtype, "same_kind"):
        raise TypeError(f"Cannot cast the result from {dtype} to {view.dtype}, the type of the output array")
    if view.read_only:
        raise ValueError("output array is read-only")
    if view.number != number:
        raise ValueError(f"output array is on GPU {view.number}, and x on GPU {number}")
    if library.stream(out) != stream:
        raise _core.ArgumentError("weft.fft: x and out name different streams; wait for one, and give both the other")
    return view


def _takes(place: View, source: View, dtype: np.dtype[Any], t: Transform) -> bool:
    """Whether the result may be stored there at once: it fits, and the source is elsewhere, or just there."""
    if place.dtype != dtype or not place.is_packed():
        return False
    in_place = t.kind != _R2C and place.pointer == source.pointer and place.bytes == source.bytes
    return in_place or place.is_apart(source)


def _run(lay: Layout, source: View, place: View, stream: int) -> None:
    if place.bytes > 0:
        lay.enqueue(source.pointer, place.pointer, stream)
