"""Transforms of arrays on NVIDIA's GPUs, in place of their libraries: without copies, in the order of their streams.

views.py tells where an array lies, libraries.py what its library is asked to do with it, transforms.py computes
what weft.fft is asked for, calls.py the same where an earlier call was alike, and plans.py what weft.Plan is asked for.
"""
