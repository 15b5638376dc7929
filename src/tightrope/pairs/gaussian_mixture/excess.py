"""Profiles of mixtures of Gaussian shifts in float64, at a place x: sums of profiles of single shifts.

With s = j mu, e = s x - s^2/2, n the normal density and R the Mills ratio, n(x) e^e = n(x - s), so that
A_j = Phi(s - x) - e^e Phi(-x) = n(x - s) [R(x - s) - R(x)] from x = s on, 1 - n(x - s) [R(s - x) + R(x)] from 0 to s,
B_j = e^e Phi(x) - Phi(x - s)  = n(x - s) [R(-x) - R(s - x)] up to x = 0, e^e - n(x - s) [R(x) + R(s - x)] up to s,
and A_j = B_j + 1 - e^e on both sides. No term is negative, and no large factor meets a small one.
Guarantee: the radius of kernels.enclosure. Proof: docs/proofs/gaussian_mixture.md, section 1.
"""

from __future__ import annotations

import numpy as np

from ...kernels.enclosure import Enclosure, exact, mills, where
from ..gaussian.pair import INVERSE_ROOT_TWO_PI
from .numbers import MixtureNumbers


def excess_above(numbers: MixtureNumbers, x: Enclosure) -> Enclosure:
    """H(g(x)) = sum w_j A_j of the pair (mixture, normal)."""
    return _summed(numbers, x, 0)


def excess_below(numbers: MixtureNumbers, x: Enclosure) -> Enclosure:
    """H(1/g(x)) = sum w_j B_j / g(x) of the pair (normal, mixture)."""
    ratio = numbers.weights[0] + exact(np.zeros_like(x.value))
    for hits in range(1, numbers.most + 1):
        shift = numbers.shifts[hits]
        ratio = ratio + (shift * (x - shift * 0.5)).exp() * numbers.weights[hits]
    return _summed(numbers, x, 1) / ratio


def _summed(numbers: MixtureNumbers, x: Enclosure, which: int) -> Enclosure:
    total = exact(np.zeros_like(x.value))
    near = mills(sized(x))
    for hits in range(1, numbers.most + 1):
        total = total + excesses(x, near, numbers.shifts[hits])[which] * numbers.weights[hits]
    return total


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
