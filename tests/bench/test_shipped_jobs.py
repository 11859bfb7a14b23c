"""Each job of bench/jobs is run in small and, of every four jobs one, drawn, as a user would do in full."""

from __future__ import annotations

import random
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_case import SOURCE, Case

from weft.plot.__main__ import main as plot

JOBS = sorted((SOURCE / "bench" / "jobs").glob("*.json"))
WITH_GPU = ("cuda-one", "cuda-ranks", "cufftxt", "peers-gpu")


class ShippedJobs(Case):
    def measure(self, job: Path) -> None:
        done = self.bench(job, "--small", "--quiet", "-o", job.stem)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse([e for e in self.journal(job.stem) if e["type"] in ("wrong", "failed")])

    def draw(self, job: Path) -> None:
        """In this process: what weft plot imports takes as long as some jobs' pictures."""
        folder = self.folder / job.stem
        self.assertEqual(plot([str(folder), "--format", "png", "--quiet"]), 0)
        for name in ("report.html", "tables.md", "summary.csv"):
            self.assertGreater((folder / name).stat().st_size, 0, name)
        self.assertTrue(list(folder.glob("*.png")))

    def test_every_job_runs_and_a_quarter_of_them_is_drawn(self) -> None:
        """Drawing takes longer than measuring in small, and jobs' pictures are alike: others are drawn in each run."""
        jobs = [path for path in JOBS if path.stem not in WITH_GPU]
        drawn = random.sample(jobs, len(jobs) // 4)
        print("drawn:", *sorted(path.stem for path in drawn))
        with ThreadPoolExecutor(1) as pool:
            done = {path: pool.submit(self.measure, path) for path in sorted(jobs, key=lambda path: path not in drawn)}
            for path, outcome in done.items():
                with self.subTest(job=path.stem):
                    outcome.result()
                    if path in drawn:
                        self.draw(path)

    def test_jobs_for_gpus_say_what_is_missing_where_there_is_none(self) -> None:
        for job in (path for path in JOBS if path.stem in WITH_GPU):
            with self.subTest(job=job.stem):
                self.bench(job, "--small", "--quiet", "-o", job.stem)
                skipped = [e["reason"] for e in self.journal(job.stem) if e["type"] == "skipped"]
                if not self.done_cells(job.stem):
                    self.assertTrue(skipped)
                for reason in skipped:
                    self.assertRegex(reason, "(?i)cuda|cufft|gpu")


if __name__ == "__main__":
    unittest.main()
