"""The table of `weft compare`: a row for each run, with gearshifft's columns first, and what weft.plot makes of it.

gearshifft's columns (github.com/mpicbg-scicomp/gearshifft, inc/core/result_writer.hpp and types.hpp) mean what they mean
there: milliseconds and bytes, the first run "Warmup", empty where nothing of the kind is done.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import math
import platform
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from weft.compare.cases import PLAIN, TRANSFERS, Case, is_smooth
from weft.plot.table import CATEGORIES, COLUMNS, NUMBERS, Journal, Results
from weft.plot.workload import array_bytes, error_bound

GEARSHIFFT = [
    "library",
    "inplace",
    "complex",
    "precision",
    "dim",
    "kind",
    "nx",
    "ny",
    "nz",
    "run",
    "id",
    "success",
    "Time_Allocation [ms]",
    "Time_PlanInitFwd [ms]",
    "Time_PlanInitInv [ms]",
    "Time_Upload [ms]",
    "Time_FFT [ms]",
    "Time_iFFT [ms]",
    "Time_Download [ms]",
    "Time_PlanDestroy [ms]",
    "Time_Total [ms]",
    "Size_DeviceBuffer [bytes]",
    "Size_DevicePlan [bytes]",
    "Size_DeviceTransfer [bytes]",
    "Error_StandardDeviation",
    "Error_Mismatches",
]
OWN = "version device threads effort experiment way shape batch computed error_l2 memory_over_input".split()
HEADER = GEARSHIFFT + OWN
WARMUP, SUCCESS, MISMATCH = "Warmup", "Success", "Mismatch"
PRECISIONS = {"half": "float16", "single": "float", "double": "double"}  # as gearshifft calls them


@dataclass(frozen=True)
class Seconds:
    """Mean times of the calls of a run."""

    transform: float
    upload: float = 0.0
    download: float = 0.0

    @property
    def total(self) -> float:
        return self.transform + self.upload + self.download


@dataclass(frozen=True)
class Measured:
    """One run. The error, the type of the result and the memory are those of the first."""

    library: str
    version: str
    device: str
    threads: int
    effort: str
    case: Case
    way: str
    block: int
    run: int
    seconds: Seconds
    planning: float  # before the first call; 0 in later runs
    error: float
    computed: str
    memory: float  # input, output and what the library took besides, at the most

    def again(self, run: int, seconds: Seconds) -> Measured:
        return replace(self, run=run, seconds=seconds, planning=0.0)

    @property
    def wrong(self) -> bool:
        return not self.error <= error_bound(self.case.precision, math.prod(self.case.shape))

    def row(self) -> list[object]:
        case = self.case
        lengths = [*case.shape, 0, 0][:3]
        shape = "x".join(map(str, case.shape))
        buffers = array_bytes(shape, case.kind, case.precision, case.batch)
        moved = sum(buffers) if self.way == TRANSFERS else 0
        success = MISMATCH if self.wrong else SUCCESS if self.run else WARMUP
        phases = (self.planning, 0, self.seconds.upload, self.seconds.transform, 0, self.seconds.download, 0)
        times = [milliseconds(phase) for phase in phases]
        total = sum(float(time) for time in times if time)  # of what stands there, so that a table is written again alike
        return [
            *(self.library, "Outplace", "Complex" if case.kind == "c2c" else "Real", PRECISIONS[case.precision]),
            *(len(case.shape), dimension_kind(case.shape), *lengths, self.run, self.block, success),
            *("", *times, milliseconds(total / 1e3)),
            *(sum(buffers), plain_number(self.memory - sum(buffers)), moved, "", ""),
            *(self.version, self.device, self.threads, self.effort, case.experiment, self.way, shape, case.batch),
            *(self.computed, f"{self.error:.4g}", plain_number(self.memory / buffers[0])),
        ]


@dataclass(frozen=True)
class Skipped:
    """What a library could not do, and why. `case` None: all of it."""

    library: str
    case: Case | None
    reason: str
    way: str = PLAIN


def dimension_kind(shape: tuple[int, ...]) -> str:
    """gearshifft's kinds of sizes."""
    if all(n & (n - 1) == 0 for n in shape):
        return "powerof2"
    return "radix357" if all(is_smooth(n) for n in shape) else "oddshape"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.7g}" if seconds else ""


def plain_number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


class Table:
    """compare.csv, which is complete up to the last run whenever the program ends, and its rows."""

    def __init__(self, file: Path) -> None:
        self.rows: list[Measured] = []
        self._stream: TextIO = file.open("w", newline="", encoding="utf-8")
        self._writer = csv.writer(self._stream, lineterminator="\n")
        self._writer.writerow(HEADER)

    def add(self, row: Measured) -> None:
        self.rows.append(row)
        self._writer.writerow(row.row())

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        self._stream.close()


def read(file: Path) -> list[Measured]:
    """The rows of a compare.csv, which may be compressed by gzip; ValueError or KeyError where it is none."""
    kinds, precisions = {"Complex": "c2c", "Real": "r2c"}, {name: one for one, name in PRECISIONS.items()}
    opened = gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8")
    rows = []
    with opened as stream:
        for row in csv.DictReader(stream):
            shape = tuple(map(int, row["shape"].split("x")))
            kind, precision = kinds[row["complex"]], precisions[row["precision"]]
            case = Case(row["experiment"], shape, int(row["batch"]), kind, precision)
            first, _ = array_bytes(row["shape"], kind, precision, case.batch)
            seconds = [
                float(row[f"Time_{what} [ms]"] or 0) / 1e3 for what in ("FFT", "Upload", "Download", "PlanInitFwd")
            ]
            rows.append(
                Measured(
                    library=row["library"],
                    version=row["version"],
                    device=row["device"],
                    threads=int(row["threads"]),
                    effort=row["effort"],
                    case=case,
                    way=row["way"],
                    block=int(row["id"]),
                    run=int(row["run"]),
                    seconds=Seconds(*seconds[:3]),
                    planning=seconds[3],
                    error=float(row["error_l2"]),
                    computed=row["computed"],
                    memory=float(row["memory_over_input"] or math.nan) * first,
                )
            )
    return rows


def cell_of(row: Measured) -> str:
    """What weft.plot calls a cell: everything but the run."""
    text = f"{row.library} {row.way} {row.device} {row.case.experiment} {row.case.text}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def results_of(name: str, rows: Iterable[Measured], run: dict[str, Any]) -> Results:
    """Timed rows as weft.plot takes them: of one process, a block for each case."""
    host = platform.node()
    columns: dict[str, list[Any]] = {column: [] for column in COLUMNS}
    for row in rows:
        known = {
            "library": row.library,
            "version": row.version,
            "host": host,
            "device": "host" if row.device == "cpu" else row.device,
            "shape": "x".join(map(str, row.case.shape)),
            "kind": row.case.kind,
            "precision": row.case.precision,
            "direction": "forward",
            "ranks": 1,
            "iteration": row.run,
            "rank": 0,
            "total": row.seconds.total,
            "error": row.error if math.isfinite(row.error) else 1e308,
            "memory_peak": row.memory,
            "batch": row.case.batch,
            "layout": "contiguous",
            "threads": row.threads,
            "effort": row.effort,
            "config": "-" if row.way == PLAIN else row.way,
            "block": row.block,
            "cell": cell_of(row),
        }
        for column, values in columns.items():
            values.append(known.get(column, math.nan if column in NUMBERS else None))
    table = pd.DataFrame(columns)
    for column in CATEGORIES:
        table[column] = table[column].astype("category")
    return Results(name, table, Journal(), {}, run, {})
