"""A Fourier accountant as the talk describes it: truncate and discretise the loss, transform, raise, transform back.

No bound: neither the discretisation nor what lies beyond the grid is accounted for. It stands here to be compared.
Reference: Zhu, Dong, Wang 2021, the slide on existing algorithms (Sommer et al. 2019; Koskela et al. 2020).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from tightrope.core.numerics.enclosures import FloatArray

REACH = 24.0  # deviations of the noise on either side, far beyond what doubles can tell


def sampled_gaussian_delta(sigma: float, rate: float, count: int, epsilon: float, points: int, length: float) -> float:
    """delta when a record is removed, about: an even number of losses around 0, each with the mass that is nearest."""
    step = 2.0 * length / points
    middles = step * np.arange(-points // 2, points // 2)
    masses = np.diff(_below(np.append(middles - step / 2.0, middles[-1] + step / 2.0), sigma, rate))
    transform = np.fft.fft(np.fft.ifftshift(masses)) ** count
    composed = np.fft.fftshift(np.fft.ifft(transform).real)
    above = middles > epsilon
    return float(np.sum(composed[above] * -np.expm1(epsilon - middles[above])))


def _below(losses: FloatArray, sigma: float, rate: float) -> FloatArray:
    """P[loss <= t] of ((1 - rate) N(0, s^2) + rate N(1, s^2), N(0, s^2)), whose loss rises with the output."""
    hits = np.expm1(losses) + rate  # rate e^(x/sigma^2 - 1/(2 sigma^2)) = e^t - 1 + rate
    outputs = np.full_like(losses, -REACH * sigma)
    told = hits > 0.0
    outputs[told] = sigma**2 * np.log(hits[told] / rate) + 0.5
    below: FloatArray = (1.0 - rate) * ndtr(outputs / sigma) + rate * ndtr((outputs - 1.0) / sigma)
    return below
