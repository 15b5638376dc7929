"""Two uses of sampled Gaussians, by quadrature over the output of the first: mpmath, and the definition of delta alone.

delta(eps) = integral of p(x) H(eps - L(x)) dx, p the first law's density at x, L its log ratio, H the delta of the
second use. Sampling at rate r: the law with the record is (1 - r) N(0, s^2) + r N(1, s^2), the other one N(0, s^2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import mpmath


@dataclass(frozen=True)
class Use:
    """Noise of standard deviation sigma on a shift of 1, sampled at this rate."""

    sigma: float
    rate: float


@cache
def delta_of_two(one: Use, other: Use, epsilon: float, remove: bool = True, digits: int = 30) -> mpmath.mpf:
    """delta of both uses together, to about `digits` less ten."""
    with mpmath.workdps(digits):
        sigma, rate = mpmath.mpf(one.sigma), mpmath.mpf(one.rate)

        def part(centre: int, weight: mpmath.mpf) -> mpmath.mpf:
            def integrand(x: mpmath.mpf) -> mpmath.mpf:
                ahead = mpmath.mpf(epsilon) - _log_ratio(x, sigma, rate) * (1 if remove else -1)
                return weight * mpmath.npdf(x, centre, sigma) * _delta_of_one(other, ahead, remove)

            # Where the first use alone decides, delta of the second turns within few losses, sharply on one side.
            enough = -mpmath.log1p(-mpmath.mpf(other.rate)) + mpmath.mpf(epsilon) * (1 if remove else -1)
            odds = (mpmath.expm1(enough) + rate) / rate
            turns = sigma**2 * mpmath.log(odds) + mpmath.mpf(1) / 2 if odds > 0 else mpmath.mpf(0)
            near = [turns + side * sigma**2 * 2**power for side in (-1, 1) for power in range(-24, 8, 2)]
            even = [centre + sigma * place for place in range(-13, 14)]
            points = sorted(even + [x for x in [turns, *near] if even[0] < x < even[-1]])
            return mpmath.quad(integrand, points, method="gauss-legendre", maxdegree=4)

        if not remove:
            return part(0, mpmath.mpf(1))
        return part(0, 1 - rate) + part(1, rate)


def _log_ratio(x: mpmath.mpf, sigma: mpmath.mpf, rate: mpmath.mpf) -> mpmath.mpf:
    hit = mpmath.log(rate) + (2 * x - 1) / (2 * sigma**2)
    missed = mpmath.log1p(-rate)
    return max(hit, missed) + mpmath.log1p(mpmath.exp(-abs(hit - missed)))


def _delta_of_one(use: Use, epsilon: mpmath.mpf, remove: bool) -> mpmath.mpf:
    """First law minus e^eps second law of the outputs above (remove) or below (add) the one with that ratio."""
    sigma, rate = mpmath.mpf(use.sigma), mpmath.mpf(use.rate)
    turned = mpmath.exp(epsilon if remove else -epsilon)
    odds = (turned - 1 + rate) / rate
    if odds <= 0:
        return -mpmath.expm1(epsilon) if remove else mpmath.mpf(0)
    x = sigma**2 * mpmath.log(odds) + mpmath.mpf(1) / 2
    if remove:
        plain, shifted = mpmath.ncdf(-x / sigma), mpmath.ncdf((1 - x) / sigma)
        return (1 - rate) * plain + rate * shifted - mpmath.exp(epsilon) * plain
    plain, shifted = mpmath.ncdf(x / sigma), mpmath.ncdf((x - 1) / sigma)
    return plain - mpmath.exp(epsilon) * ((1 - rate) * plain + rate * shifted)


def delta_of_both(sigma: float, rate: float, other_sigma: float, other_rate: float, epsilon: float) -> mpmath.mpf:
    """The same for removals, by numbers alone."""
    return delta_of_two(Use(sigma, rate), Use(other_sigma, other_rate), epsilon)
