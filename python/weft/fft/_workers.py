"""Threads of a transform: scipy.fft's workers."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weft import _core

MOST_WORKERS = 1024


def count_workers(workers: Any) -> int:
    """The number of threads that a call asks for: None is the thread's default, -1 all processors, -2 all but one."""
    if workers is None:
        return _core.default_workers()
    count = operator.index(workers)
    processors = len(os.sched_getaffinity(0))
    if count < 0:
        if count < -processors:
            raise ValueError(f"workers value out of range; got {count}, must not be less than {-processors}")
        count += processors + 1
    elif count == 0:
        raise ValueError("workers must not be zero")
    return min(count, MOST_WORKERS)


@contextmanager
def set_workers(workers: int) -> Iterator[None]:
    """Sets the default number of threads for the calling thread's transforms, within a `with`."""
    before = _core.default_workers()
    _core.set_default_workers(count_workers(operator.index(workers)))
    try:
        yield
    finally:
        _core.set_default_workers(before)


def get_workers() -> int:
    """The default number of threads of the calling thread's transforms."""
    return _core.default_workers()
