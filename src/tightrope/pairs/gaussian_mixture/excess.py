"""Profiles of mixtures of Gaussian shifts in float64, at a place x: sums of profiles of single shifts.

With s = j mu, e = s x - s^2/2, n the normal density and R the Mills ratio, n(x) e^e = n(x - s), so that
A_j = Phi(s - x) - e^e Phi(-x) = n(x - s) [R(x - s) - R(x)] from x = s on, 1 - n(x - s) [R(s - x) + R(x)] from 0 to s,
B_j = e^e Phi(x) - Phi(x - s)  = n(x - s) [R(-x) - R(s - x)] up to x = 0, e^e - n(x - s) [R(x) + R(s - x)] up to s,
and A_j = B_j + 1 - e^e on both sides. No term is negative, and no large factor meets a small one.
Guarantee: the radius of kernels.enclosure. Proof: docs/proofs/gaussian_mixture.md, section 1.
"""

from __future__ import annotations

import math

import numpy as np

from ...kernels.directed import MILLIONS, round_up
from ...kernels.enclosure import Enclosure, FloatArray, exact, mills, where
from ..gaussian.pair import INVERSE_ROOT_TWO_PI
from .numbers import MANY_TERMS, MixtureNumbers

TERM_FOLDS = 48.0  # e-folds below the largest bound of a term
EXPONENT_SURE = 1e12  # of a bound: larger ones err by too much
BOUNDS_MAX = 1 << 23  # numbers that are held at once


def excess_above(numbers: MixtureNumbers, x: Enclosure) -> Enclosure:
    """H(g(x)) = sum w_j A_j of the pair (mixture, normal)."""
    return _by_place(numbers, x, 0) if _wide(numbers, x) else _summed(numbers, x, 0)


def excess_below(numbers: MixtureNumbers, x: Enclosure) -> Enclosure:
    """H(1/g(x)) = sum w_j B_j / g(x) of the pair (normal, mixture)."""
    if _wide(numbers, x):
        return _by_place(numbers, x, 1)
    ratio = numbers.weights[0] + exact(np.zeros_like(x.value))
    for hits in range(1, numbers.most + 1):
        shift = numbers.shifts[hits]
        ratio = ratio + (shift * (x - shift * 0.5)).exp() * numbers.weights[hits]
    return _summed(numbers, x, 1) / ratio


def _wide(numbers: MixtureNumbers, x: Enclosure) -> bool:
    """Whether there are many terms, and fewer places."""
    return numbers.most > max(MANY_TERMS, x.value.size)


def _by_place(numbers: MixtureNumbers, x: Enclosure, which: int) -> Enclosure:
    """The same, place by place, from all terms at once."""
    shifts, weights = numbers.shifts[1:], numbers.weights[1:]
    found = []
    for value, radius in zip(x.value.ravel(), x.radius.ravel(), strict=True):
        place = Enclosure(np.full(numbers.most, value), np.full(numbers.most, radius))
        total = (excesses(place, mills(sized(place)), shifts)[which] * weights).sum()
        if which:
            total = total / (numbers.weights[0] + ((shifts * (place - shifts * 0.5)).exp() * weights).sum())
        found.append(total)
    values, radii = (np.array([float(getattr(enclosure, part)) for enclosure in found]) for part in ("value", "radius"))
    return Enclosure(values.reshape(x.value.shape), radii.reshape(x.value.shape))


def _summed(numbers: MixtureNumbers, x: Enclosure, which: int) -> Enclosure:
    """All terms but those that are nothing beside the largest: at most so many times the bound of one is added."""
    total, near = exact(np.zeros_like(x.value)), mills(sized(x))
    bounds = [_log_bound(numbers, hits, x.value, which) for hits in range(1, numbers.most + 1)] if x.value.ndim else []
    least = np.max(bounds, axis=0) - TERM_FOLDS if _few(bounds) else -np.inf
    for hits in range(1, numbers.most + 1):
        shift, weight = numbers.shifts[hits], numbers.weights[hits]
        seen = bounds[hits - 1] > least if np.ndim(least) else np.True_
        if seen.all():
            total = total + excesses(x, near, shift)[which] * weight
            continue
        more = total[seen] + excesses(x[seen], near[seen], shift)[which] * weight
        total.value[seen], total.radius[seen] = more.value, more.radius
    return Enclosure(total.value, round_up(total.radius + 2.0 * numbers.most * np.exp(least), MILLIONS))


def _log_bound(numbers: MixtureNumbers, hits: int, x: FloatArray, which: int) -> FloatArray:
    """Of w_j A_j <= w_j e^{-(x - s)_+^2/2}, or of w_j B_j <= w_j e^{s x - s^2/2 - (-x)_+^2/2}; about."""
    shift, log = float(numbers.shifts[hits].value), math.log(max(float(numbers.weights[hits].value), 5e-324))
    if which:
        return log + shift * (x - 0.5 * shift) - 0.5 * np.fmin(x, 0.0) ** 2
    return log - 0.5 * np.fmax(x - shift, 0.0) ** 2


def _few(bounds: list[FloatArray]) -> bool:
    """Whether terms may be left out: roundings of the bounds are far below 1, and they fit."""
    if len(bounds) < 2 or len(bounds) * bounds[0].size > BOUNDS_MAX:
        return False
    return bool(max(float(np.max(abs(bound), initial=0.0)) for bound in bounds) < EXPONENT_SURE)


def excesses(x: Enclosure, near: Enclosure, shift: Enclosure) -> tuple[Enclosure, Enclosure]:
    """A and B of one shift; near is R(|x|)."""
    away = x - shift
    growth = shift * (x - shift * 0.5)
    density = ((away * away) * -0.5).exp() * INVERSE_ROOT_TWO_PI
    far, right, left = mills(sized(away)), away.value >= 0.0, x.value <= 0.0
    gap = density * where(right, far - near, near - far)
    both = density * (near + far)
    above = where(right, gap, where(left, gap - growth.expm1(), 1.0 - both))
    below = where(left, gap, where(right, gap + growth.expm1(), growth.exp() - both))
    return above, below


def sized(x: Enclosure) -> Enclosure:
    """|x|."""
    return Enclosure(abs(x.value), x.radius)
