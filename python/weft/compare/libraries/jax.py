"""JAX: jax.numpy.fft under jax.jit, with 64-bit types enabled; block_until_ready waits. JAX has no setting of threads
for the processor: it has those that the process is confined to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from weft.compare.cases import Case
from weft.compare.library import Library, Unavailable, like_numpy


class JAX(Library):
    name = package = "jax"
    devices = ("cpu", "cuda")
    asynchronous = True

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        import jax
        import jax.numpy

        jax.config.update("jax_enable_x64", True)
        self.jax, self.version = jax, str(jax.__version__)
        try:
            self.place = jax.devices(device)[0]
        except RuntimeError:
            raise Unavailable(f"jax finds no device {device}") from None

    def asarray(self, host: NDArray[Any]) -> Any:
        return self.jax.device_put(host, self.place)

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        made: Callable[[Any], Any] = self.jax.jit(like_numpy(self.jax.numpy.fft, case))
        return made

    def wait(self, result: Any) -> None:
        result.block_until_ready()

    def window(self, n: int, dtype: str) -> Any:
        return self.jax.device_put(self.jax.numpy.hanning(n).astype(dtype), self.place)

    def fused(self, case: Case, window: Any) -> Callable[[Any], Any]:
        function = like_numpy(self.jax.numpy.fft, case)
        both = self.jax.jit(lambda x, w: function(x * w))
        return lambda x: both(x, window)

    def watch_memory(self) -> Callable[[], float]:
        if self.device == "cpu":
            return super().watch_memory()
        before = self.place.memory_stats()

        def grown() -> float:
            """The peak counts from the start of the process: nobody can tell where it has not grown."""
            now = self.place.memory_stats()
            risen = now["peak_bytes_in_use"] > before["peak_bytes_in_use"]
            return float(now["peak_bytes_in_use"] - before["bytes_in_use"]) if risen else math.nan

        return grown
