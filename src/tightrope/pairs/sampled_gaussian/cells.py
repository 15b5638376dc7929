"""Where to cut the line for the decay bound of decay: few cells, fine where they must be.

A cell must be short where the share of the shifted component, the weight of a window or the density change and there
is mass; U is then known to a few per cent. Where the density is low, all may be coarser; where even e^U cannot make up
for that, nothing matters. So the number of cells stays below CELLS_MAX for every shift, rate and power.
Plain floats: every list of rising edges gives a valid bound, the choice costs sharpness only.
"""

from __future__ import annotations

import math

from ... import compute_budget
from .grid import window
from .likelihood import Chance, Likelihood, likelihood
from .window import WHOLE, SoftWindow, log_phi

CELL_RISE = 0.06  # change of the log odds over a cell
CELL_WIDTH = 0.125
CELLS_MAX = 3000  # more take longer than any other engine
EVEN_MAX = 600  # up to so many, cells of two widths are as good as any
PLAIN_MAX = 1500  # the same without a window: their edges take no time
CELL_TOLERANCE = 45.0  # mass beyond the cells, about e^-45
EDGE_REACH, EDGE_CELLS = 14.0, 2.0  # in widths of an edge: where its cells are fine, and how fine
SATURATED = 12.0  # log odds from which on the share is nearly one
UNSEEN = -700.0  # log odds below which the share is nothing
DEEP, DEEPER, STEEP_EDGE = -45.0, 32.0, 2.0  # log odds from where on a steep share may change more, the lower the more
FINENESS = 15.0  # in e-folds of missing mass: how fast cells may grow
SHARE_RISE_MAX = 0.3  # U stays negative with such cells
LIFT_MAX = 600.0
EDGE_WORK, SPENT_AT_ONCE = 1e4, 256  # units of work for a cell
PEAK_STEP, PEAKS_MAX = 0.5, 400  # of mu x: where a highest density is looked for
STEADY_MAX = 8.0  # times as long cells, where the hits are many and known
SHORTEST = 1e-12  # of the whole range: no cell is shorter


def cell_edges(mu: float, rate: Chance, power: float, marked: SoftWindow = WHOLE) -> list[float]:
    """Ends of the cells, rising; fewer than two where they would be too many."""
    law = likelihood(mu, rate)
    low, high = window(mu, law, power, math.sqrt(2.0 * CELL_TOLERANCE))
    saturated = law.place_of_odds(SATURATED)
    # For a < 0 the bound of U is poor on a cell with all shares in it, so no such cell is left to the right.
    high = max(high, saturated) if power < 0.0 else high
    low = max([low, *(min(edge.at - EDGE_REACH * edge.width, marked.start) for edge in marked.edges if edge.side > 0)])
    high = marked.end if marked.end < math.inf else high
    if not (math.isfinite(low) and math.isfinite(high)):
        return []
    if law.many:
        return _walked(law, power, marked, low, high)
    fine = min(CELL_WIDTH, CELL_RISE / mu)
    even = max(0.0, min(high, saturated) - low) / fine + max(0.0, high - max(low, saturated)) / CELL_WIDTH
    if even <= PLAIN_MAX and not marked.edges and marked.end == math.inf:
        return _plain(low, high, fine, saturated)

    def even_width(x: float) -> float:
        return min(fine if x < saturated else CELL_WIDTH, _near_edges(marked, x))

    width = even_width if even <= EVEN_MAX else _Graded(law, power, marked).width
    edges = [low]
    while edges[-1] < high and len(edges) <= CELLS_MAX:
        if len(edges) % SPENT_AT_ONCE == 0:
            compute_budget.spend(EDGE_WORK * SPENT_AT_ONCE)
        following = edges[-1] + max(width(edges[-1]), SHORTEST * (abs(low) + abs(high)))
        edges.append(following)
    if len(edges) > CELLS_MAX:
        return []
    if marked.end < math.inf:
        edges[-1] = marked.end
    return edges


def _walked(law: Likelihood, power: float, marked: SoftWindow, low: float, high: float) -> list[float]:
    """Of many hits: cells on which their mean changes by CELL_RISE of itself, longer where there is no mass."""
    coarse = max(min(PEAK_STEP / law.mu, 1.0), (high - low) / PEAKS_MAX)
    places = [coarse * index for index in range(math.floor(low / coarse), math.ceil(high / coarse) + 1)]
    top = max(law.log_density(power, x) + marked.log_weight(x) for x in places)
    edges = [low]
    while edges[-1] < high and len(edges) <= CELLS_MAX:
        if len(edges) % SPENT_AT_ONCE == 0:
            compute_budget.spend(EDGE_WORK * SPENT_AT_ONCE)
        x = edges[-1]
        log, share, variance = law.plain_point(x)
        missing = top - (power * log - 0.5 * x * x + marked.log_weight(x))
        ease = 1.0 + max(0.0, missing) / FINENESS
        rise = CELL_RISE * ease * max(1.0, min(share / max(variance, 1e-9), STEADY_MAX))
        width = min(CELL_WIDTH * ease, max(rise, CELL_RISE) / law.mu, _near_edges(marked, x))
        edges.append(x + max(width, SHORTEST * (abs(low) + abs(high))))
    if len(edges) > CELLS_MAX:
        return []
    if marked.end < math.inf:
        edges[-1] = marked.end
    return edges


def _plain(low: float, high: float, fine: float, saturated: float) -> list[float]:
    """Even cells up to where the share is nearly one, and beyond, until the end is reached."""
    first = math.ceil(max(min(high, saturated) - low, 0.0) / fine)
    edges = [low + fine * index for index in range(first + 1)]
    more = math.ceil(max(high - edges[-1], 0.0) / CELL_WIDTH)
    return edges + [edges[-1] + CELL_WIDTH * index for index in range(1, more + 1)]


class _Graded:
    """Cells as long as their mass allows, found by doubling and halving."""

    def __init__(self, law: Likelihood, power: float, marked: SoftWindow) -> None:
        mu = law.mu
        self.mu, self.law, self.power, self.marked = mu, law, power, marked
        self.lift = min(LIFT_MAX, 60.0 + 0.6 / mu / mu + 40.0 * len(marked.edges))
        self.last = CELL_WIDTH
        if power < 0.0:
            peaks = [law.mode(power), 0.0]
        else:
            # The iteration x -> a mu pi(x) falls to the upper mode, and rises to the lower one.
            peaks = [power * mu * law.most, 0.0]
            for _ in range(60):
                peaks = [power * mu * law.share(x) for x in peaks]
        peaks += [edge.at + 2.0 * edge.side * edge.width for edge in marked.edges]
        # The largest value of the log density, or one that is not far below.
        self.top = max(self.log_density(min(x, marked.end)) for x in peaks)

    def log_density(self, x: float) -> float:
        """log of n g^a and the weight."""
        return self.law.log_density(self.power, x) + self.marked.log_weight(x)

    def width(self, x: float) -> float:
        """A length of the cell from x on."""
        wide = 4.0 * self.last
        for _ in range(60):
            if wide <= self.allowed(x, wide):
                break
            wide *= 0.5
        self.last = wide
        return wide

    def allowed(self, x: float, wide: float) -> float:
        """How long a cell from x on may be that is as heavy as the one of this length."""
        missing = self.top - self.log_mass(x, x + wide)
        if missing > CELL_TOLERANCE + self.lift and self.power >= 0.0:
            return math.inf
        ease = 1.0 + max(0.0, missing) / FINENESS
        width = min(CELL_WIDTH * ease, _near_edges(self.marked, x), _near_edges(self.marked, x + wide))
        first, last = self.law.log_odds(x), self.law.log_odds(x + wide)
        if first > SATURATED or last < UNSEEN:
            return width
        rise = min(CELL_RISE * ease, SHARE_RISE_MAX)
        if last < DEEP:
            steep = 4.0 if missing > 2.0 * CELL_TOLERANCE else min(max(self.mu - STEEP_EDGE, 0.0), 4.0)
            rise += (DEEP - last) / DEEPER * steep
        return min(width, rise / self.mu)

    def log_mass(self, left: float, right: float) -> float:
        """log of about the largest mass of a cell, as decay bounds it."""
        wide, pull = right - left, self.power * self.mu
        first, last = self.law.share(left), self.law.share(right)
        least, most = (first, last) if self.power >= 0.0 else (last, first)
        lowest, highest = least * pull - right, most * pull - left
        weight = sum(max(log_phi(edge.distance(left)), log_phi(edge.distance(right))) for edge in self.marked.edges)
        from_left = self.law.log_density(self.power, left) + max(highest, 0.0) * wide
        from_right = self.law.log_density(self.power, right) - min(lowest, 0.0) * wide
        return min(from_left, from_right) + weight


def _near_edges(marked: SoftWindow, x: float) -> float:
    """How long a cell at x may be for the edges of a window; before one, up to where its cells are fine."""
    width = math.inf
    for edge in marked.edges:
        away = abs(edge.distance(x)) - EDGE_REACH
        if away < 0.0:
            width = min(width, edge.width / EDGE_CELLS)
        elif x < edge.at:
            width = min(width, edge.width * (away + 1.0 / EDGE_CELLS))
    return width
