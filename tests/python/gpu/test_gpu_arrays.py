"""Arrays of CuPy, PyTorch and JAX on a real GPU. WEFT_TEST_GPU=1 asks for these tests; WEFT_TEST_LIBRARIES names the
libraries that must be there (default: cupy,torch,jax), WEFT_LEAK_CALLS how many calls the search for leaks makes.
"""

from __future__ import annotations

import gc
import importlib
import os
import threading
import time

import numpy as np
import pytest

import weft
import weft.fft

LIBRARIES = [name for name in os.environ.get("WEFT_TEST_LIBRARIES", "cupy,torch,jax").split(",") if name]
LEAK_CALLS = int(os.environ.get("WEFT_LEAK_CALLS", "3000"))
FUNCTIONS = (
    "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn",
    "irfftn",
)  # fmt: skip


class CuPy:
    """What these tests ask of a library."""

    def __init__(self) -> None:
        self.module = importlib.import_module("cupy")

    def array(self, values):
        return self.module.asarray(values)

    def values(self, x):
        return self.module.asnumpy(x)

    def fft(self, name, x):
        return getattr(self.module.fft, name)(x)

    def pointer(self, x):
        return x.data.ptr

    def bytes_in_use(self):
        return self.module.get_default_memory_pool().used_bytes()

    def wait(self):
        self.module.cuda.Device().synchronize()

    def stream(self):
        return self.module.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

    def is_done(self, stream):
        return stream.done

    def is_own(self, x):
        return isinstance(x, self.module.ndarray)


class Torch(CuPy):
    def __init__(self) -> None:
        self.module = importlib.import_module("torch")

    def array(self, values):
        return self.module.from_numpy(np.ascontiguousarray(values)).cuda()

    def values(self, x):
        return x.cpu().resolve_conj().numpy()

    def pointer(self, x):
        return x.data_ptr()

    def bytes_in_use(self):
        return self.module.cuda.memory_allocated()

    def wait(self):
        self.module.cuda.synchronize()

    def stream(self):
        return self.module.cuda.Stream()

    def on(self, stream):
        return self.module.cuda.stream(stream)

    def is_done(self, stream):
        return stream.query()

    def is_own(self, x):
        return isinstance(x, self.module.Tensor) and x.is_cuda


class Jax(CuPy):
    def __init__(self) -> None:
        self.module = importlib.import_module("jax")
        self.module.config.update("jax_enable_x64", True)
        self.device = self.module.devices("gpu")[0]

    def array(self, values):
        return self.module.device_put(np.ascontiguousarray(values), self.device)

    def values(self, x):
        return np.asarray(x)

    def fft(self, name, x):
        return getattr(self.module.numpy.fft, name)(x)

    def pointer(self, x):
        return x.unsafe_buffer_pointer()

    def bytes_in_use(self):
        return self.device.memory_stats()["bytes_in_use"]

    def wait(self):
        self.module.numpy.zeros(1).block_until_ready()
        time.sleep(0.3)  # weft's thread then lets go of what the GPU has done with

    def is_own(self, x):
        return isinstance(x, self.module.Array) and x.devices() == {self.device}


@pytest.fixture(scope="module", params=LIBRARIES)
def library(request):
    return {"cupy": CuPy, "torch": Torch, "jax": Jax}[request.param]()


@pytest.fixture
def streams(library):
    if isinstance(library, Jax):
        pytest.skip("JAX has no streams of its callers'")
    return library


def numbers(rng, shape, dtype="complex128"):
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def close(library, result, wanted, precise=True):
    limit = 1e-10 if precise else 1e-4
    assert library.is_own(result)
    return np.allclose(library.values(result), wanted, rtol=limit, atol=limit * np.abs(wanted).max(initial=1))


@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_the_librarys_and_numpys(library, rng, name, single):
    dtype = ("float32" if single else "float64") if "rfft" in name and "i" not in name or name == "ihfft" else (
        "complex64" if single else "complex128"
    )  # fmt: skip
    for shape in ((4, 6, 8), (3, 5, 7), (1, 2, 100), (2, 3, 1024)):
        given = numbers(rng, shape, dtype)
        x = library.array(given)
        result = getattr(weft.fft, name)(x)
        wanted = getattr(np.fft, name)(given)
        assert close(library, result, wanted, not single), shape
        if not name.startswith("ir") and name != "hfft":  # these need the spectrum of real data
            assert np.allclose(library.values(library.fft(name, x)), wanted, atol=1e-3 * np.abs(wanted).max())


def test_axes_lengths_norms_and_strides(library, rng):
    given = numbers(rng, (6, 8, 10))
    x = library.array(given)
    for view in ((slice(None),) * 3, (slice(1, 5), slice(None), slice(None, None, 2)), (slice(None), slice(2, 7))):
        for axes, s in (((0,), None), ((2, 0), None), ((1,), (5,)), ((1, 2), (12, 3))):
            for norm in ("ortho", "forward"):
                result = weft.fft.fftn(x[view], s, axes, norm)
                assert close(library, result, np.fft.fftn(given[view], s, axes, norm)), (view, axes, s)
        result = weft.fft.irfftn(x[view], (6, 7), (0, 1))
        assert close(library, result, np.fft.irfftn(given[view], (6, 7), (0, 1))), view


def test_half_is_given_as_single(library, rng):
    given = rng.standard_normal((4, 16)).astype(np.float16)
    result = weft.fft.rfft(library.array(given))
    assert "complex64" in str(result.dtype)
    assert close(library, result, np.fft.rfft(given.astype(float)), precise=False)


def test_an_array_is_not_copied(library, rng):
    x = library.array(numbers(rng, (64, 1024)))
    pointer = library.pointer(x)
    weft.fft.fft(x)
    library.wait()
    gc.collect()
    before = library.bytes_in_use()
    result = weft.fft.fft(x)
    library.wait()
    gc.collect()
    assert library.bytes_in_use() - before == 64 * 1024 * 16  # the result
    assert library.pointer(x) == pointer
    assert library.pointer(result) != pointer
    if not isinstance(library, Jax):
        out = library.array(np.zeros((64, 1024), complex))
        target, before = library.pointer(out), library.bytes_in_use()
        assert weft.fft.fft(x, out=out) is out
        again = weft.fft.ifft(out, overwrite_x=True)
        assert library.pointer(again) == library.pointer(out) == target
        assert library.bytes_in_use() == before


def test_work_takes_its_place_in_the_stream_and_the_host_does_not_wait(streams, rng):
    library, given = streams, numbers(rng, (8, 4096))
    x = library.array(np.zeros_like(given))
    source = library.array(given)
    big = library.array(rng.standard_normal((8192, 8192)))
    weft.fft.fft(x)  # planned, its kernels compiled
    stream = library.stream()
    library.wait()
    with library.on(stream):
        big = big @ big  # the library's own set-up, and memory for results on this stream
        weft.fft.fft(x)
        library.wait()
        for _ in range(10):
            big = big @ big * 1e-5  # more than 100 ms in double precision
        x[...] = source
        begun = time.perf_counter()
        result = weft.fft.fft(x)
        spent = time.perf_counter() - begun
        assert not library.is_done(stream)
        assert spent < 0.05
        twice = result * 2
        x[...] = 0
    library.wait()
    assert close(library, twice, 2 * np.fft.fft(given))


def test_streams_of_several_threads(streams, rng):
    library = streams
    given = [numbers(rng, (k + 1, 96)) for k in range(16)]
    wanted = [np.fft.fft(g) for g in given]
    failures = []

    def work(k):
        stream = library.stream()
        with library.on(stream):
            x = library.array(given[k])
            for _ in range(200):
                result = weft.fft.fft(x)
            if not close(library, result, wanted[k]):
                failures.append(k)

    library.wait()
    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_many_calls_leak_nothing(library, rng):
    shapes = [(int(rng.integers(1, 5)), int(n)) for n in rng.choice([16, 20, 30, 64, 100, 128], 12)]
    arrays = [library.array(numbers(rng, shape)) for shape in shapes]

    def call_all(count):
        for k in range(count):
            weft.fft.fft(arrays[k % len(arrays)])
        library.wait()
        time.sleep(0.1)
        gc.collect()
        with open("/proc/self/statm") as statistics:
            resident = int(statistics.read().split()[1]) * os.sysconf("SC_PAGESIZE")
        return library.bytes_in_use(), resident

    call_all(200)
    on_gpu, resident = call_all(200)
    after_on_gpu, after_resident = call_all(LEAK_CALLS)
    assert after_on_gpu == on_gpu
    assert after_resident - resident < 32 << 20


def test_plans_take_arrays(library, rng):
    given = numbers(rng, (4, 6, 8), "float64")
    plan = weft.Plan((6, 8), kind="r2c", batch=4, device="cuda:0")
    spectrum = plan.forward(library.array(given))
    assert close(library, spectrum, np.fft.rfft2(given))
    assert close(library, plan.inverse(spectrum), 48 * given)


def test_shifts(library, rng):
    given = numbers(rng, (5, 4))
    for name in ("fftshift", "ifftshift"):
        assert close(library, getattr(weft.fft, name)(library.array(given), 0), getattr(np.fft, name)(given, 0))


@pytest.mark.skipif("torch" not in LIBRARIES, reason="WEFT_TEST_LIBRARIES leaves torch out")
@pytest.mark.parametrize("name", ["fft", "rfftn", "irfftn", "hfft", "ihfft"])
def test_gradients_on_the_gpu(rng, name):
    torch = importlib.import_module("torch")
    values = torch.from_numpy(numbers(rng, (2, 3, 4), "float64" if name in ("rfftn", "ihfft") else "complex128"))
    x = values.cuda().requires_grad_()
    assert torch.autograd.gradcheck(getattr(weft.fft, name), x, fast_mode=True)
    if name not in ("irfftn", "hfft"):
        results = [getattr(library, name)(x) for library in (weft.fft, torch.fft)]
        direction = torch.randn_like(results[0])
        gradients = [torch.autograd.grad(result, x, direction)[0] for result in results]
        assert torch.allclose(*gradients)


@pytest.mark.skipif("cupy" not in LIBRARIES, reason="WEFT_TEST_LIBRARIES leaves cupy out")
def test_objects_with_the_interface_alone_want_out(rng):
    cupy = importlib.import_module("cupy")

    class Bare:
        def __init__(self, array):
            self.array = array
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    given = numbers(rng, (3, 8))
    x, out = Bare(cupy.asarray(given)), Bare(cupy.zeros((3, 8), complex))
    assert weft.fft.fft(x, out=out) is out
    assert np.allclose(cupy.asnumpy(out.array), np.fft.fft(given))
    with pytest.raises(weft.UnsupportedError, match="register_adapter"):
        weft.fft.fft(x)
