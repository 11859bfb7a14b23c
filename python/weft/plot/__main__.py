"""`weft plot`: reads the command line, and says in one line what is missing or wrong."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from textwrap import indent
from types import ModuleType

from weft.plot.command import PACKAGES, Parser, read_formats, refuse, require_packages


NOTES = """\
Of the results of weft bench: pictures, summary.csv, tables.md and report.html, which opens without a network. With
--compare, says where two runs differ. Of a report of weft homogenize: how residuals fall. Of what weft plan --sweep
prints: predicted times. Of what weft convolve --octree writes: a slice of the octree.
"""
EXAMPLES = """\
weft plot exchanges
weft plot --compare before after --output difference
weft plot octree.json --axis 2 --index 40
"""


def count(text: str) -> int:
    """A whole number from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def parser() -> Parser:
    made = Parser(
        prog="weft plot",
        allow_abbrev=False,
        description="Draws tables, figures and a report of what was measured, or how a homogenization converged.",
        epilog=f"{NOTES}\nExamples:\n{indent(EXAMPLES, '  ')}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        type=Path,
        help="a folder that weft bench wrote, or its table.csv; or a report of weft homogenize, REPORT.json; or a "
        "table of weft plan --sweep; or the file of weft convolve --octree",
    )
    made.add_argument(
        "--compare",
        metavar=("A", "B"),
        nargs=2,
        type=Path,
        help="two such folders or tables: the ratio B/A of every cell in both, with its 99 %% interval; default: none",
    )
    made.add_argument(
        "-o", "--output", metavar="OUT", type=Path, help="where to write (default: DIR; with --compare: nowhere)"
    )
    made.add_argument(
        "--format", metavar="LIST", default="png,pdf", help="formats of the pictures: png, pdf, svg (default: png,pdf)"
    )
    made.add_argument("--axis", choices=("0", "1", "2"), help="of an octree: axis the slice is normal to (default: 0)")
    made.add_argument(
        "--index", metavar="I", type=count, help="of an octree: place along it (default: the middle of what is sampled)"
    )
    made.add_argument("--rank", metavar="R", type=count, help="of an octree: whose (default: the first rank's)")
    made.add_argument("--quiet", action="store_true", help="print nothing but errors")
    return made


def parse(arguments: list[str]) -> argparse.Namespace:
    made = parser()
    options = made.parse_args(arguments)
    if (options.folder is None) == (options.compare is None):
        made.error("give one results folder, or --compare and two")
    options.format = read_formats(made, options.format)
    return options


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    require_packages(PACKAGES)
    from weft.plot import forecast, octree
    from weft.plot.table import InputError

    try:
        if options.folder and octree.is_octree(options.folder):
            return run_octree(options)
        for flag in ("axis", "index", "rank"):
            if getattr(options, flag) is not None:
                raise InputError(f"--{flag} belongs to the file of weft convolve --octree; drop it")
        if options.compare:
            return run_compare(options)
        if options.folder.suffix == ".json":
            return run_homogenization(options)
        return run_forecast(options) if forecast.is_forecast(options.folder) else run_report(options)
    except InputError as error:
        refuse(str(error))
    except BrokenPipeError:  # the reader of standard output left
        sys.stderr.close()
        return 1
    except OSError as error:
        print(f"weft: {error.filename or options.output}: {error.strerror}", file=sys.stderr)
        return 1


def run_report(options: argparse.Namespace) -> int:
    from weft.plot import report
    from weft.plot.table import load

    made = report.compose(load(options.folder))
    folder = options.output or (options.folder if options.folder.is_dir() else options.folder.parent)
    files = report.write(made, folder, options.format)
    wrong = len(made.study.wrong_cells)
    if wrong:
        print(f"weft: {wrong} cell{'s' if wrong > 1 else ''} gave WRONG results; see {files[0]}", file=sys.stderr)
    if not options.quiet:
        pictures = sum(len(group) for _, group in made.pictures)
        print(f"wrote {files[0]}, {files[1].name}, {files[2].name} and {pictures} pictures")
    return 0


def run_picture(options: argparse.Namespace, kind: ModuleType, *choices: int | None) -> int:
    """Draws the one picture of a file, which the module loads, composes and writes."""
    picture = kind.compose(kind.load(options.folder), *choices)
    files = kind.write(picture, options.output or options.folder.parent, options.format)
    if not options.quiet:
        print(f"wrote {' and '.join(str(file) for file in files)}")
    return 0


def run_homogenization(options: argparse.Namespace) -> int:
    from weft.plot import homogenization

    return run_picture(options, homogenization)


def run_forecast(options: argparse.Namespace) -> int:
    from weft.plot import forecast

    return run_picture(options, forecast)


def run_octree(options: argparse.Namespace) -> int:
    from weft.plot import octree

    axis = None if options.axis is None else int(options.axis)
    return run_picture(options, octree, axis, options.index, options.rank)


def run_compare(options: argparse.Namespace) -> int:
    from weft.plot import difference
    from weft.plot.compare import compare
    from weft.plot.table import load

    comparison = compare(*(load(place) for place in options.compare))
    if not options.quiet:
        print(difference.markdown_text(comparison))
    if options.output:
        difference.write(comparison, options.output, options.format)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
