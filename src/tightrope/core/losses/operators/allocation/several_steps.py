"""The pair of a record that takes part in k of t steps of Gaussian noise, all sets of k steps alike, 1 < k < t.

L = e_k(Y_1, ..., Y_t)/C(t, k), the mean of the products over all k-sets, Y_i = dP/dQ of step i under Q;
    REMOVE   H(a) = E(L - a)_+          ADD   H(a) = E(1 - a L)_+
Below, a sum of labels alone: a real run shows it, and its two laws are those of a finite pair. Above, chords of bounds
of the profile by the moments of L given that sum (statistic.py), or the product of k blocks with one use each, where
these say little. In balls, what the first step shows, and k uses of the base: wide, and proven.
Guarantee: `between` is lower and upper. Proof: docs/proofs/allocation.md, sections 10 to 14.
Reference: ours; blocks: docs/proofs/allocation.md, section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np
from flint import arb

from ....numerics.balls import BITS_START, working_precision
from ....numerics.counting import coverings_most
from ....numerics.enclosures import FloatArray
from ....values import compute_budget
from ....values.errors import UnsupportedMechanism
from ....values.question import Direction
from ...capabilities import Moments, Resolution
from ...cgf import cumulant_above
from ...pair import LossRange, Pair
from ..extremes import LeastPair
from ..poisson import poisson_pair, rate_ends
from ..polygon import above, below
from ..product import product_pair
from ..registered import has_bracket_only, hidden_participation, normal_shift, simpler_ends
from .allocated import allocated_pair
from .statistic import Conditional, Labels, SeveralSteps, SumWindow, point_row, values_of

# Which statistic tells most of k of t steps: found in plain numbers, by what its sums alone show.
#
# Nothing here is certified, and no bound rests on it: any labels and any window are valid.

LABEL_REACH = 12.0  # standard deviations of a step, on either side of both laws
GRID_POINTS = 2401
LABEL_SKETCH_CELLS, SKETCH_MIN = 1 << 11, 64  # of a sketch, and of those the least that have digits
SKETCH_INSIDE = 0.9  # of its largest loss: what counts must have digits
CELLS_PER_ROOT = 16, 64  # of the number of steps, in a sketch and at last: labels of many steps are small
SKETCH_UNITS = 500.0  # of work: one cell of one tilt of one statistic looked at
LABEL_TRIES = 20
LABEL_STRIDE, STRIDE_MIN = 0.4, 0.03
COMPASS = ((-1.0, 1.0), (1.0, -1.0), (0.5, 0.5), (-0.5, -0.5))  # of log x and log(1 + c): along the ridge, and across
LABEL_START = (0.3, 1.5)  # x/(k/(t - k)) and c
LABEL_DEEP = 1e-11  # of the tilted laws: what may lie outside of the window
TILT_STRIDE, MU_SMALL = 0.5, 0.5  # between tilts, in slopes; the mu below which a deviation of T may be more
TILTS_MAX = 9
SKETCH_STRIDE = 1.8  # of these, in a sketch
TILT_SHARE = 0.8  # of the tilt that counts: one before it reaches as far
DEPTHS = (3, 4, 5, 6, 8, 11, 16, 24)  # tilts of a sketch
EVENT_MIN, DELTA_USUAL = 1e-280, 1e-5
COMMON_DELTA = 0.5  # of the total variation: a delta that is not far out
FEW_BITS = 12
FEW_USES = 32


class SingleAim(NamedTuple):
    """What counts: a delta, or else an epsilon, of one use."""

    delta: float | None
    epsilon: float | None


def aims_of(delta: float | None, epsilon: float | None, uses: int) -> tuple[SingleAim, ...]:
    """What counts where so much is asked of so many uses together.

    Of a few each may have its share of the loss, or one nearly all of it.
    """
    shares = (1.0 / uses, 0.5 + 0.5 / uses, 1.0) if 1 < uses <= FEW_USES else (1.0 / uses,)
    if epsilon is not None:
        return tuple(SingleAim(None, epsilon * share) for share in shares)
    return tuple(SingleAim((delta or DELTA_USUAL) ** share, None) for share in shares)


class LabelShape(NamedTuple):
    """x and c of the labels, the loss that counts, the value of T that it has, and about d log L/dT there."""

    x: float
    c: float
    near: float
    total: float
    slope: float


class LabelSketch(NamedTuple):
    """Values of T, about their masses under the first law and the second, and the losses, where these have digits."""

    total: FloatArray
    first: FloatArray
    second: FloatArray
    loss: FloatArray


class Chooser:
    """Statistics of k of t steps at mu, for one direction."""

    def __init__(self, mu: float, steps: int, uses: int, direction: Direction) -> None:
        self.mu, self.steps, self.uses = mu, steps, uses
        self.removed = direction is Direction.REMOVE
        self.odds = uses / (steps - uses)
        self.z = np.linspace(-LABEL_REACH, mu * 2.0 + LABEL_REACH, GRID_POINTS)
        self.log_ratio = mu * self.z - mu * mu / 2.0
        weight = np.exp(-0.5 * self.z**2)
        self.weight = weight / weight.sum()

    def shape(self, wanted: SingleAim) -> LabelShape:
        """The statistic that shows most where a record is removed, at the loss where this much is shown.

        Where one is added the same: what tells low ratios best has wide laws of L far above them.
        """
        found = (math.log(LABEL_START[0]), math.log1p(LABEL_START[1]))
        depth, law = self._deep(found, wanted, removed=True)
        near = self._near(law, wanted)
        best, stride = _shown(law, near), LABEL_STRIDE
        for _ in range(LABEL_TRIES):
            tries = [(found[0] + stride * u, found[1] + stride * v) for u, v in COMPASS]
            values = [_shown(self._at(attempt, depth, True), near) if attempt[1] >= 0.0 else 0.0 for attempt in tries]
            most = max(values)
            if most > best:
                best, found = most, tries[values.index(most)]
            elif stride > STRIDE_MIN:
                stride *= 0.5
            else:
                break
        _, law = self._deep(found, wanted, self.removed)
        near = self._near(law, wanted)
        at = int(np.argmin(abs(law.loss - near))) if law.loss.size else 0
        total = float(law.total[at]) if law.loss.size else 0.0
        return LabelShape(self.odds * math.exp(found[0]), math.expm1(found[1]), near, total, _slope(law, at))

    def _deep(self, place: tuple[float, float], wanted: SingleAim, removed: bool) -> tuple[int, LabelSketch]:
        """So many tilts that what counts has digits."""
        for depth in DEPTHS:
            law = self._at(place, depth, removed)
            if law.loss.size > SKETCH_MIN and self._near(law, wanted) < SKETCH_INSIDE * float(law.loss.max()):
                break
        return depth, law

    def cells(self, least: int, per_root: int = CELLS_PER_ROOT[1]) -> int:
        """A power of two."""
        return max(least, 1 << math.ceil(math.log2(per_root * math.sqrt(self.steps))))

    def placed(self, shape: LabelShape, least: int, tail: float) -> tuple[Labels, SumWindow]:
        """Labels and a window with so many cells, or more."""
        cells = self.cells(least)
        label = self._label(shape.x, shape.c)
        end = TILT_SHARE * self._tilt(label, shape.total)
        stride = self._stride(label, shape.slope)
        first_tilt, last_tilt = min(0.0, end), max(shape.slope, end)
        count = min(max(math.ceil((last_tilt - first_tilt) / stride), 1), TILTS_MAX)
        row = np.linspace(first_tilt, last_tilt, count + 1).tolist()
        low, high = self._ends(label, row[0], row[-1], stride)
        step = _few_bits((high - low) / (cells - 4))
        top = min(self.mu + math.sqrt(-2.0 * math.log(tail)) + 2.0, float(self.z[-1]))
        first = round(float(label[0]) / step)
        last = min(round(float(np.interp(top, self.z, label)) / step), first + cells - 2)
        points = np.interp((np.arange(first, last) + 0.5) * step, label, self.z)
        highest = min(top, float(np.interp((last + 0.5) * step, label, self.z)))
        points = np.maximum.accumulate(points)
        points = np.concatenate([[-np.inf], points[points < highest], [highest]])
        window = SumWindow(
            math.floor(low / step), cells, tuple(step * each for each in row), shape.slope * step, stride * step
        )
        return Labels(points, first, step, shape.x), window

    def _at(self, place: tuple[float, float], depth: int, removed: bool) -> LabelSketch:
        return self._sketch(self.odds * math.exp(place[0]), math.expm1(place[1]), depth, removed)

    def _sketch(self, x: float, c: float, depth: int, removed: bool) -> LabelSketch:
        """By plain transforms, each value from the tilt where it has most digits."""
        cells = self.cells(LABEL_SKETCH_CELLS, CELLS_PER_ROOT[0])
        compute_budget.spend(SKETCH_UNITS * depth * cells)
        label = self._label(x, c)
        stride = SKETCH_STRIDE * self._stride(label, 1.0 / (1.0 + c / 2.0)) * (1.0 if removed else -1.0)
        tilts = [stride * index for index in range(depth)]
        low, high = self._ends(label, min(tilts), max(tilts), abs(stride))
        step = (high - low) / cells
        index = np.rint(label / step).astype(np.int64)
        start = math.floor(low / step)
        n = start + np.arange(cells)
        moved = (self.weight, self.weight * np.exp(self.log_ratio))
        best, radius = np.zeros((2, cells)), np.full((2, cells), np.inf)
        with np.errstate(all="ignore"):
            for tilt in tilts:
                power = np.exp(tilt * step * (index - index[0]))
                rows = [np.bincount(index % cells, each * power, cells) for each in moved]
                sums = [float(row.sum()) for row in rows]
                waves = [np.log(np.fft.rfft(row / total)) for row, total in zip(rows, sums, strict=True)]
                for side, taken in enumerate((0, self.uses)):
                    made = np.fft.irfft(np.exp((self.steps - taken) * waves[0] + taken * waves[1]), cells)
                    logs = (self.steps - taken) * math.log(sums[0]) + taken * math.log(sums[1])
                    scale = np.exp(logs - tilt * step * (n - self.steps * float(index[0])))
                    closer = scale < radius[side]
                    values = np.where(np.roll(made, -start % cells) > 1e-11, 1.0, 0.0) * scale
                    best[side] = np.where(closer, np.roll(made, -start % cells) * values, best[side])
                    radius[side] = np.where(closer, scale, radius[side])
            q, p = best
            known = (q > 0.0) & (p > 0.0) & np.isfinite(q) & np.isfinite(p)
            loss = np.log(p[known] / q[known])
        first, second = (p, q) if removed else (q, p)
        total = np.asarray(n[known] * step, dtype=np.float64)
        return LabelSketch(total, first[known], second[known], loss if removed else -loss)

    def _label(self, x: float, c: float) -> FloatArray:
        """log(1 + x Y) + c x Y/(1 + x Y), at the points of the grid."""
        log_x = self.log_ratio + math.log(x)
        return np.logaddexp(0.0, log_x) + c / (1.0 + np.exp(-log_x))

    def _near(self, law: LabelSketch, wanted: SingleAim) -> float:
        """The loss that counts; 0 where so much delta is common."""
        if wanted.epsilon is not None:
            return min(wanted.epsilon, 500.0)
        delta = max(wanted.delta or DELTA_USUAL, EVENT_MIN)
        if delta > COMMON_DELTA * _shown(law, 0.0):
            return 0.0
        low, high = -50.0, 500.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if _shown(law, middle) > delta else (low, middle)
        return low

    def _tilt(self, label: FloatArray, total: float) -> float:
        """The tilt of Q at which T has this mean."""
        low, high = -1.0, 1.0
        while self._moments(label, low)[0] > total and low > -1e6:
            low *= 2.0
        while self._moments(label, high)[0] < total and high < 1e6:
            high *= 2.0
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._moments(label, middle)[0] < total else (low, middle)
        return low

    def _stride(self, label: FloatArray, slope: float) -> float:
        """Between two tilts, so that each value has digits in one of them: a few hits of much noise move by part of mu,
        a sum of many small ratios by a deviation."""
        stride = TILT_STRIDE * slope * max(1.0, 1.0 / self.mu)
        if self.mu > MU_SMALL:
            return stride
        return max(stride, 1.0 / max(self._moments(label, 0.0)[1], 1e-9))

    def _moments(self, label: FloatArray, tilt: float) -> tuple[float, float]:
        """Mean and standard deviation of T under Q, tilted."""
        power = self.weight * np.exp(np.clip(tilt * (label - label[0]), -600.0, 600.0))
        power /= power.sum()
        mean = float(power @ label)
        return self.steps * mean, math.sqrt(self.steps * max(float(power @ (label - mean) ** 2), 0.0))

    def _log(self, label: FloatArray, tilt: float) -> float:
        """log E_Q e^(tilt T)."""
        top = float(np.max(tilt * label))
        return self.steps * (top + math.log(float(self.weight @ np.exp(tilt * label - top))))

    def _ends(self, label: FloatArray, low: float, high: float, unit: float) -> tuple[float, float]:
        """Where T lies under all of these tilts but for next to nothing, by Chernoff."""
        ends = []
        for tilt, side in ((low, -1.0), (high, 1.0)):
            base = self._log(label, tilt)
            tries = [
                (self._log(label, tilt + side * each) - base - math.log(LABEL_DEEP)) / each
                for each in (unit * np.geomspace(0.1, 32.0, 30)).tolist()
            ]
            ends.append(side * min(tries))
        return ends[0], ends[1]


def _shown(law: LabelSketch, near: float) -> float:
    """H at the loss, of T alone."""
    return float(np.maximum(law.first - math.exp(near) * law.second, 0.0).sum())


def _slope(law: LabelSketch, at: int) -> float:
    """About d log L/dT where the loss has this place."""
    left, right = max(at - len(law.loss) // 8, 0), min(at + len(law.loss) // 8, len(law.loss) - 1)
    if left >= right:
        return 0.5
    value = abs(float((law.loss[right] - law.loss[left]) / (law.total[right] - law.total[left])))
    return min(max(value, 0.02), 1.5)


def _few_bits(step: float) -> float:
    """A little above, with so few bits that multiples of it are doubles."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(math.ldexp(mantissa, FEW_BITS)), exponent - FEW_BITS)


SETS_STEPS_MAX = 1 << 17
MU_MIN, MU_MAX = 1e-3, 6.0
SETS_USES_MAX = 256


class Grade(NamedTuple):
    """Cells of the statistic, and points of the profile above."""

    cells: int
    points: int


COARSE_GRADE, FULL_GRADE = Grade(1 << 12, 256), Grade(1 << 14, 1024)
COARSE_POINTS = 512  # up to so many, the coarse one
COVERINGS_MAX = 3000  # of four sets
SETS_TAIL_SHARE = 1e-3  # of the tail that may be lost: for what lies beyond the last point
SETS_APART = 0.05  # losses that count: nearer ones have one statistic
SETS_NARROW = 1.05  # delta above over that below, for one use: blocks would say more next to never


@dataclass(frozen=True)
class SeveralPair(Pair):
    """So many uses of so many steps; the base is the pair of one step, normal noise in either direction."""

    base: Pair
    steps: int
    uses: int
    direction: Direction

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism(
            "the law of several of many steps is not known by itself; engine='joint' composes it"
        )

    tails = hockey_stick = ball_tails = ball_hockey_stick = _not_known

    def reversed(self) -> SeveralPair:
        return SeveralPair(self.base.reversed(), self.steps, self.uses, self.direction.opposite)

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        """No set has all steps, so that L comes as near to 0 as one likes."""
        return LossRange(arb.neg_inf(), arb.pos_inf())

    # Moments: L is a mean of products of k ratios, each of which has the law of k uses of the base.

    @cached_property
    def _first_step(self) -> Pair:
        """What the first step alone shows."""
        return poisson_pair(self.base, rate_ends(Fraction(self.uses, self.steps))[0], self.direction)

    @cached_property
    def _blocks(self) -> Pair:
        return blocks_pair(self.base, self.steps, self.uses, self.direction)

    @cached_property
    def _made(self) -> dict[Grade, tuple[Pair, Pair]]:
        return {}

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:
        if fine.proof:  # L is a mean of products of k ratios: so many uses of the base dominate it
            return self._first_step, product_pair(((self.base, self.uses),))
        grade = COARSE_GRADE if fine.points <= COARSE_POINTS else FULL_GRADE
        if grade not in self._made:
            self._made[grade] = self._pairs(grade, fine)
        return self._made[grade]

    def _pairs(self, grade: Grade, fine: Resolution) -> tuple[Pair, Pair]:
        with working_precision(BITS_START):
            mu = normal_shift(self.base)
        assert mu is not None
        law = SeveralSteps(mu, self.steps, self.uses)
        chooser = Chooser(float(mu.mid()), self.steps, self.uses, self.direction)
        tail = min(max(fine.tail, 1e-250), 1e-6)
        orders = (0, 1, 2, 3, 4) if coverings_most(self.uses, 4) <= COVERINGS_MAX else (0, 1, 2)
        shapes: list[LabelShape] = []
        found: list[Conditional] = []
        for wanted in aims_of(fine.delta, fine.epsilon, fine.uses):
            shape = chooser.shape(wanted)
            if all(abs(shape.near - other.near) > SETS_APART for other in shapes):
                shapes.append(shape)
                found.append(
                    Conditional(
                        values_of(law, *chooser.placed(shape, grade.cells, SETS_TAIL_SHARE * tail), orders), tail
                    )
                )
        # Events of any statistic are real, and any bound from above holds: each is asked where it tells most.
        events = [event for conditional in found for event in conditional.events(self.direction)]
        near = np.array([shape.near for shape in shapes])
        row = point_row([conditional.losses(self.direction) for conditional in found], near.tolist(), grade.points)
        points = [(a, found[np.argmin(abs(near - math.log(a)))].hockey_stick(a, self.direction)) for a in row]
        with working_precision(BITS_START):
            lower = below([(arb(p), arb(q)) for p, q in events])
            upper: Pair = above([(arb(alpha), arb(delta)) for alpha, delta in points])
        a = math.exp(shapes[0].near)
        shown = max((p - a * q for p, q in events), default=0.0)
        if fine.uses > 1 or not found[0].hockey_stick(a, self.direction) <= SETS_NARROW * shown:
            upper = LeastPair((upper, self._blocks))
        return lower, upper

    def moments(self) -> SeveralMoments:
        return SeveralMoments(self)


class SeveralMoments(Moments[SeveralPair]):
    def log_moment_above(self, order: float) -> arb:
        return self.pair.uses * arb(cumulant_above(self.pair.base, order))

    def zcdp_rho(self) -> arb | None:
        rho = self.pair.base.moments().zcdp_rho()
        return None if rho is None else self.pair.uses * rho

    def gdp_mu(self) -> arb | None:
        mu = self.pair.base.moments().gdp_mu()
        return None if mu is None else arb(self.pair.uses).sqrt() * mu

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """One set alone: L >= Y_1 ... Y_k/C(t, k), whatever the others show."""
        return self.gdp_mu() if direction is self.pair.direction else None


@simpler_ends.register(SeveralPair)
def _(own: SeveralPair) -> tuple[tuple[Pair, ...], Pair]:
    """What the first step alone shows, or the largest or the sum of all; and a product of blocks."""
    if own.direction is Direction.REMOVE:
        return (*hidden_participation(own.base, own.steps, own.uses), own._first_step), own._blocks
    shown = hidden_participation(own.base.reversed(), own.steps, own.uses)
    return (*(pair.reversed() for pair in shown), own._first_step), own._blocks


@has_bracket_only.register(SeveralPair)
def _(pair: SeveralPair) -> bool:
    return True


def blocks_pair(base: Pair, steps: int, uses: int, direction: Direction) -> Pair:
    """The product of so many blocks of steps, of sizes that differ by one at most, one use in each."""
    value, longer = divmod(steps, uses)
    blocks = [(value, uses - longer), (value + 1, longer)]
    return product_pair((allocated_pair(base, size, direction), count) for size, count in blocks if count)


def several_pair(base: Pair, steps: int, uses: int, direction: Direction) -> Pair:
    """k of t steps where `sets_known`; else the product of blocks, which dominates them."""
    if not sets_known(base, steps, uses):
        return blocks_pair(base, steps, uses, direction)
    return SeveralPair(base, steps, uses, direction)


def sets_known(base: Pair, steps: int, uses: int) -> bool:
    """Whether k of t steps of this pair have a pair of their own: normal noise, and neither number too large."""
    if not (1 < uses <= SETS_USES_MAX and uses < steps <= SETS_STEPS_MAX):
        return False
    with working_precision(BITS_START):
        mu = normal_shift(base)
        return mu is not None and bool(mu > MU_MIN) and bool(mu < MU_MAX)
