"""The pair of everything that is known by bounds on its Renyi divergences.

H(alpha) = max {p - alpha q: the laws (p, 1 - p) and (q, 1 - q) keep to the curve}: an event of any pair that keeps to
it is such a law, by data processing, and such a law is a mechanism that keeps to it. H is a profile. Below alpha = 1
it is the mirror of the other direction's. With a leak, as approximate zCDP has it, w + (1 - w) H.
A bound on (P, Q) alone leaves (Q, P) free: there the loss may be infinite, with probability up to 1 - e^-D_1.
Guarantee: exact for one use, of one curve or of a sum: at each alpha the supremum over all mechanisms that are known by
this curve. Composed with others the pair dominates; no single mechanism has it.
Proof: docs/proofs/renyi_curve.md.
Reference: Balle, Barthe, Gaboardi, Hsu, Sato 2020 and Asoodeh, Liao, Calmon, Kosut, Sankar 2021 (one order); Riess,
Gomez, du Pin Calmon, Schnabel, Kaissis 2026 (all orders); van Erven, Harremoes 2014, Thm 9 (data processing); Bun,
Steinke 2016, Def. 8.1 (approximate zCDP).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from flint import arb, ctx

from ... import compute_budget
from ...errors import UnsupportedMechanism
from ...facets.lattice import ratio_ball
from ...facets.moments import Moments
from ...facets.resolution import Resolution
from ...kernels.ball import BITS_START, hull, some, working_precision
from ...operators import compose_dominating, condition_on_finite_loss, has_bracket_only
from ...pair import LossRange, Pair
from .curve import Divergences, total
from .optimum import Search
from .region import Region

if TYPE_CHECKING:
    from ...kernels.enclosure import Enclosure

EVENT_WORK = 2e6  # units, of one event and its proof
EVENT_COST = 40_000  # of a profile
CANCEL_BITS = 128  # of what cancels, beyond the size of the divergences


@dataclass(frozen=True)
class RenyiPair(Pair):
    """A curve of (P, Q), or of (Q, P) where flipped; both: of either. leaks: (probability, uses) of infinite losses."""

    curve: Divergences
    both: bool = True
    flipped: bool = False
    leaks: tuple[tuple[float, int], ...] = ()

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        leak = self.leak()
        return leak + (1 - leak) * self._conditioned_hockey_stick(epsilon)

    def _conditioned_hockey_stick(self, epsilon: arb) -> arb:
        if not epsilon.is_finite():
            return hull(arb(0), arb(1))
        if self.curve.nothing:
            return (-epsilon.expm1()).max(arb(0))
        if epsilon >= 0:
            lower, upper = self.search().hockey_stick_at(epsilon)
            return hull(lower, upper)
        if epsilon <= 0:  # the mirror
            return -epsilon.expm1() + epsilon.exp() * self._turned()._conditioned_hockey_stick(-epsilon)
        return hull(self._conditioned_hockey_stick(epsilon.lower()), self._conditioned_hockey_stick(epsilon.upper()))

    def search(self) -> Search:
        """What finds the best events, one for each precision; it remembers those that it found."""
        kept: dict[int, Search] = self.__dict__.setdefault("_searches", {})
        bits = ctx.prec + ctx.prec // 2 + CANCEL_BITS + self.small_bits()
        if bits not in kept:
            kept[bits] = Search(Region(self.curve, self.flipped, self.both, bits))
        return kept[bits]

    def small_bits(self) -> int:
        """Bits before the leading one of D_1, where it is below 1."""
        one = self.curve.divergence_one or Fraction(1)
        return max(one.denominator.bit_length() - one.numerator.bit_length(), 0)

    def _turned(self) -> RenyiPair:
        """The pair (Q, P): the same one where the curve is of both."""
        if self.both:
            return self
        kept: RenyiPair = self.__dict__.setdefault(
            "_reverse", RenyiPair(self.curve, False, not self.flipped, self.leaks)
        )
        return kept

    def leak(self) -> arb:
        """The probability of an infinite loss, besides what the curve leaves open; exact of a single use."""
        if len(self.leaks) == 1 and self.leaks[0][1] == 1:
            return arb(self.leaks[0][0])
        return some([(arb(value), count) for value, count in self.leaks])

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        import numpy as np

        from ...kernels.enclosure import Enclosure, enclosed

        shape = epsilon.value.shape
        compute_budget.spend(EVENT_WORK * epsilon.value.size)
        with working_precision(BITS_START):
            balls = [
                self.ball_hockey_stick(arb(float(value), float(radius)))
                for value, radius in zip(epsilon.value.ravel(), epsilon.radius.ravel(), strict=True)
            ]
            enclosure = enclosed(balls)
        return Enclosure(np.reshape(enclosure.value, shape), np.reshape(enclosure.radius, shape))

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("bounds on divergences tell no tails one by one; engine='joint' composes them")

    tails = ball_tails = _not_known

    def reversed(self) -> RenyiPair:
        return self._turned()

    def infinite_mass(self) -> arb:
        leak = self.leak()
        one = self.curve.divergence_one
        if not self.flipped or self.both or self.curve.nothing or one is None:
            return leak
        return leak - (1 - leak) * (-ratio_ball(one)).expm1()

    def loss_range(self) -> LossRange:
        if self.curve.nothing:
            return LossRange(arb(0), arb(0))
        turned = self._turned()
        return LossRange(-turned._highest(), self._highest())

    def _highest(self) -> arb:
        """The supremum of the finite losses: the bound of order inf; where (Q, P) alone is bounded, the last slope."""
        curve = self.curve
        if self.both or not self.flipped:
            return arb.pos_inf() if curve.rho or curve.slope is None else ratio_ball(curve.slope)
        if curve.first is not None or curve.line or (curve.rho and curve.knots):
            return arb.pos_inf()
        if not curve.knots:
            return -ratio_ball(curve.slope or Fraction(0))
        c, k = curve.knots[0]
        return ratio_ball((c + 1) / c).log() - ratio_ball(k / c)

    def hockey_stick_cost(self) -> int:
        return EVENT_COST

    def _line(self) -> tuple[Fraction, Fraction] | None:
        """What holds of every order of (P, Q), for a table that ends."""
        return None if self.leaks or (self.flipped and not self.both) else self.curve.everywhere

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:
        from .finite import bracket

        return bracket(self, fine)

    def moments(self) -> RenyiMoments:
        return RenyiMoments(self)


class RenyiMoments(Moments[RenyiPair]):
    def log_moment_above(self, order: float) -> arb | None:
        if self.pair.flipped and not self.pair.both:
            return None
        known = self.pair.curve.above(Fraction(order))
        return None if known is None else ratio_ball(known)

    def divergence(self, order: float) -> tuple[arb, arb]:
        from .divergences import DIVERGENCE_BITS, ends

        with working_precision(DIVERGENCE_BITS + self.pair.small_bits()):
            region = Region(
                self.pair.curve, self.pair.flipped, self.pair.both, DIVERGENCE_BITS + self.pair.small_bits()
            )
            lower, upper = ends(region, Fraction(order))
            more = -(-self.pair.leak()).log1p() / (1 - arb(order)) if order < 1.0 and self.pair.leaks else arb(0)
            return lower + more, upper + more

    def zcdp_rho(self) -> arb | None:
        """D_a <= r a + s <= (r + s) a from order 1 on."""
        if self.pair.curve.line and not self.pair.curve.slope and not self.pair.leaks:
            return ratio_ball(self.pair.curve.rho)
        line = self.pair._line()
        return None if line is None else ratio_ball(sum(line, Fraction(0)))

    def approximate_zcdp(self) -> tuple[tuple[arb, arb], ...]:
        line = self.pair._line()
        return () if line is None or not line[1] else ((ratio_ball(line[1]), ratio_ball(line[0])),)


@has_bracket_only.register(RenyiPair)
def _(pair: RenyiPair) -> bool:
    return True


@condition_on_finite_loss.register(RenyiPair)
def _(pair: RenyiPair) -> Pair | None:
    return RenyiPair(pair.curve, pair.both, pair.flipped) if pair.both else condition_on_finite_loss.default(pair)


@compose_dominating.register(RenyiPair)
def _(own: RenyiPair, like: Sequence[tuple[Pair, int]]) -> Pair | None:
    """Curves add up; what is known of one direction only is known of one direction of the sum."""
    uses = [(pair, count) for pair, count in like if isinstance(pair, RenyiPair)]
    flips = {pair.flipped for pair, _ in uses if not pair.both}
    if len(uses) < len(like) or len(flips) > 1:
        return None
    curve = total([(pair.curve, count) for pair, count in uses])
    if curve.divergence_one is None:
        return None
    leaks: dict[float, int] = {}
    for pair, count in uses:
        for leak, times in pair.leaks:
            leaks[leak] = leaks.get(leak, 0) + times * count
    return RenyiPair(curve, not flips, flips == {True}, tuple(sorted(leaks.items())))
