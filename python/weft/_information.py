"""What this installation of weft is and can do."""

from __future__ import annotations

import numpy

from weft import _core
from weft._gpu.driver import find_nvrtc


def engines() -> dict[str, tuple[bool, str]]:
    """Engines by name: whether they run here, and what they are or why they do not."""
    find_nvrtc()
    return _core.engines()


def devices() -> dict[str, tuple[bool, str]]:
    """Devices by name: whether they can be used, and what they are or why not."""
    find_nvrtc()
    return _core.devices()


def info() -> str:
    """A few lines for a report of a mistake: versions, engines and devices."""
    lines = [f"weft {_core.version}, NumPy {numpy.__version__}"]
    for what, found in (("engine", engines()), ("device", devices())):
        for name, (usable, text) in found.items():
            lines.append(f"{what} {name}: {text if usable else 'no: ' + text}".rstrip(": "))
    return "\n".join(lines)
