"""The likelihood ratio g of an output, as the cgf of a sampled Gaussian needs it: of one record, or of a group.

g(x) = sum w_j e^{j mu x - j^2 mu^2/2}, w_j the chance of j hits. All its zeros in e^{mu x} are real and below 0, so g
is a product of D factors 1 - p_j + p_j e^{mu x}, and what is proven for one of them adds up. What is known of it: S(x),
the mean number of hits given x, which rises from 0 to D, and is the share of the shifted component for one record.
Shifts of any sizes and weights count as parts of one hit, the largest: D = 1, with bounds of their own.
Plain floats are choices; what is rounded up or down, or in balls, is proven.
Proof: docs/proofs/gaussian_mixture.md, sections 2, 3 and 6.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from flint import arb

from ...numerics.balls import BITS_START, erfc, lower_float, working_precision
from ...numerics.enclosures import exact, log_normal_sides
from ...numerics.rounding import FEW, MILLIONS, logistic, round_up, softplus

if TYPE_CHECKING:
    from ...numerics.enclosures import Enclosure, FloatArray
    from .cf_decay import CellTable
    from .mixture_quadrature import Centre


# Smooth marks on a standard normal x: the weight prod Phi(side (x - at)/width) below a hard end, and 0 above it.
#
# Marking a use by its x, with a probability that is the same under both hypotheses, leaves its loss as it is; the cgf
# of
# the marked part is an integral with this weight. The weight is analytic, and off the real axis
# |Phi(u + iv)| <= Phi(u) e^{v^2/2}, because Phi(w) = integral over s > 0 of n(w - s) ds, n the normal density.
# So a weight costs no more than a narrower bell: |n(x + iy) weight| <= n(x) weight(x) e^{lift y^2/2},
# lift = 1 + sum 1/width^2.
# numpy is imported where arrays are asked for only: both arithmetics use the rest.
# Guarantee: exact in balls. Proof: docs/proofs/contour.md, section 10.

ROOT_HALF = math.sqrt(0.5)
PHI_IS_ONE = 9.0  # from here on Phi rounds to 1


def log_phi(u: float) -> float:
    """log Phi(u) in plain floats, to a few digits far out."""
    if u > PHI_IS_ONE:
        return 0.0
    if u > -30.0:
        return math.log(0.5 * math.erfc(-u * ROOT_HALF))
    return -0.5 * u * u - math.log(-u) - 0.5 * math.log(2.0 * math.pi)


def ball_phi(u: arb) -> arb:
    """Phi(u)."""
    return erfc(-u / arb(2).sqrt()) / 2


@dataclass(frozen=True, slots=True)
class Edge:
    """Phi(side (x - at)/width): about 1 on one side of `at`, about 0 on the other."""

    at: float
    width: float
    side: int

    def distance(self, x: float) -> float:
        """How far x lies on the good side, in widths."""
        return self.side * (x - self.at) / self.width

    def ball_weight(self, x: arb) -> arb:
        """The weight at x."""
        return ball_phi(self.side * (x - arb(self.at)) / arb(self.width))

    def ball_missing(self, x: arb) -> arb:
        """1 - weight at x."""
        return ball_phi(self.side * (arb(self.at) - x) / arb(self.width))

    def log_sides(self, points: FloatArray) -> tuple[Enclosure, Enclosure]:
        """log of the weight and of 1 - weight at each point, in float64."""

        return log_normal_sides((exact(points) - self.at) * float(self.side) / self.width)


@dataclass(frozen=True, slots=True)
class SoftWindow:
    """A product of edges below a hard end; without either it is no window at all."""

    edges: tuple[Edge, ...] = ()
    end: float = math.inf

    @property
    def lift(self) -> float:
        """How much faster the integrand grows off the real axis than a bell, at most; 1 without edges."""
        return 1.0 + round_up(sum(edge.width**-2 for edge in self.edges), FEW)

    @property
    def narrowest(self) -> float:
        """The least width of an edge."""
        return min((edge.width for edge in self.edges), default=math.inf)

    def log_weight(self, x: float) -> float:
        """log of the weight below the end, in plain floats."""
        total = 0.0
        for edge in self.edges:
            total += log_phi(edge.distance(x))
        return total

    def ball_weight(self, x: arb) -> arb:
        """The weight at a point below the end."""
        weight = arb(1)
        for edge in self.edges:
            weight *= edge.ball_weight(x)
        return weight

    def ball_missing(self, x: arb) -> arb:
        """1 - weight at a point below the end, precise where it is small."""
        missing = arb(0)
        for edge in self.edges:
            missing += edge.ball_missing(x) * (1 - missing)
        return missing

    def ball_slope_left_of(self, x: arb) -> arb:
        """A lower bound of the slope of the log weight everywhere left of x.

        A rising edge adds at least -u/width, since Phi'(u)/Phi(u) >= -u; a falling one takes away at most what it
        takes away at x, since Phi'/Phi falls. Positive: the weight falls towards the left.
        """
        slope = arb(0)
        for edge in self.edges:
            u = edge.side * (x - arb(edge.at)) / arb(edge.width)
            if edge.side > 0:
                slope += (-u).max(arb(0)) / arb(edge.width)
            else:
                slope -= (-u * u / 2).exp() / (2 * arb.pi()).sqrt() / ball_phi(u) / arb(edge.width)
        return slope

    def slope_left_of(self, x: float) -> float:
        """The same as a double, rounded down."""
        with working_precision(BITS_START):
            return lower_float(self.ball_slope_left_of(arb(x)))

    @property
    def start(self) -> float:
        """A point left of which a bell with these weights surely falls, where the weight vanishes; inf elsewhere.

        The slope of its log is at least -x + (at - x)/width^2 for a rising edge.
        """
        rising = (edge for edge in self.edges if edge.side > 0)
        return min((edge.at / (1.0 + edge.width**2) - 2.0 * edge.width for edge in rising), default=math.inf)


WHOLE = SoftWindow()


# A bound on |phi(t)| for all t >= R at once: the decay of a sampled normal along the contour.
#
# phi is the transform of log g under the density proportional to n g^a (grid). Moving the path of
# integration to x + i y(x), 0 <= y <= pi/(2 mu), gives for every t >= R
# |phi(t)| <= E[exp(U)],  U = y^2/2 + log|1 + i y'| + a log|g(x + iy)/g(x)| - R arg g(x + iy),
# because arg g >= 0. Here y = Y (1 - e^{-b R mu pi/Y}), pi(x) the share of the shifted component, rising with x; for
# a < 0, where |g|^a grows off the real axis, Y is at most R/(|a| mu), so that the drop outweighs it. On a cell U is
# bounded through the monotonicity of each part, and so is the mass of the cell through its log slope.
# With a window (window) the density has its weight, the lift y^2/2 grows by what each edge adds, and the path
# comes back to the real axis at the hard end, which costs at most Y f(end) e^{lift Y^2/2}, f the density.
# One formula for two arithmetics: numbers are arrays of doubles, or balls.
# Guarantee: upper. Proof: docs/proofs/contour.md, section 4.

Number = Any  # arrays of doubles, or balls: both have the operators

SHIFTS = ((0.1, 0.3), (0.35, 0.8))  # (Y as a fraction of pi/mu, b); the first for small radii
EDGE_HEIGHTS = (3.0, 8.0)  # in widths of the narrowest edge: how far to shift at most


class Arithmetic(Protocol):
    """What the formula needs beyond operators."""

    def exp(self, x: Number) -> Number: ...
    def log(self, x: Number) -> Number: ...
    def expm1(self, x: Number) -> Number: ...
    def log1p(self, x: Number) -> Number: ...
    def sin(self, x: Number) -> Number: ...
    def cos(self, x: Number) -> Number: ...
    def angle(self, y: Number, x: Number) -> Number: ...
    def smaller(self, x: Number, y: Number) -> Number: ...
    def softplus(self, x: Number) -> Number: ...


@dataclass(frozen=True, slots=True)
class EdgeWeight:
    """An edge on a cell: its width, log of the largest 1 - weight, and minus the log of the least weight."""

    width: float
    log_missing: Number
    log_inside: Number


@dataclass(frozen=True, slots=True)
class DecayCell:
    """Ends of a cell, the share pi of the shifted component there, 1 - pi, and the edges of the window."""

    left: Number
    right: Number
    share_left: Number
    share_right: Number
    other_left: Number
    other_right: Number
    marks: tuple[EdgeWeight, ...] = ()

    def spread(self, ops: Arithmetic) -> tuple[Number, Number]:
        """The least and the most of pi (1 - pi) on the cell.

        It is at most 1/4 and at most the larger pi times the larger 1 - pi; concave, so least at an end.
        """
        most = ops.smaller(self.share_right * self.other_left, self.share_left * 0 + 0.25)
        return ops.smaller(self.share_left * self.other_left, self.share_right * self.other_right), most

    def log_modulus(self, ops: Arithmetic, spread: tuple[Number, Number], half: Number, power: float) -> Number:
        """At or above a log|g(x + iy)/g(x)|, half the sine of mu y/2."""
        least, most = spread
        return ops.log1p((least if power >= 0.0 else most) * half * half * -4.0) * (0.5 * power)

    def turn(self, ops: Arithmetic, angle: Number) -> Number:
        """At or below arg g(x + iy), where mu y is at least this angle."""
        return ops.angle(self.share_left * ops.sin(angle), self.other_left + self.share_left * ops.cos(angle))


@dataclass(frozen=True, slots=True)
class MixedCell:
    """Ends of a cell, the mean S of the hits there, from below and from above, and its variance V on the cell.

    log|g(x + iy)/g(x)| lies between 2 V log(1 - sin^2(mu y/2)) and -2 V sin^2(mu y/2), arg g at or above S sin(mu y).
    """

    left: Number
    right: Number
    share_left: Number
    share_right: Number
    least: Number
    most: Number
    marks: tuple[EdgeWeight, ...] = ()

    def spread(self, ops: Arithmetic) -> tuple[Number, Number]:
        """The least and the most of V on the cell."""
        return self.least, self.most

    def log_modulus(self, ops: Arithmetic, spread: tuple[Number, Number], half: Number, power: float) -> Number:
        """At or above a log|g(x + iy)/g(x)|, half the sine of mu y/2."""
        square, (least, most) = half * half, spread
        return least * square * (-2.0 * power) if power >= 0.0 else most * ops.log1p(-square) * (2.0 * power)

    def turn(self, ops: Arithmetic, angle: Number) -> Number:
        """At or below arg g(x + iy), where mu y is at least this angle."""
        return self.share_left * ops.sin(angle)


@dataclass(frozen=True, slots=True)
class UnevenCell(MixedCell):
    """The same of a mixture whose zeros are not known to be real, mu its largest shift, mu y at most pi/2.

    |g(x + iy)/g(x)|^2 >= 1 - V (mu y)^2 only, and (mu y)^2 <= 4 q (1 + 0.4675 q), q = sin^2(mu y/2) <= 1/2.
    """

    def log_modulus(self, ops: Arithmetic, spread: tuple[Number, Number], half: Number, power: float) -> Number:
        if power >= 0.0:
            return MixedCell.log_modulus(self, ops, spread, half, power)
        square, most = half * half, spread[1]
        return ops.log1p(most * square * (square * 0.4675 + 1.0) * -4.0) * (0.5 * power)


Cell = DecayCell | MixedCell


def shifts(marked: SoftWindow) -> list[tuple[float, float, float]]:
    """Y as a fraction of pi/mu, b, and the most that Y may be: what to try."""
    most = [height * marked.narrowest for height in EDGE_HEIGHTS] if marked.edges else [math.inf]
    return [(fraction, eagerness, limit) for fraction, eagerness in SHIFTS for limit in most]


def shift_height(ops: Arithmetic, mu: Number, power: float, radius: float, height: Number, limit: float) -> Number:
    """Y: as given, or what the power and the edges allow."""
    if power < 0.0:
        return ops.smaller(height, radius / (mu * -power))
    return height if limit == math.inf else ops.smaller(height, height * 0 + limit)


def edge_lift(ops: Arithmetic, mark: EdgeWeight, high: Number) -> Number:
    """log of how much a weight grows at most between x and x + iy, 0 <= y <= high.

    With v = y/width and p the largest 1 - weight: v^2/2, or log(1 + p e^{v^2/2}) - log(1 - p).
    """
    whole = high * high * 0.5 / mark.width / mark.width
    return ops.smaller(whole, ops.softplus(whole + mark.log_missing) + mark.log_inside)


def exponent(
    ops: Arithmetic, cell: Cell, mu: Number, power: float, radius: float, height: Number, eagerness: Number
) -> tuple[Number, Number]:
    """An upper bound of U on the cell, and the sum of the sizes of its parts (for rounding)."""
    scale = radius * eagerness * mu / height
    low, high = height * -ops.expm1(cell.share_left * -scale), height * -ops.expm1(cell.share_right * -scale)
    spread = cell.spread(ops)
    steep = spread[1] * ops.exp(cell.share_left * -scale) * mu * mu * (radius * eagerness)
    bend = ops.log1p(steep * steep) * 0.5
    lift = high * high * 0.5
    for mark in cell.marks:
        lift = lift + edge_lift(ops, mark, high)
    turn_low, turn_high = low * mu, high * mu
    half = ops.sin((turn_low if power >= 0.0 else turn_high) * 0.5)
    modulus = cell.log_modulus(ops, spread, half, power)
    drop = radius * cell.turn(ops, turn_low)
    return lift + bend + modulus - drop, lift + bend + abs(modulus) + drop


def log_masses(
    ops: Arithmetic, cell: Cell, logs: tuple[Number, Number, Number], mu: Number, power: float
) -> tuple[Number, Number]:
    """Logs of a lower and an upper bound of the mass of a cell, divided by its width.

    logs: the log density at the left end, in the middle and at the right end. Its slope lies within s +- r; with L in
    the middle Jensen gives the lower bound L - r width/4, and sinh(v)/v <= e^{v^2/6} the upper one
    L + r width/2 + (s width)^2/24. Where the density is steep, its value at an end is the better upper bound: divided
    by v where it falls from there at least at the rate v/width, v > 1.
    """
    left_log, middle_log, right_log = logs
    width = cell.right - cell.left
    first, second = (cell.share_left, cell.share_right) if power >= 0.0 else (cell.share_right, cell.share_left)
    lowest, highest = first * mu * power - cell.right, second * mu * power - cell.left
    spread, slope = (highest - lowest) * 0.5, (highest + lowest) * 0.5 * width
    from_middle = middle_log + spread * width * 0.5 + slope * slope / 24.0
    from_left = left_log - ops.smaller(highest * -1.0, highest * 0.0) * width - _log_above_one(ops, highest * -width)
    from_right = right_log - ops.smaller(lowest, lowest * 0.0) * width - _log_above_one(ops, lowest * width)
    return middle_log - spread * width * 0.25, ops.smaller(from_middle, ops.smaller(from_left, from_right))


def _log_above_one(ops: Arithmetic, x: Number) -> Number:
    """log max(x, 1)."""
    return ops.log(ops.smaller(x * -1.0, x * 0.0 - 1.0) * -1.0)


def tail_slopes(
    left: Number, right: Number, share_left: Number, mu: Number, power: float, most: int = 1
) -> tuple[Number, Number]:
    """How fast the log density falls at least beyond the first and the last edge."""
    if power >= 0.0:
        return -left, right - mu * power * most
    return share_left * mu * power - left, right


SHARE_EXPONENT_MAX = 1e5  # an error of 1e-9 at most
MODE_WIDTH = 1e-3
LOWEST = -5.0  # of all splits
LARGE_LOSS = 40.0  # e^loss - 1 + rate is e^loss above


class LikelihoodPoint(NamedTuple):
    """At an output: log g up to a constant, S, and V (one hit: 1 - S)."""

    log: arb
    share: arb
    other: arb


class Likelihood(ABC):
    """g, S and the law of the outputs."""

    mu: float  # about

    @property
    @abstractmethod
    def most(self) -> int:
        """D, the most hits."""

    @property
    def many(self) -> bool:
        """Whether there are other shifts than one."""
        return False

    @property
    @abstractmethod
    def participation_share(self) -> float:
        """About how likely there is a hit."""

    @abstractmethod
    def log_g(self, x: float) -> float:
        """log g up to a constant, about."""

    @abstractmethod
    def share(self, x: float) -> float:
        """S, about."""

    @abstractmethod
    def plain_point(self, x: float) -> tuple[float, float, float]:
        """log g up to a constant, S and V, about."""

    @abstractmethod
    def loss(self, x: float) -> float:
        """log g, about."""

    @abstractmethod
    def place_of(self, loss: float) -> float:
        """The output with this loss, about; LOWEST where every output has a larger one."""

    @abstractmethod
    def log_odds(self, x: float) -> float:
        """log of S to D - S, about."""

    @abstractmethod
    def place_of_odds(self, level: float) -> float:
        """Where the last of the factors has these log odds, about."""

    @abstractmethod
    def log_beyond(self, x: float, spread: float) -> float:
        """log of P[output > x] where the noise has this spread, about."""

    @abstractmethod
    def share_above(self, x: float) -> float:
        """At or above S(x), or D; also where mu is off by a few units."""

    @abstractmethod
    def highest(self, power: float, width: float) -> float:
        """Where the density n g^a, a >= 0, has fallen by width^2/2 e-folds for good, or beyond, about."""

    @abstractmethod
    def beyond(self, mu: float, power: float, x: float, step: float) -> float:
        """At or above the integral, and step times the sum over x, x + step, ..., of n g^a from x on, divided by its
        value at x; inf where nothing is known. mu is an upper bound, a >= 0.
        """

    @abstractmethod
    def ball_g(self, mu: arb, x: arb) -> arb:
        """g(x)."""

    @abstractmethod
    def ball_share(self, mu: arb, x: arb) -> arb:
        """S(x)."""

    @abstractmethod
    def ball_tail(self, mu: arb, x: arb, spread: arb) -> arb:
        """P[output > x] where the noise has this spread."""

    @abstractmethod
    def ball_point(self, mu: arb, x: arb) -> LikelihoodPoint:
        """What a decay bound needs to know of g at x."""

    @abstractmethod
    def ball_cell(
        self,
        mu: arb,
        ends: tuple[arb, arb],
        points: tuple[LikelihoodPoint | None, LikelihoodPoint | None],
        marks: tuple[EdgeWeight, ...],
    ) -> Cell:
        """A cell of a decay bound, from what is known at its ends; None stands for an end at infinity."""

    @abstractmethod
    def float_cells(self, mu: float, power: float, edges: FloatArray) -> CellTable | None:
        """All cells of a decay bound in float64; None where they cannot be trusted."""

    @abstractmethod
    def centre(self, mu: Enclosure, x: float) -> Centre:
        """g next to x, in float64."""

    def turning(self, share: float) -> float:
        """At or above arg g(x + iy)/(mu y) where S(x) is at most the share: each factor has at most p, or 1.

        Where g is no product of such factors: at most 2 S, or D.
        """
        return share if share < 0.5 else min(float(self.most), 2.0 * share)

    def ball_turning(self, share: arb) -> arb:
        """The same in balls."""
        return share if share < 0.5 else (2 * share).min(arb(self.most))

    def mode(self, power: float) -> float:
        """The mode of n g^a for a < 0, about: the log density is concave with curvature at least 1."""
        pull, low, high = power * self.mu, power * self.mu * self.most, 0.0
        share, width = self.share, MODE_WIDTH * self.most
        for _ in range(80):
            if high - low < width:
                break
            middle = 0.5 * (low + high)
            low, high = (low, middle) if middle > pull * share(middle) else (middle, high)
        return 0.5 * (low + high)

    def log_density(self, power: float, x: float) -> float:
        """log of n g^a up to a constant, about."""
        return power * self.log_g(x) - 0.5 * x * x


def log_odds(mu: float, rate: float) -> float:
    """b such that the odds of the shifted component at x are e^{mu x + b}, approximately."""
    return math.log(rate) - math.log1p(-rate) - 0.5 * mu * mu


@dataclass(frozen=True)
class SubsampledLikelihood(Likelihood):
    """g = 1 - rate + rate e^{mu x - mu^2/2}."""

    mu: float
    rate: float

    @cached_property
    def odds(self) -> float:
        """log odds of the shifted component at 0, about."""
        return log_odds(self.mu, self.rate)

    @property
    def most(self) -> int:
        return 1

    @property
    def participation_share(self) -> float:
        return self.rate

    def log_g(self, x: float) -> float:
        return softplus(self.mu * x + self.odds)

    def share(self, x: float) -> float:
        return logistic(self.mu * x + self.odds)

    def plain_point(self, x: float) -> tuple[float, float, float]:
        share = self.share(x)
        return self.log_g(x), share, share * (1.0 - share)

    def log_density(self, power: float, x: float) -> float:
        return power * softplus(self.mu * x + self.odds) - 0.5 * x * x

    def loss(self, x: float) -> float:
        return math.log1p(-self.rate) + softplus(self.mu * x + self.odds)

    def place_of(self, loss: float) -> float:
        above = math.expm1(min(loss, LARGE_LOSS)) + self.rate
        if not above > 0.0:
            return LOWEST
        log_above = loss if loss >= LARGE_LOSS else math.log(above)
        return (log_above - math.log1p(-self.rate) - self.odds) / self.mu

    def log_odds(self, x: float) -> float:
        return self.mu * x + self.odds

    def place_of_odds(self, level: float) -> float:
        return (level - self.odds) / self.mu

    def log_beyond(self, x: float, spread: float) -> float:
        base = math.log1p(-self.rate) + log_phi(-x / spread)
        shifted = math.log(self.rate) + log_phi((self.mu - x) / spread)
        return max(base, shifted) + math.log1p(math.exp(-abs(base - shifted)))

    def share_above(self, x: float) -> float:
        known = abs(self.mu * x) + abs(self.odds) + self.mu * self.mu < SHARE_EXPONENT_MAX
        return round_up(logistic(self.mu * x + self.odds), MILLIONS) if known else 1.0

    def highest(self, power: float, width: float) -> float:
        return power * self.mu + width

    def beyond(self, mu: float, power: float, x: float, step: float) -> float:
        return math.inf

    def ball_g(self, mu: arb, x: arb) -> arb:
        share = arb(self.rate)
        return 1 - share + share * (mu * x - mu * mu / 2).exp()

    def ball_share(self, mu: arb, x: arb) -> arb:
        odds = arb(self.rate) / (1 - arb(self.rate)) * (mu * x - mu * mu / 2).exp()
        return odds / (1 + odds)

    def ball_tail(self, mu: arb, x: arb, spread: arb) -> arb:
        share = arb(self.rate)
        return (1 - share) * ball_phi(-x / spread) + share * ball_phi((mu - x) / spread)

    def ball_point(self, mu: arb, x: arb) -> LikelihoodPoint:
        share = arb(self.rate)
        odds = (mu * x + share.log() - (-share).log1p() - mu * mu / 2).exp()
        return LikelihoodPoint(odds.log1p(), odds / (1 + odds), 1 / (1 + odds))

    def ball_cell(
        self,
        mu: arb,
        ends: tuple[arb, arb],
        points: tuple[LikelihoodPoint | None, LikelihoodPoint | None],
        marks: tuple[EdgeWeight, ...],
    ) -> Cell:
        left, right = points[0] or NOWHERE, points[1] or EVERYWHERE
        return DecayCell(*ends, left.share, right.share, left.other, right.other, marks)

    def float_cells(self, mu: float, power: float, edges: FloatArray) -> CellTable | None:
        from .cf_decay import subsampled_cells

        return subsampled_cells(mu, log_odds(mu, self.rate), power, edges)

    def centre(self, mu: Enclosure, x: float) -> Centre:
        from .mixture_quadrature import subsampled_centre

        return subsampled_centre(mu, self.rate, x)


NOWHERE = LikelihoodPoint(arb(0), arb(0), arb(1))
EVERYWHERE = LikelihoodPoint(arb(0), arb(1), arb(0))
Chance = float | Likelihood


def likelihood(mu: float, chance: Chance) -> Likelihood:
    """That of one record in a sample at a rate, or the one that was given."""
    return SubsampledLikelihood(mu, chance) if isinstance(chance, float | int) else chance
