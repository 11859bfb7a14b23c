"""weft live: the server by requests alone. test_live_page.py looks at the page in a browser, and tests/live at how videos
are read, with the same stand-in for ffmpeg as here."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest
import zlib
from contextlib import suppress
from pathlib import Path
from unittest import mock

import numpy as np

from live_server import Server
from picture_files import moving_pattern, png_bytes, read_png, write_png
from weft_case import HDF5, WEFT, Case, environment

STAND_IN = Path(__file__).resolve().parents[1] / "live/stand_in"


def noisy(rows: int, columns: int, samples: int = 1, dtype: str = "u1") -> np.ndarray:
    rng = np.random.default_rng(11)
    shape = (rows, columns) if samples == 1 else (rows, columns, samples)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


class Live(Case):
    def serve(self, pixels: np.ndarray, *flags: str) -> Server:
        write_png(self.folder / "in.png", pixels)
        return Server(self, "in.png", *flags)

    def filtered(self, flags: list[str]) -> tuple[np.ndarray, np.ndarray]:
        self.succeed("filter", "in.png", "out.png", *flags, "--spectrum", "spectrum.png", "--quiet")
        return read_png(self.folder / "out.png"), read_png(self.folder / "spectrum.png")

    def assert_near(self, got: np.ndarray, expected: np.ndarray) -> None:
        """Threads and sums may differ in the last bit, which rounding may make a grey level."""
        self.assertEqual(got.shape, expected.shape)
        off = np.abs(got.astype(int) - expected.astype(int))
        self.assertLessEqual(off.max(), 1)
        self.assertLess((off > 0).mean(), 1e-3)


class Pages(Live):
    def test_the_page_and_its_parts_arrive(self) -> None:
        server = self.serve(noisy(20, 30))
        self.assertEqual(server.host, "127.0.0.1")
        for name, kind, words in [("", "text/html", b"page.js"), ("page.css", "text/css", b"prefers-color-scheme"),
                                  ("page.js", "text/javascript", b"fetch(")]:
            status, headers, content = server.ask(server.path + name)
            self.assertEqual(status, 200)
            self.assertIn(kind, headers["content-type"])
            self.assertIn(words, content)
            self.assertIn("default-src 'none'", headers["content-security-policy"])
            self.assertEqual(headers["referrer-policy"], "no-referrer")
            self.assertNotIn(b"https://", content)
        description = json.loads(server.ask(server.path + "description")[2])
        self.assertEqual((description["name"], description["extents"]), ("in.png", []))
        self.assertEqual(description["devices"][0], "host")

    def test_who_has_no_token_is_refused(self) -> None:
        server = self.serve(noisy(20, 30))
        token = server.path.strip("/")
        self.assertRegex(token, r"^[0-9a-f]{32}$")
        wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
        for path in ["/", "", "/frame", f"/{wrong}/", f"/{token}", f"/{token[:-1]}/", f"/{token}0/", f"//{token}/",
                     "/" + "a" * 5000, f"/{wrong}/frame"]:
            self.assertEqual(server.ask(path)[0], 403, path)
        self.assertEqual(server.ask(f"/{wrong}/frame", "POST", "sequence 1")[0], 403)
        self.assertEqual(server.ask(f"/{token}/other")[0], 404)
        self.assertNotEqual(Server(self, "in.png").path, server.path)

    def test_other_hosts_and_origins_are_refused(self) -> None:
        server = self.serve(noisy(20, 30))
        own = f"127.0.0.1:{server.port}"
        for headers, status in [
            ({"Host": "evil.example"}, 403), ({"Host": f"evil.example:{server.port}"}, 403), ({"Host": ""}, 403),
            ({"Host": "localhost.evil.example"}, 403), ({"Host": "[::1"}, 403),
            ({"Host": own, "Origin": "http://evil.example"}, 403), ({"Host": own, "Origin": "null"}, 403),
            ({"Host": own, "Origin": f"https://{own}"}, 403), ({"Host": own, "Origin": f"http://127.0.0.1:{server.port + 1}"}, 403),
            ({"Host": own, "Origin": f"http://{own}"}, 200), ({"Host": f"localhost:{server.port}"}, 200),
            ({"Host": "localhost:9000", "Origin": "http://localhost:9000"}, 200), ({"Host": "[::1]:80"}, 200),
        ]:
            self.assertEqual(server.ask(server.path, **headers)[0], status, headers)
            frame = server.ask(server.path + "frame", "POST", "sequence 1", **headers)
            self.assertEqual(frame[0], status, headers)

    def test_methods(self) -> None:
        server = self.serve(noisy(20, 30))
        for path, method in [("", "POST"), ("frame", "GET"), ("", "DELETE"), ("frame", "PUT"), ("page.js", "OPTIONS")]:
            self.assertEqual(server.ask(server.path + path, method)[0], 405, (path, method))


class Frames(Live):
    def test_frames_are_what_weft_filter_writes(self) -> None:
        mask = [f"notch {u:.4f},{v:.4f},0.0200" for u, v in np.random.default_rng(2).uniform(-0.5, 0.5, (60, 2))]
        for pixels in [noisy(48, 60), noisy(33, 27, 3)]:
            server = self.serve(pixels, "--threads", "2")
            for lines in [["gaussian 3,1,30"], ["gaussian 0.5,4,-75", "boundary mirror"], ["lowpass ideal,0.123"],
                          ["highpass butterworth,0.05,3", "boundary zero"], ["bandpass gaussian,0.05,0.2"],
                          ["wiener motion,5,20,0.01"], mask, ["gaussian 1,2,10", *mask], []]:
                flags = [f"--{line.replace(' ', '=')}" for line in lines] or ["--gaussian=0"]
                header, picture, spectrum = server.frame("sequence 7", *lines)
                expected = self.filtered(flags)
                self.assert_near(picture, expected[0])
                self.assert_near(spectrum, expected[1])
                self.assertEqual((header["sequence"], header["engine"], header["device"]), (7, "native", "host"))
                self.assertGreaterEqual(header["steps"], header["transforms"])
                self.assertGreater(header["transforms"], 0)

    def test_sixteen_bits_are_shown_in_eight(self) -> None:
        pixels = noisy(30, 30, 1, "u2")
        _, picture, _ = self.serve(pixels).frame("sequence 1")
        self.assert_near(picture, np.rint(pixels / 257).astype("u1"))

    def test_planes_of_volumes(self) -> None:
        volume = np.random.default_rng(5).normal(3, 2, (9, 12, 15)).astype("f4")
        self.save("in.npy", volume)
        names = ["in.npy"]
        if HDF5:
            self.succeed("filter", "in.npy", "in.h5:/x", "--gaussian", "0")
            names.append("in.h5:/x")
        for name in names:
            server = Server(self, name)
            self.assertEqual(json.loads(server.ask(server.path + "description")[2])["extents"], [9, 12, 15])
            grey = (volume - volume.min()) * (255 / (volume.max() - volume.min()))
            for axis in range(3):
                for index in [0, volume.shape[axis] - 1, 4]:
                    _, picture, _ = server.frame(f"axis {axis}", f"index {index}")
                    self.assertLessEqual(np.abs(picture - grey.take(index, axis)).max(), 0.51)
            for axis, index in [(0, 9), (3, 0), (1, 12)]:
                status = server.ask(server.path + "frame", "POST", f"axis {axis}\nindex {index}")[0]
                self.assertEqual(status, 422)

    def test_planes_of_bytes_are_as_they_are(self) -> None:
        volume = np.random.default_rng(6).integers(10, 100, (4, 5, 6), "u1")
        self.save("in.npy", volume)
        np.testing.assert_array_equal(Server(self, "in.npy").frame("axis 2", "index 3")[1], volume[:, :, 3])

    def test_volumes_that_are_filtered_whole(self) -> None:
        volume = np.random.default_rng(8).normal(3, 2, (9, 13, 16)).astype("f4")
        self.save("in.npy", volume)
        low, white = volume.min(), volume.max() - volume.min()
        u = np.meshgrid(*(np.fft.fftfreq(n) for n in volume.shape), indexing="ij", sparse=True)
        smooth = np.exp(-2 * np.pi**2 * ((1.5 * u[0]) ** 2 + (0.5 * u[1]) ** 2 + u[2] ** 2))
        for ranks in [1, 3]:
            server = Server(self, "in.npy", "--ranks", str(ranks), "--threads", "1")
            self.assertEqual(json.loads(server.ask(server.path + "description")[2])["processes"], ranks)
            for lines, response in [(["gaussian 1.5,0.5,1"], smooth), ([], 1.0)]:
                spectrum = np.fft.fftn((volume - low) / white / volume.size) * response
                result = np.clip(255 * volume.size * np.fft.ifftn(spectrum).real, 0, 255)
                levels = (20 * np.log10(np.maximum(np.abs(spectrum), 1e-30)) + 110) * (255 / 80)
                for axis, index in [(0, 0), (1, 12), (2, 7), (0, 8)]:
                    header, picture, shown = server.frame("space volume", f"axis {axis}", f"index {index}", *lines)
                    self.assert_near(picture, np.rint(result.take(index, axis)))
                    self.assert_near(shown, np.rint(np.fft.fftshift(levels.take(0, axis)).clip(0, 255)))
                    self.assertEqual((header["processes"], header["engine"]), (ranks, "native"))
            self.succeed("filter", "in.npy", "out.npy", "--bandpass", "gaussian,0.05,0.2", "--boundary", "mirror", "--quiet")
            mirrored = ((self.load("out.npy") - low) * (255 / white)).clip(0, 255)
            _, picture, _ = server.frame("space volume", "boundary mirror", "bandpass gaussian,0.05,0.2", "axis 1", "index 3")
            self.assert_near(picture, np.rint(mirrored[:, 3]))
            self.assert_near(server.frame("space volume", "axis 0", "index 4")[1], np.rint((volume[4] - low) * (255 / white)))
            for lines, words in [(["space volume", "boundary zero"], "periodic or mirror"), (["space volume", "index 9"], "no plane 9"),
                                 (["space volume", "boundary mirror", "notch 0.1,0.2,0,0.05"], "periodic"),
                                 (["space volume", "gaussian 1,2"], "a width for all axes"), (["space sphere"], "give volume"),
                                 (["gaussian 1,2", "space volume"], "before filters")]:
                status, _, content = server.ask(server.path + "frame", "POST", "\n".join(lines))
                self.assertEqual((status, words in content.decode()), (422, True), content)
            server.frame("space volume", "lowpass ideal,0.2")
            if ranks == 1:
                self.assertEqual(server.end(signal.SIGTERM), (0, ""))
            else:
                self.assertEqual(server.end(signal.SIGTERM)[1], "")

    def test_what_is_no_volume(self) -> None:
        write_png(self.folder / "in.png", noisy(6, 7))
        self.save("plane.npy", noisy(6, 7))
        for name in ["in.png", "plane.npy"]:
            server = Server(self, name)
            status, _, content = server.ask(server.path + "frame", "POST", "space volume")
            self.assertEqual((status, content), (422, b"this is no volume of three axes"))
            self.assertIn("drop --ranks", self.refuse("live", name, "--ranks", "2"))

    def test_wrong_requests_are_told_why(self) -> None:
        server = self.serve(noisy(20, 30))
        for body in ["nonsense", "gaussian", "gaussian a", "gaussian 1,2,3,4", "device host2", "device simulated2",
                     "boundary linear", "sequence -1", "sequence x", "axis 3", "index 1", "sequence 99999999999999999999",
                     "\n", "wiener box,1,1", "\n".join(["notch 0,0,0.01"] * 2049), "gaussian " + "1," * 30000]:
            status, headers, content = server.ask(server.path + "frame", "POST", body)
            self.assertEqual(status, 422, body[:40])
            self.assertGreater(len(content), 10)
            self.assertLess(len(content), 1024)
            self.assertIn("text/plain", headers["content-type"])
        self.assertEqual(server.ask(server.path + "frame", "POST", b"gaussian 1\0\xff")[0], 200)
        self.assertEqual(server.ask(server.path + "frame", "POST", b"\xff\xfe 1")[0], 422)
        self.assertEqual(server.ask(server.path + "frame", "POST", "")[0], 200)


class Videos(Live):
    def setUp(self) -> None:
        super().setUp()
        path = mock.patch.dict(os.environ, PATH=f"{STAND_IN}:{os.environ['PATH']}")
        path.start()
        self.addCleanup(path.stop)

    def play(self, **video: object) -> Server:
        """A file that the stand-in reads, with a name that looks like a flag."""
        self.write(**video)
        return Server(self, "--video=-v.mp4", "--threads", "1")

    def write(self, **video: object) -> None:
        content = {"columns": 24, "rows": 16, "log": str(self.folder / "log"), **video}
        (self.folder / "-v.mp4").write_text(json.dumps(content))

    def sent(self) -> int:
        return (self.folder / "log.frames").stat().st_size

    def assert_ended(self) -> None:
        """All that have been started for a video; they end a moment after weft where a signal has ended it at once."""
        for line in (self.folder / "log").read_text().splitlines():
            deadline = time.monotonic() + 10
            while (at := Path(f"/proc/{line.split()[0]}/cmdline")).exists() and b"ffmpeg" in at.read_bytes():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)

    def test_frames_of_the_pattern_are_what_weft_filter_writes(self) -> None:
        server = Server(self, "--video", "pattern:60x48", "--threads", "1")
        description = json.loads(server.ask(server.path + "description")[2])
        self.assertEqual((description["name"], description["videoRate"]), ("pattern:60x48", 25))
        for number in range(40):
            header, picture, _ = server.frame(*(["video step"] if number > 0 else []))
            self.assertEqual((header["number"], header["dropped"]), (number, 0))
            np.testing.assert_array_equal(picture, moving_pattern(number, 48, 60))
        write_png(self.folder / "in.png", picture)
        for line in ["gaussian 3,1,30", "notch 0.25,0.25,0.05", "bandpass gaussian,0.05,0.2"]:
            expected = self.filtered([f"--{line.replace(' ', '=')}"])
            for got, right in zip(server.frame(line)[1:], expected):
                self.assert_near(got, right)
        first = server.frame("video play", "gaussian 2")[0]
        self.assertEqual(first["number"], 40)
        self.assertLessEqual(first["wait"], 40)
        time.sleep(0.2)
        later, picture, _ = server.frame("video play")
        self.assertGreater(later["number"], 40)
        self.assertEqual(later["dropped"], later["number"] - 41)
        np.testing.assert_array_equal(picture, moving_pattern(later["number"], 48, 60))

    def test_frames_of_a_file_are_what_weft_filter_writes(self) -> None:
        server = self.play(frames=3)
        for number in [1, 2, 0, 1]:
            _, before, _ = server.frame("video step")
            y, x, level = np.mgrid[:16, :24, :3]
            np.testing.assert_array_equal(before, (7 * number + x + 3 * y + 50 * level) % 256)
        write_png(self.folder / "in.png", before)
        header, picture, spectrum = server.frame("gaussian 1,2,10")
        expected = self.filtered(["--gaussian=1,2,10"])
        self.assert_near(picture, expected[0])
        self.assert_near(spectrum, expected[1])
        self.assertEqual(header["number"], 1)
        (self.folder / "log").unlink()
        status, _, sentence = server.ask(server.path + "frame", "POST", "axis 0\nindex 1")
        self.assertEqual((status, b"plane" in sentence), (422, True))

    def test_requests_that_are_overtaken_move_nothing(self) -> None:
        server = Server(self, "--video", "pattern:300x200")
        self.assertEqual(server.frame()[0]["number"], 0)
        statuses: list[int] = []

        def ask() -> None:
            statuses.append(server.ask(server.path + "frame", "POST", "video step\ngaussian 2")[0])

        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(statuses), {200, 409})
        self.assertEqual(server.frame()[0]["number"], statuses.count(200))

    def test_a_file_is_read_as_it_is_shown(self) -> None:
        server = self.play(columns=64, rows=64)
        for number in range(1, 301):
            if number == 50:
                before = server.resident_kib()
            self.assertEqual(server.frame("video step")[0]["number"], number)
        time.sleep(0.2)  # nobody asks
        ahead = 65536 // (3 * 64 * 64) + 4  # in the pipe, in hand and being written
        self.assertLessEqual(self.sent(), 301 + ahead)
        self.assertLess(server.resident_kib() - before, 2048)  # of 3000 for all frames
        self.assertEqual(server.end(signal.SIGINT), (0, ""))
        self.assert_ended()

    def test_wrong_requests_are_told_why(self) -> None:
        server = Server(self, "--video", "pattern:8x8")
        for body in ["video", "video ", "video back", "video playing"]:
            status, _, content = server.ask(server.path + "frame", "POST", body)
            self.assertEqual((status, len(content) > 10), (422, True), body)
        server = self.serve(noisy(4, 4))
        self.assertIn(b"no video", server.ask(server.path + "frame", "POST", "video play")[2])
        self.assertIsNone(json.loads(server.ask(server.path + "description")[2])["videoRate"])

    def test_failures_of_ffmpeg(self) -> None:
        for said, video in [("no video", {"probed": ""}), ("Invalid data", {"probed": "", "says": "x: Invalid data", "status": 1}),
                            ("middle of a frame", {"frames": 1, "cut": 5}), ("something else", {"header": "P6\n24 15\n"})]:
            self.write(**video)
            self.assertRegex(self.refuse("live", "--video=-v.mp4"), f"^weft: -v.mp4: .*{said}")
        with mock.patch.dict(os.environ, PATH="/absent"):
            self.assertIn("apt install ffmpeg", self.refuse("live", "--video=-v.mp4"))
            self.assertEqual(Server(self, "--video", "pattern:9x9").frame()[0]["number"], 0)
        server = self.play(frames=2, status=1, says="the disc is gone")
        server.frame("video step")
        status, _, content = server.ask(server.path + "frame", "POST", "video step")
        self.assertEqual((status, content), (422, b"-v.mp4: ffmpeg says: the disc is gone"))
        self.assertEqual(server.frame("gaussian 1")[0]["number"], 1)
        self.assertEqual(server.end(signal.SIGTERM), (0, ""))
        self.assert_ended()

    def test_signals_end_what_hangs(self) -> None:
        server = self.play(hang=1)
        threading.Timer(0.5, server.process.send_signal, [signal.SIGINT]).start()
        begin = time.monotonic()
        with suppress(OSError, http.client.HTTPException):  # an answer, or none
            self.assertEqual(server.ask(server.path + "frame", "POST", "video step")[0], 500)
        self.assertEqual(server.process.communicate(timeout=30)[1], "")
        self.assertEqual(server.process.returncode, 0)
        self.assertLess(time.monotonic() - begin, 2.5)
        self.assert_ended()
        (self.folder / "log").unlink()
        self.write(hang=0)
        opening = subprocess.Popen([WEFT, "live", "--video=-v.mp4"], cwd=self.folder, env=environment())
        while not (self.folder / "log").exists():
            time.sleep(0.01)
        opening.send_signal(signal.SIGINT)
        self.assertEqual(opening.wait(timeout=30), 128 + signal.SIGINT)
        self.assert_ended()

    def test_flags(self) -> None:
        write_png(self.folder / "in.png", noisy(4, 4))
        for said, line in [("FILE or --video", []), ("drop one", ["in.png", "--video", "pattern"]),
                           ("pattern:640x480", ["--video", "pattern:0x8"]),
                           ("raw file", ["--video", "pattern", "--shape", "4x4", "--dtype", "u8"]),
                           ("No such file", ["--video", "absent.mp4"]), ("No such file", ["--video", ""])]:
            self.assertIn(said, self.refuse("live", *line))


class Strain(Live):
    def raw(self, server: Server, data: bytes, read: int | None = None) -> bytes:
        """What comes back for bytes that need be no request; `read` bytes of it, or all."""
        with socket.create_connection((server.host, server.port), timeout=30) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                got = b""
                while (read is None or len(got) < read) and (more := connection.recv(65536)):
                    got += more
                return got
            except OSError:  # closed by the server in the middle
                return b""

    def post(self, server: Server, body: bytes) -> bytes:
        return (f"POST {server.path}frame HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body

    def test_malformed_and_oversized_requests(self) -> None:
        server = self.serve(noisy(20, 30))
        too_long = b"sequence 1\n" * 10000
        self.assertEqual(server.ask(server.path + "frame", "POST", too_long)[0], 413)
        chunked = f"POST {server.path}frame HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        chunked += b"".join(b"%x\r\n%s\r\n" % (1000, b"x" * 1000) for _ in range(100)) + b"0\r\n\r\n"
        self.assertIn(b"413", self.raw(server, chunked).split(b"\r\n")[0])
        host = b"Host: localhost\r\n"
        for data in [b"", b"\r\n\r\n", b"garbage\r\n\r\n", b"\0" * 1000, b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 100000,
                     b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 100000 + b"\r\n\r\n",
                     b"POST " + server.path.encode() + b"frame HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n",
                     b"POST " + server.path.encode() + b"frame HTTP/1.1\r\n" + host + b"Content-Length: 99999999999999999999\r\n\r\n",
                     b"GET " + server.path.encode() + b" HTTP/1.0\r\n\r\n",
                     self.post(server, b"sequence 1")[:-4]]:
            answer = self.raw(server, data)
            self.assertNotIn(b" 200 ", answer.split(b"\r\n")[0], data[:40])
        self.assertEqual(server.frame("sequence 3")[0]["sequence"], 3)
        self.assertIsNone(server.process.poll())

    def test_clients_that_close(self) -> None:
        server = self.serve(noisy(400, 500))
        for read in [0, 1, 2000]:
            for _ in range(5):
                self.raw(server, self.post(server, b"gaussian 1,2,3"), read)
        self.assertEqual(server.frame("sequence 3")[0]["sequence"], 3)

    def test_the_newest_request_wins(self) -> None:
        server = self.serve(noisy(300, 400))
        server.frame("sequence 0")
        statuses: dict[int, int] = {}

        def ask(number: int) -> None:
            statuses[number] = server.ask(server.path + "frame", "POST", f"sequence {number}\ngaussian 2")[0]

        threads = [threading.Thread(target=ask, args=[number]) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(statuses.values()), {200, 409})
        self.assertEqual(server.frame("sequence 21")[0]["sequence"], 21)

    def test_a_thousand_requests_in_bounded_memory(self) -> None:
        server = self.serve(noisy(64, 64, 3), "--threads", "1")
        boundaries = ["periodic", "mirror", "zero"]

        def some(count: int) -> None:
            for i in range(count):
                if i % 10 == 0:
                    server.ask(server.path + "frame", "POST", "wrong")
                else:
                    server.frame(f"gaussian {i % 7},1,{i}", f"boundary {boundaries[i // 5 % 3]}")

        some(200)
        before = server.resident_kib()
        some(1000)
        self.assertLess(server.resident_kib() - before, 2048)

    def test_signals_end_it_cleanly(self) -> None:
        self.save("in.npy", noisy(6, 20))
        write_png(self.folder / "in.png", noisy(20, 30))
        for number, name in [(signal.SIGTERM, "in.png"), (signal.SIGINT, "in.png"), (signal.SIGHUP, "in.png"),
                             (signal.SIGTERM, "in.npy"), (signal.SIGINT, "in.npy")]:
            server = Server(self, name)
            with socket.create_connection((server.host, server.port)):  # which asks for nothing
                server.frame("sequence 1")
                self.assertEqual(server.end(number), (0, ""))
            with self.assertRaises(OSError):
                server.ask(server.path)

    def test_a_signal_in_mid_frame(self) -> None:
        server = self.serve(noisy(400, 500))
        server.frame("sequence 1")
        threads = [threading.Thread(target=self.raw, args=[server, self.post(server, b"gaussian 3,1,5")]) for _ in range(6)]
        for thread in threads:
            thread.start()
        time.sleep(0.01)
        self.assertEqual(server.end(signal.SIGTERM), (0, ""))
        for thread in threads:
            thread.join()


class Refusals(Live):
    def test_files(self) -> None:
        write_png(self.folder / "in.png", noisy(4, 4))
        content = bytearray((self.folder / "in.png").read_bytes())
        content[16:24] = struct.pack(">II", 900000, 900000)
        content[29:33] = struct.pack(">I", zlib.crc32(bytes(content[12:29])))
        (self.folder / "huge.png").write_bytes(content)
        (self.folder / "cut.png").write_bytes(png_bytes(noisy(40, 40))[:200])
        self.save("line.npy", np.zeros(5))
        self.save("complex.npy", np.zeros((5, 5), "c16"))
        self.assertIn("too large", self.refuse("live", "huge.png"))
        for name in ["cut.png", "absent.png", "absent.npy", "line.npy", "complex.npy"]:
            self.assertIn(name, self.refuse("live", name))

    def test_addresses_and_flags(self) -> None:
        server = self.serve(noisy(4, 4))
        self.assertIn("cannot listen", self.refuse("live", "in.png", "--port", server.port))
        self.assertIn("numeric", self.refuse("live", "in.png", "--address", "example.org"))
        self.assertIn("cannot listen", self.refuse("live", "in.png", "--address", "192.0.2.1"))
        self.assertIn("65535", self.refuse("live", "in.png", "--port", "70000"))
        self.refuse("live", "in.png", "--device", "host")
        for address, host in [("::1", "[::1]"), ("localhost", "127.0.0.1"), ("0.0.0.0", "0.0.0.0")]:
            try:
                self.assertIn(f"http://{host}:", Server(self, "in.png", "--address", address).url)
            except AssertionError:
                if address != "::1" or _has_ipv6():
                    raise


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
