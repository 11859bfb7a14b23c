"""The results folder: its table, its journal, and what of a job is left to be measured.

The worker appends rows to table.csv, then a line to journal.jsonl that says how long the table is with them. Rows
behind the last such length belong to a block that was cut off: they are removed before anything is appended.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.bench.cells import Group
from weft.bench.job import Refusal

RESULTS = ("table.csv", "journal.jsonl", "run.json")


@dataclass
class Progress:
    """What a journal tells."""

    bytes: int = 0
    next_block: int = 0
    done: set[str] = field(default_factory=set)
    skipped: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    groups: dict[int, dict[str, Any]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("planning", "running", "checking"), 0.0))

    def take(self, entry: dict[str, Any]) -> None:
        kind = entry.get("type")
        if kind == "group":
            self.groups[entry["ranks"]] = entry
        elif kind == "done":
            self._take_done(entry)
        elif kind == "skipped":
            self.skipped[entry["cell"]] = entry["reason"]
            self.failed.pop(entry["cell"], None)
        elif kind == "wrong":
            self.wrong[entry["cell"]] = entry
        elif kind == "failed":
            self.failed[entry["cell"]] = entry["reason"]

    def _take_done(self, entry: dict[str, Any]) -> None:
        self.bytes = max(self.bytes, entry["bytes"])
        self.next_block = max(self.next_block, entry["block"] + 1)
        self.done.update(entry["cells"])
        for cell in entry["cells"]:
            self.failed.pop(cell, None)
        for name in self.seconds:
            self.seconds[name] += entry.get(name) or 0.0

    def settled(self, cell: str) -> bool:
        """Whether a cell need not be run (again)."""
        return cell in self.done or cell in self.skipped


class Journal:
    """Reads journal.jsonl as it grows. A last line without its end is not taken."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self.progress = Progress()

    def read(self) -> list[dict[str, Any]]:
        """Takes what was appended since the last call, and returns it."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                text = file.read()
        except FileNotFoundError:
            return []
        entries = []
        for line in text[: text.rfind(b"\n") + 1].splitlines(keepends=True):
            try:
                entry = json.loads(line)
                self.progress.take(entry)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise Refusal(
                    f"{self.path}: byte {self.offset}: not a line of a journal; use another folder, or --fresh"
                ) from None
            self.offset += len(line)
            entries.append(entry)
        return entries


class Folder:
    """A results folder, held by one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.table, self.journal_file = path / "table.csv", path / "journal.jsonl"
        self.journal = Journal(self.journal_file)
        self._lock = -1

    def open(self, fresh: bool) -> Progress:
        """Makes and locks the folder, and repairs what an interruption left."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._hold()
            if fresh:
                for name in RESULTS:
                    (self.path / name).unlink(missing_ok=True)
            self.journal.read()
            self._repair()
        except OSError as error:
            self.close()
            raise Refusal(f"{self.path}: {error.strerror}; use another folder with -o") from None
        except Refusal:
            self.close()
            raise
        return self.journal.progress

    def _hold(self) -> None:
        self._lock = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refusal(f"{self.path}: another weft bench is writing there; use another folder") from None
        except OSError:
            pass  # a file system without locks

    def close(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def _repair(self) -> None:
        if self.journal_file.exists():
            os.truncate(self.journal_file, self.journal.offset)
        size, known = self.table.stat().st_size if self.table.exists() else 0, self.journal.progress.bytes
        if size < known:
            raise Refusal(
                f"{self.table}: has {size} bytes where the journal knows of {known}; use another folder, or --fresh"
            )
        if size > known:
            os.truncate(self.table, known)

    def write_json(self, name: str, value: Any, compact: bool = False) -> Path:
        """Writes a file in one step: a reader finds the old one or the new one."""
        path = self.path / name
        part = path.with_name(name + ".part")
        form: dict[str, Any] = {"separators": (",", ":")} if compact else {"indent": 1, "ensure_ascii": False}
        part.write_text(json.dumps(value, **form) + "\n", encoding="utf-8")
        part.replace(path)
        return path

    def read_json(self, name: str) -> dict[str, Any]:
        """A file written before, or {} where there is none that can be read."""
        try:
            value = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}


def what_is_left(groups: list[Group], progress: Progress) -> list[Group]:
    """The cells to be run. Peers run in every block, so that each can be compared with what is new; a problem whose
    peers have not all been measured is run as a whole."""
    left = []
    for group in groups:
        rest = Group(group.ranks)
        for problem, contestants in group.problems.items():
            able = [c for c in contestants if c["cell"] not in progress.skipped]
            undone = [c for c in able if c["cell"] not in progress.done]
            whole = any(c["library"] != "weft" for c in undone)
            if undone:
                rest.problems[problem] = [
                    c for c in able if whole or c["library"] != "weft" or c["cell"] not in progress.done
                ]
        if rest.problems:
            rest.threads = max(c["threads"] for found in rest.problems.values() for c in found)
            left.append(rest)
    return left
