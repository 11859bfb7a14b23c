"""Distributed arrays and their transforms over the ranks of MPI, with the calls of mpi4py-fft.

DistArray needs mpi4py; PFFT needs a weft built with MPI besides: `pip install -C cmake.define.WEFT_MPI=ON .`
"""

from weft.distributed._array import DistArray, newDistArray
from weft.distributed._pencil import Pencil, Subcomm
from weft.distributed._pfft import PFFT

__all__ = ["PFFT", "DistArray", "Pencil", "Subcomm", "newDistArray"]
