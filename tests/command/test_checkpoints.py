"""weft homogenize with checkpoints: a run that is stopped anywhere goes on with --resume, to the same bits."""

from __future__ import annotations

import json
import subprocess
import unittest

import numpy as np

from weft_case import Case, environment

SOFT, HARD = {"label": 0, "lambda": 1, "mu": 1}, {"label": 1, "lambda": 10, "mu": 7}
GO_ON = "; what is done is kept: add --resume to go on from there\n"
DOCUMENT, ARRAYS = "c.checkpoint", ("c.checkpoint-1.npy", "c.checkpoint-2.npy")


class Checkpoints(Case):
    def case(self, **more: object) -> None:
        """Random voxels, which take about 30 iterations a load, with a checkpoint after every five."""
        volume = np.random.default_rng(5).integers(0, 2, (6, 7, 8)).astype("u1")
        self.save("volume.npy", volume)
        case = {"labels": "volume.npy", "phases": [SOFT, HARD], "tolerance": 1e-10}
        case["checkpoint"] = {"file": DOCUMENT, "iterations": 5}
        (self.folder / "case.json").write_text(json.dumps(case | more))

    line = ("homogenize", "case.json", "--report", "r.json", "--quiet")

    def report(self) -> dict:
        """The report without what differs between runs: times."""
        report = json.loads((self.folder / "r.json").read_text())
        (self.folder / "r.json").unlink()
        for load in report["loads"]:
            for key in ("seconds", "seconds_in_transforms", "seconds_per_iteration"):
                del load[key]
        return report

    def kept(self) -> list[str]:
        return [n for n in self.names() if n not in ("case.json", "volume.npy", "disk")]

    def never_stopped(self, ranks: int = 1, **more: object) -> dict:
        self.case(**more)
        self.succeed(*self.line, ranks=ranks)
        report = self.report()
        self.assertEqual(self.kept(), [], "a run that has its results leaves no checkpoint")
        return report

    def stop(self, fault: str, ranks: int = 1, there: bool = True) -> str:
        done = self.run_weft(*self.line, ranks=ranks, env=environment(WEFT_FAULT=fault))
        self.assertNotEqual(done.returncode, 0, fault)
        self.assertEqual(DOCUMENT in self.kept(), there, fault)
        self.assertNotIn("r.json", self.kept())
        return done.stderr

    def go_on(self, expected: dict, ranks: int = 1) -> None:
        self.succeed(*self.line, "--resume", ranks=ranks)
        self.assertEqual(self.report(), expected)
        self.assertEqual([n for n in self.kept() if not n.startswith(".")], [])

    # ---- the same bits ----

    def test_every_solver_goes_on_to_the_same_bits(self) -> None:
        rows = (
            ("cg", "staggered", "double", "in:1:3"),
            ("cg", "willot", "single", "behind:3:1"),
            ("cg", "hexahedra", "double", "in:2:1"),
            ("basic", "fourier", "double", "before:2:2"),
            ("eyre-milton", "staggered", "double", "in:4:1"),
            ("barzilai-borwein", "willot", "double", "behind:1:2"),
        )
        for solver, scheme, precision, place in rows:
            with self.subTest(solver=solver, place=place):
                tolerance = 1e-10 if precision == "double" else 1e-5
                more = {"solver": solver, "discretization": scheme, "precision": precision, "tolerance": tolerance}
                if precision == "single":
                    more["checkpoint"] = {"file": DOCUMENT, "iterations": 2}
                expected = self.never_stopped(**more)
                self.stop("kill:" + place)
                self.go_on(expected)
        with self.subTest(solver="cg", convolution="samples"):
            expected = self.never_stopped(convolution={"method": "samples"}, tolerance=1e-5)
            self.stop("kill:behind:2:1")
            self.go_on(expected)

    def test_runs_of_several_ranks_go_on(self) -> None:
        """To the same bits on as many ranks, and but for rounding on others."""
        expected = self.never_stopped(ranks=3)
        self.stop("kill:before:1:1:2", ranks=3, there=False)
        self.stop("kill:in:1:2:1", ranks=3)
        self.go_on(expected, ranks=3)
        self.stop("kill:behind:6:2:0", ranks=3)
        self.succeed(*self.line, "--resume")
        found = self.report()
        stiffness = [r["effective"]["stiffness_voigt"] for r in (found, expected)]
        np.testing.assert_allclose(*stiffness, rtol=0, atol=1e-9)

    def test_conduction_and_one_load(self) -> None:
        phases = [{"label": 0, "conductivity": 1}, {"label": 1, "conductivity": 30}]
        flux = {"gradient": [1, None, 0], "flux": [None, 0.5, None]}
        expected = self.never_stopped(physics="conduction", phases=phases, load=flux)
        self.stop("kill:behind:1:2")
        self.go_on(expected)

    def test_stopped_again_and_again(self) -> None:
        expected = self.never_stopped()
        self.stop("kill:behind:1:1")
        for _ in range(3):
            done = self.run_weft(*self.line, "--resume", env=environment(WEFT_FAULT="kill:behind:1:1"))
            self.assertEqual(done.returncode, -9)
        iterations = json.loads((self.folder / DOCUMENT).read_text())["loads"][0]["iterations"]
        self.assertEqual(iterations, 20)
        self.go_on(expected)

    def test_a_run_that_is_not_stopped_has_the_same_bits(self) -> None:
        expected = self.never_stopped()
        self.case(checkpoint={"file": DOCUMENT, "seconds": 1e-9})
        self.go_on(expected)  # nothing is there to go on from
        self.case()
        case = json.loads((self.folder / "case.json").read_text())
        del case["checkpoint"]
        (self.folder / "case.json").write_text(json.dumps(case))
        self.go_on(expected)
        self.succeed(*self.line, "--threads", "3")
        self.assertEqual(self.report(), expected)

    # ---- what goes wrong ----

    def test_a_rank_that_cannot_write(self) -> None:
        """The sentence says how to go on where there is something to go on from, and the last checkpoint stays."""
        expected = self.never_stopped(ranks=2)
        for place in ("before:1:2:1", "in:1:2:0"):
            said = self.stop("fail:" + place, ranks=2)
            said = said.removeprefix(f"weft: {DOCUMENT}: a run that was stopped can be resumed with --resume; this one starts anew\n")
            self.assertEqual(said, f"weft: load 1 of 6: a failure on demand: WEFT_FAULT is fail:{place}{GO_ON}")
            self.assertEqual(len(self.kept()), 2)
        self.go_on(expected, ranks=2)
        said = self.stop("fail:in:1:1:1", ranks=2, there=False)
        self.assertNotIn("--resume", said)
        self.assertEqual(self.kept(), [])

    def test_a_terminated_run_says_how_to_go_on(self) -> None:
        expected = self.never_stopped()
        self.assertEqual(self.stop("term:behind:1:2"), "weft: interrupted" + GO_ON)
        self.go_on(expected)
        self.assertEqual(self.stop("term:in:1:1", there=False), "")
        self.assertEqual(self.kept(), [])

    def test_a_full_disk(self) -> None:
        """A disk with room for one checkpoint and not for the two that there are while one replaces the other."""
        expected = self.never_stopped()
        disk = self.folder / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={64 << 10}", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("mounting is not permitted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], check=True)
        self.case(checkpoint={"file": "disk/c", "iterations": 5})
        line = self.refuse(*self.line, status=1)
        self.assertIn("load 1 of 6: disk/c-2.npy: no room for", line)
        self.assertTrue(line.endswith(GO_ON.strip()), line)
        self.assertEqual(sorted(p.name for p in disk.iterdir()), ["c", "c-1.npy"])
        for file in list(disk.iterdir()):
            (self.folder / file.name.replace("c", DOCUMENT, 1)).write_bytes(file.read_bytes())
            file.unlink()
        self.case()
        self.go_on(expected)

    def test_more_iterations(self) -> None:
        """A run that wants for iterations keeps what it has, and goes on with more of them."""
        expected = self.never_stopped()
        self.case(max_iterations=7)
        line = self.refuse(*self.line, status=1)
        self.assertIn("after 7 iterations, above the tolerance 1e-10; raise max_iterations", line)
        self.assertTrue(line.endswith(GO_ON.strip()), line)
        self.assertEqual(self.refuse(*self.line, "--resume", status=1), line)
        self.case()
        self.go_on(expected)

    def test_other_cases_are_refused(self) -> None:
        self.case()
        self.stop("kill:behind:1:1")
        other = [SOFT, HARD | {"mu": 7.5}]
        for more, key in (
            ({"phases": other}, "phases"),
            ({"length": [6, 7, 9]}, "length"),
            ({"load": {"strain": [1, 0, 0, 0, 0, 0]}}, "load"),
            ({"discretization": "fourier"}, "discretization"),
            ({"solver": "basic"}, "solver"),
            ({"precision": "single"}, "precision"),
            ({"reference": {"lambda": 3, "mu": 3}}, "reference"),
        ):
            with self.subTest(key=key):
                self.case(**more)
                line = self.refuse(*self.line, "--resume")
                wanted = f"weft: {DOCUMENT}: it is the checkpoint of a case with another {key}; drop --resume, or give that case"
                self.assertEqual(line, wanted)
        self.case()
        volume = self.load("volume.npy")
        volume[0, 0, 0] ^= 1
        self.save("volume.npy", volume)
        self.assertIn("another labels", self.refuse(*self.line, "--resume"))
        self.save("volume.npy", volume[:5])
        self.assertIn("another shape", self.refuse(*self.line, "--resume"))

    def test_damaged_checkpoints_are_refused(self) -> None:
        expected = self.never_stopped()
        self.stop("kill:behind:1:1")
        document, array = (self.folder / DOCUMENT).read_text(), (self.folder / ARRAYS[0]).read_bytes()
        changed = bytearray(array)
        changed[-1000] ^= 1
        (self.folder / ARRAYS[0]).write_bytes(changed)
        line = self.refuse(*self.line, "--resume", ranks=2)
        self.assertIn(f"{ARRAYS[0]}: these are not the fields that the checkpoint was written with", line)
        (self.folder / ARRAYS[0]).unlink()
        self.assertIn(ARRAYS[0], self.refuse(*self.line, "--resume"))
        (self.folder / ARRAYS[0]).write_bytes(array)
        whole = json.loads(document)
        for text, words in (
            (document[:-20], "it is something else than a checkpoint"),
            ("{}", "it is something else than a checkpoint"),
            (json.dumps(whole | {"format": 2}), "another version of weft"),
            (json.dumps(whole | {"loads": []}), "the checkpoint is damaged"),
            (json.dumps(whole | {"loads": [whole["loads"][0] | {"strain": [1]}]}), "the checkpoint is damaged"),
            (json.dumps(whole | {"under_way": {"array": 1}}), "the checkpoint is damaged"),
        ):
            (self.folder / DOCUMENT).write_text(text)
            self.assertIn(words, self.refuse(*self.line, "--resume"))
        (self.folder / DOCUMENT).write_text("no checkpoint")
        self.assertIn("it is something else", self.refuse(*self.line))  # nor is it replaced
        self.assertEqual((self.folder / DOCUMENT).read_text(), "no checkpoint")
        (self.folder / DOCUMENT).write_text(document)
        done = self.run_weft(*self.line)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, f"weft: {DOCUMENT}: a run that was stopped can be resumed with --resume; this one starts anew\n")
        self.assertEqual(self.report(), expected)

    def test_wrong_keys(self) -> None:
        for value, words in (
            ("a", "checkpoint: give an object"),
            ({}, "checkpoint.file: give the name of a file"),
            ({"file": "a", "every": 5}, "checkpoint.every: there is no such key"),
            ({"file": "a", "iterations": 0}, "checkpoint.iterations: give a whole number"),
            ({"file": "a", "seconds": 0}, "checkpoint.seconds: 0 is not above 0"),
            ({"file": "absent/a"}, "absent/a: its folder"),
        ):
            self.case(checkpoint=value)
            self.assertIn(words, self.refuse(*self.line))


if __name__ == "__main__":
    unittest.main()
