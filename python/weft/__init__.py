"""Fourier transforms: weft.fft with numpy.fft's and scipy.fft's names, weft.Plan, convolutions, the plan cache, and, over
MPI, weft.PFFT and weft.DistArray with mpi4py-fft's calls.

The C part is loaded when it is first used, so that the front ends of `weft bench` and `weft plot`, which
live here too, run from a source tree without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft import fft, kernels, operators, plan_cache
    from weft._adapters import register_adapter
    from weft._convolution import Convolution, convolve
    from weft._core import (
        ArgumentError,
        Error,
        ExecutionError,
        OutOfMemoryError,
        Plan,
        ResourceError,
        UnsupportedError,
    )
    from weft._homogenize import homogenize
    from weft._information import devices, engines, info
    from weft.distributed import PFFT as PFFT
    from weft.distributed import DistArray as DistArray
    from weft.distributed import Pencil as Pencil
    from weft.distributed import Subcomm as Subcomm
    from weft.distributed import newDistArray as newDistArray

__version__ = "0.2.0"

__all__ = [
    "ArgumentError",
    "Convolution",
    "Error",
    "ExecutionError",
    "OutOfMemoryError",
    "Plan",
    "ResourceError",
    "UnsupportedError",
    "convolve",
    "devices",
    "engines",
    "fft",
    "homogenize",
    "info",
    "kernels",
    "operators",
    "plan_cache",
    "register_adapter",
]

# Not in __all__, since they need mpi4py.
_DISTRIBUTED = ("PFFT", "DistArray", "Pencil", "Subcomm", "newDistArray")

_MODULES = ("fft", "kernels", "operators", "plan_cache")
_OF_MODULE = {
    **dict.fromkeys(("devices", "engines", "info"), "weft._information"),
    **dict.fromkeys(_DISTRIBUTED, "weft.distributed"),
    **dict.fromkeys(("Convolution", "convolve"), "weft._convolution"),
    "homogenize": "weft._homogenize",
    "register_adapter": "weft._adapters",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in __all__ and name not in _DISTRIBUTED:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    if not hasattr(import_module("weft._core"), "version"):
        raise ImportError(f"weft.{name} needs the C part of weft; `pip install .` at the root of the tree builds it")
    if name in _MODULES:
        return import_module(f"weft.{name}")
    found: object = getattr(import_module(_OF_MODULE.get(name, "weft._core")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, *_DISTRIBUTED])
