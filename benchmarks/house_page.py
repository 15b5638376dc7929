"""docs/house.md and its picture: the import graph of the packages, layer beneath layer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.house_tree import House, imports

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "house.md"
PICTURE = DOCS / "figures" / "house.svg"
LAYERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("the command line", ("cli",)),
    ("pages, teams, other libraries", ("explore", "interop", "ledger", "selftest", "sweep")),
    ("what is filed, and checked again", ("verification", "report")),
    ("what applications are made of", ("extend",)),
    ("audits", ("audit",)),
    ("text and JSON", ("result", "text")),
    ("what is made of answers", ("planning", "metrics", "conversions", "buckets", "bucket_drawing")),
    ("the straight path", ("accountant", "lower_bounds")),
    ("mechanisms", ("mechanisms",)),
    ("engines: ask, never recognise", ("engines",)),
    ("losses: the interface of a pair, families, and pairs made of pairs", ("losses",)),
    ("numbers and their error radii", ("numerics",)),
    ("values that all may use", ()),
)
OPENED = ("engines", "losses")  # drawn room by room
PER_ROW = 5
HEIGHT, GAP, WIDTH = 0.62, 0.55, 10.0
INK, PALE, LINE = "#1f2933", "#eef2f6", "#7b8794"

PAGE_TEXT = """# The house, measured

`make house` counts, on the syntax trees of `src/` and along a few questions, what a reader and a contributor meet;
`benchmarks/house.py` is the ruler. "Then" is the same count before: of the first rows on the tree before families had
rooms of their own, from the files that an epsilon enters on on the tree of 77,013 lines. A row that is reached stays
reached: `tests/test_house.py` reads this page and counts again.

{table}

Of the files that a family with a cgf touches, six are no
rows: `losses/truncated/truncated_laplace.py`, which cuts and clamps the Laplace noise, two mechanisms that
the same pair dominates, `mechanisms/exponential.py` and `mechanisms/thresholds.py`, and three in `interop/`,
which say it in the names of other libraries.
The numbers left in engines are those that an error term rests on: they stand beside their proof, since another value
would need another proof, and nobody tunes them.
The rows from the files that an epsilon enters on are what the present redesign is measured by. A question is traced
once it was answered before, so that imports are left out; a package is the first folder below `src/tightrope`, or
below its `core/`, whose rooms are measured by their own names.

## Who imports whom

![Layers of packages from top to bottom, with an arc for each layer that imports from another](figures/house.svg)

A layer imports from those beneath it: the arcs on the right, with the number of names each layer takes. An arc on the
left is drawn where a method of a mechanism
hands its question to the stage that answers it, by a late import, or where `tightrope.extend` has for one application
what another one makes. What all may use (the public names, errors, bounds, the allowance of work, ...) has no arcs.
Applications (cli, explore, interop, ledger, report, selftest, sweep) import `tightrope`, `tightrope.extend` and
`tightrope.ledger`, which are public, and nothing else of the package; `plotting/` alone imports matplotlib.
The contracts are in `pyproject.toml` under `tool.importlinter`.
"""


class Frame(NamedTuple):
    title: str
    rooms: tuple[tuple[str, int], ...]  # name, lines
    top: float
    bottom: float


def write(house: House, table: str) -> None:
    PAGE.write_text(PAGE_TEXT.format(table=table), "utf-8")
    draw(house)


def layer_of(package: str) -> int:
    return next((index for index, (_, names) in enumerate(LAYERS) if package in names), len(LAYERS) - 1)


def room_of(name: str) -> str:
    parts = name.split(".")
    if parts[0] in OPENED:
        return parts[1] if len(parts) > 2 else f"{parts[0]}/*.py"
    return parts[0]


def frames(house: House) -> tuple[Frame, ...]:
    sizes: tuple[Counter[str], ...] = tuple(Counter() for _ in LAYERS)
    for each in house.sources:
        if each.name:
            inside = each.name if each.path.name != "__init__.py" else f"{each.name}.__init__"
            sizes[layer_of(each.package)][room_of(inside)] += len(each.text.splitlines())
    found, top = [], 0.0
    for (title, _), rooms in zip(LAYERS, sizes, strict=True):
        height = HEIGHT * -(-len(rooms) // PER_ROW) + 0.42
        found.append(Frame(title, tuple(rooms.items()), top, top - height))
        top -= height + GAP
    return tuple(found)


def arcs(house: House) -> dict[tuple[int, int], int]:
    """How many names each layer takes from each other one."""
    found: Counter[tuple[int, int]] = Counter()
    for source in house.sources:
        for _, target in imports(source):
            found[layer_of(source.package), layer_of(target.split(".")[0])] += bool(source.name)
    last = len(LAYERS) - 1
    return {(a, b): count for (a, b), count in found.items() if a != b and b != last and count}


def draw(house: House) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    matplotlib.rcParams.update({"svg.hashsalt": "house", "svg.fonttype": "none", "font.family": "DejaVu Sans"})
    drawn = frames(house)
    figure, axes = plt.subplots(figsize=(12.0, 17.5))
    for frame in drawn:
        draw_frame(axes, frame)
    found = arcs(house)
    lanes: Counter[tuple[bool, int]] = Counter()
    for (start, end), count in sorted(found.items(), key=lambda item: abs(item[0][0] - item[0][1])):
        left = end < start
        lanes[left, start] += 1
        draw_arc(axes, drawn[start], drawn[end], (count, left, lanes[left, start]), LINE)
    axes.set_xlim(-3.2, WIDTH + 4.2)
    axes.set_ylim(drawn[-1].bottom - 0.2, 0.3)
    axes.set_aspect("equal")
    axes.axis("off")
    figure.savefig(PICTURE, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def draw_frame(axes: Axes, frame: Frame) -> None:
    from matplotlib.patches import FancyBboxPatch

    style = "round,pad=0.02,rounding_size=0.08"
    axes.add_patch(
        FancyBboxPatch((0, frame.bottom), WIDTH, frame.top - frame.bottom, boxstyle=style, fc=PALE, ec=LINE, lw=0.8)
    )
    axes.text(0.12, frame.top - 0.1, frame.title, va="top", fontsize=8.5, color=INK, style="italic")
    for index, (name, size) in enumerate(frame.rooms):
        row, column = divmod(index, PER_ROW)
        wide = WIDTH / min(PER_ROW, max(len(frame.rooms), 4))
        left, low = column * wide + 0.08, frame.top - 0.38 - (row + 1) * HEIGHT + 0.08
        axes.add_patch(
            FancyBboxPatch((left, low), wide - 0.16, HEIGHT - 0.12, boxstyle=style, fc="white", ec=LINE, lw=0.6)
        )
        middle = left + wide / 2 - 0.08
        axes.text(middle, low + 0.33, name, ha="center", va="center", fontsize=6.8, color=INK)
        axes.text(middle, low + 0.13, f"{size:,}", ha="center", va="center", fontsize=6.5, color=LINE)


def draw_arc(axes: Axes, start: Frame, end: Frame, arc: tuple[int, bool, int], colour: str) -> None:
    from matplotlib.patches import FancyArrowPatch

    count, left, lane = arc
    down = start.top > end.top
    x = 0.0 if left else WIDTH
    here = (x, (start.top + start.bottom) / 2 - (0.08 if down else -0.08) * lane)
    there = (x, (end.top + end.bottom) / 2 + (0.2 if down else -0.2))
    distance = abs(here[1] - there[1])
    bulge = min(0.3 + 0.28 * distance, 3.9) if not left else min(0.4 + 0.2 * distance, 2.6)
    bend = bulge / distance * (1 if left == down else -1) * 2
    axes.add_patch(
        FancyArrowPatch(
            here,
            there,
            connectionstyle=f"arc3,rad={bend:.3f}",
            arrowstyle="-|>",
            mutation_scale=7,
            lw=0.6 + min(count, 120) / 60,
            color=colour,
            alpha=0.85,
        )
    )
    at = (x + (-bulge if left else bulge), (here[1] + there[1]) / 2)
    axes.text(*at, str(count), ha="center", va="center", fontsize=6.5, color=colour, backgroundcolor="white")
