"""A picture: a Matplotlib figure with its title, caption and alternative text, and how it is written to files."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from weft.plot.figures.style import GRID, INK, MUTED, PAPER, RULES

PNG_DPI = 150  # drawn to be read at 100
# What the figure's four neutral colours become where the reader prefers dark pages.
DARK = {INK: "#e6e8ec", MUTED: "#a3abb8", GRID: "#343a44", PAPER: "#16191f"}


@dataclass(frozen=True)
class Picture:
    name: str  # of its files
    title: str
    caption: str  # what is shown, and what is seen
    alt: str
    figure: Figure

    def save(self, folder: Path, formats: tuple[str, ...]) -> list[Path]:
        """Writes NAME.FORMAT for each format into the folder."""
        files = []
        for form in formats:
            file = folder / f"{self.name}.{form}"
            # No dates, so that the same table gives the same file.
            metadata = {"CreationDate": None} if form == "pdf" else {}
            with matplotlib.rc_context(RULES):
                self.figure.savefig(file, format=form, dpi=PNG_DPI, metadata={"Title": self.title, **metadata})
            files.append(file)
        return files

    def svg(self) -> str:
        """The picture as SVG that follows the reader's choice of a light or dark page."""
        stream = io.StringIO()
        with matplotlib.rc_context({**RULES, "svg.hashsalt": self.name}):
            self.figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
        text = re.sub(r"^.*?(?=<svg)", "", stream.getvalue(), count=1, flags=re.DOTALL)
        text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, count=1, flags=re.DOTALL)
        return re.sub(r"(<svg[^>]*>)", rf"\1<style>{_dark_rules()}</style>", text, count=1)


def _dark_rules() -> str:
    """Matplotlib writes colours into style attributes, so the rules look for them there."""
    rules = "".join(
        f'[style*="{name}: {light}"]{{{name}:{dark}!important}}'
        for light, dark in DARK.items()
        for name in ("fill", "stroke")
    )
    # Glyphs in the default ink carry no style at all.
    return f"@media (prefers-color-scheme:dark){{{rules}}}"
