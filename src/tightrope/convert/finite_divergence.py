"""Renyi divergences of a pair that is known between two finite ones.

A pair that dominates has the larger divergence of every order. Of finite pairs, rows (p, q), mass w of infinite loss:
    order < 1, > 1     sum of p^order q^(1 - order) = e^((order - 1) D)
    order 1            sum of p log(p / q) = D
and D is infinite from order 1 on where w > 0. The pair above has a w that only its last point gives it: there the true
profile is closed by the end of the loss, or by a moment (closed_tail.py).
Guarantee: lower <= D <= upper; the width falls with the square of the points. Proof: docs/proofs/renyi.md, section 2.
Reference: van Erven, Harremoes 2014, Thm 9 (processing); Blackwell 1953 (pairs that dominate are processed to others).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from flint import arb, fmpz

from .. import compute_budget
from ..derived.around import around
from ..derived.dyadic import DyadicPair
from ..engines.joint.bracket import bracket
from ..errors import Refusal, UnsupportedMechanism, WorkExhausted
from ..facets.resolution import Resolution
from ..kernels import fp_environment
from ..kernels.ball import working_precision
from ..pair import Pair
from .closed_tail import Tail
from .divergence_ends import Divergence, ends

FINITE_DIVERGENCE_BITS = 256  # divergences down to 1e-50 keep their digits
ROW_UNITS = 1.5e4  # of work
POINTS_AT_FIRST, FLOAT_POINTS, BALL_POINTS = 1 << 7, 1 << 15, 1 << 11
FIRST_TAIL, LAST_TAIL = 1e-40, 1e-290
LOG_TAIL_SHARE = math.log(1e-3)  # of the width that is wanted: for what lies beyond the last point
FASTER, MORE_THAN_ENOUGH = 64.0, 1.3  # more points than before at most; than the square law asks for
STILL_HELPS = 0.7  # of the width before: more is not worth another round
TRIES_MAX = 5


@dataclass
class Between:
    """One pair and one order, above 0 and finite; what is known of the tail serves every fineness."""

    pair: Pair
    order: float
    tail: Tail | None  # None below order 1, where an infinite loss costs nothing, and where there may be one

    @staticmethod
    def of(pair: Pair, order: float) -> Between:
        """The pair is not known to have an infinite loss, or the order lies below 1."""
        with working_precision(FINITE_DIVERGENCE_BITS):
            ends_well = order >= 1.0 and pair.infinite_mass().is_zero()
            return Between(pair, order, Tail.of(pair, order) if ends_well else None)

    def ends(self, known: Divergence, accuracy: float, proof: bool) -> Divergence:
        """As narrow as the accuracy, as time, or as finer pairs can make it; what is known where there are none."""
        fine, best, width = Resolution(POINTS_AT_FIRST, FIRST_TAIL, proof), known, math.inf
        for _ in range(TRIES_MAX):
            try:
                divergence = self._at(fine)
            except UnsupportedMechanism as refused:
                if refused.kind is not Refusal.NEEDS_BALLS or fine.proof:
                    break
                fine = replace(fine, points=min(fine.points, BALL_POINTS), proof=True)
                continue
            except (WorkExhausted, FloatingPointError):
                break
            best = best.narrowed(divergence)
            if best.relative <= accuracy:
                break
            finer = self._finer(fine, divergence, accuracy)
            if finer == fine or (finer.tail == fine.tail and divergence.relative > STILL_HELPS * width):
                break
            fine, width = finer, divergence.relative
        return best

    def _at(self, fine: Resolution) -> Divergence:
        with fp_environment.quiet() if fine.proof else fp_environment.float64():
            rough = bracket(self.pair, fine)
            one = around(rough.lower, fine)
            below, above = one[0], (one if rough.upper is rough.lower else around(rough.upper, fine))[1]
        compute_budget.spend(ROW_UNITS * (len(below.rows) + len(above.rows)))
        with working_precision(FINITE_DIVERGENCE_BITS):
            found = self._divergence(below, None), self._divergence(above, self.tail)
            return ends(*found, len(above.rows), fine.proof)

    def _divergence(self, pair: DyadicPair, tail: Tail | None) -> arb:
        """Of a finite pair; with a tail, of what it dominates."""
        order, mass = arb(self.order), pair.infinite_mass()
        beyond = arb(0)
        if self.order >= 1.0 and not mass.is_zero():
            if tail is None:
                return arb.pos_inf()
            beyond = tail.beyond(pair.loss_range().highest, mass)
        total = beyond
        scale = arb(2) ** -pair.bits
        for p, q in pair.rows:
            if p and q:
                more = arb(fmpz(p))
                ratio = more / arb(fmpz(q))
                total += scale * more * (ratio.log() if self.order == 1.0 else ratio ** (order - 1))
        if self.order == 1.0:
            return total
        return total.log() / (order - 1) if total > 0 else arb.pos_inf()

    def _finer(self, fine: Resolution, divergence: Divergence, accuracy: float) -> Resolution:
        """More points by the square law; less mass beyond where that is what is wide."""
        tail = fine.tail
        if self.tail is not None and self.tail.known and divergence.lower > 0.0:
            c = self.order - 1.0
            size = math.log(divergence.lower) + (
                math.log(c) + c * divergence.lower if c else 0.0
            )  # moves D by about itself
            wanted = self.tail.log_mass(size + math.log(accuracy) + LOG_TAIL_SHARE)
            tail = min(tail, max(math.exp(min(wanted, 0.0)), LAST_TAIL))
        share = divergence.relative / accuracy
        wanted_points = MORE_THAN_ENOUGH * math.sqrt(share) if share < math.inf else 1.0
        points = min(
            int(fine.points * min(max(wanted_points, 1.0), FASTER)), BALL_POINTS if fine.proof else FLOAT_POINTS
        )
        return replace(fine, points=max(points, fine.points), tail=tail)
