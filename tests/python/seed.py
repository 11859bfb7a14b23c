"""The seed of a run's random numbers, which WEFT_SEED repeats."""

from __future__ import annotations

import os
import random

SEED = int(os.environ.get("WEFT_SEED", random.SystemRandom().randrange(2**32)))
