"""Laplace noise with edge e, or a leak of probability w, whichever tells more: one pair for both.

H(a) is the larger of the profile of the Laplace pair and of w + (1 - w - a)_+, where with probability w an output shows
that the record is there. With m = log(1 - w) and h = e + m > 0 it is the profile of
    P = a leak with probability w, else P_h,    Q = Q_h,    (P_h, Q_h) the Laplace pair of edge h,
since w + (1 - w) H_h(a/(1 - w)) = max(1 - e^((t - e)/2), 1 - a, w) at a = e^t. So the finite loss is that of edge h,
moved by m: up to t* = e + 2m the tails are those of edge e, then w is left. Mirrored, for a record that comes: the loss
is moved by -m, no loss is infinite, and Q alone has w. A composition leaks 1 - prod (1 - w), its finite loss is that of
Laplace pairs, moved by the sum.
Guarantee: exact. Proof: docs/proofs/stability.md, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb

from ..numerics.balls import BITS_START, working_precision
from ..numerics.double_double import DoubleDouble, double_double
from ..numerics.enclosures import Enclosure, enclosed, enclosing, exact
from .bounded_loss import TwoEdges
from .capabilities import Moments
from .cgf import CfDecay, Cgf, Cumulants, demand_ordinary
from .finite.laws import Leak
from .laplace import LaplaceCgf, LaplacePair, LaplaceSum
from .operators.registered import dominates
from .pair import BallTails, HockeyStick, LossRange, Pair, Tails

if TYPE_CHECKING:
    from ..numerics.contour_sum import Factor
    from .bounded_loss import BoundedLossBallTilted
    from .laplace import LaplaceTilted


@dataclass(frozen=True)
class KeptEdges(TwoEdges):
    """h."""

    leak: Leak
    atoms_at_edges = 1

    @property
    def edge(self) -> float:
        with working_precision(BITS_START):
            return float(self.ball_edge().mid())

    def ball_edge(self) -> arb:
        return arb(self.leak.epsilon) + self.leak.move()


@dataclass(frozen=True)
class LeakyLaplacePair(Pair):
    """The leak's record is there under P or, flipped, under Q; h > 0."""

    leak: Leak
    flipped: bool = False

    @property
    def edges(self) -> KeptEdges:
        return KeptEdges(self.leak)

    def moved(self) -> arb:
        """By how much the losses of edge h are moved."""
        return -self.leak.move() if self.flipped else self.leak.move()

    def tails(self, t: DoubleDouble) -> Tails:
        with working_precision(BITS_START):
            low, high = map(_double_double, self.loss_range())
            bottom, top = ([float(mass.mid()) for mass in end] for end in self._beyond())
        edge = double_double(self.leak.epsilon)
        with np.errstate(all="ignore"):
            p_below = (t - edge).half().exp_collapsed() / 2.0
            q_above = (-(t + edge)).half().exp_collapsed() / 2.0
            under, over = (t - low).collapse() < 0.0, (t - high).collapse() >= 0.0
        # Between, both p_below and q_above are at most 1/2: their complements lose nothing.
        between = (1.0 - p_below, q_above, p_below, 1.0 - q_above)
        columns = zip(bottom, top, between, strict=True)
        return Tails(*(np.where(over, most, np.where(under, least, tail)) for least, most, tail in columns))

    def ball_tails(self, t: arb) -> BallTails:
        (low, high), (bottom, top), edge = self.loss_range(), self._beyond(), arb(self.leak.epsilon)
        if t >= high or t < low:
            return top if t >= high else bottom
        p_below, q_above = ((t - edge) / 2).exp() / 2, (-(t + edge) / 2).exp() / 2
        tails = BallTails(1 - p_below, q_above, p_below, 1 - q_above)
        # A ball may reach beyond one end of the losses, or beyond both.
        for beyond, sure in ((top, t < high), (bottom, t >= low)):
            if not sure:
                tails = BallTails(*(one.union(other) for one, other in zip(tails, beyond, strict=True)))
        return tails

    def _beyond(self) -> tuple[BallTails, BallTails]:
        """Tails below all finite losses, and from the last of them on."""
        none, one, w, kept = arb(0), arb(1), self.leak.mass(), self.leak.kept()
        if self.flipped:
            return BallTails(one, kept, none, w), BallTails(none, none, one, one)
        return BallTails(one, one, none, none), BallTails(w, none, kept, one)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """The maximum of intervals, end by end."""
        with working_precision(BITS_START):
            known = enclosed([self.leak.mass(), self.leak.move()])
        lines = [-((epsilon - exact(self.leak.epsilon)) * 0.5).expm1()]
        lines.append(-(epsilon + known[1]).expm1() if self.flipped else -epsilon.expm1())
        least, most = (0.0, 0.0) if self.flipped else (float(known[0].lower), float(known[0].upper))
        low = np.maximum(np.maximum(lines[0].lower, lines[1].lower), least)
        high = np.maximum(np.maximum(lines[0].upper, lines[1].upper), most)
        return enclosing(low, high)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        middle = -((epsilon - arb(self.leak.epsilon)) / 2).expm1()
        if self.flipped:
            return middle.max(-(epsilon + self.leak.move()).expm1()).max(arb(0))
        return middle.max(-epsilon.expm1()).max(self.leak.mass())

    def reversed(self) -> Pair:
        return LeakyLaplacePair(self.leak, not self.flipped)

    def infinite_mass(self) -> arb:
        return arb(0) if self.flipped else self.leak.mass()

    def loss_range(self) -> LossRange:
        edge, last = arb(self.leak.epsilon), arb(self.leak.epsilon) + 2 * self.leak.move()
        return LossRange(-last, edge) if self.flipped else LossRange(-edge, last)

    def hockey_stick_cost(self) -> int:
        return 1

    def cgf(self) -> Cgf:

        demand_ordinary(self.edges.ball_edge)
        return LeakyLaplaceCgf(self)

    def compose_exact(self, like: Sequence[tuple[Pair, int]]) -> HockeyStick | None:
        """A sum over residues, in balls."""
        uses = tuple((pair, count) for pair, count in like if isinstance(pair, LeakyLaplacePair))
        one_way = all(pair.flipped == self.flipped for pair, _ in uses)
        return LeakySum(uses) if one_way and len(uses) == len(like) else None

    def moments(self) -> LeakyLaplaceMoments:
        return LeakyLaplaceMoments(self)


class LeakyLaplaceMoments(Moments[LeakyLaplacePair]):
    def log_moment(self, z: acb) -> acb:
        """K_h(z) + m (1 + z); mirrored, K_h(z) - m z."""
        value: acb = self.pair.edges.log_moment(z) + self.pair.moved() * z
        return value if self.pair.flipped else value + self.pair.leak.move()


@dominates.register(LeakyLaplacePair)
def _(pair: LeakyLaplacePair, other: Pair) -> bool:
    """What it is the larger one of."""
    if isinstance(other, LaplacePair):
        with working_precision(BITS_START):
            return bool(arb(pair.leak.epsilon) >= other.ball_edge())
    return dominates.default(pair, other)


@dataclass(frozen=True)
class LeakySum:
    """(pair, count) of each, all leaking on the same side."""

    uses: tuple[tuple[LeakyLaplacePair, int], ...]

    def hockey_stick_cost(self) -> int:
        return self._sum.hockey_stick_cost()

    @property
    def _sum(self) -> LaplaceSum:
        return LaplaceSum(tuple((pair.edges, count) for pair, count in self.uses))

    @property
    def _flipped(self) -> bool:
        return self.uses[0][0].flipped

    def _move(self) -> arb:
        """The logarithm of what does not leak."""
        return sum((count * pair.leak.move() for pair, count in self.uses), arb(0))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        """H_h(a s), s the share that does not leak, where Q leaks; 1 - s + s H_h(a/s) where P does."""
        move = self._move()
        if self._flipped:
            return self._sum.ball_hockey_stick(epsilon + move)
        return -move.expm1() + move.exp() * self._sum.ball_hockey_stick(epsilon - move)

    def ball_tails(self, t: arb) -> BallTails:
        move = self._move()
        leaked, kept = -move.expm1(), move.exp()
        p, q, p_below, q_below = self._sum.ball_tails(t + move if self._flipped else t - move)
        if self._flipped:
            return BallTails(p, kept * q, p_below, kept * q_below + leaked)
        return BallTails(kept * p + leaked, q, kept * p_below, q_below)


def _double_double(ball: arb) -> DoubleDouble:
    """The head and tail of a narrow ball."""
    high = float(ball.mid())
    return DoubleDouble(np.asarray(high), np.asarray(float((ball - high).mid())))


# K of Laplace noise or a leak: that of a Laplace pair, moved by m, and times 1 - w where the first side leaks.
#
# K(z) = K_h(z) + m (1 + z), mirrored K_h(z) - m z. Tilted by e^{cl} the loss is the tilted one of edge h, moved, so
# that
# nothing but its drift and the angle of its transform change.
# Guarantee: exact. Proof: docs/proofs/stability.md, section 4.


@dataclass(frozen=True)
class MovedTilted:
    """The loss of edge h, moved, in float64."""

    log_mgf: Enclosure
    drift: Enclosure
    still: LaplaceTilted

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        return self.still.factor(step, nodes, count)


@dataclass(frozen=True)
class MovedBallTilted:
    """The same in balls."""

    pair: LeakyLaplacePair
    still: BoundedLossBallTilted

    @property
    def log_mgf(self) -> arb:
        return self.pair.moments().log_moment(acb(self.still.tilt)).real

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        moved = self.pair.moved() * arb(step)
        return [value * acb(0, index * moved).exp() for index, value in enumerate(self.still.phi(step, nodes))]


@dataclass(frozen=True)
class LeakyLaplaceCgf(Cgf):
    """K of such a pair."""

    pair: LeakyLaplacePair

    @property
    def _still(self) -> LaplaceCgf:
        return LaplaceCgf(self.pair.edges)

    def cumulants(self, tilt: float) -> Cumulants:
        with working_precision(BITS_START):
            moved, lost = float(self.pair.moved().mid()), float(self.pair.leak.move().mid())
        value, mean, variance = self._still.cumulants(tilt)
        return Cumulants(value + moved * tilt + (0.0 if self.pair.flipped else lost), mean + moved, variance)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return self._still.points(tilt, reach, log_tolerance)

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> MovedTilted:

        with working_precision(BITS_START):
            drift = self.pair.edges.ball_edge() + self.pair.moved()
            known = enclosed([self.ball_tilted(tilt, reach, log_tolerance).log_mgf, drift])
        return MovedTilted(known[0], known[1], self._still.tilted(tilt, reach, log_tolerance))

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> MovedBallTilted:
        return MovedBallTilted(self.pair, self._still.ball_tilted(tilt, reach, log_tolerance))

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        return self._still.ball_cf_decay(tilt)
