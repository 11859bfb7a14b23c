"""Random numbers of the tests: WEFT_SEED repeats a run."""

from __future__ import annotations

import numpy as np
import pytest
from seed import SEED


def pytest_report_header() -> str:
    return f"WEFT_SEED={SEED}"


def pytest_terminal_summary(terminalreporter) -> None:
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(f"to repeat: WEFT_SEED={SEED}")


@pytest.fixture
def rng(request) -> np.random.Generator:
    return np.random.default_rng([SEED, *request.node.name.encode()])
