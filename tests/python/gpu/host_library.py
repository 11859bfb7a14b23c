"""A small library of arrays on a GPU, for tests.

It works on NVIDIA's driver, or on the one of tests/cuda, whose device memory is host memory that only work on streams
may touch. It follows the array-API standard as far as weft asks, and counts the arrays that it makes. Its own functions
wait; weft must not.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

float32, float64, complex64, complex128 = (np.dtype(n) for n in ("float32", "float64", "complex64", "complex128"))

is_on_host = bool(os.environ.get("WEFT_TEST_HOST_CUDA"))  # the driver is that of tests/cuda
_folder = os.environ["WEFT_CUDA_LIBRARY_PATH"] if is_on_host else ""
_driver = ctypes.CDLL(os.path.join(_folder, "libcuda.so.1"))
_NON_BLOCKING, _NOT_READY = 1, 600


def _call(name: str, *arguments: Any) -> None:
    result = getattr(_driver, name)(*arguments)
    if result != 0:
        raise RuntimeError(f"{name}: {result}")


class _Device:
    """A GPU, with its primary context."""

    def __init__(self, number: int) -> None:
        self.number, self.context = number, ctypes.c_void_p()
        device = ctypes.c_int()
        _call("cuDeviceGet", ctypes.byref(device), number)
        _call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)

    def __enter__(self) -> None:
        _call("cuCtxPushCurrent_v2", self.context)

    def __exit__(self, *_: Any) -> None:
        _call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


_call("cuInit", 0)
devices = [_Device(0), _Device(1)] if is_on_host else [_Device(0)]  # there a stream serves both


class Stream:
    """A non-blocking stream of GPU 0."""

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        with devices[0]:
            _call("cuStreamCreateWithPriority", ctypes.byref(self.handle), _NON_BLOCKING, 0)

    @property
    def number(self) -> int:
        return int(self.handle.value or 0)

    def wait(self) -> None:
        with devices[0]:
            _call("cuStreamSynchronize", self.handle)

    def is_done(self) -> bool:
        with devices[0]:
            return int(_driver.cuStreamQuery(self.handle)) != _NOT_READY


class _Memory:
    def __init__(self, size: int, device: _Device) -> None:
        self.device, self.size, self.address = device, size, ctypes.c_ulonglong()
        with device:
            _call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(max(size, 1)))

    def __del__(self) -> None:
        current.wait()
        with self.device:
            _call("cuMemFree_v2", self.address)


current = Stream()  # on which the library works
made = 0  # arrays, with memory of their own


def copy(to: int, given: int, size: int) -> None:
    """Enqueues a copy of bytes on the current stream."""
    with devices[0]:
        _call(
            "cuMemcpyAsync", ctypes.c_ulonglong(to), ctypes.c_ulonglong(given), ctypes.c_size_t(size), current.handle
        )  # fmt: skip


class Array:
    """A strided array on a GPU."""

    def __init__(self, memory: _Memory, offset: int, shape: tuple, strides: tuple, dtype: np.dtype) -> None:
        self.memory, self.offset, self.shape, self.strides, self.dtype = memory, offset, shape, strides, dtype

    device = property(lambda self: self.memory.device)
    pointer = property(lambda self: self.memory.address.value + self.offset)

    @property
    def __cuda_array_interface__(self) -> dict:
        return {
            "shape": self.shape, "strides": self.strides, "typestr": self.dtype.str, "data": (self.pointer, False),
            "version": 3, "stream": current.number,
        }  # fmt: skip

    def __array_namespace__(self, api_version: Any = None) -> Any:
        import host_library

        return host_library

    def _whole(self) -> np.ndarray:
        """A copy of the memory on the host."""
        bytes_ = np.empty(self.memory.size, np.uint8)
        with self.device:
            address = ctypes.c_ulonglong(bytes_.ctypes.data)
            _call("cuMemcpyAsync", address, self.memory.address, ctypes.c_size_t(bytes_.size), current.handle)
            _call("cuStreamSynchronize", current.handle)
        return bytes_

    def _view(self, bytes_: np.ndarray) -> np.ndarray:
        return np.ndarray(self.shape, self.dtype, bytes_, self.offset, self.strides)

    def get(self) -> np.ndarray:
        """The values, once the stream has come here."""
        return self._view(self._whole()).copy() if self.memory.size else np.empty(self.shape, self.dtype)

    def set(self, values: Any) -> None:
        if self.memory.size == 0:
            return
        bytes_ = self._whole()
        self._view(bytes_)[...] = values
        with self.device:
            address = ctypes.c_ulonglong(bytes_.ctypes.data)
            _call("cuMemcpyAsync", self.memory.address, address, ctypes.c_size_t(bytes_.size), current.handle)
            _call("cuStreamSynchronize", current.handle)

    def __getitem__(self, index: Any) -> Array:
        part = np.ndarray(self.shape, self.dtype, np.empty(self.memory.size, np.uint8), self.offset, self.strides)
        view = part[index]
        offset = self.offset + view.ctypes.data - part.ctypes.data
        return Array(self.memory, offset, view.shape, view.strides, self.dtype)

    def __setitem__(self, index: Any, values: Any) -> None:
        self[index].set(values.get())


def empty(shape: Any, dtype: Any = float64, device: Any = None) -> Array:
    global made
    made += 1
    dtype = np.dtype(dtype)
    host = np.empty(shape, dtype)
    memory = _Memory(host.nbytes, device or devices[0])
    return Array(memory, 0, host.shape, host.strides, dtype)


def zeros(shape: Any, dtype: Any = float64, device: Any = None) -> Array:
    new = empty(shape, dtype, device)
    new.set(0)
    return new


def asarray(values: Any, device: Any = None) -> Array:
    values = np.asarray(values)
    new = empty(values.shape, values.dtype, device)
    new.set(values)
    return new


def astype(x: Array, dtype: Any) -> Array:
    return asarray(x.get().astype(dtype), x.device)


def permute_dims(x: Array, order: tuple) -> Array:
    return Array(
        x.memory, x.offset, tuple(x.shape[a] for a in order), tuple(x.strides[a] for a in order), x.dtype
    )  # fmt: skip


def conj(x: Array) -> Array:
    return asarray(x.get().conj(), x.device)


def roll(x: Array, shift: tuple, axis: tuple) -> Array:
    return asarray(np.roll(x.get(), shift, axis), x.device)
