"""Any mechanism that is known by bounds on its Renyi divergences: at some orders, or at all of them as zCDP has it.

RenyiCurve: D_order <= divergence at each order, from 1 (Kullback and Leibler) to inf (the largest loss).
ZCDP: D_order <= rho order at every order from 1 on, in both directions; delta-approximately where both laws have an
event of probability 1 - delta, given which that holds.
both_directions: the bounds hold for adding and for removing a record; else for removing, D(with || without), and
adding has only what follows from that.
Guarantee: for one use, and for a sum of curves, exact: delta at each epsilon is the largest that any mechanism known by
these bounds has, which one with two outcomes attains, another one at each epsilon. Curves are added up before they are
converted; the lower end of a sum is attained by a mechanism that has the sum's curve. Composed with other mechanisms
the pair of the largest deltas dominates, and lower ends speak of that pair.
Reference: Mironov 2017, Def. 4, Prop. 1; Bun, Steinke 2016, Def. 1.1, 8.1, Lemma 8.2.
Proof: docs/proofs/renyi_curve.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from ..errors import InvalidParameter
from ..facets.lattice import ratio_ball
from ..kernels.ball import BITS_START, upper_float, working_precision
from ..pair import Pair
from ..relation import Direction
from .base import Leaf, ZcdpUse
from .gaussian import Gaussian
from .parameters import flag, in_order, nonnegative, probability, real


@dataclass(frozen=True, slots=True, repr=False)
class RenyiCurve(Leaf):
    """Any mechanism with Renyi divergences of at most these, at orders from 1 to inf that rise.

    both_directions: for adding and for removing a record; else for removing it.
    """

    example = "RenyiCurve(orders=[2, 8, 32], divergences=[0.1, 0.4, 1.6]) * 10"
    section = "promises"
    formula = (
        "D_order(P || Q) <= divergence at each order. Its H(a) is the largest that any such pair has, which one with "
        "two outcomes attains, another one at each a; in a sum divergences are added before they are converted"
    )
    theorem = "Mironov 2017, Def. 4, Prop. 1; [proof](proofs/renyi_curve.md)"
    tightness = (
        "One use, and a sum of curves, attain it at each epsilon, by another mechanism at each. Composed with other "
        "mechanisms, lower ends speak of the dominating pair."
    )
    relations = "That of the claim; both_directions says whether it holds for adding and for removing a record."
    orders: Sequence[float]
    divergences: Sequence[float]
    both_directions: bool = True

    def __post_init__(self) -> None:
        orders, divergences = _numbers("orders", self.orders), _numbers("divergences", self.divergences)
        if len(orders) != len(divergences):
            raise InvalidParameter(
                f"orders and divergences must have the same length, not {len(orders)} and {len(divergences)}"
            )
        for index, order in enumerate(orders):
            if not order >= 1.0:
                raise InvalidParameter(f"orders[{index}] must be 1 or more, or inf, not {order!r}; leave it out")
        for index, (one, two) in enumerate(pairwise(orders)):
            if not one < two:
                raise InvalidParameter(f"orders must rise, not from {one!r} to {two!r} at index {index + 1}")
        checked = tuple(
            nonnegative(f"divergences[{index}]", divergence) for index, divergence in enumerate(divergences)
        )
        flag("both_directions", self.both_directions)
        object.__setattr__(self, "orders", orders)
        object.__setattr__(self, "divergences", checked)

    @property
    def tight(self) -> bool:
        return False

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.renyi.curve import Divergences
        from ..pairs.renyi.pair import RenyiPair

        told = zip(self.orders, map(Fraction, self.divergences), strict=True)
        curve = Divergences.table(
            (None if order == math.inf else Fraction(order), divergence) for order, divergence in told
        )
        return RenyiPair(curve, self.both_directions, not self.both_directions and direction is Direction.ADD)


@dataclass(frozen=True, slots=True, repr=False, init=False)
class ZCDP(Leaf):
    """Any mechanism that is rho-zCDP, or with a delta approximately so: the best epsilon and delta that follow."""

    example = "ZCDP(rho=0.1) * 10"
    section = "promises"
    formula = (
        "D_order(P || Q) <= rho order at every order from 1 on, given an event of probability 1 - delta. Its H(a) is "
        "the largest that any such pair has; in a sum the rho are added before they are converted"
    )
    theorem = "Bun, Steinke 2016, Def. 1.1 and 8.1, Lemma 8.2; [proof](proofs/renyi_curve.md)"
    tightness = (
        "One use, and a sum of curves, attain it at each epsilon, by another mechanism at each. Composed with other "
        "mechanisms, lower ends speak of the dominating pair."
    )
    relations = "That of the claim, which is about both directions."
    rho: float
    delta_per_use: float = field(default=0.0, metadata={"keyword": "delta"})

    def __init__(self, rho: float, delta: float = 0.0, *, name: str | None = None) -> None:
        object.__setattr__(self, "rho", nonnegative("rho", rho))
        object.__setattr__(self, "delta_per_use", probability("delta", delta))

    @property
    def tight(self) -> bool:
        return False

    def concentrated(self, size: int = 1) -> ZcdpUse | None:
        """rho size^2, which Gaussian noise has.

        Reference: Bun, Steinke 2016, Prop. 1.9. Proof: docs/proofs/group.md, section 9.
        """
        rho = Fraction(self.rho) * size**2
        if self.delta_per_use or not rho:
            return None
        with working_precision(BITS_START):
            sigma = upper_float(1 / (2 * ratio_ball(rho)).sqrt())
        return ZcdpUse(rho, Gaussian(sigma=sigma), better=size > 1) if 0.0 < sigma < math.inf else None

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.renyi.curve import Divergences
        from ..pairs.renyi.pair import RenyiPair

        leaks = ((self.delta_per_use, 1),) if self.delta_per_use else ()
        return RenyiPair(Divergences.parabola(Fraction(self.rho)), leaks=leaks)


def _numbers(name: str, values: object) -> tuple[float, ...]:
    in_order(name, values)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidParameter(f"{name} must be a list of numbers, not {values!r:.60}")
    found = tuple(real(f"{name}[{index}]", value) + 0.0 for index, value in enumerate(values))
    if not found:
        raise InvalidParameter(f"{name} must have at least one number")
    return found
