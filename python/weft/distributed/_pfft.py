"""PFFT: distributed transforms with the calls of mpi4py-fft, computed by the library's distributed plans.

A PFFT is one stage or two, each a plan of the library: cosine and sine transforms first, where there are any, then
the complex or real-to-complex transform. The plans read and write the boxes that mpi4py-fft's pencils give, as
bricks. A complex or real-to-complex plan transforms all its axes, so where axes are left out, the ranks that have the
same box along those axes form a group with a plan of its own, whose batch are the indices in that box.
"""

from __future__ import annotations

import functools
import math
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from weft import _core
from weft._core import ArgumentError, UnsupportedError
from weft.distributed._array import DistArray, newDistArray, with_room
from weft.distributed._context import Context, context_of
from weft.distributed._mpi4py import MPI, agree
from weft.distributed._pencil import Pencil, Subcomm, grid_of, layout

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = np.ndarray[Any, np.dtype[Any]]

_PRECISIONS = {"f": "single", "F": "single", "d": "double", "D": "double"}
_COMPLEX: dict[str, np.dtype[Any]] = {"f": np.dtype("F"), "d": np.dtype("D")}


class _Request(NamedTuple):
    """What a PFFT is asked for, the same on all ranks."""

    shape: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]  # of axes
    type_code: str  # of the input, NumPy's character
    transforms: tuple[tuple[tuple[int, ...], str | None], ...]  # of groups of axes; None: as the type asks for
    collapse: bool
    padded: tuple[int, ...]  # the shape in real space
    dims: tuple[int, ...] = ()  # how many ranks share each axis, unless an array or a Subcomm tells

    def on_grid(self, grid: Sequence[int] | None, slab: bool | int, ranks: int | None) -> _Request:
        """The same with dims for so many ranks; None: without."""
        if ranks is None:
            return self
        return self._replace(dims=tuple(_dims(len(self.shape), self.groups[-1], grid, slab, ranks)))


class _Stage(NamedTuple):
    """What a plan of the library does: along which axes, between which boxes."""

    kind: str
    axes: tuple[int, ...]  # in the order of the problem, the last one halved by r2c
    types: tuple[str, ...] | None
    source: Pencil
    target: Pencil
    dtypes: tuple[np.dtype[Any], np.dtype[Any]]
    points: tuple[int, ...] | None = None  # along each axis of the array: those of which the spectrum is one


class _Planned:
    """The plan of a stage, and the copies that it wants where its group's arrays are not a batch in memory.

    It is described by each rank alone, and created by all of them.
    """

    def __init__(self, stage: _Stage, options: dict[str, Any]) -> None:
        axes = stage.axes
        pencils = stage.source, stage.target
        left_out = [axis for axis in range(len(stage.source.shape)) if axis not in axes]
        in_order = sorted(axes)
        self._stage = stage
        self._order = [*left_out, *in_order]  # memory order of what the plan reads and writes, slowest first
        self._in_memory = self._order == sorted(self._order)
        self._shapes = [tuple(p.subshape[axis] for axis in self._order) for p in pencils]
        self._dtypes = stage.dtypes
        self.context: Context | None = None  # and so before create()
        self.number = 0
        self._room = 0, 0
        memory_order = [axes.index(axis) for axis in in_order]
        bricks = [([p.substart[a] for a in axes], [p.subshape[a] for a in axes], memory_order) for p in pencils]
        self._batch = math.prod(stage.source.subshape[axis] for axis in left_out)  # 0: of no rank of the group
        self.in_groups = any(stage.source.subcomm[axis].Get_size() > 1 for axis in left_out)
        self.plan = _core.DistributedPlan(
            [stage.source.shape[axis] for axis in axes],
            *bricks,
            kind=stage.kind,
            types=None if stage.types is None else [stage.types[axis] for axis in axes],
            truncate_to=None if stage.points is None else [stage.points[axis] for axis in axes],
            precision=_PRECISIONS[stage.dtypes[0].char],
            norm="forward",
            batch=self._batch,
            **options,
        )

    def create(self) -> None:
        """Creates the plan. Collective."""
        group = self._stage.source.subcomm.group(self._stage.axes)
        if self._batch > 0:
            context = context_of(group)
            self.number = context.create(self.plan)
            self.context = context
            self._room = self.plan.input_bytes, self.plan.output_bytes

    def bytes(self, end: int) -> int:
        """Bytes that an array at this end (0: source) needs for the plan to use it as it is."""
        return self._room[end] if self._in_memory else 0

    def _ordered(self, array: Array | None, end: int) -> Array:
        """Memory as the plan takes it, with the values of `array` if there is one."""
        ordered = with_room(self._shapes[end], self._dtypes[end], self._room[end])
        if array is not None:
            np.copyto(ordered, array.transpose(self._order))
        return ordered

    def run(self, direction: str, source: Array, target: Array) -> None:
        if self.context is None:
            return
        first = int(direction == "inverse")
        read = source if self._in_memory else self._ordered(source, first)
        written = target if self._in_memory else self._ordered(None, 1 - first)
        self.plan.execute(direction, read.ctypes.data, written.ctypes.data)
        if not self._in_memory:
            np.copyto(target.transpose(self._order), written)

    def explain(self) -> str:
        return "nothing: this rank has no data" if self.context is None else self.plan.explain()


class Transform:
    """One direction of a PFFT: call it with an input and an output, or fill input_array and read output_array."""

    def __init__(self, pfft: PFFT, direction: str) -> None:
        self._pfft = pfft
        self._direction = direction
        self._ends = (0, 1) if direction == "forward" else (1, 0)

    @property
    def input_array(self) -> Any:
        """The array that is transformed where none is given: the other direction's output_array."""
        return self._pfft._own(self._ends[0])

    @property
    def output_array(self) -> Any:
        """The array that gets the result where none is given: the other direction's input_array."""
        return self._pfft._own(self._ends[1])

    @property
    def input_pencil(self) -> Pencil:
        """How the input is distributed."""
        return self._pfft.pencil[self._ends[0]]

    @property
    def output_pencil(self) -> Pencil:
        """How the output is distributed."""
        return self._pfft.pencil[self._ends[1]]

    def __call__(self, input_array: Any = None, output_array: Any = None, normalize: bool | None = None) -> Any:
        """Transforms input_array, which stays as it is, to output_array, which is returned. Collective.

        normalize scales by 1/N: by default the forward transform is scaled and the backward one is not. Arrays that
        are contiguous and of the right type are used as they are; others are copied to and from input_array and
        output_array of this object.
        """
        forward = self._direction == "forward"
        scaled = forward if normalize is None else bool(normalize)
        factor = 1.0 if scaled == forward else 1 / self._pfft._points if scaled else float(self._pfft._points)
        return self._pfft._run(self._ends, input_array, output_array, factor)


class PFFT:
    """Transforms of a distributed array, as mpi4py-fft's PFFT, by the distributed plans of the library. Collective.

    comm is a communicator, or a Subcomm that tells the distribution. axes are those that are transformed, the last
    one first; several can be given together, ((0,), (1, 2)), which are then whole on input. Real data (dtype) is
    halved along the last of them. grid tells how many ranks share each axis (-1: any; missing: 1), slab=True
    distributes one axis only, and darray takes the distribution, shape and type of an array. transforms gives cosine
    and sine transforms to groups of axes: axes=((0,), (1, 2)), transforms={(1, 2): (dctn, idctn)}, with functions of
    scipy.fft, weft.fft or mpi4py_fft.fftw, or functools.partial of them with a type, or the library's names "dct1" to
    "dst4" instead of the pair. padding is a factor of 1 or more, or one for each axis: shape is then that of which the
    spectrum is one, and the array in real space has so many times as many points along axes that are a group of their
    own (3/2: products without aliasing).
    Of the middle frequency of an even axis, which is one number for n/2 and -n/2, that at -n/2 is kept. collapse joins
    axes that no rank shares, which changes the distribution of the output.

    What mpi4py-fft does not have are the library's options: engine, exchange (a name, or one for each exchange),
    decomposition, variant, effort, threads, chunks, and device with arrays that stay on the host.
    """

    def __init__(
        self,
        comm: MPI.Intracomm | Subcomm | None,
        shape: Sequence[int] | None = None,
        axes: Any = None,
        dtype: Any = float,
        grid: Sequence[int] | None = None,
        padding: Any = False,
        collapse: bool = False,
        backend: str = "weft",
        transforms: dict[tuple[int, ...], Any] | None = None,
        darray: DistArray | None = None,
        slab: bool | int = False,
        *,
        engine: str = "auto",
        exchange: str | Sequence[str] | None = None,
        decomposition: str = "auto",
        variant: str = "auto",
        device: str = "host",
        effort: str = "estimate",
        threads: int = 1,
        chunks: int = 0,
    ) -> None:
        options = {
            "engine": engine,
            "exchange": exchange,
            "decomposition": decomposition,
            "variant": variant,
            "device": device,
            "location": "host",
            "effort": effort,
            "threads": threads,
            "chunks": chunks,
        }
        whole = darray.pencil.subcomm.comm if darray is not None else comm.comm if isinstance(comm, Subcomm) else comm
        if not isinstance(whole, MPI.Intracomm):
            raise ArgumentError("PFFT: comm is no communicator inside a group of ranks, and there is no darray")
        self._comm = whole
        failure: Exception | None = None
        request = None
        try:
            if backend != "weft":
                raise UnsupportedError(
                    f"PFFT: backend is {backend!r}; transforms are weft's, by the engine of `engine`"
                )
            if darray is not None:
                shape, dtype = darray.pencil.shape, darray.dtype
            free = darray is None and not isinstance(comm, Subcomm)
            request = _read(
                shape, axes, dtype, transforms, collapse, None if darray is None else darray.alignment, padding
            ).on_grid(grid, slab, whole.Get_size() if free else None)
        except Exception as wrong:
            failure = wrong
        agree(whole, failure)
        assert request is not None
        if any(other != request for other in whole.allgather(request)):
            raise ArgumentError("PFFT: shape, axes, dtype, transforms or grid are not the same on all ranks")
        self._dtype = np.dtype(request.type_code)
        self._groups = request.groups
        if darray is not None:
            self.subcomm = darray.pencil.subcomm
        elif isinstance(comm, Subcomm):
            self.subcomm = comm
        else:
            self.subcomm = layout(whole, request.dims)
        if collapse:
            self._groups = _collapsed(self._groups, self.subcomm)
        self.axes = self._groups
        try:
            self._types = _types_of(dict(request.transforms), self._groups)
            self._stages = self._make_stages(request.shape, request.padded)
            self._planned = [_Planned(stage, options) for stage in self._stages]
        except Exception as wrong:
            failure = wrong
        agree(whole, failure)
        try:
            for planned in self._planned:
                planned.create()
                if planned.context is not None:
                    weakref.finalize(self, planned.context.let_go, planned.number).atexit = False
        except Exception as wrong:
            failure = wrong
        agree(whole, failure)
        self.pencil = (self._stages[0].source, self._stages[-1].target)
        self.forward = Transform(self, "forward")
        self.backward = Transform(self, "backward")
        self._points = self._count_points(request.padded)
        self._arrays: list[DistArray | None] = [None, None]
        self._in_groups = any(planned.in_groups for planned in self._planned)

    def _make_stages(self, shape: tuple[int, ...], padded: tuple[int, ...]) -> list[_Stage]:
        """Follows mpi4py-fft's pencils from the input to the output, and joins what one plan of the library can do."""
        flat = [axis for group in self._groups for axis in group]
        real_ones = [axis for axis in flat if axis in self._types]
        rest = [axis for axis in flat if axis not in self._types]
        if any(padded[axis] != shape[axis] for axis in real_ones):
            raise UnsupportedError("PFFT: padding is along axes of complex and real-to-complex transforms")
        if real_ones and self._dtype.kind == "c":
            raise UnsupportedError("PFFT: cosine and sine transforms are of real data")
        if flat != rest + real_ones or any(len({axis in rest for axis in group}) > 1 for group in self._groups):
            raise UnsupportedError(
                "PFFT: cosine and sine transforms are computed first, so they are of the last groups in axes"
            )
        pencil = Pencil(self.subcomm, padded, self._groups[-1][-1])
        stages: list[_Stage] = []
        if real_ones:
            source = pencil
            for group in reversed(self._groups):
                pencil = _towards(pencil, group[-1])
                if group[-1] in rest:
                    break
            types = tuple(self._types[a] if a in real_ones else "none" for a in range(len(shape)))
            every = tuple(range(len(shape)))
            stages.append(_Stage("r2r", every, types, source, pencil, (self._dtype, self._dtype)))
        if rest:
            source = pencil
            halved = self._dtype.kind != "c"
            out_shape = list(shape)
            if halved:
                out_shape[rest[-1]] = shape[rest[-1]] // 2 + 1
            for group in reversed(self._groups):
                if group[-1] in rest:
                    pencil = _towards(pencil, group[-1])
            target = Pencil(pencil.subcomm, out_shape, pencil.axis)
            out_dtype: np.dtype[Any] = _COMPLEX[self._dtype.char] if halved else self._dtype
            kind = "r2c" if halved else "c2c"
            points = None if padded == shape else shape
            stages.append(_Stage(kind, tuple(rest), None, source, target, (self._dtype, out_dtype), points))
        return stages

    def _count_points(self, shape: tuple[int, ...]) -> int:
        """What a transform forward and back multiplies by if neither is scaled."""
        lengths = {"dct1": lambda n: 2 * (n - 1), "dst1": lambda n: 2 * (n + 1)}
        points = 1
        for axis in [axis for group in self._groups for axis in group]:
            type_ = self._types.get(axis)
            points *= shape[axis] if type_ is None else lengths.get(type_, lambda n: 2 * n)(shape[axis])
        return points

    def bytes(self, forward_output: bool = True) -> int:
        """Bytes that this rank's output (else input) of forward needs to be used without a copy."""
        if not self._planned:
            raise ArgumentError("PFFT: destroy() has been called")
        return self._planned[-1 if forward_output else 0].bytes(int(forward_output))

    def _own(self, end: int) -> DistArray:
        array = self._arrays[end]
        if array is None:
            array = self._arrays[end] = newDistArray(self, forward_output=bool(end))
        return array

    def _usable(self, array: Any, end: int) -> bool:
        """Whether a plan can read or write the array where it lies."""
        if not isinstance(array, np.ndarray):
            return False
        room = max(array.nbytes, array._room if isinstance(array, DistArray) else 0)
        return (
            array.shape == self.pencil[end].subshape
            and array.dtype == self.dtype(bool(end))
            and array.flags.c_contiguous
            and array.flags.aligned
            and room >= self.bytes(bool(end))
        )

    def _run(self, ends: tuple[int, int], given: Any, wanted: Any, factor: float) -> Any:
        failure: Exception | None = None
        arrays: list[Array] = []
        try:
            arrays = self._prepare(ends, given, wanted)
        except Exception as wrong:
            failure = wrong
        agree(self._comm, failure)
        direction, planned = ("forward", self._planned) if ends == (0, 1) else ("inverse", self._planned[::-1])
        try:
            for plan, read, written in zip(planned, arrays[:-1], arrays[1:], strict=True):
                plan.run(direction, read, written)
        except Exception as wrong:
            failure = wrong
        if self._in_groups:  # else all ranks fail alike
            agree(self._comm, failure)
        elif failure is not None:
            raise failure
        target = arrays[-1]
        if factor != 1:
            target *= factor
        if wanted is None or wanted is target:
            return target
        wanted[...] = target
        return wanted

    def _prepare(self, ends: tuple[int, int], given: Any, wanted: Any) -> list[Array]:
        """What is read first, what lies between two stages, and what is written last."""
        if wanted is not None:
            expected = self.pencil[ends[1]].subshape
            if not isinstance(wanted, np.ndarray) or not wanted.flags.writeable or wanted.shape != expected:
                raise ArgumentError(f"PFFT: the output is no array of shape {expected} that can be written")
        target = wanted if self._usable(wanted, ends[1]) else self._own(ends[1])
        source = given if self._usable(given, ends[0]) else self._own(ends[0])
        if given is not None and source is not given:
            source[...] = given
        if np.may_share_memory(source, target):
            apart = with_room(source.shape, source.dtype, self.bytes(bool(ends[0])))
            apart[...] = source
            source = apart
        between = [
            with_room(first.target.subshape, first.dtypes[1], max(before.bytes(1), after.bytes(0)))
            for first, before, after in zip(self._stages, self._planned, self._planned[1:], strict=False)
        ]
        return [source, *between, target]

    def destroy(self) -> None:
        """Frees the plans; they are also freed some time after the last rank has let go of the object. Collective."""
        for planned in self._planned:
            if planned.context is not None:
                planned.context.destroy(planned.number)
        self._planned = []

    def explain(self) -> str:
        """What each plan does on this rank, step by step, and why."""
        return "\n".join(planned.explain() for planned in self._planned)

    def shape(self, forward_output: bool = True) -> tuple[int, ...]:
        """The shape of this rank's part of the output (else the input) of forward."""
        return self.pencil[bool(forward_output)].subshape

    def local_slice(self, forward_output: bool = True) -> tuple[slice, ...]:
        """This rank's indices of the output (else the input) of forward."""
        return self.pencil[bool(forward_output)].slices

    def global_shape(self, forward_output: bool = False) -> tuple[int, ...]:
        """The shape of the whole output (else input) of forward."""
        return self.pencil[bool(forward_output)].shape

    def dtype(self, forward_output: bool = False) -> np.dtype[Any]:
        """The type of the output (else the input) of forward."""
        return self._stages[-1].dtypes[1] if forward_output else self._dtype

    @property
    def dimensions(self) -> int:
        """The number of axes."""
        return len(self.pencil[0].shape)


def _towards(pencil: Pencil, axis: int) -> Pencil:
    return pencil if pencil.axis == axis else pencil.pencil(axis)


def _read(
    shape: Any, axes: Any, dtype: Any, transforms: Any, collapse: bool, aligned: int | None, padding: Any
) -> _Request:
    if shape is None:
        raise ArgumentError("PFFT: give a shape, or a darray")
    extents = tuple(int(n) for n in shape)
    code = np.dtype(dtype).char
    if code not in _PRECISIONS:
        raise UnsupportedError(f"PFFT: {np.dtype(dtype)} is not float32, float64, complex64 or complex128")
    named = tuple(sorted(_read_transforms(transforms).items(), key=str))
    groups = _read_axes(axes, extents, aligned)
    padded = _padded(padding, extents, groups)
    if aligned is not None and padded != extents:
        raise UnsupportedError("PFFT: padding together with a darray; give the shape of the spectrum")
    return _Request(extents, groups, code, named, bool(collapse), padded)


def _padded(padding: Any, shape: tuple[int, ...], groups: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """The shape in real space: the largest integers up to factor times n, along axes that are a group of their own."""
    if padding is False or padding is None:
        return shape
    factors = [float(padding)] * len(shape) if np.ndim(padding) == 0 else [float(factor) for factor in padding]
    if len(factors) != len(shape) or not all(1 <= factor < math.inf for factor in factors):
        raise ArgumentError(f"PFFT: padding is {padding}; give a number of 1 or more, or one for each axis")
    alone = {group[0] for group in groups if len(group) == 1}
    return tuple(
        math.floor(n * factor) if axis in alone else n
        for axis, (n, factor) in enumerate(zip(shape, factors, strict=True))
    )


def _read_axes(axes: Any, shape: tuple[int, ...], aligned: int | None) -> tuple[tuple[int, ...], ...]:
    """The groups of axes, none of them negative."""
    count = len(shape)
    if axes is None:
        given: list[Any] = list(range(count))
        if aligned is not None:  # the axis that is whole is transformed first
            given = given[aligned + 1 :] + given[: aligned + 1]
    else:
        given = list(axes) if isinstance(axes, (tuple, list)) or np.ndim(axes) else [axes]
    groups = [tuple(group) if isinstance(group, (tuple, list)) else (group,) for group in given]
    for axis in [axis for group in groups for axis in group]:
        if not isinstance(axis, (int, np.integer)) or not -count <= axis < count:
            raise ArgumentError(f"PFFT: axes names {axis!r}, and the array has {count} axes")
    read = tuple(tuple(int(axis) % count for axis in group) for group in groups)
    flat = [axis for group in read for axis in group]
    if not flat or any(not group for group in read):
        raise ArgumentError("PFFT: axes has no axis, or an empty group of them")
    if len(set(flat)) != len(flat):
        raise UnsupportedError(f"PFFT: axes is {axes}; each axis is transformed once")
    return read


def _read_transforms(transforms: dict[tuple[int, ...], Any] | None) -> dict[tuple[int, ...], str | None]:
    """The library's names of the transforms of groups of axes; None: as the type of the data asks for."""
    return {
        tuple(group): given if isinstance(given, str) else _name_of(given[0])
        for group, given in (transforms or {}).items()
    }


def _types_of(named: dict[tuple[int, ...], str | None], groups: tuple[tuple[int, ...], ...]) -> dict[int, str]:
    """The cosine and sine transforms by axis: those of the groups that are named, as mpi4py-fft reads it."""
    if named and not any(group in named for group in groups):
        raise ArgumentError(f"PFFT: transforms names {list(named)}, and the groups of axes are {list(groups)}")
    types = {axis: named.get(group) for group in groups for axis in group}
    return {axis: name for axis, name in types.items() if name is not None}


def _name_of(function: Any) -> str | None:
    """The library's name of a function's transform; None for a complex or real-to-complex one."""
    kind = 2
    while isinstance(function, functools.partial):
        kind = function.keywords.get("type", kind)
        function = function.func
    name = getattr(function, "__name__", str(function))
    if name in ("fftn", "rfftn", "fft", "rfft"):
        return None
    if name in ("dctn", "dstn", "dct", "dst") and kind in (1, 2, 3, 4):
        return f"{name[:3]}{kind}"
    raise UnsupportedError(
        f"PFFT: transforms names {name}, which is none of fftn, rfftn, dctn and dstn of types 1 to 4"
    )


def _dims(axes: int, last: tuple[int, ...], grid: Sequence[int] | None, slab: bool | int, ranks: int) -> list[int]:
    """How many ranks share each axis; 0: any."""
    if grid is not None:
        if slab is not False or len(grid) > axes:
            raise ArgumentError("PFFT: grid has more entries than the array has axes, or slab is given, too")
        dims = [max(0, int(d)) for d in grid] + [1] * (axes - len(grid))
    elif slab is False or slab is None:
        dims = [int(axis in last) for axis in range(axes)]
    else:
        split = (last[-1] + 1) % axes if slab is True else int(slab) % axes
        dims = [1] * axes
        dims[split] = ranks
    full = grid_of(ranks, dims)
    if any(full[axis] != 1 for axis in last):
        raise ArgumentError(f"PFFT: {tuple(full)} ranks share the axes, and axes {last}, transformed first, are shared")
    return full


def _collapsed(groups: tuple[tuple[int, ...], ...], subcomm: Subcomm) -> tuple[tuple[int, ...], ...]:
    """The groups of axes that no rank shares joined into one, from the last group on."""
    joined: list[tuple[int, ...]] = [()]
    for group in reversed(groups):
        if all(subcomm[axis].Get_size() == 1 for axis in group):
            joined[0] = group + joined[0]
        else:
            joined.insert(0, group)
    return tuple(joined)
