"""What is compared: transforms by size, kind and precision, in experiments that a reader can ask for by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

PLAIN = "plain"  # the transform alone, of an array that is where the library wants it
TRANSFERS = "with transfers"  # to the device, the transform, and back
CALLED, CACHED, FUSED = "window called each time", "window cached", "window fused"
WINDOWS = (CALLED, CACHED, FUSED)

REAL_TYPES = {"half": "float16", "single": "float32", "double": "float64"}
COMPLEX_TYPES = {"single": "complex64", "double": "complex128"}


@dataclass(frozen=True)
class Case:
    """`batch` forward transforms of `shape`, one behind the other, in one or several ways."""

    experiment: str
    shape: tuple[int, ...]
    batch: int = 1
    kind: str = "c2c"  # or r2c
    precision: str = "double"  # or single; half for r2c
    ways: tuple[str, ...] = (PLAIN,)

    @property
    def array_shape(self) -> tuple[int, ...]:
        return (self.batch, *self.shape) if self.batch > 1 else self.shape

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes that are transformed: the last ones."""
        return tuple(range(-len(self.shape), 0))

    @property
    def all_axes(self) -> bool:
        return self.batch == 1

    @property
    def dtype(self) -> str:
        """Of the input."""
        return (REAL_TYPES if self.kind == "r2c" else COMPLEX_TYPES)[self.precision]

    @property
    def points(self) -> int:
        """Of the whole batch."""
        return math.prod(self.array_shape)

    @property
    def text(self) -> str:
        """r2c 1024 double, batch 8"""
        shape = "x".join(map(str, self.shape))
        return f"{self.kind} {shape} {self.precision}" + (f", batch {self.batch}" if self.batch > 1 else "")


def largest_prime_below(limit: int) -> int:
    return next(n for n in range(limit - 1, 1, -1) if all(n % d for d in range(2, math.isqrt(n) + 1)))


def is_smooth(n: int) -> bool:
    """Whether n has no prime factor above 7."""
    for prime in (2, 3, 5, 7):
        while n % prime == 0:
            n //= prime
    return n == 1


def powers(quick: bool, device: str) -> Iterator[Case]:
    for exponent in (2, 6, 10, 14, 18) if quick else range(2, 26):
        for kind in ("c2c", "r2c"):
            for precision in ("double",) if quick else ("single", "double"):
                yield Case("powers", (1 << exponent,), kind=kind, precision=precision)


def primes(quick: bool, device: str) -> Iterator[Case]:
    for exponent in (5, 8, 11, 14) if quick else range(3, 21):
        for kind in ("c2c",) if quick else ("c2c", "r2c"):
            yield Case("primes", (largest_prime_below(1 << exponent),), kind=kind)


def smooth(quick: bool, device: str) -> Iterator[Case]:
    sizes = [n for n in range(1024, 4097) if is_smooth(n)]
    for n in sizes[::16] if quick else sizes:
        for kind in ("c2c",) if quick else ("c2c", "r2c"):
            yield Case("smooth", (n,), kind=kind)


def batches(quick: bool, device: str) -> Iterator[Case]:
    for batch in (1, 20, 800) if quick else (1, 2, 5, 10, 20, 50, 100, 200, 400, 800):
        for kind in ("c2c",) if quick else ("c2c", "r2c"):
            yield Case("batches", (1024,), batch, kind)
    for batch in (10, 1000) if quick else (1, 10, 100, 1000, 10000):
        for kind in ("c2c",) if quick else ("c2c", "r2c"):
            yield Case("batches", (92,), batch, kind)


def several_axes(quick: bool, device: str) -> Iterator[Case]:
    flat = (
        [(128, 128), (512, 512)] if quick else [(1 << e, 1 << e) for e in range(5, 13)] + [(1080, 1920), (1009, 1013)]
    )
    deep = [(32, 32, 32), (64, 64, 64)] if quick else [(n, n, n) for n in (16, 32, 64, 100, 128, 181, 256, 512)]
    for shape in flat + deep:
        for kind in ("r2c",) if quick else ("c2c", "r2c"):
            for precision in ("double",) if quick else ("single", "double"):
                yield Case("nd", shape, kind=kind, precision=precision)


def precisions(quick: bool, device: str) -> Iterator[Case]:
    for shape in [(4096,), (512, 512)] if quick else [(1 << 10,), (1 << 15,), (1 << 20,), (512, 512), (2048, 2048)]:
        for precision in REAL_TYPES:
            yield Case("precision", shape, kind="r2c", precision=precision)


def windows(quick: bool, device: str) -> Iterator[Case]:
    for n, batch in (
        ((1024, 256), (4096, 1)) if quick else ((1024, 1), (1024, 800), (4096, 1), (4096, 800), (1 << 20, 1))
    ):
        for precision in ("double",) if quick else ("single", "double"):
            yield Case("windows", (n,), batch, "r2c", precision, (PLAIN, *WINDOWS))


def memory(quick: bool, device: str) -> Iterator[Case]:
    """Arrays so large that what a library takes stands out from what the process holds anyway."""
    for shape in [(1 << 20,)] if quick else [(1 << 22,), (1 << 24,), (2048, 2048), (256, 256, 256)]:
        for kind in ("c2c", "r2c"):
            yield Case("memory", shape, kind=kind)


def transfers(quick: bool, device: str) -> Iterator[Case]:
    """Nothing on the processor, whose libraries have nothing to transfer."""
    for exponent in () if device == "cpu" else (10, 16, 20) if quick else range(8, 26):
        for precision in ("double",) if quick else ("single", "double"):
            yield Case("transfers", (1 << exponent,), precision=precision, ways=(PLAIN, TRANSFERS))


EXPERIMENTS: dict[str, tuple[str, Callable[[bool, str], Iterator[Case]]]] = {
    "powers": ("Powers of two", powers),
    "primes": ("Primes", primes),
    "smooth": ("Smooth sizes", smooth),
    "batches": ("Batches", batches),
    "nd": ("Two and three axes", several_axes),
    "precision": ("Half, single and double precision", precisions),
    "windows": ("Windows", windows),
    "memory": ("Large arrays", memory),
    "transfers": ("Transfers", transfers),
}
SIZES = "sizes"  # the experiment of sizes that the reader gave
HEADINGS = {name: heading for name, (heading, _) in EXPERIMENTS.items()} | {SIZES: "Sizes"}


def read_size(text: str) -> tuple[tuple[int, ...], int]:
    """A shape and a batch: 1024, 512x512, 1024*800. ValueError where it is neither."""
    shape, _, batch = text.partition("*")
    lengths = tuple(map(int, shape.split("x")))
    count = int(batch) if "*" in text else 1
    if min(*lengths, count, 1) < 1:
        raise ValueError(text)
    return lengths, count


def of_sizes(sizes: list[tuple[tuple[int, ...], int]], device: str) -> list[Case]:
    """All kinds and precisions of given sizes."""
    ways = (PLAIN,) if device == "cpu" else (PLAIN, TRANSFERS)
    return [
        Case(SIZES, shape, batch, kind, precision, ways)
        for shape, batch in sizes
        for kind in ("c2c", "r2c")
        for precision in ("single", "double")
    ]
