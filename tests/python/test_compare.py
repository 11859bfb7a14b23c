"""weft compare: its table, its errors, what it leaves out, its report, and the adapters of libraries that run elsewhere,
against small stand-ins for them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import weft
from weft.compare import __main__ as command
from weft.compare import cases, libraries, measure, report, table
from weft.compare.cases import PLAIN, TRANSFERS, Case
from weft.compare.libraries.numpy import NumPy
from weft.compare.libraries.weft import Weft, WeftPlan
from weft.compare.library import Library
from weft.compare.table import Measured, Seconds
from weft.plot.workload import error_bound

HERE = "numpy,scipy,weft,weft-plan"


def compare(folder: Path, *arguments: str) -> int:
    return command.main([*arguments, "-o", str(folder), "--seconds", "0.005", "--quiet"])


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "compare.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    assert compare(folder, "--sizes", "60,97,8x9,32*5", "--libraries", HERE) == 0
    return folder


# The table


def test_gearshifft_columns_come_first(results):
    header = (results / "compare.csv").read_text().splitlines()[0].split(",")
    assert header[:12] == "library inplace complex precision dim kind nx ny nz run id success".split()
    assert header[12:26] == [
        *(f"Time_{name} [ms]" for name in "Allocation PlanInitFwd PlanInitInv Upload FFT iFFT Download".split()),
        *("Time_PlanDestroy [ms]", "Time_Total [ms]"),
        *(f"Size_Device{name} [bytes]" for name in ("Buffer", "Plan", "Transfer")),
        *("Error_StandardDeviation", "Error_Mismatches"),
    ]
    assert header == table.HEADER


def test_each_row_is_a_run_with_its_time(results):
    rows = rows_of(results)
    assert {row["library"] for row in rows} == set(HERE.split(","))
    for library in HERE.split(","):
        one = [
            r
            for r in rows
            if (r["library"], r["shape"], r["complex"], r["precision"]) == (library, "8x9", "Real", "float")
        ]
        assert [int(row["run"]) for row in one] == list(range(len(one)))
        assert len(one) > measure.LEAST_RUNS
        assert [row["success"] for row in one] == ["Warmup"] + ["Success"] * (len(one) - 1)
        assert {(row["dim"], row["nx"], row["ny"], row["nz"], row["kind"]) for row in one} == {
            ("2", "8", "9", "0", "radix357")
        }
        assert all(float(row["Time_Total [ms]"]) >= float(row["Time_FFT [ms]"]) > 0 for row in one)
    assert {row["batch"] for row in rows if row["shape"] == "32"} == {"5"}
    assert {row["kind"] for row in rows if row["shape"] == "97"} == {"oddshape"}
    assert {row["computed"] for row in rows if row["precision"] == "float"} == {"complex64"}


def test_results_are_held_against_long_double(results):
    for row in rows_of(results):
        precision = "single" if row["precision"] == "float" else "double"
        points = int(np.prod([int(n) for n in row["shape"].split("x")]))
        assert 0 <= float(row["error_l2"]) <= error_bound(precision, points) / 4, row


@pytest.mark.parametrize("kind", ["c2c", "r2c"])
def test_the_error_is_the_one_that_was_put_in(kind, rng):
    case = Case("sizes", (63,), 4, kind)
    x = measure.random_input(case, rng)
    right = measure.reference(case, x)
    assert right.dtype == np.clongdouble and right.shape == (4, 63 if kind == "c2c" else 32)
    n = np.arange(63)
    slow = x @ np.exp(-2j * np.pi * np.outer(n, n) / 63)[:, : right.shape[1]]
    assert measure.relative_error(slow, right) < 1e-13
    assert measure.relative_error(right * (1 + 1e-6), right) == pytest.approx(1e-6, rel=1e-6)
    assert measure.relative_error(right[:, :-1], right) == np.inf
    assert measure.relative_error(right * np.nan, right) == np.inf


def test_half_precision_is_named_as_what_it_is_computed_in(rng):
    case = Case("precision", (48,), 2, "r2c", "half")
    host = measure.random_input(case, rng)
    right = measure.reference(case, host)
    computed = {}
    for name, opener in (("numpy", NumPy), ("weft", Weft), ("weft-plan", WeftPlan)):
        first = measure.prepare(opener("cpu", 1, "estimate"), PLAIN, case, host, right, 0).first
        computed[name] = first.computed
        assert first.error < (1e-6 if first.computed == "complex64" else 1e-3) and not first.wrong
    assert computed["weft"] == "complex64" and computed["weft-plan"] == "float16"


def test_a_report_is_drawn_again(results, tmp_path):
    facts = json.loads((results / "run.json").read_text())
    rows = table.read(results / "compare.csv")
    assert [row.row() for row in rows] == [row.row() for row in table.read(zipped(results / "compare.csv", tmp_path))]
    again = io.StringIO(newline="")
    csv.writer(again, lineterminator="\n").writerows([table.HEADER, *(row.row() for row in rows)])
    assert again.getvalue() == (results / "compare.csv").read_text()
    (tmp_path / "compare.json").write_text(json.dumps(facts))
    assert command.main(["--draw", str(tmp_path / "compare.csv.gz"), "-o", str(tmp_path / "drawn")]) == 0
    drawn, first = ({one.name for one in folder.iterdir()} for folder in (tmp_path / "drawn", results))
    assert drawn == first - {"compare.csv", "run.json"}
    (tmp_path / "compare.json").write_text("{")
    for file in (tmp_path / "compare.csv.gz", tmp_path / "no.csv", tmp_path / "compare.json"):
        with pytest.raises(SystemExit) as refused:
            command.main(["--draw", str(file), "-o", str(tmp_path / "no")])
        assert refused.value.code == 2


def zipped(file, folder):
    made = folder / "compare.csv.gz"
    made.write_bytes(gzip.compress(file.read_bytes()))
    return made


# What cannot be measured, and what is wrong


def test_what_is_not_installed_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ducc0", None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert (
        command.main(["--sizes", "8", "--libraries", "numpy,ducc0,cupy", "--seconds", "0.005", "-o", str(tmp_path)])
        == 0
    )
    said = capsys.readouterr().out
    assert "skipped ducc0: ducc0 is not installed" in said
    assert "skipped cupy: does not run on the device cpu" in said
    assert {row["library"] for row in rows_of(tmp_path)} == {"numpy"}
    page = (tmp_path / "report.html").read_text()
    assert "ducc0 is not installed" in page and "does not run on the device cpu" in page
    assert {one["library"] for one in json.loads((tmp_path / "run.json").read_text())["skipped"]} == {"ducc0", "cupy"}


def test_a_library_that_cannot_transform_at_all_is_named(tmp_path, monkeypatch, capsys):
    class Broken(NumPy):
        name = "broken"

        def transform(self, case, x):
            raise OSError("no kernel here")

    monkeypatch.setattr(libraries, "classes", lambda: [NumPy, Broken])
    assert command.main(["--sizes", "8", "--seconds", "0.005", "-o", str(tmp_path)]) == 0
    assert "skipped broken: OSError: no kernel here" in capsys.readouterr().out
    seconds = json.loads((tmp_path / "run.json").read_text())["seconds"]
    assert seconds["first transform of numpy"] > 0 and "first transform of broken" not in seconds


def test_nothing_to_measure_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ducc0", None)
    assert compare(tmp_path, "--sizes", "8", "--libraries", "ducc0") == 1
    assert capsys.readouterr().err == "weft: none of the libraries is here; see --libraries\n"


class Wrong(NumPy):
    name = "wrong"

    def transform(self, case, x):
        return lambda x: 1.01 * np.fft.fft(x) if case.kind == "c2c" else unsupported()


def unsupported():
    raise NotImplementedError("no real transforms\nand more")


def test_wrong_results_are_no_speed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(libraries, "classes", lambda: [NumPy, Wrong])
    assert compare(tmp_path, "--sizes", "64") == 1
    assert "2 results are WRONG" in capsys.readouterr().err
    rows = [row for row in rows_of(tmp_path) if row["library"] == "wrong"]
    assert {row["success"] for row in rows} == {"Mismatch"} and {row["complex"] for row in rows} == {"Complex"}
    assert all(float(row["error_l2"]) == pytest.approx(0.01, rel=1e-3) for row in rows)
    text = (tmp_path / "tables.md").read_text()
    assert "WRONG RESULTS: 2 cells" in text
    assert "NotImplementedError: no real transforms" in text and "and more" not in text
    compared = text.partition("## Standing")[2].partition("## All cells")[0]
    assert "| numpy | 4 | 4 |" in compared and "| wrong |" not in compared


def test_windows_are_applied_in_the_ways_that_a_library_has(tmp_path):
    class Fusing(NumPy):
        name = "fusing"

        def fused(self, case, window):
            return lambda x: np.fft.rfft(x * window)

    case = Case("windows", (48,), 3, "r2c", "double", (PLAIN, *cases.WINDOWS))
    opened = [NumPy("cpu", 1, "estimate"), Fusing("cpu", 1, "estimate")]
    found = list(measure.measure(case, opened, 0.001, np.random.default_rng(1), 0))
    skipped = [one for one in found if isinstance(one, table.Skipped)]
    assert [(one.library, one.way) for one in skipped] == [("numpy", cases.FUSED)]
    first = {(one.library, one.way): one.error for one in found if isinstance(one, Measured) and one.run == 0}
    assert len(first) == 7 and max(first.values()) < 1e-15
    listing = report.windows_listing([one for one in found if isinstance(one, Measured) and one.run], {})
    fused = {row["library"]: row[f"{cases.FUSED} ratio"] for row in listing.rows.to_dict("records")}
    assert fused["fusing"] > 0 and np.isnan(fused["numpy"])


def test_memory_counts_input_output_and_what_is_held_besides():
    class Holding(NumPy):
        def transform(self, case, x):
            self.held = np.ones(x.size * 4)
            return np.fft.rfft

    case = Case("memory", (1 << 20,), kind="r2c")
    host = np.ones(case.shape)
    right = np.zeros(0)
    plain = measure.prepare(NumPy("cpu", 1, "estimate"), PLAIN, case, host, right, 0).first.memory / host.nbytes
    more = measure.prepare(Holding("cpu", 1, "estimate"), PLAIN, case, host, right, 0).first.memory / host.nbytes
    assert 1.9 < plain < 6
    assert more - plain == pytest.approx(4, abs=1)


# Statistics and the report


def made(library: str, times: list[float], shape: int = 1024, block: int = 0, way: str = PLAIN, upload: float = 0.0):
    case = Case("powers", (shape,), ways=(PLAIN, TRANSFERS))
    first = Measured(
        library, "1", "cpu", 1, "estimate", case, way, block, 0, Seconds(9.0), 1.0, 1e-16, "complex128", float("nan")
    )
    return [first, *(first.again(run, Seconds(t, upload, upload)) for run, t in enumerate(times, 1))]


FACTS = {"date": "2026-01-01", "device": "cpu", "threads": 1, "machine": {"processor": "one"}, "versions": {}}


def test_speed_ups_are_medians_of_paired_runs_and_the_first_call_stands_apart():
    rows = made("numpy", [2.0, 4.0, 6.0]) + made("scipy", [1.0, 2.0, 3.0]) + made("weft", [1.0, 1.0, 1.0])
    rows += made("numpy", [1.0] * 3, 2048, 1) + made("weft", [1.04] * 3, 2048, 1)
    composed = report.compose(rows, [], FACTS)
    parts = {part.heading: part for part in composed.parts}
    speeds = parts["Powers of two"].tables[0].rows.set_index("problem")
    line = speeds.loc["c2c 2¹⁰ double forward"]
    assert (line["base"], line["least"]) == (4.0, 2.0)
    assert line["scipy"] == pytest.approx(2) and line["weft"] == pytest.approx(4)
    standing = parts["Standing of the libraries"].tables[0].rows.set_index("library")
    assert (standing.loc["weft", "fastest"], standing.loc["weft", "near"]) == (1, 1.0)
    assert (standing.loc["numpy", "problems"], standing.loc["numpy", "worst"]) == (2, 4.0)
    first = parts["First call"].tables[0].rows
    assert set(first["first"]) == {10.0}
    assert first[(first["library"] == "weft") & (first["steady"] == 1.0)]["ratio"].tolist() == [10.0]
    assert parts["Powers of two"].pictures


def test_transfers_are_told_apart():
    rows = made("cupy", [1.0, 2.0, 3.0], way=TRANSFERS, upload=0.5)
    listing = report.transfers_listing([row for row in rows if row.run])
    (line,) = listing.rows.to_dict("records")
    assert (line["upload"], line["transform"], line["download"], line["total"], line["least"]) == (0.5, 2, 0.5, 3, 2)


def test_the_report_needs_nothing_else(results):
    page = (results / "report.html").read_text()
    assert page.count("data:image/svg+xml;base64,") >= 4
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#)""", page)
    assert not re.findall(r"@import|url\(|<link(?! rel=\"icon\" href=\"data:,\")|<script src|<iframe", page)
    for word in ("Standing of the libraries", "First call", "Errors", "Machine", "Method", "No wrong results"):
        assert word in page
    facts = json.loads((results / "run.json").read_text())
    assert facts["threads"] == 1 and facts["versions"]["numpy"] == np.__version__ and facts["machine"]["processor"]
    assert {file.suffix for file in results.iterdir()} == {".csv", ".html", ".md", ".json", ".png"}


# The command line


@pytest.mark.parametrize(
    "arguments",
    [
        ["--only", "everything"],
        ["--libraries", "numpy,nump"],
        ["--sizes", "0"],
        ["--sizes", "8x"],
        ["--sizes", "8*"],
        ["--sizes", "8", "--only", "powers"],
        ["--threads", "0"],
        ["--threads", "1000000"],
        ["--seconds", "-1"],
        ["--seconds", "soon"],
        ["--device", "abacus"],
        ["--effort", "great"],
        ["--format", "gif"],
        ["--only", "transfers"],
        ["--dance"],
        ["more"],
    ],
    ids=" ".join,
)
def test_mistakes_are_refused_in_one_line(arguments, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        compare(tmp_path, *arguments) if "--seconds" not in arguments else command.main(arguments)
    said = capsys.readouterr()
    assert end.value.code == 2 and said.out == ""
    assert re.fullmatch(r"weft: [^\n]+\n", said.err)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as end:
        compare(tmp_path / "file", "--sizes", "8", "--libraries", "numpy")
    assert end.value.code == 2 and capsys.readouterr().err.startswith("weft: ")


def test_the_module_is_a_command(tmp_path):
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "weft.compare", *arguments]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    done = run("--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: weft compare") and "--sizes" in done.stdout
    done = run("--only", "nothing")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


def test_processors_are_confined_and_given_back(tmp_path, monkeypatch):
    before, environment = os.sched_getaffinity(0), dict(os.environ)
    seen: list[int] = []

    class Asking(NumPy):
        def transform(self, case, x):
            seen.append(len(os.sched_getaffinity(0)))
            return super().transform(case, x)

    monkeypatch.setattr(libraries, "classes", lambda: [Asking])
    assert compare(tmp_path, "--sizes", "8") == 0
    assert set(seen) == {1} and os.sched_getaffinity(0) == before and dict(os.environ) == environment


def test_an_interruption_leaves_what_was_measured(tmp_path, monkeypatch):
    class Interrupted(NumPy):
        def transform(self, case, x):
            if case.kind == "r2c":
                raise KeyboardInterrupt
            return super().transform(case, x)

    monkeypatch.setattr(libraries, "classes", lambda: [Interrupted])
    with pytest.raises(KeyboardInterrupt):
        compare(tmp_path, "--sizes", "8")
    assert {row["complex"] for row in rows_of(tmp_path)} == {"Complex"}


def test_an_installed_weft_takes_over_from_a_source_tree(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", ["", str(tmp_path)])
    assert command.installed_elsewhere() is None
    (tmp_path / "weft" / "compare").mkdir(parents=True)
    (tmp_path / "weft" / "_core.abi3.so").write_text("")
    assert command.installed_elsewhere() == str(tmp_path)


# What is compared


def test_experiments_hold_what_they_say():
    def of(name: str, quick: bool = False, device: str = "cpu") -> list[Case]:
        return list(cases.EXPERIMENTS[name][1](quick, device))

    assert {case.shape[0] for case in of("powers")} == {1 << e for e in range(2, 26)}
    primes = {case.shape[0] for case in of("primes")}
    assert {7, 13, 31, 1021, 1048573} <= primes
    smooth = {case.shape[0] for case in of("smooth")}
    assert min(smooth) == 1024 and max(smooth) == 4096 and 2187 in smooth and 1100 not in smooth
    batches = {(case.shape[0], case.batch) for case in of("batches")}
    assert {(1024, 1), (1024, 800), (92, 1), (92, 10000)} <= batches
    assert {len(case.shape) for case in of("nd")} == {2, 3}
    assert {case.precision for case in of("precision")} == {"half", "single", "double"}
    assert of("transfers") == [] and of("transfers", device="cuda")
    for name in cases.EXPERIMENTS:
        for quick in (False, True):
            for case in of(name, quick, "cuda"):
                assert case.experiment == name and np.dtype(case.dtype) and case.points > 0


def test_every_library_can_be_named_for_a_device_it_has():
    assert libraries.names() == (
        "numpy scipy pyfftw mkl_fft ducc0 torch jax cupy pyvkfft weft weft-plan weft-fftw".split()
    )
    assert libraries.names("cuda") == ["torch", "jax", "cupy", "pyvkfft", "weft", "weft-plan"]
    assert libraries.names("opencl") == ["pyvkfft", "weft"]


# Adapters of libraries whose devices are not here: stand-ins that note what they are asked


class Log(list):
    """What was called, in order."""

    def noting(self, name: str, function=lambda *a, **k: None):
        def call(*arguments, **options):
            self.append(name)
            return function(*arguments, **options)

        return call


def noted_fft(log: Log) -> SimpleNamespace:
    def noted(name: str):
        def call(x, **options):
            log.append(name)
            options["axes"] = options.pop("dim", options.pop("axes", None))
            if options["axes"] is None:
                del options["axes"]
            return getattr(np.fft, name)(np.asarray(x), **options).astype(
                "complex64" if x.itemsize < 8 else "complex128"
            )

        return call

    return SimpleNamespace(**{name: noted(name) for name in ("fft", "rfft", "fftn", "rfftn")})


def module(monkeypatch, name: str, **members) -> None:
    """A module that can be imported, and its parents."""
    parent = None
    for count in range(1, name.count(".") + 2):
        path = ".".join(name.split(".")[:count])
        one = sys.modules.get(path) if path in sys.modules and count <= name.count(".") else ModuleType(path)
        monkeypatch.setitem(sys.modules, path, one)
        if parent is not None:
            monkeypatch.setattr(parent, path.rpartition(".")[2], one, raising=False)
        parent = one
    for key, value in members.items():
        setattr(parent, key, value)


def fake_cupy(monkeypatch, log: Log) -> None:
    pool = SimpleNamespace(free_all_blocks=lambda: None, total_bytes=lambda: 0)
    stream = SimpleNamespace(synchronize=log.noting("wait"))
    fft = noted_fft(log)
    fft.config = SimpleNamespace(get_plan_cache=lambda: SimpleNamespace(clear=lambda: None))
    module(
        monkeypatch,
        "cupy",
        __version__="13",
        is_available=lambda: True,
        asarray=log.noting("upload", np.array),
        asnumpy=log.noting("download", np.array),
        empty=np.empty,
        arange=np.arange,
        cos=np.cos,
        fft=fft,
        cuda=SimpleNamespace(get_current_stream=lambda: stream),
        get_default_memory_pool=lambda: pool,
    )


def fake_torch(monkeypatch, log: Log) -> None:
    class Tensor(np.ndarray):
        def to(self, device):
            log.append("upload")
            return self

        def cpu(self):
            log.append("download")
            return self

        def numpy(self):
            return np.asarray(self)

    module(
        monkeypatch,
        "torch",
        __version__="2",
        float64=np.float64,
        complex32="complex32",
        from_numpy=lambda host: host.copy().view(Tensor),
        fft=SimpleNamespace(**{k: lambda x, f=f, **o: f(x, **o).view(Tensor) for k, f in vars(noted_fft(log)).items()}),
        hann_window=lambda n, periodic, dtype, device: np.hanning(n).astype(dtype),
        set_num_threads=lambda threads: None,
        cuda=SimpleNamespace(
            is_available=lambda: True,
            synchronize=log.noting("wait"),
            reset_peak_memory_stats=lambda: None,
            memory_allocated=lambda: 1,
            max_memory_allocated=lambda: 11,
        ),
    )


def fake_jax(monkeypatch, log: Log) -> None:
    class Array(np.ndarray):
        block_until_ready = log.noting("wait")

    def jit(function):
        return lambda *arguments: np.asarray(function(*arguments)).view(Array)

    place = SimpleNamespace(memory_stats=lambda: {"peak_bytes_in_use": 5, "bytes_in_use": 5})
    fft = noted_fft(log)
    module(
        monkeypatch,
        "jax",
        __version__="0.9",
        config=SimpleNamespace(update=lambda name, value: None),
        devices=lambda name: [place],
        device_put=log.noting("upload", lambda host, place: np.array(host).view(Array)),
        jit=jit,
    )
    module(monkeypatch, "jax.numpy", fft=fft, hanning=np.hanning)


def fake_pyvkfft(monkeypatch, log: Log) -> None:
    fft = noted_fft(log)
    fake_cupy(monkeypatch, log)
    module(monkeypatch, "pyvkfft.version", __version__="2025")
    module(
        monkeypatch,
        "pyvkfft.fft",
        fftn=lambda x, ndim: fft.fftn(x, axes=tuple(range(-ndim, 0))),
        rfftn=lambda x, ndim: fft.rfftn(x, axes=tuple(range(-ndim, 0))),
    )


def fake_weft(monkeypatch, log: Log) -> None:
    from weft.compare.libraries import weft as adapter

    fake_cupy(monkeypatch, log)
    monkeypatch.setattr(weft, "fft", noted_fft(log))
    monkeypatch.setattr(adapter, "require", lambda kind, name: None)


def fake_weft_plan(monkeypatch, log: Log) -> None:
    """A plan that is given addresses, as on a GPU, and transforms what lies there."""
    import ctypes

    from weft.compare.libraries import weft as adapter

    class Pointed(np.ndarray):
        @property
        def data(self):
            return SimpleNamespace(ptr=self.ctypes.data)

    class Plan:
        memory = 1000

        def __init__(self, case: Case) -> None:
            self.case = case
            last = case.shape[-1] // 2 + 1 if case.kind == "r2c" else case.shape[-1]
            self.output_shape = (*case.array_shape[:-1], last)

        def execute(self, direction: str, source: int, target: int) -> None:
            log.append(f"execute {direction}")

            def at(address: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
                count = int(np.prod(shape)) * np.dtype(dtype).itemsize
                return np.frombuffer((ctypes.c_char * count).from_address(address), dtype).reshape(shape)

            case = self.case
            x = at(source, case.array_shape, case.dtype)
            out = at(target, self.output_shape, cases.COMPLEX_TYPES[case.precision])
            out[...] = (np.fft.rfftn if case.kind == "r2c" else np.fft.fftn)(x, axes=case.axes)

    def plan_of(case: Case, **options) -> Plan:
        assert options == {"device": "cuda", "location": "device"}
        return Plan(case)

    fake_cupy(monkeypatch, log)
    cupy = sys.modules["cupy"]
    monkeypatch.setattr(cupy, "asarray", log.noting("upload", lambda host: np.array(host).view(Pointed)))
    monkeypatch.setattr(cupy, "empty", lambda shape, dtype: np.empty(shape, dtype).view(Pointed))
    monkeypatch.setattr(adapter, "plan_of", plan_of)
    monkeypatch.setattr(adapter, "require", lambda kind, name: None)


FAKES = {
    "cupy": fake_cupy,
    "torch": fake_torch,
    "jax": fake_jax,
    "pyvkfft": fake_pyvkfft,
    "weft": fake_weft,
    "weft-plan": fake_weft_plan,
}


def opened(name: str) -> Library:
    found, missing = libraries.open_all([name], "cuda", 1, "estimate")
    assert missing == {}
    return found[0]


@pytest.mark.parametrize("name", FAKES)
@pytest.mark.parametrize("kind", ["c2c", "r2c"])
@pytest.mark.parametrize(("shape", "batch"), [((60,), 1), ((60,), 3), ((6, 10), 1), ((6, 10), 2)])
def test_adapters_of_gpus_give_the_transform_and_wait_for_it(name, kind, shape, batch, monkeypatch, rng):
    log = Log()
    FAKES[name](monkeypatch, log)
    library = opened(name)
    case = Case("sizes", shape, batch, kind, "double", (PLAIN, TRANSFERS))
    host = measure.random_input(case, rng)
    for way in case.ways:
        contestant = measure.prepare(library, way, case, host, measure.reference(case, host), 0)
        assert contestant.first.error < 1e-14 and contestant.first.device == "cuda"
        log.clear()
        seconds = contestant.turn()
        calls = [event for event in log if event not in ("upload", "download")]
        if name == "weft-plan":  # an execution is done when it returns
            calls = [event for event in calls if event != "wait"]
            assert set(calls) == {"execute forward"}
        else:
            assert calls[-1] == "wait" and all(b == "wait" for a, b in zip(calls, calls[1:]) if a != "wait")
        if way == TRANSFERS:
            assert log[0] == "upload" and min(seconds.upload, seconds.transform, seconds.download) > 0
            assert ("download" in log) == (name != "jax")  # numpy.asarray is how JAX's arrays are brought back
        else:
            assert "upload" not in log and "download" not in log


@pytest.mark.parametrize("name", ["cupy", "torch", "jax", "weft", "weft-plan"])
def test_adapters_of_gpus_apply_windows_on_the_device(name, monkeypatch, rng):
    log = Log()
    FAKES[name](monkeypatch, log)
    library = opened(name)
    case = Case("windows", (60,), 1, "r2c", "double", cases.WINDOWS)
    host = measure.random_input(case, rng)
    for way in cases.WINDOWS if name == "jax" else cases.WINDOWS[:2]:
        contestant = measure.prepare(library, way, case, host, measure.reference(case, host, True), 0)
        assert contestant.first.error < 1e-14, way


def test_gpu_memory_is_the_library_s_own_account(monkeypatch):
    fake_torch(monkeypatch, Log())
    assert opened("torch").watch_memory()() == 10
    fake_jax(monkeypatch, Log())
    assert np.isnan(opened("jax").watch_memory()())  # the peak has not grown, so nobody can tell
    fake_weft_plan(monkeypatch, Log())
    library = opened("weft-plan")
    told = library.watch_memory()
    library.transform(Case("sizes", (8,)), None)
    assert told() == 1000


def test_a_device_that_is_not_there_is_named(monkeypatch):
    fake_torch(monkeypatch, Log())
    sys.modules["torch"].cuda.is_available = lambda: False
    found, missing = libraries.open_all(["torch", "numpy"], "cuda", 1, "estimate")
    assert found == []
    assert missing == {"torch": "torch finds no CUDA device", "numpy": "does not run on the device cuda"}


def test_weft_on_opencl_is_measured_with_transfers_only():
    case = Case("transfers", (60,), ways=(PLAIN, TRANSFERS))
    found, missing = libraries.open_all(["weft"], "opencl", 1, "estimate")
    usable, reason = weft.devices()["opencl"]
    assert missing == ({} if usable else {"weft": reason})
    rows = list(measure.measure(case, found, 0.001, np.random.default_rng(1), 0))
    timed = [one for one in rows if isinstance(one, Measured)]
    assert {one.way for one in timed} == ({TRANSFERS} if usable else set())
    assert all(one.error < 1e-15 for one in timed)
    if usable:
        assert [one.reason for one in rows if isinstance(one, table.Skipped)] == ["is measured with transfers only"]
