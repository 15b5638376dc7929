"""Symmetric log-concave noise X on the whole numbers, by its cgf: masses and tails at any depth, in balls.

With y = k - centre, L(z) = log E e^{z (X - centre)} and any s > 0, the N-point trapezoid rule on Re z = s gives
    (1/N) sum over j of e^{L(z_j) - y z_j}/(1 - e^{-z_j}) = sum over m of e^{smN} P[X >= k + mN],  z_j = s + 2 pi i j/N:
what is asked is the term m = 0, and no other is negative. Without the denominator it is the same for P[X = k].
Through the saddle point nothing cancels, and the nodes fall like a bell: some hundred, whatever the variance.
Guarantee: balls contain the truth; s, N and where the nodes end are choices. Proof: docs/proofs/integer_noise.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from flint import acb, arb, ctx

from ...numerics.balls import working_precision
from ...values import compute_budget
from ...values.errors import Refusal, UnsupportedMechanism

SADDLE_MAX = 700.0  # e^s is a double
TURNS_MAX = 1 << 16
NODE_UNITS = 800.0  # of work, for one node
TRAPEZOID_SPARE = 12  # bits
KEPT_MAX = 1 << 12
LOG_TWO = math.log(2.0)


class IntegerNoise(ABC):
    """Noise that is symmetric around half of `twice_centre`. Instances are frozen values."""

    @property
    @abstractmethod
    def twice_centre(self) -> int: ...

    @property
    @abstractmethod
    def last(self) -> int | None:
        """The largest output, where there is one."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """The standard deviation, about."""

    @abstractmethod
    def cumulant(self, s: arb) -> arb:
        """L(s)."""

    @abstractmethod
    def turning(self, s: arb) -> Callable[[arb], acb]:
        """e^{L(s + i angle) - L(s)} for angles in [0, pi]; its modulus falls with the angle."""

    @abstractmethod
    def plain_cumulant(self, s: float) -> float:
        """L(s), about."""

    @abstractmethod
    def plain_slope(self, s: float) -> float:
        """L'(s), about."""

    @abstractmethod
    def plain_saddle(self, y: float) -> float:
        """The s with L'(s) = y >= 0, about."""

    @abstractmethod
    def plain_angle(self, s: float, log_fall: float) -> float:
        """The angle at which the modulus is e^-log_fall, about; pi where it is never so small."""

    @abstractmethod
    def plain_loss(self, k: float, shift: int) -> float:
        """log P[X = k - shift]/P[X = k], about; rises with k."""

    @abstractmethod
    def plain_output(self, t: float, shift: int) -> float:
        """The k at which `plain_loss` is t, about."""

    @abstractmethod
    def masses(self, first: int, last: int) -> list[arb]:
        """P[X = k] for k = first, ..., last, at or above the centre; relative errors grow with their number only."""

    @abstractmethod
    def loss(self, k: int, shift: int) -> arb:
        """log P[X = k - shift]/P[X = k], where both are above 0."""

    def growing(self, last: int, shift: int, tilt: arb) -> arb:
        """At or above the sum over k > last of P[X = k - shift] e^{tilt loss}, where outputs have no end."""
        return arb("inf")

    def bend(self, k: int) -> arb | None:
        """log P[X = k]^2/(P[X = k - 1] P[X = k + 1]), where it falls from the centre on; else None."""
        return None

    def lines(self, shift: int, most: arb) -> tuple[tuple[arb, arb], ...]:
        """(s, rho) with K(c) <= c s + c (c + 1) rho for every c > 0, rho ever smaller, most that of the bend."""
        return ()

    def mirror(self, k: int) -> int:
        """The output on the other side of the centre."""
        return self.twice_centre - k

    def tail(self, k: int) -> arb:
        """P[X >= k], from the side where it is small."""
        if 2 * k <= self.twice_centre:
            return 1 - self.tail(self.mirror(k) + 1)
        if self.last is not None and k > self.last:
            return arb(0)
        return self._kept(k, True)

    def mass(self, k: int) -> arb:
        """P[X = k]."""
        k = max(k, self.mirror(k))
        if self.last is not None and k > self.last:
            return arb(0)
        return self._kept(k, False)

    def _kept(self, k: int, tail: bool) -> arb:
        """What was summed at the working precision, once for each output."""
        known: dict[tuple[int, bool, int], arb] = self.__dict__.setdefault("_known", {})
        asked = k, tail, ctx.prec
        if asked not in known:
            if len(known) >= KEPT_MAX:
                known.clear()
            known[asked] = self.summed_tail(k) if tail else self.summed_mass(k)
        return known[asked]

    def summed_tail(self, k: int) -> arb:
        """P[X >= k] for k above the centre."""
        return trapezoid(self, k, True)

    def summed_mass(self, k: int) -> arb:
        """P[X = k] for k at or above the centre."""
        return trapezoid(self, k, False)

    def reach(self, log_mass: float) -> int:
        """An output beyond which P has less than e^-log_mass, about."""
        low, high = 0.0, 1.0
        while self.depth(high) < log_mass and high < 1e300:
            low, high = high, 2.0 * high
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.depth(middle) < log_mass else (low, middle)
        k = math.ceil(high + 0.5 * self.twice_centre)
        return k if self.last is None else min(k, self.last)

    def depth(self, y: float) -> float:
        """-log P[X >= centre + y] by Chernoff, about."""
        if self.last is not None and y >= 0.5 * self.twice_centre:
            return math.inf
        s = self.plain_saddle(y)
        return s * y - self.plain_cumulant(s)

    def chernoff(self, k: int) -> arb:
        """At or above P[X >= k], for k above the centre: e^{L(s) - s y}."""
        y = arb(2 * k - self.twice_centre) / 2
        s = arb(self.plain_saddle(float(y.mid())))
        return (self.cumulant(s) - s * y).exp()


def trapezoid(noise: IntegerNoise, k: int, tail: bool) -> arb:
    """P[X >= k], or P[X = k], for k at or above the centre."""
    bits, twice = ctx.prec + TRAPEZOID_SPARE, 2 * k - noise.twice_centre
    y = 0.5 * twice
    s = _tail_saddle(noise, y) if tail else min(noise.plain_saddle(y), SADDLE_MAX)
    kept = math.log(-math.expm1(-s)) if tail else 0.0
    log_scale = noise.plain_cumulant(s) - s * y
    width = noise.plain_angle(s, 1.0)  # where the modulus has fallen to 1/e
    log_value = log_scale - kept + math.log(min(width, 1.0)) - 3.0
    wanted = bits * LOG_TWO - log_value
    nodes, *tilts = _spacing(noise, s, y, wanted, tail)
    angle = noise.plain_angle(s, wanted + log_scale - kept)
    count = min(nodes // 2, math.ceil(angle * nodes / (2.0 * math.pi)))
    if not count < TURNS_MAX:
        raise UnsupportedMechanism("its tails take too many nodes", Refusal.TOO_MUCH_WORK)
    compute_budget.spend(NODE_UNITS * (count + 1))
    more = math.log2(2.0 + abs(noise.plain_cumulant(s)) + (s + 4.0) * abs(y) + noise.spread)
    with working_precision(bits + 2 * TRAPEZOID_SPARE + math.ceil(more)):
        tilt, place = arb(s), arb(twice) / 2
        step = 2 * arb.pi() / nodes
        scale = (noise.cumulant(tilt) - tilt * place).exp()
        turned, fall, total = noise.turning(tilt), (-tilt).exp(), arb(0)
        for j in range(count + 1):
            # Whole turns are taken off exactly.
            term = turned(j * step) * _turn(-twice * j, nodes)
            if tail:
                term = term / (1 - fall * _turn(-2 * j, nodes))
            total += (1 if j == 0 else 2) * term.real
        value = scale * total / nodes
        error = _aliases(noise, place, tilt, nodes, tilts, tail)
        if 2 * count + 1 < nodes:
            error += _left_out(turned((count + 1) * step), scale, fall, tail)
        return value + arb(0, 1) * error


def _left_out(first: acb, scale: arb, fall: arb, tail: bool) -> arb:
    """At or above the mean of the nodes from this one on."""
    return scale * abs(first) / ((1 - fall) if tail else 1)


def _turn(part: int, nodes: int) -> acb:
    """e^{i pi part/nodes}."""
    return acb.exp_pi_i(acb(arb(part % (2 * nodes)) / nodes))


def _aliases(noise: IntegerNoise, place: arb, tilt: arb, nodes: int, tilts: Sequence[float], tail: bool) -> arb:
    """At or above the sum over m != 0 of e^{smN} times what lies mN further: below by e^{-s|m|N}, or as above."""

    def side(other: float) -> arb:
        apart = abs(tilt - other) * nodes
        return (noise.cumulant(arb(other)) - arb(other) * place).exp() / apart.expm1()

    left, right = tilts
    return side(right) + (1 / (tilt * nodes).expm1() if tail else side(left))


def _tail_saddle(noise: IntegerNoise, y: float) -> float:
    """The s with L'(s) = y + 1/(e^s - 1), about, by bisection of log s."""
    low, high = -750.0, math.log(SADDLE_MAX)
    for _ in range(64):
        middle = 0.5 * (low + high)
        s = math.exp(middle)
        if s == 0.0 or noise.plain_slope(s) < y + 1.0 / math.expm1(s):
            low = middle
        else:
            high = middle
    return math.exp(high)


def _spacing(noise: IntegerNoise, s: float, y: float, wanted: float, tail: bool) -> tuple[int, float, float]:
    """An odd number of nodes for which aliases are below e^-wanted, and the tilts that bound them."""
    nodes = math.ceil(min(wanted / s if tail else 2.0 * wanted / noise.plain_angle(s, wanted), 1e300))
    while True:
        nodes = 2 * (nodes // 2) + 1
        right = noise.plain_saddle(y + nodes)
        left = noise.plain_saddle(y - nodes) if nodes < y else -noise.plain_saddle(nodes - y)
        tilts = (right,) if tail else (left, right)
        logs = [noise.plain_cumulant(other) - other * y - abs(other - s) * nodes for other in tilts]
        if max(logs) <= -wanted and not (tail and s * nodes < wanted):
            return nodes, left, right
        nodes = nodes + nodes // 8 + 2


# Moments of integer noise by how its log masses bend, at any variance: b_k = log p_k^2/(p_{k-1} p_{k+1}).
#
# Where b falls from the centre on, R = D^2 b_0/2, and Phi(c) = (e^K - 1)/(c (c + 1)), which is convex:
#     c D whole   K(c) <= c (c + 1) R; at least the same with an outer b in place of b_0, but for the mass beyond it
#     order 1     Phi(0) = D_1 likewise
#     any c > 0   K and Phi lie below their chords, and Phi above the line through the next two whole c D
#     zCDP        rho <= R (1 + 1/D), and R (1 + R/D^2) where R <= 1/2
# Guarantee: lower and upper. Proof: docs/proofs/integer_noise.md, section 8.

BENDS_TO = 40.0  # deviations: masses further out take long
BEYOND_DEPTH = 50.0  # -log of the mass beyond the outer bend, without what the variance adds


class Bend(NamedTuple):
    """shift: D. most: R."""

    noise: IntegerNoise
    shift: int
    most: arb

    @staticmethod
    def of(noise: IntegerNoise, shift: int) -> Bend | None:
        """None where the bend does not fall from the centre on."""
        top = noise.bend(noise.twice_centre // 2)
        return None if top is None else Bend(noise, shift, top * shift**2 / 2)

    def rho(self) -> arb:
        """zCDP: K(c) <= c (c + 1) rho for every c > 0."""
        shift, most = self.shift, self.most
        return most + most * most / shift**2 if 2 * most <= 1 else most + most / shift

    def lines(self) -> tuple[tuple[arb, arb], ...]:
        """(s, rho) with K(c) <= c s + c (c + 1) rho for every c > 0, rho ever smaller."""
        return (self.most / self.shift, self.most), *self.noise.lines(self.shift, self.most)

    def log_moment(self, c: arb) -> arb | None:
        """A ball around K(c), c >= -1/2; None where nothing is known."""
        steps = (c * self.shift).floor()
        if not steps.is_exact():
            return None
        if c < 0:
            return self._mirrored(c)
        n, part, y = int(steps.fmpq().p), c * self.shift - steps, c * (c + 1)
        first, second = self._power_above(n), self._power_above(n + 1)
        high = y * self.most + part * (1 - part) * self.most / self.shift**2
        for value in (
            (y * (first + part * (second - first))).log1p(),
            *(c * s + y * rho for s, rho in self.lines()),
        ):
            high = high.min(value) if value.is_finite() else high
        low = arb(0)
        for value in self._below(c, n, part):
            low = low.max(value) if value.is_finite() else low
        return low.union(high)

    def _mirrored(self, c: arb) -> arb | None:
        """-1/2 <= c < 0: Phi is its own mirror image around -1/2, and convex."""
        here, following = self._power_below(0), self._power_above(1)
        lower = here + c * self.shift * (following - here)
        value = (c * (c + 1) * lower.max(arb(0)).union(self.most)).log1p()
        return value if value.is_finite() else None

    def _below(self, c: arb, n: int, part: arb) -> Iterator[arb]:
        """At or below K(c), n + part = c D."""
        y, near = c * (c + 1), min(n, math.ceil(BENDS_TO * self.noise.spread))
        if near > 0:  # D_o never falls
            yield self._log_moment_below(near) * c * self.shift / near
        if near < n:
            return
        if part.is_zero():
            yield (y * self._power_below(n)).log1p()
        else:
            following = self._power_below(n + 1)
            yield (y * (following - (1 - part) * (self._power_above(n + 2) - following))).log1p()

    def _weight(self, steps: int) -> arb:
        """c (c + 1) at c = steps/D."""
        c = arb(steps) / self.shift
        return c * (c + 1)

    def _log_moment_below(self, steps: int) -> arb:
        """At or below K at c = steps/D."""
        outer, kept = self._outer(steps)
        return self._weight(steps) * outer + kept.log()

    def _power_below(self, steps: int) -> arb:
        """At or below Phi at c = steps/D."""
        if steps == 0:
            outer, kept = self._outer(0)
            return outer * kept
        return self._log_moment_below(steps).expm1() / self._weight(steps)

    def _power_above(self, steps: int) -> arb:
        """At or above Phi at c = steps/D."""
        y = self._weight(steps)
        return (y * self.most).expm1() / y if steps else self.most

    def _outer(self, steps: int) -> tuple[arb, arb]:
        """D^2 b/2 at or below that of every output in question, and at or below the mass of the outputs that count.

        Nothing where these are too far out.
        """
        noise = self.noise
        if self.shift + steps > 2 * math.ceil(BENDS_TO * noise.spread):
            return arb(0), arb(1) / 2
        far = noise.reach(BEYOND_DEPTH + 4.0 * math.log(2.0 + noise.spread))
        bend = noise.bend(far + self.shift + steps)
        assert bend is not None
        return bend * self.shift**2 / 2, 1 - 2 * noise.chernoff(far + 1)
