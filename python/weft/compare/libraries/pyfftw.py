"""pyFFTW: an FFTW object made by pyfftw.builders, planned with the effort that is asked for, on aligned arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from weft.compare.cases import Case
from weft.compare.library import Library, like_numpy


class PyFFTW(Library):
    name = package = "pyfftw"

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        import pyfftw

        self.pyfftw, self.version = pyfftw, pyfftw.__version__

    def asarray(self, host: NDArray[Any]) -> Any:
        return self.pyfftw.byte_align(host.copy())

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        effort = f"FFTW_{self.effort.upper()}"
        build = like_numpy(self.pyfftw.builders, case, threads=self.threads, planner_effort=effort)
        made: Callable[[Any], Any] = build(x)
        return made
