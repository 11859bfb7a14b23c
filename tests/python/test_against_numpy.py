"""weft.fft gives NumPy's numbers, in the precision of what it is given."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from transform_case import COMPLEX_OUTPUT, Case, random_array, random_case, strided

import weft.fft


def check(case: Case, result: np.ndarray) -> None:
    expected = case.expected()
    kind = "c" if case.name in COMPLEX_OUTPUT else "f"
    assert result.dtype == f"{kind}{(1 if case.is_single() else 2) * (8 if kind == 'c' else 4)}"
    assert result.shape == expected.shape
    error = np.linalg.norm(result - expected) / max(np.linalg.norm(expected), 1e-300)
    assert error < case.tolerance(), (case.name, case.array.shape, case.array.strides, case.keywords)


@pytest.mark.parametrize("round_", range(20))
def test_random_transforms_are_numpys(rng, round_):
    for _ in range(40):
        case = random_case(rng)
        before = case.array.copy()
        check(case, getattr(weft.fft, case.name)(case.array, **case.keywords))
        assert np.array_equal(case.array, before)


@pytest.mark.parametrize("round_", range(4))
def test_results_are_written_to_out_of_any_strides(rng, round_):
    for _ in range(30):
        case = random_case(rng)
        result = getattr(weft.fft, case.name)(case.array, **case.keywords)
        out = strided(rng, np.zeros_like(result))
        assert getattr(weft.fft, case.name)(case.array, **case.keywords, out=out) is out
        check(case, out)


@pytest.mark.parametrize("n", [1, 2, 3, 64, 97, 100, 1000, 1009, 4096])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_lengths_along_each_axis(rng, n, dtype):
    for shape, axis in (((n,), 0), ((3, n), 1), ((n, 5), 0), ((2, n, 3), 1)):
        for name in ("fft", "ifft") if "c" in dtype else ("fft", "ifft", "rfft"):
            case = Case(name, random_array(rng, shape, dtype), {"axis": axis})
            check(case, getattr(weft.fft, name)(case.array, axis=axis))


def test_more_members_than_scratch_memory_holds(rng):
    for shape in ((300, 1024), (1024, 300), (7, 500, 33)):
        for axis in range(len(shape)):
            for dtype in ("f8", "c16"):
                case = Case("fft", random_array(rng, shape, dtype), {"axis": axis})
                check(case, weft.fft.fft(case.array, axis=axis))


@pytest.mark.parametrize("workers", [2, -1])
def test_threads_give_the_same_numbers(rng, workers):
    for shape in ((1 << 16,), (512, 200), (40, 50, 60)):
        array = random_array(rng, shape, "c16")
        case = Case("fftn", array)
        check(case, weft.fft.fftn(array, workers=workers))
        with weft.fft.set_workers(2):
            check(case, weft.fft.fftn(array))


def test_ten_axes(rng):
    array = random_array(rng, (2, 3, 2, 1, 2, 3, 2, 2, 1, 3), "f8")
    for name in ("fftn", "rfftn", "ifftn"):
        check(Case(name, array), getattr(weft.fft, name)(array))
    half = array.astype("c16")
    check(Case("irfftn", half), weft.fft.irfftn(half))


def test_repeated_axes_are_transformed_repeatedly(rng):
    array = random_array(rng, (4, 5), "c16")
    keywords = {"axes": (0, 1, 0), "s": (3, 4, 7)}
    for name in ("fftn", "ifftn"):
        check(Case(name, array, keywords), getattr(weft.fft, name)(array, **keywords))


def test_overwritten_input_holds_the_result(rng):
    array = random_array(rng, (6, 64), "c16")
    expected = np.fft.fft(array)
    assert np.allclose(weft.fft.fft(array, overwrite_x=True), expected)


def test_out_may_overlap_with_the_input(rng):
    array = random_array(rng, (20, 20), "c16")
    expected = np.fft.fft(array, axis=0)
    assert weft.fft.fft(array, axis=0, out=array) is array
    assert np.allclose(array, expected)
    expected = np.fft.fft(array, axis=1)
    assert np.allclose(weft.fft.fft(array, axis=1, out=array.T), expected)


def test_several_axes_of_hermitian_data_are_scipys(rng):
    scipy_fft = pytest.importorskip("scipy.fft")
    array = random_array(rng, (5, 6, 7), "c16")
    for name in ("hfftn", "hfft2"):
        assert np.allclose(getattr(weft.fft, name)(array), getattr(scipy_fft, name)(array))
    for name in ("ihfftn", "ihfft2"):
        assert np.allclose(getattr(weft.fft, name)(array.real), getattr(scipy_fft, name)(array.real))


def test_fast_lengths_are_scipys():
    scipy_fft = pytest.importorskip("scipy.fft")
    for real in (False, True):
        for target in (*range(1, 2000), 2**20 - 1, 10**9 + 7):
            assert weft.fft.next_fast_len(target, real) == scipy_fft.next_fast_len(target, real)
            assert weft.fft.prev_fast_len(target, real) == scipy_fft.prev_fast_len(target, real)


def test_frequencies_and_shifts_are_numpys():
    for n in (1, 2, 7, 8):
        assert np.array_equal(weft.fft.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5))
        assert np.array_equal(weft.fft.rfftfreq(n, d=3), np.fft.rfftfreq(n, 3))
        assert np.array_equal(weft.fft.fftshift(range(n)), np.fft.fftshift(range(n)))
        assert np.array_equal(weft.fft.ifftshift(range(n)), np.fft.ifftshift(range(n)))
    assert weft.fft.fftfreq(4, dtype=np.float32).dtype == np.float32


def test_long_double_is_scipys(rng):
    scipy_fft = pytest.importorskip("scipy.fft")
    array = random_array(rng, (10,), "f8").astype(np.longdouble)
    result = weft.fft.rfft(array)
    assert result.dtype == np.clongdouble
    assert np.array_equal(result, scipy_fft.rfft(array))


@pytest.mark.parametrize("name", ("dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn"))
@pytest.mark.parametrize("kind", (1, 2, 3, 4))
def test_cosine_and_sine_transforms_are_scipys(rng, name, kind):
    scipy_fft = pytest.importorskip("scipy.fft")
    for code in ("f4", "f8", "c8", "c16", "f2", "i4"):
        array = random_array(rng, (4, 5, 6), code)
        for norm in (None, "backward", "ortho", "forward"):
            for orthogonalize in (None, False, True):
                extent, axis = rng.choice([None, 3, 5, 9]), int(rng.integers(-3, 3))
                where = {"n": extent, "axis": axis}
                if name.endswith("n"):
                    where = {"axes": (axis, (axis + 1) % -3)}
                call = {"type": kind, "norm": norm, "orthogonalize": orthogonalize, **where}
                scipys = partial(getattr(scipy_fft, name), **call)
                expected = scipys(array.astype("f4") if code == "f2" else array)
                if array.dtype.kind == "c":  # whose `orthogonalize` SciPy forgets
                    expected = (scipys(array.real) + 1j * scipys(array.imag)).astype(code)
                result = getattr(weft.fft, name)(array, **call)
                assert result.dtype == expected.dtype and result.shape == expected.shape
                allowed = 1e-4 if code in ("f2", "f4", "c8") else 1e-12
                assert np.allclose(result, expected, rtol=allowed, atol=allowed)


def test_cosine_transforms_in_place_and_of_views(rng):
    scipy_fft = pytest.importorskip("scipy.fft")
    whole = random_array(rng, (12, 10), "f8")
    view = whole[::2, ::-1]
    expected = scipy_fft.dctn(view, norm="ortho")
    assert np.allclose(weft.fft.dctn(view, norm="ortho"), expected)
    array = view.copy()
    result = weft.fft.dctn(array, norm="ortho", overwrite_x=True)
    assert np.shares_memory(result, array) and np.allclose(result, expected)
    assert np.allclose(weft.fft.idctn(result, norm="ortho"), view)
