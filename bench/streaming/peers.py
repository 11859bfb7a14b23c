#!/usr/bin/env python3
"""What cuFFT takes for a cube that begins and ends in host memory: copied as a whole to the card, transformed there and
copied back (copies), in managed memory that the driver moves as it is touched (managed) or is told to move before and
after (prefetched), or spread over all cards by cuFFTXt, which copies it to them and back (spread). In place, double
precision, complex. Medians in seconds, CSV. Needs CuPy.
Usage: peers.py [N,N,...] [RUNS]"""
import ctypes
import glob
import os
import statistics
import sys
import time

import cupy
import cupyx
import cupyx.scipy.fft
import numpy



class Location(ctypes.Structure):  # CUmemLocation
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


DEVICE, HOST = Location(1, 0), Location(2, 0)


def move(memory, where):
    status = ctypes.CDLL("libcuda.so.1").cuMemPrefetchAsync_v2(
        ctypes.c_uint64(memory.ptr), ctypes.c_size_t(memory.mem.size), where, ctypes.c_uint(0), ctypes.c_void_p(0)
    )
    if status != 0:
        raise RuntimeError(f"cuMemPrefetchAsync_v2 ends with {status}")


def timed(run, before, runs):
    seconds = []
    for _ in range(runs + 1):
        before()
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        run()
        cupy.cuda.Device().synchronize()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:])


def plan_of(array):
    return cupyx.scipy.fft.get_fft_plan(array)


def copies(n, runs):
    host = cupyx.empty_pinned((n, n, n), numpy.complex128)
    host[:] = 1
    device = cupy.empty((n, n, n), numpy.complex128)
    plan = plan_of(device)

    def run():
        device.set(host)
        plan.fft(device, device, cupy.cuda.cufft.CUFFT_FORWARD)
        device.get(out=host)

    return timed(run, lambda: None, runs)


def managed(n, runs, prefetch):
    memory = cupy.cuda.malloc_managed(16 * n**3)
    device = cupy.ndarray((n, n, n), numpy.complex128, memory)
    plan = plan_of(device)

    def run():
        if prefetch:
            move(memory, DEVICE)
        plan.fft(device, device, cupy.cuda.cufft.CUFFT_FORWARD)
        move(memory, HOST)

    device.fill(1)
    return timed(run, lambda: move(memory, HOST), runs)


def library_of_cufft():
    folders = [os.path.join(path, "nvidia", "*", "lib") for path in sys.path]
    folders += os.environ.get("LD_LIBRARY_PATH", "").split(":")
    found = [path for folder in folders for path in glob.glob(os.path.join(folder, "libcufft.so.*"))]
    return ctypes.CDLL(found[0] if found else "libcufft.so")


def spread(n, runs):
    cufft, cards = library_of_cufft(), cupy.cuda.runtime.getDeviceCount()
    plan, array = ctypes.c_int(), ctypes.c_void_p()
    host = cupyx.empty_pinned((n, n, n), numpy.complex128)
    host[:] = 1

    def must(status):
        if status != 0:
            raise RuntimeError(f"cuFFTXt ends with {status}")

    must(cufft.cufftCreate(ctypes.byref(plan)))
    must(cufft.cufftXtSetGPUs(plan, cards, (ctypes.c_int * cards)(*range(cards))))
    must(cufft.cufftMakePlan3d(plan, n, n, n, 0x69, (ctypes.c_size_t * cards)()))  # CUFFT_Z2Z
    must(cufft.cufftXtMalloc(plan, ctypes.byref(array), 2))  # CUFFT_XT_FORMAT_INPLACE
    memory = ctypes.c_void_p(host.ctypes.data)

    def run():
        must(cufft.cufftXtMemcpy(plan, array, memory, 0))  # to the cards
        must(cufft.cufftXtExecDescriptorZ2Z(plan, array, array, -1))
        must(cufft.cufftXtMemcpy(plan, memory, array, 1))
        for card in range(cards):
            cupy.cuda.Device(card).synchronize()

    seconds = timed(run, lambda: None, runs)
    must(cufft.cufftXtFree(array))
    must(cufft.cufftDestroy(plan))
    return seconds


def main():
    sizes = [int(n) for n in (sys.argv[1] if len(sys.argv) > 1 else "512").split(",")]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    modes = {
        "copies": copies,
        "managed": lambda n, runs: managed(n, runs, False),
        "prefetched": lambda n, runs: managed(n, runs, True),
    }
    if cupy.cuda.runtime.getDeviceCount() > 1:
        modes["spread"] = spread
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"# cuFFT {cupy.cuda.cufft.getVersion()}, CuPy {cupy.__version__}, {name}")
    print("n,kind,mode,forward_s")
    for n in sizes:
        for mode, measure in modes.items():
            try:
                print(f"{n},c2c,{mode},{measure(n, runs):.6f}", flush=True)
            except Exception as error:  # a mode that a version of CuPy or a card does not have
                print(f"# {n} {mode}: {error}", flush=True)
            cupy.get_default_memory_pool().free_all_blocks()
            cupy.get_default_pinned_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
