"""What a run was made on: processor, caches, memory, system, compilers, GPUs, as far as the machine tells."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

from weft.bench.launch import cores_here


def first_line(*words: str) -> str | None:
    """The first line that a program prints, or None where it is not there or fails."""
    if shutil.which(words[0]) is None:
        return None
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.strip().splitlines()
    return lines[0].strip() if done.returncode == 0 and lines else None


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def processor() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith(("model name", "cpu model", "Model\t")):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def instruction_sets() -> list[str]:
    wanted = ("sse2", "avx", "avx2", "fma", "avx512f", "asimd", "sve", "vsx")
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith(("flags", "Features")):
            flags = set(line.split(":", 1)[1].split())
            return [name for name in wanted if name in flags]
    return []


def caches() -> dict[str, dict[str, Any]]:
    """Size of each cache of the first processor, and how many of its processors share it."""
    found = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (_read(index / name) for name in ("level", "type", "size"))
        if kind in ("Data", "Unified") and size:
            sharers = sum(_span(part) for part in _read(index / "shared_cpu_list").split(","))
            found[f"L{level}"] = {"size": size, "shared_by": sharers}
    return found


def _span(part: str) -> int:
    ends = part.split("-")
    return int(ends[-1]) - int(ends[0]) + 1 if ends[0].isdigit() else 1


def memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def system() -> str:
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        name = ""
    return f"{name}, {platform.system()} {platform.release()}".removeprefix(", ")


def gpus() -> list[str]:
    if shutil.which("nvidia-smi") is None:
        return []
    try:
        done = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.strip().splitlines() if done.returncode == 0 else []


def fingerprint() -> dict[str, Any]:
    """What two parts of one table must share."""
    return {"processor": processor(), "processors": os.cpu_count()}


def describe() -> dict[str, Any]:
    made: dict[str, Any] = {
        **fingerprint(),
        "cores": cores_here(),
        "instruction_sets": instruction_sets(),
        "caches": caches(),
        "memory": memory_bytes(),
        "system": system(),
        "architecture": platform.machine(),
        "load_before": [round(load, 2) for load in os.getloadavg()],
    }
    found = gpus()
    return made | ({"gpus": found} if found else {})


def compilers() -> dict[str, str]:
    lines = {name: first_line(name, "--version") for name in ("cc", "gcc", "clang")}
    return {name: line for name, line in lines.items() if line}
