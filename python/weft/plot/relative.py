"""How long one contestant takes beside another: ratios of times, with 99 % intervals and p values.

Contestants of one block ran in turn, so their iterations are paired: drift hits both alike, and the interval is that of
the mean of the paired log ratios. Contestants of different blocks are compared by way of a third that ran in both
blocks, where there is one; otherwise, and between different problems, by Welch's t on the log times.

What is shown beside a median is the median's own interval, where there are enough samples for one: a single slow run
moves a mean, and widens its interval, so that it may lie far from the median.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import special

from weft.plot.statistics import CONFIDENCE, median_interval

PAIRED, BRIDGED, INDEPENDENT = "paired", "bridged", "independent"


@dataclass(frozen=True)
class Effect:
    """A difference of mean log times, with its variance and degrees of freedom (Welch-Satterthwaite)."""

    mean: float
    variance: float
    freedom: float

    def minus(self, other: Effect) -> Effect:
        variance = self.variance + other.variance
        parts = self.variance**2 / max(self.freedom, 1e-300) + other.variance**2 / max(other.freedom, 1e-300)
        freedom = variance**2 / parts if parts > 0 else self.freedom + other.freedom
        return Effect(self.mean - other.mean, variance, freedom)


@dataclass(frozen=True)
class Ratio:
    """Times of one contestant over another's. `median` is the median ratio, `mean` the geometric mean; low and high
    bound the geometric mean with 99 % confidence, p is that of no difference; NaN where there are too few samples.
    `around` bounds the median with 99 % confidence; the geometric mean where too few samples are paired for that."""

    median: float
    mean: float
    low: float
    high: float
    p: float
    samples: int
    way: str
    around: tuple[float, float] = (math.nan, math.nan)

    @property
    def lower(self) -> float:
        return self.around[0]

    @property
    def upper(self) -> float:
        return self.around[1]

    @property
    def verdict(self) -> str:
        if not math.isfinite(self.low):
            return "too few samples"
        return "faster" if self.high < 1 else "slower" if self.low > 1 else "no significant difference"


def mean_effect(logs: np.ndarray) -> Effect:
    """The mean of log times or log ratios as an effect; its variance is NaN for fewer than two."""
    count = len(logs)
    variance = float(np.var(logs, ddof=1)) / count if count > 1 else math.nan
    return Effect(float(np.mean(logs)), variance, count - 1)


def interval(effect: Effect, confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """The ratio's lower and upper end, and the p value of no difference."""
    if not (effect.variance >= 0 and effect.freedom > 0):
        return math.nan, math.nan, math.nan
    error = math.sqrt(effect.variance)
    if error == 0:
        same = effect.mean == 0
        return math.exp(effect.mean), math.exp(effect.mean), 1.0 if same else 0.0
    half = float(special.stdtrit(effect.freedom, 0.5 + confidence / 2)) * error
    p = 2 * float(special.stdtr(effect.freedom, -abs(effect.mean) / error))
    return math.exp(effect.mean - half), math.exp(effect.mean + half), p


def ratio_of(effect: Effect, median: float, samples: int, way: str) -> Ratio:
    low, high, p = interval(effect)
    return Ratio(median, math.exp(effect.mean), low, high, p, samples, way, (low, high))


def paired(logs: np.ndarray) -> Ratio:
    """From the log ratios of paired iterations."""
    ratio = ratio_of(mean_effect(logs), math.exp(float(np.median(logs))), len(logs), PAIRED)
    low, high = median_interval(logs)
    return replace(ratio, around=(math.exp(low), math.exp(high))) if math.isfinite(low) else ratio


def independent(a: np.ndarray, b: np.ndarray) -> Ratio:
    """From log times that have nothing to do with each other: Welch's t. The median is the ratio of medians."""
    effect = mean_effect(a).minus(mean_effect(b))
    return ratio_of(effect, math.exp(float(np.median(a) - np.median(b))), min(len(a), len(b)), INDEPENDENT)


class Runs:
    """The log times of every cell and block, by iteration."""

    def __init__(self, times: pd.DataFrame) -> None:
        """`times`: the table of statistics.iterations, sorted by cell, block and iteration."""
        self._of: dict[str, dict[int, tuple[np.ndarray, np.ndarray]]] = {}
        self._in: dict[int, list[str]] = {}
        if times.empty:
            return
        cells, blocks = times["cell"].astype(str).to_numpy(), times["block"].to_numpy()
        numbers, logs = times["iteration"].to_numpy(), np.log(times["total"].to_numpy())
        starts = np.flatnonzero(np.r_[True, (cells[1:] != cells[:-1]) | (blocks[1:] != blocks[:-1])])
        for start, end in zip(starts, np.r_[starts[1:], len(cells)]):
            cell, block = cells[start], int(blocks[start])
            self._of.setdefault(cell, {})[block] = (numbers[start:end], logs[start:end])
            self._in.setdefault(block, []).append(cell)

    def logs(self, cell: str) -> np.ndarray:
        """All log times of a cell, whatever the block."""
        return np.concatenate([logs for _, logs in self._of[cell].values()])

    def relative(self, cell: str, base: str) -> Ratio:
        """Times of `cell` over those of `base`, compared in the best way that the blocks allow."""
        logs = self.paired_logs(cell, base)
        if len(logs):
            return paired(logs)
        ways = itertools.product(self._of[cell], self._of[base])
        bridges = [bridge for block, other in ways for bridge in self._bridge(cell, base, block, other)]
        if bridges:
            return min(bridges, key=lambda r: r.high / r.low if r.high > 0 else math.inf)
        return independent(self.logs(cell), self.logs(base))

    def beside(self, cell: str) -> set[str]:
        """The cells that shared a block with this one."""
        return {other for block in self._of[cell] for other in self._in[block]} - {cell}

    def paired_logs(self, cell: str, base: str) -> np.ndarray:
        """The log ratios of all paired iterations of two cells."""
        shared = sorted(self._of[cell].keys() & self._of[base].keys())
        return np.concatenate([np.empty(0), *(self._paired(cell, base, block) for block in shared)])

    def _paired(self, cell: str, base: str, block: int) -> np.ndarray:
        (i, a), (j, b) = self._of[cell][block], self._of[base][block]
        _, left, right = np.intersect1d(i, j, assume_unique=True, return_indices=True)
        return a[left] - b[right]

    def _bridge(self, cell: str, base: str, block: int, other: int) -> Iterable[Ratio]:
        for third in set(self._in[block]) & set(self._in[other]):
            here, there = self._paired(cell, third, block), self._paired(base, third, other)
            if len(here) > 1 and len(there) > 1:
                median = math.exp(float(np.median(here) - np.median(there)))
                yield ratio_of(mean_effect(here).minus(mean_effect(there)), median, min(len(here), len(there)), BRIDGED)


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's correction: p values that keep the chance of any false alarm among all of them. NaN stay NaN."""
    corrected = np.full(len(p), math.nan)
    order = [i for i in np.argsort(p) if math.isfinite(p[i])]
    worst = 0.0
    for place, index in enumerate(order):
        worst = max(worst, min(1.0, (len(order) - place) * p[index]))
        corrected[index] = worst
    return corrected
