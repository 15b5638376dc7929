"""The pair of several uses taken together: the product of their pairs.

P = prod P_i^k_i, Q alike; losses add up, w = 1 - prod (1 - w_i)^k_i. Where the product is of a known family it is that
pair: Gaussians join to one, and short finite laws are listed. Of any other product the ends are known here, and its law
from an engine that composes: tails and profile refuse.
Guarantee: exact.
Reference: Zhu, Dong, Wang 2021, Thm 10.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flint import arb

from ..errors import UnsupportedMechanism
from ..kernels.enclosure import Enclosure
from ..kernels.twofold import Twofold
from ..pair import BallTails, LossRange, Pair, Tails
from .finite.pair import FiniteLaw, FinitePair, ResponseLaw
from .finite.product import ProductLaw, listed_atoms
from .gaussian.pair import GaussianPair
from .poisson import PoissonAdd, PoissonRemove

LISTED_MOST = 1024  # atoms of a finite part: what every engine goes through in no time

Factor = tuple[Pair, int]


@dataclass(frozen=True, slots=True)
class ProductPair(Pair):
    """The product of (pair, count) factors that are not of one known family."""

    factors: tuple[Factor, ...]

    def tails(self, t: Twofold) -> Tails:
        raise self._refusal()

    def profile(self, epsilon: Enclosure) -> Enclosure:
        raise self._refusal()

    def ball_tails(self, t: arb) -> BallTails:
        raise self._refusal()

    def ball_profile(self, epsilon: arb) -> arb:
        raise self._refusal()

    def reversed(self) -> ProductPair:
        return ProductPair(tuple((pair.reversed(), count) for pair, count in self.factors))

    def infinite_mass(self) -> arb:
        logs = arb(0)
        for pair, count in self.factors:
            mass = pair.infinite_mass()
            if mass >= 1:
                return arb(1)
            logs += count * (-mass).log1p()
        return -logs.expm1()

    def loss_range(self) -> LossRange:
        lowest, highest = arb(0), arb(0)
        for pair, count in self.factors:
            ends = pair.loss_range()
            lowest, highest = lowest + count * ends.lowest, highest + count * ends.highest
        return LossRange(lowest, highest)

    def _refusal(self) -> UnsupportedMechanism:
        return UnsupportedMechanism(
            " + ".join(f"{type(pair).__name__} * {count}" for pair, count in self.factors) + " on one sample",
            "the law of these together is not known by itself; engine='joint' composes it",
        )


def product_pair(factors: Iterable[Factor]) -> Pair:
    """The product as the simplest pair that it is."""
    counts: dict[Pair, int] = {}
    for pair, count in _flat(factors):
        counts[pair] = counts.get(pair, 0) + count
    shifts = [
        (sigma, shift, uses * count)
        for pair, count in counts.items()
        if isinstance(pair, GaussianPair)
        for sigma, shift, uses in pair.shifts
    ]
    finite = [(pair.law, count) for pair, count in counts.items() if isinstance(pair, FinitePair)]
    joined: list[Factor] = [(GaussianPair(tuple(sorted(shifts))), 1)] if shifts else []
    if finite and listed_atoms([(FinitePair(law).size, count) for law, count in finite]) <= LISTED_MOST:
        joined.append((_listed(finite), 1))
    else:
        joined += [(FinitePair(law), count) for law, count in finite]
    joined += [(pair, count) for pair, count in counts.items() if not isinstance(pair, GaussianPair | FinitePair)]
    if not joined:
        return FinitePair(ResponseLaw(0.0, 0.0, 2))
    return joined[0][0] if len(joined) == 1 and joined[0][1] == 1 else ProductPair(tuple(joined))


def peeled(pair: Pair) -> tuple[tuple[PoissonRemove | PoissonAdd, ...], Pair]:
    """The layers of sampling around a pair, from the outermost on, and the pair."""
    layers: list[PoissonRemove | PoissonAdd] = []
    while isinstance(pair, PoissonRemove | PoissonAdd):
        layers.append(pair)
        pair = pair.base
    return tuple(layers), pair


def serves_several(pair: Pair) -> bool:
    """Whether one sample, or none, stands before a product: only the joint engine knows its law."""
    return isinstance(peeled(pair)[1], ProductPair)


def _flat(factors: Iterable[Factor]) -> list[Factor]:
    """Products inside a product are factors of it."""
    found: list[Factor] = []
    for pair, count in factors:
        inner = pair.factors if isinstance(pair, ProductPair) else ((pair, 1),)
        found += [(each, uses * count) for each, uses in inner]
    return found


def _listed(finite: list[tuple[FiniteLaw, int]]) -> FinitePair:
    one_use = len(finite) == 1 and finite[0][1] == 1
    return FinitePair(finite[0][0] if one_use else ProductLaw(tuple(finite)))
