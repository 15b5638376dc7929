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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from flint import arb

from ..losses.atoms import ratio_ball
from ..losses.pair import Pair
from ..numerics.balls import BITS_START, upper_float, working_precision
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation
from .base import Leaf, ZcdpUse
from .gaussian import Gaussian
from .parameters import flag, in_order, nonnegative, positive, probability, real, whole


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
        from ..losses.renyi.divergence_curve import Divergences
        from ..losses.renyi.renyi_pair import RenyiPair

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
        from ..losses.renyi.divergence_curve import Divergences
        from ..losses.renyi.renyi_pair import RenyiPair

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


# Mechanisms of which only the Renyi divergences are known: both are the RenyiCurve of a theorem.
#
# GaussianSparseVector: Gaussian noise on the threshold, once, and on each query; at most `queries` are asked. With D
# the
# sensitivity, c answers and N = sum over j <= c of (queries over j) outcomes, at every order a > 1
# D_a <= a/2 (D^2/threshold_sigma^2 + c 4 D^2/query_sigma^2) + log N/(a - 1), and D_a <= a queries D^2/(2
# query_sigma^2);
# where all queries move the same way, D^2 in the place of 4 D^2. Proof: docs/proofs/sparse_vector.md, section 8, after
# Zhu, Wang 2020 (Improving sparse vector technique with Renyi differential privacy).
# SkellamVector: Skellam noise of this variance, v, on each entry of a vector of whole numbers; at whole orders a > 1
# D_a <= a l2^2/(2 v) + min(((2 a - 1) l2^2 + 6 l1)/(4 v^2), 3 l1/(2 v)).
# Reference: Agarwal, Kairouz, Liu 2021, Thm 3.5 and Cor. 4.1 (The Skellam mechanism for differentially private
# federated
# learning); not proven here, held beside sums over one entry by tests/mechanisms/test_renyi_only.py.
# Guarantee: upper. No more is known than these divergences, at the orders of a table, and a line above all of them;
# what
# follows from the table is exact.

STEPS = 6  # orders in each octave
OCTAVES = (-16, 10)  # from what suits many uses to what suits none that is seen
LISTED_ANSWERS = 64  # beyond, the number of outcomes is bounded by a formula


@dataclass(frozen=True, slots=True, repr=False)
class GaussianSparseVector(Leaf):
    """Says which of so many queries lie above a noisy threshold, until some do; Gaussian noise, by its divergences.

    threshold_sigma and query_sigma: deviations of the noise on the threshold and on each query. queries: how many are
    asked at most; answers: how many of them are above when it stops. sensitivity: how far one query moves.
    monotone: adding a record lowers no query, as it lowers no count.
    """

    example = "GaussianSparseVector(threshold_sigma=20, query_sigma=40, queries=1000) * 10"
    section = "selection"
    formula = (
        "known by its Renyi divergences only: D_a <= a/2 (D^2/threshold_sigma^2 + answers 4 D^2/query_sigma^2) + "
        "log N/(a - 1), N = sum over j <= answers of (queries over j), and D_a <= a queries D^2/(2 query_sigma^2), "
        "D the sensitivity; monotone: D^2 in the place of 4 D^2"
    )
    theorem = "after Zhu, Wang 2020; [proof](proofs/sparse_vector.md), section 8"
    tightness = "Not tight: no more is known than these divergences; lower ends speak of what has them."
    relations = (
        "Either relation, sensitivity being what one query may move by; monotone is about adding or removing a record. "
        "The noise of the threshold is drawn once, and answers say above or below, never a value."
    )
    threshold_sigma: float
    query_sigma: float
    queries: int
    answers: int = 1
    sensitivity: float = 1.0
    monotone: bool = False

    def __post_init__(self) -> None:
        for name in ("threshold_sigma", "query_sigma", "sensitivity"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        for name in ("queries", "answers"):
            object.__setattr__(self, name, whole(name, getattr(self, name), least=1))
        flag("monotone", self.monotone)
        _orders(min(self._rates(1)))

    @property
    def tight(self) -> bool:
        return False

    @property
    def claimed(self) -> str:
        return "Renyi divergences are all that is known of a Gaussian sparse vector, at most so many queries"

    @property
    def relation(self) -> Relation | None:
        return Relation.ADD_REMOVE if self.monotone else None

    def pair(self, direction: Direction) -> Pair:
        return self.group_pair(1, direction)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """A group moves each query so many times as far."""
        few, every = self._rates(size)
        answers = min(self.answers, self.queries)

        def moment(c: Fraction) -> arb:
            listed = _ball(c * (c + 1) * few / 2) + _log_outcomes(self.queries, answers)
            return listed.min(_ball(c * (c + 1) * every / 2))

        return _curve(_orders(min(few, every)), moment, (every / 2, Fraction(0)))

    def _rates(self, size: int) -> tuple[Fraction, Fraction]:
        """2 D_a/a: of the threshold and the answers above, and of all that was compared."""
        moved = size * Fraction(self.sensitivity)
        threshold, once = (moved / Fraction(self.threshold_sigma)) ** 2, (moved / Fraction(self.query_sigma)) ** 2
        above = min(self.answers, self.queries) * (1 if self.monotone else 4)
        return threshold + above * once, self.queries * once


@dataclass(frozen=True, slots=True, repr=False)
class SkellamVector(Leaf):
    """Adds Skellam noise to each entry of a vector of whole numbers; by its divergences.

    variance: of the noise on one entry, twice the mean of its Poisson laws. l1 and l2: how far the vector moves, in
    these norms.
    """

    example = "SkellamVector(variance=1000, l1=50, l2=10) * 10"
    section = "noise"
    formula = (
        "known by its Renyi divergences only: D_a <= a l2^2/(2 v) + min(((2 a - 1) l2^2 + 6 l1)/(4 v^2), 3 l1/(2 v)), "
        "at whole orders a > 1, v the variance of the noise on each entry"
    )
    theorem = "Agarwal, Kairouz, Liu 2021, Thm 3.5 and Cor. 4.1"
    tightness = "Not tight: no more is known than these divergences; lower ends speak of what has them."
    relations = (
        "Either relation; l1 and l2 are what the vector may move by in these norms, by whole numbers in each entry."
    )
    variance: float
    l1: float
    l2: float

    def __post_init__(self) -> None:
        for name in ("variance", "l1", "l2"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        if self.l1 < self.l2:
            raise InvalidParameter(f"l1 must be at least l2, {self.l2!r}, not {self.l1!r}: no vector has less")
        _orders(Fraction(self.l2) ** 2 / Fraction(self.variance))

    @property
    def tight(self) -> bool:
        return False

    @property
    def claimed(self) -> str:
        return "Renyi divergences of whole orders are all that is known of Skellam noise on vectors"

    def pair(self, direction: Direction) -> Pair:
        return self.group_pair(1, direction)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """A group moves the vector so many times as far."""
        long, square = size * Fraction(self.l1), (size * Fraction(self.l2)) ** 2
        variance = Fraction(self.variance)

        def moment(c: Fraction) -> arb:
            order = c + 1
            more = min(((2 * order - 1) * square + 6 * long) / (4 * variance**2), 3 * long / (2 * variance))
            return _ball(c * (order * square / (2 * variance) + more))

        # D_a <= D_b, b the next whole order, below a + 1.
        rise, level = square / (2 * variance), (square + 3 * long) / (2 * variance)
        whole_orders = {Fraction(max(1, math.ceil(c))) for c in _orders(square / variance)}
        return _curve(whole_orders | {Fraction(c) for c in range(1, 16)}, moment, (rise, level))


def _orders(rate: Fraction) -> list[Fraction]:
    """Orders less 1 for divergences that grow like rate a/2, around where a single use has those that count."""
    low, high = (STEPS * end for end in OCTAVES)
    log_rate = (math.log2(rate.numerator) - math.log2(rate.denominator)) / 2
    if abs(log_rate) > 400:
        raise InvalidParameter(
            "the noise is beyond what its divergences tell: choose a scale nearer to the sensitivity"
        )
    return [Fraction(2.0 ** (step / STEPS - log_rate)) for step in range(low, high + 1)]


def _curve(orders: Iterable[Fraction], moment: Callable[[Fraction], arb], line: tuple[Fraction, Fraction]) -> Pair:
    """What keeps to (a - 1) D_a <= moment(a - 1) at these orders, in both directions, and to a line at every one."""
    from ..losses.renyi.divergence_curve import Divergences
    from ..losses.renyi.renyi_pair import RenyiPair

    with working_precision(BITS_START):
        known = [(1 + c, Fraction(upper_float(moment(c))) / c) for c in sorted(orders)]
    return RenyiPair(replace(Divergences.table(known), everywhere=line))


def _log_outcomes(queries: int, answers: int) -> arb:
    """At or above the log of sum over j <= answers of (queries over j), answers at most queries."""
    if answers <= LISTED_ANSWERS:
        return arb(sum(math.comb(queries, j) for j in range(answers + 1))).log()
    few = answers * (1 + _ball(Fraction(queries, answers)).log())  # (e n/c)^c
    return few.min(queries * arb(2).log())


def _ball(number: Fraction) -> arb:

    return ratio_ball(number)
