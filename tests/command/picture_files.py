"""PNG files without a library, and the moving pattern: what the tests of weft filter and weft live read and write."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # by samples of a pixel


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png_bytes(pixels: np.ndarray) -> bytes:
    """Of rows x columns or rows x columns x samples, u1 or u2."""
    pixels = pixels if pixels.ndim == 3 else pixels[:, :, None]
    rows, columns, samples = pixels.shape
    header = struct.pack(">IIBBBBB", columns, rows, 8 * pixels.itemsize, COLOUR_TYPES[samples], 0, 0, 0)
    lines = pixels.astype(pixels.dtype.newbyteorder(">")).reshape(rows, -1)
    data = b"".join(b"\0" + line.tobytes() for line in lines)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(data)) + _chunk(b"IEND", b"")


def write_png(path: Path, pixels: np.ndarray) -> None:
    path.write_bytes(png_bytes(pixels))


def moving_pattern(number: int, rows: int, columns: int) -> np.ndarray:
    """Frame `number` of weft live --video pattern:COLUMNSxROWS."""

    def bounce(step: np.ndarray | int, most: int) -> np.ndarray | int:
        return most - abs(step % (2 * most) - most)

    y, x = np.mgrid[:rows, :columns]
    radius = min(rows, columns) // 6
    centre = radius + bounce(3 * number, columns - 1 - 2 * radius), radius + bounce(2 * number, rows - 1 - 2 * radius)
    inside = (x - centre[0]) ** 2 + (y - centre[1]) ** 2 < radius**2
    wave = 3 * bounce(x + y + 2 * number, 32)
    return (np.where(inside, 159 + wave // 2, 32 + wave) + (x + y) // 2 % 2 * 48).astype("u1")


def _unfiltered(kind: int, line: np.ndarray, above: np.ndarray, step: int) -> np.ndarray:
    """A row from what PNG stores of it (its filters 0 to 4)."""
    out = line.astype(int)
    if kind == 2:
        return (out + above) % 256
    for i in range(len(out)) if kind in (1, 3, 4) else ():
        left = int(out[i - step]) if i >= step else 0
        up, corner = int(above[i]), int(above[i - step]) if i >= step else 0
        guess = left + up - corner
        near = [abs(guess - left), abs(guess - up), abs(guess - corner)]
        paeth = (left, up, corner)[near.index(min(near))]
        out[i] = (out[i] + {1: left, 3: (left + up) // 2, 4: paeth}[kind]) % 256
    return out


def read_png(path: Path) -> np.ndarray:
    content, at, data = path.read_bytes(), 8, b""
    while at < len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        name, body = content[at + 4 : at + 8], content[at + 8 : at + 8 + length]
        if name == b"IHDR":
            columns, rows, depth, colour = struct.unpack(">IIBB", body[:10])
        data += body if name == b"IDAT" else b""
        at += 12 + length
    samples = {v: k for k, v in COLOUR_TYPES.items()}[colour]
    step = samples * depth // 8
    stored = np.frombuffer(zlib.decompress(data), "u1").reshape(rows, 1 + columns * step)
    lines, above = [], np.zeros(columns * step, int)
    for line in stored:
        above = _unfiltered(int(line[0]), line[1:], above, step)
        lines.append(above.astype("u1").tobytes())
    pixels = np.frombuffer(b"".join(lines), ">u2" if depth == 16 else "u1").reshape(rows, columns, samples)
    return pixels.astype(f"u{depth // 8}")[:, :, 0] if samples == 1 else pixels.astype(f"u{depth // 8}")
