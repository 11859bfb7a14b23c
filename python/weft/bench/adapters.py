"""Finds the adapters of libraries that are not built in: programs that run them for the worker."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def folders() -> list[Path]:
    """Where adapters are: beside the package, beside the command that was built, beside the one installed."""
    command = Path(os.environ.get("WEFT_COMMAND", "weft")).resolve()
    return [
        Path(__file__).resolve().parents[3] / "bench" / "adapters",
        command.parents[1] / "bench" / "adapters",
        command.parents[1] / "libexec" / "weft" / "adapters",
    ]


def find_adapter(name: str, job_folder: Path) -> Path | None:
    """A name is looked up beside the job and in weft's folders; with a slash it is a path, relative to the job."""
    if "/" in name:
        candidates = [job_folder / name]
    else:
        candidates = [folder / name for folder in [job_folder.parent / "adapters", *folders()]]
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            return path.resolve()
    return None


def command_of(adapter: Path) -> list[str]:
    """How an adapter is started: one in Python by the interpreter that runs this, which has what it needs."""
    with adapter.open("rb") as file:
        first = file.readline(200)
    return [sys.executable, str(adapter)] if first.startswith(b"#!") and b"python" in first else [str(adapter)]
