"""Pictures of weft plot: each is drawn where the table has what it needs, and holds the lines and bars that it should.

ctest runs this; by hand: PYTHONPATH=python python3 tests/bench/test_plot_figures.py
"""

from __future__ import annotations

import struct
import unittest
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from sample_table import EXCHANGES, Case, Contestant, Problem, SampleTable

from weft.plot.figures import accuracy, direction, draw_all, exchange, libraries, phases, roofline, runtime, scaling
from weft.plot.figures.picture import Picture
from weft.plot.figures.style import RULES, log_axis
from weft.plot.study import Study
from weft.plot.table import load

SHAPES = ["16x16x16", "16x16x32", "16x32x32", "32x32x32"]
STRATEGIES = ["slab-2d1d", "slab-1d2d", "slab-y-zx"]
CEILINGS = {"runs": [{"ranks": 1, "threads": 2, "nodes": 1, "memory": {"copy": 5e10}, "compute": {"double": 1e11}}]}


def lines_of(ax: Axes) -> dict[str, Any]:
    """The lines with a name, by that name."""
    return {str(line.get_label()): line for line in ax.get_lines() if not str(line.get_label()).startswith("_")}


def is_open(line: Any) -> bool:
    return line.get_markerfacecolor() != line.get_color()


def names_of(pictures: list[Picture]) -> list[str]:
    return [picture.name for picture in pictures]


class FigureCase(Case):
    def study(self, table: SampleTable, **objects: dict[str, Any]) -> Study:
        return Study(load(table.write(self.folder / f"run{len(list(self.folder.iterdir()))}", **objects)))

    def draw(self, group: Any, table: SampleTable, **objects: dict[str, Any]) -> list[Picture]:
        with matplotlib.rc_context(RULES):
            return group.draw(self.study(table, **objects))

    def strategies(self, ranks: int = 2, directions: tuple[str, ...] = ("forward", "inverse")) -> SampleTable:
        """Every strategy and variant with two methods, over sizes."""
        table = self.table()
        for way in directions:
            for shape in SHAPES:
                configs = [f"{s}:{v}:{e}" for s in STRATEGIES for v in ("default", "realigned") for e in EXCHANGES[:2]]
                contestants = [Contestant("weft", config, 1 + 0.1 * n) for n, config in enumerate(configs)]
                table.block(Problem(shape, direction=way, ranks=ranks), contestants, 5)
        return table


class Files(FigureCase):
    def test_each_picture_is_a_png_and_a_pdf_of_sensible_size(self) -> None:
        table = self.strategies()
        table.block(Problem("32x32x32"), [Contestant("weft", "auto"), Contestant("fftw")], 5)
        folder = self.folder / "pictures"
        folder.mkdir()
        pictures = [picture for _, group in draw_all(self.study(table, ceilings=CEILINGS)) for picture in group]
        self.assertEqual(len(set(names_of(pictures))), len(pictures))
        self.assertGreaterEqual(len(pictures), 8)
        for picture in pictures:
            png, pdf = picture.save(folder, ("png", "pdf"))
            self.check_png(png)
            self.assertTrue(pdf.read_bytes().startswith(b"%PDF-"), pdf)
            self.assertGreater(pdf.stat().st_size, 5000)
            self.assertGreater(min(len(picture.caption), len(picture.alt), len(picture.title)), 15)

    def check_png(self, file: Path) -> None:
        content = file.read_bytes()
        self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n", file)
        width, height = struct.unpack(">II", content[16:24])
        self.assertTrue(800 <= width <= 2000 and 300 <= height <= 3500, (file, width, height))
        pixels = matplotlib.image.imread(file)
        self.assertGreater(float(np.std(pixels[..., :3])), 0.02, "the picture is blank")

    def test_the_same_table_gives_the_same_files(self) -> None:
        table = self.strategies(directions=("forward",))
        contents = []
        for _ in range(2):
            (picture,) = self.draw(runtime, table)
            files = picture.save(self.folder, ("png", "pdf"))
            contents.append([file.read_bytes() for file in files] + [picture.svg()])
        self.assertEqual(contents[0], contents[1])

    def test_nothing_is_drawn_that_the_table_does_not_hold(self) -> None:
        table = self.table()
        table.block(Problem("16x16x16"), [Contestant("weft", "auto")], 3)
        for group in (runtime, phases, exchange, direction, scaling, libraries, roofline):
            self.assertEqual(self.draw(group, table), [], group.__name__)
        self.assertEqual(names_of(self.draw(accuracy, table)), ["error-double"])

    def test_legends_stand_below_the_axes(self) -> None:
        (picture,) = self.draw(runtime, self.strategies())
        figure = picture.figure
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        legend = figure.legends[0].get_window_extent()
        for ax in figure.axes:
            self.assertFalse(legend.overlaps(ax.get_tightbbox(canvas.get_renderer())))
        self.assertGreaterEqual(legend.y0, 0)
        self.assertLessEqual(legend.x1, figure.bbox.x1)


class Groups(FigureCase):
    def test_runtime_has_a_line_for_each_strategy_and_variant_in_both_directions(self) -> None:
        table = self.strategies()
        for way in ("forward", "inverse"):
            table.block(Problem("32x32x32", direction=way), [Contestant("fftw")], 5)
        (picture,) = self.draw(runtime, table)
        self.assertEqual(picture.name, "runtime-r2c-double-2ranks")
        wanted = {f"{strategy} {variant}" for strategy in STRATEGIES for variant in ("default", "realigned")}
        self.assertEqual(len(picture.figure.axes), 4)
        for place, ax in enumerate(picture.figure.axes):
            lines = lines_of(ax)
            self.assertEqual(set(lines), wanted | ({"one process"} if place < 2 else set()))
            self.assertTrue(all(len(lines[name].get_xdata()) == len(SHAPES) for name in wanted))
        below = lines_of(picture.figure.axes[2])
        self.assertTrue(np.allclose(below["slab-2d1d default"].get_ydata(), 1))
        self.assertTrue(np.allclose(below["slab-1d2d default"].get_ydata(), 1.4, atol=0.05))
        labels = [text.get_text() for text in picture.figure.axes[2].get_xticklabels()]
        self.assertIn("16²×32", labels)
        self.assertIn("slab-2d1d default is fastest", picture.caption)

    def test_phases_are_stacked_bars_that_end_at_the_whole(self) -> None:
        (picture,) = self.draw(phases, self.strategies())
        for ax in picture.figure.axes:
            bars = {str(container.get_label()): container for container in ax.containers}
            self.assertEqual(set(bars), {"fft", "pack", "exchange", "unpack", "local", "other"})
            self.assertTrue(all(len(container) == 12 for container in bars.values()))
            ends = [bar.get_x() + bar.get_width() for bar in bars["other"]]
            self.assertTrue(np.allclose(ends, 100, atol=0.01), ends)
            marks = [line for line in ax.get_lines() if line.get_marker() in "<>"]
            self.assertEqual(len(marks), 2)
        self.assertIn("32³", picture.figure._suptitle.get_text())

    def test_exchange_methods_have_a_line_each_and_an_interval_at_each_size(self) -> None:
        table = self.table()
        for shape in SHAPES:
            for variant in ("default", "realigned"):
                contestants = [
                    Contestant("weft", f"slab-2d1d:{variant}:{e}", 1 + 0.2 * n) for n, e in enumerate(EXCHANGES)
                ]
                contestants += [
                    Contestant("weft", f"pencil:2x2:{variant}:{e}", 2) for e in [*EXCHANGES, "p2p-sync+a2a-type"]
                ]
                table.block(Problem(shape, ranks=4), contestants, 6)
        (picture,) = self.draw(exchange, table)
        titles = [ax.get_title(loc="left") for ax in picture.figure.axes]
        self.assertEqual(
            titles, ["slab-2d1d default", "slab-2d1d realigned", "pencil 2×2 default", "pencil 2×2 realigned"]
        )
        for ax, title in zip(picture.figure.axes, titles):
            lines = lines_of(ax)
            self.assertEqual(set(lines), set(EXCHANGES[1:]) | ({"p2p-sync+a2a-type"} if "pencil" in title else set()))
            self.assertEqual(sum(len(bars.get_segments()) for bars in ax.collections), len(lines) * len(SHAPES))
        for n, method in enumerate(EXCHANGES[1:], 1):
            values = lines_of(picture.figure.axes[0])[method].get_ydata()
            self.assertTrue(np.allclose(values, 1 + 0.2 * n, rtol=0.05), (method, values))

    def test_exchange_methods_over_ranks_need_three_numbers_of_ranks(self) -> None:
        table = self.table()
        for ranks in (2, 4, 8):
            contestants = [Contestant("weft", f"slab-2d1d:default:{method}") for method in EXCHANGES]
            table.block(Problem("32x32x32", ranks=ranks), contestants, 5)
        names = names_of(self.draw(exchange, table))
        self.assertIn("exchange-r2c-double-forward-ranks", names)
        self.assertEqual(len(names), 4)

    def test_forward_and_inverse_are_compared_in_one_configuration(self) -> None:
        (picture,) = self.draw(direction, self.strategies())
        left, right = picture.figure.axes
        self.assertEqual(set(lines_of(left)), {f"{s} {v}" for s in STRATEGIES for v in ("default", "realigned")})
        self.assertEqual(set(lines_of(right)), {f"{s} {d}" for s in STRATEGIES for d in ("forward", "inverse")})
        open_marks = {name for ax in (left, right) for name, line in lines_of(ax).items() if is_open(line)}
        self.assertEqual(open_marks, {f"{s} realigned" for s in STRATEGIES})
        values = lines_of(right)["slab-2d1d forward"].get_ydata()
        self.assertTrue(np.allclose(values, 1.2, rtol=0.05), values)

    def test_lines_below_others_are_wider_and_labels_of_ranks_have_place(self) -> None:
        table = self.table()
        for ranks in (1, 2, 3, 4, 5, 6, 7, 8, 64):
            slabs = [Contestant("weft", f"{s}:default:p2p-sync") for s in ("slab-2d1d", "slab-1d2d", "slab-y-zx")]
            table.block(Problem("32x32x32", ranks=ranks), slabs, 5)
        (picture,) = self.draw(scaling, table)
        for ax in picture.figure.axes:
            lines = [line for line in ax.get_lines() if str(line.get_label()).startswith("weft")]
            widths = [line.get_linewidth() for line in lines]
            self.assertEqual(widths, sorted(widths, reverse=True))
            self.assertGreater(len(set(widths)), 1)
        labels = [label for label in picture.figure.axes[-1].get_xticklabels() if label.get_text()]
        self.assertEqual([label.get_text() for label in labels][-1], "64")
        boxes = sorted((box.x0, box.x1) for box in (label.get_window_extent() for label in labels))
        for (_, end), (begin, _) in zip(boxes, boxes[1:]):
            self.assertLess(end, begin)

    def test_scaling_has_the_ideal_line(self) -> None:
        table = self.table()
        for ranks in (1, 2, 4):
            contestants = [Contestant("weft", "slab-2d1d:default:p2p-sync"), Contestant("fftw-mpi", "transposed", 2)]
            table.block(Problem("16x16x16", ranks=ranks), contestants, 5)
        (picture,) = self.draw(scaling, table, run={"machine": {"cores": 2}})
        upper = lines_of(picture.figure.axes[0])
        self.assertEqual(set(upper), {"weft slab-2d1d default", "fftw-mpi transposed", "ideal"})
        self.assertEqual(list(upper["ideal"].get_ydata()), [1, 2, 4])
        self.assertIn("more ranks than the 2 cores", picture.caption)

    def test_libraries_have_a_panel_for_each_sweep(self) -> None:
        table = self.table()
        sizes = (256, 1024, 4096)
        sweeps = [Problem(str(n)) for n in sizes]
        sweeps += [Problem(str(n), batch=65536 // n) for n in (*sizes, 65536)]
        sweeps += [Problem(str(n), batch=8, layout="strided") for n in sizes]
        sweeps += [Problem("64x64"), Problem("16x16x16"), Problem("16x16x16", ranks=2)]
        for problem in sweeps:
            peer = Contestant("fftw-mpi", "natural", 2) if problem.ranks > 1 else Contestant("fftw", "-", 2)
            weft = Contestant("weft", "slab-2d1d:default:p2p-sync" if problem.ranks > 1 else "auto")
            table.block(problem, [weft, peer], 5)
        absolute, ratios = self.draw(libraries, table)
        names = ("libraries-r2c-double-forward", "libraries-relative-r2c-double-forward")
        self.assertEqual((absolute.name, ratios.name), names)
        panels = {ax.get_title(loc="left"): ax for ax in absolute.figure.axes if ax.axison}
        self.assertEqual(
            {title: {len(line.get_xdata()) for line in lines_of(ax).values()} for title, ax in panels.items()},
            {"1-D": {4}, "1-D, batches of 2¹⁶ points": {4}, "1-D, batched, strided": {3}, "2-D": {1},
             "3-D, 1 rank": {1}, "3-D, 2 ranks": {1}},
        )  # fmt: skip
        self.assertEqual(
            {title for title, ax in panels.items() if ax.get_xlabel()}, {t for t in panels if t[:2] == "1-"}
        )
        for upper, lower in zip(absolute.figure.axes, ratios.figure.axes):
            self.assertEqual(len(lines_of(upper)), 2)
            (line,) = lines_of(lower).values()
            self.assertAlmostEqual(line.get_ydata()[0], 0.5, delta=0.02)
        self.assertAlmostEqual(lines_of(panels["1-D"])["weft"].get_ydata()[0], 2, delta=0.5)  # what Contestant says

    def test_batches_of_one_shape_are_drawn_over_their_number(self) -> None:
        table = self.table()
        for n, batches in ((92, (1, 10, 1000)), (1024, (20, 800))):
            for batch in batches:
                table.block(Problem(str(n), batch=batch), [Contestant("weft", "auto"), Contestant("fftw", "-", 2)], 5)
        for picture in self.draw(libraries, table):
            panels = {ax.get_title(loc="left"): ax for ax in picture.figure.axes if ax.axison}
            self.assertEqual(set(panels), {"1-D, batches of 92", "1-D, batched"})
            for line in lines_of(panels["1-D, batches of 92"]).values():
                self.assertEqual(list(line.get_xdata()), [1, 10, 1000])
            self.assertEqual(panels["1-D, batches of 92"].get_xlabel(), "transforms in a batch")
            self.assertEqual(panels["1-D, batched"].get_xlabel(), "points of a line")

    def test_logarithmic_axes_have_enough_ticks(self) -> None:
        for low, high in ((0.85, 1.1), (0.85, 4.1), (0.02, 30), (1e-5, 3e4)):
            ax = matplotlib.figure.Figure().subplots()
            log_axis(ax, [low, high], "times")
            below, above = ax.get_ylim()
            shown = [tick for tick in ax.get_yticks() if below <= tick <= above]
            self.assertTrue(2 <= len(shown) <= 12, (low, high, shown))
        self.assertGreaterEqual(len(shown), 4)

    def test_the_roofline_has_both_ceilings_and_a_point_for_each_result(self) -> None:
        table = self.table()
        for shape in SHAPES:
            table.block(Problem(shape), [Contestant("weft", "auto"), Contestant("fftw", "-", 2)], 5)
        (picture,) = self.draw(roofline, table, ceilings=CEILINGS)
        lines = lines_of(picture.figure.axes[0])
        self.assertEqual(set(lines), {"memory ceiling", "compute ceiling", "weft 3-D", "fftw 3-D"})
        x, y = lines["memory ceiling"].get_data()
        self.assertTrue(np.allclose(y / x, 50))
        self.assertTrue(np.allclose(lines["compute ceiling"].get_ydata(), 100))
        self.assertEqual(len(lines["weft 3-D"].get_xdata()), len(SHAPES))

    def test_wrong_results_are_crossed_out_among_the_errors_and_missing_elsewhere(self) -> None:
        table = self.strategies(directions=("forward",))
        wrong = Contestant("weft", "slab-2d1d:default:a2a-type", 0.01, error=1e3)
        table.block(Problem("16x16x16", ranks=2), [wrong, Contestant("weft", "slab-2d1d:default:a2a-sync")], 5)
        error, *_ = self.draw(accuracy, table)
        lines = lines_of(error.figure.axes[0])
        self.assertEqual(list(lines["wrong"].get_xdata()), [4096])
        self.assertEqual(len(lines["u √log2 N"].get_xdata()), 60)
        self.assertIn("1 WRONG", error.caption)
        (picture,) = self.draw(runtime, table)
        fastest = lines_of(picture.figure.axes[0])["slab-2d1d default"].get_ydata()[0]
        self.assertGreater(fastest, 1e3 * 0.5 * Problem("16x16x16").flops / 2e9 / 2)

    def test_memory_is_drawn_over_the_size_of_input_and_output(self) -> None:
        table = self.table()
        for shape in ("64x64x64", "64x64x128"):
            table.block(Problem(shape), [Contestant("fftw")], 3)
        picture = self.draw(accuracy, table)[-1]
        (line,) = lines_of(picture.figure.axes[0]).values()
        self.assertEqual(picture.name, "memory")
        self.assertTrue(np.allclose(line.get_ydata(), 1.02, atol=0.02))


if __name__ == "__main__":
    unittest.main()
