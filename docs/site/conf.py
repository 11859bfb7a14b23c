"""How Sphinx makes the site of the pages that docs/site/build has staged."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes

project = "weft"
author = "the authors of weft"
copyright = "the authors of weft"
html_title = "weft"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
myst_url_schemes = ["http", "https", "mailto", "tree"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["weft.css"]
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {"top_of_page_button": None}
exclude_patterns = ["anchors.json"]
smartquotes = False
highlight_language = "none"

_anchors: dict[str, dict[str, str]] = {}  # for each language, by names


def _link_to_copies(app: Any, doctree: nodes.document, page: str) -> None:
    """Links to files of the tree lead to their copies."""
    for reference in doctree.findall(nodes.reference):
        if reference.get("refuri", "").startswith("tree:"):
            copy = "files/" + reference["refuri"].removeprefix("tree:")
            reference["refuri"] = os.path.relpath(copy, os.path.dirname(page))


def _link_names(app: Any, doctree: nodes.document, page: str) -> None:
    """Code in text leads to where its first name is declared."""
    for literal in list(doctree.findall(nodes.literal)):
        for language, pattern in (("c", r"\b(?:weft_|WEFT_)\w+"), ("python", r"^weft\.[\w.]+")):
            names = re.findall(pattern, literal.astext())
            place = next((_anchors[language][name] for name in names if name in _anchors[language]), None)
            if place and not isinstance(literal.parent, (nodes.title, nodes.reference)):
                uri = app.builder.get_relative_uri(page, f"{language}-reference") + "#" + place
                reference = nodes.reference("", "", literal.deepcopy(), internal=True, refuri=uri)
                literal.replace_self(reference)
                break


def _link_names_in_code(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Names of the C library in C lead to where they are declared."""
    if "body" not in context:
        return
    uri = app.builder.get_relative_uri(page, "c-reference")

    def link(name: re.Match[str]) -> str:
        place = _anchors["c"].get(name[0])
        return f'<a class="name" href="{uri}#{place}">{name[0]}</a>' if place else name[0]

    def block(code: re.Match[str]) -> str:
        return re.sub(r"\b(?:weft_|WEFT_)\w+", link, code[0])

    context["body"] = re.sub(r'<div class="highlight-c .*?</pre>', block, context["body"], flags=re.DOTALL)


def setup(app: Any) -> None:
    _anchors.update(json.loads((Path(app.srcdir) / "anchors.json").read_text(encoding="utf-8")))
    app.connect("doctree-resolved", _link_to_copies)
    app.connect("doctree-resolved", _link_names)
    app.connect("html-page-context", _link_names_in_code)
