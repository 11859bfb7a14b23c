"""Cells: to which a job expands, which are left out, how they are named, and which a continued job still runs."""

from __future__ import annotations

import cProfile
import json
import re
import unittest
from pathlib import Path
from typing import Any

from bench_case import Case, every_adapter, no_adapter
from weft.bench import cells, job
from weft.bench.journal import Folder, what_is_left
from weft.bench.launch import Launcher
from weft.bench.run import Run, Settings, count


def expand(find: cells.FindAdapter = every_adapter, **members: Any) -> list[cells.Group]:
    """The groups of a job of one set, or of given sets."""
    top = {name: members.pop(name) for name in ("exclude", "sets", "iterations", "effort", "mode") if name in members}
    made = {"name": "a", "sets": [members]} | top
    job.check(made)
    return cells.expand(made, find)


def contestants(groups: list[cells.Group], ranks: int | None = None) -> list[dict[str, Any]]:
    return [
        one for group in groups if ranks in (None, group.ranks) for found in group.problems.values() for one in found
    ]


def configs(groups: list[cells.Group], ranks: int | None = None) -> list[str]:
    return [one["config"] for one in contestants(groups, ranks)]


def shapes(groups: list[cells.Group], ranks: int | None = None) -> list[str]:
    return ["x".join(map(str, p.shape)) for g in groups if ranks in (None, g.ranks) for p in g.problems]


class Expansion(unittest.TestCase):
    def test_a_set_is_the_product_of_its_lists(self) -> None:
        groups = expand(
            shapes=["8x8x8", [9, 9, 9]],
            kinds=["r2c", "c2c"],
            precisions=["double", "single"],
            directions=["forward", "inverse"],
            ranks=[2, 4],
            strategies=["slab-2d1d", "slab-1d2d"],
            variants=["default", "realigned"],
            exchanges=["p2p-sync", "a2a-sync", "a2a-type"],
        )
        self.assertEqual([group.ranks for group in groups], [2, 4])
        self.assertEqual(len(contestants(groups)), 2 * 2 * 2 * 2 * 2 * 2 * 2 * 3)
        self.assertEqual(len({one["cell"] for one in contestants(groups)}), 384)
        self.assertEqual(count(groups, 8), (32, 384, 384 * 30))

    def test_types_that_are_the_same_along_all_axes_are_named_once(self) -> None:
        groups = expand(shapes=["8x8", "8x9x10"], kinds=["r2c", "dct2", "dst1"])
        self.assertEqual([p.kind for group in groups for p in group.problems], ["r2c", "dct2", "dst1"] * 2)
        groups = expand(shapes=["8x8"], kinds=["dct2+dct2", "dct2", "dct2+none"])
        self.assertEqual([p.kind for group in groups for p in group.problems], ["dct2", "dct2+none"])

    def test_doublings_take_the_last_axis_first(self) -> None:
        groups = expand(shapes=[{"start": "4x4x4", "doublings": 4}])
        self.assertEqual(shapes(groups), ["4x4x4", "4x4x8", "4x8x8", "8x8x8", "8x8x16"])
        self.assertEqual(shapes(expand(shapes=[{"start": [3, 5], "doublings": 2}])), ["3x5", "3x10", "6x10"])
        self.assertEqual(shapes(expand(shapes=[{"start": "64", "doublings": 2}])), ["64", "128", "256"])

    def test_weak_scaling_multiplies_an_axis_for_each_prime_factor_of_the_ranks(self) -> None:
        groups = expand(shapes=[{"per_rank": "8x8x8"}], ranks=[1, 2, 4, 8, 6, 5])
        found = {ranks: shapes(groups, ranks) for ranks in (1, 2, 4, 8, 6, 5)}
        self.assertEqual(
            found,
            {1: ["8x8x8"], 2: ["8x8x16"], 4: ["8x16x16"], 8: ["16x16x16"], 6: ["8x24x16"], 5: ["8x8x40"]},
        )

    def test_a_batch_can_be_given_by_its_points(self) -> None:
        groups = expand(shapes=["64", "128x2", "4096"], batches=[{"points": 1024}, 3])
        found = [(p.shape[0], p.batch) for g in groups for p in g.problems]
        self.assertEqual(found, [(64, 16), (64, 3), (128, 4), (128, 3), (4096, 1), (4096, 3)])

    def test_one_rank_has_one_plan_for_each_engine_and_number_of_threads(self) -> None:
        groups = expand(
            shapes=["8x8x8"],
            ranks=[1, 2],
            strategies=["slab-1d2d", "pencil"],
            variants=["default", "realigned"],
            exchanges=["p2p-sync", "a2a-sync"],
            engines=["fftw", "reference"],
            threads=[1, 2],
            natural=[True, False],
        )
        alone = contestants(groups, 1)
        self.assertEqual([one["config"] for one in alone], ["slab-1d2d:fftw"] * 2 + ["slab-1d2d:reference"] * 2)
        self.assertEqual([one["threads"] for one in alone], [1, 2, 1, 2])
        self.assertEqual({key for one in alone for key in one} & {"variant", "exchange", "grid", "natural"}, set())
        self.assertEqual(len(contestants(groups, 2)), 2 * 2 * 2 * 2 * 2 * 2)

    def test_sets_that_overlap_give_each_cell_once(self) -> None:
        one = {"shapes": ["8x8x8"], "ranks": [1, 2], "strategies": ["pencil"]}
        other = {"shapes": ["8x8x8", "9x9x9"], "ranks": [1, 2], "strategies": ["slab-2d1d", "pencil"]}
        groups = expand(sets=[one, other])
        self.assertEqual(configs(groups, 1), ["pencil", "slab-2d1d"])  # 8x8x8 alone is one plan, whatever the name
        self.assertEqual(configs(groups, 2), ["pencil", "slab-2d1d", "slab-2d1d", "pencil"])

    def test_pencils_take_two_methods_and_slabs_the_first(self) -> None:
        groups = expand(
            shapes=["8x8x8"],
            ranks=[4],
            strategies=["slab-2d1d", "pencil"],
            exchanges=["p2p-sync", ["p2p-sync", "a2a-type"]],
        )
        self.assertEqual(
            [(one["config"], one["exchange"]) for one in contestants(groups)],
            [
                ("slab-2d1d:p2p-sync", ["p2p-sync"]),
                ("pencil:p2p-sync", ["p2p-sync", "p2p-sync"]),
                ("pencil:p2p-sync+a2a-type", ["p2p-sync", "a2a-type"]),
            ],
        )

    def test_grids_are_used_where_they_fit_and_by_pencils_only(self) -> None:
        groups = expand(
            shapes=["8x8x8"], ranks=[2, 4], strategies=["slab-2d1d", "pencil"], grids=["auto", "2x2", "1x2"]
        )
        self.assertEqual(configs(groups, 2), ["slab-2d1d", "pencil", "pencil:1x2"])
        self.assertEqual(configs(groups, 4), ["slab-2d1d", "pencil", "pencil:2x2"])
        self.assertEqual(contestants(groups, 4)[2]["grid"], [2, 2])

    def test_what_weft_chooses_is_absent(self) -> None:
        (one,) = contestants(expand(shapes=["8x8x8"], ranks=[2]))
        self.assertEqual(
            {name: value for name, value in one.items() if name != "cell"},
            {"config": "auto", "library": "weft", "device": "host", "threads": 1},
        )

    def test_everything_asked_for_is_in_the_configuration(self) -> None:
        (one,) = contestants(
            expand(
                shapes=["8x8x8"],
                ranks=[4],
                strategies=["pencil"],
                grids=["2x2"],
                variants=["realigned"],
                exchanges=[["p2p-streams", "a2a-sync"]],
                transfers=["staged"],
                engines=["fftw"],
                natural=[True],
            )
        )
        self.assertEqual(one["config"], "pencil:2x2:realigned:p2p-streams+a2a-sync:staged:fftw:natural")
        self.assertIs(one["natural"], True)

    def test_peers_have_their_own_configurations_threads_and_ranks(self) -> None:
        groups = expand(
            shapes=["8x8x8"],
            ranks=[1, 2, 4],
            peers=[
                {"library": "fftw", "threads": [1, 2]},
                {"library": "fftw-mpi"},
                {"library": "fftw-mpi", "configs": ["natural"], "threads": [2], "ranks": [2]},
                {"library": "mkl-cluster", "configs": ["transposed"], "ranks": [2, 4]},
                {"library": "cufftxt", "gpus": [1, 2]},
                {"library": "heffte"},
                {"library": "other", "adapter": "strange", "configs": ["a", "b"]},
            ],
        )

        def peers(ranks: int) -> list[tuple[str, str, int]]:
            found = [one for one in contestants(groups, ranks) if one["library"] != "weft"]
            return [(one["library"], one["config"], one["threads"]) for one in found]

        both = [("fftw-mpi", "natural", 1), ("fftw-mpi", "transposed", 1)]
        cufftxt = [("cufftxt", "gpus-1", 1), ("cufftxt", "gpus-2", 1)]
        self.assertEqual(
            peers(1),
            [
                ("fftw", "-", 1),
                ("fftw", "-", 2),
                *both,
                *cufftxt,
                ("heffte", "-", 1),
                ("other", "a", 1),
                ("other", "b", 1),
            ],
        )
        mkl = ("mkl-cluster", "transposed", 1)
        self.assertEqual(peers(2), [*both, ("fftw-mpi", "natural", 2), mkl, ("heffte", "-", 1)])
        self.assertEqual(peers(4), [*both, mkl, ("heffte", "-", 1)])
        self.assertEqual([group.threads for group in groups], [2, 2, 1])
        strange = next(one for one in contestants(groups, 1) if one["library"] == "other")
        self.assertEqual(strange["adapter"], ["/adapters/strange"])
        (two,) = (one for one in contestants(groups, 1) if one["config"] == "gpus-2")
        self.assertEqual(two["gpus"], 2)

    def test_a_peer_without_its_adapter_is_left_out(self) -> None:
        groups = expand(no_adapter, shapes=["8x8x8"], peers=[{"library": "heffte"}])
        self.assertEqual([one["library"] for one in contestants(groups)], ["weft"])

    def test_a_set_can_be_of_peers_only(self) -> None:
        groups = expand(shapes=["8x8x8"], weft=False, peers=[{"library": "fftw"}])
        self.assertEqual([one["library"] for one in contestants(groups)], ["fftw"])

    def test_a_set_can_have_iterations_and_effort_of_its_own(self) -> None:
        one = {"shapes": ["8x8x8"], "iterations": 2, "warmups": 0, "effort": "patient"}
        groups = expand(sets=[one, {"shapes": ["9x9x9"]}], iterations=7, effort="estimate")
        found = [(p.iterations, p.warmups, p.effort) for g in groups for p in g.problems]
        self.assertEqual(found, [(2, 0, "patient"), (7, 10, "estimate")])


CROWD: dict[str, Any] = {
    "shapes": ["8x8x8", "9x9x9"],
    "ranks": [2, 4],
    "strategies": ["slab-2d1d", "pencil"],
    "exchanges": ["p2p-sync", ["p2p-sync", "a2a-type"]],
    "peers": [{"library": "fftw-mpi"}],
}


class Exclusions(unittest.TestCase):
    def left(self, *exclusions: dict[str, Any]) -> set[str]:
        groups = expand(sets=[CROWD], exclude=list(exclusions))
        return {
            f"{one['library']} {one['config']} {'x'.join(map(str, p.shape))} {g.ranks}"
            for g in groups
            for p, found in g.problems.items()
            for one in found
        }

    def test_all_members_of_an_exclusion_must_match(self) -> None:
        whole = self.left()
        self.assertEqual(len(whole), 2 * 2 * (3 + 2))
        gone = whole - self.left({"strategy": "pencil", "ranks": 2})
        self.assertEqual(gone, {cell for cell in whole if re.search(r"pencil.* 2$", cell)})
        self.assertEqual(len(gone), 4)

    def test_a_list_matches_any_of_its_values(self) -> None:
        whole = self.left()
        gone = whole - self.left({"shape": ["9x9x9", "7x7x7"], "strategy": ["pencil", "slab-2d1d"]})
        self.assertEqual(gone, {cell for cell in whole if "weft" in cell and "9x9x9" in cell})

    def test_peers_are_matched_but_have_no_strategy(self) -> None:
        whole = self.left()
        self.assertEqual(
            whole - self.left({"library": "fftw-mpi", "ranks": 4}),
            {cell for cell in whole if cell.startswith("fftw-mpi") and cell.endswith(" 4")},
        )
        self.assertEqual(self.left({"ranks": 4}), {cell for cell in whole if cell.endswith(" 2")})
        self.assertEqual(len(self.left({"strategy": ["slab-2d1d", "pencil"]})), 8)

    def test_exchanges_and_configurations_are_spelled_as_in_the_table(self) -> None:
        whole = self.left()
        self.assertEqual(
            whole - self.left({"exchange": "p2p-sync+a2a-type"}),
            {cell for cell in whole if "p2p-sync+a2a-type" in cell},
        )
        self.assertEqual(whole - self.left({"config": "transposed"}), {cell for cell in whole if "transposed" in cell})

    def test_on_one_rank_the_first_strategy_that_is_left_is_run(self) -> None:
        groups = expand(
            shapes=["8x8x8"], strategies=["slab-2d1d", "pencil"], exclude=[{"strategy": "slab-2d1d", "ranks": 1}]
        )
        self.assertEqual(configs(groups), ["pencil"])


class Names(unittest.TestCase):
    def names(self, **members: Any) -> list[str]:
        return [one["cell"] for one in contestants(expand(**members))]

    def test_names_are_stable(self) -> None:
        """A change here makes every table that was measured before one that cannot be continued."""
        self.assertEqual(
            self.names(
                shapes=["8x8x8"],
                ranks=[2],
                strategies=["pencil"],
                exchanges=["p2p-sync"],
                peers=[{"library": "fftw-mpi", "configs": ["natural"]}],
            ),
            ["d428a6b33a5a", "5a4ba245a7a8"],
        )

    def test_names_do_not_depend_on_order_or_company(self) -> None:
        one = self.names(shapes=["8x8x8", "9x9x9"], ranks=[2, 4], strategies=["pencil", "slab-2d1d"])
        other = self.names(shapes=[[9, 9, 9], [8, 8, 8.0]], ranks=[4, 2], strategies=["slab-2d1d", "pencil"])
        self.assertEqual(sorted(one), sorted(other))
        self.assertLessEqual(set(self.names(shapes=["8x8x8"], ranks=[2], strategies=["pencil"])), set(one))

    def test_whatever_defines_a_cell_changes_its_name(self) -> None:
        base = {"shapes": ["8x8x8"], "ranks": [4], "strategies": ["pencil"]}
        changes: list[dict[str, Any]] = [
            {},
            {"shapes": ["8x8x9"]},
            {"ranks": [2]},
            {"kinds": ["c2c"]},
            {"kinds": ["dct2"]},
            {"kinds": ["dct2+dct2+dst2"]},
            {"precisions": ["single"]},
            {"directions": ["inverse"]},
            {"batches": [2]},
            {"layouts": ["strided"]},
            {"threads": [2]},
            {"strategies": ["slab-2d1d"]},
            {"grids": ["2x2"]},
            {"variants": ["default"]},
            {"exchanges": ["a2a-sync"]},
            {"transfers": ["staged"]},
            {"engines": ["fftw"]},
            {"devices": ["simulated"]},
            {"natural": [True]},
            {"iterations": 7},
            {"warmups": 7},
            {"repeats": 7},
            {"effort": "patient"},
            {"mode": "validate"},
        ]
        names = [self.names(**base | change) for change in changes]
        self.assertEqual(len({name for (name,) in names}), len(changes))


class Continuation(Case):
    def left(self, groups: list[cells.Group], *entries: dict[str, Any]) -> list[str]:
        """The configurations that are left after what a journal says."""
        (self.folder / "journal.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        (self.folder / "table.csv").write_text("x" * 100)
        folder = Folder(self.folder)
        try:
            return configs(what_is_left(groups, folder.open(fresh=False)))
        finally:
            folder.close()

    @staticmethod
    def done(block: int, *contestants: dict[str, Any]) -> dict[str, Any]:
        return {"type": "done", "block": block, "bytes": 10, "cells": [one["cell"] for one in contestants]}

    def test_only_what_was_neither_done_nor_skipped_is_run(self) -> None:
        groups = expand(shapes=["8x8x8"], ranks=[2], strategies=["slab-2d1d", "slab-1d2d", "slab-y-zx", "pencil"])
        a, b, c, _ = contestants(groups)
        failed = {"type": "failed", "cell": c["cell"], "reason": "it was late"}
        skipped = {"type": "skipped", "cell": b["cell"], "reason": "it cannot"}
        self.assertEqual(self.left(groups), ["slab-2d1d", "slab-1d2d", "slab-y-zx", "pencil"])
        self.assertEqual(self.left(groups, self.done(0, a), skipped, failed), ["slab-y-zx", "pencil"])
        self.assertEqual(self.left(groups, self.done(0, *contestants(groups))), [])

    def test_peers_accompany_what_is_left_of_their_problem(self) -> None:
        groups = expand(
            shapes=["8x8x8"],
            ranks=[2],
            strategies=["slab-2d1d", "pencil"],
            peers=[{"library": "fftw-mpi"}],
        )
        a, b, natural, transposed = contestants(groups)
        self.assertEqual(self.left(groups, self.done(0, a, natural, transposed)), ["pencil", "natural", "transposed"])
        self.assertEqual(self.left(groups, self.done(0, a, b, natural, transposed)), [])

    def test_a_new_peer_is_measured_beside_weft(self) -> None:
        groups = expand(shapes=["8x8x8", "9x9x9"], ranks=[2], strategies=["slab-2d1d"], peers=[{"library": "fftw-mpi"}])
        a, natural, transposed, *rest = contestants(groups)
        self.assertEqual(self.left(groups, self.done(0, a, natural, *rest)), ["slab-2d1d", "natural", "transposed"])
        skipped = {"type": "skipped", "cell": transposed["cell"], "reason": "it cannot"}
        self.assertEqual(self.left(groups, self.done(0, a, natural, *rest), skipped), [])

    def test_torn_rows_and_a_torn_line_of_the_journal_are_removed(self) -> None:
        groups = expand(shapes=["8x8x8"])
        (one,) = contestants(groups)
        text = json.dumps(self.done(0, one)) + "\n"
        (self.folder / "journal.jsonl").write_text(text + '{"type":"done","blo')
        (self.folder / "table.csv").write_text("x" * 15)
        folder = Folder(self.folder)
        progress = folder.open(fresh=False)
        folder.close()
        self.assertEqual((progress.next_block, progress.done), (1, {one["cell"]}))
        self.assertEqual((self.folder / "journal.jsonl").read_text(), text)
        self.assertEqual((self.folder / "table.csv").read_text(), "x" * 10)

    def test_a_table_that_lost_rows_is_refused(self) -> None:
        (self.folder / "journal.jsonl").write_text(json.dumps(self.done(0)) + "\n")
        (self.folder / "table.csv").write_text("x" * 9)
        with self.assertRaisesRegex(job.Refusal, "has 9 bytes where the journal knows of 10"):
            Folder(self.folder).open(fresh=False)
        folder = Folder(self.folder)
        self.assertEqual(folder.open(fresh=True).next_block, 0)
        folder.close()

    def test_a_folder_has_one_writer(self) -> None:
        first = Folder(self.folder)
        first.open(fresh=False)
        with self.assertRaisesRegex(job.Refusal, "another weft bench is writing there"):
            Folder(self.folder).open(fresh=False)
        first.close()
        Folder(self.folder).open(fresh=False)


class Speed(Case):
    def test_ten_thousand_cells_are_planned_in_a_hundred_calls_each(self) -> None:
        made = {
            "name": "big",
            "sets": [
                {
                    "shapes": [{"start": "16x16x16", "doublings": 4}],
                    "kinds": ["r2c", "c2c"],
                    "precisions": ["double", "single"],
                    "directions": ["forward", "inverse"],
                    "ranks": [2, 4, 8, 16, 32],
                    "strategies": ["auto", "slab-2d1d", "slab-1d2d", "slab-y-zx", "pencil"],
                    "variants": ["default", "realigned"],
                    "exchanges": ["p2p-sync", "p2p-streams", "p2p-type", "a2a-sync", "a2a-type"],
                }
            ],
        }
        path = self.save(made)
        whole = cells.expand(job.read_job(path), no_adapter)
        half = [one["cell"] for one in contestants(whole)][::2]
        out = self.folder / "out"
        out.mkdir()
        lines = [{"type": "done", "block": i, "bytes": 0, "cells": [cell]} for i, cell in enumerate(half)]
        (out / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        profile = cProfile.Profile()
        with profile:
            run = Run(Settings(job.read_job(path), path, out, Launcher()))
            groups, left = run.prepare()
            for group in left:
                run.write_worker_file(group)
        run.folder.close()
        self.assertEqual(count(groups, 8)[:2], (200, 10000))
        self.assertEqual(len(contestants(left)), 5000)
        written = [json.loads(Path(out, f"worker-{ranks}.json").read_text()) for ranks in (2, 4, 8, 16, 32)]
        self.assertEqual(sum(len(p["contestants"]) for file in written for p in file["problems"]), 5000)
        calls = sum(function.callcount for function in profile.getstats())
        self.assertLess(calls, 10000 * 100)


if __name__ == "__main__":
    unittest.main()
