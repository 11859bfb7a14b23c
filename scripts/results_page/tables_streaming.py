"""Tables of the page on arrays that stay in host memory: one, two and four GPUs. Seconds, forward / inverse."""

from __future__ import annotations

from .data import Row, both, column, markdown, number, rounded, rows, three, two

FILE = "streaming/h100.csv"
PART = "stream (with a part on the device)"


def _times(row: Row | None) -> str:
    places = 2 if row and number(row, "forward_s") >= 1 and row["mode"].startswith("native") else 3
    return (
        both(lambda s: rounded(s, places), *(number(row, f"{way}_s") for way in ("forward", "inverse"))) if row else ""
    )


def _row(machine: str, n: int, kind: str, mode: str, **where: object) -> Row | None:
    found = rows(FILE, machine=machine, n=n, kind=kind, mode=mode, **where)
    return found[0] if found else None


def _streamed(row: Row) -> list[str]:
    shares = both(two, *(number(row, f"share_{way}") for way in ("forward", "inverse")))
    return [three(number(row, "floor_s")), _times(row), shares]


def _cufft(machine: str, n: int, *modes: str) -> str:
    """Forward alone; complex cubes only."""
    found = [column(rows("streaming/cufft.csv", machine=machine, n=n, mode=mode), "forward_s") for mode in modes]
    return " / ".join(rounded(one[0], 2 if one[0] >= 2 else 3) for one in found if one)


HEAD = "forward / inverse|floor:|streamed:|share of the floor:|`--stream=sync`:|"


def streaming_one() -> str:
    lines = []
    for n, kind in ((512, "c2c"), (1024, "c2c"), (512, "r2c"), (1024, "r2c")):
        streamed, sync, whole, native = (
            _row("H100-x1", n, kind, mode) for mode in ("stream", "sync", "whole", "native (16 cores)")
        )
        peers = (
            [_cufft("H100-x1", n, *modes) for modes in (["copies"], ["prefetched", "managed"])]
            if kind == "c2c"
            else ["", ""]
        )
        lines.append(
            [f"{n}³ {kind}, limit 8 GiB", *_streamed(streamed), *map(_times, (sync, whole)), *peers, _times(native)]
        )
    peers = "cuFFT, copied as a whole:|cuFFT, managed memory, prefetched / not:|native, 16 cores:"
    return markdown(f"one GPU, {HEAD}held by the device (`whole`):|{peers}", lines)


def streaming_parts() -> str:
    table = {
        "512³ c2c, limit 8 GiB: all stays": (512, "c2c", PART, "8G"),
        "1024³ c2c, limit 8 GiB": (1024, "c2c", PART, "8G"),
        "1024³ c2c, what the device has free": (1024, "c2c", PART, "none: what is free"),
        "1024³ r2c, limit 8 GiB": (1024, "r2c", PART, "8G"),
        "1536³ c2c in place, 58 GB, limit 70 GiB": (1536, "c2c", "stream", "70G"),
        "2048³ r2c in place, 69 GB, limit 70 GiB": (2048, "r2c", "stream", "70G"),
        "2048³ r2c in place, limit 8 GiB": (2048, "r2c", "stream", "8G"),
        "2048³ c2c in place, 137 GB, limit 70 GiB": (2048, "c2c", "stream", "70G"),
    }
    lines = []
    for name, (n, kind, mode, limit) in table.items():
        streamed = _row("H100-x2", n, kind, mode, ranks=1, limit=limit)
        sync = _row("H100-x2", n, kind, mode.replace("stream", "sync"), limit=limit)
        others = [_row("H100-x2", n, kind, f"{engine} (32 cores)") for engine in ("native", "fftw")]
        lines.append([name, *_streamed(streamed), *map(_times, (sync, *(others if mode == PART else (None, None))))])
    return markdown(f"one GPU, {HEAD}native:|FFTW:", lines)


def _convolved(n: int, problem: str, limit: str) -> list[str]:
    native, whole, stream = (
        rows("streaming/convolved.csv", n=n, problem=problem, mode=mode)[0] for mode in ("native", "whole", "stream")
    )
    times = [three(number(row, "seconds")) for row in (native, whole, stream)]
    held, tiles, between = (
        rounded(number(row, f"{kind}_MiB") / 1024, 1)
        for row, kind in ((whole, "device"), (stream, "device"), (stream, "page_locked"))
    )
    floor = [three(number(stream, "floor_s")), two(number(stream, "share"))]
    return [f"{n}³ {problem}, limit {limit}", *times, *floor, held, f"{tiles} / {between}"]


def streaming_convolutions() -> str:
    sizes = ((512, "1 GiB"), (1024, "8 GiB"))
    lines = [_convolved(n, problem, limit) for n, limit in sizes for problem in ("linear", "gaussian")]
    times = "one GPU|native, 16 cores:|held by the device:|streamed:|floor:|share of the floor:"
    return markdown(f"{times}|GiB, held by the device:|GiB, streamed, device / host:", lines)


def _several(machine: str, ranks: int, n: int, kind: str) -> list[str]:
    modes = ("stream (peer)", "sync (peer)", "whole")
    streamed, sync, whole = (_row(machine, n, kind, mode, ranks=ranks) for mode in modes)
    return [*_streamed(streamed), _times(sync), _times(whole)]


def streaming_two() -> str:
    cases = ((512, "c2c", "limit 8 GiB"), (1024, "c2c", "limit 8 GiB"), (1024, "r2c", "limit 8 GiB"))
    lines = []
    for n, kind, limit in (*cases, (2048, "r2c", "in place, limit 60 GiB each")):
        name = f"{n}³ {kind}{',' if limit.startswith('limit') else ''} {limit}"
        spread = _cufft("H100-x2", n, "spread*") if kind == "c2c" else ""
        lines.append([name, *_several("H100-x2", 2, n, kind), spread])
    return markdown(f"two GPUs, {HEAD}held by the devices (`whole`):|cuFFTXt:", lines)


def streaming_four() -> str:
    cases = ((512, "c2c"), (1024, "c2c"), (1024, "r2c"), (2048, "r2c"), (3072, "r2c"))
    lines = [[f"{n}³ {kind}{' in place' if n > 1024 else ''}", *_several("H200-x4", 4, n, kind)] for n, kind in cases]
    return markdown(f"four GPUs, {HEAD}held by the devices (`whole`):", lines)
