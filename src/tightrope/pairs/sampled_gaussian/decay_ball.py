"""The decay bound of decay in balls, cell by cell.

Guarantee: upper, every rounding enclosed. Proof: docs/proofs/contour.md, section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import arb

from ... import compute_budget
from ...kernels.ball import upper_float, working_precision
from .cells import cell_edges
from .decay import Cell, EdgeWeight, exponent, log_masses, shift_height, shifts, tail_slopes
from .likelihood import Chance, LikelihoodPoint, likelihood
from .window import WHOLE, Edge, SoftWindow

DECAY_BITS = 64
BALL_CELL_WORK = 3e4  # units of work for a cell, to make it and to bound its U


class _Balls:
    exp, expm1, log, log1p = arb.exp, arb.expm1, arb.log, arb.log1p
    sin, cos, angle, smaller = arb.sin, arb.cos, arb.atan2, arb.min

    @staticmethod
    def softplus(x: arb) -> arb:
        return x.exp().log1p()


@dataclass(frozen=True, slots=True)
class BallDecay:
    """Cells of a tilted law with bounds of their masses; the tails are the last cells, with no least mass.

    end: the density at the hard end of the window, in the unit of the masses; 0 without one.
    """

    mu: arb
    power: float
    cells: tuple[tuple[Cell, arb, arb], ...]
    window: SoftWindow
    end: arb

    def log_bound(self, radius: float) -> float:
        """An upper bound of log |phi(t)| for every t >= radius; 0 where nothing better is known."""
        if not radius >= 0.0:
            return 0.0
        compute_budget.spend(BALL_CELL_WORK * len(self.cells))
        with working_precision(DECAY_BITS):
            return min(0.0, *(self._with_shift(radius, *shift) for shift in shifts(self.window)))

    def _with_shift(self, radius: float, fraction: float, eagerness: float, limit: float) -> float:
        height = shift_height(_Balls, self.mu, self.power, radius, fraction * arb.pi() / self.mu, limit)
        least, most = arb(0), arb(0)
        falls, rises, far = arb(0), arb(0), arb(0)
        for cell, low, high in self.cells:
            bound, _ = exponent(_Balls, cell, self.mu, self.power, radius, height, eagerness)
            gain = bound.expm1()
            least, most, far = least + low, most + high, far + high * bound.exp()
            if gain < 0:
                falls += low * gain
            else:
                rises += high * gain.max(arb(0))
        lift = 1 + sum((1 / arb(edge.width) ** 2 for edge in self.window.edges), arb(0))
        back = self.end * height * (lift * height * height / 2).exp()
        near = falls / most + (rises + back) / least
        bounds = [upper_float(near.log1p()), upper_float(((far + back) / least).log())]
        return min(bounds)


def ball_cf_decay(mu: arb, rate: Chance, power: float, marked: SoftWindow = WHOLE) -> BallDecay | None:
    """The cells for the law with density proportional to n g^power; None where the tails cannot be bounded."""
    with working_precision(DECAY_BITS):
        law = likelihood(float(mu.mid()), rate)
        points = cell_edges(law.mu, law, power, marked)
        if len(points) < 2:
            return None
        compute_budget.spend(BALL_CELL_WORK * len(points))
        edges = [arb(point) for point in points]
        known = [law.ball_point(mu, edge) for edge in edges]
        slope_left, slope_right = tail_slopes(edges[0], edges[-1], known[0].share, mu, power, law.most)
        slope_left += marked.ball_slope_left_of(edges[0])
        cut = marked.end < math.inf
        beyond = arb(0) if cut else 1 / slope_right if slope_right > 0 else arb.pos_inf()
        if law.many and not (cut or slope_right > 1):
            beyond = arb(law.beyond(upper_float(mu), power, points[-1], 0.0))
        if not (slope_left > 0 and beyond.is_finite()):
            return None

        def log_density(point: LikelihoodPoint, x: arb) -> arb:
            return arb(power) * point.log - x * x / 2

        weights = [[(edge.ball_weight(x), edge.ball_missing(x)) for x in edges] for edge in marked.edges]
        top = log_density(known[len(edges) // 2], edges[len(edges) // 2])
        at_edges = [log_density(point, edge) - top for point, edge in zip(known, edges, strict=True)]
        cells = []
        for index in range(len(edges) - 1):
            left, right = edges[index], edges[index + 1]
            marks, least, most = _marks(marked.edges, [weight[index : index + 2] for weight in weights])
            cell = law.ball_cell(mu, (left, right), (known[index], known[index + 1]), marks)
            centre = (left + right) / 2
            logs = at_edges[index], log_density(law.ball_point(mu, centre), centre) - top, at_edges[index + 1]
            low, high = log_masses(_Balls, cell, logs, mu, power)
            width = right - left
            cells.append((cell, width * low.exp() * least, width * high.exp() * most))
        first, last = (math.prod((weight[index][0] for weight in weights), start=arb(1)) for index in (0, -1))
        unknown = tuple(EdgeWeight(edge.width, arb(0), arb.pos_inf()) for edge in marked.edges)
        tail = law.ball_cell(mu, (edges[0], edges[0]), (None, known[0]), unknown)
        cells.append((tail, arb(0), first * at_edges[0].exp() / slope_left))
        end = last * at_edges[-1].exp()
        if not cut:
            tail = law.ball_cell(mu, (edges[-1], edges[-1]), (known[-1], None), unknown)
            cells.append((tail, arb(0), end * beyond))
        return BallDecay(mu, power, tuple(cells), marked, end if cut else arb(0))


def _marks(edges: tuple[Edge, ...], weights: list[list[tuple[arb, arb]]]) -> tuple[tuple[EdgeWeight, ...], arb, arb]:
    """The marks of a cell, and the least and the largest weight on it; each edge is monotone."""
    marks, least, most = [], arb(1), arb(1)
    for edge, ((left, left_missing), (right, right_missing)) in zip(edges, weights, strict=True):
        low, missing = (left, left_missing) if edge.side > 0 else (right, right_missing)
        marks.append(EdgeWeight(edge.width, missing.log(), -low.log()))
        least, most = least * low, most * (right if edge.side > 0 else left)
    return tuple(marks), least, most
