"""The page of weft live in headless Chromium: sliders, keys, the brush, and what it shows.

With WEFT_SCREENSHOT=FILE.png it also leaves a picture of the page: that of docs/live.md.
"""

from __future__ import annotations

import json
import os
import shutil
import time
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from live_server import Server
from picture_files import moving_pattern, read_png, write_png
from weft_case import Case

FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1240,880",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
STAND_IN = Path(__file__).resolve().parents[1] / "live/stand_in"
SAMPLE = Path(__file__).resolve().parents[2] / "data/camera.png"
PIXELS = """const c = document.getElementById(arguments[0]);
const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
return [c.height, c.width, Array.from(d).filter((_, i) => i % 4 === 0)];"""


class Page(Case):
    @classmethod
    def setUpClass(cls) -> None:
        options = Options()
        options.binary_location = shutil.which("chromium")
        for flag in FLAGS:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        cls.addClassCleanup(cls.driver.quit)

    def open(self, *source: str) -> None:
        self.server = Server(self, *source, "--threads", "1")
        self.driver.get(self.server.url)
        self.settle()

    def settle(self) -> None:
        """Waits until what is shown is what was asked for last."""
        done = "return !busy && !wanted && shown !== null && shown.sequence === sequence;"
        WebDriverWait(self.driver, 30, 0.02).until(lambda driver: driver.execute_script(done))

    def field(self, name: str):  # noqa: ANN201
        return self.driver.find_element(By.ID, name)

    def pixels(self, canvas: str = "picture") -> np.ndarray:
        self.settle()
        rows, columns, values = self.driver.execute_script(PIXELS, canvas)
        return np.array(values, "u1").reshape(rows, columns)

    def expected(self, *flags: str) -> np.ndarray:
        self.succeed("filter", "in.png", "out.png", "--quiet", *flags)
        return read_png(self.folder / "out.png")

    def assert_shows(self, expected: np.ndarray) -> None:
        off = np.abs(self.pixels().astype(int) - expected.astype(int))
        self.assertLessEqual(off.max(), 1)

    def tearDown(self) -> None:
        said = [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        self.assertEqual(said, [])

    def test_sliders_keys_and_choices(self) -> None:
        picture = np.random.default_rng(1).integers(0, 256, (40, 56), "u1")
        write_png(self.folder / "in.png", picture)
        self.open("in.png")
        self.assert_shows(self.expected("--gaussian", "3,1,0"))
        self.field("sx").send_keys(Keys.ARROW_RIGHT * 5)
        self.field("angle").send_keys(Keys.ARROW_RIGHT * 30)
        self.assertEqual(self.driver.find_element(By.CSS_SELECTOR, "output[for=sx]").text, "3.5")
        self.assert_shows(self.expected("--gaussian", "3.5,1,30"))
        slider = self.field("sy")
        ActionChains(self.driver).drag_and_drop_by_offset(slider, slider.size["width"] // 4, 0).perform()
        self.settle()
        self.assertGreater(float(slider.get_attribute("value")), 5)
        self.assert_shows(self.expected("--gaussian", f"3.5,{slider.get_attribute('value')},30"))
        Select(self.field("kind")).select_by_value("bandpass")
        Select(self.field("edge")).select_by_value("butterworth")
        Select(self.field("boundary")).select_by_value("mirror")
        self.assert_shows(self.expected("--bandpass", "butterworth,0.05,0.2,2", "--boundary", "mirror"))
        Select(self.field("kind")).select_by_value("wiener")
        self.assert_shows(self.expected("--wiener", "disc,2,0.01", "--boundary", "mirror"))
        self.driver.find_element(By.TAG_NAME, "body").send_keys("b")
        self.assert_shows(picture)
        self.assertEqual(self.field("before").get_attribute("aria-pressed"), "true")
        self.field("before").click()
        self.assert_shows(self.expected("--wiener", "disc,2,0.01", "--boundary", "mirror"))
        self.assertIn("native on host", self.field("status").text)

    def test_another_device(self) -> None:
        write_png(self.folder / "in.png", np.random.default_rng(5).integers(0, 256, (32, 48), "u1"))
        self.open("in.png")
        device = Select(self.field("device"))
        if "opencl" not in [option.text for option in device.options]:
            self.assertNotIn("WEFT_TEST_OPENCL", os.environ, "OpenCL is promised, and is not offered")
            self.skipTest("no OpenCL here")
        device.select_by_value("opencl")
        self.assert_shows(self.expected("--gaussian", "3,1,0"))
        self.assertIn("jit on opencl", self.field("status").text)
        device.select_by_value("host")
        self.assert_shows(self.expected("--gaussian", "3,1,0"))
        self.assertIn("native on host", self.field("status").text)

    def test_the_brush_by_pointer_and_keys(self) -> None:
        write_png(self.folder / "in.png", np.random.default_rng(2).integers(0, 256, (64, 64), "u1"))
        self.open("in.png")
        Select(self.field("kind")).select_by_value("none")
        before = self.pixels()
        view = self.field("brush-view")
        ActionChains(self.driver).move_to_element_with_offset(view, 60, 40).click_and_hold().move_by_offset(90, 30).release().perform()
        self.settle()
        marks = self.driver.execute_script("return stamps();")
        self.assertGreater(len(marks), 5)
        notches = [f"--notch={m['u']:.4f},{m['v']:.4f},{m['radius']:.4f}" for m in marks]
        self.assert_shows(self.expected(*notches))
        view.send_keys(Keys.ARROW_RIGHT * 3 + Keys.ARROW_UP + " ")
        self.settle()
        self.assertEqual(len(self.driver.execute_script("return strokes;")), 2)
        view.send_keys(Keys.CONTROL, "z")
        self.assert_shows(self.expected(*notches))
        self.field("undo").click()
        np.testing.assert_array_equal(self.pixels(), before)
        self.assertFalse(self.field("undo").is_enabled())

    def test_slices_and_labels(self) -> None:
        volume = np.random.default_rng(3).integers(0, 256, (5, 16, 18), "u1")
        self.save("in.npy", volume)
        self.open("in.npy")
        Select(self.field("kind")).select_by_value("none")
        self.assert_shows(volume[2])
        self.field("index").send_keys(Keys.ARROW_RIGHT)
        self.assert_shows(volume[3])
        Select(self.field("axis")).select_by_value("1")
        self.assert_shows(volume[:, 8])
        for control in self.driver.find_elements(By.CSS_SELECTOR, "input, select"):
            name = control.get_attribute("id")
            self.assertEqual(len(self.driver.find_elements(By.CSS_SELECTOR, f"label[for={name}]")), 1, name)

    def test_a_whole_volume(self) -> None:
        volume = np.random.default_rng(4).integers(0, 256, (20, 16, 24), "u1")
        self.save("in.npy", volume)
        self.open("in.npy")
        Select(self.field("boundary")).select_by_value("zero")
        Select(self.field("space")).select_by_value("volume")
        self.assertEqual(self.field("boundary").get_attribute("value"), "periodic")
        Select(self.field("axis")).select_by_value("2")
        self.field("s1").send_keys(Keys.ARROW_RIGHT * 5)
        self.succeed("filter", "in.npy", "out.npy", "--gaussian", "2,2.5,2", "--quiet")
        self.assert_shows(np.rint(self.load("out.npy")[:, :, 12].clip(0, 255)))
        Select(self.field("kind")).select_by_value("none")
        self.driver.execute_script("brush.u = 0.25; brush.v = -0.125;")
        self.field("brush-view").send_keys(" ")
        self.settle()
        flags = ["--notch", "-0.125,0.25,0,0.02"]
        self.succeed("filter", "in.npy", "out.npy", *flags, "--quiet")
        self.assert_shows(np.rint(self.load("out.npy")[:, :, 12].clip(0, 255)))
        Select(self.field("axis")).select_by_value("0")
        self.assert_shows(np.rint(self.load("out.npy")[10].clip(0, 255)))
        Select(self.field("space")).select_by_value("plane")
        self.assertEqual(len(self.driver.find_elements(By.ID, "s0")), 0)

    def wait_for(self, condition: str) -> None:
        WebDriverWait(self.driver, 30, 0.02).until(lambda driver: driver.execute_script(f"return {condition};"))

    def assert_shows_pattern(self, *flags: str) -> int:
        self.settle()
        number = self.driver.execute_script("return shown.number;")
        write_png(self.folder / "in.png", moving_pattern(number, 48, 64))
        self.assert_shows(self.expected(*flags))
        self.assertIn(f"frame {number}, ", self.field("status").text)
        return number

    def test_a_video_plays(self) -> None:
        self.open("--video", "pattern:64x48")
        body = self.driver.find_element(By.TAG_NAME, "body")
        self.wait_for("shown.number > 2")
        self.assertEqual(self.field("play").text, "Pause")
        self.driver.execute_script("Object.defineProperty(document, 'hidden', { value: true, configurable: true });")
        time.sleep(0.2)
        hidden = self.driver.execute_script("return [busy, shown.number];")
        time.sleep(0.2)
        self.assertEqual(self.driver.execute_script("return [busy, shown.number];"), [False, hidden[1]])
        self.driver.execute_script("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'));")
        self.wait_for(f"shown.number > {hidden[1] + 2}")
        self.field("play").click()
        paused = self.assert_shows_pattern("--gaussian", "3,1,0")
        self.assertEqual(self.field("play").text, "Play")
        self.field("step").click()
        body.send_keys(".")
        self.settle()
        self.assertIn(self.assert_shows_pattern("--gaussian", "3,1,0"), [paused + 1, paused + 2])
        body.send_keys("p")
        self.wait_for(f"shown.number > {paused + 3}")
        self.field("sx").send_keys(Keys.ARROW_RIGHT * 5)
        self.driver.execute_script("strokes.push([{ u: 0.25, v: 0.25, radius: 0.05 }]); changed();")
        sequence = self.driver.execute_script("return sequence;")
        self.wait_for(f"shown.sequence > {sequence + 1}")
        body.send_keys("p")
        self.assertGreater(self.assert_shows_pattern("--gaussian", "3.5,1,0", "--notch", "0.25,0.25,0.05"), paused + 3)
        time.sleep(0.2)
        self.assertFalse(self.driver.execute_script("return busy || video.playing;"))

    def test_a_video_that_fails_is_told_and_stops(self) -> None:
        video = {"columns": 8, "rows": 8, "frames": 2, "status": 1, "says": "the disc is gone"}
        (self.folder / "v.mp4").write_text(json.dumps(video))
        with mock.patch.dict(os.environ, PATH=f"{STAND_IN}:{os.environ['PATH']}"):
            self.server = Server(self, "--video", "v.mp4", "--threads", "1")
        self.driver.get(self.server.url)
        self.wait_for("byId('problem').textContent.includes('the disc is gone')")
        self.assertEqual(self.field("play").text, "Play")
        self.field("sx").send_keys(Keys.ARROW_RIGHT)
        self.settle()
        self.assertFalse(self.field("problem").is_displayed())
        self.driver.get_log("browser")  # which tells of the failed request

    def test_the_end_is_told(self) -> None:
        write_png(self.folder / "in.png", np.zeros((8, 8), "u1"))
        self.open("in.png")
        self.server.clear()
        self.field("sx").send_keys(Keys.ARROW_RIGHT)
        WebDriverWait(self.driver, 10).until(lambda _: "has ended" in self.field("problem").text)
        self.driver.get_log("browser")  # which tells of the refused connection

    def test_a_picture_of_it_all(self) -> None:
        shutil.copy(SAMPLE, self.folder / "camera.png")
        self.open("camera.png")
        self.field("sx").send_keys(Keys.ARROW_RIGHT * 10)
        self.field("angle").send_keys(Keys.ARROW_RIGHT * 30)
        view = self.field("brush-view")
        ActionChains(self.driver).move_to_element_with_offset(view, 20, 60).click_and_hold().move_by_offset(60, 10).release().perform()
        self.settle()
        picture = self.driver.get_screenshot_as_png()
        if "WEFT_SCREENSHOT" in os.environ:
            Path(os.environ["WEFT_SCREENSHOT"]).write_bytes(picture)
        wide = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth;"
        self.assertTrue(self.driver.execute_script(wide))


if __name__ == "__main__":
    unittest.main()
