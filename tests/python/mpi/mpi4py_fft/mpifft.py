from mpi4py_fft import PFFT  # noqa: F401
