"""weft transform --stream: from file to file, tile by tile, with the bits of a transform in memory."""

from __future__ import annotations

import json
import os
import subprocess
import time
import unittest
from contextlib import suppress
from pathlib import Path

import numpy as np

from weft_case import WEFT, Case, environment, random_array


def anonymous_peak(process: subprocess.Popen) -> int:
    """The most resident bytes that a process had of its own, rather than of files, as long as it was looked at."""
    most = 0
    while process.poll() is None:
        with suppress(OSError):
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            most = max([most, *(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))])
        time.sleep(0.002)
    return most


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
        line = [WEFT, "transform", "in.npy", "out.npy", "--stream", "--memory-limit", "3M", "--engine", "reference"]
        with subprocess.Popen(line, cwd=self.folder, env=environment(), stderr=subprocess.PIPE, text=True) as process:
            while self.names() == ["in.npy"] and process.poll() is None:
                time.sleep(0.001)
            os.truncate(self.folder / "in.npy", 4096)
            _, sentence = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, sentence)
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
        line = self.refuse("transform", "in.npy", "out.npy", "--stream", ranks=2)
        self.assertIn("one process", line)


if __name__ == "__main__":
    unittest.main()
