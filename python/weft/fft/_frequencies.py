"""What goes with transforms: frequencies, shifts, and lengths that are fast."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from numpy.fft import fftfreq as frequencies
from numpy.fft import fftshift as shift
from numpy.fft import ifftshift as shift_back
from numpy.fft import rfftfreq as frequencies_of_half

from weft._adapters import adapter_of, through
from weft._gpu.libraries import library_of
from weft.fft import _arrays, _axes

_FACTORS_OF_COMPLEX, _FACTORS_OF_REAL = (2, 3, 5, 7, 11), (2, 3, 5)


def _asked(xp: Any, dtype: Any, result: Any) -> Any:
    made = result if dtype is None else result.astype(dtype)
    return made if xp is None else xp.asarray(made)


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, xp: Any = None) -> Any:
    """The frequencies of fft's n numbers for samples d apart: 0, 1, ..., -2, -1 over n d."""
    return _asked(xp, dtype, frequencies(n, d))


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, xp: Any = None) -> Any:
    """The frequencies of rfft's n/2 + 1 numbers for n samples d apart."""
    return _asked(xp, dtype, frequencies_of_half(n, d))


def fftshift(x: Any, axes: Any = None) -> Any:
    """Puts frequency 0 into the middle."""
    return _shifted(x, axes, shift, lambda n: n // 2)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of fftshift."""
    return _shifted(x, axes, shift_back, lambda n: -(n // 2))


def _shifted(x: Any, axes: Any, by_numpy: Callable[..., Any], far: Callable[[int], int]) -> Any:
    adapter = adapter_of(x)
    if adapter is not None:
        return through(adapter, x, None, lambda array, _: _shifted(array, axes, by_numpy, far))
    library = library_of(x, tensors=True)
    if library is None:
        taken = _arrays.take(x)
        return taken.give(by_numpy(taken.array, axes))
    places, _ = _axes.several_axes(tuple(x.shape), None, axes)
    shifts = [far(x.shape[a]) for a in places]
    return library.rolled(x, shifts, places)


@functools.lru_cache(maxsize=1024)
def _next_smooth(target: int, factors: tuple[int, ...]) -> int:
    """The least product of the factors that is no less than the target, at most a power of two."""
    best = 1 << (target - 1).bit_length()
    products = [1]
    for factor in factors[1:]:
        products = [p * factor**k for p in products for k in range(_most_times(best, p, factor))]
    for product in products:
        best = min(best, product << max(0, (-(-target // product) - 1).bit_length()))
    return best


def _most_times(limit: int, start: int, factor: int) -> int:
    times = 0
    while start <= limit:
        start *= factor
        times += 1
    return times


@functools.lru_cache(maxsize=1024)
def _previous_smooth(target: int, factors: tuple[int, ...]) -> int:
    """The greatest product of the factors that is no more than the target."""
    products = [1]
    for factor in factors[1:]:
        products = [p * factor**k for p in products for k in range(_most_times(target, p, factor))]
    return max(p << ((target // p).bit_length() - 1) for p in products)


def next_fast_len(target: int, real: bool = False) -> int:
    """The least length from `target` on that has factors up to 11 only, or up to 5 for real data."""
    length = operator.index(target)
    if length < 0:
        raise ValueError("Target length must be positive")
    return _next_smooth(length, _FACTORS_OF_REAL if real else _FACTORS_OF_COMPLEX) if length > 0 else 0


def prev_fast_len(target: int, real: bool = False) -> int:
    """The greatest length up to `target` that has factors up to 11 only, or up to 5 for real data."""
    length = operator.index(target)
    if length < 0:
        raise ValueError("Target length must be positive")
    return _previous_smooth(length, _FACTORS_OF_REAL if real else _FACTORS_OF_COMPLEX) if length > 0 else 0
