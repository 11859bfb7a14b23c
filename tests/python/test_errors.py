"""Mistakes are told by the exceptions that NumPy and SciPy raise, and by weft's own."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import weft
import weft.fft

X = np.ones((4, 5))


@pytest.mark.filterwarnings("ignore:`axes` should not be:DeprecationWarning")
@pytest.mark.parametrize(
    ("exception", "call"),
    [
        (ValueError, lambda f: f.fft([])),
        (ValueError, lambda f: f.fft(X, n=0)),
        (ValueError, lambda f: f.fft(X, n=-3)),
        (TypeError, lambda f: f.fft(X, n=2.5)),
        (TypeError, lambda f: f.fft(X, axis=0.5)),
        (IndexError, lambda f: f.fft(X, axis=2)),
        (ValueError, lambda f: f.fft(X, axis=-3)),
        (IndexError, lambda f: f.fft(3.0)),
        (ValueError, lambda f: f.fft(X, norm="none")),
        (ValueError, lambda f: f.fft(X, norm=1)),
        (TypeError, lambda f: f.rfft(X + 1j)),
        (TypeError, lambda f: f.fft(np.array(["a"]))),
        (TypeError, lambda f: f.fft(np.array([None]))),
        (ValueError, lambda f: f.irfft([1.0])),
        (ValueError, lambda f: f.fftn(X[0], s=(1, 2), axes=None)),
        (ValueError, lambda f: f.fftn(X, s=(1, 2), axes=(0,))),
        (ValueError, lambda f: f.fftn(X, s=(0, 2), axes=(0, 1))),
        (ValueError, lambda f: f.fftn(X, axes=(0, 2))),
        (ValueError, lambda f: f.fft2(X[0])),
        (ValueError, lambda f: f.rfftn(3.0)),
        (ValueError, lambda f: f.fft(X, workers=0)),
        (ValueError, lambda f: f.fft(X, workers=-1000)),
        (TypeError, lambda f: f.fft(X, workers="two")),
        (NotImplementedError, lambda f: f.fft(X, plan=object())),
        (TypeError, lambda f: f.fft()),
        (TypeError, lambda f: f.fft(X, 1, 2, None, False, 1, None)),
        (TypeError, lambda f: f.fft(X, length=3)),
        (TypeError, lambda f: f.fft(X, x=X)),
        (TypeError, lambda f: f.fft(X, out="")),
        (ValueError, lambda f: f.fft(X, out=np.empty((4, 4), complex))),
        (TypeError, lambda f: f.fft(X, out=np.empty((4, 5)))),
        (ValueError, lambda f: f.next_fast_len(-1)),
        (TypeError, lambda f: f.next_fast_len(1.5)),
    ],
)
def test_mistakes_raise(exception, call):
    with pytest.raises(exception):
        call(weft.fft)


def test_output_that_is_read_only_is_refused():
    out = np.empty((4, 5), complex)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        weft.fft.fft(X, out=out)


def test_the_librarys_sentence_is_the_message():
    with pytest.raises(weft.Error, match=r"problem\.n") as caught:
        weft.Plan((4, 0))
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (weft.ArgumentError, ValueError),
        (weft.OutOfMemoryError, MemoryError),
        (weft.UnsupportedError, NotImplementedError),
        (weft.ExecutionError, RuntimeError),
        (weft.ResourceError, OSError),
    ],
)
def test_errors_are_builtin_ones_too_and_travel_between_processes(error, builtin):
    assert issubclass(error, weft.Error) and issubclass(error, builtin)
    assert isinstance(pickle.loads(pickle.dumps(error("a sentence"))), error)
    assert isinstance(error.__new__(error), error)  # as tblib makes them, and so Dask's workers


def test_too_large_an_array_is_out_of_memory():
    with pytest.raises((MemoryError, ValueError)):
        weft.Plan((1 << 40,)).forward(np.empty(8, complex))


def test_without_scipy_long_double_and_cosines_are_refused():
    program = """
import sys
sys.modules["scipy"] = sys.modules["scipy.fft"] = None
import numpy, weft.fft
for call, error in ((lambda: weft.fft.fft(numpy.ones(4, numpy.longdouble)), TypeError),
                    (lambda: weft.fft.dct(numpy.ones(4, numpy.longdouble)), NotImplementedError)):
    try:
        call()
    except error as caught:
        assert "SciPy" in str(caught)
    else:
        raise AssertionError("not refused")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
