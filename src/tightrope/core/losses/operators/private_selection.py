"""The best of a random number of runs: the pair that dominates it, and pairs that real scores give.

With g the power of the best test of the base by its size and c the supremum of log phi'(g(x)) / phi'(x),
    H(a) <= P[K = 0] (1 - a)_+ + E[K] H_base(a e^-c),
and so for the reverse, whose mirror 1 - a + a H(1/a) bounds H too. The pair is that of the smaller of both and 1: its
power is the smaller one of theirs. A corner (x, y) of the base's power becomes (E[K] e^-c x, E[K] y), and the same
moved by P[K = 0] in both; on a line between corners phi'(g)/phi' is monotone for every law of K here: c is found there.
Real: scores that rise with the loss have the events P(A) = 1 - phi(1 - p), Q(A) = 1 - phi(1 - q) for the events
(p, q) = {l > t} of the base; scores that fall have phi(p) and phi(q), with and without the case K = 0. The pair whose
power is the upper hull of these events is bracketed from both sides.
Guarantee: upper; lower for the second. Proof: docs/proofs/selection.md.
Reference: Koskela, Redberg, Wang 2024 (one point of the profile); Papernot, Steinke 2022 (the laws of K).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NoReturn

from flint import arb, ctx, fmpz

from ...numerics.balls import integer, working_precision
from ...values import compute_budget
from ...values.errors import UnsupportedMechanism
from ..atoms import ratio_ball
from ..capabilities import Moments, Resolution
from ..cgf import cumulant_above
from ..pair import LossRange, Pair
from . import polygon
from .dyadic import DyadicPair
from .polygon import Corner, around
from .registered import dominated_pairs, has_bracket_only, remake

# How often a mechanism is run before its best output is chosen: laws of a number K that does not depend on the data.
#
# phi(z) = E z^K. Truncated negative binomial, K >= 1, d(z) = 1 - (1 - gamma) z:
#     phi = (d^-eta - 1) / (gamma^-eta - 1), phi' proportional to d^(-eta - 1); eta = 1 is geometric, eta = 0
#     logarithmic,
#     phi = log d / log gamma; E[K] = eta (1 - gamma) / (gamma (1 - gamma^eta)).
# Poisson: phi = e^(mean (z - 1)). Binomial: phi = (1 - p + p z)^trials, p = mean / trials. Both allow K = 0.
# gamma is enclosed: the weights are a_k (1 - gamma)^k, so E[K] rises with log(1 - gamma), by the variance of K.
# Guarantee: exact in balls. Reference: Papernot, Steinke 2022, Def. 1.

LOG_GAMMA_FIRST = -2000.0


class RepetitionLaw(ABC):
    """The law of K. Instances are frozen values."""

    mean: float

    @abstractmethod
    def phi(self, z: arb) -> arb:
        """E z^K for 0 <= z <= 1."""

    @abstractmethod
    def log_ratio(self, x: arb, y: arb) -> arb:
        """log phi'(y) / phi'(x)."""

    def ratio_most(self, lowest: arb) -> arb:
        """At or above log phi'(g(x)) / phi'(x) for all x, g the power of losses from `lowest` on; inf is allowed.

        Proof: docs/proofs/selection.md, section 4.
        """
        return arb.pos_inf()

    def none(self) -> arb:
        """P[K = 0]."""
        return arb(0)


@dataclass(frozen=True)
class NegativeBinomialRuns(RepetitionLaw):
    """K >= 1, mean above 1, shape eta > -1."""

    mean: float
    shape: float

    def log_gamma(self) -> arb:
        """log gamma at the working precision."""
        kept: dict[int, arb] = self.__dict__.setdefault("_kept", {})
        if ctx.prec not in kept:
            kept[ctx.prec] = self._found()
        return kept[ctx.prec]

    def _found(self) -> arb:
        if self.shape == 1.0:
            return -arb(self.mean).log()
        # E[K] falls with log gamma; ends that cannot be told from it are as close as the precision allows.
        low, high, mean = arb(LOG_GAMMA_FIRST), arb(0), arb(self.mean)
        while not self._mean_at(low) > mean:  # for shapes near -1 the mean grows by a small power of 1/gamma
            low = 2 * low
        for _ in range(ctx.prec + 16):
            middle = ((low + high) / 2).mid()
            there = self._mean_at(middle)
            if there > mean:
                low = middle
            elif there < mean:
                high = middle
            else:
                break
        return low.union(high)

    def _mean_at(self, log_gamma: arb) -> arb:
        left, eta = -log_gamma.expm1(), arb(self.shape)
        if self.shape == 0.0:
            return left / (log_gamma.exp() * -log_gamma)
        return eta * left / (log_gamma.exp() * -(eta * log_gamma).expm1())

    def _log_d(self, z: arb) -> arb:
        return ((1 - z) + self.log_gamma().exp() * z).log()

    def phi(self, z: arb) -> arb:
        eta, log_d, log_gamma = arb(self.shape), self._log_d(z), self.log_gamma()
        return log_d / log_gamma if self.shape == 0.0 else (-eta * log_d).expm1() / (-eta * log_gamma).expm1()

    def log_ratio(self, x: arb, y: arb) -> arb:
        return (1 + arb(self.shape)) * (self._log_d(x) - self._log_d(y))

    def ratio_most(self, lowest: arb) -> arb:
        return -(1 + arb(self.shape)) * lowest if lowest.is_finite() else arb.pos_inf()


@dataclass(frozen=True)
class PoissonRuns(RepetitionLaw):
    """K = 0 is possible."""

    mean: float

    def phi(self, z: arb) -> arb:
        return (arb(self.mean) * (z - 1)).exp()

    def log_ratio(self, x: arb, y: arb) -> arb:
        return arb(self.mean) * (y - x)

    def none(self) -> arb:
        return (-arb(self.mean)).exp()


@dataclass(frozen=True)
class BinomialRuns(RepetitionLaw):
    """K = 0 is possible: each of `trials` runs happens with probability mean / trials < 1."""

    mean: float
    trials: int

    @property
    def _share(self) -> arb:
        return ratio_ball(Fraction(self.mean) / self.trials)

    def phi(self, z: arb) -> arb:
        return (1 - self._share * (1 - z)) ** self.trials

    def log_ratio(self, x: arb, y: arb) -> arb:
        share = self._share
        return (self.trials - 1) * ((-share * (1 - y)).log1p() - (-share * (1 - x)).log1p())

    def none(self) -> arb:
        return (1 - self._share) ** self.trials


SELECTION_BITS = 128  # more than the base has
CORNER_UNITS = 2e4  # of work
SELECTION_POINTS_MAX = 1 << 12
ENDS_POINTS, ENDS_TAIL = 256, 1e-30
LEAVES = 8  # corners that are looked at one by one


@dataclass(frozen=True)
class _Repetitions(Pair):
    """A pair made of a base pair and a law of the number of runs, which finite bases turn into a finite pair."""

    base: Pair
    law: RepetitionLaw

    @property
    @abstractmethod
    def mirror(self) -> type[_Repetitions]:
        """What its reverse is."""

    @abstractmethod
    def made(self, base: DyadicPair, up: bool) -> DyadicPair:
        """Of a base in whole numbers, at or above, or at or below."""

    def bases(self) -> tuple[Pair, ...]:
        return (self.base,)

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:
        below, above = around(self.base, Resolution(min(fine.points, SELECTION_POINTS_MAX), fine.tail, fine.proof))
        return self.made(below, up=False), self.made(above, up=True)

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("the law of the best run is known between two finite ones; engine='joint' has it")

    tails = ball_tails = hockey_stick = ball_hockey_stick = _not_known

    def reversed(self) -> Pair:
        return self.mirror(self.base.reversed(), self.law)

    def infinite_mass(self) -> arb:
        """At most E[K] times that of the base."""
        mass = self.base.infinite_mass()
        return mass if mass.is_zero() else arb(0).union((arb(self.law.mean) * mass).min(arb(1)))

    def loss_range(self) -> LossRange:
        """The ends of the base and c at most; of real scores, what one event alone tells; once for each precision."""
        kept: dict[int, LossRange] = self.__dict__.setdefault("_ranges", {})
        if ctx.prec not in kept:
            highest = self._highest(self.base, type(self))
            same = self.reversed() == self
            lowest = -(highest if same else self._highest(self.base.reversed(), self.mirror))
            kept[ctx.prec] = LossRange(lowest, highest)
        return kept[ctx.prec]

    def _highest(self, base: Pair, kind: type[_Repetitions]) -> arb:
        highest, most = base.loss_range().highest, self.law.log_ratio(arb(0), arb(1))
        if not highest.is_finite():
            return highest
        if has_bracket_only(base):
            return arb(0).union(highest + most)
        below, above = around(base, Resolution(ENDS_POINTS, ENDS_TAIL, proof=False))
        with working_precision(above.bits + SELECTION_BITS):
            most = self.law.ratio_most(_lowest(base))
            ends = [
                _steepest(polygon.corners(pair, pair.bits), self.law, pair.bits).min(most) for pair in (below, above)
            ]
            return kind(base, self.law).largest(below, highest + ends[0].union(ends[1]))

    @abstractmethod
    def largest(self, below: DyadicPair, most: arb) -> arb:
        """The largest finite loss; the theorem has `most`, for a base that dominates `below`."""

    def moments(self) -> _RepetitionsMoments:
        return _RepetitionsMoments(self)


@remake.register(_Repetitions)
def _(pair: _Repetitions, bases: tuple[Pair, ...]) -> Pair:
    return type(pair)(bases[0], pair.law)


class _RepetitionsMoments(Moments[_Repetitions]):
    def log_moment_above(self, order: float) -> arb | None:
        """e^K <= 1 + c + E[K] e^(C c + K_base), C that of the theorem. Proof: docs/proofs/renyi.md, section 4."""
        if not self.pair.base.infinite_mass().is_zero():
            return None
        above, c = cumulant_above(self.pair.base, order), arb(order)
        most = self.pair.law.log_ratio(arb(0), arb(1)).min(self.pair.law.ratio_most(_lowest(self.pair.base)))
        return (1 + c + arb(self.pair.law.mean) * (most * c + arb(above)).exp()).log()


@has_bracket_only.register(_Repetitions)
def _(pair: _Repetitions) -> bool:
    return True


class PrivateSelectionPair(_Repetitions):
    """What dominates the best of the runs."""

    @property
    def mirror(self) -> type[_Repetitions]:
        return PrivateSelectionPair

    def made(self, base: DyadicPair, up: bool) -> DyadicPair:
        bits = base.bits + SELECTION_BITS
        one = 1 << bits
        with working_precision(bits + SELECTION_BITS):
            most = [self.law.ratio_most(_lowest(pair)) for pair in (self.base, self.base.reversed())]
        ahead = _bounded(polygon.corners(base, bits), self.law, bits, up, most[0])
        mirror = _bounded(polygon.corners(base.reversed(), bits), self.law, bits, up, most[1])
        behind = [(one - y, one - x) for x, y in reversed(mirror)]
        return polygon.concave(_lower(ahead, behind, one, up), bits)

    def largest(self, below: DyadicPair, most: arb) -> arb:
        """The theorem's: the mirror does not pass through (0, 0). Proof: docs/proofs/selection.md, section 3."""
        return most if self.base.infinite_mass().is_zero() else arb(0).union(most)


@dominated_pairs.register(PrivateSelectionPair)
def _(pair: PrivateSelectionPair) -> tuple[Pair, ...]:
    """The base, where there is a run for certain: one that is chosen without a score."""
    return (pair.base,) if pair.law.none().is_zero() else ()


class _ScoredPair(_Repetitions):
    """Real scores: the pair whose power is the upper hull of what the events {l > t} of the base become.

    Its lower ends are those of the mechanism, its upper ends are its own: other tests of the output may do better.
    """

    @abstractmethod
    def masses(self, mass: arb) -> tuple[arb, arb]:
        """What an event {l > t} of the base becomes, without and with the case that there is no run."""

    @abstractmethod
    def log_steeper(self, x: arb, y: arb) -> arb:
        """log of the derivative of `masses` at y over that at x; monotone on every line of the base's power."""

    def made(self, base: DyadicPair, up: bool) -> DyadicPair:
        with working_precision(base.bits + SELECTION_BITS):
            return polygon.covering(self._covers(base)) if up else polygon.below(self._events(base))

    def largest(self, below: DyadicPair, most: arb) -> arb:
        """At least what one event tells."""
        value = arb(0)
        for p, q in self._events(below):
            value = value.max((p / q).log().lower()) if q > 0 and p > q else value
        return value.union(most)

    def _events(self, base: DyadicPair) -> list[tuple[arb, arb]]:
        corners = polygon.corners(base, base.bits)
        compute_budget.spend(CORNER_UNITS * len(corners))
        found: list[tuple[arb, arb]] = []
        for x, y in corners:
            sizes, powers = (self.masses(_ball(value, base.bits)) for value in (x, y))
            found += zip(powers, sizes, strict=True)
        return found

    def _covers(self, base: DyadicPair) -> list[tuple[arb, arb]]:
        """Corners of a polygon above what the lines of the base's power become: a line becomes a curve of monotone
        slope, which lies below the line through its left end that is as steep as the steeper of its ends.

        Proof: docs/proofs/selection.md, section 5.
        """
        found, corners = self._events(base), polygon.corners(base, base.bits)
        compute_budget.spend(CORNER_UNITS * len(corners))
        for index, (left, right) in enumerate(pairwise(corners)):
            (x0, y0), (x1, y1) = ((_ball(x, base.bits), _ball(y, base.bits)) for x, y in (left, right))
            steeper = self.log_steeper(x0, y0).max(self.log_steeper(x1, y1)).exp()
            slope = arb((y1 - y0) / (x1 - x0) * steeper).upper()
            starts, ends = found[2 * index : 2 * index + 2], found[2 * index + 2 : 2 * index + 4]
            for (p0, q0), (p1, q1) in zip(starts, ends, strict=True):  # without and with the case of no run
                found.append((p1.max(p0 + slope * (q1 - q0)), q1))
        return found


class UnscoredPair(_ScoredPair):
    """A score that is the same for all: a run at random."""

    @property
    def mirror(self) -> type[_Repetitions]:
        return UnscoredPair

    def masses(self, mass: arb) -> tuple[arb, arb]:
        none = self.law.none()
        return (1 - none) * mass, (1 - none) * mass + none

    def log_steeper(self, x: arb, y: arb) -> arb:
        return arb(0)


@dominated_pairs.register(UnscoredPair)
def _(pair: UnscoredPair) -> tuple[Pair, ...]:
    """The base, where there is a run for certain: then it is the base."""
    return (pair.base,) if pair.law.none().is_zero() else ()


class RisingPair(_ScoredPair):
    """Scores that rise with the loss."""

    @property
    def mirror(self) -> type[_Repetitions]:
        return FallingScoresPair

    def masses(self, mass: arb) -> tuple[arb, arb]:
        value = 1 - self.law.phi(1 - mass)
        return value, value + self.law.none()

    def log_steeper(self, x: arb, y: arb) -> arb:
        return self.law.log_ratio(1 - x, 1 - y)


class FallingScoresPair(_ScoredPair):
    """Scores that fall with the loss."""

    @property
    def mirror(self) -> type[_Repetitions]:
        return RisingPair

    def masses(self, mass: arb) -> tuple[arb, arb]:
        value = self.law.phi(mass)
        return value - self.law.none(), value

    def log_steeper(self, x: arb, y: arb) -> arb:
        return self.law.log_ratio(x, y)


def _lowest(base: Pair) -> arb:
    """The smallest loss under both laws: -inf where the second one has outputs that the first never has."""
    return base.loss_range().lowest if base.reversed().infinite_mass().is_zero() else arb.neg_inf()


def _bounded(corners: Sequence[Corner], law: RepetitionLaw, bits: int, up: bool, most: arb) -> list[Corner]:
    """The power whose profile is P[K = 0] (1 - a)_+ + E[K] H(a e^-c), cut at 1: corners from x = 0 to the cut.

    most: at or above the c of the base, whose polygon may have a larger one.
    """
    one = 1 << bits
    compute_budget.spend(CORNER_UNITS * len(corners))
    with working_precision(bits + SELECTION_BITS):
        mean, none = arb(law.mean), law.none() * arb(2) ** bits
        shrunk = mean * (-_steepest(corners, law, bits).min(most)).exp()
        wide, high = (_whole(value * arb(2) ** bits, side) for value, side in ((shrunk, not up), (mean, up)))
        left, top = _whole(none, not up), _whole(none, up)
    points = []
    for x, y in corners:
        x, y = _quotient(x * wide, one, not up), _quotient(y * high, one, up)
        points += [(x, y), (x + left, y + top)]
    return _cut(_hull(points), one, up)


def _steepest(corners: Sequence[Corner], law: RepetitionLaw, bits: int) -> arb:
    """c of a polygon, a ball: the largest over its corners; blocks that stay below what is known are left out."""

    def ratio(first: Corner, last: Corner) -> arb:
        return law.log_ratio(_ball(first[0], bits), _ball(last[1], bits))

    best, waiting = arb(0), [(0, len(corners))]
    while waiting:
        start, stop = waiting.pop()
        if stop - start > LEAVES:
            if not ratio(corners[start], corners[stop - 1]) <= best:
                middle = (start + stop) // 2
                best = best.max(ratio(corners[middle], corners[middle]))
                waiting += [(start, middle), (middle, stop)]
            continue
        for corner in corners[start:stop]:
            best = best.max(ratio(corner, corner))
    return best


def _hull(points: Sequence[Corner]) -> list[Corner]:
    """The upper hull, as far as it rises."""
    found: list[Corner] = []
    for x, y in sorted(points):
        if found and x == found[-1][0]:
            found.pop()
        while len(found) > 1:
            (x0, y0), (x1, y1) = found[-2:]
            if (y1 - y0) * (x - x0) > (y - y0) * (x1 - x0):
                break
            found.pop()
        found.append((x, y))
    return found


def _cut(corners: Sequence[Corner], one: int, up: bool) -> list[Corner]:
    """Up to where the power is 1."""
    found = []
    for index, (x, y) in enumerate(corners):
        if y >= one or x >= one:
            if index and y > one:
                x0, y0 = corners[index - 1]
                x = x0 + _quotient((one - y0) * (x - x0), y - y0, not up)
            found.append((min(x, one), one) if y >= one else (one, one))
            return found
        found.append((x, y))
    return [*found, (one, one)]


def _lower(first: Sequence[Corner], second: Sequence[Corner], one: int, up: bool) -> list[Corner]:
    """The smaller of two concave polygons; above, with the corner where they cross."""
    found: list[Corner] = []
    last: tuple[int, int, int] | None = None
    lines = _ReadPower(first, one, up), _ReadPower(second, one, up)
    for x in sorted({x for x, _ in (*first, *second)} | {one}):
        f, g = (line.at(x) for line in lines)
        if up and last is not None and (last[1] - last[2]) * (f - g) < 0:
            x0, f0, g0 = last
            before, after = abs(f0 - g0), abs(f - g)
            crossed = x0 + _quotient((x - x0) * before, before + after, False)
            found.append((crossed, f0 + _quotient((f - f0) * before, before + after, True)))
        found.append((x, min(f, g)))
        last = x, f, g
    return found


class _ReadPower:
    """A polygon that is read from the left to the right."""

    def __init__(self, corners: Sequence[Corner], one: int, up: bool) -> None:
        self._corners, self._one, self._up, self._place = corners, one, up, 0

    def at(self, x: int) -> int:
        """Its value, 1 after the last corner."""
        while self._place < len(self._corners) and self._corners[self._place][0] < x:
            self._place += 1
        if self._place == len(self._corners):
            return self._one
        (x1, y1) = self._corners[self._place]
        if x1 == x or not self._place:
            return y1
        x0, y0 = self._corners[self._place - 1]
        return y0 + _quotient((y1 - y0) * (x - x0), x1 - x0, self._up)


def _quotient(top: int, bottom: int, up: bool) -> int:
    return -(-top // bottom) if up else top // bottom


def _whole(number: arb, up: bool) -> int:
    value = integer(number.upper().ceil() if up else number.lower().floor())
    if value is None:
        raise UnsupportedMechanism("its number of runs is too large; take a smaller mean")
    return max(value, 0)


def _ball(mass: int, bits: int) -> arb:
    return arb(fmpz(mass)) * arb(2) ** -bits
