"""Which box of a global array each rank has, and how arrays go from one distribution to another.

Subcomm, Pencil and Transfer are those of mpi4py-fft: along each axis a communicator shares out the indices in blocks,
of which the first ones are larger by one where the extent does not divide.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._core import ArgumentError
from weft.distributed._context import attached
from weft.distributed._mpi4py import MPI, agree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Array = np.ndarray[Any, np.dtype[Any]]
Box = tuple[tuple[int, ...], tuple[int, ...]]  # first indices and extents


def block(n: int, size: int, rank: int) -> tuple[int, int]:
    """The first index and the number of indices that a rank has of n."""
    quotient, rest = divmod(n, size)
    return rank * quotient + min(rank, rest), quotient + (rank < rest)


class Subcomm(tuple[MPI.Intracomm, ...]):
    """A communicator for each axis, all together the ranks of one communicator.

    dims tells how many ranks share each axis, 0 leaves it to MPI_Dims_create: [0, 0, 1] distributes the first two
    axes. A communicator with a Cartesian topology is taken as it is, without dims. Collective.
    """

    comm: MPI.Intracomm  # all ranks
    _grid: MPI.Cartcomm
    _groups: dict[tuple[int, ...], MPI.Intracomm]
    _of_axis: tuple[int | None, ...]  # which axis of the grid each communicator is of; None: of none

    def __new__(cls, comm: MPI.Intracomm, dims: int | Sequence[int] | None = None, reorder: bool = True) -> Subcomm:
        if comm.Is_inter():
            raise ArgumentError("Subcomm: the communicator is an intercommunicator; merge it first")
        if comm.Get_topology() == MPI.CART:
            if dims is not None:
                raise ArgumentError("Subcomm: a communicator with a Cartesian topology has its dims already")
            grid = MPI.Cartcomm(comm).Dup()
        else:
            grid = comm.Create_cart(grid_of(comm.Get_size(), dims), reorder=reorder)
        axes = range(grid.Get_dim())
        self = tuple.__new__(cls, [grid.Sub([a == axis for a in axes]) for axis in axes])
        self.comm = comm
        self._grid = grid
        self._groups = {}
        self._of_axis = tuple(axes)
        return self

    @classmethod
    def of(cls, comms: Sequence[MPI.Intracomm]) -> Subcomm:
        """The same of communicators that somebody else made, each of one axis. Collective over all their ranks."""
        if isinstance(comms, cls):
            return comms
        # The members of the whole, the last axis fastest: of each rank along one axis those along the later ones.
        members = [MPI.COMM_WORLD.Get_rank()]
        for comm in reversed(comms):
            members = [member for part in comm.allgather(members) for member in part]
        group = MPI.COMM_WORLD.group.Incl(members)
        whole = MPI.COMM_WORLD.Create_group(group)
        group.Free()
        grid = whole.Create_cart([comm.Get_size() for comm in comms], reorder=False)
        self = tuple.__new__(cls, comms)
        self.comm = whole
        self._grid = grid
        self._groups = {}
        self._of_axis = tuple(range(len(comms)))
        return self

    def permuted(self, order: Sequence[int | None]) -> Subcomm:
        """The same communicators for other axes; None stands for an axis that is not distributed."""
        comms = [MPI.COMM_SELF if axis is None else self[axis] for axis in order]
        other: Subcomm = tuple.__new__(Subcomm, comms)
        other.comm, other._grid, other._groups = self.comm, self._grid, self._groups
        other._of_axis = tuple(None if axis is None else self._of_axis[axis] for axis in order)
        return other

    def group(self, axes: Iterable[int]) -> MPI.Intracomm:
        """The ranks that differ from this one along these axes only. Collective."""
        kept = {self._of_axis[axis] for axis in axes if self[axis].Get_size() > 1}
        sizes = self._grid.dims
        key = tuple(a for a in range(len(sizes)) if a in kept)
        if math.prod(sizes[a] for a in key) == self._grid.Get_size():
            return self.comm
        if key not in self._groups:
            self._groups[key] = self._grid.Sub([a in key for a in range(len(sizes))])
        return self._groups[key]

    def destroy(self) -> None:
        """Frees the communicators. Collective."""
        for comm in (*self, *self._groups.values(), self._grid):
            if comm != MPI.COMM_NULL and comm != MPI.COMM_SELF:
                comm.Free()
        self._groups.clear()


def grid_of(ranks: int, dims: int | Sequence[int] | None) -> list[int]:
    """dims with the entries that are 0 or less filled in so that the product is all ranks."""
    wanted = [0] if dims is None else [0] * dims if isinstance(dims, int) else [max(0, int(d)) for d in dims]
    given = math.prod(d for d in wanted if d > 0)
    if not wanted or ranks % given or (0 not in wanted and given != ranks):
        raise ArgumentError(
            f"{ranks} ranks cannot be arranged as a grid of {tuple(wanted)} (0: any number); leave an axis that is not "
            "transformed first to be distributed, or give another grid"
        )
    return list(MPI.Compute_dims(ranks, wanted))


def layout(comm: MPI.Intracomm, dims: Sequence[int]) -> Subcomm:
    """The Subcomm of this grid, one for each communicator and grid, freed with the communicator. Collective."""

    def free(layouts: dict[tuple[int, ...], Subcomm]) -> None:
        for made in layouts.values():
            made.destroy()

    layouts: dict[tuple[int, ...], Subcomm] = attached(comm, "layouts", dict, free)
    key = tuple(grid_of(comm.Get_size(), dims))
    if key not in layouts:
        layouts[key] = Subcomm(comm, key)
    return layouts[key]


class Pencil:
    """A distribution of a global array: the box that this rank has, whole along `axis`.

    Ranks have no data where there are more of them than indices.
    """

    def __init__(self, subcomm: Sequence[MPI.Intracomm], shape: Sequence[int], axis: int = -1) -> None:
        extents = tuple(int(n) for n in shape)
        if not extents or min(extents) < 0:
            raise ArgumentError(f"Pencil: a global shape is {extents}; give extents")
        if not -len(extents) <= axis < len(extents):
            raise ArgumentError(f"Pencil: there is no axis {axis} in {len(extents)} axes")
        axis %= len(extents)
        communicators = Subcomm.of(subcomm)
        missing = len(extents) - len(communicators)
        if missing < 0:
            raise ArgumentError(f"Pencil: {len(communicators)} communicators for {len(extents)} axes")
        if missing > 0:  # the communicators of the axes in front, one axis alone at `axis`
            order: list[int | None] = [*range(len(communicators)), *[None] * (missing - 1)]
            order.insert(axis, None)
            communicators = communicators.permuted(order)
        if communicators[axis].Get_size() != 1:
            raise ArgumentError(f"Pencil: axis {axis} is distributed; a pencil is whole along its axis")
        boxes = [block(n, c.Get_size(), c.Get_rank()) for n, c in zip(extents, communicators, strict=True)]
        self.shape = extents
        self.axis = axis
        self.subcomm = communicators
        self.substart = tuple(lo for lo, _ in boxes)
        self.subshape = tuple(n for _, n in boxes)

    @property
    def slices(self) -> tuple[slice, ...]:
        """This rank's indices of the global array."""
        return tuple(slice(lo, lo + n) for lo, n in zip(self.substart, self.subshape, strict=True))

    def pencil(self, axis: int) -> Pencil:
        """The pencil that is whole along another axis: the communicators of the two axes change places."""
        if not -len(self.shape) <= axis < len(self.shape):
            raise ArgumentError(f"Pencil: there is no axis {axis} in {len(self.shape)} axes")
        axis %= len(self.shape)
        order: list[int | None] = list(range(len(self.shape)))
        order[axis], order[self.axis] = order[self.axis], order[axis]
        return Pencil(self.subcomm.permuted(order), self.shape, axis)

    def transfer(self, pencil: Pencil, dtype: Any) -> Transfer:
        """What moves arrays of this type between this distribution and another one of the same ranks. Collective."""
        return Transfer(self, pencil, dtype)


class Transfer:
    """Moves arrays between two distributions of a global array: one MPI_Alltoallw without packing.

    `leading` are the extents of axes in front of the distributed ones: those of tensors. destroy() frees the datatypes.
    """

    def __init__(self, first: Pencil, second: Pencil, dtype: Any, leading: tuple[int, ...] = ()) -> None:
        if first.shape != second.shape:
            raise ArgumentError(f"a transfer is between arrays of one global shape, not {first.shape}, {second.shape}")
        self.dtype = np.dtype(dtype)
        self.comm = first.subcomm.comm
        mine: tuple[Box, Box] = (first.substart, first.subshape), (second.substart, second.subshape)
        theirs = self.comm.allgather(mine)
        self._shapes = tuple(leading + box[1] for box in mine)
        self._types = tuple(
            [self._datatype(leading, box, partner[1 - end]) for partner in theirs] for end, box in enumerate(mine)
        )

    def _datatype(self, leading: tuple[int, ...], box: Box, other: Box) -> MPI.Datatype | None:
        """What of this rank's box lies in another one; None for nothing."""
        starts, extents = list[int](), list[int]()
        for lo, n, other_lo, other_n in zip(*box, *other, strict=True):
            starts.append(max(lo, other_lo) - lo)
            extents.append(min(lo + n, other_lo + other_n) - lo - starts[-1])
        if min((*extents, *leading)) <= 0:
            return None
        sizes = (*leading, *box[1], self.dtype.itemsize)
        part = (*leading, *extents, self.dtype.itemsize)
        start = (*[0] * len(leading), *starts, 0)
        return MPI.BYTE.Create_subarray(sizes, part, start).Commit()

    def _move(self, source: Array, target: Array, source_end: int) -> None:
        failure = None
        for array, end in ((source, source_end), (target, 1 - source_end)):
            if array.shape != self._shapes[end] or array.dtype != self.dtype or not array.flags.c_contiguous:
                failure = ArgumentError(
                    f"this transfer takes a contiguous array of shape {self._shapes[end]} and type {self.dtype} here, "
                    f"not {array.shape} of {array.dtype}"
                )
        agree(self.comm, failure)
        messages = []
        for array, end in ((source, source_end), (target, 1 - source_end)):
            types = self._types[end]
            counts = [int(part is not None) for part in types]
            messages.append([array, (counts, [0] * len(types)), [MPI.BYTE if part is None else part for part in types]])
        self.comm.Alltoallw(*messages)

    def forward(self, source: Array, target: Array) -> None:
        """From the first distribution to the second. Collective."""
        self._move(np.asarray(source), np.asarray(target), 0)

    def backward(self, source: Array, target: Array) -> None:
        """From the second distribution to the first. Collective."""
        self._move(np.asarray(source), np.asarray(target), 1)

    def destroy(self) -> None:
        """Frees the datatypes. Not collective."""
        for types in self._types:
            for part in types:
                if part is not None:
                    part.Free()
            types.clear()
