"""Every mechanism that a user may name: adding one touches its own file in mechanisms/ and one row here.

`tightrope` exports them; those with an example are what expressions, JSON and the listing know, in this order.
"""

# ruff: noqa: I001
from ..mechanisms.gaussian import Gaussian as Gaussian
from ..mechanisms.gaussian import GaussianVariance as GaussianVariance
from ..mechanisms.gaussian import GaussianMixture as GaussianMixture
from ..mechanisms.laplace import Laplace as Laplace
from ..mechanisms.integer_noise import DiscreteGaussian as DiscreteGaussian
from ..mechanisms.integer_noise import DiscreteLaplace as DiscreteLaplace
from ..mechanisms.integer_noise import Skellam as Skellam
from ..mechanisms.integer_noise import BinomialNoise as BinomialNoise
from ..mechanisms.laplace import Staircase as Staircase
from ..mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
from ..mechanisms.randomized_response import SubsetSelection as SubsetSelection
from ..mechanisms.matrix_mechanism import TreeAggregation as TreeAggregation
from ..mechanisms.matrix_mechanism import MatrixMechanism as MatrixMechanism
from ..mechanisms.training import training as training
from ..mechanisms.approximate_dp import PureDP as PureDP
from ..mechanisms.approximate_dp import ApproximateDP as ApproximateDP
from ..mechanisms.exponential import Exponential as Exponential
from ..mechanisms.exponential import NoisyMax as NoisyMax
from ..mechanisms.exponential import PermuteAndFlip as PermuteAndFlip
from ..mechanisms.thresholds import DistanceToInstability as DistanceToInstability
from ..mechanisms.thresholds import StabilityHistogram as StabilityHistogram
from ..mechanisms.thresholds import SparseVector as SparseVector
from ..mechanisms.gaussian import GDP as GDP
from ..mechanisms.finite import Finite as Finite
from ..mechanisms.finite import TradeoffCurve as TradeoffCurve
from ..mechanisms.finite import PrivacyCurve as PrivacyCurve
from ..mechanisms.renyi import RenyiCurve as RenyiCurve
from ..mechanisms.renyi import ZCDP as ZCDP
from ..mechanisms.renyi import GaussianSparseVector as GaussianSparseVector
from ..mechanisms.renyi import SkellamVector as SkellamVector
from ..mechanisms.histograms import Histograms as Histograms
from ..mechanisms.truncated import TruncatedGaussian as TruncatedGaussian
from ..mechanisms.truncated import TruncatedLaplace as TruncatedLaplace
from ..mechanisms.density import Density as Density
from ..mechanisms.density import CharacteristicFunction as CharacteristicFunction
