"""Tables of docs/results/README.md that come out of the summaries of jobs on processors."""

from __future__ import annotations

from collections.abc import Iterable

from .data import Row, both, digits, geometric, markdown, rows, shape_name, two


def _summary(job: str, **where: object) -> list[Row]:
    return rows(f"{job}/summary.csv", **where)


def _best(found: Iterable[Row]) -> float | None:
    """The least median, in seconds; None where nothing was measured."""
    return min((float(row["median"]) for row in found), default=None)


def _speed(mine: float | None, peer: float | None) -> str:
    return two(peer / mine) if mine and peer else "–"


def iterations(*jobs: str) -> str:
    """How many runs the medians of these jobs are of."""
    counts = {job: sorted({int(row["iterations"]) for row in _summary(job)}) for job in jobs}
    return ", ".join(f"{job} {c[0]}" + (f" to {c[-1]}" if len(c) > 1 else "") for job, c in counts.items())


def shapes_without(job: str, library: str) -> str:
    """The shapes for which a job has no cell of this library."""
    shapes = dict.fromkeys(row["shape"] for row in _summary(job))
    return ", ".join(shape_name(shape) for shape in shapes if not _summary(job, library=library, shape=shape))


NATIVE_ND = (
    *(("c2c", "128x128x128"), ("r2c", "128x128x128"), ("c2c", "256x256x256"), ("c2c", "512x512x512")),
    *(("r2c", "256x256x256"), ("r2c", "512x512x512"), ("r2c", "243x250x252"), ("r2c", "127x127x127")),
    *(("r2c", "4096x4096"), ("c2c", "4096x4096")),
)


def native_nd() -> str:
    lines = []
    for kind, shape in NATIVE_ND:
        fastest, wide = [], []
        for threads in (1, 2):
            cell = _summary("native-nd", shape=shape, kind=kind, threads=threads)
            mine = _best(row for row in cell if row["library"] == "weft")
            fastest.append(_speed(mine, _best(row for row in cell if row["library"] != "weft")))
            wide.append(_speed(mine, _best(row for row in cell if row["library"] == "fftw-avx512")))
        lines.append([f"{kind} {shape_name(shape)}", *fastest, *wide])
    return markdown("case|1 thread:|2 threads:|over FFTW with AVX-512, 1 thread:|2 threads:", lines)


def native_1d() -> str:
    """Single lines, batches of 4096 points, batches of 2^24."""
    lengths = sorted({int(row["shape"]) for row in _summary("native-1d")})
    columns = [(precision, kind) for precision in ("double", "single") for kind in ("c2c", "r2c")]

    def cell(precision: str, kind: str, n: int, points: int) -> str:
        found = _summary("native-1d", precision=precision, kind=kind, shape=n, batch=max(1, points // n))
        wide = _best(row for row in found if row["library"] == "fftw-avx512")
        return _speed(_best(row for row in found if row["library"] == "weft"), wide)

    lines = []
    for name, points in (("one line", 1), ("4096 points", 4096), ("2^24 points", 1 << 24)):
        for n in lengths:
            cells = [cell(*column, n, points) for column in columns]
            if (points == 1 or n < min(points, 4097)) and set(cells) != {"–"}:
                lines.append([name, str(n), *cells])
    return markdown("|length:|" + "|".join(f"{kind} {precision}:" for precision, kind in columns), lines)


def peers_cpu() -> str:
    """weft is the better of auto and slab-2d1d; FFTW-MPI has transposed output."""
    lines = []
    for kind in ("r2c", "c2c"):
        for n in ("64³", "128³", "256³", "512³"):
            cells = [f"{kind} {n}"]
            for ranks in ("1", "2", "4"):
                cell = _summary("peers-cpu", shape=n, kind=kind, ranks=ranks, threads=1)
                mine = _best(row for row in cell if row["library"] == "weft" and row["config"] in ("auto", "slab-2d1d"))
                library, config = ("fftw", "-") if ranks == "1" else ("fftw-mpi", "transposed")
                peer = _best(row for row in cell if (row["library"], row["config"]) == (library, config))
                cells.append(both(digits, 1e3 * mine, 1e3 * peer))
                cells += [two(mine / peer)] if ranks != "1" else []
            lines.append(cells)
    return markdown("case|1 rank: weft / FFTW|2 ranks: weft / FFTW-MPI|ratio|4 ranks: weft / FFTW-MPI|ratio", lines)


CELL = ("shape", "kind", "precision", "direction", "batch", "threads", "ranks")


def _speeds(job: str, **where: object) -> dict[tuple[str, ...], float]:
    """Of each case weft's speed over that of the fastest peer."""
    times: dict[tuple[str, ...], tuple[list[float], list[float]]] = {}
    for row in _summary(job, **where):
        mine, theirs = times.setdefault(tuple(row[name] for name in CELL), ([], []))
        (mine if row["library"] == "weft" else theirs).append(float(row["median"]))
    return {case: min(theirs) / min(mine) for case, (mine, theirs) in times.items() if mine and theirs}


def _kind(case: tuple[str, ...]) -> str:
    return case[2] + " " + ("c2r" if case[3] == "inverse" else case[1])


def _standing(speeds: dict[tuple[str, ...], float], below: float) -> list[str]:
    """How many cases, the geometric mean of their speeds, the least and whose it is, how many are below."""
    worst = min(speeds, key=lambda case: speeds[case])
    return [
        str(len(speeds)),
        two(geometric(speeds.values())),
        f"{two(speeds[worst])} ({shape_name(worst[0])})",
        str(sum(speed < below for speed in speeds.values())),
    ]


def lines_job() -> str:
    """Lines alone, and in batches, of each kind and precision: all lengths, and more than 30 points."""
    table = []
    for batch, below in (("1", 0.7), ("16", 0.8)):
        speeds = _speeds("lines", batch=batch)
        for kind in dict.fromkeys(map(_kind, speeds)):
            some = {case: speed for case, speed in speeds.items() if _kind(case) == kind}
            more = {case: speed for case, speed in some.items() if int(case[0]) > 30}
            name = "one line" if batch == "1" else f"{batch} lines"
            table.append([name, kind, *_standing(some, below), two(geometric(more.values()))])
    head = "|precision and kind|cases:|mean:|least (length)|below 0.7, batches 0.8:|mean, more than 30 points:"
    return markdown(head, table)


def _class(shape: str) -> str:
    extents = [int(n) for n in shape.split("x")]
    if len(extents) == 1:
        return "lines"
    if len(extents) == 2:
        return "planes"
    return "cubes" if extents[0] <= 128 else "large cubes"


def _floor_shares(job: str, threads: str, kind: str, class_: str) -> str:
    """Which shares of the floor weft reaches: of its time, that of the least trips through memory."""
    shares = [
        100 * float(row["memory_share"])
        for row in _summary(job, threads=threads, library="weft")
        if _class(row["shape"]) == class_ and _kind(tuple(row[name] for name in CELL)) == kind
    ]
    return f"{min(shares):.0f} to {max(shares):.0f}"


def shapes_job() -> str:
    """Planes, cubes and long lines on one and two threads; of large ones, the share of the floor."""
    table = []
    for kind_of_shape, below in (("planes", 0.85), ("cubes", 0.85), ("large cubes", 1.5), ("lines", 1.0)):
        for threads in ("1", "2"):
            found = _speeds("shapes", threads=threads)
            speeds = {case: speed for case, speed in found.items() if _class(case[0]) == kind_of_shape}
            for kind in dict.fromkeys(map(_kind, speeds)):
                some = {case: speed for case, speed in speeds.items() if _kind(case) == kind}
                large = kind_of_shape in ("large cubes", "lines")
                floor = _floor_shares("shapes", threads, kind, kind_of_shape) if large else "–"
                table.append([kind_of_shape, threads, kind, *_standing(some, below), floor])
    head = "|threads:|precision and kind|cases:|mean:|least (shape)|below 0.85, large 1.5, lines 1.0:|of the floor, %:"
    return markdown(head, table)


def cores_job() -> str:
    """On each number of cores: weft's and FFTW's milliseconds, the ratio, and how many times one core's speed."""
    table = []
    for kind in ("r2c", "c2c"):
        for n in ("256", "512"):
            shape = f"{n}x{n}x{n}"
            one = _best(_summary("cores", shape=shape, kind=kind, ranks=1, threads=1, library="weft"))
            for word in ("threads", "ranks"):
                other = "ranks" if word == "threads" else "threads"
                for count in ("1", "2", "4", "8", "16"):
                    if word == "ranks" and count == "1":
                        continue
                    found = _summary("cores", shape=shape, kind=kind, **{word: count, other: 1})
                    mine = _best(row for row in found if row["library"] == "weft")
                    theirs = _best(row for row in found if row["library"] != "weft")
                    if mine is None or one is None:
                        continue
                    floor = max(float(row["floor"]) for row in found if row["library"] == "weft")
                    theirs_ms = digits(theirs * 1e3) if theirs else "–"
                    ratios = [_speed(mine, theirs), two(one / mine), two(floor / mine)]
                    cores = "1 thread" if count == "1" else f"{count} {word}"
                    table.append([f"{kind} {shape_name(shape)}", cores, digits(mine * 1e3), theirs_ms, *ratios])
    return markdown("|cores|weft, ms:|FFTW, ms:|over FFTW:|over one core:|of the floor:", table)


def profiles() -> str:
    """For each case of profiles.csv the functions that take most of its time, with their percentages."""
    cases: dict[tuple[str, str, str], list[str]] = {}
    for row in rows("profiles.csv"):
        case = (f"{row['precision']} {row['kind']}", row["threads"], row["shape"])
        if len(cases.setdefault(case, [])) < 6:
            cases[case].append(f"`{row['function']}` {float(row['percent']):.0f}")
    table = [[*case, ", ".join(found)] for case, found in cases.items()]
    return markdown("|threads:|shape and batch|functions, percent", table)
