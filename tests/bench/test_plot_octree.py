"""weft plot of what weft convolve --octree writes: a square for each cell that the slice cuts, in the shade of its
step, boxes outlined, and what is no such file, or no slice of it, is refused.

ctest runs this; by hand: PYTHONPATH=python python3 tests/bench/test_plot_octree.py
"""

from __future__ import annotations

import json
import unittest

from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from sample_table import Case

from weft.plot.figures.style import ORANGE, VERMILION
from weft.plot.octree import compose, load
from weft.plot.table import InputError


def cube(lo: list[int], edge: int, near: int) -> list[list[int]]:
    """Cells of a grid of 16^3 around a box of `edge` points from lo on: eight dense ones of 2 points in each cell of 4
    that is in it, and of step `near` elsewhere."""
    cells = []
    for x in range(0, 16, 4):
        for y in range(0, 16, 4):
            for z in range(0, 16, 4):
                if all(at <= v < at + edge for at, v in zip(lo, (x, y, z))):
                    cells += [[x + a, y + b, z + c, 2, 1] for a in (0, 2) for b in (0, 2) for c in (0, 2)]
                else:
                    cells.append([x, y, z, 4, near])
    return cells


def sample() -> dict:
    """Two ranks, each with half of the field along axis 0, of which the second has an octree of a sub-domain, too."""
    first = {"rank": 0, "subdomain": None, "lo": [0, 0, 0], "n": [8, 16, 16], "cells": [[0, 0, 0, 16, 1]]}
    second = {"rank": 1, "subdomain": None, "lo": [8, 0, 0], "n": [8, 16, 16], "cells": cube([8, 0, 0], 16, 2)}
    middle = {"rank": 1, "subdomain": 7, "lo": [8, 4, 12], "n": [4, 4, 4], "cells": cube([8, 4, 12], 4, 4)}
    return {"weft": "0", "command": "convolve", "shape": [16, 16, 16], "octrees": [first, second, middle]}


class Octree(Case):
    def save(self, document: object, name: str = "t.json") -> None:
        (self.folder / name).write_text(json.dumps(document))

    def drawn(self, *choices: int | None):
        return compose(load(self.folder / "t.json"), *choices)

    def test_cells_of_the_slice_are_squares_in_the_shade_of_their_step(self) -> None:
        self.save(sample())
        picture = self.drawn(0, 9, 1)
        box, part = picture.figure.axes
        self.assertEqual(picture.title, "Where the result is sampled, 16³, slice x = 9")
        self.assertEqual(box.get_title("left"), "Rank 1: around its box")
        self.assertEqual(part.get_title("left"), "Rank 1: around its sub-domain 7")
        self.assertEqual((part.get_xlabel(), part.get_ylabel()), ("z, points", "y, points"))
        (squares,) = (c for c in part.collections if isinstance(c, PolyCollection))
        found = {}
        for path, colour in zip(squares.get_paths(), squares.get_facecolors()):
            (left, top), (right, low) = path.vertices.min(0), path.vertices.max(0)
            self.assertEqual(right - left, low - top)
            found.setdefault(to_hex(colour), []).append((top, left, right - left))
        self.assertEqual(sorted(map(len, found.values())), [4, 15])  # 4 dense squares of 2 points, 15 of 4
        dense = min(found.values(), key=len)
        self.assertEqual(sorted(dense), [(4, 12, 2), (4, 14, 2), (6, 12, 2), (6, 14, 2)])
        self.assertEqual(sum(edge * edge for squares in found.values() for _, _, edge in squares), 256)
        below = picture.figure.legends[0]
        legend = {text.get_text(): patch for text, patch in zip(below.get_texts(), below.get_patches())}
        self.assertEqual(
            list(legend), ["every point", "every 2nd", "every 4th", "sources of the octree", "boxes of ranks"]
        )
        for words, count in (("every point", 4), ("every 4th", 15)):
            self.assertEqual(len(found[to_hex(legend[words].get_facecolor())]), count)

    def test_boxes_are_outlined_where_the_slice_cuts_them(self) -> None:
        self.save(sample())
        for axis, index, expected in (
            (0, 9, [(ORANGE, (0, 0, 16, 16)), (VERMILION, (12, 4, 4, 4))]),
            (0, 3, [(ORANGE, (0, 0, 16, 16))]),  # of rank 0 alone
            (1, 5, [(ORANGE, (0, 0, 16, 8)), (ORANGE, (0, 8, 16, 8)), (VERMILION, (12, 8, 4, 4))]),
            (2, 5, [(ORANGE, (0, 0, 16, 8)), (ORANGE, (0, 8, 16, 8))]),
        ):
            ax = self.drawn(axis, index, 1).figure.axes[1]
            boxes = [p for p in ax.patches if isinstance(p, Rectangle)]
            got = [(to_hex(p.get_edgecolor()), (*p.get_xy(), p.get_width(), p.get_height())) for p in boxes]
            self.assertEqual(got, expected, (axis, index))

    def test_the_slice_goes_through_the_middle_unless_it_is_said(self) -> None:
        self.save(sample())
        self.assertTrue(self.drawn(None, None, 1).title.endswith("slice x = 10"))
        self.assertTrue(self.drawn(2, None, 1).title.endswith("slice z = 14"))
        self.assertTrue(self.drawn(None, None, None).title.endswith("slice x = 4"))
        words = "Rank 0: around its box: 1 cell; one point of 1.00 is kept"
        self.assertIn(words, self.drawn(None, None, None).caption)

    def test_planes_are_drawn_whole_and_cut_off_where_the_field_ends(self) -> None:
        cells = [[0, 0, 0, 8, 4], [0, 8, 0, 8, 4], [8, 0, 0, 8, 1], [8, 8, 0, 8, 2]]
        tree = {"rank": 0, "subdomain": 3, "lo": [8, 0], "n": [4, 8], "cells": cells}
        self.save({"shape": [12, 14], "octrees": [tree]})
        picture = self.drawn(None, None, None)
        (squares,) = picture.figure.axes[0].collections
        corners = [(*p.vertices.min(0), *p.vertices.max(0)) for p in squares.get_paths()]
        self.assertEqual(corners, [(0, 0, 8, 8), (8, 0, 14, 8), (0, 8, 8, 12), (8, 8, 14, 12)])
        # Steps of 2 at most along 14 points: 2 x 4, 2 x 3, 4 x 8, and 2 x 3 of 168 points.
        self.assertIn(f"one point of {168 / 52:.2f} is kept", picture.caption)

    def test_files_are_written(self) -> None:
        self.save(sample())
        self.assertEqual(self.succeed("t.json"), "wrote octree.png and octree.pdf\n")
        which = ("--axis", "1", "--index", "5", "--rank", "1")
        self.assertEqual(self.succeed("t.json", *which, "-o", "out", "--format", "svg", "--quiet"), "")
        self.assertTrue((self.folder / "out" / "octree.svg").read_text().startswith("<?xml"))
        self.assertGreater((self.folder / "octree.png").stat().st_size, 10000)

    def test_what_cannot_be_drawn_is_refused(self) -> None:
        self.save(sample())
        words = "--index 16: there are 16 points along axis 0; give 0 to 15"
        self.assertIn(words, self.refuse("t.json", "--index", "16"))
        self.assertIn("--index", self.refuse("t.json", "--index", "-1"))
        self.refused("--rank 2: these have octrees: 0, 1", None, None, 2)
        tree = sample()["octrees"][0]
        for shape, axis, words in (
            ([16], None, "one axis"),
            ([16, 16], 2, "--axis 2: the field has 2 axes"),
            ([16, 16], 1, "drop them"),
        ):
            rank = len(shape)
            self.save({"shape": shape, "octrees": [tree | {"lo": [0] * rank, "n": [16] * rank}]})
            self.refused(words, axis, None, None)
        bad_cells = ([[0, 0, 0, 16]], [[0, 0, 0, 0, 1]])
        for change in ({"lo": [0, 0]}, {"n": None}, {"rank": "a"}, *({"cells": cells} for cells in bad_cells)):
            self.save({"shape": [16] * 3, "octrees": [tree | change]})
            self.refused("it is not what weft convolve --octree writes", None, None, None)
        self.save({"shape": [16] * 3, "octrees": [tree | {"cells": []}]})
        self.refused("no rank has points", None, None, None)
        self.save({"command": "homogenize"})
        self.assertIn("--index belongs to the file of weft convolve --octree", self.refuse("t.json", "--index", "3"))

    def refused(self, words: str, *choices: int | None) -> None:
        with self.assertRaisesRegex(InputError, words):
            self.drawn(*choices)


if __name__ == "__main__":
    unittest.main()
