"""Statistics of weft plot against values computed by hand, or by SciPy in another way; known ratios are recovered.

ctest runs this; by hand: PYTHONPATH=python python3 tests/bench/test_plot_statistics.py
"""

from __future__ import annotations

import csv
import math
import statistics
import unittest
from typing import Any

import numpy as np
from sample_table import Case, Contestant, Problem, SampleTable
from scipy import stats

from weft.plot import relative, workload
from weft.plot.relative import BRIDGED, INDEPENDENT, PAIRED
from weft.plot.scaling import strong, weak
from weft.plot.standings import best_configurations, geometric_means, peer_ratios
from weft.plot.statistics import median_interval, write_summary
from weft.plot.study import Study
from weft.plot.table import load

SLAB = Contestant("weft", "slab-2d1d:default:p2p-sync")
TWO = Problem("32x16x16", ranks=2)
CEILINGS = {
    "runs": [
        {"ranks": 1, "threads": 2, "nodes": 1, "memory": {"copy": 4e10, "update": 5e10, "read": 9e10}},
        {"ranks": 2, "threads": 1, "nodes": 1, "memory": {"copy": 3e10, "copy_streaming": 6e10},
         "compute": {"double": 1e11}, "network": {"alltoall": [[1024, 1e9], [65536, 8e9]]}},
    ]
}  # fmt: skip


class StatisticsCase(Case):
    def study(self, table: SampleTable, **objects: dict[str, Any]) -> Study:
        return Study(load(table.write(self.folder / f"run{len(list(self.folder.iterdir()))}", **objects)))


class EachCell(StatisticsCase):
    def setUp(self) -> None:
        super().setUp()
        self.made = self.table(noise=0.1)
        self.made.block(TWO, [SLAB, Contestant("fftw-mpi", "natural")], 15)
        self.cell = self.study(self.made, ceilings=CEILINGS).summary.iloc[0]
        rows = [row for row in self.made.rows if row["cell"] == self.cell["cell"]]
        self.ranks = [[row for row in rows if row["iteration"] == i] for i in range(15)]
        self.times = [max(float(f"{row['total']:.9g}") for row in ranks) for ranks in self.ranks]

    def test_an_iteration_takes_as_long_as_its_slowest_rank(self) -> None:
        self.assertEqual(self.cell["iterations"], 15)
        self.assertAlmostEqual(self.cell["mean"], statistics.fmean(self.times), delta=1e-12)
        self.assertAlmostEqual(self.cell["median"], statistics.median(self.times), delta=1e-12)
        self.assertAlmostEqual(self.cell["deviation"], statistics.stdev(self.times), delta=1e-12)
        self.assertEqual(self.cell["minimum"], min(self.times))

    def test_the_interval_of_the_mean_is_students(self) -> None:
        low, high = stats.t.interval(0.99, 14, loc=np.mean(self.times), scale=stats.sem(self.times))
        self.assertAlmostEqual(self.cell["mean_low"] / low, 1, places=9)
        self.assertAlmostEqual(self.cell["mean_high"] / high, 1, places=9)

    def test_the_interval_of_the_median_holds_it_as_often_as_it_says(self) -> None:
        for count in (8, 9, 20, 101):
            values = np.random.default_rng(count).permutation(np.arange(1.0, count + 1))
            low, high = median_interval(values)
            self.assertEqual(low, count + 1 - high)
            inside = stats.binom.cdf(high - 1, count, 0.5) - stats.binom.cdf(low - 1, count, 0.5)
            self.assertGreaterEqual(inside, 0.99)
            narrower = stats.binom.cdf(high - 2, count, 0.5) - stats.binom.cdf(low, count, 0.5)
            self.assertLess(narrower, 0.99)
        for count in (0, 1, 7):
            self.assertTrue(math.isnan(median_interval(np.arange(count))[0]))

    def test_a_slow_run_does_not_move_the_interval_that_is_shown(self) -> None:
        logs = np.log(np.r_[np.linspace(1.01, 1.03, 19), 50.0])
        ratio = relative.paired(logs)
        self.assertGreater(ratio.high, 1.5)  # the mean's
        self.assertTrue(1 < ratio.lower < ratio.median < ratio.upper < 1.03)
        few = relative.paired(logs[:5])
        self.assertEqual((few.lower, few.upper), (few.low, few.high))

    def test_phases_are_means_over_iterations_of_mean_and_maximum_over_ranks(self) -> None:
        for phase in ("fft", "exchange", "local"):
            mean = statistics.fmean(statistics.fmean(row[phase] for row in ranks) for ranks in self.ranks)
            most = statistics.fmean(max(row[phase] for row in ranks) for ranks in self.ranks)
            self.assertAlmostEqual(self.cell[f"{phase}_mean"] / mean, 1, places=8)
            self.assertAlmostEqual(self.cell[f"{phase}_max"] / most, 1, places=8)
            self.assertLess(self.cell[f"{phase}_mean"], self.cell[f"{phase}_max"])

    def test_speed_is_counted_as_benchfft_counts(self) -> None:
        self.assertAlmostEqual(self.cell["gflops"], 2.5 * 8192 * 13 / self.cell["median"] / 1e9, places=12)

    def test_the_share_of_the_memory_ceiling_is_two_trips_that_read_and_write_the_array(self) -> None:
        array = 8 * 8192 + 16 * 32 * 16 * 9  # real input, half spectrum
        wanted = 2 * array / self.cell["median"] / 6e10  # what two ranks reached
        self.assertAlmostEqual(self.cell["memory_share"] / wanted, 1, places=12)

    def test_the_share_of_the_network_ceiling_is_that_of_the_exchange(self) -> None:
        sent = statistics.fmean(statistics.fmean(row["bytes_sent"] for row in ranks) for ranks in self.ranks)
        wanted = sent / self.cell["exchange_max"] / 8e9
        self.assertAlmostEqual(self.cell["network_share"] / wanted, 1, places=9)

    def test_bytes_and_memory_are_those_of_all_ranks(self) -> None:
        self.assertEqual(self.cell["memory_peak"], sum(row["memory_peak"] for row in self.ranks[0]))
        self.assertEqual(self.cell["bytes_sent"], sum(row["bytes_sent"] for row in self.ranks[0]))

    def test_the_summary_is_one_line_for_each_cell_and_block(self) -> None:
        self.made.block(TWO, [Contestant("fftw-mpi", "natural")], 3)
        study = self.study(self.made, ceilings=CEILINGS)
        write_summary(study.summary, self.folder / "summary.csv")
        with (self.folder / "summary.csv").open() as stream:
            lines = list(csv.DictReader(stream))
        self.assertEqual([(line["library"], line["block"]) for line in lines],
                         [("weft", "0"), ("fftw-mpi", "0"), ("fftw-mpi", "1")])  # fmt: skip
        self.assertAlmostEqual(float(lines[0]["median"]), self.cell["median"], delta=1e-9 * self.cell["median"])
        self.assertEqual(lines[1]["fft_mean"], "")


class Workload(unittest.TestCase):
    def test_operations_are_halved_for_real_data_and_multiplied_by_the_batch(self) -> None:
        self.assertEqual(workload.flops("1024", "c2c", 1), 5 * 1024 * 10)
        self.assertEqual(workload.flops("4x8", "r2c", 3), 2.5 * 32 * 5 * 3)
        self.assertEqual(workload.flops("1", "c2c", 1), 0)

    def test_arrays_have_the_bytes_of_their_elements(self) -> None:
        self.assertEqual(workload.array_bytes("6x5", "r2c", "single", 2), (4 * 30 * 2, 8 * 6 * 3 * 2))
        self.assertEqual(workload.array_bytes("6x5", "c2c", "double", 1), (480, 480))

    def test_one_axis_takes_one_trip_and_more_take_two(self) -> None:
        self.assertEqual([workload.trips(shape) for shape in ("64", "8x8", "4x4x4")], [1, 2, 2])
        self.assertEqual(workload.least_bytes("4x4x4", "c2c", "double", 1), 2 * (1024 + 1024))

    def test_shapes_are_written_as_people_write_them(self) -> None:
        labels = {"128x128x128": "128³", "128x128x256": "128²×256", "128x256x256": "128×256²", "64x128x64": "64×128×64",
                  "1048576": "2²⁰", "1000": "1000", "512x512": "512²", "243x250x252": "243×250×252"}  # fmt: skip
        for shape, label in labels.items():
            self.assertEqual(workload.shape_label(shape), label)


class Ratios(StatisticsCase):
    def test_paired_ratios_are_those_of_the_paired_t_test(self) -> None:
        a, b = self.rng.normal(0.1, 0.05, 20), self.rng.normal(0, 0.05, 20)
        ratio = relative.paired(a - b)
        test = stats.ttest_rel(a, b)
        interval = stats.t.interval(0.99, 19, loc=np.mean(a - b), scale=stats.sem(a - b))
        self.assertAlmostEqual(ratio.p, test.pvalue, places=10)
        self.assertTrue(np.allclose([ratio.low, ratio.high], np.exp(interval), rtol=1e-9))
        self.assertAlmostEqual(ratio.median, math.exp(statistics.median(a - b)))

    def test_independent_ratios_are_those_of_welchs_t_test(self) -> None:
        a, b = self.rng.normal(0.1, 0.05, 20), self.rng.normal(0, 0.1, 13)
        ratio = relative.independent(a, b)
        self.assertAlmostEqual(ratio.p, stats.ttest_ind(a, b, equal_var=False).pvalue, places=10)
        # The interval by another way: its ends are the shifts that the test just does not reject at 1 %.
        for end in (ratio.low, ratio.high):
            shifted = stats.ttest_ind(a - math.log(end), b, equal_var=False)
            self.assertAlmostEqual(shifted.pvalue, 0.01, places=8)

    def test_known_ratios_lie_within_their_intervals(self) -> None:
        known = self.rng.uniform(0.5, 2, 200)
        table = self.table(noise=0.02, drift=0.2)
        for n, slowness in enumerate(known):
            table.block(
                Problem("16x16x16", batch=n + 1), [Contestant("weft", "auto", slowness), Contestant("fftw")], 12
            )
        ratios = peer_ratios(self.study(table)).sort_values("batch")
        inside = (ratios["ratio_low"] <= known) & (known <= ratios["ratio_high"])
        # Each is missed with a chance of 1 %; eleven and more of 200 with one of 1 in 200,000.
        self.assertGreaterEqual(inside.sum(), 190)
        self.assertTrue((ratios["way"] == PAIRED).all())
        self.assertTrue(np.allclose(ratios["ratio"], known, rtol=0.05))
        means = geometric_means(ratios)
        self.assertAlmostEqual(means["mean"][0], statistics.geometric_mean(ratios["ratio"]), places=10)

    def test_pairing_takes_out_drift_that_hits_both(self) -> None:
        table = self.table(noise=0.001, drift=1.0)
        a, b = table.block(TWO, [SLAB, Contestant("fftw-mpi", "natural", 1.1)], 20)
        ratio = self.study(table).relative(b, a)
        self.assertLess(ratio.high / ratio.low, 1.01)
        self.assertAlmostEqual(ratio.median, 1.1, delta=0.005)

    def test_contestants_of_two_blocks_are_compared_by_way_of_one_in_both(self) -> None:
        table = self.table(noise=0.002, drift=0.5)
        peer = Contestant("fftw-mpi", "natural", 3)
        a = table.block(TWO, [SLAB, peer])[0]
        b = table.block(TWO, [Contestant("weft", "slab-1d2d:default:p2p-sync", 1.3), peer])[0]
        c = table.block(TWO, [Contestant("weft", "slab-y-zx:default:p2p-sync", 1.3)])[0]
        study = self.study(table)
        bridged = study.relative(b, a)
        self.assertEqual((bridged.way, study.relative(c, a).way), (BRIDGED, INDEPENDENT))
        self.assertAlmostEqual(bridged.median, 1.3, delta=0.01)
        self.assertLess(bridged.high / bridged.low, 1.02)
        logs = [
            study.runs.paired_logs(cell, study.summary.set_index("library")["cell"]["fftw-mpi"].iloc[0])
            for cell in (b, a)
        ]
        self.assertAlmostEqual(bridged.p, stats.ttest_ind(*logs, equal_var=False).pvalue, places=10)

    def test_a_single_iteration_gives_a_ratio_without_an_interval(self) -> None:
        table = self.table()
        table.block(Problem("8x8x8"), [Contestant("weft", "auto"), Contestant("fftw")], 1)
        study = self.study(table)
        self.assertTrue(math.isnan(study.summary["mean_low"][0]))
        row = peer_ratios(study).iloc[0]
        self.assertTrue(math.isnan(row["ratio_low"]))
        self.assertEqual(row["verdict"], "too few samples")

    def test_holm_multiplies_the_smallest_by_the_number_of_tests(self) -> None:
        corrected = relative.holm(np.array([0.04, 0.01, math.nan, 0.03, 0.9]))
        self.assertTrue(np.allclose(corrected, [0.09, 0.04, math.nan, 0.09, 0.9], equal_nan=True))


class Choosing(StatisticsCase):
    def test_wrong_cells_are_found_without_the_journal_and_never_the_fastest(self) -> None:
        table = self.table()
        wrong, right = table.block(TWO, [Contestant("weft", "slab-1d2d:default:a2a-type", 0.1, error=1e3), SLAB])
        study = self.study(table)
        self.assertEqual(study.wrong_cells, {wrong})
        self.assertEqual(list(study.cells["cell"]), [right])
        self.assertEqual(dict(zip(study.summary["cell"], study.summary["wrong"])), {wrong: True, right: False})
        self.assertIn("slab-2d1d", best_configurations(study)["configuration"][0])

    def test_a_peer_in_natural_order_stands_beside_weft_in_natural_order(self) -> None:
        table = self.table()
        natural = Contestant("weft", "slab-2d1d:default:p2p-sync:natural", 1.5)
        table.block(TWO, [SLAB, natural, Contestant("fftw-mpi", "natural"), Contestant("fftw-mpi", "transposed")])
        ratios = peer_ratios(self.study(table)).drop_duplicates("peer").set_index("peer")
        self.assertIn("natural", ratios["weft"]["fftw-mpi natural"])
        self.assertNotIn("natural", ratios["weft"]["fftw-mpi transposed"])

    def test_strong_scaling_starts_at_the_fastest_result_on_one_rank(self) -> None:
        table = self.table(noise=0.001, drift=0.001)
        for ranks in (1, 2, 4):
            problem = Problem("64x64x64", ranks=ranks)
            methods = [Contestant("weft", "slab-2d1d:default:p2p-sync", 1 + 0.1 * ranks),
                       Contestant("weft", "slab-2d1d:default:a2a-sync", 2 + 0.1 * ranks)]  # fmt: skip
            table.block(problem, methods if ranks > 1 else [methods[0], Contestant("fftw", "-", 1.0)])
        (scaling,) = strong(self.study(table))
        line = scaling.points.set_index("ranks")
        self.assertEqual(set(scaling.points["line"]), {"weft slab-2d1d default"})
        for ranks in (1, 2, 4):
            self.assertAlmostEqual(line["efficiency"][ranks], 1 / (1 + 0.1 * ranks), delta=0.01)
            self.assertAlmostEqual(line["speedup"][ranks], ranks / (1 + 0.1 * ranks), delta=0.01 * ranks)

    def test_weak_scaling_joins_problems_with_as_many_points_per_rank(self) -> None:
        table = self.table(noise=0.001, drift=0.001)
        for ranks, shape in ((1, "64x64x64"), (2, "64x64x128"), (4, "64x128x128")):
            table.block(Problem(shape, ranks=ranks), [SLAB])
        (scaling,) = weak(self.study(table))
        efficiency = scaling.points.set_index("ranks")["efficiency"]
        for ranks, exponent in ((1, 18), (2, 19), (4, 20)):
            self.assertAlmostEqual(efficiency[ranks], 18 / exponent, delta=0.01)

    def test_a_table_of_validation_alone_has_no_times(self) -> None:
        table = self.table()
        for check, error in (("round-trip", 3e-16), ("laplacian", 2e-14)):
            table.validation(TWO, SLAB, check, error)
        study = self.study(table)
        self.assertEqual((len(study.summary), len(study.cells), len(study.validation)), (0, 0, 2))
        self.assertEqual(set(study.validation["error"]), {3e-16, 2e-14})


if __name__ == "__main__":
    unittest.main()
