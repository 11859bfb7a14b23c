"""How a comparison of two runs is shown: Markdown, HTML and a picture."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from weft.plot import page
from weft.plot.compare import FASTER, FEW, SAME, SLOWER, Comparison, sentence
from weft.plot.figures.picture import Picture
from weft.plot.figures.style import BLUE, GREY, MUTED, RULES, VERMILION, finish, handle, make_axes
from weft.plot.listing import Column, Listing, count_column, digits, markdown, number_column, text_column, time_column
from weft.plot.study import plural

COLOURS = {SLOWER: VERMILION, FASTER: BLUE, SAME: GREY, FEW: "#c9cdd3"}
MARKS = {SLOWER: "^", FASTER: "v", SAME: "o", FEW: "o"}
WORDS = {SLOWER: "B is slower", FASTER: "B is faster"}
MOST_NAMES = 48
METHOD = (
    "Ratios are B/A of the medians; from and to bound the ratio of the geometric means with 99 % confidence (Welch's t "
    "on the log times of the slowest ranks; the runs are independent). p carries Holm's correction over all cells; a "
    "difference is significant where p < 0.01. Two runs on one machine may differ by drift, which hits all libraries "
    "alike: where a peer ran beside weft in both runs, the ratio of weft to that peer, B over A, is free of it."
)


def p_column(key: str, heading: str) -> Column:
    return Column(key, heading, lambda p: "< 1e-6" if p < 1e-6 else digits(p, 2), True)


def listings(comparison: Comparison) -> list[Listing]:
    """Summary, cells (largest change first), and what only one run holds."""
    a, b = comparison.names
    summary = Listing(
        "Geometric means of B/A",
        [
            text_column("what", "cells"),
            count_column("cells", "number"),
            number_column("mean", "B/A", count=4),
            number_column("low", "from", count=4),
            number_column("high", "to", count=4),
        ],
        pd.DataFrame([vars(row) for row in comparison.summaries]),
        "From and to: 99 % interval over the cells.",
    )
    found = [summary, _cells_listing(comparison)]
    for name, only in zip((a, b), comparison.only):
        if len(only):
            columns = [text_column("problem", "problem"), count_column("ranks", "ranks")]
            columns += [text_column("contestant", "contestant"), time_column("median", "median, ms")]
            found.append(Listing(f"Only in {name}", columns, only))
    return found


def _cells_listing(comparison: Comparison) -> Listing:
    cells = comparison.cells
    order = np.abs(np.log(cells["ratio"])).sort_values(ascending=False).index
    columns = [
        text_column("problem", "problem"),
        count_column("ranks", "ranks"),
        text_column("contestant", "contestant"),
        time_column("median_a", "A, ms"),
        time_column("median_b", "B, ms"),
        number_column("ratio", "B/A", count=4),
        number_column("low", "from", count=4),
        number_column("high", "to", count=4),
        p_column("p_holm", "p"),
        text_column("verdict", "B"),
    ]
    if "peer" in cells:
        columns += [
            text_column("peer", "beside"),
            number_column("peer_ratio", "B/A relative to it", count=4),
            number_column("peer_low", "from", count=4),
            number_column("peer_high", "to", count=4),
            text_column("peer_verdict", "relative to it, B"),
        ]
    return Listing("Cells in both runs", columns, cells.loc[order])


def _notes(comparison: Comparison) -> list[str]:
    notes = [sentence(comparison)]
    for name, count in zip(comparison.names, comparison.wrong):
        if count:
            notes.append(f"{name} holds {plural(count, 'WRONG cell')}, left out here.")
    return notes


def markdown_text(comparison: Comparison) -> str:
    a, b = comparison.names
    parts = [f"# {b} (B) compared with {a} (A)\n", "\n\n".join(_notes(comparison)) + "\n"]
    parts += [markdown(listing) for listing in listings(comparison)]
    return "\n".join([*parts, METHOD])


def picture(comparison: Comparison) -> Picture:
    """Every cell's ratio with its interval, sorted; beside it, where peers ran, the ratio relative to a peer."""
    cells = comparison.cells.sort_values("ratio").reset_index(drop=True)
    sides = [""] + (["peer_"] if "peer" in cells else [])
    named = len(cells) <= MOST_NAMES
    a, b = comparison.names
    with matplotlib.rc_context(RULES):
        height = max(2.2, 0.24 * len(cells) + 0.9) if named else 5.5
        figure, grid = make_axes(1, len(sides), 10 if named or len(sides) > 1 else 8, height, sharey=True)
        for ax, side in zip(grid[0], sides):
            _ratios(ax, cells, side, 3.0 if named else 1.0)
            ax.set_xlabel("time B / time A" if side == "" else "the same, relative to a peer in both runs")
        first = grid[0][0]
        first.set_ylim(-0.7, len(cells) - 0.3)
        if named:
            labels = [f"{row.problem}, {plural(row.ranks, 'rank')}: {row.contestant}" for row in cells.itertuples()]
            first.set_yticks(range(len(cells)), labels, fontsize=8)
        else:
            first.set_yticks([])
            first.set_ylabel(f"{len(cells)} cells, sorted by their ratio")
        present = [verdict for verdict in COLOURS if any((cells[f"{side}verdict"] == verdict).any() for side in sides)]
        entries = [handle(WORDS.get(verdict, verdict), COLOURS[verdict], MARKS[verdict], "") for verdict in present]
        finish(figure, f"{b} (B) over {a} (A)", entries)
    caption = f"Ratio of medians; bars are 99 % intervals. {sentence(comparison)}"
    return Picture("compare", f"{b} over {a}", caption, f"Ratios of times of all cells. {sentence(comparison)}", figure)


def _ratios(ax: Axes, cells: pd.DataFrame, side: str, width: float) -> None:
    for verdict, part in cells.groupby(f"{side}verdict", sort=False):
        colour = COLOURS[str(verdict)]
        bounded = part[np.isfinite(part[f"{side}low"])]
        low, high = bounded[f"{side}low"], bounded[f"{side}high"]
        ax.hlines(bounded.index, low, high, color=colour, linewidth=width, alpha=0.45)
        size = 5.5 if width > 1 else 2
        ax.plot(part[f"{side}ratio"], part.index, MARKS[str(verdict)], color=colour, markersize=size, label=verdict)
    ax.axvline(1, color=MUTED, linewidth=1, zorder=1.5)
    ax.grid(axis="y", visible=False)
    bounds = cells[[f"{side}low", f"{side}high"]].to_numpy(dtype=float)
    _ratio_axis(ax, cells[f"{side}ratio"].to_numpy(dtype=float), bounds)


def _ratio_axis(ax: Axes, ratios: np.ndarray, bounds: np.ndarray) -> None:
    """As far as the ratios reach, and a little: the intervals of few samples may be a thousand times wider. Logarithmic,
    but for ratios near 1."""
    seen = np.r_[ratios[np.isfinite(ratios)], 1.0]
    reach = 1.5 * max(seen.max() / seen.min(), 1.02) ** 0.5
    far = np.clip(bounds[np.isfinite(bounds)], seen.min() / reach, seen.max() * reach)
    low, high = min([seen.min(), *far]), max([seen.max(), *far])
    pad = (high / low) ** 0.05
    ax.set_xlim(low / pad, high * pad)
    if high / low <= 3.5:
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        return
    ax.set_xscale("log")
    subs = (1, 2, 5) if high / low < 1e2 else (1,)
    ax.xaxis.set_major_locator(LogLocator(base=10, subs=subs, numticks=8))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))


def html_text(comparison: Comparison, drawn: Picture) -> str:
    a, b = comparison.names
    slower = (comparison.cells["verdict"] == SLOWER).any()
    banners = [page.banner("warn" if slower else "good", _notes(comparison)[0])]
    banners += [page.banner("bad", note) for note in _notes(comparison)[1:]]
    sections = {"Picture": page.picture_html(drawn)}
    sections |= {listing.heading: page.table_of_section(listing.heading, listing) for listing in listings(comparison)}
    sections["Method"] = f"<p>{page.escape(METHOD)}</p>"
    return page.document(f"{b} (B) compared with {a} (A)", "", "", banners, sections)


def write(comparison: Comparison, folder: Path, formats: tuple[str, ...]) -> list[Path]:
    """compare.md, compare.html and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = picture(comparison)
    files = [folder / "compare.md", folder / "compare.html"]
    files[0].write_text(markdown_text(comparison) + "\n", encoding="utf-8")
    files[1].write_text(html_text(comparison, drawn), encoding="utf-8")
    return files + drawn.save(folder, formats)
