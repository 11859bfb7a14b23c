from weft._core import fft, ifft, rfft, irfft, fftn, ifftn, rfftn, irfftn, fft2, ifft2, rfft2, irfft2
