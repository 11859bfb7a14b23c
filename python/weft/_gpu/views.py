"""Where an array lies on a GPU: what its library tells, by DLPack or by __cuda_array_interface__."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from weft import _core
from weft._gpu.driver import gpu_of

CUDA_DEVICES = (2, 13)  # kDLCUDA, kDLCUDAManaged of DLPack
LEGACY_STREAM = 1  # of both protocols, and of CUDA: the legacy default stream

_CODES = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # DLDataTypeCode


class View(NamedTuple):
    """An array on a GPU. `kept` keeps its memory alive."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes
    dtype: np.dtype[Any]
    number: int  # of the GPU
    read_only: bool = False
    kept: object = None

    @property
    def bytes(self) -> int:
        """Of the numbers, gaps not counted."""
        return math.prod(self.shape) * self.dtype.itemsize

    def part(self, shape: tuple[int, ...]) -> View:
        """The first numbers along each axis."""
        return self._replace(shape=tuple(min(n, m) for n, m in zip(self.shape, shape)))

    def permuted(self, order: tuple[int, ...]) -> View:
        """The same with the axes in another order."""
        return self._replace(shape=tuple(self.shape[a] for a in order), strides=tuple(self.strides[a] for a in order))

    def is_packed(self) -> bool:
        """Whether it is row-major without gaps, and aligned."""
        packed = self.dtype.itemsize
        for n, stride in zip(reversed(self.shape), reversed(self.strides)):
            if n > 1 and stride != packed:
                return False
            packed *= n
        return self.is_aligned()

    @property
    def alignment(self) -> int:
        """In bytes, that every engine takes: that of two real numbers."""
        return self.dtype.itemsize * (1 if self.dtype.kind == "c" else 2)

    def is_aligned(self) -> bool:
        """As every engine wants it."""
        return self.pointer % self.alignment == 0

    def is_apart(self, other: View) -> bool:
        """Whether two packed arrays have no byte in common."""
        return self.pointer + self.bytes <= other.pointer or other.pointer + other.bytes <= self.pointer


def row_major(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides, in bytes, of an array without gaps."""
    strides = [itemsize] * len(shape)
    for a in range(len(shape) - 2, -1, -1):
        strides[a] = strides[a + 1] * max(shape[a + 1], 1)
    return tuple(strides)


def capsule_of(x: Any, stream: int) -> Any:
    """A DLPack capsule, after whose work on the array that of the stream comes."""
    try:
        return x.__dlpack__(stream=stream, max_version=(1, 1))
    except TypeError:  # DLPack before 1.0
        return x.__dlpack__(stream=stream)


def by_dlpack(capsule: Any) -> View:
    """The array that a capsule is of."""
    pointer, device, number, code, bits, shape, strides, read_only = _core.dlpack(capsule)
    if device not in CUDA_DEVICES:
        raise _core.UnsupportedError(f"weft: arrays on devices of DLPack's type {device} are not transformed")
    if code not in _CODES:
        raise TypeError(f"weft: numbers of DLPack's type {code} with {bits} bits are not transformed")
    dtype = np.dtype(f"{_CODES[code]}{bits // 8}")
    found = (
        row_major(shape, dtype.itemsize) if strides is None else tuple(stride * dtype.itemsize for stride in strides)
    )
    return View(pointer, shape, found, dtype, number, read_only, capsule)


def by_interface(x: Any) -> View:
    """The array that __cuda_array_interface__ tells of."""
    told = x.__cuda_array_interface__
    if told.get("mask") is not None:
        raise TypeError("weft: arrays with a mask are not transformed")
    dtype = np.dtype(told["typestr"])
    if dtype.isnative is False:
        raise TypeError("weft: arrays on GPUs whose bytes are in the other order are not transformed")
    shape = tuple(told["shape"])
    strides = told.get("strides")
    pointer, read_only = told["data"]
    found = row_major(shape, dtype.itemsize) if strides is None else tuple(strides)
    return View(pointer, shape, found, dtype, gpu_of(pointer), read_only, x)


def stream_of_interface(x: Any) -> int:
    """The stream that version 3 of __cuda_array_interface__ names; without one, the legacy default stream."""
    stream = x.__cuda_array_interface__.get("stream")
    return LEGACY_STREAM if stream is None else int(stream)
