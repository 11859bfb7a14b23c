"""Reads a results folder: table.csv (or .gz), and what lies beside it.

A table has one row for each cell, block, iteration and rank. An interrupted job leaves rows of an unfinished block at
the end; the journal says up to which byte the table is whole, and only that much is read. What cannot be understood
raises InputError, whose text names the file and the column or line.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

CATEGORIES = (
    "library version host device shape kind precision direction grid strategy variant exchange1 exchange2 aware engine "
    "layout effort config check cell"
).split()
INTEGERS = "ranks iteration rank batch threads block".split()
PHASES = "fft pack exchange unpack copy local".split()
SECONDS = ["total", *PHASES, "first_message", "last_message"]
NUMBERS = [*SECONDS, "bytes_sent", "memory_peak", "error"]
COLUMNS = (
    "library version host device shape kind precision direction ranks grid strategy variant exchange1 exchange2 aware "
    "engine iteration rank total fft pack exchange unpack copy local first_message last_message bytes_sent memory_peak "
    "error batch layout threads effort config check block cell"
).split()
TYPES = {
    **dict.fromkeys(CATEGORIES, "category"),
    **dict.fromkeys(INTEGERS, "int32"),
    **dict.fromkeys(NUMBERS, "float64"),
}
# Categories whose every value must look like this.
FORMS = {
    "library": r".+",
    "shape": r"[1-9][0-9]*(x[1-9][0-9]*)*",
    "kind": r"r2c|c2c|(d[cs]t[1-4]|none)(\+(d[cs]t[1-4]|none))*",
    "precision": r"double|single",
    "direction": r"forward|inverse",
    "layout": r"contiguous|strided",
    "cell": r"[0-9a-f]{12}",
}
LEAST = {"ranks": 1, "iteration": 0, "rank": 0, "batch": 1, "threads": 1, "block": 0}


class InputError(Exception):
    """The user must change something: one sentence, for one line on standard error."""


@dataclass
class Journal:
    """What the measuring processes wrote beside the rows."""

    groups: list[dict[str, Any]] = field(default_factory=list)
    done: list[dict[str, Any]] = field(default_factory=list)
    wrong: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)
    whole_bytes: int | None = None  # how much of the table is whole; None: nobody said


@dataclass
class Results:
    """A results folder; all but the rows may be empty."""

    name: str
    rows: pd.DataFrame
    journal: Journal
    job: dict[str, Any]
    run: dict[str, Any]
    ceilings: dict[str, Any]

    @cached_property
    def names(self) -> dict[str, str]:
        """What the cells are called that the job lists, whether they ran or not."""
        from weft.plot.provenance import cell_names

        return cell_names(self.job) if self.job else {}


def load(place: Path) -> Results:
    """Loads a results folder, or a table alone."""
    if place.is_dir():
        folder, table = place, _table_of(place)
    elif place.exists():
        folder, table = place.parent, place
        if table.name not in ("table.csv", "table.csv.gz"):  # what lies beside it belongs to another table
            return Results(place.name, load_rows(table), Journal(), {}, {}, {})
    else:
        raise InputError(f"{place} does not exist; give a folder that weft bench wrote, or a table.csv")
    journal = load_journal(folder / "journal.jsonl")
    return Results(
        name=place.resolve().name,
        rows=load_rows(table, journal.whole_bytes),
        journal=journal,
        job=load_object(folder / "job.json"),
        run=load_object(folder / "run.json"),
        ceilings=load_object(folder / "ceilings.json"),
    )


def _table_of(folder: Path) -> Path:
    for name in ("table.csv", "table.csv.gz"):
        if (folder / name).exists():
            return folder / name
    raise InputError(f"{folder} has no table.csv and no table.csv.gz; give a folder that weft bench wrote")


def load_object(file: Path) -> dict[str, Any]:
    """A JSON object; empty where there is no such file."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}") from None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{file} line {error.lineno} is not JSON: {error.msg}") from None
    if not isinstance(value, dict):
        raise InputError(f"{file} must hold a JSON object")
    return value


def load_journal(file: Path) -> Journal:
    """The journal; the line that an interruption tore is left out, as are cells that failed first and ran later."""
    journal = Journal()
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        return journal
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}") from None
    lists = {"group": journal.groups, "done": journal.done, "wrong": journal.wrong, "skipped": journal.skipped}
    failed: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or number == len(lines):  # no line feed at its end: torn
            continue
        entry = _journal_entry(file, number, line)
        kind = entry.get("type")
        if kind in lists:
            lists[kind].append(entry)
        if kind == "failed":
            failed[str(entry.get("cell"))] = entry
        if kind == "done":
            for cell in entry.get("cells", []):
                failed.pop(cell, None)
            journal.whole_bytes = max(journal.whole_bytes or 0, int(entry["bytes"]))
    journal.failed = list(failed.values())
    return journal


def _journal_entry(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"{file} line {number} is not JSON: {error.msg}") from None
    if not isinstance(entry, dict):
        raise InputError(f"{file} line {number} is not a JSON object")
    if entry.get("type") == "done":
        size, cells = entry.get("bytes"), entry.get("cells", [])
        if not isinstance(size, int) or size < 0:
            raise InputError(f"{file} line {number}: a done line needs bytes, the length of the table")
        if not isinstance(cells, list) or not all(isinstance(cell, str) for cell in cells):
            raise InputError(f"{file} line {number}: cells must be a list of strings")
    return entry


def load_rows(file: Path, whole_bytes: int | None = None) -> pd.DataFrame:
    """The rows of a table, up to whole_bytes of its (uncompressed) text."""
    try:
        with _whole_part(file, whole_bytes) as source, warnings.catch_warnings():
            header = _header(file, source)
            source.seek(0)
            warnings.simplefilter("error", pd.errors.ParserWarning)
            rows = pd.read_csv(source, dtype=TYPES, index_col=False, engine="c", low_memory=False)[COLUMNS]
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file} cannot be read: {error}") from None
    except (ValueError, Warning) as error:  # pandas says what, seldom where: look for the place line by line
        raise InputError(_first_fault(file, whole_bytes) or f"{file}: {error}") from None
    _check_rows(file, rows, header)
    return rows


def _whole_part(file: Path, whole_bytes: int | None) -> io.BufferedReader | io.BytesIO:
    compressed = file.suffix == ".gz"
    if not compressed and whole_bytes in (None, file.stat().st_size):
        return file.open("rb")
    with gzip.open(file) if compressed else file.open("rb") as stream:
        content = stream.read() if whole_bytes is None else stream.read(whole_bytes)
    if whole_bytes is not None and len(content) < whole_bytes:
        raise InputError(
            f"{file} holds {len(content)} bytes, but journal.jsonl speaks of {whole_bytes}: "
            "restore the table, or remove the journal to plot what is left"
        )
    return io.BytesIO(content)


def _header(file: Path, source: io.BufferedReader | io.BytesIO) -> list[str]:
    try:
        line = source.readline().decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputError(f"{file} line 1 is not text") from None
    names = line.split(",")
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise InputError(f"{file} line 1 has no column {missing[0]}" + (" (it is empty)" if not line else ""))
    twice = [name for name in COLUMNS if names.count(name) > 1]
    if twice:
        raise InputError(f"{file} line 1 has two columns {twice[0]}")
    return names


def _first_fault(file: Path, whole_bytes: int | None) -> str | None:
    """Slowly, line by line: what is wrong first, and where."""
    with io.TextIOWrapper(_whole_part(file, whole_bytes), encoding="utf-8", errors="replace", newline="") as text:
        reader = csv.reader(text)
        names = next(reader)
        for fields in reader:
            for fault in _faults_of(names, fields):
                return f"{file} line {reader.line_num}{fault}"
    return None


def _faults_of(names: list[str], fields: list[str]) -> Iterator[str]:
    if len(fields) != len(names):
        yield f" has {len(fields)} fields instead of {len(names)}"
        return
    for name, text in zip(names, fields):
        if name in INTEGERS and not re.fullmatch(r"-?[0-9]{1,9}", text):
            yield f", column {name}: {text!r} is not an integer"
        if name in NUMBERS and text:
            try:
                float(text)
            except ValueError:
                yield f", column {name}: {text!r} is not a number"


def _check_rows(file: Path, rows: pd.DataFrame, header: list[str]) -> None:
    if rows.empty:
        raise InputError(f"{file} has no rows: nothing was measured")

    def refuse(bad: np.ndarray, column: str, what: str) -> None:
        if bad.any():
            place = int(np.argmax(bad))
            raise InputError(f"{file} line {place + 2}, column {column}: {rows[column].iloc[place]} {what}")

    # A row that is too short lacks its last fields.
    if header[-1] in CATEGORIES + INTEGERS and rows[header[-1]].isna().any():
        raise InputError(_first_fault(file, None) or f"{file}: column {header[-1]} has empty fields")
    for column, form in FORMS.items():
        codes, values = rows[column].cat.codes.to_numpy(), rows[column].cat.categories.astype(str)
        good = np.array([re.fullmatch(form, value) is not None for value in values] + [False])
        refuse(~good[codes], column, f"is not of the form {form}")
    for column, least in LEAST.items():
        refuse(rows[column].to_numpy() < least, column, f"is less than {least}")
    refuse(rows["rank"].to_numpy() >= rows["ranks"].to_numpy(), "rank", "is not below the number of ranks")
    total = rows["total"].to_numpy()
    timed = (rows["check"].isna() | (rows["check"] == "probe")).to_numpy()
    refuse(timed & (~(total > 0) | np.isinf(total)), "total", "is not a time in seconds")
    keys = [rows["cell"].cat.codes, rows["check"].cat.codes, rows["block"], rows["iteration"], rows["rank"]]
    refuse(_repeated(keys), "cell", "has two rows with the same block, iteration and rank")


def _repeated(keys: list[pd.Series]) -> np.ndarray:
    """Rows whose keys, small integers, all occurred before."""
    code = np.zeros(len(keys[0]), dtype=np.int64)
    room = 1.0
    for key in keys:
        width = int(key.max()) + 1
        room *= width
        code = code * width + key.to_numpy(dtype=np.int64)
    if math.log2(room) >= 63:
        return pd.concat(keys, axis=1).duplicated().to_numpy()
    return pd.Series(code).duplicated().to_numpy()
