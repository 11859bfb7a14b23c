"""What `weft compare` shows: statistics, pictures and tables of weft.plot, for each experiment, in one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd

from weft.compare.cases import HEADINGS, PLAIN, TRANSFERS, WINDOWS
from weft.compare.libraries import names
from weft.compare.table import Measured, Skipped, cell_of, results_of
from weft.plot import page
from weft.plot.figures import libraries
from weft.plot.figures.accuracy import error_pictures, memory_picture
from weft.plot.figures.picture import Picture
from weft.plot.figures.style import RULES
from weft.plot.listing import (
    Column,
    Listing,
    count_column,
    digits,
    markdown,
    number_column,
    percent_column,
    table_html,
    text_column,
    time_column,
)
from weft.plot.listings import peer_summary, statistics_listing, wrong_listing
from weft.plot.provenance import machine_facts
from weft.plot.standings import geometric_means, peer_ratios
from weft.plot.study import Study, plural, problem_name
from weft.plot.workload import array_bytes

NEAR = 1.05  # times the fastest: as good as fastest
BASELINES = ("numpy", "cupy", "pyvkfft", "torch", "jax")  # the first of them that ran
METHOD = """Each library is used as its own documentation says: what it plans is planned once, what it caches stays
cached, asynchronous work is waited for, arrays lie where the library wants them. All libraries of a case run in turn,
call by call, in an order that is shuffled each time, on processors to which the process is confined. A run is the mean
of as many calls as take 0.1 ms; before runs of calls that take less than 1 ms one call goes uncounted. Times are medians
of runs, with the least beside them; intervals are 99 % intervals of the mean; a ratio is the median over runs of one time
over the other. A call of a function that returns a new array takes the time for that array too. The first call for a
case includes planning, compiling and the growing of caches and pools; a small transform goes before all cases, so that
what a library loads and starts but once is in none of them. Errors are relative, in L2, against the transform in long
double ({bits} bits of significand) of the same input; a result beyond 20 u (1 + sqrt(log2 N)) is wrong and in no
comparison. Memory is input, output and what the library's process (on a GPU: the library's own account) held besides at the most
while planning and calling for the first time, over the input. Operations are counted as 5 N log2 N, half of it for real
data."""


@dataclass
class Part:
    """A section of the page."""

    heading: str
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Listing] = field(default_factory=list)


@dataclass
class Report:
    title: str
    meta: str
    findings: list[str]  # for the terminal: the first table in words
    alarms: list[Listing]
    parts: list[Part]
    facts: list[tuple[str, str]]
    method: str


def compose(rows: Sequence[Measured], skipped: Sequence[Skipped], run: dict[str, Any]) -> Report:
    timed = [row for row in rows if row.run]
    plain = [row for row in timed if row.way == PLAIN]
    with matplotlib.rc_context(RULES):
        everything = Study(results_of("compare", plain, run))
        standing = standings(everything)
        parts = [Part("Standing of the libraries", tables=[standing_listing(standing)])] if len(standing) else []
        parts += [one for name in HEADINGS if (one := experiment(name, timed, run)).tables or one.pictures]
        parts.append(Part("First call", tables=[first_calls(rows, everything)]))
        parts.append(memory_part(everything))
        parts.append(Part("Errors", error_pictures(everything)))
        parts.append(Part("All cells", tables=[statistics_listing(Study(results_of("compare", timed, run)))]))
    shown = len({row.library for row in timed})
    cases = plural(len({row.block for row in timed}), "case")
    return Report(
        title=f"Fourier transforms in Python: {run['device']}, {plural(run['threads'], 'thread')}",
        meta=" · ".join([str(run["date"])[:10], run["machine"]["processor"], f"{shown} libraries", cases]),
        findings=findings(standing),
        alarms=[one for one in (wrong_results(timed, run), skipped_listing(skipped)) if len(one)],
        parts=[part for part in parts if part.pictures or any(len(table) for table in part.tables)],
        facts=machine_facts(everything.results),
        method=METHOD.format(bits=np.finfo(np.longdouble).nmant + 1),
    )


def wrong_results(timed: Sequence[Measured], run: dict[str, Any]) -> Listing:
    listing = wrong_listing(Study(results_of("compare", timed, run)))
    return replace(listing, heading=f"WRONG RESULTS: {plural(len(listing), 'cell')}")


def skipped_listing(skipped: Sequence[Skipped]) -> Listing:
    """What was not measured: a line for each reason, with the libraries that it holds for."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in skipped:
        what = "everything" if one.case is None else one.case.text + ("" if one.way == PLAIN else f" ({one.way})")
        found.setdefault((one.reason, one.library), []).append(what)
    holds: dict[tuple[str, str], list[str]] = {}
    for (reason, library), cases in found.items():
        what = "; ".join(sorted(cases)[:4]) + (" …" if len(cases) > 4 else "")
        holds.setdefault((what, reason), []).append(library)
    rows = [
        {"library": ", ".join(sorted(those)), "what": what, "reason": reason} for (what, reason), those in holds.items()
    ]
    table = pd.DataFrame(rows, columns=["library", "what", "reason"])
    columns = [text_column("library", "libraries"), text_column("what", "what"), text_column("reason", "reason")]
    return Listing("Not measured", columns, table)


# Standing


def standings(study: Study) -> pd.DataFrame:
    """Of each library: in how many problems it was fastest or nearly so, and its times over those of the fastest."""
    found: dict[str, list[float]] = {}
    for _, cells in study.cells.merge(study.summary[["cell", "block"]], on="cell").groupby("block"):
        least = cells["median"].min()
        for library, median in zip(cells["library"], cells["median"]):
            found.setdefault(str(library), []).append(float(median / least))
    rows = []
    for library, ratios in found.items():
        rows.append(
            {
                "library": library,
                "problems": len(ratios),
                "fastest": sum(ratio == 1 for ratio in ratios),
                "near": sum(ratio <= NEAR for ratio in ratios) / len(ratios),
                "mean": float(np.exp(np.mean(np.log(ratios)))),
                "worst": max(ratios),
            }
        )
    columns = ["library", "problems", "fastest", "near", "mean", "worst"]
    return pd.DataFrame(rows, columns=columns).sort_values("mean", ignore_index=True)


def standing_listing(standing: pd.DataFrame) -> Listing:
    columns = [
        text_column("library", "library"),
        count_column("problems", "problems"),
        count_column("fastest", "fastest in"),
        percent_column("near", "fastest or within 5 %"),
        number_column("mean", "times the fastest, mean"),
        number_column("worst", "at worst"),
    ]
    note = "Median times over those of the fastest library in each problem; the mean is geometric."
    return Listing("Standing of the libraries", columns, standing, note)


def findings(standing: pd.DataFrame) -> list[str]:
    return [
        f"{row['library']}: fastest or within 5 % of the fastest in {row['near'] * 100:.0f} % of "
        f"{plural(row['problems'], 'problem')}, {digits(row['mean'])} times the fastest on average and "
        f"{digits(row['worst'])} times at worst."
        for row in standing.to_dict("records")
    ]


# Experiments


def experiment(name: str, timed: Sequence[Measured], run: dict[str, Any]) -> Part:
    """Pictures and tables of one experiment."""
    rows = [row for row in timed if row.case.experiment == name]
    part = Part(HEADINGS[name])
    plain = [row for row in rows if row.way == PLAIN]
    if plain:
        study = Study(results_of(name, plain, run))
        part.pictures = [replace(picture, name=f"{name}-{picture.name}") for picture in libraries.draw(study)]
        part.tables.append(speed_ups(study))
        ratios = peer_ratios(study)
        if len(ratios):
            part.tables.append(peer_summary(geometric_means(ratios)))
    ways = {row.way for row in rows}
    if ways & set(WINDOWS):
        part.tables.append(windows_listing(rows, run))
    if TRANSFERS in ways:
        part.tables.append(transfers_listing(rows))
    return part


def baseline_of(cells: pd.DataFrame) -> str:
    present = list(dict.fromkeys(cells["library"]))
    return next((name for name in BASELINES if name in present), present[0] if present else "")


def speed_ups(study: Study) -> Listing:
    """How many times as fast as the baseline each library is, problem by problem."""
    base = baseline_of(study.cells)
    rows = []
    order = ["axes", "kind", "precision", "batch", "points", "shape"]
    for _, cells in study.cells.sort_values(order).groupby(order, sort=False):
        first = cells[cells["library"] == base]
        if first.empty:
            continue
        row = {"problem": problem_name(first.iloc[0]), "base": first.iloc[0]["median"]}
        row["least"] = first.iloc[0]["minimum"]
        for _, cell in cells[cells["library"] != base].iterrows():
            row[cell["library"]] = study.relative(first.iloc[0]["cell"], cell["cell"]).median
        rows.append(row)
    table = pd.DataFrame(rows)
    others = [name for name in dict.fromkeys([*names(), *study.cells["library"]]) if name in table]
    columns = [
        text_column("problem", "problem"),
        time_column("base", f"{base}, ms"),
        time_column("least", "least"),
        *(number_column(name, name) for name in others),
    ]
    note = f"How many times as fast as {base} (medians of paired runs). {base}'s own median and least time come first."
    return Listing("Speed-up", columns, table, note)


def windows_listing(rows: Sequence[Measured], run: dict[str, Any]) -> Listing:
    """Each library's median times of the three ways to apply a window, and what they save."""
    study = Study(results_of("windows", rows, run))
    medians = study.cells.set_index("cell")["median"]
    table: dict[tuple[str, str], dict[str, Any]] = {}
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        if cell_of(row) in medians.index:
            place = (row.case.text, row.library)
            table.setdefault(place, {"problem": row.case.text, "library": row.library})
            table[place][row.way] = medians[cell_of(row)]
            cells.setdefault(place, {})[row.way] = cell_of(row)
    called, cached, fused = WINDOWS
    for place, found in cells.items():
        for way in (cached, fused):
            if called in found and way in found:
                table[place][f"{way} ratio"] = study.relative(found[called], found[way]).median
    columns: list[Column] = [text_column("problem", "problem"), text_column("library", "library")]
    columns += [time_column(way, heading) for way, heading in ((PLAIN, "no window, ms"), (called, "called each time"))]
    for way, heading in ((cached, "cached"), (fused, "fused")):
        columns += [time_column(way, heading), number_column(f"{way} ratio", "times as fast")]
    frame = pd.DataFrame(list(table.values())).reindex(columns=[column.key for column in columns])
    note = (
        "A Hann window that is made in each call; that is made once and multiplied in each call; that the transform "
        "applies itself. Dashes: the library does not offer it, or it is plain multiplication there too."
    )
    return Listing("Windows, three ways", columns, frame, note)


def transfers_listing(rows: Sequence[Measured]) -> Listing:
    """Medians of what goes to the device, the transform, and what comes back."""
    frame = pd.DataFrame(
        [
            {
                "problem": row.case.text,
                "library": row.library,
                "upload": row.seconds.upload or np.nan,
                "transform": row.seconds.transform,
                "download": row.seconds.download or np.nan,
                "total": row.seconds.total,
            }
            for row in rows
            if row.way == TRANSFERS and not row.wrong
        ],
        columns=["problem", "library", "upload", "transform", "download", "total"],
    )
    groups = frame.groupby(["problem", "library"], sort=False)
    table = groups.median().assign(least=groups["total"].min()).reset_index()
    headings = {"upload": "to the device, ms", "transform": "transform", "download": "back", "total": "in all"}
    columns = [text_column("problem", "problem"), text_column("library", "library")]
    columns += [time_column(name, heading) for name, heading in {**headings, "least": "least"}.items()]
    note = "Medians. A dash: the library's call does all of it."
    return Listing("With transfers", columns, table, note)


# What is not about steady speed


def first_calls(rows: Sequence[Measured], study: Study) -> Listing:
    """Planning and the first call, over the steady time."""
    medians = study.cells.set_index("cell")["median"].to_dict()
    found = []
    for row in rows:
        if row.run == 0 and row.way == PLAIN and cell_of(row) in medians:
            steady = medians[cell_of(row)]
            first = row.planning + row.seconds.total
            what = {"problem": row.case.text, "library": row.library, "planning": row.planning, "first": first}
            found.append({**what, "steady": steady, "ratio": first / steady})
    columns = [
        text_column("problem", "problem"),
        text_column("library", "library"),
        time_column("planning", "planning, ms"),
        time_column("first", "with the first call"),
        time_column("steady", "steady"),
        number_column("ratio", "first / steady"),
    ]
    note = "What the first call for a case takes, planning and compiling included, beside the median of those after it."
    return Listing("First call", columns, pd.DataFrame(found, columns=[column.key for column in columns]), note)


def memory_part(study: Study) -> Part:
    """Memory over the input."""
    part = Part("Memory")
    cells = study.cells[study.cells["memory_peak"] > 0]
    if cells.empty:
        return part
    problems = zip(cells["shape"], cells["kind"], cells["precision"], cells["batch"].astype(int))
    inputs = [array_bytes(*problem)[0] for problem in problems]
    cells = cells.assign(array_bytes=inputs, input_bytes=inputs)
    part.pictures.append(memory_picture(cells, "input"))
    table = cells.assign(
        problem=[problem_name(cell) for _, cell in cells.iterrows()],
        ratio=cells["memory_peak"] / cells["input_bytes"],
        mebibytes=cells["input_bytes"] / (1 << 20),
    ).sort_values(["input_bytes", "problem", "ratio"])
    columns = [
        text_column("problem", "problem"),
        text_column("library", "library"),
        number_column("mebibytes", "input, MiB"),
        number_column("ratio", "memory / input"),
    ]
    note = (
        "Input, output and everything else that was held at the most; 2 is an input and an output of its size. Less "
        "than that is a library that took memory again which it had kept."
    )
    part.tables.append(Listing("Memory relative to the input", columns, table, note))
    return part


# Writing


def write(report: Report, folder: Path, formats: tuple[str, ...]) -> list[Path]:
    """Writes report.html, tables.md and the pictures; returns the files."""
    files = [folder / "report.html", folder / "tables.md"]
    for part in report.parts:
        for picture in part.pictures:
            files += picture.save(folder, formats)
    files[1].write_text(markdown_text(report, "png" in formats), encoding="utf-8")
    files[0].write_text(html_text(report), encoding="utf-8")
    return files


def markdown_text(report: Report, with_pictures: bool) -> str:
    texts = [f"# {report.title}\n", report.meta + "\n", *(markdown(listing) for listing in report.alarms)]
    for part in report.parts:
        if [listing.heading for listing in part.tables] != [part.heading]:
            texts.append(f"## {part.heading}\n")
        texts += [markdown(listing, 2 if listing.heading == part.heading else 3) for listing in part.tables]
        if with_pictures:
            texts += [f"![{p.alt}]({p.name}.png)\n\n*{p.caption}*\n" for p in part.pictures]
    texts.append("## Machine\n\n" + "\n".join(f"- {name}: {value}" for name, value in report.facts if value) + "\n")
    texts.append("## Method\n\n" + report.method + "\n")
    return "\n".join(texts)


def html_text(report: Report) -> str:
    sections: dict[str, str] = {}
    for part in report.parts:
        pictures = "".join(page.picture_html(picture) for picture in part.pictures)
        tables = "".join(page.table_of_section(part.heading, listing) for listing in part.tables)
        sections[part.heading] = pictures + tables
    sections["Machine"] = page.facts(report.facts)
    sections["Method"] = f"<p>{page.escape(report.method)}</p>"
    banners = [page.banner("bad" if one.alarm else "warn", one.heading, table_html(one)) for one in report.alarms]
    if not any(one.alarm for one in report.alarms):
        banners.append(page.banner("good", "No wrong results"))
    return page.document(report.title, "", report.meta, banners, sections, "Written by weft compare.")
