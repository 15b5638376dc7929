"""Binomial laws in balls: masses and tails of any size, by the regularised beta function.

P[Bin(n, r) = k] = C(n, k) r^k (1 - r)^(n - k), P[Bin(n, r) >= k] = I_r(k, n - k + 1). Of two tails that sum to 1 the
smaller is summed, so that both keep their digits.
Guarantee: exact, in balls; the cost hardly depends on n.
Reference: Johansson 2017 (balls).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from .balls import BITS_START, erfc, lower_float, upper_float, working_precision
from .enclosures import Enclosure, FloatArray, around, exact, where
from .rounding import MILLIONS, UNIT, round_up


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


# Multinomial masses in float64, with a radius, at any count.
#
# log mass = e(k) - sum e(n_i) - sum D(n_i, k p_i) + (log(2 pi k) - sum over n_i > 0 of log(2 pi n_i)) / 2
# with the Stirling error e(n) = log n! - (n + 1/2) log n + n - log(2 pi)/2 and the deviance D(n, m) = n log(n/m) - n +
# m >= 0: no large logarithms cancel, so the error grows with the distance from the mean, not with the count.
# Guarantee: exact value within the radius. Proof: docs/proofs/closed_forms.md.
# Reference: Loader 2000, "Fast and accurate computation of binomial probabilities".

SERIES_FROM = 16


def multinomial_masses(counts: npt.NDArray[np.int64], probabilities: Enclosure) -> Enclosure:
    """Masses of the rows of counts; the row sums are equal and below 2^53, the probabilities sum to 1."""
    total = int(counts[0].sum())
    table = _stirling_table()
    exponent = _stirling_error(np.array([float(total)]), table) + _half_log(np.array([float(total)]))
    for index in range(counts.shape[1]):
        uses = counts[:, index].astype(np.float64)
        exponent = exponent - _stirling_error(uses, table) - _half_log(uses)
        exponent = exponent - _deviance(uses, probabilities[index] * float(total))
    return exponent.exp()


def _half_log(n: FloatArray) -> Enclosure:
    """log(2 pi n)/2, and 0 for n = 0, where the factor is absent."""
    two_pi = around(2.0 * math.pi, 2.0**-51)
    return where(n > 0.0, (two_pi * exact(np.maximum(n, 1.0))).log() * 0.5, exact(np.zeros_like(n)))


def _deviance(n: FloatArray, mean: Enclosure) -> Enclosure:
    """D(n, m) = m ((1 + v) log(1 + v) - v), v = (n - m)/m.

    Evaluated at the double m, where v has relative error 2 units; the radius of m enters with the slope 1 - n/m' = -v'.
    """
    middle = exact(mean.value)
    v = (exact(np.where(n > 0.0, n, mean.value)) - middle) / middle
    value = middle * ((1.0 + v) * v.log1p() - v)
    value = where(n > 0.0, value, middle + exact(np.zeros_like(n)))
    least = mean.value - mean.radius
    with np.errstate(all="ignore"):
        steepest = abs(v.value) + (n / least) * (2.0 * mean.radius / least) + 4.0 * UNIT * n / least
        slope = np.where(least > 0.0, steepest, np.inf)
        extra = round_up(mean.radius * np.where(n > 0.0, slope + 4.0 * UNIT, 1.0), MILLIONS)
    return Enclosure(value.value, value.radius + extra)


def _stirling_table() -> Enclosure:
    """e(n) for n below SERIES_FROM, from balls; the entry for 0 stands for its absence."""
    with working_precision(BITS_START):
        balls = [arb(0)] + [
            arb(n + 1).lgamma() - (n + arb(1) / 2) * arb(n).log() + n - (2 * arb.pi()).log() / 2
            for n in range(1, SERIES_FROM)
        ]
        low, high = np.array([lower_float(ball) for ball in balls]), np.array([upper_float(ball) for ball in balls])
    return Enclosure((low + high) / 2.0, (high - low) + 1e-18)


def _stirling_error(n: FloatArray, table: Enclosure) -> Enclosure:
    """e(n) by table or by the asymptotic series, whose remainder is below the first term left out."""
    small = n < SERIES_FROM
    looked_up = table[np.where(small, n, 0.0).astype(np.int64)]
    inverse = 1.0 / exact(np.maximum(n, float(SERIES_FROM)))
    square = inverse * inverse
    series = exact(1.0) / 1188.0
    for denominator in (-1680.0, 1260.0, -360.0, 12.0):
        series = series * square + exact(1.0) / denominator
    series = series * inverse
    remainder = round_up(691.0 / 360360.0 * inverse.value**11, MILLIONS)
    return where(small, looked_up, Enclosure(series.value, series.radius + remainder))


# Both sides of a gamma law of half-integer shape: P[X <= u] and P[X > u], X = half of a chi-square of k degrees.
#
# k = 1: erf and erfc of sqrt u. Else the side above is Arb's incomplete gamma function. Below the mean a = k/2 the
# other
# side is u^a e^-u/Gamma(a + 1) sum of u^n/((a + 1) ... (a + n)), whose terms are positive and fall at least by
# q = u/(a + 1) from one to the next, so that what follows a last term x is at most x q/(1 - q).
# A ball u is taken at its middle, and its radius times the largest density of X on the ball is added.
# Guarantee: exact, in balls. Proof: docs/proofs/gaussian_variance.md, section 2.

LARGE_SIDE = 2.0**-16  # 1 minus the other side keeps its digits
SERIES_MAX = 4000  # of the sum: beyond, 1 minus the other side is sooner there with more bits


def gamma_sides(degrees: int, u: arb) -> tuple[arb, arb]:
    """P[X <= u] and P[X > u] for u >= 0; what a ball has below 0 counts as 0."""
    u = _from_zero(u)
    if u.is_zero():
        return arb(0), arb(1)
    if degrees == 1:
        root = _root(u)
        above = erfc(root)
        return (1 - above if u > 1 else root.erf()), above
    if not u.is_finite():
        return arb(0).union(arb(1)), arb(0).union(arb(1))
    shape, middle = arb(degrees) / 2, u.mid()
    above = middle.gamma_upper(shape, regularized=1)
    below = 1 - above
    if not below > LARGE_SIDE:
        below = _below(shape, middle) or below
    spread = arb(0, 1) * (u.rad() * _density_most(shape, u))
    return below + spread, above + spread


def _from_zero(u: arb) -> arb:
    """The part of a ball from 0 on, for a number that is not below 0."""
    return u if u >= 0 or u.is_nan() else arb(0).union(u.upper().max(arb(0)))


def _root(u: arb) -> arb:
    """sqrt u; a ball may reach a little below 0."""
    return u.sqrt() if u > 0 else arb(0).union(u.upper().sqrt())


def _below(shape: arb, u: arb) -> arb | None:
    """The sum; None where it is not the short way."""
    fall = u / (shape + 1)
    if not fall < 1 or not u > 0 or _terms(float(shape.mid()), float(fall.mid())) > SERIES_MAX:
        return None
    term, total, count, least = arb(1), arb(1), 0, arb(2) ** -ctx.prec
    while not term < least * total:
        count += 1
        term = term * u / (shape + count)
        total += term
    total += arb(0).union(term * fall / (1 - fall))
    return (shape * u.log() - u - (shape + 1).lgamma()).exp() * total


def _terms(shape: float, fall: float) -> float:
    """About how many: the ratios fall from `fall` on, by 1/shape each."""
    folds = ctx.prec * math.log(2.0)
    return min(folds / max(-math.log(fall), 1e-300) if fall > 0.0 else 1.0, math.sqrt(2.0 * folds * (shape + folds)))


def _density_most(shape: arb, u: arb) -> arb:
    """At or above the density u^(a-1) e^-u/Gamma(a), a >= 1, on a ball: it rises up to a - 1 and falls then."""
    place = (shape - 1).max(u.lower()).min(u.upper())
    if not place > 0:
        return arb(1)  # the density of a >= 1 is nowhere above 1
    return ((shape - 1) * place.log() - place - shape.lgamma()).exp()


# Balls in boxes: how they are divided, and the sum of the squares of how many lie in each box, in exact fractions.
#
# A division of k balls into parts, m_j of them of j balls, r in all, is that of k! b!/((b - r)! prod j!^m_j m_j!) of
# the
# b^k ways to throw them into b boxes.


def divisions_law(balls: int, boxes: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """How many balls lie in the boxes that have some, falling, and P[that]; each lies in any box, independently."""
    for parts in _divisions(balls, balls, boxes):
        value = math.factorial(balls) * math.perm(boxes, len(parts))
        for size in set(parts):
            alike = parts.count(size)
            value //= math.factorial(size) ** alike * math.factorial(alike)
        yield parts, Fraction(value, boxes**balls)


def squares_law(balls: int, boxes: int) -> dict[int, Fraction]:
    """P[sum of squares = s] for each s that has some, rising; each ball lies in any box, independently."""
    law: dict[int, Fraction] = {}
    for parts, share in divisions_law(balls, boxes):
        square = sum(size * size for size in parts)
        law[square] = law.get(square, Fraction(0)) + share
    return dict(sorted(law.items()))


def _divisions(total: int, most: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a sum of at most so many falling numbers, none above the most."""
    if total == 0:
        yield ()
    elif parts:
        for first in range(min(total, most), 0, -1):
            for rest in _divisions(total - first, first, parts - 1):
                yield (first, *rest)


# How often a step is covered by m sets of k steps out of t, all sets alike and independent, counted in whole numbers.
#
# nu_r steps lie in exactly r of the m sets; n(nu) of the C(t, k)^m choices have these numbers. One set more takes h_r
# of
# the steps that r sets have, in C(nu_r, h_r) ways each, and these have r + 1 then.
# Guarantee: exact.

Coverage = tuple[int, ...]  # nu_0, ..., nu_m


def coverings(steps: int, size: int, sets: int) -> dict[Coverage, int]:
    """n(nu) for every nu = (nu_0, ..., nu_m) that occurs."""
    found: dict[Coverage, int] = {(steps,): 1}
    for _ in range(sets):
        more: dict[Coverage, int] = {}
        for covered, ways in found.items():
            for taken, choices in _draws(covered, size):
                after = tuple(
                    old - out + into for old, out, into in zip((*covered, 0), (*taken, 0), (0, *taken), strict=True)
                )
                more[after] = more.get(after, 0) + ways * choices
        found = more
    return found


def coverings_most(size: int, sets: int) -> int:
    """At least as many nu as there are: those with sum r nu_r = m k. Their number is a count of partitions."""
    counts = [1] + [0] * (size * sets)
    for part in range(1, sets + 1):
        for total in range(part, len(counts)):
            counts[total] += counts[total - part]
    return counts[-1]


def _draws(covered: Coverage, size: int) -> Iterator[tuple[Coverage, int]]:
    """All ways to take so many steps from classes of so many, and how many choices each way stands for."""
    if len(covered) == 1:
        if size <= covered[0]:
            yield (size,), math.comb(covered[0], size)
        return
    for taken in range(min(size, covered[-1]) + 1):
        here = math.comb(covered[-1], taken)
        for rest, ways in _draws(covered[:-1], size - taken):
            yield (*rest, taken), ways * here
