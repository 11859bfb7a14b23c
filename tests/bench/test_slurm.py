"""weft bench on a cluster: what --slurm writes, and that a real SLURM of one node runs it."""

from __future__ import annotations

import collections
import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from bench_case import ENVIRONMENT, WEFT, Case
from slurm_node import SlurmNode, tool
from weft.bench import slurm
from weft.bench.launch import cores_here

RANKS = [1, 2] if cores_here() > 1 else [1]
JOB: dict[str, Any] = {
    "name": "cluster",
    "iterations": 2,
    "warmups": 1,
    "effort": "estimate",
    "sets": [{"shapes": ["8x9x10"], "ranks": RANKS, "strategies": ["slab-2d1d", "pencil"]}],
    "small": {"shapes": ["4x4x4"]},
}
SECONDS = 180


class Files(Case):
    """What is written without a cluster."""

    def write(self, job: dict[str, Any], *flags: object) -> str:
        self.save(job)
        said = self.succeed("job.json", "--slurm", *flags)
        self.assertIn("cluster/job.sbatch; submit it", said)
        return (self.folder / "cluster" / "job.sbatch").read_text()

    def test_the_script_asks_for_what_the_flags_say(self) -> None:
        script = self.write(
            JOB, "--small", "--nodes", 2, "--ranks-per-node", 3, "--partition", "fast", "--time", "1:30:00"
        )
        for line in (
            "#SBATCH --exclusive",
            "#SBATCH --job-name=weft-cluster",
            "#SBATCH --nodes=2",
            "#SBATCH --ntasks-per-node=3",
            "#SBATCH --cpus-per-task=1",
            "#SBATCH --partition=fast",
            "#SBATCH --time=1:30:00",
        ):
            self.assertIn(line + "\n", script)
        out = (self.folder / "cluster").resolve()
        self.assertRegex(
            script, rf"\nexec \S+ bench {re.escape(str(out))}/job.json -o {re.escape(str(out))} --launcher"
        )
        job = json.loads((out / "job.json").read_text())
        self.assertEqual((job["sets"][0]["shapes"], "small" in job), (["4x4x4"], False))

    def test_the_script_needs_no_partition_and_no_time(self) -> None:
        script = self.write(JOB)
        self.assertNotIn("--partition", script)
        self.assertNotIn("--time", script)
        self.assertIn(f"#SBATCH --ntasks-per-node={RANKS[-1]}\n", script)

    def test_rankfiles_fill_one_node_after_the_other(self) -> None:
        self.assertEqual(
            slurm.rankfile(5, 1, 2).splitlines(),
            ["rank 0=+n0 slot=0", "rank 1=+n0 slot=1", "rank 2=+n1 slot=0", "rank 3=+n1 slot=1", "rank 4=+n2 slot=0"],
        )
        self.assertEqual(
            slurm.rankfile(3, 4, 2).splitlines(),
            ["rank 0=+n0 slot=0-3", "rank 1=+n0 slot=4-7", "rank 2=+n1 slot=0-3"],
        )

    def test_srun_is_used_where_it_is_asked_for(self) -> None:
        script = self.write(JOB, "--launcher", "srun", "--gpus-per-node", 2, "--launcher-flag=--exact")
        self.assertIn("--launcher-flag=--exact --launcher srun --launcher-flag=--gpu-bind=map_gpu:", script)
        self.assertNotIn("--rankfile", script)
        files = {path.name for path in (self.folder / "cluster").iterdir()}
        self.assertFalse({"bind-gpu", f"rankfile-{RANKS[-1]}"} & files)

    def test_mpirun_is_used_where_it_is_asked_for(self) -> None:
        self.assertIn("--launcher mpirun", self.write(JOB, "--launcher", "mpirun"))

    def test_flags_that_would_be_ignored_are_refused(self) -> None:
        self.save(JOB)
        for flag, value in (("--nodes", 4), ("--ranks-per-node", 2), ("--gpus-per-node", 1), ("--time", "10")):
            self.assertIn(f"{flag} is for the batch script", self.refuse("job.json", flag, value))
        for flag in ("--rankfile", "--wrap"):
            self.assertIn(f"{flag} is not for --slurm", self.refuse("job.json", "--slurm", flag, "x"))
        self.assertIn("give one", self.refuse("--slurm", "--ceilings"))

    def test_time_limits_are_those_of_sbatch(self) -> None:
        for limit in ("90", "90:30", "1:30:00", "2-12", "2-12:30", "2-12:30:00"):
            self.assertIn(f"#SBATCH --time={limit}\n", self.write(JOB, "--time", limit))
        for limit in ("abc", "1h", "1:2:3:4", "-5", "", "1-", "1.5"):
            self.save(JOB)
            self.assertIn("is no time limit", self.refuse("job.json", "--slurm", f"--time={limit}"))

    def test_more_ranks_than_room_are_refused(self) -> None:
        self.save(JOB | {"sets": [JOB["sets"][0] | {"ranks": [1, 8]}]})
        said = self.refuse("job.json", "--slurm", "--nodes", 2, "--ranks-per-node", 3)
        self.assertIn(
            "--nodes 2 --ranks-per-node 3: there is no room for the job's 8 ranks; give --ranks-per-node 4", said
        )
        self.assertEqual([path.name for path in self.folder.iterdir()], ["job.json"])

    def test_ranks_are_bound_to_gpus_in_turn(self) -> None:
        script = self.write(JOB, "--gpus-per-node", 2, "--ranks-per-node", 4)
        self.assertIn("#SBATCH --gpus-per-node=2\n", script)
        if "--launcher srun" in script:
            self.assertIn("--gpu-bind=map_gpu:0,1,0,1", script)
            return
        wrapper = self.folder / "cluster" / "bind-gpu"
        self.assertIn(f"--wrap {wrapper.resolve()}", script)
        found = []
        for rank in range(4):
            environment = os.environ | {"OMPI_COMM_WORLD_LOCAL_RANK": str(rank)}
            words = [str(wrapper), "sh", "-c", "echo $CUDA_VISIBLE_DEVICES"]
            found.append(subprocess.run(words, capture_output=True, text=True, env=environment, check=True).stdout)
        self.assertEqual(found, ["0\n", "1\n", "0\n", "1\n"])


class Cluster(Case):
    """A real SLURM; it is started once for all tests here."""

    node: SlurmNode

    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="weft-slurm-")
        cls.addClassCleanup(temporary.cleanup)
        cls.node = cls.enterClassContext(SlurmNode(Path(temporary.name)))

    def slurm(self, *words: object) -> subprocess.CompletedProcess[str]:
        line = [tool(str(words[0])), *map(str, words[1:])]
        environment = ENVIRONMENT | {"SLURM_CONF": self.node.environment["SLURM_CONF"]}
        done = subprocess.run(
            line, capture_output=True, text=True, cwd=self.folder, env=environment, check=False, timeout=SECONDS
        )
        said = "\n".join(path.read_text() for path in self.folder.glob("**/slurm-*.out"))
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}\n{said}\n{self.node.logs()}")
        return done

    def check_table(self) -> dict[str, Any]:
        rows = self.rows("cluster")
        found = collections.Counter((row["ranks"], row["rank"]) for row in rows)
        expected = {("1", "0"): 2} | ({("2", "0"): 4, ("2", "1"): 4} if 2 in RANKS else {})
        self.assertEqual(found, expected)
        self.assertTrue(all(float(row["error"]) < 1e-14 for row in rows))
        record: dict[str, Any] = json.loads((self.folder / "cluster" / "run.json").read_text())
        return record

    def bound(self, record: dict[str, Any]) -> None:
        """Each of two ranks has a core of its own."""
        if 2 in RANKS:
            first, second = (seat["cpus"] for seat in record["bindings"]["2"])
            self.assertNotEqual(first, second)

    def test_a_submitted_job_is_run_and_its_table_comes_back(self) -> None:
        self.save(JOB)
        self.succeed("job.json", "--slurm")
        self.slurm("sbatch", "--wait", self.folder / "cluster" / "job.sbatch")
        self.bound(self.check_table())

    def test_a_job_submitted_again_has_nothing_left_to_do(self) -> None:
        self.save(JOB)
        self.succeed("job.json", "--slurm")
        self.slurm("sbatch", "--wait", self.folder / "cluster" / "job.sbatch")
        table = (self.folder / "cluster" / "table.csv").read_bytes()
        self.slurm("sbatch", "--wait", self.folder / "cluster" / "job.sbatch")
        self.assertEqual((self.folder / "cluster" / "table.csv").read_bytes(), table)

    def test_a_job_that_is_told_to_end_continues_when_submitted_again(self) -> None:
        one = {"shapes": ["128x128x32"], "kinds": ["r2c", "c2c"], "directions": ["forward", "inverse"]}
        slow = one | {"precisions": ["double", "single"], "engines": ["reference"]}
        self.save(JOB | {"together": 1, "iterations": 100, "sets": [slow]})
        self.succeed("job.json", "--slurm")
        script, journal = (self.folder / "cluster" / name for name in ("job.sbatch", "journal.jsonl"))
        number = self.slurm("sbatch", "--parsable", script).stdout.strip()
        deadline = time.monotonic() + SECONDS
        while not (journal.exists() and '"done"' in journal.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.slurm("scancel", "--batch", "--signal=TERM", number)
        while self.slurm("squeue", "-h", "-j", number, "-t", "all", "-o", "%T").stdout.strip() in (
            "RUNNING",
            "COMPLETING",
        ):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        said = (self.folder / "cluster" / f"slurm-{number}.out").read_text()
        self.assertIn("weft: interrupted; to continue: weft bench ", said)
        self.assertLess(len(self.done_cells("cluster")), 8)
        self.slurm("sbatch", "--wait", script)
        self.assertEqual(len(set(self.done_cells("cluster"))), 8)

    def test_inside_an_allocation_srun_starts_the_groups(self) -> None:
        self.save(JOB)
        self.slurm("salloc", "-n", RANKS[-1], WEFT, "bench", "job.json")
        record = self.check_table()
        self.assertEqual(record["launcher"], "srun")
        self.bound(record)

    def test_inside_an_allocation_mpirun_can_be_asked_for(self) -> None:
        self.save(JOB)
        self.slurm("salloc", "-n", RANKS[-1], WEFT, "bench", "job.json", "--launcher", "mpirun")
        self.assertEqual(self.check_table()["launcher"], "mpirun")


if __name__ == "__main__":
    unittest.main()
