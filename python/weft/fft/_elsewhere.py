"""What the library does not compute yet is left to SciPy where it is installed."""

from __future__ import annotations

from typing import Any


def by_scipy(name: str, missing: Exception, *args: Any, **keywords: Any) -> Any:
    """SciPy's own answer to a call of scipy.fft; raises `missing` where there is no SciPy.

    SciPy's own backend is asked, since weft may be the one that SciPy would ask.
    """
    try:
        import scipy.fft
    except ImportError:
        raise missing from None
    with scipy.fft.set_backend("scipy", only=True):
        return getattr(scipy.fft, name)(*args, **keywords)
