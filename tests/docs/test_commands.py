"""The commands of the pages for beginners run as they stand, on the data of the tree, and the flags of all pages are
the command's. WEFT is the command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from functools import cache
from pathlib import Path

from site_pages import TREE

PAGES = ["tutorial", "clusters"]


def blocks(page: str) -> list[str]:
    """What is to be run: blocks of `sh`. Those of `console` want a GPU, a cluster or much time."""
    return re.findall(
        r"^```sh\n(.*?)^```", (TREE / f"docs/{page}.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


COMMAND = Path(os.environ.get("WEFT", TREE / "build/tools/weft")).resolve()


def calls() -> list[tuple[str, str, str]]:
    """Each call of the command in a page's blocks and text: the page, the subcommand, what follows it."""
    found = []
    for path in [TREE / "README.md", TREE / "data/README.md", *sorted((TREE / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        code = re.findall(r"^```(?:sh|console|bash)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        code += re.findall(r"`(weft [^`\n]*)`", text)
        for line in "\n".join(code).replace("\\\n", " ").splitlines():
            for sub, rest in re.findall(
                r"(?<![\w-])weft(?: --ranks \w+)? ([a-z]+)\b([^|&;]*)", re.sub(r"\s# .*", "", line)
            ):
                found.append((path.name, sub, rest))
    return found


@cache
def help_of(sub: str) -> str:
    return subprocess.run([COMMAND, sub, "--help"], text=True, capture_output=True, timeout=60, check=False).stdout


class Flags(unittest.TestCase):
    def test_of_the_pages_are_those_of_the_command(self):
        self.assertGreater(len(calls()), 100)
        for page, sub, rest in calls():
            with self.subTest(f"{page}: weft {sub}{rest}"):
                self.assertTrue(help_of(sub), f"there is no {sub}")
                for flag in re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", rest):
                    if (sub, flag) != ("bench", "--worker"):  # for itself alone
                        self.assertIn(flag, help_of(sub))


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        where = Path(self.folder.name)
        for name in ("data", "examples"):
            (where / name).symlink_to(TREE / name)
        for name in ("out", "bin"):
            (where / name).mkdir()
        (where / "bin/python3").symlink_to(sys.executable)  # which has NumPy
        path = f"{where / 'bin'}:{COMMAND.parent}:{os.environ['PATH']}"
        self.environment = os.environ | {"PATH": path, "WEFT_WISDOM_DIR": ""}

    def run_block(self, block: str) -> str:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=self.folder.name, env=self.environment,
                              text=True, capture_output=True, timeout=120, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, f"{block}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_of_the_pages_run(self):
        for page in PAGES:
            with self.subTest(page):
                self.assertGreater(len(blocks(page)), 0)
                for block in blocks(page):
                    self.run_block(block)

    def test_the_tutorial_tells_what_the_first_one_prints(self):
        told = re.search(r"```text\n(.*?)```", (TREE / "docs/tutorial.md").read_text(encoding="utf-8"), re.DOTALL)[1]
        printed = self.run_block(blocks("tutorial")[0])
        for line in told.splitlines()[:2]:
            self.assertIn(line, printed)
        self.assertRegex(printed, r"round trip: relative L2 error \d\.\d+e-1[56]")

    def test_several_processes_write_the_same_spectrum(self):
        self.run_block("\n".join(blocks("tutorial")[:2]))
        out = Path(self.folder.name) / "out"
        self.assertEqual((out / "spectrum.npy").stat().st_size, (out / "spectrum4.npy").stat().st_size)

    def test_a_polycrystal_has_the_stiffness_that_the_page_of_homogenization_tells(self):
        page = (TREE / "docs/homogenization.md").read_text(encoding="utf-8").split("## A polycrystal")[1]
        block, told = re.search(r"```sh\n(.*?)```\s*```\n(.*?)```", page, re.DOTALL).groups()
        printed = self.run_block(block)
        for line in told.splitlines():
            if "an iteration" not in line and "ranks" not in line:  # times and exchange methods differ
                with self.subTest(line):
                    self.assert_similar(line, printed)

    def assert_similar(self, line: str, printed: str) -> None:
        """One of the lines has the same words, and numbers of which the last digits may differ."""
        number = r"-?\d+\.\d+(?:e-?\d+)?"
        near = [other for other in printed.splitlines() if re.split(number, other) == re.split(number, line)]
        if not near:  # a row of a matrix, whose columns shift with the digits
            near = [other for other in printed.splitlines() if len(other.split()) == len(line.split())]
        wanted = [float(text) for text in re.findall(number, line)]
        for other in near:
            found = [float(text) for text in re.findall(number, other)]
            if len(found) == len(wanted) and all(
                abs(a - b) < 1e-5 * max(map(abs, wanted)) for a, b in zip(found, wanted)
            ):
                return
        self.fail(f"not printed:\n{line}\nbut\n{printed}")


if __name__ == "__main__":
    unittest.main()
