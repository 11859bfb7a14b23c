"""mpi4py, or the sentence that says what is missing; agreement between ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft._core import ArgumentError, Error, ExecutionError, OutOfMemoryError, ResourceError, UnsupportedError

if TYPE_CHECKING:
    from types import ModuleType

try:
    from mpi4py import MPI
except ImportError as missing:
    raise UnsupportedError(f"weft's distributed arrays need mpi4py; `pip install mpi4py` ({missing})") from missing

__all__ = ["MPI", "agree", "module"]


def module() -> ModuleType:
    """weft._mpi, which is linked to the MPI of mpi4py."""
    try:
        from weft import _mpi
    except ImportError as missing:
        raise UnsupportedError(
            "weft.PFFT needs a weft built with MPI; `pip install -C cmake.define.WEFT_MPI=ON .` at the root of the "
            f"tree builds it ({missing})"
        ) from missing
    theirs, ours = MPI.Get_library_version(), _mpi.library_version()
    if _mpi.handle_bytes != MPI._sizeof(MPI.Comm) or theirs.strip() != ours.strip():
        raise UnsupportedError(
            f"mpi4py runs on {theirs.strip().splitlines()[0]} and weft was built with {_mpi.built_with}; build weft "
            "with the MPI of mpi4py, or let mpi4py load that of weft (MPI4PY_MPIABI, MPI4PY_LIBMPI)"
        )
    return _mpi


def agree(comm: MPI.Comm, failure: Exception | None) -> None:
    """Raises on every rank if a rank brings a failure: its own, or the like of it with the rank's name. Collective."""
    failed = np.array([failure is not None], np.intc)
    comm.Allreduce(MPI.IN_PLACE, failed, MPI.MAX)
    if not failed[0]:
        return
    told = comm.allgather(None if failure is None else (str(failure), _kind(failure)))
    if failure is not None:
        raise failure
    rank, (sentence, kind) = next((r, f) for r, f in enumerate(told) if f is not None)
    raise _KINDS[kind](f"rank {rank}: {sentence}")


_KINDS: tuple[type[Error], ...] = (
    ArgumentError,
    UnsupportedError,
    OutOfMemoryError,
    ResourceError,
    ExecutionError,
    Error,
)


def _kind(failure: Exception) -> int:
    """Which of weft's exceptions is of the same built-in kind."""
    kinds: tuple[tuple[type[Exception], ...], ...] = (
        (ValueError, TypeError, LookupError),
        (NotImplementedError,),
        (MemoryError,),
        (OSError,),
        (RuntimeError,),
        (Exception,),
    )
    return next(i for i, kind in enumerate(kinds) if isinstance(failure, kind))
