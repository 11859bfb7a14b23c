"""Random problems of the C library against NumPy and SciPy: kinds, axes, strides, batches, fields and matrices of them.

The seed is printed; WEFT_SEED=SEED repeats a run. TRANSFORM_PROBLEM names the program that calls the library.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import scipy.fft

C2C, R2C, R2R = range(3)
FOURIER, NONE, DCT1, DST1, REAL = 0, 1, 2, 6, 10  # weft_axis; the other cosine and sine transforms follow
NORMS = {1: "backward", 2: "ortho", 3: "forward"}
CASES = 400


def real_to_real(x: np.ndarray, axis: int, kind: int, inverse: bool, norm: str | None) -> np.ndarray:
    """A cosine or sine transform of weft_axis `kind`; norm None: unscaled in both directions."""
    sine, number = kind >= DST1, (kind - DCT1) % 4 + 1
    if norm is None and inverse:
        inverse, number = False, {2: 3, 3: 2}.get(number, number)
    function = getattr(scipy.fft, "i" * inverse + ("dst" if sine else "dct"))
    keywords = {"type": number, "axis": axis, "norm": norm or "backward", "orthogonalize": False}
    if np.iscomplexobj(x):
        return function(x.real, **keywords) + 1j * function(x.imag, **keywords)
    return function(x, **keywords)


def poisoned(count: int, is_complex: bool) -> np.ndarray:
    """Memory as transform_problem.c fills it."""
    return np.full(2 * count, 7777.0).view(np.complex128) if is_complex else np.full(count, 7777.0)


class Case:
    """A problem, its arrays as NumPy has them, and how they lie in memory."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        rank = rng.randint(1, 4)
        self.n = [rng.randint(2, 9) for _ in range(rank)]
        self.kind = rng.choice((C2C, C2C, R2C, R2C, R2R))
        others = [NONE, *range(DCT1, REAL)]
        self.axis = [rng.choice(others if self.kind == R2R else [FOURIER, FOURIER, *others]) for _ in range(rank)]
        one = rng.randrange(rank)
        if self.kind == R2R and all(a == NONE for a in self.axis):
            self.axis[one] = DCT1
        if self.kind != R2R and FOURIER not in self.axis:
            self.axis[one] = FOURIER
        fouriers = [a for a in range(rank) if self.axis[a] == FOURIER]
        self.halved = fouriers[-1] if self.kind == R2C else -1
        if self.kind == R2C and rng.random() < 0.5:
            self.halved = rng.choice(fouriers)
            self.axis[self.halved] = REAL
        self.norm = rng.choice((0, 1, 2, 3))
        self.inverse = rng.random() < 0.4
        self.strided = rng.random() < 0.5
        self.fastest = not self.strided and rng.random() < 0.5
        self.fields = 1 if self.strided else rng.randint(1, 4)
        self.batch = 1 if self.fastest else rng.randint(1, 3)
        self.made = self.fields
        self.matrix = not self.strided and not self.inverse and rng.random() < 0.7
        if self.matrix:
            self.made = rng.randint(1, 4)

    def spectrum(self) -> list[int]:
        return [n // 2 + 1 if a == self.halved else n for a, n in enumerate(self.n)]

    def expected(self, x: np.ndarray) -> np.ndarray:
        """The transform of an array of shape (batch, fields, *extents)."""
        norm = NORMS.get(self.norm)
        fouriers = [a + 2 for a, kind in enumerate(self.axis) if kind in (FOURIER, REAL) and a != self.halved]
        halved, n = self.halved + 2, self.n[self.halved]
        unscaled = "forward" if self.inverse else "backward"
        of_fourier = norm or unscaled
        for axis, kind in enumerate(self.axis):
            if DCT1 <= kind < REAL:
                x = real_to_real(x, axis + 2, kind, self.inverse, norm)
        if self.kind == R2R:
            return x
        if not self.inverse:
            if self.kind == R2C:
                x = np.fft.rfft(x, axis=halved, norm=of_fourier)
            return np.fft.fftn(x, axes=fouriers, norm=of_fourier) if fouriers else x
        if fouriers:
            x = np.fft.ifftn(x, axes=fouriers, norm=of_fourier)
        return np.fft.irfft(x, n, axis=halved, norm=of_fourier) if self.kind == R2C else x

    def mixed(self, spectrum: np.ndarray) -> np.ndarray:
        """What the matrix of transform_problem.c makes of the fields."""
        index = np.arange(spectrum.shape[2]).reshape(-1, *[1] * (spectrum.ndim - 3))
        results = [
            sum((1 + g - 2 * f + index / 4) * spectrum[:, f] for f in range(self.fields)) for g in range(self.made)
        ]
        return np.stack(results, axis=1)

    def view(self, shape: list[int], fields: int, is_complex: bool) -> tuple[np.ndarray, np.ndarray, list[int], int]:
        """Memory, the array in it of shape (batch, fields, *shape), its strides in elements (the batch's last, [] if
        it is row-major), and where its element 0 is."""
        if not self.strided:
            memory = poisoned(self.batch * fields * int(np.prod(shape)), is_complex)
            array = memory.reshape(self.batch, *([*shape, fields] if self.fastest else [fields, *shape]))
            return memory, np.moveaxis(array, -1, 1) if self.fastest else array, [], 0
        extents, strides = [*shape, self.batch], [0] * (len(shape) + 1)
        reach, begin = 0, 0
        for axis in self.rng.sample(range(len(extents)), len(extents)):
            stride = reach + 1 + self.rng.randint(0, 2)
            reach += stride * (extents[axis] - 1)
            backwards = self.rng.random() < 0.4
            begin += stride * (extents[axis] - 1) if backwards else 0
            strides[axis] = -stride if backwards else stride
        memory = poisoned(reach + 1, is_complex)
        size = memory.itemsize
        array = np.lib.stride_tricks.as_strided(
            memory[begin:], [self.batch, 1, *shape], [strides[-1] * size, 0, *[s * size for s in strides[:-1]]]
        )
        return memory, array, strides, begin

    def check(self, program: str) -> None:
        numbers = np.random.default_rng(self.rng.randrange(2**32))
        real_to_complex = self.kind == R2C
        sides = [(self.n, self.kind == C2C), (self.spectrum(), self.kind == C2C or real_to_complex)]
        sides = [(*sides[0], self.fields), (*sides[1], self.made)]
        lie = [self.view(shape, fields, is_complex) for shape, is_complex, fields in sides]
        source, target = (lie[1], lie[0]) if self.inverse else lie
        given = numbers.standard_normal((self.batch, self.fields, *self.n))
        if self.kind == C2C:
            given = given + 1j * numbers.standard_normal(given.shape)
        if self.inverse and real_to_complex:  # the spectrum of real data
            given = np.fft.rfft(given, axis=self.halved + 2)
            others = [a + 2 for a, kind in enumerate(self.axis) if kind == FOURIER and a != self.halved]
            given = np.fft.fftn(given, axes=others) if others else given
        source[1][...] = given
        wanted = self.expected(given)
        if self.matrix:
            wanted = self.mixed(wanted)
        result = self.run(program, lie, source, target)
        stored = target[0].copy()
        np.lib.stride_tricks.as_strided(stored[target[3] :], target[1].shape, target[1].strides)[...] = wanted
        error = np.linalg.norm(result - stored) / np.linalg.norm(wanted)
        assert error < 1e-14, f"error {error}"

    def run(self, program: str, lie: list, source: tuple, target: tuple) -> np.ndarray:
        arguments = {
            "kind": [self.kind], "norm": [self.norm], "n": self.n, "axis": self.axis, "batch": [self.batch],
            "direction": [int(self.inverse)], "fields": [self.fields], "result_fields": [self.made],
            "fields_fastest": [int(self.fastest)], "matrix": [int(self.matrix)],
            "size": [side[0].view(np.float64).size for side in (source, target)],
            "begin": [side[3] * side[0].itemsize // 8 for side in (source, target)],
        }  # fmt: skip
        for name, (_, _, strides, _) in zip(("in", "out"), lie):
            if strides:
                arguments[f"{name}_stride"], arguments[f"{name}_batch_stride"] = strides[:-1], strides[-1:]
        words = [f"{name}={','.join(map(str, values))}" for name, values in arguments.items()]
        done = subprocess.run([program, *words], input=source[0].tobytes(), capture_output=True)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stderr.decode()}"
        return np.frombuffer(done.stdout, target[0].dtype)

    def __str__(self) -> str:
        return str({name: value for name, value in vars(self).items() if name != "rng"})


def main() -> int:
    seed = int(os.environ.get("WEFT_SEED", random.SystemRandom().randrange(2**32)))
    print(f"WEFT_SEED={seed}", flush=True)
    rng = random.Random(seed)
    for number in range(CASES):
        case = Case(rng)
        try:
            case.check(os.environ["TRANSFORM_PROBLEM"])
        except AssertionError as error:
            print(f"FAIL case {number}: {case}: {error}")
            return 1
    print(f"{CASES} problems are NumPy's and SciPy's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
