"""Kernels of weft.Convolution that are formulas of the wavenumber k.

Along an axis of n points and the length L, k is 2 pi j / L (-n/2 <= j <= n/2) with a periodic boundary, pi j / L with a
Dirichlet (j = 1..n) or a Neumann one (j = 0..n-1). L is n unless the convolution is given a length: without one, sigma
and the like are in points.

Derivatives of odd order make even fields of odd ones and back: the derivative along a Dirichlet axis is even about its
faces, as the field of a Neumann axis is, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from weft import _core

__all__ = [
    "Curl",
    "Derivative",
    "Divergence",
    "Elastic",
    "Gaussian",
    "Gradient",
    "Heat",
    "Kernel",
    "Laplacian",
    "Leray",
    "Poisson",
    "Riesz",
    "ScreenedPoisson",
    "Spectrum",
]


class Parameters(NamedTuple):
    """What a kernel tells the library: its array, values, covariance or constants; its parameter; its orders."""

    data: np.ndarray[Any, np.dtype[Any]] | None = None
    parameter: float = 0
    order: tuple[int, ...] | None = None


class Kernel:
    """A kernel that is built in."""

    kind: ClassVar[str]

    def parameters(self, rank: int) -> Parameters:
        """What it tells the library of fields with so many axes."""
        return Parameters()


def _refuse(sentence: str) -> _core.ArgumentError:
    return _core.ArgumentError(f"kernels.{sentence}")


@dataclass(frozen=True)
class Gaussian(Kernel):
    """exp(-k.C.k / 2): blurs as the normal distribution does whose covariance is C, in lengths squared.

    sigma is the standard deviation, the same along all axes or one for each; covariance is the matrix C.

    >>> Gaussian(1.5)
    Gaussian(sigma=1.5, covariance=None)
    >>> Gaussian(covariance=[[2, 1], [1, 2]])
    Gaussian(sigma=None, covariance=((2.0, 1.0), (1.0, 2.0)))
    """

    sigma: float | Iterable[float] | None = None
    covariance: Iterable[Iterable[float]] | None = None
    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        if (self.sigma is None) == (self.covariance is None):
            raise _refuse("Gaussian: give sigma or covariance, one of them")
        if self.covariance is not None:
            rows = tuple(tuple(float(entry) for entry in row) for row in self.covariance)
            object.__setattr__(self, "covariance", rows)
        elif isinstance(self.sigma, Iterable):
            object.__setattr__(self, "sigma", tuple(float(each) for each in self.sigma))

    def parameters(self, rank: int) -> Parameters:
        """The covariance, as a matrix."""
        if self.covariance is not None:
            matrix = self.covariance
            if not isinstance(matrix, tuple) or any(len(row) != rank for row in matrix) or len(matrix) != rank:
                raise _refuse(f"Gaussian: the covariance of a field with {rank} axes has {rank} rows of {rank} numbers")
            return Parameters(np.array(matrix, np.float64))
        sigma = np.array(self.sigma, np.float64)
        if sigma.shape not in ((), (rank,)):
            raise _refuse(f"Gaussian: sigma is one number, or one for each of {rank} axes")
        return Parameters(np.diag(np.broadcast_to(sigma**2, rank)))


@dataclass(frozen=True)
class Poisson(Kernel):
    """1 / |k|^2: of f it makes the u with -Laplacian u = f.

    Where the boundaries have the wavenumber 0, the convolution wants its value there: zero=0 for a u of mean 0.
    """

    kind: ClassVar[str] = "poisson"


@dataclass(frozen=True)
class ScreenedPoisson(Kernel):
    """1 / (|k|^2 + lam^2): of f it makes the u with (lam^2 - Laplacian) u = f."""

    lam: float
    kind: ClassVar[str] = "screened-poisson"

    def parameters(self, rank: int) -> Parameters:
        """lam."""
        return Parameters(parameter=float(self.lam))


@dataclass(frozen=True)
class Heat(Kernel):
    """exp(-t |k|^2): heat that has spread for the time t with diffusivity 1."""

    t: float
    kind: ClassVar[str] = "heat"

    def parameters(self, rank: int) -> Parameters:
        """t."""
        return Parameters(parameter=float(self.t))


@dataclass(frozen=True)
class Riesz(Kernel):
    """|k|^s: the fractional Laplacian (-Laplacian)^(s/2), or, with s < 0, the Riesz potential."""

    s: float
    kind: ClassVar[str] = "riesz"

    def parameters(self, rank: int) -> Parameters:
        """s."""
        return Parameters(parameter=float(self.s))


@dataclass(frozen=True)
class Derivative(Kernel):
    """The product of (i k)^order over the axes: the derivative of these orders, one for each axis.

    >>> Derivative((2, 0, 1))
    Derivative(order=(2, 0, 1))
    """

    order: int | Iterable[int]
    kind: ClassVar[str] = "derivative"

    def __post_init__(self) -> None:
        orders = tuple(self.order) if isinstance(self.order, Iterable) else (self.order,)
        object.__setattr__(self, "order", orders)

    def parameters(self, rank: int) -> Parameters:
        """The orders."""
        assert isinstance(self.order, tuple)
        return Parameters(order=self.order)


@dataclass(frozen=True)
class Laplacian(Kernel):
    """-|k|^2."""

    kind: ClassVar[str] = "laplacian"


@dataclass(frozen=True)
class Gradient(Kernel):
    """Of a scalar the vector of its first derivatives, one component for each axis, which are the result's first axis.

    Of one to three axes, which are periodic, Dirichlet or Neumann ones. Of this kernel and the next four, boundary is that
    of scalars; along Dirichlet and Neumann axes the other one holds for the component of a vector along the axis.

    >>> import numpy as np, weft
    >>> slopes = weft.Convolution((8, 6), Gradient())
    >>> slopes(np.ones((8, 6))).shape
    (2, 8, 6)
    """

    kind: ClassVar[str] = "gradient"


@dataclass(frozen=True)
class Divergence(Kernel):
    """Of a vector, whose components are the field's first axis, the sum of their derivatives along their own axes."""

    kind: ClassVar[str] = "divergence"


@dataclass(frozen=True)
class Curl(Kernel):
    """Of a vector of three components the vector of its rotation; of two the scalar."""

    kind: ClassVar[str] = "curl"


@dataclass(frozen=True)
class Leray(Kernel):
    """Of a vector its part without divergence, u - k (k.u) / |k|^2. A mean flow stays."""

    kind: ClassVar[str] = "leray"


@dataclass(frozen=True)
class Elastic(Kernel):
    """Of a stress the strain that it causes in an isotropic medium of Lame's constants, of mean 0.

    Both have the components xx, yy, zz, yz, xz, xy, or in two dimensions xx, yy, xy, which are their first axis.

    >>> Elastic(1.0, 0.5)
    Elastic(lam=1.0, mu=0.5)
    """

    lam: float
    mu: float
    kind: ClassVar[str] = "elastic"

    def parameters(self, rank: int) -> Parameters:
        """Both constants."""
        return Parameters(np.array([self.lam, self.mu], np.float64))


@dataclass(frozen=True, eq=False)
class Spectrum(Kernel):
    """The kernel's spectrum itself: its values at the wavenumbers of the field, in an array.

    Index i along a periodic axis of n points is the wavenumber i or, beyond n/2, i - n, as in numpy.fft; of real fields
    the last periodic axis has n // 2 + 1 values, as rfftn gives them. Along Neumann axes index i is j = i, along
    Dirichlet ones j = i + 1. Of real fields the values at k and -k are conjugate.

    >>> import numpy as np, weft
    >>> kernel = np.zeros((6, 8)); kernel[0, 0] = 2
    >>> twice = weft.Convolution((6, 8), Spectrum(np.fft.rfftn(kernel)))
    >>> bool(np.allclose(twice(np.ones((6, 8))), 2))
    True
    """

    values: Any
    kind: ClassVar[str] = "spectrum"

    def parameters(self, rank: int) -> Parameters:
        """The values."""
        return Parameters(np.asarray(self.values))
