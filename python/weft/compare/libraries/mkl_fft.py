"""Intel's MKL through mkl_fft. mkl-service, where it is installed, sets the threads, else MKL_NUM_THREADS does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.compare.cases import Case
from weft.compare.library import Library, like_numpy


class MKL(Library):
    name = package = "mkl_fft"

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        import mkl_fft

        self.mkl_fft, self.version = mkl_fft, mkl_fft.__version__
        try:
            import mkl
        except ImportError:
            return
        mkl.set_num_threads(threads)

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        return like_numpy(self.mkl_fft, case)
