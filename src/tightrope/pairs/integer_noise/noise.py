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
from collections.abc import Callable, Sequence

from flint import acb, arb, ctx

from ... import compute_budget
from ...errors import Refusal, UnsupportedMechanism
from ...kernels.ball import working_precision

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
