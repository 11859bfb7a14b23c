"""The table that a run ends with: for each problem the median time of each cell, and its ratio to the fastest peer."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from statistics import median
from typing import Any

from weft.bench.cells import Group, Problem

# (cell, block) -> iteration -> seconds of the slowest rank
Times = dict[tuple[str, str], dict[str, float]]


def flops(problem: Problem) -> float:
    """5 N log2 N for complex, half of it for real transforms, times the batch: benchFFT's convention."""
    points = math.prod(problem.shape)
    return (5.0 if problem.kind == "c2c" else 2.5) * points * math.log2(max(points, 2)) * problem.batch


def read_times(table: Path) -> tuple[Times, dict[str, float]]:
    """The times of all timed rows, and the largest error of each cell."""
    times: Times = defaultdict(dict)
    errors: dict[str, float] = {}
    with table.open(newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        if not header:
            return times, errors
        cell, block, iteration, total, error = (
            header.index(n) for n in ("cell", "block", "iteration", "total", "error")
        )
        for row in rows:
            if row[error]:
                errors[row[cell]] = max(errors.get(row[cell], 0.0), float(row[error]))
            if row[total]:
                found = times[row[cell], row[block]]
                found[row[iteration]] = max(found.get(row[iteration], 0.0), float(row[total]))
    return times, errors


def _medians(times: Times, wanted: set[str]) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Of each cell the median in each block, and over all blocks."""
    blocks: dict[str, dict[str, float]] = defaultdict(dict)
    every: dict[str, list[float]] = defaultdict(list)
    for (cell, block), runs in times.items():
        if cell in wanted:
            blocks[cell][block] = median(runs.values())
            every[cell] += runs.values()
    return blocks, {cell: median(values) for cell, values in every.items()}


def _ratio(own: dict[str, float], peers: list[dict[str, float]]) -> float | None:
    """Over the fastest peer of the same block; the median where there are several blocks."""
    ratios = []
    for block, seconds in own.items():
        fastest = min((peer[block] for peer in peers if block in peer), default=0.0)
        if fastest > 0:
            ratios.append(seconds / fastest)
    return median(ratios) if ratios else None


def lines(groups: list[Group], table: Path, wrong: Collection[str]) -> list[str]:
    """The table as lines of text, fastest cell first in each problem. How fast a wrong result came is not told."""
    times, errors = read_times(table)
    made = []
    for group in groups:
        for problem, contestants in group.problems.items():
            cells = {c["cell"]: c for c in contestants}
            blocks, overall = _medians(times, set(cells))
            peers = [blocks[c] for c in blocks if cells[c]["library"] != "weft" and c not in wrong]
            if problem.mode == "validate":
                made += _validated(problem, [errors[c] for c in cells if c in errors], sum(c in wrong for c in cells))
                continue
            made += [problem.text] if overall else []
            for cell, seconds in sorted(overall.items(), key=lambda item: item[1]):
                text = f"  {_title(cells[cell]):<46}"
                if cell in wrong:
                    text += f" WRONG: error {errors.get(cell, math.nan):.2g}"
                else:
                    text += _speed(problem, seconds)
                    text += _relative(blocks[cell], peers) if cells[cell]["library"] == "weft" else ""
                made.append(text)
    return made


def _validated(problem: Problem, errors: list[float], wrong: int) -> list[str]:
    if not errors:
        return []
    return [f"{problem.text}: {len(errors)} cells, {wrong} wrong, largest error {max(errors):.2g}"]


def _title(one: dict[str, Any]) -> str:
    words = [one["library"]] + ([one["config"]] if one["config"] != "-" else [])
    if one["threads"] > 1:
        words.append(f"{one['threads']} threads")
    if one.get("device", "host") != "host":
        words.append(one["device"])
    return " ".join(words)


def _speed(problem: Problem, seconds: float) -> str:
    rate = flops(problem) / seconds / 1e9 if seconds > 0 else 0.0
    return f" {1e3 * seconds:11.4g} ms {rate:9.3g} GFLOP/s"


def _relative(own: dict[str, float], peers: list[dict[str, float]]) -> str:
    ratio = _ratio(own, peers)
    return f"  {ratio:.2f} of the fastest peer" if ratio is not None else ""
