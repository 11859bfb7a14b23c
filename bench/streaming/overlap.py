#!/usr/bin/env python3
"""Draws when a GPU copies and computes, from what scripts/timeline wrote, the last so many milliseconds of it.
Needs Matplotlib. Usage: overlap.py TIMELINE.csv[.gz] PICTURE.png [MILLISECONDS]"""
import csv
import gzip
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44")


def rows_of(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        for row in csv.DictReader(file):
            yield row["what"], int(row["stream"]), float(row["begin_us"]) / 1e3, float(row["end_us"]) / 1e3


def main():
    path, picture = sys.argv[1:3]
    rows = list(rows_of(path))
    end = max(row[3] for row in rows)
    begin = end - float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
    lanes = {}
    for what, stream, first, last in rows:
        if last > begin:
            lanes.setdefault((what, stream), []).append((max(first, begin) - begin, last - max(first, begin)))
    figure, axes = plt.subplots(figsize=(10, 0.6 * len(lanes) + 1.2))
    for y, ((what, stream), spans) in enumerate(sorted(lanes.items())):
        axes.broken_barh(spans, (y - 0.4, 0.8), facecolors=COLOURS[y % len(COLOURS)], edgecolors="white", linewidth=0.3)
    axes.set_yticks(range(len(lanes)), [f"{what}, stream {stream}" for what, stream in sorted(lanes)])
    axes.set_xlabel("milliseconds")
    axes.set_xlim(0, end - begin)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main()
