"""Arrays that are not NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import weft
import weft.fft


class Lender:
    """An array of another library, as DLPack shows it."""

    def __init__(self, array: np.ndarray, device: int = 1) -> None:
        self.array, self.device = array, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __array_namespace__(self):
        return type("Namespace", (), {"from_dlpack": staticmethod(lambda a: Lender(np.asarray(a)))})


def test_output_is_of_the_inputs_type(rng):
    x = rng.standard_normal((3, 8))
    for name in ("fft", "rfft", "ihfft", "fftshift"):
        result = getattr(weft.fft, name)(Lender(x))
        assert isinstance(result, Lender)
        assert np.allclose(result.array, getattr(np.fft, name)(x))


def test_arrays_on_other_devices_are_refused():
    for call in (weft.fft.fft, weft.fft.fftshift, weft.Plan(4).forward):
        with pytest.raises(weft.UnsupportedError, match="device"):
            call(Lender(np.ones(4), device=10))  # of ROCm


def test_types_have_adapters(rng):
    class Signal:
        def __init__(self, values):
            self.values = values

    class Louder(Signal):
        pass

    weft.register_adapter(Signal, lambda signal: signal.values, lambda result, like: type(like)(result))
    values = rng.standard_normal(8)
    for name in ("fft", "rfft", "ihfft", "dct", "fftshift"):
        result = getattr(weft.fft, name)(Louder(values))
        assert isinstance(result, Louder)
        wanted = getattr(weft.fft, name)(values)
        assert np.allclose(result.values, wanted)
    out = Signal(np.empty(8, complex))
    assert weft.fft.fft(Signal(values), out=out) is out
    assert np.allclose(out.values, np.fft.fft(values))
    with pytest.raises(TypeError, match="type of x"):
        weft.fft.fft(Signal(values), out=np.empty(8, complex))
    plan = weft.Plan(8, kind="r2c")
    assert np.allclose(plan.forward(Signal(values)).values, np.fft.rfft(values))


def test_arrays_of_jax(rng):
    jax = pytest.importorskip("jax")
    x = jax.numpy.asarray(rng.standard_normal((3, 8)).astype(np.float32))
    for name in ("fft", "rfft", "ihfft", "fftn", "fftshift"):
        result = getattr(weft.fft, name)(x)
        assert isinstance(result, jax.Array)
        assert np.allclose(np.asarray(result), getattr(np.fft, name)(np.asarray(x)), atol=1e-5)
    with pytest.raises(jax.errors.JAXTypeError):
        jax.jit(weft.fft.fft)(x)


def test_arrays_of_the_standards_reference(rng):
    xp = pytest.importorskip("array_api_strict")
    values = rng.standard_normal((3, 8))
    x = xp.asarray(values)
    for name in ("fft", "ifft", "rfft", "ihfft", "fftn", "ifftn", "rfftn"):
        result = getattr(weft.fft, name)(x)
        assert isinstance(result, type(x))
        assert np.allclose(np.from_dlpack(result), getattr(np.fft, name)(values))


def test_lists_and_subclasses_become_arrays():
    assert type(weft.fft.fft([1, 2, 3])) is np.ndarray
    assert type(weft.fft.fft(np.ma.ones(4))) is np.ndarray
    assert weft.fft.fft(np.float32([1, 2])[()]).dtype == np.complex64


def test_empty_batches_have_empty_spectra():
    assert weft.fft.fft(np.empty((0, 4))).shape == (0, 4)
    assert weft.fft.rfftn(np.empty((0, 4)), axes=(1,)).shape == (0, 3)


def test_arrays_that_are_not_aligned():
    bytes_ = np.zeros(65, np.uint8)
    x = bytes_[1:].view(np.complex128)
    x[:] = 1
    assert np.allclose(weft.fft.fft(x), np.fft.fft(np.ones(4)))
