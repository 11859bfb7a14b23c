"""weft transform --stream --restartable: a run that is stopped anywhere goes on with --resume, to the same bits."""

from __future__ import annotations

import fcntl
import os
import resource
import unittest

import numpy as np

from weft_case import Case, environment, random_array

DEVICE = ["--device", os.environ.get("WEFT_TEST_DEVICE", "simulated")]
INCOMPLETE, JOURNAL = ".out.npy.weft-incomplete", ".out.npy.weft-journal"
GO_ON = "; what is done is kept: add --resume to go on from there\n"


class Restart(Case):
    """An input of 20 tiles in the first pass of its transform and 30 in the second."""

    flags = ["--stream", "--memory-limit", "100K", "--quiet"]

    def prepare(self, shape: tuple[int, ...] = (40, 30, 20), dtype: str = "f8", flags: list[str] = flags, back: bool = False) -> list[str]:
        """The command line of a run that was not stopped, and its result."""
        self.save("in.npy", random_array(shape, dtype))
        more = []
        if back:
            self.succeed("transform", "in.npy", "spectrum.npy", "--quiet")
            (self.folder / "spectrum.npy").replace(self.folder / "in.npy")
            more = ["--inverse"] + ([] if dtype[0] == "c" else ["--last-axis", str(shape[-1])])
        line = ["transform", "in.npy", "out.npy", *flags, *more]
        self.succeed(*line)
        (self.folder / "out.npy").replace(self.folder / "expected.npy")
        return line

    def stop(self, line: list[str], fault: str, ranks: int = 1, kept: bool = True) -> str:
        """Runs until the fault, which ends it, and returns what it said."""
        done = self.run_weft(*line, ranks=ranks, env=environment(WEFT_FAULT=fault))
        self.assertNotEqual(done.returncode, 0, fault)
        self.assertEqual([INCOMPLETE, JOURNAL] if kept else [], [n for n in self.names() if n[0] == "."])
        self.assertNotIn("out.npy", self.names())
        return done.stderr

    def go_on(self, line: list[str], ranks: int = 1) -> None:
        """Resumes to the end: the bits are those of a run that was not stopped, and nothing is left."""
        before = (self.folder / "in.npy").read_bytes()
        self.succeed(*line, "--resume", ranks=ranks)
        self.assertEqual((self.folder / "out.npy").read_bytes(), (self.folder / "expected.npy").read_bytes())
        self.assertEqual((self.folder / "in.npy").read_bytes(), before)
        self.assertEqual(self.names(), ["expected.npy", "in.npy", "out.npy"])
        (self.folder / "out.npy").unlink()

    def test_a_run_that_is_not_stopped_has_the_same_bits(self) -> None:
        line = self.prepare()
        for flag in ("--restartable", "--restartable=durable", "--resume"):
            self.succeed(*line, flag)
            self.assertEqual((self.folder / "out.npy").read_bytes(), (self.folder / "expected.npy").read_bytes())
            self.assertEqual(self.names(), ["expected.npy", "in.npy", "out.npy"])

    def test_a_killed_run_goes_on_wherever_it_was(self) -> None:
        places = ["before:1:1", "in:1:7", "behind:1:7", "behind:1:20", "before:2:1", "in:2:1", "behind:2:1", "before:2:9", "in:2:9", "behind:2:30"]
        line = self.prepare()
        for number, place in enumerate(places):
            with self.subTest(place=place):
                self.stop([*line, "--restartable" + ("=durable" if number % 3 == 2 else "")], "kill:" + place)
                self.go_on(line)

    def test_transforms_of_all_sorts_go_on(self) -> None:
        rows = [
            ((40, 30, 20), "f8", ["--stream", "--memory-limit", "100K"], True),  # tiles become smaller in the last pass
            ((24, 20, 1000), "c16", ["--stream", "--memory-limit", "1M"], False),  # long rows
            ((24, 20, 1000), "f4", ["--stream", "--memory-limit", "600K"], True),
            ((30, 50), "c8", ["--stream=sync", "--memory-limit", "20K"], True),
            ((40, 30, 20), "u1", ["--stream=sync", "--memory-limit", "60K"], False),
            ((10, 12, 14, 16), "f8", ["--stream", "--memory-limit", "20K"], True),  # three passes
        ]
        for shape, dtype, flags, back in rows:
            line = self.prepare(shape, dtype, [*flags, "--quiet"], back)
            for place in ("in:1:3", "in:2:4") + (("in:3:3",) if len(shape) == 4 else ()):
                with self.subTest(shape=shape, dtype=dtype, place=place):
                    self.stop([*line, "--restartable"], "kill:" + place)
                    self.go_on(line)

    def test_runs_on_another_device_go_on(self) -> None:
        rows = [
            ((40, 30, 20), "f8", 300, False),
            ((40, 30, 20), "f8", 300, True),  # tiles become smaller in the last pass
            ((24, 20, 300), "c8", 800, False),
            ((10, 12, 14, 16), "f4", 40, True),
        ]
        for shape, dtype, limit, back in rows:
            limit += 0 if DEVICE[1] == "simulated" else 200  # what engines need on GPUs
            line = self.prepare(shape, dtype, ["--stream", "--memory-limit", f"{limit}K", "--quiet", *DEVICE], back)
            for place in ("before:1:1", "in:1:3", "behind:1:4", "before:2:1", "in:2:2", "behind:2:4", "in:2:5"):
                with self.subTest(shape=shape, dtype=dtype, back=back, place=place):
                    self.stop([*line, "--restartable"], "kill:" + place)
                    self.stop([*line, "--resume"], "term:behind:2:1")
                    self.go_on(line)

    @unittest.skipIf(DEVICE[1] != "simulated", "the simulated device fails on demand")
    def test_a_device_that_fails_leaves_what_is_done(self) -> None:
        line = self.prepare(flags=["--stream", "--memory-limit", "300K", "--quiet", *DEVICE])
        failures = 0
        for failure in [f"{kind}:{number}" for kind in ("copy", "run") for number in (1, 2, 5, 11, 12, 13, 14, 20, 21, 22, 23, 24)]:
            with self.subTest(failure=failure):
                done = self.run_weft(*line, "--restartable", env=environment(WEFT_SIMULATE="fail=" + failure))
                if done.returncode == 0:  # there is no such call
                    (self.folder / "out.npy").unlink()
                    continue
                failures += 1
                self.assertEqual([INCOMPLETE, JOURNAL], [n for n in self.names() if n[0] == "."])
                self.assertRegex(done.stderr, GO_ON + r"\Z")
                self.go_on(line)
        self.assertGreater(failures, 10)

    def test_a_run_is_stopped_several_times(self) -> None:
        line = self.prepare()
        self.stop([*line, "--restartable"], "kill:in:1:5")
        for place in ("in:1:5", "in:1:10", "behind:2:3", "in:2:2", "before:2:1", "in:2:20"):
            self.stop([*line, "--resume"], "kill:" + place)
        self.go_on(line)

    def test_a_signal_leaves_what_is_done_and_says_how_to_go_on(self) -> None:
        line = self.prepare()
        for place in ("in:1:5", "in:2:5"):
            self.assertEqual(self.stop([*line, "--restartable"], "term:" + place), "weft: interrupted" + GO_ON)
            self.assertEqual(self.stop([*line, "--resume"], "term:before:2:7"), "weft: interrupted" + GO_ON)
            self.go_on(line)

    def test_a_failure_leaves_what_is_done(self) -> None:
        line = self.prepare()
        said = self.stop([*line, "--restartable"], "fail:in:2:5")
        self.assertRegex(said, r"\Aweft: a failure on demand[^\n]*" + GO_ON + r"\Z")
        self.go_on(line)

    def test_without_the_flag_nothing_is_left(self) -> None:
        line = self.prepare()
        self.run_weft(*line, env=environment(WEFT_FAULT="term:in:2:5"))  # there is no such place then
        self.assertEqual(self.names(), ["expected.npy", "in.npy", "out.npy"])

    def test_a_run_without_resume_says_so_and_starts_anew(self) -> None:
        for flags in ([], ["--restartable"]):
            line = self.prepare()
            self.stop([*line, "--restartable"], "kill:in:2:5")
            self.save("in.npy", random_array((40, 30, 20), "f8"))
            done = self.run_weft(*line, *flags)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr, "weft: out.npy: a run that was stopped can be resumed with --resume; this one starts anew\n")
            self.assertEqual(self.names(), ["expected.npy", "in.npy", "out.npy"])
            self.assert_close(self.load("out.npy"), np.fft.rfftn(self.load("in.npy")))
            (self.folder / "out.npy").unlink()

    def test_a_journal_that_does_not_fit_is_refused(self) -> None:
        line = self.prepare()
        self.stop([*line, "--restartable"], "kill:in:2:5")
        rows = [
            (["--norm", "ortho"], 'had "transform: r2c forward, norm 1'),
            (["--engine", "reference"], "engine: "),
            (["--memory-limit", "200K"], "tiles: 20 30"),
            (["--window", "hann"], "window:"),
            (["--threads", "1", "--norm", "none"], "norm 0"),
        ]
        for flags, sentence in rows:
            self.assertRegex(self.refuse(*line, "--resume", *flags), sentence)
        kept = {name: (self.folder / name).read_bytes() for name in (INCOMPLETE, JOURNAL)}
        for name, damage in [(JOURNAL, lambda b: b[:500] + b"?" + b[501:]), (JOURNAL, lambda b: b[:-1]), (JOURNAL, lambda b: b[:100]),
                             (JOURNAL, lambda b: b[:4100] + b"\7" + b[4101:]), (INCOMPLETE, lambda b: b[:-1])]:
            (self.folder / name).write_bytes(damage(kept[name]))
            self.assertRegex(self.refuse(*line, "--resume"), "leave --resume out to start anew")
            (self.folder / name).write_bytes(kept[name])
        stamp = os.stat(self.folder / "in.npy")
        os.utime(self.folder / "in.npy", ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1))
        self.assertIn('"input: ', self.refuse(*line, "--resume"))
        os.utime(self.folder / "in.npy", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        self.go_on(line)

    def test_a_journal_of_another_start_of_the_machine_must_be_durable(self) -> None:
        line = self.prepare()
        self.stop([*line, "--restartable=durable"], "kill:in:2:5")
        self.change_boot()
        self.go_on(line)
        self.stop([*line, "--restartable"], "kill:in:2:5")
        self.change_boot()
        self.assertIn("before this one was started again", self.refuse(*line, "--resume"))

    def change_boot(self) -> None:
        """Makes the journal one of another start of the machine."""
        journal = self.folder / JOURNAL
        content = bytearray(journal.read_bytes())
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            place = content.index(file.read().strip())
        content[place : place + 8] = b"01234567"
        # The checksum is FNV-1a of the header, with zero in its own place.
        numbers = 1 + 16 + 1 + 1
        length = (16 + 8 + 8 * numbers + 40 + 3001 + 7) // 8 * 8
        content[16:24] = bytes(8)
        total = 0xCBF29CE484222325
        for byte in content[:length]:
            total = (total ^ byte) * 0x100000001B3 % (1 << 64)
        content[16:24] = total.to_bytes(8, "little")
        journal.write_bytes(content)

    def test_a_full_disk_at_the_beginning_leaves_nothing(self) -> None:
        self.save("in.npy", random_array((128, 128, 128), "f8"))

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (12 << 20, 12 << 20))

        line = ["transform", "in.npy", "out.npy", "--stream", "--restartable"]
        self.assertIn("no room", self.refuse(*line, status=1, preexec_fn=limit))
        self.assertEqual(self.names(), ["in.npy"])

    def test_an_output_that_is_being_written_is_left_alone(self) -> None:
        line = self.prepare()
        self.stop([*line, "--restartable"], "kill:in:2:5")
        with open(self.folder / INCOMPLETE, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            for flag in ("--resume", "--restartable"):
                self.assertIn("another process is writing it", self.run_weft(*line, flag).stderr)
        self.go_on(line)

    def test_what_cannot_be_resumed_is_refused(self) -> None:
        self.save("in.npy", random_array((40, 30, 20), "f8"))
        for flags in (["--restartable"], ["--resume"]):
            self.assertIn("can be resumed", self.refuse("transform", "in.npy", "out.npy", *flags))
        flags = ["--stream", "--memory-limit", "300K", "--device", "simulated", "--restartable"]
        self.assertIn("can be resumed", self.refuse("transform", "in.npy", "out.npy", *flags, ranks=2))
        self.assertIn("=durable", self.refuse("transform", "in.npy", "out.npy", "--stream", "--restartable=often"))
        self.assertEqual(self.names(), ["in.npy"])


if __name__ == "__main__":
    unittest.main()
