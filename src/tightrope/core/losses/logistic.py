"""The logistic pair: what dominates every mechanism of bounded range.

P = Logistic(e) and Q = Logistic(0), e = epsilon > 0: the loss lies in [-e, e] and has no atoms. For -e <= t <= e, with
a = (e - t)/2, b = (e + t)/2, A = (1 - exp(-a))/(1 - exp(-e)), B = (1 - exp(-b))/(1 - exp(-e)):
P[l > t] = A,  Q[l > t] = exp(-b) A,  P[l <= t] = exp(-a) B,  Q[l <= t] = B,  H(e^t) = (1 - exp(-a)) A,
and H(e^t) = 1 - e^t below -e, 0 above e. Nothing cancels.
Guarantee: exact; float64 with the radius of kernels.enclosure.
Reference: Dong, Durfee, Rogers 2020, Sec. 3 (bounded range). Proof: docs/proofs/exponential.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ..numerics.balls import BITS_START, working_precision
from ..numerics.double_double import DoubleDouble, double_double
from ..numerics.enclosures import Enclosure, enclosed, exact, where
from ..numerics.rounding import exact_product
from ..values.errors import UnsupportedMechanism
from .bounded_loss import BoundedLossBallTilted, BoundedLossCgf, BoundedLossPair
from .node_powers import PowerTilted
from .operators.registered import shifted_pair
from .pair import BallTails, Tails

if TYPE_CHECKING:
    from .cgf import Cgf


EDGE_MAX = 1e4  # of a contour


@dataclass(frozen=True, slots=True)
class LogisticPair(BoundedLossPair):
    """Logistic(epsilon) against Logistic(0), both of scale 1; epsilon at least 1e-280, so that halves do not vanish."""

    atoms_at_edges = 0

    epsilon: float

    def tails(self, t: DoubleDouble) -> Tails:
        edge, half = double_double(self.epsilon), double_double(self.epsilon) / 2.0
        with np.errstate(all="ignore"):
            a, b, total = half - t / 2.0, half + t / 2.0, -(-edge).expm1()
            p_above, q_below = -(-a).expm1() / total, -(-b).expm1() / total
            q_above, p_below = p_above * (-b).exp(), q_below * (-a).exp()
            inside = Tails(*(tail.collapse() for tail in (p_above, q_above, p_below, q_below)))
        return self.bounded_tails(t, edge, inside)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """H = (1 - e^-a) A with a clipped to [0, e], plus e^-e (1 - e^(eps + e)) where eps < -e."""
        edge = exact(self.epsilon)
        a = ((edge - epsilon) * 0.5).clip_below(0.0)
        a = -((-a).clip_below(-self.epsilon))
        share = -(-a).expm1()
        beyond = -((-(epsilon + edge)).clip_below(0.0))
        value = share * (share / -(-edge).expm1()) - (-edge).exp() * beyond.expm1()
        return where(epsilon.lower >= self.epsilon, exact(np.zeros_like(value.value)), value)

    def ball_tails(self, t: arb) -> BallTails:
        edge = arb(self.epsilon)
        if t >= edge:
            return BallTails(arb(0), arb(0), arb(1), arb(1))
        if t < -edge:
            return BallTails(arb(1), arb(1), arb(0), arb(0))
        a, b, total = self._halves(t)
        p_above, q_below = -(-a).expm1() / total, -(-b).expm1() / total
        return BallTails(p_above, (-b).exp() * p_above, (-a).exp() * q_below, q_below)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        edge = arb(self.epsilon)
        a, _, total = self._halves(epsilon)
        beyond = (epsilon + edge).min(arb(0))
        return (-a).expm1() ** 2 / total - (-edge).exp() * beyond.expm1()

    def cgf(self) -> Cgf:

        if not self.epsilon < EDGE_MAX:
            raise UnsupportedMechanism("its losses are too large for a contour; try engine='lattice'")
        return LogisticCgf(self)

    @property
    def edge(self) -> float:
        return self.epsilon

    def ball_edge(self) -> arb:
        return arb(self.epsilon)

    def _halves(self, t: arb) -> tuple[arb, arb, arb]:
        """a and b at the point of [-e, e] next to t, and 1 - e^-e; continuous tails need no hull."""
        edge = arb(self.epsilon)
        inside = t.min(edge).max(-edge)
        return (edge - inside) / 2, (edge + inside) / 2, -(-edge).expm1()


@shifted_pair.register(LogisticPair)
def _(pair: LogisticPair, times: int) -> LogisticPair | None:
    longer = exact_product(pair.epsilon, times)
    return None if longer is None else LogisticPair(longer)


# Logistic shifts in float64: pairs.bounded_loss without atoms, each node rounded from a ball.
#
# Guarantee: exact. Proof: docs/proofs/contour.md, section 9.


@dataclass(frozen=True)
class LogisticCgf(BoundedLossCgf):
    """K of a logistic pair."""

    node_points = 1000  # a node takes about 30 microseconds

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> PowerTilted:

        law = BoundedLossBallTilted(self.pair, tilt)
        with working_precision(BITS_START):
            return PowerTilted(enclosed([law.log_mgf])[0], exact(self.cumulants(tilt).mean), law)
