"""Renyi divergences of any order of a composition, its cgf and phi-function.

D_a = K(a - 1)/(a - 1) for a > 0 other than 1, and divergences of a composition add up. An infinite loss makes them
infinite from order 1 on and leaves them finite below. D_0 = -log Q[P > 0], D_inf is the supremum of the loss. D never
falls with its order, so order 1, Kullback and Leibler's, lies between orders 1 - h and 1 + h.
A part whose K is no formula is known by what it is made of (divergence.py), and between two finite pairs
(divergence.py).
Guarantee: two-sided for the dominating pair, rounded outward; an upper bound for every mechanism it dominates.
Proof: docs/proofs/renyi.md.
Reference: van Erven, Harremoes 2014, Thms 3, 9, 28 (order, processing, additivity); Mironov 2017, Def. 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from flint import acb, arb, fmpz

from ..engines.joint.bracket import bracket
from ..engines.loss_extremes import loss_extremes
from ..engines.selection import Term
from ..losses.capabilities import Resolution
from ..losses.cgf import cumulant, cumulant_above
from ..losses.operators.dyadic import DyadicPair
from ..losses.operators.poisson import sampled_once
from ..losses.operators.polygon import around
from ..losses.operators.registered import (
    alternatives_of,
    dominated_pairs,
    factors_of,
    is_opaque,
    of_bounds,
    sampling_of,
)
from ..losses.pair import Pair, Sampling
from ..mechanisms.base import Mechanism
from ..mechanisms.composition import terms_of
from ..mechanisms.parameters import real
from ..numerics import fp_environment
from ..numerics.balls import lower_float, upper_float, working_precision
from ..values import compute_budget
from ..values.errors import InvalidParameter, Refusal, UnsupportedMechanism, WorkExhausted, agreed
from ..values.question import Direction

# Ends of a divergence, and how they came about.

TOTAL_BITS = 640


class Divergence(NamedTuple):
    """lower <= D <= upper. rows: of the finite pairs used, 0 where none was; balls: whether nothing else was used."""

    lower: float
    upper: float
    rows: int = 0
    balls: bool = True

    @property
    def relative(self) -> float:
        """Width over the upper end."""
        if self.lower >= self.upper:
            return 0.0
        return (self.upper - self.lower) / self.upper if self.upper < math.inf else math.inf

    def narrowed(self, other: Divergence) -> Divergence:
        """What both say; how, as far as the other one says more."""
        if other.lower <= self.lower and other.upper >= self.upper:
            return self
        lower, upper = agreed(max(self.lower, other.lower), min(self.upper, other.upper))
        return Divergence(lower, upper, max(self.rows, other.rows), self.balls and other.balls)


def ends(lower: arb, upper: arb, rows: int = 0, balls: bool = True) -> Divergence:
    """From balls, rounded outward; a divergence is never below 0."""
    return Divergence(max(lower_float(lower), 0.0), max(upper_float(upper), 0.0), rows, balls)


def total(parts: Sequence[tuple[Divergence, int]]) -> Divergence:
    """Divergences of a composition add up; also when time is up."""
    with compute_budget.uncounted(), working_precision(TOTAL_BITS):
        low, high = (sum((count * arb(divergence[side]) for divergence, count in parts), arb(0)) for side in (0, 1))
        return ends(
            low,
            high,
            max((divergence.rows for divergence, _ in parts), default=0),
            all(divergence.balls for divergence, _ in parts),
        )


# What the divergences of its parts say of the divergence of a pair, at any order, however deep its masses are.
#
# With M = e^((order - 1) D) of a part and M' of the pair:
#     a pair that dominates others      D' >= D of each
#     the largest of several profiles   M' - 1 <= sum of M - 1; D' <= sum of D at order 1; 1 - M' <= sum of 1 - M below
#     a Poisson sample                  the same with rate (M - 1), rate D, rate (1 - M) in place of the sum
#     the same, remove, order > 1       rate^order M <= M' <= (1 - rate + rate M^(1/order))^order
#     any                               D' <= sup loss, max(order, 1) rho, and K(c)/c, c >= order - 1, c > 0
# Guarantee: lower and upper. Proof: docs/proofs/renyi.md, section 4.

PARTS_BITS = 640
ABOVE_ONE = 2.0**-4  # c, for orders up to 1

OfPart = Callable[[Pair], Divergence]
NOTHING = Divergence(0.0, math.inf)


def from_parts(pair: Pair, order: float, of_part: OfPart) -> Divergence:
    """What is known without the masses of the pair; it has no infinite loss, or the order lies below 1."""

    def asked(part: Pair) -> Divergence:
        """A part may have infinite losses where the pair has none: nothing is known above then."""
        open_ended = order >= 1.0 and not part.infinite_mass().is_zero()
        divergence = of_part(part)
        return divergence._replace(upper=math.inf) if open_ended else divergence

    inside, sampling = [asked(each) for each in dominated_pairs(pair)], sampling_of(pair)
    base = None if sampling is None else asked(sampling.base)
    with working_precision(PARTS_BITS):
        found = _by_itself(pair, order)
        if inside:
            found = found.narrowed(Divergence(max(divergence.lower for divergence in inside), math.inf, *_how(inside)))
        if alternatives_of(pair):
            found = found.narrowed(_at_most(arb(1), inside, order))
        if sampling is not None and base is not None:
            found = found.narrowed(_at_most(arb(sampling.rate), [base], order))
            if sampling.direction is Direction.REMOVE and order > 1.0:
                found = found.narrowed(_sampled(sampling, order, base))
    return found


def _by_itself(pair: Pair, order: float) -> Divergence:
    """An upper end, where there is no infinite loss."""
    if not pair.infinite_mass().is_zero():
        return NOTHING
    divergence, c = NOTHING, max(order - 1.0, ABOVE_ONE)
    highest, rho = pair.loss_range().highest, pair.moments().zcdp_rho()
    known = [arb(cumulant_above(pair, c)) / c]
    known += [highest] if highest.is_finite() else []
    known += [] if rho is None else [arb(max(order, 1.0)) * rho]  # below order 1 it is at most D_1
    for upper in known:
        divergence = divergence.narrowed(ends(arb(0), upper))
    return divergence


def _how(parts: Sequence[Divergence]) -> tuple[int, bool]:
    return max(part.rows for part in parts), all(part.balls for part in parts)


def _at_most(share: arb, parts: Sequence[Divergence], order: float) -> Divergence:
    """An upper end: the divergence that belongs to M is, but for its scale, at most this share of the sum of theirs."""
    if any(part.upper == math.inf for part in parts) and order >= 1.0:
        return NOTHING
    tops, c = [arb(part.upper) for part in parts], arb(order) - 1
    if order == 1.0:
        return ends(arb(0), share * sum(tops, arb(0)), *_how(parts))
    moment = share * sum(((c * top).expm1() for top in tops), arb(0))
    return ends(arb(0), moment.log1p() / c, *_how(parts)) if moment > -1 else NOTHING


def _sampled(sampling: Sampling, order: float, base: Divergence) -> Divergence:
    """Of removing, at an order above 1."""
    rate, o = arb(sampling.rate), arb(order)
    c = o - 1
    lower = (o * rate.log() + c * arb(base.lower)) / c if base.lower < math.inf else arb.pos_inf()
    upper = o / c * (rate * (c / o * arb(base.upper)).expm1()).log1p() if base.upper < math.inf else arb.pos_inf()
    return ends(lower, upper, *_how([base]))


ORDER_MAX = 2.0**53  # beyond, order - 1 is no double
NEAR_ONE = 2.0**-50
BITS = (60, 120, 240, 480)  # of K, until its quotient has RELATIVE_BITS
RELATIVE_BITS = 54
SUM_BITS = 640
FORMULA_SHARE, TRY_SHARE = 0.6, 0.8  # of the work that is left, and of the time
FAR_ORDER = 2.0**20
SAMPLE_FIRST, ALL_DIGITS = (
    64.0,
    1e-14,
)  # order: from here on a sample may be told from its base to all digits, without a sum
PARTS_FIRST = 4.0  # order: from here on what a pair is made of often tells enough, and its masses are deep


def composed_cgf(mechanism: Mechanism, z: complex, direction: Direction) -> acb:
    """K(z) of the composition in one direction, +inf where it is; its imaginary part up to multiples of 2 pi."""
    given: object = z
    if isinstance(given, (str, bytes)):
        raise InvalidParameter(f"z must be a complex number, not {z!r:.40}")
    parts = [(cumulant(pair, z), count) for pair, count in terms_of(mechanism.nameless, direction)]
    if any(value.real == arb.pos_inf() for value, _ in parts):
        return acb(arb.pos_inf())
    with working_precision(SUM_BITS):
        return sum((count * value for value, count in parts), acb(0))


def phi(mechanism: Mechanism, t: float, direction: Direction) -> acb:
    """The phi-function E_P[e^{i t l}; l finite] of the composition in one direction."""
    value = composed_cgf(mechanism, complex(0.0, real("t", t)), direction)
    with working_precision(SUM_BITS):
        return value.exp()


def checked_order(order: float) -> float:
    """An order from 0 to 2**53, or inf."""
    try:
        value = float(order)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if isinstance(order, bool | str) or not (0.0 <= value <= ORDER_MAX or value == math.inf):
        raise InvalidParameter(f"order must be a number from 0 to 2**53, or inf, not {order!r:.40}")
    return value


def divergence(terms: Sequence[Term], order: float, accuracy: float, proof: bool = False) -> Divergence:
    """Ends of the divergence of (pair, count) uses, their width about so much of the upper end where that can be had.

    proof: balls only. The upper end is inf where the divergence is, or where nothing is known above it. When time is up
    the ends are those known by then. Raises UnsupportedMechanism where a formula is all there could be.
    """
    found = loss_extremes(terms)
    if order >= 1.0 and found.mass > 0:
        return Divergence(math.inf, math.inf)
    if order in (0.0, math.inf):
        with working_precision(SUM_BITS):
            least = _disjoint(terms) if order == 0.0 else found.supremum
            known = ends(least, least)
        if order == math.inf and known.relative > accuracy:  # it is no less than that of a finite order
            with suppress(UnsupportedMechanism):
                known = known._replace(lower=max(known.lower, divergence(terms, FAR_ORDER, accuracy, proof).lower))
    else:
        parts = []
        for done, (pair, count) in enumerate(terms):
            with compute_budget.part(1.0 / (len(terms) - done), clock=True):
                parts.append((of_pair(pair, order, accuracy, proof), count))
        known = total(parts)
    if found.mass.is_zero():  # no order is above the supremum of the loss, also when time is up
        _, upper = agreed(
            known.lower, min(known.upper, max(upper_float(found.supremum), 0.0)), "the parts", "their range"
        )
        known = known._replace(upper=upper)
    certain = order < 1.0 or found.mass.is_zero()
    return known if certain else known._replace(upper=math.inf)


def of_pair(pair: Pair, order: float, accuracy: float, proof: bool) -> Divergence:
    """One pair at an order above 0, finite; from order 1 on its infinite losses do not count."""
    factors = factors_of(pair)
    if factors is not None:
        return total([(of_pair(each, order, accuracy, proof), count) for each, count in factors])
    known, sure = NOTHING, order < 1.0 or bool(pair.infinite_mass().is_zero())
    if order > SAMPLE_FIRST and sampling_of(pair) is not None:
        known = _tried(known, lambda: from_parts(pair, order, lambda part: _without_masses(part, order)), sure)
        if known.relative <= ALL_DIGITS:
            return known
    try:
        with suppress(WorkExhausted), compute_budget.part(FORMULA_SHARE, clock=True):
            return _by_formula(pair, order)
    except UnsupportedMechanism:
        if is_opaque(pair):  # a formula, or nothing
            raise
    # What is known by bounds on divergences stands for many laws: their largest profile has a larger divergence.
    bounds = of_bounds(pair)
    if bounds or order > PARTS_FIRST:
        known = _tried(known, lambda: _without_masses(pair, order), sure)
    # An order that the quadrature of a cgf cannot reach has masses that no finite pair can hold.
    beyond = known.upper < math.inf and _by_quadrature(pair)
    if known.relative <= accuracy or bounds or beyond:
        return known
    known = _tried(known, lambda: _between(pair, order, known, accuracy, proof), sure)
    if known.relative > accuracy and order <= PARTS_FIRST:
        known = _tried(known, lambda: _without_masses(pair, order), sure)
    return known


def _by_quadrature(pair: Pair) -> bool:
    """Whether its cgf is an integral that can be had."""
    with suppress(UnsupportedMechanism):
        return pair.cgf() is not None
    return False


def _tried(known: Divergence, more: Callable[[], Divergence], sure: bool) -> Divergence:
    """What is known, and what more there is as far as time allows; not sure: an infinite loss may be left out of it."""
    with suppress(WorkExhausted, UnsupportedMechanism), compute_budget.part(TRY_SHARE, clock=True):
        found = more()
        return known.narrowed(found if sure else found._replace(upper=math.inf))
    return known


def _between(pair: Pair, order: float, known: Divergence, accuracy: float, proof: bool) -> Divergence:

    return Between.of(pair, order).ends(known, accuracy, proof)


def _by_formula(pair: Pair, order: float) -> Divergence:
    """From the curve that it keeps to, or from K; raises UnsupportedMechanism where there is none."""
    told = pair.moments().divergence(order)
    if told is not None:
        return ends(*told)
    below, above = _sampled_once(pair)
    low = _by_moments(below, order)
    return low if above is below else Divergence(low.lower, _by_moments(above, order).upper)


def _without_masses(pair: Pair, order: float) -> Divergence:
    """From formulas, and from what is known of its parts by such."""
    with suppress(UnsupportedMechanism):
        return _by_formula(pair, order)
    factors = factors_of(pair)
    if factors is not None:
        return total([(_without_masses(each, order), count) for each, count in factors])
    return from_parts(pair, order, lambda part: _without_masses(part, order))


def _sampled_once(pair: Pair) -> tuple[Pair, Pair]:
    """A sample of a sample as one, below and above."""
    if sampling_of(pair) is None:
        return pair, pair

    return sampled_once(pair)


def _disjoint(terms: Sequence[Term]) -> arb:
    """Order 0: -log Q[P > 0]."""
    lost = loss_extremes([(pair.reversed(), count) for pair, count in terms]).mass
    return arb.pos_inf() if lost >= 1 else -(-lost).log1p()


def _by_moments(pair: Pair, order: float) -> Divergence:
    if order == 1.0:
        return Divergence(_quotient(pair, 1.0 - NEAR_ONE).lower, _quotient(pair, 1.0 + NEAR_ONE).upper)
    return _quotient(pair, order)


def _quotient(pair: Pair, order: float) -> Divergence:
    """K(order - 1)/(order - 1); for small orders K of the reversed pair at -order, which is the same number."""
    for bits in BITS:
        value = cumulant(pair.reversed(), -order, bits) if order < 0.5 else cumulant(pair, order - 1.0, bits)
        with working_precision(SUM_BITS):
            found = value.real / (arb(order) - 1)
            if found.rel_accuracy_bits() >= RELATIVE_BITS or found.is_zero():
                break
    return ends(found, found)


# What the part of a profile beyond a last loss adds to a moment, where the loss has an end or a moment is bounded.
#
# With a = e^t, c = order - 1 and H(a) <= kappa(c') e^(K(c') - c' t), c' > c, which holds without infinite losses,
#     integral from a on of f'' H <= A e^(-(c' - c) t),   A = f0 kappa(c') e^K(c') / (c' - c),
# f'' = f0 a^(order - 2), f0 = order (order - 1), or 1 where the order is 1. Beyond the supremum of the loss it is 0.
# Guarantee: upper. Proof: docs/proofs/renyi.md, section 3.
# Reference: Canonne, Kamath, Steinke 2020, Prop. 12 (kappa).

GAP, GAPS_MAX = 4.0, 24  # c' - c are its powers, up and down: losses from 1e-14 to 1e14 have one that suits
LOG_ROOM = -30.0  # of what lies beyond, where the best c' is looked for


@dataclass(frozen=True)
class Closing:
    """log A at one c'."""

    higher: float
    log_size: arb

    def log_mass(self, c: float, room: float) -> float:
        """A mass whose part beyond is about e^room."""
        return (room - c / self.higher * upper_float(self.log_size)) * self.higher / (self.higher - c)


@dataclass(frozen=True)
class Tail:
    """order >= 1. highest: the supremum of the loss, inf where it has none, or none that is known."""

    order: float
    highest: arb
    closings: Sequence[Closing]

    @staticmethod
    def of(pair: Pair, order: float) -> Tail:
        """At the working precision, for a pair without infinite losses."""
        highest = pair.loss_range().highest
        if highest.is_finite():
            return Tail(order, highest.max(arb(0)).upper(), ())
        c, found = order - 1.0, list[Closing]()
        for factor in (GAP, 1.0 / GAP):  # up from 1 while it helps, then down
            best = max((each.log_mass(c, LOG_ROOM) for each in found), default=-math.inf)
            gap = 1.0 if factor > 1.0 else factor
            for _ in range(GAPS_MAX):
                closing = _closing(pair, order, c + gap)
                if closing is None or (found and closing.log_mass(c, LOG_ROOM) <= best):
                    break
                found.append(closing)
                best, gap = closing.log_mass(c, LOG_ROOM), gap * factor
        return Tail(order, arb.pos_inf(), tuple(found))

    @property
    def known(self) -> bool:
        """Whether the divergence is finite for certain."""
        return bool(self.highest.is_finite()) or bool(self.closings)

    def beyond(self, last: arb, mass: arb) -> arb:
        """What a profile that is flat at `mass` from e^last on, and the rest of the true one, add at most.

        At any t >= max(last, 0): order mass e^(c t), or mass (1 + t) for order 1, and the integral from e^t on.
        """
        if mass.is_zero():
            return arb(0)
        last = last.max(arb(0)).upper()
        if self.highest.is_finite():
            return self._flat(self.highest.max(last), mass)
        best = arb.pos_inf()
        for closing in self.closings:
            t = last.max(((closing.log_size - mass.log()) / closing.higher).mid())
            rest = (closing.log_size - (arb(closing.higher) - (arb(self.order) - 1)) * t).exp()
            best = best.min(self._flat(t, mass) + rest)
        return best

    def _flat(self, t: arb, mass: arb) -> arb:
        c = arb(self.order) - 1
        return mass * (1 + t) if self.order == 1.0 else arb(self.order) * mass * (c * t).exp()

    def log_mass(self, room: float) -> float:
        """The log of a mass whose part beyond is about e^room; any would do, a larger one costs width."""
        c, room = self.order - 1.0, room - math.log(self.order)
        if self.highest.is_finite():
            return room - c * upper_float(self.highest)
        return max((closing.log_mass(c, room) for closing in self.closings), default=room)


def _closing(pair: Pair, order: float, higher: float) -> Closing | None:
    """None where no moment is known there."""
    if not order - 1.0 < higher < math.inf:
        return None
    above, gap = cumulant_above(pair, higher), arb(higher) - (arb(order) - 1)
    front = (arb(order) * (arb(order) - 1)).log() if order > 1.0 else arb(0)
    return Closing(higher, arb(above) + _log_kappa(higher) - gap.log() + front) if math.isfinite(above) else None


def _log_kappa(c: float) -> arb:
    """kappa = c^c / (1 + c)^(1 + c), the maximum of e^(-c x) (1 - e^-x)."""
    at = arb(c)
    return at * at.log() - (1 + at) * (1 + at).log()


# Renyi divergences of a pair that is known between two finite ones.
#
# A pair that dominates has the larger divergence of every order. Of finite pairs, rows (p, q), mass w of infinite loss:
#     order < 1, > 1     sum of p^order q^(1 - order) = e^((order - 1) D)
#     order 1            sum of p log(p / q) = D
# and D is infinite from order 1 on where w > 0. The pair above has a w that only its last point gives it: there the
# true
# profile is closed by the end of the loss, or by a moment (divergence.py).
# Guarantee: lower <= D <= upper; the width falls with the square of the points. Proof: docs/proofs/renyi.md, section 2.
# Reference: van Erven, Harremoes 2014, Thm 9 (processing); Blackwell 1953 (pairs that dominate are processed to
# others).

FINITE_DIVERGENCE_BITS = 256  # divergences down to 1e-50 keep their digits
ROW_UNITS = 1.5e4  # of work
POINTS_AT_FIRST, FLOAT_POINTS, BALL_POINTS = 1 << 7, 1 << 15, 1 << 11
FIRST_TAIL, LAST_TAIL = 1e-40, 1e-290
LOG_TAIL_SHARE = math.log(1e-3)  # of the width that is wanted: for what lies beyond the last point
FASTER, MORE_THAN_ENOUGH = 64.0, 1.3  # more points than before at most; than the square law asks for
STILL_HELPS = 0.7  # of the width before: more is not worth another round
TRIES_MAX = 5


@dataclass
class Between:
    """One pair and one order, above 0 and finite; what is known of the tail serves every fineness."""

    pair: Pair
    order: float
    tail: Tail | None  # None below order 1, where an infinite loss costs nothing, and where there may be one

    @staticmethod
    def of(pair: Pair, order: float) -> Between:
        """The pair is not known to have an infinite loss, or the order lies below 1."""
        with working_precision(FINITE_DIVERGENCE_BITS):
            ends_well = order >= 1.0 and pair.infinite_mass().is_zero()
            return Between(pair, order, Tail.of(pair, order) if ends_well else None)

    def ends(self, known: Divergence, accuracy: float, proof: bool) -> Divergence:
        """As narrow as the accuracy, as time, or as finer pairs can make it; what is known where there are none."""
        fine, best, width = Resolution(POINTS_AT_FIRST, FIRST_TAIL, proof), known, math.inf
        for _ in range(TRIES_MAX):
            try:
                divergence = self._at(fine)
            except UnsupportedMechanism as refused:
                if refused.kind is not Refusal.NEEDS_BALLS or fine.proof:
                    break
                fine = replace(fine, points=min(fine.points, BALL_POINTS), proof=True)
                continue
            except (WorkExhausted, FloatingPointError):
                break
            best = best.narrowed(divergence)
            if best.relative <= accuracy:
                break
            finer = self._finer(fine, divergence, accuracy)
            if finer == fine or (finer.tail == fine.tail and divergence.relative > STILL_HELPS * width):
                break
            fine, width = finer, divergence.relative
        return best

    def _at(self, fine: Resolution) -> Divergence:
        with fp_environment.quiet() if fine.proof else fp_environment.float64():
            rough = bracket(self.pair, fine)
            one = around(rough.lower, fine)
            below, above = one[0], (one if rough.upper is rough.lower else around(rough.upper, fine))[1]
        compute_budget.spend(ROW_UNITS * (len(below.rows) + len(above.rows)))
        with working_precision(FINITE_DIVERGENCE_BITS):
            found = self._divergence(below, None), self._divergence(above, self.tail)
            return ends(*found, len(above.rows), fine.proof)

    def _divergence(self, pair: DyadicPair, tail: Tail | None) -> arb:
        """Of a finite pair; with a tail, of what it dominates."""
        order, mass = arb(self.order), pair.infinite_mass()
        beyond = arb(0)
        if self.order >= 1.0 and not mass.is_zero():
            if tail is None:
                return arb.pos_inf()
            beyond = tail.beyond(pair.loss_range().highest, mass)
        total = beyond
        scale = arb(2) ** -pair.bits
        for p, q in pair.rows:
            if p and q:
                more = arb(fmpz(p))
                ratio = more / arb(fmpz(q))
                total += scale * more * (ratio.log() if self.order == 1.0 else ratio ** (order - 1))
        if self.order == 1.0:
            return total
        return total.log() / (order - 1) if total > 0 else arb.pos_inf()

    def _finer(self, fine: Resolution, divergence: Divergence, accuracy: float) -> Resolution:
        """More points by the square law; less mass beyond where that is what is wide."""
        tail = fine.tail
        if self.tail is not None and self.tail.known and divergence.lower > 0.0:
            c = self.order - 1.0
            size = math.log(divergence.lower) + (
                math.log(c) + c * divergence.lower if c else 0.0
            )  # moves D by about itself
            wanted = self.tail.log_mass(size + math.log(accuracy) + LOG_TAIL_SHARE)
            tail = min(tail, max(math.exp(min(wanted, 0.0)), LAST_TAIL))
        share = divergence.relative / accuracy
        wanted_points = MORE_THAN_ENOUGH * math.sqrt(share) if share < math.inf else 1.0
        points = min(
            int(fine.points * min(max(wanted_points, 1.0), FASTER)), BALL_POINTS if fine.proof else FLOAT_POINTS
        )
        return replace(fine, points=max(points, fine.points), tail=tail)
