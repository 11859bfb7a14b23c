"""CuPy: cupy.fft, which caches its plans; the current stream's synchronize waits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from weft.compare.cases import Case
from weft.compare.library import Library, Unavailable, like_numpy


class OnCuPy(Library):
    """A library whose arrays on the device are CuPy's."""

    devices = ("cuda",)
    asynchronous = True

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        import cupy

        if not cupy.is_available():
            raise Unavailable("cupy finds no CUDA device")
        self.cupy = cupy

    def asarray(self, host: NDArray[Any]) -> Any:
        return self.cupy.asarray(host)

    def tohost(self, result: Any) -> NDArray[Any]:
        array: NDArray[Any] = self.cupy.asnumpy(result)
        return array

    def wait(self, result: Any) -> None:
        self.cupy.cuda.get_current_stream().synchronize()

    def window(self, n: int, dtype: str) -> Any:
        # cupy.hanning is exact to single precision only: 6.5e-8 with CuPy 14.2.
        angles = self.cupy.arange(1 - n, n, 2) * (math.pi / max(n - 1, 1))
        return (0.5 + 0.5 * self.cupy.cos(angles)).astype(dtype)

    def watch_memory(self) -> Callable[[], float]:
        """What CuPy's pool has taken from the device: it gives nothing back by itself, so that is the peak, once the
        plans that were kept, and would make room for new ones meanwhile, are gone."""
        pool = self.cupy.get_default_memory_pool()
        self.cupy.fft.config.get_plan_cache().clear()
        pool.free_all_blocks()
        before = pool.total_bytes()
        return lambda: float(pool.total_bytes() - before)


class CuPy(OnCuPy):
    name = package = "cupy"

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        self.version = self.cupy.__version__

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        return like_numpy(self.cupy.fft, case)
