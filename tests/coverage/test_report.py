"""The report of coverage counts each line once, says what has fallen below the floor, and never lowers it.

ctest runs this; by hand: python3 tests/coverage/test_report.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPORT = Path(__file__).with_name("report.py")


def measured(file: str, hits: list[int], *begins: int) -> dict[str, object]:
    """What gcovr writes of a file whose lines were run so often, with a function from each of these lines on."""
    return {
        "file": file,
        "lines": [{"line_number": number + 1, "count": count} for number, count in enumerate(hits)],
        "functions": [{"name": f"from_{line}", "lineno": line, "execution_count": 1} for line in begins],
    }


class Report(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.floor = self.folder / "floor.csv"

    def run_report(self, *flags: str) -> tuple[int, str, str]:
        line = [sys.executable, REPORT, self.folder, self.floor, *flags]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def measure(self, *files: dict[str, object]) -> None:
        (self.folder / "lines.json").write_text(json.dumps({"files": files}), encoding="utf-8")

    def test_says_what_is_missing(self) -> None:
        status, _, said = self.run_report()
        self.assertEqual(status, 1)
        self.assertRegex(said, "^coverage: nothing is measured in .*; run scripts/coverage\n$")

    def test_adds_up_folders_and_lists_misses(self) -> None:
        self.measure(measured("src/exec/a.c", [1, 0, 5, 0], 1, 3), measured("src/exec/b.c", [1, 1], 1),
                     measured("src/engine/jit/c.c", [0, 2], 1), measured("src/engine/list.c", [7]))  # fmt: skip
        status, shown, said = self.run_report()
        self.assertEqual((status, said), (0, ""))
        self.assertRegex(shown, r"2 of +4  src/exec/a.c\n")
        self.assertRegex(shown, r"1 of +2  src/exec/a.c: from_1\n")
        self.assertRegex(shown, r"1 of +2  src/exec/a.c: from_3\n")
        self.assertNotRegex(shown, "of +2  src/exec/b.c")
        self.assertEqual(
            (self.folder / "lines.csv").read_text(encoding="utf-8").splitlines(),
            ["name,lines,missed,percent", "src,9,3,66.67", "src/engine,1,0,100.00", "src/engine/jit,2,1,50.00",
             "src/engine/jit/c.c,2,1,50.00", "src/engine/list.c,1,0,100.00", "src/exec,6,2,66.67",
             "src/exec/a.c,4,2,50.00", "src/exec/b.c,2,0,100.00"],
        )  # fmt: skip

    def test_a_line_of_several_parts_is_one(self) -> None:
        file = measured("src/exec/a.c", [0, 1], 1)
        file["lines"] += [{"line_number": 1, "count": 3}, {"line_number": 9, "count": 0, "gcovr/noncode": True}]
        self.measure(file)
        self.run_report()
        self.assertIn("src/exec/a.c,2,0,100.00", (self.folder / "lines.csv").read_text(encoding="utf-8"))

    def test_fails_below_the_floor_and_names_the_folder(self) -> None:
        self.floor.write_text("# why\nfolder,percent\nsrc,70.0\nsrc/exec,75.0\nsrc/plan,90.0\n", encoding="utf-8")
        self.measure(measured("src/exec/a.c", [1, 1, 0, 1]), measured("src/plan/b.c", [1] * 8 + [0] * 2))
        status, _, said = self.run_report()
        self.assertEqual(status, 1)
        self.assertEqual(said, "coverage: src/plan: the tests run 80.00 % of its lines, less than the floor of 90.0 %\n")

    def test_a_raised_floor_is_never_lower(self) -> None:
        self.floor.write_text("folder,percent\nsrc/exec,99.9\nsrc/gone,50.0\n", encoding="utf-8")
        self.measure(measured("src/exec/a.c", [1, 0]), measured("src/plan/b.c", [1] * 100))
        status, _, said = self.run_report("--raise")
        self.assertEqual((status, said.count("\n")), (1, 1))  # src/exec is below what it was
        lines = self.floor.read_text(encoding="utf-8").splitlines()
        self.assertTrue(lines[0].startswith("# "))
        self.assertEqual(lines[1:], ["folder,percent", "src,98.7", "src/exec,99.9", "src/plan,99.0"])
        self.assertEqual(self.run_report("--raise"), self.run_report())


if __name__ == "__main__":
    unittest.main()
