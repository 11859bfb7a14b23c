#!/usr/bin/env python3
"""What `weft transform --stream` takes from file to file, beside two plain copies of the file, one after the other: as
much is read and written as by the two passes of a 3-D transform. Copies and transforms take turns. `cold`: the input is
not in the page cache, and the result is on the disk at the end; `warm`: the input is in the page cache, and nothing is
waited for. CSV: medians of the runs, and (copies / transform), which is 1 where streaming costs nothing but the files. Needs
NumPy, and room for three such files in the folder.
Usage: files.py WEFT [FOLDER] [SHAPE] [LIMIT] [THREADS] [RUNS]"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy

PIECE = 16 << 20


def make_input(path: Path, shape: tuple[int, ...]) -> None:
    array = numpy.lib.format.open_memmap(path, "w+", "f8", shape)
    random = numpy.random.default_rng(1)
    for plane in array:
        plane[...] = random.random(plane.shape)
    array.flush()


def leave_cache(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def enter_cache(path: Path) -> None:
    piece = bytearray(PIECE)
    with path.open("rb", buffering=0) as file:
        while file.readinto(piece):
            pass


def sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def copy(source: Path, target: Path) -> None:
    piece = memoryview(bytearray(PIECE))
    with source.open("rb", buffering=0) as reads, target.open("wb", buffering=0) as writes:
        while got := reads.readinto(piece):
            writes.write(piece[:got])


def seconds(source: Path, made: list[Path], cold: bool, work) -> float:
    """Of `work`, which reads the source and makes files, the last of which counts as the result."""
    (leave_cache if cold else enter_cache)(source)
    start = time.perf_counter()
    work()
    if cold:
        sync(made[-1])
    taken = time.perf_counter() - start
    for path in made:
        sync(path)
        path.unlink()
    return taken


def main() -> None:
    weft, folder, shape, limit, threads, runs = [
        *sys.argv[1:], *["/tmp", "1024x1024x512", "1G", "2", "3"][len(sys.argv) - 2 :]
    ]
    place = Path(folder)
    source, first, second = (place / f"weft-files-{name}.npy" for name in ("in", "one", "two"))
    flags = ["--stream", "--memory-limit", limit, "--threads", threads, "--quiet"]

    def copies() -> None:
        copy(source, first)
        copy(first, second)

    def transform() -> None:
        subprocess.run([weft, "transform", source, first, *flags], check=True)

    try:
        make_input(source, tuple(map(int, shape.split("x"))))
        print("shape,memory limit,threads,page cache,copies s,transform s,copies/transform", flush=True)
        for cold in (True, False):
            pairs = [
                (seconds(source, [first, second], cold, copies), seconds(source, [first], cold, transform))
                for _ in range(int(runs))
            ]
            copied, transformed = (statistics.median(column) for column in zip(*pairs))
            cells = [f"{copied:.2f}", f"{transformed:.2f}", f"{copied / transformed:.2f}"]
            print(",".join([shape, limit, threads, "cold" if cold else "warm", *cells]), flush=True)
    finally:
        for path in (source, first, second):
            path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
