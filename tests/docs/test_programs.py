"""The program in C of README.md compiles without a warning and runs on two ranks. WEFT is the command in the build folder
that has the libraries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from site_pages import TREE

BUILD = Path(os.environ.get("WEFT", TREE / "build/tools/weft")).resolve().parents[1]
# Debian's names where there are several MPI libraries: those that scripts/check builds with.
COMPILER, LAUNCHER = (shutil.which(f"{name}.openmpi") or name for name in ("mpicc", "mpiexec"))

# As scripts/mpi-environment.
AS_ROOT = dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
ENVIRONMENT = os.environ | AS_ROOT | {"OMPI_MCA_rmaps_base_oversubscribe": "1", "WEFT_WISDOM_DIR": ""}


class Programs(unittest.TestCase):
    def test_that_of_the_first_page_runs(self):
        (program,) = re.findall(r"```c\n(.*?)```", (TREE / "README.md").read_text(encoding="utf-8"), re.DOTALL)
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "app.c"
            source.write_text(program, encoding="utf-8")
            warnings = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
            libraries = [f"-L{BUILD}", "-lweft_mpi", "-lweft", f"-Wl,-rpath,{BUILD}"]
            command = [COMPILER, *warnings, f"-I{TREE / 'include'}", str(source), "-o", "app", *libraries]
            subprocess.run(command, cwd=folder, check=True, timeout=120)
            subprocess.run([LAUNCHER, "-n", "2", "./app"], cwd=folder, env=ENVIRONMENT, check=True, timeout=120)


if __name__ == "__main__":
    unittest.main()
