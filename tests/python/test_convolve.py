"""weft.convolve and weft.Convolution: beside SciPy's convolutions and filters, and on fields that kernels only scale."""

from __future__ import annotations

import doctest
import math
import os
import threading

import numpy as np
import pytest

import weft
from weft import _convolution, kernels, plan_cache

signal = pytest.importorskip("scipy.signal")
ndimage = pytest.importorskip("scipy.ndimage")

MODES = ("full", "same", "valid")
TYPES = ("f4", "f8", "c8", "c16")


def random_array(rng, shape, dtype):
    array = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        array = array + 1j * rng.standard_normal(shape)
    return array.astype(dtype)


def assert_near(result, expected, tolerance=1e-12, scale=1.0):
    """The same to rounding of numbers that are as large as the scale, or as the largest that is expected."""
    assert result.shape == expected.shape
    if result.dtype.name in ("float32", "complex64"):
        tolerance = max(tolerance, 1e-5)
    scale = max(scale, np.abs(expected).max(initial=0))
    assert np.abs(result - expected).max(initial=0) <= tolerance * scale


def refused(sentence, exception=weft.ArgumentError):
    return pytest.raises(exception, match=sentence)


# weft.convolve beside scipy.signal


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("shape", "kernel"),
    [
        ((16,), (5,)),
        ((17,), (4,)),
        ((31,), (31,)),
        ((5,), (12,)),
        ((1,), (1,)),
        ((1,), (7,)),
        ((127,), (2,)),
        ((12, 9), (3, 4)),
        ((7, 11), (7, 1)),
        ((4, 5), (6, 9)),
        ((6, 7, 5), (2, 3, 4)),
        ((13, 4, 8), (1, 4, 3)),
    ],
)
def test_convolve_is_scipys(rng, shape, kernel, mode, dtype):
    x, w = random_array(rng, shape, dtype), random_array(rng, kernel, dtype)
    result = weft.convolve(x, w, mode)
    assert result.dtype == dtype
    assert_near(result, signal.convolve(x, w, mode, method="direct"))
    assert_near(weft.convolve(x, w, mode, correlate=True), signal.correlate(x, w, mode, method="direct"))


def test_convolve_by_default_is_scipys(rng):
    x, w = rng.standard_normal((20, 30)), rng.standard_normal((5, 6))
    assert_near(weft.convolve(x, w), signal.convolve(x, w))
    assert_near(weft.convolve([1, 2, 3], [0, 1, 0.5]), np.array([0, 1, 2.5, 4, 1.5]))


def test_random_convolutions_are_scipys(rng):
    for _ in range(60):
        rank = int(rng.integers(1, 5))
        shape, kernel = (tuple(int(n) for n in rng.integers(1, 12 - 2 * rank, rank)) for _ in range(2))
        types = [TYPES[i] for i in rng.integers(0, 4, 2)]
        mode = MODES[rng.integers(0, 2)]
        x, w = random_array(rng, shape, types[0]), random_array(rng, kernel, types[1])
        result = weft.convolve(x, w, mode, workers=int(rng.integers(1, 3)))
        dtype = np.result_type(*types)  # for SciPy, which warns about converting memory that it is yet to fill
        assert result.dtype == dtype
        assert_near(result, signal.convolve(x.astype(dtype), w.astype(dtype), mode, method="direct"))


@pytest.mark.parametrize(
    ("of_array", "of_kernel", "expected"),
    [
        ("f4", "f4", "f4"),
        ("f4", "f8", "f8"),
        ("f4", "c8", "c8"),
        ("c8", "f8", "c16"),
        ("i4", "i2", "f8"),
        ("?", "f4", "f8"),
        ("f2", "f2", "f4"),
        (">f4", "f4", "f4"),
        ("u1", "c16", "c16"),
    ],
)
def test_types_of_results(of_array, of_kernel, expected):
    x, w = np.array([0, 1, 1, 0, 1]).astype(of_array), np.array([1, 0, 1]).astype(of_kernel)
    result = weft.convolve(x, w)
    assert result.dtype == expected
    assert_near(result, np.convolve(x.astype(expected), w.astype(expected)))


@pytest.mark.parametrize("dtype", ["f8", "c8"])
def test_axes_that_are_not_convolved_are_fields_of_their_own(rng, dtype):
    x = random_array(rng, (4, 9, 3, 7), dtype)
    w = random_array(rng, (5, 2), dtype)
    expected = signal.convolve(x, w.T[:, None, :, None].transpose(1, 2, 3, 0), "full")  # along axes 1 and 3
    assert_near(weft.convolve(x, w, axes=(1, 3)), expected)
    assert_near(weft.convolve(x, w.T, axes=(3, -3)), expected)
    line = random_array(rng, 4, dtype)
    assert_near(weft.convolve(x, line, "same", axes=1), signal.convolve(x, line[None, :, None, None], "same"))
    assert_near(
        weft.convolve(x[::-1, ::2], line, "valid", axes=-1),
        signal.convolve(x[::-1, ::2], line[None, None, None], "valid"),
    )
    assert weft.convolve(x[:, :, :1], line, axes=2).shape == (4, 9, 4, 7)


def test_arrays_lie_as_they_like(rng):
    x, w = rng.standard_normal((24, 30)), rng.standard_normal((6, 4))
    expected = signal.convolve(x[::2, ::-3], w[::-2].T, "full")
    assert_near(weft.convolve(x[::2, ::-3], w[::-2].T), expected)
    assert_near(weft.convolve(np.asfortranarray(x), np.asfortranarray(w)), signal.convolve(x, w))


def test_a_plan_serves_all_kernels_of_a_shape(rng):
    x = rng.standard_normal(50)
    plan_cache.clear()
    for _ in range(4):
        w = rng.standard_normal(7)
        assert_near(weft.convolve(x, w), np.convolve(x, w))
    info = plan_cache.info()
    assert info.misses == 1 and info.hits == 3 and info.plans == 1 and info.bytes > 0
    weft.convolve(x, rng.standard_normal(8))
    weft.convolve(x, w, "same")
    weft.convolve(x, w, boundary="periodic")
    weft.convolve(x, w, boundary="periodic", origin=0)
    weft.convolve(x, w, correlate=True)
    assert plan_cache.info().misses == 6


def test_the_cache_counts_what_replaced_kernels_take():
    plan_cache.clear()
    before = plan_cache.info().bytes
    weft.convolve(np.ones(4096), np.ones(9))
    held = plan_cache.info().bytes - before
    plan_cache.clear()  # tables that plans share count once
    assert plan_cache.info().bytes == before
    plan = weft.Convolution(4096, np.ones(9), boundary="linear")
    without = plan.memory
    plan.set_kernel(np.ones(9))
    assert without < plan.memory <= held < plan.memory + 1000


@pytest.mark.parametrize("boundary", ["periodic", "linear"])
def test_threads_convolve_at_once(rng, boundary):
    x = rng.standard_normal((64, 64))
    weights = [rng.standard_normal((5, 5)) for _ in range(4)]
    expected = [weft.convolve(x, w, "same", boundary=boundary) for w in weights]
    wrong = []

    def work(i):
        for _ in range(25):
            if not np.array_equal(weft.convolve(x, weights[i], "same", boundary=boundary), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# Boundaries beside scipy.ndimage


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 19])
@pytest.mark.parametrize("correlate", [False, True])
def test_periodic_is_ndimages_wrap(rng, size, correlate):
    x, w = rng.standard_normal((12, 11)), rng.standard_normal((size, 3))
    run = ndimage.correlate if correlate else ndimage.convolve
    expected = run(x, w, mode="wrap")
    assert_near(weft.convolve(x, w, boundary="periodic", correlate=correlate), expected)
    plan = weft.Convolution(x.shape, w, correlate=correlate)
    assert plan.output_shape == plan.shape == x.shape
    assert_near(plan(x), expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_origin_0_is_a_product_of_spectra(rng, dtype):
    for shape in ((10,), (9,), (6, 5), (4, 4, 7)):
        x, w = random_array(rng, shape, dtype), random_array(rng, shape, dtype)
        expected = np.fft.ifftn(np.fft.fftn(x) * np.fft.fftn(w))
        assert_near(
            weft.convolve(x, w, boundary="periodic", origin=0),
            (expected if np.dtype(dtype).kind == "c" else expected.real),
            1e-11,
        )


def gaussian_weights(sigma, radius):
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return weights / weights.sum()


@pytest.mark.parametrize(("boundary", "mode"), [("periodic", "wrap"), ("neumann", "reflect"), ("free", "constant")])
def test_weights_of_a_gaussian_are_ndimages_filter(rng, boundary, mode):
    x = rng.standard_normal((21, 18, 5))
    w = gaussian_weights(1.5, 6)
    kernel = w[:, None, None] * w[None, :, None] * w
    expected = ndimage.gaussian_filter(x, 1.5, mode=mode, truncate=4.0)
    assert_near(weft.convolve(x, kernel, boundary=boundary), expected)
    assert_near(weft.Convolution(x.shape, kernel, boundary=boundary)(x), expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_half_of_a_symmetric_kernel_is_the_whole(rng, dtype):
    x = random_array(rng, (9, 14), dtype)
    half = random_array(rng, (3, 4), dtype)
    whole = np.concatenate((half[:0:-1], half))
    whole = np.concatenate((whole[:, :0:-1], whole), axis=1)
    for boundary in ("neumann", "dirichlet", ("dirichlet", "neumann")):
        expected = weft.convolve(x, whole, boundary=boundary)
        assert_near(weft.convolve(x, half, boundary=boundary, origin=0), expected)
    even = np.pad(x, ((9, 9), (14, 14)), "symmetric")
    assert_near(weft.convolve(x, whole, boundary="neumann"), signal.convolve(even, whole, "same")[9:18, 14:28])
    odd = np.concatenate((-x[::-1], x, -x[::-1]))
    odd = np.concatenate((-odd[:, ::-1], odd, -odd[:, ::-1]), axis=1)
    assert_near(weft.convolve(x, whole, boundary="dirichlet"), signal.convolve(odd, whole, "same")[9:18, 14:28])


def test_boundaries_of_axes_may_differ(rng):
    x, w = rng.standard_normal((10, 12)), rng.standard_normal((3, 5))
    wrapped = np.pad(x, ((4, 4), (0, 0)), "wrap")
    expected = signal.convolve(wrapped, w, "full")[5:15]
    assert_near(weft.convolve(x, w, boundary=("periodic", "linear")), expected)
    free = weft.Convolution(x.shape, w, boundary="free", origin=(0, 4))(x)
    assert_near(free, signal.convolve(x, w)[:10, 4:16])


# Built-in kernels on fields that they only scale


def wave(n, length, boundary, j, at=None):
    """A mode of an axis at the points' places, and its wavenumber."""
    x = (np.arange(n) + 0.5) * length / n
    k = (2 if boundary == "periodic" else 1) * math.pi * j / length
    return (np.sin if boundary == "dirichlet" else np.cos)(k * x), k


MIXED = [
    ("periodic", "periodic", "periodic"),
    ("dirichlet", "neumann", "periodic"),
    ("neumann", "periodic", "dirichlet"),
    ("periodic", "dirichlet", "neumann"),
    ("dirichlet", "dirichlet", "dirichlet"),
    ("neumann", "neumann", "neumann"),
]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("boundary", MIXED)
def test_kernels_scale_modes(boundary, dtype):
    shape, length, modes = (10, 9, 12), (3.0, 2.0, 5.0), (2, 1, 3)
    waves = [wave(*each) for each in zip(shape, length, boundary, modes)]
    field = np.einsum("i,j,k->ijk", *(values for values, _ in waves)).astype(dtype)
    k = np.array([number for _, number in waves])
    square = float(k @ k)
    largest = math.pi * np.array(shape) / np.array(length)  # wavenumbers, by which derivatives scale rounding errors
    sigma = (0.1, 0.2, 0.3)
    cases = [
        (kernels.Gaussian(0.2), math.exp(-0.02 * square)),
        (kernels.Gaussian(sigma), math.exp(-0.5 * float((k**2) @ np.square(sigma)))),
        (kernels.Gaussian(covariance=np.diag([1.0, 0, 0.5])), math.exp(-0.5 * (k[0] ** 2 + k[2] ** 2 / 2))),
        (kernels.Poisson(), 1 / square),
        (kernels.ScreenedPoisson(1.5), 1 / (square + 2.25)),
        (kernels.Heat(0.01), math.exp(-0.01 * square)),
        (kernels.Riesz(1.5), square**0.75),
        (kernels.Riesz(-1), square**-0.5),
        (kernels.Derivative((2, 0, 4)), -(k[0] ** 2) * k[2] ** 4),
        (kernels.Laplacian(), -square),
        (lambda x, y, z: 1 / (1 + x**2 + 2 * y**2 + 3 * z**2), 1 / (1 + k[0] ** 2 + 2 * k[1] ** 2 + 3 * k[2] ** 2)),
    ]
    for kernel, factor in cases:
        plan = weft.Convolution(shape, kernel, dtype=dtype, boundary=boundary, length=length, zero=0)
        result = plan(field)
        assert result.dtype == dtype
        scale = largest[0] ** 2 * largest[2] ** 4 if isinstance(kernel, kernels.Derivative) else largest @ largest
        assert_near(result, factor * field, 1e-12, scale)


def test_derivatives_of_periodic_fields():
    x = (np.arange(32) + 0.5) * 2 * math.pi / 32
    field = np.sin(3 * x)
    for order, expected in ((1, 3 * np.cos(3 * x)), (2, -9 * field), (3, -27 * np.cos(3 * x))):
        plan = weft.Convolution(32, kernels.Derivative(order), length=2 * math.pi)
        assert_near(plan(field), expected, 1e-11)
    gaussian = weft.Convolution((32, 8), kernels.Gaussian(covariance=[[2, 1], [1, 3]]), dtype="c16")
    plane = np.exp(1j * 2 * math.pi * (3 * np.arange(32)[:, None] / 32 + np.arange(8) / 8))
    k = 2 * math.pi * np.array([3 / 32, 1 / 8])
    assert_near(gaussian(plane), math.exp(-0.5 * k @ np.array([[2, 1], [1, 3]]) @ k) * plane)


def test_poissons_equation_has_a_mean_of_choice(rng):
    field = rng.standard_normal((8, 9))
    solution = weft.Convolution(field.shape, kernels.Poisson(), zero=0)(field)
    assert abs(solution.mean()) < 1e-12
    back = weft.Convolution(field.shape, kernels.Laplacian())(solution)
    assert_near(-back, field - field.mean())
    with refused("infinite at wavenumber 0"):
        weft.Convolution(field.shape, kernels.Poisson())


def test_poissons_equation_in_free_space():
    """The potential of a Gaussian charge is an error function of the distance."""
    n, length, width = 32, 12.0, 0.9
    x = (np.arange(n) + 0.5) * length / n - length / 2
    r = np.sqrt(x[:, None, None] ** 2 + x[None, :, None] ** 2 + x**2)
    charge = np.exp(-0.5 * (r / width) ** 2) / (2 * math.pi * width**2) ** 1.5
    expected = np.vectorize(math.erf)(r / (math.sqrt(2) * width)) / (4 * math.pi * r)
    plan = weft.Convolution((n, n, n), kernels.Poisson(), boundary="free", length=length)
    assert_near(plan(charge), expected, 1e-6)


# Kernels that are functions of the wavenumber


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(8,), (7,), (1,), (2,), (6, 5), (5, 8), (4, 3, 6)])
def test_functions_of_the_wavenumber_are_built_in_kernels(rng, shape, dtype):
    field = random_array(rng, shape, dtype)
    rank = len(shape)
    order = (3, 2, 1)[:rank]

    def derivative(*k):
        product = 1
        for each, power in zip(k, order):
            product = product * (1j * each) ** power
        return product

    def run(kernel, **options):
        return weft.Convolution(shape, kernel, dtype=dtype, length=1.5, **options)(field)

    for options in ({}, {"correlate": True}):
        assert_near(run(derivative, **options), run(kernels.Derivative(order), **options), 1e-11)
    options = {"zero": 2.5, "deconvolve": 0.01}
    expected = run(kernels.Poisson(), **options)
    assert_near(run(lambda *k: 1 / sum(each**2 for each in k), **options), expected, 1e-11)
    assert_near(run(lambda *k: 3), 3 * field)


def test_functions_of_mixed_boundaries(rng):
    for dtype in TYPES:
        for boundary in MIXED:
            field = random_array(rng, (6, 5, 4), dtype)
            options = {"dtype": dtype, "boundary": boundary, "length": (1, 2, 3)}
            by_name = weft.Convolution(field.shape, kernels.Heat(0.01), **options)(field)
            by_function = weft.Convolution(field.shape, lambda x, y, z: np.exp(-0.01 * (x**2 + y**2 + z**2)), **options)
            assert_near(by_function(field), by_name)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(8,), (7,), (1,), (6, 5), (4, 3, 6)])
def test_spectra_are_those_of_numpy(rng, shape, dtype):
    field, first, second = (random_array(rng, shape, dtype) for _ in range(3))
    transform = np.fft.fftn if field.dtype.kind == "c" else np.fft.rfftn
    plan = weft.Convolution(shape, kernels.Spectrum(transform(first)), dtype=dtype)
    scale = np.sqrt(field.size)
    assert_near(plan(field), weft.Convolution(shape, first, dtype=dtype, origin=0)(field), scale=scale)
    plan.set_kernel(kernels.Spectrum(transform(second).tolist()))
    assert_near(plan(field), weft.Convolution(shape, second, dtype=dtype, origin=0)(field), scale=scale)
    with refused("same space"):
        plan.set_kernel(first)
    with refused("one for each wavenumber"):
        plan.set_kernel(kernels.Spectrum(np.ones((2, *shape))))
    with refused("one for each wavenumber"):
        weft.Convolution(shape, kernels.Spectrum(np.ones(tuple(n + 1 for n in shape))), dtype=dtype)
    with refused("padded", weft.UnsupportedError):
        weft.Convolution(shape, kernels.Spectrum(transform(first)), dtype=dtype, boundary="linear")
    with refused("same space"):
        weft.Convolution(shape, first, dtype=dtype).set_kernel(kernels.Spectrum(transform(first)))


def test_spectra_of_mixed_boundaries(rng):
    for dtype in TYPES:
        field = random_array(rng, (6, 5, 4), dtype)
        options = {"dtype": dtype, "boundary": ("neumann", "periodic", "dirichlet")}
        x, z = np.pi * np.arange(6) / 6, np.pi * np.arange(1, 5) / 4
        y = 2 * np.pi * (np.fft.rfftfreq(5) if field.dtype.kind == "f" else np.fft.fftfreq(5))
        values = np.exp(-(x[:, None, None] ** 2 + y[:, None] ** 2 + z**2))
        expected = weft.Convolution(field.shape, kernels.Heat(1), **options)(field)
        assert_near(weft.Convolution(field.shape, kernels.Spectrum(values), **options)(field), expected)


# weft.Convolution


@pytest.mark.parametrize("boundary", ["periodic", "linear", "free"])
def test_results_go_where_they_are_wanted(rng, boundary):
    x, w = rng.standard_normal((9, 12)), rng.standard_normal((3, 4))
    plan = weft.Convolution(x.shape, w, boundary=boundary)
    expected = plan(x)
    room = np.full((20, 40), np.nan)
    for out in (
        np.empty(plan.output_shape),
        np.asfortranarray(np.empty(plan.output_shape)),
        room[1 : 1 + expected.shape[0], 2 : 2 + 2 * expected.shape[1] : 2],
    ):
        assert plan(x, out) is out
        assert np.array_equal(out, expected)
    assert np.isnan(room).sum() == room.size - expected.size
    if boundary != "linear":
        itself = x.copy()
        assert plan(itself, itself) is itself and np.array_equal(itself, expected)
        memory = np.zeros(x.size + 5)
        field, shifted = memory[: x.size].reshape(x.shape), memory[5:].reshape(x.shape)
        field[...] = x
        assert np.array_equal(plan(field, shifted), expected)


def test_a_field_is_kept_and_converted_where_nothing_is_lost(rng):
    plan = weft.Convolution((5, 6), np.ones((3, 3)))
    x = rng.integers(-9, 9, (5, 6))
    expected = ndimage.convolve(x.astype(float), np.ones((3, 3)), mode="wrap")
    for dtype in ("i4", "i8", "f4", ">f8", "f2"):
        field = np.asfortranarray(x.astype(dtype))
        field.flags.writeable = False
        assert_near(plan(field), expected)
    assert_near(plan(x.tolist()), expected)
    with refused("complex128"):
        plan(x.astype(complex))
    with refused("float64"):
        weft.Convolution((5, 6), np.ones((3, 3)), dtype="f4")(x.astype(float))


@pytest.mark.parametrize("boundary", ["periodic", "linear", "free", "neumann"])
def test_kernels_are_replaced(rng, boundary):
    x = random_array(rng, (7, 8), "c16")
    first, second = (random_array(rng, (3, 3), "c16") for _ in range(2))
    if boundary == "neumann":
        first, second = (w + w[::-1] + w[:, ::-1] + w[::-1, ::-1] for w in (first, second))
    given = first.copy()
    plan = weft.Convolution(x.shape, given, dtype=complex, boundary=boundary)
    before = plan(x)
    given[...] = 0
    assert np.array_equal(plan(x), before)
    plan.set_kernel(second)
    assert_near(plan(x), weft.Convolution(x.shape, second, dtype=complex, boundary=boundary)(x))
    memory = plan.memory
    plan.set_kernel(first.tolist())
    assert np.array_equal(plan(x), before) and plan.memory == memory
    with refused("shape of the one before"):
        plan.set_kernel(first[:2])
    with refused("axes"):
        plan.set_kernel(first[0])
    assert np.array_equal(plan(x), before)


def test_a_built_in_kernel_is_not_replaced():
    plan = weft.Convolution((4, 4), kernels.Heat(1))
    with refused("built in"):
        plan.set_kernel(np.ones((3, 3)))


@pytest.mark.parametrize("dtype", TYPES)
def test_batches(rng, dtype):
    w = random_array(rng, (3, 4), dtype)
    for boundary in ("periodic", "linear", "free"):
        plan = weft.Convolution((6, 7), w, dtype=dtype, boundary=boundary, batch=3)
        alone = weft.Convolution((6, 7), w, dtype=dtype, boundary=boundary)
        x = random_array(rng, (3, 6, 7), dtype)
        assert plan.shape == x.shape and plan.output_shape == (3, *alone.output_shape) and plan.batch == 3
        assert_near(plan(x), np.array([alone(each) for each in x]))
        plan.set_kernel(w[::-1])
        alone.set_kernel(w[::-1])
        assert_near(plan(x), np.array([alone(each) for each in x]))


@pytest.mark.parametrize("dtype", TYPES)
def test_deconvolution_undoes(rng, dtype):
    w = np.zeros((5, 5), dtype)
    w[2, 2], w[1, 2], w[2, 3] = 1, 0.3, 0.2
    x = random_array(rng, (12, 15), dtype)
    blurred = weft.Convolution(x.shape, w, dtype=dtype)(x)
    assert_near(weft.Convolution(x.shape, w, dtype=dtype, deconvolve=0)(blurred), x)
    regular = weft.Convolution(x.shape, w, dtype=dtype, origin=0, deconvolve=0.1)(x)
    K = np.fft.fft2(w, x.shape)
    expected = np.fft.ifft2(np.fft.fft2(x) * K.conj() / (abs(K) ** 2 + 0.1))
    assert_near(regular, expected if np.dtype(dtype).kind == "c" else expected.real)


def test_a_convolution_tells_of_itself():
    plan = weft.Convolution((8, 9), np.ones((3, 3)), boundary=("linear", "periodic"), mode="full", engine="native")
    assert (plan.shape, plan.output_shape, plan.dtype) == ((8, 9), (10, 9), np.float64)
    assert (plan.engine, plan.device, plan.batch) == ("native", "host", 1)
    assert plan.memory > 0 and "convolve" in plan.explain()


def test_the_method_is_a_choice(rng):
    x, w = rng.standard_normal((150, 130)), rng.standard_normal((9, 7))
    for method in ("auto", "whole", "overlap-save"):
        plan = weft.Convolution(x.shape, w, boundary="linear", method=method, threads=2)
        assert method == "auto" or (method == "overlap-save") == ("overlap-save" in plan.explain())
        assert_near(plan(x), signal.convolve(x, w, method="direct"))


def test_threads_share_a_convolution(rng):
    w = [rng.standard_normal((5, 5)) for _ in range(2)]
    x = rng.standard_normal((64, 64))
    expected = [weft.Convolution(x.shape, each)(x) for each in w]
    plan = weft.Convolution(x.shape, w[0], threads=2)
    wrong = []

    def work(i):
        for _ in range(30):
            if i == 0:
                plan.set_kernel(w[1])
                plan.set_kernel(w[0])
            else:
                result = plan(x)
                if not any(np.allclose(result, each, atol=1e-10) for each in expected):
                    wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and np.allclose(plan(x), expected[0], atol=1e-10)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_convolutions_work_in_a_forked_child(rng):
    x = rng.standard_normal((96, 100))
    plans = [
        weft.Convolution(x.shape, kernel, threads=2, zero=0)
        for kernel in (rng.standard_normal((5, 4)), kernels.Poisson(), lambda k, m: 1 / (1 + k**2 + m**2))
    ]
    plans[0].set_kernel(rng.standard_normal((5, 4)))
    w = rng.standard_normal((9, 9))
    expected = [plan(x) for plan in plans] + [weft.convolve(x, w, workers=2)]
    child = os.fork()
    if child == 0:
        try:
            found = [plan(x) for plan in plans] + [weft.convolve(x, w, workers=2)]
            same = all(np.array_equal(a, b) for a, b in zip(found, expected))
            os._exit(0 if same else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_memory_does_not_grow(rng):
    resource = pytest.importorskip("resource")
    x, w = rng.standard_normal((64, 64)), rng.standard_normal((9, 9))
    plan = weft.Convolution(x.shape, w, boundary="free")
    halves = weft.Convolution(x.shape, lambda k, m: 1 / (1 + k**2 + m**2))

    def work(times):
        for _ in range(times):
            plan.set_kernel(w)
            plan(x)
            halves(x, x.copy())
            weft.convolve(x, w)
            weft.Convolution(x.shape, lambda k, m: k * 0)
            with refused("symmetric"):
                weft.Convolution(x.shape, w, boundary="neumann")
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = work(20)
    assert work(100) - before < 8 << 10  # KiB; each of these arrays has 32


# Arrays of other libraries


def test_arrays_of_other_libraries_on_the_host(rng):
    strict = pytest.importorskip("array_api_strict")
    x, w = rng.standard_normal((5, 6)), rng.standard_normal((3, 3))
    result = weft.convolve(strict.asarray(x), strict.asarray(w))
    assert isinstance(result, type(strict.asarray(x)))
    assert_near(np.from_dlpack(result), signal.convolve(x, w))
    plan = weft.Convolution(x.shape, strict.asarray(w))
    assert isinstance(plan(strict.asarray(x)), type(strict.asarray(x)))


def test_tensors(rng):
    torch = pytest.importorskip("torch")
    x, w = rng.standard_normal((5, 6)), rng.standard_normal((3, 3))
    result = weft.convolve(torch.from_numpy(x), torch.from_numpy(w))
    assert isinstance(result, torch.Tensor)
    assert_near(result.numpy(), signal.convolve(x, w))
    with refused("no gradients", weft.UnsupportedError):
        weft.convolve(torch.from_numpy(x).requires_grad_(), w)


class OnDevice:
    """What an array on a GPU shows of itself."""

    @property
    def __cuda_array_interface__(self):
        return {"shape": (4,), "typestr": "<f8", "data": (4096, False), "version": 3}


class OfDLPack:
    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **options):
        raise AssertionError("it is not asked for its memory")


@pytest.mark.parametrize("x", [OnDevice(), OfDLPack()])
def test_arrays_on_devices_are_refused(x):
    for call in (
        lambda: weft.convolve(x, [1.0]),
        lambda: weft.convolve([1.0], x),
        lambda: weft.Convolution(4, x),
        lambda: weft.Convolution(4, [1.0])(x),
    ):
        with refused("lies on a device.*copy it there", weft.UnsupportedError):
            call()


# Misuse

W = np.ones((3, 3))


@pytest.mark.parametrize(
    ("sentence", "call"),
    [
        ("kernel has 1 axes, and the array 2", lambda: weft.convolve(W, [1.0])),
        ("kernel has 2 axes, and the array 1", lambda: weft.convolve(W, W, axes=0)),
        ("kernel has 0 axes", lambda: weft.convolve(1.0, 2.0)),
        ("extent must be 1", lambda: weft.convolve([], [1.0])),
        ("kernel.n\\[0\\] is 0", lambda: weft.convolve([1.0], [])),
        ("there is no field", lambda: weft.convolve(np.ones((0, 3)), [1.0], axes=1)),
        ("mode is wide; give one of full, same, valid", lambda: weft.convolve(W, W, "wide")),
        ("boundary is open; give one of periodic, linear, free", lambda: weft.convolve(W, W, boundary="open")),
        ("boundary has one name", lambda: weft.convolve(W, W, boundary=("linear",))),
        ("axis 2 is out of bounds", lambda: weft.convolve(W, W, axes=(0, 2))),
        ("name an axis twice", lambda: weft.convolve(W, W, axes=(0, -2))),
        ("origin\\[0\\] is 3", lambda: weft.convolve(W, W, boundary="periodic", origin=3)),
        ("origin: give one, or one for each of 2 axes", lambda: weft.convolve(W, W, origin=(1, 1, 1))),
        ("Gaussian, not an array; make a weft.Convolution", lambda: weft.convolve(W, kernels.Gaussian(1))),
        ("function, not an array", lambda: weft.convolve(W, lambda k, m: k)),
        ("array of .*; give real or complex", lambda: weft.convolve(["a"], [1.0])),
        ("not symmetric", lambda: weft.convolve(W, np.eye(3, k=1), boundary="neumann")),
        ("shape has 1 to 8", lambda: weft.Convolution((), 1.0)),
        ("problem.n\\[1\\] is 0", lambda: weft.Convolution((3, 0), W)),
        ("problem.n\\[0\\] is -1", lambda: weft.Convolution((-1, 3), lambda k, m: k)),
        ("dtype is float16", lambda: weft.Convolution((3, 3), W, dtype="f2")),
        ("kernel is complex, and dtype float64", lambda: weft.Convolution((3, 3), W * 1j)),
        ("kernel has 1 axes, and the field 2", lambda: weft.Convolution((3, 3), [1.0])),
        ("boundary: give one", lambda: weft.Convolution((3, 3), W, boundary=["periodic"])),
        ("boundary is wrap", lambda: weft.Convolution((3, 3), W, boundary="wrap")),
        ("boundary is wrap", lambda: weft.Convolution((3, 3), lambda k, m: k, boundary="wrap")),
        ("length: give one", lambda: weft.Convolution((3, 3), W, length=(1, 2, 3))),
        ("length\\[0\\] is -1", lambda: weft.Convolution((3, 3), W, length=-1)),
        ("regularizer is -1", lambda: weft.Convolution((3, 3), W, deconvolve=-1)),
        ("problem.batch", lambda: weft.Convolution((3, 3), W, batch=-2)),
        ("origin is of kernels that are arrays", lambda: weft.Convolution((3, 3), kernels.Heat(1), origin=0)),
        ("parameter is -1", lambda: weft.Convolution((3, 3), kernels.Heat(-1))),
        ("one of them", lambda: kernels.Gaussian()),
        ("one of them", lambda: kernels.Gaussian(1, [[1]])),
        ("sigma is one number", lambda: weft.Convolution((3, 3), kernels.Gaussian((1, 2, 3)))),
        ("2 rows of 2 numbers", lambda: weft.Convolution((3, 3), kernels.Gaussian(covariance=[[1]]))),
        ("symmetric", lambda: weft.Convolution((3, 3), kernels.Gaussian(covariance=[[1, 2], [0, 1]]))),
        ("as many orders", lambda: weft.Convolution((3, 3), kernels.Derivative(1))),
        ("orders of a derivative are 0", lambda: weft.Convolution(3, kernels.Derivative(-1))),
        ("not finite at the wavenumber \\(0, 0\\)", lambda: weft.Convolution((3, 3), lambda k, m: 1 / (k**2 + m**2))),
        ("does not fit the wavenumbers' shape", lambda: weft.Convolution((3, 3), lambda k, m: np.ones(5))),
        ("complex, and the field is real", lambda: weft.Convolution(4, lambda k: 1j * k, boundary="neumann")),
        ("field has the shape \\(3,\\)", lambda: weft.Convolution((3, 3), W)(np.ones(3))),
        ("out is float64 of shape \\(2, 3\\)", lambda: weft.Convolution((3, 3), W)(W, np.ones((2, 3)))),
        ("out is float32", lambda: weft.Convolution((3, 3), W)(W, np.ones((3, 3), "f4"))),
        ("out is >f8", lambda: weft.Convolution((3, 3), W)(W, np.ones((3, 3), ">f8"))),
        ("out is read-only", lambda: weft.Convolution((3, 3), W)(W, np.broadcast_to(1.0, (3, 3)))),
        ("method is magic", lambda: weft.Convolution((3, 3), W, method="magic")),
        ("engine is magic", lambda: weft.Convolution((3, 3), W, engine="magic")),
    ],
)
def test_mistakes_are_told(sentence, call):
    with refused(sentence) as caught:
        call()
    assert isinstance(caught.value, ValueError)


# Kernels that make fields of a point from one another


def test_odd_derivatives_make_even_fields_of_odd_ones():
    x, y = (np.arange(12)[:, None] + 0.5) / 12, (np.arange(9) + 0.5) / 9
    wave = np.sin(math.pi * 3 * x) * np.cos(math.pi * 2 * y)
    options = {"boundary": ("dirichlet", "neumann"), "length": 1}
    slope = weft.Convolution(wave.shape, kernels.Derivative((1, 0)), **options)(wave)
    np.testing.assert_allclose(slope, 3 * math.pi * np.cos(math.pi * 3 * x) * np.cos(math.pi * 2 * y), atol=1e-12)
    both = weft.Convolution(wave.shape, kernels.Derivative((1, 1)), **options)(wave)
    expected = -6 * math.pi**2 * np.cos(math.pi * 3 * x) * np.sin(math.pi * 2 * y)
    np.testing.assert_allclose(both, expected, atol=1e-11)


@pytest.mark.parametrize("dtype", ["f8", "c16", "f4"])
@pytest.mark.parametrize("boundary", ["periodic", "neumann", "dirichlet", ("periodic", "neumann", "dirichlet")])
def test_vectors_meet_the_identities_of_calculus(boundary, dtype):
    rng = np.random.default_rng(7)
    shape = (10, 9, 7)

    def make(kernel):
        return weft.Convolution(shape, kernel, boundary=boundary, dtype=dtype, length=(1, 2, 1.5))

    scale = 1e-3 if dtype == "f4" else 1e-11
    # Without the highest frequencies, which have no odd derivative.
    u = make(kernels.Gaussian((0.6, 1.2, 0.9)))(rng.standard_normal(shape).astype(dtype))
    gradient = make(kernels.Gradient())(u)
    assert gradient.shape == (3, *shape)
    assert gradient.dtype == np.dtype(dtype)
    np.testing.assert_allclose(make(kernels.Divergence())(gradient), make(kernels.Laplacian())(u), atol=scale)
    np.testing.assert_allclose(make(kernels.Curl())(gradient), 0, atol=scale)
    np.testing.assert_allclose(make(kernels.Leray())(gradient), 0, atol=scale)


def test_vectors_in_batches_and_in_place():
    shape = (6, 8)
    flow = np.random.default_rng(3).standard_normal((4, 2, *shape))
    project = weft.Convolution(shape, kernels.Leray(), batch=4, boundary="neumann")
    alone = weft.Convolution(shape, kernels.Leray(), boundary="neumann")
    expected = np.stack([alone(one) for one in flow])
    assert project.shape == project.output_shape == flow.shape
    np.testing.assert_allclose(project(flow), expected, rtol=0, atol=1e-14)
    divergence = weft.Convolution(shape, kernels.Divergence(), batch=4, boundary="neumann")
    np.testing.assert_allclose(divergence(expected), 0, atol=1e-13)
    assert project(flow, flow) is flow
    np.testing.assert_allclose(flow, expected, rtol=0, atol=1e-14)
    curl = weft.Convolution(shape, kernels.Curl(), batch=4)
    assert curl.output_shape == (4, *shape)


def test_a_uniform_stress_causes_no_strain_and_others_that_of_a_wave():
    elastic = weft.Convolution((16, 4, 4), kernels.Elastic(1.0, 0.5), length=2 * math.pi)
    stress = np.zeros((6, 16, 4, 4))
    stress[0] = 1 + np.cos(2 * np.arange(16) * 2 * math.pi / 16)[:, None, None]
    strain = elastic(stress)
    np.testing.assert_allclose(strain[0], (stress[0] - 1) / 2, atol=1e-14)  # over lambda + 2 mu
    np.testing.assert_allclose(strain[1:], 0, atol=1e-14)


@pytest.mark.parametrize(
    ("sentence", "call"),
    [
        ("long double", lambda: weft.convolve(np.ones(3, "g"), [1.0])),
        ("linear, which wants an array", lambda: weft.Convolution(8, kernels.Heat(1), boundary="linear")),
        ("for which the field is padded", lambda: weft.Convolution(8, lambda k: k, boundary="linear")),
        ("free space are Poisson's", lambda: weft.Convolution(8, kernels.Heat(1), boundary="free")),
        ("is not linear", lambda: weft.Convolution(8, np.ones(3), method="overlap-save")),
        ("save messages between processes", lambda: weft.Convolution(8, kernels.Heat(1), method="samples")),
        ("is free", lambda: weft.Convolution((8, 8), kernels.Gradient(), boundary="free")),
    ],
)
def test_what_cannot_be_done_is_told(sentence, call):
    with refused(sentence, weft.UnsupportedError):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: weft.Convolution((3.5,), W),
        lambda: weft.Convolution((3, 3), W, origin=0.5),
        lambda: weft.Convolution((3, 3), W)(W, [1.0]),
        lambda: weft.convolve(W),
        lambda: weft.convolve(W, W, axes=(0.5, 1)),
        lambda: kernels.Heat(),
    ],
)
def test_arguments_of_wrong_types_raise(call):
    with pytest.raises(TypeError):
        call()


def test_an_error_of_a_function_is_the_callers():
    with pytest.raises(ZeroDivisionError):
        weft.Convolution(4, lambda k: 1 / 0)


def test_examples_of_the_docstrings_run():
    for module in (kernels, _convolution):
        found = doctest.testmod(module)
        assert found.attempted > 0 and found.failed == 0


def test_kernels_are_values():
    assert kernels.Gaussian([1, 2]) == kernels.Gaussian((1.0, 2.0))
    assert (
        len({kernels.Heat(1), kernels.Heat(1), kernels.Heat(2), kernels.Gaussian(np.ones(2)), kernels.Poisson()}) == 4
    )
