"""What `weft plot OCTREE.json` draws of `weft convolve --octree`: a slice of the octree around a rank's box, and around
one of its sub-domains."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MultipleLocator

from weft.plot.figures.picture import Picture
from weft.plot.figures.style import MUTED, ORANGE, PAPER, RULES, VERMILION, finish, make_axes
from weft.plot.listing import digits
from weft.plot.study import plural
from weft.plot.table import InputError
from weft.plot.workload import shape_label

NAMES = "xyz"
SHADES = "Blues_r"


def is_octree(file: Path) -> bool:
    """Whether a file is one of octrees, by its beginning."""
    try:
        with file.open(encoding="utf-8") as stream:
            return '"octrees"' in stream.read(4096)
    except (OSError, UnicodeDecodeError):
        return False


def load(file: Path) -> dict[str, Any]:
    """The file, its cells as arrays of five columns; refuses what is none."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        for tree in document["octrees"]:
            tree["cells"] = np.asarray(tree["cells"], dtype=np.int64).reshape(-1, 5)
        _check(document)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{file}: it is not what weft convolve --octree writes") from None
    return document


def _check(document: dict[str, Any]) -> None:
    """Fails where something that is drawn is missing, or of another type."""
    shape = document["shape"]
    if not 1 <= len(shape) <= 3 or min(shape) < 1 or not document["octrees"]:
        raise ValueError
    for tree in document["octrees"]:
        if len(tree["lo"]) != len(shape) or len(tree["n"]) != len(shape) or tree["rank"] < 0:
            raise ValueError
        if np.any(tree["cells"][:, :3] < 0) or np.any(tree["cells"][:, 3:] < 1):
            raise ValueError
        [int(number) for number in (*tree["lo"], *tree["n"], tree["subdomain"] or 0)]


def compose(document: dict[str, Any], axis: int | None, index: int | None, rank: int | None) -> Picture:
    """A slice normal to `axis` at `index`; without them normal to the first axis, through the middle of the sources."""
    shape = document["shape"]
    if len(shape) < 2:
        raise InputError("the field has one axis, so there is no slice of its octree to draw")
    if axis is not None and axis >= len(shape):
        raise InputError(f"--axis {axis}: the field has {len(shape)} axes; give 0 to {len(shape) - 1}")
    if len(shape) == 2 and (axis is not None or index is not None):
        raise InputError("--axis and --index: the field has 2 axes, so all of it is drawn; drop them")
    normal = None if len(shape) == 2 else axis or 0
    if normal is not None and index is not None and index >= shape[normal]:
        most = shape[normal] - 1
        raise InputError(f"--index {index}: there are {most + 1} points along axis {normal}; give 0 to {most}")
    trees = _trees_of(document, rank)
    if index is None and normal is not None:
        index = (trees[-1]["lo"][normal] + trees[-1]["n"][normal] // 2) % shape[normal]
    with matplotlib.rc_context(RULES):
        return _picture(document, trees, normal, index)


def _trees_of(document: dict[str, Any], rank: int | None) -> list[dict[str, Any]]:
    """The trees of a rank, without one whose box is the whole field if there is another."""
    having = [tree for tree in document["octrees"] if len(tree["cells"])]
    if not having:
        raise InputError("no rank has points, so there is no octree to draw")
    chosen = having[0]["rank"] if rank is None else rank
    trees = [tree for tree in having if tree["rank"] == chosen]
    if not trees:
        known = ", ".join(str(number) for number in sorted({tree["rank"] for tree in having}))
        raise InputError(f"--rank {chosen}: these have octrees: {known}")
    return [tree for tree in trees if tree["n"] != document["shape"]] or trees


def _picture(document: dict[str, Any], trees: list[dict[str, Any]], normal: int | None, index: int | None) -> Picture:
    shape = document["shape"]
    down, right = (a for a in range(len(shape)) if a != normal)
    width = 5.2 * len(trees) + (0 if len(trees) > 1 else 0.4)
    height = min(9.0, max(2.0, 4.6 * shape[down] / shape[right]))
    figure, grid = make_axes(1, len(trees), width, height)
    steps = sorted({int(step) for tree in trees for step in tree["cells"][:, 4]})
    colours = dict(zip(steps, matplotlib.colormaps[SHADES](np.linspace(0.1, 0.85, len(steps)))))
    for ax, tree in zip(grid[0], trees):
        _draw_cells(ax, shape, tree["cells"], (normal, index), colours)
        _draw_boxes(ax, document, tree, (normal, index))
        ax.set_title(_title(tree))
        ax.set_xlabel(f"{NAMES[right]}, points")
        ax.set_ylabel(f"{NAMES[down]}, points")
    where = "" if normal is None else f", slice {NAMES[normal]} = {index}"
    title = f"Where the result is sampled, {shape_label('x'.join(map(str, shape)))}{where}"
    handles = [Patch(facecolor=colours[step], edgecolor=MUTED, label=_words(step)) for step in steps]
    handles.append(Patch(facecolor="none", edgecolor=VERMILION, linewidth=2, label="sources of the octree"))
    if any(_is_other(other, tree) for other in document["octrees"] for tree in trees):
        handles.append(Patch(facecolor="none", edgecolor=ORANGE, linewidth=1.2, linestyle="--", label="boxes of ranks"))
    finish(figure, title, handles)
    seen = " ".join(_kept(shape, tree) for tree in trees)
    caption = f"Cells of the octree, by the step of the points that are kept in them along each axis. {seen}"
    return Picture("octree", title, caption, f"Squares that grow with the distance from a box. {seen}", figure)


def _title(tree: dict[str, Any]) -> str:
    part = "its box" if tree["subdomain"] is None else f"its sub-domain {tree['subdomain']}"
    return f"Rank {tree['rank']}: around {part}"


def _words(step: int) -> str:
    ending = "nd" if step % 10 == 2 and step % 100 != 12 else "th"
    return "every point" if step == 1 else f"every {step}{ending}"


def _is_other(other: dict[str, Any], tree: dict[str, Any]) -> bool:
    """Whether it is a rank's box that is not the one whose tree is drawn."""
    return other["subdomain"] is None and other is not tree and math.prod(other["n"]) > 0


def _kept(shape: list[int], tree: dict[str, Any]) -> str:
    """How many points of the field the cells keep."""
    kept = np.ones(len(tree["cells"]))
    for a, n in enumerate(shape):
        extent = np.minimum(tree["cells"][:, 3], n - tree["cells"][:, a])
        kept *= -(-extent // np.gcd(tree["cells"][:, 4], n))
    share = math.prod(shape) / kept.sum()
    return f"{_title(tree)}: {plural(len(tree['cells']), 'cell')}; one point of {digits(share)} is kept."


def _draw_cells(
    ax: Axes, shape: list[int], cells: np.ndarray, at: tuple[int | None, int | None], colours: dict[int, Any]
) -> None:
    """The cells that the slice cuts, each as a square of its colour, cut off where the field ends."""
    normal, index = at
    down, right = (a for a in range(len(shape)) if a != normal)
    if normal is not None and index is not None:
        cells = cells[(cells[:, normal] <= index) & (index < cells[:, normal] + cells[:, 3])]
    top, left = cells[:, down], cells[:, right]
    low, far = np.minimum(top + cells[:, 3], shape[down]), np.minimum(left + cells[:, 3], shape[right])
    corners = np.stack([np.stack(pair, -1) for pair in ((left, top), (far, top), (far, low), (left, low))], 1)
    faces = [colours[int(step)] for step in cells[:, 4]]
    line = min(0.5, 150 / max(shape[down], shape[right]))
    ax.add_collection(PolyCollection(corners, facecolors=faces, edgecolors=PAPER, linewidths=line))
    ax.set_xlim(0, shape[right])
    ax.set_ylim(shape[down], 0)  # rows of the array go down, as in pictures of it
    ax.set_aspect("equal")
    ax.grid(False)
    for axis, n in ((ax.xaxis, shape[right]), (ax.yaxis, shape[down])):
        axis.set_major_locator(MultipleLocator(2 ** max(0, math.ceil(math.log2(n / 8)))))


def _draw_boxes(ax: Axes, document: dict[str, Any], tree: dict[str, Any], at: tuple[int | None, int | None]) -> None:
    """Outlines of the box of the tree, and of those of the ranks that the slice cuts."""
    for other in document["octrees"]:
        if _is_other(other, tree):
            _outline(ax, document["shape"], other, at, edgecolor=ORANGE, linewidth=1.2, linestyle="--")
    _outline(ax, document["shape"], tree, at, edgecolor=VERMILION, linewidth=2)


def _outline(
    ax: Axes, shape: list[int], box: dict[str, Any], at: tuple[int | None, int | None], **look: object
) -> None:
    normal, index = at
    down, right = (a for a in range(len(shape)) if a != normal)
    if normal is not None and (index - box["lo"][normal]) % shape[normal] >= box["n"][normal]:
        return
    place = (box["lo"][right], box["lo"][down])
    ax.add_patch(Rectangle(place, box["n"][right], box["n"][down], facecolor="none", zorder=3, **look))
    if look.get("linestyle"):
        look = {"facecolor": PAPER, "edgecolor": "none", "alpha": 0.8, "pad": 1.5}
        ax.annotate(
            f"rank {box['rank']}", place, (5, -5), textcoords="offset points", va="top", fontsize=8, bbox=look, zorder=4
        )


def write(picture: Picture, folder: Path, formats: tuple[str, ...]) -> list[Path]:
    """octree.FORMAT for each format; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    return picture.save(folder, formats)
