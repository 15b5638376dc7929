"""A rough picture of a pair, to choose labels and a window from: cells of its loss at every scale.

In float64 or, for a proof, in balls alone.
Guarantee: none needed. Every choice made from it is valid; a bad one costs width or time only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from flint import arb

from ... import compute_budget
from ...kernels.ball import BITS_START, working_precision
from ...pair import Pair
from ..lattice.tuning import MASS_SECONDS, TAILS_UNITS
from . import tuning

Four = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Rough:
    """Cells with some P-mass, by rising loss: their mass, its ratio to that of Q as a loss, and both edges."""

    cells: tuple[tuple[float, float, float, float], ...]

    def ends(self, tail: float) -> tuple[float, float]:
        """Losses beyond which at most so much P-mass lies, below and above."""
        low, high = self.cells[0][2], self.cells[-1][3]
        left = tail
        for mass, _, bottom, _ in self.cells:
            low, left = bottom, left - mass
            if left < 0.0:
                break
        left = tail
        for mass, _, _, top in reversed(self.cells):
            high, left = top, left - mass
            if left < 0.0:
                break
        return low, high

    def cgf(self, tilt: float) -> float:
        """About log E_P[e^(tilt loss)]."""
        most = max(tilt * loss for _, loss, _, _ in self.cells)
        return most + math.log(math.fsum(mass * math.exp(tilt * loss - most) for mass, loss, _, _ in self.cells))


def rough(pair: Pair, proof: bool) -> Rough:
    """Its cells between powers of two, and finer; nothing where it has no mass at finite losses."""
    finer = tuning.PROOF_SCALE if proof else tuning.SCALE
    powers = (2.0 ** (place / finer) for place in range(tuning.SCALE_MIN * finer, tuning.SCALE_MAX * finer + 1))
    sizes = [size for size in powers if size < tuning.LOSS_FAR]
    edges = [*(-size for size in reversed(sizes)), 0.0, *sizes]
    tails = _ball_tails(pair, edges) if proof else _float_tails(pair, edges)
    with working_precision(BITS_START):
        infinite = float(pair.infinite_mass().mid())
        lost = float(pair.reversed().infinite_mass().mid())
    ends = [(1.0, 1.0 - lost, 0.0, lost), *tails, (infinite, 0.0, 1.0 - infinite, 1.0)]
    bounds = [-tuning.LOSS_FAR, *edges, tuning.LOSS_FAR]
    found = []
    for (low, high), (bottom, top) in zip(pairwise(ends), pairwise(bounds), strict=True):
        upper = low[0] < 0.5
        p, q = (low[0] - high[0], low[1] - high[1]) if upper else (high[2] - low[2], high[3] - low[3])
        if p > 0.0:
            found.append((p, min(max(math.log(p / q), bottom), top) if q > 0.0 else top, bottom, top))
    return Rough(tuple(found) or ((1.0, 0.0, -tuning.LOSS_FAR, tuning.LOSS_FAR),))


def _ball_tails(pair: Pair, edges: list[float]) -> list[Four]:
    compute_budget.spend(0.5 * MASS_SECONDS * compute_budget.UNITS_PER_SECOND * len(edges))
    with working_precision(BITS_START):
        tailses = (pair.ball_tails(arb(edge)) for edge in edges)
        return [(float(a.mid()), float(b.mid()), float(c.mid()), float(d.mid())) for a, b, c, d in tailses]


def _float_tails(pair: Pair, edges: list[float]) -> list[Four]:
    import numpy as np

    from ...kernels.double_double import double_double

    compute_budget.spend(TAILS_UNITS * len(edges))
    columns = [column.tolist() for column in pair.tails(double_double(np.array(edges)))]
    return list(zip(*columns, strict=True))
