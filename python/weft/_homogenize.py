"""weft.homogenize: effective stiffness or conductivity of label volumes in NumPy arrays, by the command weft."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from weft import _core

# Types that label volumes may have in a file.
_TYPES = tuple(np.dtype(name) for name in ("u1", "i2", "u2", "i4"))


def _command(given: str | os.PathLike[str] | None) -> str:
    found = os.fspath(given) if given is not None else os.environ.get("WEFT") or shutil.which("weft")
    if found is None:
        sentence = "homogenize: it runs the command weft, which is not in PATH; install it (`make install`), or give `command`"
        raise _core.UnsupportedError(sentence)
    return found


def _save(labels: Any, path: Path) -> None:
    array = np.asarray(labels)
    if array.dtype.kind not in "biu" or array.ndim not in (2, 3):
        raise _core.ArgumentError(
            f"homogenize: labels is an array of {array.dtype} with {array.ndim} axes; give whole numbers along 2 or 3 axes"
        )
    if array.ndim == 2:
        array = array[:, :, np.newaxis]
    for dtype in _TYPES:
        narrow = array.astype(dtype)
        if np.array_equal(narrow, array):
            np.save(path, narrow)
            return
    raise _core.ArgumentError("homogenize: labels do not fit 32 bits; number the phases anew")


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as JSON has them."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value


def _run(line: list[str]) -> None:
    try:
        done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    except OSError as reason:
        raise _core.UnsupportedError(f"homogenize: {line[0]} cannot be run: {reason.strerror}") from reason
    if done.returncode == 0:
        return
    said = [text.removeprefix("weft: ") for text in done.stderr.splitlines() if text.startswith("weft: ")]
    sentence = "homogenize: " + (said[-1] if said else f"{line[0]} ended with status {done.returncode}")
    raise (_core.ArgumentError if done.returncode == 2 else _core.ExecutionError)(sentence)


def homogenize(
    labels: Any,
    phases: Iterable[Mapping[str, Any]],
    *,
    ranks: int = 1,
    threads: int = 1,
    device: str = "host",
    resume: bool = False,
    command: str | os.PathLike[str] | None = None,
    **members: Any,
) -> dict[str, Any]:
    """The effective stiffness (or conductivity) of a microstructure, and how it was found.

    - labels: an array of whole numbers along x, y and z, or x and y, one voxel each; or the name of a file with one.
    - phases: for each label a mapping, as {"label": 1, "E": 70.0, "nu": 0.2}.
    - members: the other keys of a case, such as physics, load, discretization, solver, tolerance.
    - ranks, threads: processes, and threads of each.
    - device: where they compute: "host", "cuda" or "opencl".
    - resume: whether to go on from the file of the member `checkpoint`, if a run that was stopped has left it.
    - command: the command weft, which does the work; by default that of the environment variable WEFT, or of PATH.

    Returns the report of `weft homogenize` as a dictionary, which docs/homogenization.md tells of. Raises weft.Error.

    Layers of which one is ten times as stiff::

        layers = np.zeros((4, 1, 1), "u1")
        layers[2:] = 1
        report = weft.homogenize(layers, [{"label": 0, "lambda": 1, "mu": 1}, {"label": 1, "lambda": 10, "mu": 10}])
        report["effective"]["stiffness_voigt"][0][0]  # 5.454545
    """
    with tempfile.TemporaryDirectory(prefix="weft-homogenize-") as name:
        folder = Path(name)
        if isinstance(labels, (str, os.PathLike)):
            file = os.path.abspath(labels)
        else:
            file = str(folder / "labels.npy")
            _save(labels, Path(file))
        case = {**members, "labels": file, "phases": list(phases)}
        try:
            text = json.dumps(_plain(case))
        except (TypeError, ValueError) as reason:
            raise _core.ArgumentError(f"homogenize: {reason}; give numbers, words and lists of them") from reason
        (folder / "case.json").write_text(text)
        line = [_command(command)]
        if ranks != 1:
            line += ["--ranks", str(ranks)]
        report = folder / "report.json"
        line += ["homogenize", str(folder / "case.json"), "--quiet", "--report", str(report), "--threads", str(threads)]
        if device != "host":
            line += ["--device", device]
        if resume:
            line.append("--resume")
        _run(line)
        found: dict[str, Any] = json.loads(report.read_text())
        return found
