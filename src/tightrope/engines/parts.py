"""The law in parts: what is summed of it, and bounds of what is left out.

Terms whose outputs can be marked (facets/partition.py) are cut into what is rare, hits and body. Cutting off what is
rare makes large tilts possible; summing only what has a hit makes the integrand fall where most uses are body.
Everything here is a choice in plain floats: any marks are valid. `rare` and `body` name what is left out and has to be
bounded.
Proof: docs/proofs/contour.md, section 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from flint import arb

from ..errors import UnsupportedMechanism
from ..facets.cgf import Cumulants, Terms
from ..facets.partition import SHARPNESSES, Partitionable, RestrictedCgf, Split
from .saddle import CgfSum, Saddle, Shape, find_saddle, log_alias_height
from .tuning import DEPTH, RARE_HITS, SPLIT_STEPS, TILT_MAX


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
