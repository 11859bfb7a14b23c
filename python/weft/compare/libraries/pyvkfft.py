"""pyvkfft: pyvkfft.fft, which caches its plans, on CuPy's arrays (CUDA) or PyOpenCL's (OpenCL)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.compare.cases import Case
from weft.compare.libraries.cupy import OnCuPy
from weft.compare.library import Library, Unavailable


def transform_of(fft: Any, case: Case) -> Callable[[Any], Any]:
    return partial(fft.rfftn if case.kind == "r2c" else fft.fftn, ndim=len(case.shape))


class PyVkFFTCUDA(OnCuPy):
    name = package = "pyvkfft"

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        import pyvkfft.fft
        import pyvkfft.version

        self.fft, self.version = pyvkfft.fft, str(pyvkfft.version.__version__)

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        return transform_of(self.fft, case)


class PyVkFFTOpenCL(Library):
    name = package = "pyvkfft"
    devices = ("opencl",)
    asynchronous = True

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        import pyopencl
        import pyopencl.array
        import pyvkfft.fft
        import pyvkfft.version

        self.opencl = pyopencl
        self.queue = pyopencl.CommandQueue(pyopencl.create_some_context(interactive=False))
        self.fft, self.version = pyvkfft.fft, str(pyvkfft.version.__version__)

    def asarray(self, host: NDArray[Any]) -> Any:
        return self.opencl.array.to_device(self.queue, host)

    def tohost(self, result: Any) -> NDArray[Any]:
        array: NDArray[Any] = result.get()
        if array.dtype.names:  # pyvkfft's complex numbers of half precision: a structure of two halves
            return array.view(np.float16).astype(np.float32).view(np.complex64)
        return array

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        return transform_of(self.fft, case)

    def wait(self, result: Any) -> None:
        self.queue.finish()

    def window(self, n: int, dtype: str) -> Any:
        raise Unavailable("PyOpenCL's arrays do not broadcast, so no window is multiplied")

    def watch_memory(self) -> Callable[[], float]:
        return lambda: math.nan
