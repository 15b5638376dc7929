"""The largest of many Gaussian coordinates, some of which are shifted: what it shows of a record in hidden batches.

steps coordinates of standard deviation 1 are centred at 0 under Q; under P `hits` of them, nobody knows which, at mu.
With M the largest coordinate, Q[M <= m] = Phi(m)^steps and P[M <= m] = Phi(m - mu)^hits Phi(m)^(steps - hits). The law
has the cells between some values of m as its outcomes. dP/dQ rises with m, so the events M > m are the best of M.
Guarantee: exact in balls, for these cells. Proof: docs/proofs/shuffled_batches.md, section 3.
Reference: Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang 2024, How private are DP-SGD implementations? (events
of the largest coordinate).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from flint import arb, ctx

from ...numerics.balls import erfc, working_precision
from ..atoms import Atom, FiniteLaw
from ..pair import LossRange
from .laws import ListedLaw

EDGE_STEP, EDGE_FINE = 0.125, 0.0625  # between values of m, far out and where most of P lies
NORMAL_FAR = 35.0  # beyond, a normal law has less than 1e-260
BULK = 6.0
GUARD = 64


@dataclass(frozen=True)
class LargestLaw(ListedLaw):
    """1 <= hits <= steps, 1 < steps, mu > 0; turned: P and Q exchanged."""

    mu: float
    steps: int
    hits: int = 1
    turned: bool = False

    def atoms(self) -> list[Atom]:
        return self._cells(self._edges())

    def loss_range(self) -> LossRange:
        """Of the outermost cells: losses rise with m."""
        edges = self._edges()
        ends = self._cells([edges[0], edges[-1]])
        first, last = ends[0].loss, ends[-1].loss
        return LossRange(last, first) if self.turned else LossRange(first, last)

    def _cells(self, values: list[float]) -> list[Atom]:
        """Those between some values of m."""
        with working_precision(ctx.prec + GUARD + self.steps.bit_length()):
            edges = [arb(value) for value in values]
            plain, moved = [_log_below(edge) for edge in edges], [_log_below(edge - arb(self.mu)) for edge in edges]
            q = _masses([self.steps * value for value in plain])
            columns = zip(moved, plain, strict=True)
            p = _masses([self.hits * one + (self.steps - self.hits) * other for one, other in columns])
            if self.turned:
                p, q = q, p
            return [Atom(one, other, (one / other).log()) for one, other in zip(p, q, strict=True)]

    def infinite_mass(self) -> arb:
        return arb(0)

    def lost_mass(self) -> arb:
        return arb(0)

    def reversed(self) -> FiniteLaw:
        return LargestLaw(self.mu, self.steps, self.hits, not self.turned)

    def _edges(self) -> list[float]:
        """Values of m, which rise: where either law has some mass, closer to each other where P has most of it."""
        lowest = _lowest(self.steps)
        near = _grid(lowest, min(NORMAL_FAR, self.mu + NORMAL_FAR), EDGE_STEP)
        bulk = _grid(max(self.mu - BULK, lowest), self.mu + BULK, EDGE_FINE)
        far = _grid(max(self.mu - NORMAL_FAR, lowest), self.mu + NORMAL_FAR, EDGE_STEP)
        return sorted({*near, *bulk, *far})


def _grid(low: float, high: float, step: float) -> Iterator[float]:
    """Multiples of the step, so that grids share their points."""
    return (index * step for index in range(math.ceil(low / step), math.floor(high / step) + 1))


def _lowest(steps: int) -> float:
    """About where the largest of so many normal variables lies but for e^-600, in plain numbers."""
    low, high = -NORMAL_FAR, NORMAL_FAR
    while high - low > EDGE_STEP:
        middle = (low + high) / 2.0
        above = 0.5 * math.erfc(middle / math.sqrt(2.0))
        rare = above == 1.0 or steps * math.log1p(-above) < -600.0
        low, high = (middle, high) if rare else (low, middle)
    return low


def _log_below(m: arb) -> arb:
    """log Phi(m), by whichever tail is the smaller."""
    tail = erfc(abs(m) / arb(2).sqrt()) / 2
    return (-tail).log1p() if m > 0 else tail.log()


def _masses(logs: list[arb]) -> Iterator[arb]:
    """Of the cells between places whose masses below have these logarithms, by whichever side cancels less."""
    yield logs[0].exp()
    for low, high in pairwise(logs):
        yield high.exp() - low.exp() if high < -1 else high.expm1() - low.expm1()
    yield -logs[-1].expm1()
