"""Any mechanism that is known by points of its privacy profile: (epsilons[i], deltas[i])-DP for every i.

The claim is H(e^epsilons[i]) <= deltas[i], epsilons of either sign, H the profile. H is convex and falls from H = 1 at
alpha = 0, so it lies below the lower convex hull of (0, 1) and the points (e^epsilon, delta), flat after the last.
both_directions: the claim holds for adding and for removing a record; then the mirrors (e^-epsilon, 1 - e^-epsilon (1 -
delta)) are points as well. Else it is about removing one, and adding has the mirror of the hull.
In Python deltas may be a function of epsilon, whose values must be upper bounds; it is called once for each of the
epsilons, or for a grid of its own, and only the numbers are kept. Between them nothing is read off it: chords are.
Guarantee: the pair dominates every such mechanism and is one of them, so that no better bound follows from the points,
also under composition. One point is (epsilon, delta)-DP: leaky randomized response.
Reference: Zhu, Dong, Wang 2021, Lemma 9 (profiles); Kairouz, Oh, Viswanath 2017, Thm 3.2 (one point). Proof:
docs/proofs/points.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import finite, flag, in_order, probability, real

if TYPE_CHECKING:
    from ..pairs.finite.curve import Corner

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
        from ..pairs.finite.curve import lower_hull

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
        from ..pairs.finite.curve import CurveLaw
        from ..pairs.finite.pair import FinitePair

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
    from ..pairs.finite.curve import Corner, number
    from ..pairs.finite.exponentials import exponential

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
