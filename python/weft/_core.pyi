"""Types of the C part, weft._core."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NoReturn, Protocol

from numpy import dtype, ndarray

from weft.operators import Operator

_Array = ndarray[Any, dtype[Any]]
_Norm = Literal["backward", "ortho", "forward"] | None

version: str

class Error(Exception): ...
class ArgumentError(ValueError, Error): ...
class OutOfMemoryError(MemoryError, Error): ...
class UnsupportedError(NotImplementedError, Error): ...
class ExecutionError(RuntimeError, Error): ...
class ResourceError(OSError, Error): ...

class GpuTransform:
    def __new__(
        cls,
        number: int,
        in_bytes: int,
        out_bytes: int,
        kind: int,
        inverse: bool,
        norm: int,
        single: bool,
        batch: int,
        n: tuple[int, ...],
        type: int,
        before: int,
        after: int,
        storage: int,
        /,
    ) -> GpuTransform: ...
    def enqueue(self, in_: int, out: int, stream: int, /) -> None: ...

class Plan:
    def __new__(
        cls,
        shape: int | Sequence[int],
        *,
        kind: Literal["c2c", "r2c", "r2r"] = "c2c",
        precision: Literal["double", "single", "half"] = "double",
        norm: Literal["none", "backward", "ortho", "forward"] = "none",
        batch: int = 1,
        engine: str = "auto",
        device: str = "host",
        location: Literal["device", "host"] = "device",
        threads: int = 1,
        effort: Literal["estimate", "measure", "patient"] = "estimate",
        types: str | Sequence[str] | None = None,
        load: Operator | Sequence[Operator] | None = None,
        spectral: Operator | Sequence[Operator] | None = None,
        store: Operator | Sequence[Operator] | None = None,
        truncate_to: int | Sequence[int] | None = None,
    ) -> Plan: ...
    def set_parameter(self, number: int, value: float, /) -> None: ...
    def execute(self, direction: Literal["forward", "inverse"], in_: object, out: object, /) -> None: ...
    def forward(self, in_: object, out: Any = None, /) -> Any: ...
    def inverse(self, in_: object, out: Any = None, /) -> Any: ...
    def explain(self) -> str: ...
    @property
    def input_shape(self) -> tuple[int, ...]: ...
    @property
    def output_shape(self) -> tuple[int, ...]: ...
    @property
    def input_bytes(self) -> int: ...
    @property
    def output_bytes(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def precision(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def engine(self) -> str: ...
    def _enqueue(self, inverse: bool, in_: int, out: int, stream: int, /) -> None: ...

class Convolution:
    def __new__(
        cls,
        shape: Sequence[int],
        kernel: str,
        data: _Array | None,
        *,
        kind: Literal["c2c", "r2c"] = "c2c",
        precision: Literal["double", "single"] = "double",
        batch: int = 1,
        boundary: str | Sequence[str] = "periodic",
        mode: str = "full",
        length: Sequence[float] | None = None,
        origin: Sequence[int] | None = None,
        parameter: float = 0,
        order: Sequence[int] | None = None,
        zero: complex | None = None,
        correlate: bool = False,
        deconvolve: float | None = None,
        engine: str = "auto",
        device: str = "host",
        threads: int = 1,
        effort: Literal["estimate", "measure", "patient"] = "estimate",
        method: Literal["auto", "whole", "overlap-save"] = "auto",
    ) -> Convolution: ...
    def execute(self, in_: _Array, out: _Array | None = None, /) -> _Array: ...
    def set_kernel(self, array: _Array, /) -> None: ...
    def explain(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def output_shape(self) -> tuple[int, ...]: ...
    @property
    def batch(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def device(self) -> str: ...
    @property
    def engine(self) -> str: ...

class DistributedPlan:
    def __new__(
        cls,
        shape: Sequence[int],
        input: tuple[Sequence[int], Sequence[int], Sequence[int]],
        output: tuple[Sequence[int], Sequence[int], Sequence[int]],
        *,
        kind: str = "c2c",
        types: Sequence[str] | None = None,
        precision: str = "double",
        norm: str = "none",
        batch: int = 1,
        engine: str = "auto",
        device: str = "host",
        location: str = "device",
        threads: int = 1,
        effort: str = "estimate",
        chunks: int = 0,
        exchange: str | Sequence[str] | None = None,
        decomposition: str = "auto",
        variant: str = "auto",
        truncate_to: Sequence[int] | None = None,
    ) -> DistributedPlan: ...
    def create(self, context: object, /) -> None: ...
    def execute(self, direction: str, in_: int, out: int, /) -> None: ...
    def explain(self) -> str: ...
    def destroy(self) -> None: ...
    @property
    def input_bytes(self) -> int: ...
    @property
    def output_bytes(self) -> int: ...
    @property
    def memory(self) -> int: ...

def destroy_context(context: object, /) -> None: ...
def raise_status(failure: tuple[int, str], /) -> NoReturn: ...

class _OneAxis(Protocol):
    def __call__(
        self,
        x: Any,
        n: int | None = None,
        axis: int = -1,
        norm: _Norm = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: None = None,
        out: _Array | None = None,
    ) -> Any: ...

class _TwoAxes(Protocol):
    def __call__(
        self,
        x: Any,
        s: int | Sequence[int] | None = None,
        axes: int | Sequence[int] | None = (-2, -1),
        norm: _Norm = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: None = None,
        out: _Array | None = None,
    ) -> Any: ...

class _AllAxes(Protocol):
    def __call__(
        self,
        x: Any,
        s: int | Sequence[int] | None = None,
        axes: int | Sequence[int] | None = None,
        norm: _Norm = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: None = None,
        out: _Array | None = None,
    ) -> Any: ...

fft: _OneAxis
ifft: _OneAxis
rfft: _OneAxis
irfft: _OneAxis
fft2: _TwoAxes
ifft2: _TwoAxes
rfft2: _TwoAxes
irfft2: _TwoAxes
fftn: _AllAxes
ifftn: _AllAxes
rfftn: _AllAxes
irfftn: _AllAxes

def transform(
    in_: _Array,
    out: _Array,
    kind: int,
    inverse: bool,
    norm: int,
    threads: int,
    axes: tuple[int, ...],
    n: tuple[int, ...],
    type: int = 0,
    /,
) -> _Array: ...
def dlpack(capsule: object, /) -> tuple[int, int, int, int, int, tuple[int, ...], tuple[int, ...] | None, bool]: ...
def convolve(
    in_: _Array,
    kernel: _Array,
    boundaries: str | Sequence[str],
    mode: str,
    correlate: bool,
    origin: tuple[int, ...],
    threads: int,
    /,
) -> _Array: ...
def set_general(function: Callable[..., Any], /) -> None: ...
def default_workers() -> int: ...
def set_default_workers(workers: int, /) -> None: ...
def cache_limit(plans: int, bytes: int, /) -> None: ...
def cache_clear() -> None: ...
def cache_info() -> tuple[int, int, int, int, int, int, int]: ...
def engines() -> dict[str, tuple[bool, str]]: ...
def devices() -> dict[str, tuple[bool, str]]: ...
