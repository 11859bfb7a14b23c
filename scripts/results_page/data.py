"""Rows of the tables of docs/results, which of them are meant, and statistics of a column.

A filter names columns and what stands there: kind="c2c", ranks=(2, 4), library="fftw*" (shell patterns),
library="!weft" (anything else), n=">30" (a number above; also <, >=, <=). 256³ stands for 256x256x256.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import operator
import re
import statistics
from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_UP, Decimal
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
Row = dict[str, str]
COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


@cache
def table(path: Path) -> list[Row]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(line for line in stream if not line.startswith("#")))


def extents(name: str) -> str:
    """256³ as 256x256x256, 243×250×252 as 243x250x252."""
    power = re.fullmatch(r"(\d+)([²³])", name)
    return "x".join([power[1]] * (2 if power[2] == "²" else 3)) if power else name.replace("×", "x")


def shape_name(shape: str) -> str:
    """The way back: 256x256x256 as 256³."""
    parts = shape.split("x")
    power = {2: "²", 3: "³"}.get(len(parts))
    return f"{parts[0]}{power}" if power and len(set(parts)) == 1 else "×".join(parts)


def _meets(value: str, wanted: object) -> bool:
    if isinstance(wanted, list | tuple):
        return any(_meets(value, one) for one in wanted)
    text = str(wanted)
    compared = re.fullmatch(r"([<>]=?)\s*([\d.e-]+)", text)
    if compared:
        return value != "" and COMPARE[compared[1]](float(value), float(compared[2]))
    if text.startswith("!"):
        return not _meets(value, text[1:])
    return value == text or fnmatchcase(value, extents(text))


def rows(file: str | Path, **where: object) -> list[Row]:
    """The rows of a table of docs/results that meet a filter; a column "page cache" is named page_cache."""
    found = table(RESULTS / file)
    names = {re.sub(r"\W+", "_", name).strip("_"): name for name in found[0]} if found else {}
    for name in where:
        if found and name not in names:
            raise ValueError(f"{file} has no column {name}")
    return [row for row in found if all(_meets(row[names[name]], wanted) for name, wanted in where.items())]


def number(row: Row, column: str) -> float:
    """A column, the least of some ('fftw ns or mkl ns'), or one over another ('fftw ns / weft ns')."""
    if column not in row and " / " in column:
        over, _, under = column.partition(" / ")
        return number(row, over) / number(row, under)
    if column not in row and " or " in column:
        return min(float(row[name]) for name in column.split(" or ") if row[name])
    if column not in row:
        raise ValueError(f"there is no column {column}")
    return float(row[column])


def column(found: Iterable[Row], name: str) -> list[float]:
    return [number(row, name) for row in found if row.get(name, " ") != ""]


def geometric(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values))


def grouped(found: Iterable[Row], name: str, by: Iterable[str], take: Callable) -> list[float]:
    """A statistic of the rows of each value of the columns `by`."""
    groups: dict[tuple[str, ...], list[float]] = {}
    for row in found:
        groups.setdefault(tuple(row[key] for key in by), []).append(number(row, name))
    return [take(values) for values in groups.values()]


def paired(of: Iterable[Row], over: Iterable[Row], name: str, by: Iterable[str], take: Callable = min) -> list[float]:
    """For each value of the columns `by` that both have: of these rows' least (or `take`) over that of those."""
    groups: list[dict[tuple[str, ...], list[float]]] = [{}, {}]
    for group, some in zip(groups, (of, over), strict=True):
        for row in some:
            group.setdefault(tuple(row[key] for key in by), []).append(number(row, name))
    mine, theirs = groups
    return [take(mine[key]) / take(theirs[key]) for key in mine if key in theirs]


def member(file: str | Path, path: str) -> float:
    """A number of a JSON file: 'runs.0.host_link.to_device'."""
    value = json.loads((RESULTS / file).read_text(encoding="utf-8"))
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return float(value)


def rounded(value: float, places: int) -> str:
    """Half up, as people round: 1.085 as 1.09."""
    return f"{Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):f}"


def digits(value: float) -> str:
    """Three digits, without an exponent."""
    return rounded(value, 0 if value >= 99.95 else 1 if value >= 9.995 else 2)


def two(value: float) -> str:
    return rounded(value, 2)


def three(value: float) -> str:
    return rounded(value, 3)


def both(form: Callable[[float], str], *values: float) -> str:
    """Such as 0.775 / 0.850, or 2.1 / 1.9."""
    return " / ".join(form(value) for value in values)


def power(value: float, places: int = 1) -> str:
    """2.5e-4 of 0.00025."""
    exponent = Decimal(repr(float(value))).adjusted()
    mantissa = rounded(float(Decimal(repr(float(value))).scaleb(-exponent)), places)
    if mantissa.startswith("10"):
        mantissa, exponent = rounded(1, places), exponent + 1
    return f"{mantissa}e{exponent}"


def markdown(head: str, lines: Iterable[Iterable[str]]) -> str:
    """A table. The head is "case|1 thread:|...", where a colon behind a name aligns a column at its right."""
    names = head.split("|")
    rule = "|".join("---:" if name.endswith(":") else "---" for name in names)
    heads = [name.removesuffix(":") for name in names]
    return "\n" + "".join(f"{line}\n" for line in (_line(heads), f"|{rule}|", *map(_line, lines)))


def _line(cells: Iterable[str]) -> str:
    """Cells that are empty stay narrow."""
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)
