"""The law in parts: what a contour sums of it, and bounds of what it leaves out.

A Poisson-sampled Gaussian that is removed is marked use by use, by its output x: rare (beyond a cut, less likely than
delta can see), hit (a loss that counts) or body. Cutting off what is rare makes large tilts possible; summing only what
has a hit makes the integrand fall where most uses are body.
Everything here is a choice in plain floats: any windows are valid marks. `rare` and `body` name what is left out and
has to be bounded.
Proof: docs/proofs/contour.md, section 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

from flint import arb

from ...errors import UnsupportedMechanism
from ...facets.cgf import Cgf, Cumulants, Terms
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.plain import dyadic, softplus
from ...pairs.gaussian.cgf import mu_value
from ...pairs.sampled_gaussian.cgf import SampledCgf
from ...pairs.sampled_gaussian.grid import log_odds
from ...pairs.sampled_gaussian.marked import MarkedCgf
from ...pairs.sampled_gaussian.window import Edge, MarkWindow, log_phi
from ..saddle import TILT_MOST, CgfSum, Saddle, Shape, find_saddle, log_alias_height

WIDTHS = (0.25, 0.125, 0.0625, 0.03125, 0.015625)  # of the cut, until the tilted law is low enough at its end
SMOOTH, SMOOTH_WIDTH = 0.05, 4.0  # below this mu losses are nearly straight in x, and cuts may be wider so many times
ENDS = (12.0, 16.0)  # widths from the cut to the hard end
BODY_ENDS = (10.0, 12.0, 14.0, 16.0, 20.0, 25.0, 32.0)  # widths from the split to the hard end of the body
DEPTH = 40.0  # e-folds that are low enough
SPLIT_STEPS = 9
SPLIT_LEAST = -5.0
PLACE = 2.0**-8  # where edges lie
LARGE = 40.0  # e^loss - 1 + rate is e^loss above
NEXT, FAR = 0.01, 4.0  # a step along a tail, and as far as any is followed
TINY_EXCESS = 1e-18
RARE_HITS = -40.0  # log of a ratio of hits to body that needs no second order


@dataclass(frozen=True)
class Parts(Shape):
    """terms: cgfs of what is summed, or of the body alone where there are hits; rare: cgfs whose cut is left out."""

    terms: Terms
    hits: tuple[MarkedCgf | None, ...] = ()
    rare: tuple[tuple[MarkedCgf, int], ...] = ()
    body_tilt: float = 0.0

    def cumulants(self, tilt: float) -> Cumulants:
        """K, K' and K'' of what is summed: with hits, of prod (A + B)^k - prod A^k = prod A^k expm1(u)."""
        body = self.body.cumulants(tilt)
        if not self.hits:
            return body
        pairs = [
            (cgf.cumulants(tilt), hit.cumulants(tilt), count)
            for (cgf, count), hit in zip(self.terms, self.hits, strict=True)
            if hit is not None
        ]
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
        return self if self.hits else self.body.sample()

    def rare_ball(self) -> arb:
        """At or above the probability that some use is rare."""
        rare = sum((count * cgf.beyond() for cgf, count in self.rare), arb(0))
        if self.hits:
            rare += sum((count * cgf.leak() for cgf, count in self.terms if isinstance(cgf, MarkedCgf)), arb(0))
        return rare

    def rare_above(self) -> float:
        """The same as a double."""
        with working_precision(BITS_START):
            return upper_float(self.rare_ball())


def sampled(cgf: Cgf) -> SampledCgf | None:
    """The cgf of a removal that can be marked, or None."""
    return cgf if isinstance(cgf, SampledCgf) and cgf.sign > 0 and cgf.rate < 1.0 else None


def without_rare(terms: Terms, log_left_out: float, find: Callable[[Parts], Saddle]) -> tuple[Parts, Saddle]:
    """The composition without outputs whose probability is below e^log_left_out in all, and its saddle."""
    for width, end in product(WIDTHS, ENDS):
        parts = cut_at(terms, log_left_out, width, end)
        saddle = find(parts)
        # What the integral loses against its integrand must not be lost at the end, in any use.
        if all(cgf.depth(saddle.tilt) > DEPTH + saddle.cancellation + math.log(uses) for cgf, uses in parts.rare):
            break
    return parts, saddle


def cut_at(terms: Terms, log_left_out: float, width: float, end: float = ENDS[0]) -> Parts:
    """The composition without what is rare, with a cut of this width, and so many widths to the hard end."""
    kept = []
    for cgf, count in terms:
        found = sampled(cgf)
        log_mass = log_left_out - math.log(count * len(terms))
        kept.append((cgf if found is None else _cut(found, log_mass, width, end), count))
    return Parts(kept, rare=tuple((cgf, count) for cgf, count in kept if isinstance(cgf, MarkedCgf)))


def _cut(cgf: SampledCgf, log_mass: float, width: float, end: float) -> MarkedCgf:
    width *= SMOOTH_WIDTH if mu_value(cgf.base) < SMOOTH else 1.0
    at = _place(_cut_place(cgf, log_mass, width))
    return MarkedCgf(cgf.base, cgf.rate, MarkWindow((Edge(at, width, -1),), at + end * width))


def _cut_place(cgf: SampledCgf | MarkedCgf, log_mass: float, width: float) -> float:
    """X such that a use lies beyond it with this probability."""
    low, high = -10.0, mu_value(cgf.base) + math.hypot(1.0, width) * (10.0 + math.sqrt(2.0 * max(0.0, -log_mass)))
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _log_beyond(cgf, middle, width) > log_mass else (low, middle)
    return high


def _log_beyond(cgf: SampledCgf | MarkedCgf, x: float, width: float) -> float:
    """log of (1 - r) Phi(-x/s) + r Phi((mu - x)/s), s^2 = 1 + width^2."""
    mu, spread = mu_value(cgf.base), math.hypot(1.0, width)
    base, shifted = math.log1p(-cgf.rate) + log_phi(-x / spread), math.log(cgf.rate) + log_phi((mu - x) / spread)
    return max(base, shifted) + math.log1p(math.exp(-abs(base - shifted)))


def _place(x: float) -> float:
    """x, rounded up to where edges lie."""
    return math.ceil(x / PLACE) * PLACE


def one_hit(cut: Parts, log_delta: float) -> float:
    """The epsilon at which a single use alone makes this delta, about; not below 0."""
    return max(0.0, *(_loss(cgf, _alone_place(cgf, log_delta - math.log(count))) for cgf, count in cut.rare))


def _alone_place(cgf: MarkedCgf, log_delta: float) -> float:
    """The output whose loss is the epsilon of one use at this delta."""
    low, high = -10.0, _cut_place(cgf, log_delta, 0.0)
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _log_alone(cgf, middle) > log_delta else (low, middle)
    return high


def log_one_hit(terms: Terms, epsilon: float) -> float:
    """log of the delta that a single use makes by itself, about, and at most 1."""
    removals = [(found, count) for found, count in ((sampled(cgf), count) for cgf, count in terms) if found is not None]
    return min(0.0, max(math.log(count) + _log_alone(cgf, _place_of(cgf, epsilon)) for cgf, count in removals))


def _log_alone(cgf: SampledCgf | MarkedCgf, x: float) -> float:
    """log of P[output > x] (1 - e^-excess), the excess of the loss being that where the tail is e times lower."""
    log, further = _log_beyond(cgf, x, 0.0), _log_beyond(cgf, x + NEXT, 0.0)
    excess = _loss(cgf, x + min(NEXT / max(log - further, 1e-9), FAR)) - _loss(cgf, x)
    return log + math.log(max(-math.expm1(-excess), TINY_EXCESS))


def with_hits(cut: Parts, epsilon: float, log_left_out: float, widths: float) -> Parts:
    """The part of a cut composition that has at least one hit, where the rest is below e^log_left_out at epsilon.

    The split lies as high as that allows, at the same loss for every term, this many widths from a loss of epsilon.
    """
    main = max(cut.rare, key=lambda term: term[1] * term[0].rate)[0]
    low, high = SPLIT_LEAST, min(main.marked.edges[-1].at, _place_of(main, 0.5 * epsilon))
    best = None
    for _ in range(SPLIT_STEPS):
        middle = 0.5 * (low + high)
        parts, log_body = with_body_bound(split_at(cut, _loss(main, middle), epsilon, log_left_out, widths), epsilon)
        if log_body <= log_left_out:
            low, best = middle, parts
        else:
            high = middle
    if best is None:
        raise UnsupportedMechanism("this composition", "many small losses and few large ones count together")
    return best


def with_body_bound(parts: Parts, epsilon: float) -> tuple[Parts, float]:
    """The parts with the tilt of the least Chernoff bound of the body, and the log of that bound."""
    try:
        tilt = find_saddle(parts.body, epsilon, None).tilt
    except UnsupportedMechanism:
        tilt = TILT_MOST
    return replace(parts, body_tilt=tilt), log_alias_height(parts.body.cumulants(tilt).value, tilt, epsilon)


def _body_end(cgf: MarkedCgf, at: float, width: float, log_mass: float) -> float:
    """The first end of the body beyond which it would have no more than this mass; inf without one."""
    for widths in BODY_ENDS:
        end = _place(at + widths * width)
        if log_phi((at - end) / width) + _log_beyond(cgf, end, 0.0) < log_mass - 1.0:
            return end
    return math.inf


def split_at(cut: Parts, loss: float, epsilon: float, log_left_out: float, widths: float) -> Parts:
    """Body below about this loss, hits above it."""
    terms: list[tuple[Cgf, int]] = []
    hits: list[MarkedCgf | None] = []
    for cgf, count in cut.terms:
        if isinstance(cgf, MarkedCgf):
            at = max(SPLIT_LEAST, min(_place_of(cgf, loss), cgf.marked.edges[-1].at))
            room = (_place_of(cgf, epsilon) - at) / widths
            width = dyadic(max(WIDTHS[-1], min(WIDTHS[0], room)), 4)
            at, end = _place(at), cgf.marked.end
            # What is neither hit nor below its own end is so rare that the body may end there.
            ends = ((-1, min(end, _body_end(cgf, at, width, log_left_out - math.log(count)))), (1, end))
            body, hit = (
                MarkedCgf(cgf.base, cgf.rate, MarkWindow((Edge(at, width, side), *cgf.marked.edges), last))
                for side, last in ends
            )
            terms.append((body, count))
            hits.append(hit)
        else:
            terms.append((cgf, count))
            hits.append(None)
    return Parts(terms, tuple(hits), cut.rare)


def _loss(cgf: SampledCgf | MarkedCgf, x: float) -> float:
    """The loss of an output."""
    mu = mu_value(cgf.base)
    return math.log1p(-cgf.rate) + softplus(mu * x + log_odds(mu, cgf.rate))


def _place_of(cgf: SampledCgf | MarkedCgf, loss: float) -> float:
    """The output with this loss; SPLIT_LEAST where every output has a larger one."""
    mu = mu_value(cgf.base)
    above = math.expm1(min(loss, LARGE)) + cgf.rate
    if not above > 0.0:
        return SPLIT_LEAST
    log_above = loss if loss >= LARGE else math.log(above)
    return (log_above - math.log1p(-cgf.rate) - log_odds(mu, cgf.rate)) / mu
