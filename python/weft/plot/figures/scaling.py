"""Strong and weak scaling: speed-up with the ideal line, efficiency, a panel for each size."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from weft.plot.figures.picture import Picture
from weft.plot.figures.style import (
    GREY,
    LIBRARY,
    LINES,
    MARKS,
    MUTED,
    PAPER,
    SPARE,
    STRATEGY,
    STRATEGY_MARK,
    by_strategy,
    count_axis,
    finish,
    handle,
    log_axis,
    make_axes,
    milliseconds,
)
from weft.plot.scaling import Scaling, strong, weak
from weft.plot.study import Study
from weft.plot.workload import points

MOST_PANELS = 4


def draw(study: Study) -> list[Picture]:
    """A picture for each kind, precision and direction; the largest sizes, those on most ranks first."""
    cores = study.results.run.get("machine", {})
    cores = cores.get("cores") if isinstance(cores, dict) else None
    pictures = []
    for scalings in (strong(study), weak(study)):
        for words, group in groupby(scalings, key=lambda scaling: scaling.words):
            chosen = sorted(group, key=lambda s: (s.points["ranks"].nunique(), s.points["points"].max()))[-MOST_PANELS:]
            chosen.sort(key=lambda s: (points(s.points.iloc[0]["shape"]), s.label))
            pictures.append(_picture(words, chosen, cores if isinstance(cores, int) else None))
    return pictures


def _picture(words: str, panels: list[Scaling], cores: int | None) -> Picture:
    weak_scaling = panels[0].weak
    names = sorted({name for panel in panels for name in panel.points["line"]}, key=by_strategy)
    looks = _looks(names)
    figure, grid = make_axes(2, len(panels), {1: 6, 2: 9}.get(len(panels), 11), 2.9, sharex="col", sharey="row")
    for column, panel in enumerate(panels):
        _curves(grid[0][column], panel, looks, "efficiency" if weak_scaling else "speedup")
        _curves(grid[1][column], panel, looks, "median")
        grid[0][column].set_title(panel.label)
        for ax in grid[:, column]:
            count_axis(ax, panel.points["ranks"], "ranks" if ax is grid[1][column] else "")
            _mark_cores(ax, panel, cores)
    everything = [value for panel in panels for value in panel.points["median"] * 1e3]
    for column in range(len(panels)):
        log_axis(grid[1][column], everything, "time, ms" if column == 0 else "")
        _gain_axis(grid[0][column], panels, weak_scaling, column == 0)
    handles = [handle(name, *looks[name]) for name in names] + [handle("ideal", MUTED, "", ":")]
    kind = "Weak" if weak_scaling else "Strong"
    finish(figure, f"{kind} scaling: {words}", handles)
    seen = " ".join(_seen(panel) for panel in panels)
    what = (
        "efficiency T(1)/T(P) with as many points on each rank; a transform of P times the points takes a little more "
        "than P times the operations"
        if weak_scaling
        else "speed-up T(1)/T(P)"
    )
    caption = (
        f"Above: {what}. Below: median time of the fastest exchange method of each line. T(1) is the fastest result on "
        "one rank, of any library (or, where nothing ran on one rank, each line starts at its fewest ranks). On one "
        f"rank all strategies of weft are one plan. {seen}"
    )
    if cores is not None and any((panel.points["ranks"] > cores).any() for panel in panels):
        caption += f" Shaded: more ranks than the {cores} cores."
    slug = f"{kind.lower()}-scaling-{words.replace(', ', '-').replace(' ', '')}"
    alt = f"Line charts of {kind.lower()} scaling, {words}. {seen}"
    return Picture(slug, f"{kind} scaling: {words}", caption, alt, figure)


def _looks(names: list[str]) -> dict[str, tuple[str, str, object, bool]]:
    """Colour, mark, line and whether hollow; weft by strategy and variant, peers by library."""
    looks: dict[str, tuple[str, str, object, bool]] = {}
    peers = 0
    for name in names:
        words = name.split()
        if words[0] == "weft":
            strategy, variant = (words + ["", ""])[1:3]
            hollow = variant == "realigned" or "natural" in words
            looks[name] = (
                STRATEGY.get(strategy, GREY),
                STRATEGY_MARK.get(strategy, "o"),
                LINES.get(variant, "-"),
                hollow,
            )
        else:
            colour = LIBRARY.get(words[0], SPARE[peers % len(SPARE)])
            looks[name] = (
                colour,
                MARKS[4 + peers % 5],
                "-" if "natural" not in words else (0, (1, 1)),
                "natural" in words,
            )
            peers += 1
    return looks


def _curves(ax: Axes, panel: Scaling, looks: dict[str, tuple[str, str, object, bool]], column: str) -> None:
    lines = list(panel.points.groupby("line", sort=False))
    for place, (name, line) in enumerate(lines):
        colour, marker, style, hollow = looks[str(name)]
        values = line[column] * (1e3 if column == "median" else 1)
        face = PAPER if hollow else colour
        wide = 1.3 + 0.5 * (len(lines) - 1 - place)  # lines below others are to be seen
        look = {"color": colour, "marker": marker, "linestyle": style, "markerfacecolor": face}
        ax.plot(line["ranks"], values, linewidth=min(wide, 4), markersize=4.5 + min(wide, 4), label=name, **look)
    ranks = np.array(sorted(panel.points["ranks"].unique()), dtype=float)
    if column != "median":
        ideal = ranks if column == "speedup" else np.ones(len(ranks))
        ax.plot(ranks, ideal, color=MUTED, linestyle=":", linewidth=1.4, label="ideal", zorder=1.6)


def _gain_axis(ax: Axes, panels: list[Scaling], weak_scaling: bool, first: bool) -> None:
    if weak_scaling:
        most = max(1.05, max(panel.points["efficiency"].max() for panel in panels) * 1.05)
        ax.set_ylim(0, most)
        ax.set_ylabel("efficiency" if first else "")
        return
    values = np.concatenate([panel.points["speedup"].to_numpy() for panel in panels])
    ranks = np.concatenate([panel.points["ranks"].to_numpy() for panel in panels])
    low, high = min(values.min(), ranks.min()), max(values.max(), ranks.max())
    ax.set_yscale("log", base=2)
    ax.set_ylim(low / 1.15, high * 1.15)
    ticks = 2.0 ** np.arange(np.floor(np.log2(low)), np.ceil(np.log2(high)) + 1)
    if len(ticks) < 5:
        ticks = np.sort(np.r_[ticks, ticks * 1.5])
    ax.yaxis.set_major_locator(FixedLocator(ticks))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylabel("speed-up" if first else "")


def _mark_cores(ax: Axes, panel: Scaling, cores: int | None) -> None:
    if cores is not None and panel.points["ranks"].max() > cores:
        ax.axvspan(cores * 2**0.5, ax.get_xlim()[1], color=GREY, alpha=0.13, linewidth=0, zorder=0.5)


def _seen(panel: Scaling) -> str:
    """The best line at the most ranks."""
    most = panel.points[panel.points["ranks"] == panel.points["ranks"].max()]
    best = most.loc[most["median"].idxmin()]
    return (
        f"{panel.label}: {best['line']} reaches {best['speedup']:.2f} on {best['ranks']} ranks, efficiency "
        f"{best['efficiency'] * 100:.0f} % ({milliseconds(best['median'])})."
    )
