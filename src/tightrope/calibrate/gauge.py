"""How much a reading is: the Gaussian mechanism that has the same one.

With many uses, or much noise, everything looks like a Gaussian mechanism of some mu = sensitivity / sigma, and log mu
is nearly a straight line in the log of a scale, a rate or a count. log delta is not: it falls like a square; and an
accuracy or a rate of attackers is hardly above what guessing reaches. Epsilon, mu, rho and divergences are powers of a
scale by themselves: their log does.
Guarantee: none is needed; it only tells where to look next. Balle, Wang 2018, Thm 8; Dong, Roth, Su 2022.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from ..metrics import gaussian_guess
from ..metrics.gaussian_guess import upper_point
from .target import Target


def gauge_of(target: Target) -> Callable[[float], float]:
    """The gauge of a target's reading: nan for what no Gaussian mechanism within reach has."""
    given = target.arguments
    if target.name in ("advantage", "total_variation"):
        return partial(equivalent, 0.0)
    if target.name in ("tpr", "reconstruction"):
        return partial(apart_by, next(iter(given.values())))
    if target.name == "posterior":
        return partial(_believed, given["prior"], given["fpr"])
    if target.name == "bayes_accuracy":
        return partial(_guessed, given["prior"])
    return logarithm


def logarithm(value: float) -> float:
    """nan where there is none."""
    return math.log(value) if 0.0 < value < math.inf else math.nan


def equivalent(epsilon: float, delta: float) -> float:
    """log mu of the Gaussian mechanism with this delta at epsilon; nan where there is none within reach."""
    return logarithm(gaussian_guess.equivalent(epsilon, delta))


def apart_by(fpr: float, tpr: float) -> float:
    """log mu of the Gaussian mechanism with this tpr at fpr, mu = Phi^-1(tpr) - Phi^-1(fpr)."""
    return logarithm(upper_point(fpr) - upper_point(tpr)) if 0.0 < fpr < tpr < 1.0 else math.nan


def _believed(prior: float, fpr: float, posterior: float) -> float:
    """The tpr that makes such a posterior, gauged."""
    return apart_by(fpr, posterior * (1.0 - prior) * fpr / (prior * (1.0 - posterior))) if posterior < 1.0 else math.nan


def _guessed(prior: float, accuracy: float) -> float:
    """The delta at |log((1 - prior)/prior)| that makes such an accuracy, gauged; both signs have the same mirror."""
    surer, other = max(prior, 1.0 - prior), min(prior, 1.0 - prior)
    return equivalent(math.log(surer / other), (accuracy - surer) / other)
