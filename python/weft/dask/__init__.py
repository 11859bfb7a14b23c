"""Fourier transforms, convolutions and filters of Dask arrays, which may outgrow one machine's memory.

Functions have the names and meanings of weft.fft. They are lazy: the result is a Dask array, whose chunks are
transformed by weft.fft when it is computed, wherever Dask runs. A transform along several axes is a chain of passes: in
each, some axes lie whole in every chunk, and Dask moves the data between passes ("rechunking", on a cluster through the
workers' disks). DataArrays of xarray become DataArrays whose coordinates are frequencies.

Needs dask; `pip install "weft[dask]"` brings it.
"""

from dask.array.fft import fftfreq, fftshift, ifftshift, rfftfreq

from weft.dask._convolution import convolve, spectral_filter
from weft.dask._transforms import (
    dct,
    dctn,
    dst,
    dstn,
    fft,
    fft2,
    fftn,
    idct,
    idctn,
    idst,
    idstn,
    ifft,
    ifft2,
    ifftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)

__all__ = [
    "convolve",
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
    "spectral_filter",
]
