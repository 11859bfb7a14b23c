"""weft.PFFT against numpy.fft and scipy.fft of the whole array. Run by test_distributed.py, or by mpirun."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import scipy.fft
from mpi4py import MPI
from world import close, comm, random_array, raises, rng, run

import weft
from weft import PFFT, DistArray, Subcomm, newDistArray

RANKS = comm.Get_size()


def check(pfft, axes, types=None):
    """Transforms a random array forward and back, in each way that arrays can be given."""
    shape, dtype = pfft.global_shape(False), pfft.dtype(False)
    whole = random_array(shape, dtype)
    expected = reference(whole, axes, types)
    assert pfft.global_shape(True) == expected.shape
    assert np.dtype(pfft.dtype(True)) == (expected.dtype if dtype.char in "dD" or types else dtype.char.upper())
    real, spectrum = newDistArray(pfft, False), newDistArray(pfft, True)
    real[...] = whole[pfft.local_slice(False)]
    kept = real.copy()
    assert pfft.forward(real, spectrum) is spectrum
    mine = expected[pfft.local_slice(True)]
    scale = pfft._points
    assert close(spectrum * scale, mine, dtype), np.abs(spectrum * scale - mine).max()
    assert np.array_equal(real, kept), "the input is kept"
    unscaled = pfft.forward(kept.v, normalize=False)
    assert close(unscaled, mine, dtype)
    back = pfft.backward(spectrum, np.empty(pfft.shape(False), dtype))
    assert close(back, kept, dtype)
    assert close(pfft.backward(mine.astype(pfft.dtype(True)), normalize=True), kept, dtype)
    pfft.forward.input_array[...] = kept
    pfft.forward()
    pfft.backward()
    assert close(pfft.backward.output_array, kept, dtype)


def reference(whole, axes, types):
    """The spectrum by NumPy and SciPy: cosine and sine transforms first, then the last axis of the rest halved."""
    types = types or {}
    rest = [axis for axis in axes if axis not in types]
    for axis, (function, kind) in types.items():
        whole = function(whole, type=kind, axis=axis)
    if not rest:
        return whole
    return (np.fft.fftn if whole.dtype.kind == "c" else np.fft.rfftn)(whole, axes=rest)


def test_example_of_the_documentation():
    for shape, axes in (((12, 14, 15), (0, 1, 2)), ((12, 14, 15), None), ((7, 5), (0, 1))):
        pfft = PFFT(comm, np.array(shape), axes=axes)
        u = newDistArray(pfft, False)
        u[:] = np.random.default_rng(comm.Get_rank()).random(u.shape).astype(u.dtype)
        u_hat = pfft.forward(u)
        back = np.zeros_like(u)
        back = pfft.backward(u_hat, back)
        assert np.allclose(back, u)
        pfft.destroy()


def test_random_transforms():
    for _ in range(30):
        count = int(rng.integers(2, 5))
        shape = tuple(int(n) for n in rng.integers(1, 12, count))
        axes = tuple(int(a) for a in rng.permutation(count)[: rng.integers(1, count + 1)])
        dtype = "fdFD"[rng.integers(4)]
        collapse = bool(rng.integers(2))
        check(PFFT(comm, shape, axes=axes, dtype=dtype, collapse=collapse), axes)


def test_many_axes():
    check(PFFT(comm, (2, 3, 2, 2, 3, 2, 2, 3), dtype="D"), range(8))
    check(PFFT(comm, (3, 2, 2, 5, 2), axes=(4, 1, 3), dtype="f"), (4, 1, 3))


def test_one_axis_on_one_process():
    check(PFFT(MPI.COMM_SELF, (17,), dtype="d"), (0,))
    if RANKS > 1:
        assert "cannot be arranged" in raises(ValueError, lambda: PFFT(comm, (17,)))


def test_large_primes_and_ranks_without_data():
    check(PFFT(comm, (31, 2, 37), dtype="D"), range(3))
    check(PFFT(comm, (1, 1, 5)), range(3))
    check(PFFT(comm, (1, 3), dtype="F"), range(2))


def test_grids_and_slabs():
    for grid in ((-1,), (1, -1), (0, 0, 1)):
        pfft = PFFT(comm, (9, 8, 7), grid=grid)
        check(pfft, range(3))
        if len(grid) == 1:
            assert [c.Get_size() for c in pfft.subcomm] == [RANKS, 1, 1]
    for slab in (True, 0, 1):
        check(PFFT(comm, (9, 8, 7), axes=(0, 1, 2), slab=slab, dtype="F"), range(3))
    if RANKS == 4:
        check(PFFT(comm, (9, 8, 7), grid=(2, 2, 1)), range(3))
        check(PFFT(comm, (9, 8, 7), axes=(0, 2, 1), grid=(2, 1, 2)), (0, 2, 1))


def test_axes_together():
    check(PFFT(comm, (8, 5, 6), axes=((0,), (1, 2))), (0, 1, 2))
    check(PFFT(comm, (8, 5, 6), axes=((1,), (2, 0)), dtype="D"), (1, 2, 0))


def test_subcomm_and_darray():
    subcomm = Subcomm(comm, [0, 0, 1])
    pfft = PFFT(subcomm, (8, 9, 10))
    assert pfft.subcomm is subcomm
    check(pfft, range(3))
    pfft.destroy()
    subcomm.destroy()
    for alignment in range(3):
        array = DistArray((8, 9, 10), alignment=alignment, dtype="f")
        pfft = PFFT(None, darray=array)
        assert pfft.axes[-1] == (alignment,)
        check(pfft, [axis for group in pfft.axes for axis in group])
    again = DistArray((8, 9, 10), alignment=0).redistribute(1)
    check(PFFT(comm, darray=again, axes=(0, 2, 1)), (0, 2, 1))
    raises(ValueError, lambda: PFFT(comm, darray=again, axes=(1, 2, 0))) if RANKS > 1 else None


def test_communicators_of_others():
    grid = comm.Create_cart(MPI.Compute_dims(RANKS, [0, 1, 0]))
    comms = [grid.Sub([a == axis for a in range(3)]) for axis in range(3)]
    array = DistArray((6, 7, 8), subcomm=comms)
    check(PFFT(None, darray=array, axes=(0, 2, 1)), (0, 2, 1))
    half = comm.Split(comm.Get_rank() % 2, -comm.Get_rank())
    check(PFFT(half, (6, 7, 8)), range(3))
    half.Free()


def test_cosine_and_sine_transforms():
    dct, dst = scipy.fft.dct, scipy.fft.dst
    for kind in (1, 2, 3, 4):
        forward = functools.partial(scipy.fft.dctn, type=kind), functools.partial(scipy.fft.idctn, type=kind)
        pfft = PFFT(comm, (5, 6, 7), axes=((0,), (1, 2)), transforms={(1, 2): forward})
        check(pfft, (0, 1, 2), {1: (dct, kind), 2: (dct, kind)})
        pfft = PFFT(comm, (5, 6, 7), dtype="f", transforms={(a,): f"dst{kind}" for a in range(3)})
        check(pfft, (0, 1, 2), {axis: (dst, kind) for axis in range(3)})
    transforms = {(0,): "dct2", (2,): (weft.fft.dstn, weft.fft.idstn)}
    check(PFFT(comm, (5, 6, 7), axes=(0, 2), transforms=transforms), (0, 2), {0: (dct, 2), 2: (dst, 2)})
    check(PFFT(comm, (5, 6, 7, 4), axes=(3, 1, 2), transforms={(2,): "dct3"}), (3, 1, 2), {2: (dct, 3)})


def test_options_of_the_library():
    for exchange in ("p2p-sync", "a2a-type", "peer", ("p2p-type", "a2a-sync")):
        check(PFFT(comm, (9, 10, 11), exchange=exchange), range(3))
    for engine, device in (("reference", "host"), ("native", "simulated")):
        check(PFFT(comm, (9, 10, 11), engine=engine, device=device), range(3))
    pfft = PFFT(comm, (9, 10, 11), variant="realigned", effort="measure", threads=2, chunks=1)
    check(pfft, range(3))
    assert "realigned" in pfft.explain()


def test_tensors():
    pfft = PFFT(comm, (6, 5, 4))
    vector, spectra = newDistArray(pfft, False, rank=1), newDistArray(pfft, True, rank=1)
    whole = random_array((3, 6, 5, 4), "d")
    vector[...] = whole[vector.local_slice()]
    for i in range(3):
        spectra[i] = pfft.forward(vector[i], spectra[i])
    assert close(spectra.v * 120, np.fft.rfftn(whole, axes=(1, 2, 3))[spectra.local_slice()], "d")


def test_arrays_that_are_copied():
    pfft = PFFT(comm, (6, 5, 4), dtype="D")
    whole = random_array((6, 5, 4), "D")
    expected = (np.fft.fftn(whole) / 120)[pfft.local_slice(True)]
    mine = whole[pfft.local_slice(False)]
    fortran = np.asfortranarray(mine)
    assert close(pfft.forward(fortran), expected, "D")
    out = np.zeros((*pfft.shape(True)[:2], 2 * pfft.shape(True)[2]), "D")[:, :, ::2]
    assert pfft.forward(mine.copy(), out) is out
    assert close(out, expected, "D")
    constant = np.zeros((6, 5, 4), "D")
    constant[0, 0, 0] = 1
    assert close(pfft.forward(np.ones_like(mine.real, dtype="f")), constant[pfft.local_slice(True)], "D")
    assert close(pfft.forward(1), constant[pfft.local_slice(True)], "D")
    if RANKS == 1:  # in place
        array = mine.copy()
        assert pfft.forward(array, array) is array
        assert close(array, expected, "D")


def truncated(spectrum, shape, axes, halved):
    """Of a whole spectrum the frequencies that shape has along axes: -n/2 <= k < n/2, and 0 <= k <= n/2 if halved."""
    for axis in axes:
        n, most = shape[axis], spectrum.shape[axis]
        low = n // 2 + 1 if axis == halved else (n + 1) // 2
        high = 0 if axis == halved else n // 2
        spectrum = np.take(spectrum, [*range(low), *range(most - high, most)], axis)
    return spectrum


def test_padding_is_the_three_halves_rule():
    for shape, axes, padding in (
        ((8, 7, 10), (0, 1, 2), 1.5),
        ((5, 9, 4), (0, 1, 2), [1.5, 1, 2]),
        ((12, 6), (0, 1), 1.5),
        ((6, 5, 7), (1, 2), 1.5),
        ((6, 5, 7), ((0,), (1, 2)), 1.5),
        ((7, 9, 5, 4), (0, 1, 2), [1.5, 1.5, 1.25, 3]),
    ):
        for dtype in "dDfF":
            pfft = PFFT(comm, shape, axes=axes, dtype=dtype, padding=padding)
            flat = [axis for group in axes for axis in np.atleast_1d(group)]
            halved = flat[-1] if dtype in "df" else None
            factors = [padding] * len(shape) if np.isscalar(padding) else padding
            alone = [a in axes or (a,) in axes for a in range(len(shape))]
            padded = tuple(int(n * f) if pads else n for n, f, pads in zip(shape, factors, alone, strict=True))
            assert pfft.global_shape(False) == padded
            whole = random_array(padded, np.dtype(dtype))
            kept = truncated(reference(whole, flat, None), shape, flat, halved) / np.prod([padded[a] for a in flat])
            assert pfft.global_shape(True) == kept.shape
            mine = whole[pfft.local_slice(False)].copy()
            spectrum = pfft.forward(mine)
            assert close(spectrum, kept[pfft.local_slice(True)], np.dtype(dtype))
            again = pfft.forward(pfft.backward(spectrum))  # the rest has no other frequencies
            if halved is None or all(n % 2 for n in shape):
                assert close(again, kept[pfft.local_slice(True)], np.dtype(dtype))


def test_mistakes_raise_on_all_ranks():
    for exception, call in (
        (NotImplementedError, lambda: PFFT(comm, (6, 5, 4), padding=1.5, transforms={(2,): "dct2"}, axes=(0, 1, 2))),
        (ValueError, lambda: PFFT(comm, (6, 5, 4), padding=0.5)),
        (ValueError, lambda: PFFT(comm, (6, 5, 4), padding=[1.5, 1.5])),
        (NotImplementedError, lambda: PFFT(comm, (6, 5, 4), dtype="g")),
        (NotImplementedError, lambda: PFFT(comm, (6, 5, 4), dtype="D", transforms={(2,): "dct2"})),
        (NotImplementedError, lambda: PFFT(comm, (6, 5, 4), transforms={(0,): "dct2"})),
        (NotImplementedError, lambda: PFFT(comm, (6, 5, 4), transforms={(2,): (np.sort, np.sort)})),
        (ValueError, lambda: PFFT(comm, (6, 5, 4), transforms={(1, 2): "dct2"})),
        (NotImplementedError, lambda: PFFT(comm, (6, 5, 4), axes=(0, 0))),
        (NotImplementedError, lambda: PFFT(comm, (6, 5, 4), backend="numpy")),
        (ValueError, lambda: PFFT(comm, (6, 5, 4), axes=(0, 3))),
        (ValueError, lambda: PFFT(comm, (6, 5, 4), axes=())),
        (ValueError, lambda: PFFT(comm, (6, 0, 4))),
        (ValueError, lambda: PFFT(comm, (6, 5, 4), grid=(RANKS + 1,))),
        (ValueError, lambda: PFFT(comm, (6, 5, 4), exchange="pigeons")),
        (ValueError, lambda: PFFT(comm)),
        (ValueError, lambda: PFFT(None, (6, 5, 4))),
    ):
        raises(exception, call)


def test_a_failure_on_one_rank_raises_on_all():
    last = RANKS - 1
    here = comm.Get_rank() == last
    shape = (6, 5, 4) if here else (6, 5, 5)
    if RANKS > 1:
        assert "not the same" in raises(ValueError, lambda: PFFT(comm, shape))
        sentence = raises(ValueError, lambda: PFFT(comm, (6, 5, 4), effort="high" if here else "estimate"))
        assert "high" in sentence and here != (f"rank {last}" in sentence)
    for axes in ((0, 1, 2), (2, 1)):
        pfft = PFFT(comm, (6, 5, 4), axes=axes)
        wrong = np.zeros((1, 2, 3)) if here else pfft.forward.input_array
        sentence = raises(ValueError, lambda p=pfft, w=wrong: p.forward(w))
        assert here or f"rank {last}" in sentence
        raises(ValueError, lambda p=pfft, w=wrong: p.forward(None, w if here else None))
        check(pfft, axes)


def test_plans_come_and_go():
    from weft.distributed import _context

    context = _context.context_of(comm)
    pfft = PFFT(comm, (4, 6, 5))
    before = len(context._plans)
    for n in range(1, 8):
        kept = PFFT(comm, (4, n, 5))
        if comm.Get_rank() % 2:
            kept.myself = kept  # a cycle: this rank's garbage collector comes later
        del kept
        assert len(context._plans) <= before + 8
    import gc

    gc.collect()
    context.settle()
    assert len(context._plans) <= before
    pfft.destroy()
    pfft.destroy()
    raises(ValueError, pfft.forward)
    copy = comm.Dup()
    pfft = PFFT(copy, (4, 6, 5))
    check(pfft, range(3))
    copy.Free()
    pfft.destroy()
    assert all(c.comm != MPI.COMM_NULL for c in _context._contexts)


def test_many_plans_share_their_communicators():
    for shape, _ in itertools.product(((4, 4, 4), (4, 5, 4)), range(50)):
        PFFT(comm, shape, axes=(1, 2)).destroy()


if __name__ == "__main__":
    run(globals())
