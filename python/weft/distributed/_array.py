"""DistArray: the part of a global array that a rank has, as a NumPy array that knows where it belongs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._core import ArgumentError
from weft.distributed import _files
from weft.distributed._mpi4py import MPI, agree
from weft.distributed._pencil import Pencil, Subcomm, Transfer, layout
from weft.distributed._slices import part_of_slice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.distributed._pfft import PFFT

Array = np.ndarray[Any, np.dtype[Any]]


class DistArray(Array):
    """This rank's part of a global array, distributed over all its axes but one, as mpi4py-fft's DistArray.

    subcomm tells how the array is distributed: a Subcomm, a communicator for each axis, or, for each axis, the number
    of ranks that share it (0: any); by default over all axes but `alignment`, which is the last one by default. Of
    tensors (rank > 0) the first `rank` axes are not distributed and do not count: alignment 2 of an array of shape
    (3, 8, 8, 8) and rank 1 is its last axis. An array of one axis is not distributed. buffer is memory for this rank's
    part; without it the array is filled with `val`, or left as it is. comm is the communicator of all ranks where
    subcomm does not tell. Collective.
    """

    _p0: Pencil
    _rank: int
    _room: int  # bytes of the memory behind the array's first element, where it may have more than the array

    def __new__(
        cls,
        global_shape: Sequence[int],
        subcomm: Subcomm | Sequence[MPI.Intracomm] | Sequence[int] | None = None,
        val: complex | None = None,
        dtype: Any = float,
        buffer: Any = None,
        alignment: int | None = None,
        rank: int = 0,
        comm: MPI.Intracomm = MPI.COMM_WORLD,
    ) -> DistArray:
        shape = tuple(int(n) for n in global_shape)
        if not 0 <= rank < len(shape):
            raise ArgumentError(f"DistArray: rank {rank} leaves no axis of the shape {shape} to be distributed")
        pencil = _pencil_of(shape[rank:], subcomm, alignment, comm)
        self = np.ndarray.__new__(cls, shape[:rank] + pencil.subshape, dtype=dtype, buffer=buffer)
        self._p0 = pencil
        self._rank = rank
        if buffer is None and val is not None:
            self.fill(val)
        return self

    def __array_finalize__(self, source: Any) -> None:
        self._room = 0
        if hasattr(source, "_p0"):
            self._p0 = source._p0
            self._rank = source._rank

    def __array_wrap__(self, array: Array, context: Any = None, return_scalar: bool = False) -> Any:
        """What NumPy's functions give: a DistArray where the result has this distribution, plain values otherwise."""
        if return_scalar or array.shape[array.ndim - self.dimensions :] != self._p0.subshape:
            return array[()] if return_scalar else array
        distributed = array.view(DistArray)
        distributed._p0 = self._p0
        distributed._rank = array.ndim - self.dimensions
        return distributed

    def __reduce__(self) -> Any:
        """Pickled as a plain NumPy array, since communicators cannot be."""
        return self.v.__reduce__()

    @property
    def alignment(self) -> int:
        """The axis that is whole on every rank; those of the tensor do not count."""
        return self._p0.axis

    @property
    def global_shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""
        return (*self.shape[: self._rank], *self._p0.shape)

    @property
    def substart(self) -> tuple[int, ...]:
        """The global indices of this rank's first element."""
        return (0,) * self._rank + self._p0.substart

    @property
    def subcomm(self) -> tuple[MPI.Intracomm, ...]:
        """The communicator of each axis."""
        return self._p0.subcomm if self._rank == 0 else (MPI.COMM_SELF,) * self._rank + tuple(self._p0.subcomm)

    @property
    def commsizes(self) -> list[int]:
        """How many ranks share each axis."""
        return [comm.Get_size() for comm in self.subcomm]

    @property
    def pencil(self) -> Pencil:
        """The distribution."""
        return self._p0

    @property
    def rank(self) -> int:
        """The rank of the tensor: 0 of scalars, 1 of vectors."""
        return self._rank

    @property
    def dimensions(self) -> int:
        """The number of axes, without those of the tensor."""
        return len(self._p0.shape)

    @property
    def v(self) -> Array:
        """This rank's part as a plain NumPy array of the same memory."""
        return self.view(np.ndarray)

    def __getitem__(self, index: Any) -> Any:
        """A tensor's component is a DistArray, anything else of an array a plain NumPy view or element."""
        indices = index if isinstance(index, tuple) else (index,)
        of_tensor = all(isinstance(i, (int, np.integer, slice)) for i in indices) and len(indices) <= self._rank
        if not of_tensor:
            return np.ndarray.__getitem__(self.v, index)
        component = np.ndarray.__getitem__(self, index)
        component._rank = self._rank - (self.ndim - component.ndim)
        return component

    def local_slice(self) -> tuple[slice, ...]:
        """This rank's indices of the global array."""
        return tuple(slice(0, n) for n in self.shape[: self._rank]) + self._p0.slices

    def get(self, gslice: Any) -> Array | None:
        """A part of the global array, given by whole numbers and slices: on rank 0; None on the others. Collective."""
        comm = self._p0.subcomm.comm
        failure = part = None
        try:
            part = part_of_slice(gslice, self.global_shape, self.substart, self.shape)
        except (IndexError, TypeError, ValueError) as wrong:
            failure = wrong
        agree(comm, failure)
        assert part is not None
        mine = (part.target, np.array(self.v[part.local], order="C")) if part.holds else None
        gathered = comm.gather(mine)
        if gathered is None:
            return None
        whole = np.empty(part.shape, self.dtype)
        for piece in gathered:
            if piece is not None:
                whole[piece[0]] = piece[1]
        return whole

    def get_pencil_and_transfer(self, axis: int) -> tuple[Pencil, Transfer]:
        """The pencil that is whole along `axis`, and what moves arrays there and back. Collective."""
        pencil = self._p0.pencil(axis)
        return pencil, self._p0.transfer(pencil, self.dtype)

    def redistribute(self, axis: int | None = None, out: DistArray | None = None) -> DistArray:
        """The array distributed so that it is whole along `axis`, or as `out`, which gets it. Collective.

        If the array is whole along `axis` already, it is returned itself, with this alignment.
        """
        if axis is not None:
            axis = axis % self.dimensions
        if out is None:
            if axis is None:
                raise ArgumentError("redistribute: give an axis, or an array that gets the result")
            if axis == self.alignment:
                return self
            if self._p0.subcomm[axis].Get_size() == 1:
                self._p0 = Pencil(self._p0.subcomm, self._p0.shape, axis)
                return self
            pencil = self._p0.pencil(axis)
            out = DistArray(self.global_shape, pencil.subcomm, None, self.dtype, None, axis, self._rank)
        failure = None
        if not isinstance(out, DistArray) or out.global_shape != self.global_shape or out.dtype != self.dtype:
            failure = ArgumentError("redistribute: out is not a DistArray of the same global shape and type")
        elif axis is not None and axis != out.alignment:
            failure = ArgumentError(f"redistribute: out is whole along axis {out.alignment}, not {axis}")
        comm = self._p0.subcomm.comm
        agree(comm, failure)
        transfer = Transfer(self._p0, out._p0, self.dtype, self.shape[: self._rank])
        target = out.v if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
        transfer.forward(np.ascontiguousarray(self.v), target)
        transfer.destroy()
        if not out.flags.c_contiguous:
            out[...] = target
        return out

    def write(
        self,
        filename: str,
        name: str = "darray",
        step: int = 0,
        global_slice: Any = None,
        domain: Any = None,
        as_scalar: bool = False,
    ) -> None:
        """Writes the array, or a slice of it: to FILE.h5 by h5py, or as FILE.npy, each rank its own part. Collective.

        In FILE.h5 the array is the dataset NAME/<axes>D/STEP, a slice NAME/<axes>D/slice_4_slice/STEP, as of
        mpi4py-fft; domain, an (origin, length) or the coordinates along each axis, goes beside it. as_scalar stores
        each component of a tensor under a name of its own: NAME0, NAME1. FILE.npy holds one array, and takes the place
        of the file when it is complete.
        """
        _files.write(self, filename, name, step, global_slice, domain, as_scalar)

    def read(self, filename: str, name: str = "darray", step: int = 0) -> None:
        """Reads a whole array that write wrote, or any .npy of the global shape, each rank its own part. Collective."""
        _files.read(self, filename, name, step)


def _pencil_of(shape: tuple[int, ...], subcomm: Any, alignment: int | None, comm: MPI.Intracomm) -> Pencil:
    axes = len(shape)
    if alignment is not None and not -axes <= alignment < axes:
        raise ArgumentError(f"DistArray: alignment is {alignment}, and there are {axes} axes")
    if alignment is not None:
        alignment %= axes
    if axes == 1:
        return Pencil((MPI.COMM_SELF,), shape, 0)
    if subcomm is None:
        if alignment is None:
            alignment = axes - 1
        communicators = layout(comm, [int(axis == alignment) for axis in range(axes)])
    elif len(subcomm) != axes:
        raise ArgumentError(f"DistArray: subcomm has {len(subcomm)} entries for {axes} axes")
    elif all(isinstance(entry, MPI.Comm) for entry in subcomm):
        communicators = Subcomm.of(subcomm)
    else:
        communicators = layout(comm, subcomm)
    if alignment is None:
        whole = [axis for axis in range(axes) if communicators[axis].Get_size() == 1]
        if not whole:
            raise ArgumentError("DistArray: every axis is distributed; one must be whole (1 in subcomm)")
        alignment = whole[-1]
    return Pencil(communicators, shape, alignment)


def newDistArray(
    pfft: PFFT, forward_output: bool = True, val: complex | None = 0, rank: int = 0, view: bool = False
) -> Any:
    """A DistArray for the output (else the input) of pfft.forward; a tensor of it with rank > 0.

    view=True gives a plain NumPy view of it. Collective.
    """
    pencil = pfft.pencil[bool(forward_output)]
    dtype = pfft.dtype(forward_output)
    tensor = (len(pencil.shape),) * rank
    room = pfft.bytes(forward_output) if rank == 0 else 0
    # Only where the plan wants more than the array: an array without a buffer is the base of its views.
    more = room > math.prod(pencil.subshape) * dtype.itemsize
    buffer = with_room(pencil.subshape, dtype, room) if more else None
    array = DistArray(tensor + pencil.shape, pencil.subcomm, None, dtype, buffer, pencil.axis, rank)
    array._room = room if more else 0
    if val is not None:
        array.fill(val)
    return array.v if view else array


def with_room(shape: tuple[int, ...], dtype: np.dtype[Any], room: int) -> Array:
    """An array at the beginning of at least `room` bytes: plans may use the memory behind it as a workspace."""
    count = math.prod(shape)
    memory = np.empty(max(count, -(-room // dtype.itemsize)), dtype)
    return memory[:count].reshape(shape)
