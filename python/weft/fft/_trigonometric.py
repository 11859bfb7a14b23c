"""Sine and cosine transforms, and the fast Hankel transform: scipy.fft's, computed by SciPy.

The library reserves WEFT_R2R for sine and cosine transforms and does not compute them yet. When it does,
`_compute` is what changes.
"""

from __future__ import annotations

from typing import Any

from weft.fft import _arrays
from weft.fft._elsewhere import by_scipy


def _compute(name: str, x: Any, *args: Any, **keywords: Any) -> Any:
    missing = NotImplementedError(f"weft.fft.{name} needs SciPy, which is not installed")
    taken = _arrays.take(x)
    return taken.give(by_scipy(name, missing, taken.array, *args, **keywords))


def dct(
    x: Any, type: int = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The discrete cosine transform along an axis."""
    return _compute("dct", x, type, n, axis, norm, overwrite_x, workers, orthogonalize)


def idct(
    x: Any, type: int = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The inverse of dct."""
    return _compute("idct", x, type, n, axis, norm, overwrite_x, workers, orthogonalize)


def dst(
    x: Any, type: int = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The discrete sine transform along an axis."""
    return _compute("dst", x, type, n, axis, norm, overwrite_x, workers, orthogonalize)


def idst(
    x: Any, type: int = 2, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The inverse of dst."""
    return _compute("idst", x, type, n, axis, norm, overwrite_x, workers, orthogonalize)


def dctn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, *, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The discrete cosine transform along all axes, or those given."""
    return _compute("dctn", x, type, s, axes, norm, overwrite_x, workers, orthogonalize=orthogonalize)


def idctn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, *, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The inverse of dctn."""
    return _compute("idctn", x, type, s, axes, norm, overwrite_x, workers, orthogonalize=orthogonalize)


def dstn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, *, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The discrete sine transform along all axes, or those given."""
    return _compute("dstn", x, type, s, axes, norm, overwrite_x, workers, orthogonalize=orthogonalize)


def idstn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, *, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The inverse of dstn."""
    return _compute("idstn", x, type, s, axes, norm, overwrite_x, workers, orthogonalize=orthogonalize)


def fht(a: Any, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> Any:
    """The fast Hankel transform of points that are spaced logarithmically."""
    return _compute("fht", a, dln, mu, offset, bias)


def ifht(A: Any, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> Any:
    """The inverse of fht."""
    return _compute("ifht", A, dln, mu, offset, bias)
