"""The mechanisms of sections 5 and 6, with the parameters as printed."""

from __future__ import annotations

import math

from tightrope import Gaussian, Mechanism, RandomizedResponse
from tightrope.core.mechanisms.truncated import TruncatedGaussian, TruncatedLaplace

SCALE = 200.0
SAME_VARIANCE = SCALE * math.sqrt(2.0)
HALF_VARIANCE = SCALE
CUT = (-2500.0, 2500.0)
COUNT = 512


def cut_laplace() -> Mechanism:
    """Laplace noise of scale 200, cut at 2500 on both sides."""
    return TruncatedLaplace(scale=SCALE, bounds=CUT)


def cut_gauss(sigma: float = SAME_VARIANCE) -> Mechanism:
    """Gaussian noise cut at 2500 on both sides; by default with the variance of the Laplace noise."""
    return TruncatedGaussian(sigma=sigma, bounds=CUT)


def whole_gauss() -> Mechanism:
    """The same Gaussian noise without a cut."""
    return Gaussian(sigma=SAME_VARIANCE)


def response() -> Mechanism:
    """Randomized response that tells the truth with probability 0.51."""
    return RandomizedResponse(p=0.51)


def gradient_step() -> Mechanism:
    """One step of noisy gradient descent: sigma 4, each record taken with probability 0.01."""
    return Gaussian(sigma=4.0).poisson(rate=0.01)


GRADIENT_STEPS = 2**16
