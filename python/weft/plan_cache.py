"""The plans that weft.fft keeps for arrays of the same kind and shape, least recently used ones forgotten first.

A plan runs one transform at a time, so as many are kept for a shape as threads transformed it at once.
"""

from __future__ import annotations

from typing import NamedTuple

from weft import _core


class Info(NamedTuple):
    """Statistics since the process began or the cache was cleared, and the limits."""

    hits: int
    misses: int
    evictions: int
    plans: int
    max_plans: int
    bytes: int
    max_bytes: int


def info() -> Info:
    """What the cache holds and how often it helped."""
    return Info(*_core.cache_info())


def limit(plans: int | None = None, bytes: int | None = None) -> None:
    """Limits the number of plans and the bytes that they hold; None leaves a limit as it is.

    limit(plans=0) switches the cache off: each plan then lives for one call.
    """
    now = info()
    _core.cache_limit(now.max_plans if plans is None else plans, now.max_bytes if bytes is None else bytes)


def clear() -> None:
    """Destroys the plans that no thread is using, and forgets the statistics."""
    _core.cache_clear()
