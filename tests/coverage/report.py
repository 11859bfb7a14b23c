"""Shows the line coverage of src/ that gcovr has written, and compares it with the floor.

    report.py FOLDER FLOOR          # FOLDER/lines.json is gcovr's; exit status 1 where coverage is below the floor
    report.py FOLDER FLOOR --raise  # the floor becomes what was measured, less SLACK, where that is higher

Writes FOLDER/lines.csv: a row for each file, each folder and all. The floor has a row for each folder, and for all.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ALL = "src"
MOST = 25  # files and functions that are shown
# Random cases, and those that run as long as a clock says, do not always run the same lines.
SLACK = {ALL: 0.3}
FOLDER_SLACK = 1.0


@dataclass
class Count:
    lines: int = 0
    missed: int = 0

    def add(self, other: Count) -> None:
        self.lines += other.lines
        self.missed += other.missed

    @property
    def percent(self) -> float:
        return 100 * (1 - self.missed / self.lines) if self.lines else 100.0


@dataclass
class Coverage:
    files: dict[str, Count] = field(default_factory=dict)
    folders: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    functions: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))  # "file: function"


def folder_of(file: str) -> str:
    """src/exec of src/exec/plan.c, src/engine/jit of src/engine/jit/plan.c: what has parts is told by parts."""
    parts = Path(file).parts
    return "/".join(parts[: min(len(parts) - 1, 3)])


def read(path: Path) -> Coverage:
    coverage = Coverage()
    for entry in json.loads(path.read_text(encoding="utf-8"))["files"]:
        file = entry["file"]
        begins = sorted((function["lineno"], function["name"]) for function in entry["functions"])
        hits: dict[int, int] = defaultdict(int)
        for line in entry["lines"]:
            if not line.get("gcovr/noncode", False):
                hits[line["line_number"]] += line["count"]
        count = coverage.files[file] = Count()
        for line, times in hits.items():
            one = Count(1, 0 if times else 1)
            count.add(one)
            name = next((name for begin, name in reversed(begins) if begin <= line), "")
            coverage.functions[f"{file}: {name}" if name else file].add(one)
        coverage.folders[folder_of(file)].add(count)
        coverage.folders[ALL].add(count)
    return coverage


def read_floor(path: Path) -> dict[str, float]:
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as stream:
        rows = csv.DictReader(line for line in stream if not line.startswith("#"))
        return {row["folder"]: float(row["percent"]) for row in rows}


def write_floor(path: Path, floor: dict[str, float]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        stream.write("# Percent of the lines of src/ that tests must run, by folder and in all; scripts/coverage --raise writes it.\n")
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["folder", "percent"])
        rows.writerows([folder, f"{percent:.1f}"] for folder, percent in sorted(floor.items()))


def raised(coverage: Coverage, floor: dict[str, float]) -> dict[str, float]:
    """Never lower than it was; without folders that are gone."""
    return {
        folder: max(floor.get(folder, 0.0), int(10 * max(count.percent - SLACK.get(folder, FOLDER_SLACK), 0)) / 10)
        for folder, count in coverage.folders.items()
    }


def write_csv(path: Path, coverage: Coverage) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["name", "lines", "missed", "percent"])
        for name, count in sorted({**coverage.folders, **coverage.files}.items()):
            rows.writerow([name, count.lines, count.missed, f"{count.percent:.2f}"])


def show(coverage: Coverage, floor: dict[str, float]) -> None:
    def worst(counts: dict[str, Count], what: str) -> None:
        print(f"\n{what} that miss most:")
        for name, count in sorted(counts.items(), key=lambda item: (-item[1].missed, item[0]))[:MOST]:
            if count.missed:
                print(f"{count.missed:7} of {count.lines:5}  {name}")

    worst(coverage.files, "Files")
    worst(coverage.functions, "Functions")
    print(f"\n{'lines':>7} {'missed':>7} {'run':>8} {'floor':>8}  folder")
    for folder, count in sorted(coverage.folders.items(), key=lambda item: (item[0] == ALL, item[0])):
        least = f"{floor[folder]:7.1f}%" if folder in floor else "       -"
        print(f"{count.lines:7} {count.missed:7} {count.percent:7.2f}% {least}  {folder}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("floor", type=Path)
    parser.add_argument("--raise", action="store_true", dest="raises")
    flags = parser.parse_args()
    measured = flags.folder / "lines.json"
    if not measured.exists():
        print(f"coverage: nothing is measured in {flags.folder}; run scripts/coverage", file=sys.stderr)
        return 1
    coverage, floor = read(measured), read_floor(flags.floor)
    if flags.raises:
        floor = raised(coverage, floor)
        write_floor(flags.floor, floor)
    show(coverage, floor)
    write_csv(flags.folder / "lines.csv", coverage)
    fallen = [
        f"coverage: {folder}: the tests run {count.percent:.2f} % of its lines, less than the floor of {floor[folder]} %"
        for folder, count in coverage.folders.items()
        if count.percent < floor.get(folder, 0.0)
    ]
    print("\n".join(fallen), file=sys.stderr, end="\n" if fallen else "")
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
