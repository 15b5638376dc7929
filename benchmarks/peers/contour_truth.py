"""Truths of composed laws by brute force: the contour integral, far too many nodes, 160 bits; none of the package.

delta(eps) = 1/(2 pi i) integral of M(s) e^(-s eps) / (s (s + 1)) ds along Re s = c > 0, M the moment generating
function of the composed loss under its first law. M is a sum over points of each law: nodes of the trapezoidal rule
for Gaussian noise, of Gauss and Legendre for Laplace noise, atoms; for Gaussian noise without samples it is known.
Steps and nodes are not proven: every number is computed at two of each, and truth.py keeps the digits that they share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import acb, arb, ctx

from .case import Step

BITS, NATS, REACH = 128, 48.0, 11.0
NODES = 80
LONG_MAX = 10_000
WRAP = 16  # radii grow by up to sqrt(2) at each turn, so that they are dropped in time
Points = list[tuple[arb, arb]]


@dataclass(frozen=True)
class Law:
    """count uses of one step in one direction; spread is what Gaussians without samples add: mu^2."""

    step: Step
    remove: bool
    fine: float

    @property
    def count(self) -> int:
        return int(self.step["count"])

    @property
    def square(self) -> Fraction | None:
        """mu^2 of all uses, where it is all there is."""
        if self.step["noise"] != "gaussian" or "rate" in self.step:
            return None
        return self.count * (Fraction(self.step.get("group", 1)) / Fraction(self.step["sigma"])) ** 2

    def points(self, tilt: float, height: float) -> Points:
        """(mass under the first law, loss) of one use, good for moments with real part `tilt` up to this imaginary."""
        if self.step["noise"] == "gaussian":
            return self._directed(self._gaussian(tilt, height))
        if self.step["noise"] == "laplace":
            return self._directed(self._laplace())
        epsilon = arb(self.step["epsilon"])
        high = 1 / (1 + (-epsilon).exp())
        return [(high, epsilon), (1 - high, -epsilon)]

    def _directed(self, found: Points) -> Points:
        """Of (mass without the record, ratio of with to without)."""
        if self.remove:
            return [(mass * ratio, ratio.log()) for mass, ratio in found]
        return [(mass, -ratio.log()) for mass, ratio in found]

    def _weights(self) -> list[arb]:
        rate, size = Fraction(self.step.get("rate", 1)), self.step.get("group", 1)
        each = [math.comb(size, j) * rate**j * (1 - rate) ** (size - j) for j in range(size + 1)]
        return [arb(weight.numerator) / weight.denominator for weight in each]

    def grid(self, tilt: float, height: float) -> tuple[float, float, float]:
        """The distance of the nodes, and where they begin and end."""
        sigma, shift = float(self.step["sigma"]), int(self.step.get("group", 1))
        width = self.fine * min(sigma / 8.0, 2.0 * math.pi * sigma**2 / (height + 80.0) / shift)
        return width, -REACH * sigma, (1.0 + tilt) * shift + REACH * sigma

    def _gaussian(self, tilt: float, height: float) -> Points:
        weights, variance, found = self._weights(), arb(self.step["sigma"]) ** 2, []
        width, low, high = self.grid(tilt, height)
        for index in range(math.floor(low / width), math.ceil(high / width) + 1):
            x = arb(index) * arb(width)
            mass = (-x * x / (2 * variance)).exp() * arb(width) / (2 * arb.pi() * variance).sqrt()
            ratio = sum(
                (weight * ((2 * j * x - j * j) / (2 * variance)).exp() for j, weight in enumerate(weights)), arb(0)
            )
            found.append((mass, ratio))
        return found

    def _laplace(self) -> Points:
        scale, rate = arb(self.step["scale"]), Fraction(self.step.get("rate", 1))
        share = arb(rate.numerator) / rate.denominator

        def ratio(loss: arb) -> arb:
            return 1 - share + share * loss.exp()

        found = [(arb(0.5), ratio(-1 / scale)), (arb(0.5) * (-1 / scale).exp(), ratio(1 / scale))]
        for index in range(round(NODES / self.fine)):
            node, weight = arb.legendre_p_root(round(NODES / self.fine), index, weight=True)
            x = (1 + node) / 2
            found.append((weight / 2 * (-x / scale).exp() / (2 * scale), ratio((2 * x - 1) / scale)))
        return found


@dataclass(frozen=True)
class Sum:
    """The integrand on its nodes, for every epsilon at once."""

    c: float
    h: float
    values: Sequence[acb]  # M(s) / (s (s + 1)) at s = c + i h m, over e^top
    top: arb

    def delta(self, epsilon: arb) -> arb:
        turn, power, total = (acb(0, -1) * self.h * epsilon).exp(), acb(1), arb(0)
        for index, value in enumerate(self.values):
            term = (value * power).real
            total += term / 2 if index == 0 else term
            power = _middle(power * turn)
        return (self.top - self.c * epsilon).exp() * total * self.h / arb.pi()


def _floats(law: Law, tilt: float) -> tuple[np.ndarray, np.ndarray]:
    """log masses and losses in float64, to find where to sum."""
    if law.step["noise"] == "gaussian":
        sigma, weights = float(law.step["sigma"]), [float(weight) for weight in law._weights()]
        x = np.arange(-REACH * sigma, (1.0 + tilt) * (len(weights) - 1) + REACH * sigma, sigma / 8.0)
        parts = [math.log(weight) + (2 * j * x - j * j) / (2.0 * sigma**2) for j, weight in enumerate(weights)]
        ratio = np.logaddexp.reduce(parts)
        logs = -(x**2) / (2.0 * sigma**2) + math.log(1.0 / 8.0 / math.sqrt(2.0 * math.pi))
        return (logs + ratio, ratio) if law.remove else (logs, -ratio)
    made = law.points(tilt, 0.0)
    masses = np.array([float(mass.log().mid()) for mass, _ in made])
    return masses, np.array([float(loss.mid()) for _, loss in made])


def _log_moment(laws: Sequence[Law], seen: Sequence[tuple[np.ndarray, np.ndarray] | None], s: complex) -> complex:
    total = 0j
    for law, points in zip(laws, seen, strict=True):
        if points is None:
            assert law.square is not None
            total += float(law.square) * s * (s + 1) / 2
            continue
        heights = points[0] + s.real * points[1]
        top = float(heights.max())
        total += law.count * (top + complex(np.log(np.sum(np.exp(heights - top + 1j * s.imag * points[1])))))
    return total


def _place(laws: Sequence[Law], delta: float, epsilon: float | None) -> tuple[float, float, float]:
    """c where the integrand is flat, the height at which it has died away, and a step whose copies do not overlap.

    A sum of step h is delta(eps) and its copies e^(c n P) delta(eps + n P), P = 2 pi / h: those above are bounded by
    Chernoff at other tilts, those below by delta <= 1.
    """
    tilts, heights = np.geomspace(0.02, 400.0, 60), []
    for tilt in tilts:
        seen = [None if law.square is not None else _floats(law, float(tilt)) for law in laws]
        heights.append(_log_moment(laws, seen, complex(tilt)).real)
    flat = np.array(heights) - np.log(tilts * (tilts + 1.0))
    best = int(np.argmin((flat - math.log(delta)) / tilts if epsilon is None else flat - tilts * epsilon))
    c, t = float(tilts[best]), 1.0 / 64
    if epsilon is None:
        epsilon = float(flat[best] - math.log(delta)) / c
    seen = [None if law.square is not None else _floats(law, c) for law in laws]
    while _log_moment(laws, seen, complex(c, t)).real - heights[best] - 2.0 * math.log(1.0 + t) > -NATS:
        t *= 1.1
    period = (NATS - math.log(delta)) / c
    while np.min(np.array(heights) - tilts * (epsilon + period)) + c * period - math.log(delta) > -NATS:
        period *= 1.2
    return c, t, 2.0 * math.pi / period


def summed(steps: Sequence[Step], remove: bool, delta: float, epsilon: float | None = None, fine: float = 1.0) -> Sum:
    """All nodes; good near the epsilon of this delta (or near this epsilon, where delta is about this)."""
    laws = [Law(step, remove, fine) for step in steps]
    c, height, step = _place(laws, delta, epsilon)
    h = fine * step
    nodes = math.ceil(height / h) + 2
    logs = [acb(0)] * nodes
    for law in laws:
        if law.square is not None:
            half = arb(law.square.numerator) / law.square.denominator / 2
            places = [acb(c, h * index) for index in range(nodes)]
            logs = [old + half * s * (s + 1) for old, s in zip(logs, places, strict=True)]
            continue
        if law.step["noise"] == "gaussian" and law.count <= LONG_MAX:
            logs = [old + law.count * log for old, log in zip(logs, _long_logs(law, c, h, nodes), strict=True)]
            continue
        made = law.points(c, height)
        powers = [mass * (c * loss).exp() * acb(1) for mass, loss in made]
        turns = [(acb(0, 1) * arb(h) * loss).exp() for _, loss in made]
        for index in range(nodes):
            logs[index] += law.count * sum(powers, acb(0)).log()
            powers = [power * turn for power, turn in zip(powers, turns, strict=True)]
            if index % WRAP == 0:
                powers = [_middle(power) for power in powers]
    top = logs[0].real
    values = [(log - top).exp() / (acb(c, h * index) * acb(c + 1.0, h * index)) for index, log in enumerate(logs)]
    return Sum(c, h, [_middle(value) for value in values], top.mid())


def _long_logs(law: Law, c: float, h: float, nodes: int) -> list[acb]:
    """log M of one use in long double: 19 digits are enough where they are not multiplied by a large count."""
    sigma, weights = np.longdouble(law.step["sigma"]), law._weights()
    width, low, high = law.grid(c, h * nodes)
    x = np.arange(math.floor(low / width), math.ceil(high / width) + 1).astype(np.longdouble) * np.longdouble(width)
    shares = [np.longdouble(weight.str(25, radius=False)) for weight in weights]
    ratio = sum(share * np.exp((2 * j * x - j * j) / (2 * sigma**2)) for j, share in enumerate(shares))
    loss = np.log(ratio) if law.remove else -np.log(ratio)
    mass = np.exp(
        -(x**2) / (2 * sigma**2) + (1 + c) * np.log(ratio) if law.remove else c * loss - x**2 / (2 * sigma**2)
    )
    mass *= np.longdouble(width) / (sigma * np.sqrt(np.longdouble(arb.pi().str(25, radius=False)) * 2))
    turns, found = np.exp(np.clongdouble(1j) * np.longdouble(h) * loss), []
    for index in range(nodes):
        if index % WRAP == 0:
            powers = mass * np.exp(np.clongdouble(1j) * (np.longdouble(h) * index) * loss)
        value = powers.sum()
        found.append(acb(_split(value.real), _split(value.imag)).log())
        powers = powers * turns
    return found


def _split(value: np.longdouble) -> arb:
    return arb(float(value)) + arb(float(value - np.longdouble(float(value))))


def _middle(value: acb) -> acb:
    return acb(value.real.mid(), value.imag.mid())


def epsilon_at(steps: Sequence[Step], remove: bool, delta: float, fine: float = 1.0) -> arb:
    """The epsilon with this delta, by secants on log delta."""
    ctx.prec = BITS
    made, wanted = summed(steps, remove, delta, fine=fine), arb(delta).log()
    low, high = arb(0), arb(1)
    while made.delta(high).log() > wanted:
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if made.delta(middle).log() > wanted else (low, middle)
    values = [made.delta(each).log().mid() - wanted for each in (low, high)]
    for _ in range(8):
        if values[0] == values[1] or abs(float(values[1])) < 1e-38:
            break
        low, high = high, (high - values[1] * (high - low) / (values[1] - values[0])).mid()
        values = [values[1], (made.delta(high).log() - wanted).mid()]
    return high


def log_chernoff(steps: Sequence[Step], remove: bool, epsilon: float) -> float:
    """A bound on log delta, in float64: the best of some tilts."""
    laws = [Law(step, remove, 1.0) for step in steps]
    found = math.inf
    for tilt in np.geomspace(0.1, 400.0, 30):
        seen = [None if law.square is not None else _floats(law, float(tilt)) for law in laws]
        found = min(found, _log_moment(laws, seen, complex(tilt)).real - float(tilt) * epsilon)
    return found
