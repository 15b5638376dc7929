"""What the ways of sampling share: the words for neighbours, and rates that are fractions."""

from __future__ import annotations

from fractions import Fraction

from ..derived.poisson import poisson_pair, rate_ends
from ..facets.participation_law import ParticipationLaw
from ..mechanisms.base import Mechanism
from ..pair import Pair
from ..relation import Direction
from .composition import IDENTITY
from .theorems import GROUP_IN_SAMPLE


def rates(batch: int, records: int) -> tuple[float, float]:
    """Doubles at or below and at or above batch/records."""
    return rate_ends(Fraction(batch, records))


def sampled_pair(base: Pair, rate: float, direction: Direction) -> Pair:
    """The Poisson sample, at any rate from 0 to 1."""
    if rate == 0.0:
        return IDENTITY.pair(direction)
    return base if rate == 1.0 else poisson_pair(base, rate, direction)


def participation_in_sample(base: Mechanism, hits: ParticipationLaw, direction: Direction) -> Pair:
    """The pair of a group of records that come or go, by how many of them are in the sample."""
    from ..derived.group_participation import group_participation_pair

    GROUP_IN_SAMPLE.demand(base)
    pair = base.pair(direction)
    return group_participation_pair(pair if direction is Direction.REMOVE else pair.reversed(), hits, direction)
