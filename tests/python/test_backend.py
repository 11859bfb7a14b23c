"""weft.fft as SciPy's backend."""

from __future__ import annotations

import numpy as np
import pytest

import weft.fft
from weft import plan_cache

scipy_fft = pytest.importorskip("scipy.fft")


def test_calls_of_scipy_come_to_weft(rng):
    x = rng.standard_normal((6, 7))
    expected = scipy_fft.fft2(x, workers=2)
    with scipy_fft.set_backend(weft.fft, only=True):
        before = plan_cache.info()
        result = scipy_fft.fft2(x, workers=2)
        after = plan_cache.info()
    assert after.hits + after.misses == before.hits + before.misses + 1
    assert np.allclose(result, expected)


def test_scipy_forbids_repeated_axes():
    with scipy_fft.set_backend(weft.fft, only=True), pytest.raises(ValueError, match="unique"):
        scipy_fft.fftn(np.ones((3, 4)), axes=(0, 0))


def test_extents_without_axes_are_of_the_last_ones(rng, recwarn):
    x = rng.standard_normal((4, 5, 6))
    expected = scipy_fft.fftn(x, s=(3, 4))
    with scipy_fft.set_backend(weft.fft, only=True):
        assert np.allclose(scipy_fft.fftn(x, s=(3, 4)), expected)
    assert not recwarn.list


def test_cosine_transforms_are_answered(rng):
    x = rng.standard_normal(9)
    expected = scipy_fft.dct(x)
    with scipy_fft.set_backend(weft.fft, only=True):
        assert np.allclose(scipy_fft.dct(x), expected)
