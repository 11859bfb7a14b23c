"""Two runs beside each other: for every cell in both, how much longer the second took, and whether that can be chance.

The runs are independent, so a ratio's interval is Welch's on the log times; p values carry Holm's correction over all
cells. What drifted between the runs hits all libraries alike: where the same peer ran beside a cell in both runs, the
ratio of ratios (cell over peer, in the second run over the first) is free of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from weft.plot.relative import Effect, Ratio, holm, independent, mean_effect, ratio_of
from weft.plot.statistics import CONFIDENCE, t_factor
from weft.plot.study import Study, contestant_name, plural, problem_name
from weft.plot.table import InputError, Results

# What defines a cell. The second list is added as far as it takes to tell the cells of one run apart.
KEYS = "shape kind precision direction ranks library config layout batch threads engine device".split()
MORE_KEYS = "effort aware grid strategy variant exchange1 exchange2".split()
FASTER, SLOWER, SAME, FEW = "faster", "slower", "no significant difference", "too few samples"


@dataclass(frozen=True)
class Summary:
    """The geometric mean of ratios B/A of a group of cells; its interval takes the cells as the samples."""

    what: str
    cells: int
    mean: float
    low: float
    high: float


@dataclass
class Comparison:
    """`cells`: a row for each cell in both runs; `only`: for each run, the cells that the other lacks."""

    names: tuple[str, str]
    cells: pd.DataFrame
    only: tuple[pd.DataFrame, pd.DataFrame]
    summaries: list[Summary]
    wrong: tuple[int, int]


def compare(first: Results, second: Results) -> Comparison:
    """Joins two runs by what defines a cell."""
    studies = Study(first), Study(second)
    keys = _sufficient_keys(studies)
    tables = [study.cells.drop_duplicates(keys).set_index(keys, drop=False) for study in studies]
    shared = tables[0].index.intersection(tables[1].index, sort=False)
    if not len(shared):
        raise InputError(f"{first.name} and {second.name} have no cell in common; compare runs of the same job")
    pairs = list(zip(tables[0].loc[shared].to_dict("records"), tables[1].loc[shared].to_dict("records")))
    ratios = [independent(studies[1].runs.logs(b["cell"]), studies[0].runs.logs(a["cell"])) for a, b in pairs]
    cells = _table(pairs, ratios)
    _add_peers(cells, studies)
    only = tuple(_named(table.loc[table.index.difference(shared, sort=False)]) for table in tables)
    names = (first.name, second.name) if first.name != second.name else (f"{first.name} (A)", f"{second.name} (B)")
    wrong = len(studies[0].wrong_cells), len(studies[1].wrong_cells)
    return Comparison(names, cells, (only[0], only[1]), _summaries(cells), wrong)


def _sufficient_keys(studies: Iterable[Study]) -> list[str]:
    keys = list(KEYS)
    tables = [study.cells for study in studies]
    for name in MORE_KEYS:
        if any(table.duplicated(keys).any() for table in tables):
            keys.append(name)
    return keys


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """Cells with their names in words."""
    rows = [row for _, row in table.reset_index(drop=True).iterrows()]
    return pd.DataFrame(
        {
            "problem": [problem_name(row) for row in rows],
            "ranks": [row["ranks"] for row in rows],
            "contestant": [contestant_name(row, row["threads"] > 1) for row in rows],
            "median": [row["median"] for row in rows],
        }
    )


def verdicts(ratios: Sequence[Ratio], corrected: np.ndarray) -> list[str]:
    """What can be said of each ratio after correction."""
    found = []
    for ratio, p in zip(ratios, corrected):
        significant = p < 1 - CONFIDENCE
        found.append(FEW if not math.isfinite(p) else SAME if not significant else FASTER if ratio.mean < 1 else SLOWER)
    return found


def _ratio_columns(ratios: Sequence[Ratio], prefix: str) -> dict[str, object]:
    corrected = holm(np.array([ratio.p for ratio in ratios]))
    return {
        f"{prefix}ratio": [ratio.median for ratio in ratios],
        f"{prefix}mean": [ratio.mean for ratio in ratios],
        f"{prefix}low": [ratio.low for ratio in ratios],
        f"{prefix}high": [ratio.high for ratio in ratios],
        f"{prefix}p": [ratio.p for ratio in ratios],
        f"{prefix}p_holm": corrected,
        f"{prefix}verdict": verdicts(ratios, corrected),
    }


def _table(pairs: list[tuple[dict, dict]], ratios: list[Ratio]) -> pd.DataFrame:
    table = _named(pd.DataFrame([b for _, b in pairs])).drop(columns="median")
    for name in ("library", "cell"):
        table[f"{name}_a"], table[f"{name}_b"] = [a[name] for a, _ in pairs], [b[name] for _, b in pairs]
    table["median_a"], table["median_b"] = [a["median"] for a, _ in pairs], [b["median"] for _, b in pairs]
    return table.assign(**_ratio_columns(ratios, ""))


# Peers: what hit both runs alike


def _add_peers(cells: pd.DataFrame, studies: tuple[Study, Study]) -> None:
    """For cells of weft with a peer in the same block in both runs: the ratio of ratios, by the peer that gives the
    narrowest interval."""
    partners = dict(zip(cells["cell_a"], cells["cell_b"]))
    names = dict(zip(cells["cell_a"], cells["contestant"]))
    peers = set(cells.loc[cells["library_a"] != "weft", "cell_a"])
    found: dict[int, tuple[str, Ratio]] = {}
    for place, a, b in zip(cells.index, cells["cell_a"], cells["cell_b"]):
        if cells["library_a"][place] != "weft":
            continue
        best: tuple[str, Ratio] | None = None
        for peer in studies[0].runs.beside(a) & peers:
            ratio = _ratio_of_ratios(studies, (a, b), (peer, partners[peer]))
            if ratio and (best is None or ratio.high / ratio.low < best[1].high / best[1].low):
                best = names[peer], ratio
        if best:
            found[place] = best
    if not found:
        return
    columns = _ratio_columns([ratio for _, ratio in found.values()], "peer_")
    for name, values in {"peer": [name for name, _ in found.values()], **columns}.items():
        cells[name] = pd.Series(values, index=list(found), dtype=object if name in ("peer", "peer_verdict") else float)


def _ratio_of_ratios(studies: tuple[Study, Study], cell: tuple[str, str], peer: tuple[str, str]) -> Ratio | None:
    logs = [study.runs.paired_logs(c, p) for study, c, p in zip(studies, cell, peer)]
    if min(len(log) for log in logs) < 2:
        return None
    effect: Effect = mean_effect(logs[1]).minus(mean_effect(logs[0]))
    median = math.exp(float(np.median(logs[1]) - np.median(logs[0])))
    return ratio_of(effect, median, min(map(len, logs)), "paired in both runs")


# Summary


def geometric_mean(what: str, ratios: pd.Series) -> Summary:
    logs = np.log(ratios.to_numpy(dtype=float))
    mean, count = float(np.mean(logs)), len(logs)
    half = float(t_factor(count)) * float(np.std(logs, ddof=1)) / math.sqrt(count) if count > 1 else math.nan
    return Summary(what, count, math.exp(mean), math.exp(mean - half), math.exp(mean + half))


def _summaries(cells: pd.DataFrame) -> list[Summary]:
    found = [geometric_mean("all cells", cells["mean"])]
    libraries = sorted(cells["library_b"].unique(), key=lambda name: (name != "weft", name))
    if len(libraries) > 1:
        found += [geometric_mean(name, cells.loc[cells["library_b"] == name, "mean"]) for name in libraries]
    if "peer_mean" in cells and cells["peer_mean"].notna().any():
        found.append(geometric_mean("weft relative to a peer in both runs", cells["peer_mean"].dropna()))
    return found


def sentence(comparison: Comparison) -> str:
    """The outcome in one sentence."""
    counts = comparison.cells["verdict"].value_counts()
    a, b = comparison.names
    return (
        f"Of {plural(len(comparison.cells), 'cell')} in both runs, {b} is significantly slower than {a} in "
        f"{counts.get(SLOWER, 0)}, faster in {counts.get(FASTER, 0)}, neither in {counts.get(SAME, 0)}"
        + (f", and {counts[FEW]} have too few samples" if FEW in counts else "")
        + "."
    )
