"""Expands a job to cells: a library in one configuration, on one problem, on a number of ranks.

Cells of the same problem and number of ranks run interleaved, so they are kept together. A cell's name is a hash of
everything that defines it: it stays the same when a job is reordered or grows.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from weft.bench.job import Refusal

ONE_PROCESS = ("fftw", "fftw-avx512", "mkl", "ducc0", "cufft", "cufftxt")
CONFIGS = dict.fromkeys(("fftw-mpi", "fftw-mpi-avx512", "mkl-cluster"), ("natural", "transposed"))
BUILT_IN = (*ONE_PROCESS, *CONFIGS)
DEFAULTS: dict[str, list[Any]] = {
    "kinds": ["r2c"],
    "precisions": ["double"],
    "directions": ["forward"],
    "batches": [1],
    "layouts": ["contiguous"],
    "ranks": [1],
    "threads": [1],
    "strategies": ["auto"],
    "grids": ["auto"],
    "variants": ["auto"],
    "exchanges": ["auto"],
    "transfers": ["auto"],
    "engines": ["auto"],
    "devices": ["host"],
    "natural": [False],
    "traces": [False],
    "peers": [],
}

# The command that starts an adapter on a number of ranks, each with threads; None: it is not there.
FindAdapter = Callable[[str, str, bool, int, int], list[str] | None]


class Problem(NamedTuple):
    """What every contestant of a block computes."""

    ranks: int
    shape: tuple[int, ...]
    kind: str
    precision: str
    direction: str
    batch: int
    layout: str
    mode: str
    iterations: int
    warmups: int
    effort: str
    repeats: int = 1

    def values(self) -> dict[str, Any]:
        """What exclusions are compared with."""
        return self._asdict() | {"shape": "x".join(map(str, self.shape))}

    @property
    def text(self) -> str:
        words = [self.kind, self.precision, "x".join(map(str, self.shape)), self.direction]
        if self.batch > 1:
            words.append(f"batch {self.batch}")
        if self.layout != "contiguous":
            words.append(self.layout)
        return " ".join(words) + f" on {self.ranks} rank{'s' if self.ranks > 1 else ''}"


@dataclass
class Group:
    """The problems of one number of ranks: one process group runs them."""

    ranks: int
    threads: int = 1
    problems: dict[Problem, list[dict[str, Any]]] = field(default_factory=dict)


def _shape(value: str | list[int]) -> tuple[int, ...]:
    return tuple(int(n) for n in (value.split("x") if isinstance(value, str) else value))


def _grown(start: tuple[int, ...], factors: list[int]) -> Iterator[tuple[int, ...]]:
    """The shape after each factor has multiplied an axis, in turns from the last to the first."""
    shape = list(start)
    yield tuple(shape)
    for turn, factor in enumerate(factors):
        shape[-1 - turn % len(shape)] *= factor
        yield tuple(shape)


def prime_factors(number: int) -> list[int]:
    factors, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor = divisor + 1 if divisor * divisor <= number else max(number, 2)
    return factors


def shapes_of(entry: Any, ranks: int) -> list[tuple[int, ...]]:
    if not isinstance(entry, dict):
        return [_shape(entry)]
    if "per_rank" in entry:
        return [list(_grown(_shape(entry["per_rank"]), prime_factors(ranks)))[-1]]
    return list(_grown(_shape(entry["start"]), [2] * int(entry["doublings"])))


def batch_of(entry: Any, shape: tuple[int, ...]) -> int:
    return max(1, int(entry["points"]) // math.prod(shape)) if isinstance(entry, dict) else int(entry)


def _grids_of(strategy: str, grids: list[str], ranks: int) -> list[str]:
    """The grids that a strategy can have on so many ranks."""
    if strategy != "pencil":
        return ["auto"]
    return [g for g in grids if g == "auto" or math.prod(map(int, g.split("x"))) == ranks]


def _exchange_text(exchange: str | list[str], strategy: str) -> str:
    if isinstance(exchange, str):
        return exchange
    if strategy.startswith("slab") or exchange[0] == exchange[1]:
        return exchange[0]
    return "+".join(exchange)


def _weft_contestants(one: dict[str, Any], ranks: int) -> Iterator[dict[str, Any]]:
    """Every choice of a set for weft, the strategy varying slowest; "auto" is spelled out."""
    for strategy in one["strategies"]:
        axes = [_grids_of(strategy, one["grids"], ranks)]
        axes += [
            one[name]
            for name in ("variants", "exchanges", "natural", "traces", "transfers", "engines", "devices", "threads")
        ]
        for grid, variant, exchange, natural, trace, transfer, engine, device, threads in itertools.product(*axes):
            yield {
                "library": "weft",
                "strategy": strategy,
                "grid": grid,
                "variant": variant,
                "exchange": _exchange_text(exchange, strategy),
                "natural": natural,
                "trace": trace,
                "transfer": transfer,
                "engine": engine,
                "device": device,
                "threads": int(threads),
            }


def _alone(choice: dict[str, Any]) -> dict[str, Any]:
    """On one rank nothing is distributed: what says how makes no difference."""
    return choice | {"grid": "auto", "variant": "auto", "exchange": "auto", "natural": False, "transfer": "auto"}


def _config(choice: dict[str, Any]) -> str:
    """The words that were asked for."""
    words = [choice[name] for name in ("grid", "variant", "exchange", "transfer", "engine") if choice[name] != "auto"]
    return ":".join([choice["strategy"], *words] + [word for word in ("natural", "trace") if choice[word]])


def _for_worker(choice: dict[str, Any]) -> dict[str, Any]:
    """The contestant as the worker reads it: what weft chooses is absent."""
    made = {name: value for name, value in choice.items() if value != "auto" and value is not False}
    if "grid" in made:
        made["grid"] = [int(n) for n in made["grid"].split("x")]
    if "exchange" in made:
        methods = made["exchange"].split("+")
        made["exchange"] = methods * 2 if choice["strategy"] == "pencil" and len(methods) == 1 else methods
    return made


def _peer_contestants(one: dict[str, Any], place: str, ranks: int, find: FindAdapter) -> Iterator[dict[str, Any]]:
    for p, peer in enumerate(one["peers"]):
        library = peer["library"]
        if library == "weft":
            raise Refusal(f"{place}.peers[{p}].library: weft is no peer of its own; list strategies instead")
        if "gpus" in peer and library != "cufftxt":
            raise Refusal(f"{place}.peers[{p}].gpus: only cufftxt takes a number of GPUs")
        known = CONFIGS.get(library, ("-",) if library in BUILT_IN else None)
        for c, config in enumerate(peer.get("configs", [])):
            if known is not None and config not in known:
                allowed = "there is nothing to choose" if known == ("-",) else f"it is not one of {', '.join(known)}"
                raise Refusal(f'{place}.peers[{p}].configs[{c}]: "{config}": {allowed}')
        mpi = peer.get("mpi", library == "heffte")
        alone = library in ONE_PROCESS or (library not in BUILT_IN and not mpi)
        if ranks not in peer.get("ranks", [1] if alone else one["ranks"]):
            continue
        configs = [f"gpus-{int(n)}" for n in peer["gpus"]] if "gpus" in peer else peer.get("configs", known or ("-",))
        for config, threads in itertools.product(configs, peer.get("threads", one["threads"])):
            made = {"library": library, "config": config, "threads": int(threads)}
            if "gpus" in peer:
                made["gpus"] = int(config.removeprefix("gpus-"))
            if library not in BUILT_IN:
                program = find(library, peer.get("adapter", library), mpi, ranks, int(threads))
                if program is None:
                    continue
                made["adapter"] = program
                if "seconds" in peer:
                    made["seconds"] = peer["seconds"]
            yield made


def _kind_of(kind: str, shape: tuple[int, ...], place: str) -> str:
    """The kind as it is spelled in tables: types of real-to-real transforms that are the same along all axes are
    named once."""
    if kind in ("r2c", "c2c"):
        return kind
    types = kind.split("+")
    text = "x".join(map(str, shape))
    if len(types) not in (1, len(shape)):
        raise Refusal(f"{place}: {kind}: {len(types)} types for the {len(shape)} axes of {text}")
    if set(types) == {"none"}:
        raise Refusal(f"{place}: {kind}: nothing is transformed")
    if any(n == 1 for n, one in zip(shape, types * len(shape)) if one == "dct1"):
        raise Refusal(f"{place}: {kind}: dct1 has no line of 1 point, as in {text}")
    return types[0] if len(set(types)) == 1 else kind


def _exclusions(job: dict[str, Any]) -> list[list[tuple[str, list[Any]]]]:
    return [
        [(name, value if isinstance(value, list) else [value]) for name, value in one.items()]
        for one in job.get("exclude", [])
    ]


def _excluded(exclusions: list[list[tuple[str, list[Any]]]], values: dict[str, Any]) -> bool:
    return any(all(name in values and values[name] in allowed for name, allowed in one) for one in exclusions)


def _name(problem: Problem, contestant: dict[str, Any]) -> str:
    same_plan = (
        ("adapter", "seconds", "strategy", "config")
        if problem.ranks == 1 and contestant["library"] == "weft"
        else ("adapter", "seconds")
    )
    what = problem._asdict()
    if problem.repeats == 1:
        del what["repeats"]  # names of cells are older than repeats
    defining = what | {name: value for name, value in contestant.items() if name not in same_plan}
    text = json.dumps(defining, sort_keys=True, separators=(",", ":"))
    return hashlib.sha1(text.encode()).hexdigest()[:12]


def _check_set(one: dict[str, Any], place: str) -> None:
    fitting = {g for ranks in one["ranks"] for g in _grids_of("pencil", one["grids"], ranks)}
    for g, grid in enumerate(one["grids"]):
        if grid not in fitting:
            counts = ", ".join(str(ranks) for ranks in one["ranks"])
            raise Refusal(f"{place}.grids[{g}]: {grid} fits none of the rank counts {counts}")
    if not one.get("weft", True) and not one["peers"]:
        raise Refusal(f'{place}: "weft" is false and there are no "peers"; nothing is left')


def _problems(job: dict[str, Any], one: dict[str, Any], place: str, ranks: int) -> Iterator[Problem]:
    settings = [one.get(name, job.get(name, default)) for name, default in (("iterations", 20), ("warmups", 10), ("repeats", 1))]
    effort = one.get("effort", job.get("effort", "measure"))
    for s, entry in enumerate(one["shapes"]):
        for shape in shapes_of(entry, ranks):
            if math.prod(shape) > 2**50:
                raise Refusal(f"{place}.shapes[{s}]: {'x'.join(map(str, shape))} has more than 2^50 points")
            kinds = [_kind_of(kind, shape, f"{place}.kinds[{k}]") for k, kind in enumerate(one["kinds"])]
            for kind, precision, direction, batch, layout in itertools.product(
                kinds, one["precisions"], one["directions"], one["batches"], one["layouts"]
            ):
                transforms = batch_of(batch, shape)
                if transforms >= 2**31:
                    raise Refusal(f"{place}.batches: {transforms} transforms are more than 2^31 - 1")
                yield Problem(
                    ranks,
                    shape,
                    kind,
                    precision,
                    direction,
                    transforms,
                    layout,
                    job.get("mode", "time"),
                    int(settings[0]),
                    int(settings[1]),
                    effort,
                    int(settings[2]),
                )


class Expansion:
    """Collects the cells of a job, each once."""

    def __init__(self, job: dict[str, Any], find: FindAdapter) -> None:
        self.job, self.find = job, find
        self.exclusions = _exclusions(job)
        self.groups: dict[int, Group] = {}
        self.seen: set[str] = set()

    def add_set(self, given: dict[str, Any], place: str) -> None:
        one = DEFAULTS | given
        _check_set(one, place)
        for ranks in dict.fromkeys(int(r) for r in one["ranks"]):
            choices = list(_weft_contestants(one, ranks)) if one.get("weft", True) else []
            peers = list(_peer_contestants(one, place, ranks, self.find))
            for problem in _problems(self.job, one, place, ranks):
                self._add(problem, self._weft(problem, choices) + self._peers(problem, peers))

    def _weft(self, problem: Problem, choices: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What exclusions leave; on one rank only the first of those that are the same plan there."""
        values = problem.values()
        found: list[dict[str, Any]] = []
        plans = set()
        for choice in choices:
            if self.exclusions and _excluded(self.exclusions, values | choice | {"config": _config(choice)}):
                continue
            if problem.ranks > 1:
                found.append(choice)
                continue
            plan = (choice["engine"], choice["device"], choice["threads"])
            if plan not in plans:
                found.append(_alone(choice))
            plans.add(plan)
        return [{"config": _config(choice)} | _for_worker(choice) for choice in found]

    def _peers(self, problem: Problem, peers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        values = problem.values()
        return [peer for peer in peers if not _excluded(self.exclusions, values | peer)]

    def _add(self, problem: Problem, contestants: list[dict[str, Any]]) -> None:
        group = self.groups.setdefault(problem.ranks, Group(problem.ranks))
        for contestant in contestants:
            name = _name(problem, contestant)
            if name in self.seen:
                continue
            self.seen.add(name)
            group.problems.setdefault(problem, []).append({"cell": name} | contestant)
            group.threads = max(group.threads, contestant["threads"])


def expand(job: dict[str, Any], find: FindAdapter) -> list[Group]:
    """All cells of a job, in groups of equal rank count, fewest ranks first."""
    expansion = Expansion(job, find)
    for s, one in enumerate(job["sets"]):
        expansion.add_set(one, f"sets[{s}]")
    return [group for _, group in sorted(expansion.groups.items()) if group.problems]
