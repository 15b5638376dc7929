"""Every mechanism that a user may name: adding one touches its own file in mechanisms/ and one row here.

`tightrope` exports them; those with an example are what expressions, JSON and the listing know, in this order.
"""

# ruff: noqa: I001
from .mechanisms.gaussian import Gaussian as Gaussian
from .mechanisms.gaussian_variance import GaussianVariance as GaussianVariance
from .mechanisms.gaussian_mixture import GaussianMixture as GaussianMixture
from .mechanisms.laplace import Laplace as Laplace
from .mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from .mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
from .mechanisms.skellam import Skellam as Skellam
from .mechanisms.binomial_noise import BinomialNoise as BinomialNoise
from .mechanisms.staircase import Staircase as Staircase
from .mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
from .mechanisms.subset_selection import SubsetSelection as SubsetSelection
from .mechanisms.tree_aggregation import TreeAggregation as TreeAggregation
from .mechanisms.matrix_mechanism import MatrixMechanism as MatrixMechanism
from .mechanisms.training import training as training
from .mechanisms.approximate_dp import PureDP as PureDP
from .mechanisms.approximate_dp import ApproximateDP as ApproximateDP
from .mechanisms.exponential import Exponential as Exponential
from .mechanisms.noisy_max import NoisyMax as NoisyMax
from .mechanisms.noisy_max import PermuteAndFlip as PermuteAndFlip
from .mechanisms.distance_to_instability import DistanceToInstability as DistanceToInstability
from .mechanisms.stability_histogram import StabilityHistogram as StabilityHistogram
from .mechanisms.sparse_vector import SparseVector as SparseVector
from .mechanisms.gaussian import GDP as GDP
from .mechanisms.finite import Finite as Finite
from .mechanisms.tradeoff_curve import TradeoffCurve as TradeoffCurve
from .mechanisms.privacy_curve import PrivacyCurve as PrivacyCurve
from .mechanisms.renyi_curve import RenyiCurve as RenyiCurve
from .mechanisms.renyi_curve import ZCDP as ZCDP
from .mechanisms.renyi_only import GaussianSparseVector as GaussianSparseVector
from .mechanisms.renyi_only import SkellamVector as SkellamVector
from .mechanisms.histograms import Histograms as Histograms
from .mechanisms.truncated import TruncatedGaussian as TruncatedGaussian
from .mechanisms.truncated import TruncatedLaplace as TruncatedLaplace
from .mechanisms.density import Density as Density
from .mechanisms.characteristic_function import CharacteristicFunction as CharacteristicFunction
