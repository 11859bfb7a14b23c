"""weft plot of a report of weft homogenize: a line for each load, and what is no such report is refused.

ctest runs this; by hand: PYTHONPATH=python python3 tests/bench/test_plot_homogenization.py
"""

from __future__ import annotations

import json
import unittest

import numpy as np
from sample_table import Case

from weft.plot.homogenization import compose, load

COMPONENTS = ["xx", "yy", "zz", "yz", "xz", "xy"]


def sample(loads: int = 6, components: list[str] = COMPONENTS) -> dict:
    """A report, as far as it is drawn: residuals that halve, in one iteration more for each load."""
    residuals = [(0.5 ** np.arange(20 + load)).tolist() for load in range(loads)]
    return {
        "command": "homogenize",
        "components": components,
        "tolerance": 2e-6,
        "solver": "cg",
        "discretization": "staggered",
        "loads": [{"residuals": r, "iterations": len(r) - 1, "converged": len(r) < 25} for r in residuals],
    }


class Homogenization(Case):
    def save(self, document: object, name: str = "r.json") -> None:
        (self.folder / name).write_text(json.dumps(document))

    def test_each_load_is_a_line(self) -> None:
        for loads, components, first in ((6, COMPONENTS, "load 1: strain xx"), (1, COMPONENTS, "load 1"), (3, ["x", "y", "z"], "load 1: gradient x")):
            self.save(sample(loads, components))
            picture = compose(load(self.folder / "r.json"))
            axes = picture.figure.axes[0]
            lines = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
            self.assertEqual(len(lines), loads)
            self.assertEqual(lines[0].get_label(), first)
            self.assertEqual(len({line.get_color() for line in lines}), loads)
            for number, line in enumerate(lines):
                np.testing.assert_array_equal(line.get_xdata(), np.arange(20 + number))
                np.testing.assert_array_equal(line.get_ydata(), 0.5 ** np.arange(20 + number))
            self.assertEqual(axes.get_yscale(), "log")
            legend = [text.get_text() for text in picture.figure.legends[0].get_texts()]
            self.assertEqual(legend[-1], "tolerance")
            self.assertEqual(len(legend), loads + 1)
        self.save(sample())
        self.assertIn("5 of 6 loads converged, the slowest after 24 iterations", compose(load(self.folder / "r.json")).caption)

    def test_a_homogeneous_material_has_no_residual(self) -> None:
        report = sample(1)
        report["loads"][0] |= {"residuals": [0.0], "iterations": 0}
        self.save(report)
        self.succeed("r.json", "--format", "png")

    def test_files_are_written(self) -> None:
        self.save(sample())
        self.assertEqual(self.succeed("r.json"), "wrote convergence.png and convergence.pdf\n")
        self.assertEqual(self.succeed("r.json", "-o", "out", "--format", "svg", "--quiet"), "")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["convergence.pdf", "convergence.png", "out", "r.json"])
        self.assertTrue((self.folder / "out" / "convergence.svg").read_text().startswith("<?xml"))
        self.assertGreater((self.folder / "convergence.png").stat().st_size, 10000)

    def test_other_files_are_refused(self) -> None:
        for document, words in (
            ({"command": "transform"}, "it is not a report of weft homogenize"),
            ([], "it is not a report of weft homogenize"),
            (sample() | {"loads": [{}]}, "it has no residuals of loads"),
            (sample() | {"tolerance": None}, "it has no residuals of loads"),
            (sample() | {"loads": []}, "it has no residuals of loads"),
        ):
            self.save(document)
            self.assertIn(words, self.refuse("r.json"))
        (self.folder / "r.json").write_text("{")
        self.assertIn("it is not JSON", self.refuse("r.json"))
        self.assertIn("there is no such file", self.refuse("absent.json"))


if __name__ == "__main__":
    unittest.main()
