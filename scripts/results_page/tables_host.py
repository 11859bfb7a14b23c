"""Tables of the pages on lines, shapes, short calls, operators and predictions on processors."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from .data import Row, column, geometric, markdown, number, rounded, rows, two

KINDS = [(precision, kind) for precision in ("double", "single") for kind in ("c2c", "r2c", "c2r")]


def _points(row: Row) -> int:
    """Of a plane or cube the longest axis, as the pages count."""
    return max(int(extent) for extent in row["shape"].split("x"))


def _speeds(found: Iterable[Row]) -> list[float]:
    """Over the fastest peer, as the program printed it from times with more digits."""
    return [float(row.get("speed over the fastest") or row["speed over FFTW"]) for row in found]


def _speeds_before(found: Iterable[Row]) -> list[float]:
    return [min(float(row["fftw ns"]), float(row["mkl ns"])) / float(row["before ns"]) for row in found]


def lines_summary(file: str = "lines.csv") -> str:
    """With what was before, where the file has it."""
    compares = "before ns" in rows(file)[0]
    lines = []
    for precision, kind in KINDS:
        for name, above in (("all", 0), ("n > 30", 30), ("n > 60", 60)):
            found = rows(file, precision=precision, kind=kind, n=f">{above}")
            now = _speeds(found)
            before = [two(geometric(_speeds_before(found)))] if compares else []
            slow = sum(speed < 0.7 for speed in now)
            lines.append(
                [precision, kind, name, str(len(found)), *before, two(geometric(now)), two(min(now)), str(slow)]
            )
    return markdown(
        "precision|kind|lengths|number:|"
        + ("before, geometric mean:|" if compares else "")
        + "now, geometric mean:|now, least:|now, below 0.7:",
        lines,
    )


def lines_short(*lengths: int) -> str:
    """Nanoseconds before and now, and how much faster that is for all lengths of three classes."""

    def ratio(row: Row) -> float:
        return number(row, "before alone ns") / number(row, "now alone ns")

    def cell(n: int, precision: str, kind: str) -> str:
        row = rows("lines-xeon.csv", n=n, precision=precision, kind=kind)[0]
        return f"{number(row, 'before alone ns'):.0f} → {number(row, 'now alone ns'):.0f}"

    lines = [[str(n), *(cell(n, *kind) for kind in KINDS)] for n in lengths]
    for name, least, most in (("2 to 32", 1, 32), ("33 to 512", 32, 512), ("beyond", 512, 1 << 30)):
        means = []
        for precision, kind in KINDS:
            found = rows("lines-xeon.csv", precision=precision, kind=kind, n=f">{least}")
            means.append(two(geometric([ratio(row) for row in found if number(row, "n") <= most])))
        lines.append([f"times as fast, {name}", *means])
    return markdown("n:|" + "|".join(f"{' '.join(kind)}:" for kind in KINDS), lines)


def lines_before_and_now(*lengths: int) -> str:
    def cell(n: int, precision: str, kind: str) -> str:
        found = rows("lines.csv", n=n, precision=precision, kind=kind)
        return f"{two(_speeds_before(found)[0])} → {two(_speeds(found)[0])}"

    lines = [[str(n), *(cell(n, *kind) for kind in KINDS)] for n in lengths]
    return markdown("n:|" + "|".join(f"{' '.join(kind)}:" for kind in KINDS), lines)


def _sets(file: str) -> list[tuple[str, str, str]]:
    """Set, precision and kind in the order of lines, batches, planes and cubes, long lines, short ones in memory."""
    order = ("lines", "batch", "nd", "long", "memory")
    found = dict.fromkeys((row["set"], row["precision"], row["kind"]) for row in rows(file))
    kinds = ("c2c", "r2c", "c2r")
    return sorted(found, key=lambda at: (order.index(at[0]), at[1], kinds.index(at[2])))


def shapes_summary() -> str:
    lines = []
    for at in _sets("shapes.csv"):
        found = rows("shapes.csv", **dict(zip(("set", "precision", "kind"), at, strict=True)))
        speeds = _speeds(found)
        long = _speeds(row for row in found if _points(row) > 30)
        fftw = geometric(column(found, "fftw ns / weft ns"))
        slow = str(sum(speed < 0.7 for speed in speeds))
        numbers = map(two, (geometric(speeds), geometric(long), min(speeds)))
        lines.append([*at, str(len(found)), *numbers, slow, two(fftw)])
    return markdown("set|precision|kind|number:|all:|n > 30:|least:|below 0.7:|over FFTW:", lines)


def shapes_before_and_after(file: str, below: float) -> str:
    lines = []
    for at in sorted(_sets(file), key=lambda at: (at[0] == "nd", at[2], at[1])):
        where = dict(zip(("set", "precision", "kind"), at, strict=True))
        before, after = (rows(file, commit=commit, **where) for commit in ("before", "after"))
        parts = (before, after, [r for r in after if _points(r) <= 30], [r for r in after if _points(r) > 30])
        speeds = _speeds(after)
        slow = str(sum(speed < below for speed in speeds))
        lines.append([*at, str(len(after)), *(two(geometric(_speeds(part))) for part in parts), two(min(speeds)), slow])
    return markdown(
        f"set|precision|kind|number:|before:|after:|after, up to 30 points:|after, more:|least:|below {below}:", lines
    )


def lines_zen3() -> str:
    """How many times as fast as before, beside the fastest peer, for three classes of lengths."""
    lines = []
    for at in _sets("lines-zen3.csv"):
        where = dict(zip(("set", "precision", "kind"), at, strict=True))
        before, after = (rows("lines-zen3.csv", commit=commit, **where) for commit in ("before", "after"))
        gained = [(_points(a), x / y) for a, x, y in zip(after, _speeds(after), _speeds(before), strict=True)]
        classes = ((2, 32), (33, 1024), (1025, 1 << 30))
        means = [two(geometric([gain for n, gain in gained if least <= n <= most])) for least, most in classes]
        lines.append([*at, *means])
    return markdown("set|precision|kind|2 to 32 points:|33 to 1024:|more:", lines)


def real_lines_zen4() -> str:
    lines = []
    for name, batch in (("batches", 16), ("8³ to 16³, 16², 32²", 1)):
        for precision in ("double", "single"):
            for kind in ("r2c", "c2r"):
                where = {"precision": precision, "kind": kind, "batch": batch}
                both = [_speeds(rows("real-lines-zen4.csv", commit=commit, **where)) for commit in ("before", "after")]
                slow = [str(sum(speed < 0.8 for speed in speeds)) for speeds in both]
                means = [two(geometric(speeds)) for speeds in both]
                least = [two(min(speeds)) for speeds in both]
                lines.append([name, precision, kind, str(len(both[1])), *means, *least, *slow])
    return markdown(
        "shapes|precision|kind|number:|before:|after:|least, before:|least, after:|below 0.8, before:|after:", lines
    )


def batches_zen4() -> str:
    lines = []
    for precision in ("double", "single"):
        both = [rows("batches-zen4.csv", commit=commit, precision=precision) for commit in ("before", "after")]
        for name, wanted in (
            ("all", lambda n: True),
            ("more than 30 points", lambda n: n > 30),
            ("64, 128, 256, 512, 1024", lambda n: n in (64, 128, 256, 512, 1024)),
        ):
            speeds = [[float(r["speed over FFTW"]) for r in found if wanted(_points(r))] for found in both]
            slow = [str(sum(speed < 0.8 for speed in part)) for part in speeds]
            means = [two(geometric(part)) for part in speeds]
            least = [two(min(part)) for part in speeds]
            lines.append([precision, name, str(len(speeds[1])), *means, *least, *slow])
    return markdown(
        "precision|lengths|number:|before:|after:|least, before:|least, after:|below 0.8, before:|after:", lines
    )


def calls() -> str:
    """Medians over rounds of each round's median; in brackets the least of all runs."""

    def middle(found: list[Row], name: str) -> float:
        return statistics.median(column(found, name))

    lines = []
    for threads in (1, 2):
        for n in (2, 64, 512):
            old, new = (rows("calls.csv", version=version, threads=threads, n=n) for version in ("old", "new"))

            def least(found: list[Row], name: str) -> float:
                return min(column(found, name))

            cells = [(middle(old, "call ns"), least(old, "least call ns"))]
            cells.append((middle(new, "call ns"), least(new, "least call ns")))
            cells.append((middle(new, "engine ns"), least(old + new, "least engine ns")))  # the same engine in both
            for found in (old, new):
                apart = least(found, "least call ns") - least(found, "least engine ns")
                cells.append((middle(found, "added ns"), apart))
            lines.append(
                [str(threads), str(n), *(f"{rounded(value, 1)} ({rounded(lowest, 1)})" for value, lowest in cells)]
            )
    return markdown("threads:|n:|old call:|new call:|the engine alone:|added, old:|added, new:", lines)


def calls_teams() -> str:
    shapes = ("lines of 8", "lines of 64", "lines of 512", "plane", "cube")
    lines = []
    for points in (512, 1024, 2048, 4096, 8192, 16384, 32768):
        cells = [min(column(rows("calls-teams.csv", shape=shape, points=points), "ratio")) for shape in shapes]
        lines.append([str(points), *map(two, cells)])
    return markdown("points:|" + "|".join(f"{shape}:" for shape in shapes), lines)


def _operator(version: str, operator: str, kind: str, n: str, precision: str = "double") -> float:
    (row,) = rows(f"host-operators/{version}.csv", operator=operator, kind=kind, n=n, precision=precision)
    return number(row, "ratio")


INSIDE = {
    "norm": ("1.01", "c2c 64", "r2c 64", "c2c 1024", "c2c single 1000", "c2c 256²", "r2c 256²", "r2c 64³", "r2c 128³"),
    "Hann window": ("1.03", "c2c 64", "c2c 1024", "c2c 256²", "r2c 256²", "r2c 64³", "r2c 128³"),
    "convolution": ("0.75", "c2c 256²", "r2c 64³", "r2c 128³"),
}


def operators_inside() -> str:
    lines = []
    for name, (asked, *transforms) in INSIDE.items():
        for transform in transforms:
            kind, *precision, n = transform.split()
            ratios = [_operator(version, name, kind, n, *precision) for version in ("apart", "inside")]
            lines.append([name if transform == transforms[0] else "", transform, *map(two, ratios), asked])
    return markdown("operator|transform|apart:|inside:|asked:", lines)


def operators_there_and_back() -> str:
    transforms = ("c2c 256²", "r2c 256²", "r2c 1024²", "r2c 64³", "r2c 128³", "c2c 128³", "r2c 256³")
    lines = [
        [version.replace("-", " "), *(two(_operator(version, "convolution", *at.split())) for at in transforms)]
        for version in ("two-transforms", "there-and-back")
    ]
    return markdown("|" + "|".join(f"{transform}:" for transform in transforms), lines)


def predictions() -> str:
    """Milliseconds, predicted / measured, and how far off."""

    def cell(shape: str, kind: str, ranks: int, threads: int) -> str:
        (row,) = rows("tune/predictions.csv", shape=shape, kind=kind, ranks=ranks, threads=threads)
        off = number(row, "predicted_seconds / measured_seconds") - 1
        times = [f"{1e3 * number(row, f'{what}_seconds'):.3g}" for what in ("predicted", "measured")]
        return f"{' / '.join(times)} ({100 * off:+.0f} %)"

    shapes = dict.fromkeys((row["shape"], row["kind"]) for row in rows("tune/predictions.csv"))
    lines = [[*at, *(cell(*at, *where) for where in ((1, 1), (1, 2), (2, 1)))] for at in shapes]
    return markdown("shape|kind|one thread:|two threads:|two ranks:", lines)


def real_to_real() -> str:
    """Milliseconds; in brackets GB/s, if each of three axes read and wrote the array once."""
    types = ("r2c", "dct1", "dct2", "dct3", "dct4", "dst1", "dst2", "dst3", "dst4")

    def cell(kind: str, n: int) -> str:
        (row,) = rows("r2r/h100.csv", transform=kind, n=n)
        ms = number(row, "median_ms")
        stored = n * n * (n // 2 + 1) * 16 if kind == "r2c" else n * n * n * 8
        rate = 3 * (n * n * n * 8 + stored) / ms / 1e6
        return f"{rounded(ms, 3 if ms < 2 else 2)} ({round(rate, -1):.0f})"

    lines = [[f"{n}³", *(cell(kind, n) for kind in types)] for n in (256, 512, 243)]
    return markdown("|r2c:|DCT I:|II:|III:|IV:|DST I:|II:|III:|IV:", lines)
