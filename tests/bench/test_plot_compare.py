"""weft plot --compare: an injected slowdown is found and significant, what did not change is not, and drift that hits a
peer alike is taken out.

ctest runs this; by hand: PYTHONPATH=python python3 tests/bench/test_plot_compare.py
"""

from __future__ import annotations

import math
import unittest
from pathlib import Path

import numpy as np
from sample_table import Case, Contestant, Problem
from scipy import stats

from weft.plot.compare import FASTER, SAME, SLOWER, Comparison, compare
from weft.plot.difference import picture
from weft.plot.table import load

SLABS = [Contestant("weft", f"{strategy}:default:p2p-sync") for strategy in ("slab-2d1d", "slab-1d2d", "slab-y-zx")]
SHAPES = ["16x16x16", "16x16x32", "16x32x32"]
PEER = Contestant("fftw-mpi", "transposed", 1.5)


class Comparing(Case):
    def run_of(self, name: str, changes: dict[tuple[str, str], float] | None = None, all_by: float = 1.0) -> Path:
        """A run in which the cells (shape, strategy) of `changes` take so many times as long, and all take all_by."""
        table = self.table(noise=0.01, drift=0)
        for shape in SHAPES:
            contestants = []
            for slab in [*SLABS, PEER]:
                factor = (changes or {}).get((shape, slab.config.split(":")[0]), 1.0)
                contestants.append(Contestant(slab.library, slab.config, slab.slowness * factor * all_by))
            table.block(Problem(shape, ranks=2), contestants)
        return table.write(self.folder / name)

    def compared(self, **run: object) -> Comparison:
        return compare(load(self.run_of("before")), load(self.run_of("after", **run)))  # type: ignore[arg-type]

    def test_a_slowdown_of_ten_percent_is_significant_and_the_rest_is_not(self) -> None:
        found = self.compared(changes={(SHAPES[1], "slab-1d2d"): 1.1})
        self.assertEqual(len(found.cells), 12)
        slow = found.cells["problem"].str.contains("16²×32", regex=False) & found.cells["contestant"].str.contains(
            "1d2d"
        )
        (cell,) = found.cells[slow].to_dict("records")
        self.assertEqual(cell["verdict"], SLOWER)
        self.assertAlmostEqual(cell["ratio"], 1.1, delta=0.03)
        self.assertLess(cell["low"], cell["ratio"])
        self.assertGreater(cell["low"], 1.02)
        self.assertEqual(cell["peer_verdict"], SLOWER)
        # With Holm's correction, the chance of a false alarm among the others is 1 %, of two a hundredth of that.
        self.assertGreaterEqual((found.cells.loc[~slow, "verdict"] == SAME).sum(), 10)

    def test_a_faster_run_is_called_faster(self) -> None:
        found = self.compared(all_by=0.8)
        self.assertEqual(set(found.cells["verdict"]), {FASTER})
        self.assertAlmostEqual(found.summaries[0].mean, 0.8, delta=0.02)

    def test_drift_between_the_runs_cancels_beside_a_peer(self) -> None:
        found = self.compared(changes={(SHAPES[0], "slab-2d1d"): 1.15}, all_by=1.2)
        self.assertEqual(set(found.cells["verdict"]), {SLOWER})
        weft = found.cells[found.cells["library_a"] == "weft"]
        slow = weft["problem"].str.contains("16³") & weft["contestant"].str.contains("2d1d")
        self.assertAlmostEqual(weft.loc[slow, "peer_ratio"].iloc[0], 1.15, delta=0.03)
        self.assertEqual(list(weft.loc[slow, "peer_verdict"]), [SLOWER])
        self.assertTrue(np.allclose(weft.loc[~slow, "peer_ratio"].astype(float), 1, atol=0.03))
        summary = {row.what: row for row in found.summaries}
        self.assertAlmostEqual(summary["fftw-mpi"].mean, 1.2, delta=0.02)
        self.assertAlmostEqual(summary["weft relative to a peer in both runs"].mean, 1.15 ** (1 / 9), delta=0.01)

    def test_intervals_of_short_runs_leave_the_ratios_to_be_seen(self) -> None:
        for name in ("short", "again"):
            table = self.table(noise=0.5, drift=0)
            for shape in SHAPES:
                table.block(Problem(shape, ranks=2), [*SLABS, PEER], iterations=2)
            table.write(self.folder / name)
        found = compare(load(self.folder / "short"), load(self.folder / "again"))
        self.assertGreater(found.cells["high"].max() / found.cells["low"].min(), 1e3)  # two runs say nothing
        for ax, side in zip(picture(found).figure.axes, ("", "peer_")):
            low, high = ax.get_xlim()
            ratios = found.cells[f"{side}ratio"].dropna().astype(float)
            self.assertTrue(low < min(ratios.min(), 1) and max(ratios.max(), 1) < high)
            self.assertLess(high / low, 4 * (max(ratios.max(), 1) / min(ratios.min(), 1)) ** 2.2)
            labels = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_text()]
            inside = sorted((box.x0, box.x1) for box in labels if box.width > 0)
            for (_, end), (begin, _) in zip(inside, inside[1:]):
                self.assertLessEqual(end, begin)

    def test_intervals_are_welchs_and_p_values_are_holms(self) -> None:
        before, after = load(self.run_of("before")), load(self.run_of("after"))
        found = compare(before, after)
        raw = []
        for cell in found.cells.to_dict("records"):
            logs = [
                np.log(rows[rows["cell"] == name].groupby("iteration")["total"].max())
                for rows, name in ((after.rows, cell["cell_b"]), (before.rows, cell["cell_a"]))
            ]
            test = stats.ttest_ind(*logs, equal_var=False)
            raw.append(test.pvalue)
            self.assertAlmostEqual(cell["p"], test.pvalue, places=9)
            edge = stats.ttest_ind(logs[0] - math.log(cell["high"]), logs[1], equal_var=False)
            self.assertAlmostEqual(edge.pvalue, 0.01, places=7)
        order = np.argsort(raw)
        corrected = np.minimum(np.maximum.accumulate(np.array(raw)[order] * np.arange(len(raw), 0, -1)), 1)
        self.assertTrue(np.allclose(found.cells["p_holm"].to_numpy()[order], corrected))

    def test_the_geometric_mean_has_students_interval_over_the_cells(self) -> None:
        found = self.compared()
        logs = np.log(found.cells["mean"])
        low, high = stats.t.interval(0.99, len(logs) - 1, loc=logs.mean(), scale=stats.sem(logs))
        self.assertAlmostEqual(found.summaries[0].low, math.exp(low), places=9)
        self.assertAlmostEqual(found.summaries[0].high, math.exp(high), places=9)

    def test_cells_of_only_one_run_are_listed(self) -> None:
        before = self.run_of("before")
        table = self.table()
        table.block(Problem(SHAPES[0], ranks=2), [SLABS[0], Contestant("weft", "slab-2d1d:default:a2a-sync")])
        found = compare(load(before), load(table.write(self.folder / "after")))
        self.assertEqual((len(found.cells), len(found.only[0]), len(found.only[1])), (1, 11, 1))
        self.assertIn("a2a-sync", found.only[1]["contestant"].iloc[0])

    def test_the_outcome_goes_to_standard_output_and_into_files(self) -> None:
        before, after = self.run_of("before"), self.run_of("after", {(SHAPES[0], "slab-2d1d"): 1.3})
        said = self.succeed("--compare", before, after / "table.csv", "-o", self.folder / "out")
        self.assertRegex(said, r"Of 12 cells in both runs, table\.csv|Of 12 cells in both runs, after")
        self.assertRegex(said, r"\| slower \|")
        self.assertEqual({file.name for file in (self.folder / "out").iterdir()},
                         {"compare.md", "compare.html", "compare.png", "compare.pdf"})  # fmt: skip
        self.assertEqual((self.folder / "out" / "compare.md").read_text(encoding="utf-8"), said)
        self.assertIn("<svg", _embedded(self.folder / "out" / "compare.html"))

    def test_runs_without_a_common_cell_are_refused(self) -> None:
        table = self.table()
        table.block(Problem("4x4x4"), [Contestant("fftw")])
        line = self.refuse("--compare", self.run_of("before"), table.write(self.folder / "other"))
        self.assertIn("no cell in common", line)


def _embedded(page: Path) -> str:
    """The first picture that a page holds."""
    import base64
    import re

    data = re.search(r"data:image/svg\+xml;base64,([^\"]+)", page.read_text(encoding="utf-8"))
    assert data
    return base64.b64decode(data[1]).decode("utf-8")


if __name__ == "__main__":
    unittest.main()
