"""What the tests want of mpi4py_fft.fftw: names of transforms, which PFFT reads."""

from numpy import empty_like as aligned_like  # noqa: F401
from scipy.fft import dctn, dstn, idctn, idstn  # noqa: F401


def get_fftw_lib(code):
    """Which precisions there are: no long double."""
    return code in "fd"
