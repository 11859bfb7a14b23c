"""The pictures of a report, each drawn only where the table has what it needs."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib

from weft.plot.figures import accuracy, direction, exchange, libraries, phases, roofline, runtime, scaling
from weft.plot.figures.picture import Picture
from weft.plot.figures.style import RULES
from weft.plot.study import Study

GROUPS: list[tuple[str, Callable[[Study], list[Picture]]]] = [
    ("Libraries", libraries.draw),
    ("Strategies and variants", runtime.draw),
    ("Phases", phases.draw),
    ("Exchange methods", exchange.draw),
    ("Forward and inverse", direction.draw),
    ("Scaling", scaling.draw),
    ("Limits of the machine", roofline.draw),
    ("Errors and memory", accuracy.draw),
]


def draw_all(study: Study) -> list[tuple[str, list[Picture]]]:
    """All pictures, in groups with headings; groups without a picture are left out."""
    with matplotlib.rc_context(RULES):
        groups = [(heading, draw(study)) for heading, draw in GROUPS]
    return [(heading, pictures) for heading, pictures in groups if pictures]
