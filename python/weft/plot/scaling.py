"""Strong scaling (one problem on more ranks) and weak scaling (as many points on each rank), from the fastest
configuration of each line.

Speed-up and efficiency are over one start: the fastest cell on one rank, whatever the library; where nothing ran on one
rank, each line's cell on its fewest ranks. With the start on P0 ranks: strong efficiency E = P0 T(P0) / (P T(P)), weak
E = T(P0) / T(P), speed-up S = P E. On one rank all of weft's strategies are one plan, the first point of each of its
lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from weft.plot.study import Study, contestant_name, explicit, fastest
from weft.plot.workload import shape_label

MOST_LINES = 8
CHOICE = ["strategy", "variant", "natural"]  # what a line of weft stands for
ONE_PROCESS = ("fftw", "fftw-avx512", "mkl", "ducc0", "cufft", "cufftxt")  # beside more ranks they do the same again


@dataclass(frozen=True)
class Scaling:
    """One panel of curves: `points` has line, library, ranks, shape, median, speedup, efficiency."""

    weak: bool
    words: str
    label: str  # of the panel: the shape, or the shape on one rank
    points: pd.DataFrame


def strong(study: Study) -> list[Scaling]:
    """One for each problem that ran on more than one number of ranks."""
    return _scalings(study, ["shape"], weak=False)


def weak(study: Study) -> list[Scaling]:
    """One for each number of points per rank that ran on more than one number of ranks."""
    return _scalings(study, ["per_rank", "axes"], weak=True)


def _scalings(study: Study, group: list[str], weak: bool) -> list[Scaling]:
    cells = study.cells[(study.cells["batch"] == 1) & (study.cells["layout"] == "contiguous")].copy()
    if cells.empty:
        return []
    cells["per_rank"] = cells["points"] / cells["ranks"]
    found = []
    for values, part in cells.groupby(["kind", "precision", "direction", "threads", "device", *group], sort=True):
        points = _lines(part, weak)
        if len(points):
            start = points.loc[points["ranks"].idxmin()]
            words = ", ".join([*map(str, values[:3])] + ([f"{values[3]} threads"] if values[3] > 1 else []))
            label = shape_label(start["shape"]) + (f" on {start['ranks']}" if weak else "")
            if weak:
                label = f"{shape_label(start['shape'])} on {start['ranks']} rank" + ("s" if start["ranks"] > 1 else "")
            found.append(Scaling(weak, words, label, points))
    return found


def _lines(cells: pd.DataFrame, weak: bool) -> pd.DataFrame:
    """The points of all lines with more than one number of ranks."""
    weft = cells[cells["library"] == "weft"]
    alone = cells[cells["ranks"] == 1]
    start = None if alone.empty else alone.loc[alone["median"].idxmin()]
    first = fastest(weft[weft["ranks"] == 1], ["ranks"])
    lines: dict[str, pd.DataFrame] = {}
    for (strategy, variant, natural), line in explicit(weft[weft["ranks"] > 1]).groupby(CHOICE):
        name = f"weft {strategy} {variant}" + (" natural" if natural else "")
        lines[name] = pd.concat([first, line])
    peers = cells[(cells["library"] != "weft") & ~cells["library"].isin(ONE_PROCESS)]
    for (library, config), line in peers.groupby(["library", "config"]):
        lines[library if config == "-" else f"{library} {config}"] = line
    points = []
    for name, line in lines.items():
        line = fastest(line, ["ranks"]).sort_values("ranks")
        if line["ranks"].nunique() > 1:
            points.append(_efficiency(line.assign(line=name), line.iloc[0] if start is None else start, weak))
    return _fewer(pd.concat(points, ignore_index=True)) if points else cells.iloc[:0]


def _efficiency(line: pd.DataFrame, start: pd.Series, weak: bool) -> pd.DataFrame:
    gain = start["median"] / line["median"]
    efficiency = gain if weak else gain * start["ranks"] / line["ranks"]
    return line.assign(efficiency=efficiency, speedup=efficiency * line["ranks"])


def _fewer(points: pd.DataFrame) -> pd.DataFrame:
    """The fastest lines at the most ranks, so that a panel stays readable; peers always."""
    at = points.sort_values("ranks").groupby("line")["median"].last().sort_values()
    peers = set(points.loc[points["library"] != "weft", "line"])
    weft = [name for name in at.index if name not in peers]
    keep = peers | set(weft[: max(MOST_LINES - len(peers), 1)])
    return points[points["line"].isin(keep)]


def scaling_table(scaling: Scaling) -> pd.DataFrame:
    """A row per line and number of ranks."""
    points = scaling.points.sort_values(["line", "ranks"])
    return pd.DataFrame(
        {
            "contestant": points["line"],
            "ranks": points["ranks"],
            "shape": [shape_label(shape) for shape in points["shape"]],
            "configuration": [contestant_name(cell) for _, cell in points.iterrows()],
            "median": points["median"],
            "speedup": points["speedup"],
            "efficiency": points["efficiency"],
        }
    )
