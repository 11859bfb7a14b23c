"""The public C headers as a page: every declaration with its comment as written.

A header is a list of paragraphs: what blank lines outside of braces and comments separate. Each that declares something
is a section of the page, named by what it declares; what it says is shown as it stands in the header.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

# A section begins with the paragraph that declares this name.
TOPICS = [
    ("Version and sizes", "WEFT_VERSION_MAJOR"),
    ("Status", "weft_status"),
    ("What a plan computes: names", "weft_kind"),
    ("How it computes: names", "weft_decomposition"),
    ("Boxes and handles", "weft_context"),
    ("Operators on the way", "weft_operator_kind"),
    ("What arrays hold", "weft_storage"),
    ("Context, problem and options", "weft_context_options"),
    ("Times and memory", "weft_timings"),
    ("Contexts and plans", "weft_context_create"),
    ("Execution", "weft_execute"),
    ("What operators read and remember", "weft_plan_set_array"),
    ("What a plan tells of itself", "weft_plan_timings"),
    ("Buffers", "weft_buffer_create"),
    ("Compositions", "weft_stage_kind"),
    ("Convolutions", "weft_boundary"),
    ("Errors, names and probes", "weft_last_error"),
    ("MPI", "weft_mpi_context_create"),
]


@dataclass
class Paragraph:
    text: str
    names: list[str] = field(default_factory=list)  # what it declares; the first one is its title's
    members: list[str] = field(default_factory=list)  # enumeration constants


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def declared(text: str) -> tuple[list[str], list[str]]:
    """Names that a paragraph declares, and the constants of its enumeration."""
    code = without_comments(text)
    names = re.findall(r"^#define (WEFT_\w+) ", code, re.MULTILINE)
    names += re.findall(r"^typedef \w+(?: \w+)? \*?(\w+);", code, re.MULTILINE)
    names += re.findall(r"^typedef void \(\*(\w+)\)", code, re.MULTILINE)
    names += re.findall(r"^\} (\w+);|^typedef enum \w+ \{[^}]*\} (\w+);", code, re.MULTILINE)
    names = [name if isinstance(name, str) else name[0] or name[1] for name in names]
    names += re.findall(r"^WEFT_API [^;(]*?\b(weft_\w+)\(", code, re.MULTILINE)
    members = []
    for body in re.findall(r"^typedef enum \w+ \{(.*?)\}", code, re.MULTILINE | re.DOTALL):
        members += re.findall(r"\b(WEFT_\w+)\b", body)
    return list(dict.fromkeys(names)), members


def split(header: str) -> list[str]:
    """The header's paragraphs in order."""
    found, lines, depth, comment = [], [], 0, False
    for line in header.splitlines():
        if not line.strip() and depth == 0 and not comment:
            if lines:
                found.append("\n".join(lines))
            lines = []
            continue
        lines.append(line)
        code = without_comments(line)
        comment = ("/*" in code or comment) and "*/" not in code
        depth += code.count("{") - code.count("}") if not comment else 0
    return found + ["\n".join(lines)] if lines else found


def paragraphs(path: Path) -> list[Paragraph]:
    """What a header declares, in its order, without what is for the compiler alone."""
    # The braces of extern "C" are around everything.
    header = re.sub(r'#ifdef __cplusplus\n(extern "C" \{|\})\n#endif\n', "", path.read_text(encoding="utf-8"))
    found = []
    for text in split(header):
        names, members = declared(text)
        if names:
            found.append(Paragraph(text, names, members))
        elif text.startswith("/*") and not re.match(r"/\* ---- .* ---- \*/", text):
            found.append(Paragraph(text))
    return found


def anchor(name: str) -> str:
    """The place of a name on the page, as docutils writes it. WEFT_VERSION and weft_version have their own."""
    return ("macro-" if name.isupper() else "") + name.lower().replace("_", "-")


def anchors(headers: list[Path]) -> dict[str, str]:
    """For each name of the headers the place where it is declared. A constant is at its enumeration."""
    places = {}
    for header in headers:
        for paragraph in paragraphs(header):
            for name in paragraph.names:
                places[name] = anchor(name)
            for member in paragraph.members:
                places.setdefault(member, anchor(paragraph.names[0]))
    return places


def section(paragraph: Paragraph) -> str:
    titles = paragraph.names if len(paragraph.names) <= 2 else [paragraph.names[0], "…"]
    targets = "".join(f"({anchor(name)})=\n" for name in paragraph.names)
    heading = ", ".join(f"`{name}`" if name != "…" else name for name in titles)
    return f"{targets}### {heading}\n\n```c\n{paragraph.text}\n```\n"


def page(headers: list[Path]) -> str:
    """The page in Markdown."""
    parts = [
        "# C reference\n",
        "Every declaration of `weft/weft.h` and `weft/weft_mpi.h`, with its comment as it stands there. Names in code "
        "on all pages lead here.\n",
    ]
    topics = {first: title for title, first in TOPICS}
    for header in headers:
        for number, paragraph in enumerate(paragraphs(header)):
            if not paragraph.names:
                title = f"## {header.name}\n\n" if number == 0 else ""
                parts.append(f"{title}```c\n{paragraph.text}\n```\n")
                continue
            for name in paragraph.names:
                if name in topics:
                    parts.append(f"## {topics.pop(name)}\n")
            parts.append(section(paragraph))
    if topics:
        raise ValueError(f"the headers no longer declare what sections of their page begin with: {', '.join(topics)}")
    return "\n".join(parts)
