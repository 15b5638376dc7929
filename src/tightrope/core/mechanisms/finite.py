"""A mechanism given by two probability vectors over the same outcomes.

The masses are taken as the given doubles divided by their exact sum, which must be 1 up to 1e-12.
Guarantee: tight for the mechanism whose two output laws are p and q.
Reference: Meiser, Mohammadi 2018, Def. 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ..losses.pair import Pair
from ..values.errors import InvalidParameter
from ..values.question import Direction
from .base import Leaf
from .parameters import finite, flag, in_order, masses, probability, real, shares

if TYPE_CHECKING:
    from ..losses.finite.curves import Corner, Point


@dataclass(frozen=True, slots=True, repr=False)
class Finite(Leaf):
    """p[i] and q[i] are the probabilities of outcome i with and without the record, where that shows most."""

    example = "Finite(p=[0.75, 0.25], q=[0.25, 0.75])"
    section = "laws"
    formula = "P = p, Q = q, each divided by its exact sum: H(a) = sum over i of (p[i] - a q[i])_+"
    theorem = "Meiser, Mohammadi 2018, Def. 2"
    tightness = "Tight, also under composition, for the mechanism whose outputs have these laws."
    relations = (
        "p is with the record, q without it. That no test tells more of any two neighbours, whatever the other records "
        "are, is part of what is given; laws of two data sets alone are Histograms(kind='probabilities')."
    )
    p: Sequence[float]
    q: Sequence[float]

    def __post_init__(self) -> None:
        p, q = masses("p", self.p), masses("q", self.q)
        if len(p) != len(q):
            raise InvalidParameter(f"p and q must have the same length, not {len(p)} and {len(q)}")
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "q", q)

    def pair(self, direction: Direction) -> Pair:
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.laws import RationalLaw

        law = RationalLaw(shares(self.p), shares(self.q))
        return FinitePair(law) if direction is Direction.REMOVE else FinitePair(law).reversed()


# Any mechanism that is known by points of its privacy profile: (epsilons[i], deltas[i])-DP for every i.
#
# The claim is H(e^epsilons[i]) <= deltas[i], epsilons of either sign, H the profile. H is convex and falls from H = 1
# at
# alpha = 0, so it lies below the lower convex hull of (0, 1) and the points (e^epsilon, delta), flat after the last.
# both_directions: the claim holds for adding and for removing a record; then the mirrors (e^-epsilon, 1 - e^-epsilon (1
# -
# delta)) are points as well. Else it is about removing one, and adding has the mirror of the hull.
# In Python deltas may be a function of epsilon, whose values must be upper bounds; it is called once for each of the
# epsilons, or for a grid of its own, and only the numbers are kept. Between them nothing is read off it: chords are.
# Guarantee: the pair dominates every such mechanism and is one of them, so that no better bound follows from the
# points,
# also under composition. One point is (epsilon, delta)-DP: leaky randomized response.
# Reference: Zhu, Dong, Wang 2021, Lemma 9 (profiles); Kairouz, Oh, Viswanath 2017, Thm 3.2 (one point). Proof:
# docs/proofs/points.md.

GIVEN_POINTS_MAX = 10_000
EPSILON_LARGEST = 1e6  # far beyond where any profile falls
LITTLE = Fraction(1, 10**12)  # below 1 - e^epsilon: taken for it
CURVE_CELLS = 512  # of the grid on which a function is read
DELTA_LAST = 1e-18  # a delta at which that grid may end
FIRST_END, LAST_END = 2.0**-20, 2.0**9  # of the grid; beyond, many formulas overflow


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyCurve(Leaf):
    """Any mechanism that is (epsilons[i], deltas[i])-DP for every i; epsilons of either sign.

    deltas: numbers, or in Python a function of epsilon whose values are upper bounds, with epsilons or without.
    both_directions: for adding and for removing a record; else for removing, and adding has the mirror.
    """

    example = "PrivacyCurve(epsilons=[0.5, 1], deltas=[0.01, 0.0001]) * 10"
    universal = True
    section = "promises"
    snippet = """import math
import tightrope as tr

own = tr.PrivacyCurve(deltas=lambda epsilon: min(1, 2 * math.exp(-5 * epsilon)))"""
    formula = (
        "H(a) = the lower convex hull of (0, 1) and the points (e^epsilons[i], deltas[i]), flat after the last; with "
        "both_directions also of the mirrors (e^-epsilon, 1 - e^-epsilon (1 - delta))"
    )
    theorem = (
        "Zhu, Dong, Wang 2021, Lemma 9; one point: Kairouz, Oh, Viswanath 2017, Thm 3.2; [proof](proofs/points.md)"
    )
    tightness = "No better bound follows from the points, also under composition: the pair is as claimed."
    relations = "That of the claim; both_directions says whether it holds for adding and for removing a record."
    epsilons: Sequence[float] | None = None
    deltas: Sequence[float] | Callable[[float], float] | None = None
    both_directions: bool = True
    corners: tuple[Corner, ...] = field(init=False, compare=False)  # of the profile that the pair has
    placed: bool = field(init=False, compare=False)  # whether no point was left out because it could not be placed

    def __post_init__(self) -> None:
        flag("both_directions", self.both_directions)
        if callable(self.deltas):
            epsilons, deltas = _read(self.deltas, self.epsilons, self.both_directions)
        else:
            epsilons = _epsilons(self.epsilons)
            deltas = tuple(
                probability(f"deltas[{index}]", value) for index, value in enumerate(_listed("deltas", self.deltas))
            )
        if len(epsilons) != len(deltas):
            raise InvalidParameter(
                f"epsilons and deltas must have the same length, not {len(epsilons)} and {len(deltas)}"
            )
        from ..losses.finite.curves import lower_hull

        points = [_point(index, *point) for index, point in enumerate(zip(epsilons, deltas, strict=True))]
        mirrors = [point.mirrored() for point in points] if self.both_directions else []
        corners, placed = lower_hull([*points, *mirrors])
        object.__setattr__(self, "epsilons", epsilons)
        object.__setattr__(self, "deltas", deltas)
        object.__setattr__(self, "corners", corners)
        object.__setattr__(self, "placed", placed)

    @property
    def tight(self) -> bool:
        return self.placed

    def pair(self, direction: Direction) -> Pair:
        from ..losses.finite.curves import CurveLaw
        from ..losses.finite.finite_pair import FinitePair

        pair = FinitePair(CurveLaw(self.corners, self.both_directions))
        return pair if direction is Direction.REMOVE else pair.reversed()


def _listed(name: str, values: object) -> tuple[float, ...]:
    in_order(name, values)
    if values is None or isinstance(values, str):
        raise InvalidParameter(f"{name} must be a list of numbers, not {values!r:.60}")
    try:
        found: tuple[float, ...] = tuple(values)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidParameter(f"{name} must be a list of numbers, not {values!r:.60}") from None
    if not 0 < len(found) <= GIVEN_POINTS_MAX:
        raise InvalidParameter(f"{name} must be 1 to {GIVEN_POINTS_MAX:,} numbers, not {len(found):,}")
    return found


def _epsilons(values: object) -> tuple[float, ...]:
    found = tuple(finite(f"epsilons[{index}]", value) for index, value in enumerate(_listed("epsilons", values)))
    for index, value in enumerate(found):
        if abs(value) > EPSILON_LARGEST:
            raise InvalidParameter(f"epsilons[{index}] must lie within +-{EPSILON_LARGEST:,.0f}, not {value!r}")
    for index, (one, two) in enumerate(pairwise(found)):
        if not one < two:
            raise InvalidParameter(f"epsilons must rise, not from {one!r} to {two!r} at index {index + 1}; sort them")
    return found


def _point(index: int, epsilon: float, delta: float) -> Corner:
    """In exact numbers; what rounding put below 1 - e^epsilon, where no profile is, is put up on it."""
    from ..losses.finite.curves import Corner, exponential, number

    loss, value = Fraction(epsilon), number(Fraction(delta))
    least = number(Fraction(1)) - exponential(loss)
    if epsilon < 0.0 and (least - value).sign() == 1:
        if (least - value - number(LITTLE)).sign() == 1:
            raise InvalidParameter(
                f"deltas[{index}] must be at least 1 - e^epsilons[{index}], which every mechanism has, not {delta!r} "
                f"at {epsilon!r}"
            )
        value = least
    return Corner(loss, value)


def _read(
    function: Callable[[float], float], given: object, both_directions: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The points of a function: at the epsilons given, else on an even grid as far as it falls."""
    if given is not None:
        epsilons = _epsilons(given)
    else:
        end = _end(function)
        start = 0 if both_directions else -CURVE_CELLS
        epsilons = tuple(end * index / CURVE_CELLS for index in range(start, CURVE_CELLS + 1))
    return epsilons, tuple(_value(function, epsilon) for epsilon in epsilons)


def _end(function: Callable[[float], float]) -> float:
    """The power of two from which on the function is tiny, or about as small as it gets."""
    ends, values = [FIRST_END], [_value(function, FIRST_END)]
    while ends[-1] < LAST_END and values[-1] > DELTA_LAST:
        ends.append(2.0 * ends[-1])
        values.append(_value(function, ends[-1]))
    level = max(DELTA_LAST, min(values))
    return next(end for end, value in zip(ends, values, strict=True) if value <= level)


def _value(function: Callable[[float], float], epsilon: float) -> float:
    try:
        value = real(f"deltas({epsilon!r})", function(epsilon))
    except InvalidParameter:
        raise
    except Exception as error:
        raise InvalidParameter(
            f"deltas({epsilon!r}) raised {error!r:.60}; give epsilons at which the function can be called"
        ) from error
    if not value >= 0.0:
        raise InvalidParameter(f"deltas({epsilon!r}) must be an upper bound of a delta, 0 or above, not {value!r}")
    return min(value, 1.0) if math.isfinite(value) else 1.0


# Any mechanism whose trade-off function is known to lie above a polyline: f-DP with an f of your own.
#
# f(x) is the least false negative rate of a test for the record whose false positive rate is at most x.
# The claim is f >= the lines between the points (fprs[i], fnrs[i]), not at the points alone: f is convex, and the
# values
# of a convex function lie below their chords. Tangents of a convex curve, joined where they meet, lie below it, up to
# the point where the last meets 0; after it the claim is 0.
# With points_only the claim is f(fprs[i]) >= fnrs[i], and nothing is said of what lies between: far less follows.
# Left of the first point and right of the last, f is as low as a convex f with f(0) <= 1 and f(1) = 0 can be; give the
# point at fpr 0, whose fnr is 1 less the mass of infinite loss, and that at fpr 1, whose fnr is 0.
# Points that are not convex are replaced by their lower convex hull.
# both_directions: the claim holds for adding and for removing a record, as f-DP has it: then f >= max(f, its inverse).
# Else it is about removing, false positives being those without the record; adding has the inverse.
# Guarantee: the pair dominates every such mechanism, in exact fractions. Where the points are convex it is one of them,
# so that no better bound follows from them, also under composition; else the lower end is that of the pair.
# Reference: Dong, Roth, Su 2022, Thm 2.10, Prop. 2.4. Proof: docs/proofs/tradeoff.md.

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
        from ..losses.finite.curves import holds, lines_below, mirrored, points_below, symmetric

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
        from ..losses.finite.curves import law_of
        from ..losses.finite.finite_pair import FinitePair

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
