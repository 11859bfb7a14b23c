"""What `weft plot REPORT.json` draws of a report of `weft homogenize`: how the residual of each load falls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from weft.plot.figures.picture import Picture
from weft.plot.figures.style import (
    BLUE,
    GREEN,
    MUTED,
    ORANGE,
    PURPLE,
    RULES,
    SKY,
    VERMILION,
    finish,
    handle,
    log_axis,
    make_axes,
    scientific,
)
from weft.plot.study import plural
from weft.plot.table import InputError

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)


def load(file: Path) -> dict[str, Any]:
    """The report; refuses what is none."""
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{file}: there is no such file") from None
    except ValueError as error:
        raise InputError(f"{file}: it is not JSON: {error}") from None
    if not isinstance(report, dict) or report.get("command") != "homogenize":
        raise InputError(f"{file}: it is not a report of weft homogenize")
    try:
        _check(report)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{file}: it has no residuals of loads") from None
    return report


def _check(report: dict[str, Any]) -> None:
    """Fails where something that is drawn is missing, or of another type."""
    for one in report["loads"]:
        np.asarray(one["residuals"], dtype=float)
        int(one["iterations"]), bool(one["converged"])
    float(report["tolerance"]), report["solver"], report["discretization"]
    if not report["loads"] or len(report["components"]) not in (3, 6):
        raise ValueError


def compose(report: dict[str, Any]) -> Picture:
    """Residual over iterations, one line for each load."""
    with matplotlib.rc_context(RULES):
        return _picture(report)


def _picture(report: dict[str, Any]) -> Picture:
    loads, tolerance = report["loads"], float(report["tolerance"])
    figure, grid = make_axes(1, 1, 8.5, 4.2)
    ax = grid[0][0]
    shown = [tolerance]
    for number, one in enumerate(loads):
        residuals = np.asarray(one["residuals"], dtype=float)
        residuals[residuals <= 0] = np.nan  # a homogeneous material: nothing is out of equilibrium
        ax.plot(residuals, color=COLOURS[number % len(COLOURS)], label=_name(report, number))
        shown += list(residuals)
    ax.axhline(tolerance, color=MUTED, linestyle="--", linewidth=1, zorder=1.6)
    log_axis(ax, shown, "residual")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: scientific(y)))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(left=0)
    ax.set_xlabel("iterations")
    names = [handle(_name(report, number), COLOURS[number % len(COLOURS)]) for number in range(len(loads))]
    finish(figure, "Convergence of each load", [*names, handle("tolerance", MUTED, "", "--")])
    most = max(int(one["iterations"]) for one in loads)
    ended = sum(bool(one["converged"]) for one in loads)
    seen = f"{ended} of {plural(len(loads), 'load')} converged, the slowest after {plural(most, 'iteration')}."
    caption = (
        f"The share of the stress that is out of equilibrium before each iteration of {report['solver']} "
        f"({report['discretization']}); dashed: the tolerance {scientific(tolerance)}. {seen}"
    )
    alt = f"Lines of residuals over iterations on a logarithmic axis. {seen}"
    return Picture("convergence", "Convergence of each load", caption, alt, figure)


def _name(report: dict[str, Any], number: int) -> str:
    components = report["components"]
    if len(report["loads"]) != len(components):
        return f"load {number + 1}"
    field = "strain" if len(components) == 6 else "gradient"
    return f"load {number + 1}: {field} {components[number]}"


def write(picture: Picture, folder: Path, formats: tuple[str, ...]) -> list[Path]:
    """convergence.FORMAT for each format; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    return picture.save(folder, formats)
