"""Who is fastest, by how much, and how weft stands beside each peer."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from weft.plot.relative import Ratio
from weft.plot.study import PROBLEM, Study, contestant_name, fastest, problem_name

# Cells that compete: the same problem with the same resources.
ARENA = [*PROBLEM, "threads", "device", "natural"]


def best_configurations(study: Study) -> pd.DataFrame:
    """For each problem and number of ranks: weft's fastest configuration, and the fastest of all libraries."""
    if study.cells.empty:
        return pd.DataFrame()
    order = ["axes", "kind", "precision", "direction", "batch", "layout", "points", "shape", "ranks"]
    rows = []
    for _, group in study.cells.sort_values([*order, "median"]).groupby([*order], sort=False):
        weft = group[group["library"] == "weft"]
        first = group.iloc[0]
        cell = weft.iloc[0] if len(weft) else first
        lead = study.relative(first["cell"], cell["cell"]) if first["cell"] != cell["cell"] else None
        rows.append(
            {
                "problem": problem_name(cell),
                "ranks": cell["ranks"],
                "configuration": contestant_name(cell, varies(group, "threads")),
                **{name: cell[name] for name in ("median", "median_low", "median_high", "minimum", "gflops")},
                "memory_share": cell["memory_share"],
                "array_bytes": cell["array_bytes"],
                "network_share": cell["network_share"],
                "among": len(weft) if len(weft) else len(group),
                "faster": "" if lead is None else contestant_name(first, varies(group, "threads")),
                "faster_ratio": math.nan if lead is None else lead.median,
            }
        )
    return pd.DataFrame(rows)


def varies(cells: pd.DataFrame, column: str) -> bool:
    return cells[column].nunique() > 1


def peer_ratios(study: Study) -> pd.DataFrame:
    """weft over each peer that ran in the same blocks: its fastest configuration, of those in natural order where the
    peer brings its result back to that order and weft was asked to as well."""
    rows = []
    weft = study.cells["library"] == "weft"
    homes = study.summary.groupby("cell")["block"].agg(set).to_dict()
    peers = study.cells[~weft]
    threaded = {name for name, cells in peers.groupby("library") if varies(cells, "threads")}
    order = ["kind", "precision", "direction", "batch", "layout", "points", "shape", "ranks", "threads", "device"]
    for _, group in study.cells[weft].groupby(order, sort=True):
        blocks = set().union(*(homes[cell] for cell in group["cell"]))
        beside = peers[[bool(homes[cell] & blocks) for cell in peers["cell"]] if len(peers) else slice(0)]
        for _, peer in beside.sort_values(["library", "config", "threads"]).iterrows():
            cell = _opponent(group, peer)
            ratio = study.relative(cell["cell"], peer["cell"])
            rows.append(_ratio_row(cell, peer, ratio, peer["library"] in threaded))
    return pd.DataFrame(rows)


def _opponent(group: pd.DataFrame, peer: pd.Series) -> pd.Series:
    alike = group[group["natural"] == (peer["config"] == "natural")]
    candidates = alike if len(alike) else group
    return candidates.loc[candidates["median"].idxmin()]


def _ratio_row(cell: pd.Series, peer: pd.Series, ratio: Ratio, threads: bool) -> dict[str, object]:
    columns = (
        "shape",
        "kind",
        "precision",
        "direction",
        "batch",
        "layout",
        "ranks",
        "axes",
        "points",
        "threads",
        "device",
        "natural",
    )
    return {
        **{name: cell[name] for name in columns},
        "problem": problem_name(cell),
        "weft": contestant_name(cell),
        "peer": contestant_name(peer, threads),
        "peer_threads": peer["threads"],
        "weft_median": cell["median"],
        "peer_median": peer["median"],
        "weft_gflops": cell["gflops"],
        "peer_gflops": peer["gflops"],
        "floor": cell["floor"],
        "ratio": ratio.median,
        "ratio_low": ratio.lower,
        "ratio_high": ratio.upper,
        "p": ratio.p,
        "way": ratio.way,
        "verdict": ratio.verdict,
    }


def geometric_means(ratios: pd.DataFrame) -> pd.DataFrame:
    """For each peer, and number of ranks and threads of weft: the geometric mean over problems, and in how many of them
    weft is faster or slower."""
    rows = []
    for (peer, ranks, threads), group in ratios.groupby(["peer", "ranks", "threads"], sort=True):
        logs = np.log(group["ratio"])
        rows.append(
            {
                "peer": peer,
                "ranks": ranks,
                "threads": threads,
                "alike": bool((group["peer_threads"] == threads).all()),
                "problems": len(group),
                "mean": float(np.exp(logs.mean())),
                "least": group["ratio"].min(),
                "most": group["ratio"].max(),
                "faster": int((group["verdict"] == "faster").sum()),
                "slower": int((group["verdict"] == "slower").sum()),
            }
        )
    return pd.DataFrame(rows)


def lines_of(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells that stand for libraries: of each peer every configuration, of weft the fastest (in its own and in
    natural order). The column `line` names them."""
    weft = fastest(cells[cells["library"] == "weft"], ARENA)
    lines = pd.concat([weft, cells[cells["library"] != "weft"]])
    several = {name for name, group in cells.groupby("library") if varies(group, "threads")}
    names = []
    for _, cell in lines.iterrows():
        name = "weft" + (" natural" if cell["natural"] else "") if cell["library"] == "weft" else contestant_name(cell)
        names.append(
            name + (f", {cell['threads']} threads" if cell["library"] in several and cell["threads"] > 1 else "")
        )
    return lines.assign(line=names)
