"""weft: weft.fft on the processor and, with CuPy's arrays, on a GPU, and weft.Plan with OpenCL. Beside them plans that
write into an array that is there already: of weft's own engine and of FFTW on the processor, of the default engine on a
GPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import weft
from weft.compare.cases import COMPLEX_TYPES, Case
from weft.compare.libraries.cupy import OnCuPy
from weft.compare.library import Library, Unavailable, like_numpy


def require(kind: str, name: str) -> None:
    """Raises Unavailable where weft itself, or its engine or device of that name, is not there."""
    try:
        usable, reason = (weft.engines() if kind == "engine" else weft.devices())[name]
    except ImportError as error:
        raise Unavailable(str(error)) from None
    if not usable:
        raise Unavailable(reason)


def plan_of(case: Case, **options: Any) -> weft.Plan:
    kind: Any = case.kind
    precision: Any = case.precision
    return weft.Plan(case.shape, kind=kind, precision=precision, batch=case.batch, **options)


def windowed(case: Case, window: NDArray[Any]) -> weft.operators.Operator:
    """The operator that multiplies the last axis by a window's factors as the plan loads it."""
    return weft.operators.table(*[None] * (len(case.shape) - 1), window)


def empty_spectrum(plan: weft.Plan, case: Case, empty: Callable[..., Any]) -> Any:
    """An array for the result. In half precision, for which NumPy has no complex type, it holds pairs of halves."""
    if case.precision == "half":
        return empty((*plan.output_shape, 2), "float16")
    return empty(plan.output_shape, COMPLEX_TYPES[case.precision])


def widened(result: NDArray[Any]) -> NDArray[Any]:
    """Pairs of halves as complex numbers of single precision; any other array as it is."""
    return result.astype(np.float32).view(np.complex64)[..., 0] if result.dtype == np.float16 else result


class Weft(Library):
    name = package = "weft"

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        require("engine", "native")
        import weft.fft

        self.fft, self.version = weft.fft, weft.__version__

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        return like_numpy(self.fft, case, workers=self.threads)


class WeftPlan(Library):
    name, package = "weft-plan", "weft"
    engine = "native"

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        require("engine", self.engine)
        self.version = weft.__version__

    def transform(self, case: Case, x: Any, **operators: Any) -> Callable[[Any], Any]:
        plan = plan_of(case, engine=self.engine, threads=self.threads, effort=self.effort, **operators)
        out = empty_spectrum(plan, case, np.empty)
        return lambda x: plan.forward(x, out)

    def fused(self, case: Case, window: Any) -> Callable[[Any], Any]:
        return self.transform(case, None, load=windowed(case, window))

    def tohost(self, result: Any) -> NDArray[Any]:
        return widened(result)


class WeftFFTW(WeftPlan):
    name = "weft-fftw"
    engine = "fftw"

    def fused(self, case: Case, window: Any) -> Callable[[Any], Any]:
        raise Unavailable("applies operators in a pass of their own")


class WeftCUDA(OnCuPy):
    """weft.fft enqueues on CuPy's current stream and does not wait."""

    name = package = "weft"

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        require("device", "cuda")
        import weft.fft

        self.fft, self.version = weft.fft, weft.__version__

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        return like_numpy(self.fft, case)

    def watch_memory(self) -> Callable[[], float]:
        """What CuPy's pool and the plan cache have taken: CuPy does not see the memory of plans."""
        weft.plan_cache.clear()
        arrays = super().watch_memory()
        return lambda: arrays() + weft.plan_cache.info().bytes


class WeftPlanCUDA(OnCuPy):
    """Plans that are given the addresses of CuPy's arrays. An execution begins after what CuPy enqueued on its default
    stream, and is done when the call returns; what CuPy does besides, such as a product with a window, is waited for as
    CuPy says."""

    name, package = "weft-plan", "weft"

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        require("device", "cuda")
        self.version, self.plan_bytes = weft.__version__, 0

    def transform(self, case: Case, x: Any, **operators: Any) -> Callable[[Any], Any]:
        plan = plan_of(case, device="cuda", location="device", **operators)
        out = empty_spectrum(plan, case, self.cupy.empty)
        self.plan_bytes = plan.memory

        def forward(x: Any) -> Any:
            plan.execute("forward", x.data.ptr, out.data.ptr)
            return out

        return forward

    def fused(self, case: Case, window: Any) -> Callable[[Any], Any]:
        return self.transform(case, None, load=windowed(case, self.cupy.asnumpy(window)))

    def tohost(self, result: Any) -> NDArray[Any]:
        return widened(super().tohost(result))

    def watch_memory(self) -> Callable[[], float]:
        self.plan_bytes = 0
        arrays = super().watch_memory()
        return lambda: arrays() + self.plan_bytes


class WeftOpenCL(Library):
    """Plans of arrays of the host, which are brought to the device and back: a plan's memory on the device belongs to
    an OpenCL context of its own."""

    name = package = "weft"
    devices = ("opencl",)
    transfers_only = True

    def __init__(self, device: str, threads: int, effort: str) -> None:
        super().__init__(device, threads, effort)
        require("device", "opencl")
        self.version = weft.__version__

    def transform(self, case: Case, x: Any) -> Callable[[Any], Any]:
        plan = plan_of(case, device="opencl", location="host")
        out = empty_spectrum(plan, case, np.empty)
        return lambda x: plan.forward(x, out)

    def tohost(self, result: Any) -> NDArray[Any]:
        return widened(result)

    def watch_memory(self) -> Callable[[], float]:
        return lambda: math.nan
