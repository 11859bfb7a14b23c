"""Exchange methods relative to p2p-sync, with 99 % intervals: a panel for each strategy and variant, over sizes; and
over ranks where there are several.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from weft.plot.figures.picture import Picture
from weft.plot.figures.style import (
    EXCHANGE,
    EXCHANGE_MARK,
    GREY,
    by_strategy,
    count_axis,
    dodge,
    finish,
    handle,
    interval_bars,
    make_axes,
    ratio_axis,
    shape_axis,
    times,
)
from weft.plot.study import CONTEXT, Context, Study, contexts, exchange_name, explicit, strategy_name
from weft.plot.workload import shape_label

BASE = "p2p-sync"
MOST_LINES = 9
OVER_RANKS = [name for name in CONTEXT if name != "ranks"]


def draw(study: Study) -> list[Picture]:
    """Pictures over sizes for each number of ranks, and over ranks at the largest size that has more than two."""
    ratios = relative_methods(study)
    if ratios.empty:
        return []
    pictures = []
    for context in contexts(ratios, ratios, [*CONTEXT, "direction"]):
        pictures.append(_picture(context, "points"))
    for context in contexts(ratios, ratios, [*OVER_RANKS, "direction"]):
        counts = context.cells.groupby("shape")["ranks"].nunique()
        wide = context.cells[context.cells["shape"].isin(counts[counts > 2].index)]
        if len(wide):
            largest = _over_grids(wide[wide["shape"] == wide.loc[wide["points"].idxmax(), "shape"]])
            words = f"{context.words}, {shape_label(largest.iloc[0]['shape'])}"
            pictures.append(_picture(Context(words, f"{context.slug}-ranks", largest), "ranks"))
    return pictures


def _over_grids(cells: pd.DataFrame) -> pd.DataFrame:
    """A pencil has another grid on every number of ranks: of several, the one whose p2p-sync is fastest."""
    cells = cells.assign(panel=cells["strategy"] + " " + cells["variant"], sync=cells["median"] / cells["ratio_median"])
    best = cells.groupby(["panel", "ranks"])["sync"].transform("min")
    grids = cells[np.isclose(cells["sync"], best)].drop_duplicates(["panel", "ranks"])[["panel", "ranks", "grid"]]
    return cells.merge(grids, on=["panel", "ranks", "grid"])


def relative_methods(study: Study) -> pd.DataFrame:
    """The cells that differ from a cell with p2p-sync in nothing but the exchange method, with their ratios to it."""
    weft = explicit(study.weft)
    weft = weft[(weft["ranks"] > 1) & (weft["exchange1"] != "") & (weft["axes"] > 1)].copy()
    if weft.empty:
        return weft
    weft["method"] = [exchange_name(a, b) for a, b in zip(weft["exchange1"], weft["exchange2"])]
    weft["panel"] = [f"{strategy_name(cell)} {cell['variant']}" for _, cell in weft.iterrows()]
    keys = ["shape", "direction", "batch", "layout", "panel", *CONTEXT]
    weft = weft.drop_duplicates([*keys, "method"])
    bases = weft[weft["method"] == BASE].set_index(keys)["cell"].rename("base")
    others = weft[weft["method"] != BASE].join(bases, on=keys, how="inner")
    ratios = [study.relative(cell, base) for cell, base in zip(others["cell"], others["base"])]
    for name, of in (("median", "median"), ("low", "lower"), ("high", "upper")):
        others[f"ratio_{name}"] = [getattr(ratio, of) for ratio in ratios]
    return others


def shown_methods(cells: pd.DataFrame) -> list[str]:
    """All methods, or if there are too many lines: the uniform ones, and the fastest mixtures of two."""
    mean = np.log(cells["ratio_median"]).groupby(cells["method"]).mean().sort_values()
    uniform = [name for name in EXCHANGE if name in mean.index]
    mixed = [name for name in mean.index if "+" in name]
    return uniform + mixed[: max(MOST_LINES - len(uniform), 2)]


def _picture(context: Context, over: str) -> Picture:
    cells = context.cells
    methods = shown_methods(cells)
    hidden = cells["method"].nunique() - len(methods)
    panels = sorted(cells["panel"].unique(), key=by_strategy)
    columns = 2 if len(panels) > 1 else 1
    rows = -(-len(panels) // columns)
    figure, grid = make_axes(
        rows, columns, 10 if columns > 1 else 7, 2.55 if rows > 1 else 3.4, sharex=True, sharey=True
    )
    shown = cells[cells["method"].isin(methods)]
    bounds = shown[["ratio_low", "ratio_high"]].to_numpy().ravel()
    apart = dodge(cells[over], len(methods))
    for place, ax in enumerate(grid.flat):
        if place >= len(panels):
            ax.set_axis_off()
            continue
        here = cells[cells["panel"] == panels[place]]
        _panel(ax, here, methods, over, apart)
        ratio_axis(ax, shown["ratio_median"], bounds, f"time / {BASE}" if place % columns == 0 else "")
        ax.set_title(panels[place])
        if over == "points":
            shape_axis(ax, cells["shape"], 4.2 if columns > 1 else 6, float(np.log2(apart[-1])))
        else:
            label = "ranks" if place >= len(panels) - columns else ""
            count_axis(ax, cells["ranks"], label, float(np.log2(apart[-1])))
    if len(panels) < rows * columns:
        grid[-2][-1].tick_params(labelbottom=True)
    handles = [handle(name, *_look(name)) for name in methods]
    finish(figure, f"Exchange methods relative to {BASE}: {context.words}", handles)
    seen = _seen(cells)
    caption = f"Median ratio of paired iterations; bars are its 99 % intervals. Below 1: faster than {BASE}. {seen}"
    if hidden:
        caption += f" {hidden} slower mixtures of two methods are left out."
    alt = f"Line charts of the time of exchange methods relative to {BASE}, {context.words}. {seen}"
    return Picture(f"exchange-{context.slug}", f"Exchange methods: {context.words}", caption, alt, figure)


def _look(method: str) -> tuple[str, str, object]:
    """Colour by the first redistribution's method, mark by the second's; mixtures dashed."""
    first, _, second = method.partition("+")
    return EXCHANGE.get(first, GREY), EXCHANGE_MARK.get(second or first, "o"), (0, (3, 2)) if second else "-"


def _panel(ax: Axes, cells: pd.DataFrame, methods: list[str], over: str, apart: np.ndarray) -> None:
    for place, method in enumerate(methods):
        line = cells[cells["method"] == method].sort_values(over)
        if line.empty:
            continue
        colour, marker, style = _look(method)
        x = line[over] * apart[place]
        ax.plot(x, line["ratio_median"], color=colour, marker=marker, linestyle=style, linewidth=1.2, label=method)
        interval_bars(ax, x.to_numpy(), line["ratio_low"], line["ratio_high"], colour)


def _seen(cells: pd.DataFrame) -> str:
    """How each uniform method does over all panels."""
    parts = []
    for method in [name for name in EXCHANGE if name in set(cells["method"])]:
        line = cells[cells["method"] == method]
        low, high = line["ratio_median"].min(), line["ratio_median"].max()
        mean = float(np.exp(np.log(line["ratio_median"]).mean()))
        parts.append(f"{method} takes {times(low, mean, high)}")
    return "Geometric mean over what is shown (range): " + ", ".join(parts) + "." if parts else ""
