"""Tables of the pages on convolutions and on convolutions by samples and levels."""

from __future__ import annotations

import statistics

from .data import Row, column, digits, markdown, number, power, rounded, rows, two

CASES = {
    "periodic, Gaussian (real factors)": "periodic Gaussian",
    "periodic, array (complex factors)": "periodic array",
    "linear, `same`, kernel of n³": "linear same",
    "free-space Poisson": "free-space Poisson",
}


def on_the_host() -> str:
    lines = []
    for name, case in CASES.items():
        for row in sorted(rows("convolutions/host.csv", case=case), key=lambda row: int(row["threads"])):
            times = [digits(number(row, "one_plan_ms")), row["separate_over_one"], row["fftw_over_one"]]
            label = "" if lines and name in (line[0] for line in lines) else name
            lines.append([label, row["n"], row["threads"], *times, two(number(row, "one_plan_MiB / separate_MiB"))])
    head = "case|n³:|threads:|one plan, ms:|separate over it:|FFTW over it:|memory over separate:"
    return markdown(head, lines)


def on_two_ranks() -> str:
    names = ("case on 2 ranks", "n", "one_plan_ms", "separate_over_one", "fftw_over_one")
    lines = [
        [rounded(float(row[name]), 2) if name == "one_plan_ms" else row[name] for name in names]
        for row in rows("convolutions/ranks.csv")
    ]
    return markdown("case|n³:|one plan, ms:|separate over it:|FFTW-MPI over it:", lines)


def truncated() -> str:
    """There and back between the spectrum of m^3 points and real space of (3/2 m)^3."""
    lines = []
    for row in rows("convolutions/truncated.csv"):
        one = number(row, "one_plan_ms")
        ratios = [rounded(number(row, f"{way}_ms") / one, 2) for way in ("separate", "fftw")]
        memory = rounded(number(row, "one_plan_MiB") / number(row, "separate_MiB"), 2)
        lines.append([row["m"], row["threads"], digits(one), *ratios, memory])
    return markdown("m:|threads:|one plan, ms:|separate over it:|FFTW over it:|memory over separate:", lines)


def padding() -> str:
    """weft.PFFT beside mpi4py-fft's, each way."""
    lines = []
    for row in rows("convolutions/padding.csv"):
        ours = [number(row, f"weft_{way}_ms") for way in ("forward", "backward")]
        theirs = [number(row, f"mpi4py_fft_{way}_ms") for way in ("forward", "backward")]
        ratios = [rounded(other / one, 2) for one, other in zip(ours, theirs, strict=True)]
        lines.append([row["ranks"], row["m"], *[digits(value) for value in ours], *ratios])
    head = "ranks:|m:|to the spectrum, ms:|from it, ms:|mpi4py-fft over it, to:|mpi4py-fft over it, from:"
    return markdown(head, lines)


def lines_over_ranks() -> str:
    lines = []
    for row in rows("convolutions/lines-over-ranks.csv"):
        size = f"2^{int(row['n']).bit_length() - 1}"
        ms = [digits(number(row, f"{way}_ms")) for way in ("one_plan", "separate", "fftw_mpi")]
        lines.append([row["field"], size, *ms, row["separate_over_one"], row["fftw_over_one"]])
    head = "field|points:|one plan, ms:|separate, ms:|FFTW-MPI, ms:|separate over it:|FFTW-MPI over it:"
    return markdown(head, lines)


def lines_on_two_gpus() -> str:
    lines = []
    for row in rows("convolutions/lines-two-h200.csv"):
        size = f"2^{int(row['n']).bit_length() - 1}"
        ms = [rounded(number(row, f"{way}_ms"), 3) for way in ("one_plan", "separate")]
        lines.append([row["field"], size, *ms, row["separate_over_one"]])
    return markdown("field|points:|one plan, ms:|separate, ms:|separate over it:", lines)


def tiles_over_ranks() -> str:
    lines = []
    for row in rows("convolutions/tiles-over-ranks.csv"):
        power_of = "²" if row["axes"] == "2" else "³"
        whole, tiles = number(row, "whole_ms"), number(row, "tiles_ms")
        sent = f"{number(row, 'whole_bytes / tiles_bytes'):.0f}"
        names = [f"{row['n']}{power_of}", f"{row['kernel']}{power_of}"]
        lines.append([*names, digits(whole), digits(tiles), two(whole / tiles), sent, row["chosen"]])
    head = "field:|kernel:|whole, ms:|tiles, ms:|whole over tiles:|bytes sent, whole over tiles:|chosen"
    return markdown(head, lines)


def on_one_gpu() -> str:
    lines = []
    cubes, padded = (128, 256, 512), (64, 128)
    cases = {
        "periodic, Gaussian": ("periodic Gaussian", cubes),
        "periodic, array": ("periodic array", cubes),
        "linear, `same`": ("linear same", padded),
        "free-space Poisson": ("free-space Poisson", padded),
    }
    for name, (case, sizes) in cases.items():
        for n in sizes:
            cufft, jit = (
                statistics.fmean(column(rows("convolutions/h200.csv", case=case, n=n, engine=engine), "one_plan_ms"))
                for engine in ("cufft", "jit")
            )
            times = [rounded(ms, 3 if ms < 1 else 2) for ms in (cufft, jit)]
            lines.append(
                [name if n == sizes[0] else "", str(n), *times, rounded(cufft / jit, 2 if cufft < 2 * jit else 1)]
            )
    return markdown("case|n³:|cufft, ms:|jit, ms:|:", lines)


WAYS = ("weft.Convolution", "weft.convolve", "fftconvolve", "oaconvolve", "torch, planned", "torch")


def against_scipy(threads: int) -> str:
    lines = []
    found = rows("convolutions/against-scipy.csv", threads=threads)
    for field, kernel in dict.fromkeys((row["field"], row["kernel"]) for row in found):
        ms = {
            row["way"]: number(row, "median_ms")
            for row in rows("convolutions/against-scipy.csv", threads=threads, field=field, kernel=kernel)
        }
        planned = min(ms[way] for way in ("fftconvolve", "oaconvolve", "torch, planned")) / ms["weft.Convolution"]
        once = min(ms[way] for way in ("fftconvolve", "oaconvolve", "torch")) / ms["weft.convolve"]
        alone = [digits(ms[way]) for way in ("weft separable", "gaussian_filter")]
        ratios = [rounded(ratio, 1) for ratio in (planned, once)]
        lines.append([f"{field}²", f"{kernel}²", *(digits(ms[way]) for way in WAYS), *ratios, *alone])
    ways = "|".join(f"`{way}`:" if "torch" not in way else f"{way}:" for way in WAYS)
    head = f"field:|kernel:|{ways}|best planned peer over planned:|best peer over one call:"
    return markdown(f"{head}|weft separable:|`gaussian_filter`:", lines)


PATTERNS = {
    "fixed (the study's), 2 points": ("fixed", "0", "2"),
    "graded 1/2, 2 points": ("graded", "0.5", "2"),
    "graded 1/4, 2 points": ("graded", "0.25", "2"),
    "graded 1/4, 4 points": ("graded", "0.25", "4"),
    "graded 1/4, 6 points": ("graded", "0.25", "6"),
    "graded 1/8, 4 points": ("graded", "0.125", "4"),
    "graded 1/8, 6 points": ("graded", "0.125", "6"),
}


def _errors(file: str, **where: object) -> str:
    """Of noise and of spheres."""
    values = [number(rows(file, source=source, **where)[0], "error") for source in ("noise", "spheres")]
    return ", ".join(rounded(value, 2) if value >= 0.1 else power(value) for value in values)


def samples_errors() -> str:
    lines = []
    for name, (pattern, opening, points) in PATTERNS.items():
        where = {"pattern": pattern, "opening": opening, "points": points}
        line = []
        for kernel in ("poisson", "elastic"):
            row = rows("samples/host.csv", kernel=kernel, source="noise", **where)[0]
            measured = number(row, "measured")
            line += [_errors("samples/host.csv", kernel=kernel, **where), power(measured) if measured else ""]
        lines.append([name, rounded(number(row, "samples") / 32**3, 1), *line])
    head = "pattern, interpolation|samples outside / k³:|Poisson: noise, spheres|measured when created:"
    return markdown(f"{head}|elastic: noise, spheres|measured when created:", lines)


def samples_bytes() -> str:
    lines = []
    for name, (pattern, opening, points) in PATTERNS.items():
        if name in ("graded 1/4, 2 points", "graded 1/8, 6 points"):
            continue
        where = {"pattern": pattern, "opening": opening, "points": points}
        row = rows("samples/eight-ranks.csv", source="noise", **where)[0]
        share = two(number(row, "bytes_sent / exact_bytes_sent"))
        lines.append([name, _errors("samples/eight-ranks.csv", **where), share])
    exact = rounded(number(row, "exact_bytes_sent") / 1e6, 1)
    return markdown(f"pattern, interpolation|error: noise, spheres|bytes over the exact method's ({exact} MB):", lines)


TOLERANCES = {"1e-2": "0.01", "1e-3": "0.001", "1e-4": "0.0001", "1e-5": "1e-05"}


def _voxel(file: str, **where: object) -> str:
    """ns, of the faster source."""
    return rounded(min(column(rows(file, **where), "ns_per_voxel")), 0)


def levels_errors() -> str:
    file = "samples/levels.csv"
    lines = []
    for kernel, tolerances in (("poisson", ("1e-2", "1e-3", "1e-4", "1e-5")), ("elastic", ("1e-2", "1e-3"))):
        name = kernel.replace("poisson", "Poisson")
        sizes = (128, 256) if kernel == "poisson" else (128,)
        exact = ", ".join(_voxel(file, kernel=kernel, pattern="exact", n=n, edge=32) for n in sizes)
        lines.append([f"{name}, exact", "", "", "", f"{exact} (no tiles)"])
        for tolerance in tolerances:
            where = {"kernel": kernel, "pattern": "multilevel", "tolerance": TOLERANCES[tolerance], "edge": 32}
            told = power(number(rows(file, n=128, **where)[0], "measured"))
            errors = [_errors(file, n=n, **where) for n in sizes]
            times = ", ".join(_voxel(file, n=n, **where) for n in sizes)
            lines.append([f"{name}, {tolerance}", told, errors[0], "".join(errors[1:]), times])
    head = "kernel, tolerance|told:|error at 128³: noise, spheres|at 256³"
    return markdown(f"{head}|ns a voxel, tiles of 32³: 128³, 256³", lines)


def levels_bytes() -> str:
    """MB that rank 0 sends."""

    def sent(ranks: int, tolerance: str) -> float:
        where = {"n": 256, "source": "noise", "pattern": "multilevel", "tolerance": TOLERANCES[tolerance or "1e-2"]}
        if ranks != 4:
            row = rows("samples/levels-ranks.csv", ranks=ranks, **where)[0]
            return number(row, "bytes_sent" if tolerance else "exact_bytes_sent")
        return number(rows("samples/levels-cluster.csv", **where)[0], "bytes_sent" if tolerance else "exact_bytes_sent")

    lines = [
        [str(ranks), *(rounded(sent(ranks, tolerance) / 1e6, 1) for tolerance in ("", *TOLERANCES))]
        for ranks in (2, 4, 8)
    ]
    return markdown("ranks:|exact:|" + "|".join(f"{tolerance}:" for tolerance in TOLERANCES), lines)


def levels_slow_network() -> str:
    """ns a voxel of a rank."""
    lines = []
    for n, rate in ((128, "1 Gbit/s"), (256, "1 Gbit/s"), (128, "100 Mbit/s")):
        file = f"samples/levels-cluster{'-100mbit' if rate == '100 Mbit/s' else ''}.csv"
        cells = [_voxel(file, n=n, pattern="exact")]
        cells += [_voxel(file, n=n, pattern="multilevel", tolerance=value) for value in TOLERANCES.values()]
        graded = {"n": n, "pattern": "graded", "opening": 0.25, "points": 4}
        lines.append([f"{n}³, {rate}", *cells, _voxel(file, **graded) if rows(file, **graded) else ""])
    tolerances = "|".join(f"{'multilevel, ' if at == '1e-2' else ''}{at}:" for at in TOLERANCES)
    return markdown(f"grid, rate|exact:|{tolerances}|samples, graded 1/4, 4 points:", lines)


PUBLISHED = {128: "25 ms", 256: "88 ms", 512: "468 ms, 1.29 GB", 1024: "2948 ms, 4.33 GB", 2048: "26.2 GB"}
SUBDOMAINS = (
    *((n, 32, "poisson", "graded") for n in (128, 256, 512, 1024)),
    *((1024, 32, "poisson", "fixed"), (2048, 64, "poisson", "graded"), (4096, 128, "poisson", "graded")),
    *((8192, 256, "poisson", "graded"), (512, 32, "elastic", "graded")),
)


def _duration(row: Row) -> str:
    ms = number(row, "run_ms")
    return f"{digits(ms)} ms" if ms < 1000 else f"{digits(ms / 1000)} s"


def subdomains() -> str:
    """What was published, for one V100, has no data here."""
    lines = []
    for n, edge, kernel, pattern in SUBDOMAINS:
        where = {"n": n, "edge": edge, "kernel": kernel, "pattern": pattern}
        (row,) = rows("samples/subdomain.csv", machine="H100", **where)
        cores = rows("samples/subdomain.csv", device="host", **where)
        usual = kernel == "poisson" and pattern == "graded"
        name = f"{n}, {edge}" + ("" if usual else ", elastic" if kernel == "elastic" else ", the study's pattern")
        samples = f"{int(row['samples']):,}{' of six fields' if kernel == 'elastic' else ''}"
        memory = number(row, "bytes") / 1e6
        size = f"{rounded(memory, 0)} MB" if memory < 1000 else f"{rounded(memory / 1000, 1 if memory < 1e4 else 0)} GB"
        published = PUBLISHED.get(n, "did not fit") if usual else ""
        times = [_duration(row), size, _duration(cores[0]) if cores else "", published]
        lines.append([name, samples, *times, "one call" if n == 8192 else ""])
    return markdown("N, k|samples:|H100:|device memory:|16 cores:|published, V100:|", lines)


TWO_GPUS = ((256, "c2c"), (256, "r2c"), (512, "c2c"), (512, "r2c"), (1024, "c2c"), (1024, "r2c"))


def _two_gpus(library: str, n: int, kind: str, direction: str) -> float:
    """The mean of the medians of two launches, in ms."""
    where = {"library": library, "n": n, "kind": kind, "direction": direction}
    return statistics.fmean(column(rows("convolutions/two-h200.csv", **where), "median_ms"))


def on_two_gpus() -> str:
    lines = []
    for n, kind in TWO_GPUS:
        one, in_place = (_two_gpus("weft", n, kind, way) for way in ("convolve", "convolve in place"))
        transforms = sum(_two_gpus("weft", n, kind, way) for way in ("forward", "inverse"))
        peer = _two_gpus("cufftxt", n, kind, "convolve")
        cells = (rounded(ms, 3) if ms < 1 else digits(ms) for ms in (one, in_place, transforms, peer))
        lines.append([f"{kind} {n}³", *cells, two(transforms / one), two(peer / one), two(peer / in_place)])
    head = "array|convolution, ms:|in place:|weft, forward and inverse:|cuFFTXt, with a multiplication:"
    return markdown(f"{head}|weft's transforms over it:|cuFFTXt over it:|over in place:", lines)
