"""The lattice in exact integers: masses from balls, products of integer polynomials, every rounding to one side.

Laws are those of whole.py: neither tilt, nor window, nor wrap-around, nor transform error. float64 chooses the grid and
nothing else.
Guarantee: upper and lower, by construction. Proof: docs/proofs/lattice.md, lemmas 1, 2 and 10.
Reference: Meiser, Mohammadi 2018, Def. 3 to 5 (buckets); Johansson 2017 (balls).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from flint import arb, fmpz

from ... import compute_budget
from ...bound import ErrorBreakdown, error_lines
from ...kernels.ball import lower_float, upper_float, working_precision
from ..evaluation import Evaluation, Evaluator, Term
from ..extremes_of_loss import leaked
from . import tuning
from .aim import Aim
from .plan import GridPlan, GridWish, plan
from .whole import GUARD_BITS, WholeCells, WholeUpper, above, ball_cells, ball_upper, below, power, together

ODDS_BITS = 96  # e^eps, for the comparison of P and Q


@dataclass(frozen=True)
class ProofEvaluator(Evaluator):
    """The composed law above, the composed cells below."""

    arithmetic = "ball"
    above: WholeUpper
    below: WholeCells
    origin: int  # of the labels, in units of the plan
    leaked: int
    bits: int
    plan: GridPlan

    @property
    def parameters(self) -> Mapping[str, object]:
        length = len(self.above.masses)
        return {
            **self.plan.parameters,
            "bits": self.bits,
            "grids": [length],
            "length": length,
        }

    def delta(self, epsilon: float) -> Evaluation:
        lower, upper = self._lower(epsilon), self._upper(epsilon)
        lines = error_lines(discretisation=upper - lower)
        return Evaluation(lower, upper, ErrorBreakdown(lines, lines))

    def _upper(self, epsilon: float) -> float:
        """infinite + sum over l_j > eps of Y_j (1 - e^(eps - l_j)), in balls."""
        with working_precision(self.bits + 2 * GUARD_BITS):
            step = arb(self.plan.step)
            first = arb(self.origin) * arb(self.plan.unit) + self.above.start * step
            skipped = max(below((arb(epsilon) - first) / step), -1) + 1  # a label at eps itself adds nothing
            kept = self.above.masses[skipped:]
            ratio = (-step).exp()
            falling = arb(0)
            for mass in reversed(kept):
                falling = falling * ratio + mass
            away = (first + skipped * step - arb(epsilon)).max(arb(0))
            total = arb(self.above.infinite) + sum(kept, fmpz(0))
            return min(upper_float((total - (-away).exp() * falling) / arb(2) ** self.bits), 1.0)

    def _lower(self, epsilon: float) -> float:
        """The best suffix of P - e^eps Q in exact integers, e^eps rounded up."""
        with working_precision(self.bits + 2 * GUARD_BITS):
            # With odds of 2^(bits + 1) no event that has Q-mass counts, nor with larger ones.
            odds = above(arb(min(epsilon, self.bits + 1.0)).exp() * arb(2) ** ODDS_BITS)
            best = running = fmpz(0)
            for p, q in zip(reversed(self.below.p), reversed(self.below.q), strict=True):
                running += (p << ODDS_BITS) - odds * q
                best = max(best, running)
            value = arb(self.leaked) / arb(2) ** self.bits + arb(best) / arb(2) ** (self.bits + ODDS_BITS)
            return max(lower_float(value), 0.0)


def prepare_proof(terms: Sequence[Term], target: Aim) -> ProofEvaluator:
    """Masses in balls at as many bits as delta needs, then integers only."""
    uses = sum(count for _, count in terms)
    log_least = min(target.point.log_delta, 0.0) + math.log(min(target.wanted, 1.0)) - 10.0
    bits = math.ceil(-log_least / math.log(2.0)) + uses.bit_length() + GUARD_BITS
    made = _affordable(terms, replace(target, window=target.plain), bits)
    uppers, cells, origin = [], [], 0
    with working_precision(bits + 2 * GUARD_BITS):
        cut = max(below(arb(log_least).exp() * arb(2) ** bits) // (4 * len(terms)), 1)
        for (pair, count), ruler in zip(terms, made.rulers, strict=True):
            points = ruler.points(made.unit)
            uppers.append(power(ball_upper(pair, points, made.step, 0, bits), count, bits, cut))
            cells.append(power(ball_cells(pair, points, made.step, 0, bits), count, bits, cut))
            origin += count * ruler.start
        surely = max(below(leaked(terms) * arb(2) ** bits), 0)
        return ProofEvaluator(together(uppers, bits, cut), together(cells, bits, cut), origin, surely, bits, made)


def _affordable(terms: Sequence[Term], target: Aim, bits: int) -> GridPlan:
    """The finest grid that the time allows: so many limbs in each product, and masses in balls at every point."""
    limbs = bits / 64.0
    seconds = min(tuning.PROOF_SECONDS, tuning.PROOF_WORK * compute_budget.left() / compute_budget.UNITS_PER_SECOND)
    products = sum(
        3.0 * count.bit_length() * (tuning.LIMB_SECONDS * limbs + tuning.COEFFICIENT_SECONDS) for _, count in terms
    )
    most = int(min(max(seconds / products, 1 << 10), tuning.INTEGER_POINTS_MAX))
    wish = GridWish(evolving=False, points=most)
    made = plan(terms, target, wish)
    late = sum(ruler.size for ruler in made.rulers) * tuning.MASS_SECONDS * (1.0 + limbs / 8.0) / max(seconds, 1e-3)
    return made if late <= 1.0 else plan(terms, target, wish._replace(finer=1.0 / late))
