"""NumPy: numpy.fft, which has one thread and computes half precision in single."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from weft.compare.cases import Case
from weft.compare.library import Library, like_numpy


class NumPy(Library):
    name = package = "numpy"

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, 1, effort)
        self.version = numpy.__version__

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        return like_numpy(numpy.fft, case)
