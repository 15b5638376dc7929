"""Both sides of a gamma law of half-integer shape: P[X <= u] and P[X > u], X = half of a chi-square of k degrees.

k = 1: erf and erfc of sqrt u. Else the side above is Arb's incomplete gamma function. Below the mean a = k/2 the other
side is u^a e^-u/Gamma(a + 1) sum of u^n/((a + 1) ... (a + n)), whose terms are positive and fall at least by
q = u/(a + 1) from one to the next, so that what follows a last term x is at most x q/(1 - q).
A ball u is taken at its middle, and its radius times the largest density of X on the ball is added.
Guarantee: exact, in balls. Proof: docs/proofs/gaussian_variance.md, section 2.
"""

from __future__ import annotations

import math

from flint import arb, ctx

from .ball import erfc

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
