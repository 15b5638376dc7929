"""Pairs of smooth densities, plain or Poisson-sampled in either direction, by Gauss-Legendre rules with proven errors.

M(z) = integral of p e^{z l} over the support. On a cell of width w the rule with n nodes errs by at most
w^(2n+1) n!^4 / ((2n+1) (2n)!^2) times coefficient 2n of the integrand anywhere in the cell, and for |Im z| <= T that is
at most the one of A(y) e^{T B(y)}, where A and B majorise the series of p e^{c l} and of l without its constant.
Sampling changes the functions: for remove log p' = log q + log(1 - r + r e^l) and l' = log(1 - r + r e^l), for add
log p' = log p and l' = -log(1 - r + r e^-l); what lies outside of the support becomes one more atom.
Guarantee: upper error, relative to M(c). Proof: docs/proofs/density.md, section 4.
Reference: Zhu, Dong, Wang 2021, Sec. 4; Davis, Rabinowitz 1984, Sec. 2.7 (error of the rule).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import NamedTuple

from flint import arb, arb_series

from ...numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ...numerics.enclosures import enclosed, exact
from ...numerics.quadrature import BallLaw, EllipseError, QuadratureError, TiltedLaw, rule
from ...numerics.rounding import THOUSANDS, dyadic, round_down
from ...values.errors import UnsupportedMechanism
from ..cgf import LOG_TOLERANCE, CfDecay, Cgf, Cumulants, NoCfDecay, Tilted, point_cumulants
from .density_pair import DensityPair
from .series import DensityCell, Logs, Piece, everywhere, logs, series_arithmetic

# How the transform of a smooth tilted loss falls, proven for all t beyond a radius.
#
# Far out, by parts: with f the tilted density, h_0 = f/l' and h_{j+1} = h_j'/l', the integral of f e^{itl} over a run
# of
# cells with monotone loss is at most sum_{j<n} t^{-j-1} (|h_j| at both ends) + t^{-n} integral |h_n l'|; cells where l'
# vanishes, or which cost more than they hold, count with their mass instead.
# Nearer, by nodes: |phi| changes by at most E|l - m| per unit of t, for any m.
# Near zero, by doubling: 1 - |phi(t)|^2 >= 4^-k (1 - |phi(2^k t)|^2).
# Guarantee: upper, in balls; used for both arithmetics. Proof: docs/proofs/density.md, section 5.
# Reference: Erdelyi 1956, Sec. 2.8 (repeated integration by parts); Lukacs 1970, Thm 4.1.2 (doubling).

PARTS = 6  # how often to integrate by parts
LEFT_OUT = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)  # cells at the ends of a run that count with their mass
CHANGE_MAX, SPLIT_MAX = 0.25, 128  # of log f over a part of a cell; parts of one cell
NEGLIGIBLE = 1e-8  # of all: a cell that holds less is not worth splitting
FAR_BELOW = 0.75  # nodes are looked at until integration by parts says this
FIRST_NODES = 0.006  # distance of the first nodes, in 1/E|l - m|
FINE_NODES, COARSER, COARSE_NODES_MAX = 240, 10, 600  # the first ones end where the coarser ones start
GRID_TOLERANCE = 14.0
GRID_BITS = 64
STEP_BITS = 20
DOUBLINGS_MAX = 40
ROUNDING = 1e-10  # of a running sum of up to 10^5 terms, relative to its last
TIME_MIN, DECAY_UNDERFLOW = 1e-40, 1e-290  # t^-PARTS neither overflows nor, for t below 1e40, vanishes
UP = 1.0 + 1e-9  # outweighs the rounding of sums of thousands of doubles


@dataclass(frozen=True, slots=True)
class CellBound:
    """Upper bounds on one cell: tilted mass, |h_j| for j <= PARTS, integrals of |h_n l'|, and of f |l - m|."""

    mass: float
    sizes: tuple[float, ...]
    integrals: tuple[float, ...]
    spread: float


@dataclass(frozen=True)
class DensityDecay:
    """Polynomials in 1/t that bound |phi| for every t, and bounds on all t from each node on."""

    powers: tuple[tuple[float, ...], ...]
    nodes: tuple[float, ...]
    beyond: tuple[float, ...]  # of |phi| at and after each node

    def log_bound(self, radius: float) -> float:
        """An upper bound of log |phi(t)| for every t >= radius."""
        here, scale, drop = self._beyond(radius), 1.0, 0.0
        for _ in range(DOUBLINGS_MAX):
            size = self._beyond(radius)
            # 1 - size is exact or rounded once, 1 + size once: far less than the factor gives away.
            drop = max(drop, round_down(scale * ((1.0 - size) * (1.0 + size)), THOUSANDS))
            if radius >= self.nodes[-1]:
                break
            radius, scale = 2.0 * radius, scale / 4.0
        with working_precision(GRID_BITS):
            # 1 - drop would be rounded to nearest, which is no bound where drop is a few units.
            return min(upper_float((-arb(drop)).log1p() / 2), upper_float(arb(here).log()))

    def _beyond(self, radius: float) -> float:
        """At or above |phi(t)| for every t >= radius."""
        near = self.beyond[max(bisect.bisect_right(self.nodes, radius) - 1, 0)]
        return min(near, far_bound(self.powers, radius))


def far_bound(powers: tuple[tuple[float, ...], ...], t: float) -> float:
    """The least of the polynomials in 1/t."""
    if not t > TIME_MIN:
        return 1.0
    least = min((math.fsum(c * t**-j for j, c in enumerate(row)) for row in powers), default=1.0)
    return min(least * UP + DECAY_UNDERFLOW, 1.0) if least == least else 1.0


def density_decay(
    law: SmoothLaw, nodes_of: Callable[[float, float, float], BallLaw], tilt: float
) -> DensityDecay | None:
    """The bounds for one tilt; None where nothing falls."""
    plain = nodes_of(tilt, 0.0, GRID_TOLERANCE)
    with series_arithmetic(PARTS + 2):
        shift = plain.log_mgf.mid()
        mgf = (plain.log_mgf - shift).exp()
        middle = sum((loss * weight for loss, weight in zip(plain.losses, plain.weights, strict=True)), arb(0))
        middle = (middle / plain.log_mgf.exp()).mid()
        runs = [
            [bound for cell in run for bound in _cell_bounds(law, cell, tilt, middle, shift)]
            for run in law.pair.analysis.runs
        ]
        atoms = [(atom.mass * (arb(tilt) * atom.loss - shift).exp(), abs(atom.loss - middle)) for atom in law.atoms()]
        extra = math.fsum(upper_float(mass) for mass, _ in atoms)
        least = lower_float(mgf)
        spread = math.fsum(cell.spread for run in runs for cell in run)
        spread += math.fsum(upper_float(mass * distance) for mass, distance in atoms)
    if not (least > 0.0 and 0.0 < spread < math.inf):
        return None
    speed = spread / least * UP
    powers = tuple(
        tuple(value / least * UP for value in row) for row in _options(runs, extra) if all(map(math.isfinite, row))
    )
    return _with_nodes(powers, nodes_of, tilt, speed)


def _with_nodes(
    powers: tuple[tuple[float, ...], ...], nodes_of: Callable[[float, float, float], BallLaw], tilt: float, speed: float
) -> DensityDecay | None:
    """Adds what is known between zero and where integration by parts takes over."""
    fine = dyadic(FIRST_NODES / speed, STEP_BITS)
    coarse, first, count = COARSER * fine, FINE_NODES // COARSER, 8
    while far_bound(powers, coarse * (first + count)) > FAR_BELOW:
        count *= 2
        if count > COARSE_NODES_MAX:
            return None
    last = first + count
    law = nodes_of(tilt, coarse * last, GRID_TOLERANCE)
    times: list[float] = []
    sizes: list[float] = []
    with working_precision(GRID_BITS):
        for step, start, stop in ((fine, 0, FINE_NODES), (coarse, first, last)):
            values = [upper_float(abs(value)) for value in law.phi(step, stop + 1)]
            times += [step * index for index in range(start, stop)]
            sizes += [
                min(1.0, ((values[i] + values[i + 1]) / 2.0 + 0.5 * speed * step) * UP) for i in range(start, stop)
            ]
    beyond = [*sizes, far_bound(powers, coarse * last)]
    for index in range(len(beyond) - 2, -1, -1):
        beyond[index] = max(beyond[index], beyond[index + 1])
    return DensityDecay(powers, (*times, coarse * last), tuple(beyond))


def _cell_bounds(law: SmoothLaw, cell: DensityCell, tilt: float, middle: arb, shift: arb) -> Iterator[CellBound]:
    """Bounds of the cell for f = p e^{c l - shift}, or of its parts where that changes too much for one."""
    length = PARTS + 2
    short = law.sampled(Logs(*(arb_series([series[j] for j in range(length)], length) for series in cell.whole)))
    change = abs(short.log_p[1] + arb(tilt) * short.loss[1]) * cell.width
    parts = min(max(math.ceil(upper_float(change / CHANGE_MAX)), 1), SPLIT_MAX) if change.is_finite() else 1
    if parts == 1 or (short.log_p[0] + arb(tilt) * short.loss[0] - shift).exp() * cell.width < NEGLIGIBLE:
        yield _cell_bound(short, cell.width, tilt, middle, shift)
        return
    piece, step = law.pair.pieces[cell.piece], (cell.high - cell.low) / parts
    ends = [cell.low, *((cell.low + step * index).mid() for index in range(1, parts)), cell.high]
    for low, high in pairwise(ends):
        whole = everywhere(partial(law.at, piece), low, high, length - 1)
        yield _cell_bound(whole, (high - low).upper(), tilt, middle, shift)


def _cell_bound(whole: Logs, width: arb, tilt: float, middle: arb, shift: arb) -> CellBound:
    """All bounds of one cell from its series at the ball of all its points."""
    log_p, loss = whole
    density, slope = (log_p + arb(tilt) * loss - shift).exp(), loss.derivative()
    mass = upper_float(density[0] * width)
    spread = upper_float(density[0] * width * abs(loss[0] - middle))
    if slope[0].contains(0):
        unknown = (math.inf,) * (PARTS + 1)
        return CellBound(mass, unknown, unknown, spread)
    part, sizes, integrals = density / slope, [], []
    for _ in range(PARTS + 1):
        sizes.append(upper_float(abs(part[0])))
        integrals.append(upper_float(abs(part[0] * slope[0]) * width))
        part = part.derivative() / slope
    return CellBound(mass, tuple(sizes), tuple(integrals), spread)


class _Run:
    """The bounds of one run of cells, with sums over any part of it."""

    def __init__(self, cells: list[CellBound]) -> None:
        self.cells = cells
        self._mass = _Running([cell.mass for cell in cells])
        self._integrals = [_Running([cell.integrals[n] for cell in cells]) for n in range(PARTS + 1)]

    def add(self, row: list[float], parts: int, ends: int, others: int) -> None:
        """Adds what is left out to row[0] and the rest to the powers; ends where l' vanishes lose `ends` cells."""
        first, last = (ends if math.isinf(cell.sizes[0]) else others for cell in (self.cells[0], self.cells[-1]))
        stop = len(self.cells) - last
        if first >= stop:
            row[0] += self._mass.over(0, len(self.cells))
            return
        row[0] += self._mass.over(0, first) + self._mass.over(stop, len(self.cells))
        row[parts] += self._integrals[parts].over(first, stop)
        for j in range(parts):
            row[j + 1] += self.cells[first].sizes[j] + self.cells[stop - 1].sizes[j]


class _Running:
    """Sums over ranges from running sums, raised by more than their rounding; infinite terms make a range infinite."""

    def __init__(self, values: list[float]) -> None:
        finite = [value if math.isfinite(value) else 0.0 for value in values]
        self._sums = list(accumulate(finite, initial=0.0))
        self._infinite = list(accumulate((not math.isfinite(value) for value in values), initial=0))

    def over(self, start: int, stop: int) -> float:
        """At or above the sum of values[start:stop]."""
        if self._infinite[stop] > self._infinite[start]:
            return math.inf
        return self._sums[stop] - self._sums[start] + ROUNDING * self._sums[-1] if stop > start else 0.0


def _options(cells: list[list[CellBound]], extra: float) -> list[tuple[float, ...]]:
    """Coefficients of 1, 1/t, 1/t^2, ... for every way to leave cells out and every number of parts."""
    runs, rows = [_Run(cell) for cell in cells], []
    for at_all_ends in (False, True):
        for count in LEFT_OUT:
            for parts in range(1, PARTS + 1):
                row = [extra] + [0.0] * parts
                for run in runs:
                    run.add(row, parts, max(count, 1), count if at_all_ends else 0)
                rows.append(tuple(row))
    return rows


NODES = 16
RULE_DEGREE = 2 * NODES
GROUPS = 240  # points of the plain sums that choose a contour
RULE_CELLS_MAX = 2000
TURNS_PER_NODE = 2.0  # radians of e^{itl} that a node can hold
HALVINGS_MAX = 50
LAWS_KEPT = 32
CELL_SHARE = 256.0  # of the error allowed in all: what one cell may have


Place = tuple[int, int, int]  # which of the 2^depth parts of which run


class Node(NamedTuple):
    """A point of the rule: its weight times the density of P, and its loss."""

    mass: arb
    loss: arb


@dataclass(frozen=True)
class SmoothLaw:
    """The two log densities of one direction: those of the pair, or of its mixture with rate below 1."""

    pair: DensityPair
    rate: float
    sign: int  # 1 for remove, -1 for add

    def at(self, piece: Piece, x: arb, length: int) -> Logs:
        """Series of log p and of the loss at a point or a ball of points."""
        return self.sampled(logs(piece, x, length))

    def sampled(self, given: Logs) -> Logs:
        """What flipping and sampling make of the two series."""
        log_p, loss = given
        if self.pair.flipped:
            log_p, loss = log_p - loss, -loss
        if self.rate == 1.0:
            return Logs(log_p, loss)
        rate = arb(self.rate)
        mixed = (1 - rate + rate * (self.sign * loss).exp()).log()
        return Logs(log_p - loss + mixed, mixed) if self.sign > 0 else Logs(log_p, -mixed)

    def atoms(self) -> list[Node]:
        """What the mass outside of the support becomes: nothing that is finite, unless sampled."""
        if self.rate == 1.0:
            return []
        kept = 1 - arb(self.rate)
        if self.sign > 0:
            return [Node(kept * self.pair.reversed().infinite_mass(), kept.log())]
        return [Node(self.pair.infinite_mass(), -kept.log())]


@dataclass(frozen=True)
class DensityCgf(Cgf):
    """K of a pair of densities, sampled with the given rate; sign 1 for remove, -1 for add."""

    law: SmoothLaw
    _laws: dict[tuple[float, float, float], BallLaw] = field(default_factory=dict, compare=False, repr=False)
    _nodes: dict[Place, list[Node]] = field(default_factory=dict, compare=False, repr=False)
    _wholes: dict[Place, Logs] = field(default_factory=dict, compare=False, repr=False)

    def cumulants(self, tilt: float) -> Cumulants:
        if not self._groups:
            raise UnsupportedMechanism("its two laws have no part in common in float64; try engine='lattice'")
        return point_cumulants(self._groups, tilt)

    @cached_property
    def _groups(self) -> list[tuple[float, float]]:
        """(P-mass, loss) of parts of the support, in plain floats."""
        rate = self.law.rate
        parts = (part for branch in self.law.pair.branches for part in branch.parts(GROUPS))
        points = [(one, two) for one, two in parts if one > 0.0 and two > 0.0]
        if self.law.sign > 0:
            mixed = [((1.0 - rate) * two + rate * one, two) for one, two in points]
        else:
            mixed = [(one, (1.0 - rate) * one + rate * two) for one, two in points]
        return [(one, math.log(one / two)) for one, two in mixed]

    def log_mgf_above(self, tilt: float) -> float:
        law = self.ball_tilted(tilt, 0.0, LOG_TOLERANCE)
        with working_precision(BITS_START):
            return upper_float(law.log_mgf)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        with series_arithmetic(2):
            lowest, highest = self.law.pair.loss_range()
            least = math.ceil(reach * float(highest - lowest) / TURNS_PER_NODE)
        if least > RULE_CELLS_MAX * NODES:
            return least  # too many to be worth listing
        try:
            return len(self.ball_tilted(tilt, reach, log_tolerance).losses)
        except UnsupportedMechanism:
            return RULE_CELLS_MAX * NODES * NODES

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:

        law, centre = self.ball_tilted(tilt, reach, log_tolerance), self.cumulants(tilt).mean
        assert law.error is not None
        with working_precision(BITS_START):
            scale = law.log_mgf.exp().mid()
            return TiltedLaw(
                exact(centre),
                enclosed([law.log_mgf])[0],
                enclosed([loss - arb(centre) for loss in law.losses]),
                enclosed([weight / scale for weight in law.weights]),
                QuadratureError(upper_float(law.error.at(0.0)), ()),
            )

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        return density_decay(self.law, self.ball_tilted, tilt) or NoCfDecay()

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallLaw:
        """The nodes of all cells with their tilted masses, good for transforms up to the reach."""
        key = (tilt, reach, log_tolerance)
        law = self._laws.get(key)  # another thread may empty the dictionary at any time
        if law is None:
            if len(self._laws) >= LAWS_KEPT:
                self._laws.clear()
            with series_arithmetic(RULE_DEGREE + 1):
                law = self._laws[key] = self._made(tilt, reach, log_tolerance)
        return law

    def _made(self, tilt: float, reach: float, log_tolerance: float) -> BallLaw:
        allowed = (arb(self.cumulants(tilt).value) - log_tolerance).exp() / CELL_SHARE
        nodes, error = list(self.law.atoms()), arb(0)
        for number, run in enumerate(self.law.pair.analysis.runs):
            piece = self.law.pair.pieces[run[0].piece]
            waiting = [(run[0].low, run[-1].high, 0, 0)]
            while waiting:
                low, high, depth, place = waiting.pop()
                key = (number, depth, place)
                if key not in self._wholes:
                    self._wholes[key] = everywhere(partial(self.law.at, piece), low, high, RULE_DEGREE)
                missed, kept = _error(self._wholes[key], high - low, tilt, reach, allowed)
                if missed is not None:
                    error += missed
                    nodes += self._rule(key, piece, low, high) if kept else []
                    continue
                if depth > HALVINGS_MAX or len(nodes) > RULE_CELLS_MAX * NODES:
                    raise UnsupportedMechanism("its quadrature needs too many nodes; try engine='lattice'")
                middle = ((low + high) / 2).mid()
                waiting += [(low, middle, depth + 1, 2 * place), (middle, high, depth + 1, 2 * place + 1)]
        losses = tuple(node.loss for node in nodes)
        weights = tuple(node.mass * (arb(tilt) * node.loss).exp() for node in nodes)
        total = sum(weights, arb(0)) + arb(0, 1) * error
        if not total > 0:
            raise UnsupportedMechanism("its quadrature is not precise enough; try engine='lattice'")
        # The error was made for the reach: it is the same at every t up to there.
        return BallLaw(losses, weights, total.log(), EllipseError((error / total).upper(), 0.0))

    def _rule(self, key: Place, piece: Piece, low: arb, high: arb) -> list[Node]:
        """The nodes of one cell; they do not depend on the tilt."""
        if key not in self._nodes:
            middle, found = (low + high) / 2, []
            for offset, weight in rule((high - low) / 2, NODES):
                here = self.law.at(piece, middle + offset, 1)
                found.append(Node(weight * here.log_p[0].exp(), here.loss[0]))
            self._nodes[key] = found
        return self._nodes[key]


def _error(whole: Logs, width: arb, tilt: float, reach: float, allowed: arb) -> tuple[arb | None, bool]:
    """A bound of what the cell misses and whether its nodes are needed; None where it must be halved.

    n nodes miss width^(2n+1) n!^4 / ((2n+1) (2n)!^2) times a Taylor coefficient of degree 2n.
    """
    log, length = whole.log_p + arb(tilt) * whole.loss, RULE_DEGREE + 1
    if not all(log[j].is_finite() and whole.loss[j].is_finite() for j in range(length)):
        return None, True
    density = log.exp()
    mass = (density[0] * width).upper()
    if mass <= allowed:
        return mass, False
    size = arb_series([abs(density[j]).upper() for j in range(length)], length)
    speed = arb_series([arb(0), *(abs(whole.loss[j]).upper() * reach for j in range(1, length))], length)
    constant = arb(math.factorial(NODES)) ** 4 / ((2 * NODES + 1) * arb(math.factorial(2 * NODES)) ** 2)
    missed = ((size * speed.exp())[RULE_DEGREE] * width**length * constant).upper()
    return (missed, True) if missed <= allowed else (None, True)
