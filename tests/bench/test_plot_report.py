"""The report of weft plot, opened in Chromium without a network: everything is in the one file, wrong cells come first,
and tables sort.

ctest runs this; by hand: PYTHONPATH=python python3 tests/bench/test_plot_report.py
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np
from sample_table import Case, Contestant, Problem, SampleTable

from weft.plot.report import compose, write
from weft.plot.table import load

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.remote.webelement import WebElement
except ImportError:
    webdriver = None

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND")
SECTIONS = {"Findings", "Best configurations", "weft beside other libraries", "Libraries", "Strategies and variants",
            "Phases", "Scaling", "Limits of the machine", "Errors and memory", "Validation", "Statistics", "Machine",
            "Method"}  # fmt: skip
SLAB = Contestant("weft", "slab-2d1d:default:p2p-sync")
RUN = {
    "date": "2026-11-21T10:00:00Z",
    "host": "sample",
    "command": "weft bench sample.json",
    "machine": {"processor": "A <fast> processor", "cores": 2, "memory": 1 << 34, "caches": {"L2": {"size": "1M"}}},
    "mpi": "Open MPI v4.1.4",
    "versions": {"fftw": "FFTW 3.3.10"},
    "bindings": {"2": [{"rank": 0, "host": "sample", "cpus": "0"}, {"rank": 1, "host": "sample", "cpus": "1"}]},
    "overhead": 0.012,
}
CEILINGS = {"runs": [{"ranks": 2, "threads": 1, "nodes": 1, "memory": {"copy": 5e10}, "compute": {"double": 1e11}}]}


def make(table: SampleTable, folder: Path, wrong: bool = True) -> Path:
    """A results folder with a bit of everything."""
    for shape in ("16x16x16", "16x16x32", "16x32x32"):
        for direction in ("forward", "inverse"):
            alone = [Contestant("weft", "auto"), Contestant("fftw", "-", 1.1)]
            table.block(Problem(shape, direction=direction), alone, 5)
            contestants = [SLAB, Contestant("weft", "slab-2d1d:realigned:a2a-sync", 1.2)]
            contestants.append(Contestant("fftw-mpi", "transposed", 1.5))
            table.block(Problem(shape, ranks=2, direction=direction), contestants, 5)
    table.validation(Problem("16x16x16", ranks=2), SLAB, "round-trip", 3e-16)
    table.journal = [{"type": "skipped", "cell": "1" * 12, "reason": "pencils need <three> axes"},
                     {"type": "failed", "cell": "2" * 12, "reason": "a rank died"}]  # fmt: skip
    if wrong:
        bad = Contestant("weft", "slab-1d2d:default:a2a-type", error=1.2e3)
        cell = table.block(Problem("16x16x16", ranks=2), [bad, SLAB], 5)[0]
        what = "weft <slab-1d2d>"
        table.journal.append({"type": "wrong", "cell": cell, "error": 1.2e3, "bound": 1e-14, "what": what})
    job = {"name": "sample", "title": "A <sample> & more", "description": "What is measured, and why.", "sets": []}
    return table.write(folder, job=job, run=RUN, ceilings=CEILINGS)


def make_little(table: SampleTable, folder: Path) -> Path:
    """A results folder with one problem, which is drawn quickly."""
    table.block(Problem("16x16x16"), [Contestant("weft", "auto"), Contestant("fftw", "-", 1.1)], 5)
    return table.write(folder, run=RUN)


class Files(Case):
    def test_everything_is_written_beside_the_table(self) -> None:
        folder = make(self.table(), self.folder / "run", wrong=False)
        said = self.succeed(folder)
        names = {file.name for file in folder.iterdir()}
        self.assertLessEqual({"report.html", "tables.md", "summary.csv", "error-double.png"}, names)
        pictures = {name.removesuffix(".png") for name in names if name.endswith(".png")}
        self.assertEqual(pictures, {name.removesuffix(".pdf") for name in names if name.endswith(".pdf")})
        self.assertIn(f"{len(pictures)} pictures", said)

    def test_output_folder_formats_and_silence_are_obeyed(self) -> None:
        folder = make_little(self.table(), self.folder / "run")
        before = {file.name for file in folder.iterdir()}
        said = self.succeed(folder, "-o", self.folder / "out", "--format", "svg", "--quiet")
        self.assertEqual(said, "")
        self.assertEqual({file.name for file in folder.iterdir()}, before)
        suffixes = {file.suffix for file in (self.folder / "out").iterdir()}
        self.assertEqual(suffixes, {".html", ".md", ".csv", ".svg"})

    def test_the_markdown_has_tables_of_equal_width_and_says_what_is_wrong_first(self) -> None:
        folder = make(self.table(), self.folder / "run", wrong=True)
        done = self.plot(folder, "--format", "png")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Aweft: 1 cell gave WRONG results; see [^\n]+report.html\n\Z")
        text = (folder / "tables.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        self.assertEqual(
            headings[:3], ["Wrong results", "1 cell failed while running", "1 cell skipped: cannot be run here"]
        )
        self.assertLessEqual(
            {"Best configurations", "weft beside other libraries", "Scaling tables", "Statistics"}, set(headings)
        )
        for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            self.assertEqual(len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}), 1, block)
        for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text):
            self.assertTrue((folder / name).exists(), name)

    def test_a_table_of_validation_alone_gives_a_report(self) -> None:
        table = self.table()
        table.validation(Problem("16x16x16", ranks=2), SLAB, "laplacian", 3e-14)
        folder = table.write(self.folder / "run")
        self.succeed(folder)
        self.assertIn("No wrong results", (folder / "report.html").read_text(encoding="utf-8"))


@unittest.skipUnless(webdriver and CHROMIUM and DRIVER, "no Chromium, or no Selenium")
class InChromium(Case):
    """One browser, and two reports that stand alone: one of everything with a wrong cell, a little one without."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="weft-report-")
        cls.addClassCleanup(folder.cleanup)
        cls.files = {}
        for wrong in (True, False):
            place = Path(folder.name) / f"wrong-{wrong}"
            results = (make if wrong else make_little)(SampleTable(np.random.default_rng()), place / "run")
            write(compose(load(results)), place / "out", ())
            cls.files[wrong] = (place / "out" / "report.html").rename(place / "report.html")
        options = Options()
        options.binary_location = CHROMIUM
        for flag in FLAGS:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.browser = webdriver.Chrome(service=Service(DRIVER), options=options)
        cls.addClassCleanup(cls.browser.quit)

    def open(self, wrong: bool = True) -> None:
        for log in ("browser", "performance"):
            self.browser.get_log(log)
        self.file = self.files[wrong]
        self.browser.get(self.file.as_uri())

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def test_the_report_is_whole_without_a_network(self) -> None:
        self.open()
        self.assertEqual(self.browser.get_log("browser"), [])
        requests = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        urls = [r["params"]["request"]["url"] for r in requests if r["method"] == "Network.requestWillBeSent"]
        self.assertEqual([url[:80] for url in urls if not url.startswith("data:")], [self.file.as_uri()])
        outside = self.browser.execute_script(
            "return [...document.querySelectorAll('[src],link[href],[srcset]')]"
            ".map(e => e.getAttribute('src') || e.getAttribute('href') || e.getAttribute('srcset'))"
            ".filter(text => !text.startsWith('data:'))"
        )
        self.assertEqual(outside, [])
        self.assertNotRegex(self.browser.page_source, r"@import|url\((?!#)")

    def test_every_picture_is_drawn_and_described(self) -> None:
        self.open()
        images = self.all("figure img")
        self.assertGreaterEqual(len(images), 8)
        for image in images:
            self.assertGreater(self.browser.execute_script("return arguments[0].naturalWidth", image), 300)
            self.assertGreater(len(image.get_attribute("alt")), 30)
        self.assertEqual(len(self.all("figure figcaption")), len(images))

    def test_headings_tables_and_provenance_are_there(self) -> None:
        self.open()
        self.assertEqual(self.all("h1")[0].text, "A <sample> & more")
        self.assertIn("What is measured, and why.", self.all("header")[0].text)
        headings = [heading.text for heading in self.all("main > section > h2")]
        self.assertLessEqual(SECTIONS, set(headings))
        for text in ("A <fast> processor", "Open MPI v4.1.4", "FFTW 3.3.10", "weft bench sample.json", "1.20 %"):
            self.assertIn(text, self.all("#machine")[0].text)
        for link in self.all("nav a"):
            self.assertEqual(len(self.all("#" + link.get_attribute("href").split("#")[1])), 1)

    def test_wrong_cells_are_shown_before_anything_else(self) -> None:
        self.open()
        first = self.all("main > *")[0]
        self.assertEqual(first.get_attribute("role"), "alert")
        for text in ("WRONG RESULTS: 1 cell", "weft <slab-1d2d>", "1.20e+03", "1.00e-14"):
            self.assertIn(text, first.text)
        self.assertGreaterEqual(
            float(first.find_element(By.TAG_NAME, "h2").value_of_css_property("font-size")[:-2]), 20
        )
        banners = " ".join(banner.text for banner in self.all(".banner"))
        self.assertIn("pencils need <three> axes", banners)
        self.assertIn("a rank died", banners)
        self.assertEqual(self.all(".good"), [])

    def test_right_results_are_said_to_be_right(self) -> None:
        self.open(wrong=False)
        self.assertEqual(self.all(".bad"), [])
        self.assertIn("No wrong results", self.all(".good")[0].text)

    def test_a_click_on_a_heading_sorts_and_another_turns_the_order(self) -> None:
        self.open()
        table = self.all("#best-configurations table")[0]
        heads = [head.text for head in table.find_elements(By.TAG_NAME, "th")]

        def column(name: str) -> list[str]:
            place = heads.index(name) + 1
            return [cell.text for cell in table.find_elements(By.CSS_SELECTOR, f"tbody td:nth-child({place})")]

        def click(name: str) -> None:
            table.find_elements(By.CSS_SELECTOR, "th button")[heads.index(name)].click()

        before = [float(text) for text in column("median, ms")]
        self.assertNotEqual(before, sorted(before))
        click("median, ms")
        self.assertEqual([float(text) for text in column("median, ms")], sorted(before))
        click("median, ms")
        self.assertEqual([float(text) for text in column("median, ms")], sorted(before, reverse=True))
        self.assertEqual(len(table.find_elements(By.CSS_SELECTOR, 'th[aria-sort="descending"]')), 1)
        click("fastest")
        self.assertEqual(column("fastest"), sorted(column("fastest")))

    def test_it_fits_a_phone_and_follows_a_dark_page(self) -> None:
        self.open()
        device = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
        self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), 390)
        colours = []
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            script = "return getComputedStyle(document.body).backgroundColor"
            colours.append(sum(map(int, re.findall(r"\d+", self.browser.execute_script(script))[:3])))
        self.assertGreater(colours[0], 700)
        self.assertLess(colours[1], 150)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


if __name__ == "__main__":
    unittest.main()
