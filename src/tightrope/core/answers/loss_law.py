"""The privacy loss distribution as a value: certified masses between edges, atoms, and the mass of infinite losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from ...tables import Column, Table, Tabled
from ..numerics.rounding import next_down, next_up
from ..values.bound import Bound, why_wide
from ..values.calls import checked, rounded
from ..values.errors import InvalidParameter
from ..values.question import Direction

if TYPE_CHECKING:
    from ...plotting.style import Axes, Figure


BAR_ALPHA, BAND_ALPHA = 0.28, 0.1
SEEN_WIDTH = 2e-3  # of P[loss <= edge]: from here on a picture says why it is wide
BAND_SHARE = 0.02  # of the highest bar: ends that are further apart are both drawn
SEEN = 1e-9  # a probability that a bar shows
# Where atoms are looked for: heavy bins, heavier than both neighbours or much heavier than one; halves that keep this.
ATOM_MIN, PEAK, STEEP, KEPT = 1e-3, 1.2, 2.5, 0.3
ATOM_WIDTH = 1e-9  # of the range
PARTS_MAX = 300
MARGIN_SHARE = 0.04
ONE_LOSS = 1e-9  # of their size: ends that are no further apart leave no room for bins between doubles
STEM_SHARE = 0.03  # of the range: how far the bar of infinite losses stands from the others


@dataclass(frozen=True, slots=True)
class LossAtom:
    """The mass of losses in (after, upto], which are next to each other: one loss, or several as close as that."""

    after: float
    upto: float
    mass: Bound

    def __post_init__(self) -> None:
        if not self.after < self.upto:
            raise InvalidParameter(f"an atom lies in (after, upto], not in ({self.after!r}, {self.upto!r}]")


@dataclass(frozen=True, slots=True)
class LossSide:
    """One direction: P[loss <= edge] at each edge, atoms between them, and P[loss = inf].

    direction is None where a record is replaced.
    """

    direction: Direction | None
    edges: tuple[float, ...]
    below: tuple[Bound, ...]
    atoms: tuple[LossAtom, ...]
    infinite: Bound

    @property
    def name(self) -> str:
        """The direction as people read it."""
        return "replace" if self.direction is None else self.direction.value

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.below) or any(first >= second for first, second in pairwise(self.edges)):
            raise InvalidParameter("a loss distribution needs edges that rise, and one bound for each")

    @property
    def masses(self) -> tuple[Bound, ...]:
        """P[loss in (edge, next edge]], atoms included."""
        return tuple(difference(high, low) for low, high in pairwise(self.below))

    @property
    def bars(self) -> tuple[Bound, ...]:
        """The same without the atoms that are listed."""
        found = []
        for (low, high), mass in zip(pairwise(self.edges), self.masses, strict=True):
            for atom in self.atoms:
                if low <= atom.after and atom.upto <= high:
                    mass = difference(mass, atom.mass)
            found.append(mass)
        return tuple(found)


def loss_edges(quantiles: Sequence[float], count: int) -> tuple[float, ...]:
    """Of so many bins from the lowest to the highest finite one, with a margin; around one loss a width of its size."""
    ends = [end for end in quantiles if math.isfinite(end)] or [-1.0, 1.0]
    size, apart = max(map(abs, ends)), max(ends) - min(ends)
    margin = MARGIN_SHARE * (apart if apart > ONE_LOSS * size else max(size, 1.0))
    low, high = min(ends) - margin, max(ends) + margin
    return *(low + (high - low) * index / count for index in range(count)), high


def loss_atoms(
    below: Callable[[Sequence[float]], Sequence[Bound]], edges: Sequence[float], known: Sequence[Bound]
) -> tuple[LossAtom, ...]:
    """Atoms of bins that are heavier than their neighbours, by halving: a half that keeps the mass is looked into.

    What is listed has that mass for certain, by its lower end.
    """
    masses = [0.0, *(_middle(high) - _middle(low) for low, high in pairwise(known)), 0.0]
    parts: list[_Suspect] = []
    for index, ends in enumerate(zip(pairwise(edges), pairwise(known), strict=True)):
        before, mass, after = masses[index : index + 3]
        if difference(*reversed(ends[1])).lower < KEPT * mass:
            continue
        if mass > ATOM_MIN and (mass > PEAK * max(before, after) or mass > STEEP * min(before, after)):
            parts.append(_Suspect(*ends[0], *ends[1], mass))
    shortest = ATOM_WIDTH * (edges[-1] - edges[0])
    found: list[_Suspect] = []
    while parts and len(parts) <= PARTS_MAX:
        done = [part for part in parts if part.upto - part.after <= shortest]
        found += [part for part in done if difference(part.above, part.under).lower >= KEPT * part.mass]
        parts = [part for part in parts if part.upto - part.after > shortest]
        halves = [part.after + (part.upto - part.after) / 2.0 for part in parts]
        middles = below(halves) if halves else ()
        split = [
            half
            for part, at, bound in zip(parts, halves, middles, strict=True)
            for half in (part._replace(upto=at, above=bound), part._replace(after=at, under=bound))
        ]
        parts = [part for part in split if difference(part.above, part.under).lower >= KEPT * part.mass]
    atoms = [LossAtom(part.after, part.upto, difference(part.above, part.under)) for part in found]
    return tuple(sorted(atoms, key=lambda atom: atom.upto))


class _Suspect(NamedTuple):
    """An interval that may hold an atom, P[loss <= end] at both ends, and the mass of its bin."""

    after: float
    upto: float
    under: Bound
    above: Bound
    mass: float


def _middle(bound: Bound) -> float:
    return bound.lower + (bound.upper - bound.lower) / 2.0


def difference(one: Bound, other: Bound) -> Bound:
    """one - other, both probabilities and the first not below the second, rounded outward."""
    low, high = one.lower - other.upper, one.upper - other.lower
    return Bound(max(next_down(low), 0.0), max(min(next_up(high), 1.0), 0.0))


@dataclass(frozen=True, slots=True, repr=False)
class LossLaw(Tabled):
    """The loss of the dominating pair in each direction, under its first law."""

    sides: tuple[LossSide, ...]

    def __str__(self) -> str:
        return "; ".join(
            f"{side.name}: {len(side.edges) - 1} bins from {side.edges[0]:.3g} to {side.edges[-1]:.3g}, "
            f"{len(side.atoms)} atoms, infinite with probability {side.infinite}"
            for side in self.sides
        )

    def __repr__(self) -> str:
        return f"<LossLaw: {self}>"

    @property
    def exhausted(self) -> str | None:
        """What ran out before every mass was as narrow as a picture shows, time or memory; None where nothing did."""
        told = (bound.certificate for bound in self._bounds)
        return next((each.exhausted for each in told if each is not None and each.exhausted is not None), None)

    @property
    def wide(self) -> str | None:
        """Why some masses are known only within what a picture shows, and what may help; None where all are narrow."""
        return self.why_wide(lambda name, value: f"{name}={value!r}")

    def why_wide(self, show: Callable[[str, object], str]) -> str | None:
        """The same; show writes an argument of the question."""
        widest = max(self._bounds, key=lambda bound: bound.width)
        return None if widest.width <= SEEN_WIDTH else why_wide(widest, show)

    @property
    def _bounds(self) -> list[Bound]:
        return [bound for side in self.sides for bound in side.below]

    def _repr_png_(self) -> bytes | None:
        from ...plotting.style import png

        return png(self.plot)

    @property
    def table(self) -> Table:
        """Bins with all of their mass as an interval, then infinite losses."""
        names, after, upto, masses = self._bins()
        places = Column("after", after, True), Column("upto", upto, True)
        return Table((Column("direction", names), *places, Column("probability", [str(mass) for mass in masses])))

    @property
    def data(self) -> Table:
        """Columns direction, after, upto, lower, upper: bins with all of their mass, then infinite losses."""
        names, after, upto, masses = self._bins()
        places = Column("after", after, True), Column("upto", upto, True)
        lower, upper = [mass.lower for mass in masses], [mass.upper for mass in masses]
        return Table((Column("direction", names), *places, Column("lower", lower, True), Column("upper", upper, True)))

    def _bins(self) -> tuple[list[str], list[float], list[float], list[Bound]]:
        """Of both directions: their names, both ends, and the mass between."""
        rows = [
            (side.name, low, high, mass)
            for side in self.sides
            for (low, high), mass in (
                *zip(pairwise(side.edges), side.masses, strict=True),
                ((math.inf, math.inf), side.infinite),
            )
        ]
        names, after, upto, masses = (list(column) for column in zip(*rows, strict=True))
        return names, after, upto, masses

    @checked
    def plot(self, path: str | PathLike[str] | None = None, label: str = "", *, ax: Axes | None = None) -> Figure:
        """Bars for bins without their atoms, stems for atoms, a bar at the right for infinite losses.

        Where the ends of a mass can be told apart, the bar is the lower one and a light band reaches to the upper one.
        The suffix of path names the format; ax: axes to draw on.
        """
        from ...plotting.style import COLOURS, figure_of, sheet, wrapped

        with sheet(path, ax) as axes:
            high = 0.0
            for index, (side, name) in enumerate(self._shown()):
                high = max(high, _draw(axes, side, name, COLOURS[index], index))
            axes.set_xlabel("privacy loss")
            axes.set_ylabel("probability")
            axes.set_ylim(0.0, 1.12 * high if high > 0.0 else 1.0)
            axes.set_title(wrapped(label))
            axes.legend(frameon=False, fontsize=8, loc="upper left")
            if ax is None:
                widest = max(mass.upper - mass.lower for side in self.sides for mass in side.masses)
                said = f"certified: every mass is known to within {rounded(widest, 1, up=True)}"
                figure_of(axes).supxlabel(said, x=0.99, ha="right", color="#555555", fontsize=8)
            return figure_of(axes)

    def _shown(self) -> list[tuple[LossSide, str]]:
        """Each side with its name; one for both where they are the same."""
        first = self.sides[0]
        if len(self.sides) > 1 and all(
            (side.below, side.atoms, side.infinite) == (first.below, first.atoms, first.infinite) for side in self.sides
        ):
            return [(first, "both directions")]
        return [(side, side.name) for side in self.sides]


def _draw(axes: Axes, side: LossSide, name: str, colour: str, index: int) -> float:
    """One side; the highest number on it."""
    bars, width = side.bars, side.edges[-1] - side.edges[0]
    upper, lower = [bar.upper for bar in bars], [bar.lower for bar in bars]
    top = max([*upper, *(atom.mass.upper for atom in side.atoms)])
    if max(upper) > SEEN:
        axes.stairs(lower, side.edges, fill=True, color=colour, alpha=BAR_ALPHA, label=f"{name}, per bin")
        axes.stairs(lower, side.edges, color=colour, linewidth=1.2)
        if max(high - low for low, high in zip(lower, upper, strict=True)) > BAND_SHARE * top:
            words = f"{name}, upper ends"
            axes.stairs(upper, side.edges, baseline=lower, fill=True, color=colour, alpha=BAND_ALPHA, label=words)
            axes.stairs(upper, side.edges, color=colour, linewidth=0.8, linestyle=":")
    if side.atoms:
        places, masses = [atom.upto for atom in side.atoms], [atom.mass.lower for atom in side.atoms]
        axes.vlines(places, 0.0, masses, color=colour, linewidth=1.8)
        axes.vlines(places, masses, [atom.mass.upper for atom in side.atoms], color=colour, linewidth=0.8)
        axes.plot(places, masses, "o" if index == 0 else "s", color=colour, markersize=4.5, label=f"{name}, atoms")
    if side.infinite.upper > 0.0:
        left = side.edges[-1] + STEM_SHARE * width * (1 + 4 * index)
        axes.bar([left], [side.infinite.upper], 1.6 * STEM_SHARE * width, color=colour, hatch="//", edgecolor="white")
        words = f"inf {rounded(side.infinite.upper, 3, up=True)}"
        axes.annotate(words, (left, side.infinite.upper), (0, 3), textcoords="offset points", ha="center", fontsize=8)
        top = max(top, side.infinite.upper)
    return top
