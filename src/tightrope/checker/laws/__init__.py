"""The laws that the checker knows, by the names of mechanisms and transformations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..law import CheckedLaw
from . import named, samples

LAWS: Mapping[str, Callable[..., CheckedLaw]] = MappingProxyType(
    {
        "Gaussian": named.gaussian,
        "GDP": named.gdp,
        "GaussianVariance": named.variance,
        "GaussianMixture": named.mixture,
        "Laplace": named.laplace,
        "TruncatedGaussian": named.truncated_gaussian,
        "TruncatedLaplace": named.truncated_laplace,
        "DiscreteGaussian": named.discrete_gaussian,
        "DiscreteLaplace": named.discrete_laplace,
        "Skellam": named.skellam,
        "BinomialNoise": named.coins,
        "RandomizedResponse": named.randomized_response,
        "SubsetSelection": named.subset,
        "Staircase": named.staircase,
        "PureDP": named.pure,
        "ApproximateDP": named.approximate,
        "Finite": named.finite,
        "PrivacyCurve": named.privacy_curve,
        "TradeoffCurve": named.tradeoff_curve,
        "RenyiCurve": named.renyi_curve,
        "ZCDP": named.zcdp,
        "Exponential": named.exponential,
        "NoisyMax": named.noisy_max,
        "PermuteAndFlip": named.permute_and_flip,
        "MatrixMechanism": named.matrix,
        "TreeAggregation": named.tree,
    }
)

TRANSFORMATIONS: Mapping[str, Callable[..., CheckedLaw | None]] = MappingProxyType(
    {
        "poisson": samples.poisson,
        "without_replacement": samples.without_replacement,
        "with_replacement": samples.with_replacement,
        "random_allocation": samples.random_allocation,
        "shuffled_batches": samples.shuffled_batches,
        "group": samples.group,
        "truncated_poisson": samples.truncated_poisson,
    }
)
