"""NVIDIA's libraries, as far as Python asks them itself: where NVRTC is, and on which GPU memory is."""

from __future__ import annotations

import ctypes
import functools
import glob
import os
import sys


@functools.cache
def find_nvrtc() -> None:
    """Loads NVRTC from NVIDIA's packages for Python, for the library to find it where the loader would not.

    Does nothing where WEFT_CUDA_LIBRARY_PATH says where it is, or where the loader knows.
    """
    if os.environ.get("WEFT_CUDA_LIBRARY_PATH"):
        return
    for version in (13, 12):
        try:
            ctypes.CDLL(f"libnvrtc.so.{version}")
            return
        except OSError:
            pass
    for folder in sys.path:
        for path in sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", "libnvrtc.so.1[23]")), reverse=True):
            try:
                ctypes.CDLL(path)
                return
            except OSError:
                pass


_DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


@functools.cache
def _driver() -> ctypes.CDLL:
    for folder in os.environ.get("WEFT_CUDA_LIBRARY_PATH", "").split(":"):
        path = os.path.join(folder, "libcuda.so.1")
        if folder and os.path.exists(path):
            return ctypes.CDLL(path)
    return ctypes.CDLL("libcuda.so.1")


def gpu_of(pointer: int) -> int:
    """The number of the GPU in whose memory an address is; 0 for those of empty arrays."""
    number = ctypes.c_int(0)
    if pointer == 0:
        return 0
    result = _driver().cuPointerGetAttribute(ctypes.byref(number), _DEVICE_ORDINAL, ctypes.c_ulonglong(pointer))
    if result != 0:
        raise ValueError(f"weft: the driver knows of no GPU with an array at {pointer:#x} (CUresult {result})")
    return number.value
