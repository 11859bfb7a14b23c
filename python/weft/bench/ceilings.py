"""Measures what the machine can do at best: one process group for each number of ranks writes its part of a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from weft.bench.job import Refusal
from weft.bench.launch import Launcher, cores_here, run


def groups() -> list[tuple[int, int]]:
    """Ranks and threads: one rank, two, and one for each core; the cores are shared out as threads."""
    cores = cores_here()
    return [(ranks, max(1, cores // ranks)) for ranks in sorted({1, 2, cores})]


def merge(folder: Path, part: Path) -> None:
    """Adds what one group measured to ceilings.json, in place of what is there for as many ranks and threads."""
    target = folder / "ceilings.json"
    made = json.loads(part.read_text(encoding="utf-8"))
    try:
        before = json.loads(target.read_text(encoding="utf-8")).get("runs", [])
    except (OSError, ValueError, AttributeError):
        before = []
    new = {(run["ranks"], run["threads"]) for run in made["runs"]}
    kept = [run for run in before if (run["ranks"], run["threads"]) not in new]
    made["runs"] = sorted(kept + made["runs"], key=lambda run: (run["ranks"], run["threads"]))
    part.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    part.replace(target)


def measure(folder: Path, launcher: Launcher, command: str, show: Callable[[str], None]) -> list[str]:
    """Writes ceilings.json, or adds to it; returns a sentence for each group that failed."""
    failures = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ranks, threads in groups():
            show(f"ceilings: ranks {ranks}, threads {threads}")
            part, file = folder / "ceilings-part.json", folder / "worker-ceilings.json"
            part.unlink(missing_ok=True)
            file.write_text(json.dumps({"ceilings": str(part.resolve()), "threads": threads}) + "\n", encoding="utf-8")
            words = [*launcher.words(ranks, threads), command, "bench", "--worker", str(file.resolve())]
            status, last = run(words, launcher.environment(), show)
            file.unlink()
            if status == 0:
                merge(folder, part)
            else:
                said = f", after {last[-1]!r}" if last else ""
                failures.append(f"the ceilings of {ranks} ranks ended with exit status {status}{said}")
    except OSError as error:
        raise Refusal(f"{folder}: {error.strerror}; use another folder with -o") from None
    return failures
