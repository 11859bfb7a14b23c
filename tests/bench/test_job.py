"""Jobs: what is refused and where, what --small makes of them, and those that are shipped."""

from __future__ import annotations

import copy
import json
import unittest
from collections.abc import Callable
from typing import Any

import jsonschema
from bench_case import SOURCE, Case, every_adapter
from weft.bench import cells, job

GOOD: dict[str, Any] = {
    "name": "good",
    "iterations": 3,
    "sets": [{"shapes": ["8x8x8"], "ranks": [1, 2], "strategies": ["slab-2d1d", "pencil"]}],
    "small": {"shapes": ["4x4x4"]},
}


def with_set(**members: Any) -> Callable[[dict[str, Any]], None]:
    return lambda good: good["sets"][0].update(members)


def with_top(**members: Any) -> Callable[[dict[str, Any]], None]:
    return lambda good: good.update(members)


def without(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda good: good.pop(name)


# A change to the good job, and what the refusal must say.
WRONG: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (without("name"), 'job.json: "name" is missing'),
    (without("sets"), 'job.json: "sets" is missing'),
    (with_top(name="a/b"), 'name: "a/b" is not a name of letters'),
    (with_top(name=""), 'name: "" is not a name of letters'),
    (with_top(name=7), "name: 7 is not a name of letters"),
    (with_top(title=7), "title: 7 is not a text"),
    (with_top(mode="dance"), 'mode: "dance" is not one of time, validate'),
    (with_top(effort="none"), 'effort: "none" is not one of estimate, measure, patient'),
    (with_top(iterations=0), "iterations: 0 is not a whole number from 1 to"),
    (with_top(iterations=2.5), "iterations: 2.5 is not a whole number"),
    (with_top(iterations="20"), 'iterations: "20" is not a whole number'),
    (with_top(iterations=True), "iterations: true is not a whole number"),
    (with_top(warmups=-1), "warmups: -1 is not a whole number from 0"),
    (with_top(together=0), "together: 0 is not a whole number of at least 1"),
    (with_top(colour="red"), '"colour" is not a member here; members are $schema, name, title'),
    (with_top(sets=[]), "sets: give at least one"),
    (with_top(sets={}), "sets: {} is not a list of sets"),
    (with_top(sets=["a"]), 'sets[0]: "a" is not a set: an object'),
    (with_top(sets=[{}]), 'sets[0]: "shapes" is missing'),
    (with_set(strategies=["slab-2d1d", "slab-2d"]), 'sets[0].strategies[1]: "slab-2d" is not one of auto, slab-2d1d'),
    (with_set(strategies="pencil"), 'sets[0].strategies: "pencil" is not a list of strategies'),
    (with_set(strategies=[]), "sets[0].strategies: give at least one"),
    (with_set(strategy=["pencil"]), 'sets[0]: "strategy" is not a member here; members are description, shapes'),
    (with_set(shapes=[]), "sets[0].shapes: give at least one"),
    (with_set(shapes=["8x8x"]), 'sets[0].shapes[0]: "8x8x" is not a shape such as'),
    (with_set(shapes=["8x8x8x8"]), 'sets[0].shapes[0]: "8x8x8x8" is not a shape'),
    (with_set(shapes=["0x8x8"]), 'sets[0].shapes[0]: "0x8x8" is not a shape'),
    (with_set(shapes=[8]), "sets[0].shapes[0]: 8 is not a shape"),
    (with_set(shapes=["8x8", [8, "8"]]), 'sets[0].shapes[1][1]: "8" is not a whole number of at least 1'),
    (with_set(shapes=[[8, 8, 0]]), "sets[0].shapes[0][2]: 0 is not a whole number of at least 1"),
    (with_set(shapes=[{"start": "8x8x8"}]), 'sets[0].shapes[0]: "doublings" is missing'),
    (with_set(shapes=[{"start": "8x8x8", "doublings": -1}]), "sets[0].shapes[0].doublings: -1 is not a whole number"),
    (
        with_set(shapes=[{"start": "8x", "doublings": 1}]),
        'sets[0].shapes[0].start: "8x" is not a shape of one to three',
    ),
    (with_set(shapes=[{"per_rank": 8}]), "sets[0].shapes[0].per_rank: 8 is not a shape of one to three axes"),
    (with_set(shapes=[{"start": "8x8x8", "doublings": 55}]), "sets[0].shapes[0]: 131072x131072x131072 has more"),
    (with_set(kinds=["r2r"]), 'sets[0].kinds[0]: "r2r" is not r2c, c2c, or types of real-to-real transforms'),
    (with_set(kinds=["dct5"]), 'sets[0].kinds[0]: "dct5" is not r2c, c2c, or types'),
    (with_set(kinds=["r2c", "dct2+dst1"]), "sets[0].kinds[1]: dct2+dst1: 2 types for the 3 axes of "),
    (with_set(kinds=["none"]), "sets[0].kinds[0]: none: nothing is transformed"),
    (with_set(kinds=["dct1"], shapes=["8x1x8"]), "sets[0].kinds[0]: dct1: dct1 has no line of 1 point"),
    (with_set(precisions=["half"]), 'sets[0].precisions[0]: "half" is not one of double, single'),
    (with_set(directions=["up"]), 'sets[0].directions[0]: "up" is not one of forward, inverse'),
    (with_set(batches=[0]), "sets[0].batches[0]: 0 is not a whole number of at least 1"),
    (with_set(batches=[{"points": "8"}]), 'sets[0].batches[0].points: "8" is not a whole number of at least 1'),
    (with_set(layouts=["loose"]), 'sets[0].layouts[0]: "loose" is not one of contiguous, strided'),
    (with_set(ranks=[1, 0]), "sets[0].ranks[1]: 0 is not a whole number from 1 to"),
    (with_set(threads=["all"]), 'sets[0].threads[0]: "all" is not a whole number from 1 to'),
    (with_set(grids=["2"]), 'sets[0].grids[0]: "2" is not "auto" or a grid such as "2x1"'),
    (with_set(grids=["auto", "3x2"]), "sets[0].grids[1]: 3x2 fits none of the rank counts 1, 2"),
    (with_set(variants=["baroque"]), 'sets[0].variants[0]: "baroque" is not one of auto, default, realigned'),
    (with_set(exchanges=["pigeon"]), 'sets[0].exchanges[0]: "pigeon" is not an exchange method (auto, p2p-sync'),
    (with_set(exchanges=[["p2p-sync", "pigeon"]]), 'sets[0].exchanges[0][1]: "pigeon" is not one of auto, p2p-sync'),
    (with_set(exchanges=[["p2p-sync"]]), 'sets[0].exchanges[0]: ["p2p-sync"] is not an exchange method'),
    (with_set(transfers=["tamed"]), 'sets[0].transfers[0]: "tamed" is not one of auto, aware, staged'),
    (with_set(engines=["steam"]), 'sets[0].engines[0]: "steam" is not one of auto, native, fftw'),
    (with_set(devices=["toaster"]), 'sets[0].devices[0]: "toaster" is not one of host, cuda'),
    (with_set(natural=["yes"]), 'sets[0].natural[0]: "yes" is not true or false'),
    (with_set(weft=False), 'sets[0]: "weft" is false and there are no "peers"'),
    (with_set(peers=[{}]), 'sets[0].peers[0]: "library" is missing'),
    (with_set(peers=["fftw"]), 'sets[0].peers[0]: "fftw" is not a peer: an object with a library'),
    (with_set(peers=[{"library": "FFTW"}]), 'sets[0].peers[0].library: "FFTW" is not a name of small letters'),
    (with_set(peers=[{"library": "weft"}]), "sets[0].peers[0].library: weft is no peer"),
    (
        with_set(peers=[{"library": "fftw-mpi", "configs": ["odd"]}]),
        'sets[0].peers[0].configs[0]: "odd": it is not one of',
    ),
    (with_set(peers=[{"library": "fftw", "configs": ["odd"]}]), 'sets[0].peers[0].configs[0]: "odd": there is nothing'),
    (with_set(peers=[{"library": "fftw", "gpus": [1]}]), "sets[0].peers[0].gpus: only cufftxt"),
    (with_top(exclude=[{}]), "exclude[0]: give at least one"),
    (with_top(exclude=[{"strategy": "slab"}]), 'exclude[0].strategy: "slab" is not a strategy (auto, slab-2d1d'),
    (with_top(exclude=[{"ranks": ["2"]}]), 'exclude[0].ranks[0]: "2" is not a whole number'),
    (with_top(exclude=[{"size": "8x8x8"}]), 'exclude[0]: "size" is not a member here; members are library'),
    (with_top(small={"name": "b"}), 'small: "name" is not a member here; members are description, iterations'),
    (with_top(small={"ranks": [0]}), "small.ranks[0]: 0 is not a whole number"),
]


class Mistakes(Case):
    """Each is exit status 2 and one line that names the place and what is allowed there."""

    def test_every_mistake_names_its_place_and_what_is_allowed(self) -> None:
        for change, sentence in WRONG:
            with self.subTest(sentence):
                made = copy.deepcopy(GOOD)
                change(made)
                path = self.save(made)
                try:
                    cells.expand(job.read_job(path), every_adapter)
                except job.Refusal as refusal:
                    self.assertIn(sentence, f"job.json: {str(refusal).removeprefix(f'{path}: ')}")
                    self.assertNotIn("\n", str(refusal))
                else:
                    self.fail("was not refused")

    def test_the_command_exits_with_2_and_one_line(self) -> None:
        self.save(GOOD | {"mode": "dance"})
        self.assertIn('job.json: mode: "dance" is not one of time, validate', self.refuse("job.json"))
        self.save(GOOD | {"sets": [GOOD["sets"][0] | {"grids": ["3x1"]}]})
        self.assertIn("job.json: sets[0].grids[0]: 3x1 fits none", self.refuse("job.json", "--dry-run"))
        self.assertEqual([p.name for p in self.folder.iterdir()], ["job.json"])

    def test_mistakes_of_syntax_name_line_and_column(self) -> None:
        for text, sentence in [
            ('{"name": "a",\n "sets": [}', "job.json: line 2, column 11: "),
            ("", "job.json: line 1, column 1: "),
            ('{"name": "a", "name": "b"}', 'job.json: "name" stands twice in one object'),
            ('{"name": NaN}', "job.json: NaN is not a number of JSON"),
            ("[" * 100000, "job.json: nested too deeply"),
            ("[1]", "job.json: [1] is not a job"),
        ]:
            self.save(text)
            self.assertIn(sentence, self.refuse("job.json"))
        (self.folder / "job.json").write_bytes(b'{"name": "\xff"}')
        self.assertIn("job.json: not a text in UTF-8", self.refuse("job.json"))
        self.assertIn("none.json: cannot be read", self.refuse("none.json"))
        (self.folder / "folder").mkdir()
        self.assertIn("folder/job.json: cannot be read", self.refuse("folder"))

    def test_wrong_flags_are_refused(self) -> None:
        self.save(GOOD)
        for flags in (
            [],
            ["--dance"],
            ["job.json", "more"],
            ["job.json", "-o"],
            ["job.json", "--launcher", "catapult"],
            ["job.json", "--slurm", "--nodes", "0"],
            ["job.json", "--slurm", "--ranks-per-node", "1"],
            ["job.json", "-o", "job.json"],
        ):
            with self.subTest(flags):
                self.refuse(*flags)
        self.save({name: value for name, value in GOOD.items() if name != "small"})
        self.assertIn('there is no "small" part', self.refuse("job.json", "--small"))

    def test_the_schema_is_one_and_describes_every_member(self) -> None:
        schema = json.loads(job.SCHEMA_FILE.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        for name, member in (schema["properties"] | schema["$defs"]["set"]["properties"]).items():
            meant = schema["$defs"][member["$ref"].rsplit("/", 1)[1]] if "$ref" in member else member
            self.assertIn("description", meant, name)


LARGE: dict[str, Any] = {
    "name": "a",
    "iterations": 20,
    "sets": [
        {"shapes": ["64x64x64"], "ranks": [1]},
        {"shapes": ["99x99x99"], "ranks": [2, 4], "iterations": 50, "effort": "patient"},
    ],
    "exclude": [{"ranks": 4}],
}


class Small(unittest.TestCase):
    def shrunk(self, **small: Any) -> dict[str, Any]:
        made = LARGE | {"small": small}
        job.check(made)
        return job.shrink(made)

    def test_members_of_the_job_replace_those_of_the_job_and_of_sets(self) -> None:
        made = self.shrunk(iterations=2, exclude=[])
        self.assertEqual((made["iterations"], made["exclude"]), (2, []))
        self.assertEqual([one.get("iterations") for one in made["sets"]], [None, None])
        self.assertEqual(made["sets"][1]["effort"], "patient")
        self.assertNotIn("small", made)

    def test_members_of_sets_replace_those_of_every_set(self) -> None:
        made = self.shrunk(shapes=["4x4x4"], kinds=["c2c"])
        self.assertEqual([one["shapes"] for one in made["sets"]], [["4x4x4"]] * 2)
        self.assertEqual([one["kinds"] for one in made["sets"]], [["c2c"]] * 2)
        self.assertEqual([one["ranks"] for one in made["sets"]], [[1], [2, 4]])

    def test_sets_can_be_replaced_as_a_whole(self) -> None:
        made = self.shrunk(sets=[{"shapes": ["4x4x4"], "iterations": 3}])
        self.assertEqual(made["sets"], [{"shapes": ["4x4x4"], "iterations": 3}])


class Shipped(Case):
    """The jobs in bench/jobs."""

    def test_every_job_is_right_and_has_a_small_part(self) -> None:
        found = sorted((SOURCE / "bench" / "jobs").glob("*.json"))
        self.assertGreaterEqual(len(found), 9)
        for path in found:
            with self.subTest(path.name):
                made = job.read_job(path)
                self.assertEqual(made["name"], path.stem)
                self.assertTrue(made["title"] and made["description"])
                self.assertTrue(cells.expand(made, every_adapter))
                self.assertTrue(cells.expand(job.read_job(path, small=True), every_adapter))


if __name__ == "__main__":
    unittest.main()
