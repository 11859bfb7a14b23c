"""These tests need a GPU, or WEFT_CUDA_LIBRARY_PATH with the driver of tests/cuda.

WEFT_TEST_GPU=1 or WEFT_TEST_HOST_CUDA=1 asks for them; they fail then where there is neither.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))

if not (os.environ.get("WEFT_TEST_GPU") or os.environ.get("WEFT_TEST_HOST_CUDA")):
    collect_ignore_glob = ["test_*.py"]
elif not os.environ.get("WEFT_TEST_GPU"):
    collect_ignore = ["test_gpu_arrays.py"]
