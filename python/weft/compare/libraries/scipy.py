"""SciPy: scipy.fft with `workers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.compare.cases import Case
from weft.compare.library import Library, like_numpy


class SciPy(Library):
    name = package = "scipy"

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        import scipy.fft
        import scipy.signal

        self.scipy, self.version = scipy, scipy.__version__

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        return like_numpy(self.scipy.fft, case, workers=self.threads)

    def window(self, n: int, dtype: str) -> Any:
        return self.scipy.signal.windows.hann(n, sym=True).astype(dtype)
