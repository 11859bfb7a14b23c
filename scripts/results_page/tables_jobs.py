"""Tables of docs/results/README.md that come out of the summaries of jobs on processors."""

from __future__ import annotations

from collections.abc import Iterable

from .data import Row, both, digits, markdown, rows, shape_name, two


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
