"""The marks of a page: comments, which the rendered page does not show.

    <!--data native-ranks/summary.csv-->                           the table of the marks below, beside the page
    <!--=ms(least(median, library=weft, ranks=2))-->50.1<!--.-->   what stands between is what the expression gives
    <!--given-->1.3<!--.-->                                        no measurement: an aim, a size, another's number

An expression is made of the functions below, numbers and + - * /; any other word is itself, and one that is no word
stands in quotes ('256³'). The numbers of the text are the expression's, in order, each with as many digits as it has
there. What gives a text, a table of tables_*.py, is the whole text.
"""

from __future__ import annotations

import ast
import operator
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import data, tables_compare, tables_convolutions, tables_gpu, tables_host, tables_jobs, tables_streaming

MARK = re.compile(r"<!--(?:=(?P<expression>.*?)|given)-->(?P<said>(?:(?!<!--).)*)<!--\.-->", re.DOTALL)
DATA = re.compile(r"<!--data (?P<file>\S+)-->")
NUMBER = re.compile(r"(?<![\w.^])(?:(?<=[^\w]-)|(?<![\w²³]-))\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![\w²³])")
OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
Value = Any


def only(values: list[float]) -> float:
    """The value of the one row that is meant."""
    if len(values) != 1:
        raise ValueError(f"{len(values)} rows, not one")
    return values[0]


def span(values: list[float]) -> list[float]:
    return [min(values), max(values)]


def each(function: Callable[[float], float]) -> Callable[[Value], Value]:
    """For each number of a list, too."""

    def mapped(value: Value) -> Value:
        return [mapped(one) for one in value] if isinstance(value, list) else function(value)

    return mapped


STATISTICS: dict[str, Callable[[list[float]], Value]] = {
    "only": only,
    "least": min,
    "most": max,
    "middle": statistics.median,
    "mean": statistics.fmean,
    "geometric": data.geometric,
    "span": span,
    "all": list,
}
UNITS: dict[str, Callable[[Value], Value]] = {
    "ms": each(lambda seconds: 1e3 * seconds),
    "us": each(lambda seconds: 1e6 * seconds),
    "percent": each(lambda share: 100 * share),
    "tens": each(lambda value: round(value, -1)),
    "inverse": each(lambda value: 1 / value),
}
TABLES = {
    name: function
    for module in (tables_compare, tables_jobs, tables_host, tables_convolutions, tables_gpu, tables_streaming)
    for name, function in vars(module).items()
    if getattr(function, "__module__", None) == module.__name__ and not name.startswith("_")
}


class Evaluation:
    """Of one expression, with the table of the last data mark above."""

    def __init__(self, folder: Path, file: str | None) -> None:
        self.folder, self.file = folder, file

    def path(self, file: str | None) -> Path:
        if not file:
            raise ValueError("no data mark stands above")
        return self.folder / file

    def statistic(self, name: str, column: Value, where: dict[str, Value]) -> Value:
        if isinstance(column, list):  # what paired() and grouped() give, or numbers
            return STATISTICS[name](flat(column))
        values = data.column(self.rows(**where), column)
        if not values:
            raise ValueError("no rows")
        return STATISTICS[name](values)

    def rows(self, file: str | None = None, **where: Value) -> list[data.Row]:
        return data.rows(self.path(file or self.file), **where)

    def paired(self, column: str, of: list, over: list, *by: str, take: str = "least") -> list[float]:
        return data.paired(of, over, column, by, STATISTICS[take])

    def grouped(self, take: str, column: str, found: list, *by: str) -> list[float]:
        return data.grouped(found, column, by, STATISTICS[take])

    def json(self, path: str, file: str | None = None) -> float:
        return data.member(self.path(file or self.file), path)

    def told(self, words: str, file: str) -> float:
        """The number that follows these words in a page that weft plot or weft compare made."""
        after = self.path(file).read_text(encoding="utf-8").split(words)[1]
        return float(NUMBER.search(after)[0].replace(",", ""))

    def count(self, values: list | None = None, **where: Value) -> int:
        """Of rows; or of a list's numbers that are above, below: count(paired(...), above=0.98)."""
        if values is None:
            return len(self.rows(**where))
        above, below = where.get("above", float("-inf")), where.get("below", float("inf"))
        return sum(above <= value < below for value in flat(values))

    def call(self, name: str, arguments: list[Value], where: dict[str, Value]) -> Value:
        if name in STATISTICS:
            return self.statistic(name, *arguments, where)
        if name in UNITS:
            return UNITS[name](*arguments)
        if name in ("rows", "paired", "grouped", "json", "told", "count"):
            return getattr(self, name)(*arguments, **where)
        if name in TABLES:
            return TABLES[name](*arguments, **where)
        raise ValueError(f"there is no function {name}")

    def value(self, node: ast.AST) -> Value:
        match node:
            case ast.Expression():
                return self.value(node.body)
            case ast.Constant():
                return node.value
            case ast.Name():
                return node.id
            case ast.Tuple() | ast.List():
                return [self.value(one) for one in node.elts]
            case ast.BinOp() if type(node.op) in OPERATORS:
                return OPERATORS[type(node.op)](self.value(node.left), self.value(node.right))
            case ast.UnaryOp(op=ast.USub()):
                return -self.value(node.operand)
            case ast.Call(func=ast.Name()):
                where = {one.arg: self.value(one.value) for one in node.keywords if one.arg}
                return self.call(node.func.id, [self.value(one) for one in node.args], where)
        raise ValueError("only functions, words, numbers and + - * / make an expression")


def alike(said: str, value: float) -> str:
    """A number with the digits of another."""
    mantissa, _, exponent = said.partition("e")
    places = len(mantissa.partition(".")[2])
    if exponent:
        return data.power(value, places)
    text = data.rounded(value, places)
    return f"{int(text):,}" if "," in said else text


def flat(value: Value) -> list[float]:
    return [one for part in value for one in flat(part)] if isinstance(value, list) else [value]


def text_of(value: Value, said: str) -> str:
    """What a mark has to say: a table, or the text with the value's numbers."""
    if isinstance(value, str):
        return value
    values = flat(value)
    if len(values) != len(NUMBER.findall(said)):
        raise ValueError(f"{len(NUMBER.findall(said))} numbers in the text, {len(values)} by the expression")
    left = iter(values)
    return NUMBER.sub(lambda found: alike(found[0], next(left)), said)


def check(text: str, folder: Path) -> tuple[str, list[str]]:
    """The page as its data wants it, and what is wrong with it as it is. Files are named from `folder`."""
    wrong: list[str] = []

    def line(at: int) -> str:
        return f"{text.count(chr(10), 0, at) + 1}: "

    def mend(mark: re.Match[str]) -> str:
        if mark["expression"] is None:
            return mark[0]
        files = [found["file"] for found in DATA.finditer(text, 0, mark.start())]
        try:
            tree = ast.parse(mark["expression"].strip(), mode="eval")
            right = text_of(Evaluation(folder, files[-1] if files else None).value(tree), mark["said"])
        except (ValueError, KeyError, IndexError, OSError, SyntaxError, TypeError, ZeroDivisionError) as error:
            wrong.append(f"{line(mark.start())}{mark['expression']}: {error}")
            return mark[0]
        if right != mark["said"]:
            offset, difference = _difference(mark["said"], right)
            wrong.append(f"{line(mark.start('said') + offset)}{difference} by {mark['expression']}")
        return f"<!--={mark['expression']}-->{right}<!--.-->"

    mended = MARK.sub(mend, text)
    for start in re.finditer(r"^ *<!--(?!data ).*?-->.*\S", text, re.MULTILINE):
        wrong.append(f"{line(start.start())}a mark begins the line, so that Markdown does not read the rest of it")
    left = DATA.sub(blank, MARK.sub(blank, text))
    for comment in re.finditer(r"<!--.{0,40}", left):
        wrong.append(f"{line(comment.start())}{comment[0]} is no mark, or not closed by <!--.-->")
    return mended, wrong


def blank(found: re.Match[str]) -> str:
    """As long as what was found, so that places stay."""
    return re.sub(r"[^\n]", "·", found[0])


def _difference(said: str, right: str) -> tuple[int, str]:
    """Of a number, or of the first line of a table that differs, and where that line begins."""
    offset = 0
    for mine, theirs in zip(said.splitlines(keepends=True), right.splitlines(keepends=True), strict=False):
        if mine != theirs:
            return offset, f"it is {theirs.strip()!r}, not {mine.strip()!r},"
        offset += len(mine)
    return offset, "the table has another number of lines"
