"""Plans with operators: each against NumPy's arithmetic around a plain transform."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess

import numpy as np
import pytest
import scipy.signal.windows

import weft
from weft import operators


def transformed(shape, x, **options):
    return weft.Plan(shape, **options).forward(x)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_windows_are_scipys(rng, precision):
    n, parameters = 24, {"kaiser": 5.0, "gaussian": 4.0, "tukey": 0.4}
    names = ("hann", "hamming", "blackman", "blackman-harris", "flat-top", "kaiser", "gaussian", "tukey")
    for name in names:
        for symmetric in (False, True):
            given = (name, parameters[name]) if name in parameters else name.replace("-", "")
            wanted = scipy.signal.windows.get_window(given, n, fftbins=not symmetric)
            x = rng.standard_normal(n).astype(np.float64 if precision == "double" else np.float32)
            made = operators.window(name, symmetric=symmetric, parameter=parameters.get(name, 0.0))
            got = transformed(n, x, kind="r2c", precision=precision, load=made)
            assert np.allclose(got, np.fft.rfft(x * wanted), atol=1e-12 if precision == "double" else 1e-4), name


def test_a_window_along_one_axis_of_each_member(rng):
    x = rng.standard_normal((3, 6, 8)) + 1j * rng.standard_normal((3, 6, 8))
    got = transformed((6, 8), x, batch=3, load=operators.window(("none", "hamming")))
    assert np.allclose(got, np.fft.fft2(x * scipy.signal.windows.hamming(8, False)))


def test_lists_are_applied_in_order_on_each_side(rng):
    x, factors = rng.standard_normal((6, 10)), rng.standard_normal(6)
    plan = weft.Plan(
        (6, 10), kind="r2c", norm="backward", load=[operators.scale(2), operators.table(factors, None)],
        spectral=operators.table(None, np.arange(6.0)), store=operators.scale(0.5),
    )  # fmt: skip
    spectrum = plan.forward(x)
    assert np.allclose(spectrum, np.fft.rfft2(2 * x * factors[:, None]) * np.arange(6.0))
    assert np.allclose(plan.inverse(spectrum), 0.5 * np.fft.irfft2(spectrum, (6, 10)))


def test_complex_factors_and_shifts(rng):
    x = rng.standard_normal(9) + 1j * rng.standard_normal(9)
    phases = np.exp(1j * rng.standard_normal(9))
    assert np.allclose(transformed(9, x, spectral=operators.table(phases)), np.fft.fft(x) * phases)
    assert np.allclose(transformed(9, x, load=operators.shift(4)), np.fft.fftshift(np.fft.fft(x)))


def test_a_function_of_ctypes_reads_parameters(rng):
    class Run(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.POINTER(ctypes.c_double)), ("count", ctypes.c_int64), ("axis", ctypes.c_int),
            ("index", ctypes.c_int64 * 8), ("batch", ctypes.c_int64), ("precision", ctypes.c_int),
            ("complex_elements", ctypes.c_int), ("parameter", ctypes.POINTER(ctypes.c_double)),
        ]  # fmt: skip

    @ctypes.CFUNCTYPE(None, ctypes.POINTER(Run), ctypes.c_void_p)
    def multiply(run, argument):
        for i in range(run[0].count):
            run[0].data[i] *= run[0].parameter[0] * (run[0].index[0] + i)

    plan = weft.Plan(12, kind="r2c", load=operators.function(multiply, parameters=1))
    x = rng.standard_normal(12)
    for value in (2.0, -0.5):
        plan.set_parameter(0, value)
        assert np.allclose(plan.forward(x), np.fft.rfft(value * np.arange(12) * x))
    child = os.fork()
    if child == 0:
        os._exit(0 if np.allclose(plan.forward(x), np.fft.rfft(-0.5 * np.arange(12) * x)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.raises(weft.ArgumentError):
        plan.set_parameter(-1, 0.0)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_compiled_function_by_its_address(rng, tmp_path):
    (tmp_path / "f.c").write_text("struct run { double *data; long count; };\n"
                                  "void f(const struct run *r, double *a) {\n"
                                  "    for (long i = 0; i < 2 * r->count; i++) r->data[i] *= *a; }\n")  # fmt: skip
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "f.so", tmp_path / "f.c"], check=True)
    library, factor = ctypes.CDLL(str(tmp_path / "f.so")), ctypes.c_double(3)
    x = rng.standard_normal((4, 5)) + 0j
    given = operators.function(library.f, argument=ctypes.addressof(factor))
    assert np.allclose(transformed((4, 5), x, spectral=given), 3 * np.fft.fft2(x))


def test_mistakes_have_a_sentence():
    for wrong, error, words in (
        (lambda: weft.Plan(8, load=operators.window("hanning")), ValueError, "window is hanning; give one of none, hann"),
        (lambda: operators.table(np.ones((2, 2))), ValueError, "one-dimensional"),
        (lambda: weft.Plan(8, load=operators.table(np.ones(7))), ValueError, "7 factors"),
        (lambda: weft.Plan(8, kind="r2c", spectral=operators.table(np.ones(8))), ValueError, "5 indices"),
        (lambda: weft.Plan((4, 8), load=operators.table(None, None, np.ones(8))), ValueError, "axis 2"),
        (lambda: weft.Plan(8, load=[3]), TypeError, "weft.operators"),
        (lambda: weft.Plan(8, load=operators.function()), weft.Error, "function"),
        (lambda: weft.Plan(8, load=operators.scale(np.inf)), weft.ArgumentError, "factor"),
        (lambda: weft.Plan(8, load=operators.window("none")), weft.ArgumentError, "window"),
    ):
        with pytest.raises(error, match=words):
            wrong()
