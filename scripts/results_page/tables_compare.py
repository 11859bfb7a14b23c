"""Tables of `weft compare`: weft.fft beside the fastest of the libraries that are not weft, by experiment."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import cache

from .data import RESULTS, digits, geometric, markdown, rounded, shape_name, table, two

TIME, CASE = "Time_FFT [ms]", ("experiment", "kind", "complex", "shape", "batch", "precision", "way")
NAMES = {
    "powers": "powers of two", "primes": "primes", "smooth": "products of 2, 3, 5 and 7", "batches": "batches",
    "nd": "two and three axes", "precision": "half, single, double", "windows": "windows", "memory": "large arrays",
    "transfers": "to the device and back", "sizes": "planes",
}  # fmt: skip
Cell = tuple[dict[str, str], str, float, float]  # a row of the case, the fastest peer, its and weft's milliseconds


@cache
def _cells(file: str, library: str) -> list[Cell]:
    """Medians of each case that the library and a peer have run. Run 0, which plans, does not count."""
    runs: dict[tuple[str, ...], dict[str, list[float]]] = {}
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for row in table(RESULTS / file):
        case = tuple(row[name] for name in CASE)
        rows.setdefault(case, row)
        if row["run"] != "0":
            runs.setdefault(case, {}).setdefault(row["library"], []).append(float(row[TIME]))
    found = []
    for case, libraries in runs.items():
        medians = {name: statistics.median(times) for name, times in libraries.items()}
        peers = {name: time for name, time in medians.items() if not name.startswith("weft")}
        if library in medians and peers:
            fastest = min(peers, key=lambda name: peers[name])
            found.append((rows[case], fastest, peers[fastest], medians[library]))
    return found


def _name(row: dict[str, str]) -> str:
    kind = "r2c" if row["complex"] == "Real" else "c2c"
    precision = {"float": "single", "float16": "half"}.get(row["precision"], row["precision"])
    batch = f", {row['batch']} of them" if row["batch"] != "1" else ""
    way = "" if row["way"] == "plain" else f", {row['way']}"
    return f"{kind} {shape_name(row['shape'])} {precision}{batch}{way}"


def _ratios(cells: list[Cell]) -> list[float]:
    return [mine / peer for _, _, peer, mine in cells]


def _standing(name: str, cells: list[Cell]) -> Iterator[str]:
    ratios = _ratios(cells)
    good = sum(ratio <= 1.05 for ratio in ratios)
    yield from (name, str(len(cells)), f"{good}, {rounded(100 * good / len(cells), 0)} %")
    yield from (two(geometric(ratios)), two(max(ratios)))


def compare_standing(file: str, library: str = "weft") -> str:
    cells = _cells(file, library)
    names = dict.fromkeys(row["experiment"] for row, *_ in cells)
    lines = [_standing(NAMES[name], [cell for cell in cells if cell[0]["experiment"] == name]) for name in names]
    head = "experiment|cells:|fastest or within 5 %:|time over the fastest other library's, mean:|at worst:"
    return markdown(head, [*lines, _standing("all", cells)])


def compare_losses(file: str, library: str = "weft") -> str:
    """Cells in which another library is more than 5 % faster, microseconds."""
    lost = sorted((cell for cell in _cells(file, library) if cell[3] > 1.05 * cell[2]), key=lambda c: -c[3] / c[2])
    return markdown(
        f"cell|fastest|its µs:|{library}.fft µs:|ratio:",
        [[_name(row), peer, digits(1e3 * time), digits(1e3 * mine), two(mine / time)] for row, peer, time, mine in lost],
    )


WAYS = ("plain", "window called each time", "window cached", "window fused")


def compare_windows(file: str) -> str:
    """A window three ways beside none, microseconds, for each library."""
    runs: dict[tuple[str, str, str], list[float]] = {}
    cases: dict[str, dict[str, str]] = {}
    for row in table(RESULTS / file):
        name = _name(row | {"way": "plain"})
        cases.setdefault(name, row)
        if row["run"] != "0":
            runs.setdefault((name, row["library"], row["way"]), []).append(float(row[TIME]))
    lines = []
    for name in cases:
        for library in sorted({library for case, library, _ in runs if case == name}):
            times = [runs.get((name, library, way)) for way in WAYS]
            lines.append([name, library, *(digits(1e3 * statistics.median(one)) if one else "" for one in times)])
    return markdown("transform|library|no window:|made in each call:|kept:|fused:", lines)
