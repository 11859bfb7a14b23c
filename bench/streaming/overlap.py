#!/usr/bin/env python3
"""Draws when a device copies and computes, from what scripts/timeline wrote of a GPU or from weft's own trace of a
streamed plan (weft transform --stream --trace), the last so many milliseconds of it.
Needs Matplotlib. Usage: overlap.py TIMELINE.csv[.gz] or TRACE.json, PICTURE.png [MILLISECONDS]"""
import csv
import gzip
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44")


def rows_of_timeline(path):
    """The lane and the milliseconds of each copy and kernel of a GPU."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        for row in csv.DictReader(file):
            yield f"{row['what']}, stream {row['stream']}", float(row["begin_us"]) / 1e3, float(row["end_us"]) / 1e3


def rows_of_trace(path):
    """The same of each tile's copies and work in a trace of weft's. Lanes have the rank's name where there are several."""
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    several = len({rank for rank, _ in names}) > 1
    for event in events:
        if "tile" not in event.get("args", {}):
            continue
        lane = names[event["pid"], event["tid"]] + (f", rank {event['pid']}" if several else "")
        yield lane, event["ts"] / 1e3, (event["ts"] + event["dur"]) / 1e3


def main():
    path, picture = sys.argv[1:3]
    is_trace = path.endswith(".json")
    rows = list(rows_of_trace(path) if is_trace else rows_of_timeline(path))
    if not rows:
        sys.exit(f"{path}: no copies in it; is it a trace of a streamed plan?")
    end = max(last for _, _, last in rows)
    begin = end - float(sys.argv[3]) if len(sys.argv) > 3 else min(first for _, first, _ in rows) if is_trace else 0.0
    lanes = {}
    for lane, first, last in rows:
        if last > begin:
            lanes.setdefault(lane, []).append((max(first, begin) - begin, last - max(first, begin)))
    figure, axes = plt.subplots(figsize=(10, 0.6 * len(lanes) + 1.2))
    for y, (_, spans) in enumerate(sorted(lanes.items())):
        axes.broken_barh(spans, (y - 0.4, 0.8), facecolors=COLOURS[y % len(COLOURS)], edgecolors="white", linewidth=0.3)
    axes.set_yticks(range(len(lanes)), sorted(lanes))
    axes.set_xlabel("milliseconds")
    axes.set_xlim(0, end - begin)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main()
