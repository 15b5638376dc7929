"""Compositions whose losses lie on one lattice: one period of the transform is all of it.

Losses are base + n h. With l the first of them at or above eps and x = l - eps in [0, h], N nodes of one period give
    (1/N) sum over n of M(z_n) e^{-z_n l} k(z_n),   z_n = c + 2 pi i n/(N h),
    k(z) = 1/(1 - e^{-zh}) - e^{-x}/(1 - e^{-(z+1)h}) = (a + b e^{-zh}) / ((1 - e^{-zh}) (1 - e^{-(z+1)h})),
a = 1 - e^{-x} and b = e^{-x} - e^{-h}, both >= 0: the aliases of the contour with period N h, and nothing else.
Guarantee: exact. Proof: docs/proofs/contour.md, section 12.
Reference: Trefethen, Weideman 2014, Sec. 3 (periodic trapezoid rule).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from flint import arb

from ...facets.lattice import SumLattice, ratio_ball, sum_lattice
from ...kernels.ball import BITS_START, working_precision
from ..evaluation import Term
from . import tuning

if TYPE_CHECKING:
    from ...kernels.contour_kernel import Kernel
    from .plan import ContourPlan


class First(NamedTuple):
    """The first loss at or above eps, how far it is beyond, and by how much eps may have been moved to reach it."""

    point: arb
    beyond: arb
    moved: arb


class Period(SumLattice):
    """The lattice of a composition, one period of whose transform is summed."""

    @property
    def width(self) -> float:
        """The step, approximately."""
        with working_precision(BITS_START):
            return float(self.step.ball().mid())

    @property
    def tilt_most(self) -> float:
        """Beyond this tilt the first loss above eps is all that counts."""
        return tuning.TILT_STEPS / self.width + 2.0

    def first(self, epsilon: float) -> First:
        """Exact where all is rational; next to a logarithm the digits decide, and what they cannot is `moved`."""
        if not self.factors and not self.step.logarithm:
            place = (Fraction(epsilon) - self.shift) / self.step.number
            loss = self.shift + math.ceil(place) * self.step.number
            with working_precision(BITS_START):
                return First(ratio_ball(loss), ratio_ball(loss - Fraction(epsilon)), arb(0))
        bits = BITS_START
        while True:
            with working_precision(bits):
                step, base = self.step.ball(), self.base()
                steps = (arb(epsilon) - base) / step
                following, nearest = steps.ceil().unique_fmpz(), (steps + arb(0.5)).floor().unique_fmpz()
                if following is not None:
                    point = base + step * following
                    beyond = point - arb(epsilon)
                    if beyond > 0 and (beyond.rel_accuracy_bits() >= tuning.BITS_BEYOND or bits >= tuning.BITS_DECIDED):
                        return First(point, beyond, arb(0))
                if bits >= tuning.BITS_DECIDED and nearest is not None:
                    point = base + step * nearest
                    return First(point, arb(0), arb(0).union(abs(point - arb(epsilon))))
            bits *= 2

    def kernel(self, plan: ContourPlan, beyond: arb) -> Kernel:
        """The kernel at the nodes, in float64, for an epsilon so far below the first loss from there on."""
        from ...kernels.contour_kernel import geometric, relative

        with working_precision(BITS_START):
            step = self.step.ball()
            exponents = [-(arb(plan.saddle.tilt) + more) * step for more in (0, 1)]
            falls, gaps = [relative(x.exp()) for x in exponents], [relative(-x.expm1()) for x in exponents]
            parts = [relative(part) for part in numerator(step, beyond)]
            made = (falls, gaps, parts, relative((-beyond).exp()))
        return geometric(plan.cycle, plan.nodes, plan.step.step, *made)


def numerator(step: arb, beyond: arb) -> tuple[arb, arb]:
    """1 - e^{-x} and e^{-x} - e^{-h}, without cancellation."""
    return -(-beyond).expm1(), -(-beyond).exp() * (beyond - step).expm1().min(arb(0))


def period_of(terms: Sequence[Term]) -> Period | None:
    """The lattice of a composition, where it has one with more than one point."""
    step = sum_lattice([(pair.lattice(), count) for pair, count in terms])
    return None if step is None else Period(*step)
