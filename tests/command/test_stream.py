"""weft transform --stream: from file to file, tile by tile, with the bits of a transform in memory."""

from __future__ import annotations

import json
import os
import pty
import resource
import subprocess
import time
import unittest
from contextlib import suppress
from pathlib import Path

import numpy as np

from weft_case import HDF5, WEFT, Case, environment, random_array


def anonymous_peak(process: subprocess.Popen) -> int:
    """The most resident bytes that a process had of its own, rather than of files, as long as it was looked at."""
    most = 0
    while process.poll() is None:
        with suppress(OSError):
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            most = max([most, *(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))])
        time.sleep(0.002)
    return most


def told_when_input_is_cut(case: Case, ranks: int = 1, flags: list[str] | None = None) -> str:
    """What a run says that fails because in.npy is cut short while it is transformed."""
    line = [WEFT, "--ranks", str(ranks)] if ranks > 1 else [WEFT]
    line += ["transform", "in.npy", "out.npy", "--stream", "--memory-limit", "3M", "--engine", "reference", *(flags or [])]
    with subprocess.Popen(line, cwd=case.folder, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        while case.names() == ["in.npy"] and process.poll() is None:
            time.sleep(0.001)
        os.truncate(case.folder / "in.npy", 4096)
        _, sentence = process.communicate(timeout=60)
    case.assertEqual(process.returncode, 1, sentence)
    return sentence


class Stream(Case):
    def test_files_are_transformed_as_in_memory(self) -> None:
        rows = [((40, 30, 20), "f8", "100K", []), ((30, 50), "c8", "20K", ["--device", "simulated"])]
        for shape, dtype, limit, device in rows:
            with self.subTest(shape=shape, dtype=dtype):
                array = random_array(shape, dtype)
                self.save("in.npy", array)
                self.succeed("transform", "in.npy", "whole.npy")
                flags = ["--stream", "--memory-limit", limit, *device]
                self.succeed("transform", "in.npy", "out.npy", *flags)
                np.testing.assert_array_equal(self.load("out.npy"), self.load("whole.npy"))
                back = ["--inverse"] if array.dtype.kind == "c" else ["--inverse", "--last-axis", str(shape[-1])]
                self.succeed("transform", "whole.npy", "again.npy", *back)
                self.succeed("transform", "out.npy", "back.npy", *back, *flags)
                np.testing.assert_array_equal(self.load("back.npy"), self.load("again.npy"))
                np.testing.assert_array_equal(self.load("in.npy"), array)

    def test_raw_files_and_a_transform_without_overlap(self) -> None:
        array = random_array((20, 12, 10), "f8")
        array.tofile(self.folder / "in.raw")
        self.save("in.npy", array)
        self.succeed("transform", "in.npy", "whole.npy")
        raw = ["--shape", "20x12x10", "--dtype", "f8"]
        self.succeed("transform", "in.raw", "out.raw", *raw, "--stream=sync", "--memory-limit", "30K")
        got = np.fromfile(self.folder / "out.raw", "c16").reshape(20, 12, 6)
        np.testing.assert_array_equal(got, self.load("whole.npy"))

    def test_ranks_stream_from_memory(self) -> None:
        array = random_array((40, 30, 20), "f8")
        self.save("in.npy", array)
        self.succeed("transform", "in.npy", "out.npy", "--stream", "--memory-limit", "100K", "--device", "simulated", ranks=3)
        self.assert_close(self.load("out.npy"), np.fft.rfftn(array))

    def spans_of_tiles(self, *flags: str) -> list[dict]:
        """What the lanes of a slow device do for each tile, from the trace of a run."""
        slow = environment(WEFT_SIMULATE="delay_us=20000")
        command = ["--device", "simulated", "--memory-limit", "100K", "--trace", "trace.json"]
        done = self.run_weft("transform", "in.npy", "out.npy", *command, *flags, env=slow)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        rows = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        spans = [event for event in events if "tile" in event.get("args", {})]
        for span in spans:
            span["row"] = rows[span["tid"]]
            span["pass"] = span["args"]["step"] // 3  # a copy, a transform, a copy
        return spans

    def test_a_trace_shows_what_overlaps(self) -> None:
        self.save("in.npy", random_array((40, 30, 20), "f8"))

        def overlap(one: dict, other: dict) -> bool:
            return max(one["ts"], other["ts"]) < min(one["ts"] + one["dur"], other["ts"] + other["dur"])

        def pairs(spans: list[dict], row: str, other: str) -> int:
            """Of different tiles of a pass."""
            return sum(
                overlap(a, b)
                for a in spans
                for b in spans
                if (a["row"], b["row"]) == (row, other)
                and a["pass"] == b["pass"]
                and a["args"]["tile"] != b["args"]["tile"]
            )

        rows = ["to the device", "computing", "from the device"]
        spans = self.spans_of_tiles("--stream")
        self.assertEqual({span["row"] for span in spans}, set(rows))
        for row, other in ((0, 1), (1, 2), (0, 2)):
            self.assertGreater(pairs(spans, rows[row], rows[other]), 0, f"{rows[row]}, {rows[other]}")
        for row in rows:
            tiles = [s["args"]["tile"] for s in spans if s["row"] == row and s["pass"] == 0]
            self.assertEqual(sorted(set(tiles)), list(range(max(tiles) + 1)))
            self.assertGreaterEqual(max(tiles), 7)
        spans = self.spans_of_tiles("--stream=sync")
        self.assertEqual({span["row"] for span in spans}, set(rows))
        ordered = sorted(spans, key=lambda span: span["ts"])
        for before, after in zip(ordered, ordered[1:], strict=False):
            self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 0.01)

    def test_what_must_be_converted(self) -> None:
        for dtype, device in (("u1", []), ("u2", ["--device", "simulated"]), ("i4", ["--device", "simulated"])):
            array = random_array((20, 12, 10), dtype)
            self.save("in.npy", array)
            self.succeed("transform", "in.npy", "out.npy", "--stream", "--memory-limit", "30K", *device)
            self.assert_close(self.load("out.npy"), np.fft.rfftn(array.astype("f8")))

    def test_an_input_that_is_cut_short_leaves_nothing(self) -> None:
        self.save("in.npy", random_array((40, 30, 20), "f8"))
        slow = environment(WEFT_SIMULATE="delay_us=30000")
        line = [WEFT, "transform", "in.npy", "out.npy", "--stream", "--memory-limit", "100K", "--device", "simulated"]
        with subprocess.Popen(line, cwd=self.folder, env=slow, stderr=subprocess.PIPE, text=True) as process:
            while self.names() == ["in.npy"] and process.poll() is None:
                time.sleep(0.001)
            os.truncate(self.folder / "in.npy", 4096)
            _, sentence = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, sentence)
        self.assertIn("weft: a mapped file cannot be read", sentence)
        self.assertEqual(self.names(), ["in.npy"])

    @unittest.skipIf("ASAN_OPTIONS" in os.environ, "the address sanitizer holds memory of its own")
    def test_memory_beside_the_files_stays_within_the_limit(self) -> None:
        limit, others = 32 << 20, 32 << 20  # MPI, the program itself, stacks of threads, tables
        plane = random_array((256, 256), "f8")
        array = np.lib.format.open_memmap(self.folder / "in.npy", "w+", "f8", (512, 256, 256))
        array[:] = plane
        array.flush()
        line = [WEFT, "transform", "in.npy", "out.npy", "--stream", "--memory-limit", "32M", "--threads", "2"]
        with subprocess.Popen(line, cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL) as process:
            peak = anonymous_peak(process)
        self.assertEqual(process.returncode, 0)
        self.assertGreater(peak, limit // 2, "what was measured is not what the plan holds")
        self.assertLess(peak, limit + others)
        spectrum = np.load(self.folder / "out.npy", mmap_mode="r")
        self.assert_close(spectrum[0], 512 * np.fft.rfft2(plane))

    def test_progress_is_shown_where_it_is_asked_for(self) -> None:
        self.save("in.npy", random_array((40, 30, 20), "f8"))
        slow = environment(WEFT_SIMULATE="delay_us=30000")
        for device in ("host", "simulated"):
            line = ["transform", "in.npy", "out.npy", "--stream", "--memory-limit", "100K", "--device", device]
            self.assertEqual(self.run_weft(*line, env=slow).stderr, "")
            shown = self.run_weft(*line, "--progress", env=slow).stderr
            self.assertTrue(shown.endswith("\n\x1b[K"), shown)  # "\r" is read as "\n"
        self.assertRegex(shown, r"transforming \[#+\.*\] +\d+ % +\d+ MB/s \d+:\d\d left")

    def test_progress_reaches_a_terminal_through_mpirun(self) -> None:
        self.save("in.npy", random_array((40, 30, 20), "f8"))
        shown = ""
        terminal, end = pty.openpty()
        line = [WEFT, "--ranks", "2", "transform", "in.npy", "out.npy", "--stream", "--memory-limit", "100K"]
        line += ["--device", "simulated"]
        slow = environment(WEFT_SIMULATE="delay_us=200000")
        done = subprocess.run(line, cwd=self.folder, env=slow, stdout=subprocess.DEVNULL, stderr=end, check=False)
        os.set_blocking(terminal, False)
        with suppress(BlockingIOError):
            shown = os.read(terminal, 1 << 16).decode()
        os.close(end)
        os.close(terminal)
        self.assertEqual(done.returncode, 0, shown)
        self.assertRegex(shown, r"\rtransforming \[[#.]{28}\] ")

    def test_rows_of_any_length_reach_the_file(self) -> None:
        """Long rows are written by themselves, short ones through the mapping; some tiles have both."""
        for shape, limit in (((24, 20, 1000), "600K"), ((300, 700), "500K")):
            with self.subTest(shape=shape):
                self.save("in.npy", random_array(shape, "c16"))
                self.succeed("transform", "in.npy", "whole.npy")
                for way in ("--stream", "--stream=sync"):
                    self.succeed("transform", "in.npy", "out.npy", way, "--memory-limit", limit)
                    np.testing.assert_array_equal(self.load("out.npy"), self.load("whole.npy"))

    def test_an_input_that_ends_early_is_told(self) -> None:
        self.save("in.npy", random_array((200, 128, 128), "f8"))
        sentence = told_when_input_is_cut(self)
        self.assertRegex(sentence, "in.npy: the file ended|a mapped file cannot be read")
        self.assertEqual(self.names(), ["in.npy"])

    def test_what_cannot_be_streamed_is_refused(self) -> None:
        self.save("integers.npy", random_array((8, 6), "i4"))
        self.save("turned.npy", np.asfortranarray(random_array((8, 6), "f8")))
        self.save("in.npy", random_array((8, 6), "f8"))
        rows = [
            (["integers.npy", "--stream"], "must hold f8, u8"),
            (["turned.npy", "--stream"], "row-major"),
            (["in.npy", "--stream", "--check"], "--check"),
            (["in.npy", "--stream", "--memory-limit", "10"], "raise the limit"),
            (["in.npy", "--stream=fast"], "--stream=sync"),
        ]
        for (name, *flags), sentence in rows:
            with self.subTest(flags=flags):
                status = 1 if "10" in flags else 2
                self.assertIn(sentence, self.refuse("transform", name, "out.npy", *flags, status=status))
                self.assertFalse((self.folder / "out.npy").exists())


@unittest.skipUnless(HDF5, "this build has no HDF5")
class Datasets(Case):
    """Datasets of HDF5 files, which are read and written where they lie in the files."""

    def test_datasets_are_streamed_as_files_are(self) -> None:
        rows = [
            ((40, 30, 20), "f8", "100K", [("file.h5:/deep/spectrum", 1), ("new.h5:/spectrum", 3)]),
            ((24, 20, 1000), "c8", "1M", [("new.h5:/other/spectrum", 2)]),
        ]
        for shape, dtype, limit, targets in rows:
            flags = ["--stream", "--memory-limit", limit]
            back = ["--inverse"] if dtype[0] == "c" else ["--inverse", "--last-axis", str(shape[-1])]
            self.save("in.npy", random_array(shape, dtype))
            self.succeed("transform", "in.npy", "spectrum.npy")
            self.succeed("transform", "spectrum.npy", "file.h5:/deep/field", *back)
            self.succeed("transform", "spectrum.npy", "field.npy", *back)
            self.succeed("transform", "field.npy", "spectrum.npy", *flags)
            self.succeed("transform", "spectrum.npy", "back.npy", *flags, *back)
            self.succeed("transform", "back.npy", "again.npy")
            for target, ranks in targets:  # into a file that has a dataset, and into a new one
                self.succeed("transform", "file.h5:/deep/field", "out.npy", *flags, ranks=ranks)
                np.testing.assert_array_equal(self.load("out.npy"), self.load("spectrum.npy"))
                self.succeed("transform", "file.h5:/deep/field", target, *flags, ranks=ranks)
                # Back, where tiles become smaller; a transform in memory tells what is in the file.
                self.succeed("transform", target, "file.h5:/back", *flags, *back, ranks=ranks)
                self.succeed("transform", "file.h5:/back", "out.npy")
                np.testing.assert_array_equal(self.load("out.npy"), self.load("again.npy"))
            self.succeed("transform", "file.h5:/deep/field", "out.npy")  # it is still there

    def test_a_run_that_is_stopped_goes_on(self) -> None:
        self.save("in.npy", random_array((40, 30, 20), "f8"))
        self.succeed("transform", "in.npy", "out.h5:/kept")
        kept = ["transform", "out.h5:/kept", "kept.npy", "--inverse", "--last-axis", "20"]
        self.succeed(*kept)
        before = (self.folder / "kept.npy").read_bytes()
        line = ["transform", "in.npy", "out.h5:/group/spectrum", "--stream", "--memory-limit", "100K"]
        self.succeed("transform", "in.npy", "expected.npy", *line[3:])
        for place, ranks in (("in:1:5", 1), ("in:2:2:1", 2)):
            self.run_weft(*line, "--restartable", ranks=ranks, env=environment(WEFT_FAULT="kill:" + place))
            self.assertIn(".out.h5.weft-journal", self.names())
            self.succeed(*line, "--resume", ranks=ranks)
            self.assertEqual([n for n in self.names() if n[0] == "."], [])
            self.succeed("transform", "out.h5:/group/spectrum", "back.npy", "--inverse", "--last-axis", "20")
            self.succeed("transform", "expected.npy", "again.npy", "--inverse", "--last-axis", "20")
            np.testing.assert_array_equal(self.load("back.npy"), self.load("again.npy"))
        self.succeed(*kept)
        self.assertEqual((self.folder / "kept.npy").read_bytes(), before)


class Processes(Case):
    """Files that several processes transform, each its share of the tiles of every pass."""

    flags = ["--stream", "--memory-limit", "100K", "--quiet"]

    def prepare(self, shape: tuple[int, ...], dtype: str, flags: list[str]) -> None:
        """Leaves in.npy, the result expected.npy of one process, and that of the inverse, back.npy."""
        self.save("in.npy", random_array(shape, dtype))
        self.last = ["--inverse"] if dtype[0] == "c" else ["--inverse", "--last-axis", str(shape[-1])]
        self.succeed("transform", "in.npy", "expected.npy", *flags)
        self.succeed("transform", "expected.npy", "back.npy", *flags, *self.last)

    def assert_same(self, one: str, other: str) -> None:
        self.assertEqual((self.folder / one).read_bytes(), (self.folder / other).read_bytes())

    def test_any_number_of_processes_gives_the_same_bits(self) -> None:
        rows = [
            ((40, 30, 20), "f8", self.flags, (2, 3, 4, 5)),
            ((24, 20, 1000), "c8", ["--stream=sync", "--memory-limit", "2M", "--quiet"], (2, 3)),
            ((9, 8, 7), "f8", ["--stream", "--quiet"], (5,)),  # fewer tiles than processes along some axes
            ((1, 100), "c16", ["--stream", "--quiet"], (5,)),  # one tile
        ]
        for shape, dtype, flags, numbers in rows:
            self.prepare(shape, dtype, flags)
            for ranks in numbers:
                with self.subTest(shape=shape, ranks=ranks):
                    self.succeed("transform", "in.npy", "out.npy", *flags, ranks=ranks)
                    self.assert_same("out.npy", "expected.npy")
                    self.succeed("transform", "out.npy", "again.npy", *flags, *self.last, ranks=ranks)
                    self.assert_same("again.npy", "back.npy")

    def test_numbers_may_travel_as_single_precision(self) -> None:
        """To nearly the same result, and to the same one with any number of processes and where a run is resumed."""
        single = ["--wire", "single"]
        for shape, dtype, limit in (((40, 30, 20), "f8", "100K"), ((60, 90), "c16", "100K")):  # tiles of rows, of parts of rows
            flags = ["--stream", "--memory-limit", limit, "--quiet"]
            self.prepare(shape, dtype, [*flags, *single])
            self.last = ["--inverse"] if dtype[0] == "c" else ["--inverse", "--last-axis", str(shape[-1])]
            array, back = self.load("in.npy"), self.load("back.npy")
            spectrum, rounded = np.fft.rfftn(array) if dtype == "f8" else np.fft.fftn(array), self.load("expected.npy")
            for got, exact, most in ((rounded, spectrum, 6e-8), (back, array, 1.2e-7)):
                error = np.linalg.norm(got - exact) / np.linalg.norm(exact)
                self.assertTrue(1e-9 < error < most, error)
            for ranks in (2, 3):
                self.succeed("transform", "in.npy", "out.npy", *flags, *single, ranks=ranks)
                self.assert_same("out.npy", "expected.npy")
                self.succeed("transform", "out.npy", "again.npy", *flags, *single, *self.last, ranks=ranks)
                self.assert_same("again.npy", "back.npy")
            for line in (["transform", "in.npy", "out.npy"], ["transform", "expected.npy", "out.npy", *self.last]):
                for fault, ranks, then in (("in:1:2", 1, 1), ("in:2:2:1", 3, 2)):
                    with self.subTest(shape=shape, line=line, fault=fault):
                        self.run_weft(*line, *flags, *single, "--restartable", ranks=ranks, env=environment(WEFT_FAULT="kill:" + fault))
                        self.assertIn("resume", self.refuse(*line, *flags, "--resume", ranks=then))
                        self.succeed(*line, *flags, *single, "--resume", ranks=then)
                        self.assert_same("out.npy", "back.npy" if self.last[0] in line else "expected.npy")
                        (self.folder / "out.npy").unlink()
        self.assertIn("give same or single", self.refuse("transform", "in.npy", "out.npy", "--wire", "half"))

    def test_report_and_trace_are_those_of_all_passes(self) -> None:
        self.save("in.npy", random_array((40, 30, 20), "f8"))
        self.succeed("transform", "in.npy", "out.npy", *self.flags, "--report", "r.json", "--trace", "t.json", ranks=2)
        trace = json.loads((self.folder / "t.json").read_text())
        copies = [e for e in trace["traceEvents"] if e.get("name") == "copy"]
        self.assertGreaterEqual(len(copies), 2 * (20 + 30))

    def test_runs_that_are_stopped_go_on_with_any_number_of_processes(self) -> None:
        self.prepare((40, 30, 20), "f8", self.flags)
        for fault, ranks, then in (("kill:in:1:2:1", 3, 2), ("kill:in:2:3:2", 3, 1), ("kill:behind:2:2:0", 2, 5)):
            line = ["transform", "in.npy", "out.npy", *self.flags]
            done = self.run_weft(*line, "--restartable", ranks=ranks, env=environment(WEFT_FAULT=fault))
            self.assertIn("was killed by signal 9", done.stderr)
            self.succeed(*line, "--resume", ranks=then)
            self.assert_same("out.npy", "expected.npy")
            (self.folder / "out.npy").unlink()
            self.assertEqual(self.names(), ["back.npy", "expected.npy", "in.npy"])

    def test_a_pass_whose_tiles_are_stored_over_others_goes_on(self) -> None:
        """Whether tiles were only saved, and some of them, or stored in part, and some before others."""
        self.prepare((40, 30, 20), "f8", self.flags)
        line = ["transform", "expected.npy", "out.npy", *self.flags, *self.last]
        for fault, ranks, then in (("before:2:2:1", 3, 2), ("before:2:3:0", 3, 1), ("in:2:2:0", 3, 3), ("behind:2:3:2", 3, 1), ("in:2:4:1", 2, 3)):
            with self.subTest(fault=fault):
                self.run_weft(*line, "--restartable", ranks=ranks, env=environment(WEFT_FAULT="kill:" + fault))
                self.assertNotIn("out.npy", self.names())
                self.succeed(*line, "--resume", ranks=then)
                self.assert_same("out.npy", "back.npy")
                (self.folder / "out.npy").unlink()

    def test_processes_that_are_interrupted_keep_what_is_done(self) -> None:
        self.prepare((40, 30, 20), "f8", self.flags)
        line = ["transform", "in.npy", "out.npy", *self.flags]
        self.run_weft(*line, "--restartable", ranks=2, env=environment(WEFT_FAULT="term:in:2:3:0"))
        self.succeed(*line, "--resume", ranks=2)
        self.assert_same("out.npy", "expected.npy")

    def test_one_that_fails_ends_all_with_one_sentence(self) -> None:
        self.save("in.npy", random_array((40, 30, 20), "f8"))
        line = ["transform", "in.npy", "out.npy", *self.flags, "--restartable"]
        for rank in (0, 2):
            done = self.run_weft(*line, ranks=3, env=environment(WEFT_FAULT=f"fail:in:2:2:{rank}"))
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\A(weft: out.npy: a run that was stopped [^\n]*\n)?weft: a failure on demand[^\n]*\n\Z")

    def test_an_input_that_is_cut_short_ends_all(self) -> None:
        rows = [((200, 128, 128), "f8", []), ((2000, 1500), "c16", ["--inverse"])]  # by system calls; through the mapping
        for shape, dtype, flags in rows:
            self.save("in.npy", random_array(shape, dtype))
            sentence = told_when_input_is_cut(self, ranks=3, flags=flags)
            self.assertRegex(sentence, r"\Aweft: (in.npy: the file ended|a mapped file cannot be read)[^\n]*\n\Z")
            self.assertEqual(self.names(), ["in.npy"])

    def test_an_output_without_room_is_told_once(self) -> None:
        self.save("in.npy", random_array((128, 128, 128), "f8"))

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (12 << 20, 12 << 20))

        for flags in ([], ["--restartable"]):
            said = self.refuse("transform", "in.npy", "out.npy", "--stream", *flags, ranks=3, status=1, preexec_fn=limit)
            self.assertIn("no room", said)
            self.assertEqual(self.names(), ["in.npy"])


if __name__ == "__main__":
    unittest.main()
