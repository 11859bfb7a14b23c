"""The numbers of docs/results/README.md are those of the data beside it; scripts/results-page finds where they are not.

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
PAGE = ROOT / "docs" / "results" / "README.md"


class ResultsPage(unittest.TestCase):
    def check(self, text: str | None = None, *flags: str) -> tuple[int, str, str]:
        """Exit status, what was said, and the page afterwards."""
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(PAGE.read_text(encoding="utf-8") if text is None else text, encoding="utf-8")
            line = [sys.executable, ROOT / "scripts" / "results-page", "--page", page, *flags]
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            return done.returncode, done.stderr, page.read_text(encoding="utf-8")

    def test_the_page_says_what_the_data_says(self) -> None:
        status, said, _ = self.check()
        self.assertEqual((status, said), (0, ""), "scripts/results-page --write makes the page right")

    def test_a_wrong_number_is_found_and_mended(self) -> None:
        text = PAGE.read_text(encoding="utf-8")
        number, row = "-->50.1<!--.-->", "| c2c 512³ | – | 1.42 | – |"
        for old, new in ((number, number.replace("50", "49")), (row, row.replace("42 | –", "42 | 1.69"))):
            self.assertEqual(text.count(old), 1)
            status, said, _ = self.check(text.replace(old, new))
            self.assertEqual(status, 1)
            self.assertRegex(said, r"line \d+: native-(ranks.c2c-256.ms|nd.table) is .* by the data, not ")
            status, said, mended = self.check(text.replace(old, new), "--write")
            self.assertEqual((status, said, mended), (0, "", text))

    def test_names_that_nothing_makes_or_uses_are_found(self) -> None:
        text = PAGE.read_text(encoding="utf-8")
        status, said, _ = self.check(text + "<!--no.such.name-->5<!--.-->")
        self.assertEqual((status, "nothing makes no.such.name" in said), (1, True))
        status, said, _ = self.check(re.sub(r"<!--copies.link-->(.*?)<!--\.-->", r"\1", text))
        self.assertEqual((status, "copies.link stands nowhere" in said), (1, True))


if __name__ == "__main__":
    unittest.main()
