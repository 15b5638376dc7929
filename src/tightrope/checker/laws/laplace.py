"""Laplace noise: with e = sensitivity/scale the loss lies in [-e, e].

Under P it is e with mass 1/2, -e with mass e^-e/2, and has the density e^{(l - e)/2}/4 between. Exchanging P and Q
mirrors the output, so the law is its own reverse. Proof: docs/proofs/checker_grids.md, "Laplace".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, prod

from flint import acb, arb, arb_poly, fmpz, fmpz_poly

from ..law import CheckedLaw, exact


@dataclass(frozen=True)
class LaplaceLaw(CheckedLaw):
    """One use; e is the edge."""

    edge: Fraction

    def tails(self, x: arb) -> tuple[arb, arb]:
        """P = 1 - e^{(x - e)/2}/2 and Q = e^{-(x + e)/2}/2 of {l > x} from -e on, below e; the hull at these ends."""
        edge = exact(self.edge)
        if x < -edge:
            return arb(1), arb(1)
        if x >= edge:
            return arb(0), arb(0)
        within = x.max(-edge).min(edge)
        p, q = 1 - ((within - edge) / 2).exp() / 2, (-(within + edge) / 2).exp() / 2
        if not x >= -edge:
            p, q = p.union(arb(1)), q.union(arb(1))
        if not x < edge:
            p, q = p.union(arb(0)), q.union(arb(0))
        return p, q

    def reversed(self) -> LaplaceLaw:
        return self

    def shifted(self, size: int) -> LaplaceLaw:
        return LaplaceLaw(self.edge * size)

    def moments(self, tilt: arb, step: arb, count: int) -> list[acb]:
        """M(z) = (e^{-e/2}/2) (e^{se} (1 + 1/(2s)) + e^{-se} (1 - 1/(2s))), s = z + 1/2; no ball where s may be 0."""
        edge, found = exact(self.edge), []
        scale = (-edge / 2).exp() / 2
        for j in range(count):
            s = acb(tilt + arb("0.5"), step * j)
            rise = (s * edge).exp()
            found.append(scale * (rise * (1 + 1 / (2 * s)) + (1 - 1 / (2 * s)) / rise))
        return found

    def decay(self, tilt: arb, reach: arb) -> arb:
        """|M(c + it)| <= (e^{-e/2}/2) (e^{ae} + e^{-ae}) (1 + 1/(2|s|)), a = c + 1/2, which falls as t rises."""
        edge, a = exact(self.edge), tilt + arb("0.5")
        modulus = (a * a + reach * reach).sqrt()
        most = (-edge / 2).exp() * (a * edge).cosh() * (1 + 1 / (2 * modulus))
        share = most / self.moments(tilt, arb(0), 1)[0].real
        return share if share < 1 else arb(1)


class Laplaces:
    """N Laplace uses with the edges e_i, n_i times each: the residues of the inverted transform.

    Choose j_i of the n_i uses of each edge; with K = sum j_i and y = sum (n_i - 2 j_i) e_i - eps a choice adds 0 where
    y <= 0, else prod C(n_i, j_i) e^{(eps - sum n_i e_i)/2} times
        2^{1-N} [t^{N-1}] (1 + t)^{N-K-1} (t - 1)^{K-1} e^{ty/2}  +  e^{y/2} if K = 0  -  e^{-y/2} if K = N.
    """

    def __init__(self, edges: Sequence[tuple[arb, int]]) -> None:
        self.uses = sum(count for _, count in edges)
        self.whole = sum((edge * count for edge, count in edges), arb(0))
        self.choices = []
        for choice in product(*(range(count + 1) for _, count in edges)):
            ways = prod(comb(count, j) for (_, count), j in zip(edges, choice, strict=True))
            shift = sum((edge * (count - 2 * j) for (edge, count), j in zip(edges, choice, strict=True)), arb(0))
            self.choices.append((ways, sum(choice), shift))
        self.polynomials = [self._polynomial(k) for k in range(self.uses + 1)]

    def at(self, epsilon: arb) -> arb:
        total = arb(0)
        for ways, k, shift in self.choices:
            y = shift - epsilon
            if y <= 0:
                continue
            half = y.max(arb(0)) / 2
            value = self.polynomials[k](half)
            if k == 0:
                value += half.exp()
            if k == self.uses:
                value -= (-half).exp()
            total += ways * (value if y > 0 else value.union(arb(0)))  # continuous in y, and 0 at 0
        return ((epsilon - self.whole) / 2).exp() * total

    def _polynomial(self, k: int) -> arb_poly:
        """In x = y/2: the sum over n < N of 2^{1-N} c_n x^{N-1-n}/(N-1-n)!, c_n of (1 + t)^{N-K-1} (t - 1)^{K-1}."""
        size = self.uses
        more, less = fmpz_poly([1, 1]) ** max(size - k - 1, 0), fmpz_poly([-1, 1]) ** max(k - 1, 0)
        series = [*(more * less).coeffs(), *[fmpz(0)] * size][:size]
        for n in range(size if k in (0, size) else 0):  # 1/(t - 1) = -(1 + t + ...), and 1/(1 + t) = 1 - t + ...
            before = series[n - 1] if n else fmpz(0)
            series[n] = before - series[n] if k == 0 else series[n] - before
        scale = arb(2) ** (size - 1)
        return arb_poly([arb(value) / (scale * arb.fac_ui(size - 1 - n)) for n, value in enumerate(series)][::-1])
