"""Errors over size under the growth that good transforms have, and peak memory over the size of input and output."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from weft.plot.figures.picture import Picture
from weft.plot.figures.style import (
    MARKS,
    MUTED,
    PAPER,
    VERMILION,
    finish,
    handle,
    library_colours,
    make_axes,
    points_axis,
    ratio_axis,
    scientific,
    shape_axis,
)
from weft.plot.standings import lines_of
from weft.plot.study import Study, contestant_name, plural
from weft.plot.workload import UNIT_ROUNDOFF, error_scale, points, shape_label

CHECKS = {"probe": "o", "round-trip": "s", "laplacian": "^", "placement": "D"}
LEAST_BYTES = 1 << 20  # below, pages and tables outweigh the arrays


def draw(study: Study) -> list[Picture]:
    """Error pictures for each precision, and one of memory."""
    pictures = error_pictures(study)
    memory = study.cells[(study.cells["memory_peak"] > 0) & (study.cells["array_bytes"] >= LEAST_BYTES)]
    if len(memory):
        pictures.append(memory_picture(memory))
    return pictures


def error_pictures(study: Study) -> list[Picture]:
    return [_error_picture(study, str(precision), part) for precision, part in _errors(study).groupby("precision")]


def _errors(study: Study) -> pd.DataFrame:
    """Errors of timed cells, right or wrong, and of validation jobs."""
    columns = ["cell", "library", "shape", "precision", "kind", "error", "check"]
    timed = study.summary.groupby("cell", as_index=False).max(numeric_only=True)[["cell", "error"]]
    timed = study.summary.drop_duplicates("cell").drop(columns="error").merge(timed, on="cell").assign(check="probe")
    table = pd.concat([timed[columns], study.validation.reindex(columns=columns)], ignore_index=True)
    table = table[table["error"].notna()]
    return table.assign(points=[points(shape) for shape in table["shape"]])


def _error_picture(study: Study, precision: str, errors: pd.DataFrame) -> Picture:
    colours = library_colours(errors["library"])
    figure, grid = make_axes(1, 1, 8.5, 4.2)
    ax = grid[0][0]
    bad = errors["cell"].isin(study.wrong_cells)
    wrong, right = errors[bad], errors[~bad]
    sizes = np.geomspace(max(errors["points"].min() / 2, 2), errors["points"].max() * 2, 60)
    growth = [error_scale(precision, n) for n in sizes]
    # An error of zero has no place on the axis, and wrong ones would leave none to the others: both stand at its ends.
    least = min(UNIT_ROUNDOFF[precision] / 2, right.loc[right["error"] > 0, "error"].min() / 2)
    top = max(growth[-1], right["error"].max() if len(right) else 0) * (40 if len(wrong) else 4)
    _error_marks(ax, right.assign(error=np.maximum(right["error"], least)), colours)
    ax.plot(sizes, growth, color=MUTED, linestyle="--", label="u √log2 N", zorder=1.6)
    if len(wrong):
        _wrong_marks(ax, wrong, top / 2.5)
    ax.set_yscale("log")
    ax.set_ylim(least / 1.5, top)
    narrow = top / least < 3000
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5) if narrow else (1,), numticks=12))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: scientific(y)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylabel("relative L2 error")
    if errors["shape"].str.count("x").nunique() == 1:
        shape_axis(ax, errors["shape"], 7.3, 0.3)
    else:
        points_axis(ax, errors["points"])
    title = f"Error over size: {precision} precision"
    finish(figure, title, _error_handles(errors, colours, len(wrong)))
    worst = errors.loc[errors["error"].idxmax()]
    bound = error_scale(precision, worst["points"])
    seen = (
        f"Largest error {_short(worst['error'])} ({worst['library']}, {worst['kind']} {shape_label(worst['shape'])}, "
        f"{worst['check']}), {_short(worst['error'] / bound)} times u √log2 N."
    )
    if len(wrong):
        seen = f"{len(wrong)} WRONG: crosses at the upper end, with their errors. " + seen
    unit = f"{UNIT_ROUNDOFF[precision]:.3g}"
    caption = f"Estimated relative L2 error of every cell; the dashed line is u √log2 N, u = {unit}. {seen}"
    return Picture(f"error-{precision}", title, caption, f"Scatter chart of errors. {seen}", figure)


def _error_marks(ax: Axes, errors: pd.DataFrame, colours: dict[str, str]) -> None:
    libraries = sorted(errors["library"].unique(), key=lambda name: (name != "weft", name))
    for (library, check), part in errors.groupby(["library", "check"], sort=True):
        # Libraries stand a little apart, since their errors are much the same.
        apart = 2 ** (0.16 * (libraries.index(library) - (len(libraries) - 1) / 2))
        ax.plot(
            part["points"] * apart,
            part["error"],
            linestyle="",
            marker=CHECKS.get(str(check), "o"),
            markerfacecolor=colours[str(library)],
            markeredgecolor=PAPER,
            markeredgewidth=0.5,
            markersize=6,
            label=f"{library} {check}",
        )


def _wrong_marks(ax: Axes, wrong: pd.DataFrame, height: float) -> None:
    worst = wrong.groupby("points")["error"].max()
    ax.plot(
        worst.index,
        np.full(len(worst), height),
        "x",
        color=VERMILION,
        markersize=11,
        markeredgewidth=2.5,
        label="wrong",
    )
    for count, error in worst.items():
        ax.annotate(_short(error), (count, height), (9, -3.5), textcoords="offset points", fontsize=9, weight="bold")


def _short(value: float) -> str:
    return "not a number" if value > 1e300 else f"{value:.2g}"


def _error_handles(errors: pd.DataFrame, colours: dict[str, str], wrong: int) -> list:
    names = sorted(errors["library"].unique(), key=lambda name: (name != "weft", name))
    handles = [handle(name, colours[name], "o", "") for name in names]
    checks = [check for check in CHECKS if (errors["check"] == check).any()]
    if checks != ["probe"]:
        handles += [handle(check, MUTED, CHECKS[check], "") for check in checks]
    if wrong:
        handles.append(handle("wrong", VERMILION, "x", ""))
    return [*handles, handle("u √log2 N", MUTED, "", "--")]


def memory_picture(cells: pd.DataFrame, base: str = "input + output") -> Picture:
    """Peak memory over array_bytes, which are those of `base`."""
    lines = lines_of(cells).assign(ratio=lambda table: table["memory_peak"] / table["array_bytes"])
    colours = library_colours(lines["library"])
    figure, grid = make_axes(1, 1, 8.5, 3.8)
    ax = grid[0][0]
    order = sorted(lines["line"].unique(), key=lambda name: (not name.startswith("weft"), name))
    libraries = dict(zip(lines["line"], lines["library"]))
    looks = {name: (colours[libraries[name]], MARKS[place % len(MARKS)]) for place, name in enumerate(order)}
    for (name, several), part in lines.groupby(["line", lines["ranks"] > 1]):
        colour, marker = looks[name]
        ax.plot(
            part["array_bytes"],
            part["ratio"],
            linestyle="",
            marker=marker,
            color=colour,
            markerfacecolor=PAPER if several else colour,
            markersize=6.5,
            label=f"{name}, {'several ranks' if several else '1 rank'}",
        )
    _byte_axis(ax, lines["array_bytes"], base)
    ratio_axis(ax, lines["ratio"], (), f"peak memory over {base}")
    handles = [handle(name, *looks[name], "") for name in order]
    if (lines["ranks"] > 1).any():
        handles += [handle("1 rank", MUTED, "o", ""), handle("several ranks", MUTED, "o", "", True)]
    finish(figure, f"Peak memory over {base}", handles)
    big = lines[lines["array_bytes"] == lines["array_bytes"].max()].sort_values("ratio")
    parts = [
        f"{contestant_name(cell)} {cell['ratio']:.2f} ({plural(int(cell['ranks']), 'rank')})"
        for _, cell in big.head(6).iterrows()
    ]
    seen = f"At the largest size: {', '.join(parts)}."
    caption = (
        f"Peak memory of all ranks together: buffers, and what planning and the first run added, over {base}. " + seen
    )
    return Picture("memory", "Peak memory", caption, f"Scatter chart of peak memory. {seen}", figure)


def _byte_axis(ax: Axes, values: pd.Series, label: str) -> None:
    low, high = np.floor(np.log2(values.min()) - 0.2), np.ceil(np.log2(values.max()) + 0.2)
    ax.set_xscale("log", base=2)
    ax.set_xlim(2**low, 2**high)
    step = max(1, int(np.ceil((high - low) / 9)))
    ax.xaxis.set_major_locator(FixedLocator(2.0 ** np.arange(low, high + 1, step)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: byte_label(x)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(label)


def byte_label(count: float) -> str:
    """512 KiB, 4 GiB."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count:.3g} {unit}"
        count /= 1024
    return ""
