"""Which cgf belongs to which pair."""

from __future__ import annotations

from ..errors import UnsupportedMechanism
from ..pair import Pair
from ..pairs.finite import FinitePair
from ..pairs.gaussian import GaussianPair
from ..pairs.laplace import LaplacePair
from ..pairs.poisson import PoissonAdd, PoissonRemove
from .cgf import Cgf
from .cgf_finite import finite_cgf
from .cgf_gaussian import GaussianCgf
from .cgf_laplace import LaplaceCgf
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
        case FinitePair():
            return finite_cgf(pair)
        case LaplacePair():
            return LaplaceCgf(pair, 1.0, 1)
        case PoissonRemove(LaplacePair() as base, rate):
            return LaplaceCgf(base, rate, 1)
        case PoissonAdd(LaplacePair() as base, rate):
            return LaplaceCgf(base, rate, -1)
    raise UnsupportedMechanism(repr(pair), "its cgf is not known; try engine='lattice'")
