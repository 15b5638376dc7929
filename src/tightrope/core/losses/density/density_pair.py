"""Pairs given by two smooth densities.

P has the density e^log_p and Q the density e^log_q on the support, a finite interval or several. What P has outside is
counted as infinite loss and what Q has there as loss -inf: the pair dominates every mechanism whose outputs have these
densities on the support. The loss log_p - log_q is monotone on finitely many branches; all quantities are sums over
them.
Guarantee: exact for this pair; float64 tails to TAIL_ERROR. Proof: docs/proofs/density.md.
Reference: Zhu, Dong, Wang 2021, Def. 7 (dominating pairs).
"""

from __future__ import annotations

import bisect
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb, arb_poly, arb_series

from ...numerics.balls import lower_float, upper_float
from ...numerics.double_double import DoubleDouble
from ...numerics.enclosures import Enclosure, FloatArray, enclosing, falling
from ...numerics.rounding import UNIT
from ...values.question import Direction
from ..operators.registered import sampled_cgf
from ..pair import BallTails, LossRange, Pair, Tails
from .series import DEGREE, FLOAT_DEGREE, Analysis, DensityCell, End, Piece, analyse, series_arithmetic

if TYPE_CHECKING:
    from ..cgf import Cgf


# One run of cells, read by losses: two measures whose loss rises from cell to cell.
#
# Seen from the top of a cell, at distance y with the loss t = top - rise(y): P[l > t] is the mass of the cells above
# plus
# that between, p(y), and with b = e^top Q[l > top] the profile is
# H(e^t) = H(e^top) + b (1 - e^(t - top)) + (p(y) - e^t q(y)):
# three terms that are never negative, the last one a series that starts with y^2. From the bottom likewise for the
# masses
# below.
# In float64 y solves rise(y) = top - t up to a residual r, and the event {above y} is used as it is: P - e^t Q of any
# event is at most H(e^t), and falls short of it by at most e^|r| - 1 times the mass of the cell.
# Guarantee: float64 with the radii stated; balls contain the truth. Proof: docs/proofs/density.md, section 3.

NEWTON_MAX = 40
FINER_PARTS = 100  # quarters of an octave: the last part of a loss range is cut down to 2^-25 of it
HORNER = (2.0 * FLOAT_DEGREE + 10.0) * UNIT  # of the sum of moduli: products, sums, coefficients rounded, and the rest
SUMS = 32.0 * UNIT
RESIDUAL_MAX = 1e-12  # a residual above it makes the profile unknown; relative to the loss
UNDERFLOWN = 1e-318  # what underflow may hide
BRACKETS = (220, 180, 140, 100, 60, 30, 10, 3, -3, -10, -20)  # how close to a root, in bits, a sign is tried
APART = 160  # bits: how far from a boundary a loss can be told from it in any case

IntArray = npt.NDArray[np.int64]


class View(NamedTuple):
    """Cells from their tops (or bottoms) in float64: polynomials in y/width by rows of degrees 1, 2, ..."""

    loss: DoubleDouble
    rise: FloatArray
    rest: FloatArray  # what the rise leaves out
    p: FloatArray
    q: FloatArray
    p_beyond: FloatArray  # masses of the cells above the top (below the bottom)
    q_beyond: FloatArray


class Gap(NamedTuple):
    """For the profile, at the tops: p(y) - e^t q(y) as polynomials, H(e^top), and e^top Q[l > top]."""

    series: FloatArray
    rest: FloatArray
    hockey_stick: FloatArray
    weight: FloatArray
    blur: FloatArray  # the radii of these two as balls
    mass: FloatArray  # P of the cell and its neighbours


@dataclass(frozen=True)
class Branch:
    """A run of cells; flipped: P and Q exchanged, so that losses change their sign."""

    run: tuple[DensityCell, ...]
    flipped: bool

    @cached_property
    def cells(self) -> tuple[DensityCell, ...]:
        """In the order of rising losses."""
        return self.run if self._upright else self.run[::-1]

    @property
    def _upright(self) -> bool:
        """Whether the loss, with its sign, rises from left to right."""
        return self.run[0].rising != self.flipped

    @cached_property
    def bottoms(self) -> tuple[End, ...]:
        """The ends of the lowest loss."""
        return self._oriented([cell.left if self._upright else cell.right for cell in self.cells])

    @cached_property
    def tops(self) -> tuple[End, ...]:
        """The ends of the highest loss."""
        return self._oriented([cell.right if self._upright else cell.left for cell in self.cells])

    def _oriented(self, ends: list[End]) -> tuple[End, ...]:
        with series_arithmetic(FLOAT_DEGREE + 1):  # whoever asks first: even a change of sign rounds
            return tuple(End(-end.loss, end.rise, end.q, end.p) if self.flipped else end for end in ends)

    def masses(self, of: str) -> list[arb]:
        """P or Q of each cell."""
        name = of if not self.flipped else {"p": "q", "q": "p"}[of]
        return [cell.mass(name) for cell in self.cells]

    @cached_property
    def _sums(self) -> list[BallTails]:
        """Masses of all cells above cell i, and of all below it, for every i."""
        with series_arithmetic(FLOAT_DEGREE + 1):
            p, q = self.masses("p"), self.masses("q")
            above = [list(accumulate(reversed(mass[1:]), initial=arb(0)))[::-1] for mass in (p, q)]
            below = [list(accumulate(mass[:-1], initial=arb(0))) for mass in (p, q)]
            return [BallTails(*each) for each in zip(*above, *below, strict=True)]

    def parts(self, count: int) -> list[tuple[float, float]]:
        """(P, Q) between neighbouring losses, in plain floats: count of one width, and ever finer ones at both ends."""
        with series_arithmetic(FLOAT_DEGREE + 1):
            low, high = float(self.bottoms[0].loss), float(self.tops[-1].loss)
            shares = [index / count for index in range(1, count)]
            finer = [2.0 ** (-0.25 * index) / count for index in range(1, FINER_PARTS)]
            cuts = [low + (high - low) * share for share in sorted([*shares, *finer])]
            cuts += [high - (high - low) * share for share in finer[::-1]]
            masses = [self.ball_masses(arb(cut)) for cut in sorted(set(cuts)) if low < cut < high]
            above = [self._total, *((mass.p_above, mass.q_above) for mass in masses), (arb(0), arb(0))]
            return [(float(p - p_next), float(q - q_next)) for (p, q), (p_next, q_next) in pairwise(above)]

    # Balls

    def ball_masses(self, t: arb) -> BallTails:
        """The four masses at t; where t is not one point, or too close to a boundary, the hull of both sides."""
        lower, upper = t.lower(), t.upper()
        if (upper - lower).is_zero() and self._place(lower) is not None:
            return self._exactly(lower)
        ends = [self._exactly(self._moved(lower, -1)), self._exactly(self._moved(upper, 1))]
        return BallTails(*(one.union(two) for one, two in zip(*ends, strict=True)))

    def _moved(self, t: arb, way: int) -> arb:
        """A point at or beyond t that can be told from all boundaries."""
        step = (1 + abs(t)) * arb(2) ** -APART
        while self._place(t) is None:
            t, step = (t + way * step).mid(), 2 * step
        return t

    @cached_property
    def _boundaries(self) -> list[arb]:
        return [end.loss.mid() for end in self.bottoms] + [self.tops[-1].loss.mid()]

    def _place(self, t: arb) -> int | None:
        """The cell whose losses hold t, -1 below all, their number above all; None if that cannot be told."""
        index = bisect.bisect_left(self._boundaries, t) - 1
        above = index < 0 or t > (self.tops[-1] if index == len(self.cells) else self.bottoms[index]).loss
        below = index == len(self.cells) or t < (self.bottoms[0] if index < 0 else self.tops[index]).loss
        return index if above and below else None

    def _exactly(self, t: arb) -> BallTails:
        place = self._place(t)
        assert place is not None
        if place < 0:
            return BallTails(*self._total, arb(0), arb(0))
        if place == len(self.cells):
            return BallTails(arb(0), arb(0), *self._total)
        top, bottom, width = self.tops[place], self.bottoms[place], self.cells[place].width
        down, up = _root(top.rise, top.loss - t, width), _root(bottom.rise, t - bottom.loss, width)
        inside = top.p(down), top.q(down), bottom.p(up), bottom.q(up)
        return BallTails(*(beyond + part for beyond, part in zip(self._sums[place], inside, strict=True)))

    @cached_property
    def _total(self) -> tuple[arb, arb]:
        with series_arithmetic(FLOAT_DEGREE + 1):
            return sum(self.masses("p"), arb(0)), sum(self.masses("q"), arb(0))

    # float64

    def tails(self, t: DoubleDouble) -> list[FloatArray]:
        """The four masses at t, which may be infinite."""
        index, found = self._index(t.hi), []
        for view, sign in ((self._above, -1.0), (self._below, 1.0)):
            with np.errstate(invalid="ignore"):
                distance = sign * (t - view.loss[index]).collapse()
            y = _solved(view.rise, index, np.where(np.isinf(t.hi), sign * t.hi, distance))
            found.append(view.p_beyond[index] + _horner(view.p, index, y))
            found.append(view.q_beyond[index] + _horner(view.q, index, y))
        return found

    def hockey_stick(self, epsilon: FloatArray) -> Enclosure:
        """H(e^epsilon) at finite points."""
        view, gap = self._above, self._gap
        index = self._index(epsilon)
        loss = view.loss[index]
        distance = (loss - DoubleDouble(epsilon, np.zeros_like(epsilon))).collapse()
        y = _solved(view.rise, index, distance)
        reached, between, p = (_horner(rows, index, y) for rows in (view.rise, gap.series, view.p))
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            left = np.maximum(distance - reached, -1.0)  # far above the highest loss nothing is left to be moved
            inner = np.maximum(p - between, 0.0)  # e^t q(y) at the loss t of y
            # H(e^top) + (e^top - e^eps) Q[l > top] + the part of the cell, which is known at t and moved to eps.
            outer, shift = -gap.weight[index] * np.expm1(np.minimum(-distance, 1.0)), -np.expm1(-left)
            value = gap.hockey_stick[index] + outer + between + inner * shift
            size = _horner(abs(gap.series), index, y)
            near = 1e-30 * (abs(loss.hi) + abs(epsilon) + 1.0)
            doubt = (
                HORNER * _horner(abs(view.rise), index, y) + view.rest[index] * y + 8.0 * UNIT * abs(distance) + near
            )
            ends = ((index == 0) & (y == 1.0)) | ((index == len(self.cells) - 1) & (y == 0.0))
            off = np.where(ends, np.where(abs(left) > 2.0 * doubt, 0.0, doubt), doubt + abs(left))
            rounding = (
                gap.blur[index]
                + SUMS * (gap.hockey_stick[index] + abs(outer) + between + inner * abs(shift))
                + near * gap.weight[index] * np.exp(np.minimum(-distance, 0.0))
                + HORNER * (size + (size + _horner(abs(view.p), index, y)) * abs(shift))
                + gap.rest[index] * y * y * (1.0 + abs(shift))
                + inner * np.exp(-left) * doubt
            )
            radius = 1.01 * (gap.mass[index] * np.expm1(off) + rounding) + UNDERFLOWN
            known = np.isfinite(radius) & (off < RESIDUAL_MAX * (1.0 + abs(loss.hi)))
        return Enclosure(np.where(known, value, 0.5), np.where(known, radius, 0.5))

    def _index(self, t: FloatArray) -> IntArray:
        return np.clip(np.searchsorted(self._cuts, t, side="left") - 1, 0, len(self.cells) - 1).astype(np.int64)

    @cached_property
    def _cuts(self) -> FloatArray:
        return np.array([float(loss) for loss in self._boundaries])

    @cached_property
    def _above(self) -> View:
        return self._view(self.tops, [(tails.p_above, tails.q_above) for tails in self._sums])

    @cached_property
    def _below(self) -> View:
        return self._view(self.bottoms, [(tails.p_below, tails.q_below) for tails in self._sums])

    def _view(self, ends: tuple[End, ...], beyond: list[tuple[arb, arb]]) -> View:
        with series_arithmetic(FLOAT_DEGREE + 1):
            widths = [cell.width for cell in self.cells]
            high = [float(end.loss.mid()) for end in ends]
            low = [float((end.loss - rounded).mid()) for end, rounded in zip(ends, high, strict=True)]
            rests = [
                float((abs(cell.whole.loss[FLOAT_DEGREE]) * width**FLOAT_DEGREE).abs_upper()) * 1.01
                for cell, width in zip(self.cells, widths, strict=True)
            ]

            def scaled(polynomials: Iterable[arb_poly], degree: int) -> FloatArray:
                """Coefficients 1, ..., degree for the argument y/width, rounded."""
                rows = [
                    [float((polynomial[j] * width**j).mid()) for j in range(1, degree + 1)]
                    for polynomial, width in zip(polynomials, widths, strict=True)
                ]
                return np.array(rows).T.copy()

            return View(
                DoubleDouble(np.array(high), np.array(low)),
                scaled((end.rise for end in ends), FLOAT_DEGREE - 1),
                np.array(rests),
                scaled((end.p for end in ends), FLOAT_DEGREE),
                scaled((end.q for end in ends), FLOAT_DEGREE),
                np.array([float(p.mid()) for p, _ in beyond]),
                np.array([float(q.mid()) for _, q in beyond]),
            )

    @cached_property
    def _gap(self) -> Gap:
        with series_arithmetic(FLOAT_DEGREE + 1):
            rows, rests, profiles, weights, blurs = [], [], [], [], []
            for cell, end, sums in zip(self.cells, self.tops, self._sums, strict=True):
                length = FLOAT_DEGREE + 1
                p, q, rise = (arb_series(poly.coeffs()[:length], length) for poly in (end.p, end.q, end.rise))
                gap = p - (end.loss - rise).exp() * q
                rows.append([0.0, *(float((gap[j] * cell.width**j).mid()) for j in range(2, FLOAT_DEGREE))])
                rest = self._gap_rest(cell)
                rests.append(float((rest * cell.width**FLOAT_DEGREE).abs_upper()) * 1.01)
                weight = end.loss.exp() * sums.q_above
                profile = sums.p_above - weight
                weights.append(float(weight.mid()))
                profiles.append(float(profile.mid()))
                blurs.append(1.01 * float(profile.rad() + weight.rad()))
            columns = (rests, profiles, weights, blurs, self._masses_near())
            return Gap(np.array(rows).T.copy(), *(np.array(column) for column in columns))

    def _masses_near(self) -> list[float]:
        """P of each cell and of all whose losses are RESIDUAL_MAX to its own."""
        masses = [float(mass.mid()) for mass in self.masses("p")]
        room = RESIDUAL_MAX * (1.0 + abs(self._cuts))
        first = np.maximum(np.searchsorted(self._cuts, self._cuts[:-1] - room[:-1]) - 1, 0)
        last = np.searchsorted(self._cuts, self._cuts[1:] + room[1:])
        return [1.01 * math.fsum(masses[start:stop]) for start, stop in zip(first, last, strict=True)]

    def _gap_rest(self, cell: DensityCell) -> arb:
        """Coefficient FLOAT_DEGREE of p(y) - e^t q(y) at every distance y from the top."""
        way = -1 if self._upright else 1
        log_p, loss = (
            arb_series([way**j * series[j] for j in range(FLOAT_DEGREE + 1)], FLOAT_DEGREE + 1) for series in cell.whole
        )
        if self.flipped:
            log_p, loss = log_p - loss, -loss
        masses = []
        for density in (log_p.exp(), (log_p - loss).exp()):
            rest = [density[j - 1] / j for j in range(1, FLOAT_DEGREE + 1)]
            masses.append(arb_series([arb(0).union(density[0] * cell.width), *rest], FLOAT_DEGREE + 1))
        value: arb = (masses[0] - loss.exp() * masses[1])[FLOAT_DEGREE]
        return value


def _root(rise: arb_poly, distance: arb, width: arb) -> arb:
    """A ball around the y in [0, width] with rise(y) = distance, which is known to exist; rise grows."""
    slope, goal = rise.derivative(), distance.mid()
    guess = (goal / slope(arb(0)).mid()).mid() if slope(arb(0)) > 0 else arb.nan()
    y = guess if guess > 0 and guess < width else width / 2
    low, high = arb(0), width
    for _ in range(NEWTON_MAX):
        excess = rise(y).mid() - goal
        low, high = (low, y) if excess > 0 else (y, high)
        following = (y - excess / slope(y).mid()).mid() if not slope(y).mid().is_zero() else arb.nan()
        if following > high and high is width:
            following = width
        elif not (following >= low and following <= high):
            following = ((low + high) / 2).mid()
        if abs(following - y) <= abs(y) * arb(2) ** -240:
            break
        y = following
    trials = [arb(2) ** -bits for bits in BRACKETS]
    before = next((x for x in ((y * (1 - share)).mid() for share in trials) if rise(x) <= distance), arb(0))
    after = next((x for x in ((y * (1 + share)).mid() for share in trials) if x < width and rise(x) >= distance), width)
    return before.union(after)


def _horner(rows: FloatArray, index: IntArray, y: FloatArray) -> FloatArray:
    """y (c_1 + y (c_2 + ...)) with the coefficients of each one's cell."""
    total = np.zeros_like(y)
    for row in rows[::-1]:
        total = (total + row[index]) * y
    return total


def _solved(rise: FloatArray, index: IntArray, distance: FloatArray) -> FloatArray:
    """The y in [0, 1] where the rise reaches the distance, nearly; 0 or 1 where it lies beyond."""
    whole = np.sum(rise, axis=0)[index]
    with np.errstate(all="ignore"):
        share = np.clip(np.nan_to_num(distance / whole, posinf=1.0, neginf=0.0), 0.0, 1.0)
        y = np.where(abs(rise[0][index]) > 0.1 * whole, share, np.sqrt(share))
        low, high = np.zeros_like(y), np.ones_like(y)
        slopes = rise * np.arange(1, len(rise) + 1)[:, None]
        for _ in range(NEWTON_MAX):
            excess = _horner(rise, index, y) - distance
            slope = _horner(slopes, index, y) / y
            low, high = np.where(excess < 0.0, y, low), np.where(excess > 0.0, y, high)
            following = y - excess / slope
            following = np.where((following >= low) & (following <= high), following, 0.5 * (low + high))
            following = np.where((share <= 0.0) | (share >= 1.0), share, following)
            settled = np.max(abs(following - y) - 4.0 * UNIT * y, initial=-1.0) <= 0.0
            y = following
            if settled:
                break
    return np.asarray(np.where(np.isnan(y), share, y))


@dataclass(frozen=True)
class DensityPair(Pair):
    """The pieces of the support with their functions; flipped: P and Q exchanged."""

    pieces: tuple[Piece, ...]
    flipped: bool
    analysis: Analysis = field(compare=False, repr=False)
    _cgfs: dict[tuple[float, int], Cgf] = field(default_factory=dict, compare=False, repr=False)

    def tails(self, t: DoubleDouble) -> Tails:
        shape = np.shape(t.hi)
        t = DoubleDouble(np.atleast_1d(t.hi).ravel(), np.atleast_1d(t.lo).ravel())
        parts = [branch.tails(t) for branch in self.branches]
        p_above, q_above, p_below, q_below = (np.sum([part[i] for part in parts], axis=0) for i in range(4))
        # At or below the truth: an event that lacks a little of an atom is still an event.
        infinite, hidden = (max(lower_float(mass), 0.0) for mass in (self.infinite_mass(), self._hidden()))
        found = (p_above + infinite, q_above, p_below, q_below + hidden)
        return Tails(*(np.minimum(each, 1.0).reshape(shape) for each in found))

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        return falling(self._hockey_stick_ends, epsilon)

    def _hockey_stick_ends(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        mass = self.infinite_mass()
        leaked = enclosing(max(lower_float(mass), 0.0), upper_float(mass))
        enclosure = reduce(operator.add, [branch.hockey_stick(points) for branch in self.branches])
        enclosure = enclosing(enclosure.lower, enclosure.upper) + leaked
        return enclosure.lower, enclosure.upper

    def ball_tails(self, t: arb) -> BallTails:
        with series_arithmetic(DEGREE + 1):
            if t.is_nan():
                return BallTails(*(arb(0).union(arb(1)) for _ in range(4)))
            parts = [branch.ball_masses(t) for branch in self.branches]
            p_above, q_above, p_below, q_below = (sum((part[i] for part in parts), arb(0)) for i in range(4))
            return BallTails(p_above + self.infinite_mass(), q_above, p_below, q_below + self._hidden())

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        tails = self.ball_tails(epsilon)
        with series_arithmetic(DEGREE + 1):
            value: arb = tails.p_above - epsilon.exp() * tails.q_above if not tails.q_above.is_zero() else tails.p_above
            return value

    def reversed(self) -> DensityPair:
        return self._mirror

    @cached_property
    def _mirror(self) -> DensityPair:
        made = DensityPair(self.pieces, not self.flipped, self.analysis)
        made.__dict__["_mirror"] = self  # so that what was prepared for either is kept
        return made

    def infinite_mass(self) -> arb:
        return self.analysis.outside_q if self.flipped else self.analysis.outside_p

    def _hidden(self) -> arb:
        """Q where P is not known to live."""
        return self.analysis.outside_p if self.flipped else self.analysis.outside_q

    def loss_range(self) -> LossRange:
        with series_arithmetic(DEGREE + 1):
            lowest, highest = arb.pos_inf(), arb.neg_inf()
            for branch in self.branches:
                lowest, highest = lowest.min(branch.bottoms[0].loss), highest.max(branch.tops[-1].loss)
            return LossRange(lowest, highest)

    def cgf(self) -> Cgf:
        return self.cgf_of_sample(1.0, Direction.REMOVE)

    def cgf_of_sample(self, rate: float, direction: Direction) -> Cgf:
        """Made once: the series of its cells serve all questions."""
        from .density_cgf import DensityCgf, SmoothLaw

        law = SmoothLaw(self, rate, 1 if direction is Direction.REMOVE else -1)
        return self._cgfs.setdefault((rate, law.sign), DensityCgf(law))

    @cached_property
    def branches(self) -> Sequence[Branch]:
        """Runs of cells with rising losses."""
        return tuple(Branch(run, self.flipped) for run in self.analysis.runs)


sampled_cgf.register(DensityPair)(DensityPair.cgf_of_sample)


def density_pair(pieces: tuple[Piece, ...]) -> DensityPair:
    """The pair of these densities; what is wrong with them is raised here."""
    return DensityPair(pieces, False, analyse(pieces))
