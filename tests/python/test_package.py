"""What the package shows of itself."""

from __future__ import annotations

import importlib.metadata
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

import weft
import weft.fft


def test_version_is_the_librarys():
    assert weft.__version__ == weft._core.version == importlib.metadata.version("weft")


def test_every_name_is_there():
    for module in (weft, weft.fft):
        for name in module.__all__:
            assert hasattr(module, name)
    missing = set(np.fft.__all__) - set(weft.fft.__all__)
    assert not missing


def test_signatures_are_told():
    assert str(inspect.signature(weft.fft.fft)).startswith("(x, n=None, axis=-1, norm=None")
    assert inspect.signature(weft.fft.fft2).parameters["axes"].default == (-2, -1)


def test_functions_are_pickled_by_name():
    for name in ("fft", "rfft2", "hfft", "dct"):
        function = getattr(weft.fft, name)
        assert pickle.loads(pickle.dumps(function)) is function


def test_info_names_engines_and_devices():
    assert weft.engines()["native"][0]
    assert weft.devices()["host"][0]
    assert "native" in weft.info()


def test_the_source_tree_imports_without_the_extension():
    source = Path(__file__).resolve().parents[2] / "python"
    program = """
import weft, weft.bench, weft.plot
assert weft.__version__
try:
    weft.Plan
except ImportError as refused:
    assert "pip install" in str(refused)
else:
    raise AssertionError("a plan without the C part")
"""
    subprocess.run([sys.executable, "-S", "-c", program], check=True, env={"PYTHONPATH": str(source)})
