"""What the tests of the command share: a folder for each, and ways to run weft in it.

ctest runs each test_*.py; by hand: WEFT=build/tools/weft python3 test_flags.py
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

WEFT = os.environ["WEFT"]
HDF5 = os.environ.get("WEFT_HDF5", "1") == "1"
TYPES = {
    "u8": "u1",
    "i16": "i2",
    "u16": "u2",
    "i32": "i4",
    "f4": "f4",
    "f8": "f8",
    "c8": "c8",
    "c16": "c16",
}


def random_array(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng()
    kind = np.dtype(dtype)
    if kind.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind)
    if kind.kind == "f":
        return rng.standard_normal(shape).astype(kind)
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, size=shape, dtype=kind, endpoint=True)


def transform(array: np.ndarray) -> np.ndarray:
    """The forward transform in double precision."""
    wide = array.astype("c16" if array.dtype.kind == "c" else "f8")
    return np.fft.fftn(wide) if array.dtype.kind == "c" else np.fft.rfftn(wide)


class Case(unittest.TestCase):
    """A folder for each test, and ways to run the command in it."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="weft-command-")
        self.folder = Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)

    def run_weft(
        self, *arguments: object, ranks: int = 1, **options
    ) -> subprocess.CompletedProcess:
        line = [WEFT] + (["--ranks", str(ranks)] if ranks > 1 else []) + [str(a) for a in arguments]
        return subprocess.run(
            line, capture_output=True, text=True, cwd=self.folder, timeout=300, **options
        )

    def succeed(self, *arguments: object, ranks: int = 1) -> str:
        done = self.run_weft(*arguments, ranks=ranks)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def refuse(self, *arguments: object, ranks: int = 1, status: int = 2, **options) -> str:
        """Runs what must fail with one line, and returns the line."""
        done = self.run_weft(*arguments, ranks=ranks, **options)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, (arguments, done.stderr))
        self.assertTrue(lines[0].startswith("weft: "), lines)
        return lines[0]

    def save(self, name: str, array: np.ndarray) -> None:
        np.save(self.folder / name, array)

    def load(self, name: str) -> np.ndarray:
        return np.load(self.folder / name)

    def names(self) -> list[str]:
        return sorted(p.name for p in self.folder.iterdir())

    def assert_close(self, got: np.ndarray, expected: np.ndarray, single: bool = False) -> None:
        self.assertEqual(got.shape, expected.shape)
        error = np.linalg.norm((got - expected).ravel()) / max(
            np.linalg.norm(expected.ravel()), 1e-300
        )
        self.assertLess(error, 2e-6 if single else 5e-15)
