"""ducc0: ducc0.fft.c2c and r2c with `nthreads`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from weft.compare.cases import Case
from weft.compare.library import Library


class Ducc(Library):
    name = package = "ducc0"

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        import ducc0

        self.fft, self.version = ducc0.fft, ducc0.__version__

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        function = self.fft.r2c if case.kind == "r2c" else self.fft.c2c
        axes = [x.ndim + axis for axis in case.axes]  # counted from the first
        return partial(function, axes=axes, nthreads=self.threads)
