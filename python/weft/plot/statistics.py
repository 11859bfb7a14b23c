"""Statistics of every cell: times with intervals, operations per second, shares of the machine's ceilings.

The time of an iteration is its slowest rank's total. Intervals are 99 % confidence intervals, of the mean (Student's t)
and of the median (between two of the times in their order, which no single slow run moves).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from weft.plot import ceilings as machine
from weft.plot.table import PHASES
from weft.plot.workload import add_work

CONFIDENCE = 0.99
IDENTITY = (
    "library version device shape kind precision direction ranks grid strategy variant exchange1 exchange2 aware "
    "engine batch layout threads effort config check"
).split()
MARKS = ["first_message", "last_message"]


def t_factor(samples: np.ndarray | int, confidence: float = CONFIDENCE) -> np.ndarray:
    """Student's t for a two-sided interval of the mean of so many samples; NaN below two."""
    freedom = np.asarray(samples, dtype=float) - 1
    return np.where(freedom > 0, special.stdtrit(np.maximum(freedom, 1), 0.5 + confidence / 2), np.nan)


def median_interval(values: np.ndarray, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval of the median of a sample, whatever its distribution: from the k-th least to the k-th largest value,
    with the largest k for which the median lies between them with that confidence (David and Nagaraja, Order
    Statistics, 7.1). NaN where not even the extremes do, as for fewer than 8 values at 99 %."""
    ordered = np.sort(np.asarray(values, dtype=float))
    outside = (1 - confidence) / 2
    # The k-th least value is above the median with the probability of fewer than k of the values below it.
    k = 0
    while special.bdtr(k, len(ordered), 0.5) <= outside:
        k += 1
    return (float(ordered[k - 1]), float(ordered[-k])) if k > 0 else (np.nan, np.nan)


def iterations(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each cell, block and iteration: the slowest rank's total, and each phase's mean and maximum over
    ranks; bytes sent and peak memory of all ranks together."""
    keys = ["cell", "block", "iteration"]
    if (rows["ranks"] == 1).all():  # nothing to reduce, and most of a big table of one process
        table = rows[keys + ["total", "error", "bytes_sent", "memory_peak", *PHASES, *MARKS]].copy()
        for name in PHASES:
            table[f"{name}_max"] = table[name]
        table = table.rename(columns={name: f"{name}_mean" for name in PHASES})
    else:
        groups = rows.groupby(keys, observed=True, sort=False)
        columns = {"total": groups["total"].max(), "error": groups["error"].max()}
        for name in ("bytes_sent", "memory_peak"):
            columns[name] = groups[name].sum(min_count=1)
        for name in PHASES:
            columns[f"{name}_mean"] = groups[name].mean()
            columns[f"{name}_max"] = groups[name].max()
        columns["first_message"], columns["last_message"] = groups["first_message"].min(), groups["last_message"].max()
        table = pd.DataFrame(columns).reset_index()
    return table.sort_values(keys, kind="stable", ignore_index=True)


def describe(
    rows: pd.DataFrame,
    times: pd.DataFrame,
    by: Sequence[str] = ("cell", "block"),
    ceilings: dict[str, Any] | None = None,
) -> pd.DataFrame:
    """One row of statistics for each group of `by`, of the iterations `times` of `rows`."""
    keys = list(by)
    groups = times.groupby(keys, observed=True, sort=False)
    total = groups["total"]
    columns = {
        "iterations": total.count(),
        "mean": total.mean(),
        "median": total.median(),
        "minimum": total.min(),
        "deviation": total.std(),
        "error": groups["error"].max(),
        "bytes_sent": groups["bytes_sent"].mean(),
        "memory_peak": groups["memory_peak"].max(),
    }
    for name in [f"{phase}_{how}" for phase in PHASES for how in ("mean", "max")] + MARKS:
        columns[name] = groups[name].mean()
    table = pd.DataFrame(columns)
    half = t_factor(table["iterations"].to_numpy()) * table["deviation"] / np.sqrt(table["iterations"])
    table["mean_low"], table["mean_high"] = table["mean"] - half, table["mean"] + half
    table["median_low"] = total.agg(lambda values: median_interval(values.to_numpy())[0])
    table["median_high"] = total.agg(lambda values: median_interval(values.to_numpy())[1])
    first = rows.drop_duplicates(keys).set_index(keys)[IDENTITY]
    first["nodes"] = rows[[*keys, "host"]].drop_duplicates().groupby(keys, observed=True).size()
    table = first.join(table, how="inner").reset_index()
    for name in IDENTITY:
        if isinstance(table[name].dtype, pd.CategoricalDtype):
            table[name] = table[name].astype(object).where(table[name].notna(), "")
    table["cell"] = table["cell"].astype(str)
    table["device"] = table["device"].replace("", "host")  # adapters do not tell
    add_work(table)
    table["gflops"] = table["flops"] / table["median"] / 1e9
    return _add_shares(table, ceilings or {})


def _add_shares(table: pd.DataFrame, ceilings: dict[str, Any]) -> pd.DataFrame:
    """The floor (seconds that the least bytes take at the memory ceiling), the shares of that ceiling (the floor over
    the median time) and, during the exchange, of the network's
    (bytes a rank sends on average, over the slowest rank's exchange time)."""
    cases = list(zip(table["ranks"], table["threads"], table["device"], table["nodes"]))
    memory = {case: machine.memory_bandwidth(ceilings, *case) for case in set(cases)}
    network = {case: machine.network_bandwidth(ceilings, case[0]) for case in set(cases)}
    table["floor"] = table["least_bytes"] / np.array([memory[c] for c in cases], dtype=float)
    table["memory_share"] = table["floor"] / table["median"]
    exchange = table["exchange_max"].where(table["exchange_max"] > 0)
    rate = table["bytes_sent"] / table["ranks"] / exchange
    table["network_share"] = rate.where(rate > 0) / np.array([network[c] for c in cases], dtype=float)
    return table


SUMMARY = [
    "cell",
    "block",
    *IDENTITY,
    "iterations",
    "mean",
    "mean_low",
    "mean_high",
    "median",
    "median_low",
    "median_high",
    "minimum",
    "deviation",
    "gflops",
    "floor",
    "memory_share",
    "network_share",
    *[f"{phase}_{how}" for phase in PHASES for how in ("mean", "max")],
    *MARKS,
    "bytes_sent",
    "memory_peak",
    "error",
    "wrong",
]


def write_summary(summary: pd.DataFrame, file: Path) -> None:
    """summary.csv: one line for each cell and block."""
    summary[SUMMARY].to_csv(file, index=False, float_format="%.9g")
