"""weft.dask beside weft.fft and SciPy, for random chunks; and on a cluster whose workers hold less than the array."""

from __future__ import annotations

import numpy as np
import pytest

import weft.fft

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
import weft.dask  # noqa: E402 (needs dask)

NAMES = ["fft", "ifft", "rfft", "irfft"]


@pytest.fixture(autouse=True)
def small_chunks():
    """Several passes for small arrays, in this thread."""
    with dask.config.set({"array.chunk-size": "2 kiB", "scheduler": "synchronous"}):
        yield


def random_array(rng, shape, dtype):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def in_chunks(rng, x):
    """The array in chunks of random, uneven sizes."""
    chunks = []
    for n in x.shape:
        cuts = sorted(set(rng.integers(1, n, rng.integers(0, min(4, n)))) | {0, n}) if n > 1 else [0, n]
        chunks.append(tuple(np.diff(cuts).tolist()))
    return da.from_array(x, chunks=tuple(chunks))


def assert_near(found, expected):
    assert isinstance(found, da.Array)
    result = found.compute()
    assert found.shape == result.shape == expected.shape
    assert found.dtype == result.dtype == expected.dtype
    assert found.chunks == tuple(tuple(c) for c in found.chunks) and not any(np.isnan(found.shape))
    scale = np.abs(expected).max() if expected.size else 1
    assert np.abs(result - expected).max(initial=0) <= 40 * np.finfo(result.dtype).eps * scale


@pytest.mark.parametrize("name", NAMES)
def test_n_dimensional_transforms(rng, name):
    types = ["f4", "f8"] if name == "rfft" else ["f4", "f8", "c8", "c16"]
    for case in range(12):
        shape = tuple(rng.integers(2, 14, rng.integers(1, 5)).tolist())
        x = random_array(rng, shape, types[case % len(types)])
        axes = tuple(rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)].tolist())
        s = tuple(rng.integers(1, 16, len(axes)).tolist()) if rng.random() < 0.4 else None
        norm = [None, "ortho", "forward"][rng.integers(3)]
        function = name + "n"
        expected = getattr(weft.fft, function)(x, s, axes, norm)
        assert_near(getattr(weft.dask, function)(in_chunks(rng, x), s, axes, norm), expected)


@pytest.mark.parametrize("name", NAMES)
def test_one_and_two_dimensions(rng, name):
    x = random_array(rng, (9, 14, 11), "f8" if name == "rfft" else "c16")
    for axis in (0, 1, -1):
        for n in (None, 7, 20):
            found = getattr(weft.dask, name)(in_chunks(rng, x), n, axis)
            assert_near(found, getattr(weft.fft, name)(x, n, axis))
    assert_near(getattr(weft.dask, name + "2")(in_chunks(rng, x)), getattr(weft.fft, name + "2")(x))


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_cosine_and_sine_transforms(rng, name):
    x = random_array(rng, (12, 9, 10), "f8")
    for kind in (1, 2, 3, 4):
        assert_near(
            getattr(weft.dask, name + "n")(in_chunks(rng, x), kind, norm="ortho"),
            getattr(weft.fft, name + "n")(x, kind, norm="ortho"),
        )
        assert_near(
            getattr(weft.dask, name)(in_chunks(rng, x), kind, 8, 1), getattr(weft.fft, name)(x, kind, 8, 1)
        )


def test_chunks_stay_within_the_setting(rng):
    x = da.zeros((64, 64, 64), chunks=(64, 64, 4), dtype="c16")
    with dask.config.set({"array.chunk-size": "64 kiB"}):
        spectrum = weft.dask.fftn(x)
    assert np.prod([max(c) for c in spectrum.chunks]) * 16 <= 65536
    assert spectrum.npartitions == 64


def test_arrays_without_elements_and_of_integers():
    assert_near(weft.dask.fft(da.zeros((0, 4), chunks=2)), np.zeros((0, 4), complex))
    assert_near(weft.dask.rfftn(da.ones((3, 4, 0), chunks=2), axes=(0, 1)), np.zeros((3, 3, 0), complex))
    assert_near(weft.dask.fftn(da.arange(12, chunks=5).reshape(3, 4), axes=()), np.arange(12.0).reshape(3, 4) + 0j)
    assert_near(weft.dask.rfft([1, 2, 3]), np.fft.rfft([1, 2, 3]))


def test_bad_input(rng):
    x = da.zeros((4, 6), chunks=2)
    with pytest.raises(ValueError, match="more than once"):
        weft.dask.fftn(x, axes=(0, 0))
    with pytest.raises(np.exceptions.AxisError):
        weft.dask.fft(x, axis=2)
    with pytest.raises(TypeError, match="real"):
        weft.dask.rfft(x.astype("c16"))
    with pytest.raises(ValueError, match="data points"):
        weft.dask.fft(x, 0)
    with pytest.raises(TypeError, match="DataArray"):
        weft.dask.fft(x, axis="time")
    with pytest.raises(ValueError, match="unknown"):
        weft.dask.fft(x[x[:, 0] > 0])
    with pytest.raises(ValueError, match="mode"):
        weft.dask.convolve(x, np.ones((2, 2)), "whole")
    with pytest.raises(ValueError, match="axes"):
        weft.dask.convolve(x, np.ones(2))
    with pytest.raises(ValueError, match="axis 0: a kernel of 5 points"):
        weft.dask.convolve(x, np.ones((5, 2)), "valid")
    with pytest.raises(ValueError, match="not convolved"):
        weft.dask.convolve(x, np.ones((2, 2)), axes=1)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution(rng, mode):
    signal = pytest.importorskip("scipy.signal")
    for case in range(12):
        dtype = ["f8", "c16", "f4", "c8"][case % 4]
        shape = tuple(rng.integers(8, 30, 1 + case % 3).tolist())
        x = random_array(rng, shape, dtype)
        kernel = random_array(rng, tuple(rng.integers(1, 8, len(shape)).tolist()), dtype)
        expected = signal.convolve(x, kernel, mode, "direct")
        assert_near(weft.dask.convolve(in_chunks(rng, x), kernel, mode), expected.astype(dtype))
    x, kernel = random_array(rng, (6, 40), "f8"), random_array(rng, (1, 5), "f8")
    found = weft.dask.convolve(in_chunks(rng, x), kernel, mode, axes=1)
    assert_near(found, signal.oaconvolve(x, kernel, mode, axes=1))


def test_filter_by_frequency(rng):
    x = random_array(rng, (16, 18, 15), "f8")
    found = weft.dask.spectral_filter(
        in_chunks(rng, x), lambda f, g: np.exp(-(f**2 + g**2)), axes=(0, 2), spacing=(0.5, 2)
    )
    f = np.fft.fftfreq(16, 0.5)[:, None, None]
    g = np.fft.fftfreq(15, 2)[None, None, :]
    expected = np.fft.ifftn(np.fft.fftn(x, axes=(0, 2)) * np.exp(-(f**2 + g**2)), axes=(0, 2)).real
    assert_near(found, expected)
    derivative = weft.dask.spectral_filter(da.from_array(np.sin(np.arange(64) * np.pi / 8)), lambda f: 2j * np.pi * f)
    np.testing.assert_allclose(derivative.compute(), np.pi / 8 * np.cos(np.arange(64) * np.pi / 8), atol=1e-13)


def test_labelled_arrays(rng):
    xarray = pytest.importorskip("xarray")
    values = random_array(rng, (6, 20, 16), "f8")
    x = xarray.DataArray(
        in_chunks(rng, values), dims=("run", "time", "height"), name="wind", attrs={"units": "m/s"},
        coords={"time": 3 + 0.25 * np.arange(20), "height": 10.0 * np.arange(16), "run": list("abcdef")},
    )  # fmt: skip
    spectrum = weft.dask.rfftn(x, axes=["height", "time"])
    assert spectrum.dims == ("run", "freq_time", "freq_height") and spectrum.name == "wind"
    np.testing.assert_allclose(spectrum.coords["freq_time"], np.fft.rfftfreq(20, 0.25))
    np.testing.assert_allclose(spectrum.coords["freq_height"], np.fft.fftfreq(16, 10))
    assert list(spectrum.coords["run"].values) == list("abcdef") and spectrum.attrs == x.attrs
    assert_near(spectrum.data, weft.fft.rfftn(values, axes=(2, 1)))
    back = weft.dask.irfftn(spectrum, axes=["freq_height", "freq_time"])
    assert back.dims == x.dims
    np.testing.assert_allclose(back.coords["time"], 0.25 * np.arange(20))
    np.testing.assert_allclose(back.values, values, atol=1e-13)
    smooth = weft.dask.spectral_filter(x, lambda f: np.abs(f) < 1, axes="time")
    assert smooth.dims == x.dims and smooth.coords["time"][0] == 3
    uneven = x.assign_coords(time=np.arange(20) ** 2)
    with pytest.raises(ValueError, match="evenly"):
        weft.dask.fft(uneven, axis="time")
    with pytest.raises(ValueError, match="not among"):
        weft.dask.fft(x, axis="depth")


def test_cluster_whose_workers_hold_less_than_the_array(tmp_path):
    distributed = pytest.importorskip("distributed")
    shape = (384, 384, 512)  # 288 MiB in single precision
    settings = {
        "array.chunk-size": "8 MiB",
        "scheduler": None,
        "temporary-directory": str(tmp_path),
        "distributed.worker.memory.target": 0.5,
        "distributed.worker.memory.spill": 0.6,
        "distributed.worker.memory.pause": 0.8,
        "distributed.worker.memory.terminate": False,
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, memory_limit="256 MiB", dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster),
    ):
        x = da.random.default_rng(7).random(shape, dtype="f4", chunks=(32, 96, 512)) - np.float32(0.5)
        spectrum = weft.dask.rfftn(x)
        energy = (np.abs(spectrum) ** 2).astype("f8")
        whole = 2 * energy.sum() - energy[..., 0].sum() - energy[..., -1].sum()
        left, right, mean, zero = dask.compute(
            (x.astype("f8") ** 2).sum() * np.prod(shape, dtype=float), whole, x.sum(dtype="f8"), spectrum[0, 0, 0]
        )
    np.testing.assert_allclose(left, right, rtol=1e-5)
    np.testing.assert_allclose(zero, mean, atol=1e-6 * np.prod(shape) ** 0.5 * 100)
