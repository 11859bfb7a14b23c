"""The command line of `weft compare`."""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import platform
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from textwrap import indent
from typing import Any

from weft.plot.command import PACKAGES, Parser, read_formats, refuse, require_packages

DEVICES = ("cpu", "cuda", "opencl")
EXPERIMENT_NAMES = "powers, primes, smooth, batches, nd, precision, windows, memory, transfers"
SECONDS, QUICK_SECONDS = 2.0, 0.2
EFFORTS = ("estimate", "measure")
NOTES = f"""\
Experiments: {EXPERIMENT_NAMES} (on devices only).
Written are compare.csv (a row for each run, gearshifft's columns first), run.json, tables.md, report.html, which opens
without a network, and the pictures. Libraries that are not installed are named and left out; so is what a library cannot
do.

Exit status: 0; 1 where a result is wrong or nothing could be measured; 2 where you must change something.
"""
EXAMPLES = """\
weft compare --quick
weft compare --sizes 1000,512x512 --libraries numpy,scipy,weft --output sizes
"""


def parser() -> Parser:
    made = Parser(
        prog="weft compare",
        description="Measures Python's Fourier transforms beside each other: speed, first calls, memory and errors.",
        epilog=f"{NOTES}\nExamples:\n{indent(EXAMPLES, '  ')}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = made.add_argument
    add("--quick", action="store_true", help="a sample of each experiment, in less than a minute")
    add("--only", metavar="LIST", help="these experiments, such as powers,nd (default: all)")
    add("--libraries", metavar="LIST", help="these libraries, such as numpy,scipy,weft (default: all of the device)")
    add(
        "--sizes",
        metavar="LIST",
        help="these sizes instead of experiments: 1000, 512x512, or 1024*800 for 800 lines (default: none)",
    )
    add("--device", choices=DEVICES, default="cpu", help="where to transform (default: cpu)")
    add("--threads", metavar="N", default="1", help="threads of each library, and processors of them all (default: 1)")
    add("--seconds", metavar="S", help=f"for the runs of each case (default: {SECONDS:g}; quick: {QUICK_SECONDS:g})")
    add("--effort", choices=EFFORTS, help="of libraries that plan (default: measure; quick: estimate)")
    add(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        default=Path("compare"),
        help="folder of the results (default: compare)",
    )
    add(
        "--draw",
        metavar="FILE",
        type=Path,
        help="measure nothing: draw the report of an earlier run, from its compare.csv (or .csv.gz) and run.json",
    )
    add("--format", metavar="LIST", default="png", help="formats of the pictures: png, pdf, svg (default: png)")
    add("--quiet", action="store_true", help="print nothing but errors")
    return made


def chosen(made: Parser, flag: str, text: str | None, known: Sequence[str]) -> list[str]:
    """The names of a list, which must be known; all of them where none is given."""
    names = list(known) if text is None else list(dict.fromkeys(text.split(",")))
    unknown = [name for name in names if name not in known]
    if unknown:
        made.error(f"{flag}: {unknown[0]!r} is not one of {', '.join(known)}")
    return names


def read_arguments(arguments: list[str]) -> argparse.Namespace:
    """The options, with `cases`, `names` of libraries and the other values read."""
    made = parser()
    options = made.parse_args(arguments)
    options.format = read_formats(made, options.format)
    require_packages({**PACKAGES, "jsonschema": "python3-jsonschema"})
    from weft.compare import cases, libraries

    options.names = chosen(made, "--libraries", options.libraries, libraries.names())
    if options.libraries is None:
        options.names = libraries.names(options.device)
    experiments = chosen(made, "--only", options.only, list(cases.EXPERIMENTS))
    if options.sizes is not None:
        if options.only is not None:
            made.error("--sizes stands for experiments; give it or --only")
        try:
            sizes = [cases.read_size(text) for text in options.sizes.split(",")]
        except ValueError:
            made.error(f"--sizes: {options.sizes!r} is not a list such as 1000,512x512,1024*800")
        options.cases = cases.of_sizes(sizes, options.device)
    else:
        options.cases = [c for name in experiments for c in cases.EXPERIMENTS[name][1](options.quick, options.device)]
    if not options.cases:
        made.error(f"--only: {options.only} has nothing for the device {options.device}")
    options.effort = options.effort or EFFORTS[0 if options.quick else 1]
    options.threads = read_threads(made, options.threads)
    options.seconds = read_seconds(made, options.seconds, QUICK_SECONDS if options.quick else SECONDS)
    return options


def read_threads(made: Parser, text: str) -> int:
    here = len(os.sched_getaffinity(0))
    if not text.isdecimal() or not 1 <= int(text) <= here:
        made.error(f"--threads: {text!r} is not a number from 1 to {here}, the processors here")
    return int(text)


def read_seconds(made: Parser, text: str | None, default: float) -> float:
    try:
        seconds = default if text is None else float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 1e6:
        made.error(f"--seconds: {text!r} is not a number of seconds above 0")
    return seconds


@contextmanager
def confined(threads: int) -> Iterator[None]:
    """Only so many processors, of different cores as far as there are, so that no library has more than the others,
    whatever it can be told."""
    from weft.bench.launch import processors_of_cores

    before, environment = os.sched_getaffinity(0), dict(os.environ)
    os.environ["WEFT_WISDOM_DIR"] = ""  # what an earlier run measured would spare weft its planning
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(threads)  # read when a library is loaded
    turns = zip_longest(*processors_of_cores())  # the first processor of each core, then the second
    os.sched_setaffinity(0, [cpu for turn in turns for cpu in turn if cpu is not None][:threads])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)


def provenance(options: argparse.Namespace, arguments: Sequence[str]) -> dict[str, Any]:
    """What run.json says, as weft.plot reads it; taken before the process is confined."""
    from weft.bench import machine

    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": shlex.join(["weft", "compare", *arguments]),
        "host": platform.node(),
        "machine": machine.describe(),
        "versions": {"Python": platform.python_version()},
        "device": options.device,
        "threads": options.threads,
        "effort": options.effort,
        "seconds": {"for each case": options.seconds},
    }


def main(arguments: list[str]) -> int:
    options = read_arguments(arguments)
    if options.draw is not None:
        return draw(options)
    try:
        facts = provenance(options, arguments)
        with confined(options.threads):
            return run(options, facts)
    except OSError as error:
        refuse(f"{error.filename or options.output}: {error.strerror}")


def draw(options: argparse.Namespace) -> int:
    """Writes the report of a run that is over. A file NAME.csv has its facts in NAME.json, or in run.json beside it."""
    from weft.compare import report
    from weft.compare.table import Skipped, read

    name = options.draw.name.removesuffix(".gz").removesuffix(".csv")
    told = options.draw.with_name(name + ".json")
    try:
        rows = read(options.draw)
        facts = json.loads((told if told.exists() else options.draw.with_name("run.json")).read_text(encoding="utf-8"))
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse(f"{error.filename or options.draw}: {error.strerror}")
    except (KeyError, ValueError) as error:
        refuse(f"--draw: {options.draw} is no compare.csv with its run.json: {error}")
    skipped = [Skipped(one["library"], None, one["reason"]) for one in facts.get("skipped", []) if one["case"] == "all"]
    report.write(report.compose(rows, skipped, facts), options.output, options.format)
    return 0


def run(options: argparse.Namespace, facts: dict[str, Any]) -> int:
    import numpy as np

    from weft.compare import libraries, report
    from weft.compare.measure import measure, warm_up
    from weft.compare.table import Measured, Skipped, Table

    def say(text: str) -> None:
        if not options.quiet:
            print(text, flush=True)

    options.output.mkdir(parents=True, exist_ok=True)
    found, missing = libraries.open_all(options.names, options.device, options.threads, options.effort)
    for one in list(found):
        try:
            facts["seconds"][f"first transform of {one.name}"] = warm_up(one)
        except Exception as error:  # it can be loaded, but not used
            found.remove(one)
            missing[one.name] = libraries.first_line(error)
    skipped = [Skipped(name, None, reason) for name, reason in missing.items()]
    for name, reason in missing.items():
        say(f"skipped {name}: {reason}")
    if not found:
        print("weft: none of the libraries is here; see --libraries", file=sys.stderr)
        return 1
    facts["versions"] |= {one.name: one.version for one in found}
    table = Table(options.output / "compare.csv")
    rng = np.random.default_rng(0)
    try:
        for block, case in enumerate(options.cases):
            for row in measure(case, found, options.seconds, rng, block):
                if isinstance(row, Measured):
                    table.add(row)
                else:
                    skipped.append(row)
            table.flush()
            say(f"{block + 1}/{len(options.cases)} {case.experiment}: {case.text}")
    finally:
        table.close()
    facts["machine"]["load_after"] = [round(load, 2) for load in os.getloadavg()]
    facts["skipped"] = [
        {"library": s.library, "case": s.case.text if s.case else "all", "way": s.way, "reason": s.reason}
        for s in skipped
    ]
    (options.output / "run.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    if not table.rows:
        print(f"weft: nothing could be measured; see {options.output / 'run.json'}", file=sys.stderr)
        return 1
    made = report.compose(table.rows, skipped, facts)
    files = report.write(made, options.output, options.format)
    for finding in made.findings:
        say(finding)
    say(f"wrote {options.output / 'compare.csv'}, {files[1].name}, {files[0].name} and {len(files) - 2} pictures")
    wrong = sum(row.wrong for row in table.rows if row.run == 0)
    if wrong:
        print(f"weft: {wrong} results are WRONG; see {files[0]}", file=sys.stderr)
    return 1 if wrong else 0


def installed_elsewhere() -> str | None:
    """The folder of an installed weft, where this one is a source tree, which lacks the C part."""
    here = Path(__file__).resolve().parents[2]
    for folder in map(Path, sys.path[1:]):
        if folder.resolve() != here and list(folder.glob("weft/_core*.so")) and (folder / "weft/compare").is_dir():
            return str(folder)
    return None


def use_installed() -> None:
    """`weft compare` runs the source's modules; where weft is installed for Python, those take over, with weft in."""
    spec = importlib.util.find_spec("weft._core")
    if (spec is None or spec.origin is None) and installed_elsewhere():
        here = Path(__file__).resolve().parents[2]
        rest = [one for one in os.environ.get("PYTHONPATH", "").split(":") if one and Path(one).resolve() != here]
        os.environ["PYTHONPATH"] = ":".join(rest)
        os.execv(sys.executable, [sys.executable, "-m", "weft.compare", *sys.argv[1:]])


if __name__ == "__main__":
    try:
        use_installed()
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("weft: interrupted; compare.csv has what was measured", file=sys.stderr)
        sys.exit(130)
