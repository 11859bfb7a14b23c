"""weft.DistArray: distributions, slices, redistributions, files. Run by test_distributed.py, or by mpirun."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile

import h5py
import numpy as np
from mpi4py import MPI
from world import comm, random_array, raises, rng, run

from weft import DistArray, Pencil, Subcomm

RANKS = comm.Get_size()
ALL = slice(None)


def filled(whole, **distribution):
    """A DistArray of the values of a whole array."""
    array = DistArray(whole.shape, dtype=whole.dtype, **distribution)
    array[...] = whole[array.local_slice()]
    return array


def in_folder(test):
    """Runs a test with a folder of its own."""
    folder = comm.bcast(tempfile.mkdtemp() if comm.Get_rank() == 0 else None)
    try:
        test(folder)
    finally:
        comm.Barrier()
        if comm.Get_rank() == 0:
            shutil.rmtree(folder)


def test_an_array_tells_of_itself():
    array = DistArray((16, 14, 12), alignment=0, val=2)
    assert array.global_shape == (16, 14, 12) and array.alignment == 0 and array.dimensions == 3 and array.rank == 0
    assert array.local_slice()[0] == slice(0, 16) and array.substart[0] == 0
    assert np.prod(array.commsizes) == RANKS and array.pencil.subshape == array.shape
    assert comm.allreduce(array.size) == 16 * 14 * 12 and (array == 2).all()
    vector = DistArray((3, 8, 9), rank=1, dtype="F", val=1j)
    assert vector.dimensions == 2 and vector.rank == 1 and vector.subcomm[0] == MPI.COMM_SELF
    assert isinstance(vector[0], DistArray) and vector[0].rank == 0 and not isinstance(vector[0, :1], DistArray)
    assert type(array[0]) is np.ndarray and type(array.v) is np.ndarray
    assert DistArray((8,), val=2).shape == (8,)
    assert isinstance(np.sin(array) + 1j, DistArray)


def test_results_of_numpys_functions():
    array, vector = DistArray((6, 5, 4), val=2), DistArray((3, 6, 5, 4), rank=1, val=1)
    assert isinstance(np.sin(array) + 1j, DistArray)
    assert (array * vector).rank == 1 and (vector * array).rank == 1 and (array * vector)[0].rank == 0
    for plain in (array.sum(), array.max(initial=0), np.abs(array).sum(axis=0), vector.sum(), array[:1] + 1):
        assert not isinstance(plain, DistArray)
    assert isinstance(vector.sum(axis=0), DistArray) and vector.sum(axis=0).rank == 0
    array += 1
    assert type(array) is DistArray and (array == 3).all()
    for copy in comm.allgather(array):
        assert type(copy) is np.ndarray and (copy == 3).all()


def test_boxes_tile_the_array():
    for _ in range(20):
        shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(2, 5)))
        alignment = int(rng.integers(len(shape)))
        whole = np.zeros(shape, int)
        for box in comm.allgather(DistArray(shape, alignment=alignment).local_slice()):
            whole[box] += 1
        assert (whole == 1).all()


def test_slices():
    whole = random_array((7, 6, 5), "D")
    slices = [(0, ALL, 0), (ALL, 3, 4), (-1,), (..., 2), slice(1, 5), (slice(1, None, 2), slice(0, 6, 4), slice(3, 3)),
              (2, 3, 4), (slice(-3, None), ..., slice(None, -2, 3))]  # fmt: skip
    for wanted, alignment in itertools.product(slices, range(3)):
        found = filled(whole, alignment=alignment).get(wanted)
        if comm.Get_rank() == 0:
            assert np.array_equal(found, whole[wanted])
        else:
            assert found is None
    raises(IndexError, lambda: filled(whole).get((7, 0, 0)))
    raises(ValueError, lambda: filled(whole).get(slice(None, None, -1)))
    vector = filled(random_array((2, 4, 6), "f"), rank=1)
    component = vector.get((1, ALL, 2))
    assert comm.Get_rank() or component.shape == (4,)


def test_redistributions():
    for _ in range(30):
        rank = int(rng.integers(3))
        shape = tuple(int(n) for n in rng.integers(1, 8, rng.integers(2, 5) + rank))
        axes = len(shape) - rank
        whole = random_array(shape, "fdFD"[rng.integers(4)])
        array = filled(whole, alignment=int(rng.integers(axes)), rank=rank)
        for axis in rng.integers(0, axes, 3):
            array = array.redistribute(int(axis))
            assert array.alignment == axis
            assert np.array_equal(array, whole[array.local_slice()])
        out = DistArray(shape, dtype=whole.dtype, alignment=int(rng.integers(axes)), rank=rank)
        assert array.redistribute(out=out) is out
        assert np.array_equal(out, whole[out.local_slice()])
        assert out.redistribute(out.alignment) is out


def test_redistribution_to_another_grid():
    whole = random_array((5, 6, 7), "d")
    for first, second in itertools.permutations(((RANKS, 1, 1), (1, RANKS, 1), (1, 0, 0)), 2):
        source, target = filled(whole, subcomm=first), DistArray((5, 6, 7), subcomm=second)
        source.redistribute(out=target)
        assert np.array_equal(target, whole[target.local_slice()])


def test_pencils_and_transfers():
    subcomm = Subcomm(comm, [0, 0, 1, 0])
    first = Pencil(subcomm, (4, 5, 6, 3), 2)
    second = first.pencil(0)
    transfer = first.transfer(second, float)
    a, b = np.empty(first.subshape), np.empty(second.subshape)
    whole = random_array((4, 5, 6, 3), "d")
    a[...] = whole[first.slices]
    transfer.forward(a, b)
    assert np.array_equal(b, whole[second.slices])
    a[...] = 0
    transfer.backward(b, a)
    assert np.array_equal(a, whole[first.slices])
    wrong = a.astype("f") if comm.Get_rank() == 0 else a
    raises(ValueError, lambda: transfer.forward(wrong, b))
    transfer.destroy()
    subcomm.destroy()


def test_npy():
    def test(folder):
        for shape, dtype, rank in (((7, 5, 6), "D", 0), ((3, 4), "f", 0), ((2, 5, 3), ">i2", 1), ((1, 2, 1), "d", 0)):
            whole = (100 * random_array(shape, "d")).astype(dtype)
            name = os.path.join(folder, "array.npy")
            array = filled(whole, rank=rank)
            array.write(name)
            assert np.array_equal(np.load(name), whole) and np.load(name, mmap_mode="r").dtype == whole.dtype
            back = DistArray(shape, dtype=dtype, alignment=0, rank=rank)
            back.read(name)
            assert np.array_equal(back, whole[back.local_slice()])
            comm.Barrier()
        whole = random_array((7, 5, 6), "d")
        filled(whole).write(name, global_slice=(slice(1, None, 3), 2, ALL))
        assert np.array_equal(np.load(name), whole[1::3, 2])
        comm.Barrier()
        if comm.Get_rank() == 0:
            np.save(name, np.asfortranarray(whole.astype("f")))
        comm.Barrier()
        array = DistArray((7, 5, 6), dtype="D")
        array.read(name)
        assert np.array_equal(array, whole.astype("f")[array.local_slice()])
        raises(ValueError, lambda: DistArray((7, 5, 7)).read(name))
        raises(ValueError, lambda: DistArray((7, 5, 6), dtype=int).read(name))
        assert os.listdir(folder) == ["array.npy"]
        comm.Barrier()
        raises(OSError, lambda: array.write(os.path.join(folder, "absent", "array.npy")))
        raises(OSError, lambda: array.read(os.path.join(folder, "absent.npy")))
        raises(NotImplementedError, lambda: array.write(os.path.join(folder, "array.nc")))

    in_folder(test)


def test_hdf5():
    def test(folder):
        name = os.path.join(folder, "arrays.h5")
        whole, vector = random_array((7, 5, 6), "D"), random_array((2, 4, 5), "f")
        array = filled(whole, alignment=1)
        array.write(name, "u", 0, domain=((0, 1), (0, 2), (0, 3)))
        array.write(name, "u", 3)
        array.write(name, "u", 3, global_slice=(ALL, 4, 2))
        filled(vector, rank=1).write(name, "v")
        filled(vector, rank=1).write(name, "v", 1, as_scalar=True)
        comm.Barrier()
        with h5py.File(name, "r") as file:
            assert np.array_equal(file["u/3D/0"], whole) and np.array_equal(file["u/3D/3"], whole)
            assert np.array_equal(file["u/1D/slice_4_2/3"], whole[:, 4, 2]) and file["u/domain/x2"][1] == 3
            assert np.array_equal(file["v/2D/0"], vector) and np.array_equal(file["v1/2D/1"], vector[1])
            assert file["v"].attrs["rank"] == 1 and tuple(file["v"].attrs["shape"]) == (4, 5)
        comm.Barrier()
        back = DistArray((7, 5, 6), dtype="D", alignment=0)
        back.read(name, "u", 3)
        assert np.array_equal(back, whole[back.local_slice()])
        raises(LookupError, lambda: back.read(name, "u", 2))
        raises(ValueError, lambda: DistArray((7, 5, 7)).read(name, "u", 3))
        raises(ValueError, lambda: array.write(name, "u", 4, domain=((0, 1),)))

    in_folder(test)


def test_mistakes_raise_on_all_ranks():
    for call in (
        lambda: DistArray((4, 5, 6), subcomm=(0, 1)),
        lambda: DistArray((4, 5, 6), alignment=3),
        lambda: DistArray((4, 5, 6), rank=3),
        lambda: DistArray((4, 5, 6), subcomm=(RANKS + 1, 0, 0)),
        lambda: DistArray((4, 5, 6)).redistribute(),
        lambda: DistArray((4, 5, 6)).redistribute(out=DistArray((4, 5, 7))),
        lambda: Pencil(Subcomm(comm, (0, 1)), (4, 5), 2),
    ):
        raises(ValueError, call)


def test_a_failure_on_one_rank_raises_on_all():
    array = DistArray((4, 5, 6))
    here = comm.Get_rank() == RANKS - 1
    raises((IndexError, ValueError), lambda: array.get((5 if here else 3, ALL, ALL)))
    out = np.zeros(3) if here else DistArray((4, 5, 6), alignment=0)
    raises(ValueError, lambda: array.redistribute(out=out))


if __name__ == "__main__":
    run(globals())
