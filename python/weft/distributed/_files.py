"""DistArrays in files: .npy by MPI-IO, and HDF5 by h5py."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._core import ArgumentError, UnsupportedError
from weft.distributed._mpi4py import MPI, agree
from weft.distributed._slices import Part, part_of_slice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weft.distributed._array import DistArray

Array = np.ndarray[Any, np.dtype[Any]]


def write(
    array: DistArray, filename: str, name: str, step: int, global_slice: Any, domain: Any, as_scalar: bool
) -> None:
    comm = array.pencil.subcomm.comm
    failure: Exception | None = None
    part = None
    axes = global_slice
    try:
        if global_slice is None:
            axes = (slice(None),) * array.dimensions
        part = part_of_slice((slice(None),) * array.rank + tuple(axes), array.global_shape, array.substart, array.shape)
        _kind(filename)
    except Exception as wrong:
        failure = wrong
    agree(comm, failure)
    assert part is not None
    if _kind(filename) == "npy":
        _write_npy(comm, os.fspath(filename), _values(array, part), part)
        return
    fields = list(_components(array, name)) if as_scalar else [(name, array)]
    for group, field in fields:
        kept = global_slice if global_slice is None else tuple(axes)
        _in_file(comm, filename, functools.partial(_write_hdf5, group, field, step, kept, domain))


def read(array: DistArray, filename: str, name: str, step: int) -> None:
    comm = array.pencil.subcomm.comm
    failure: Exception | None = None
    try:
        if _kind(filename) == "npy":
            _assign(array, np.load(filename, mmap_mode="r"))
        else:
            import h5py

            with h5py.File(filename, "r") as file:
                _assign(array, file[f"{name}/{array.dimensions}D/{step}"])
    except Exception as wrong:
        failure = wrong
    agree(comm, failure)


def _kind(filename: str) -> str:
    ending = os.path.splitext(os.fspath(filename))[1]
    if ending == ".npy":
        return "npy"
    if ending in (".h5", ".hdf5"):
        try:
            import h5py  # noqa: F401
        except ImportError as missing:
            raise UnsupportedError(f"{filename}: HDF5 needs h5py; `pip install h5py` ({missing})") from missing
        return "hdf5"
    raise UnsupportedError(f"{filename}: arrays go to .npy, .h5 and .hdf5 files")


def _assign(array: DistArray, source: Any) -> None:
    if tuple(source.shape) != array.global_shape:
        raise ArgumentError(f"the array in the file has shape {tuple(source.shape)}, not {array.global_shape}")
    if not np.can_cast(source.dtype, array.dtype, "same_kind"):
        raise ArgumentError(f"the array in the file is of {source.dtype}, which does not go into {array.dtype}")
    if array.size:
        array[...] = source[array.local_slice()]


def _values(array: DistArray, part: Part) -> Array | None:
    """What this rank has of the slice, contiguous; None for nothing."""
    if not part.holds:
        return None
    return np.array(array.v[part.local], order="C")


def _components(array: DistArray, name: str) -> Iterator[tuple[str, DistArray]]:
    for index in np.ndindex(array.shape[: array.rank]):
        yield name + "".join(str(i) for i in index), array[index] if index else array


def _write_npy(comm: MPI.Intracomm, filename: str, values: Array | None, part: Part) -> None:
    """Each rank writes its part by MPI-IO to a file beside, which then takes the place of the old one."""
    dtype = comm.allgather(None if values is None else values.dtype)
    kind = next((found for found in dtype if found is not None), np.dtype(float))
    partial = f"{filename}.partial"
    offset = 0
    failure: Exception | None = None
    if comm.Get_rank() == 0:
        try:
            with open(partial, "wb") as file:
                header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": part.shape}
                np.lib.format.write_array_header_1_0(file, header)
                offset = file.tell()
                file.truncate(offset + kind.itemsize * int(np.prod(part.shape, dtype=np.int64)))
        except OSError as wrong:
            failure = wrong
    agree(comm, failure)
    offset = comm.bcast(offset)
    try:
        _write_part(comm, partial, offset, values, part)
    except MPI.Exception as wrong:
        failure = OSError(f"{partial}: {wrong}")
    try:
        agree(comm, failure)
        if comm.Get_rank() == 0:
            os.replace(partial, filename)
    except Exception as wrong:
        failure = wrong
        if comm.Get_rank() == 0 and os.path.exists(partial):
            os.unlink(partial)
    agree(comm, failure)


def _write_part(comm: MPI.Intracomm, filename: str, offset: int, values: Array | None, part: Part) -> None:
    file = MPI.File.Open(comm, filename, MPI.MODE_WRONLY)
    types: list[MPI.Datatype] = []
    try:
        if values is None or values.size == 0:
            file.Set_view(offset, MPI.BYTE, MPI.BYTE)
            file.Write_all([np.empty(0, np.uint8), 0, MPI.BYTE])
        else:
            bytes_each = values.dtype.itemsize
            starts = [place.start for place in part.target]
            types.append(MPI.BYTE.Create_subarray((*part.shape, bytes_each), (*values.shape, bytes_each), (*starts, 0)))
            types.append(MPI.BYTE.Create_contiguous(bytes_each))
            memory = (*values.shape, 1)
            types.append(types[1].Create_subarray(memory, memory, [0] * len(memory)))
            for kind in types:
                kind.Commit()
            file.Set_view(offset, MPI.BYTE, types[0])
            file.Write_all([values, 1, types[2]])
    finally:
        file.Close()
        for kind in types:
            kind.Free()


def _in_file(comm: MPI.Intracomm, filename: str, use: Callable[[Any], None]) -> None:
    """Lets all ranks write to an HDF5 file: together where h5py is parallel, else one after the other."""
    import h5py

    failure: Exception | None = None
    if h5py.get_config().mpi:
        try:
            with h5py.File(filename, "a", driver="mpio", comm=comm) as file:
                use(file)
        except Exception as wrong:
            failure = wrong
        agree(comm, failure)
        return
    for rank in range(comm.Get_size()):
        if rank == comm.Get_rank():
            try:
                with h5py.File(filename, "a") as file:
                    use(file)
            except Exception as wrong:
                failure = wrong
        agree(comm, failure)


def _write_hdf5(name: str, field: DistArray, step: int, global_slice: Any, domain: Any, file: Any) -> None:
    group = file.require_group(name)
    group.attrs.setdefault("shape", field.pencil.shape)
    group.attrs.setdefault("rank", field.rank)
    _write_domain(group, field, domain)
    slices = (slice(None),) * field.dimensions if global_slice is None else global_slice
    part = part_of_slice((slice(None),) * field.rank + tuple(slices), field.global_shape, field.substart, field.shape)
    path = f"{len(part.shape) - field.rank}D"
    if global_slice is not None:
        path += "/" + "_".join("slice" if isinstance(axis, slice) else str(axis) for axis in global_slice)
    data = group.require_group(path).require_dataset(str(step), shape=part.shape, dtype=field.dtype, exact=True)
    if part.holds:
        data[part.target] = field.v[part.local]


def _write_domain(group: Any, field: DistArray, domain: Any) -> None:
    if domain is None:
        return
    if len(domain) != field.dimensions:
        raise ArgumentError(f"the domain has {len(domain)} entries for {field.dimensions} axes")
    kind = "mesh" if isinstance(domain[0], np.ndarray) else "domain"
    for axis, entry in enumerate(domain):
        values = np.squeeze(np.asarray(entry, dtype=float))
        group.require_group(kind).require_dataset(f"x{axis}", shape=values.shape, dtype=values.dtype, data=values)
