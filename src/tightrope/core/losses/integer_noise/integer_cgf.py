"""K of integer noise: sums over a window of outputs, with what lies beyond it as an error.

Outputs are nearly on a lattice, so the transform returns: bounds of |phi| hold up to a horizon.
Guarantee: exact, upper for decay. Proof: docs/proofs/integer_noise.md, sections 6 and 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import acb, arb, ctx

from ...numerics.balls import BITS_START, complex_log, upper_float, working_precision
from ...numerics.contour_sum import TIME_ERROR
from ...numerics.enclosures import FloatArray, around, enclosed
from ...numerics.quadrature import BallLaw, QuadratureError, TiltedLaw, blurred, point_law, total_mass
from ...values import compute_budget
from ...values.errors import Refusal, UnsupportedMechanism
from ..cgf import BallTilted, CfDecay, Cgf, Cumulants
from .integer_pair import IntegerNoisePair
from .noise import LOG_TWO, Bend, IntegerNoise

if TYPE_CHECKING:
    from ...numerics.enclosures import Enclosure


# How the transform of finitely many atoms falls, up to a horizon: looked at, piece by piece, in float64.
#
# Early: 1 - |phi(t)|^2 >= V t^2 - W t^4, V the variance and W = (mu_4 + 3 V^2)/12, which rises up to t^2 = V/(2W).
# Then |phi| at the middle of a piece, and what it can grow by on half of it: E|l - mean| times that;
# or, where pieces were too many, |phi| <= (1/2) sum of |w_k + w_{k+m} e^{it(l_{k+m} - l_k)}|, with m next to half a
# turn,
# which grows by (1/2) sum of min(w_k, w_{k+m}) (l_{k+m} - l_k) times that.
# Guarantee: upper, up to the horizon. Proof: docs/proofs/integer_noise.md, section 7.

PIECE_RISE = 0.05  # how much a bound may grow along a piece
SWEPT_MAX = 2e7  # pieces times atoms
SWEPT_UNITS = 20.0
MOMENT_ROUNDING = 1e-9  # relative, far above that of sums of positive terms
SLACK_MAX = 0.01
LOOKED_AT = 8.0  # standard deviations: before, |phi| itself is looked at


@dataclass(frozen=True)
class SweptDecay:
    """variance: at or below V. fourth: at or above W. slack: at or above all rounding of |phi|, and what is left out.

    starts: of pieces. later: bounds from each on, to the horizon.
    """

    variance: float
    fourth: float
    slack: float
    starts: FloatArray
    later: FloatArray

    def log_bound(self, radius: float) -> float:
        first = float(self.starts[0])
        if not radius <= float(self.starts[-1]):
            return 0.0
        place = max(0, int(np.searchsorted(self.starts, radius, side="right")) - 1)
        value = float(self.later[place])
        if radius < first:
            square = radius * radius
            value = max(value, math.sqrt(max(0.0, 1.0 - self.variance * square + self.fourth * square * square)))
        return min(0.0, math.log(min(1.0, value + self.slack)))


def swept(law: TiltedLaw, horizon: float) -> SweptDecay:
    """The bounds of a tilted law; 1 where rounding could matter, or the sweep takes too long."""
    total = float(np.sum(law.weights.value))
    weights, losses = law.weights.value / total, law.offsets.value
    mean = float(weights @ losses)
    second, fourth = (float(weights @ (losses - mean) ** power) for power in (2, 4))
    variance, quarter = (
        second * (1.0 - MOMENT_ROUNDING),
        (fourth + 3.0 * second * second) / 12.0 * (1.0 + MOMENT_ROUNDING),
    )
    if not quarter > 0.0:  # all in one output, as far as doubles see: |phi| is at most 1
        return SweptDecay(0.0, 0.0, 0.0, np.array([horizon]), np.array([1.0]))
    first = min(math.sqrt(variance / (2.0 * quarter)), horizon)
    reach = float(np.max(abs(losses))) * horizon
    blur = float(np.sum(law.weights.radius)) / total + horizon * float(np.max(law.offsets.radius)) + 1e-15 * reach
    slack = 4.0 * (blur + law.error.fixed + losses.size * 2.0**-52)
    if not slack < SLACK_MAX:
        return SweptDecay(variance, quarter, slack, np.array([first]), np.array([1.0]))
    spread = math.sqrt(second)
    starts, found = [first], []
    pieces = (horizon - first) * spread / PIECE_RISE
    near = horizon if pieces * losses.size <= SWEPT_MAX else min(horizon, LOOKED_AT / spread)
    width, slope = PIECE_RISE / spread, float(weights @ abs(losses - mean))
    compute_budget.spend(SWEPT_UNITS * losses.size * ((near - first) / width + 1.0))
    while starts[-1] < near:
        stop = min(starts[-1] + width, near)
        middle = 0.5 * (starts[-1] + stop)
        value = abs(complex(weights @ np.cos(middle * losses), weights @ np.sin(middle * losses)))
        found.append(value + slope * (stop - starts[-1]))
        starts.append(stop)
    gap = float(np.max(weights[1:] * (losses[1:] - losses[:-1]))) / float(np.max(weights[1:]))
    while starts[-1] < horizon and losses.size > 1:
        value, stop = _paired(weights, losses, starts[-1], gap, horizon)
        found.append(value)
        starts.append(stop)
    later = np.maximum.accumulate(np.array([*found, found[-1]])[::-1])[::-1] if found else np.array([1.0])
    return SweptDecay(variance, quarter, slack, np.array(starts), later)


def _paired(weights: FloatArray, losses: FloatArray, start: float, gap: float, horizon: float) -> tuple[float, float]:
    """A bound from a time on, and how far it holds."""
    apart = min(max(1, round(math.pi / (start * gap))), losses.size - 1)
    left, right = weights[:-apart], weights[apart:]
    turn = losses[apart:] - losses[:-apart]
    slope = 0.5 * float(np.minimum(left, right) @ abs(turn))
    stop = min(horizon, start + 2.0 * PIECE_RISE / max(slope, 1e-300))
    compute_budget.spend(SWEPT_UNITS * losses.size)
    middle = 0.5 * (start + stop)
    sizes = np.sqrt(np.maximum(left * left + right * right + 2.0 * left * right * np.cos(middle * turn), 0.0))
    alone = float(np.sum(weights[:apart])) + float(np.sum(weights[-apart:]))
    return 0.5 * (float(np.sum(sizes)) + alone) + slope * 0.5 * (stop - start), stop


# Moments of the loss of integer noise: M(z) = sum over k of p_{k-D}^{1+z} p_k^{-z}, over a window, and the rest.
#
# c = Re z >= 0; M(z) = M(-1-z) for c <= -1, as the pair is its own mirror image; between, terms are at most
# p_{k-D} + p_k. With l rising:
# below the window l <= 0, so that what is left out has at most the P-mass there;
# above it, between two outputs a < b, E[e^{cl}; a < k <= b] <= S(a + 1 - D) e^{c l(b)}, and of Skellam noise from b on
# l(k) <= D asinh(k/v), so that the terms fall at least like a geometric series.
# Guarantee: exact. Proof: docs/proofs/integer_noise.md, section 6.

OUTPUTS_ADDED = 100_000
WINDOW_UNITS = 4000.0  # of work, for one output in balls
PIECE_GROWTH = 8  # the width of a piece above the window, over its distance from the middle


class OutputWindow(NamedTuple):
    """Outputs from `first` to `last`."""

    first: int
    last: int


def window(noise: IntegerNoise, shift: int, tilt: float, log_tolerance: float) -> OutputWindow:
    """Outputs beyond which the terms of M(tilt), tilt >= 0, are below e^-log_tolerance of the largest, about."""
    middle = math.ceil((noise.twice_centre + shift) / 2)
    ends = (middle, 1 << 200) if noise.last is None else (max(middle, shift), noise.last)

    def log(k: int) -> float:
        y = abs(k - shift - 0.5 * noise.twice_centre)
        return -min(noise.depth(y), 1e9) + tilt * noise.plain_loss(float(k), shift)

    low, high = ends[0], ends[0]
    step = 1
    while high + step < ends[1] and log(high + step) > log(high):
        high, step = high + step, 2 * step
    low, high = max(low, high - step), min(ends[1], high + step)
    while high - low > 2:
        third = (high - low) // 3
        low, high = (low + third, high) if log(low + third) < log(high - third) else (low, high - third)
    top, peak = log(high), high
    step, low = 1, peak
    while high < ends[1] and log(high) > top - log_tolerance:
        low, high, step = high, min(ends[1], high + step), 2 * step
    while high - low > 1:
        between = (low + high) // 2
        low, high = (between, high) if log(between) > top - log_tolerance else (low, between)
    first = noise.mirror(noise.reach(log_tolerance - min(top, 0.0) + 8.0)) + shift
    least = -(1 << 200) if noise.last is None else shift
    return OutputWindow(max(least, min(first, middle)), high)


def log_terms(noise: IntegerNoise, shift: int, seen: OutputWindow) -> list[tuple[arb, arb]]:
    """log p_{k-D} and log p_k of the outputs of a window, at the working precision."""
    outputs = range(seen.first, seen.last + 1)
    compute_budget.spend(WINDOW_UNITS * len(outputs))
    middle = -(-noise.twice_centre // 2)
    far = max(max(k, noise.mirror(k)) for k in (seen.first - shift, seen.first, seen.last - shift, seen.last))
    logs = [mass.log() for mass in noise.masses(middle, far)]

    def at(k: int) -> arb:
        return logs[max(k, noise.mirror(k)) - middle]

    return [(at(k - shift), at(k)) for k in outputs]


def left_out(noise: IntegerNoise, shift: int, seen: OutputWindow, tilt: arb) -> arb:
    """At or above what the outputs beyond a window add to M(tilt), tilt > -1."""
    none = arb(0)
    if tilt < 0:
        places = (
            noise.mirror(seen.first - 1 - shift),
            noise.mirror(seen.first - 1),
            seen.last + 1 - shift,
            seen.last + 1,
        )
        return sum((noise.chernoff(place) for place in places), none)
    whole = noise.last is not None and seen.first <= shift
    below = none if whole else noise.chernoff(noise.mirror(seen.first - 1 - shift))
    total, start = below, seen.last
    if noise.last is None:
        return total + noise.growing(start, shift, tilt)
    while start < noise.last:
        stop = min(noise.last, start + max(1, (start - noise.twice_centre // 2) // PIECE_GROWTH))
        total += noise.chernoff(start + 1 - shift) * (tilt * noise.loss(stop, shift)).exp()
        start = stop
    return total


def _by_bend(noise: IntegerNoise, shift: int, z: acb) -> acb | None:
    """Around K at a real z, Re z > -1."""
    if not z.imag.is_zero():
        return None
    with working_precision(BITS_START + 2 * math.ceil(math.log2(2.0 + noise.spread))):  # more digits tell no more
        bend = Bend.of(noise, shift)
        value = None if bend is None else bend.log_moment(z.real if 2 * z.real >= -1 else -1 - z.real)
        return None if value is None else acb(value)


def log_moment(noise: IntegerNoise, shift: int, z: acb) -> acb | None:
    """K(z); None where too many outputs matter."""
    if noise.last is not None and shift > noise.last:
        return None
    if z.real <= -1:
        z = -1 - z
    tolerance = LOG_TWO * (ctx.prec + 8.0)
    if z.real >= 0:
        seen = window(noise, shift, float(z.real.upper()), tolerance)
    elif -1 < z.real < 0:
        reach = noise.reach(tolerance + 8.0)
        seen = OutputWindow(noise.mirror(reach), reach + shift)
        if noise.last is not None:
            seen = OutputWindow(max(seen.first, shift), min(seen.last, noise.last))
    else:
        return None
    if seen.last - seen.first > OUTPUTS_ADDED:
        return _by_bend(noise, shift, z)
    with working_precision(ctx.prec + 2 * (seen.last - seen.first + shift + 2).bit_length() + 32):
        terms = log_terms(noise, shift, seen)
        total = sum((((1 + z) * p - z * q).exp() for p, q in terms), acb(0))
        rest = arb(0, 1) * left_out(noise, shift, seen, z.real)
        if z.imag.is_zero():
            return acb((total.real + rest).log())
        return complex_log(total + acb(rest, rest))


CONTOUR_OUTPUTS = 40_000
SMOOTH_SPREAD = 8.0  # of noise whose losses are as good as a lattice
TURN, TURNS = 4.0 * math.pi / 3.0, 200.0  # up to where its decay is known, over the gap of the losses; of other noise
WINDOW_SPARE = 8.0
SHARE_MAX = 1e-6  # of what lies beyond a window
LOG_SUM_ERROR = 1e-6  # the error of the log of a sum in float64, at most, of numbers up to e^LOG_SUM_MAX
LOG_SUM_MAX = 1e8


@dataclass(frozen=True)
class WindowError:
    """What lies beyond a window, over what lies in it."""

    ends: arb

    def at(self, t: float) -> arb:
        """No other error."""
        return arb(0)


@dataclass(frozen=True)
class IntegerNoiseCgf(Cgf):
    """K of shifted integer noise."""

    pair: IntegerNoisePair

    def _window(self, tilt: float, log_tolerance: float) -> OutputWindow:
        seen = window(self.pair.noise, self.pair.sensitivity, tilt, log_tolerance + WINDOW_SPARE)
        if seen.last - seen.first > CONTOUR_OUTPUTS:
            raise UnsupportedMechanism("too many of its outputs matter for a contour", Refusal.TOO_MUCH_WORK)
        return seen

    def _listed(
        self, tilt: float, log_tolerance: float
    ) -> tuple[OutputWindow, Enclosure, Enclosure, FloatArray, float]:
        """The window, masses and losses of its outputs, and about their tilted weights and the log of their sum."""
        import numpy as np

        seen, listing = self._window(tilt, log_tolerance), self.pair.listing
        outputs = listing.outputs
        if not (len(outputs) and outputs[0] <= seen.first and seen.last <= outputs[-1] and listing.joined):
            raise UnsupportedMechanism("its tilted outputs are beyond float64; try engine='lattice'")
        kept = slice(seen.first - int(outputs[0]), seen.last - int(outputs[0]) + 1)
        loss, masses = listing.loss[kept], listing.law(self.pair.sensitivity)[kept]
        growth = tilt * loss.value
        top = float(np.max(growth))
        weights = masses.value * np.exp(growth - top)
        total = float(np.sum(weights))
        return seen, masses, loss, weights / total, top + math.log(total)

    def cumulants(self, tilt: float) -> Cumulants:
        _, _, loss, weights, log = self._listed(tilt, 30.0)
        mean = float(weights @ loss.value)
        return Cumulants(log, mean, max(float(weights @ (loss.value - mean) ** 2), 1e-300))

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        seen = self._window(tilt, log_tolerance)
        return seen.last - seen.first + 1

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> TiltedLaw:

        seen, masses, loss, weights, log = self._listed(tilt, log_tolerance)
        noise, shift = self.pair.noise, self.pair.sensitivity
        with working_precision(BITS_START):
            # A sum of so many doubles has nine digits for certain.
            share = upper_float(left_out(noise, shift, seen, arb(tilt)) * (LOG_SUM_ERROR - arb(log)).exp())
            rest = upper_float(left_out(noise, shift, seen, arb(0)))
            missing = enclosed([self.pair.infinite_mass()])[0] + around(0.5 * rest, 0.5 * rest + math.ulp(0.0))
        if not (share < SHARE_MAX and abs(log) < LOG_SUM_MAX):
            raise UnsupportedMechanism("its tilted outputs are beyond float64; try engine='lattice'")
        centre = float(weights @ loss.value)
        law = point_law(masses, loss - centre, centre, missing, tilt, QuadratureError(share, ()))
        return blurred(law, TIME_ERROR)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        seen, shift = self._window(tilt, log_tolerance), self.pair.sensitivity
        terms = log_terms(self.pair.noise, shift, seen)
        weights = tuple((p + arb(tilt) * (p - q)).exp() for p, q in terms)
        error = WindowError(left_out(self.pair.noise, shift, seen, arb(tilt)) / sum(weights, arb(0)))
        return BallLaw(tuple(p - q for p, q in terms), weights, total_mass(weights, error).log(), error)

    @cached_property
    def _gap(self) -> float:
        """Of neighbouring losses next to 0, about."""
        noise, shift = self.pair.noise, self.pair.sensitivity
        middle = (noise.twice_centre + shift) // 2
        with working_precision(BITS_START):
            return float((noise.loss(middle + 1, shift) - noise.loss(middle, shift)).mid())

    def horizon(self) -> float:
        return (TURN if self.pair.noise.spread >= SMOOTH_SPREAD else TURNS) / self._gap

    def cf_decay(self, tilt: float) -> CfDecay:

        return swept(self.tilted(tilt, 0.0, 42.0), self.horizon())
