"""Transforms of tilted losses by Arb's own integration, two uses by mpmath's: no code shared with what they check."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from flint import acb, arb
from mpmath import mp, mpf


def tilted_integral(log_density: Callable[[acb], acb], loss: Callable[[acb], acb], low: arb, high: arb, z: acb) -> acb:
    """The integral of e^{log_density + z loss}, cut into pieces that Arb integrates quickly."""
    pieces = 24
    total = acb(0)
    for index in range(pieces):
        left, right = (acb(low + (high - low) * (index + part) / pieces) for part in (0, 1))
        total += acb.integral(lambda x, _: (log_density(x) + z * loss(x)).exp(), left, right)
    return total


def sampled_normal(sigma: float, rate: float, sign: int, z: acb) -> acb:
    """M(z) of a Poisson-sampled Gaussian: E[g^{1+z}] for remove (sign 1), E[g^{-z}] for add (sign -1)."""
    mu, share = 1 / arb(sigma), arb(rate)

    def log_g(x: acb) -> acb:
        return (1 - share + share * (mu * x - mu * mu / 2).exp()).log()

    def log_density(x: acb) -> acb:
        return -x * x / 2 + (log_g(x) if sign > 0 else acb(0))

    reach = float(abs(z.real).upper()) + 1
    low, high = (-14.0, 14.0 + reach / sigma) if sign > 0 else (-14.0 - reach / sigma, 14.0)
    whole = tilted_integral(log_density, lambda x: sign * log_g(x), arb(low), arb(high), z)
    return whole / (2 * arb.pi()).sqrt()


def restricted_normal(
    sigma: float, rate: float, edges: tuple[tuple[float, float, int], ...], end: float, z: acb
) -> acb:
    """E_P[e^{zl}; marked] of a removal, where a mark has the probability prod Phi(side (x - at)/width) for x < end."""
    mu, share = 1 / arb(sigma), arb(rate)

    def log_g(x: acb) -> acb:
        return (1 - share + share * (mu * x - mu * mu / 2).exp()).log()

    def integrand(x: acb, _: bool) -> acb:
        weight = acb(1)
        for at, width, side in edges:
            weight *= (-side * (x - arb(at)) / (arb(width) * arb(2).sqrt())).erfc() / 2
        return weight * ((1 + z) * log_g(x) - x * x / 2).exp()

    low, pieces = arb(-14), 60
    total = acb(0)
    for index in range(pieces):
        left, right = (acb(low + (arb(end) - low) * (index + part) / pieces) for part in (0, 1))
        total += acb.integral(integrand, left, right)
    return total / (2 * arb.pi()).sqrt()


def laplace(edge: arb, z: acb) -> acb:
    """M(z) of Laplace noise with the largest loss `edge`, in closed form."""
    half = z + acb(0.5)
    between = (-edge / 2).exp() * ((half * edge).exp() - (-half * edge).exp()) / (4 * half)
    return (z * edge).exp() / 2 + (-(z + 1) * edge).exp() / 2 + between


def sampled_laplace(edge: arb, rate: float, sign: int, z: acb) -> acb:
    """M(z) of Poisson-sampled Laplace noise, over the output x of the base with Q centred at 0 and P at edge."""
    share = arb(rate)

    def of(base_loss: acb) -> acb:
        return (1 - share + share * base_loss.exp()).log()

    atoms = [(edge, (-edge).exp() / 2, arb(0.5)), (-edge, arb(0.5), (-edge).exp() / 2)]
    total = acb(0)
    for loss, q, p in atoms:
        if sign > 0:
            total += ((1 - share) * q + share * p) * (z * of(acb(loss))).exp()
        else:
            total += p * (-z * of(acb(-loss))).exp()

    def density(x: acb) -> acb:
        if sign > 0:
            return -(x + edge) / 2 + of(x)
        return (x - edge) / 2

    between = tilted_integral(density, lambda x: of(x) if sign > 0 else -of(-x), -edge, edge, z)
    return total + between / 4


@cache
def two_uses(sigma: float, rate: float, epsilon: float) -> mpf:
    """delta of two uses of a Poisson-sampled Gaussian, removal: E_P[delta of one use at epsilon - loss]."""
    with mp.workdps(60):
        mu, q, one = 1 / mpf(sigma), mpf(rate), mpf(1)

        def above(x: mpf) -> mpf:
            return mp.erfc(x / mp.sqrt(2)) / 2

        def loss(x: mpf) -> mpf:
            return mp.log1p(q * mp.expm1(mu * x - mu * mu / 2))

        def place(excess: mpf) -> mpf:
            """The x where e^loss - 1 + q is this."""
            return (mp.log(excess / q) + mu * mu / 2) / mu

        def single(at: mpf) -> mpf:
            excess = mp.expm1(at) + q
            if excess <= 0:
                return -mp.expm1(at)
            x = place(excess)
            return (one - q - mp.exp(at)) * above(x) + q * above(x - mu)

        def integrand(x: mpf) -> mpf:
            return mp.npdf(x) * mp.exp(loss(x)) * single(mpf(epsilon) - loss(x))

        # Pieces end where one use alone reaches epsilon, and where it makes the other irrelevant.
        corners = [place(mp.expm1(at) + q) for at in (mpf(epsilon), mpf(epsilon) - mp.log(1 - q))]
        low, high = mpf(-12), max(corners) + 40 / mp.sqrt(max(corners) ** 2 + 1) + mu + 10
        ends = sorted({low, high, *corners, *(low + (high - low) * index / 40 for index in range(41))})
        return mp.quad(integrand, ends)
