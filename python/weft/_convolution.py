"""weft.Convolution and weft.convolve: fields convolved with kernels by Fourier, cosine and sine transforms."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from weft import _core
from weft.fft import _arrays
from weft.fft._workers import count_workers
from weft.kernels import Kernel, Parameters, Spectrum

Array = np.ndarray[Any, np.dtype[Any]]
Boundary = Literal["periodic", "linear", "free", "dirichlet", "neumann"]
Mode = Literal["full", "same", "valid"]
Method = Literal["auto", "whole", "overlap-save"]

_TYPES = tuple(np.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))


def _refuse(what: str, sentence: str) -> _core.ArgumentError:
    return _core.ArgumentError(f"{what}: {sentence}")


# What callers give.


def _take(what: str, name: str, x: Any) -> _arrays.Taken:
    """The NumPy array of an array on the host."""
    if not isinstance(x, np.ndarray):
        kind = f"{type(x).__module__}.{type(x).__name__}"
        elsewhere = hasattr(x, "__cuda_array_interface__")
        if not elsewhere and hasattr(x, "__dlpack_device__"):
            elsewhere = int(x.__dlpack_device__()[0]) not in _arrays.HOST_DEVICES
        if elsewhere:
            sentence = (
                f"{what}: {name}, a {kind}, lies on a device, and convolutions take arrays on the host; copy it there"
            )
            raise _core.UnsupportedError(sentence)
        if getattr(x, "requires_grad", False):
            raise _core.UnsupportedError(f"{what}: convolutions have no gradients; give {name}.detach(), a {kind}")
    taken = _arrays.take(x)
    if taken.array.dtype.kind not in "biufc":
        raise _refuse(what, f"{name} is an array of {taken.array.dtype}; give real or complex numbers")
    if _arrays.is_long(taken.array):
        raise _core.UnsupportedError(f"{what}: {name} has long double precision; convert it to float64 or complex128")
    return taken


def _each(what: str, value: Any, rank: int, convert: Callable[[Any], Any]) -> tuple[Any, ...]:
    """One value for each axis, of one for all or as many."""
    values = tuple(value) if np.iterable(value) else (value,) * rank
    if len(values) != rank:
        raise _refuse(what, f"give one, or one for each of {rank} axes")
    return tuple(convert(each) for each in values)


def _origin_of(what: str, origin: Any, kernel: Array) -> tuple[int, ...]:
    """The element of displacement 0; by default the middle one, as in scipy.ndimage."""
    if origin is None:
        return tuple(m // 2 for m in kernel.shape)
    return _each(f"{what}: origin", origin, kernel.ndim, operator.index)


# Kernels that are functions of the wavenumber.


def _is_function(kernel: Any) -> bool:
    """Arrays of some libraries may be called, too."""
    return callable(kernel) and not hasattr(kernel, "__array__") and not hasattr(kernel, "__dlpack__")


def _indices(n: int, boundary: str, halved: bool) -> Array:
    """The indices j of the wavenumbers along an axis; of a periodic axis of even n with -n/2 behind the others."""
    if boundary == "dirichlet":
        return np.arange(1, n + 1)
    if boundary == "neumann":
        return np.arange(n)
    last = n // 2
    negative = np.arange(0 if halved else -((n - 1) // 2), 0)
    both = np.array([-last] if n % 2 == 0 else [], int)
    return np.concatenate((np.arange(last + 1), negative, both))


def _values_of(function: Callable[..., Any], grid: list[Array], zero: complex | None) -> Array:
    """The values of a function of the wavenumbers, which are finite, on a grid."""
    wanted = tuple(len(k) for k in grid)
    with np.errstate(divide="ignore", invalid="ignore"):
        given = np.asarray(function(*np.ix_(*grid)))
    try:
        values = np.array(np.broadcast_to(given, wanted), np.complex128)
    except (ValueError, TypeError) as reason:
        raise _refuse(
            "Convolution",
            f"the kernel's function gave an array of {given.dtype} and shape {given.shape}, which does not fit the "
            f"wavenumbers' shape {wanted}",
        ) from reason
    if zero is not None and all(k[0] == 0 for k in grid):
        values[(0,) * len(grid)] = zero
    finite = np.isfinite(values)
    if not finite.all():
        where = np.unravel_index(int(np.argmin(finite)), wanted)
        at = ", ".join(f"{k[i]:g}" for k, i in zip(grid, where))
        sentence = f"the kernel's function is not finite at the wavenumber ({at}); `zero` gives its value at 0"
        raise _refuse("Convolution", sentence)
    return values


def _spectrum_of(
    function: Callable[..., Any],
    shape: tuple[int, ...],
    boundary: tuple[str, ...],
    length: tuple[float, ...] | None,
    real: bool,
    zero: complex | None,
) -> Array:
    """The values of a function of the wavenumbers as the library takes them.

    Index n/2 of a periodic axis stands for the wavenumber and its negative: the mean of both.
    """
    reflects = [name in ("dirichlet", "neumann") for name in boundary]
    fourier = [a for a in range(len(shape)) if not reflects[a]]
    grid = []
    for a, n in enumerate(shape):
        extent = length[a] if length is not None and length[a] > 0 else float(n)
        j = _indices(n, boundary[a], real and a == max(fourier, default=-1))
        grid.append(j * (math.pi if reflects[a] else 2 * math.pi) / extent)
    values = _values_of(function, grid, zero)
    if real and not fourier and values.imag.any():
        raise _refuse("Convolution", "the kernel's function is complex, and the field is real without a periodic axis")
    for a in fourier:
        if shape[a] % 2 == 0:
            along = np.moveaxis(values, a, 0)
            along[shape[a] // 2] = (along[shape[a] // 2] + along[-1]) / 2
            values = np.moveaxis(along[:-1], 0, a)
    return np.ascontiguousarray(values)


class Convolution:
    """A convolution of fields of one shape with a kernel, planned once and executed as often as wanted.

    The kernel is an array in real space; one of weft.kernels; or a function of the wavenumbers, which is called once with
    an array for each axis, of shapes that broadcast to the grid's, and gives the kernel's spectrum there. For an array
    the result at i is the sum over j of kernel[j] field[i - j + origin].

    - boundary: what the field is beyond its box, one name for all axes or one for each. "periodic": it repeats itself.
      "linear": zero, and the result has the extents that mode says, which is scipy.signal.convolve's. "free": zero, and
      the result has the field's extents; the kernels Poisson and ScreenedPoisson are those of unbounded space.
      "dirichlet": odd about both faces, so 0 there. "neumann": even about both faces, so without slope there. Points
      are the middles of cells: of n points along a length L, point j lies at (j + 1/2) L / n.
    - origin: the kernel's element of displacement 0, one number for all axes or one for each. By default the middle one,
      m // 2 of m, as in scipy.ndimage; with 0 the kernel lies as a filter of weft.fft does. Of linear axes it does not
      matter. Along Dirichlet and Neumann axes the kernel is symmetric about its origin, or, with origin 0, the half of
      such a kernel.
    - correlate: the kernel reversed and conjugated, as scipy.signal.correlate.
    - deconvolve: a number r of 0 or more divides by the kernel's spectrum K: multiplies by conj(K) / (|K|^2 + r).
    - length: of the field's box along each axis; by default the number of points.
    - zero: the spectrum at wavenumber 0, where a built-in kernel's is infinite.
    - dtype: of field, kernel and result: float32, float64, complex64 or complex128.
    - batch: with more than 1 the arrays have an axis more, the first.
    - Kernels that make vectors or tensors, or take them, have the components as an axis, the first or behind the batch's.
    - method: "whole" transforms the field at once; "overlap-save", for arrays and linear axes, tile by tile in the cache.
      "auto" takes the one that is estimated to be faster.
    - engine, device, threads, effort: as of weft.Plan. Arrays lie on the host, also with a GPU as device.

    Threads that share a convolution take turns. Raises weft.Error.

    >>> import numpy as np, weft
    >>> blur = weft.Convolution((64, 64), weft.kernels.Gaussian(2.0))
    >>> bool(np.allclose(blur(np.ones((64, 64))), 1))
    True
    """

    def __init__(
        self,
        shape: int | Sequence[int],
        kernel: Any,
        *,
        dtype: Any = np.float64,
        boundary: Boundary | Sequence[Boundary] = "periodic",
        mode: Mode = "full",
        correlate: bool = False,
        deconvolve: float | None = None,
        origin: int | Sequence[int] | None = None,
        length: float | Sequence[float] | None = None,
        zero: complex | None = None,
        batch: int = 1,
        engine: str = "auto",
        device: str = "host",
        threads: int = 1,
        effort: Literal["estimate", "measure", "patient"] = "estimate",
        method: Method = "auto",
    ) -> None:
        extents = tuple(operator.index(n) for n in shape) if isinstance(shape, Sequence) else (operator.index(shape),)
        rank = len(extents)
        self.dtype = np.dtype(dtype).newbyteorder("=")
        if self.dtype not in _TYPES:
            raise _refuse("Convolution", f"dtype is {self.dtype}; give float32, float64, complex64 or complex128")
        boundaries = _each(
            "Convolution: boundary", (boundary,) * rank if isinstance(boundary, str) else boundary, rank, str
        )
        lengths = None if length is None else _each("Convolution: length", length, rank, float)
        origins = None
        if isinstance(kernel, Spectrum):
            kind, parameters = kernel.kind, Parameters(self._values(kernel))
        elif isinstance(kernel, Kernel):
            kind, parameters = kernel.kind, kernel.parameters(rank)
        elif _is_function(kernel):
            kind, parameters = Spectrum.kind, Parameters()
            if min(extents, default=0) > 0:
                values = _spectrum_of(kernel, extents, boundaries, lengths, self.dtype.kind == "f", zero)
                parameters = Parameters(self._values(Spectrum(values)))
        else:
            weights = self._kernel(kernel, rank)
            kind, parameters = "array", Parameters(weights)
            origins = _origin_of("Convolution", origin, weights)
        if origins is None and origin is not None:
            raise _refuse("Convolution", "origin is of kernels that are arrays; leave it out")
        self._library = _core.Convolution(
            extents,
            kind,
            parameters.data,
            kind="c2c" if self.dtype.kind == "c" else "r2c",
            precision="single" if self.dtype.name in ("float32", "complex64") else "double",
            batch=batch,
            boundary=boundaries,
            mode=mode,
            length=lengths,
            origin=origins,
            parameter=parameters.parameter,
            order=parameters.order,
            zero=None if zero is None else complex(zero),
            correlate=correlate,
            deconvolve=None if deconvolve is None else float(deconvolve),
            engine=engine,
            device=device,
            threads=threads,
            effort=effort,
            method=method,
        )
        self._spectral = kind == Spectrum.kind
        self._pads = any(name in ("linear", "free") for name in boundaries)
        self.shape: tuple[int, ...] = self._library.shape
        self.output_shape: tuple[int, ...] = self._library.output_shape

    def _kernel(self, kernel: Any, rank: int) -> Array:
        """The kernel's array as the library takes it."""
        array = _take("Convolution", "kernel", kernel).array
        if array.ndim != rank:
            raise _refuse("Convolution", f"the kernel has {array.ndim} axes, and the field {rank}")
        if array.dtype.kind == "c" and self.dtype.kind != "c":
            raise _refuse("Convolution", f"the kernel is complex, and dtype {self.dtype}; give a complex one")
        return np.ascontiguousarray(array, self.dtype)

    def _values(self, kernel: Spectrum) -> Array:
        """A kernel's spectrum as the library takes it."""
        single = self.dtype in (np.dtype(np.float32), np.dtype(np.complex64))
        values = _take("Convolution", "the kernel's spectrum", kernel.values).array
        return np.ascontiguousarray(values, np.complex64 if single else np.complex128)

    def _field(self, array: Array) -> Array:
        """The field as the library takes it."""
        if array.shape != self.shape:
            raise _refuse(
                "Convolution", f"the field has the shape {array.shape}, and the convolution takes {self.shape}"
            )
        if not np.can_cast(array.dtype, self.dtype, "safe"):
            sentence = (
                f"the field is {array.dtype}, which {self.dtype} does not hold; convert it, or give another dtype"
            )
            raise _refuse("Convolution", sentence)
        return np.require(array, self.dtype, ["C_CONTIGUOUS", "ALIGNED"])

    def _check_out(self, out: Any) -> None:
        if not isinstance(out, np.ndarray):
            raise TypeError(f"Convolution: out is a {type(out).__name__}; give a NumPy array")
        if out.shape != self.output_shape or out.dtype != self.dtype:
            sentence = (
                f"out is {out.dtype} of shape {out.shape}, and the result {self.dtype} of shape {self.output_shape}"
            )
            raise _refuse("Convolution", sentence)
        if not out.flags.writeable:
            raise _refuse("Convolution", "out is read-only")

    def __call__(self, array: Any, out: Array | None = None) -> Any:
        """The field convolved with the kernel: out, or a new array of the field's library.

        out may be the field itself, or overlap with it.
        """
        taken = _take("Convolution", "the field", array)
        field = self._field(taken.array)
        if out is None:
            return taken.give(self._library.execute(field))
        self._check_out(out)
        if out.flags.carray and not np.may_share_memory(field, out):
            return self._library.execute(field, out)
        if out is field and not self._pads and out.flags.carray:
            return self._library.execute(out, out)
        out[...] = self._library.execute(field)
        return out

    def set_kernel(self, kernel: Any) -> None:
        """Gives a convolution whose kernel is an array, in real space or a Spectrum, another one of the same shape."""
        if isinstance(kernel, Spectrum) != self._spectral:
            raise _refuse("Convolution", "a new kernel is in the same space as the one before; make another convolution")
        if isinstance(kernel, Spectrum):
            self._library.set_kernel(self._values(kernel))
        else:
            self._library.set_kernel(self._kernel(kernel, len(self.shape) - (self._library.batch > 1)))

    def explain(self) -> str:
        """What the convolution does, step by step, and why."""
        return self._library.explain()

    @property
    def memory(self) -> int:
        """Bytes that the convolution holds, the kernel's spectrum included."""
        return self._library.memory

    @property
    def batch(self) -> int:
        """As given."""
        return self._library.batch

    @property
    def device(self) -> str:
        """'host', 'cuda:0', ..."""
        return self._library.device

    @property
    def engine(self) -> str:
        """The engine that computes."""
        return self._library.engine


def _convolved_axes(axes: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(rank))
    numbers = [operator.index(axis) for axis in (axes if isinstance(axes, Sequence) else (axes,))]
    for axis in numbers:
        if not -rank <= axis < rank:
            raise _refuse("convolve", f"axis {axis} is out of bounds of an array of {rank} axes")
    found = tuple(axis % rank for axis in numbers)
    if len(set(found)) < len(found):
        raise _refuse("convolve", f"axes {tuple(numbers)} name an axis twice")
    return found


def convolve(
    array: Any,
    kernel: Any,
    mode: Mode = "full",
    *,
    boundary: Boundary | Sequence[Boundary] = "linear",
    axes: int | Sequence[int] | None = None,
    correlate: bool = False,
    origin: int | Sequence[int] | None = None,
    workers: int | None = None,
) -> Any:
    """The convolution of an array with a kernel, which is an array too: by default what scipy.signal.convolve gives.

    mode, boundary, correlate and origin are those of weft.Convolution. axes are the axes that are convolved, one for each of
    the kernel's; along the others the array is as many fields, each convolved with the kernel. Without it the kernel
    has as many axes as the array. Single precision stays single where both are single; integers become double.
    workers are threads; the default is weft.fft's.

    Plans are kept in weft.plan_cache and serve all kernels of a shape. A built-in kernel is for weft.Convolution.

    >>> import weft
    >>> (weft.convolve([1, 2, 3], [0, 1, 0.5]).round(12) + 0).tolist()
    [0.0, 1.0, 2.5, 4.0, 1.5]
    """
    if isinstance(kernel, Kernel) or _is_function(kernel):
        name = type(kernel).__name__
        raise _refuse("convolve", f"the kernel is a {name}, not an array; make a weft.Convolution, which plans it once")
    taken = _take("convolve", "the array", array)
    field, weights = taken.array, _take("convolve", "the kernel", kernel).array
    convolved = _convolved_axes(axes, field.ndim)
    if weights.ndim != len(convolved) or not convolved:
        raise _refuse("convolve", f"the kernel has {weights.ndim} axes, and the array {len(convolved)} to convolve")
    field, weights = _arrays.for_transform(field), _arrays.for_transform(weights)
    dtype = np.result_type(field.dtype, weights.dtype)
    others = tuple(a for a in range(field.ndim) if a not in convolved)
    moved = np.transpose(field, others + convolved)
    batch, extents = moved.shape[: len(others)], moved.shape[len(others) :]
    fields = np.ascontiguousarray(moved, dtype).reshape(math.prod(batch), *extents)
    weights = np.ascontiguousarray(weights, dtype)
    result = _core.convolve(
        fields, weights, boundary, mode, correlate, _origin_of("convolve", origin, weights), count_workers(workers)
    )
    result = result.reshape(batch + result.shape[1:])
    return taken.give(np.transpose(result, np.argsort(others + convolved)))
