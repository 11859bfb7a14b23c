"""A report as one HTML file that needs nothing else: no network, no other file, no script to be read."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import replace

from weft.plot.figures.picture import Picture
from weft.plot.listing import Listing, table_html

MOST_ROWS, FOLDED_ROWS = 600, 200  # of one table in a page that a phone can open

STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1d2129;--soft:#5c6573;--line:#dfe3e8;--fill:#f5f6f8;--link:#0060a0;
--bad:#b3261e;--bad-fill:#fdecea;--warn:#8a5a00;--warn-fill:#fff4dc;--good:#1b6e3c;--good-fill:#e7f5ec}
@media (prefers-color-scheme:dark){:root{--paper:#16191f;--ink:#e6e8ec;--soft:#a3abb8;--line:#343a44;--fill:#1f242c;
--link:#7cc0f5;--bad:#ff8a80;--bad-fill:#3b1a1a;--warn:#ffc961;--warn-fill:#33270f;--good:#7fd79e;--good-fill:#14301f}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main,header,footer{max-width:68rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .5rem}
h2{font-size:1.35rem;margin:2.75rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--line)}
h3{font-size:1.08rem;margin:1.75rem 0 .4rem}
p{margin:.5rem 0;max-width:48rem}
a{color:var(--link)}
.soft,figcaption,.note{color:var(--soft)}
nav ul{list-style:none;padding:0;margin:1rem 0;display:flex;flex-wrap:wrap;gap:.35rem 1.1rem}
.banner{border-left:5px solid;border-radius:6px;padding:.8rem 1rem;margin:1.25rem 0}
.banner h2{border:0;margin:0;padding:0;font-size:1.15rem}
.banner .wide{border-color:currentColor}.banner td{white-space:normal}
.bad{border-color:var(--bad);background:var(--bad-fill)}.bad h2{color:var(--bad);font-size:1.4rem}
.warn{border-color:var(--warn);background:var(--warn-fill)}.warn h2{color:var(--warn)}
.good{border-color:var(--good);background:var(--good-fill)}.good h2{color:var(--good)}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:6px;margin:.75rem 0;max-height:36rem}
table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .65rem;text-align:left;white-space:nowrap;border-bottom:1px solid var(--line)}
tbody tr:last-child td{border-bottom:0}
tbody tr:nth-child(even){background:var(--fill)}
thead th{position:sticky;top:0;background:var(--fill);z-index:1;padding:0}
th button{all:unset;box-sizing:border-box;display:block;width:100%;padding:.45rem .65rem;cursor:pointer;font-weight:600}
th button:hover{color:var(--link)}
th button:focus-visible{outline:2px solid var(--link);outline-offset:-2px}
th[aria-sort=ascending] button::after{content:" \\25B2"}
th[aria-sort=descending] button::after{content:" \\25BC"}
.number{text-align:right}
table.alarm td{font-weight:600}
figure{margin:1.25rem 0 2rem}
.picture{overflow-x:auto}
figure img{display:block;width:100%;min-width:34rem;height:auto}
figcaption{font-size:.9rem;max-width:52rem;margin-top:.4rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.25rem;margin:.75rem 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
details{margin:.75rem 0}summary{cursor:pointer;font-weight:600}
footer{padding:2rem 1.25rem 3rem;font-size:.85rem;color:var(--soft)}
@media (max-width:40rem){h1{font-size:1.5rem}dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}
@media print{.wide{max-height:none;overflow:visible}nav{display:none}}
"""

# Sorts a table by the column whose heading is clicked: numbers by value, missing ones last.
SCRIPT = """
document.addEventListener("click",function(event){
var head=event.target.closest("th"),table=head&&head.closest("table");if(!table||!head.closest("thead"))return;
var place=head.cellIndex,down=head.getAttribute("aria-sort")==="ascending",body=table.tBodies[0];
function key(row){var cell=row.cells[place];return cell.hasAttribute("data-value")?
(cell.dataset.value===""?null:Number(cell.dataset.value)):cell.textContent}
var rows=Array.from(body.rows);rows.sort(function(a,b){var x=key(a),y=key(b);
if(x===null||y===null)return (x===null)-(y===null);
var order=typeof x==="number"?x-y:x.localeCompare(y,undefined,{numeric:true});return down?-order:order});
rows.forEach(function(row){body.appendChild(row)});
Array.from(head.parentNode.cells).forEach(function(other){other.removeAttribute("aria-sort")});
head.setAttribute("aria-sort",down?"descending":"ascending")});
"""


def escape(text: object) -> str:
    return html.escape(str(text))


def slug_of(heading: str) -> str:
    """An anchor for a heading."""
    return "-".join("".join(c if c.isalnum() else " " for c in heading.lower()).split())


def picture_html(picture: Picture) -> str:
    """The picture as an image that holds its own data, with alternative text and caption."""
    data = base64.b64encode(picture.svg().encode("utf-8")).decode("ascii")
    width, height = (round(side * 96) for side in picture.figure.get_size_inches())
    return (
        f'<figure id="{escape(picture.name)}"><div class="picture"><img width="{width}" height="{height}" '
        f'alt="{html.escape(picture.alt, True)}" src="data:image/svg+xml;base64,{data}"></div>'
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
    )


def listing_html(listing: Listing, level: int = 3, folded: bool = False) -> str:
    """A table under its heading of that level (0: none), or folded away below it."""
    note = f'<p class="note">{escape(listing.note)}</p>' if listing.note else ""
    if folded:
        heading = f"<summary>{escape(listing.heading)} ({len(listing)} rows)</summary>"
        return f"<details>{heading}{note}{table_html(listing)}</details>"
    heading = f"<h{level}>{escape(listing.heading)}</h{level}>" if level else ""
    return heading + note + table_html(listing)


def table_of_section(heading: str, listing: Listing) -> str:
    """A table of a section, whose heading is not said twice; long ones are shortened and folded away."""
    if len(listing) > MOST_ROWS:
        note = f"{listing.note} The first {MOST_ROWS} of {len(listing)} rows; the Markdown file has all.".strip()
        listing = replace(listing, rows=listing.rows.head(MOST_ROWS), note=note)
    return listing_html(listing, 0 if listing.heading == heading else 3, folded=len(listing) > FOLDED_ROWS)


def banner(kind: str, heading: str, content: str = "") -> str:
    """What comes first: kind is bad, warn or good."""
    role = ' role="alert"' if kind == "bad" else ""
    return f'<section class="banner {kind}"{role}><h2>{escape(heading)}</h2>{content}</section>'


def section(heading: str, content: str) -> str:
    return f'<section id="{slug_of(heading)}"><h2>{escape(heading)}</h2>{content}</section>'


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and values."""
    shown = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs if value)
    return f"<dl>{shown}</dl>" if shown else ""


FOOTER = "Written by weft plot. All times are those of the slowest rank; see Method."


def document(
    title: str, description: str, meta: str, banners: Sequence[str], sections: dict[str, str], footer: str = FOOTER
) -> str:
    """The whole file."""
    links = "".join(f'<li><a href="#{slug_of(heading)}">{escape(heading)}</a></li>' for heading in sections)
    paragraph = f"<p>{escape(description)}</p>" if description else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="icon" href="data:,">'
        f"<style>{STYLE}</style></head>\n<body>\n<header><h1>{escape(title)}</h1>{paragraph}"
        f'<p class="soft">{escape(meta)}</p></header>\n<main>\n{"".join(banners)}'
        f'\n<nav aria-label="Contents"><ul>{links}</ul></nav>\n'
        + "\n".join(section(heading, content) for heading, content in sections.items())
        + f"\n</main>\n<footer>{escape(footer)}</footer>\n"
        f"<script>{SCRIPT}</script>\n</body></html>\n"
    )
