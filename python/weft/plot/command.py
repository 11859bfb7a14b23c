"""What the command lines of `weft plot` and `weft compare` share: refusals in one line, formats, missing packages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import NoReturn

FORMATS = ("png", "pdf", "svg")
# What is imported, and Debian's name for it.
PACKAGES = {
    "numpy": "python3-numpy",
    "pandas": "python3-pandas",
    "scipy": "python3-scipy",
    "matplotlib": "python3-matplotlib",
}


def refuse(sentence: str) -> NoReturn:
    print(f"weft: {sentence}", file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    """Refuses with one line, as the rest of the command does."""

    def error(self, message: str) -> NoReturn:
        refuse(f"{message}; see {self.prog} --help")


def read_formats(parser: Parser, text: str) -> tuple[str, ...]:
    """The value of --format."""
    formats = tuple(dict.fromkeys(text.split(",")))
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        parser.error(f"--format: {unknown[0]!r} is not one of {', '.join(FORMATS)}")
    return formats


def require_packages(packages: Mapping[str, str]) -> None:
    """Refuses where one of them cannot be imported."""
    missing = []
    for module, package in packages.items():
        try:
            __import__(module)
        except ImportError:
            missing.append(package)
    if missing:
        refuse(f"{sys.executable} lacks Python packages; on Debian: apt-get install {' '.join(missing)}")
