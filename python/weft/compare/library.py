"""What `weft compare` asks of a library: one small class, in one file of weft.compare.libraries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.compare import memory
from weft.compare.cases import Case


class Unavailable(Exception):
    """A library, or a part of it, that cannot be measured here: one clause that says why."""


class Library:
    """A library on one device, used as its own documentation says. `name` is its name in tables, `package` what is
    imported, and `__init__` imports it (ImportError or Unavailable where it is not there) and tells it the threads.
    `effort`, estimate or measure, is what planning may take where a library lets one choose. Arrays are of the
    library's own kind and lie on its device. Anything may raise Unavailable."""

    name: str
    package: str
    devices: tuple[str, ...] = ("cpu",)
    asynchronous = False  # whether calls return before the result is there
    transfers_only = False  # whether a call takes arrays of the host and brings them to the device and back itself

    version: str
    threads: int  # that it really uses, at most

    def __init__(self, device: str, threads: int, effort: str) -> None:
        self.device, self.threads, self.effort = device, threads, effort

    def asarray(self, host: NDArray[Any]) -> Any:
        """The array of the host as the library's own, on the device."""
        return host

    def tohost(self, result: Any) -> NDArray[Any]:
        return np.asarray(result)

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        """The forward transform that does not scale, as a function of arrays like x; plans it where that is asked
        for."""
        raise NotImplementedError

    def wait(self, result: Any) -> None:
        """Returns when the result is there; asynchronous libraries say how."""

    def window(self, n: int, dtype: str) -> Any:
        """The symmetric Hann window of n points, as the library makes it."""
        return np.hanning(n).astype(dtype)

    def fused(self, case: Case, window: Any) -> Callable[[Any], Any]:
        """Window and transform in one call that stores no windowed array."""
        raise Unavailable("offers no transform that applies a window itself, from Python")

    def watch_memory(self) -> Callable[[], float]:
        """A function that tells how many bytes more than now the library has held meanwhile; NaN where nobody can
        tell."""
        return memory.watch()


def like_numpy(module: Any, case: Case, axes: str = "axes", **options: Any) -> Callable[[Any], Any]:
    """The function for a case of a module with numpy.fft's names: fft, rfft, fftn or rfftn. `axes` is what it calls
    the axes, which are left out where they are all."""
    several = len(case.shape) > 1
    function = getattr(module, ("r" if case.kind == "r2c" else "") + ("fftn" if several else "fft"))
    if several and not case.all_axes:
        options[axes] = case.axes
    return partial(function, **options) if options else function
