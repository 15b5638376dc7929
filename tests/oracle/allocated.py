"""Random allocation: every record takes part in so many of the steps, all choices alike.

By enumeration: all places of all records, all outputs of all steps; or of one record against nobody, by its two laws.
By quadrature: the mean of a few ratios of Gaussian densities. By inversion of a transform: of eight or more. By draws:
of any number, with a standard error. The laws of a step may also be chosen after what was seen, from a list: `adaptive`
is the observer's best choice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb, exp, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from .adaptive import Array, Neighbours
from .enumerate_data import Answer, Data, Noise, number

Sums = tuple[int, ...]


def allocated(pair: Neighbours, steps: int, uses: int = 1) -> Neighbours:
    """One record, seen in the law p where it takes part and in q where not; each step answers by itself."""
    p = np.zeros(len(pair.p) ** steps, dtype=np.longdouble)
    for places in combinations(range(steps), uses):
        p += _together([pair.p if step in places else pair.q for step in range(steps)])
    return Neighbours(p / comb(steps, uses), _together([pair.q] * steps))


def blocks(pair: Neighbours, steps: int, uses: int) -> Neighbours:
    """The record is in one step of each of so many blocks, whose sizes differ by one at most."""
    sizes = [steps // uses + (index < steps % uses) for index in range(uses)]
    parts = [allocated(pair, size) for size in sizes]
    return Neighbours(_together([each.p for each in parts]), _together([each.q for each in parts]))


def _together(laws: Sequence[Array]) -> Array:
    found = np.ones(1, dtype=np.longdouble)
    for law in laws:
        found = np.multiply.outer(found, law).ravel()
    return found


def adaptive(pairs: Sequence[Neighbours], steps: int, alpha: float, reverse: bool = False) -> float:
    """The largest profile over all ways to choose a pair (with, without) of the list after what was seen.

    reverse: of the laws without the record against those with it.
    """

    @cache
    def value(step: int, seen: float) -> float:
        if step == steps:
            return max(1.0 - alpha * seen, 0.0) if reverse else max(seen - alpha, 0.0)
        return max(shown(pair, step, seen) for pair in pairs)

    def shown(pair: Neighbours, step: int, seen: float) -> float:
        total = 0.0
        for p, q in zip(pair.p.astype(float), pair.q.astype(float), strict=True):
            if q > 0.0:
                total += q * value(step + 1, seen + p / q / steps)
            elif not reverse:
                total += p / steps
        return total

    return value(0, 0.0)


def transcripts(noise: Noise, steps: int, uses: int = 1) -> Answer:
    """The law of all noisy sums of one epoch, as tuples; every record has its own places."""

    @cache
    def law(data: Data) -> dict[Any, np.longdouble]:
        found: dict[Any, np.longdouble] = defaultdict(lambda: np.longdouble(0))
        for sums, weight in _sums(data, steps, uses).items():
            share = number(weight)
            for added in product(noise.items(), repeat=steps):
                seen = tuple(total + x for total, (x, _) in zip(sums, added, strict=True))
                found[seen] += share * np.prod([mass for _, mass in added])
        return dict(found)

    return law


def _sums(data: Data, steps: int, uses: int) -> Mapping[Sums, Fraction]:
    """How probable the sums of the batches are."""
    found: dict[Sums, Fraction] = defaultdict(Fraction)
    places = list(combinations(range(steps), uses))
    for chosen in product(places, repeat=len(data)):
        sums = tuple(sum(x for x, own in zip(data, chosen, strict=True) if step in own) for step in range(steps))
        found[sums] += Fraction(1, len(places) ** len(data))
    return found


def gaussian(sigma: float, steps: int, epsilon: float, points: int = 160) -> tuple[float, float]:
    """(remove, add) of Gaussian steps, few of them: E(L - a)_+ and E(1 - a L)_+ with twelve digits of 1.

    Both are expectations of (k - Y_1 - ... - Y_t)_+. Given what the first ones left, x, the next takes the share
    s = 1/(1 + e^-v) of it: smooth in v, with Gaussian tails on both sides, so the trapezoid rule converges like no
    power of its step. The last one has a closed form.
    """
    alpha = exp(epsilon)
    return 1.0 - alpha + _under(steps * alpha, sigma, steps, points) / steps, alpha * _under(
        steps / alpha, sigma, steps, points
    ) / steps


def _under(level: float, sigma: float, steps: int, points: int) -> float:
    """E(level - Y_1 - ... - Y_steps)_+."""
    mu = 1.0 / sigma
    reach = 12.0 * mu + mu * mu
    v, h = np.linspace(-reach - 3.0, reach + 3.0, points, retstep=True)
    taken, left = 1.0 / (1.0 + np.exp(-v)), 1.0 / (1.0 + np.exp(v))
    weight, rest = np.ones(1), np.full(1, level)
    for _ in range(steps - 1):
        z = np.log(np.multiply.outer(rest, taken)) / mu + mu / 2
        here = np.exp(-z * z / 2) / sqrt(2 * pi) * (left * h / mu)
        weight, rest = (weight[:, None] * here).ravel(), np.multiply.outer(rest, left).ravel()
        weight, rest = weight[weight > 1e-30], rest[weight > 1e-30]
    z = np.log(rest) / mu + mu / 2
    return float(np.sum(weight * (rest * ndtr(z) - ndtr(z - mu))))


def gaussian_many(sigma: float, steps: int, epsilon: float) -> tuple[float, float]:
    """(remove, add) of Gaussian steps, eight or more, to 1e-12 of 1: the same expectations from the transform of Y.

    E(k - S)_+ is the integral of e^(s k) phi(s)^steps/s^2 over a line Re s = c by the saddle, phi(s) = E e^(-s Y).
    The trapezoid rule at the period T returns it with e^(-c T) times its value at k + T on top.
    """
    alpha = exp(epsilon)
    above, below = (_inverted(sigma, steps, steps * level) / steps for level in (alpha, 1.0 / alpha))
    return 1.0 - alpha + above, alpha * below


def _inverted(sigma: float, steps: int, k: float) -> float:
    z, h = np.linspace(-13.0, 13.0, 1301, retstep=True)
    weight, y = np.exp(-z * z / 2) * h / sqrt(2 * pi), np.exp(z / sigma - 0.5 / sigma**2)

    def size(power: float) -> float:
        c = exp(power)
        return float(c * k + steps * np.log(weight @ np.exp(-c * y)) - 2 * power)

    low, high = -25.0, 15.0
    for _ in range(80):  # size is convex in c, so it falls and then rises in log c
        one, other = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, other) if size(one) < size(other) else (one, high)
    c, top = exp(low), size(low)
    du = 2 * pi / (k + 45.0 / c)
    total, start = 0.0, 0
    while True:
        s = c + 1j * du * np.arange(start, start + 200)
        phi = np.exp(np.multiply.outer(-s, y)) @ weight
        terms = np.exp(s * k + steps * np.log(phi) - 2 * np.log(s) - top)
        total += float(terms.real.sum()) - (0.5 * float(terms[0].real) if start == 0 else 0.0)
        start += 200
        if abs(terms[-1]) < 1e-17 or start > 20_000:
            return total * du / pi * exp(top)


class Estimate(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float

    def agrees(self, lower: float, upper: float, times: float = 6.0) -> bool:
        """Whether the interval meets so many standard errors around the mean."""
        return lower <= self.mean + times * self.error and self.mean - times * self.error <= upper


def drawn(sigma: float, steps: int, epsilon: float, direction: str, draws: int, seed: int = 0) -> Estimate:
    """The profile of Gaussian steps by draws that make what counts probable.

    remove: E(Y_1 + ... + Y_t - t a)_+/t is the mean over the draws of all but one of what the largest one adds, by a
    closed form (Asmussen, Kroese 2006): also far out, where one alone decides; half of the draws have all steps higher,
    until the mean of L is a, where many decide together. add: E_Q(1 - a L)_+, all steps drawn lower, until the mean of
    L is 1/a; with little noise and far out that is not how they get there, and the standard error tells nothing.
    """
    mu, alpha, source = 1 / sigma, exp(epsilon), np.random.default_rng(seed)
    tilt = epsilon / mu
    found = []
    for size in _batches(draws, max(2, 2_000_000 // steps)):
        if direction == "remove":
            z = source.standard_normal((size, steps - 1))
            z[::2] += tilt  # every other draw has all steps higher, and the weight of its share
            with np.errstate(over="ignore"):
                tilted = np.exp(tilt * z.sum(axis=1) - (steps - 1) * tilt * tilt / 2)
            share = -(-size // 2) / size
            ratios = np.exp(mu * z - mu * mu / 2)
            missing = steps * alpha - ratios.sum(axis=1)
            least = np.maximum(ratios.max(axis=1), missing)
            z = np.log(least) / mu + mu / 2
            found.append((ndtr(mu - z) - missing * ndtr(-z)) / (1 - share + share * tilted))
        else:
            z = source.standard_normal((size, steps)) - tilt
            weight = np.exp(tilt * z.sum(axis=1) + steps * tilt * tilt / 2)
            found.append(weight * np.maximum(1 - alpha * np.exp(mu * z - mu * mu / 2).mean(axis=1), 0.0))
    values = np.concatenate(found)
    return Estimate(float(values.mean()), float(values.std(ddof=1) / sqrt(len(values))))


def _batches(total: int, most: int) -> Iterator[int]:
    while total > 0:
        yield min(total, most)
        total -= most
