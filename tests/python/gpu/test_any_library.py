"""Arrays on a GPU, of a library of these tests: by __cuda_array_interface__, by DLPack, and through an adapter."""

from __future__ import annotations

import ctypes
import itertools
import threading

import host_library as xp
import numpy as np
import pytest

import weft
import weft.fft
from weft import operators, plan_cache


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str = "complex128") -> np.ndarray:
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def close(result: xp.Array, wanted: np.ndarray) -> bool:
    assert isinstance(result, xp.Array)
    assert result.shape == wanted.shape
    single = result.dtype in (np.float32, np.complex64)
    return np.allclose(result.get(), wanted, rtol=1e-4 if single else 1e-10, atol=1e-4 if single else 1e-10)


# Kernels are compiled for lengths and norms, a second each where the driver is that of tests/cuda. Real transforms have
# some, those of complex data are cuFFT's.
ONE_AXIS = [(axis, n, norm) for axis in (0, 1, -1) for n in (None, 4, 9) for norm in (None, "ortho", "forward")]
FEW = {"complex128": [(0, 8, None), (-1, 8, None), (1, 9, "ortho")], "complex64": [(1, 8, None)]}
NAMES = [(name, "complex128") for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")]


@pytest.mark.parametrize(("name", "dtype"), [*NAMES, ("fft", "complex64"), ("irfft", "complex64")])
def test_one_axis(rng, name, dtype):
    given = numbers(rng, (3, 8, 5), dtype)
    if name in ("rfft", "ihfft"):
        given = given.real.copy()
    for axis, n, norm in FEW[dtype] if "r" in name or name == "hfft" else ONE_AXIS:
        result = getattr(weft.fft, name)(xp.asarray(given), n, axis, norm)
        assert close(result, getattr(np.fft, name)(given, n, axis, norm)), (axis, n, norm)
        is_real, is_single = name in ("irfft", "hfft"), dtype == "complex64"
        assert result.dtype == [["complex128", "complex64"], ["float64", "float32"]][is_real][is_single]


@pytest.mark.parametrize("name", ["fftn", "ifft2", "rfftn"])
def test_several_axes(rng, name):
    given = numbers(rng, (3, 4, 6), "float64" if name.startswith("r") else "complex128")
    for s, axes in ((None, (0, 1, 2)), (None, (2, 0)), ((5, 3), (1, 2)), ((4,), (1,))):
        result = getattr(weft.fft, name)(xp.asarray(given), s, axes)
        assert close(result, getattr(np.fft, name)(given, s, axes)), (s, axes)


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@pytest.mark.parametrize("type", [1, 2, 3, 4])
def test_cosine_and_sine_transforms(rng, name, type):
    real, single = numbers(rng, (3, 6), "float64"), numbers(rng, (3, 6), "complex64")
    one, several = getattr(weft.fft, name), getattr(weft.fft, name + "n")
    for given, call in (
        (real, lambda a: one(a, type)),
        (real, lambda a: one(a, type, 8, 0, norm="ortho")),
        (real, lambda a: several(a, type, axes=(1, 0), norm="forward", orthogonalize=True)),
        (single, lambda a: several(a, type, norm="ortho", orthogonalize=False)),
    ):
        result = call(xp.asarray(given))
        assert close(result, call(given))
        assert result.dtype == given.dtype


def test_a_cosine_transform_may_overwrite_its_array(rng):
    given = numbers(rng, (4, 6), "float64")
    x = xp.asarray(given)
    assert weft.fft.dctn(x, overwrite_x=True) is x
    assert close(x, weft.fft.dctn(given))
    assert close(weft.fft.dctn(x, axes=()), x.get())


def test_an_axis_may_occur_twice(rng):
    given = numbers(rng, (4, 6))
    assert close(weft.fft.fftn(xp.asarray(given), axes=(0, 1, 0)), np.fft.fftn(given, axes=(0, 1, 0)))


def test_the_inverse_of_real_data_takes_no_notice_of_what_that_cannot_have(rng):
    given = numbers(rng, (4, 3, 5))
    assert close(weft.fft.irfftn(xp.asarray(given), (4, 8), (0, 2)), np.fft.irfftn(given, (4, 8), (0, 2)))


def test_types_become_those_of_the_library(rng):
    types = ("uint8", "int16", "uint16", "int32", "float16", "float32", "float64")
    for dtype, name in itertools.product(types, ("fft", "rfft")):
        given = np.abs(10 * rng.standard_normal((3, 8))).astype(dtype)
        for array, calls in ((given, 2), (given.T, 2), (given[:, 1:], 1)):
            for _ in range(calls):
                result = getattr(weft.fft, name)(xp.asarray(array))
                assert result.dtype == ("complex64" if dtype in ("float16", "float32") else "complex128")
                assert np.allclose(result.get(), getattr(np.fft, name)(array.astype(float)), rtol=1e-3, atol=1e-2)
    with pytest.raises(TypeError, match="real sequence"):
        weft.fft.rfft(xp.asarray(numbers(rng, (4,))))
    with pytest.raises(TypeError):
        weft.fft.fft(xp.asarray(np.zeros(4, "M8[s]")))


def test_an_array_that_lies_as_a_plan_takes_it_is_not_copied(rng):
    x = xp.asarray(numbers(rng, (4, 6, 8)))
    turned = xp.permute_dims(x, (2, 0, 1))  # its last axis in memory is axis 0
    sliced = xp.asarray(numbers(rng, (8, 6)))[2:6]
    for array, call in (
        (x, lambda a: weft.fft.fft(a)),
        (x, lambda a: weft.fft.fftn(a)),
        (turned, lambda a: weft.fft.fft(a, axis=0)),
        (turned, lambda a: weft.fft.fftn(a)),
        (sliced, lambda a: weft.fft.fft(a)),
        (sliced, lambda a: weft.fft.fft(a, 6)),
    ):
        before = xp.made
        result = call(array)
        assert xp.made == before + 1  # the result
        assert close(result, call(array.get()))
    before = xp.made
    weft.fft.fft(x, axis=0)
    assert xp.made == before + 2  # gathered, and the result


def test_out_is_written_and_returned(rng):
    given = numbers(rng, (4, 6))
    x = xp.asarray(given)
    out = xp.empty((4, 6), "complex128")
    before = xp.made
    assert weft.fft.fft(x, out=out) is out
    assert xp.made == before
    assert close(out, np.fft.fft(given))
    single = xp.empty((4, 6), "complex64")
    assert weft.fft.fft(x, axis=0, out=single) is single  # neither the order nor the type fits
    assert close(single, np.fft.fft(given, axis=0))
    half = xp.empty((4, 4), "complex128")
    assert weft.fft.ihfft(xp.asarray(given.real.copy()), out=half) is half
    assert close(half, np.fft.ihfft(given.real))
    assert weft.fft.fft(x, out=x) is x  # in place
    assert close(x, np.fft.fft(given))
    rows = xp.asarray(given)
    weft.fft.fft(rows[:3], out=rows[1:])  # they overlap
    assert np.allclose(rows.get()[1:], np.fft.fft(given[:3]))
    with pytest.raises(ValueError, match="shape"):
        weft.fft.fft(x, 5, out=out)
    with pytest.raises(TypeError, match="Cannot cast"):
        weft.fft.fft(x, out=xp.empty((4, 6), "float64"))
    elsewhere = xp.empty((4, 6), "complex128", xp.devices[-1])
    if elsewhere.device is not x.device:
        with pytest.raises(ValueError, match="GPU 1"):
            weft.fft.fft(x, out=elsewhere)
    with pytest.raises(TypeError, match="library"):
        weft.fft.fft(x, out=np.empty((4, 6), complex))


def test_overwrite_x_is_taken_where_the_result_fits(rng):
    given = numbers(rng, (4, 6))
    x = xp.asarray(given)
    before = xp.made
    assert weft.fft.fftn(x, overwrite_x=True) is x
    assert xp.made == before
    assert close(x, np.fft.fftn(given))
    assert weft.fft.fft(x, 4, overwrite_x=True) is not x


def test_mistakes_are_of_the_types_of_numpy(rng):
    x = xp.asarray(numbers(rng, (4, 6)))
    for call, error in (
        (lambda: weft.fft.fft(x, axis=2), np.exceptions.AxisError),
        (lambda: weft.fft.fft(x, 0), ValueError),
        (lambda: weft.fft.fft(x, norm="none"), ValueError),
        (lambda: weft.fft.irfftn(x, axes=()), ValueError),
        (lambda: weft.fft.dct(x, 5), ValueError),
        (lambda: weft.fft.dctn(x, 1, (4, 1)), ValueError),
        (lambda: weft.fft.dstn(x, axes=(0, 0)), weft.UnsupportedError),
        (lambda: weft.fft.fht(x, 0.1, 0.5), weft.UnsupportedError),
    ):
        with pytest.raises(error):
            call()


def test_empty_arrays_and_shifts(rng):
    assert weft.fft.fft(xp.empty((0, 4), "complex128")).shape == (0, 4)
    given = numbers(rng, (5, 4))
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 0, (0, 1)):
            assert close(getattr(weft.fft, name)(xp.asarray(given), axes), getattr(np.fft, name)(given, axes))


def test_work_is_ordered_by_the_stream_and_the_host_does_not_wait(rng):
    given = numbers(rng, (4, 64))
    source, x, after = xp.asarray(given), xp.zeros((4, 64), "complex128"), xp.zeros((4, 64), "complex128")
    bulk = xp.zeros((2, 1 << (10 if xp.is_on_host else 27)), "float64")
    weft.fft.fft(x)  # planned
    xp.current.wait()
    half = bulk.memory.size // 2
    for _ in range(500):
        xp.copy(bulk.pointer, bulk.pointer + half, half)
    xp.copy(x.pointer, source.pointer, given.nbytes)
    result = weft.fft.fft(x)
    assert not xp.current.is_done()
    xp.copy(after.pointer, result.pointer, given.nbytes)
    xp.copy(x.pointer, bulk.pointer, min(half, given.nbytes))  # later than the transform has read it
    assert close(after, np.fft.fft(given))


def test_plans_are_kept_in_the_cache(rng):
    x = xp.asarray(numbers(rng, (3, 10)))
    plan_cache.clear()
    for _ in range(3):
        weft.fft.fft(x)
    assert plan_cache.info().plans == 1
    assert plan_cache.info().hits == 2


def test_each_gpu_has_plans_of_its_own(rng):
    given = numbers(rng, (3, 10))
    plan_cache.clear()
    for device in xp.devices:
        result = weft.fft.fft(xp.asarray(given, device))
        assert result.device is device
        assert close(result, np.fft.fft(given))
    assert plan_cache.info().plans == len(xp.devices)


class OfDLPack:
    """An array that is known by DLPack alone, as version 0 has it."""

    def __init__(self, array: xp.Array, version: int) -> None:
        self.array, self.version, self.streams = array, version, []

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.array.device.number

    def __dlpack__(self, *, stream=None, **keywords):
        if self.version == 0 and keywords:
            raise TypeError("unexpected keywords")
        self.streams.append(stream)
        xp.current.wait()  # the stream that is told begins later than all that is done
        return capsule_of(self.array, self.version)


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_number", ctypes.c_int32),
        ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("manager", ctypes.c_void_p), ("destroy", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
        ("destroy", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    ]  # fmt: skip


_kept: list = []


def capsule_of(array: xp.Array, version: int):
    axes = len(array.shape)
    shape = (ctypes.c_int64 * axes)(*array.shape)
    strides = (ctypes.c_int64 * axes)(*(s // array.dtype.itemsize for s in array.strides))
    code = {"c": 5, "f": 2, "i": 0}[array.dtype.kind]
    tensor = _Tensor(
        array.pointer, 2, array.device.number, axes, code, 8 * array.dtype.itemsize, 1, shape, strides, 0
    )  # fmt: skip
    owner = _Managed(tensor) if version == 0 else _Versioned(1, 1, None, None, 0, tensor)
    _kept.append((owner, shape, strides))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(owner), b"dltensor" if version == 0 else b"dltensor_versioned", None)


@pytest.mark.parametrize("version", [0, 1])
def test_arrays_that_speak_dlpack_alone_want_out(rng, version):
    given = numbers(rng, (3, 8))
    x, out = OfDLPack(xp.asarray(given), version), xp.zeros((3, 8), "complex128")
    target = OfDLPack(out, version)
    assert weft.fft.fft(x, out=target) is target
    assert set(x.streams) == set(target.streams) == {1}  # the legacy default stream
    with xp.devices[0]:
        xp._call("cuStreamSynchronize", ctypes.c_void_p(1))
    assert close(out, np.fft.fft(given))
    with pytest.raises(weft.UnsupportedError, match="register_adapter"):
        weft.fft.fft(x)


class Image:
    """A picture of a library that speaks neither protocol; its rows have gaps between them."""

    def __init__(self, rows: int, columns: int, dtype: str) -> None:
        self.padded = xp.zeros((rows, columns + 3), dtype)
        self.columns = columns


def test_types_without_protocols_have_adapters(rng):
    def from_array(array: xp.Array, like: Image) -> Image:
        image = Image(*array.shape, array.dtype)
        image.padded[:, : image.columns] = array
        return image

    weft.register_adapter(Image, lambda image: image.padded[:, : image.columns], from_array)
    given = numbers(rng, (4, 6))
    image, out = Image(4, 6, "complex128"), Image(4, 6, "complex128")
    image.padded[:, :6] = xp.asarray(given)
    for name in ("fft2", "ihfft"):
        if name == "ihfft":
            image = Image(4, 6, "float64")
            image.padded[:, :6] = xp.asarray(given.real.copy())
        result = getattr(weft.fft, name)(image)
        assert isinstance(result, Image)
        wanted = getattr(np.fft, name)(given.real if name == "ihfft" else given)
        assert np.allclose(result.padded.get()[:, : result.columns], wanted)
    image = Image(4, 6, "complex128")
    image.padded[:, :6] = xp.asarray(given)
    assert weft.fft.fft(image, out=out) is out
    assert np.allclose(out.padded.get()[:, :6], np.fft.fft(given))


def test_plans_apply_snippets_and_tables(rng):
    given, factors = numbers(rng, (4, 8)), rng.standard_normal(8)
    snippet = operators.function(snippet="value = complex_scale(value, parameter[0] * (index[1] + 1));", parameters=1)
    plan = weft.Plan((4, 8), device="cuda:0", location="device", load=snippet, spectral=operators.table(None, factors))
    for value in (2.0, -0.5):
        plan.set_parameter(0, value)
        result = plan.forward(xp.asarray(given))
        assert close(result, np.fft.fft2(given * value * np.arange(1, 9)) * factors)
    with pytest.raises(weft.UnsupportedError):
        weft.Plan((4, 8), device="cuda:0", location="device", load=operators.function(1))


def test_plans_take_arrays_on_their_gpu(rng):
    given = numbers(rng, (2, 4, 6), "float64")
    plan = weft.Plan((4, 6), kind="r2c", batch=2, device="cuda:0")
    assert plan.device == "cuda:0"
    x = xp.asarray(given)
    before = xp.made
    spectrum = plan.forward(x)
    assert xp.made == before + 1
    assert close(spectrum, np.fft.rfft2(given))
    back = xp.empty((2, 4, 6), "float64")
    assert plan.inverse(spectrum, back) is back
    assert close(back, 24 * given)
    for wrong in (x[:1], xp.asarray(given.astype("float32")), xp.permute_dims(xp.asarray(given), (0, 1, 2))[:, ::-1]):
        with pytest.raises(weft.ArgumentError):
            plan.forward(wrong)
    with pytest.raises(weft.ArgumentError, match="host"):
        plan.forward(given)
    with pytest.raises(weft.ArgumentError, match="plan on host"):
        weft.Plan((2, 4, 6), kind="r2c").forward(x)
    if len(xp.devices) > 1:
        assert weft.Plan((4, 6), device="cuda:1").device == "cuda:1"
        with pytest.raises(weft.ArgumentError, match="GPU 0"):
            weft.Plan((2, 4, 6), kind="r2c", device="cuda:1").forward(x)
    for name in ("cuda:", "cuda:x", "cuda:4097", "host:1"):
        with pytest.raises(weft.Error):
            weft.Plan((4, 6), device=name)


def test_many_threads(rng):
    given = [numbers(rng, (k + 1, 8)) for k in range(4)]
    failures = []

    def work(k: int) -> None:
        x = xp.asarray(given[k % 4])
        for _ in range(10):
            if not close(weft.fft.fft(x), np.fft.fft(given[k % 4])):
                failures.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
