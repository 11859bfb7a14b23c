"""A pytest plugin for the tests of other packages: scripts/python-conformance.

WEFT_SUBSTITUTE=scipy makes weft.fft SciPy's only backend in each test; WEFT_SUBSTITUTE=numpy puts weft.fft's functions
into numpy.fft.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator

import numpy
import pytest

import weft.fft

PACKAGE = os.environ["WEFT_SUBSTITUTE"]

# Tests that fail, and why.
EXPECTED: dict[str, str] = {}

answered: Counter[str] = Counter()


class Backend:
    """weft.fft as SciPy sees it, counting what is asked of it."""

    __ua_domain__ = weft.fft.__ua_domain__

    @staticmethod
    def __ua_function__(method, args, kwargs):
        answered[method.__name__] += 1
        return weft.fft.__ua_function__(method, args, kwargs)


def counted(name, function):
    @functools.wraps(function)
    def call(*args, **keywords):
        answered[name] += 1
        return function(*args, **keywords)

    return call


if PACKAGE == "numpy":
    for name in numpy.fft.__all__:
        if hasattr(weft.fft, name):
            setattr(numpy.fft, name, counted(name, getattr(weft.fft, name)))


@pytest.fixture(autouse=True)
def substitute() -> Iterator[None]:
    if PACKAGE == "scipy":
        import scipy.fft

        # SciPy's tests would start processes that know nothing of the backend.
        multiprocessing.set_start_method("fork", force=True)
        scipy.fft.set_global_backend(Backend, only=True)
        yield
        scipy.fft.set_global_backend("scipy")
    else:
        yield


def pytest_collection_modifyitems(items) -> None:
    for item in items:
        reason = EXPECTED.get(item.nodeid.rpartition("/")[2])
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def pytest_terminal_summary(terminalreporter) -> None:
    terminalreporter.write_line(f"weft answered {sum(answered.values())} calls: {dict(sorted(answered.items()))}")
