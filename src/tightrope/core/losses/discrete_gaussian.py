"""The discrete Gaussian pair: integer noise, shifted by an integer sensitivity D.

Mass exp(-x^2 / (2 sigma^2)) / Z, loss D (2x - D) / (2 sigma^2) at output x. With S(k) the mass at k and above around 0,
P[l > t] = S(m - D) and Q[l > t] = S(m) for m the first output whose loss exceeds t.
Guarantee: exact; float64 with the radius of kernels.enclosure, dropped ends bounded by a geometric series.
Reference: Canonne, Kamath, Steinke 2020, Def. 1 and Thm 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb, ctx

from ..numerics.balls import BITS_START, complex_log, floors, upper_float, working_precision
from ..numerics.contour_sum import TIME_ERROR, Factor, multiply, power
from ..numerics.double_double import DoubleDouble, double_double
from ..numerics.enclosures import Enclosure, FloatArray, around, enclosed, exact
from ..numerics.quadrature import QuadratureError, TiltedLaw, Transform, blurred
from ..numerics.rounding import THOUSANDS, TINIEST, UNIT, round_down
from ..values import compute_budget
from ..values.errors import Refusal, UnsupportedMechanism
from .atoms import Atoms, Lattice, LatticeStep, ratio_ball
from .capabilities import Moments
from .cgf import BallTilted, CfDecay, Cumulants, LatticeCgf, Tilted, point_cumulants
from .operators.registered import shifted_pair
from .pair import HOCKEY_STICK_COST, BallTails, LossRange, Pair, Tails

if TYPE_CHECKING:
    import numpy.typing as npt

    from .cgf import Cgf


SIGMA_MAX = 1e5
TAILS_SIGMA_MAX = 2e4  # tails hold an array of 78 sigma
SIGMA_MIN = 1e-150  # below, sigma^2 underflows; balls do not mind
HOCKEY_STICK_WINDOW = 9.5  # in sigma: beyond, the mass is below 1e-19 of what is kept
REACH = 39.0  # in sigma: beyond, the mass is below the smallest double
OUTPUTS_AT_ONCE = 1 << 19
LISTED_REACH, LISTED_LEFT_OUT = 38.0, 1e-310  # in sigma, and the mass beyond, 2 phi(38) / 38 at most
OUTPUTS_MAX = 1 << 22  # in a list of atoms
OUTPUT_UNITS = 200.0  # of work, for one of them


@dataclass(frozen=True, slots=True)
class DiscreteGaussianPair(Pair):
    """Noise around `sensitivity` against noise around 0."""

    sigma: float
    sensitivity: int

    def _listed_up_to(self, most: float) -> None:
        """Refuses to list outputs where there are too many of them."""
        if self.sigma > most:
            raise UnsupportedMechanism(
                f"its outputs are listed up to sigma {most:g}; divide the query, sigma and sensitivity",
                Refusal.TOO_MUCH_WORK,
            )

    def tails(self, t: DoubleDouble) -> Tails:
        self._listed_up_to(TAILS_SIGMA_MAX)
        size = math.ceil(REACH * self.sigma) + 2
        outputs = np.arange(-size, size + 1, dtype=np.float64)
        exponents = double_double(outputs * outputs) / (double_double(self.sigma) * double_double(self.sigma) * 2.0)
        masses = (-exponents).exp().collapse() / float(self._norm().value)
        above = np.append(_running(masses[::-1])[::-1], 0.0)  # above[i]: mass at outputs[i] and beyond
        below = np.insert(_running(masses), 0, 0.0)  # below[i]: mass before outputs[i]
        edge = (
            t * (double_double(self.sigma) * double_double(self.sigma)) / float(self.sensitivity)
            + self.sensitivity / 2.0
        )
        first = np.clip(edge.floor() + 1.0, -1e18, 1e18)  # the first output whose loss exceeds t
        from_q = np.clip(first + size, 0, len(outputs)).astype(np.int64)
        from_p = np.clip(first - self.sensitivity + size, 0, len(outputs)).astype(np.int64)
        return Tails(above[from_p], above[from_q], below[from_p], below[from_q])

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """A sum of positive terms P(x) (1 - e^(eps - loss(x))), window by window."""
        pairs = [
            self._profile_at(value, radius)
            for value, radius in zip(epsilon.value.ravel(), epsilon.radius.ravel(), strict=True)
        ]
        shape = epsilon.value.shape
        return Enclosure(
            np.array([float(pair.value) for pair in pairs]).reshape(shape),
            np.array([float(pair.radius) for pair in pairs]).reshape(shape),
        )

    def _profile_at(self, value: float, radius: float) -> Enclosure:
        self._listed_up_to(SIGMA_MAX)
        shift, half_width = self.sensitivity, math.ceil(HOCKEY_STICK_WINDOW * self.sigma) + 2
        edge = (value + radius) * self.sigma**2 / shift + shift / 2.0
        if not math.isfinite(edge) or self.sigma < SIGMA_MIN:
            return around(0.0, np.inf)
        # Terms before the first positive one are clipped to 0, so it may start early but not late.
        middle = (value - radius) * self.sigma**2 / shift
        first = math.floor(middle - 1e-12 * abs(middle) + shift / 2.0) - 2
        first = min(first, math.floor(edge) - 2)
        start = max(first, shift - half_width)
        stop = max(math.ceil(edge), shift) + half_width
        if max(abs(start), abs(stop)) > 2**52:
            return around(0.0, np.inf)
        epsilon = around(value, radius)
        twice_square = exact(self.sigma) * self.sigma * 2.0
        total = exact(0.0)
        for low in range(start, stop, OUTPUTS_AT_ONCE):
            outputs = np.arange(low, min(low + OUTPUTS_AT_ONCE, stop), dtype=np.float64)
            distance = exact(outputs - shift)
            loss = exact(2.0 * outputs - shift) * float(shift) / twice_square
            mass = (-(distance * distance / twice_square)).exp()
            total = total + (mass * (-(epsilon - loss).expm1()).clip_below(0.0)).sum()
        dropped = self._beyond(stop - shift)
        if start > first:
            dropped += self._beyond(shift - start + 1)
        return (total + around(0.0, dropped)) / self._norm()

    def _beyond(self, distance: int) -> float:
        """Bounds the weight from this distance on: neighbours have a ratio of e^(-d/sigma^2) or less."""
        exponent = distance * distance / (2.0 * self.sigma * self.sigma)
        return math.exp(-round_down(exponent, THOUSANDS)) * (2.0 + self.sigma * self.sigma / distance) * 1.001 + TINIEST

    def _norm(self) -> Enclosure:
        with working_precision(BITS_START):
            return enclosed([_norm_ball(self.sigma)])[0]

    def ball_tails(self, t: arb) -> BallTails:
        tails = [
            BallTails(
                self._tail_ball(m - self.sensitivity),
                self._tail_ball(m),
                self._tail_ball(self.sensitivity - m + 1),
                self._tail_ball(1 - m),
            )
            for m in self._first_outputs(t)
        ]
        if not tails:
            return BallTails(*(arb(0).union(arb(1)) for _ in range(4)))
        return BallTails(*(one.union(other) for one, other in zip(tails[0], tails[-1], strict=True)))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        """S(m - D) - e^eps S(m); an unsure m is harmless, because the true one attains the maximum."""
        values = [
            self._tail_ball(m - self.sensitivity) - epsilon.exp() * self._tail_ball(m)
            for m in self._first_outputs(epsilon)
        ]
        return reduce(arb.max, values) if values else arb(0).union(arb(1))

    def _first_outputs(self, t: arb) -> list[int]:
        """The first output whose loss exceeds t; two where the ball holds an integer, none where it holds many."""
        edge = t * arb(self.sigma) ** 2 / self.sensitivity + arb(self.sensitivity) / 2
        return [m + 1 for m in floors(edge)]

    def _tail_ball(self, k: int) -> arb:
        """S(k), from the side where the terms fall."""
        self._listed_up_to(SIGMA_MAX)
        if k <= 0:
            return 1 - self._tail_ball(1 - k)
        return _weight_from(self.sigma, k) / _norm_ball(self.sigma)

    def reversed(self) -> DiscreteGaussianPair:
        return self

    def atoms(self) -> Atoms | None:
        reach = math.ceil(LISTED_REACH * self.sigma) + self.sensitivity + 2
        if 2 * reach > OUTPUTS_MAX or self.sigma < SIGMA_MIN:
            return None
        compute_budget.spend(OUTPUT_UNITS * 2.0 * reach)
        outputs = np.arange(-reach, reach + self.sensitivity + 1, dtype=np.float64)
        twice = exact(self.sigma) * self.sigma * 2.0
        p, q = (
            (-(exact(outputs - centre) * exact(outputs - centre) / twice)).exp()
            for centre in (float(self.sensitivity), 0.0)
        )
        norm = p.sum()
        loss = exact(2.0 * outputs - self.sensitivity) * float(self.sensitivity) / twice
        return Atoms(p / norm, q / norm, loss, exact(0.0), exact(0.0), LISTED_LEFT_OUT)

    def lattice(self) -> Lattice | None:
        step = self.sensitivity / Fraction(self.sigma) ** 2
        return Lattice(LatticeStep(step, False), -self.sensitivity * step / 2)

    def cgf(self) -> Cgf:

        return DiscreteGaussianCgf(self)

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        return LossRange(arb.neg_inf(), arb.pos_inf())

    def hockey_stick_cost(self) -> int:
        return HOCKEY_STICK_COST + 20 * math.ceil(self.sigma)

    def moments(self) -> DiscreteGaussianMoments:
        return DiscreteGaussianMoments(self)


class DiscreteGaussianMoments(Moments[DiscreteGaussianPair]):
    def log_moment(self, z: acb) -> acb:
        """M(z) = e^{-D u/2} T(u)/T(0), u = D (1 + z)/s^2, with theta functions T(u) = sum_x e^{u x - x^2/(2 s^2)}."""
        shift, variance = acb(self.pair.sensitivity), acb(arb(self.pair.sigma) ** 2)
        turn = 2 * acb.pi() * acb(0, 1)
        nome = acb(0, 1) / (2 * acb.pi() * variance)
        lift = shift * (1 + z) / variance
        ratio = acb.modular_theta(lift / turn, nome)[2] / acb.modular_theta(acb(0), nome)[2]
        return complex_log(ratio) - shift * lift / 2

    def zcdp_rho(self) -> arb:
        """(D/s)^2/2. Reference: Canonne, Kamath, Steinke 2020, Prop. 5."""
        return (arb(self.pair.sensitivity) / arb(self.pair.sigma)) ** 2 / 2


@shifted_pair.register(DiscreteGaussianPair)
def _(pair: DiscreteGaussianPair, times: int) -> DiscreteGaussianPair:
    return DiscreteGaussianPair(pair.sigma, times * pair.sensitivity)


TERM = 2000.0  # units of work, for one weight in balls


def _weight_from(sigma: float, k: int) -> arb:
    """Sum of exp(-x^2 / (2 sigma^2)) over x >= k >= 1, by ratios, with a geometric remainder."""
    bits = ctx.prec
    with working_precision(bits + 2 * k.bit_length() + 2 * int(sigma + 2).bit_length() + 32):
        unit = 1 / (2 * arb(sigma) ** 2)
        weight, ratio, step = (-k * k * unit).exp(), (-(2 * k + 1) * unit).exp(), (-2 * unit).exp()
        first, total = weight, arb(0)
        while weight > first * arb(2) ** -(bits + 8):
            compute_budget.spend(TERM)
            total += weight
            weight *= ratio
            ratio *= step
        remainder = weight / (1 - ratio)
        return total + arb(0).union(remainder)


def _norm_ball(sigma: float) -> arb:
    """Z, directly for a small sigma and by Poisson summation, sigma sqrt(2 pi) sum exp(-2 pi^2 sigma^2 k^2), else."""
    if sigma < 0.4:
        return 1 + 2 * _weight_from(sigma, 1)
    dual = 1 / (2 * arb.pi() * arb(sigma))
    factor = arb(sigma) * (2 * arb.pi()).sqrt()
    total, k = arb(1), 1
    while True:
        term = 2 * (-((arb(k) / dual) ** 2) / 2).exp()
        if term < arb(2) ** -(ctx.prec + 8):
            return factor * (total + arb(0).union(2 * term))
        total += term
        k += 1


def _running(masses: FloatArray) -> FloatArray:
    """Running sums by blocks of 64: the error is 64 units per level, not one per term."""
    if len(masses) <= 64:
        return np.cumsum(masses)
    padded = np.pad(masses, (0, -len(masses) % 64)).reshape(-1, 64)
    inner = np.cumsum(padded, axis=1)
    before = np.insert(_running(inner[:, -1])[:-1], 0, 0.0)
    return (inner + before[:, None]).ravel()[: len(masses)]


# Gaussian weights on the integers: their sums in balls, and powers of their transforms in float64.
#
# T(v, theta) = sum over integers x of e^{-(x-v)^2/(2 s^2) + i theta (x-v)} is, by Poisson summation,
#     s sqrt(2 pi) sum over j of e^{-2 pi i j v} e^{-s^2 (theta - 2 pi j)^2/2}:
# a few terms of either sum are enough, of the first for a small s, of the second for a large one.
# Guarantee: balls contain the truth; float64 with its radii. Proof: docs/proofs/contour.md, section 13.
# Reference: Stein, Weiss 1971, Cor. VII.2.6 (Poisson summation).

DUAL_MIN = 1.2  # the least s for which two neighbours in the second sum leave out less than 1e-24
ANGLE_UNITS = 16.0  # error of an angle theta and of its rest after whole turns, in units of theta


def theta_ball(variance: arb, place: arb, angle: arb) -> acb:
    """T(place, angle) for a place in [-1/2, 1/2], without the factor e^{-i theta place}."""
    turn = 2 * acb.pi() * acb(0, 1)
    nome = acb(0, 1) / (2 * acb.pi() * variance)
    value = acb.modular_theta(acb(place / variance, angle) / turn, nome)[2]
    return value * (-place * place / (2 * variance)).exp()


def theta_factor(variance: Enclosure, place: Fraction, angles: FloatArray, count: int) -> Factor:
    """(T(place, theta)/T(place, 0))^count at angles known up to 10 units, for s >= DUAL_MIN."""
    import numpy as np

    square, uses = float(variance.value), float(count)
    whole = np.rint(angles / (2.0 * math.pi))
    rest = angles - 2.0 * math.pi * whole
    off = ANGLE_UNITS * UNIT * angles
    log = -0.5 * uses * square * rest * rest
    blur = float(variance.radius) / square + 8.0 * UNIT
    rounding = 1.01 * (abs(log) * blur + uses * square * abs(rest) * off + 0.5 * uses * square * off * off)
    # Whole turns of all uses at once: the fraction is exact before it is rounded.
    fraction = float(place * count % 1)
    turned = np.fmod(whole * fraction, 1.0)
    phase = -2.0 * math.pi * turned
    rounding = rounding + np.where(whole == 0.0, 0.0, 32.0 * UNIT * (1.0 + whole))
    zero = np.zeros_like(log)
    main = Factor(log, phase, log + 2.0 * rounding, zero, rounding)
    here, error = _neighbours(square, place, rest, off, blur)
    start, start_error = _neighbours(square, place, np.zeros(1), np.zeros(1), blur)
    left_out = 8.0 * math.exp(-round_down(4.0 * math.pi**2 * square, THOUSANDS))
    deviation = (here - start[0]) / (1.0 + start[0])
    radius = 1.01 * (error + float(start_error[0]) + left_out) + 16.0 * UNIT * (abs(here) + abs(start[0])) + 1e-300
    return multiply([main, power(Transform(deviation, zero, radius), uses)])


def _neighbours(
    square: float, place: Fraction, rest: FloatArray, off: FloatArray, blur: float
) -> tuple[npt.NDArray[np.complex128], FloatArray]:
    """The two terms next to the largest one, relative to it, and the error of their sum."""
    import numpy as np

    turn = 2.0 * math.pi * float(place % 1)
    total, error = np.zeros(rest.size, dtype=np.complex128), np.zeros(rest.size)
    for side in (1.0, -1.0):
        exponent = -2.0 * math.pi * square * np.maximum(math.pi - side * rest, 0.0)
        size = np.exp(exponent)
        total = total + size * complex(math.cos(turn), -side * math.sin(turn))
        spread = 2.0 * math.pi * square * 1.01 * off + abs(exponent) * (blur + 16.0 * UNIT)
        error = error + size * (np.expm1(np.minimum(spread, 700.0)) + 64.0 * UNIT)
    return total, error


# Discrete Gaussians: K(c) = D^2 c (1 + c)/(2 s^2) + log T(m, 0)/T(0, 0), m = D (1 + c), T of theta.
#
# Under the tilt e^{c l} the output x has the weights e^{-(x-m)^2/(2 s^2)}, and the loss is (D/s^2)(x - D/2); so
# phi(t) = e^{i t d} T(m, theta)/T(m, 0) with theta = t D/s^2 and the drift d = (D/s^2)(m - D/2).
# |phi| has the period 2 pi s^2/D. Within half of it |phi(t)| <= T(0, theta)/T(m, 0), which falls.
# Guarantee: exact. Proof: docs/proofs/contour.md, section 13.
# Reference: Canonne, Kamath, Steinke 2020, Def. 1 and Thm 7.

THETA_POINTS = 24  # points of a sum that take as long as one theta function in balls


@dataclass(frozen=True)
class Centred:
    """The tilted outputs around the whole number next to their centre, at the working precision: a tilted loss."""

    pair: DiscreteGaussianPair
    tilt: float

    @cached_property
    def centre(self) -> Fraction:
        """m."""
        return self.pair.sensitivity * (1 + Fraction(self.tilt))

    @property
    def nearest(self) -> int:
        """The whole number next to m."""
        return round(self.centre)

    @property
    def place(self) -> Fraction:
        """m less that number."""
        return self.centre - self.nearest

    @property
    def half(self) -> Fraction:
        """D/2."""
        return Fraction(self.pair.sensitivity, 2)

    @property
    def variance(self) -> arb:
        """s^2."""
        return arb(self.pair.sigma) ** 2

    @property
    def step(self) -> arb:
        """D/s^2."""
        return self.pair.sensitivity / self.variance

    def total(self) -> arb:
        """T(m, 0)."""
        return theta_ball(self.variance, ratio_ball(self.place), arb(0)).real

    @property
    def log_mgf(self) -> arb:
        return self.pair.moments().log_moment(acb(self.tilt)).real

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        place, lead, total = ratio_ball(self.place), ratio_ball(self.nearest - self.half), self.total()
        angles = [self.step * step * index for index in range(nodes)]
        return [theta_ball(self.variance, place, angle) / total * acb(0, angle * lead).exp() for angle in angles]


@dataclass(frozen=True)
class ThetaTilted:
    """A large sigma in float64: a normal transform, its neighbours two periods off."""

    log_mgf: Enclosure
    drift: Enclosure
    at: Centred

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        import numpy as np

        with working_precision(BITS_START):
            variance, width = enclosed([self.at.variance])[0], float(self.at.step.mid())
        return theta_factor(variance, self.at.place, width * (step * np.arange(nodes, dtype=np.float64)), count)


@dataclass(frozen=True)
class ThetaDecay:
    """T(0, theta)/T(m, 0), or from two neighbouring outputs sqrt(1 - 4 u sin^2(theta/2)), up to half a period."""

    at: Centred

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            at, total = self.at, self.at.total()
            angle = (at.step * arb(radius)).min(arb.pi())
            bound = upper_float((theta_ball(at.variance, arb(0), angle).real / total).log())
            place = ratio_ball(at.place)
            weights = [(-((x - place) ** 2) / (2 * at.variance)).exp() for x in range(-2, 3)]
            shared = sum((one * other for one, other in pairwise(weights)), arb(0))
            inner = -4 * shared / (total * total) * (angle / 2).sin() ** 2
            return min(0.0, bound, upper_float(inner.log1p() / 2))


@dataclass(frozen=True)
class DiscreteGaussianCgf(LatticeCgf):
    """K of a discrete Gaussian pair."""

    pair: DiscreteGaussianPair

    def cumulants(self, tilt: float) -> Cumulants:
        shift, sigma = self.pair.sensitivity, self.pair.sigma
        square = (shift / sigma) ** 2
        if sigma >= DUAL_MIN:
            return Cumulants(0.5 * square * tilt * (1.0 + tilt), square * (tilt + 0.5), square)
        centre = shift * (1.0 + tilt)
        nearest, step = round(centre), shift / sigma**2
        points = [
            (math.exp(((nearest - centre) ** 2 - (x - centre) ** 2) / (2.0 * sigma**2)), x - nearest)
            for x in range(nearest - 12, nearest + 13)
        ]
        tilted = point_cumulants(points, 0.0)
        log = tilted.value - (nearest - centre) ** 2 / (2.0 * sigma**2) - self._log_norm
        mean = step * (tilted.mean + nearest - shift / 2.0)
        return Cumulants(0.5 * square * tilt * (1.0 + tilt) + log, mean, step**2 * tilted.variance)

    @cached_property
    def _log_norm(self) -> float:
        return math.log(math.fsum(math.exp(-(x**2) / (2.0 * self.pair.sigma**2)) for x in range(-12, 13)))

    def log_mgf_above(self, tilt: float) -> float:
        with working_precision(BITS_START):
            return upper_float(Centred(self.pair, tilt).log_mgf)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return THETA_POINTS

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:

        at = Centred(self.pair, tilt)
        if self.pair.sigma < DUAL_MIN:
            return _listed(at, log_tolerance)
        with working_precision(BITS_START):
            known = enclosed([at.log_mgf, at.step * ratio_ball(at.centre - at.half)])
        return ThetaTilted(known[0], known[1], at)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        return Centred(self.pair, tilt)

    def own_period_cf_decay(self, tilt: float, own: Lattice) -> CfDecay:
        return ThetaDecay(Centred(self.pair, tilt))


def _listed(at: Centred, log_tolerance: float) -> TiltedLaw:
    """A small sigma in float64: the outputs next to the centre, and how much lies beyond."""

    sigma = at.pair.sigma
    reach = math.ceil(math.sqrt(0.25 + 2.0 * sigma**2 * (log_tolerance + 4.0))) + 1
    with working_precision(BITS_START):
        place, variance = ratio_ball(at.place), at.variance
        outputs = range(-reach, reach + 1)
        # Relative to the nearest one, so that none underflows that counts.
        weights = [(-(x * x - 2 * x * place) / (2 * variance)).exp() for x in outputs]
        # At a distance y they are at most e^{-y (y - 1)/(2 s^2)}, and neighbours have a ratio of e^{-y/s^2}.
        dropped = 2 * (-reach * (reach + 1) / (2 * variance)).exp() / -(-(reach + 1) / variance).expm1()
        offsets = enclosed([at.step * x for x in outputs])
        drift = enclosed([at.step * ratio_ball(at.nearest - at.half)])[0]
        log_mgf = enclosed([at.log_mgf])[0]
        law = TiltedLaw(drift, log_mgf, offsets, enclosed(weights), QuadratureError(upper_float(dropped), ()))
    return blurred(law, TIME_ERROR)
