"""Transforms of Dask arrays as chains of passes, in each of which some axes lie whole in every chunk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask import config
from dask.utils import parse_bytes

import weft.fft

Axes = tuple[int, ...]


def most_bytes() -> int:
    """Bytes that a chunk should have at most: Dask's setting `array.chunk-size`."""
    size = config.get("array.chunk-size")
    return int(parse_bytes(size))


def is_whole(array: Any, axis: int) -> bool:
    return len(array.chunks[axis]) == 1


def with_whole(array: Any, axes: Axes, item_bytes: int, most: int) -> Any:
    """The array with these axes whole in every chunk, and the others cut so that chunks of items of so many bytes have
    at most `most` bytes, if that is possible. Axes that are cut already are cut where they are, if that will do."""
    pencil = item_bytes * math.prod(array.shape[a] for a in axes)
    others = [a for a in range(array.ndim) if a not in axes]
    sizes = {a: max(array.chunks[a], default=1) for a in others}
    if pencil * math.prod(sizes.values()) > most:
        left = max(1, most // max(1, pencil))
        for axis in reversed(others):  # long runs in memory stay long
            sizes[axis] = min(sizes[axis], left)
            left = max(1, left // max(1, sizes[axis]))
    chunks: dict[int, Any] = dict.fromkeys(axes, -1)
    for axis in others:
        if sizes[axis] < max(array.chunks[axis], default=1):
            chunks[axis] = sizes[axis]
    return array.rechunk(chunks)


def passes_of(array: Any, axes: Axes, extents: Sequence[int], item_bytes: int, most: int) -> list[list[int]]:
    """The axes of each pass, as places in `axes`: those that are whole already first, then as many at a time as fit.
    A chunk must hold an axis before and after the transform."""

    def longest(place: int) -> int:
        return max(int(array.shape[axes[place]]), extents[place], 1)

    passes: list[list[int]] = []
    left = list(range(len(axes)))[::-1]
    while left:
        whole = [p for p in left if is_whole(array, axes[p])] if not passes else []
        chosen: list[int] = []
        held = item_bytes
        for place in whole or left:
            if chosen and held * longest(place) > most:
                continue
            chosen.append(place)
            held *= longest(place)
        passes.append(chosen)
        left = [p for p in left if p not in chosen]
    return passes


def one_pass(array: Any, function: str, axes: Axes, extents: Sequence[int], item_bytes: int, options: Any) -> Any:
    """Transforms along axes that become whole, to these extents in the result."""
    whole = with_whole(array, axes, item_bytes, most_bytes())
    probe = getattr(weft.fft, function)(np.ones((2,) * array.ndim, array.dtype), axes=axes, **_without_extents(options))
    chunks = list(whole.chunks)
    for axis, extent in zip(axes, extents):
        chunks[axis] = (extent,)
    meta = probe[(slice(0, 0),) * array.ndim]
    return da.map_blocks(_block, whole, function, axes, options, chunks=tuple(chunks), dtype=probe.dtype, meta=meta)


def _without_extents(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "s"}


def _block(block: Any, function: str, axes: Axes, options: dict[str, Any]) -> Any:
    return getattr(weft.fft, function)(block, axes=axes, **options)
