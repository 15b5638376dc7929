"""Two laws on two outcomes, and what a bound on one Renyi divergence says of them.

An event of masses p = P(A) > q = Q(A) has the loss l = log p/q > 0 there and -m = log (1-p)/(1-q) < 0 elsewhere, and
(l, m) tell all four masses without a difference. E e^{c loss} = e^{K(c)} is jointly convex in (p, q), so where it is
f >= e^k, the limit, the tangent at (p, q) parts the point from every pair that keeps to it:
p' - a q' <= p - a q + (e^k - f)/f_p for all of those, a = -f_q/f_p. That is a bound on their profile at alpha = a.
Proof: docs/proofs/renyi_curve.md, sections 2 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from flint import arb

START_FAR = 16  # in log m: where a start is no better than a guess
REACH_STEPS = 80  # of a root: far more than Newton takes


class Cut(NamedTuple):
    """The profile at alpha is at most `height`, for all that keep to a bound."""

    alpha: arb
    height: arb


class TwoPoint:
    """The loss l > 0 of an event and -m < 0 of the rest; the masses of both, p and q of the event."""

    __slots__ = ("_scale", "loss", "m", "p", "p_rest", "q", "q_rest")

    def __init__(self, loss: arb, m: arb) -> None:
        self.loss, self.m = loss, m
        self._scale = (loss + m).expm1()
        self.q = m.expm1() / self._scale
        self.p = self.q * loss.exp()
        self.p_rest = loss.expm1() / self._scale
        self.q_rest = self.p_rest * m.exp()

    def gain(self, epsilon: arb) -> arb:
        """p - e^epsilon q."""
        return -self.p * (epsilon - self.loss).expm1()

    def drift(self) -> arb:
        """dq/dm at the same l."""
        return self.q_rest / self._scale


@dataclass(frozen=True)
class Order:
    """K(c) <= k, or D_1 <= k where c = 0; of (Q, P) where `flipped`."""

    c: arb
    k: arb
    flipped: bool

    @cached_property
    def limit(self) -> arb:
        """What `moment` may be at most."""
        return self.k.expm1() if self.c > 0 else self.k

    def moment(self, at: TwoPoint) -> arb:
        """e^K - 1, or D_1."""
        most, up, least, down = (at.q_rest, at.m, at.q, at.loss) if self.flipped else (at.p, at.loss, at.p_rest, at.m)
        if self.c > 0:
            return most * (self.c * up).expm1() + least * (-self.c * down).expm1()
        return most * up - least * down

    def ahead(self, at: TwoPoint) -> arb:
        """The derivative of `moment` in p."""
        c, d = self.c, at.loss + at.m
        if c > 0:
            return (
                c * _gap((c + 1) * at.m, (c + 1) * at.loss) if self.flipped else (c + 1) * _gap(c * at.loss, c * at.m)
            )
        return _gap(at.m, at.loss) if self.flipped else d

    def log_share(self, at: TwoPoint) -> arb:
        """log of the slope dp/dq of the level set, less l; below 0."""
        c, d = self.c, at.loss + at.m
        if c > 0:
            share = (c / (c + 1)).log() + (-(-(c + 1) * d).expm1()).log() - (-(-c * d).expm1()).log()
            return -share - d if self.flipped else share
        share = (-(-d).expm1() / d).log()
        return -share - d if self.flipped else share

    def cut(self, at: TwoPoint) -> Cut:
        """The tangent at a point, whether or not it keeps to the bound."""
        share = self.log_share(at)
        slack = (self.limit - self.moment(at)) / self.ahead(at)
        return Cut((at.loss + share).exp(), slack - at.p * share.expm1())

    def log_slope(self, at: TwoPoint) -> arb:
        """log dp/dq of the level set."""
        return at.loss + self.log_share(at)

    def reach(self, loss: arb, start: arb | None, most: arb | None, bits: int) -> arb | None:
        """m of the point where the ray of events with this l meets the bound, about; None where it is not before most.

        Newton on log moment as a function of log m, which is nearly straight, with a bracket.
        """
        if most is None and not self.flipped and (self.c * loss <= self.k if self.c > 0 else loss <= self.k):
            return None
        low, high = None, most
        m = self._guess(loss)
        if start is not None and abs((start / m).log()) < START_FAR:
            m = start
        if high is not None and not m < high:
            m = high
        target, tiny = self.limit.log(), arb(2) ** -bits
        for _ in range(REACH_STEPS):
            at = TwoPoint(loss, m)
            moment = self.moment(at)
            off = (moment.log() - target).mid()
            if off < 0:
                if high is not None and m >= high:
                    return None
                low = m
            else:
                high = m
            rise = self.ahead(at) * -self.log_share(at).expm1() * loss.exp() * at.drift() * m / moment
            step = off / rise
            if abs(step) < tiny:
                return m
            after = (m * (-(step.min(arb(8)).max(arb(-8)))).exp()).mid()
            if (low is not None and not after > low) or (high is not None and not after < high):
                if low is None or high is None:
                    after = m / 16 if off >= 0 else m * 16
                    after = after if high is None or after < high else high
                else:
                    after = (low * high).sqrt().mid()
            if not after.is_finite() or (low is not None and high is not None and high - low < tiny * high):
                return m
            m = after
        return m

    def _guess(self, loss: arb) -> arb:
        """m where the tangent at the origin of the ray meets the bound."""
        c = self.c
        if c > 0:
            rate = (
                (-c * loss).expm1() + c * loss.expm1()
                if self.flipped
                else ((c + 1) * loss).expm1() - (c + 1) * loss.expm1()
            )
        else:
            rate = loss.expm1() - loss if self.flipped else loss * loss.exp() - loss.expm1()
        q = self.limit / rate
        rest = 1 - q * loss.exp()
        value = (q * loss.expm1() / rest).log1p() if rest > arb(2) ** -60 else arb(1).max(loss)
        return value.mid() if value.is_finite() and value > 0 else arb(1)


def _gap(up: arb, down: arb) -> arb:
    """e^up - e^-down, without a difference where both are small."""
    return (up + down).expm1() * (-down).exp()
