"""Binomial laws in balls: masses and tails of any size, by the regularised beta function.

P[Bin(n, r) = k] = C(n, k) r^k (1 - r)^(n - k), P[Bin(n, r) >= k] = I_r(k, n - k + 1). Of two tails that sum to 1 the
smaller is summed, so that both keep their digits.
Guarantee: exact, in balls; the cost hardly depends on n.
Reference: Johansson 2017 (balls).
"""

from __future__ import annotations

from typing import NamedTuple

from flint import arb, ctx

from .ball import working_precision


class BinomialTails(NamedTuple):
    """P[Bin >= k] and P[Bin < k]."""

    above: arb
    below: arb


def binomial_tails(trials: int, rate: arb, least: int) -> BinomialTails:
    """Both tails at k = least, each with its own digits."""
    if least <= 0:
        return BinomialTails(arb(1), arb(0))
    if least > trials:
        return BinomialTails(arb(0), arb(1))
    with working_precision(ctx.prec + guard_bits(trials)):
        high, low = arb(least), arb(trials - least + 1)
        if least > trials * rate.mid():
            above = rate.beta_lower(high, low, True)
            return BinomialTails(above, 1 - above)
        below = (1 - rate).beta_lower(low, high, True)
        return BinomialTails(1 - below, below)


def binomial_mass(trials: int, rate: arb, hits: int) -> arb:
    """P[Bin = hits], 0 < rate <= 1."""
    if not 0 <= hits <= trials:
        return arb(0)
    if rate == 1:
        return arb(int(hits == trials))
    with working_precision(ctx.prec + guard_bits(trials)):
        choices = arb(trials + 1).lgamma() - arb(hits + 1).lgamma() - arb(trials - hits + 1).lgamma()
        return (choices + hits * rate.log() + (trials - hits) * (-rate).log1p()).exp()


def guard_bits(trials: int) -> int:
    """Logarithms of factorials are as large as n log n, and cancel."""
    return 2 * trials.bit_length() + 16
