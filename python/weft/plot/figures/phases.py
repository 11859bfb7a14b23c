"""The share of each phase in the runtime: a stacked bar for each strategy, variant and exchange method, at the largest
size. What no phase covers is "other"; phases that overlap may pass 100 %.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from weft.plot.figures.picture import Picture
from weft.plot.figures.style import INK, MUTED, PAPER, PHASE, finish, make_axes, milliseconds
from weft.plot.study import CONTEXT, Context, Study, contexts, exchange_name, explicit, strategy_name
from weft.plot.table import PHASES
from weft.plot.workload import shape_label

MOST_BARS = 32


def draw(study: Study) -> list[Picture]:
    """One picture for each number of ranks, kind and precision in which weft told its phases."""
    weft = explicit(study.weft)
    weft = weft[
        (weft["ranks"] > 1) & weft["fft_mean"].notna() & (weft["batch"] == 1) & (weft["layout"] == "contiguous")
    ]
    by = [name for name in CONTEXT if name != "natural"]
    return [_picture(context) for context in contexts(weft, weft, by)]


def shares(cells: pd.DataFrame) -> pd.DataFrame:
    """The share of each phase (mean over ranks and iterations) in the mean time of the slowest rank, and the rest."""
    parts = pd.DataFrame({name: cells[f"{name}_mean"].fillna(0) / cells["mean"] for name in PHASES})
    parts["other"] = np.maximum(1 - parts.sum(axis=1), 0)
    return parts


def _picture(context: Context) -> Picture:
    cells = context.cells
    shape = cells.loc[cells["points"].idxmax(), "shape"]
    cells = cells[cells["shape"] == shape].copy()
    cells["bar"] = [
        f"{strategy_name(cell)} {cell['variant']} {exchange_name(cell['exchange1'], cell['exchange2'])}"
        + (" natural" if cell["natural"] else "")
        for _, cell in cells.iterrows()
    ]
    cells = cells.sort_values("median").drop_duplicates(["bar", "direction"])
    order = list(cells.groupby("bar")["median"].mean().sort_values().index)
    left_out = len(order) - MOST_BARS
    order = order[:MOST_BARS]
    directions = [name for name in ("forward", "inverse") if (cells["direction"] == name).any()]
    figure, grid = make_axes(
        1, len(directions), 10 if len(directions) > 1 else 8, 0.235 * len(order) + 0.9, sharey=True
    )
    for column, direction in enumerate(directions):
        here = cells[cells["direction"] == direction].set_index("bar").reindex(order)
        _bars(grid[0][column], here)
        grid[0][column].set_title(direction)
    first = grid[0][0]
    first.set_yticks(range(len(order)), order)
    first.set_ylim(len(order) - 0.4, -0.6)
    used = [name for name in PHASE if (shares(cells)[name] > 0.0005).any()]
    handles: list[Patch | Line2D] = [Patch(color=PHASE[name], label=name) for name in used]
    if cells["first_message"].notna().any():
        for marker, label in ((">", "first message sent"), ("<", "last message received")):
            handles.append(Line2D([], [], **_mark(marker), label=label))
    finish(figure, f"Share of each phase: {shape_label(shape)}, {context.words}", handles)
    seen = " ".join(_seen(direction, cells[cells["direction"] == direction]) for direction in directions)
    caption = (
        "Mean over iterations and ranks, as a share of the slowest rank's time, which stands to the right (mean); "
        f"fastest first. Other: what no phase covers, such as waiting for slower ranks. {seen}"
    )
    if left_out > 0:
        caption += f" The {left_out} slowest are left out."
    alt = f"Stacked bars of the share of each phase at {shape_label(shape)}, {context.words}. {seen}"
    return Picture(f"phases-{context.slug}", f"Share of each phase: {context.words}", caption, alt, figure)


def _mark(marker: str) -> dict[str, object]:
    return {"marker": marker, "linestyle": "", "color": INK, "markeredgecolor": PAPER, "markersize": 6}


def _bars(ax: Axes, cells: pd.DataFrame) -> None:
    parts = shares(cells)
    y = np.arange(len(cells))
    start = np.zeros(len(cells))
    for name in PHASE:
        width = parts[name].fillna(0).to_numpy() * 100
        if name in PHASES and not width.any():
            continue
        ax.barh(y, width, left=start, height=0.78, color=PHASE[name], label=name, zorder=2, linewidth=0)
        start += width
    for name, marker in (("first_message", ">"), ("last_message", "<")):
        ax.plot(cells[name] / cells["mean"] * 100, y, zorder=3, clip_on=False, **_mark(marker))
    far = max(100.0, float(np.nanmax(start)))
    ax.set_xlim(0, far)
    for place, mean in enumerate(cells["mean"]):
        if np.isfinite(mean):
            ax.annotate(
                milliseconds(mean),
                (far, place),
                (5, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
                annotation_clip=False,
            )
    if far > 100.5:
        ax.axvline(100, color=MUTED, linewidth=1, zorder=3)
    ax.set_xlabel("share of the time, %")
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def _seen(direction: str, cells: pd.DataFrame) -> str:
    best = cells.loc[cells["median"].idxmin()]
    parts = shares(cells.loc[[best.name]]).iloc[0]
    first, second = parts.sort_values(ascending=False).index[:2]
    return (
        f"{direction.capitalize()}: in the fastest, {best['bar']}, {first} takes {parts[first] * 100:.0f} % and "
        f"{second} {parts[second] * 100:.0f} %."
    )
