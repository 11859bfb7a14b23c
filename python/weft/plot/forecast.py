"""What `weft plot SWEEP.csv` draws of `weft plan --sweep`: predicted times of each decomposition over ranks, sizes, or a
field of the machine."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from weft.plot.figures.picture import Picture
from weft.plot.figures.style import (
    GREY,
    MUTED,
    RULES,
    STRATEGY,
    STRATEGY_MARK,
    by_strategy,
    count_axis,
    finish,
    handle,
    log_axis,
    make_axes,
    milliseconds,
    shape_axis,
)
from weft.plot.table import InputError
from weft.plot.workload import points, shape_label

COLUMNS = ("swept", "value", "shape", "kind", "precision", "ranks", "decomposition", "exchange", "seconds")


def is_forecast(file: Path) -> bool:
    """Whether a table is that of a sweep, by its first line."""
    try:
        with file.open(encoding="utf-8") as stream:
            return stream.readline().startswith("swept,")
    except (OSError, UnicodeDecodeError):
        return False


def load(file: Path) -> list[dict[str, str]]:
    """The rows; refuses what is no sweep."""
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        _check(rows)
    except (KeyError, TypeError, ValueError, csv.Error, UnicodeDecodeError):
        raise InputError(f"{file}: it is not what weft plan --sweep prints") from None
    return rows


def _check(rows: list[dict[str, str]]) -> None:
    if not rows or len({(row["swept"], row["kind"], row["precision"]) for row in rows}) != 1:
        raise ValueError
    for row in rows:
        if not (float(row["seconds"]) > 0 and float(row["value"]) > 0 and int(row["ranks"]) > 0):
            raise ValueError
        if None in row or any(row[name] is None for name in COLUMNS) or points(row["shape"]) < 1:
            raise ValueError


def compose(rows: list[dict[str, str]]) -> Picture:
    """Time over what is swept, a line for each decomposition; over ranks, what of the time is left above the ideal."""
    with matplotlib.rc_context(RULES):
        return _picture(rows)


def _picture(rows: list[dict[str, str]]) -> Picture:
    swept = rows[0]["swept"]
    names = sorted({row["decomposition"] for row in rows}, key=by_strategy)
    figure, grid = make_axes(1, 1, 8.5, 4.6)
    ax = grid[0][0]
    position = _position(swept)
    for name in names:
        line = [row for row in rows if row["decomposition"] == name]
        x, y = [position(row) for row in line], [float(row["seconds"]) * 1e3 for row in line]
        wide = 1 + 0.7 * (len(names) - 1 - names.index(name))  # lines below others are to be seen
        look = {"color": STRATEGY.get(name, GREY), "marker": STRATEGY_MARK.get(name, "o")}
        ax.plot(x, y, linewidth=1.2 * wide, markersize=3.5 + 2 * wide, label=name, **look)
    handles = [handle(name, STRATEGY.get(name, GREY), STRATEGY_MARK.get(name, "o")) for name in names]
    shown = [float(row["seconds"]) * 1e3 for row in rows]
    if swept == "ranks":
        handles.append(handle("ideal", MUTED, "", ":"))
        shown += _ideal(ax, rows)
    _label_axis(ax, swept, rows)
    log_axis(ax, shown, "predicted time, ms")
    title = f"Predicted: {_words(rows)}"
    finish(figure, title, handles)
    seen = _crossovers(rows)
    return Picture("forecast", title, f"Times that the planner predicts. {seen}", f"Lines over {swept}. {seen}", figure)


def _position(swept: str) -> Callable[[dict[str, str]], float]:
    if swept == "size":
        return lambda row: float(points(row["shape"]))
    return lambda row: float(row["value"])


def _ideal(ax: Axes, rows: list[dict[str, str]]) -> list[float]:
    """A line of as many times less as there are ranks more, from the fastest on the fewest."""
    ranks = sorted({int(row["ranks"]) for row in rows})
    first = min(float(row["seconds"]) for row in rows if int(row["ranks"]) == ranks[0]) * 1e3
    times = [first * ranks[0] / r for r in ranks]
    ax.plot(ranks, times, color=MUTED, linestyle=":", linewidth=1.4, zorder=1.6)
    return times


def _label_axis(ax: Axes, swept: str, rows: list[dict[str, str]]) -> None:
    if swept == "ranks":
        count_axis(ax, [int(row["ranks"]) for row in rows], "ranks")
    elif swept == "size":
        shape_axis(ax, [row["shape"] for row in rows], 7)
    else:
        ax.set_xscale("log")
        ax.set_xlabel(swept)


def _words(rows: list[dict[str, str]]) -> str:
    """What all rows have in common."""
    first = rows[0]
    words = [first["kind"], first["precision"]]
    if len({row["shape"] for row in rows}) == 1:
        words.append(shape_label(first["shape"]))
    if len({row["ranks"] for row in rows}) == 1:
        words[-1] += ","
        words.append(f"{first['ranks']} rank{'s' if first['ranks'] != '1' else ''}")
    return f"{' '.join(words)}, over {rows[0]['swept'] + ('s' if rows[0]['swept'] == 'size' else '')}"


def _crossovers(rows: list[dict[str, str]]) -> str:
    """From where on which decomposition is the fastest."""
    parts: list[str] = []
    before = None
    for value in dict.fromkeys(row["value"] for row in rows):
        group = [row for row in rows if row["value"] == value]
        best = group[int(np.argmin([float(row["seconds"]) for row in group]))]
        named = [row for row in group if row.get("fastest") == "1"] or [best]
        if named[0]["decomposition"] != before:
            place = shape_label(best["shape"]) if best["swept"] == "size" else value
            parts.append(f"{named[0]['decomposition']} from {place} on ({milliseconds(float(best['seconds']))})")
        before = named[0]["decomposition"]
    return f"Fastest: {', '.join(parts)}."


def write(picture: Picture, folder: Path, formats: tuple[str, ...]) -> list[Path]:
    """forecast.FORMAT for each format; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    return picture.save(folder, formats)
