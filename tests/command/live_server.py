"""weft live as a child of a test, and requests to it by http.client alone."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import urllib.parse
from pathlib import Path

import numpy as np

from weft_case import WEFT, Case, environment

HEADER_BYTES = 1024


class Server:
    """Runs until the test ends, on a port of its own."""

    def __init__(self, case: Case, name: str, *flags: str) -> None:
        # The address sanitizer keeps what was freed, which looks like a leak.
        sanitizer = f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
        self.process = subprocess.Popen(
            [WEFT, "live", name, *flags], cwd=case.folder, env=environment(ASAN_OPTIONS=sanitizer), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        case.addCleanup(self.clear)
        self.said = self.process.stdout.readline()
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise AssertionError(self.process.communicate()[1])
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path

    def ask(self, path: str, method: str = "GET", body: bytes | str | None = None,
            **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and contents; `path` is as it is, with the token or without."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def frame(self, *lines: str) -> tuple[dict, np.ndarray, np.ndarray]:
        """The header, the picture and the spectrum; colours along the last axis, where there are any."""
        status, _, content = self.ask(self.path + "frame", "POST", "\n".join(lines))
        if status != 200:
            raise AssertionError((status, content))
        header = json.loads(content[:HEADER_BYTES])
        pixels = header["channels"] * header["rows"] * header["columns"]
        planes = []
        for data, rows, columns in [
            (content[HEADER_BYTES : HEADER_BYTES + pixels], header["rows"], header["columns"]),
            (content[HEADER_BYTES + pixels :], header["spectrumRows"], header["spectrumColumns"]),
        ]:
            array = np.frombuffer(data, "u1").reshape(header["channels"], rows, columns)
            planes.append(array[0] if header["channels"] == 1 else np.moveaxis(array, 0, -1))
        return header, planes[0], planes[1]

    def resident_kib(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def end(self, number: int) -> tuple[int, str]:
        """Exit status after a signal, and what it wrote to stderr."""
        self.process.send_signal(number)
        _, error = self.process.communicate(timeout=30)
        return self.process.returncode, error

    def clear(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
