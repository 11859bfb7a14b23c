"""Tables for readers: a heading, a note, and columns that know how to show their values, as Markdown and as HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

DASH = "–"


@dataclass(frozen=True)
class Column:
    """A column of a table of cells: where its values are, its heading, and how a value is written."""

    key: str
    heading: str
    show: Callable[[Any], str] = str
    number: bool = False


@dataclass(frozen=True)
class Listing:
    """Rows to be shown. `alarm` marks what nobody may overlook."""

    heading: str
    columns: Sequence[Column]
    rows: pd.DataFrame
    note: str = ""
    alarm: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self) -> list[list[str]]:
        """Every cell as text; missing values are dashes."""
        shown = [[_text(column, value) for value in self.rows[column.key]] for column in self.columns]
        return [list(row) for row in zip(*shown)] if shown else []


def _text(column: Column, value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return DASH
    text = column.show(value)
    return text if text else DASH


def digits(value: float, count: int = 3) -> str:
    """A number with so many digits, without an exponent where it is of usual size."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{count - 1}e}"
    return f"{value:.{max(0, count - 1 - math.floor(math.log10(abs(value))))}f}"


def text_column(key: str, heading: str) -> Column:
    return Column(key, heading)


def count_column(key: str, heading: str) -> Column:
    return Column(key, heading, lambda value: str(int(value)), True)


def number_column(key: str, heading: str, factor: float = 1.0, count: int = 3) -> Column:
    return Column(key, heading, lambda value: digits(value * factor, count), True)


def time_column(key: str, heading: str) -> Column:
    """Milliseconds with four digits."""
    return number_column(key, heading, 1e3, 4)


def percent_column(key: str, heading: str) -> Column:
    return Column(key, heading, lambda value: f"{value * 100:.0f} %", True)


def error_column(key: str, heading: str) -> Column:
    return Column(key, heading, lambda value: "not a number" if value > 1e300 else f"{value:.2e}", True)


def markdown(listing: Listing, level: int = 2) -> str:
    """A Markdown table under its heading."""
    lines = [f"{'#' * level} {listing.heading}", ""]
    if listing.note:
        lines += [listing.note, ""]
    lines.append("| " + " | ".join(column.heading for column in listing.columns) + " |")
    lines.append("|" + "|".join("---:" if column.number else "---" for column in listing.columns) + "|")
    lines += ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in listing.texts()]
    return "\n".join(lines) + "\n"


def table_html(listing: Listing) -> str:
    """An HTML table whose columns sort when their headings are clicked; numbers keep their full value for that."""
    kinds = ['class="number"' if column.number else "" for column in listing.columns]
    heads = "".join(
        f'<th scope="col" {kind}><button type="button">{html.escape(column.heading)}</button></th>'
        for column, kind in zip(listing.columns, kinds)
    )
    values = [listing.rows[column.key].tolist() for column in listing.columns]
    rows = []
    for place, texts in enumerate(listing.texts()):
        fields = []
        for column, text, kind, data in zip(listing.columns, texts, kinds, values):
            key = f' data-value="{_sort_key(data[place])}"' if column.number else ""
            fields.append(f"<td {kind}{key}>{html.escape(text)}</td>")
        rows.append("<tr>" + "".join(fields) + "</tr>")
    mark = ' class="alarm"' if listing.alarm else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{html.escape(listing.heading, True)}">'
        f"<table{mark}><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _sort_key(value: Any) -> str:
    return f"{float(value):.9g}" if isinstance(value, (int, float)) and math.isfinite(value) else ""
