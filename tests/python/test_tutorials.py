"""The notebooks of docs/tutorials run, and what they assert holds. That of many processes is in test_distributed.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "tutorials"


@pytest.mark.parametrize("notebook", sorted(FOLDER.glob("[1-4]-*.ipynb")), ids=lambda path: path.stem)
def test_notebook(notebook, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("dask.array")
    pytest.importorskip("array_api_strict")
    pyplot.switch_backend("agg")
    monkeypatch.chdir(FOLDER)
    names: dict[str, object] = {}
    for number, cell in enumerate(json.loads(notebook.read_text())["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{notebook.name}, cell {number}", "exec"), names)
    pyplot.close("all")


def test_notebooks_hold_no_outputs():
    for notebook in FOLDER.glob("*.ipynb"):
        for cell in json.loads(notebook.read_text())["cells"]:
            assert not cell.get("outputs") and cell.get("execution_count") is None
