"""The references have everything: of C what the headers export, of Python what the package does."""

from __future__ import annotations

import ast
import re
import sys
import unittest

from site_pages import SITE, TREE, page

sys.path.insert(0, str(TREE / "docs/site"))
import header  # noqa: E402

HEADERS = [TREE / "include/weft" / name for name in ("weft.h", "weft_mpi.h")]


class CReference(unittest.TestCase):
    def setUp(self):
        self.text = page(SITE / "c-reference.html").text
        self.anchors = page(SITE / "c-reference.html").anchors
        self.code = "".join(path.read_text(encoding="utf-8") for path in HEADERS)

    def test_has_every_function(self):
        code = re.sub(r"/\*.*?\*/", "", self.code, flags=re.DOTALL)
        declared = re.findall(r"\bWEFT_API\s[^;(]*?\b(weft_\w+)\(", code)
        self.assertEqual(len(declared), len(re.findall(r"^WEFT_API\b", code, re.MULTILINE)))
        self.assertGreater(len(declared), 50)
        for name in declared:
            with self.subTest(name):
                self.assertIn(header.anchor(name), self.anchors)
                self.assertIn(f"{name}(", self.text)

    def test_has_every_type_and_constant(self):
        types = re.findall(r"^typedef (?:enum|struct) (weft_\w+) \{", self.code, re.MULTILINE)
        types += re.findall(r"^\} (weft_\w+);", self.code, re.MULTILINE)
        constants = re.findall(r"^    (WEFT_[A-Z0-9_]+)\b", self.code, re.MULTILINE)
        constants += re.findall(r"^#define (WEFT_\w+) ", self.code, re.MULTILINE)
        self.assertGreater(len(set(types)), 40)
        self.assertGreater(len(set(constants)), 150)
        places = header.anchors(HEADERS)
        for name in sorted({*types, *constants}):
            with self.subTest(name):
                self.assertIn(places[name], self.anchors)
                self.assertRegex(self.text, rf"\b{name}\b")

    def test_has_every_comment_as_it_is_written(self):
        for comment in re.findall(r"/\*.*?\*/", self.code, re.DOTALL):
            if not re.match(r"/\* ---- .* ---- \*/", comment):
                self.assertIn(re.sub(r"\s+", " ", comment), self.text)


class PythonReference(unittest.TestCase):
    def test_has_every_public_name(self):
        text = page(SITE / "python-reference.html").text
        for module in ("", "fft", "dask", "distributed"):
            tree = ast.parse((TREE / "python/weft" / module / "__init__.py").read_text(encoding="utf-8"))
            (names,) = [ast.literal_eval(node.value) for node in tree.body
                        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]  # fmt: skip
            for name in names:
                full = ".".join(["weft", *([module] if module else []), name])
                with self.subTest(full):
                    self.assertIn(full, text)


if __name__ == "__main__":
    unittest.main()
