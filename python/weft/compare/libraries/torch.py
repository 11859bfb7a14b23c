"""PyTorch: torch.fft on the processor or a CUDA GPU, whose work torch.cuda.synchronize waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from weft.compare.cases import Case
from weft.compare.library import Library, Unavailable, like_numpy


class Torch(Library):
    name = package = "torch"
    devices = ("cpu", "cuda")

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        import torch

        if device == "cuda" and not torch.cuda.is_available():
            raise Unavailable("torch finds no CUDA device")
        torch.set_num_threads(threads)
        self.torch, self.version = torch, str(torch.__version__)
        self.asynchronous = device == "cuda"

    def asarray(self, host: NDArray[Any]) -> Any:
        return self.torch.from_numpy(host).to(self.device)

    def tohost(self, result: Any) -> NDArray[Any]:
        if result.dtype == self.torch.complex32:  # NumPy has no such type
            result = result.to(self.torch.complex64)
        array: NDArray[Any] = result.cpu().numpy()
        return array

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        return like_numpy(self.torch.fft, case, axes="dim")

    def wait(self, result: Any) -> None:
        if self.asynchronous:
            self.torch.cuda.synchronize()

    def window(self, n: int, dtype: str) -> Any:
        return self.torch.hann_window(n, periodic=False, dtype=getattr(self.torch, dtype), device=self.device)

    def watch_memory(self) -> Callable[[], float]:
        if not self.asynchronous:
            return super().watch_memory()
        cuda = self.torch.cuda
        cuda.synchronize()
        cuda.reset_peak_memory_stats()
        before = cuda.memory_allocated()
        return lambda: float(cuda.max_memory_allocated() - before)
