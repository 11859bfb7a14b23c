"""The pictures of layouts are what their script draws, and the boxes in them what the library gives.

EXAMPLE_LAYOUTS is the example program layouts.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

from site_pages import TREE

LOADER = SourceFileLoader("layouts", str(TREE / "docs/site/layouts"))
LAYOUTS = module_from_spec(spec_from_loader("layouts", LOADER))
LOADER.exec_module(LAYOUTS)


def told(decomposition: str, space: str) -> list:
    """The boxes that the library gives."""
    program = os.environ.get("EXAMPLE_LAYOUTS", TREE / "build/examples/example_layouts")
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    found = []
    for line in output.splitlines():
        words, ranges = line.split(": ")
        if words.split()[:2] == [decomposition, space]:
            pairs = [tuple(map(int, one.split("+"))) for one in ranges.split()]
            found.append(LAYOUTS.Box(tuple(lo for lo, _ in pairs), tuple(n for _, n in pairs)))
    return found


class Pictures(unittest.TestCase):
    def test_are_what_the_script_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            LAYOUTS.draw(Path(folder))
            for path in sorted(Path(folder).iterdir()):
                with self.subTest(path.name):
                    self.assertEqual(path.read_bytes(), (TREE / "docs/images" / path.name).read_bytes())

    def test_slabs_are_the_library_s(self):
        self.assertEqual(LAYOUTS.boxes(LAYOUTS.SHAPE, {0: 4}), told("slab-2d1d", "input"))
        self.assertEqual(LAYOUTS.boxes(LAYOUTS.SHAPE, {1: 4}), told("slab-2d1d", "output"))

    def test_pencils_are_the_library_s(self):
        self.assertEqual(LAYOUTS.boxes(LAYOUTS.SHAPE, {0: 2, 1: 2}), told("pencil", "input"))
        self.assertEqual(LAYOUTS.boxes(LAYOUTS.SHAPE, {1: 2, 2: 2}), told("pencil", "output"))

    def test_bricks_tile_the_array(self):
        elements = [
            (i, j, k)
            for box in LAYOUTS.BRICKS
            for i in range(box.lo[0], box.lo[0] + box.n[0])
            for j in range(box.lo[1], box.lo[1] + box.n[1])
            for k in range(box.lo[2], box.lo[2] + box.n[2])
        ]
        self.assertEqual(len(set(elements)), len(elements))
        self.assertEqual(len(elements), 5 * 4 * 6)


if __name__ == "__main__":
    unittest.main()
