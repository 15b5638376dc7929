"""Which cgf belongs to which pair."""

from __future__ import annotations

from ...derived.poisson import PoissonAdd, PoissonRemove
from ...errors import UnsupportedMechanism
from ...facets.cgf import Cgf
from ...kernels.ball import working_precision
from ...pair import Pair
from ...pairs.density.cgf import density_cgf
from ...pairs.density.pair import DensityPair
from ...pairs.discrete_gaussian.cgf import DiscreteGaussianCgf
from ...pairs.discrete_gaussian.pair import DiscreteGaussianPair
from ...pairs.finite.cgf import finite_cgf
from ...pairs.finite.pair import FinitePair
from ...pairs.gaussian.cgf import GaussianCgf
from ...pairs.gaussian.pair import GaussianPair
from ...pairs.laplace.cgf import laplace_cgf
from ...pairs.laplace.pair import LaplacePair
from ...pairs.logistic.cgf import logistic_cgf
from ...pairs.logistic.pair import LogisticPair
from ...pairs.sampled_gaussian.cgf import SampledCgf

MOMENT_BITS = 128
ORDINARY = (1e-150, 1e150)  # squares of mu and of the edge stay within doubles


def cgf_of(pair: Pair) -> Cgf:
    """The cgf of a pair that has one."""
    base = pair.base if isinstance(pair, PoissonRemove | PoissonAdd) else pair
    if isinstance(base, GaussianPair | LaplacePair):
        with working_precision(MOMENT_BITS):
            size = base.ball_mu() if isinstance(base, GaussianPair) else base.ball_edge()
            if not ORDINARY[0] < size < ORDINARY[1]:
                raise UnsupportedMechanism(repr(pair), "its scale is beyond float64; try engine='lattice'")
    match pair:
        case GaussianPair():
            return GaussianCgf(pair)
        case PoissonRemove(GaussianPair() as base, rate):
            return SampledCgf(base, rate, 1)
        case PoissonAdd(GaussianPair() as base, rate):
            return SampledCgf(base, rate, -1)
        case FinitePair():
            return finite_cgf(pair)
        case DiscreteGaussianPair():
            return DiscreteGaussianCgf(pair)
        case LaplacePair():
            return laplace_cgf(pair, 1.0, 1)
        case PoissonRemove(LaplacePair() as base, rate):
            return laplace_cgf(base, rate, 1)
        case PoissonAdd(LaplacePair() as base, rate):
            return laplace_cgf(base, rate, -1)
        case LogisticPair():
            return logistic_cgf(pair)
        case DensityPair():
            return density_cgf(pair, 1.0, 1)
        case PoissonRemove(DensityPair() as base, rate):
            return density_cgf(base, rate, 1)
        case PoissonAdd(DensityPair() as base, rate):
            return density_cgf(base, rate, -1)
    raise UnsupportedMechanism(repr(pair), "its cgf is not known; epsilon and delta need none: leave engine out")
