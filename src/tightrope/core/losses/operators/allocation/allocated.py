"""The pair of a record that takes part in one of t steps, chosen uniformly: one of t copies of Q is replaced by P.

With Y_i = dP/dQ of step i under Q and L = (Y_1 + ... + Y_t)/t,
    REMOVE   (mean over i of Q^(i-1) P Q^(t-i), Q^t):  H(a) = w + E(L - a)_+, w = P[Y = inf]
    ADD      (Q^t, the same mean):                      H(a) = E(1 - a L)_+
Both grow with the law of Y in convex order, so one law above and one below give two finite pairs (laws.py, powers.py).
The base of ADD is of that direction, (without the record, with it): there Y = dQ/dP under P.
Guarantee: `bracket` is lower and upper. Proof: docs/proofs/allocation.md.
Reference: Chua et al. 2025, "Balls-and-bins sampling for DP-SGD"; Feldman, Shenfeld 2025, "Privacy amplification by
random allocation".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

from flint import acb, acb_poly, arb

from ....numerics.balls import BITS_START, working_precision
from ....values import compute_budget
from ....values.errors import UnsupportedMechanism
from ....values.question import Direction
from ...capabilities import Moments, Resolution
from ...cgf import RatioTransform, cumulant_above
from ...pair import LossRange, Pair
from .. import polygon
from ..poisson import poisson_pair, rate_ends
from ..product import ProductPair
from ..registered import (
    allocated_pair_of,
    has_bracket_only,
    hidden_participation,
    is_opaque,
    ratio_transform,
    remake,
    simpler_ends,
)
from .powers import mean_pairs


@dataclass(frozen=True)
class AllocatedPair(Pair):
    """One of so many steps, two or more; the base is the pair of one step, of this direction."""

    base: Pair
    steps: int
    direction: Direction

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("the law of one of many steps is not known by itself; engine='joint' composes it")

    tails = hockey_stick = ball_tails = ball_hockey_stick = _not_known

    def reversed(self) -> AllocatedPair:
        return AllocatedPair(self.base.reversed(), self.steps, self.direction.opposite)

    def bases(self) -> tuple[Pair, ...]:
        return (self.base,)

    def infinite_mass(self) -> arb:
        """The chosen step has it, or for ADD every step."""
        mass = self.base.infinite_mass()
        return mass if self.direction is Direction.REMOVE else mass**self.steps

    def loss_range(self) -> LossRange:
        """A mean lies between the least and the largest; with zeros among its terms it may be less by 1/t."""
        lowest, highest = self.base.loss_range()
        if self.direction is Direction.REMOVE:
            lost = not self.base.reversed().infinite_mass().is_zero()
            return LossRange(lowest - arb(self.steps).log() if lost else lowest, highest)
        lost = not self.base.infinite_mass().is_zero()
        return LossRange(lowest, highest + arb(self.steps).log() if lost else highest)

    def _moments_below_base(self) -> bool:
        """Whether finite losses have no larger moments than those of the base, which dominates it.

        Not where what the base has at infinite loss becomes finite: for ADD, means of zeros and others.
        Proof: docs/proofs/allocation.md, section 2.
        """
        return self.direction is Direction.REMOVE or bool(self.base.infinite_mass().is_zero())

    @cached_property
    def _tables(self) -> Tables:
        return {}

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:

        step = self.base if self.direction is Direction.REMOVE else self.base.reversed()
        smooth = smooth_pairs(step, self.steps, self.direction, fine, self._tables)
        if smooth is not None:
            return smooth
        if fine.proof:
            raise UnsupportedMechanism("its law is computed in float64; ask without proof")
        with working_precision(BITS_START):
            return mean_pairs(step, self.steps, self.direction, fine)

    def moments(self) -> AllocatedMoments:
        return AllocatedMoments(self)


@remake.register(AllocatedPair)
def _(pair: AllocatedPair, bases: tuple[Pair, ...]) -> Pair:
    return allocated_pair(bases[0], pair.steps, pair.direction)


class AllocatedMoments(Moments[AllocatedPair]):
    def log_moment_above(self, order: float) -> arb | None:
        return arb(cumulant_above(self.pair.base, order)) if self.pair._moments_below_base() else None

    def zcdp_rho(self) -> arb | None:
        return self.pair.base.moments().zcdp_rho() if self.pair._moments_below_base() else None

    def gdp_mu(self) -> arb | None:
        return self.pair.base.moments().gdp_mu()

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """Of the record in one step at least: L >= Y_1/t, so that H(a) >= H_base(t a)/t, whatever the others show."""
        return self.pair.base.moments().gdp_mu_lower(direction) if direction is self.pair.direction else None


@simpler_ends.register(AllocatedPair)
def _(own: AllocatedPair) -> tuple[tuple[Pair, ...], Pair]:
    """What the first step alone shows, or the largest or the sum of all; and one step, the base.

    Proof: docs/proofs/allocation.md, section 2.
    """
    first = poisson_pair(own.base, rate_ends(Fraction(1, own.steps))[0], own.direction)
    if own.direction is Direction.REMOVE:
        return (*hidden_participation(own.base, own.steps, 1), first), own.base
    return (
        *(pair.reversed() for pair in hidden_participation(own.base.reversed(), own.steps, 1)),
        first,
    ), own.base


@has_bracket_only.register(AllocatedPair)
def _(pair: AllocatedPair) -> bool:
    return True


def allocated_pair(base: Pair, steps: int, direction: Direction) -> Pair:
    """One of so many steps, each of which has this base pair, of this direction; one step is the base."""
    if steps == 1:
        return base
    if isinstance(base, AllocatedPair) and base.direction is direction:  # a mean of means
        return allocated_pair(base.base, base.steps * steps, direction)
    known = allocated_pair_of(base, steps, direction)
    if known is not None:
        return known
    return AllocatedPair(ProductPair(((base, 1),)) if is_opaque(base) else base, steps, direction)


# The law of a sum of t ratios by its Laplace transform, where that falls quickly: many steps, or much noise.
#
# S = Y_1 + ... + Y_t under Q, g(k) = E(k - S)_+ and F = g'. For c > 0 and a period p, with s_n = c + 2 pi i n/p,
#     (1/p) sum over n of e^{s_n k} E e^{-s_n S}/s_n^2 = sum over m of e^{-m c p} g(k + m p),
# an identity (Poisson summation; for F with 1/s_n). Terms with m > 0 are at most e^{-m c p} (k + m p), those with m < 0
# at most e^{-m c p + r (k + m p)} E e^{-r S}/(e r) for any r > c, and 0 where k + m p <= 0. All are at least 0.
# What is left out of the sum over n is bounded by how the transform falls.
#     REMOVE  H(a) = g(a t)/t + 1 - a,   P[L > a] = 1 - (k F - g)/t,   Q[L > a] = 1 - F,   k = a t
#     ADD     H(1/a) = g(a t)/(a t),     and the complements of these events.
# Guarantee: enclosed, in balls alone. Proof: docs/proofs/allocation_transform.md.

SMOOTH_NODES_MIN, SMOOTH_NODES_MAX, SMOOTH_NODES_GROW = 8, 128, 1.25  # beyond, grids are quicker
SMOOTH_PROOF_NODES_MAX = 4000
SMOOTH_RATES = -20.0, 20.0  # logarithms of the rates that Chernoff's bound may take
SMOOTH_THIRDS = 24
SMOOTH_HALVINGS = 16
SMOOTH_NEAREST_NATS = 30.0
SMOOTH_LOSS_FAR = 600.0
SMOOTH_WIDER_PERIOD = 1.02
SMOOTH_SPARE_NATS = 3.0
SMOOTH_NEAR_ZERO = 0.1
SMOOTH_OCTAVES = 8
SMOOTH_REAL_MAX = 1000.0  # e^{-c Y} takes so many nats of the precision
SMOOTH_BLOCK_TERMS, SMOOTH_BLOCK_NATS = 16, 17.0  # of a sum, and what its balls may widen
SMOOTH_POINT_WORK, SMOOTH_TERM_WORK = 1e5, 5e2  # units of work
SMOOTH_AFFORDABLE = 0.3  # of the work that is left
SMOOTH_SHARE = 2.0**-12  # of the tail: what the sums may miss
SMOOTH_WIDER = 1.5
SMOOTH_TRIES = 6
SMOOTH_TAIL_REACHED = 4.0


class InversionLine(NamedTuple):
    """Where the transform is taken: real part, nodes, period, and the values of k it serves."""

    real: float
    nodes: int
    period: float
    least: float
    most: float
    log_scale: float  # of the largest term
    lowest: float  # below, the law is negligible, or 0


@dataclass(frozen=True)
class SumTable:
    """g and F of a sum anywhere in a range, at the precision that it was made for."""

    line: InversionLine
    steps: int
    puts: list[acb]  # E e^{-s (S - t)}/s^2, halved at n = 0
    parts: list[acb]  # with 1/s
    left_put: arb  # of the sums over n, times e^{-c (k - t)}
    left_part: arb
    chernoff: tuple[arb, arb]  # r, log E e^{-r (S - t)}
    bits: int

    def at(self, k: arb) -> tuple[arb, arb]:
        """g and F."""
        c, p = arb(self.line.real), arb(self.line.period)
        centred = k - self.steps
        x = acb(0, 2 * arb.pi() * centred / p).exp()
        scale = (c * centred).exp() * 2 / p
        g, f = (_series(values, x).real * scale for values in (self.puts, self.parts))
        left = (c * centred).exp()
        once = (-c * p).exp()
        put_alias = once / (1 - once) * (k + p / (1 - once))
        part_alias = once / (1 - once)
        if not k <= p:
            r, log_moment = self.chernoff
            ratio = (-(r - c) * p).exp()
            wrapped = (r * centred + log_moment).exp() * ratio / (1 - ratio)
            put_alias, part_alias = put_alias + wrapped / (r * arb(1).exp()), part_alias + wrapped
        return (
            g + _missing(left * self.left_put, put_alias),
            f + _missing(left * self.left_part, part_alias),
        )


def _series(terms: list[acb], x: acb) -> acb:
    """The sum of terms[n] x^n, |x| = 1, in short blocks: Horner's rule alone would widen a ball a little at each x."""
    while len(terms) > 1:
        terms = [
            acb_poly(terms[start : start + SMOOTH_BLOCK_TERMS])(x) for start in range(0, len(terms), SMOOTH_BLOCK_TERMS)
        ]
        x = x**SMOOTH_BLOCK_TERMS
    return terms[0]


def _missing(left: arb, aliases: arb) -> arb:
    """Either side, and above only."""
    return arb(0, left.upper()) - arb(0.5, 0.5) * aliases.upper()


Tables = dict[tuple[float, bool], "SumTable | None"]  # by tail and proof; None where none was found


def smooth_pairs(
    pair: Pair, steps: int, direction: Direction, fine: Resolution, tables: Tables
) -> tuple[Pair, Pair] | None:
    """A finite pair that one of so many steps dominates, and one that dominates it; None where it takes too long.

    pair: of one step, (with, without). tables: those made before for the same pair and steps.
    """
    transform = ratio_transform(pair)
    if transform is None:
        return None
    key = fine.tail, fine.proof
    if key not in tables:
        tables[key] = _made(pair, transform, steps, fine)
    table = tables[key]
    if table is None or _point_work(table) * fine.points > SMOOTH_AFFORDABLE * compute_budget.left():
        return None
    with working_precision(table.bits):
        return _polygons(table, transform.spread(), direction, fine)


def _point_work(table: SumTable) -> float:
    return SMOOTH_POINT_WORK + SMOOTH_TERM_WORK * table.line.nodes


def _made(pair: Pair, transform: RatioTransform, steps: int, fine: Resolution) -> SumTable | None:
    """A table that reaches to where H is about the tail."""
    most = _right(pair, transform, steps, fine.tail)
    for _ in range(SMOOTH_TRIES):
        line = _line(transform, steps, most, fine.tail, SMOOTH_PROOF_NODES_MAX if fine.proof else SMOOTH_NODES_MAX)
        if line is None or _line_work(transform, steps, line, fine.tail) > SMOOTH_AFFORDABLE * compute_budget.left():
            return None
        bits = (
            math.ceil((line.log_scale - math.log(fine.tail * SMOOTH_SHARE)) / math.log(2.0))
            + 2 * steps.bit_length()
            + 96
        )
        with working_precision(bits):
            table = _table(transform, steps, line, fine.tail, bits)
            g, _ = table.at(arb(most))
            if (g + steps - arb(most)) / steps < SMOOTH_TAIL_REACHED * fine.tail:
                return table
        most = steps + SMOOTH_WIDER * (most - steps)
    return None


def _right(pair: Pair, transform: RatioTransform, steps: int, tail: float) -> float:
    """About where H is as small as the tail: one large ratio, or many small ones together."""
    low, high = 0.0, SMOOTH_LOSS_FAR
    with working_precision(BITS_START):
        for _ in range(SMOOTH_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if pair.ball_hockey_stick(arb(middle)) > tail else (low, middle)
    together = transform.spread() * math.sqrt(-2.0 * steps * math.log(tail))
    return steps + max(math.expm1(high), together)


def _line(transform: RatioTransform, steps: int, most: float, tail: float, nodes_most: int) -> InversionLine | None:
    """By rough bounds: a period that holds the law, and as many nodes as its transform needs."""
    log_left = math.log(tail * SMOOTH_SHARE)
    log_period = math.log(2.0 * most) - log_left + SMOOTH_SPARE_NATS
    lowest = _left(transform, steps, log_left - log_period)
    lowest = lowest if lowest > SMOOTH_NEAR_ZERO * most else 0.0  # then no term wraps around from below
    period = SMOOTH_WIDER_PERIOD * (most - lowest)
    real = log_period / period
    if real > SMOOTH_REAL_MAX:
        return None
    log_scale = real * (most - steps) + steps * transform.log_rough(real) - 2.0 * math.log(real)
    nodes = SMOOTH_NODES_MIN
    while True:
        fall = transform.fall(arb(real), arb(2.0 * math.pi * nodes / period))
        if real * (most - steps) + steps * float(fall.log_bound.mid()) + math.log(period + nodes) < log_left:
            break
        nodes = math.ceil(SMOOTH_NODES_GROW * nodes)
        if nodes > nodes_most:
            return None
    least = _left(transform, steps, math.log(tail))
    return InversionLine(
        real, nodes, period, least, most, max(log_scale, 0.0) + math.log(2.0 * nodes / period + 1.0), lowest
    )


def _left(transform: RatioTransform, steps: int, log_mass: float) -> float:
    """About where E(k - S)_+ is below e^log_mass: how far from t, by its logarithm."""
    near, far = math.log(steps) - SMOOTH_NEAREST_NATS, math.log(steps)
    for _ in range(SMOOTH_HALVINGS):
        middle = 0.5 * (near + far)
        value = _chernoff(transform, steps, steps - math.exp(middle))[0]
        near, far = (middle, far) if value > log_mass else (near, middle)
    return max(steps - math.exp(far), 0.0)


def _chernoff(transform: RatioTransform, steps: int, k: float) -> tuple[float, float]:
    """About the least of r (k - t) + t log psi(r), and r there; it is convex in r."""

    def value(log_r: float) -> float:
        r = math.exp(log_r)
        return r * (k - steps) + steps * transform.log_rough(r)

    low, high = SMOOTH_RATES
    for _ in range(SMOOTH_THIRDS):
        first, second = (2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0
        low, high = (low, second) if value(first) < value(second) else (first, high)
    best = 0.5 * (low + high)
    return value(best), math.exp(best)


def _log_error(steps: int, line: InversionLine, tail: float) -> float:
    """What a value of the transform may miss."""
    return math.log(tail * SMOOTH_SHARE / steps) - line.log_scale - SMOOTH_BLOCK_NATS


def _line_work(transform: RatioTransform, steps: int, line: InversionLine, tail: float) -> float:
    return line.nodes * transform.value_work(line.real, _log_error(steps, line, tail))


def _table(transform: RatioTransform, steps: int, line: InversionLine, tail: float, bits: int) -> SumTable:
    compute_budget.spend(_line_work(transform, steps, line, tail))
    c, p = arb(line.real), arb(line.period)
    step = 2 * arb.pi() / p
    log_error = _log_error(steps, line, tail)
    values = transform.values(c, step, line.nodes, log_error)
    parts, puts = [], []
    for n, value in enumerate(values):
        s = acb(c, step * n)
        part = value**steps / s if n else value**steps / s / 2
        parts.append(part)
        puts.append(part / s)
    falls = [transform.fall(c, step * (line.nodes << octave)) for octave in range(SMOOTH_OCTAVES + 1)]
    moduli = [(steps * fall.log_bound).exp() for fall in falls]
    last = ((steps - 1) * falls[-1].log_bound).exp() * falls[-1].slope
    # Over v = n step: the sums of |psi|^t/v^2 and of |psi|^t/v, by octaves and then by the slope.
    left_put = moduli[0] / (step * step * (line.nodes - 1))
    left_part = sum(moduli[:-1], arb(0)) / step + last / (step * step * ((line.nodes << SMOOTH_OCTAVES) - 1))
    best = _chernoff(transform, steps, line.lowest)[1] if line.lowest else 0.0
    r = arb(max(min(best, SMOOTH_REAL_MAX), 2.0 * line.real))  # any above c is valid
    moment = steps * transform.values(r, arb(0), 1, log_error)[0].real.log()
    return SumTable(
        line,
        steps,
        puts,
        parts,
        2 / p * left_put,
        2 / p * left_part,
        (r, moment),
        bits,
    )


def _polygons(table: SumTable, transform_spread: float, direction: Direction, fine: Resolution) -> tuple[Pair, Pair]:
    compute_budget.spend(_point_work(table) * fine.points)
    t, line = table.steps, table.line
    width = transform_spread / math.sqrt(t)
    low, high = (math.asinh(math.log(max(k / t, math.exp(-SMOOTH_LOSS_FAR))) / width) for k in (line.least, line.most))
    points, events = [], []
    for index in range(fine.points):
        a = arb(math.exp(width * math.sinh(low + (high - low) * index / (fine.points - 1))))
        k = a * t
        g, f = table.at(k)
        value = (k * f - g) / t  # P[L < a]
        if direction is Direction.REMOVE:
            points.append((a, (g + t - k) / t))
            events.append((1 - value, 1 - f))
        else:
            points.append((1 / a, g / k))
            events.append((f, value))
    return polygon.below(events), polygon.above(points)
