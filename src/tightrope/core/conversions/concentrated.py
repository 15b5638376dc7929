"""Concentrated differential privacy: a line above the Renyi divergences, so a parabola above the cgf of the loss.

(xi, rho): K(c) <= c xi + c (c + 1) rho for every c > 0.
zCDP: xi = 0; rho = mu^2/2 for Gaussians (also clamped, rounded or discrete), e - 1 + e^-e for Laplace noise, and
L tanh(L/2) where all losses lie in [-L, L]; a sampled mechanism has at most the rho of its base.
Subgaussian fit: K(c) <= c m + c^2 v/2 with m the mean and v the variance proxy, so rho = v/2 and xi = m - v/2: exact
for Gaussians, and v = (highest - lowest)^2 / 4 for bounded losses (Hoeffding), where xi <= 0; less than zCDP next to
order 1, and more at large orders.
Pure: xi the largest loss, rho = 0.
All add up under composition and become delta by the classical conversion or by the best one of a Renyi bound.
Guarantee: upper, rounded outward; inf where no line is known. Proof: docs/proofs/classic.md, section 5.
Reference: Bun, Steinke 2016, Prop. 1.4, 1.6; Dwork, Rothblum 2016; Meiser, Mohammadi 2018, Sec. 5.7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import MappingProxyType

from flint import arb

from ..losses.capabilities import has_bounded_loss
from ..losses.cgf import cumulant_above
from ..losses.pair import Pair
from ..mechanisms.base import Mechanism
from ..mechanisms.composition import terms_of
from ..numerics.balls import BITS_START, upper_float, working_precision
from ..values.errors import InvalidParameter
from ..values.question import Direction
from .cdp import Concentrated, total
from .classical import at_or_above
from .renyi_accountant import LogMoment, delta_from, epsilon_from

ORDER_NEAR_ZERO = 1e-5  # K(c)/c falls to the mean as c falls to 0

Fit = Callable[[Pair], Concentrated | None]


def zcdp(pair: Pair) -> Concentrated | None:
    """(0, rho)."""
    with working_precision(BITS_START):
        known = pair.moments().zcdp_rho()
        rho = math.inf if known is None else upper_float(known)
    return Concentrated(0.0, rho) if math.isfinite(rho) else None


def fitted(pair: Pair) -> Concentrated | None:
    """The subgaussian fit of a bounded loss, zCDP else."""
    with working_precision(BITS_START):
        if not has_bounded_loss(pair):
            return zcdp(pair)
        lowest, highest = pair.loss_range()
        mean = upper_float(arb(cumulant_above(pair, ORDER_NEAR_ZERO)) / ORDER_NEAR_ZERO)
        rho = upper_float((highest - lowest) ** 2 / 8)
        if not (math.isfinite(mean) and math.isfinite(rho)):
            return zcdp(pair)
        return Concentrated(min(upper_float(arb(max(mean, 0.0)) - rho), 0.0), rho)  # the mean is at most rho


def pure(pair: Pair) -> Concentrated | None:
    """(sup of the loss, 0), where no loss is infinite."""
    with working_precision(BITS_START):
        highest = upper_float(pair.loss_range().highest) if pair.infinite_mass().is_zero() else math.inf
    return Concentrated(max(highest, 0.0), 0.0) if math.isfinite(highest) else None


SHAPES = MappingProxyType({"fit": fitted, "zcdp": zcdp, "pure": pure})


def lines(run: Mechanism, fit: Fit) -> Concentrated | None:
    """One line above both directions of a run; None where a part has none."""
    sums: list[Concentrated] = []
    for direction in Direction:
        parts = [(fit(pair), count) for pair, count in terms_of(run.nameless, direction)]
        known = [(part, count) for part, count in parts if part is not None]
        if len(known) < len(parts):
            return None
        try:
            sums.append(total(known))
        except InvalidParameter:  # beyond the range of doubles
            return None
    return Concentrated(max(concentrated.xi for concentrated in sums), max(concentrated.rho for concentrated in sums))


def line_epsilon(line: Concentrated, delta: float, classical: bool) -> float:
    """xi + rho + 2 sqrt(rho log(1/delta)), or the best conversion where that is less."""
    if delta >= 1.0:
        return 0.0
    if line.rho == 0.0:  # the loss is at most xi
        return max(line.xi if classical else at_or_above(lambda: line.xi + (-arb(delta)).log1p()), 0.0)
    if delta == 0.0:
        return math.inf
    value = at_or_above(lambda: arb(line.xi) + line.rho + 2 * (-arb(delta).log() * line.rho).sqrt())
    return max(value if classical else min(value, epsilon_from(_moment(line), 0.0, delta, True)), 0.0)


def line_delta(line: Concentrated, epsilon: float, classical: bool) -> float:
    """e^(-(epsilon - xi - rho)^2 / (4 rho)), or the best conversion where that is less."""
    if line.rho == 0.0:
        beyond = at_or_above(lambda: -(arb(epsilon) - line.xi).expm1())
        return 0.0 if epsilon >= line.xi else 1.0 if classical else beyond
    value = at_or_above(_tail, line, epsilon)
    return value if classical else min(value, delta_from(_moment(line), 0.0, epsilon, True))


def _tail(line: Concentrated, epsilon: float) -> arb:
    beyond = arb(epsilon) - line.xi - line.rho
    return (-(beyond**2) / (4 * arb(line.rho))).exp() if beyond > 0 else arb(1)


def _moment(line: Concentrated) -> LogMoment:
    return lambda order: at_or_above(lambda: arb(order) * line.xi + arb(order) * (arb(order) + 1) * line.rho)


def _epsilon(run: Mechanism, delta: float, fit: Fit, classical: bool = False) -> float:
    line = lines(run, fit)
    return math.inf if line is None else line_epsilon(line, delta, classical)


def _delta(run: Mechanism, epsilon: float, fit: Fit, classical: bool = False) -> float:
    line = lines(run, fit)
    return 1.0 if line is None else line_delta(line, epsilon, classical)


# Each takes the run, and the delta or epsilon that is given.
zcdp_epsilon = partial(_epsilon, fit=zcdp)
zcdp_delta = partial(_delta, fit=zcdp)
classical_epsilon = partial(_epsilon, fit=zcdp, classical=True)
classical_delta = partial(_delta, fit=zcdp, classical=True)
fitted_epsilon = partial(_epsilon, fit=fitted)
fitted_delta = partial(_delta, fit=fitted)
cdp_epsilon = partial(_epsilon, fit=fitted, classical=True)
cdp_delta = partial(_delta, fit=fitted, classical=True)
