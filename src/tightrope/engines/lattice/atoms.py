"""Pairs whose loss has atoms only, as lists of them.

Sampling moves an atom: remove (p, q, l) -> ((1-r) q + r p, q, log(1 + r (e^l - 1))), add by the mirrored map.
Guarantee: masses and losses with their radii; what a list leaves out is added to its infinite mass.
Reference: Zhu, Dong, Wang 2021, Thm 11; Canonne, Kamath, Steinke 2020, Def. 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ... import work
from ...kernels.enclosure import Enclosure, exact
from ...pair import Pair
from ...pairs.discrete_gaussian.pair import DiscreteGaussianPair
from ...pairs.finite.dyadic import DyadicPair
from ...pairs.finite.pair import FinitePair
from ...pairs.poisson import PoissonAdd, PoissonRemove

REACH = 38.0  # in sigma: the mass beyond is below 1e-310
OUTPUTS_MOST = 1 << 22
OUTPUT_UNITS = 200.0  # of work, for one output in the list


class Atoms(NamedTuple):
    """P-masses, Q-masses and losses; infinite bounds the P-mass of infinite loss, listed or left out."""

    p: Enclosure
    q: Enclosure
    loss: Enclosure
    infinite: float
    lost: float  # bounds the Q-mass where P = 0


def atoms(pair: Pair) -> Atoms | None:
    """The list, or None where the loss is continuous or the list too long."""
    if isinstance(pair, FinitePair):
        floats = pair.floats
        lost = float(pair.reversed().floats.infinite.upper)
        q = floats.p * (-floats.loss).exp()
        return Atoms(floats.p, q, floats.loss, max(float(floats.infinite.upper), 0.0), max(lost, 0.0))
    if isinstance(pair, DyadicPair):
        rows = pair.floats
        return Atoms(rows.p, rows.q, rows.loss, float(rows.infinite.upper), float(rows.lost.upper))
    if isinstance(pair, DiscreteGaussianPair):
        return _discrete_gaussian(pair)
    if isinstance(pair, PoissonRemove | PoissonAdd) and isinstance(pair.base, DiscreteGaussianPair):
        base = _discrete_gaussian(pair.base)
        return base if base is None else _sampled(base, pair.rate, isinstance(pair, PoissonRemove))
    return None


def listable(pair: DiscreteGaussianPair) -> bool:
    """Whether its outputs are few enough for a list."""
    return 2 * _reach(pair) <= OUTPUTS_MOST


def _reach(pair: DiscreteGaussianPair) -> int:
    return math.ceil(REACH * pair.sigma) + pair.sensitivity + 2


def _discrete_gaussian(pair: DiscreteGaussianPair) -> Atoms | None:
    if not listable(pair):
        return None
    reach = _reach(pair)
    work.spend(OUTPUT_UNITS * 2.0 * reach)
    outputs = np.arange(-reach, reach + pair.sensitivity + 1, dtype=np.float64)
    twice = exact(pair.sigma) * pair.sigma * 2.0
    weights = [
        (-(exact(outputs - centre) * exact(outputs - centre) / twice)).exp()
        for centre in (float(pair.sensitivity), 0.0)
    ]
    norm = weights[0].sum()
    loss = exact(2.0 * outputs - pair.sensitivity) * float(pair.sensitivity) / twice
    return Atoms(weights[0] / norm, weights[1] / norm, loss, LEFT_OUT, LEFT_OUT)


# The mass beyond 38 sigma, 2 phi(38) / 38 at most, of either law.
LEFT_OUT = 1e-310


def _sampled(base: Atoms, rate: float, remove: bool) -> Atoms:
    kept = 1.0 - exact(rate)
    if remove:
        loss = (base.loss.expm1() * rate).log1p()
        return Atoms(kept * base.q + base.p * rate, base.q, loss, base.infinite + base.lost, base.lost)
    loss = -((-base.loss).expm1() * rate).log1p()
    return Atoms(base.p, kept * base.p + base.q * rate, loss, base.infinite, base.lost)
