"""Exponentials and logarithms of plain doubles, moved to a safe side: for numbers whose logs are known.

Each library function errs by a few units; the slack added is far more than that.
Guarantee: upper or lower, as each function says.
"""

from __future__ import annotations

import math

TINIEST = 5e-324


def log_expm1(x: float) -> float:
    """At or above log(e^x - 1) for x >= 0 that is known to 1e-10 of itself, without overflow."""
    return x + math.log(-math.expm1(-x) + 1e-300) + 1e-9 * (1.0 + x)


def exp_up(log: float, factor: float) -> float:
    """At or above e^log factor; inf where that is beyond doubles or nothing is known."""
    if not (factor < math.inf and log < math.inf):
        return math.inf
    if factor <= 0.0:
        return 0.0
    if log == -math.inf:
        return TINIEST
    total = log + math.log(factor)
    raised = total + 1e-15 * (2.0 + abs(log) + abs(total))
    return math.exp(raised) * (1.0 + 1e-15) + TINIEST if raised < 709.0 else math.inf


def exp_down(log: float, factor: float) -> float:
    """At or below e^log factor."""
    if not factor > 0.0 or not math.isfinite(log):
        return 0.0 if factor > 0.0 or log == -math.inf else -math.inf
    total = log + math.log(factor)
    return max(0.0, math.exp(min(total - 1e-15 * (2.0 + abs(log) + abs(total)), 709.0)) * (1.0 - 1e-15) - TINIEST)


def over_expm1(log: float, exponent: float) -> float:
    """e^log / (1 - e^-exponent) to 1e-12, inf where the exponent is not positive."""
    if not exponent > 0.0 or log > 700.0:
        return math.inf
    return math.exp(log) / -math.expm1(-exponent)
