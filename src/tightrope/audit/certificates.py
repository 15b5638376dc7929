"""One run against a curve: multipliers found by a linear program, which are then a proof by themselves.

With a_s = e^(epsilon_s), numbers phi_{s,w}, psi_{s,w} >= 0 for w = 1..r, phi and psi 0 at 0 and r + 1, and
G(w) = sum_s w phi_{s,w} - o_s (r - w) phi_{s,w+1} + (r - w) psi_{s,w+1} - o'_s w psi_{s,w}:
P(v >= k) <= max_w (1{w >= k} - G(w)) + sum_s (B_s max_w phi_{s,w} + B'_s max_w psi_{s,w});
with guesses of both kinds o = o' = a, and B = B' = m (H_remove + H_add)/2 is paid once for the larger of the maxima.
The program is the dual, solved in floats; nothing of it is believed: any multipliers give a bound, which is evaluated
in balls.
Guarantee: upper, whatever the solver found.
Reference: docs/proofs/audit.md, section 8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from ..core.numerics.balls import BITS_START, upper_float, working_precision
from ..core.numerics.enclosures import FloatArray
from ..core.values import compute_budget
from .claims import ClaimSlope, SlopeClaim
from .one_run import BOTH, IN, GuessEvent

PROGRAM_WORK = 3e4  # units for each row of the program: about what HiGHS takes
SOLVER_SHARE, SOLVER_MIN = 0.8, 0.05  # of the time that is left; seconds
CERTIFICATE_WORK = 2e3  # for each multiplier


class Budgets(NamedTuple):
    """What O1 says at one slope: odds and budget of phi, and of psi."""

    odds_phi: arb
    phi: arb
    odds_psi: arb
    psi: arb


@dataclass(frozen=True)
class Multipliers:
    """phi and psi of each slope of a claim, w = 1..r; a refutation by themselves."""

    phi: tuple[tuple[float, ...], ...]
    psi: tuple[tuple[float, ...], ...]

    @property
    def used(self) -> frozenset[int]:
        """The slopes that have a multiplier."""
        rows = zip(self.phi, self.psi, strict=True)
        return frozenset(index for index, (phi, psi) in enumerate(rows) if any(phi) or any(psi))

    def only(self, kept: Sequence[int]) -> Multipliers:
        """Those of these slopes."""
        return Multipliers(tuple(self.phi[index] for index in kept), tuple(self.psi[index] for index in kept))

    def bound(self, event: GuessEvent, claim: SlopeClaim) -> float:
        """At or above P(v >= k) under the claim, whose slopes are those of these numbers."""
        compute_budget.spend(CERTIFICATE_WORK * len(claim.slopes) * event.guesses)
        with compute_budget.uncounted(), working_precision(BITS_START):
            return min(upper_float(self._bound(event, claim)), 1.0)

    def _bound(self, event: GuessEvent, claim: SlopeClaim) -> arb:
        r, k = event.guesses, event.count
        gains = [arb(0)] * (r + 1)
        total = arb(0)
        for slope, phi, psi in zip(claim.slopes, self.phi, self.psi, strict=True):
            known = budgets(event, slope)
            for w, value in enumerate(phi, 1):
                if value:
                    gains[w] += w * arb(value)
                    gains[w - 1] -= known.odds_phi * (r - w + 1) * value
            for w, value in enumerate(psi, 1):
                if value:
                    gains[w - 1] += (r - w + 1) * arb(value)
                    gains[w] -= known.odds_psi * w * value
            highest = max(phi, default=0.0), max(psi, default=0.0)
            if event.sides == BOTH:
                total += known.phi * max(highest)
            else:
                total += known.phi * highest[0] + known.psi * highest[1]
        worst = -gains[0] if k > 0 else 1 - gains[0]
        for w in range(1, r + 1):
            worst = worst.max((1 if w >= k else 0) - gains[w])
        return worst + total


def budgets(event: GuessEvent, slope: ClaimSlope) -> Budgets:
    """What flipping one coin may change, by which guesses were made."""
    a, coin, m = arb(slope.epsilon).exp(), arb(event.coin), event.canaries
    if event.sides == BOTH:
        both = m * (arb(slope.remove) + arb(slope.add)) / 2
        return Budgets(a, both, a, both)
    inside = a * coin / (1 - coin), m * coin * arb(slope.remove)
    outside = a * (1 - coin) / coin, m * (1 - coin) * arb(slope.add)
    first, second = (inside, outside) if event.sides == IN else (outside, inside)
    return Budgets(*first, *second)


def multipliers(event: GuessEvent, claim: SlopeClaim) -> Multipliers | None:
    """The best there are, as a solver in floats finds them; None where it ends without any."""
    from scipy import optimize

    r, count = event.guesses, len(claim.slopes)
    compute_budget.spend(PROGRAM_WORK * r * count)
    with compute_budget.uncounted(), working_precision(BITS_START):
        known = [Budgets(*(float(number) for number in budgets(event, slope))) for slope in claim.slopes]  # type: ignore[arg-type]
    matrix, limits = _program(event, known)
    wins = np.zeros(matrix.shape[1])
    wins[event.count : r + 1] = -1.0
    sums = np.zeros((1, matrix.shape[1]))
    sums[0, : r + 1] = 1.0
    # The solver looks at no allowance, but at its own clock; where nobody asked for seconds it goes on to its end.
    with compute_budget.part(SOLVER_SHARE, clock=True) as meter:
        seconds = meter.deadline - compute_budget.monotonic()
    timed = seconds < math.inf and compute_budget.monotonic is not compute_budget.still
    options = {"time_limit": max(seconds, SOLVER_MIN)} if timed else None
    found = optimize.linprog(wins, A_ub=matrix, b_ub=limits, A_eq=sums, b_eq=[1.0], method="highs", options=options)
    if found.status != 0:
        for each in meter.chain() if timed else ():
            each.late = True
        return None
    prices = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0)[: 2 * count * r].reshape(2, count, r)
    return Multipliers(_rows(prices[0]), _rows(prices[1]))


def _program(event: GuessEvent, known: Sequence[Budgets]) -> tuple[Any, FloatArray]:
    """Rows x_w - o y_w <= u_{s,w}, y_w - o' x_w <= d_{s,w} with x_w = w p_w, y_w = (r - w + 1) p_{w-1}; then budgets.

    Columns: p_0..p_r, u, d.
    """
    from scipy import sparse

    r, count = event.guesses, len(known)
    w = np.arange(1, r + 1)
    ones, shape = np.ones(r), (r, r + 1)
    right, wrong = (
        sparse.csr_array((1.0 * w, (w - 1, w)), shape),
        sparse.csr_array((r - w + 1.0, (w - 1, w - 1)), shape),
    )
    identity = sparse.identity(2 * count * r, format="csr")
    rows = [right - float(each.odds_phi) * wrong for each in known]
    rows += [wrong - float(each.odds_psi) * right for each in known]
    body = sparse.hstack([sparse.vstack(rows), -identity])
    sums = sparse.kron(sparse.identity(2 * count), ones[None, :], format="csr")
    limits = np.array([float(each.phi) for each in known] + [float(each.psi) for each in known])
    if event.sides == BOTH:
        sums, limits = sums[:count] + sums[count:], limits[:count]
    sums = sparse.hstack([sparse.csr_array((sums.shape[0], r + 1)), sums])
    matrix = sparse.vstack([body, sums]).tocsr()
    return matrix, np.concatenate([np.zeros(2 * count * r), limits])


def _rows(prices: FloatArray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(value) for value in row) for row in prices)
