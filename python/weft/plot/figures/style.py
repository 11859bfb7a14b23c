"""How all pictures look: colours that colour-blind readers tell apart (Okabe and Ito's, adapted), sizes to be read at
100 dots per inch, axes labelled with shapes, legends below the axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from weft.plot.workload import extents, points, power_of_two, shape_label, ten_to_the

INK, MUTED, GRID, PAPER = "#1d2129", "#5c6573", "#e2e5ea", "#ffffff"
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, SAND, GREY = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#b5599a",
    "#56b4e9",
    "#b9a44c",
    "#8a8f98",
)
RULES = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "figure.titlesize": 12,
    "figure.titleweight": "bold",
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
}
STRATEGY = {"slab-2d1d": BLUE, "slab-1d2d": VERMILION, "slab-y-zx": GREEN, "pencil": PURPLE, "brick": ORANGE}
STRATEGY_MARK = {"slab-2d1d": "o", "slab-1d2d": "s", "slab-y-zx": "^", "pencil": "D", "brick": "v"}
EXCHANGE = {
    "p2p-sync": GREY,
    "p2p-streams": BLUE,
    "p2p-type": SKY,
    "a2a-sync": VERMILION,
    "a2a-type": ORANGE,
    "nccl": GREEN,
    "peer": PURPLE,
}
EXCHANGE_MARK = {
    "p2p-sync": "o",
    "p2p-streams": "s",
    "p2p-type": "^",
    "a2a-sync": "D",
    "a2a-type": "v",
    "nccl": "P",
    "peer": "X",
}
PHASE = {
    "fft": BLUE,
    "pack": ORANGE,
    "exchange": VERMILION,
    "unpack": SAND,
    "copy": PURPLE,
    "local": SKY,
    "other": "#c9cdd3",
}
LIBRARY = {
    "weft": VERMILION,
    "fftw": BLUE,
    "fftw-mpi": SKY,
    "cufft": GREEN,
    "cufftxt": SAND,
    "heffte": PURPLE,
    # weft compare's, beside weft
    "weft-plan": "#f0a08a",
    "weft-fftw": "#7f2a00",
    "numpy": BLUE,
    "scipy": SKY,
    "pyfftw": GREEN,
    "mkl_fft": PURPLE,
    "ducc0": ORANGE,
    "torch": GREY,
    "jax": "#1f4e3d",
    "cupy": "#8a5a44",
    "pyvkfft": SAND,
}
SPARE = [ORANGE, GREY, PURPLE, SAND, GREEN, SKY]
MARKS = ["o", "s", "^", "D", "v", "P", "X", "<", ">"]
LINES = {"default": "-", "realigned": (0, (4, 2))}


def by_strategy(name: str) -> tuple[int, str]:
    """Sorts names such as "slab-2d1d default" or "weft pencil 2×2 realigned" as STRATEGY lists them, peers last."""
    words = name.removeprefix("weft ").split()
    order = list(STRATEGY)
    return (order.index(words[0]) if words and words[0] in order else len(order), name)


def library_colours(libraries: Iterable[str]) -> dict[str, str]:
    """A colour for each library: its own, or the next spare one in the order of names."""
    names = sorted(set(libraries))
    spare = [colour for colour in SPARE if colour not in {LIBRARY[name] for name in names if name in LIBRARY}]
    unknown = [name for name in names if name not in LIBRARY]
    return {**LIBRARY, **{name: spare[i % len(spare)] for i, name in enumerate(unknown)}}


def make_axes(
    rows: int, columns: int, width: float = 10, height: float = 3.1, **options: object
) -> tuple[Figure, np.ndarray]:
    """A figure of rows × columns axes, `height` inches each, laid out without overlaps."""
    figure = Figure(figsize=(width, rows * height + 0.4), dpi=100, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, axes


def finish(figure: Figure, title: str, handles: Sequence[Artist] = ()) -> None:
    """Adds the title, and a legend below the axes for which the figure grows: it never covers data. The figure is laid
    out now and for good, since every file that is written would do it again, and draw it once more for that."""
    figure.suptitle(title, x=0.008, ha="left")
    if handles:
        _legend_below(figure, handles)
    figure.draw_without_rendering()
    figure.set_layout_engine(None)


def _legend_below(figure: Figure, handles: Sequence[Artist]) -> None:
    width, height = figure.get_size_inches()
    longest = max(len(str(entry.get_label())) for entry in handles)
    columns = max(1, min(len(handles), int(width / (0.62 + 0.083 * longest))))
    rows = -(-len(handles) // columns)
    columns = -(-len(handles) // rows)  # as even as can be
    space = 0.215 * rows + 0.12
    figure.set_size_inches(width, height + space)
    share = space / (height + space)
    figure.get_layout_engine().set(rect=(0, share, 1, 1 - share))
    figure.legend(
        handles=list(handles),
        loc="center",
        bbox_to_anchor=(0.5, share / 2),
        ncol=columns,
        columnspacing=1.6,
        handlelength=2.6,
        borderaxespad=0,
        labelspacing=0.35,
    )


def shape_axis(ax: Axes, shapes: Iterable[str], inches: float, room: float = 0) -> None:
    """A log2 axis of points with a tick for every shape, labelled as far as there is place in so many inches, cubes
    first; `room` octaves more at either end. Lengths say that they are points; planes and cubes are known as they are."""
    at: dict[int, str] = {}
    drawn = sorted(set(shapes), key=lambda s: (points(s), s))
    for shape in drawn:
        at.setdefault(points(shape), shape_label(shape))
        if len(set(extents(shape))) == 1:
            at[points(shape)] = shape_label(shape)
    if all(len(extents(shape)) == 1 for shape in drawn):
        ax.set_xlabel("points of a line")
    ticks = sorted(at)
    low, high = np.log2(ticks[0]), np.log2(ticks[-1])
    margin = 0.04 * (high - low) if high > low else 0.5
    low, high = low - margin - room, high + margin + room
    ax.set_xscale("log", base=2)
    ax.set_xlim(2**low, 2**high)
    octave = inches / (high - low)
    crowded = len(ticks) > 1 and min(np.diff(np.log2(ticks))) * octave < 0.11 * max(map(len, at.values()))
    shown: list[int] = []
    for tick in sorted(ticks, key=lambda n: (len(at[n]), n)):
        gap = 0.3 if crowded else 0.1 * len(at[tick])
        if all(abs(np.log2(tick / other)) * octave >= gap for other in shown):
            shown.append(tick)
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: at.get(round(x), "") if round(x) in shown else ""))
    ax.xaxis.set_minor_locator(NullLocator())
    if crowded:
        ax.tick_params(axis="x", rotation=40)
        for text in ax.get_xticklabels():
            text.set_horizontalalignment("right")
            text.set_rotation_mode("anchor")


def labelled(ticks: Sequence[int], octaves: float) -> set[int]:
    """Those of the ticks of an axis of so many octaves that have place for a label, powers of two first."""
    shown: list[int] = []
    for tick in sorted(ticks, key=lambda n: (n & (n - 1) != 0, n)):
        room = 0.014 * octaves * (len(str(tick)) + 1)
        if all(abs(np.log2(tick / other)) >= room for other in shown):
            shown.append(tick)
    return set(shown)


def count_axis(ax: Axes, counts: Iterable[int], label: str, room: float = 0) -> None:
    """A log2 axis of small counts, such as ranks; `room` octaves more at either end."""
    ticks = sorted(set(counts))
    ax.set_xscale("log", base=2)
    margin = 2 ** (0.06 * np.log2(ticks[-1] / ticks[0])) if len(ticks) > 1 else 2**0.5
    margin *= 2**room
    ax.set_xlim(ticks[0] / margin, ticks[-1] * margin)
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    shown = labelled(ticks, np.log2(ticks[-1] / ticks[0]) + 2 * np.log2(margin))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}" if round(x) in shown else ""))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(label)


def points_axis(ax: Axes, counts: Iterable[int]) -> None:
    """A log2 axis of points, for shapes of different numbers of axes."""
    low, high = np.floor(np.log2(min(counts)) - 0.3), np.ceil(np.log2(max(counts)) + 0.3)
    ax.set_xscale("log", base=2)
    ax.set_xlim(2**low, 2**high)
    step = max(1, int(np.ceil((high - low) / 12)))
    ax.xaxis.set_major_locator(FixedLocator(2.0 ** np.arange(low, high + 1, step)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: power_of_two(round(np.log2(x)))))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("points")


def log_axis(ax: Axes, values: Iterable[float], label: str) -> None:
    """A logarithmic y axis with plain numbers, as few in a decade as give four."""
    array = np.array([v for v in values if np.isfinite(v) and v > 0])
    ax.set_yscale("log")
    ax.set_ylabel(label)
    if not len(array):
        return
    low, high = array.min(), array.max()
    pad = max((high / low) ** 0.06, 1.12)
    ax.set_ylim(low / pad, high * pad)
    decades = 10.0 ** np.arange(np.floor(np.log10(low / pad)), np.ceil(np.log10(high * pad)))
    for subs in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
        ticks = np.outer(decades, subs).ravel()
        if ((ticks >= low / pad) & (ticks <= high * pad)).sum() >= 4:
            break
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=subs, numticks=50))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_minor_locator(NullLocator())


def ratio_axis(ax: Axes, ratios: Iterable[float], bounds: Iterable[float], label: str) -> None:
    """An axis of ratios with a line at 1: linear where all are near it, logarithmic where they are not. Intervals that
    reach far beyond all ratios are cut off at its ends."""
    array = np.array([v for v in ratios if np.isfinite(v) and v > 0] + [1.0])
    far = np.array([v for v in bounds if np.isfinite(v) and v > 0])
    reach = 1.5 * max(array.max() / array.min(), 1.02) ** 0.5
    array = np.r_[array, np.clip(far, array.min() / reach, array.max() * reach)]
    ax.axhline(1, color=MUTED, linewidth=1.0, zorder=1.5)
    if array.max() / array.min() > 3.5:
        log_axis(ax, array, label)
        return
    pad = max(0.08 * (array.max() - array.min()), 0.02)
    ax.set_ylim(array.min() - pad, array.max() + pad)
    ax.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.4g}"))
    ax.set_ylabel(label)


def dodge(positions: Iterable[float], lines: int) -> np.ndarray:
    """By what factors lines stand apart on a log axis, so that intervals at one position can be told apart."""
    octaves = np.log2(np.unique(np.asarray(list(positions), dtype=float)))
    nearest = float(np.min(np.diff(octaves))) if len(octaves) > 1 else 1.0
    return 2 ** (0.35 * nearest / max(lines, 6) * (np.arange(lines) - (lines - 1) / 2))


def interval_bars(ax: Axes, x: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str) -> None:
    """99 % intervals as thin bars behind the marks."""
    bounds = np.array([low, high], dtype=float)
    good = np.isfinite(bounds).all(axis=0)
    ax.vlines(np.asarray(x)[good], bounds[0][good], bounds[1][good], color=colour, linewidth=3.2, alpha=0.4, zorder=1.8)


def handle(label: str, colour: str, marker: str = "", line: object = "-", hollow: bool = False) -> Line2D:
    """An entry of a legend."""
    face = PAPER if hollow else colour
    return Line2D([], [], color=colour, marker=marker, linestyle=line, markerfacecolor=face, label=label)


def scientific(value: float) -> str:
    """2·10⁻¹⁶."""
    mantissa, exponent = f"{value:.0e}".split("e")
    power = ten_to_the(int(exponent))
    return power if mantissa == "1" else f"{mantissa}·{power}"


def milliseconds(seconds: float) -> str:
    """A time with three digits and a unit that suits it."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")):
        value = seconds * factor
        if value >= 1 or unit == "ns":
            digits = 0 if value >= 100 else 1 if value >= 10 else 2
            return f"{value:.{digits}f} {unit}"
    return "–"


def times(low: float, median: float, high: float) -> str:
    """A ratio with its interval: 1.31 (1.29 to 1.33)."""
    return f"{median:.3g} ({low:.3g} to {high:.3g})" if np.isfinite(low) else f"{median:.3g}"
