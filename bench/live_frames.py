#!/usr/bin/env python3
"""How fast weft live answers: frames of a grey picture of 1024 x 1024 while a slider moves.

Usage: bench/live_frames.py WEFT [--size 1024] [--frames 200] [--threads 2] [--filter gaussian|band|mask]
                            [--device host|opencl|cuda]

Starts the server on a picture of noise, asks for one frame after the other as the page does (one request at a time, on
a connection that stays open), and prints the best, medians and 95th percentiles: what the server computed (filter and transforms),
and the whole round trip until the last byte is here.
"""

from __future__ import annotations

import argparse
import http.client
import json
import platform
import struct
import subprocess
import tempfile
import time
import urllib.parse
import zlib
from pathlib import Path

HEADER_BYTES = 1024


def grey_png(size: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(
        b"\0" + bytes((x * y // 7 + (x ^ y) * 3) & 255 for x in range(size)) for y in range(size)
    )
    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


def body(kind: str, device: str, frame: int) -> str:
    lines = [f"sequence {frame}", f"device {device}"]
    if kind == "gaussian":
        lines.append(f"gaussian {1 + frame % 90 / 10},1.5,{frame % 180}")
    elif kind == "band":
        lines.append(f"bandpass butterworth,{0.01 + frame % 50 / 1000},0.3,2")
    else:
        lines.append("gaussian 2,1,30")
        lines += [f"notch {0.1 + (frame + i) % 300 / 1000},{i % 200 / 500},0.0200" for i in range(200)]
    return "\n".join(lines)


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--filter", choices=["gaussian", "band", "mask"], default="gaussian")
    parser.add_argument("--device", choices=["host", "opencl", "cuda"], default="host")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "noise.png"
        picture.write_bytes(grey_png(arguments.size))
        server = subprocess.Popen(
            [arguments.weft, "live", str(picture), "--threads", str(arguments.threads)], stdout=subprocess.PIPE, text=True
        )
        try:
            server.stdout.readline()
            address = urllib.parse.urlsplit(server.stdout.readline().strip())
            connection = http.client.HTTPConnection(address.hostname, address.port)
            computed, filters, trips = [], [], []
            for frame in range(arguments.frames + 5):
                begin = time.perf_counter()
                connection.request("POST", address.path + "frame", body(arguments.filter, arguments.device, frame))
                answer = connection.getresponse()
                content = answer.read()
                trip = 1e3 * (time.perf_counter() - begin)
                assert answer.status == 200, content
                header = json.loads(content[:HEADER_BYTES])
                assert header["sequence"] == frame and len(content) == HEADER_BYTES + 2 * arguments.size**2
                if frame >= 5:
                    computed.append(header["time"])
                    filters.append(header["filterTime"])
                    trips.append(trip)
        finally:
            server.terminate()
            server.wait()
    print(f"{platform.processor() or platform.machine()}, {arguments.size} x {arguments.size} grey, "
          f"{arguments.threads} threads, filter {arguments.filter}, {arguments.frames} frames, "
          f"{header['engine']} on {header['device']}")
    for name, values in [("filter's responses", filters), ("computed in all", computed), ("round trip", trips)]:
        print(f"  {name:20} best {min(values):6.2f} ms, median {percentile(values, 0.5):6.2f} ms, 95 % {percentile(values, 0.95):6.2f} ms")
    print(f"  {1e3 / (sum(trips) / len(trips)):.0f} updates a second")


if __name__ == "__main__":
    main()
