"""Processes that are killed: one line that names the rank, exit 1, no process and no file left behind."""

from __future__ import annotations

import os
import signal
import unittest

import numpy as np

from weft_case import HDF5, Case, SlowRun, random_array, transform

MPIEXEC = os.environ.get("WEFT_MPIEXEC", "mpiexec")


class Deaths(Case):
    def assert_named(self, run: SlowRun, line: str) -> None:
        """The run goes on and ends with this line alone, and nothing is left of it."""
        run.resume()
        status, out, err = run.wait()
        self.assertEqual((status, out), (1, ""), err)
        self.assertRegex(err, rf"\Aweft: {line}[^\n]*\n?\Z")
        self.assertTrue(run.all_gone())
        self.assertEqual(run.hidden(), [])

    def test_a_killed_rank_is_named(self) -> None:
        run = SlowRun(self, "out.npy", ranks=3)
        os.kill(run.workers()[2], signal.SIGKILL)
        self.assert_named(run, r"rank 2 was killed by signal 9 \(Killed\); memory may have run out")

    def test_a_killed_parent_of_a_rank_is_as_bad(self) -> None:
        run = SlowRun(self, "out.npy", ranks=3)
        os.kill(run.parents()[1], signal.SIGKILL)
        self.assert_named(run, r"rank 1 was killed by signal 9")

    def test_other_signals_are_named_too(self) -> None:
        run = SlowRun(self, "out.npy", ranks=2)
        os.kill(run.workers()[1], signal.SIGTERM)
        self.assert_named(run, r"rank 1 was killed by signal 15 \(Terminated\)\n")

    def test_under_a_launcher_of_the_users_the_rank_is_named_too(self) -> None:
        run = SlowRun(self, "out.npy", ranks=2, launcher=[MPIEXEC, "-n", "2"])
        os.kill(run.workers()[1], signal.SIGKILL)
        run.resume()
        status, _, err = run.wait()
        self.assertNotEqual(status, 0)
        said = [line for line in err.splitlines() if line.startswith("weft: ")]
        self.assertEqual(len(said), 1, err)
        self.assertIn("rank 1 was killed by signal 9 (Killed)", said[0])
        self.assertTrue(run.all_gone())

    def test_no_process_outlives_the_command_or_its_launcher(self) -> None:
        for number, command in (
            (signal.SIGTERM, True),
            (signal.SIGKILL, True),
            (signal.SIGKILL, False),
        ):
            with self.subTest(number=number.name, command=command):
                run = SlowRun(self, "out.npy", ranks=2)
                os.kill(run.process.pid if command else run.launcher(), number)
                run.resume()
                status, _, err = run.wait()
                self.assertTrue(run.all_gone())
                self.assertEqual(run.hidden(), [])
                if command:
                    self.assertEqual((status, err), (-number, ""))
                else:
                    self.assertEqual((status, err.count("\n"), err[:6]), (1, 1, "weft: "), err)

    def test_what_a_killed_run_left_is_removed_by_the_next(self) -> None:
        array = random_array((5, 6, 7), "f8")
        self.save("in.npy", array)
        for name in ["out.npy"] + (["out.h5:/x"] if HDF5 else []):
            with self.subTest(name):
                dead, alive = SlowRun(self, name), SlowRun(self, name)
                os.kill(dead.workers()[0], signal.SIGKILL)
                dead.wait()
                file = name.split(":")[0]
                similar = [f".{file}.weft-locked-12-3x", f".{file}.weft-12-3", f".{file}.weft-locked-12-"]
                similar += [f".{file}.weft-locked-1", f".x{file}.weft-locked-12-3", f"{file}.weft-locked-12-3"]
                for other in similar:
                    (self.folder / other).touch()
                (self.folder / f".{file}.weft-locked-12-4").symlink_to("in.npy")
                self.assertIn(dead.own, dead.hidden())
                self.succeed("transform", "in.npy", name)
                self.assertNotIn(dead.own, dead.hidden())
                self.assertIn(alive.own, dead.hidden())
                for other in [*similar, f".{file}.weft-locked-12-4"]:
                    self.assertTrue((self.folder / other).exists(), other)
                    (self.folder / other).unlink()
                if name == "out.npy":
                    self.assert_close(self.load(name), transform(array))
                if name == "out.npy":  # the one that comes last wins
                    alive.resume()
                    self.assertEqual(alive.wait()[::2], (0, ""))
                    self.assertEqual(self.load(name).shape, (160, 160, 81))
                else:
                    alive.process.terminate()
                    alive.resume()
                    alive.wait()
                self.assertEqual(alive.hidden(), [])

    def test_the_next_run_on_several_ranks_removes_what_a_killed_one_left(self) -> None:
        run = SlowRun(self, "out.npy", ranks=3)
        os.kill(run.workers()[0], signal.SIGKILL)  # which would have removed its file
        run.resume()
        self.assertIn("weft: rank 0 was killed by signal 9", run.wait()[2])
        self.assertTrue(run.all_gone())
        self.assertEqual(run.hidden(), [run.own])
        self.save("in.npy", np.ones((4, 4, 4)))
        self.succeed("transform", "in.npy", "out.npy", ranks=2)
        self.assertEqual(run.hidden(), [])
        self.assertEqual(self.load("out.npy")[0, 0, 0], 64)


if __name__ == "__main__":
    unittest.main()
