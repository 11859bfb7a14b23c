"""weft.plan_cache keeps plans within its limits."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import weft.fft
from weft import plan_cache


@pytest.fixture(autouse=True)
def own_cache():
    before = plan_cache.info()
    plan_cache.clear()
    yield
    plan_cache.limit(before.max_plans, before.max_bytes)
    plan_cache.clear()


def test_a_plan_is_made_once():
    for _ in range(5):
        weft.fft.fft(np.ones(32, complex))
    now = plan_cache.info()
    assert (now.hits, now.misses, now.plans) == (4, 1, 1)
    assert now.bytes > 0


def test_plans_of_one_shape_differ_by_norm_and_precision():
    weft.fft.fft(np.ones(32, complex))
    weft.fft.fft(np.ones(32, complex), norm="ortho")
    weft.fft.fft(np.ones(32, "c8"))
    weft.fft.ifft(np.ones(32, complex))  # a plan goes both ways
    assert plan_cache.info().plans == 3


def test_the_least_recently_used_plan_is_forgotten():
    plan_cache.limit(plans=2)
    for n in (8, 16, 8, 32, 8):  # 16 goes
        weft.fft.fft(np.ones(n, complex))
    now = plan_cache.info()
    assert (now.plans, now.evictions, now.hits, now.misses) == (2, 1, 2, 3)
    weft.fft.fft(np.ones(16, complex))
    assert plan_cache.info().misses == 4


def test_the_default_limit_is_a_share_of_the_memory():
    share = os.sysconf("SC_PHYS_PAGES") // 16 * os.sysconf("SC_PAGESIZE")
    code = "from weft import plan_cache; print(plan_cache.info().max_bytes)"
    limit = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    assert limit == min(max(share, 256 << 20), 1 << 30)


def test_bytes_are_limited():
    plan_cache.limit(bytes=3 << 20)
    for n in range(100, 160):
        weft.fft.fft(np.ones(n, complex))
    now = plan_cache.info()
    assert now.bytes <= 3 << 20
    assert 0 < now.plans < 60


def test_switched_off_it_keeps_nothing():
    plan_cache.limit(plans=0)
    x = np.arange(30) + 0j
    for _ in range(3):
        assert np.allclose(weft.fft.fft(x), np.fft.fft(x))
    now = plan_cache.info()
    assert (now.plans, now.bytes, now.hits, now.misses) == (0, 0, 0, 3)


def test_limits_are_not_negative():
    with pytest.raises(ValueError, match="limits"):
        plan_cache.limit(plans=-1)
