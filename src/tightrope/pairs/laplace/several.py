"""The profile of any composition of Laplace pairs, by residues.

With s = z + 1/2 one pair has E_P[e^(z l)] = e^(-e/2) [e^(es) (2s+1) + e^(-es) (2s-1)] / (4s). The product over K
pairs expands into terms with exponents x = sum of +-e - eps, and closing the contour of I(eps) to the left leaves
for every x > 0 e^((eps - sum e)/2) 4^(1-K) C [s^(K-1)] (2s+1)^(J-1) (2s-1)^(K-J-1) e^(sx), J pluses, C choices, plus
1 for J = K and -e^eps for J = 0 from the poles at s = +-1/2.
Guarantee: exact, in balls; the alternating sum is paid for with precision. Proof: docs/proofs/closed_forms.md.
Reference: Zhu, Dong, Wang 2021, Sec. 5 (phi-functions); the expansion is ours.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb

from ...pair import BallTails

if TYPE_CHECKING:
    from ..bounded_loss import TwoEdges


@dataclass(frozen=True, slots=True)
class LaplaceSum:
    """(pair, count) of each."""

    uses: tuple[tuple[TwoEdges, int], ...]

    def hockey_stick_cost(self) -> int:
        """Terms of the expansion times uses, each half as dear again as a Gaussian's profile."""
        counts = [count for _, count in self.uses]
        return 3 * math.prod(count + 1 for count in counts) * sum(counts) // 2

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        """H(e^eps) for any real eps, at the working precision."""
        return _hockey_stick([(pair.ball_edge(), count) for pair, count in self.uses], epsilon)

    def ball_tails(self, t: arb) -> BallTails:
        """P[l > t] = H - dH/dt, the derivative from the right, term by term: those at x = 0 are no longer there."""
        edges = [(pair.ball_edge(), count) for pair, count in self.uses]
        above = _hockey_stick(edges, t, tail=True)
        second = (above - _hockey_stick(edges, t)) * (-t).exp()
        return BallTails(above, second, 1 - above, 1 - second)


def _hockey_stick(edges: list[tuple[arb, int]], epsilon: arb, tail: bool = False) -> arb:
    """H(e^eps), or P[l > eps]: as e^(eps/2) f(x) falls with x = l - eps, its part is f/2 + f' in the place of f."""
    uses = sum(count for _, count in edges)
    reach = sum((count * edge for edge, count in edges), arb(0))
    scale = ((epsilon - reach) / 2).exp() * arb(4) ** (1 - uses)
    factorials = [arb(1)]
    for n in range(1, uses):
        factorials.append(factorials[-1] * n)
    total = arb(0)
    polynomials: dict[int, list[arb]] = {}
    for signs in itertools.product(*(range(count + 1) for _, count in edges)):
        x = sum(((2 * plus - count) * edge for plus, (edge, count) in zip(signs, edges, strict=True)), arb(0)) - epsilon
        if x <= 0:
            continue
        pluses = sum(signs)
        if pluses not in polynomials:
            polynomials[pluses] = _polynomial(pluses - 1, uses - pluses - 1, factorials)
        choices = math.prod(math.comb(count, plus) for plus, (_, count) in zip(signs, edges, strict=True))
        value, slope = _horner(polynomials[pluses], x)
        term = choices * scale * (value / 2 + slope if tail else value)
        if pluses == uses:
            term += 1
        if pluses == 0 and not tail:
            term -= epsilon.exp()
        # A term is not there for x <= 0, so an unsure sign is covered by both values.
        total += term if x > 0 else term.union(arb(0))
    return total


def _polynomial(a: int, b: int, factorials: list[arb]) -> list[arb]:
    """Coefficients in x, highest first, of [s^(a+b+1)] (2s+1)^a (2s-1)^b e^(sx), for a, b >= -1.

    The Taylor coefficients c of (1+2s)^a (1-2s)^b obey (n+1) c[n+1] = 2 (a-b) c[n] + 4 (n-1-a-b) c[n-1].
    """
    order = a + b + 1
    c = [1, 2 * (a - b)]
    for n in range(1, order):
        c.append((2 * (a - b) * c[n] + 4 * (n - 1 - a - b) * c[n - 1]) // (n + 1))
    sign = -1 if b % 2 else 1
    return [arb(sign * c[n]) / factorials[order - n] for n in range(order + 1)]


def _horner(coefficients: list[arb], x: arb) -> tuple[arb, arb]:
    """The polynomial and its derivative."""
    value, slope = arb(0), arb(0)
    for coefficient in coefficients:
        value, slope = value * x + coefficient, slope * x + value
    return value, slope
