"""What a results folder says, ready for pictures and tables: every timed cell with its statistics, what went wrong, and
how contestants are named and chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from weft.plot.relative import Ratio, Runs
from weft.plot.statistics import describe, iterations
from weft.plot.table import Results
from weft.plot.workload import error_bound, points, shape_label

PROBLEM = ["shape", "kind", "precision", "direction", "batch", "layout", "ranks"]
# A picture holds cells that agree in these; names say the first three, the direction, and what else varies.
CONTEXT = ["kind", "precision", "ranks", "threads", "device", "engine", "effort", "aware", "natural"]
TIMED = "probe"  # what `check` says of rows whose times count


@dataclass(frozen=True)
class Context:
    """A part of the cells that one picture shows, with its name in words and in file names."""

    words: str
    slug: str
    cells: pd.DataFrame


class Study:
    """Results with statistics. Wrong cells are in `wrong` and in `summary`, but never in `cells`: how fast a wrong
    result came is of no interest."""

    def __init__(self, results: Results) -> None:
        self.results = results
        check = results.rows["check"]
        timed = check.isna() | (check == TIMED)
        rows = results.rows[timed]
        times = iterations(rows)
        bad = self._wrong_cells(rows)
        self.summary = describe(rows, times, ("cell", "block"), results.ceilings)
        self.summary["wrong"] = self.summary["cell"].isin(bad)
        everything = describe(rows, times, ("cell",), results.ceilings)
        everything["natural"] = is_natural(everything["config"])
        self.cells = everything[~everything["cell"].isin(bad)].reset_index(drop=True)
        self.wrong_cells = bad
        self.validation = _validation(results.rows[~timed])
        self._times = times

    def _wrong_cells(self, rows: pd.DataFrame) -> set[str]:
        """Those that the journal names, and those whose error is above the bound whatever the journal says."""
        named = {str(entry.get("cell")) for entry in self.results.journal.wrong}
        seen = rows.drop_duplicates(["cell", "block"])[["cell", "shape", "precision", "error"]]
        kinds = zip(seen["shape"].astype(str), seen["precision"].astype(str))
        bounds = [error_bound(precision, points(shape)) for shape, precision in kinds]
        return named | set(seen["cell"].astype(str)[(seen["error"] > np.array(bounds, dtype=float)).to_numpy()])

    @cached_property
    def runs(self) -> Runs:
        return Runs(self._times)

    def relative(self, cell: str, base: str) -> Ratio:
        return self.runs.relative(cell, base)

    @property
    def weft(self) -> pd.DataFrame:
        return self.cells[self.cells["library"] == "weft"]


def is_natural(config: pd.Series) -> pd.Series:
    """Whether the result is split as the input is, which costs a redistribution more."""
    return config.map(lambda words: "natural" in str(words).split(":"))


def _validation(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each cell and test of a validation job."""
    if rows.empty:
        return pd.DataFrame(columns=[*PROBLEM, "cell", "library", "config", "check", "error"])
    worst = rows.groupby(["cell", "check"], observed=True)["error"].max().reset_index()
    first = rows.drop_duplicates(["cell", "check"])[[*PROBLEM, "cell", "library", "config", "check"]]
    table = first.merge(worst, on=["cell", "check"])
    for name in table.columns:
        if isinstance(table[name].dtype, pd.CategoricalDtype):
            table[name] = table[name].astype(object).where(table[name].notna(), "")
    return table


def contexts(cells: pd.DataFrame, among: pd.DataFrame, by: Sequence[str] = CONTEXT) -> Iterator[Context]:
    """Parts of `cells` that agree in `by`; columns that do not vary in `among` are left out of the names."""
    if cells.empty:
        return
    always = [name for name in ("kind", "precision", "ranks", "direction") if name in by]
    named = always + [name for name in by if name not in always and among[name].nunique() > 1]
    for values, part in cells.groupby(list(by), sort=True):
        given = dict(zip(by, values if isinstance(values, tuple) else (values,)))
        words = [context_word(name, given[name]) for name in named]
        words = [word for word in words if word]
        yield Context(", ".join(words), "-".join(word.replace(" ", "").replace("/", "") for word in words), part)


def context_word(name: str, value: object) -> str:
    if name in ("ranks", "threads"):
        return plural(int(str(value)), name[:-1])
    if name == "natural":
        return "natural order" if value else "own order"
    if name == "batch":
        return f"batch {value}"
    return str(value)


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def fastest(cells: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Of cells that agree in `by`, the one with the smallest median time."""
    if cells.empty:
        return cells
    return cells.loc[cells.groupby(list(by), sort=False)["median"].idxmin()]


def explicit(cells: pd.DataFrame) -> pd.DataFrame:
    """Without the cells where weft chose by itself: their choice is, as a rule, another line of the same picture."""
    chosen = cells["config"].map(lambda words: str(words).split(":")[0] == "auto")
    return cells[~chosen] if (~chosen).any() else cells


def exchange_name(first: object, second: object) -> str:
    """p2p-sync, or p2p-sync+a2a-type where the second redistribution uses another method."""
    names = [str(name) for name in (first, second) if name]
    if len(names) == 2 and names[0] == names[1]:
        names = names[:1]
    return "+".join(names)


def strategy_name(cell: pd.Series) -> str:
    """slab-2d1d, or pencil 2×4."""
    grid = str(cell["grid"])
    return f"{cell['strategy']} {grid.replace('x', '×')}" if "x" in grid else str(cell["strategy"])


def contestant_name(cell: pd.Series, threads: bool = False) -> str:
    """A contestant in words: weft slab-2d1d default p2p-sync, fftw-mpi transposed, fftw with 2 threads."""
    if cell["library"] == "weft":
        parts = ["weft", strategy_name(cell), str(cell["variant"]), exchange_name(cell["exchange1"], cell["exchange2"])]
        if cell["ranks"] == 1:
            parts = ["weft"]
        elif str(cell["config"]).split(":")[0] == "auto":
            parts.append("(auto)")
        if "natural" in str(cell["config"]).split(":"):
            parts.append("natural")
    else:
        parts = [str(cell["library"]), "" if cell["config"] in ("-", "") else str(cell["config"])]
    if threads:
        parts.append(f"({plural(int(cell['threads']), 'thread')})")
    return " ".join(part for part in parts if part)


def problem_name(cell: pd.Series) -> str:
    """r2c 128³ double forward, 4 ranks."""
    name = f"{cell['kind']} {shape_label(str(cell['shape']))} {cell['precision']} {cell['direction']}"
    if int(cell["batch"]) > 1:
        name += f", batch {cell['batch']}"
    if cell["layout"] == "strided":
        name += " strided"
    return name
