"""What weft asks of PyTorch and JAX for arrays on GPUs, with arrays on the host in their place.

Addresses, shapes, strides and memory are as they would be, and NumPy computes what the GPU would at the addresses that
weft names.
"""

from __future__ import annotations

import ctypes
import types

import numpy as np
import pytest

import weft.fft
from weft._gpu import calls as remembered
from weft._gpu import libraries, transforms, views

NORMS = {1: "backward", 2: "ortho", 3: "forward"}


def memory(pointer: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(pointer), dtype).reshape(shape)


@pytest.fixture
def enqueued(monkeypatch):
    """Computes what is enqueued, and tells the streams and addresses."""
    calls = []

    class GpuTransform:
        def __init__(self, number, in_bytes, out_bytes, kind, inverse, norm, single, batch, n, *rest) -> None:
            half, axes = (*n[:-1], n[-1] // 2 + 1), tuple(range(1, len(n) + 1))
            real, cmplx = ((np.float64, np.complex128), (np.float32, np.complex64))[single]
            before = half if kind and inverse else n, np.dtype(cmplx if not kind or inverse else real)
            if rest[-1]:
                before = n, np.dtype(["u1", "i2", "u2", "f2", "f4", "f8"][rest[-1] - 1])
            after = half if kind and not inverse else n, np.dtype(real if kind and inverse else cmplx)
            function = getattr(np.fft, ("i" if inverse else "") + ("rfftn" if kind else "fftn"))

            def enqueue(given, place, stream):
                calls.append((stream, given, place))
                x, result = memory(given, (batch, *before[0]), before[1]), memory(place, (batch, *after[0]), after[1])
                assert (x.nbytes, result.nbytes) == (in_bytes, out_bytes)
                result[...] = function(x, n, axes, NORMS[norm])

            self.enqueue = enqueue

    monkeypatch.setattr(transforms._core, "GpuTransform", GpuTransform)
    transforms._layout.cache_clear()
    remembered._calls.clear()
    yield calls
    transforms._layout.cache_clear()
    remembered._calls.clear()


class OfTorch:
    def __init__(self, monkeypatch) -> None:
        self.torch = pytest.importorskip("torch")
        self.library = libraries.Torch(self.torch)
        monkeypatch.setattr(self.library, "stream", lambda x: 7)
        monkeypatch.setattr(self.library, "current_stream", lambda number: 7)

    def array(self, values):
        return self.torch.from_numpy(values.copy())

    def values(self, x):
        assert isinstance(x, self.torch.Tensor)
        return x.numpy()

    def pointer(self, x):
        return x.data_ptr()

    def turned(self, x, order):
        return x.permute(order)

    def shape(self, x):
        return tuple(x.shape)


class OfJax:
    def __init__(self, monkeypatch) -> None:
        self.jax = pytest.importorskip("jax")
        self.library = libraries.Jax(self.jax)
        monkeypatch.setattr(views, "CUDA_DEVICES", (1,))
        monkeypatch.setattr(self.library, "stream", lambda x: None)

    def array(self, values):
        with self.jax.enable_x64(True):
            return self.jax.numpy.asarray(values)

    def values(self, x):
        assert isinstance(x, self.jax.Array)
        return np.asarray(x)

    def pointer(self, x):
        return x.unsafe_buffer_pointer()

    def turned(self, x, order):
        return self.jax.numpy.transpose(x, order)

    def shape(self, x):
        return x.shape


class HostCuPy:
    """As much of CuPy as weft asks for, with NumPy's arrays for its own."""

    class Device:
        def __init__(self, number) -> None:
            self.id = number

        def __enter__(self) -> None:
            self.before, HostCuPy.current = HostCuPy.current, self.id

        def __exit__(self, *_) -> None:
            HostCuPy.current = self.before

    class ndarray:
        def __init__(self, shape, dtype=None, of=None) -> None:
            self.of = np.empty(shape, dtype) if of is None else of
            self.shape, self.strides, self.dtype = self.of.shape, self.of.strides, self.of.dtype
            self.data = types.SimpleNamespace(ptr=self.of.ctypes.data, device_id=0)
            self.device = HostCuPy.Device(0)

        def __getitem__(self, item):
            return HostCuPy.ndarray((), of=self.of[item])

        def __setitem__(self, item, value) -> None:
            self.of[item] = value.of

        def transpose(self, order):
            return HostCuPy.ndarray((), of=self.of.transpose(order))

    def __init__(self) -> None:
        stream = types.SimpleNamespace(ptr=7)
        runtime = types.SimpleNamespace(getDevice=lambda: HostCuPy.current)
        self.cuda = types.SimpleNamespace(runtime=runtime, get_current_stream=lambda: stream)
        self.empty = self.ndarray
        self.zeros = lambda shape, dtype: self.ndarray((), of=np.zeros(shape, dtype))


HostCuPy.current = 0


class OfCuPy:
    def __init__(self, monkeypatch) -> None:
        self.library = libraries.CuPy(HostCuPy())

    def array(self, values):
        return HostCuPy.ndarray((), of=values.copy())

    def values(self, x):
        assert isinstance(x, HostCuPy.ndarray)
        return x.of

    def pointer(self, x):
        return x.data.ptr

    def turned(self, x, order):
        return x.transpose(order)

    def shape(self, x):
        return x.shape


@pytest.fixture(params=[OfCuPy, OfTorch, OfJax], ids=["cupy", "torch", "jax"])
def of(request, monkeypatch):
    made = request.param(monkeypatch)
    for module in (libraries, weft.fft._transforms, transforms):
        monkeypatch.setattr(module, "library_of", lambda x, tensors=False: made.library)
    if isinstance(made, OfJax):
        with made.jax.enable_x64(True):
            yield made
    else:
        yield made


CASES = [
    ("fft", (None, -1), (3, 8)), ("ifft", (None, 0), (3, 8)), ("fft", (5, 1), (3, 8)), ("fft", (12, 0), (3, 8)),
    ("rfft", (None, -1), (3, 9)), ("irfft", (None, -1), (3, 5)), ("irfft", (9, 0), (6, 4)),
    ("fft2", (None, (-2, -1)), (2, 3, 4)), ("rfftn", ((4, 6), (2, 0)), (2, 3, 4)),
    ("irfftn", ((3, 7), (2, 1)), (2, 3, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "shape"), CASES)
def test_results_are_numpys(of, enqueued, rng, name, arguments, shape):
    values = rng.standard_normal(shape)
    if not name.startswith("r"):
        values = values + 1j * rng.standard_normal(shape)
    for dtype in (values.dtype, values.astype(np.complex64 if values.dtype.kind == "c" else np.float32).dtype):
        given = values.astype(dtype)
        for norm in (None, "ortho", None):
            result = of.values(getattr(weft.fft, name)(of.array(given), *arguments, norm))
            wanted = getattr(np.fft, name)(given, *arguments, norm)
            assert result.dtype == wanted.dtype
            assert np.allclose(result, wanted, atol=1e-4)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["rfft", "fft", "ifft"])
def test_real_numbers_are_converted_as_they_are_loaded(of, enqueued, rng, name, dtype):
    values = rng.integers(0, 200, (3, 16)).astype(dtype)
    x = of.array(values)
    for given in (x, of.turned(x, (1, 0))):
        result = of.values(getattr(weft.fft, name)(given, axis=of.shape(given).index(16)))
        wanted = getattr(np.fft, name)(of.values(given), axis=of.shape(given).index(16))
        single = dtype in ("float16", "float32")
        assert result.dtype == (np.complex64 if single else np.complex128)
        assert np.allclose(result, wanted, rtol=1e-4, atol=1e-2)
        if given is x or not isinstance(of, OfJax):  # JAX's arrays are row-major
            assert (enqueued[-1][1] == of.pointer(given)) == (name != "ifft")


def test_the_memory_is_the_arrays_own(of, enqueued, rng):
    x = of.array(rng.standard_normal((4, 16)) + 0j)
    result = weft.fft.fft(x)
    (stream, given, place) = enqueued[-1]
    assert stream == of.library.stream(x)
    assert given == of.pointer(x)
    assert place == of.pointer(result)


def test_the_order_of_axes_in_memory_is_kept(enqueued, rng, monkeypatch):
    of = OfTorch(monkeypatch)
    monkeypatch.setattr(weft.fft._transforms, "library_of", lambda x: of.library)
    values = rng.standard_normal((4, 6, 8)) + 0j
    turned = of.turned(of.array(values), (2, 0, 1))
    result = weft.fft.fftn(turned, axes=(0, 2))
    assert enqueued[-1][1] == turned.data_ptr()
    assert result.stride() == turned.stride()
    assert np.allclose(result.numpy(), np.fft.fftn(values.transpose(2, 0, 1), axes=(0, 2)))
    out = of.torch.empty(8, 4, 6, dtype=of.torch.complex64)
    monkeypatch.setattr(transforms, "library_of", lambda x: of.library)
    assert weft.fft.fft(turned, axis=1, out=out) is out
    assert np.allclose(out.numpy(), np.fft.fft(values.transpose(2, 0, 1), axis=1), atol=1e-4)


def test_tensors_that_are_conjugated_later_are_conjugated(enqueued, rng, monkeypatch):
    of = OfTorch(monkeypatch)
    monkeypatch.setattr(weft.fft._transforms, "library_of", lambda x: of.library)
    values = rng.standard_normal(8) + 1j * rng.standard_normal(8)
    lazy = of.array(values).conj()
    assert np.allclose(weft.fft.fft(lazy).numpy(), np.fft.fft(values.conj()))


@pytest.fixture(params=[OfCuPy, OfTorch], ids=["cupy", "torch"])
def telling(request, monkeypatch):
    made = request.param(monkeypatch)
    for module in (weft.fft._transforms, transforms):
        monkeypatch.setattr(module, "library_of", lambda x, tensors=False: made.library)
    return made


def test_calls_like_an_earlier_one_look_no_closer(telling, enqueued, rng, monkeypatch):
    first, second = (rng.standard_normal((4, 6)) for _ in range(2))
    weft.fft.rfft(telling.array(first), axis=1)
    monkeypatch.setattr(telling.library, "view", None)
    x = telling.array(second)
    result = weft.fft.rfft(x, axis=1)
    assert enqueued[-1] == (7, telling.pointer(x), telling.pointer(result))
    assert np.allclose(telling.values(result), np.fft.rfft(second, axis=1))
    for other in (lambda: weft.fft.rfft(x, axis=0), lambda: weft.fft.rfft(x, axis=1, norm="ortho"),
                  lambda: weft.fft.rfft(x, 3, 1), lambda: weft.fft.rfft(telling.turned(x, (1, 0)), axis=1),
                  lambda: weft.fft.fft(x, axis=1), lambda: weft.fft.rfft(x, axis=1, out=result)):  # fmt: skip
        with pytest.raises(TypeError):  # of the view that cannot be called
            other()


def test_addresses_that_no_engine_takes_are_copied_as_ever(telling, enqueued, rng):
    values = rng.standard_normal(9)
    weft.fft.rfft(telling.array(values[:8]))
    x = telling.array(values)[1:]
    assert np.allclose(telling.values(weft.fft.rfft(x)), np.fft.rfft(values[1:]))
    assert enqueued[-1][1] % 16 == 0


def test_arguments_of_other_types_are_refused_as_ever(telling, enqueued, rng):
    x = telling.array(rng.standard_normal((4, 6)) + 0j)
    weft.fft.fft(x, axis=1)
    weft.fft.fftn(x, axes=(0, 1))
    with pytest.raises(TypeError):
        weft.fft.fft(x, axis=1.0)
    assert np.allclose(telling.values(weft.fft.fftn(x, axes=[0, 1])), telling.values(weft.fft.fftn(x, axes=(0, 1))))


def test_another_current_gpu_is_no_obstacle(enqueued, rng, monkeypatch):
    of = OfCuPy(monkeypatch)
    monkeypatch.setattr(weft.fft._transforms, "library_of", lambda x: of.library)
    values = rng.standard_normal(12) + 0j
    x = of.array(values)
    weft.fft.fft(x)
    with HostCuPy.Device(1):
        assert np.allclose(weft.fft.fft(x).of, np.fft.fft(values))
        assert HostCuPy.current == 1


def test_no_more_calls_are_remembered_than_there_is_room_for(telling, enqueued, rng, monkeypatch):
    monkeypatch.setattr(remembered, "_MOST", 3)
    for n in range(2, 12):
        values = rng.standard_normal(n) + 0j
        assert np.allclose(telling.values(weft.fft.fft(telling.array(values))), np.fft.fft(values))
        assert len(remembered._calls) <= 3
