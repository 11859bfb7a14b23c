"""weft under the name of mpi4py-fft, for the tests of that package: see scripts/mpi4py-fft-conformance."""

import weft
from weft import DistArray, Pencil, Subcomm, newDistArray

__all__ = ["PFFT", "DistArray", "Pencil", "Subcomm", "newDistArray"]


class PFFT(weft.PFFT):
    """Takes the names of mpi4py-fft's backends, too."""

    def __init__(self, *args, backend="fftw", **options):
        super().__init__(*args, **options)
