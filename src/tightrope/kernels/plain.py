"""Plain numbers for choices: nothing here is certified."""

from __future__ import annotations

import math


def softplus(w: float) -> float:
    """log(1 + e^w)."""
    return w + math.log1p(math.exp(-w)) if w > 0.0 else math.log1p(math.exp(w))


def log_expm1(x: float) -> float:
    """log(e^x - 1) for x >= 0, without overflow."""
    return x + math.log(-math.expm1(-x) + 1e-300)


def logistic(w: float) -> float:
    """e^w / (1 + e^w)."""
    return 1.0 / (1.0 + math.exp(-w)) if w > -700.0 else 0.0


def dyadic(value: float, bits: int) -> float:
    """value rounded down to this many significant bits."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(math.ldexp(mantissa, bits)), exponent - bits)
