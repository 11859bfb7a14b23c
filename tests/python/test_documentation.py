"""The programs in docs/python.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weft import plan_cache

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_programs_of_the_page_run_one_after_the_other():
    pytest.importorskip("scipy")
    pytest.importorskip("dask.array")
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(programs) >= 5
    before = plan_cache.info()
    names: dict[str, object] = {}
    for program in programs:
        exec(compile(program, PAGE.name, "exec"), names)
    plan_cache.limit(before.max_plans, before.max_bytes)
    assert names["np"].allclose(names["again"], names["image"])
