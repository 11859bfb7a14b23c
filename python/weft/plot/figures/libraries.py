"""Libraries beside each other: GFLOP/s over size, and weft's time over each peer's; a panel for each sweep."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from weft.plot.figures.picture import Picture
from weft.plot.figures.style import (
    MARKS,
    PAPER,
    count_axis,
    finish,
    handle,
    interval_bars,
    library_colours,
    make_axes,
    ratio_axis,
    shape_axis,
    times,
)
from weft.plot.standings import lines_of, peer_ratios
from weft.plot.study import Context, Study, contexts, plural
from weft.plot.workload import power_of_two, shape_label

BY = ["kind", "precision", "direction", "device"]
Look = tuple[str, str, object, bool]


def draw(study: Study) -> list[Picture]:
    """For each kind, precision and direction: absolute and relative speed, where libraries were compared."""
    if study.cells["library"].nunique() < 2:
        return []
    cells = study.cells
    ratios = peer_ratios(study)
    pictures = []
    for context in contexts(cells, cells, BY):
        if context.cells["library"].nunique() < 2:
            continue
        pictures.append(_speeds(context))
        if len(ratios):
            same = (ratios[["kind", "precision", "direction"]] == context.cells.iloc[0][BY[:3]]).all(axis=1)
            same &= ratios["device"] == context.cells.iloc[0]["device"]
            if same.any():
                pictures.append(_ratios(context, ratios[same]))
    return pictures


SEVERAL = 3  # numbers of transforms of one shape, from which on they are a sweep of their own


def sweeps(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame, str]]:
    """The panels, and the column that each is drawn over: cells that agree in axes, layout and ranks, single transforms
    and batches apart. Sizes whose batches have as many points in all belong together, a single transform of so many
    among them; several batches of one shape are drawn over their number of transforms."""
    panels: list[tuple[str, pd.DataFrame, str]] = []
    for (axes, layout, ranks), part in table.groupby(["axes", "layout", "ranks"], sort=True):
        words = [f"{axes}-D"]
        after = (["strided"] if layout == "strided" else []) + ([plural(int(ranks), "rank")] if axes == 3 else [])
        everything = part["points"] * part["batch"]
        batched = part["batch"] > 1
        constant = [
            (total, group)
            for total, group in part.groupby(everything)
            if (group["batch"] > 1).any() and group["points"].nunique() > 1
        ]
        taken = np.isin(everything, [total for total, _ in constant])
        counts = part[~taken].groupby("shape", observed=True)["batch"].nunique()
        counted = part["shape"].isin(counts[counts >= SEVERAL].index) & ~taken
        for shape, group in part[counted].groupby("shape", observed=True):
            panels.append((", ".join([*words, f"batches of {shape_label(str(shape))}", *after]), group, "batch"))
        part, everything, taken, batched = part[~counted], everything[~counted], taken[~counted], batched[~counted]
        single = part[~batched]
        if len(single) and (single["points"].nunique() > 1 or not taken[~batched].all()):
            panels.append((", ".join(words + after), single, "points"))
        for total, group in constant:
            label = power_of_two(int(total).bit_length() - 1) if total & (total - 1) == 0 else str(total)
            panels.append((", ".join([*words, f"batches of {label} points", *after]), group, "points"))
        if (batched & ~taken).any():
            panels.append((", ".join([*words, "batched", *after]), part[batched & ~taken], "points"))
    return panels


def _grid(panels: int, shared: bool = False) -> tuple[Figure, list[Axes], float]:
    """Axes for so many panels, two in a row, and the width of one in inches."""
    columns = min(panels, 2)
    rows = math.ceil(panels / columns)
    figure, grid = make_axes(rows, columns, 10 if columns > 1 else 7, 2.9 if rows > 1 else 3.5, sharey=shared)
    axes = list(grid.flat)
    for ax in axes[panels:]:
        ax.set_axis_off()
    return figure, axes[:panels], 4.2 if columns > 1 else 6.0


def looks(lines: pd.DataFrame) -> dict[str, Look]:
    """For each line: the library's colour; its configurations differ in mark and dash."""
    colours = library_colours(lines["library"])
    found: dict[str, Look] = {}
    for library, group in lines.groupby("library", sort=True):
        for place, name in enumerate(sorted(group["line"].unique())):
            dash = ("-", (0, (4, 2)), (0, (1, 1)), (0, (4, 1, 1, 1)))[place % 4]
            mark = "o" if library == "weft" else MARKS[1 + (len(found) + place) % (len(MARKS) - 1)]
            found[name] = (colours[str(library)], mark, dash, place % 2 == 1)
    return dict(sorted(found.items(), key=lambda item: (not item[0].startswith("weft"), item[0])))


def _plot(ax: Axes, x: pd.Series, y: pd.Series, look: Look, name: str, width: float = 1.6) -> None:
    colour, marker, dash, hollow = look
    face = PAPER if hollow else colour
    ax.plot(x, y, color=colour, marker=marker, linestyle=dash, markerfacecolor=face, linewidth=width, label=name)


def _size_axis(ax: Axes, part: pd.DataFrame, over: str, inches: float) -> None:
    if over == "batch":
        count_axis(ax, part["batch"].astype(int), "transforms in a batch")
    else:
        shape_axis(ax, part["shape"], inches)


def _speeds(context: Context) -> Picture:
    lines = lines_of(context.cells)
    style = looks(lines)
    panels = sweeps(lines)
    figure, axes, inches = _grid(len(panels))
    for ax, (name, part, over) in zip(axes, panels):
        for line in style:
            points = part[part["line"] == line].sort_values(over).drop_duplicates(over)
            if len(points):
                _plot(ax, points[over], points["gflops"], style[line], line, 2.4 if line == "weft" else 1.6)
        ax.set_ylim(0, part["gflops"].max() * 1.08)
        ax.set_ylabel("GFLOP/s")
        ax.set_title(name)
        _size_axis(ax, part, over, inches)
    title = f"Speed of libraries: {context.words}"
    finish(figure, title, [handle(name, *style[name]) for name in style])
    seen = " ".join(_fastest(name, part) for name, part, _ in panels)
    caption = (
        "5 N log2 N operations (half of them for real data) over the median time of the slowest rank; weft in its "
        f"fastest configuration. Higher is faster. {seen}"
    )
    return Picture(f"libraries-{context.slug}", title, caption, f"Line charts of GFLOP/s over size. {seen}", figure)


def _fastest(name: str, part: pd.DataFrame) -> str:
    best = part.loc[part["gflops"].idxmax()]
    return f"{name}: at best {best['gflops']:.3g} GFLOP/s, {best['line']} at {shape_label(best['shape'])}."


def _ratios(context: Context, ratios: pd.DataFrame) -> Picture:
    ratios = ratios.assign(library=[peer.split()[0] for peer in ratios["peer"]])
    ratios["line"] = ratios["peer"] + ["" if n == 1 else f", weft {n} threads" for n in ratios["threads"]]
    style = looks(ratios)
    panels = sweeps(ratios)
    figure, axes, inches = _grid(len(panels))
    for ax, (name, part, over) in zip(axes, panels):
        for line in style:
            points = part[part["line"] == line].sort_values(over).drop_duplicates(over)
            if len(points):
                _plot(ax, points[over], points["ratio"], style[line], line)
                interval_bars(ax, points[over], points["ratio_low"], points["ratio_high"], style[line][0])
        bounds = part[["ratio_low", "ratio_high"]].to_numpy().ravel()
        ratio_axis(ax, part["ratio"], bounds, "time of weft / peer")
        ax.set_title(name)
        _size_axis(ax, part, over, inches)
    title = f"weft relative to other libraries: {context.words}"
    finish(figure, title, [handle(name, *style[name]) for name in style])
    seen = " ".join(_means(line, part) for line, part in ratios.groupby("line", sort=True))
    caption = (
        "Time of weft's fastest configuration over each peer's, median of paired iterations; bars are its 99 % intervals"
        f". Below 1: weft is faster. Geometric means (range): {seen}"
    )
    alt = f"Line charts of the time of weft over that of each peer. Geometric means (range): {seen}"
    return Picture(f"libraries-relative-{context.slug}", title, caption, alt, figure)


def _means(line: object, part: pd.DataFrame) -> str:
    mean = float(np.exp(np.log(part["ratio"]).mean()))
    return f"{line}: {times(part['ratio'].min(), mean, part['ratio'].max())}, {plural(len(part), 'problem')}."
