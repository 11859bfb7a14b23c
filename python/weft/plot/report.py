"""What `weft plot DIR` writes: pictures, summary.csv, tables.md and report.html."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from weft.plot import page
from weft.plot.figures import draw_all
from weft.plot.figures.picture import Picture
from weft.plot.listing import Listing, digits, markdown
from weft.plot.listings import (
    best_listing,
    ceilings_listing,
    failures,
    peer_listing,
    peer_summary,
    scaling_listings,
    statistics_listing,
    validation_listing,
    wrong_listing,
)
from weft.plot.provenance import largest_cache, machine_facts, object_of, seats_listing
from weft.plot.standings import best_configurations, geometric_means, peer_ratios
from weft.plot.statistics import write_summary
from weft.plot.study import Study, plural
from weft.plot.table import Results

METHOD = """Every iteration counts with the total of its slowest rank. Intervals are 99 % confidence intervals:
of the median from its order statistics, of the mean by Student's t. Contestants of one block ran in turn, iteration by iteration, in an order that was shuffled each
time; a ratio is the median over iterations of one time over the other, its interval that of the median of paired ratios
(where fewer than 8 are paired, that of the geometric mean), and whether it is significant follows from the mean of the
log ratios. Contestants that shared no block are compared by way of one that ran in both blocks
("bridged"), and otherwise, as forward and inverse are, by Welch's t on the log times ("independent"). Operations are
counted as 5 N log2 N times the batch, half of that for real data, whatever a library really does. The share of the
memory ceiling is what the least trips through memory would take at the measured bandwidth, over the median time: one
trip for 1-D, two for 2-D and 3-D, each reading and writing the array once; arrays that fit into the cache may pass
100 %. The share of the network ceiling is what a rank sends on average over the slowest rank's exchange time, over the
best measured all-to-all rate of a rank; it may pass 100 % where the exchange overlaps other phases. Phases are means
over iterations of the mean, and of the maximum, over ranks. Wrong results are in no picture of times and in no
comparison."""


@dataclass
class Report:
    """Everything that is shown, before it is written as pictures, Markdown and HTML."""

    title: str
    description: str
    meta: str
    study: Study
    findings: list[str]
    tables: dict[str, list[Listing]]  # by section
    pictures: list[tuple[str, list[Picture]]]


def compose(results: Results) -> Report:
    """Makes statistics, tables and pictures."""
    study = Study(results)
    ratios = peer_ratios(study)
    means = geometric_means(ratios) if len(ratios) else pd.DataFrame()
    best = best_configurations(study)
    tables: dict[str, list[Listing]] = {}
    if len(best):
        tables["Best configurations"] = [best_listing(best)]
    if len(ratios):
        tables["weft beside other libraries"] = [peer_summary(means), peer_listing(ratios)]
    scaling = scaling_listings(study)
    if scaling:
        tables["Scaling tables"] = scaling
    if len(study.validation):
        tables["Validation"] = [validation_listing(study)]
    if len(study.summary):
        tables["Statistics"] = [statistics_listing(study)]
    return Report(
        title=str(results.job.get("title") or results.job.get("name") or results.name),
        description=str(results.job.get("description") or ""),
        meta=_meta(study),
        study=study,
        findings=_findings(best, means, largest_cache(results.run)),
        tables=tables,
        pictures=draw_all(study),
    )


def _meta(study: Study) -> str:
    run = study.results.run
    machine = object_of(run.get("machine"))
    cells, runs = study.summary["cell"].nunique(), int(study.summary["iterations"].sum())
    counts = [plural(cells, "timed cell"), plural(runs, "run")]
    if len(study.validation):
        counts.append(plural(len(study.validation), "validation test"))
    parts = [str(run.get("date") or "")[:10], str(machine.get("processor") or ""), ", ".join(counts)]
    return " · ".join(part for part in parts if part)


def _findings(best: pd.DataFrame, means: pd.DataFrame, cache: int) -> list[str]:
    """The two or three sentences that a reader came for; `cache`: bytes of the largest one."""
    found = []
    for row in means.to_dict("records"):
        if not row["alike"]:
            continue  # other numbers of threads: in the tables only
        found.append(
            f"On {plural(row['ranks'], 'rank')} weft takes {digits(row['mean'])} times as long as {row['peer']} "
            f"(geometric mean over {plural(row['problems'], 'problem')}, from {digits(row['least'])} to "
            f"{digits(row['most'])}): significantly faster in {row['faster']}, slower in {row['slower']}."
        )
    share = best[best["memory_share"].notna() & (best["array_bytes"] > 2 * cache)] if len(best) else best
    if len(share):
        top = share.loc[share["memory_share"].idxmax()]
        found.append(
            f"Nearest to the memory ceiling, beyond the cache: {top['configuration']} with "
            f"{top['memory_share'] * 100:.0f} % of it ({top['problem']}, {plural(top['ranks'], 'rank')})."
        )
    return found


# Writing


def write(report: Report, folder: Path, formats: tuple[str, ...]) -> list[Path]:
    """Writes everything into the folder; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "report.html", folder / "tables.md", folder / "summary.csv"]
    for _, pictures in report.pictures:
        for picture in pictures:
            files += picture.save(folder, formats)
    write_summary(report.study.summary, files[2])
    files[1].write_text(markdown_text(report, "png" in formats), encoding="utf-8")
    files[0].write_text(html_text(report), encoding="utf-8")
    return files


def markdown_text(report: Report, with_pictures: bool) -> str:
    """tables.md: what went wrong first, then findings, tables and pictures."""
    parts = [f"# {report.title}\n"]
    parts += [text + "\n" for text in (report.description, report.meta) if text]
    wrong = wrong_listing(report.study)
    alarms = ([wrong] if len(wrong) else []) + failures(report.study)
    parts += [markdown(listing) for listing in alarms]
    if report.findings:
        parts.append("\n".join(f"- {finding}" for finding in report.findings) + "\n")
    for heading, listings in report.tables.items():
        if len(listings) == 1 and listings[0].heading == heading:
            parts.append(markdown(listings[0]))
        else:
            parts += [f"## {heading}\n", *(markdown(listing, 3) for listing in listings)]
    if with_pictures:
        for heading, pictures in report.pictures:
            parts.append(f"## {heading}\n")
            parts += [f"![{p.alt}]({p.name}.png)\n\n*{p.caption}*\n" for p in pictures]
    parts.append("## Method\n\n" + METHOD + "\n")
    return "\n".join(parts)


def html_text(report: Report) -> str:
    """report.html."""
    sections: dict[str, str] = {}
    if report.findings:
        sections["Findings"] = "<ul>" + "".join(f"<li>{page.escape(f)}</li>" for f in report.findings) + "</ul>"
    first = ("Best configurations", "weft beside other libraries")
    for heading in first:
        if heading in report.tables:
            sections[heading] = "".join(page.table_of_section(heading, listing) for listing in report.tables[heading])
    for heading, pictures in report.pictures:
        sections[heading] = "".join(page.picture_html(picture) for picture in pictures)
    for heading, listings in report.tables.items():
        if heading not in first:
            sections[heading] = "".join(page.table_of_section(heading, listing) for listing in listings)
    sections["Machine"] = _machine(report.study)
    sections["Method"] = f"<p>{page.escape(METHOD)}</p>"
    return page.document(report.title, report.description, report.meta, _banners(report.study), sections)


def _banners(study: Study) -> list[str]:
    """What went wrong, loudly; or that nothing did."""
    banners = []
    wrong = wrong_listing(study)
    if len(wrong):
        heading = f"WRONG RESULTS: {plural(len(wrong), 'cell')} computed something else than the Fourier transform"
        banners.append(page.banner("bad", heading, page.table_html(wrong)))
    for listing in failures(study):
        banners.append(page.banner("warn", listing.heading, page.table_html(listing)))
    if not len(wrong):
        banners.append(page.banner("good", _all_right(study)))
    return banners


def _all_right(study: Study) -> str:
    checked = study.summary["error"].notna().sum() + study.validation["error"].notna().sum()
    if not checked:
        return "No result was checked: the table holds no errors"
    largest: Any = pd.concat([study.summary["error"], study.validation["error"]]).max()
    return f"No wrong results: {plural(int(checked), 'check')}, largest relative error {largest:.2g}"


def _machine(study: Study) -> str:
    """Where and with what it was measured, and what that machine can do at best."""
    parts = [page.facts(machine_facts(study.results))]
    for listing in (seats_listing(study.results), ceilings_listing(study.results)):
        if len(listing):
            parts.append(page.listing_html(listing))
    return "".join(parts)
