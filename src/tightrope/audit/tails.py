"""Upper tails of binomial laws at many rates at once, in float64 and rounded up.

P[Bin(n, y) >= l] = b(l) (1 + r_1 + r_1 r_2 + ...), r_j = (n - l - j + 1)/(l + j) y/(1 - y): the ratios fall, so that
the terms left out are below the last one times r/(1 - r). Below the mean the other tail is summed, from below, and
taken from 1. The first mass is an enclosure; all else is sums and products of positive numbers, of which each rounding
is paid for.
Guarantee: upper.
Reference: docs/proofs/audit.md, section 3.
"""

from __future__ import annotations

import numpy as np
from flint import arb

from ..core.numerics.balls import BITS_START, working_precision
from ..core.numerics.enclosures import Enclosure, FloatArray, enclosed, exact
from ..core.numerics.fp_environment import float64
from ..core.numerics.rounding import FEW, round_down, round_up
from ..core.values import compute_budget

TERM_ROUNDINGS = 8.0  # units that a term may lose for each term before it
TERM_NEGLIGIBLE = 1e-18  # of the sum: terms below are covered by the remainder
TERMS_BLOCK = 64  # between two looks at their size


def tail_upper(trials: int, rates: FloatArray, least: int) -> FloatArray:
    """At or above P[Bin(trials, rate) >= least], for each rate in [0, 1]."""
    return _tail(trials, rates, least, flipped=False)


def head_upper(trials: int, rates: FloatArray, most: int) -> FloatArray:
    """At or above P[Bin(trials, rate) <= most], which counts failures: P[Bin(trials, 1 - rate) >= trials - most]."""
    return _tail(trials, rates, trials - most, flipped=True)


def _tail(trials: int, rates: FloatArray, least: int, flipped: bool) -> FloatArray:
    """The same; flipped: of 1 - rate, which may be no double."""
    values = np.ones_like(rates)
    if least <= 0:
        return values
    if least > trials:
        return np.zeros_like(values)
    values[rates == (1.0 if flipped else 0.0)] = 0.0
    inside = (rates > 0.0) & (rates < 1.0)
    about = 1.0 - rates if flipped else rates
    above = inside & (trials * about < least)
    with float64():
        for chosen, side in ((above, True), (inside & ~above, False)):
            if chosen.any():
                values[chosen] = _summed(trials, rates[chosen], least, flipped, side)
    return np.minimum(values, 1.0)


def _summed(trials: int, rates: FloatArray, least: int, flipped: bool, above: bool) -> FloatArray:
    """The tail itself where it is above the mean; else 1 less the one below, from below."""
    first = least if above else least - 1
    mass = _mass(trials, rates, trials - first if flipped else first)
    others = 1.0 - rates
    rise = others / rates if flipped else rates / others
    if above:
        total, rest, _ = _series(float(trials - least), float(least + 1), round_up(rise, FEW))
        return round_up(mass.upper * round_up(total + rest, FEW), FEW)
    total, _, units = _series(float(first), float(trials - first + 1), round_down(1.0 / rise, FEW))
    part = round_down(np.maximum(mass.lower, 0.0) * round_down(total, 2.0 * units), FEW)
    return round_up(np.maximum(1.0 - part, 0.0), FEW)


def _mass(trials: int, rates: FloatArray, hits: int) -> Enclosure:
    """P[Bin = hits]: logarithms of factorials cancel, which costs their size in units, about 1e-10 at 10^5 trials."""
    with compute_budget.uncounted(), working_precision(BITS_START):
        ways = arb(trials + 1).lgamma() - arb(hits + 1).lgamma() - arb(trials - hits + 1).lgamma()
        choices = enclosed([ways])
    enclosure = choices + exact(rates).log() * float(hits) + exact(-rates).log1p() * float(trials - hits)
    return enclosure.exp()


def _series(top: float, bottom: float, odds: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """1 + r_1 + r_1 r_2 + ... with r_j = (top - j + 1)/(bottom + j - 1) odds, raised for its roundings; what is left
    out at most; and the units that the sum was raised by."""
    total, term, done = np.ones_like(odds), np.ones_like(odds), 0.0
    while top > 0.0:
        compute_budget.spend(2.0 * TERMS_BLOCK * len(odds) + 2000.0 * TERMS_BLOCK)
        for _ in range(TERMS_BLOCK):
            term = term * (odds * (top / bottom))
            total = total + term
            top, bottom, done = top - 1.0, bottom + 1.0, done + 1.0
        if bool(np.all(term <= TERM_NEGLIGIBLE * total)):
            break
    units = TERM_ROUNDINGS * done + FEW
    ratio = round_up(odds * (max(top, 0.0) / bottom), FEW)
    rest = np.where(ratio < 1.0, round_up(term * ratio / round_down(1.0 - ratio, FEW), units), np.inf)
    return round_up(total, units), rest if top > 0.0 else np.zeros_like(rest), units
