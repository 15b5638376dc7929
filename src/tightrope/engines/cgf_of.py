"""Which cgf belongs to which pair."""

from __future__ import annotations

from ..errors import UnsupportedMechanism
from ..pair import Pair
from ..pairs.gaussian import GaussianPair
from ..pairs.poisson import PoissonAdd, PoissonRemove
from .cgf import Cgf
from .cgf_gaussian import GaussianCgf
from .cgf_sampled import SampledCgf


def cgf_of(pair: Pair) -> Cgf:
    """The cgf of a pair that has one."""
    match pair:
        case GaussianPair():
            return GaussianCgf(pair)
        case PoissonRemove(GaussianPair() as base, rate):
            return SampledCgf(base, rate, 1)
        case PoissonAdd(GaussianPair() as base, rate):
            return SampledCgf(base, rate, -1)
    raise UnsupportedMechanism(repr(pair), "its cgf is not known; try engine='lattice'")
