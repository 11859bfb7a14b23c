"""Jobs that run: what they leave behind, how they continue, and that whatever goes wrong is said aloud."""

from __future__ import annotations

import collections
import json
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path
from typing import Any

from bench_case import ENVIRONMENT, WEFT, Case
from weft.bench import ceilings
from weft.bench.run import time_left

COLUMNS = [
    *["library", "version", "host", "device", "shape", "kind", "precision", "direction", "ranks", "grid", "strategy"],
    *["variant", "exchange1", "exchange2", "aware", "engine", "iteration", "rank", "total", "fft", "pack", "exchange"],
    *["unpack", "copy", "local", "first_message", "last_message", "bytes_sent", "memory_peak", "error", "batch"],
    *["layout", "threads", "effort", "config", "check", "block", "cell"],
]
SMALL: dict[str, Any] = {
    "name": "small",
    "iterations": 3,
    "warmups": 1,
    "effort": "estimate",
    "sets": [{"shapes": ["8x9x10"], "ranks": [1, 2], "strategies": ["slab-2d1d", "pencil"]}],
}
# Enough work to be interrupted in the middle, on a busy machine too.
LONG: dict[str, Any] = {
    "name": "long",
    "iterations": 5,
    "warmups": 0,
    "effort": "estimate",
    "together": 1,
    "sets": [
        {
            "shapes": ["96x96x96"],
            "kinds": ["c2c", "r2c"],
            "ranks": [2],
            "strategies": ["slab-2d1d", "slab-1d2d", "slab-y-zx", "pencil"],
            "variants": ["default", "realigned"],
            "engines": ["reference"],
        }
    ],
}
LONG_CELLS = 16


def processes_that_mention(text: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in words:
            found.append(words)
    return found


class Results(Case):
    def test_a_job_leaves_a_row_for_each_iteration_and_rank(self) -> None:
        self.save(SMALL)
        said = self.succeed("job.json")
        self.assertIn("wrote small/table.csv; draw it: weft plot small", said)
        rows = self.rows("small")
        self.assertEqual(list(rows[0]), COLUMNS)
        seen = collections.Counter((row["ranks"], row["strategy"], row["iteration"], row["rank"]) for row in rows)
        self.assertEqual(set(seen.values()), {1})
        self.assertEqual(len(seen), 3 * 1 + 3 * 2 * 2)
        self.assertTrue(all(float(row["total"]) > 0 and float(row["error"]) < 1e-14 for row in rows))
        self.assertEqual({row["shape"] for row in rows}, {"8x9x10"})
        self.assertEqual({row["config"] for row in rows}, {"slab-2d1d", "pencil"})

    def test_cells_are_those_that_a_dry_run_lists(self) -> None:
        self.save(SMALL)
        listed = self.succeed("job.json", "--dry-run")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["job.json"])
        self.assertIn("2 groups, 2 problems, 3 cells, 12 transforms", listed)
        names = {words[0] for words in map(str.split, listed.splitlines()) if len(words[0]) == 12}
        self.succeed("job.json", "-o", "out")
        self.assertEqual({row["cell"] for row in self.rows("out")}, names)

    def test_the_run_is_recorded(self) -> None:
        self.save(SMALL)
        self.succeed("job.json")
        run = json.loads((self.folder / "small" / "run.json").read_text())
        self.assertEqual(run["command"], "weft bench job.json")
        self.assertEqual((run["problems"], run["cells"]), (2, 3))
        self.assertGreater(run["machine"]["memory"], 1 << 28)
        self.assertTrue(run["machine"]["processor"] and run["machine"]["system"] and run["mpi"])
        self.assertIn("weft", run["versions"])
        self.assertEqual([seat["rank"] for seat in run["bindings"]["2"]], [0, 1])
        self.assertLess(run["seconds"]["running"], run["seconds"]["wall"])
        self.assertTrue(0 < run["overhead"] < 1)

    def test_ranks_are_bound_to_cores_of_their_own_where_there_are_enough(self) -> None:
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core only")
        self.save(SMALL)
        self.succeed("job.json")
        (group,) = (entry for entry in self.journal("small") if entry["type"] == "group" and entry["ranks"] == 2)
        first, second = (seat["cpus"] for seat in group["binding"])
        self.assertNotEqual(first, second)

    def test_a_folder_can_be_run_again_and_holds_the_job_as_run(self) -> None:
        self.save(SMALL | {"small": {"shapes": ["4x4x4"]}})
        self.succeed("job.json", "--small", "-o", "out")
        table = (self.folder / "out" / "table.csv").read_bytes()
        self.assertEqual({row["shape"] for row in self.rows("out")}, {"4x4x4"})
        self.succeed("out")
        self.succeed("out/job.json", "-o", "out")
        self.assertEqual((self.folder / "out" / "table.csv").read_bytes(), table)

    def test_quiet_says_nothing(self) -> None:
        self.save(SMALL)
        self.assertEqual(self.succeed("job.json", "--quiet"), "")

    def test_more_ranks_than_cores_are_not_bound(self) -> None:
        ranks = 2 * (os.cpu_count() or 1)
        self.save(SMALL | {"sets": [{"shapes": ["16x16x16"], "ranks": [ranks]}]})
        self.succeed("job.json")
        self.assertEqual({row["rank"] for row in self.rows("small")}, {str(rank) for rank in range(ranks)})

    def test_validation_is_a_job_too(self) -> None:
        self.save(SMALL | {"mode": "validate"})
        said = self.succeed("job.json")
        self.assertRegex(said, r"\nr2c double 8x9x10 forward on 2 ranks: 2 cells, 0 wrong, largest error \d")
        rows = self.rows("small")
        self.assertEqual({row["check"] for row in rows}, {"round-trip", "laplacian", "placement"})
        self.assertEqual({row["iteration"] for row in rows}, {"0"})

    def test_ceilings_are_measured_before_the_job(self) -> None:
        self.save(SMALL)
        self.succeed("job.json", "--ceilings", "--quiet")
        found = json.loads((self.folder / "small" / "ceilings.json").read_text())
        self.assertLessEqual({1, 2}, {run["ranks"] for run in found["runs"]})
        self.assertEqual(len(self.done_cells("small")), 3)

    def test_ceilings_replace_those_of_as_many_ranks_and_threads(self) -> None:
        part = self.folder / "part.json"
        for ranks, threads, date in [(2, 1, "a"), (1, 2, "b"), (2, 1, "c"), (2, 4, "d")]:
            part.write_text(json.dumps({"date": date, "runs": [{"ranks": ranks, "threads": threads, "date": date}]}))
            ceilings.merge(self.folder, part)
        found = json.loads((self.folder / "ceilings.json").read_text())
        self.assertEqual((found["date"], [run["date"] for run in found["runs"]]), ("d", ["b", "c", "d"]))


class Continuation(Case):
    def start(self, *arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [WEFT, "bench", *map(str, arguments)],
            cwd=self.folder,
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.kill)
        return process

    def wait_for_blocks(self, folder: str, process: subprocess.Popen[str], blocks: int = 2) -> None:
        deadline = time.monotonic() + 60
        journal = self.folder / folder / "journal.jsonl"
        while time.monotonic() < deadline and process.poll() is None:
            if journal.exists() and journal.read_text().count('"done"') >= blocks:
                return
            time.sleep(0.01)
        self.fail("no block was done")

    def wait_until_gone(self) -> None:
        deadline = time.monotonic() + 30
        while processes_that_mention(str(self.folder)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(processes_that_mention(str(self.folder)), [])

    def check_complete(self) -> None:
        """Every cell was measured once, and every row is whole."""
        done = self.done_cells("long")
        self.assertEqual((len(done), len(set(done))), (LONG_CELLS, LONG_CELLS))
        rows = self.rows("long")
        self.assertEqual(collections.Counter(row["cell"] for row in rows), dict.fromkeys(done, 5 * 2))
        self.assertTrue(all(list(row) == COLUMNS and row["cell"] for row in rows))
        self.assertEqual(len({row["block"] for row in rows}), LONG_CELLS)

    def test_an_interrupted_job_continues_where_it_stopped(self) -> None:
        self.save(LONG)
        process = self.start("job.json")
        self.wait_for_blocks("long", process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said), (130, "weft: interrupted; to continue: weft bench long\n"))
        self.wait_until_gone()
        self.assertLess(len(self.done_cells("long")), LONG_CELLS)
        self.succeed("long")
        self.check_complete()
        run = json.loads((self.folder / "long" / "run.json").read_text())
        self.assertEqual([before["command"] for before in run["earlier"]], ["weft bench job.json"])

    def test_a_killed_job_continues_too_and_leaves_no_process(self) -> None:
        self.save(LONG)
        process = self.start("job.json")
        self.wait_for_blocks("long", process)
        process.kill()
        process.communicate(timeout=60)
        self.wait_until_gone()
        before = self.done_cells("long")
        self.assertLess(len(before), LONG_CELLS)
        with (self.folder / "long" / "table.csv").open("a") as table:
            table.write("weft,0.1.0,host,hos")
        with (self.folder / "long" / "journal.jsonl").open("a") as journal:
            journal.write('{"type": "done", "blo')
        self.succeed("job.json")
        self.check_complete()
        self.assertEqual(self.done_cells("long")[: len(before)], before)

    def test_a_changed_job_adds_to_what_is_there(self) -> None:
        self.save(SMALL)
        self.succeed("job.json")
        table = (self.folder / "small" / "table.csv").read_text()
        first = set(self.done_cells("small"))
        self.save(SMALL | {"sets": [SMALL["sets"][0] | {"shapes": ["8x9x10", "12x10x8"], "strategies": ["pencil"]}]})
        self.succeed("job.json")
        self.assertTrue((self.folder / "small" / "table.csv").read_text().startswith(table))
        new = set(self.done_cells("small")) - first
        self.assertEqual({row["shape"] for row in self.rows("small") if row["cell"] in new}, {"12x10x8"})
        self.assertEqual(len(new), 2)
        blocks = [entry["block"] for entry in self.journal("small") if entry["type"] == "done"]
        self.assertEqual(blocks, list(range(len(blocks))))

    def test_tables_of_other_machines_and_versions_are_left_alone(self) -> None:
        self.save(SMALL)
        self.succeed("job.json")
        path = self.folder / "small" / "run.json"
        run = json.loads(path.read_text())
        table = (self.folder / "small" / "table.csv").read_bytes()
        for changed in (run | {"weft": "weft 0.0.1"}, run | {"machine": run["machine"] | {"processor": "abacus"}}):
            path.write_text(json.dumps(changed))
            self.assertRegex(self.refuse("job.json"), r"was measured by .*; use another folder, or --fresh")
        self.assertEqual((self.folder / "small" / "table.csv").read_bytes(), table)
        self.succeed("job.json", "--fresh")
        self.assertEqual(len(self.done_cells("small")), 3)


class Failures(Case):
    def adapter(self, name: str, *lines: str) -> str:
        path = self.folder / name
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o755)
        return f"./{name}"

    def with_peers(self, *peers: dict[str, Any], **members: Any) -> None:
        one = {"shapes": ["8x8x8"], "peers": list(peers)} | members
        self.save(SMALL | {"sets": [one]})

    def test_a_wrong_result_fails_the_job_loudly(self) -> None:
        wrong = self.adapter("wrong", "echo ready wrong 1.0", "while read -r line; do echo 0.001 error=1000; done")
        self.with_peers({"library": "wrong", "adapter": wrong})
        for _ in range(2):  # and whoever continues it is told again
            done = self.bench("job.json")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, r"\n  wrong +WRONG: error 1e\+03\n")
            self.assertNotIn("of the fastest peer", done.stdout)
            (said,) = done.stderr.splitlines()
            self.assertIn(
                "1 of 2 cells gave wrong results, the first: wrong -, r2c double 8x8x8 forward on 1 rank", said
            )
            self.assertIn("error 1e+03 above", said)
        self.assertEqual({row["library"] for row in self.rows("small")}, {"weft", "wrong"})
        self.assertEqual(len(self.done_cells("small")), 2)

    def test_a_peer_that_fails_is_reported_and_tried_again(self) -> None:
        broken = self.adapter("broken", "echo ready broken 1.0", "read -r line", "exit 3")
        self.with_peers({"library": "broken", "adapter": broken})
        said = self.refuse("job.json", status=1)
        self.assertIn("1 of 2 cells failed, the first: broken -, r2c double 8x8x8 forward on 1 rank: ", said)
        self.adapter("broken", "echo ready broken 1.1", "while read -r line; do echo 0.001 error=1e-16; done")
        self.succeed("job.json")
        self.assertEqual({row["version"] for row in self.rows("small") if row["library"] == "broken"}, {"1.1"})

    def test_a_peer_without_adapter_is_left_out_with_a_message(self) -> None:
        self.with_peers({"library": "nowhere"}, {"library": "gone", "adapter": "./gone"})
        done = self.bench("job.json")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(
            done.stderr.splitlines(),
            [
                "weft: nowhere is left out: there is no adapter nowhere",
                "weft: gone is left out: there is no adapter ./gone",
            ],
        )

    def test_the_adapter_of_scipy_measures(self) -> None:
        self.with_peers({"library": "scipy-fft"}, kinds=["r2c", "c2c", "dst2+none+dct4"], directions=["forward", "inverse"])
        self.succeed("job.json")
        rows = [row for row in self.rows("small") if row["library"] == "scipy-fft"]
        self.assertEqual(len(rows), 6 * 3)
        self.assertTrue(all(float(row["total"]) > 0 and float(row["error"]) < 1e-14 for row in rows))

    def test_the_time_left_is_that_of_as_many_cells(self) -> None:
        for settled, wanted, took, said in (
            (0, 8, 5.0, ""), (8, 8, 5.0, ""), (2, 8, 5.0, ", 0:15 left"), (1, 3, 65, ", 2:10 left"),
            (1, 3, 2000, ", 1:06:40 left"),
        ):  # fmt: skip
            self.assertEqual(time_left(settled, wanted, took), said)

    def test_what_cannot_run_is_skipped_with_its_reason_and_not_tried_again(self) -> None:
        self.save(SMALL | {"sets": [SMALL["sets"][0] | {"engines": ["native", "cufft"]}]})
        for _ in range(2):
            done = self.bench("job.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            (line,) = done.stderr.splitlines()
            self.assertRegex(line, r"^weft: 3 of 6 cells cannot be run here, the first: weft .*cufft")
        self.assertEqual(sum(entry["type"] == "skipped" for entry in self.journal("small")), 3)

    def test_a_group_that_crashes_does_not_stop_the_others(self) -> None:
        self.save(SMALL | {"sets": [SMALL["sets"][0] | {"ranks": [1, 2, 3]}]})
        wrap = self.adapter(
            "wrap", 'case "$*" in *worker-2.json) echo "cannot go on" >&2; kill -SEGV $$;; esac', 'exec "$@"'
        )
        done = self.bench("job.json", "--wrap", wrap)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the group of 2 ranks ended with", done.stderr)
        self.assertIn("2 of 5 cells were lost with their process group", done.stderr.splitlines()[-1])
        self.assertIn("cannot go on", done.stdout)
        self.assertEqual({row["ranks"] for row in self.rows("small")}, {"1", "3"})
        self.succeed("job.json")
        self.assertEqual({row["ranks"] for row in self.rows("small")}, {"1", "2", "3"})


if __name__ == "__main__":
    unittest.main()
