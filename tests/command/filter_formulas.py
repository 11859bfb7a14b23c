"""The responses of weft filter's filters in NumPy, from the formulas that docs/filter.md tells, and pictures filtered by
numpy.fft."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Response = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of u, to the right, and v, downwards


def low(kind: str, f: np.ndarray, cutoff: float, order: float = 2) -> np.ndarray:
    if kind == "ideal":
        return (f <= cutoff).astype(float)
    if kind == "butterworth":
        return 1 / (1 + (f / cutoff) ** (2 * order))
    return np.exp(-((f / cutoff) ** 2) / 2)


def gaussian(sx: float, sy: float, angle: float = 0) -> Response:
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return lambda u, v: np.exp(-2 * math.pi**2 * ((sx * (u * c - v * s)) ** 2 + (sy * (u * s + v * c)) ** 2))


def lowpass(kind: str, cutoff: float, order: float = 2) -> Response:
    return lambda u, v: low(kind, np.hypot(u, v), cutoff, order)


def highpass(kind: str, cutoff: float, order: float = 2) -> Response:
    return lambda u, v: 1 - low(kind, np.hypot(u, v), cutoff, order)


def bandpass(kind: str, first: float, last: float, order: float = 2) -> Response:
    return lambda u, v: (1 - low(kind, np.hypot(u, v), first, order)) * low(kind, np.hypot(u, v), last, order)


def notch(u0: float, v0: float, radius: float, kind: str = "ideal", order: float = 2) -> Response:
    def wrap(d: np.ndarray) -> np.ndarray:
        return d - np.rint(d)

    def one(u: np.ndarray, v: np.ndarray, sign: int) -> np.ndarray:
        return 1 - low(kind, np.hypot(wrap(u - sign * u0), wrap(v - sign * v0)), radius, order)

    return lambda u, v: one(u, v, 1) * one(u, v, -1)


def bessel(x: np.ndarray) -> np.ndarray:
    """J1, by its integral: the trapezoidal rule is exact to rounding for a periodic function."""
    t = (np.arange(512) + 0.5) * (math.pi / 512)
    return np.mean(np.cos(t - x[..., None] * np.sin(t)), axis=-1)


def wiener(blur: Response, noise: float) -> Response:
    return lambda u, v: blur(u, v) / (blur(u, v) ** 2 + noise)


def motion(length: float, angle: float) -> Response:
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return lambda u, v: np.sinc(length * (u * c - v * s))


def disc(radius: float) -> Response:
    def response(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        x = 2 * math.pi * radius * np.hypot(u, v)
        return np.where(x == 0, 1, 2 * bessel(x) / np.where(x == 0, 1, x))

    return response


def grid(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    return np.fft.fftfreq(shape[1])[None, :], np.fft.fftfreq(shape[0])[:, None]


def extend(plane: np.ndarray, boundary: str) -> np.ndarray:
    rows, columns = plane.shape
    if boundary == "mirror":
        return np.pad(plane, ((0, rows), (0, columns)), mode="symmetric")
    return np.pad(plane, ((0, rows), (0, columns))) if boundary == "zero" else plane


def filtered_spectrum(plane: np.ndarray, response: Response, boundary: str = "periodic") -> np.ndarray:
    extended = extend(plane.astype(float), boundary)
    return np.fft.fft2(extended) * response(*grid(extended.shape))


def filtered(plane: np.ndarray, response: Response, boundary: str = "periodic") -> np.ndarray:
    """Rounded and clipped, as the picture is written."""
    result = np.fft.ifft2(filtered_spectrum(plane, response, boundary)).real
    return np.clip(np.rint(result[: plane.shape[0], : plane.shape[1]]), 0, np.iinfo(plane.dtype).max)
