"""What is decided by a single use: outputs whose loss is so large that the others hardly ever make up for it.

Some uses are marked rare, with probabilities p_i under P_i and q_i under Q_i; A is that some use is. On A
E_P[(1 - e^{eps - L})_+; A] = P(A) - e^eps Q(A) + e^eps E_Q[(1 - e^{L - eps})_+; A],
P(A) = 1 - prod (1 - p_i)^{k_i} and Q(A) alike, and the last term is at least 0 and, for every s > 0, at most
kappa(s) e^{(1 + s) eps} E_Q[e^{-sL}; A] <= kappa(s) e^{(1 + s) eps} sum k_i E_Qi[e^{-sl}; rare] prod E_Qj[e^{-sl}]^k_j,
kappa(s) = s^s/(1 + s)^{1 + s}. So what decides is known nearly exactly, and need not be far rarer than delta.
Guarantee: lower <= E_P[(1 - e^{eps - L})_+; A] <= upper at every eps; s and the cuts are choices.
Proof: docs/proofs/contour.md, section 17.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ..losses.cgf import RestrictedCgf, Terms
from ..numerics.rounding import dyadic
from ..values.errors import UnsupportedMechanism
from .saddle import Parts
from .tuning import DECIDED_HALVINGS, DECIDED_MARGINS, DECIDED_TILTS, TILT_BITS

Cuts = list[tuple[RestrictedCgf, int]]


@dataclass(frozen=True)
class DecidedMass:
    """p and q: P(A) and Q(A). log_low: at or above log of kappa(s) E_Q[e^{-sL}; A]."""

    p: arb
    q: arb
    s: float
    log_low: arb

    def at(self, epsilon: float) -> tuple[arb, arb]:
        """Balls at or below, and at or above, what A adds to delta."""
        certain = self.p - arb(epsilon).exp() * self.q
        above = certain + (self.log_low + (1 + arb(self.s)) * arb(epsilon)).exp()
        return certain.max(arb(0)), above.min(self.p)

    def about(self, epsilon: float) -> tuple[float, float]:
        """The lower one and its derivative, in plain floats."""
        slope = -math.exp(min(epsilon, 700.0)) * float(self.q.mid())
        value = float((self.p - arb(epsilon).exp() * self.q).mid())
        return (value, slope) if value > 0.0 else (0.0, 0.0)


def decided_mass(parts: Parts, balls: bool) -> DecidedMass:
    """Of a composition all of whose terms are cut, at the working precision."""
    s = parts.decided_tilt
    if len(parts.rare) < len(parts.terms) or not (s > 0.0 and Fraction(1.0 + s) == 1 + Fraction(s)):
        raise UnsupportedMechanism("some terms are not cut")
    log_p, log_q, low, log_all = arb(0), arb(0), arb(0), arb(0)
    for cut, count in parts.rare:
        known = cut.decisive(s, balls)
        log_p += count * (-known.p).log1p()
        log_q += count * (-known.q).log1p()
        low += count * known.low
        log_all += count * known.log_low_all
    tilt = arb(s)
    log_kappa = tilt * tilt.log() - (1 + tilt) * (1 + tilt).log()
    return DecidedMass(-log_p.expm1(), -log_q.expm1(), s, log_kappa + low.log() + log_all)


def cut_decided(terms: Terms, epsilon: float, log_left_out: float) -> Parts | None:
    """The composition without uses that decide alone, where what they leave open is e^log_left_out, about.

    The cut lies as low as that allows, at the same loss for every term; None where no cut allows it.
    """
    least, ratio, many = DECIDED_TILTS
    tilts = [dyadic(least / epsilon * ratio**index, TILT_BITS) for index in range(many)]
    wholes = [math.fsum(count * cgf.cumulants(-1.0 - s).value for cgf, count in terms) for s in tilts]
    low, high = (math.log(margin) for margin in DECIDED_MARGINS)
    best: Parts | None = None
    for _ in range(DECIDED_HALVINGS):
        middle = 0.5 * (low + high)
        cuts = _cuts(terms, epsilon * (1.0 + math.exp(middle)))
        if cuts is None:
            low = middle  # a loss that every output has
            continue
        left_out, s = min((_log_open(cuts, s, whole, epsilon), s) for s, whole in zip(tilts, wholes, strict=True))
        if left_out <= log_left_out:
            high, best = middle, Parts(cuts, tuple(cut for cut, _ in cuts), decided_tilt=s)
        else:
            low = middle
    return best


def _cuts(terms: Terms, loss: float) -> Cuts | None:
    """Every term without what loses more; None where one cannot be cut there."""
    found: Cuts = []
    for cgf, count in terms:
        partition = cgf.partition()
        cut = None if partition is None else partition.cut_above(loss)
        if cut is None:
            return None
        found.append((cut, count))
    return found


def _log_open(cuts: Cuts, s: float, log_all: float, epsilon: float) -> float:
    """log of what stays open, about."""
    logs = [math.log(count) + cut.log_low(s) for cut, count in cuts]
    top = max(logs)
    log_kappa = s * math.log(s) - (1.0 + s) * math.log1p(s)
    return log_kappa + (1.0 + s) * epsilon + log_all + top + math.log(math.fsum(math.exp(log - top) for log in logs))
