"""What weft.fft takes as an array, and what it gives back for it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from weft import _core
from weft._gpu.libraries import is_tensor

Array = np.ndarray[Any, np.dtype[Any]]

HOST_DEVICES = (1, 3, 11)  # kDLCPU, kDLCUDAHost, kDLROCMHost of DLPack


class Taken(NamedTuple):
    """An array for the transforms, and what makes of a result the type that the caller gave."""

    array: Array
    give: Callable[[Array], Any]


def _itself(result: Array) -> Array:
    return result


def take(x: Any) -> Taken:
    """The NumPy array of what the caller gave; without a copy where it lends its memory by DLPack."""
    if isinstance(x, np.ndarray):
        return Taken(np.asarray(x), _itself)
    if is_tensor(x):
        return _take_by_dlpack(x.detach().resolve_conj().resolve_neg())
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return _take_by_dlpack(x)
    return Taken(np.asarray(x), _itself)


def _take_by_dlpack(x: Any) -> Taken:
    if int(x.__dlpack_device__()[0]) not in HOST_DEVICES:
        raise _core.UnsupportedError(
            f"weft.fft: the {type(x).__module__}.{type(x).__name__} lies on a device of a kind that this function does "
            "not transform; copy it to the host"
        )
    if hasattr(x, "__array_namespace__"):
        give = x.__array_namespace__().from_dlpack
    elif is_tensor(x):
        give = sys.modules["torch"].from_dlpack
    else:
        give = _itself
    try:
        return Taken(np.from_dlpack(x), give)
    except (BufferError, RuntimeError) as reason:
        raise _core.ArgumentError(
            f"weft.fft: the {type(x).__module__}.{type(x).__name__} does not lend its memory: {reason}"
        ) from reason


def for_transform(array: Array) -> Array:
    """The array in a type that the library transforms: single precision is kept, half is taken as single."""
    dtype = array.dtype
    if dtype.kind not in "biufc":
        raise TypeError(f"weft.fft: arrays of {dtype} are not transformed; give real or complex numbers")
    if dtype == np.float16:
        wanted: np.dtype[Any] = np.dtype(np.float32)
    elif dtype.kind in "biu":
        wanted = np.dtype(np.float64)
    else:
        wanted = dtype.newbyteorder("=")
    if dtype == wanted and array.flags.aligned:
        return array
    return array.astype(wanted)


def is_long(array: Array) -> bool:
    """Whether the numbers are of more than double precision, which the library does not have."""
    return array.dtype.kind in "fc" and array.dtype.newbyteorder("=") in (np.longdouble, np.clongdouble)


def complex_type(array: Array) -> np.dtype[Any]:
    """The complex type of the same precision."""
    single = array.dtype in (np.float32, np.complex64)
    return np.dtype(np.complex64 if single else np.complex128)


def real_type(array: Array) -> np.dtype[Any]:
    """The real type of the same precision."""
    single = array.dtype in (np.float32, np.complex64)
    return np.dtype(np.float32 if single else np.float64)
