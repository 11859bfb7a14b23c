"""What the programs of this folder share: the ranks, random numbers that all of them draw alike, whole arrays."""

from __future__ import annotations

import os
import sys
import traceback

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
seed = comm.bcast(int(os.environ.get("WEFT_SEED", np.random.SeedSequence().entropy % 2**32)))
rng = np.random.default_rng(seed)  # the same draws on every rank


def random_array(shape, dtype):
    """A whole array, the same on every rank."""
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def close(found, expected, dtype):
    """Whether the difference is small beside the largest value."""
    tolerance = 2e-5 if np.dtype(dtype).char in "fF" else 1e-12
    scale = max(1.0, np.abs(expected).max(initial=0))
    return found.shape == expected.shape and np.abs(found - expected).max(initial=0) <= tolerance * scale


def raises(exception, call):
    """Calls on every rank and asserts that every rank gets the exception; returns this rank's sentence."""
    try:
        call()
    except exception as told:
        told_here = str(told)
    else:
        told_here = None
    told_everywhere = comm.allgather(told_here)
    assert all(told_everywhere), f"no {exception} on ranks {[r for r, t in enumerate(told_everywhere) if t is None]}"
    return told_here


def run(tests):
    """Runs the functions test_* one after the other; a failure on one rank ends all of them."""
    try:
        for name, test in list(tests.items()):
            if name.startswith("test_"):
                test()
                comm.Barrier()
    except BaseException:
        sys.stderr.write(f"rank {comm.Get_rank()} of {comm.Get_size()}, WEFT_SEED={seed}\n{traceback.format_exc()}")
        sys.stderr.flush()
        comm.Abort(1)
    if comm.Get_rank() == 0:
        print(f"passed on {comm.Get_size()} ranks")
