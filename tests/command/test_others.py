"""The subcommands plan, validate, info and view."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import unittest
import zlib
from pathlib import Path

import numpy as np

from weft_case import WEFT, Case, environment, random_array, transform

MPIEXEC = os.environ.get("WEFT_MPIEXEC", "mpiexec")


class Others(Case):
    def test_plan_explains_without_running(self) -> None:
        said = self.succeed("plan", "--shape", "256x256x256", "--kind", "r2c", "--ranks", "8")
        self.assertIn("8", said)
        for arguments in (["--ranks", "8", "plan"], ["plan", "--ranks", "8"]):
            plan = json.loads(
                self.succeed(
                    *arguments,
                    "--shape",
                    "64x64x64",
                    "--json",
                    "--precision",
                    "single",
                    "--report",
                    "r.json",
                )
            )
            self.assertEqual(plan["ranks"], 8)
            self.assertEqual(json.loads((self.folder / "r.json").read_text())["plan"], plan)

    def test_plan_is_for_the_processes_that_mpirun_started(self) -> None:
        for flags, ranks in (([], 3), (["--ranks", "5"], 5)):
            line = [MPIEXEC, "-n", "3", WEFT, "plan", "--shape", "8x8x8", "--json", *flags]
            done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout or "{}").get("ranks"), ranks, done.stderr)

    def test_plan_takes_more_ranks_than_rows(self) -> None:
        self.succeed("plan", "--shape", "4x4x4", "--kind", "c2c", "--ranks", "1000", "--quiet")

    def test_plan_explains_real_to_real_transforms(self) -> None:
        flags = ["--shape", "8x9x10", "--kind", "r2r", "--axes", "dct2,none,dst1", "--ranks", "2", "--json"]
        plan = json.loads(self.succeed("plan", *flags))
        steps = [step for step in plan["schedules"][0]["steps"] if step["step"] == "fft"]
        self.assertEqual([(step["kind"], step["types"]) for step in steps], [("r2r", ["dst1"]), ("r2r", ["dct2"])])

    def test_validate_passes_and_prints_a_line_for_each_case(self) -> None:
        for ranks in (1, 2):
            table = ["--table"] if ranks == 1 else []
            said = self.succeed("validate", "--shape", "8x9x10", *table, "--report", "v.json", ranks=ranks)
            cases, *engines = said.split("\n\n")
            lines = cases.splitlines()
            self.assertEqual(sum(line.rstrip().endswith("PASS") for line in lines), 288)
            report = json.loads((self.folder / "v.json").read_text())
            self.assertEqual((report["failed"], len(report["cases"])), (0, 288))
            self.assertEqual(any(block.startswith("reference (portable C") for block in engines), ranks == 1)
            rows = report.get("engines", [])
            self.assertEqual(len(rows) % 136, 0)
            self.assertEqual(len(rows) > 0, ranks == 1)
            for row in rows:
                self.assertLessEqual(row["error"], row["allowed"], row)
                self.assertGreater(row["gflops"], 0, row)
                line = f"{row['engine']} +{row['shape']} {row['kind']} +{row['precision']} .* {row['result']}\n"
                self.assertRegex(said, line)
        said = self.succeed(
            "validate",
            "--device",
            "simulated",
            "--exchange",
            "a2a-sync",
            "--precision",
            "single",
            "--decomposition",
            "pencil",
            ranks=2,
        )
        self.assertEqual(said.count("PASS"), 6)
        chosen = ["--axes", "dct2,none,dst3", "--shape", "6x5x4", "--precision", "double", "--exchange", "peer"]
        said = self.succeed("validate", *chosen, ranks=2)
        self.assertEqual(said.count("peer dct2,none,dst3 double"), 8)
        self.assertEqual(said.count("PASS"), 24)

    def test_lines_are_validated_and_transformed_over_ranks(self) -> None:
        said = self.succeed("validate", "--shape", "1200", "--exchange", "p2p-sync", ranks=3)
        self.assertEqual(said.count("PASS"), 32)
        for dtype in ("c16", "f8"):
            array = random_array((5040,), dtype)
            self.save("line.npy", array)
            self.succeed("transform", "line.npy", "spectrum.npy", ranks=3)
            np.testing.assert_allclose(self.load("spectrum.npy"), transform(array), atol=1e-11)

    def test_validate_has_a_table_of_the_engine_that_was_chosen(self) -> None:
        flags = ["--table", "--shape", "4x4x4", "--decomposition", "pencil", "--exchange", "a2a-sync"]
        flags += ["--engine", "reference", "--precision", "single", "--quiet", "--report", "v.json"]
        said = self.succeed("validate", *flags, ranks=2)
        rows = json.loads((self.folder / "v.json").read_text())["engines"]
        self.assertEqual({(row["engine"], row["precision"]) for row in rows}, {("reference", "single")})
        self.assertEqual(len(rows), 68)
        self.assertIn("engines: 68 passed, 0 marginal, 0 failed", said)

    def test_info_names_engines_devices_and_libraries(self) -> None:
        said = self.succeed("info")
        for word in ("weft", "reference", "host", "simulated", "mpi", "hdf5", "cores", "caches"):
            self.assertIn(word, said)

    def test_info_says_which_cores_each_rank_should_use(self) -> None:
        said = self.succeed("info", "--affinity", "--rankfile", "ranks", ranks=2)
        self.assertRegex(said, r"(?m)^rank 0: .*cores \d+-\d+, network ")
        self.assertRegex(said, r"(?m)^rank 1: ")
        lines = (self.folder / "ranks").read_text().splitlines()
        self.assertEqual(len(lines), 2)
        for rank, line in enumerate(lines):
            self.assertRegex(line, rf"^rank {rank}=\S+ slot=\d+-\d+$")

    def test_view_paints_what_is_there(self) -> None:
        ramp = np.zeros((4, 5, 6))
        ramp[2] = np.arange(30).reshape(5, 6)
        self.save("in.npy", ramp)
        self.succeed("view", "in.npy", "-o", "out.png")
        self.assertEqual(
            png(self.folder / "out.png").tolist(), np.rint(ramp[2] * 255 / 29).astype(int).tolist()
        )
        self.succeed("view", "in.npy", "--axis", 1, "--index", 3, "--output", "out.png")
        self.assertEqual(png(self.folder / "out.png").shape, (4, 6))

    def test_view_completes_half_spectra(self) -> None:
        array = random_array((6, 7, 8), "f8")
        self.save("half.npy", np.fft.rfftn(array))
        self.save("full.npy", np.fft.fftn(array))
        for axis in range(3):
            for index in (0, 2, 5):
                self.succeed(
                    "view",
                    "half.npy",
                    "--last-axis",
                    8,
                    "--axis",
                    axis,
                    "--index",
                    index,
                    "-o",
                    "half.png",
                )
                self.succeed("view", "full.npy", "--axis", axis, "--index", index, "-o", "full.png")
                difference = np.abs(
                    png(self.folder / "half.png").astype(int) - png(self.folder / "full.png")
                )
                self.assertLessEqual(difference.max(), 1)

    def test_two_pictures_stand_side_by_side(self) -> None:
        self.save("a.npy", random_array((4, 10, 12), "f8"))
        self.save("b.npy", random_array((4, 8, 9), "c16"))
        self.succeed("view", "a.npy", "b.npy", "-o", "out.png")
        self.assertEqual(png(self.folder / "out.png").shape, (10, 12 + 8 + 9))


def png(path: Path) -> np.ndarray:
    """Decodes an 8-bit grey PNG (the five filters of the standard)."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, width, height = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", data[at + 8 : at + 18])
            assert (depth, colour) == (8, 0)
        if kind == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, width + 1)
    picture = np.zeros((height, width), np.uint8)
    for i, row in enumerate(rows):
        for j in range(width):
            left = int(picture[i, j - 1]) if j else 0
            up = int(picture[i - 1, j]) if i else 0
            corner = int(picture[i - 1, j - 1]) if i and j else 0
            nearest = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            add = (0, left, up, (left + up) // 2, nearest)[row[0]]
            picture[i, j] = (int(row[j + 1]) + add) & 255
    return picture


if __name__ == "__main__":
    unittest.main()
