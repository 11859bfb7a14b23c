"""The tables of a report, ready to be shown."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from weft.plot import ceilings
from weft.plot.listing import (
    Column,
    Listing,
    count_column,
    error_column,
    number_column,
    percent_column,
    text_column,
    time_column,
)
from weft.plot.relative import PAIRED
from weft.plot.scaling import scaling_table, strong, weak
from weft.plot.study import Study, contestant_name, plural, problem_name
from weft.plot.table import PHASES, Results
from weft.plot.workload import error_bound, points


def _known(columns: list[Column], rows: pd.DataFrame, optional: set[str]) -> list[Column]:
    """Without the optional columns that have nothing to show."""
    return [c for c in columns if c.key not in optional or (rows[c.key].notna() & (rows[c.key] != "")).any()]


def wrong_listing(study: Study) -> Listing:
    """Every wrong cell: those the journal names, and those whose error in the table is above the bound."""
    rows = []
    named: set[str] = set()
    for entry in study.results.journal.wrong:
        cell = str(entry.get("cell", ""))
        if cell not in named:
            rows.append(
                {
                    "what": str(entry.get("what", cell)),
                    "error": _number(entry.get("error"), math.inf),
                    "bound": _number(entry.get("bound"), math.nan),
                    "cell": cell,
                }
            )
        named.add(cell)
    for _, cell in study.summary[study.summary["wrong"]].drop_duplicates("cell").iterrows():
        if cell["cell"] not in named:
            what = f"{contestant_name(cell)}: {problem_name(cell)}, {plural(int(cell['ranks']), 'rank')}"
            bound = error_bound(cell["precision"], points(cell["shape"]))
            rows.append({"what": what, "error": cell["error"], "bound": bound, "cell": cell["cell"]})
    columns = [
        text_column("what", "what"),
        error_column("error", "relative error"),
        error_column("bound", "bound"),
        text_column("cell", "cell"),
    ]
    return Listing("Wrong results", columns, pd.DataFrame(rows), alarm=True)


def _number(value: Any, otherwise: float) -> float:
    return float(value) if isinstance(value, (int, float)) else otherwise


def failures(study: Study) -> list[Listing]:
    """Cells that failed, and cells that were skipped."""
    journal = study.results.journal
    names = study.results.names
    listings = []
    for entries, heading in (
        (journal.failed, "failed while running"),
        (journal.skipped, "skipped: cannot be run here"),
    ):
        rows = [
            {
                "what": names.get(str(entry.get("cell")), ""),
                "reason": str(entry.get("reason", "")),
                "cell": str(entry.get("cell")),
            }
            for entry in entries
        ]
        if rows:
            table = pd.DataFrame(rows).drop_duplicates("cell", keep="last")
            columns = [text_column("what", "what"), text_column("reason", "reason"), text_column("cell", "cell")]
            title = f"{plural(len(table), 'cell')} {heading}"
            listings.append(Listing(title, _known(columns, table, {"what"}), table))
    return listings


def best_listing(best: pd.DataFrame) -> Listing:
    columns = [
        text_column("problem", "problem"),
        count_column("ranks", "ranks"),
        text_column("configuration", "fastest"),
        time_column("median", "median, ms"),
        time_column("median_low", "from"),
        time_column("median_high", "to"),
        time_column("minimum", "minimum"),
        number_column("gflops", "GFLOP/s"),
        percent_column("memory_share", "of memory ceiling"),
        percent_column("network_share", "of network ceiling"),
        count_column("among", "among"),
        text_column("faster", "faster still"),
        number_column("faster_ratio", "by"),
    ]
    note = (
        "weft's fastest configuration of each problem (of those that ran); the median with its 99 % interval. Where "
        "another library was faster still, the last columns name it and its time over weft's."
    )
    optional = {"memory_share", "network_share", "faster", "faster_ratio"}
    return Listing("Best configurations", _known(columns, best, optional), best, note)


def peer_summary(means: pd.DataFrame) -> Listing:
    columns = [
        text_column("peer", "peer"),
        count_column("ranks", "ranks"),
        count_column("threads", "threads of weft"),
        count_column("problems", "problems"),
        number_column("mean", "mean ratio"),
        number_column("least", "least"),
        number_column("most", "most"),
        count_column("faster", "weft faster"),
        count_column("slower", "weft slower"),
    ]
    return Listing(
        "Over all problems",
        columns,
        means,
        "Time of weft over time of the peer, geometric mean; below 1, weft is faster.",
    )


def peer_listing(ratios: pd.DataFrame) -> Listing:
    columns = [
        text_column("problem", "problem"),
        count_column("ranks", "ranks"),
        text_column("peer", "peer"),
        time_column("peer_median", "peer, ms"),
        number_column("peer_gflops", "GFLOP/s"),
        text_column("weft", "weft"),
        time_column("weft_median", "weft, ms"),
        number_column("weft_gflops", "GFLOP/s"),
        time_column("floor", "floor, ms"),
        number_column("ratio", "weft / peer"),
        number_column("ratio_low", "from"),
        number_column("ratio_high", "to"),
        text_column("verdict", "weft is"),
        text_column("unpaired", "compared"),
    ]
    ratios = ratios.assign(unpaired=ratios["way"].where(ratios["way"] != PAIRED, ""))
    note = (
        "Median ratio of paired iterations; from and to bound it with 99 % confidence. A peer that gives the "
        "result in natural order stands beside weft in natural order where weft ran so, and beside weft's own order "
        "otherwise. The floor is what the least trips through memory would take at the measured bandwidth."
    )
    return Listing("Each problem", _known(columns, ratios, {"floor", "unpaired"}), ratios, note)


def scaling_listings(study: Study) -> list[Listing]:
    columns = [
        text_column("contestant", "contestant"),
        count_column("ranks", "ranks"),
        text_column("shape", "shape"),
        text_column("configuration", "fastest"),
        time_column("median", "median, ms"),
        number_column("speedup", "speed-up"),
        percent_column("efficiency", "efficiency"),
    ]
    return [
        Listing(f"{'Weak' if s.weak else 'Strong'} scaling: {s.label}, {s.words}", columns, scaling_table(s))
        for s in strong(study) + weak(study)
    ]


def validation_listing(study: Study) -> Listing:
    """A row for each problem and test: the worst of all configurations."""
    rows = []
    by = ["library", "kind", "precision", "shape", "batch", "layout", "ranks", "check"]
    for _, group in study.validation.groupby(by, sort=True):
        worst = group.loc[group["error"].fillna(math.inf).idxmax()]
        wrong = sorted(set(group["cell"]) & study.wrong_cells)
        rows.append(
            {
                **worst.to_dict(),
                "problem": problem_name(worst),
                "configurations": group["cell"].nunique(),
                "result": f"{len(wrong)} WRONG" if wrong else "right",
            }
        )
    columns = [
        text_column("library", "library"),
        text_column("problem", "problem"),
        count_column("ranks", "ranks"),
        text_column("check", "test"),
        count_column("configurations", "configurations"),
        error_column("error", "largest relative error"),
        text_column("config", "of"),
        text_column("result", "result"),
    ]
    return Listing("Validation", columns, pd.DataFrame(rows))


def statistics_listing(study: Study) -> Listing:
    """Everything: a row for each cell and block."""
    order = ["axes", "kind", "precision", "direction", "batch", "layout", "points", "ranks", "block", "median"]
    table = study.summary.sort_values(order)
    threads = table["threads"].nunique() > 1
    table = table.assign(
        problem=[problem_name(cell) for _, cell in table.iterrows()],
        contestant=[contestant_name(cell, threads) for _, cell in table.iterrows()],
        result=["WRONG" if wrong else "" for wrong in table["wrong"]],
    )
    columns = [
        text_column("problem", "problem"),
        count_column("ranks", "ranks"),
        text_column("contestant", "contestant"),
        text_column("result", "result"),
        count_column("iterations", "runs"),
        time_column("median", "median, ms"),
        time_column("median_low", "from"),
        time_column("median_high", "to"),
        time_column("mean", "mean"),
        time_column("mean_low", "from"),
        time_column("mean_high", "to"),
        time_column("minimum", "minimum"),
        time_column("deviation", "deviation"),
        number_column("gflops", "GFLOP/s"),
        percent_column("memory_share", "of memory ceiling"),
        percent_column("network_share", "of network ceiling"),
        *[time_column(f"{phase}_mean", phase) for phase in PHASES],
        *[time_column(f"{phase}_max", f"{phase}, slowest") for phase in PHASES],
        number_column("memory_peak", "peak MiB", 1 / (1 << 20)),
        error_column("error", "error"),
        count_column("block", "block"),
    ]
    optional = {"memory_share", "network_share", "memory_peak", "error", "result"}
    optional |= {f"{phase}_{how}" for phase in PHASES for how in ("mean", "max")}
    note = (
        "Milliseconds; from and to bound the median, and the mean, with 99 % confidence; phases as mean over ranks, and of the slowest "
        "rank."
    )
    return Listing("Statistics", _known(columns, table, optional), table, note)


def ceilings_listing(results: Results) -> Listing:
    rows = pd.DataFrame(ceilings.summary(results.ceilings))
    columns = [
        count_column("ranks", "ranks"),
        count_column("threads", "threads each"),
        number_column("copy", "copy, GB/s"),
        number_column("copy_streaming", "streaming copy"),
        number_column("update", "update"),
        number_column("read", "read"),
        number_column("triad", "triad"),
        number_column("double", "double, GFLOP/s"),
        number_column("single", "single"),
        number_column("latency", "latency, µs"),
        number_column("both_ways", "message both ways, GB/s"),
        number_column("alltoall", "all-to-all per rank"),
        number_column("to_device", "host to device"),
        number_column("to_host", "device to host"),
        number_column("device_copy", "device copy"),
    ]
    shown = _known(columns, rows, {c.key for c in columns[2:]}) if len(rows) else columns
    note = "Bytes read and written; memory and arithmetic of all ranks of a node together."
    return Listing("Measured ceilings", shown, rows, note)
