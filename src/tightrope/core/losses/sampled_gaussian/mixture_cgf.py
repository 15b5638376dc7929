"""Poisson-sampled Gaussian shifts, in both directions, by certified quadrature.

x is standard normal, g = 1 - rate + rate e^{mu x - mu^2/2}: M(z) = E[g^{1+z}] for remove and E[g^{-z}] for add.
Guarantee: errors as stated by quadrature_float, quadrature_ball and decay.
Reference: Zhu, Dong, Wang 2021, Thm 11; Trefethen, Weideman 2014, Thm 5.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from flint import arb

from ...numerics.balls import BITS_START, working_precision
from ...numerics.enclosures import enclosing
from ...numerics.mixture import STEEP_GROWTH, mixed_plain
from ...numerics.rounding import dyadic
from ...values import compute_budget
from ...values.errors import UnsupportedMechanism
from ..cgf import (
    LOG_TOLERANCE,
    BallTilted,
    CfDecay,
    Cgf,
    Cumulants,
    Decisive,
    NoCfDecay,
    Partitionable,
    RestrictedCgf,
    Split,
)
from ..gaussian import GaussianPair, mu_bounds, mu_value
from .cf_decay import ball_cf_decay, decay
from .likelihood import LOWEST, WHOLE, Chance, Edge, Likelihood, SoftWindow, ball_phi, likelihood, log_phi
from .mixture_quadrature import log_mgf_above, sampled_normal, sampled_normal_ball
from .node_grid import COARSE, choose_grid, choose_step, error_modes, log_cumulants, restricted_strip, window

if TYPE_CHECKING:
    from ...numerics.quadrature import TiltedLaw


ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
ALIAS_SLACK = 1e-9
EXPONENT_MAX = 1e5
COARSE_MAX = 20_000


@dataclass(frozen=True)
class SampledPart(Cgf):
    """K of ((1 - rate) Q + rate P, Q) (sign 1) or of its reverse (sign -1), for Gaussian (P, Q), whole or marked."""

    base: GaussianPair
    rate: Chance
    sign: int
    window: SoftWindow = WHOLE

    @cached_property
    def mu(self) -> float:
        """Approximately."""
        return mu_value(self.base)

    @cached_property
    def law(self) -> Likelihood:
        """Of its outputs, about."""
        return likelihood(self.mu, self.rate)

    def power(self, tilt: float) -> float:
        """The exponent a of the tilted density n g^a."""
        return 1.0 + tilt if self.sign > 0 else -tilt

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return choose_grid(self.mu, self.law, self.power(tilt), reach, log_tolerance, self.window).size

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> TiltedLaw:

        mu = enclosing(*mu_bounds(self.base))
        return sampled_normal(mu, self.rate, self.sign, tilt, reach, log_tolerance, self.window)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        mu = self.base.ball_mu()
        return sampled_normal_ball(mu, self.rate, self.sign, tilt, reach, log_tolerance, self.window)

    def cf_decay(self, tilt: float) -> CfDecay:

        return decay(self.mu, self.law, self.power(tilt), self.window) or NoCfDecay()

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        with working_precision(BITS_START):
            return ball_cf_decay(self.base.ball_mu(), self.rate, self.power(tilt), self.window) or NoCfDecay()


class SampledCgf(SampledPart):
    """K of all of it."""

    def cumulants(self, tilt: float) -> Cumulants:
        """Trapezoid sums in plain floats, coarse but far better than the choice of a contour needs."""
        step = min(0.7, 1.2 / self.mu)
        cumulants = log_cumulants(*self._coarse(self.mu, tilt, step, 7.0), step / ROOT_TWO_PI)
        return Cumulants(cumulants.value, self.sign * cumulants.mean, cumulants.variance)

    def log_mgf_above(self, tilt: float) -> float:
        """The trapezoid sum, raised by its error and by more than all roundings; K grows with mu.

        The nodes reach 9 beyond everything heavy, so that what lies outside weighs less than e^-30.
        """
        mu, power = mu_bounds(self.base)[1], self.power(tilt)
        strip = restricted_strip(self.law, WHOLE)
        step = choose_step(mu, power, 0.0, 25.0, strip)
        if COARSE_MAX * step < 20.0:
            return float(self.tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf.upper)
        _, logs = self._coarse(mu, tilt, step, 9.0)
        top = max(logs)
        error = math.exp(min(constant for constant, _ in error_modes(mu, power, step, strip)))
        if not (error < 1e-6 and max(map(abs, logs)) < EXPONENT_MAX):
            return math.inf
        total = sum([math.exp(log - top) for log in logs])
        return top + math.log(total * step / ROOT_TWO_PI) + 2.0 * error + ALIAS_SLACK

    def _coarse(self, mu: float, tilt: float, step: float, width: float) -> tuple[list[float], list[float]]:
        """Values of log g and logs of the tilted density on a grid, each to a few roundings of its parts."""
        power = self.power(tilt)
        low, high = window(mu, self.law, power, width)
        if self.law is self.rate:
            low = math.floor(low / step) * step  # many tilts share nodes
        size = math.ceil((high - low) / step) + 1
        if size > COARSE_MAX:
            raise UnsupportedMechanism("its losses are too large for a contour; try engine='lattice'")
        compute_budget.spend(COARSE * size)
        values, bells = self._nodes(mu, low, step, size)
        return values, [power * value - bell for value, bell in zip(values, bells, strict=True)]

    def _nodes(self, mu: float, low: float, step: float, size: int) -> tuple[list[float], list[float]]:
        """log g and x^2/2 at the nodes from low on; those of other tilts from there on are not worked out again."""
        law, middle, last = self.law, 0.5 * mu * mu, low + (size - 1) * step
        rate = law.participation_share  # or the rate
        plain = law is not self.rate and mu * last - middle <= STEEP_GROWTH and (rate < 0.5 or mu * low - middle > -1.0)
        here = mu, low, step, plain
        if here not in self._kept:  # a search stays with one
            self._kept.clear()
            self._kept[here] = [], []
        values, bells = self._kept[here]
        more = range(len(values), size)
        if law is self.rate:
            first = round(low / step)
            nodes = [(first + index) * step for index in more]
            values += [law.loss(x) for x in nodes]
        else:
            nodes = [low + index * step for index in more]
            if plain:
                values += [math.log1p(rate * math.expm1(mu * x - middle)) for x in nodes]
            else:
                values += [mixed_plain(mu * x - middle, rate) for x in nodes]
        bells += [0.5 * x * x for x in nodes]
        return values[:size], bells[:size]

    @cached_property
    def _kept(self) -> dict[tuple[float, float, float, bool], tuple[list[float], list[float]]]:
        return {}

    def partition(self) -> Partitionable | None:

        return GaussianPartition(self.base, self.rate) if self.sign > 0 and self.rate != 1.0 else None


# Marked parts of a Poisson-sampled Gaussian, in the direction of removal: M(z) = E_P[e^{zl} weight(x)].
#
# weight: window. log M(0) < 0 is the log of the probability of the mark. Where the windows lie is a choice.
# Guarantee: errors as stated by quadrature_float, quadrature_ball and decay.
# Proof: docs/proofs/contour.md, section 10.

LOWEST_OUTPUT = -8.0  # standard deviations: where plain sums begin
CELLS = 1.0  # nodes of plain sums per width of an edge
FINE, RESTRICTED_POINTS_MAX = 0.5, 4000
WIDTHS = (0.25, 0.125, 0.0625, 0.03125, 0.015625)  # of a cut, from the softest on
ENDS = (12.0, 16.0)  # widths from the cut to the hard end
SMOOTH, SMOOTH_WIDTH = 0.05, 4.0  # below this mu losses are nearly straight in x, and cuts may be wider so many times
BODY_ENDS = (10.0, 12.0, 14.0, 16.0, 20.0, 25.0, 32.0)  # widths from the split to the hard end of the body
PLACE = 2.0**-8  # where edges lie
NEXT, TAIL_FOLLOWED = 0.01, 4.0  # a step along a tail, and as far as any is followed
TINY_EXCESS = 1e-18
DECIDING_WIDTH, DECIDING_END = 0.0625, 12.0  # of a cut above what decides, and widths to its hard end
DECIDING_ROOM = 5.0  # widths from the loss that decides to the middle of the cut
LOW_CELLS, LOW_CELL, LOW_BELOW = 24, 0.5, 10.0  # of what is rare: how many, widths of one, widths below the cut


@dataclass(frozen=True)
class GaussianPartition(Partitionable):
    """Marks of ((1 - rate) Q + rate P, Q), rate < 1, by the output x: its loss rises with it."""

    base: GaussianPair
    rate: Chance

    @cached_property
    def mu(self) -> float:
        """Approximately."""
        return mu_value(self.base)

    @cached_property
    def law(self) -> Likelihood:
        """Of its outputs."""
        return likelihood(self.mu, self.rate)

    def log_alone(self, epsilon: float) -> float:
        return self._log_alone(self.place_of(epsilon))

    def alone(self, log_delta: float) -> float:
        low, high = -10.0, self._exceeded(log_delta, 0.0)
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._log_alone(middle) > log_delta else (low, middle)
        return self.loss(high)

    def loss(self, place: float) -> float:
        """The loss of an output."""
        return self.law.loss(place)

    def place_of(self, loss: float) -> float:
        """The output with this loss; LOWEST where every output has a larger one."""
        return self.law.place_of(loss)

    def _log_alone(self, place: float) -> float:
        """log of P[x > place] (1 - e^-excess), the excess of the loss being that where the tail is e times lower."""
        log, further = self.log_beyond(place), self.log_beyond(place + NEXT)
        excess = self.loss(place + min(NEXT / max(log - further, 1e-9), TAIL_FOLLOWED)) - self.loss(place)
        return log + math.log(max(-math.expm1(-excess), TINY_EXCESS))

    def cut(self, log_mass: float, sharpness: int) -> RestrictedGaussianCgf:
        width, end = WIDTHS[sharpness // len(ENDS)], ENDS[sharpness % len(ENDS)]
        width *= SMOOTH_WIDTH if self.mu < SMOOTH else 1.0
        at = _rounded(self._exceeded(log_mass, width))
        return RestrictedGaussianCgf(self.base, self.rate, 1, SoftWindow((Edge(at, width, -1),), at + end * width))

    def cut_above(self, loss: float) -> RestrictedCgf | None:
        if not isinstance(self.rate, float):
            return None
        width = DECIDING_WIDTH * (SMOOTH_WIDTH if self.mu < SMOOTH else 1.0)
        place = self.place_of(loss)
        if not place > LOWEST_OUTPUT:
            return None
        at = _rounded((place + DECIDING_ROOM * width) * (1.0 + width * width))  # what it cuts lies that much lower
        window = SoftWindow((Edge(at, width, -1),), at + DECIDING_END * width)
        return RestrictedGaussianCgf(self.base, self.rate, 1, window)

    def log_beyond(self, x: float, width: float = 0.0) -> float:
        """log of P[output + noise > x], where the noise is so wide."""
        return self.law.log_beyond(x, math.hypot(1.0, width))

    def _exceeded(self, log_mass: float, width: float) -> float:
        """X such that a use lies beyond it with this probability."""
        spread = math.hypot(1.0, width)
        low, high = -10.0, self.mu * self.law.most + spread * (10.0 + math.sqrt(2.0 * max(0.0, -log_mass)))
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.log_beyond(middle, width) > log_mass else (low, middle)
        return high


def _rounded(x: float) -> float:
    """x, rounded up to where edges lie."""
    return math.ceil(x / PLACE) * PLACE


class RestrictedGaussianCgf(SampledPart, RestrictedCgf):
    """K of the part of ((1 - rate) Q + rate P, Q) with a window, which has a hard end."""

    @cached_property
    def whole(self) -> GaussianPartition:
        """The law that it is a part of."""
        return GaussianPartition(self.base, self.rate)

    @property
    def share(self) -> float:
        return self.whole.law.participation_share

    def split_loss(self, epsilon: float, height: float) -> float:
        highest = min(self.window.edges[-1].at, self.whole.place_of(0.5 * epsilon))
        return self.whole.loss(LOWEST + height * (highest - LOWEST))

    def split(self, loss: float, epsilon: float, widths: float, log_mass: float) -> Split:
        at = max(LOWEST, min(self.whole.place_of(loss), self.window.edges[-1].at))
        room = (self.whole.place_of(epsilon) - at) / widths
        width = dyadic(max(WIDTHS[-1], min(WIDTHS[0], room)), 4)
        at = _rounded(at)
        ends = ((-1, min(self.window.end, self._body_end(at, width, log_mass))), (1, self.window.end))
        windows = (SoftWindow((Edge(at, width, side), *self.window.edges), last) for side, last in ends)
        return Split(*(replace(self, window=window) for window in windows))

    def _body_end(self, at: float, width: float, log_mass: float) -> float:
        """The first end of the body beyond which it would have no more than this mass; inf without one."""
        for widths in BODY_ENDS:
            end = _rounded(at + widths * width)
            if log_phi((at - end) / width) + self.whole.log_beyond(end) < log_mass - 1.0:
                return end
        return math.inf

    @cached_property
    def _points(self) -> tuple[list[float], list[float]]:
        """Losses and logs of the untilted masses on a grid, in plain floats."""
        mu = mu_value(self.base)
        step = max(
            (self.window.end - LOWEST_OUTPUT) / RESTRICTED_POINTS_MAX,
            min(FINE, 1.0 / mu, self.window.narrowest / CELLS),
        )
        size = math.floor((self.window.end - LOWEST_OUTPUT) / step)
        law, unit = self.whole.law, math.log(step) - 0.5 * math.log(2.0 * math.pi)
        compute_budget.spend(COARSE * size * (1 + len(self.window.edges)))
        places = [self.window.end - (index + 0.5) * step for index in range(size)]
        losses = [law.loss(x) for x in places]
        weight = self.window.log_weight
        return losses, [unit + loss - 0.5 * x * x + weight(x) for loss, x in zip(losses, places, strict=True)]

    def cumulants(self, tilt: float) -> Cumulants:
        losses, logs = self._points
        compute_budget.spend(COARSE * len(losses))
        return log_cumulants(losses, [log + tilt * loss for loss, log in zip(losses, logs, strict=True)])

    def depth(self, tilt: float) -> float:
        losses, logs = self._points
        tilted = [log + tilt * loss for loss, log in zip(losses, logs, strict=True)]
        return max(tilted) - tilted[0]

    def log_mgf_above(self, tilt: float) -> float:

        return log_mgf_above(enclosing(*mu_bounds(self.base)), self.rate, tilt, LOG_TOLERANCE, self.window)

    def beyond(self) -> arb:
        edge = self.window.edges[-1]
        spread = (1 + arb(edge.width) ** 2).sqrt()
        return self._above(arb(edge.at), spread) + self._above(arb(self.window.end), arb(1))

    def leak(self) -> arb:
        end = arb(self.window.end)
        return self.window.edges[0].ball_weight(end) * self._above(end, arb(1))

    @cached_property
    def _low_cells(self) -> tuple[float, ...]:
        """Ends of the cells that E_Q[e^{-sl}; rare] is bounded on; what is rare lies about the middle."""
        edge = self.window.edges[-1]
        first = edge.at / (1.0 + edge.width**2) - LOW_BELOW * edge.width
        return tuple(_rounded(first + LOW_CELL * edge.width * index) for index in range(LOW_CELLS + 1))

    @cached_property
    def _low_logs(self) -> tuple[list[float], list[float]]:
        """Losses where the cells begin, and logs of what Q has there of what is rare, about."""
        cells, edge = self._low_cells, self.window.edges[-1]
        tails = [log_phi(-x) for x in cells]
        inside = [one + math.log(-math.expm1(two - one)) for one, two in pairwise(tails)]
        marked = [log + log_phi(-edge.distance(x)) for log, x in zip(inside, cells[1:], strict=True)]
        spread = math.hypot(1.0, edge.width)
        first = log_phi(-edge.at / spread) + log_phi((cells[0] * spread**2 - edge.at) / (edge.width * spread))
        losses = [math.log1p(-self.share), *(self.whole.loss(x) for x in cells)]
        return losses, [first, *marked, tails[-1]]

    def log_low(self, s: float) -> float:
        losses, logs = self._low_logs
        terms = [log - s * loss for loss, log in zip(losses, logs, strict=True)]
        top = max(terms)
        return top + math.log(sum([math.exp(term - top) for term in terms]))

    def decisive(self, s: float, balls: bool) -> Decisive:
        """The loss rises with x, and the probability of the mark too: on a cell they are bounded by its two ends.

        Below all cells x + noise > at, where x given x + noise has a mean that rises with it.
        """
        assert isinstance(self.rate, float)
        edge, end, mu, low = self.window.edges[-1], arb(self.window.end), self.base.ball_mu(), arb(0)
        spread, tilt, law = (1 + arb(edge.width) ** 2).sqrt(), arb(s), self.whole.law
        more = edge.ball_weight(end)  # of what lies beyond the end and would not be rare by the edge
        p, q = self._above(arb(edge.at), spread), ball_phi(-arb(edge.at) / spread)
        p, q = p.union(p + more * self._above(end, arb(1))), q.union(q + more * ball_phi(-end))
        cells = [arb(x) for x in self._low_cells]
        tails = [ball_phi(-x) for x in cells]
        for index in range(len(cells) - 1):
            marked = edge.ball_missing(cells[index + 1]) if cells[index + 1] < end else arb(1)
            low += (tails[index] - tails[index + 1]) * marked * (-tilt * law.ball_g(mu, cells[index]).log()).exp()
        low += tails[-1] * (-tilt * law.ball_g(mu, cells[-1]).log()).exp()
        first = ball_phi(-arb(edge.at) / spread) * ball_phi((cells[0] * spread**2 - edge.at) / (edge.width * spread))
        low += (first if cells[0] < end else arb(1)) * (-tilt * (-arb(self.rate)).log1p()).exp()
        whole = SampledCgf(self.base, self.rate, 1)
        if balls:
            with working_precision(BITS_START):
                log_all = whole.ball_tilted(-1.0 - s, 0.0, LOG_TOLERANCE).log_mgf
        else:
            log_all = arb(whole.log_mgf_above(-1.0 - s))
        return Decisive(p, q, low, log_all)

    def _above(self, x: arb, spread: arb) -> arb:
        """P[output + noise > x], where both together have this spread."""
        return self.whole.law.ball_tail(self.base.ball_mu(), x, spread)
