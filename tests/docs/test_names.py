"""What the pages call functions, constants, members and variables of the environment is what they are called."""

from __future__ import annotations

import re
import unittest

from site_pages import TREE

HEADERS = "".join((TREE / "include/weft" / name).read_text(encoding="utf-8") for name in ("weft.h", "weft_mpi.h"))
OTHERS = "index tutorial layouts options clusters troubleshooting convolution composition streaming tuning"
PAGES = [*sorted((TREE / "docs").glob("migration/*.md")), *(TREE / f"docs/{name}.md" for name in OTHERS.split())]


def environment() -> set[str]:
    """Variables of the environment that something in the tree reads, and options of CMake."""
    read = set()
    for folder, pattern in (("src", "*.c"), ("tools", "*.c"), ("python/weft", "*.py"), (".", "CMakeLists.txt")):
        for path in (TREE / folder).glob(pattern) if folder == "." else (TREE / folder).rglob(pattern):
            read |= set(re.findall(r"\bWEFT_[A-Z0-9_]+\b", path.read_text(encoding="utf-8", errors="replace")))
    return read


class Names(unittest.TestCase):
    def test_of_functions_and_types_are_in_the_headers(self):
        programs = "".join(path.read_text(encoding="utf-8") for path in (TREE / "examples").glob("*.c"))
        # `weft_plan_*` is a family.
        for page in PAGES:
            for name in set(re.findall(r"\bweft_[a-z0-9_]+", page.read_text(encoding="utf-8"))):
                with self.subTest(f"{page.name}: {name}"):
                    self.assertRegex(HEADERS + programs, rf"\b{name}" + ("" if name.endswith("_") else r"(?![a-z0-9])"))

    def test_of_constants_are_in_the_headers_or_the_environment(self):
        known = environment() | set(re.findall(r"\bWEFT_[A-Z0-9_]+\b", HEADERS))
        for page in PAGES:
            names = set(re.findall(r"\bWEFT_[A-Z0-9_]+\b", page.read_text(encoding="utf-8")))
            with self.subTest(page.name):
                self.assertEqual(names - known, set())

    def test_of_members_in_migration_tables_are_in_the_headers(self):
        found = 0
        for page in (TREE / "docs/migration").glob("*.md"):
            if page.stem in ("scipy", "mpi4py-fft"):
                continue
            for cell in re.findall(r"^\| .*? \| (.*) \|$", page.read_text(encoding="utf-8"), re.MULTILINE):
                for member in re.findall(r"(?<![\w.)\]])\.([a-z][a-z_]+)\b", " ".join(re.findall(r"`(.*?)`", cell))):
                    found += 1
                    with self.subTest(f"{page.name}: .{member}"):
                        self.assertRegex(HEADERS, rf"\b{member}\b")
        self.assertGreater(found, 60)


if __name__ == "__main__":
    unittest.main()
