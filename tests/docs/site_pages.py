"""The built site as its readers see it: pages with their links, anchors and text. DOCS_SITE is the folder of HTML."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

TREE = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("DOCS_SITE", TREE / "build/docs/html")).resolve()


@dataclass
class Page(HTMLParser):
    path: Path
    links: list[str] = field(default_factory=list)  # of <a>
    loaded: list[str] = field(default_factory=list)  # what the page shows or runs
    anchors: set[str] = field(default_factory=set)
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.skipped = 0
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        self.skipped += tag in ("script", "style")
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in ("img", "script", "iframe", "source") and values.get("src"):
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(values["href"])

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.parts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.parts))


@cache
def page(path: Path) -> Page:
    return Page(path)


def pages() -> list[Page]:
    """Every page that Sphinx wrote; files that are only copied, such as reports, are not among them."""
    found = [path for path in sorted(SITE.rglob("*.html")) if "files" not in path.relative_to(SITE).parts]
    return [page(path) for path in found]


def is_outside(link: str) -> bool:
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def followed(of: Page, link: str) -> tuple[Path, str]:
    """The file and the anchor that a link within the site leads to."""
    parts = urlsplit(link)
    path = (of.path.parent / unquote(parts.path)).resolve() if parts.path else of.path
    return path, unquote(parts.fragment)


def within(clicks: int) -> set[Path]:
    """Pages that so many clicks lead to from the front page, on links in menus or text."""
    seen = {SITE / "index.html"}
    last = seen
    for _ in range(clicks):
        reached = {followed(page(path), link)[0] for path in last for link in page(path).links if not is_outside(link)}
        last = {path for path in reached if path.suffix == ".html" and path.exists()} - seen
        seen = seen | last
    return seen
