"""Where results come from: machine, versions, bindings; and what the cells of a job are called."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from weft.plot.listing import Listing, count_column, text_column
from weft.plot.table import Results


def object_of(value: Any) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def _bytes(value: Any) -> str:
    return f"{value / (1 << 30):.1f} GiB" if isinstance(value, (int, float)) else ""


def _cache(name: str, cache: Any) -> str:
    size, sharers = object_of(cache).get("size", ""), object_of(cache).get("shared_by")
    return f"{name} {size}" + (f" shared by {sharers}" if isinstance(sharers, int) and sharers > 1 else "")


def largest_cache(run: dict[str, Any]) -> int:
    """Bytes of the largest cache that run.json names; 0 where it names none."""
    sizes = [0]
    for cache in object_of(object_of(run.get("machine")).get("caches")).values():
        found = re.fullmatch(r"(\d+)([KMG]?)", str(object_of(cache).get("size", "")))
        if found:
            sizes.append(int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]])
    return max(sizes)


def machine_facts(results: Results) -> list[tuple[str, str]]:
    """What run.json says, and the table and the journal where it says nothing."""
    run, machine = results.run, object_of(results.run.get("machine"))
    versions = dict(object_of(run.get("versions")))
    for group in results.journal.groups:
        versions |= object_of(group.get("versions"))
    named = results.rows[["library", "version"]].drop_duplicates().astype(str)
    libraries = [f"{library} {version}" for library, version in named.to_numpy() if version not in ("", "nan")]
    mpi = run.get("mpi") or next((group.get("mpi") for group in results.journal.groups if group.get("mpi")), "")
    cores = f"{machine['cores']} cores" if "cores" in machine else ""
    seconds = object_of(run.get("seconds"))
    hosts = sorted(set(results.rows["host"].dropna().astype(str)))
    return [
        ("Date", str(run.get("date", ""))),
        ("Command", str(run.get("command", ""))),
        ("Host", str(run.get("host") or ", ".join(hosts[:8]))),
        ("Processor", ", ".join(part for part in (str(machine.get("processor", "")), cores) if part)),
        ("Instruction sets", ", ".join(map(str, machine.get("instruction_sets") or []))),
        ("Caches", ", ".join(_cache(name, cache) for name, cache in object_of(machine.get("caches")).items())),
        ("Memory", _bytes(machine.get("memory"))),
        ("GPUs", "; ".join(map(str, machine.get("gpus") or []))),
        ("System", str(machine.get("system", ""))),
        ("Load before", ", ".join(map(str, machine.get("load_before") or []))),
        ("Compilers", "; ".join(map(str, object_of(run.get("compilers")).values()))),
        ("MPI", str(mpi)),
        ("Libraries", "; ".join(sorted(libraries))),
        ("Versions", "; ".join(f"{name}: {version}" for name, version in sorted(versions.items()))),
        (
            "Seconds",
            ", ".join(f"{name} {value:g}" for name, value in seconds.items() if isinstance(value, (int, float))),
        ),
        ("Added by weft bench", f"{run['overhead'] * 100:.2f} %" if isinstance(run.get("overhead"), float) else ""),
    ]


def seats_listing(results: Results) -> Listing:
    """The host and the processors of every rank, for each number of ranks."""
    bindings = {str(group.get("ranks")): group.get("binding") for group in results.journal.groups}
    bindings |= object_of(results.run.get("bindings"))
    rows = []
    for ranks, seats in bindings.items():
        for seat in seats if isinstance(seats, list) else []:
            seat = object_of(seat)
            if ranks.isdigit() and isinstance(seat.get("rank"), int):
                seated = {"ranks": int(ranks), "rank": seat["rank"]}
                rows.append(seated | {name: str(seat.get(name, "")) for name in ("host", "cpus", "gpu")})
    table = pd.DataFrame(rows, columns=["ranks", "rank", "host", "cpus", "gpu"]).sort_values(["ranks", "rank"])
    columns = [
        count_column("ranks", "ranks"),
        count_column("rank", "rank"),
        text_column("host", "host"),
        text_column("cpus", "processors"),
    ]
    if (table["gpu"] != "").any():
        columns.append(text_column("gpu", "GPU"))
    return Listing("Binding of ranks", columns, table)


def cell_names(job: dict[str, Any]) -> dict[str, str]:
    """What the cells of a job are, for those that left no row; empty where the job cannot be read."""
    try:
        from weft.bench.cells import expand

        groups = expand(job, lambda library, *_: [library])
        return {
            contestant["cell"]: f"{contestant['library']} {contestant['config']}: {problem.text}"
            for group in groups
            for problem, contestants in group.problems.items()
            for contestant in contestants
        }
    except Exception:  # an older or foreign job file must not keep the report from being written
        return {}
