"""Fourier transforms with the names and meanings of numpy.fft and scipy.fft.

Single precision is kept, input of any strides is transformed without copying it first, and plans are kept in
weft.plan_cache. Arguments are scipy.fft's, with `out` of numpy.fft besides. With scipy.fft.set_backend(weft.fft)
calls of scipy.fft come here.
"""

from weft._core import fft, fft2, fftn, ifft, ifft2, ifftn, irfft, irfft2, irfftn, rfft, rfft2, rfftn
from weft.fft import _transforms as _transforms  # answers what weft._core leaves
from weft.fft._backend import __ua_domain__ as __ua_domain__
from weft.fft._backend import __ua_function__ as __ua_function__
from weft.fft._frequencies import fftfreq, fftshift, ifftshift, next_fast_len, prev_fast_len, rfftfreq
from weft.fft._hermitian import hfft, hfft2, hfftn, ihfft, ihfft2, ihfftn
from weft.fft._trigonometric import dct, dctn, dst, dstn, fht, idct, idctn, idst, idstn, ifht
from weft.fft._workers import get_workers, set_workers

__all__ = [
    "fft",
    "ifft",
    "fft2",
    "ifft2",
    "fftn",
    "ifftn",
    "rfft",
    "irfft",
    "rfft2",
    "irfft2",
    "rfftn",
    "irfftn",
    "hfft",
    "ihfft",
    "hfft2",
    "ihfft2",
    "hfftn",
    "ihfftn",
    "dct",
    "idct",
    "dctn",
    "idctn",
    "dst",
    "idst",
    "dstn",
    "idstn",
    "fht",
    "ifht",
    "fftshift",
    "ifftshift",
    "fftfreq",
    "rfftfreq",
    "next_fast_len",
    "prev_fast_len",
    "set_workers",
    "get_workers",
]
