"""Where the contour runs: the saddle, the step, and the second tilt that bounds the aliases.

Everything here is a choice in plain floats: a bad one makes the answer wide, never wrong.
psi(c) = K(c) - c eps - log c(c+1) is least at the saddle, where eps = K'(c) - 1/c - 1/(c+1), and
delta is about e^psi / sqrt(2 pi psi'').
Reference: Daniels 1954 (saddle-point approximations).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from flint import arb

from ..losses.cgf import SHARPNESSES, Cgf, Cumulants, Partitionable, RestrictedCgf, Split, Terms, cgf_of
from ..numerics.balls import BITS_START, upper_float, working_precision
from ..numerics.rounding import dyadic
from ..values.errors import UnsupportedMechanism
from .selection import Term
from .tuning import (
    BRACKET_MIN,
    DEPTH,
    FAR_ABOVE,
    RARE,
    RARE_HITS,
    SAMPLE,
    SEARCH_FACTOR,
    SEARCH_STEPS,
    SPLIT_STEPS,
    STEP_BITS,
    TILT_BITS,
    TILT_MAX,
    TILT_MIN,
)

Weighted = Sequence[tuple[Cgf, float]]


@dataclass(frozen=True, slots=True)
class Saddle:
    """The tilt c, the epsilon it belongs to, and the shape of the integrand there."""

    tilt: float
    epsilon: float
    log_delta: float
    cumulants: Cumulants

    @property
    def curvature(self) -> float:
        """psi''."""
        return self.cumulants.variance + self.tilt**-2 + (self.tilt + 1.0) ** -2

    @property
    def estimate(self) -> float:
        """log of the saddle-point approximation of delta."""
        height = self.cumulants.value - self.tilt * self.epsilon - math.log(self.tilt * (self.tilt + 1.0))
        return height - 0.5 * math.log(2.0 * math.pi * self.curvature)

    @property
    def cancellation(self) -> float:
        """How many e-folds the integral is smaller than its integrand suggests."""
        return max(0.0, self.estimate - self.log_delta)


Towards = Callable[[Saddle], tuple[float, bool]]


class Shape(ABC):
    """A measure whose K, K' and K'' are known approximately: all that a contour needs to be placed."""

    @abstractmethod
    def cumulants(self, tilt: float) -> Cumulants:
        """K, K' and K''."""

    def sample(self) -> Shape:
        """Something cheaper that is nearly the same."""
        return self


@dataclass(frozen=True)
class CgfSum(Shape):
    """Terms with counts: cgfs add."""

    terms: Weighted

    def cumulants(self, tilt: float) -> Cumulants:
        parts = [(cgf.cumulants(tilt), count) for cgf, count in self.terms]
        if len(parts) == 1:
            (value, mean, variance), count = parts[0]
            return Cumulants(count * value, count * mean, count * variance)
        return Cumulants(*(math.fsum(count * part[index] for part, count in parts) for index in range(3)))

    def sample(self) -> Shape:
        """Some of many terms, which stand for all of them."""
        if len(self.terms) < 2 * SAMPLE:
            return self
        stride = max(1, len(self.terms) // SAMPLE)
        few = self.terms[stride // 2 :: stride]
        return CgfSum([(cgf, count * len(self.terms) / len(few)) for cgf, count in few])


def saddle_at(shape: Shape, tilt: float) -> Saddle:
    """The saddle values at a tilt, for its own epsilon."""
    now = shape.cumulants(tilt)
    return _estimated(tilt, now.mean - 1.0 / tilt - 1.0 / (tilt + 1.0), now)


def _estimated(tilt: float, epsilon: float, now: Cumulants) -> Saddle:
    """With the saddle-point approximation of delta."""
    return Saddle(tilt, epsilon, Saddle(tilt, epsilon, 0.0, now).estimate, now)


def find_saddle(
    shape: Shape,
    epsilon: float | None,
    log_delta: float | None,
    tilt_most: float = TILT_MAX,
    start: float = 1.0,
    *,
    log_least: float = -math.inf,
    closeness: float = 1.0,
) -> Saddle:
    """The saddle for a given epsilon, or for the epsilon that has this log delta (not below 0).

    log_least: a tilt that makes log delta at epsilon so small is steep enough. closeness: below 1, the search goes on.
    """
    if epsilon is None and log_delta is not None:
        found = _solve(shape, lambda saddle: _towards_delta(saddle, log_delta, closeness), tilt_most, start)
        if found.epsilon >= 0.0:
            return found
    at = epsilon or 0.0
    found = _solve(shape, lambda saddle: _towards_epsilon(saddle, at, log_least, closeness), tilt_most, start)
    return _estimated(found.tilt, at, found.cumulants)


def _towards_delta(saddle: Saddle, log_delta: float, closeness: float) -> tuple[float, bool]:
    """Newton's step for log(4 - log delta) in log c, which is nearly straight; and whether it is close enough."""
    reached, wanted = 4.0 - saddle.log_delta, 4.0 - log_delta
    slope = saddle.tilt**2 * saddle.curvature
    step = math.log(wanted / reached) * reached / slope if reached > 0.0 else 1.0
    return step, abs(saddle.log_delta - log_delta) < 0.2 * closeness


def _towards_epsilon(saddle: Saddle, epsilon: float, log_least: float, closeness: float) -> tuple[float, bool]:
    """Newton's step for eps in log c; close enough where the loss of a wrong c is a factor near 1."""
    missing = epsilon - saddle.epsilon
    if missing > 0.0 and log_least > -math.inf and replace(saddle, epsilon=epsilon).estimate < log_least:
        return -1.0, False
    return missing / (saddle.tilt * saddle.curvature), missing * missing < 0.01 * closeness**2 * saddle.curvature


def _solve(shape: Shape, towards: Towards, tilt_most: float, start: float) -> Saddle:
    """The search, which starts where some of many terms would have their saddle."""
    few = shape.sample()
    if few is not shape:
        with suppress(UnsupportedMechanism, OverflowError):
            start = _search(few, towards, start, tilt_most).tilt
    return _search(shape, towards, start, tilt_most)


def _search(shape: Shape, towards: Towards, start: float, tilt_most: float) -> Saddle:
    """Newton in log c inside a shrinking bracket, halving it where Newton is slow."""
    low, high, log_tilt = math.log(TILT_MIN), math.log(tilt_most), math.log(min(start, tilt_most))
    last = math.inf
    for _ in range(120):
        saddle = saddle_at(shape, dyadic(math.exp(log_tilt), TILT_BITS))
        step, done = towards(saddle)
        if done or high - low < BRACKET_MIN:
            return saddle
        low, high = (max(low, log_tilt), high) if step > 0.0 else (low, min(high, log_tilt))
        following = log_tilt + max(-1.5, min(1.5, step))
        slow = abs(step) > 0.7 * abs(last) and high - low < 3.0
        last, log_tilt = step, 0.5 * (low + high) if slow or not low < following < high else following
    raise UnsupportedMechanism("the saddle point is out of reach; try engine='lattice'")


@dataclass(frozen=True, slots=True)
class NodeStep:
    """The step h of the contour sum, and the tilt s > c of the alias bound."""

    step: float
    alias_tilt: float


def choose_step(shape: Shape, saddle: Saddle, log_tolerance: float) -> NodeStep:
    """The largest step whose aliases stay below delta e^-log_tolerance, about.

    Some of many terms tell about where the best tilt lies; all of them decide.
    """
    c, allowed = saddle.tilt, min(saddle.log_delta, 0.0) - log_tolerance
    distance = math.sqrt(2.0 * log_tolerance / saddle.curvature)
    few = shape.sample()
    if few is not shape:
        distance = (_least_period(few, saddle, allowed, distance)[1] - c) / SEARCH_FACTOR
    best, chosen = _least_period(shape, saddle, allowed, distance)
    period = max(best, -allowed / c)
    return NodeStep(dyadic(2.0 * math.pi / period, STEP_BITS), chosen)


def _least_period(shape: Shape, saddle: Saddle, allowed: float, distance: float) -> tuple[float, float]:
    """The best distance is near this one for a normal loss, and shorter where K grows faster."""
    best, chosen = math.inf, 2.0 * saddle.tilt
    for _ in range(SEARCH_STEPS):
        s = dyadic(saddle.tilt + distance, TILT_BITS + 4)
        period, falls = _period(shape, saddle, allowed, s)
        if period > best:
            break
        best, chosen, distance = period, s, SEARCH_FACTOR * distance
        if falls:
            break
    return best, chosen


def _period(shape: Shape, saddle: Saddle, allowed: float, s: float) -> tuple[float, bool]:
    """How far apart aliases must be for their bound at the tilt s to be e^allowed, and whether that falls with s."""
    if not s > saddle.tilt:
        return math.inf, False
    now = shape.cumulants(s)
    period = (log_alias_height(now.value, s, saddle.epsilon) - allowed) / (s - saddle.tilt)
    return period, now.mean - saddle.epsilon - math.log1p(1.0 / s) < period


def log_alias_height(value: float, s: float, epsilon: float) -> float:
    """log of kappa(s) e^{K(s) - s eps}, kappa(s) = s^s/(1+s)^{1+s} = (1 + 1/s)^{-s}/(1 + s)."""
    return value - s * epsilon - s * math.log1p(1.0 / s) - math.log1p(s)


# The law in parts: what is summed of it, and bounds of what is left out.
#
# Terms whose outputs can be marked (losses/cgf.py) are cut into what is rare, hits and body. Cutting off what is
# rare makes large tilts possible; summing only what has a hit makes the integrand fall where most uses are body.
# Everything here is a choice in plain floats: any marks are valid. `rare` and `body` name what is left out and has to
# be
# bounded.
# Proof: docs/proofs/contour.md, section 10.


@dataclass(frozen=True)
class Parts(Shape):
    """terms: cgfs of what is summed, or of the body alone where there are splits.

    cuts and splits: of each term how it was cut and split, None where it was not; empty where none was.
    body_tilt: s of the bound of what has no hit. decided_tilt: where what is rare decides alone, s of the bound of what
    that leaves open (decided.py), else 0.
    """

    terms: Terms
    cuts: tuple[RestrictedCgf | None, ...] = ()
    splits: tuple[Split | None, ...] = ()
    body_tilt: float = 0.0
    decided_tilt: float = 0.0

    @property
    def rare(self) -> list[tuple[RestrictedCgf, int]]:
        """The terms that were cut."""
        return [(cut, count) for (_, count), cut in zip(self.terms, self.cuts, strict=True) if cut is not None]

    @property
    def hits(self) -> list[tuple[Split, int]]:
        """The terms that were split."""
        return [(split, count) for (_, count), split in zip(self.terms, self.splits, strict=True) if split is not None]

    def cumulants(self, tilt: float) -> Cumulants:
        """K, K' and K'' of what is summed: with hits, of prod (A + B)^k - prod A^k = prod A^k expm1(u)."""
        body = self.body.cumulants(tilt)
        if not self.splits:
            return body
        pairs = [(split.body.cumulants(tilt), split.hit.cumulants(tilt), count) for split, count in self.hits]
        # Ratios in units of e^shift, where even the largest is tiny.
        largest = max(above.value - below.value for below, above, _ in pairs)
        shift = largest if largest < RARE_HITS else 0.0
        u, slope, bend = 0.0, 0.0, 0.0
        for below, above, count in pairs:
            ratio, lead = math.exp(min(600.0, above.value - below.value - shift)), above.mean - below.mean
            share, other = (ratio, 1.0) if shift else (ratio / (1.0 + ratio), 1.0 / (1.0 + ratio))
            u += count * (ratio if shift else math.log1p(ratio))
            slope += count * share * lead
            bend += count * share * (other * lead * lead + above.variance - below.variance)
        # log expm1(u), its derivative 1/(1 - e^-u), and the derivative of that.
        first = 1.0 / u if shift else -1.0 / math.expm1(-u)
        second = -first * first if shift else -first * (first - 1.0)
        log = shift + math.log(u) if shift else u + math.log(-math.expm1(-u))
        return Cumulants(body.value + log, body.mean + slope * first, body.variance + bend * first + slope**2 * second)

    @property
    def body(self) -> CgfSum:
        """What `terms` are: all that is summed, or with hits all uses as body."""
        return CgfSum(self.terms)

    def sample(self) -> Shape:
        return self if self.splits else self.body.sample()

    def rare_mass(self) -> arb:
        """At or above the probability that some use is rare, at the working precision."""
        left_out = [count * cut.beyond() for cut, count in self.rare] if self.cuts else []
        leaked = [count * split.body.leak() for split, count in self.hits] if self.splits else []
        return sum((*left_out, *leaked), arb(0))


def partitionable(terms: Terms) -> list[tuple[Partitionable, int]]:
    """The terms that can be marked."""
    found = ((cgf.partition(), count) for cgf, count in terms)
    return [(marks, count) for marks, count in found if marks is not None]


def without_rare(
    terms: Terms, log_left_out: float, find: Callable[[Parts, float], Saddle], start: float = 1.0
) -> tuple[Parts, Saddle]:
    """The composition without outputs whose probability is below e^log_left_out in all, and its saddle.

    find: the saddle of such parts, looked for from a tilt on that is start at first.
    """
    for sharpness in range(SHARPNESSES):
        parts = cut_at(terms, log_left_out, sharpness)
        saddle = find(parts, start)
        start = saddle.tilt
        # What the integral loses against its integrand must not be lost at the end, in any use.
        if all(cgf.depth(saddle.tilt) > DEPTH + saddle.cancellation + math.log(uses) for cgf, uses in parts.rare):
            break
    return parts, saddle


def cut_at(terms: Terms, log_left_out: float, sharpness: int) -> Parts:
    """The composition without what is rare, with cuts of this sharpness."""
    cuts = [
        None if marks is None else marks.cut(log_left_out - math.log(count * len(terms)), sharpness)
        for marks, count in ((cgf.partition(), count) for cgf, count in terms)
    ]
    return Parts([(cut or cgf, count) for (cgf, count), cut in zip(terms, cuts, strict=True)], tuple(cuts))


def one_hit(terms: Terms, log_delta: float) -> float:
    """The epsilon at which a single use alone makes this delta, about; not below 0."""
    return max(0.0, *(marks.alone(log_delta - math.log(count)) for marks, count in partitionable(terms)))


def log_one_hit(terms: Terms, epsilon: float) -> float:
    """log of the delta that a single use makes by itself, about, and at most 1."""
    return min(0.0, max(math.log(count) + marks.log_alone(epsilon) for marks, count in partitionable(terms)))


def with_hits(cut: Parts, epsilon: float, log_left_out: float, widths: float) -> Parts:
    """The part of a cut composition that has at least one hit, where the rest is below e^log_left_out at epsilon.

    The split lies as high as that allows, at the same loss for every term, this many widths from a loss of epsilon.
    """
    leading = max(cut.rare, key=lambda term: term[1] * term[0].share)[0]
    low, high, best, tilt = 0.0, 1.0, None, 1.0
    for _ in range(SPLIT_STEPS):
        middle = 0.5 * (low + high)
        split = split_at(cut, leading.split_loss(epsilon, middle), epsilon, log_left_out, widths)
        parts, log_body = with_body_bound(split, epsilon, tilt)
        tilt = parts.body_tilt
        if log_body <= log_left_out:
            low, best = middle, parts
        else:
            high = middle
    if best is None:
        raise UnsupportedMechanism("many small losses and few large ones count together")
    return best


def with_body_bound(parts: Parts, epsilon: float, start: float = 1.0) -> tuple[Parts, float]:
    """The parts with the tilt of the least Chernoff bound of the body, looked for from start on, and its log."""
    try:
        tilt = find_saddle(parts.body, epsilon, None, start=start).tilt
    except UnsupportedMechanism:
        tilt = TILT_MAX
    return replace(parts, body_tilt=tilt), log_alias_height(parts.body.cumulants(tilt).value, tilt, epsilon)


def split_at(cut: Parts, loss: float, epsilon: float, log_left_out: float, widths: float) -> Parts:
    """Body below about this loss, hits above it; what was not cut is always body."""
    splits = [
        None if law is None else law.split(loss, epsilon, widths, log_left_out - math.log(count))
        for law, (_, count) in zip(cut.cuts, cut.terms, strict=True)
    ]
    bodies = [(split.body if split else cgf, count) for (cgf, count), split in zip(cut.terms, splits, strict=True)]
    return Parts(bodies, cut.cuts, tuple(splits), decided_tilt=cut.decided_tilt)


# An upper bound of delta without a contour: delta <= w + kappa(s) e^{K(s) - s eps}, kappa(s) = s^s/(1+s)^{1+s}.
#
# It holds for every s > 0, and without outputs that are rare, where their probability is added. It is too large by a
# factor near sqrt(2 pi s^2 K''), and more where few large losses decide: enough to see that the better of two
# directions
# is not the worse one.
# Guarantee: upper. Proof: docs/proofs/contour.md, sections 1 and 10.
# Reference: Chernoff 1952, Thm 1.


def delta_above(terms: Sequence[Term], epsilon: float, mass: float, wanted: float = 0.0, near: float = 1.0) -> float:
    """At or above delta at a finite epsilon, for an infinite mass of at most `mass`; inf where nothing is known.

    Where that is far above a delta that is wanted, outputs far rarer than that delta are left out. near: a tilt to
    start from.
    """
    try:
        cgfs = [(cgf_of(pair), count) for pair, count in terms]
    except UnsupportedMechanism:
        return math.inf
    above = _above(Parts(cgfs), epsilon, mass, near)
    if above > FAR_ABOVE * wanted > FAR_ABOVE * mass and partitionable(cgfs):
        with suppress(UnsupportedMechanism, OverflowError):
            log_rare = math.log(RARE) + math.log(wanted - mass)  # apart: their product may be below every double
            parts, _ = without_rare(cgfs, log_rare, lambda shape, start: find_saddle(shape, epsilon, None, start=start))
            above = min(above, _above(parts, epsilon, mass, near))
    return above


def _above(parts: Parts, epsilon: float, mass: float, near: float) -> float:
    """The bound of what the parts sum, with what they leave out."""
    try:
        s = find_saddle(parts.sample(), epsilon, None, start=near).tilt
        with working_precision(BITS_START):
            return upper_float(
                arb(mass) + parts.rare_mass() + chernoff(arb(s), log_mgf_above(parts.terms, s), arb(epsilon))
            )
    except (UnsupportedMechanism, OverflowError):
        return math.inf


def log_mgf_above(terms: Terms, s: float) -> arb:
    """At or above K(s) of the composition, from bounds in float64."""
    return sum((count * arb(cgf.log_mgf_above(s)) for cgf, count in terms), arb(0))


def chernoff(s: arb, log_mgf: arb, epsilon: arb) -> arb:
    """kappa(s) e^{K(s) - s eps}, kappa(s) = s^s/(1+s)^{1+s}, given K(s)."""
    return (log_mgf - s * epsilon + s * s.log() - (1 + s) * (1 + s).log()).exp()
