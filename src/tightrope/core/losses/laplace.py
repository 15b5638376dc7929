"""The Laplace pair.

With e = times sensitivity / scale the loss lies in [-e, e]: P has atoms 1/2 at e and exp(-e)/2 at -e and the density
exp((l - e)/2)/4 between; Q is its mirror image. For -e <= t < e:
P[l > t] = 1 - exp((t - e)/2)/2,  Q[l > t] = exp(-(t + e)/2)/2,  H(e^t) = 1 - exp((t - e)/2).
Guarantee: exact; float64 with the radius of kernels.enclosure.
Reference: Koskela, Jaelkoe, Honkela 2020, Sec. 6.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ..numerics.balls import BITS_START, upper_float, working_precision
from ..numerics.contour_sum import power
from ..numerics.double_double import DoubleDouble, double_double, double_double_of_count
from ..numerics.enclosures import Enclosure, count_enclosure, enclosed, enclosing, exact
from ..numerics.mixture import mixed, mixed_plain
from ..numerics.quadrature import (
    Ellipse,
    EllipseError,
    QuadratureError,
    Transform,
    choose_rule,
    point_law,
    point_law_ball,
    rule,
    rule_error,
)
from ..numerics.rounding import ANGLE_MAX, THOUSANDS, UNIT, exact_product, next_up, round_up
from ..values.errors import Refusal, UnsupportedMechanism
from ..values.question import Direction
from .bounded_loss import BoundedLossBallTilted, BoundedLossCgf, BoundedLossMoments, BoundedLossPair
from .capabilities import mu_of_laplace, rho_of_laplace
from .cgf import BallTilted, Cgf, Cumulants, Tilted, demand_ordinary, point_cumulants
from .operators.registered import dominates, sampled_cgf, shifted_pair
from .pair import BallTails, HockeyStick, Pair, Tails

if TYPE_CHECKING:
    from ..numerics.contour_sum import Factor
    from .bounded_loss import TwoEdges


# Laplace shifts in float64: pairs.bounded_loss with both atoms, where a node is a formula.
#
# With q and D as there and s' = s + it
# phi(t) e^{-ite} - 1 = (1 - q)/D (1/(2 s') - 1/(2 s)) + q/D (e^{-2ite} - 1) (1 - 1/(2 s')): nothing cancels.
# Guarantee: exact. Proof: docs/proofs/contour.md, section 14.

ROUNDINGS = 64.0  # of each of the two parts of a node, more than there are


@dataclass(frozen=True)
class LaplaceTilted:
    """A Laplace loss in float64, its drift the edge."""

    log_mgf: Enclosure
    drift: Enclosure
    law: BoundedLossBallTilted

    def factor(self, step: float, nodes: int, count: int) -> Factor:

        return power(self.transform(step, nodes), float(count))

    def transform(self, step: float, nodes: int) -> Transform:
        """phi(t) e^{-ite} - 1 at t = 0, step, ..., (nodes - 1) step."""
        import numpy as np

        t, edge, s = step * np.arange(nodes, dtype=np.float64), self.drift, self.law.tilt + 0.5
        if not float(t[-1]) * float(edge.upper) < ANGLE_MAX:
            raise UnsupportedMechanism("its angles are too large for float64; try proof", Refusal.NEEDS_BALLS)
        with working_precision(BITS_START):
            shares = enclosed(self.law.shares())
        between, below, square = shares[0], shares[1], s * s + t * t
        half = float(edge.value) * t
        turn = -2.0 * np.sin(half) * (np.sin(half) + 1j * np.cos(half))  # e^{-2ite} - 1
        lean = (s * self.law.tilt + t * t) / square + 0.5j * t / square  # 1 - 1/(2 s')
        slip = -0.5 * t / square * (t / s + 1j)  # 1/(2 s') - 1/(2 s)
        deviation = between.value * slip + below.value * (turn * lean)
        slipped, leaned = abs(slip), (s * abs(self.law.tilt) + t * t + 0.5 * t) / square
        turned = leaned * np.minimum(2.0 * half, 2.0)
        known = between.radius * slipped + below.radius * turned
        known += 2.0 * t * leaned * below.value * (edge.radius + UNIT * edge.value)
        rounding = ROUNDINGS * UNIT * (between.value * slipped + below.value * turned) + round_up(known, THOUSANDS)
        return Transform(deviation, np.zeros_like(t), rounding + 1e-300)


@dataclass(frozen=True)
class LaplaceCgf(BoundedLossCgf):
    """K of a Laplace pair."""

    node_points = 10

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> LaplaceTilted:

        law = BoundedLossBallTilted(self.pair, tilt)
        with working_precision(BITS_START):
            known = enclosed([law.log_mgf, self.pair.ball_edge()])
        return LaplaceTilted(known[0], known[1], law)


# The profile of any composition of Laplace pairs, by residues.
#
# With s = z + 1/2 one pair has E_P[e^(z l)] = e^(-e/2) [e^(es) (2s+1) + e^(-es) (2s-1)] / (4s). The product over K
# pairs expands into terms with exponents x = sum of +-e - eps, and closing the contour of I(eps) to the left leaves
# for every x > 0 e^((eps - sum e)/2) 4^(1-K) C [s^(K-1)] (2s+1)^(J-1) (2s-1)^(K-J-1) e^(sx), J pluses, C choices, plus
# 1 for J = K and -e^eps for J = 0 from the poles at s = +-1/2.
# Guarantee: exact, in balls; the alternating sum is paid for with precision. Proof: docs/proofs/closed_forms.md.
# Reference: Zhu, Dong, Wang 2021, Sec. 5 (phi-functions); the expansion is ours.


@dataclass(frozen=True, slots=True)
class LaplaceSum:
    """(pair, count) of each."""

    uses: tuple[tuple[TwoEdges, int], ...]

    def hockey_stick_cost(self) -> int:
        """Terms of the expansion times uses, each half as dear again as a Gaussian's profile."""
        counts = [count for _, count in self.uses]
        return 3 * math.prod(count + 1 for count in counts) * sum(counts) // 2

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        """H(e^eps) for any real eps, at the working precision."""
        return _hockey_stick([(pair.ball_edge(), count) for pair, count in self.uses], epsilon)

    def ball_tails(self, t: arb) -> BallTails:
        """P[l > t] = H - dH/dt, the derivative from the right, term by term: those at x = 0 are no longer there."""
        edges = [(pair.ball_edge(), count) for pair, count in self.uses]
        above = _hockey_stick(edges, t, tail=True)
        second = (above - _hockey_stick(edges, t)) * (-t).exp()
        return BallTails(above, second, 1 - above, 1 - second)


def _hockey_stick(edges: list[tuple[arb, int]], epsilon: arb, tail: bool = False) -> arb:
    """H(e^eps), or P[l > eps]: as e^(eps/2) f(x) falls with x = l - eps, its part is f/2 + f' in the place of f."""
    uses = sum(count for _, count in edges)
    reach = sum((count * edge for edge, count in edges), arb(0))
    scale = ((epsilon - reach) / 2).exp() * arb(4) ** (1 - uses)
    factorials = [arb(1)]
    for n in range(1, uses):
        factorials.append(factorials[-1] * n)
    total = arb(0)
    polynomials: dict[int, list[arb]] = {}
    for signs in itertools.product(*(range(count + 1) for _, count in edges)):
        x = sum(((2 * plus - count) * edge for plus, (edge, count) in zip(signs, edges, strict=True)), arb(0)) - epsilon
        if x <= 0:
            continue
        pluses = sum(signs)
        if pluses not in polynomials:
            polynomials[pluses] = _polynomial(pluses - 1, uses - pluses - 1, factorials)
        choices = math.prod(math.comb(count, plus) for plus, (_, count) in zip(signs, edges, strict=True))
        value, slope = _horner(polynomials[pluses], x)
        term = choices * scale * (value / 2 + slope if tail else value)
        if pluses == uses:
            term += 1
        if pluses == 0 and not tail:
            term -= epsilon.exp()
        # A term is not there for x <= 0, so an unsure sign is covered by both values.
        total += term if x > 0 else term.union(arb(0))
    return total


def _polynomial(a: int, b: int, factorials: list[arb]) -> list[arb]:
    """Coefficients in x, highest first, of [s^(a+b+1)] (2s+1)^a (2s-1)^b e^(sx), for a, b >= -1.

    The Taylor coefficients c of (1+2s)^a (1-2s)^b obey (n+1) c[n+1] = 2 (a-b) c[n] + 4 (n-1-a-b) c[n-1].
    """
    order = a + b + 1
    c = [1, 2 * (a - b)]
    for n in range(1, order):
        c.append((2 * (a - b) * c[n] + 4 * (n - 1 - a - b) * c[n - 1]) // (n + 1))
    sign = -1 if b % 2 else 1
    return [arb(sign * c[n]) / factorials[order - n] for n in range(order + 1)]


def _horner(coefficients: list[arb], x: arb) -> tuple[arb, arb]:
    """The polynomial and its derivative."""
    value, slope = arb(0), arb(0)
    for coefficient in coefficients:
        value, slope = value * x + coefficient, slope * x + value
    return value, slope


SAMPLED_EDGE_MAX = 30.0  # of a contour


@dataclass(frozen=True, slots=True)
class LaplacePair(BoundedLossPair):
    """Laplace(times sensitivity, scale) against Laplace(0, scale)."""

    atoms_at_edges = 1

    scale: float
    sensitivity: float
    times: int = 1  # more only where their product with the sensitivity is no double

    def tails(self, t: DoubleDouble) -> Tails:
        edge = double_double(self.sensitivity) * double_double_of_count(self.times) / double_double(self.scale)
        with np.errstate(all="ignore"):
            p_below = (t - edge).half().exp_collapsed() / 2.0
            q_above = (-(t + edge)).half().exp_collapsed() / 2.0
        # Inside, both p_below and q_above are at most 1/2: their complements lose nothing.
        return self.bounded_tails(t, edge, Tails(1.0 - p_below, q_above, p_below, 1.0 - q_above))

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """H(e^eps) = max(0, 1 - e^((eps - e)/2), 1 - e^eps); the maximum of intervals, end by end."""
        edge = exact(self.sensitivity) * count_enclosure(self.times) / exact(self.scale)
        middle = -((epsilon - edge) * 0.5).expm1()
        left = -epsilon.expm1()
        low = np.maximum(np.maximum(middle.lower, left.lower), 0.0)
        high = np.maximum(np.maximum(middle.upper, left.upper), 0.0)
        certainly_zero = (middle.upper <= 0.0) & (left.upper <= 0.0)
        return enclosing(low, np.where(certainly_zero, 0.0, high))

    def ball_tails(self, t: arb) -> BallTails:
        edge = self.ball_edge()
        if t >= edge:
            return BallTails(arb(0), arb(0), arb(1), arb(1))
        if t < -edge:
            return BallTails(arb(1), arb(1), arb(0), arb(0))
        p_below, q_above = ((t - edge) / 2).exp() / 2, (-(t + edge) / 2).exp() / 2
        tails = BallTails(1 - p_below, q_above, p_below, 1 - q_above)
        # A ball may reach beyond one end of the losses, or beyond both.
        if not t < edge:
            tails = BallTails(*(one.union(arb(other)) for one, other in zip(tails, (0, 0, 1, 1), strict=True)))
        if not t >= -edge:
            tails = BallTails(*(one.union(arb(other)) for one, other in zip(tails, (1, 1, 0, 0), strict=True)))
        return tails

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        middle = -((epsilon - self.ball_edge()) / 2).expm1()
        return middle.max(-epsilon.expm1()).max(arb(0))

    def hockey_stick_cost(self) -> int:
        return 1

    def compose_exact(self, like: Sequence[tuple[Pair, int]]) -> HockeyStick | None:
        """A sum over residues, in balls."""
        uses = tuple((pair, count) for pair, count in like if isinstance(pair, LaplacePair))
        return LaplaceSum(uses) if len(uses) == len(like) else None

    def cgf(self) -> Cgf:

        demand_ordinary(self.ball_edge)
        return LaplaceCgf(self)

    @property
    def edge(self) -> float:
        return self.times * (self.sensitivity / self.scale)

    def ball_edge(self) -> arb:
        return self.times * arb(self.sensitivity) / arb(self.scale)

    def moments(self) -> LaplaceMoments:
        return LaplaceMoments(self)


class LaplaceMoments(BoundedLossMoments):
    def zcdp_rho(self) -> arb:
        """Its divergence of order 1."""
        return rho_of_laplace(self.pair.ball_edge())

    def gdp_mu(self) -> arb:
        """At epsilon 0."""
        return mu_of_laplace(self.pair.ball_edge())


@dominates.register(LaplacePair)
def _(pair: LaplacePair, other: Pair) -> bool:
    """By the larger edge."""
    if isinstance(other, LaplacePair):
        with working_precision(BITS_START):
            return pair == other or bool(pair.ball_edge() >= other.ball_edge())
    return dominates.default(pair, other)


@sampled_cgf.register(LaplacePair)
def _(pair: LaplacePair, rate: float, direction: Direction) -> Cgf:

    demand_ordinary(pair.ball_edge)
    if not pair.edge < SAMPLED_EDGE_MAX:
        raise UnsupportedMechanism("its losses are too large for a contour; try engine='lattice'")
    return SampledLaplaceCgf(pair, rate, 1 if direction is Direction.REMOVE else -1)


@shifted_pair.register(LaplacePair)
def _(pair: LaplacePair, times: int) -> LaplacePair:
    longer = exact_product(pair.sensitivity, pair.times * times)
    if longer is None:
        return LaplacePair(pair.scale, pair.sensitivity, pair.times * times)
    return LaplacePair(pair.scale, longer)


# Poisson-sampled Laplace shifts in either direction: two atoms and a Gauss-Legendre rule between them.
#
# The base loss x lies in [-e, e], e = sensitivity/scale; Q has atoms e^-e/2 at e and 1/2 at -e and the density
# e^{-(x+e)/2}/4 between. With g(x) = 1 - rate + rate e^x: remove has the loss log g(x) and the P-law g Q; add has the
# loss -log g(-x) and the P-law e^x Q.
# On an ellipse of semi-axes (major, minor), minor < pi: |g| <= 1 - rate + rate e^major, |g(-x)| is at least
# cos(minor/2) (1 - rate + rate e^-major), |arg g| <= minor, and the density of P is at most e^{(major - e)/2}/4, times
# |g| for remove.
# Atoms make the transform return: nothing is known of its decay.
# Guarantee: upper error of the rule relative to the heaviest atom. Proof: docs/proofs/contour.md, section 5.
# Reference: Zhu, Dong, Wang 2021, Table 3 (Laplace), Thm 11.

MIDPOINTS_MIN, MIDPOINTS_MAX = 8, 64  # of the coarse rule: as many per e-fold of the integrand


@dataclass(frozen=True)
class SampledLaplaceCgf(Cgf):
    """K of a Laplace pair sampled with the given rate; sign 1 for remove, -1 for add."""

    base: LaplacePair
    rate: float
    sign: int

    def cumulants(self, tilt: float) -> Cumulants:
        """By the midpoint rule, coarse but good enough to choose a contour."""
        edge = self.base.edge
        cells = min(max(MIDPOINTS_MIN, math.ceil(MIDPOINTS_MIN * edge * (1.0 + abs(tilt)))), MIDPOINTS_MAX)
        points = [(edge, 0.5 * math.exp(-edge)), (-edge, 0.5)]
        for index in range(cells):
            x = edge * (2 * index + 1 - cells) / cells
            points.append((x, 0.5 * edge / cells * math.exp(-0.5 * (x + edge))))
        if self.sign > 0:
            losses = [(mixed_plain(x, self.rate), mass) for x, mass in points]
            sampled = [(mass * math.exp(loss), loss) for loss, mass in losses]
        else:
            sampled = [(mass * math.exp(x), -mixed_plain(-x, self.rate)) for x, mass in points]
        return point_cumulants(sampled, tilt)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        with working_precision(BITS_START):
            return self._rule(tilt, reach, log_tolerance)[1] + 2

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:

        centre = self.cumulants(tilt).mean
        with working_precision(BITS_START):
            losses, masses, error = self._points(tilt, reach, log_tolerance)
            constant = next_up(math.log(upper_float(error.size) + 1e-300))
            floats = enclosed(masses), enclosed([loss - arb(centre) for loss in losses])
        quadrature = QuadratureError(0.0, ((constant, error.minor),))
        return point_law(*floats, centre, exact(0.0), tilt, quadrature)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        losses, masses, error = self._points(tilt, reach, log_tolerance)
        return point_law_ball(losses, masses, tilt, error)

    def _points(
        self, tilt: float, reach: float, log_tolerance: float
    ) -> tuple[tuple[arb, ...], tuple[arb, ...], EllipseError]:
        """Losses, P-masses, and the error of the rule relative to M(tilt), which is at least its top atom."""
        edge = self.base.ball_edge()
        top = self._top(tilt)
        ellipse, nodes = self._rule(tilt, reach, log_tolerance)
        # The untilted masses are summed too: the larger of both errors covers both sums.
        size = (self._size(ellipse, tilt) / top).max(self._size(ellipse, 0.0))
        points = [(edge, (-edge).exp() / 2), (-edge, arb(0.5))]
        points += [(x, weight * (-(x + edge) / 2).exp() / 4) for x, weight in rule(edge, nodes)]
        losses = tuple(self._loss(x) for x, _ in points)
        masses = tuple(mass * self._likelihood(x) for x, mass in points)
        return losses, masses, rule_error(ellipse, nodes, size)

    def _rule(self, tilt: float, reach: float, log_tolerance: float) -> tuple[Ellipse, int]:
        edge, top = self.base.ball_edge(), self._top(tilt)
        chosen = choose_rule(
            edge, lambda ellipse: float((self._size(ellipse, tilt) / top).log().mid()), reach, log_tolerance
        )
        if chosen is None:
            raise UnsupportedMechanism("its quadrature needs too many nodes; try engine='lattice'")
        return chosen

    def _top(self, tilt: float) -> arb:
        """The tilted mass of the top atom."""
        edge = self.base.ball_edge()
        return (-edge).exp() / 2 * self._likelihood(edge) * (arb(tilt) * self._loss(edge)).exp()

    def _loss(self, x: arb) -> arb:
        rate = arb(self.rate)
        return mixed(x, rate) if self.sign > 0 else -mixed(-x, rate)

    def _likelihood(self, x: arb) -> arb:
        """dP/dQ of the base output x, Q the base law."""
        return 1 + arb(self.rate) * x.expm1() if self.sign > 0 else x.exp()

    def _size(self, ellipse: Ellipse, tilt: float) -> arb:
        """A bound of the tilted density of P on the ellipse, at t = 0."""
        density = ((ellipse.major - ellipse.half) / 2).exp() / 4
        rate = arb(self.rate)
        if self.sign > 0:
            return density * (1 + rate * ellipse.major.expm1()) ** (1 + arb(tilt))
        if tilt < 0.0:
            return density * (1 + rate * ellipse.major.expm1()) ** arb(-tilt)
        least = (arb(ellipse.minor) / 2).cos() * (1 + rate * (-ellipse.major).expm1())
        return density * least ** arb(-tilt)
