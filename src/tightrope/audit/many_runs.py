"""Many runs, half of them with the canary: a rank p-value of their scores, and one of counts at a fixed threshold.

M1: X_1..X_n1 with the canary, Y_1..Y_n0 without, TP = #{X > the k-th largest Y}. Then
P(TP >= l) <= E[P(Bin(n1, g(B)) >= l)], B ~ Beta(k, n0 - k + 1), g the most true positives at a rate of false ones.
M1' is the same from the other end: negated scores, the two laws exchanged.
M2: FP, TP at a threshold fixed before the data: p = sup_x F(U(x) V(g(x))), U(x) = P(Bin(n0, x) <= FP),
V(y) = P(Bin(n1, y) >= TP), F(w) = w (1 - log w).
Guarantee: upper.
Reference: docs/proofs/audit.md, sections 3 to 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..core.numerics.balls import upper_float, working_precision
from ..core.numerics.enclosures import FloatArray
from ..core.numerics.rounding import FEW, MILLIONS, TINIEST, round_up
from ..core.values import compute_budget
from .claims import SlopeClaim
from .events import AuditEvent, certified_log
from .tails import head_upper, tail_upper

RANK_CELLS = 2000  # of the integral of M1: 0.2 % above the exact one
RANK_CELLS_ROUGH = 256  # that choose where these lie
TAIL_LOW, TAIL_HIGH = 1e-12, 1e-14  # of the Beta law, outside the even cells
COUNT_CELLS, COUNT_SPLIT, COUNT_ROUNDS = 64, 8, 12
COUNT_NARROW = 2e-4  # relative: so far above a value the supremum of M2 may lie


@dataclass(frozen=True)
class RankEvent(AuditEvent):
    """TP of the n1 scores lie above the k-th largest of the n0; reverse: as M1' has it, with the roles exchanged."""

    method: ClassVar[str] = "M1"
    narrow: ClassVar[float] = 1e-6  # cells lose more
    n1: int
    n0: int
    rank: int
    count: int
    reverse: bool = False

    @property
    def trials(self) -> int:
        return self.n1

    @property
    def place(self) -> int:
        return self.rank

    @property
    def parameters(self) -> dict[str, Any]:
        return {"n1": self.n1, "n0": self.n0, "reverse": self.reverse}

    def p_upper(self, claim: SlopeClaim) -> float:
        if self.count <= 0:
            return 1.0
        claim = claim.swapped() if self.reverse else claim
        even, beyond = self._coarse
        value, gains = self._summed(claim, even, beyond)
        # The sum exceeds the integral by at most the sum of products of rises: cells where these are equal lose least.
        share = np.concatenate([[0.0], np.cumsum(np.sqrt(gains) + 1e-3 * np.sqrt(gains).max())])
        places = np.interp(np.linspace(0.0, share[-1], RANK_CELLS + 1), share, even)
        places[0], places[-1] = 0.0, 1.0
        places = np.unique(places)
        return min(value, self._summed(claim, places, self._beyond(places))[0], 1.0)

    def used(self, claim: SlopeClaim) -> frozenset[int]:
        claim = claim.swapped() if self.reverse else claim
        cells = self._coarse[0]
        return claim.active((cells[1:] + cells[:-1]) / 2.0)

    def rough(self, claim: SlopeClaim) -> float:
        """About the same, to choose among ranks: proves nothing."""
        claim = claim.swapped() if self.reverse else claim
        return min(self._summed(claim, *self._coarse)[0], 1.0) if self.count > 0 else 1.0

    @cached_property
    def _coarse(self) -> tuple[FloatArray, FloatArray]:
        """Even cells, and how likely B is beyond each."""
        from scipy import special

        shape = self.rank, self.n0 - self.rank + 1
        low, high = special.betaincinv(*shape, TAIL_LOW), special.betainccinv(*shape, TAIL_HIGH)
        inner = np.linspace(low, high, RANK_CELLS_ROUGH - 1)
        cells = np.unique(np.concatenate([[0.0], np.clip(inner[np.isfinite(inner)], 0.0, 1.0), [1.0]]))
        return cells, self._beyond(cells)

    def _beyond(self, cells: FloatArray) -> FloatArray:
        """P(B > u): at most k - 1 of n0 uniforms are below u."""
        compute_budget.spend(50.0 * len(cells))
        return head_upper(self.n0, cells, self.rank - 1)

    def _summed(self, claim: SlopeClaim, cells: FloatArray, beyond: FloatArray) -> tuple[float, FloatArray]:
        """sum_j (T_j - T_{j-1}) P(B > u_{j-1}) with T_j = P(Bin(n1, g(u_j)) >= l), from above; and how far off a cell
        may be: (T_j - T_{j-1}) P(u_{j-1} < B <= u_j)."""
        compute_budget.spend(50.0 * len(cells))
        reached = np.maximum.accumulate(tail_upper(self.n1, claim.tpr_upper(cells[1:]), self.count))
        rises = np.diff(reached, prepend=0.0)
        hidden = len(cells) * TINIEST  # what products below the least double may hide
        total = round_up(float(np.sum(rises * beyond[:-1])) + hidden, 4.0 * len(cells) + FEW)
        return total, rises * np.maximum(beyond[:-1] - beyond[1:], 0.0)


@dataclass(frozen=True)
class CountEvent(AuditEvent):
    """At a threshold fixed before the data, TP of n1 runs with the canary lie above it, and FP of n0 without."""

    method: ClassVar[str] = "M2"
    narrow: ClassVar[float] = 1e-6
    n1: int
    n0: int
    false: int
    count: int

    @property
    def trials(self) -> int:
        return self.n1

    @property
    def place(self) -> int:
        return self.false

    @property
    def parameters(self) -> dict[str, Any]:
        return {"n1": self.n1, "n0": self.n0}

    def p_upper(self, claim: SlopeClaim) -> float:
        if self.count <= 0:
            return 1.0
        most = self._product_most(claim)
        if most >= 1.0:
            return 1.0
        # F rises on [0, 1].
        with compute_budget.uncounted(), working_precision(128):
            return min(upper_float(certified_log(most)), 1.0)

    def used(self, claim: SlopeClaim) -> frozenset[int]:
        return claim.active(np.linspace(0.0, 1.0, COUNT_CELLS * COUNT_SPLIT + 1))

    def _product_most(self, claim: SlopeClaim) -> float:
        """At or above sup U(x) V(g(x)): U falls and V(g) rises, so U(a) V(g(b)) bounds it on [a, b]."""
        ends = np.linspace(0.0, 1.0, COUNT_CELLS + 1)
        left, right, highest = ends[:-1], ends[1:], 0.0
        for _ in range(COUNT_ROUNDS):
            above = self._products(claim, left, right)
            value = float(np.max(self._products(claim, left, left)))  # about what is attained
            open_cells = above > value * (1.0 + COUNT_NARROW)
            highest = max(highest, float(np.max(above[~open_cells], initial=0.0)))
            left, right, above = left[open_cells], right[open_cells], above[open_cells]
            if not len(left):
                return highest
            steps = np.linspace(0.0, 1.0, COUNT_SPLIT + 1)
            cuts = left[:, None] + (right - left)[:, None] * steps[None, :]
            cuts[:, -1] = right  # without gaps between cells, whatever was rounded
            remains, left, right = float(np.max(above)), cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
        return max(highest, remains)

    def _products(self, claim: SlopeClaim, left: FloatArray, right: FloatArray) -> FloatArray:
        compute_budget.spend(100.0 * len(left))
        under = head_upper(self.n0, left, self.false)
        over = tail_upper(self.n1, claim.tpr_upper(right), self.count)
        return round_up(under * over + TINIEST, MILLIONS)
