"""Gaussian pairs above and below, and bounds of K for large losses."""

from __future__ import annotations

from flint import arb

from tests.conformance.cases import DIRECTIONS
from tests.oracle.precision import precision
from tests.oracle.truth import Truth
from tightrope.core.losses.operators import registered as operators
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction

from .asked import BITS, Asked, meets

FAR = 12  # deviations
ENDLESS = 60.0  # a loss where what falls slower than every Gaussian is above one
ORDERS = (0.4, 5.0)


def gdp_mu(asked: Asked) -> bool:
    with working_precision(BITS):
        found = asked.pair.moments().gdp_mu()
    if found is not None:
        assert asked.truth.infinite_mass() == 0
        for epsilon in asked.epsilons():
            truth = asked.truth.delta(epsilon)
            with precision(400):
                assert not truth > _profile(found.upper(), arb(epsilon)), epsilon
    return found is not None


def normal_shift(asked: Asked) -> bool:
    """The pair is that of this Gaussian, so its profile is the truth."""
    with working_precision(BITS):
        mu = operators.normal_shift(asked.pair)
    if mu is not None:
        for epsilon in asked.epsilons():
            with precision(400):
                meets(_profile(mu, arb(epsilon)), asked.truth.delta(epsilon), f"delta({epsilon!r}) of the Gaussian")
    return mu is not None


def gdp_mu_lower(asked: Asked) -> bool:
    offered = False
    for way in Direction:
        with working_precision(BITS):
            found, most = asked.pair.moments().gdp_mu_lower(way), asked.pair.moments().gdp_mu()
        if found is None:
            continue
        offered = True
        if found == arb.pos_inf():  # above every Gaussian, far enough out
            assert most is None
            mu, place = arb(1), ENDLESS
        else:
            assert most is not None
            assert not found > most
            mu, place = found / 2, float((found * (FAR + found / 2)).mid())
        other = (
            asked.direction if way is Direction.REMOVE else next(each for each in DIRECTIONS if each != asked.direction)
        )
        truth = Truth(asked.law, asked.rate, other).delta(place)
        with precision(400):
            assert not truth < _profile(mu, arb(place)), place
    return offered


def approximate_zcdp(asked: Asked) -> bool:
    with working_precision(BITS):
        found = asked.pair.moments().approximate_zcdp()
        for s, rho in found:
            for order in ORDERS:
                assert not asked.moment(order).real.log() > order * s + order * (arb(order) + 1) * rho, order
    return bool(found)


def _profile(mu: arb, t: arb) -> arb:
    """H of N(mu, 1) and N(0, 1) at e^t; of no shift that of equal laws."""
    if not mu > 0:
        return (1 - t.exp()).max(arb(0))
    root = arb(2).sqrt()
    return ((t / mu - mu / 2) / root).erfc() / 2 - t.exp() * ((t / mu + mu / 2) / root).erfc() / 2
