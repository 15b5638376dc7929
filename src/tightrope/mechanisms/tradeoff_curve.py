"""Any mechanism whose trade-off function is known to lie above a polyline: f-DP with an f of your own.

f(x) is the least false negative rate of a test for the record whose false positive rate is at most x.
The claim is f >= the lines between the points (fprs[i], fnrs[i]), not at the points alone: f is convex, and the values
of a convex function lie below their chords. Tangents of a convex curve, joined where they meet, lie below it, up to
the point where the last meets 0; after it the claim is 0.
With points_only the claim is f(fprs[i]) >= fnrs[i], and nothing is said of what lies between: far less follows.
Left of the first point and right of the last, f is as low as a convex f with f(0) <= 1 and f(1) = 0 can be; give the
point at fpr 0, whose fnr is 1 less the mass of infinite loss, and that at fpr 1, whose fnr is 0.
Points that are not convex are replaced by their lower convex hull.
both_directions: the claim holds for adding and for removing a record, as f-DP has it: then f >= max(f, its inverse).
Else it is about removing, false positives being those without the record; adding has the inverse.
Guarantee: the pair dominates every such mechanism, in exact fractions. Where the points are convex it is one of them,
so that no better bound follows from them, also under composition; else the lower end is that of the pair.
Reference: Dong, Roth, Su 2022, Thm 2.10, Prop. 2.4. Proof: docs/proofs/tradeoff.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import flag, in_order, probability

if TYPE_CHECKING:
    from ..pairs.finite.tradeoff import Point

ABOVE_MAX = Fraction(1, 10**12)  # of a rate over 1 - fpr, which is then taken for it
POINTS_SHOWN = 8  # in a title


@dataclass(frozen=True, slots=True, repr=False)
class TradeoffCurve(Leaf):
    """Any mechanism whose trade-off function lies above the lines between (fprs[i], fnrs[i]).

    points_only: it lies above the points, and between them it is only known to be convex.
    both_directions: for adding and for removing a record; else for removing, and adding has the inverse.
    """

    example = "TradeoffCurve(fprs=[0, 0.25, 1], fnrs=[1, 0.25, 0]) * 10"
    universal = True
    section = "promises"
    formula = (
        "The pair whose trade-off is f, the lower convex hull of the lines (of the points, with points_only), or "
        "max(f, its inverse) where both_directions: H(a) = max over x of 1 - f(x) - a x, in exact fractions"
    )
    theorem = "Dong, Roth, Su 2022, Thm 2.10, Prop. 2.4; [proof](proofs/tradeoff.md)"
    tightness = (
        "Where the points are convex no better bound follows from them, also under composition: the pair is as "
        "claimed. Else lower ends speak of the dominating pair."
    )
    relations = "That of the claim; both_directions says whether it holds for adding and for removing a record."
    fprs: Sequence[float]
    fnrs: Sequence[float]
    both_directions: bool = True
    points_only: bool = False
    corners: tuple[Point, ...] = field(init=False, compare=False)  # of the polyline that the pair attains
    exactly: bool = field(init=False, compare=False)  # whether the pair is itself as claimed

    def __post_init__(self) -> None:
        fprs, fnrs = _rates("fprs", self.fprs), _rates("fnrs", self.fnrs)
        if len(fprs) != len(fnrs):
            raise InvalidParameter(f"fprs and fnrs must have the same length, not {len(fprs)} and {len(fnrs)}")
        for index, (one, two) in enumerate(pairwise(fprs)):
            if not one < two:
                raise InvalidParameter(f"fprs must rise, not from {one!r} to {two!r} at index {index + 1}")
        for name in ("both_directions", "points_only"):
            flag(name, getattr(self, name))
        object.__setattr__(self, "fprs", fprs)
        object.__setattr__(self, "fnrs", fnrs)
        from ..pairs.finite.tradeoff import holds, lines_below, mirrored, points_below, symmetric

        points = _points(fprs, fnrs)
        if self.points_only:
            corners = points_below([*points, *mirrored(points)] if self.both_directions else points)
        else:
            corners = lines_below(points)
        object.__setattr__(self, "exactly", holds(corners, points))
        object.__setattr__(self, "corners", symmetric(corners) if self.both_directions else corners)

    def __str__(self) -> str:
        """For people: many points by how many they are."""
        if len(self.fprs) <= POINTS_SHOWN:
            return repr(self)
        return self._written(fprs=f"[{len(self.fprs)} rates]", fnrs=f"[{len(self.fnrs)} rates]")

    @property
    def tight(self) -> bool:
        return self.exactly

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.finite.pair import FinitePair
        from ..pairs.finite.tradeoff import law_of

        pair = FinitePair(law_of(self.corners))
        # In both directions its own inverse: one pair for both is asked once.
        return pair if direction is Direction.REMOVE or self.both_directions else pair.reversed()


def _rates(name: str, values: Sequence[float]) -> tuple[float, ...]:
    in_order(name, values)
    try:
        rates = tuple(probability(f"{name}[{index}]", value) for index, value in enumerate(values))
    except TypeError:
        raise InvalidParameter(f"{name} must be a list of rates, not {values!r:.60}") from None
    if not rates:
        raise InvalidParameter(f"{name} must have at least one rate")
    return rates


def _points(fprs: tuple[float, ...], fnrs: tuple[float, ...]) -> list[Point]:
    """In exact fractions; what rounding put above 1 - fpr, where no trade-off function is, is put down on it."""
    points = []
    for index, (x, y) in enumerate(zip(map(Fraction, fprs), map(Fraction, fnrs), strict=True)):
        if x + y > 1 + ABOVE_MAX:
            raise InvalidParameter(
                f"fnrs[{index}] must be at most 1 - fprs[{index}], which guessing attains, not {fnrs[index]!r} at "
                f"{fprs[index]!r}; a false negative rate is 1 less the true positive rate"
            )
        points.append((x, min(y, 1 - x)))
    return points
