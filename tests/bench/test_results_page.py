"""Numbers and tables of the pages of results are those of the data beside them; scripts/results-page finds where not.

ctest runs this; by hand: python3 tests/bench/test_results_page.py
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
sys.path.insert(0, str(ROOT / "scripts"))

from results_page import data, marks, unheld  # noqa: E402

ROWS = "n,library,engine,median ns,error\n2,weft,a (b),30,1e-15\n2,fftw,,10,2.5e-4\n4,weft,a (b),20,\n4,fftw,,30,3e-4\n"


class Pages(unittest.TestCase):
    def test_they_say_what_their_data_says(self) -> None:
        line = [sys.executable, ROOT / "scripts" / "results-page"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        said = "scripts/results-page --write mends the pages, --unheld prints what nothing holds"
        self.assertEqual((done.returncode, done.stderr), (0, ""), said)

    def test_every_table_stands_in_a_page(self) -> None:
        pages = "".join(page.read_text(encoding="utf-8") for page in RESULTS.rglob("*.md"))
        self.assertEqual([name for name in marks.TABLES if f"<!--={name}(" not in pages], [])

    def test_a_wrong_number_and_a_wrong_row_are_found_where_they_stand_and_mended(self) -> None:
        text = (RESULTS / "README.md").read_text(encoding="utf-8")
        for digit in (r"-->\d+\.(\d)<!--\.-->", r"^\| c2c 512³ \| – \| \d+\.\d(\d) \|"):
            found = re.search(digit, text, re.MULTILINE)
            assert found
            other = str((int(found[1]) + 1) % 10)
            changed = text[: found.start(1)] + other + text[found.end(1) :]
            mended, wrong = marks.check(changed, RESULTS)
            self.assertEqual((mended, len(wrong)), (text, 1))
            self.assertRegex(wrong[0], rf"^{text[: found.start(1)].count(chr(10)) + 1}: it is '.*', not '.*', by ")



class Marks(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "times.csv").write_text(ROWS, encoding="utf-8")

    def said(self, expression: str, text: str) -> str:
        page = f"<!--data times.csv-->\n\nIt takes <!--={expression}-->{text}<!--.-->."
        mended, wrong = marks.check(page, self.folder)
        mark = marks.MARK.search(mended)
        assert mark
        return f"? {wrong[0].partition(': ')[2]}" if mended == page and wrong else mark["said"]

    def test_numbers_have_the_digits_that_stand_there(self) -> None:
        self.assertEqual(self.said("only('median ns', n=2, library=weft)", "0 ns"), "30 ns")
        self.assertEqual(self.said("only('median ns', n=2, library=weft) / 1000", "0.00"), "0.03")
        self.assertEqual(self.said("1000 * only('median ns', n=2, library=weft)", "1,000"), "30,000")
        self.assertEqual(self.said("(least(error), most(error))", "1e-3 to 1.00e-1"), "1e-15 to 3.00e-4")
        self.assertEqual(data.rounded(1.085, 2), "1.09")
        self.assertEqual([data.power(value) for value in (0.00025, 0.0996, 9.96e-5)], ["2.5e-4", "1.0e-1", "1.0e-4"])

    def test_filters_take_names_patterns_and_bounds(self) -> None:
        for where, rows in {
            "library=weft": 2, "library=(weft, fftw)": 4, "library='ff*'": 2, "library='!weft'": 2,
            "n='>2'": 2, "n='>=2'": 4, "engine='a (b)'": 2, "median_ns='<=20'": 2, "error=''": 1,
        }.items():  # fmt: skip
            self.assertEqual(self.said(f"count({where})", "9"), str(rows), where)

    def test_statistics_of_rows_groups_and_pairs(self) -> None:
        pairs = "paired('median ns', rows(library=weft), rows(library=fftw), n)"
        for expression, text in {
            pairs: "3.00 and 0.67",
            f"span({pairs})": "0.67 to 3.00",
            f"geometric({pairs})": "1.41",
            f"count({pairs}, below=1)": "1.0",
            "grouped(mean, 'median ns', rows(), n)": "20 and 25",
            "middle('median ns')": "25",
            "percent(inverse(only('median ns', n=4, library=weft)))": "5.0",
        }.items():
            self.assertEqual(self.said(expression, re.sub(r"\d", "1", text)), text)

    def test_what_cannot_be_computed_is_told(self) -> None:
        for expression, reason in {
            "only('median ns', n=2)": "2 rows, not one",
            "least('median ns', n=7)": "no rows",
            "least('median ns', speed=7)": "times.csv has no column speed",
            "least('seconds')": "there is no column seconds",
            "span('median ns')": "1 numbers in the text, 2 by the expression",
            "fastest('median ns')": "there is no function fastest",
            "[n for n in (1, 2)]": "only functions, words, numbers and",
            "__import__('os').system('true')": "only functions, words, numbers and",
            "least(": "'(' was never closed",
            "least('median ns', file='none.csv')": "No such file",
        }.items():
            self.assertIn(reason, self.said(expression, "1"), expression)

    def test_marks_that_are_none_are_found(self) -> None:
        for text, reason in {
            "a <!--=count()-->4 of": "is no mark, or not closed",
            "a <!--count()-->4<!--.-->": "is no mark, or not closed",
            "a\n<!--given-->4<!--.--> b": "a mark begins the line",
            "a <!--=count()-->4<!--.-->": "no data mark stands above",
        }.items():
            self.assertIn(reason, "".join(marks.check(text, self.folder)[1]), text)

    def test_measurements_that_nothing_holds_are_found(self) -> None:
        for text, numbers in {
            "It takes 3.5 ms on 2 ranks.": "3.5",
            "| 256³ | 0.9 | 1.2 |": "0.9, 1.2",
            "r2c of 243×250×252 and 2^20 points, GCC 12.2, 2026-11-21, FFTW 3.3.10, `x = 3`, [a link](8.md)": "",
            "It takes <!--=count()-->4<!--.--> of <!--given-->8<!--.--> ms.": "",
            "```\n12 ms\n```": "",
        }.items():
            self.assertEqual("".join(found for _, found, _ in unheld.sentences(text)), numbers, text)


if __name__ == "__main__":
    unittest.main()
