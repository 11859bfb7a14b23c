"""What the machine can do at best, from ceilings.json.

Each of its runs was measured by a number of ranks with threads, all at once: memory and compute are rates of a node,
network rates are what leaves a rank. A cell is held against the run that used as many cores; where there is none,
against the most that any run reached, which is the machine's ceiling.
"""

from __future__ import annotations

import math
from typing import Any

TRAFFIC = ("copy", "copy_streaming", "update")  # what reads and writes, as the passes of a transform do


def runs_of(ceilings: dict[str, Any]) -> list[dict[str, Any]]:
    runs = ceilings.get("runs", [])
    return [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []


def number(run: dict[str, Any], *path: str) -> float:
    """A number inside a run; NaN where there is none."""
    value: Any = run
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan


def memory_rate(run: dict[str, Any]) -> float:
    """Bytes read and written per second on a node, in the best of three ways and on whichever pages were faster."""
    rates = [number(run, "memory", *pages, name) for pages in ((), ("ordinary_pages",)) for name in TRAFFIC]
    return best(rates)


def best(values: list[float]) -> float:
    return max((value for value in values if value > 0), default=math.nan)


def _on_as_many_cores(runs: list[dict[str, Any]], cores: float) -> list[dict[str, Any]]:
    same = [
        run for run in runs if number(run, "ranks") * number(run, "threads") / max(number(run, "nodes"), 1) == cores
    ]
    return same or runs


def memory_bandwidth(ceilings: dict[str, Any], ranks: int, threads: int, device: str, nodes: int = 1) -> float:
    """Bytes per second that all ranks of a cell together can read and write; NaN where nobody measured it."""
    runs = runs_of(ceilings)
    if device not in ("host", "simulated", ""):
        return best([number(run, "host_link", "device_copy") for run in runs]) * ranks
    return best([memory_rate(run) for run in _on_as_many_cores(runs, ranks * threads / nodes)]) * nodes


def machine_memory(ceilings: dict[str, Any], device: str, ranks: int = 1, nodes: int = 1) -> float:
    """The most bytes per second that any run read and wrote, on so many nodes or devices."""
    return memory_bandwidth(ceilings, ranks, 0, device, nodes)


def machine_compute(ceilings: dict[str, Any], precision: str, nodes: int = 1) -> float:
    """The most operations per second that any run did."""
    return best([number(run, "compute", precision) for run in runs_of(ceilings)]) * nodes


def network_bandwidth(ceilings: dict[str, Any], ranks: int) -> float:
    """Bytes per second that leave each rank in an all-to-all of as many ranks, or the most below that number."""
    runs = [run for run in runs_of(ceilings) if 1 < number(run, "ranks") <= ranks]
    if not runs:
        return math.nan
    run = max(runs, key=lambda r: number(r, "ranks"))
    pairs = run.get("network", {}).get("alltoall", []) if isinstance(run.get("network"), dict) else []
    rates = [pair[1] for pair in pairs if isinstance(pair, list) and len(pair) == 2] if isinstance(pairs, list) else []
    return best([float(rate) for rate in rates if isinstance(rate, (int, float))])


def summary(ceilings: dict[str, Any]) -> list[dict[str, float]]:
    """A row for each run, for the report: rates in GB/s and GFLOP/s, latency in microseconds."""
    rows = []
    for run in runs_of(ceilings):
        rows.append(
            {
                "ranks": number(run, "ranks"),
                "threads": number(run, "threads"),
                "nodes": number(run, "nodes"),
                **{
                    name: number(run, "memory", name) / 1e9
                    for name in ("copy", "copy_streaming", "read", "update", "triad")
                },
                **{name: number(run, "compute", name) / 1e9 for name in ("double", "single")},
                "latency": number(run, "network", "latency") * 1e6,
                "both_ways": number(run, "network", "both_ways") / 1e9,
                "alltoall": network_bandwidth({"runs": [run]}, 1 << 30) / 1e9,
                "to_device": number(run, "host_link", "to_device") / 1e9,
                "to_host": number(run, "host_link", "to_host") / 1e9,
                "device_copy": number(run, "host_link", "device_copy") / 1e9,
            }
        )
    return rows
