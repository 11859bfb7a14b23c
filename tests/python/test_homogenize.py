"""weft.homogenize: layers to the digits that are known, what is refused, and processes. It runs the command weft."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

import weft

COMMAND = os.environ.get("WEFT") or shutil.which("weft")
needs_command = pytest.mark.skipif(COMMAND is None, reason="the command weft is not in PATH, nor in WEFT")

SOFT = {"label": 0, "lambda": 1, "mu": 1}
HARD = {"label": np.uint8(1), "lambda": np.float64(10), "mu": 10}


def layers(dtype="u1"):
    volume = np.zeros((4, 3, 1), dtype)
    volume[2:] = 1
    return volume


@needs_command
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("dtype", ["u1", "i8", "?"])
def test_layers(dtype, ranks):
    report = weft.homogenize(layers(dtype), [SOFT, HARD], ranks=ranks, tolerance=1e-12)
    found = np.array(report["effective"]["stiffness_voigt"])
    assert report["ranks"] == ranks
    expected = [5.454545454545, 1.818181818182, 15.272727272727, 4.272727272727, 5.5, 1.818181818182]
    assert np.allclose([found[0, 0], found[0, 1], found[1, 1], found[1, 2], found[3, 3], found[4, 4]], expected, rtol=1e-11)


@needs_command
def test_conduction_in_a_plane_from_a_file(tmp_path):
    cells = np.indices((8, 8)).sum(0) // 4 % 2
    np.save(tmp_path / "cells.npy", cells[:, :, np.newaxis].astype("u2"))
    phases = [{"label": 0, "conductivity": 1}, {"label": 1, "conductivity": 4}]
    arrays = weft.homogenize(cells, phases, physics="conduction")
    files = weft.homogenize(tmp_path / "cells.npy", iter(phases), physics="conduction")
    assert arrays["effective"] == files["effective"]
    assert abs(arrays["effective"]["conductivity"][0][0] - 2) < 0.5


@needs_command
def test_what_is_wrong_is_told_in_one_sentence():
    with pytest.raises(weft.ArgumentError, match=r"phases\[0\]: .*nu|case.json: phases\[0\]"):
        weft.homogenize(layers(), [{"label": 0, "E": 1, "nu": 0.7}, HARD])
    with pytest.raises(weft.ArgumentError, match="label 1"):
        weft.homogenize(layers(), [SOFT])
    with pytest.raises(weft.ArgumentError, match="speed"):
        weft.homogenize(layers(), [SOFT, HARD], speed=3)
    with pytest.raises(weft.ExecutionError, match="the residual is"):
        weft.homogenize(np.arange(27).reshape(3, 3, 3) % 2, [SOFT, HARD], max_iterations=1)


@needs_command
def test_a_run_goes_on_from_its_checkpoint(tmp_path):
    volume, phases = np.arange(27).reshape(3, 3, 3) % 2, [SOFT, HARD]
    checkpoint = {"file": str(tmp_path / "checkpoint")}
    whole = weft.homogenize(volume, phases)
    with pytest.raises(weft.ExecutionError, match="what is done is kept"):
        weft.homogenize(volume, phases, checkpoint=checkpoint, max_iterations=1)
    assert weft.homogenize(volume, phases, checkpoint=checkpoint, resume=True)["effective"] == whole["effective"]
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_volume():
    with pytest.raises(weft.ArgumentError, match="whole numbers along 2 or 3 axes"):
        weft.homogenize(np.ones((2, 2, 2)), [SOFT])
    with pytest.raises(weft.ArgumentError, match="whole numbers along 2 or 3 axes"):
        weft.homogenize(np.ones(4, int), [SOFT])
    with pytest.raises(weft.ArgumentError, match="do not fit 32 bits"):
        weft.homogenize(np.full((2, 2, 2), 2**40), [SOFT])
    with pytest.raises(weft.ArgumentError, match="give numbers, words"):
        weft.homogenize(layers(), [{"label": 0, "E": object()}])


def test_without_the_command(monkeypatch, tmp_path):
    monkeypatch.delenv("WEFT", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(weft.UnsupportedError, match="not in PATH"):
        weft.homogenize(layers(), [SOFT, HARD])
    with pytest.raises(weft.UnsupportedError, match="cannot be run"):
        weft.homogenize(layers(), [SOFT, HARD], command=tmp_path / "weft")
