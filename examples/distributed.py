"""The gradient of a periodic function on many processes, by weft.PFFT: mpiexec -n 4 python distributed.py

The lines that make the transform and its arrays are those that a program for mpi4py-fft has; only the import differs.
"""

import numpy as np
from mpi4py import MPI

from weft import PFFT, newDistArray

comm = MPI.COMM_WORLD
n = np.array([48, 40, 36])

fft = PFFT(comm, n, axes=(0, 1, 2), dtype=float)
u = newDistArray(fft, False)  # this rank's part of the real array
u_hat = newDistArray(fft, True)  # and of its spectrum
gradient = newDistArray(fft, False, rank=1)  # a vector field: three components

# Coordinates of this rank's points, and frequencies of its part of the spectrum: halved along the last axis.
x = np.meshgrid(*[2 * np.pi * np.arange(m)[s] / m for m, s in zip(n, fft.local_slice(False))], indexing="ij")
frequencies = [np.fft.fftfreq(n[0], 1 / n[0]), np.fft.fftfreq(n[1], 1 / n[1]), np.fft.rfftfreq(n[2], 1 / n[2])]
k = np.meshgrid(*[f[s] for f, s in zip(frequencies, fft.local_slice(True))], indexing="ij")

u[:] = np.sin(3 * x[0]) * np.cos(2 * x[1]) * np.sin(x[2])
u_hat = fft.forward(u, u_hat)  # scaled by 1/N
for axis in range(3):
    gradient[axis] = fft.backward(1j * k[axis] * u_hat, gradient[axis])

expected = 3 * np.cos(3 * x[0]) * np.cos(2 * x[1]) * np.sin(x[2])
error = comm.allreduce(np.abs(gradient[0] - expected).max(initial=0), MPI.MAX)
assert error < 1e-12

gradient.write("gradient.npy")  # one file of shape (3, 48, 40, 36), each rank writes its own part
line = u.redistribute(0).get((slice(None), 0, 9))  # u along the first axis, on rank 0
if comm.Get_rank() == 0:
    print(
        f"largest error of the gradient on {comm.Get_size()} ranks: {error:.1e}; u has {len(line)} points along axis 0"
    )
