"""Forward against inverse, and default against realigned: the two sides of storing in another order."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from weft.plot.figures.picture import Picture
from weft.plot.figures.style import (
    GREY,
    INK,
    LINES,
    PAPER,
    STRATEGY,
    STRATEGY_MARK,
    by_strategy,
    dodge,
    finish,
    handle,
    interval_bars,
    make_axes,
    ratio_axis,
    shape_axis,
    times,
)
from weft.plot.study import CONTEXT, Context, Study, contexts, explicit, fastest

DOTS = (0, (1, 1.3))
KEYS = ["shape", "batch", "layout", *CONTEXT]


def draw(study: Study) -> list[Picture]:
    """One picture for each number of ranks, kind and precision that ran in both directions."""
    weft = explicit(study.weft)
    weft = weft[(weft["strategy"] != "") & (weft["ranks"] > 1) & (weft["batch"] == 1)]
    if weft.empty:
        return []
    pairs = pd.concat([inverse_over_forward(study, weft), realigned_over_default(study, weft)], ignore_index=True)
    if pairs.empty or not (pairs["of"] == "direction").any():
        return []
    return [_picture(context) for context in contexts(pairs, pairs) if (context.cells["of"] == "direction").any()]


def _with_ratios(study: Study, cells: pd.DataFrame, of: str) -> pd.DataFrame:
    """Cells with a column `base`, and their times over those of that cell."""
    ratios = [study.relative(cell, base) for cell, base in zip(cells["cell"], cells["base"])]
    values = {
        f"ratio_{name}": [getattr(r, of) for r in ratios]
        for name, of in (("median", "median"), ("low", "lower"), ("high", "upper"))
    }
    return cells.assign(of=of, **values)


def inverse_over_forward(study: Study, weft: pd.DataFrame) -> pd.DataFrame:
    """The inverse over the forward transform in the configuration whose forward transform is fastest. They are
    different problems and ran in different blocks, so the intervals are Welch's."""
    same = [*KEYS, "config"]
    forward = fastest(weft[weft["direction"] == "forward"], [*KEYS, "strategy", "variant"])
    bases = forward.drop_duplicates(same).set_index(same)["cell"].rename("base")
    inverse = weft[weft["direction"] == "inverse"].join(bases, on=same, how="inner")
    return _with_ratios(study, inverse, "direction")


def realigned_over_default(study: Study, weft: pd.DataFrame) -> pd.DataFrame:
    """The fastest realigned over the fastest default configuration of a strategy, for each direction."""
    same = [*KEYS, "strategy", "direction"]
    best = fastest(weft, [*same, "variant"])
    bases = best[best["variant"] == "default"].set_index(same)["cell"].rename("base")
    return _with_ratios(study, best[best["variant"] == "realigned"].join(bases, on=same, how="inner"), "variant")


def _picture(context: Context) -> Picture:
    cells = context.cells
    columns = ["direction"] + (["variant"] if (cells["of"] == "variant").any() else [])
    figure, grid = make_axes(1, len(columns), 10 if len(columns) > 1 else 7, 3.4)
    sentences = []
    for ax, of in zip(grid[0], columns):
        here = cells[cells["of"] == of].sort_values("points")
        split = "variant" if of == "direction" else "direction"
        what = "inverse / forward" if of == "direction" else "realigned / default"
        lines = list(here.groupby(["strategy", split]))
        for ((strategy, kind), line), apart in zip(lines, dodge(here["points"], len(lines))):
            _line(ax, strategy, kind, line, apart)
        ratio_axis(ax, here["ratio_median"], here[["ratio_low", "ratio_high"]].to_numpy().ravel(), what)
        ax.set_title("Inverse over forward" if of == "direction" else "Realigned over default")
        shape_axis(ax, here["shape"], 4.1 if len(columns) > 1 else 6, 0.2)
        for kind, part in here.groupby(split):
            mean = float(np.exp(np.log(part["ratio_median"]).mean()))
            sentences.append(f"{what}, {kind}: {times(part['ratio_median'].min(), mean, part['ratio_median'].max())}")
    finish(figure, f"Forward and inverse, default and realigned: {context.words}", _handles(cells, columns))
    seen = "Geometric means (range): " + "; ".join(sentences) + "."
    left, right = ("Left: inverse", "Right: fastest") if len(columns) > 1 else ("Inverse", "")
    caption = (
        f"{left} over forward in one configuration, the one whose forward transform is fastest (independent runs). "
        + (f"{right} realigned over fastest default configuration. " if right else "")
        + f"Medians; bars are 99 % intervals. {seen}"
    )
    alt = f"Line charts of inverse over forward and realigned over default, {context.words}. {seen}"
    return Picture(f"direction-{context.slug}", f"Forward and inverse: {context.words}", caption, alt, figure)


def _handles(cells: pd.DataFrame, columns: list[str]) -> list[Line2D]:
    """Colours for strategies; open marks are realigned plans, on the left, and dots the inverse, on the right."""
    names = sorted(cells["strategy"].unique(), key=by_strategy)
    marks = [handle(name, STRATEGY.get(name, GREY), STRATEGY_MARK.get(name, "o"), "") for name in names]
    both = len(columns) > 1
    kinds = [
        handle("default (left), forward (right)" if both else "default", INK, "o"),
        handle("realigned (left)" if both else "realigned", INK, "o", LINES["realigned"], True),
    ]
    return [*marks, *kinds, *([handle("inverse (right)", INK, "o", DOTS)] if both else [])]


def _dash(kind: str) -> object:
    return {"realigned": LINES["realigned"], "inverse": DOTS}.get(kind, "-")


def _line(ax: Axes, strategy: str, kind: str, line: pd.DataFrame, apart: float) -> None:
    colour = STRATEGY.get(strategy, GREY)
    hollow = kind == "realigned"
    ax.plot(
        line["points"] * apart,
        line["ratio_median"],
        color=colour,
        marker=STRATEGY_MARK.get(strategy, "o"),
        linestyle=_dash(kind),
        markerfacecolor=PAPER if hollow else colour,
        label=f"{strategy} {kind}",
    )
    interval_bars(ax, line["points"] * apart, line["ratio_low"], line["ratio_high"], colour)
