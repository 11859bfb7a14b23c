"""weft plot of what weft plan --sweep prints: a line for each decomposition, and what is no sweep is refused.

ctest runs this; by hand: PYTHONPATH=python python3 tests/bench/test_plot_forecast.py
"""

from __future__ import annotations

import unittest

from sample_table import Case

from weft.plot.forecast import compose, is_forecast, load, write

HEAD = "swept,value,shape,kind,precision,ranks,decomposition,variant,grid,exchange,seconds,fastest"


def rows(swept: str, values: list[float]) -> list[str]:
    """Slabs that win below 16, pencils above."""
    lines = []
    for value in values:
        shape = f"{value:g}x{value:g}x{value:g}" if swept == "size" else "64x64x64"
        ranks = f"{value:g}" if swept == "ranks" else "8"
        for name, seconds in (("slab-2d1d", 1 + value / 16), ("pencil", 2)):
            fastest = int((name == "pencil") == (value > 16))
            lines.append(f"{swept},{value:g},{shape},c2c,double,{ranks},{name},default,4,peer,{seconds},{fastest}")
    return lines


class Forecast(Case):
    def save(self, lines: list[str], head: str = HEAD) -> None:
        (self.folder / "sweep.csv").write_text("\n".join([head, *lines, ""]))

    def test_each_decomposition_is_a_line(self) -> None:
        cases = (("ranks", [1, 4, 16, 64]), ("size", [8, 16, 32]), ("rate.latency", [1, 10, 100]), ("ranks", [4]))
        for swept, values in cases:
            self.save(rows(swept, values))
            self.assertTrue(is_forecast(self.folder / "sweep.csv"))
            picture = compose(load(self.folder / "sweep.csv"))
            lines = picture.figure.axes[0].get_lines()
            self.assertEqual(len(lines), 3 if swept == "ranks" else 2)  # with the ideal
            times = [1e3 * (1 + value / 16) for value in values]
            self.assertEqual([round(y, 6) for y in lines[0].get_ydata()], times)
            self.assertGreater(lines[0].get_linewidth(), lines[1].get_linewidth())  # both are seen
            self.assertIn("Fastest: slab-2d1d from", picture.caption)
            self.assertEqual("pencil from" in picture.caption, max(values) > 16)
            files = write(picture, self.folder / "out", ("png", "svg"))
            self.assertEqual([file.name for file in files], ["forecast.png", "forecast.svg"])

    def test_the_ideal_begins_at_the_fewest_ranks(self) -> None:
        self.save(rows("ranks", [2, 4, 8]))
        picture = compose(load(self.folder / "sweep.csv"))
        ideal = list(picture.figure.axes[0].get_lines()[2].get_ydata())
        self.assertEqual(ideal, [1125.0, 562.5, 281.25])

    def test_what_is_no_sweep_is_refused(self) -> None:
        good = rows("ranks", [1, 2])
        for lines in ([], [good[0], good[1].replace("ranks,", "size,")], [good[0].replace("c2c", "r2c"), good[1]]):
            self.save(lines)
            self.refuse("sweep.csv")
        for old, new in (("1.0625", "0"), ("1.0625", "x"), ("64x64x64", "64y"), (",8,", ",-8,")):
            self.save([good[0].replace(old, new) if old in good[0] else rows("size", [8])[0].replace(old, new)])
            self.refuse("sweep.csv")
        self.save([good[0][:40]])
        self.refuse("sweep.csv")

    def refuse(self, name: str) -> None:
        with self.assertRaisesRegex(Exception, "weft plan --sweep"):
            load(self.folder / name)


if __name__ == "__main__":
    unittest.main()
