"""Tight differential-privacy accounting: intervals that contain the truth, rounding included.

import tightrope as tr
run = tr.Gaussian(sigma=5.0) * 3 + tr.Gaussian(sigma=8.0) * 5 + tr.PureDP(epsilon=0.1)
run.epsilon(delta=1e-6)
"""

from __future__ import annotations

from .bound import Bound as Bound
from .bound import Budget as Budget
from .bound import Certificate as Certificate
from .calibrate import Calibration as Calibration
from .calibrate import calibrate as calibrate
from .compare import Comparison as Comparison
from .compare import compare as compare
from .curve import Curve as Curve
from .curve import draw_curves as draw_curves
from .errors import AccuracyNotReached as AccuracyNotReached
from .errors import BracketNotFound as BracketNotFound
from .errors import DataError as DataError
from .errors import ExpressionError as ExpressionError
from .errors import InvalidParameter as InvalidParameter
from .errors import TightropeError as TightropeError
from .errors import UnsupportedMechanism as UnsupportedMechanism
from .expression import parse as parse
from .mechanisms.approximate_dp import ApproximateDP as ApproximateDP
from .mechanisms.base import Mechanism as Mechanism
from .mechanisms.density import Density as Density
from .mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from .mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
from .mechanisms.exponential import Exponential as Exponential
from .mechanisms.finite import Finite as Finite
from .mechanisms.gaussian import Gaussian as Gaussian
from .mechanisms.gdp import GDP as GDP
from .mechanisms.histograms import Histograms as Histograms
from .mechanisms.laplace import Laplace as Laplace
from .mechanisms.pure_dp import PureDP as PureDP
from .mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
from .mechanisms.truncated_gaussian import TruncatedGaussian as TruncatedGaussian
from .mechanisms.truncated_laplace import TruncatedLaplace as TruncatedLaplace
from .relation import Direction as Direction
from .relation import Relation as Relation
from .serial import dump as dump
from .serial import load as load
from .transforms.composition import compose as compose

__version__ = "0.1.0"
