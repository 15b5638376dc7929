"""The pair of several uses taken together: the product of their pairs.

P = prod P_i^k_i, Q alike; losses add up, w = 1 - prod (1 - w_i)^k_i. Where the product is of a known family it is that
pair (Pair.compose_exact: Gaussians join to one, short finite laws are listed). Of any other product the ends are known
here, and its law from an engine that composes: tails and profile refuse.
Guarantee: exact.
Reference: Zhu, Dong, Wang 2021, Thm 10.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from flint import arb

from ...numerics.balls import some
from ...values.errors import UnsupportedMechanism
from ...values.question import Direction
from ..capabilities import Moments
from ..cgf import cumulant_above
from ..pair import LossRange, Pair
from .registered import compose_dominating, factors_of, has_bracket_only

Factor = tuple[Pair, int]


@dataclass(frozen=True, slots=True)
class ProductPair(Pair):
    """The product of (pair, count) factors that are not of one known family."""

    parts: tuple[Factor, ...]

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("the law of these together is not known by itself; engine='joint' composes it")

    tails = hockey_stick = ball_tails = ball_hockey_stick = _not_known

    def reversed(self) -> ProductPair:
        return ProductPair(tuple((pair.reversed(), count) for pair, count in self.parts))

    def infinite_mass(self) -> arb:
        return some([(pair.infinite_mass(), count) for pair, count in self.parts])

    def loss_range(self) -> LossRange:
        lowest, highest = arb(0), arb(0)
        for pair, count in self.parts:
            ends = pair.loss_range()
            lowest, highest = lowest + count * ends.lowest, highest + count * ends.highest
        return LossRange(lowest, highest)

    def moments(self) -> ProductMoments:
        return ProductMoments(self)


class ProductMoments(Moments[ProductPair]):
    def log_moment_above(self, order: float) -> arb:
        """Moments of a product multiply."""
        return sum((count * arb(cumulant_above(pair, order)) for pair, count in self.pair.parts), arb(0))

    def zcdp_rho(self) -> arb | None:
        """Divergences of a product add up."""
        found = [(pair.moments().zcdp_rho(), count) for pair, count in self.pair.parts]
        known = [count * rho for rho, count in found if rho is not None]
        return sum(known, arb(0)) if len(known) == len(found) else None

    def gdp_mu(self) -> arb | None:
        """Squares add up (Dong, Roth, Su 2022, Cor. 3.3)."""
        found = [(pair.moments().gdp_mu(), count) for pair, count in self.pair.parts]
        known = [count * mu * mu for mu, count in found if mu is not None]
        return sum(known, arb(0)).sqrt() if len(known) == len(found) else None

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """Of the factors that have one; the others are forgotten."""
        found = [(pair.moments().gdp_mu_lower(direction), count) for pair, count in self.pair.parts]
        known = [count * mu * mu for mu, count in found if mu is not None]
        return sum(known, arb(0)).sqrt() if known else None


@has_bracket_only.register(ProductPair)
def _(pair: ProductPair) -> bool:
    return True


@factors_of.register(ProductPair)
def _(pair: ProductPair) -> tuple[Factor, ...]:
    return pair.parts


def product_pair(factors: Iterable[Factor]) -> Pair:
    """The product of one or more factors as the simplest pair that it is; those of one family join where they can."""
    families: dict[type[Pair], dict[Pair, int]] = {}
    for pair, count in unfolded(factors):
        family = families.setdefault(type(pair), {})
        family[pair] = family.get(pair, 0) + count
    joined: list[Factor] = []
    for family in families.values():
        uses = list(family.items())
        one = uses[0][0] if sum(family.values()) == 1 else uses[0][0].compose_exact(uses)
        joined += [(one, 1)] if isinstance(one, Pair) else uses
    return joined[0][0] if len(joined) == 1 and joined[0][1] == 1 else ProductPair(tuple(joined))


def unfolded(factors: Iterable[Factor]) -> list[Factor]:
    """Products that nothing samples are their factors."""
    found: list[Factor] = []
    for pair, count in factors:
        found += [(each, uses * count) for each, uses in factors_of(pair) or ((pair, 1),)]
    return found


def merged(factors: Iterable[Factor]) -> tuple[Factor, ...]:
    """Uses of a family that tells more of them together as one (operators.compose_dominating); others as they are."""
    families: dict[type[Pair], list[Factor]] = {}
    for pair, count in factors:
        families.setdefault(type(pair), []).append((pair, count))
    found: list[Factor] = []
    for uses in families.values():
        one = None if len(uses) == uses[0][1] == 1 else compose_dominating(uses[0][0], uses)
        found += uses if one is None else [(one, 1)]
    return tuple(found)
