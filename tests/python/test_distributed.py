"""weft.PFFT and weft.DistArray on 1 to 4 ranks: the programs in mpi/, started by mpiexec (or what MPIEXEC names).

They are skipped where mpi4py or the part of weft that knows MPI is missing, and fail there with WEFT_TEST_MPI=1.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from seed import SEED

PROGRAMS = Path(__file__).parent / "mpi"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "distributed.py"
NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "5-many-processes.ipynb"
ENVIRONMENT = {
    **os.environ,
    "WEFT_SEED": str(SEED),
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def _promised() -> None:
    if os.environ.get("WEFT_TEST_MPI") != "1":
        pytest.importorskip("mpi4py")
        pytest.importorskip("weft._mpi")


def _python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], env={**ENVIRONMENT, **environment}, capture_output=True, text=True
    )


def _output(program: Path, ranks: int, folder: Path) -> str:
    command = [os.environ.get("MPIEXEC", "mpiexec"), "-n", str(ranks), sys.executable, str(program)]
    done = subprocess.run(command, env=ENVIRONMENT, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("program", [PROGRAMS / "transforms.py", PROGRAMS / "arrays.py", EXAMPLE], ids=lambda p: p.stem)
def test_program_passes(program, ranks, tmp_path):
    _promised()
    assert _output(program, ranks, tmp_path)


@pytest.mark.parametrize("ranks", [1, 4])
def test_the_notebook_is_a_program_for_any_number_of_ranks(ranks, tmp_path):
    _promised()
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    program = tmp_path / "notebook.py"
    program.write_text("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"))
    assert "largest error of the derivative" in _output(program, ranks, tmp_path)


def test_the_same_communicators_end_with_mpi():
    _promised()
    done = _python("""
import weft
from mpi4py import MPI
pfft = weft.PFFT(MPI.COMM_WORLD, (4, 5))
pfft.forward()
MPI.Finalize()
from weft.distributed import _context
assert not _context._contexts
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("missing", "program", "told"),
    [
        ("mpi4py", "weft.DistArray", "pip install mpi4py"),
        ("weft._mpi", "weft.PFFT(weft.distributed._mpi4py.MPI.COMM_WORLD, (4, 4))", "WEFT_MPI=ON"),
    ],
)
def test_what_is_missing_is_told(missing, program, told):
    if missing != "mpi4py":
        _promised()
    done = _python(f"""
import sys
sys.modules[{missing!r}] = None
import weft
try:
    {program}
except weft.UnsupportedError as refused:
    assert {told!r} in str(refused), refused
else:
    raise AssertionError("not refused")
""")
    assert done.returncode == 0, done.stderr


def test_another_mpi_is_refused(tmp_path):
    _promised()
    from weft import _mpi

    if _mpi.built_with != "Open MPI":
        other, wanted, installed = "openmpi", "libmpi.so.40", "libmpi.so.40"
    else:
        other, wanted, installed = "mpich", "libmpi.so.12", "libmpich.so.12"  # the second is Debian's name
    known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
    found = re.search(rf"{re.escape(installed)} .*=> (.*)", known)
    if not found and os.environ.get("WEFT_TEST_MPI") != "1":
        pytest.skip(f"{installed} is not there")
    assert found, known
    (tmp_path / wanted).symlink_to(found[1])
    done = _python(
        """
from mpi4py import MPI
import weft
try:
    weft.PFFT(MPI.COMM_WORLD, (4, 4))
except weft.UnsupportedError as refused:
    assert "mpi4py runs on" in str(refused), refused
else:
    raise AssertionError("not refused")
""",
        MPI4PY_MPIABI=other,
        LD_LIBRARY_PATH=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
