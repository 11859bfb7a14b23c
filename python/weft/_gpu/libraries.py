"""What the libraries of arrays on GPUs are asked to do: to say where an array lies and on which stream they work,
and to make arrays, which are then of the caller's kind and on the caller's device.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from weft import _core
from weft._gpu import views
from weft._gpu.views import View

DType = np.dtype[Any]
Shape = tuple[int, ...]


class Library:
    """Objects that say where they lie, and no more: they are read, and written as `out`.

    The libraries below can do more. Axes are not negative, and types are NumPy's.
    """

    def settled(self, x: Any) -> Any:
        """The array with all that its library has put off, and of a type that NumPy has, too."""
        return x

    def stream(self, x: Any) -> int:
        """The stream on which the library works with the array now."""
        return views.stream_of_interface(x) if hasattr(x, "__cuda_array_interface__") else views.LEGACY_STREAM

    def view(self, x: Any, stream: int) -> View:
        """Where the array lies, for work on the stream."""
        if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
            return views.by_dlpack(views.capsule_of(x, stream))
        return views.by_interface(x)

    def shape(self, x: Any) -> Shape:
        """The shape of the array."""
        return tuple(x.shape) if hasattr(x, "shape") else self.view(x, self.stream(x)).shape

    def empty(self, shape: Shape, dtype: DType, like: Any) -> Any:
        """A row-major array on the device of another one."""
        raise self._cannot(like, "make another array")

    def zeros(self, shape: Shape, dtype: DType, like: Any) -> Any:
        """The same, of zeros."""
        raise self._cannot(like, "make another array")

    def assign(self, to: Any, x: Any) -> None:
        """Copies into an array of the same shape, in which the type is converted."""
        raise self._cannot(to, "copy one array to another")

    def permuted(self, x: Any, order: Sequence[int]) -> Any:
        """The array with its axes in another order."""
        if tuple(order) == tuple(range(len(order))):
            return x
        raise self._cannot(x, "change the order of axes")

    def conjugated(self, x: Any) -> Any:
        """The conjugate."""
        raise self._cannot(x, "conjugate")

    def rolled(self, x: Any, shifts: Sequence[int], axes: Sequence[int]) -> Any:
        """The array, shifted cyclically."""
        raise self._cannot(x, "shift")

    def packed(self, x: Any, shape: Shape, order: Shape, dtype: DType) -> Any:
        """A new row-major array of x cropped, or padded with zeros, to the shape, with its axes in the order."""
        part = tuple(slice(min(n, m)) for n, m in zip(x.shape, shape))
        is_padded = any(n > m for n, m in zip(shape, x.shape))
        new = (self.zeros if is_padded else self.empty)(tuple(shape[a] for a in order), dtype, x)
        self.assign(new[tuple(part[a] for a in order)], self.permuted(x[part], order))
        return new

    def filled(self, result: Any, place: View, source: View) -> Any:
        """What the caller is given for an array that the stream is yet to fill from the source."""
        return result

    def place(self, x: Any) -> Hashable:
        """How an array lies, but for its address, if that is quickly told; calls with arrays that lie alike are then
        looked up. None: this call must look closer, as all do in most libraries."""
        return None

    def pointer(self, x: Any) -> int:
        """The address of the first number, where `place` told."""
        raise NotImplementedError

    def current_stream(self, number: int) -> int | None:
        """The stream on which the library works now on a GPU, where `place` told; None: it works on another GPU."""
        raise NotImplementedError

    def maker(self, shape: Shape, dtype: DType, like: Any) -> Callable[[], Any]:
        """What makes an array as `empty` does, where current_stream gave a stream."""
        raise NotImplementedError

    def _cannot(self, x: Any, what: str) -> Exception:
        kind = type(x)
        return _core.UnsupportedError(
            f"weft: {kind.__module__}.{kind.__name__} has no functions by which weft could {what}; give `out`, an "
            "array of the result's shape and type, with both row-major and without gaps, or tell weft of the type by "
            "weft.register_adapter"
        )


class Namespace(Library):
    """Arrays of a library that follows the array-API standard."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def empty(self, shape: Shape, dtype: DType, like: Any) -> Any:
        return self.xp.empty(shape, dtype=getattr(self.xp, dtype.name), device=like.device)

    def zeros(self, shape: Shape, dtype: DType, like: Any) -> Any:
        return self.xp.zeros(shape, dtype=getattr(self.xp, dtype.name), device=like.device)

    def assign(self, to: Any, x: Any) -> None:
        to[...] = x if x.dtype == to.dtype else self.xp.astype(x, to.dtype)

    def permuted(self, x: Any, order: Sequence[int]) -> Any:
        return self.xp.permute_dims(x, tuple(order))

    def conjugated(self, x: Any) -> Any:
        return self.xp.conj(x)

    def rolled(self, x: Any, shifts: Sequence[int], axes: Sequence[int]) -> Any:
        return self.xp.roll(x, tuple(shifts), axis=tuple(axes))


class CuPy(Library):
    """cupy.ndarray."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        self.gpu, self.stream_now = cupy.cuda.runtime.getDevice, cupy.cuda.get_current_stream

    def place(self, x: Any) -> Hashable:
        return x.shape, x.strides, x.dtype, x.data.device_id

    def pointer(self, x: Any) -> int:
        return x.data.ptr  # type: ignore[no-any-return]

    def current_stream(self, number: int) -> int | None:
        return self.stream_now().ptr if self.gpu() == number else None

    def maker(self, shape: Shape, dtype: DType, like: Any) -> Callable[[], Any]:
        return partial(self.cupy.ndarray, shape, dtype)

    def stream(self, x: Any) -> int:
        with x.device:
            return int(self.stream_now().ptr)

    def view(self, x: Any, stream: int) -> View:
        return View(x.data.ptr, x.shape, x.strides, x.dtype, x.device.id, kept=x)

    def empty(self, shape: Shape, dtype: DType, like: Any) -> Any:
        with like.device:
            return self.cupy.empty(shape, dtype)

    def zeros(self, shape: Shape, dtype: DType, like: Any) -> Any:
        with like.device:
            return self.cupy.zeros(shape, dtype)

    def assign(self, to: Any, x: Any) -> None:
        with to.device:
            to[...] = x

    def permuted(self, x: Any, order: Sequence[int]) -> Any:
        return x.transpose(order)

    def conjugated(self, x: Any) -> Any:
        with x.device:
            return x.conj()

    def rolled(self, x: Any, shifts: Sequence[int], axes: Sequence[int]) -> Any:
        with x.device:
            return self.cupy.roll(x, tuple(shifts), tuple(axes))


class Torch(Library):
    """torch.Tensor on a GPU."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        # What torch.compile's own code asks; the stream that everybody may ask for is an object, which takes longer.
        self.handle = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def place(self, x: Any) -> Hashable:
        is_itself = x.dtype != self.torch.complex32 and not x.is_conj() and not x.is_neg()  # as `settled` leaves it
        return (x.shape, x.stride(), x.dtype, x.device) if is_itself else None

    def pointer(self, x: Any) -> int:
        return x.data_ptr()  # type: ignore[no-any-return]

    def current_stream(self, number: int) -> int | None:
        return int(self.handle(number) if self.handle else self.torch.cuda.current_stream(number).cuda_stream)

    def maker(self, shape: Shape, dtype: DType, like: Any) -> Callable[[], Any]:
        return partial(self.torch.empty, shape, dtype=getattr(self.torch, dtype.name), device=like.device)

    def settled(self, x: Any) -> Any:
        x = x.detach().resolve_conj().resolve_neg()
        return x.to(self.torch.complex64) if x.dtype == self.torch.complex32 else x

    def stream(self, x: Any) -> int:
        return int(self.torch.cuda.current_stream(x.device).cuda_stream)

    def view(self, x: Any, stream: int) -> View:
        if x.is_conj() or x.is_neg():
            raise TypeError("weft: a tensor that is conjugated or negated on demand only is no output")
        name = str(x.dtype).removeprefix("torch.")
        try:
            dtype = np.dtype(name)
        except TypeError:
            raise TypeError(f"weft: tensors of {x.dtype} are not transformed") from None
        strides = tuple(stride * dtype.itemsize for stride in x.stride())
        return View(x.data_ptr(), tuple(x.shape), strides, dtype, x.device.index, kept=x)

    def empty(self, shape: Shape, dtype: DType, like: Any) -> Any:
        return self.torch.empty(shape, dtype=getattr(self.torch, dtype.name), device=like.device)

    def zeros(self, shape: Shape, dtype: DType, like: Any) -> Any:
        return self.torch.zeros(shape, dtype=getattr(self.torch, dtype.name), device=like.device)

    def assign(self, to: Any, x: Any) -> None:
        to.copy_(x)

    def permuted(self, x: Any, order: Sequence[int]) -> Any:
        return x.permute(tuple(order))

    def conjugated(self, x: Any) -> Any:
        return x.conj().resolve_conj()

    def rolled(self, x: Any, shifts: Sequence[int], axes: Sequence[int]) -> Any:
        return self.torch.roll(x, tuple(shifts), tuple(axes))


class _Lent:
    """A DLPack capsule as jax.dlpack.from_dlpack takes it."""

    def __init__(self, capsule: Any, device: tuple[int, int]) -> None:
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class Jax(Library):
    """jax.Array on a GPU, outside of jax.jit.

    A result is an array of JAX's allocator that nobody else has seen. It is filled on the stream that JAX names for
    work of others, and then given to JAX anew by DLPack, from which on JAX waits for that stream.
    """

    def __init__(self, jax: Any) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self.jax, self.xp = jax, jax.numpy
        self.keeper = ThreadPoolExecutor(1, "weft-jax")

    def _device(self, x: Any) -> Any:
        (device,) = x.devices()
        return device

    def stream(self, x: Any) -> int:
        return int(self._device(x).get_stream_for_external_ready_events())

    def view(self, x: Any, stream: int) -> View:
        return views.by_dlpack(x.__dlpack__(stream=stream))._replace(read_only=True)

    def empty(self, shape: Shape, dtype: DType, like: Any) -> Any:
        return self.xp.empty(shape, dtype, device=self._device(like))

    def packed(self, x: Any, shape: Shape, order: Shape, dtype: DType) -> Any:
        part = x[tuple(slice(min(n, m)) for n, m in zip(x.shape, shape))]
        padded = self.xp.pad(part, [(0, n - m) for n, m in zip(shape, part.shape)])
        return self.permuted(padded.astype(dtype), order)

    def permuted(self, x: Any, order: Sequence[int]) -> Any:
        return self.xp.transpose(x, tuple(order))

    def conjugated(self, x: Any) -> Any:
        return self.xp.conj(x)

    def rolled(self, x: Any, shifts: Sequence[int], axes: Sequence[int]) -> Any:
        return self.xp.roll(x, tuple(shifts), tuple(axes))

    def filled(self, result: Any, place: View, source: View) -> Any:
        given = self.jax.dlpack.from_dlpack(_Lent(place.kept, result.__dlpack_device__()))
        # JAX frees memory as soon as nobody refers to it, whatever other streams still do there.
        self.keeper.submit(lambda *_: given.block_until_ready(), source.kept, result)
        return given


_BARE = Library()
_libraries: dict[Any, Library] = {}


def _made(library: Any, module: Any) -> Library:
    """The one object for a library."""
    found = _libraries.get(module)
    return _libraries.setdefault(module, library(module)) if found is None else found


def is_tensor(x: Any) -> bool:
    """Whether it is a torch.Tensor; torch is not imported for that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, getattr(torch, "Tensor", ()))


def library_of(x: Any, tensors: bool = False) -> Library | None:
    """The library of an array that lies on a GPU, or with `tensors` of a torch.Tensor anywhere; None for others."""
    if isinstance(x, (np.ndarray, np.generic, list, tuple, int, float, complex)):
        return None
    if is_tensor(x):
        return _made(Torch, sys.modules["torch"]) if x.is_cuda or tensors else None
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(x, cupy.ndarray):
        return _made(CuPy, cupy)
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        if int(x.__dlpack_device__()[0]) not in views.CUDA_DEVICES:
            return None
    elif not hasattr(x, "__cuda_array_interface__"):
        return None
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(x, jax.Array):
        return _made(Jax, jax)
    return _made(Namespace, x.__array_namespace__()) if hasattr(x, "__array_namespace__") else _BARE
