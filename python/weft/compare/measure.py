"""Measures one case after the other: all libraries in turn, call by call, each result held against a transform in
long double.

A row of the table is one run. Run 0 is the first call for a case, planning included; the runs after that count.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from time import perf_counter
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from weft.compare import memory
from weft.compare.cases import CACHED, CALLED, FUSED, PLAIN, TRANSFERS, WINDOWS, Case
from weft.compare.libraries import first_line
from weft.compare.library import Library, Unavailable
from weft.compare.table import Measured, Seconds, Skipped

LEAST_RUNS, MOST_RUNS = 3, 100
A_RUN = 1e-4  # seconds that a run takes at least: shorter calls are repeated
WARMED = 1e-3  # before runs of calls shorter than this, one goes uncounted, so that everybody's caches are warm
MEMORY_FROM = 4 << 20  # bytes of input: what a library takes for less drowns in what the process holds
REFERENCE_BYTES = 160  # for each point, while the reference is made


@dataclass
class Contestant:
    """A library and a way, ready to run."""

    library: Library
    way: str
    turn: Callable[[], Seconds]  # one run: mean seconds of a call
    first: Measured


def random_input(case: Case, rng: np.random.Generator) -> NDArray[Any]:
    """Uniform from -1/2 to 1/2."""
    made = rng.random(case.array_shape) - 0.5
    return (made + 1j * (rng.random(case.array_shape) - 0.5) if case.kind == "c2c" else made).astype(case.dtype)


def reference(case: Case, x: NDArray[Any], window: bool = False) -> NDArray[Any]:
    """The transform in long double: 64 bits of significand on x86, 113 where it is quadruple precision."""
    wide = x.astype(np.clongdouble if case.kind == "c2c" else np.longdouble)
    if window:
        wide = wide * np.hanning(case.shape[-1]).astype(x.dtype)
    transform = scipy.fft.fftn if case.kind == "c2c" else scipy.fft.rfftn
    made: NDArray[Any] = transform(wide, axes=case.axes)
    return made


def relative_error(result: NDArray[Any], expected: NDArray[Any]) -> float:
    """Of the whole batch, in L2; infinite where the shapes differ or something is not a number."""
    if result.shape != expected.shape:
        return math.inf
    error = float(np.linalg.norm((result - expected).ravel()) / np.linalg.norm(expected.ravel()))
    return error if math.isfinite(error) else math.inf


def enough_memory(case: Case, libraries: int) -> bool:
    """Every library keeps an input and an output; the reference needs more for a while."""
    return case.points * (REFERENCE_BYTES + 48 * libraries) < memory.available()


def measure(
    case: Case, libraries: Sequence[Library], seconds: float, rng: np.random.Generator, block: int
) -> Iterator[Measured | Skipped]:
    """The runs of one case, for about so many seconds after the first calls, which take as long as they take."""
    if not enough_memory(case, len(libraries)):
        yield Skipped("all", case, "needs more memory than is free")
        return
    host = random_input(case, rng)
    right = {window: reference(case, host, window) for window in {way in WINDOWS for way in case.ways}}
    contestants: list[Contestant] = []
    for place in rng.permutation(len(libraries)):
        for way in case.ways:
            try:
                contestants.append(prepare(libraries[place], way, case, host, right[way in WINDOWS], block))
            except Exception as error:  # what a library cannot do must not keep the others from being measured
                reason = str(error) if isinstance(error, Unavailable) else first_line(error)
                yield Skipped(libraries[place].name, case, reason, way)
    right.clear()
    yield from (one.first for one in contestants)
    yield from runs(contestants, seconds, rng)


def warm_up(library: Library) -> float:
    """Seconds that a library's very first transform takes. What it loads and starts then belongs to no case."""
    case = Case("first", (8,))
    start = perf_counter()
    x = library.asarray(np.ones(case.shape, case.dtype))
    library.wait(library.transform(case, x)(x))
    return perf_counter() - start


def prepare(library: Library, way: str, case: Case, host: NDArray[Any], right: NDArray[Any], block: int) -> Contestant:
    """Plans and calls once, with the clock, the memory and the result watched."""
    if library.transfers_only and way == PLAIN:
        raise Unavailable("is measured with transfers only")
    x = library.asarray(host)
    library.wait(x)
    grown = library.watch_memory() if way == PLAIN and host.nbytes >= MEMORY_FROM else lambda: math.nan
    start = perf_counter()
    call = call_of(library, way, case, x, host)
    planned = perf_counter()
    result = call()
    library.wait(result)
    called = perf_counter()
    growth = grown()
    computed = str(result.dtype).removeprefix("torch.")
    array = library.tohost(result)
    first = Measured(
        library=library.name,
        version=library.version,
        device=library.device,
        threads=library.threads,
        effort=library.effort,
        case=case,
        way=way,
        block=block,
        run=0,
        seconds=Seconds(called - planned),
        planning=planned - start,
        error=relative_error(array, right),
        computed=computed,
        memory=host.nbytes + growth,
    )
    del result, array
    return Contestant(library, way, turn_of(library, way, case, x, host, call), first)


def call_of(library: Library, way: str, case: Case, x: Any, host: NDArray[Any]) -> Callable[[], Any]:
    """One call, which of an asynchronous library need not be done when it returns."""
    if way == FUSED:
        return partial(library.fused(case, library.window(case.shape[-1], case.dtype)), x)
    transform = library.transform(case, x)
    if way == CALLED:
        n, dtype = case.shape[-1], case.dtype
        return lambda: transform(x * library.window(n, dtype))
    if way == CACHED:
        window = library.window(case.shape[-1], case.dtype)
        return lambda: transform(x * window)
    if way == TRANSFERS:
        return lambda: transform(library.asarray(host))
    return partial(transform, x)


def turn_of(
    library: Library, way: str, case: Case, x: Any, host: NDArray[Any], call: Callable[[], Any]
) -> Callable[[], Seconds]:
    """One run, with as many calls as it takes to be well above the clock's resolution."""
    if way == TRANSFERS and not library.transfers_only:
        transform = library.transform(case, x)
        return lambda: transfer(library, transform, host)

    def waiting() -> None:
        library.wait(call())

    run = waiting if library.asynchronous else call
    once = timed(run, 1)
    calls = min(1000, max(1, round(A_RUN / max(once, 1e-9))))

    def turn() -> Seconds:
        if once < WARMED:
            run()
        return Seconds(timed(run, calls))

    return turn


def timed(run: Callable[[], Any], calls: int) -> float:
    start = perf_counter()
    for _ in repeat(None, calls):
        run()
    return (perf_counter() - start) / calls


def transfer(library: Library, transform: Callable[[Any], Any], host: NDArray[Any]) -> Seconds:
    """To the device, the transform, and back, each of them waited for."""
    start = perf_counter()
    x = library.asarray(host)
    library.wait(x)
    uploaded = perf_counter()
    result = transform(x)
    library.wait(result)
    transformed = perf_counter()
    library.tohost(result)
    return Seconds(transformed - uploaded, uploaded - start, perf_counter() - transformed)


def runs(contestants: Sequence[Contestant], seconds: float, rng: np.random.Generator) -> Iterator[Measured]:
    """All contestants in turn, in an order that is shuffled each time, so that drift falls on all alike."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        end = perf_counter() + seconds
        for run in range(1, MOST_RUNS + 1):
            for place in rng.permutation(len(contestants)):
                one = contestants[place]
                yield one.first.again(run, one.turn())
            if run >= LEAST_RUNS and perf_counter() > end:
                break
    finally:
        if collecting:
            gc.enable()
