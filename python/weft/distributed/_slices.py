"""A slice of a global array as it meets the box of a rank."""

from __future__ import annotations

from typing import Any, NamedTuple


class Part(NamedTuple):
    """What a rank has of a global slice: which of its elements, and where in the slice they go."""

    shape: tuple[int, ...]  # of the whole slice
    holds: bool  # whether this rank has elements of it
    local: tuple[int | slice, ...]
    target: tuple[slice, ...]


def part_of_slice(gslice: Any, shape: tuple[int, ...], start: tuple[int, ...], extents: tuple[int, ...]) -> Part:
    """The part that the box of these first indices and extents has; gslice has numbers, slices and an Ellipsis."""
    given = list(gslice) if isinstance(gslice, (tuple, list)) else [gslice]
    if Ellipsis in given:
        at = given.index(Ellipsis)
        given[at : at + 1] = [slice(None)] * (len(shape) - len(given) + 1)
    if len(given) > len(shape):
        raise IndexError(f"a slice of {len(given)} axes of an array that has {len(shape)}")
    given += [slice(None)] * (len(shape) - len(given))
    whole: list[int] = []
    local: list[int | slice] = []
    target: list[slice] = []
    holds = True
    for wanted, n, lo, count in zip(given, shape, start, extents, strict=True):
        if isinstance(wanted, slice):
            indices = range(n)[wanted]
            if indices.step < 0:
                raise ValueError("a slice of a distributed array goes forward")
            first = max(0, -((indices.start - lo) // indices.step))  # the first one at or after lo
            last = max(first, min(len(indices), -((indices.start - lo - count) // indices.step)))
            whole.append(len(indices))
            begin = indices.start + first * indices.step - lo
            local.append(slice(begin, begin + (last - first) * indices.step, indices.step))
            target.append(slice(first, last))
            holds = holds and last > first
        else:
            index = range(n)[wanted]  # raises as a sequence of n would
            holds = holds and lo <= index < lo + count
            local.append(index - lo)
    return Part(tuple(whole), holds, tuple(local), tuple(target))
