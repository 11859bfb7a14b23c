"""Tables of what was measured on GPUs: one and several, kernels, operators, the executor, streaming."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable

from .data import Row, both, column, digits, extents, geometric, markdown, number, rounded, rows, three, two


def _mean(found: Iterable[Row], name: str = "median_ms") -> float:
    return statistics.fmean(column(found, name))


def _ratios(shape: str, kind: str, direction: str) -> list[float]:
    """Of both precisions: weft over cuFFT, where both were measured."""
    found = []
    for precision in ("single", "double"):
        where = {"shape": shape, "kind": kind, "direction": direction, "precision": precision}
        times = [column(rows("cuda-one/summary.csv", library=name, **where), "median") for name in ("weft", "cufft")]
        found += [times[0][0] / times[1][0]] if all(times) else []
    return found


def cuda_one() -> str:
    shapes = ("32³", "64³", "128³", "256³", "240×252×250", "512³", "1024³")
    lines = []
    cases = {
        "c2c, r2c forward (single and double)": [("c2c", "forward"), ("r2c", "forward")],
        "c2c inverse": [("c2c", "inverse")],
        "complex to real": [("r2c", "inverse")],
    }
    for name, parts in cases.items():
        cells = []
        for shape in shapes:
            texts = sorted({two(ratio) for part in parts for ratio in _ratios(extents(shape), *part)})
            cells.append(" to ".join(dict.fromkeys((texts[0], texts[-1]))) if texts else "–")
        lines.append([name, *cells])
    return markdown("|" + "|".join(f"{shape}:" for shape in shapes), lines)


JIT_ON_FOUR = ("5c6a91c", "aeeaefc", "447be7d", "f117afe")


def _several(machine: int, n: int, kind: str, engine: str, **where: object) -> str:
    """The median of launches, in ms; empty where there is none."""
    where = {"precision": "double", "direction": "forward", "exchange": "peer"} | where
    times = rows("cuda-exchanges/times.csv", machine=f"{machine} x H200", n=n, kind=kind, engine=engine, **where)
    return _digits3(statistics.median(column(times, "median_ms"))) if times else "–"


def _digits3(ms: float) -> str:
    return three(ms) if ms < 1 else digits(ms)


def _cufftxt(ranks: int, shape: str, kind: str = "c2c", direction: str = "forward") -> float | None:
    """Median in ms of the job on two GPUs, or of the one on four."""
    where = {"library": "cufftxt", "shape": shape, "kind": kind, "precision": "double", "direction": direction}
    if ranks == 2:
        found = column(rows("cufftxt/summary.csv", **where), "median")
    else:
        found = column(rows("cuda-exchanges/cufftxt-4.csv.gz", **where), "total")
    return 1e3 * statistics.median(found) if found else None


def exchanges_forward() -> str:
    """What each number is of: GPUs, size, kind, parts; then the commits with cuFFT and with jit."""
    table = (
        (4, 1024, "c2c", 8, "5c6a91c", JIT_ON_FOUR, {}),
        (4, 512, "c2c", 4, "5c6a91c", JIT_ON_FOUR, {}),
        (4, 256, "c2c", 2, "5c6a91c", JIT_ON_FOUR, {}),
        (4, 1024, "c2c", 8, "5c6a91c", "5c6a91c", {"direction": "inverse"}),
        (4, 1024, "c2c", 8, "5c6a91c", "5c6a91c", {"precision": "single"}),
        (4, 512, "c2c", 4, "5c6a91c", "5c6a91c", {"precision": "single"}),
        (4, 1024, "r2c", 8, "5c6a91c", "5c6a91c", {}),
        (4, 512, "r2c", 4, "5c6a91c", "5c6a91c", {}),
        (2, 1024, "c2c", 16, "ebc3c56", "5c6a91c", {}),
        (2, 512, "c2c", 8, "1cf3999", "1cf3999", {}),
        (2, 256, "c2c", 4, "1cf3999", "1cf3999", {}),
        (2, 1024, "r2c", 8, "ebc3c56", "ebc3c56", {}),
    )
    lines = []
    for gpus, n, kind, parts, old, new, where in table:
        name = f"{kind} {n}³{' back, scaled' if 'direction' in where else ''}"
        name += f"{' single' if 'precision' in where else ''}, {gpus} GPUs"
        peer = None if where else _cufftxt(gpus, f"{n}³", kind)
        cells = [_several(gpus, n, kind, "cufft", commit=old, chunks=parts, **where)]
        cells.append(_several(gpus, n, kind, "jit", commit=new, chunks=parts, **where))
        lines.append([name, _digits3(peer) if peer else "–", *cells, str(parts)])
    for n in (1024, 512):
        where = {"library": "weft", "shape": f"{n}³", "kind": "c2c", "precision": "double", "direction": "forward"}
        one = 1e3 * column(rows("cuda-one/summary.csv", **where), "median")[0]
        lines.append([f"c2c {n}³, 1 GPU", "–", digits(one), _several(1, n, "c2c", "jit"), "–"])
    return markdown("forward, ms|cuFFTXt:|weft with cuFFT:|weft with jit:|parts:", lines)


def exchanges_again() -> str:
    """The first launch of each on that day."""

    def cell(n: int, kind: str, exchange: str, engine: str) -> str:
        where = {"commit": "e668173", "n": n, "kind": kind, "exchange": exchange, "engine": engine}
        times = (
            number(rows("cuda-exchanges/times.csv", direction=direction, **where)[0], "median_ms")
            for direction in ("forward", "inverse")
        )
        return both(_digits3, *times)

    lines = []
    for kind, n in (("c2c", 1024), ("c2c", 512), ("c2c", 256), ("r2c", 1024), ("r2c", 512), ("r2c", 256)):
        peer = [_cufftxt(4, f"{n}³", kind, direction) for direction in ("forward", "inverse")]
        ways = [cell(n, kind, exchange, engine) for exchange in ("peer", "nccl") for engine in ("jit", "cufft")]
        lines.append([f"{kind} {n}³", both(_digits3, *peer) if all(peer) else "–", *ways])
    return markdown("forward / back, ms|cuFFTXt:|`peer`, jit:|`peer`, cuFFT:|`nccl`, jit:|`nccl`, cuFFT:", lines)


def exchanges_beside_cufftxt() -> str:
    """Means of the launches of both on one machine."""

    def cell(n: int, **where: object) -> str:
        of = {"commit": "d2821c4", "kind": "c2c", "n": n} | where
        times = (_mean(rows("cuda-exchanges/times.csv", direction=way, **of)) for way in ("forward", "inverse"))
        return both(_digits3, *times)

    lines = [
        [f"c2c {n}³", cell(n, engine="cufftxt"), cell(n, engine="jit", exchange="peer")] for n in (1024, 512, 256)
    ]
    return markdown("forward / back, ms|cuFFTXt:|`peer`, jit:", lines)


def _lines(kind: str, *lengths: int) -> list[str]:
    return [f"{kind} lines of {length}" for length in lengths]


def _cubes(kind: str, *sizes: int) -> list[str]:
    return [f"{kind} {size}x{size}x{size}" for size in sizes]


KERNELS = {
    "lines of 64": _lines("c2c", 64),
    "lines of 256, 1024, 4096": _lines("c2c", 256, 1024, 4096),
    "lines of 8192, 16384": _lines("c2c", 8192, 16384),
    "lines of 65536, 2^20": _lines("c2c", 65536, 1 << 20),
    "lines of 243, 360, 1000, 1001, 2187": _lines("c2c", 243, 360, 1000, 1001, 2187),
    "lines of 127, 1009": _lines("c2c", 127, 1009),
    "r2c, c2r lines of 1024, input kept": [*_lines("r2c", 1024), *_lines("c2r", 1024)],
    **{f"axes y, x of {n}³": [f"c2c axis {axis} of {n}^3" for axis in "yx"] for n in (256, 512, 1024)},
    **{
        f"{kind} {names}": _cubes(kind, *sizes)
        for kind in ("c2c", "r2c")
        for names, sizes in (("128³, 256³, 384³", (128, 256, 384)), ("512³, 1024³", (512, 1024)))
    },
    "c2r 128³, 256³, 384³": _cubes("c2r", 128, 256, 384),
    "r2c 240×252×250, 127³": ["r2c 240x252x250", *_cubes("r2c", 127)],
}


def _each(cases: Iterable[str], value: Callable[[str], str | None]) -> str:
    found = [value(case) for case in cases]
    return ", ".join(text for text in found if text)


def kernels() -> str:
    """Shares of a contiguous copy; the later run where a case ran twice."""

    def share(precision: str, engine: str) -> Callable[[str], str | None]:
        def of(case: str) -> str | None:
            found = rows(f"cuda-kernels/{precision}.csv", case=case, engine=engine)
            return two(number(found[-1], "share")) if found else None

        return of

    columns = [(precision, engine) for precision in ("double", "single") for engine in ("cufft", "jit")]
    lines = [[name, *(_each(cases, share(*at)) for at in columns)] for name, cases in KERNELS.items()]
    return markdown("case|cuFFT double:|jit double:|cuFFT single:|jit single:", lines)


def short_lines(kind: str) -> str:
    """Shares of a contiguous copy of cuFFT, of jit with a thread for each line, and of jit: geometric means."""
    ranges = ((2, 8), (9, 16), (17, 31), (32, 64), (65, 128))
    engines = (("cufft", "now"), ("jit", "a thread for each line"), ("jit", "now"))
    lines = []
    for first, last in ranges:
        cells = []
        for precision in ("double", "single"):
            where = {"kind": kind, "precision": precision}
            found = [rows("cuda-kernels/lengths.csv", engine=e, version=v, **where) for e, v in engines]
            measured = set.intersection(*({row["n"] for row in some} for some in found))
            lengths = {n for n in measured if first <= int(n) <= last}
            cells += [two(geometric(number(row, "share") for row in some if row["n"] in lengths)) for some in found]
        lines.append([f"{first} to {last}", *cells])
    head = "|".join(f"{name}, {precision}:" for precision in ("double", "single") for name in ("cuFFT", "before", "jit"))
    return markdown(f"{kind}, points|{head}", lines)


def _over_vkfft(precision: str, case: str) -> float | None:
    found = [rows(f"cuda-kernels/vkfft-{precision}.csv", case=case, engine=engine) for engine in ("vkfft", "jit")]
    return number(found[0][-1], "ms") / number(found[1][-1], "ms") if all(found) else None


def beside_vkfft() -> str:
    """Speed of jit over that of VkFFT."""

    def cell(precision: str, cases: list[str], span: bool) -> str:
        ratios = [_over_vkfft(precision, case) for case in cases]
        if span:
            return f"{two(min(ratios))} to {two(max(ratios))}"
        return ", ".join(two(ratio) if ratio else "–" for ratio in ratios)

    powers = [64 << i for i in range(7)]
    real = [256, 512, 1000, 1024, 4096]
    table = {
        "lines of 64 to 4096, powers of two": (_lines("c2c", *powers), True),
        "lines of 8192, 16384, 65536, 2^20": (_lines("c2c", 8192, 16384, 65536, 1 << 20), False),
        "lines of 243, 360, 1000, 1001, 2187": (_lines("c2c", 243, 360, 1000, 1001, 2187), False),
        "lines of 127, 1009, 100003": (_lines("c2c", 127, 1009, 100003), False),
        "r2c lines of 256 to 4096": (_lines("r2c", *real), True),
        "c2r lines of 256 to 4096": (_lines("c2r", *real), True),
        **{f"{kind} 128³, 256³, 384³, 512³": (_cubes(kind, 128, 256, 384, 512), False) for kind in KINDS},
        "c2c, r2c, c2r 240×252×250": ([f"{kind} 240x252x250" for kind in KINDS], False),
        "c2c, r2c, c2r 127³": ([f"{kind} 127x127x127" for kind in KINDS], False),
    }
    lines = [[name, *(cell(precision, *what) for precision in ("double", "single"))] for name, what in table.items()]
    return markdown("case|double:|single:", lines)


KINDS = ("c2c", "r2c", "c2r")


def operators() -> str:
    """In double precision."""

    def column_of(case: str, name: str, form: Callable[[float], str], *sizes: int) -> list[str]:
        found = (
            (
                rows("cuda-operators/operators.csv", case=f"{case} {size}", engine=engine, precision="double")[0]
                for size in sizes
            )
            for engine in ("jit", "cufft")
        )
        return [", ".join(form(number(row, name)) for row in engine) for engine in found]

    ratios = column_of(
        "Hann window; lines of", "ratio", lambda ratio: rounded(ratio, 3 if ratio < 1.5 else 2), 256, 1024, 4096
    )
    lines = [["Hann window, lines of 256, 1024, 4096: with over without", *ratios]]
    for axes, n, name in ((2, 1024, "1024²"), (3, 256, "256³"), (3, 512, "512³")):
        case = f"there and back with a Gaussian; {axes} axes of"
        lines.append([f"there and back {name}, ms", *column_of(case, "with_ms", _digits3, n)])
    return markdown("double precision|jit:|cuFFT:", lines)


def caller_stream() -> str:
    """Both runs of each."""
    lines = []
    cases = [(1, engine, n) for n in (32, 64, 128) for engine in ("jit", "cufft")]
    for gpus, engine, n in [*cases, (1, "jit", 256), *((2, "jit", n) for n in (128, 256, 512, 1024))]:
        cells = []
        for version in ("old", "new"):
            where = {"version": version, "engine": engine, "ranks": gpus, "n": n, "kind": "c2c", "direction": "forward"}
            times = column(rows("cuda-caller-stream/times.csv", **where), "median_ms")
            cells.append(", ".join(rounded(ms, 4 if ms < 1 else 3 if ms < 10 else 2) for ms in times))
        lines.append([f"{gpus}, {engine}{', peer' if gpus == 2 else ''}", f"{n}³", *cells])
    return markdown("GPUs, engine|c2c|old:|new:", lines)


def _old_and_new(file: str, engine: str, kind: str, n: int, direction: str) -> list[str]:
    where = {"engine": engine, "kind": kind, "n": n, "direction": direction}
    old, new = (_mean(rows(f"task-executor/{file}.csv", build=build, **where)) for build in ("old", "new"))
    return [*(rounded(ms, 3 if ms < 10 else 2) for ms in (old, new)), two(new / old)]


def executor_two_h200() -> str:
    lines = []
    for at in ((engine, kind, n) for engine in ("jit", "cufft") for n in (256, 512, 1024) for kind in ("c2c", "r2c")):
        for direction in ("forward", "inverse"):
            name = "{} {} {}³".format(*at) if direction == "forward" else ""
            lines.append([name, direction, *_old_and_new("two-h200", *at, direction)])
    return markdown("engine, array|direction|old:|new:|new / old:", lines)


def executor_two_h100() -> str:
    lines = []
    jit = [("jit", kind, n) for n in (256, 512, 1024) for kind in ("c2c", "r2c") if (kind, n) != ("r2c", 1024)]
    for at in [*jit, ("cufft", "r2c", 512), ("cufft", "r2c", 1024)]:
        cells = [_old_and_new("two-h100", *at, direction) for direction in ("forward", "inverse")]
        lines.append(["{} {} {}³".format(*at), *cells[0], *cells[1]])
    return markdown("engine, array|forward: old:|new:|new / old:|inverse: old:|new:|new / old:", lines)
