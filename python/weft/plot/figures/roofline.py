"""A roofline: operations per second over arithmetic intensity, under the memory and compute ceilings."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from weft.plot.ceilings import machine_compute, machine_memory
from weft.plot.figures.picture import Picture
from weft.plot.figures.style import INK, MARKS, MUTED, PAPER, finish, handle, library_colours, make_axes
from weft.plot.provenance import largest_cache
from weft.plot.standings import lines_of
from weft.plot.study import Study
from weft.plot.workload import shape_label


def draw(study: Study) -> list[Picture]:
    """One picture for each precision and device whose ceilings are known."""
    cells = study.cells[study.cells["flops"] > 0]
    pictures = []
    for (precision, device), part in cells.groupby(["precision", "device"]):
        nodes = int(part["nodes"].max())
        host = device in ("host", "simulated")
        memory = machine_memory(study.results.ceilings, device, int(part["ranks"].max()), nodes)
        compute = machine_compute(study.results.ceilings, precision, nodes) if host else np.nan
        if np.isfinite(memory):
            words, slug = f"{precision}, {device}", f"roofline-{precision}" + ("" if host else f"-{device}")
            part = part.assign(intensity=part["flops"] / part["least_bytes"])
            pictures.append(_picture(part, memory, compute, largest_cache(study.results.run), (words, slug)))
    return pictures


def _picture(cells: pd.DataFrame, memory: float, compute: float, cache: int, names: tuple[str, str]) -> Picture:
    words, slug = names
    lines = lines_of(cells)
    lines = lines.loc[lines.groupby(["library", "shape", "kind", "direction", "batch", "layout"])["median"].idxmin()]
    colours = library_colours(lines["library"])
    figure, grid = make_axes(1, 1, 8.5, 4.6)
    ax = grid[0][0]
    low = 2 ** np.floor(np.log2(lines["intensity"].min()) - 0.5)
    high = 2 ** np.ceil(np.log2(lines["intensity"].max()) + 0.5)
    top = memory * high / 1e9
    if np.isfinite(compute):
        high = max(high, compute / memory * 2)
        top = compute / 1e9
    _roof(ax, memory, compute, low, high)
    for library, part in lines.groupby("library", sort=True):
        for axes, group in part.groupby("axes"):
            ax.plot(
                group["intensity"],
                group["gflops"],
                linestyle="",
                marker=MARKS[int(axes) - 1],
                markerfacecolor=colours[str(library)],
                markeredgecolor=PAPER,
                markeredgewidth=0.6,
                markersize=7.5,
                alpha=0.9,
                label=f"{library} {axes}-D",
                zorder=3,
            )
    bottom = min(lines["gflops"].min(), memory * low / 1e9)
    _axes(ax, low, high, bottom / 1.5, top * 1.6)
    handles = [
        handle(name, colours[name], "o", "")
        for name in sorted(lines["library"].unique(), key=lambda n: (n != "weft", n))
    ]
    handles += [handle(f"{axes}-D", MUTED, MARKS[int(axes) - 1], "") for axes in sorted(lines["axes"].unique())]
    finish(figure, f"Roofline: {words}", handles)
    share = lines["gflops"] * 1e9 / (lines["intensity"] * memory)
    beyond = lines[lines["array_bytes"] > 2 * cache] if (lines["array_bytes"] > 2 * cache).any() else lines
    weft = beyond[beyond["library"] == "weft"]
    best = lines.loc[share[weft.index if len(weft) else beyond.index].idxmax()]
    seen = (
        f"{best['library']} comes nearest to the memory ceiling at {shape_label(best['shape'])} {best['kind']} "
        f"{best['direction']}, {share[best.name] * 100:.0f} % of it."
    )
    caption = (
        "5 N log2 N operations over the bytes of the least trips through memory: one for 1-D, two for 2-D and 3-D, "
        "each reading and writing the array once. The sloped line is the memory bandwidth measured with all cores, the "
        "level one the peak of arithmetic. Each library in its fastest configuration, on whatever number of ranks and "
        f"threads was fastest. Arrays that fit into the cache may rise above the slope. {seen}"
    )
    return Picture(slug, f"Roofline: {words}", caption, f"Scatter chart of GFLOP/s over intensity. {seen}", figure)


def _roof(ax: Axes, memory: float, compute: float, low: float, high: float) -> None:
    knee = compute / memory if np.isfinite(compute) else high
    x = np.array([low, min(knee, high)])
    ax.plot(x, x * memory / 1e9, color=INK, linewidth=1.6, label="memory ceiling")
    middle = np.sqrt(x[0] * x[1])
    ax.annotate(
        f"memory {memory / 1e9:.3g} GB/s",
        (middle, middle * memory / 1e9),
        (-6, 6),
        textcoords="offset points",
        ha="right",
        fontsize=9,
    )
    if np.isfinite(compute):
        ax.plot([knee, high], [compute / 1e9] * 2, color=INK, linewidth=1.6, label="compute ceiling")
        ax.annotate(
            f"arithmetic {compute / 1e9:.3g} GFLOP/s",
            (high, compute / 1e9),
            (-2, 5),
            textcoords="offset points",
            ha="right",
            fontsize=9,
        )


def _axes(ax: Axes, low: float, high: float, bottom: float, top: float) -> None:
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_xlim(low, high)
    ax.set_ylim(bottom, top)
    ticks = 2.0 ** np.arange(np.ceil(np.log2(low)), np.floor(np.log2(high)) + 1)
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}" if x >= 1 else f"1/{1 / x:g}"))
    heights = 2.0 ** np.arange(np.ceil(np.log2(bottom)), np.floor(np.log2(top)) + 1)
    ax.yaxis.set_major_locator(FixedLocator(heights[:: max(1, len(heights) // 9)]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(NullLocator())
    ax.set_xlabel("operations per byte of the least trips")
    ax.set_ylabel("GFLOP/s")
