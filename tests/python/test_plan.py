"""weft.Plan."""

from __future__ import annotations

import array
import os
import threading

import numpy as np
import pytest
from transform_case import random_array

import weft


@pytest.mark.parametrize(
    ("kind", "dtype", "batch"), [("c2c", "c16", 1), ("r2c", "f8", 3), ("c2c", "c8", 2), ("r2c", "f4", 1)]
)
def test_plan_goes_forward_and_back(rng, kind, dtype, batch):
    precision = "single" if dtype in ("c8", "f4") else "double"
    plan = weft.Plan((6, 10), kind=kind, precision=precision, norm="backward", batch=batch)
    x = random_array(rng, plan.input_shape, dtype)
    expected = (np.fft.fftn if kind == "c2c" else np.fft.rfftn)(x, axes=(-2, -1))
    spectrum = plan.forward(x)
    assert spectrum.shape == plan.output_shape and spectrum.nbytes == plan.output_bytes
    assert np.allclose(spectrum, expected, atol=1e-4)
    assert np.allclose(plan.inverse(spectrum), x, atol=1e-5)


def test_plan_takes_buffers_and_addresses():
    plan = weft.Plan(4)
    x, y = array.array("d", [1, 0, 0, 0, 0, 0, 0, 0]), bytearray(64)
    plan.execute("forward", x, y)
    assert np.array_equal(np.frombuffer(y, complex), np.ones(4))
    z = np.zeros(4, complex)
    plan.execute("inverse", np.frombuffer(y, complex).ctypes.data, z.ctypes.data)
    assert np.array_equal(z, [4, 0, 0, 0])
    assert plan.forward(z, z) is z


def test_plan_tells_of_itself():
    plan = weft.Plan((8, 8), kind="r2c", engine="native")
    assert plan.engine == "native"
    assert plan.memory > 0
    assert plan.input_bytes == 512 and plan.output_bytes == 640
    assert "8" in plan.explain()


@pytest.mark.parametrize(
    ("exception", "call"),
    [
        (ValueError, lambda: weft.Plan(())),
        (TypeError, lambda: weft.Plan((2.5,))),
        (TypeError, lambda: weft.Plan()),
        (ValueError, lambda: weft.Plan(4, kind="c2r")),
        (ValueError, lambda: weft.Plan(4, norm="unitary")),
        (ValueError, lambda: weft.Plan(4, batch=-1)),
        (ValueError, lambda: weft.Plan(4).execute("sideways", bytes(64), bytearray(64))),
        (ValueError, lambda: weft.Plan(4).execute("forward", bytes(63), bytearray(64))),
        (ValueError, lambda: weft.Plan(4).forward(np.zeros(4))),
        (BufferError, lambda: weft.Plan(4).execute("forward", bytes(64), bytes(64))),
        (ValueError, lambda: weft.Plan(4).forward(np.zeros(8, complex)[::2])),
        (TypeError, lambda: weft.Plan(4).forward([1, 2, 3, 4])),
        (ValueError, lambda: weft.Plan(4, kind="r2r")),
        (ValueError, lambda: weft.Plan(4, kind="r2r", types="dct5")),
        (ValueError, lambda: weft.Plan((4, 5), kind="r2r", types=("dct1",))),
        (ValueError, lambda: weft.Plan((4, 5), kind="r2r", types=("dct1", "fft"))),
        (ValueError, lambda: weft.Plan(4, kind="r2c", types="dct2")),
        (ValueError, lambda: weft.Plan(4, types="none")),
        (NotImplementedError, lambda: weft.Plan((4, 5), kind="r2c", engine="identity")),
    ],
)
def test_mistakes_raise(exception, call):
    with pytest.raises(exception):
        call()


def test_cosine_and_sine_transforms(rng):
    scipy_fft = pytest.importorskip("scipy.fft")
    array = random_array(rng, (6, 5), "f8")
    plan = weft.Plan((6, 5), kind="r2r", types=("dct2", "dst3"), norm="backward")
    spectrum = plan.forward(array)
    assert np.allclose(spectrum, scipy_fft.dst(scipy_fft.dct(array, axis=0), type=3))
    assert np.allclose(plan.inverse(spectrum), array)
    whole = weft.Plan((6, 5), kind="r2r", types="dct4")
    assert np.allclose(whole.forward(array), scipy_fft.dctn(array, type=4))


@pytest.mark.parametrize("engine", ["native", "fftw", "reference"])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize(
    "types",
    [
        ("fft", "fft", "dct2"),
        ("fft", "dst1", "dct4"),
        ("dct3", "fft", "fft"),
        ("dct1", "none", "fft"),
        ("none", "fft", "none"),
        ("dst4", "fft", "dct2"),
        ("fft", "dst3", "fft"),
    ],
)
def test_fourier_cosine_and_sine_transforms_mix(rng, types, batch, engine):
    scipy_fft = pytest.importorskip("scipy.fft")
    if not weft.engines()[engine][0]:
        pytest.skip(weft.engines()[engine][1])
    shape = (5, 6, 9)
    fourier = [axis for axis, name in enumerate(types, start=-3) if name == "fft"]
    for kind, dtype in (("r2c", "f8"), ("c2c", "c16")):
        plan = weft.Plan(shape, kind=kind, types=types, norm="backward", batch=batch, engine=engine)
        array = random_array(rng, plan.input_shape, dtype)
        expected = array
        for axis, name in enumerate(types, start=-3):
            if name[0] == "d":
                one = getattr(scipy_fft, name[:3])
                expected = one(expected.real, type=int(name[3]), axis=axis) + 1j * one(
                    expected.imag, type=int(name[3]), axis=axis
                )
        transform = scipy_fft.rfftn if kind == "r2c" else scipy_fft.fftn
        expected = transform(expected.real if kind == "r2c" else expected, axes=fourier)
        spectrum = plan.forward(array)
        assert spectrum.shape == plan.output_shape == expected.shape
        assert np.allclose(spectrum, expected, rtol=1e-13, atol=1e-11)
        assert np.allclose(plan.inverse(spectrum), array, rtol=1e-13, atol=1e-13)


def test_threads_share_a_plan(rng):
    plan = weft.Plan(1000)
    inputs = rng.standard_normal((8, 1000)) + 0j
    outputs = np.empty_like(inputs)

    def work(i):
        for _ in range(200):
            plan.forward(inputs[i], outputs[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.allclose(outputs, np.fft.fft(inputs))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_plan_works_in_a_child_whose_threads_share_it():
    plan = weft.Plan(64, threads=2)
    x = np.ones(64, complex)
    expected = plan.forward(x)
    child = os.fork()
    if child == 0:
        right = []
        threads = [
            threading.Thread(target=lambda: right.append(np.array_equal(plan.forward(x), expected))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        os._exit(0 if right == [True] * 8 else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("kind", ["c2c", "r2c"])
def test_a_spectrum_is_truncated(rng, kind):
    real = kind == "r2c"
    array = rng.standard_normal((12, 9)) + (0 if real else 1j * rng.standard_normal((12, 9)))
    plan = weft.Plan((12, 9), kind=kind, truncate_to=(8, 6))
    whole = (np.fft.rfft2 if real else np.fft.fft2)(array)
    columns = [0, 1, 2, 3] if real else [0, 1, 2, 6, 7, 8]
    expected = whole[np.ix_([0, 1, 2, 3, 8, 9, 10, 11], columns)]
    spectrum = plan.forward(array)
    assert plan.output_shape == spectrum.shape == expected.shape
    np.testing.assert_allclose(spectrum, expected, atol=1e-12)
    zeros = np.zeros_like(whole)
    zeros[np.ix_([0, 1, 2, 3, 8, 9, 10, 11], columns)] = spectrum
    back = plan.inverse(spectrum)
    if not real:  # NumPy's irfft wants the spectrum of real numbers
        np.testing.assert_allclose(back, 108 * np.fft.ifft2(zeros), atol=1e-11)
    assert back.shape == array.shape and back.dtype == array.dtype
    with pytest.raises(weft.ArgumentError, match="truncate_to"):
        weft.Plan((12, 9), truncate_to=(8,))
