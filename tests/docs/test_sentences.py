"""The sentences that docs/troubleshooting.md explains are those that the sources can say."""

from __future__ import annotations

import re
import unittest
from functools import cache

from site_pages import TREE

FOLDERS = {"src": "*.c", "tools": "*.c", "apps": "*.c", "python/weft": "*.[cp]*"}
LITERAL = r'f?"((?:[^"\\\n]|\\.)*)"'
VALUE = r"%[-+ #0-9.*']*(?:hh|h|ll|l|z|j|t)?[a-zA-Z]|\{[^{}]*\}|`[^`]*`"


def normal(sentence: str) -> str:
    """With one sign for each value that is put in, and for several that follow each other."""
    text = re.sub(VALUE, "…", sentence.replace('\\"', '"').replace("\\n", " "))
    return re.sub(r"…(?:…)+", "…", text)


@cache
def said() -> str:
    """All strings of the sources, those that stand beside each other joined, one a line."""
    lines = []
    for folder, pattern in FOLDERS.items():
        for path in sorted((TREE / folder).rglob(pattern)):
            if path.is_file():
                code = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", "\n")
                lines += joined_literals(code)
    return "\n".join(normal(line) for line in lines)


def joined_literals(code: str) -> list[str]:
    found, last = [], -1
    for match in re.finditer(LITERAL, code):
        between = code[last : match.start()] if last >= 0 else "x"
        # The macros of inttypes.h stand between parts of one sentence.
        if re.fullmatch(r"\s*(?:PRI\w+)?\s*", between):
            found[-1] += match[1]
        else:
            found.append(match[1])
        last = match.end()
    return found


def quoted() -> list[str]:
    page = (TREE / "docs/troubleshooting.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `(.*?)` \|", page, re.MULTILINE)


class Sentences(unittest.TestCase):
    def test_of_the_page_are_in_the_sources(self):
        self.assertGreater(len(quoted()), 60)
        for sentence in quoted():
            with self.subTest(sentence):
                self.assertIn(normal(sentence), said())

    def test_that_nobody_says_are_noticed(self):
        self.assertNotIn(normal("problem.rank is …; it must be odd"), said())


if __name__ == "__main__":
    unittest.main()
