"""Where the contour runs: the saddle, the step, and the second tilt that bounds the aliases.

Everything here is a choice in plain floats: a bad one makes the answer wide, never wrong.
psi(c) = K(c) - c eps - log c(c+1) is least at the saddle, where eps = K'(c) - 1/c - 1/(c+1), and
delta is about e^psi / sqrt(2 pi psi'').
Reference: Daniels 1954 (saddle-point approximations).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import UnsupportedMechanism
from ..kernels.quadrature_grid import dyadic
from .cgf import Cumulants, Terms

TILT_LEAST, TILT_MOST = 1e-9, 1e7
TILT_BITS, STEP_BITS = 16, 20


@dataclass(frozen=True, slots=True)
class Saddle:
    """The tilt c, the epsilon it belongs to, and the shape of the integrand there."""

    tilt: float
    epsilon: float
    log_delta: float
    cumulants: Cumulants

    @property
    def curvature(self) -> float:
        """psi''."""
        return self.cumulants.variance + self.tilt**-2 + (self.tilt + 1.0) ** -2


def cumulants(terms: Terms, tilt: float) -> Cumulants:
    """K, K' and K'' of the composition."""
    parts = [(cgf.cumulants(tilt), count) for cgf, count in terms]
    return Cumulants(*(math.fsum(count * part[index] for part, count in parts) for index in range(3)))


def saddle_at(terms: Terms, tilt: float, epsilon: float | None = None) -> Saddle:
    """The saddle values at a tilt; for its own epsilon, or for another one."""
    now = cumulants(terms, tilt)
    eps = now.mean - 1.0 / tilt - 1.0 / (tilt + 1.0) if epsilon is None else epsilon
    curvature = now.variance + tilt**-2 + (tilt + 1.0) ** -2
    log_delta = now.value - tilt * eps - math.log(tilt * (tilt + 1.0)) - 0.5 * math.log(2.0 * math.pi * curvature)
    return Saddle(tilt, eps, log_delta, now)


def find_saddle(terms: Terms, epsilon: float | None, log_delta: float | None) -> Saddle:
    """The saddle for a given epsilon, or for the epsilon that has this log delta (not below 0)."""
    if epsilon is None:
        assert log_delta is not None
        wanted = log_delta
        tilt = _solve(terms, lambda s: (s.log_delta - wanted) / max(s.tilt**2 * s.curvature, 0.05))
        found = saddle_at(terms, tilt)
        if found.epsilon >= 0.0:
            return found
        epsilon = 0.0
    at = epsilon
    tilt = _solve(terms, lambda s: (at - s.epsilon) / (s.tilt * s.curvature))
    return saddle_at(terms, tilt, at)


def _solve(terms: Terms, change: object) -> float:
    """Newton in log c for a function that rises or falls with c; change is the step it proposes."""
    low, high, log_tilt = math.log(TILT_LEAST), math.log(TILT_MOST), 0.0
    for _ in range(60):
        step = change(saddle_at(terms, math.exp(log_tilt)))  # type: ignore[operator]
        low, high = (max(low, log_tilt), high) if step > 0.0 else (low, min(high, log_tilt))
        step = max(-1.5, min(1.5, step))
        if abs(step) < 0.02:
            break
        following = log_tilt + step
        log_tilt = following if low < following < high else 0.5 * (low + high)
        if high - low < 0.01:
            break
    if not math.log(TILT_LEAST) + 0.1 < log_tilt < math.log(TILT_MOST) - 0.1:
        raise UnsupportedMechanism("this composition", "the saddle point is out of reach; try engine='lattice'")
    return dyadic(math.exp(log_tilt), TILT_BITS)


@dataclass(frozen=True, slots=True)
class Step:
    """The step h of the contour sum, and the tilt s > c of the alias bound."""

    step: float
    alias_tilt: float


def choose_step(terms: Terms, saddle: Saddle, log_tolerance: float) -> Step:
    """The largest step whose aliases stay below delta e^-log_tolerance, about."""
    c, allowed = saddle.tilt, saddle.log_delta - log_tolerance
    best = math.inf
    spread = math.sqrt(2.0 * log_tolerance / saddle.curvature)
    chosen = 2.0 * c
    for factor in (0.35, 0.7, 1.4):
        s = dyadic(c + factor * spread, TILT_BITS)
        if not s > c:
            continue
        period = (log_alias_height(cumulants(terms, s).value, s, saddle.epsilon) - allowed) / (s - c)
        if period < best:
            best, chosen = period, s
    period = max(best, -allowed / c)
    return Step(dyadic(2.0 * math.pi / period, STEP_BITS), chosen)


def log_alias_height(value: float, s: float, epsilon: float) -> float:
    """log of kappa(s) e^{K(s) - s eps}, kappa(s) = s^s/(1+s)^{1+s}."""
    return value - s * epsilon + s * math.log(s) - (1.0 + s) * math.log1p(s)
