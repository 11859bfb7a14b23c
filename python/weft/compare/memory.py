"""The peak of this process's resident memory, as Linux counts it."""

from __future__ import annotations

import ctypes
import gc
import math
from collections.abc import Callable
from pathlib import Path


def _status(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return float(line.split()[1]) * 1024
    return math.nan


def watch() -> Callable[[], float]:
    """A function that tells by how many bytes the peak since now exceeds what is resident now; NaN where the system
    does not tell. What was freed is given back first, or it would be taken again unnoticed."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        before = _status("VmRSS")
        return lambda: max(0.0, _status("VmHWM") - before)
    except OSError:
        return lambda: math.nan


def available() -> float:
    """Bytes that can be taken without swapping; infinite where the system does not tell."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    return math.inf
