"""E_P[e^{z l}] = integral of p^(1+z) q^(-z) by mpmath, straight from the two laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath
from mpmath import mpc, mpf

DIGITS = 22
Density = Callable[[mpf], mpf]


def smooth_moment(p: Density, q: Density, places: Sequence[float], z: complex) -> mpc:
    """Two densities, smooth between the places."""
    with mpmath.workdps(DIGITS):
        point = mpc(z)
        return mpmath.quad(
            lambda x: mpmath.exp((1 + point) * mpmath.log(p(x)) - point * mpmath.log(q(x))), list(map(mpf, places))
        )


def sum_moment(p: Sequence[mpf], q: Sequence[mpf], z: complex) -> mpc:
    """Two lists of masses; outcomes that only one of them has do not count."""
    with mpmath.workdps(DIGITS):
        point = mpc(z)
        both = [(a, b) for a, b in zip(p, q, strict=True) if a > 0 and b > 0]
        return mpmath.fsum(mpmath.exp((1 + point) * mpmath.log(a) - point * mpmath.log(b)) for a, b in both)


def normal(x: mpf, mean: float, sigma: float) -> mpf:
    return mpmath.npdf(x, mpf(mean), mpf(sigma))


def laplace(x: mpf, mean: float, scale: float) -> mpf:
    return mpmath.exp(-abs(x - mpf(mean)) / mpf(scale)) / (2 * mpf(scale))


def logistic(x: mpf, mean: float) -> mpf:
    return 1 / (2 * mpmath.cosh((x - mpf(mean)) / 2)) ** 2


def discrete_gaussian(outputs: Sequence[int], mean: int, sigma: float) -> list[mpf]:
    weights = [mpmath.exp(-(mpf(x - mean) ** 2) / (2 * mpf(sigma) ** 2)) for x in outputs]
    total = mpmath.fsum(mpmath.exp(-(mpf(x) ** 2) / (2 * mpf(sigma) ** 2)) for x in range(-200, 201))
    return [weight / total for weight in weights]


def discrete_laplace(outputs: Sequence[int], mean: int, scale: float) -> list[mpf]:
    ratio = mpmath.exp(-1 / mpf(scale))
    return [(1 - ratio) / (1 + ratio) * ratio ** abs(x - mean) for x in outputs]
