"""Integer noise around a whole shift D against the same around 0.

The loss log p_{k-D}/p_k rises with the output k, as the masses are log-concave. With S(k) = P[X >= k] and m the first
output whose loss exceeds t, P[l > t] = S(m - D), Q[l > t] = S(m) and H(e^t) = S(m - D) - e^t S(m).
The mirror k -> D + 2 centre - k exchanges P and Q: both directions are alike.
Guarantee: exact. float64 lists the outputs once, or reads balls. Proof: docs/proofs/integer_noise.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from flint import acb, arb

from ...numerics.balls import BITS_START, enclose, upper_float, working_precision
from ...numerics.double_double import DoubleDouble
from ...numerics.enclosures import Enclosure, FloatArray, enclosed, falling
from ...values import compute_budget
from ...values.errors import Refusal, UnsupportedMechanism
from ..atoms import Atoms, listed_hockey_stick
from ..capabilities import Moments
from ..operators.polygon import above, below
from ..operators.registered import has_bracket_only, shifted_pair
from ..pair import HOCKEY_STICK_COST, BallTails, LossRange, Pair, Tails
from .noise import Bend, IntegerNoise

if TYPE_CHECKING:
    from ..capabilities import Resolution
    from ..cgf import Cgf


# Where the loss of shifted integer noise passes a number: the first output whose loss exceeds it.
#
# The loss rises with the output, so a guess in plain floats is corrected by comparisons in balls.
# Guarantee: the true output is among those given.

UNSEEN_DEPTH = 20000.0  # outputs whose mass is below e^-UNSEEN_DEPTH are seen by nobody
UNSURE_MAX = 3
CAST_MAX = 1e300


class FarSide(Enum):
    """Where t lies: between the losses of the far outputs, beyond one of them, or undecided."""

    BETWEEN, ABOVE, BELOW, UNKNOWN = range(4)


def far_output(noise: IntegerNoise, shift: int) -> int:
    """An output that both laws hardly reach: P[X > this - shift] is about e^-UNSEEN_DEPTH; or the last of all."""
    far = noise.reach(UNSEEN_DEPTH) + shift
    return far if noise.last is None else min(far, noise.last)


def side_of(noise: IntegerNoise, shift: int, t: arb) -> FarSide:
    """Whether the far output has a loss above t, and the one opposite none."""
    far = far_output(noise, shift)
    if far == noise.last:
        return FarSide.BETWEEN  # all that there are
    top, bottom = (_exceeds(noise, shift, t, k) for k in (far, noise.mirror(far) + shift))
    if top is None or bottom is None:
        return FarSide.UNKNOWN
    return FarSide.BELOW if bottom else FarSide.BETWEEN if top else FarSide.ABOVE


def first_outputs(noise: IntegerNoise, shift: int, t: arb) -> range:
    """All that the first output with a loss above t may be, where t lies between the losses of the far outputs.

    Nothing where that is more than a few.
    """
    far = far_output(noise, shift)
    more = int(far == noise.last)  # further outputs have an infinite loss
    # What lies at or below `low` does not exceed t, what lies at or above `high` does.
    low, high = _bracket(noise, shift, t, (noise.mirror(far) + shift - more, far + more))
    while high - low > 1:
        middle = (low + high) // 2
        exceeds = _exceeds(noise, shift, t, middle)
        if exceeds is None:
            low, high = _settled(noise, shift, t, (low, middle, high))
            break
        low, high = (low, middle) if exceeds else (middle, high)
    return range(low + 1, high + 1) if high - low <= UNSURE_MAX else range(0)


def _exceeds(noise: IntegerNoise, shift: int, t: arb, k: int) -> bool | None:
    """Whether the loss at k is above t; None where that cannot be told."""
    loss = noise.loss(k, shift)
    return True if loss > t else False if loss <= t else None


def _bracket(noise: IntegerNoise, shift: int, t: arb, ends: tuple[int, int]) -> tuple[int, int]:
    """Outputs on either side of the crossing, from a guess on, between two ends that are."""
    low, high = ends
    guess = noise.plain_output(float(t.mid()), shift)
    start = max(low + 1, min(high - 1, math.floor(max(-CAST_MAX, min(CAST_MAX, guess)))))
    for side in (-1, 1):
        k, step = start + (side > 0), 1
        while low < k < high:
            exceeds = _exceeds(noise, shift, t, k)
            if exceeds is False:
                low = k
            if exceeds is True:
                high = k
            if exceeds is (side > 0):
                break
            k, step = k + side * step, 2 * step
    return low, high


def _settled(noise: IntegerNoise, shift: int, t: arb, ends: tuple[int, int, int]) -> tuple[int, int]:
    """The nearest outputs around an undecided one that are decided, as far as a few steps show them."""
    low, middle, high = ends
    for k in range(middle - 1, max(low, middle - UNSURE_MAX), -1):
        if _exceeds(noise, shift, t, k) is False:
            low = k
            break
    for k in range(middle + 1, min(high, middle + UNSURE_MAX)):
        if _exceeds(noise, shift, t, k) is True:
            high = k
            break
    return low, high


# The outputs of shifted integer noise in float64: losses and tails of all that a double can see.
#
# Masses above the centre are listed in balls, one from the next; those below are their mirror images, and so are the
# losses, l(D + 2 centre - k) = -l(k).
# Guarantee: losses within half a unit and their balls, tails to a few units; outputs that are left out have at most
# `left_out` under either law.

LISTED_MAX = 700_000  # masses: three seconds
LISTED_UNITS = 3000.0  # of work, for one of them
LISTED_BITS = 160
FAR_OUTPUT = 1 << 60
LISTED_DEPTH = 722.0  # e^-722 is below 1e-313
HALF_UNIT = 2.0**-52  # of a ball turned into a double, with room


@dataclass(frozen=True)
class Listing:
    """shift: D. The outputs are those from `first` to `last` that are not further from both centres than `reach`."""

    noise: IntegerNoise
    shift: int

    @cached_property
    def reach(self) -> int:
        """The last output around the centre that is listed."""
        return self.noise.reach(LISTED_DEPTH)

    @cached_property
    def left_out(self) -> float:
        """At or above the mass of each law that is not listed."""
        if self.noise.last is not None and self.reach >= self.noise.last:
            return 0.0
        with working_precision(LISTED_BITS):
            return upper_float(2 * self.noise.chernoff(self.reach + 1))

    def demand_few(self) -> None:
        """Refuses to list too many."""
        if self.size > LISTED_MAX:
            raise UnsupportedMechanism(
                f"its outputs are listed where no more than {LISTED_MAX} matter; ask for one use, or for renyi",
                Refusal.TOO_MUCH_WORK,
            )

    @property
    def size(self) -> int:
        """How many masses are listed."""
        return self.reach + self.shift - self._middle + 1

    @property
    def _middle(self) -> int:
        """The first output at or above the centre."""
        return -(-self.noise.twice_centre // 2)

    @cached_property
    def masses(self) -> list[arb]:
        """From the centre on."""
        self.demand_few()
        compute_budget.spend(LISTED_UNITS * self.size)
        last = self.reach + self.shift
        last = last if self.noise.last is None else min(last, self.noise.last)
        with working_precision(LISTED_BITS):
            return self.noise.masses(self._middle, last)

    @cached_property
    def outputs(self) -> npt.NDArray[np.int64]:
        """Those that are listed and have a finite loss, rising."""
        self.demand_few()
        low, high = self.noise.mirror(self.reach), self.reach
        if self.shift <= high - low + 1:
            values = np.arange(low, high + self.shift + 1)
        else:
            values = np.concatenate([np.arange(low, high + 1), np.arange(low, high + 1) + self.shift])
        if self.noise.last is not None:
            values = values[(values >= self.shift) & (values <= self.noise.last)]
        return values

    @property
    def joined(self) -> bool:
        """Whether no output between the two centres is left out."""
        return len(self.outputs) == int(self.outputs[-1]) - int(self.outputs[0]) + 1

    def _places(self, outputs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where their masses are in the list."""
        return np.maximum(outputs, self.noise.twice_centre - outputs) - self._middle

    @cached_property
    def loss(self) -> Enclosure:
        """Of each output."""
        with working_precision(LISTED_BITS):
            logs = [mass.log() for mass in self.masses]
            upper = self.outputs[2 * self.outputs >= self.shift + self.noise.twice_centre]
            first, second = self._places(upper - self.shift).tolist(), self._places(upper).tolist()
            balls = [logs[i] - logs[j] for i, j in zip(first, second, strict=True)]
            half = read(balls)
        # An output whose loss is 0 is its own mirror image.
        own = int(len(upper) > 0 and 2 * int(upper[0]) == self.shift + self.noise.twice_centre)
        below = -half[own:][::-1]
        return Enclosure(np.concatenate([below.value, half.value]), np.concatenate([below.radius, half.radius]))

    @cached_property
    def mass(self) -> Enclosure:
        """From the centre on."""
        with working_precision(LISTED_BITS):
            return read(self.masses)

    def law(self, shift: int) -> Enclosure:
        """The masses of the outputs under the noise around this shift."""
        return self.mass[self._places(self.outputs - shift)]

    @cached_property
    def _above(self) -> FloatArray:
        """P[X >= k] from the first output above the centre on."""
        with working_precision(LISTED_BITS):
            last = self._middle + len(self.masses) - 1
            total = self.noise.tail(last + 1)
            values = [total]
            for mass in reversed(self.masses):
                total = total + mass
                values.append(total)
            return np.array([float(ball.mid()) for ball in reversed(values)])

    def above(self, outputs: npt.NDArray[np.int64]) -> FloatArray:
        """P[X >= k]."""
        far = 2 * outputs > self.noise.twice_centre
        places = np.where(far, outputs, self.noise.twice_centre - outputs + 1) - self._middle
        tails: FloatArray = np.append(self._above, 0.0)[np.minimum(places, len(self._above))]
        values: FloatArray = np.where(far, tails, 1.0 - tails)
        return values

    def first_above(self, t: FloatArray) -> npt.NDArray[np.int64]:
        """The first output whose loss exceeds t, or one that differs by what is left out."""
        last = self.noise.last
        low, high = (-FAR_OUTPUT, FAR_OUTPUT) if last is None else (self.shift, max(last + 1, self.shift))
        # Below all losses of the list it is the first output of all, above them the first of an infinite loss.
        starts = np.concatenate([[low], self.outputs[1:], [high]]) if len(self.outputs) else np.array([high])
        return starts[np.searchsorted(self.loss.value, t, side="right")]


def read(balls: list[arb]) -> Enclosure:
    """Doubles with radii around balls, faster where these are narrow."""
    value = np.array([float(ball.mid()) for ball in balls], dtype=np.float64)
    radius = np.array([float(ball.rad()) for ball in balls], dtype=np.float64)
    return Enclosure(value, abs(value) * HALF_UNIT + 1.01 * radius + math.ulp(0.0) * 4.0)


PLACES_FEW = 64  # places at which balls are read where the outputs are too many
OUTPUTS_SUMMED = 4096  # outputs: beyond, balls are as fast
BALL_COST = 3000


@dataclass(frozen=True)
class IntegerNoisePair(Pair):
    """Noise around `sensitivity` against noise around 0."""

    noise: IntegerNoise
    sensitivity: int

    def __post_init__(self) -> None:
        """Laws that have no output in common are like those of the least such shift."""
        if self.noise.last is not None and self.sensitivity > self.noise.last + 1:
            object.__setattr__(self, "sensitivity", self.noise.last + 1)

    @cached_property
    def listing(self) -> Listing:
        """The outputs in float64."""
        return Listing(self.noise, self.sensitivity)

    def tails(self, t: DoubleDouble) -> Tails:
        if self.listing.size > LISTED_MAX and t.hi.size <= PLACES_FEW:
            return self._tails_in_balls(t)
        m = self.listing.first_above(t.collapse())
        mirrored = self.noise.twice_centre - m + 1
        above = self.listing.above
        return Tails(above(m - self.sensitivity), above(m), above(mirrored + self.sensitivity), above(mirrored))

    def _tails_in_balls(self, t: DoubleDouble) -> Tails:
        rows = []
        for hi, lo in zip(t.hi.ravel().tolist(), t.lo.ravel().tolist(), strict=True):
            if np.isinf(hi):
                mass = enclose(self.infinite_mass)[1]
                rows.append([mass, 0.0, 1.0 - mass, 1.0] if hi > 0.0 else [1.0, 1.0 - mass, 0.0, mass])
            else:
                rows.append([enclose(partial(self._tail, hi, lo, i))[1] for i in range(4)])
        return Tails(*(np.array(column).reshape(t.hi.shape) for column in zip(*rows, strict=True)))

    def _tail(self, hi: float, lo: float, place: int) -> arb:
        return self.ball_tails(arb(hi) + arb(lo))[place]

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """A sum over the outputs that are listed where they are few, else by balls."""
        if self.listing.size <= OUTPUTS_SUMMED:
            atoms = self._atoms
            enclosure = listed_hockey_stick(atoms.p, atoms.loss, atoms.infinite, epsilon)
            return Enclosure(enclosure.value, enclosure.radius + self.listing.left_out)

        def ends(points: FloatArray) -> tuple[FloatArray, FloatArray]:
            found = [enclose(partial(self.ball_hockey_stick, arb(float(point)))) for point in points]
            return np.array([low for low, _ in found]), np.array([high for _, high in found])

        return falling(ends, epsilon)

    def ball_tails(self, t: arb) -> BallTails:
        noise, shift = self.noise, self.sensitivity
        side = side_of(noise, shift, t)
        if side in (FarSide.ABOVE, FarSide.BELOW):
            some = self._unseen()
            all_but = 1 - some
            above = side is FarSide.ABOVE
            return BallTails(some, some, all_but, all_but) if above else BallTails(all_but, all_but, some, some)
        found = [
            BallTails(noise.tail(m - shift), noise.tail(m), *(noise.tail(noise.mirror(k) + 1) for k in (m - shift, m)))
            for m in (() if side is FarSide.UNKNOWN else first_outputs(noise, shift, t))
        ]
        if not found:
            return BallTails(*(arb(0).union(arb(1)) for _ in range(4)))
        return BallTails(*(one.union(other) for one, other in zip(found[0], found[-1], strict=True)))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        """S(m - D) - e^eps S(m); an unsure m is harmless, because the true one attains the maximum."""
        power, side = epsilon.exp(), side_of(self.noise, self.sensitivity, epsilon)
        if side is FarSide.ABOVE:
            return self._unseen()
        if side is FarSide.BELOW:
            return 1 - power + power * self._unseen()
        if side is FarSide.UNKNOWN:
            return arb(0).union(arb(1))
        values = [
            self.noise.tail(m - self.sensitivity) - power * self.noise.tail(m)
            for m in first_outputs(self.noise, self.sensitivity, epsilon)
        ]
        return reduce(arb.max, values).max(arb(0)).min(arb(1)) if values else arb(0).union(arb(1))

    def _unseen(self) -> arb:
        """At most what either law has beyond the far output, which is not the last of all."""
        far = far_output(self.noise, self.sensitivity)
        return arb(0).union(self.noise.chernoff(far - self.sensitivity + 1))

    def reversed(self) -> IntegerNoisePair:
        return self

    def infinite_mass(self) -> arb:
        last = self.noise.last
        return arb(0) if last is None else self.noise.tail(last - self.sensitivity + 1)

    def loss_range(self) -> LossRange:
        last = self.noise.last
        if last is None:
            return LossRange(arb.neg_inf(), arb.pos_inf())
        if self.sensitivity > last:
            return LossRange(arb(0), arb(0))
        highest = self.noise.loss(last, self.sensitivity)
        return LossRange(-highest, highest)

    def atoms(self) -> Atoms | None:
        return None if self.listing.size > LISTED_MAX else self._atoms

    @cached_property
    def _atoms(self) -> Atoms:
        listing = self.listing
        with working_precision(BITS_START):
            alone = enclosed([self.infinite_mass()])[0]
        p, q = listing.law(self.sensitivity), listing.law(0)
        return Atoms(p, q, listing.loss, alone, alone, listing.left_out)

    def cgf(self) -> Cgf | None:
        from .integer_cgf import IntegerNoiseCgf

        disjoint = self.noise.last is not None and self.sensitivity > self.noise.last
        return None if disjoint or self.listing.size > LISTED_MAX else IntegerNoiseCgf(self)

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair] | None:

        return bracket(self.noise, self.sensitivity, fine) if has_bracket_only(self) else None

    def hockey_stick_cost(self) -> int:
        return HOCKEY_STICK_COST if self.listing.size <= OUTPUTS_SUMMED else BALL_COST

    def moments(self) -> IntegerNoiseMoments:
        return IntegerNoiseMoments(self)


class IntegerNoiseMoments(Moments[IntegerNoisePair]):
    def log_moment(self, z: acb) -> acb | None:
        from .integer_cgf import log_moment

        return log_moment(self.pair.noise, self.pair.sensitivity, z)

    def zcdp_rho(self) -> arb | None:
        bend = Bend.of(self.pair.noise, self.pair.sensitivity)
        return None if bend is None else bend.rho()

    def approximate_zcdp(self) -> tuple[tuple[arb, arb], ...]:
        bend = Bend.of(self.pair.noise, self.pair.sensitivity)
        return () if bend is None else bend.lines()


@has_bracket_only.register(IntegerNoisePair)
def _(pair: IntegerNoisePair) -> bool:
    return pair.listing.size > LISTED_MAX


@shifted_pair.register(IntegerNoisePair)
def _(pair: IntegerNoisePair, times: int) -> IntegerNoisePair:
    return IntegerNoisePair(pair.noise, times * pair.sensitivity)


# A finite pair below and one above integer noise of more outputs than can be listed.
#
# At some outputs k the events {X >= k} have the masses S(k - D) and S(k): a pair below. Above, the hull of the profile
# at
# the losses of these outputs, a = p_{k-D}/p_k, H(a) = S(k - D) - a S(k).
# Guarantee: lower <= pair <= upper, as profiles, for whatever outputs. Proof: docs/proofs/points.md, sections 1 to 3.

CHOSEN_OUTPUTS_MAX = 1500
CHOSEN_OUTPUT_UNITS = 2e4  # of work, for one output
CHOSEN_SPARE = 8.0


def bracket(noise: IntegerNoise, shift: int, fine: Resolution) -> tuple[Pair, Pair]:
    """At outputs that are evenly spread up to where P has less than the tail that is allowed."""

    cells = max(2, min(fine.points, CHOSEN_OUTPUTS_MAX))
    compute_budget.spend(CHOSEN_OUTPUT_UNITS * cells)
    far = noise.reach(CHOSEN_SPARE - math.log(max(fine.tail, math.ulp(0.0)))) + shift
    near = noise.mirror(far) + shift
    if noise.last is not None:
        near, far = max(near, shift), min(far, noise.last)
    # Half of them are mirror images of the others, so that their tails are known.
    halves = [near + (far - near) * i // cells for i in range(cells // 2 + 1)]
    outputs = sorted({*halves, *(noise.mirror(k) + shift for k in halves)})
    events, profile = [], []
    with working_precision(BITS_START):
        for k in outputs:
            p, q, alpha = noise.tail(k - shift), noise.tail(k), noise.loss(k, shift).exp()
            events.append((p, q))
            profile.append((alpha, p - alpha * q))
        leak = arb(0) if noise.last is None else noise.tail(noise.last - shift + 1)
        return below([(leak, arb(0)), *events]), above(profile)
