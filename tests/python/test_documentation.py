"""The programs in Python of the documentation's pages run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weft import plan_cache

DOCS = Path(__file__).resolve().parents[2] / "docs"


def programs_of(page: str) -> list[str]:
    """The blocks of `python`. Those of `py` want what is not everywhere: a GPU, MPI."""
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def test_programs_of_the_page_of_the_package_run_one_after_the_other():
    pytest.importorskip("scipy")
    pytest.importorskip("dask.array")
    programs = programs_of("python.md")
    assert len(programs) >= 5
    before = plan_cache.info()
    names: dict[str, object] = {}
    for program in programs:
        exec(compile(program, "python.md", "exec"), names)
    plan_cache.limit(before.max_plans, before.max_bytes)
    assert names["np"].allclose(names["again"], names["image"])


@pytest.mark.parametrize("page", ["tutorial.md", "migration/scipy.md"])
def test_programs_of_the_page_run(page: str):
    programs = programs_of(page)
    assert programs
    for program in programs:
        exec(compile(program, page, "exec"), {})
