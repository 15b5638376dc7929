"""The decay bound of decay in float64.

Every exponent errs by units of the size of its parts, which moves each mass and each U to its safe side; DECAY_SLACK
does so for all that is left, whose relative error is far below it.
Guarantee: upper. Proof: docs/proofs/contour.md, sections 4 and 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from flint import arb

from ...numerics.balls import upper_float, working_precision
from ...numerics.enclosures import FloatArray
from ...numerics.rounding import FEW, MILLIONS, UNIT, round_down, round_up
from ...values import compute_budget
from .likelihood import (
    WHOLE,
    Cell,
    Chance,
    DecayCell,
    Edge,
    EdgeWeight,
    LikelihoodPoint,
    SoftWindow,
    exponent,
    likelihood,
    log_masses,
    shift_height,
    shifts,
    tail_slopes,
)
from .node_grid import cell_edges

DECAY_SLACK = 1e-9
LOG_DOUBLE_MAX = 700.0  # of what a double holds
FLOAT_CELL_WORK, MARK = 300.0, 1e3  # units of work for a cell, and for the weight of an edge at the end of one
ODDS_MAX, RISE_MAX = 1e12, 600.0
EXPONENT_ERROR, SHARE_ERROR = 64.0 * UNIT, 32.0 * UNIT  # of an exponent, and of U through the log odds, per size


class _Arrays:
    exp, expm1, log, log1p = np.exp, np.expm1, np.log, np.log1p
    sin, cos, angle, smaller = np.sin, np.cos, np.arctan2, np.minimum

    @staticmethod
    def softplus(x: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, x)


@dataclass(frozen=True, slots=True)
class FloatDecay:
    """Cells of a tilted law and bounds of their masses, the tails included as last cells.

    end: the density at the hard end of the window, in the unit of the masses; 0 without one.
    """

    mu: float
    power: float
    cells: Cell
    least: FloatArray
    most: FloatArray
    slack: FloatArray
    window: SoftWindow = WHOLE
    end: float = 0.0

    def log_bound(self, radius: float) -> float:
        """An upper bound of log |phi(t)| for every t >= radius; 0 where nothing better is known."""
        if not radius >= 0.0:
            return 0.0
        compute_budget.spend(FLOAT_CELL_WORK * len(self.least))
        # All shifts at once: the cells are few, and a call of numpy costs more than they do.
        tried = shifts(self.window)
        eager = np.array([[eagerness] for _, eagerness, _ in tried])
        with np.errstate(all="ignore"):
            height = np.array(
                [
                    float(shift_height(_Arrays, self.mu, self.power, radius, fraction * math.pi / self.mu, limit))
                    for fraction, _, limit in tried
                ]
            )
            bound, sizes = exponent(_Arrays, self.cells, self.mu, self.power, radius, height[:, None], eager)
            bound = bound + self.slack * sizes
            gain = np.expm1(bound)
            least, most = float(np.sum(self.least)), float(np.sum(self.most))
            falls = np.sum(np.where(gain < 0.0, self.least * gain, 0.0), axis=1) / most
            rises = np.sum(np.where(gain < 0.0, 0.0, self.most * gain), axis=1) / least
            back = self.end * height * np.exp(0.5 * self.window.lift * height * height) if self.end else 0.0 * height
            beyond = round_up(back / least, MILLIONS)
            near = round_down(falls, MILLIONS) + round_up(rises, MILLIONS) + beyond
            far = round_up(np.sum(self.most * np.exp(bound), axis=1) / least, MILLIONS) + beyond
        return min(_log_of_either(*each) for each in zip(near.tolist(), far.tolist(), strict=True))


def _log_of_either(near: float, far: float) -> float:
    """log(1 + near) or log far: 1 + E[expm1 U] is sharp where phi is close to 1, E[exp U] where it is small."""
    if not (math.isfinite(near) and math.isfinite(far)):
        return 0.0
    near = round_down(math.log1p(near), MILLIONS) if near < 0.0 else 0.0
    return min(0.0, near, math.log(max(far, 1e-300)) + DECAY_SLACK)


class CellTable(NamedTuple):
    """Cells in float64: those between edges, and with the two tails after them, both without marks.

    at_edges and middles: log of n g^a, up to a constant, which errs by `at_ends` at the edges. error: of the logs of
    the masses of the cells. slack: of U, for each unit of its parts.
    """

    inner: Cell
    whole: Cell
    at_edges: FloatArray
    middles: FloatArray
    at_ends: FloatArray
    error: FloatArray
    slack: FloatArray


def subsampled_cells(mu: float, odds: float, power: float, edges: FloatArray) -> CellTable | None:
    """Those of one record, with these log odds at 0."""
    left, right = edges[:-1], edges[1:]
    logs = mu * edges + odds
    with np.errstate(over="ignore"):
        share, other = 1.0 / (1.0 + np.exp(-logs)), 1.0 / (1.0 + np.exp(logs))
    parts = abs(mu * edges) + abs(odds) + 0.5 * mu * mu
    if not np.max(parts) < ODDS_MAX:
        return None
    at_edges, middles, scale = _log_densities(mu, odds, power, edges)
    width, largest = right - left, np.maximum(parts[:-1], parts[1:])
    pull = abs(power) * mu * share[1:] * (1.0 + 0.25 * largest)
    error = EXPONENT_ERROR * (np.maximum(scale[:-1], scale[1:]) + (pull + abs(left) + abs(right)) * width)
    whole = DecayCell(
        left=_with_tails(left, -np.inf, edges[-1]),
        right=_with_tails(right, edges[0], np.inf),
        share_left=_with_tails(share[:-1], 0.0, share[-1]),
        share_right=_with_tails(share[1:], share[0], 1.0),
        other_left=_with_tails(other[:-1], 1.0, other[-1]),
        other_right=_with_tails(other[1:], other[0], 0.0),
    )
    slack = DECAY_SLACK + SHARE_ERROR * _with_tails(largest, parts[0], parts[-1])
    inner = DecayCell(left, right, share[:-1], share[1:], other[:-1], other[1:])
    return CellTable(inner, whole, at_edges, middles, EXPONENT_ERROR * scale, error, slack)


def _with_tails(cells: FloatArray, left: float, right: float) -> FloatArray:
    """Values on the cells, and on the two tails after them."""
    values = np.empty(len(cells) + 2)
    values[:-2], values[-2], values[-1] = cells, left, right
    return values


def decay(mu: float, rate: Chance, power: float, marked: SoftWindow = WHOLE) -> FloatDecay | None:
    """The cells for the law with density proportional to n g^power; None where they cannot be trusted."""
    law = likelihood(mu, rate)
    edges: FloatArray = np.array(cell_edges(mu, law, power, marked))
    if edges.size < 2:
        return None
    compute_budget.spend(MARK * len(marked.edges) * edges.size)
    table = law.float_cells(mu, power, edges)
    if table is None:
        return None
    inner = table.inner
    # A mean of hits is known from both sides: for a < 0 the larger one makes the density fall less.
    first = float(inner.share_left[0] if isinstance(inner, DecayCell) else inner.share_right[0])
    slopes = tail_slopes(edges[0], edges[-1], first, mu, power, law.most)
    slopes = slopes if marked is WHOLE else (slopes[0] + marked.slope_left_of(float(edges[0])), 1.0)
    if marked is WHOLE and law.many and not slopes[1] > 1.0:
        slopes = slopes[0], 1.0 / law.beyond(round_up(mu, FEW), power, float(edges[-1]), 0.0)
    if not min(slopes) > 0.0:
        return None
    weights = [_EdgeWeights(edge, edges) for edge in marked.edges]
    top = float(np.max(table.middles + sum(weight.most for weight in weights)))
    at_edges, density = table.at_edges - top, table.middles - top
    low, high = log_masses(_Arrays, inner, (at_edges[:-1], density, at_edges[1:]), mu, power)
    width = edges[1:] - edges[:-1]
    low = low - table.error + sum(weight.least for weight in weights)
    high = high + table.error + sum(weight.most for weight in weights)
    tails = at_edges[[0, -1]] + table.at_ends[[0, -1]] + sum(weight.logs[[0, -1]] for weight in weights)
    with np.errstate(under="ignore", over="ignore"):
        end = 0.0
        if marked is not WHOLE:
            end = (round_up(math.exp(tails[1]), MILLIONS) if tails[1] < LOG_DOUBLE_MAX else math.inf) + 1e-300
        beyond = np.exp(tails) / np.array(slopes) * (1.0 if marked is WHOLE else np.array([1.0, 0.0]))
        least = round_down(np.concatenate([width * np.exp(low), [0.0, 0.0]]), MILLIONS)
        most = round_up(np.concatenate([width * np.exp(high), beyond]), MILLIONS) + 1e-300  # what underflowed
    cells = replace(table.whole, marks=tuple(weight.mark for weight in weights))
    return FloatDecay(mu, power, cells, least, most, table.slack, marked, end)


def _log_densities(
    mu: float, odds: float, power: float, edges: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """a log g - x^2/2 at the edges and in the middle of the cells, up to a constant, and the size of its parts.

    With x0 where the density is large, d = log(g(x)/g(x0)) = log1p(pi0 expm1(mu (x - x0))), or from the other end of
    the share where pi0 > 1/2. It errs by units of |d|, of max(pi, pi0) |mu (x - x0)| and of |pi - pi0| times the log
    odds; a log g by itself would err by units of a log g(x0), which may be far larger than anything that changes.
    """
    points = np.concatenate([edges, 0.5 * (edges[:-1] + edges[1:])])
    plain, bells = np.logaddexp(0.0, mu * points + odds), 0.5 * points * points
    centre = points[np.argmax(power * plain - bells)]
    log0, rise = mu * centre + odds, mu * (points - centre)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if log0 > 0.0:
            ratio = rise + np.log1p(np.expm1(-rise) / (1.0 + np.exp(log0)))
        else:
            ratio = np.log1p(np.expm1(rise) / (1.0 + np.exp(-log0)))
        far = plain - np.logaddexp(0.0, log0)
        ratio = np.where(abs(rise) > RISE_MAX, far, ratio)
        share, share0 = 1.0 / (1.0 + np.exp(-mu * points - odds)), 1.0 / (1.0 + np.exp(-log0))
    logs = power * ratio - bells
    parts = abs(mu * points) + abs(mu * centre) + abs(odds) + 0.5 * mu * mu
    # Far from x0 two logs are subtracted, and each errs on its own.
    moved = np.where(abs(rise) > RISE_MAX, share + 2.0 * share0, abs(share - share0))
    scale = bells + abs(power) * (abs(ratio) + moved * parts + np.maximum(share, share0) * abs(rise))
    count = len(edges)
    at_ends = np.maximum(scale[:count], np.append(scale[count:], 0.0))
    return logs[:count], logs[count:], at_ends


class _EdgeWeights:
    """Logs of the weight of one edge at the ends of the cells, of its least and largest value on each, and its mark.

    On the two tails nothing better is known than that the weight lifts like a bell.
    """

    def __init__(self, edge: Edge, edges: FloatArray) -> None:
        weights, missing = edge.log_sides(edges)
        lower, upper, outside = weights.lower, weights.upper, missing.upper
        self.logs = upper
        self.least = np.minimum(lower[:-1], lower[1:])
        self.most = np.maximum(upper[:-1], upper[1:])
        tails = [np.inf, np.inf]
        log_missing = np.append(np.maximum(outside[:-1], outside[1:]), [0.0, 0.0])
        self.mark = EdgeWeight(edge.width, log_missing, np.append(-self.least, tails))


# The decay bound of decay in balls, cell by cell.
#
# Guarantee: upper, every rounding enclosed. Proof: docs/proofs/contour.md, section 4.

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
