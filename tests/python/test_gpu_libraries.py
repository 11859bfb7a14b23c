"""What weft asks of PyTorch and JAX for arrays on GPUs, with arrays on the host in their place.

Addresses, shapes, strides and memory are as they would be, and NumPy computes what the GPU would at the addresses that
weft names.
"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import weft.fft
from weft._gpu import libraries, transforms, views

NORMS = {1: "backward", 2: "ortho", 3: "forward"}


def memory(pointer: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(pointer), dtype).reshape(shape)


@pytest.fixture
def enqueued(monkeypatch):
    """Computes what is enqueued, and tells the streams and addresses."""
    calls = []

    def enqueue(number, stream, given, place, kind, inverse, norm, single, batch, n):
        calls.append((stream, given[0], place[0]))
        half = (*n[:-1], n[-1] // 2 + 1)
        name = ("i" if inverse else "") + ("rfftn" if kind else "fftn")
        real, cmplx = ((np.float64, np.complex128), (np.float32, np.complex64))[single]
        before = [half if kind and inverse else n, cmplx if not kind or inverse else real]
        after = [half if kind and not inverse else n, real if kind and inverse else cmplx]
        x = memory(given[0], (batch, *before[0]), np.dtype(before[1]))
        axes = tuple(range(1, len(n) + 1))
        result = getattr(np.fft, name)(x, n, axes, NORMS[norm])
        memory(place[0], (batch, *after[0]), np.dtype(after[1]))[...] = result

    monkeypatch.setattr(transforms._core, "enqueue", enqueue)
    return calls


class OfTorch:
    def __init__(self, monkeypatch) -> None:
        self.torch = pytest.importorskip("torch")
        self.library = libraries.Torch(self.torch)
        monkeypatch.setattr(self.library, "stream", lambda x: 7)

    def array(self, values):
        return self.torch.from_numpy(values.copy())

    def values(self, x):
        assert isinstance(x, self.torch.Tensor)
        return x.numpy()

    def pointer(self, x):
        return x.data_ptr()

    def turned(self, x, order):
        return x.permute(order)


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


@pytest.fixture(params=[OfTorch, OfJax], ids=["torch", "jax"])
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
        for norm in (None, "ortho"):
            result = of.values(getattr(weft.fft, name)(of.array(given), *arguments, norm))
            wanted = getattr(np.fft, name)(given, *arguments, norm)
            assert result.dtype == wanted.dtype
            assert np.allclose(result, wanted, atol=1e-4)


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
