"""Threads, forks and memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import weft.fft
from weft import plan_cache


def test_sixteen_threads_get_right_answers(rng):
    arrays = [rng.standard_normal((k % 3 + 1, n)) + 1j for k, n in enumerate((8, 100, 64, 1000, 3000))]
    expected = [np.fft.fft(a, axis=-1) for a in arrays]
    wrong = []

    def work(first):
        for call in range(1000):
            which = (first + call) % len(arrays)
            if not np.allclose(weft.fft.fft(arrays[which]), expected[which]):
                wrong.append(which)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_default_workers_belong_to_a_thread():
    found = []
    with weft.fft.set_workers(3):
        thread = threading.Thread(target=lambda: found.append(weft.fft.get_workers()))
        thread.start()
        thread.join()
        found.append(weft.fft.get_workers())
    assert found == [1, 3] and weft.fft.get_workers() == 1


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("workers", [1, 2])
def test_children_of_a_fork_transform(rng, workers):
    x = rng.standard_normal((64, 1024)) + 0j
    expected = weft.fft.fftn(x, workers=workers)
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            same = np.allclose(weft.fft.fftn(x, workers=workers), expected)
            os._exit(0 if same and plan_cache.info().plans == 1 else 1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]


def test_calls_of_random_shapes_leave_no_memory_behind():
    program = """
import random, numpy, weft.fft
from weft import plan_cache

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

plan_cache.limit(plans=64, bytes=64 << 20)
rng = random.Random(1)
pool = numpy.random.default_rng(1).standard_normal(8192)
calls = [weft.fft.fft, weft.fft.rfft, weft.fft.fftn, weft.fft.irfft, weft.fft.hfft]

def some(count):
    for _ in range(count):
        rows, n = rng.randint(1, 3), rng.randint(2, 120)
        x = pool[: rows * n].reshape(rows, n)
        way = rng.randrange(len(calls) + 2)
        if way < len(calls):
            calls[way](x)
        elif way == len(calls):
            weft.fft.fft(x.T, axis=0, out=numpy.empty((n, rows), complex))
        else:
            try:
                weft.fft.fft(x, norm="wrong")
            except ValueError:
                pass

some(4000)
before = resident()
some(CALLS)
grown = resident() - before
assert grown < 24 << 20, f"{grown} bytes more"
"""
    calls = os.environ.get("WEFT_LEAK_CALLS", "20000")
    subprocess.run([sys.executable, "-c", program.replace("CALLS", calls)], check=True)
