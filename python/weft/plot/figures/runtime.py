"""Total and relative runtime over sizes, a line per strategy and variant, forward and inverse."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from weft.plot.figures.picture import Picture
from weft.plot.figures.style import (
    GREY,
    LINES,
    PAPER,
    STRATEGY,
    STRATEGY_MARK,
    by_strategy,
    dodge,
    finish,
    handle,
    interval_bars,
    log_axis,
    make_axes,
    milliseconds,
    ratio_axis,
    shape_axis,
    times,
)
from weft.plot.study import Context, Study, contexts, explicit, fastest
from weft.plot.workload import shape_label


def draw(study: Study) -> list[Picture]:
    """One picture for each number of ranks, kind and precision with more than one strategy or variant."""
    weft = explicit(study.weft)
    weft = weft[
        (weft["strategy"] != "") & (weft["ranks"] > 1) & (weft["batch"] == 1) & (weft["layout"] == "contiguous")
    ]
    pictures = []
    for axes, cells in weft.groupby("axes"):
        for context in contexts(cells, weft):
            if len(context.cells.groupby(["strategy", "variant"])) > 1:
                pictures.append(_picture(study, context, int(axes)))
    return pictures


def baseline(cells: pd.DataFrame) -> tuple[str, str]:
    """What the others are compared with: slab-2d1d default where it was run, else what was run most."""
    counts = cells.groupby(["strategy", "variant"])["shape"].nunique().sort_values(ascending=False, kind="stable")
    return ("slab-2d1d", "default") if ("slab-2d1d", "default") in counts.index else counts.index[0]


def single_process(study: Study, cells: pd.DataFrame) -> pd.DataFrame:
    """The fastest cell of one rank for each shape and direction of `cells`, by weft or another library; those with as many threads
    as a rank of `cells` has, where there are any."""
    first = cells.iloc[0]
    alone = study.cells[
        (study.cells["ranks"] == 1)
        & study.cells["library"].isin(["weft", "fftw", "fftw-avx512", "mkl", "ducc0", "cufft"])
        & (study.cells["kind"] == first["kind"])
        & (study.cells["precision"] == first["precision"])
        & (study.cells["batch"] == 1)
        & (study.cells["layout"] == "contiguous")
        & study.cells["shape"].isin(cells["shape"])
    ]
    same = alone[alone["threads"] == first["threads"]]
    return fastest(same if len(same) else alone, ["shape", "direction"])


def relative_cells(study: Study, cells: pd.DataFrame, base: tuple[str, str]) -> pd.DataFrame:
    """The cells with their times over those of the baseline at the same shape and direction; NaN without one."""
    same = ["shape", "direction"]
    bases = cells[(cells["strategy"] == base[0]) & (cells["variant"] == base[1])].set_index(same)["cell"].rename("base")
    cells = cells.join(bases, on=same)
    found = [study.relative(c, b) if isinstance(b, str) else None for c, b in zip(cells["cell"], cells["base"])]
    values = {
        f"ratio_{name}": [getattr(r, of, np.nan) for r in found]
        for name, of in (("median", "median"), ("low", "lower"), ("high", "upper"))
    }
    return cells.assign(**values).sort_values("points")


def _picture(study: Study, context: Context, axes: int) -> Picture:
    cells = fastest(context.cells, ["shape", "direction", "strategy", "variant"])
    base = baseline(cells)
    cells = relative_cells(study, cells, base)
    alone = single_process(study, cells)
    directions = [name for name in ("forward", "inverse") if (cells["direction"] == name).any()]
    figure, grid = make_axes(2, len(directions), 10 if len(directions) > 1 else 7, 3.0, sharex="col", sharey="row")
    lines = sorted(set(zip(cells["strategy"], cells["variant"])), key=_order)
    bounds = cells[["ratio_low", "ratio_high"]].to_numpy().ravel()
    for column, direction in enumerate(directions):
        upper, lower = grid[:, column]
        here, lone = cells[cells["direction"] == direction], alone[alone["direction"] == direction]
        _lines(upper, lower, here, lone.sort_values("points"), lines)
        upper.set_title(direction)
        shape_axis(lower, cells["shape"], 4.2 if len(directions) > 1 else 6, 0.2)
        log_axis(upper, 1e3 * pd.concat([cells["median"], alone["median"]]), "" if column else "time, ms")
        ratio_axis(lower, cells["ratio_median"], bounds, "" if column else f"time / {base[0]} {base[1]}")
    handles = [_handle(*line) for line in lines]
    if len(alone):
        name = "one process (" + ", ".join(sorted(set(alone["library"]))) + ")"
        handles.append(handle(name, GREY, ".", ":"))
    words, slug = (
        (context.words, context.slug) if axes == 3 else (f"{context.words}, {axes}-D", f"{context.slug}-{axes}d")
    )
    finish(figure, f"Runtime of strategies and variants: {words}", handles)
    seen = " ".join(_seen(direction, cells[cells["direction"] == direction]) for direction in directions)
    caption = (
        "Above: median time of the slowest rank, fastest grid and exchange method of each strategy and variant. Below: "
        f"its ratio to {base[0]} {base[1]}, median of paired iterations; bars are its 99 % intervals. {seen}"
    )
    alt = f"Line charts of time and relative time over sizes, {words}. {seen}"
    return Picture(f"runtime-{slug}", f"Runtime of strategies and variants: {words}", caption, alt, figure)


def _lines(upper: Axes, lower: Axes, cells: pd.DataFrame, alone: pd.DataFrame, lines: list[tuple[str, str]]) -> None:
    """Total times above, ratios with intervals below."""
    if len(alone):
        upper.plot(alone["points"], alone["median"] * 1e3, color=GREY, linestyle=":", marker=".", label="one process")
    for (strategy, variant), apart in zip(lines, dodge(cells["points"], len(lines))):
        line = cells[(cells["strategy"] == strategy) & (cells["variant"] == variant)]
        style, label = _style(strategy, variant), f"{strategy} {variant}"
        upper.plot(line["points"], line["median"] * 1e3, label=label, **style)
        line = line[line["ratio_median"].notna()]
        lower.plot(line["points"] * apart, line["ratio_median"], label=label, **style)
        interval_bars(lower, line["points"] * apart, line["ratio_low"], line["ratio_high"], str(style["color"]))


def _style(strategy: str, variant: str) -> dict[str, object]:
    colour = STRATEGY.get(strategy, GREY)
    return {
        "color": colour,
        "marker": STRATEGY_MARK.get(strategy, "o"),
        "linestyle": LINES.get(variant, "-"),
        "markerfacecolor": PAPER if variant == "realigned" else colour,
    }


def _order(pair: tuple[str, str]) -> tuple[int, str]:
    return by_strategy(" ".join(pair))


def _handle(strategy: str, variant: str) -> Line2D:
    colour, marker = STRATEGY.get(strategy, GREY), STRATEGY_MARK.get(strategy, "o")
    return handle(f"{strategy} {variant}", colour, marker, LINES.get(variant, "-"), variant == "realigned")


def _seen(direction: str, cells: pd.DataFrame) -> str:
    """What the largest size shows."""
    shape = cells.loc[cells["points"].idxmax(), "shape"]
    at = cells[cells["shape"] == shape].sort_values("median")
    best, worst = at.iloc[0], at.iloc[-1]
    text = (
        f"{direction.capitalize()} at {shape_label(shape)}: {best['strategy']} {best['variant']} is fastest "
        f"({milliseconds(best['median'])})"
    )
    if len(at) > 1:
        text += f", {worst['strategy']} {worst['variant']} slowest ({milliseconds(worst['median'])}"
        ratio = times(worst["ratio_low"], worst["ratio_median"], worst["ratio_high"])
        text += f", {ratio} times the baseline)" if np.isfinite(worst["ratio_median"]) else ")"
    return text + "."
