"""Every reading of a guarantee, by its definition: of two laws with finitely many outputs, and of three families.

`Two` holds the masses of P and Q as fractions. A test of "Q" against "P" rejects a set of outputs: the rate of false
positives is its Q, the rate of true positives its P. What has logarithms in it is worked out with DIGITS digits.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import mpmath as mp

DIGITS = 30
Corner = tuple[Fraction, Fraction]


def real(value: Fraction | float | int | mp.mpf) -> mp.mpf:
    """A number with DIGITS digits."""
    return mp.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mp.mpf(value)


@dataclass(frozen=True)
class Two:
    """P and Q of each output."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    @staticmethod
    def of(p: Sequence[float | Fraction], q: Sequence[float | Fraction]) -> Two:
        """Numbers as they are, divided by their exact sum."""
        first, second = ([Fraction(each) for each in masses] for masses in (p, q))
        return Two(tuple(each / sum(first) for each in first), tuple(each / sum(second) for each in second))

    def reversed(self) -> Two:
        return Two(self.q, self.p)

    def __mul__(self, other: Two) -> Two:
        """One use of each: every pair of outputs."""
        return Two(
            tuple(a * b for a in self.p for b in other.p),
            tuple(a * b for a in self.q for b in other.q),
        )

    def power(self, count: int) -> Two:
        found = Two((Fraction(1),), (Fraction(1),))
        for _ in range(count):
            found = found * self
        return found

    def sampled(self, rate: float | Fraction) -> Two:
        """The record takes part with this probability."""
        share = Fraction(rate)
        return Two(tuple((1 - share) * b + share * a for a, b in zip(self.p, self.q, strict=True)), self.q)

    def processed(self, groups: Sequence[int]) -> Two:
        """Outputs of the same group are not told apart."""
        names = sorted(set(groups))
        return Two(
            *(
                tuple(sum((m for m, g in zip(masses, groups, strict=True) if g == name), Fraction(0)) for name in names)
                for masses in (self.p, self.q)
            )
        )

    def hockey_stick(self, a: Fraction) -> Fraction:
        """H(a): the sum of what P has beyond a Q."""
        return sum((max(p - a * q, Fraction(0)) for p, q in zip(self.p, self.q, strict=True)), Fraction(0))

    def corners(self) -> tuple[Corner, ...]:
        """(false positives, true positives) of the best tests without a coin: outputs by falling P/Q, ties at once."""
        masses: dict[Fraction | float, list[Fraction]] = {}
        for p, q in zip(self.p, self.q, strict=True):
            if p or q:
                entry = masses.setdefault(p / q if q else math.inf, [Fraction(0), Fraction(0)])
                entry[0], entry[1] = entry[0] + q, entry[1] + p
        found, fpr, tpr = [(Fraction(0), Fraction(0))], Fraction(0), Fraction(0)
        for ratio in sorted(masses, reverse=True):
            fpr, tpr = fpr + masses[ratio][0], tpr + masses[ratio][1]
            found.append((fpr, tpr))
        return tuple(found)

    def tpr(self, fpr: Fraction) -> Fraction:
        """The most true positives: between two corners a coin decides, which is linear."""
        return _along(self.corners(), fpr)

    def tradeoff(self, fpr: Fraction) -> Fraction:
        return 1 - self.tpr(fpr)

    def symmetric(self) -> tuple[Corner, ...]:
        """The corners of the least concave function above the true positives of both directions."""
        return _hull([*self.corners(), *self.reversed().corners()])

    def symmetric_tpr(self, fpr: Fraction) -> Fraction:
        return _along(self.symmetric(), fpr)

    def advantage(self) -> Fraction:
        """Total variation: half the sum of |P - Q|."""
        return sum((abs(p - q) for p, q in zip(self.p, self.q, strict=True)), Fraction(0)) / 2

    def bayes_accuracy(self, prior: Fraction) -> Fraction:
        """Each output is said to be of the likelier law; the first has this probability beforehand."""
        return sum((max(prior * p, (1 - prior) * q) for p, q in zip(self.p, self.q, strict=True)), Fraction(0))

    def posterior(self, prior: Fraction, fpr: Fraction) -> Fraction:
        """The probability of the first law where the best test with so many false positives rejects the second."""
        return posterior(self.tpr(fpr), prior, fpr)

    def kl(self) -> mp.mpf:
        """E_P[log P/Q]."""
        with mp.workdps(DIGITS):
            if any(p and not q for p, q in zip(self.p, self.q, strict=True)):
                return mp.inf
            return mp.fsum(real(p) * mp.log(real(p / q)) for p, q in zip(self.p, self.q, strict=True) if p)

    def renyi(self, order: float | Fraction | mp.mpf) -> mp.mpf:
        """log E_Q[(P/Q)^order] / (order - 1); at 1, 0 and infinity the limits."""
        with mp.workdps(DIGITS):
            o = real(order)
            both = [(p, q) for p, q in zip(self.p, self.q, strict=True) if p]
            if o == 1:
                return self.kl()
            if o > 1 and any(not q for _, q in both):
                return mp.inf
            if o == mp.inf:
                return mp.log(real(max(p / q for p, q in both)))
            moment = mp.fsum(real(q) * real(p / q) ** o for p, q in both if q)
            return mp.log(moment) / (o - 1) if moment else mp.inf

    def gdp(self, least: float | Fraction = 0) -> mp.mpf:
        """The least mu whose Gaussian has H_mu(a) >= H(a) wherever a >= 1 and H(a) >= least, in both directions.

        Between two corners H is linear in a and H_mu convex, so the mu that a needs rises to one place and falls after.
        That place is where the line touches H_mu: where a is the slope of the Gaussian's true positives at fpr.
        """
        with mp.workdps(DIGITS):
            return max(mp.mpf(0), *(each._gaussian(Fraction(least)) for each in (self, self.reversed())))

    def _gaussian(self, least: Fraction) -> mp.mpf:
        found = mp.mpf(0)
        for fpr, tpr, low, high in _pieces(self.corners()):
            low = max(low, Fraction(1))
            if low >= high or tpr - low * fpr < least:
                continue
            if not fpr:
                if tpr:  # H never falls below tpr
                    return mp.inf
                continue
            end = min(high, (tpr - least) / fpr)
            found = max(found, _best_mu(fpr, tpr, low, end))
        return found

    def merged(self) -> Two:
        """Outputs with the same P/Q as one, which tells as much."""
        corners = self.corners()
        steps = [(right[1] - left[1], right[0] - left[0]) for left, right in pairwise(corners)]
        return Two(tuple(p for p, _ in steps), tuple(q for _, q in steps))

    def zcdp(self, most: float = math.inf, width: float = 1e-3) -> tuple[mp.mpf, mp.mpf]:
        """Ends around sup D_o / o over 1 < o <= most, both directions: in a cell D_o / o <= D_high / low."""
        two = self.merged()
        with mp.workdps(DIGITS):
            found = [each._concentrated(most, width) for each in (two, two.reversed())]
            return max(low for low, _ in found), max(high for _, high in found)

    def _concentrated(self, most: float, width: float) -> tuple[mp.mpf, mp.mpf]:
        top = self.renyi(math.inf)
        if top == mp.inf:
            return mp.inf, mp.inf
        best = max(self.kl(), self.renyi(most) / most if most < math.inf else mp.mpf(0))
        if not best:
            return best, best
        # From this order on D_o / o is no more than what is known.
        last = min(real(most), top / best) if most < math.inf else top / best
        upper, waiting = best, [(mp.mpf(1), max(last, mp.mpf(1)))]
        while waiting:
            low, high = waiting.pop()
            above = min(self.renyi(high), top) / low
            if above <= best * (1 + width):
                upper = max(upper, above)
                continue
            middle = mp.sqrt(low * high)
            best = max(best, self.renyi(middle) / middle)
            waiting += [(low, middle), (middle, high)]
        return best, max(upper, best)


def posterior(tpr: Fraction, prior: Fraction, fpr: Fraction) -> Fraction:
    """By Bayes' rule, after a rejection; the prior where nothing is ever rejected."""
    rejected = prior * tpr + (1 - prior) * fpr
    return prior * tpr / rejected if rejected else prior


def _along(corners: Sequence[Corner], x: Fraction) -> Fraction:
    """The polyline at x; where it is upright, its top."""
    best = max(y for at, y in corners if at <= x) if any(at <= x for at, _ in corners) else Fraction(0)
    for (left, below), (right, above) in pairwise(corners):
        if left <= x <= right and left < right:
            best = max(best, below + (above - below) * (x - left) / (right - left))
    return best


def _hull(points: Sequence[Corner]) -> tuple[Corner, ...]:
    """The upper hull, from left to right."""
    kept: list[Corner] = []
    for point in sorted(set(points)):
        while len(kept) > 1 and _turns_up(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return tuple(kept)


def _turns_up(a: Corner, b: Corner, c: Corner) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) >= (b[1] - a[1]) * (c[0] - a[0])


def _pieces(corners: Sequence[Corner]) -> Iterator[tuple[Fraction, Fraction, Fraction, Fraction | float]]:
    """Where H(a) = tpr - a fpr: from the ratio after this corner up to the ratio before it."""
    ratios: list[Fraction | float] = [math.inf]
    ratios += [(t - s) / (y - x) if y > x else math.inf for (x, s), (y, t) in pairwise(corners)]
    ratios.append(Fraction(0))
    for (fpr, tpr), (high, low) in zip(corners, pairwise(ratios), strict=True):
        if low < high:
            yield fpr, tpr, Fraction(low), high


def _best_mu(fpr: Fraction, tpr: Fraction, low: Fraction, high: Fraction | float) -> mp.mpf:
    """The largest mu that H(a) = tpr - a fpr asks for between low and high."""
    if fpr >= tpr:
        return mp.mpf(0)
    ends = [low] if high == math.inf else [low, high]
    if fpr > 0 and tpr < 1:
        z, mu = _quantile(fpr), _quantile(tpr) - _quantile(fpr)
        touching = mp.exp(-z * mu - mu**2 / 2)
        if touching >= real(low) and (high == math.inf or touching <= real(high)):
            return mu
    return max(gaussian_mu(real(a), real(tpr) - real(a) * real(fpr)) for a in ends)


def gaussian_mu(a: mp.mpf, height: mp.mpf) -> mp.mpf:
    """The mu with H_mu(a) = height, for a >= 1."""
    if height <= 0:
        return mp.mpf(0)
    if height >= 1:
        return mp.inf
    low, high = mp.mpf(0), mp.mpf(1)
    while gaussian_hockey_stick(high, a) < height:
        low, high = high, 2 * high
    if not low:  # for a root in proportion, wherever it is
        while gaussian_hockey_stick(high / 2, a) >= height:
            high /= 2
        low = high / 2
    goal = mp.log(height)
    return mp.findroot(
        lambda mu: mp.log(gaussian_hockey_stick(mu, a)) - goal, (low, high), solver="anderson", verify=False
    )


def gaussian_hockey_stick(mu: mp.mpf, a: mp.mpf) -> mp.mpf:
    """H of N(mu, 1) and N(0, 1)."""
    if not mu:
        return max(mp.mpf(0), 1 - a)
    t = mp.log(a)
    return mp.ncdf(mu / 2 - t / mu) - a * mp.ncdf(-mu / 2 - t / mu)


def _quantile(x: Fraction | mp.mpf) -> mp.mpf:
    """The inverse of the normal distribution function."""
    share = real(x)
    if share > mp.mpf(1) / 2:
        return -_tail(1 - share) if not isinstance(x, Fraction) else -_tail(real(1 - x))
    return _tail(share)


def _tail(share: mp.mpf) -> mp.mpf:
    """z <= 0 with Phi(z) = share, by Newton steps on log Phi, which is concave: from above z they come from below."""
    z, goal = mp.mpf(0), mp.log(share)
    while True:
        below = mp.ncdf(z)
        step = (mp.log(below) - goal) * below / mp.npdf(z)
        z -= step
        if abs(step) <= mp.mpf(10) ** (3 - mp.mp.dps) * (1 + abs(z)):
            return z


class Family(ABC):
    """Two laws by their closed forms; the same with P and Q exchanged."""

    @abstractmethod
    def tpr(self, fpr: mp.mpf) -> mp.mpf: ...

    @abstractmethod
    def hockey_stick(self, a: mp.mpf) -> mp.mpf: ...

    @abstractmethod
    def renyi(self, order: mp.mpf) -> mp.mpf: ...

    @abstractmethod
    def gdp(self) -> mp.mpf: ...

    @abstractmethod
    def zcdp(self) -> mp.mpf: ...

    def advantage(self) -> mp.mpf:
        return self.hockey_stick(mp.mpf(1))

    def bayes_accuracy(self, prior: mp.mpf) -> mp.mpf:
        return 1 - prior + prior * self.hockey_stick((1 - prior) / prior)

    def posterior(self, prior: mp.mpf, fpr: mp.mpf) -> mp.mpf:
        right = prior * self.tpr(fpr)
        return right / (right + (1 - prior) * fpr)


@dataclass(frozen=True)
class GaussianReadings(Family):
    """N(mu, 1) against N(0, 1); k uses with sensitivity s are mu = s sqrt(k) / sigma."""

    mu: mp.mpf

    def tpr(self, fpr: mp.mpf) -> mp.mpf:
        return mp.ncdf(self.mu + _quantile(fpr))

    def hockey_stick(self, a: mp.mpf) -> mp.mpf:
        return gaussian_hockey_stick(self.mu, a)

    def renyi(self, order: mp.mpf) -> mp.mpf:
        return order * self.mu**2 / 2

    def gdp(self) -> mp.mpf:
        return self.mu

    def zcdp(self) -> mp.mpf:
        return self.mu**2 / 2


@dataclass(frozen=True)
class LaplaceReadings(Family):
    """Laplace noise of scale 1/epsilon, moved by 1 (Dong, Roth, Su 2022 for the trade-off)."""

    epsilon: mp.mpf

    def tpr(self, fpr: mp.mpf) -> mp.mpf:
        e = mp.exp(self.epsilon)
        if fpr < 1 / (2 * e):
            return e * fpr
        return 1 - 1 / (4 * e * fpr) if fpr <= mp.mpf(1) / 2 else 1 - (1 - fpr) / e

    def hockey_stick(self, a: mp.mpf) -> mp.mpf:
        e = mp.exp(self.epsilon)
        if a <= 1 / e:
            return 1 - a
        return mp.mpf(0) if a >= e else 1 - mp.sqrt(a / e)

    def renyi(self, order: mp.mpf) -> mp.mpf:
        o, e = order, self.epsilon
        if o == 1:
            return e - 1 + mp.exp(-e)
        if o == mp.mpf(1) / 2:
            return e - 2 * mp.log(1 + e / 2)
        return mp.log(o / (2 * o - 1) * mp.exp((o - 1) * e) + (o - 1) / (2 * o - 1) * mp.exp(-o * e)) / (o - 1)

    def gdp(self) -> mp.mpf:
        return -2 * _quantile(mp.exp(-self.epsilon / 2) / 2)

    def zcdp(self) -> mp.mpf:
        return self.renyi(mp.mpf(1))


@dataclass(frozen=True)
class ResponseReadings(Family):
    """The truth with the odds e^epsilon, of two answers."""

    epsilon: mp.mpf

    def tpr(self, fpr: mp.mpf) -> mp.mpf:
        e = mp.exp(self.epsilon)
        return min(e * fpr, 1 - (1 - fpr) / e)

    def hockey_stick(self, a: mp.mpf) -> mp.mpf:
        e = mp.exp(self.epsilon)
        return max(1 - a, (e - a) / (1 + e), mp.mpf(0))

    def renyi(self, order: mp.mpf) -> mp.mpf:
        e = mp.exp(self.epsilon)
        if order == 1:
            return self.epsilon * mp.tanh(self.epsilon / 2)
        return mp.log((e**order + e ** (1 - order)) / (1 + e)) / (order - 1)

    def gdp(self) -> mp.mpf:
        return -2 * _quantile(1 / (1 + mp.exp(self.epsilon)))

    def zcdp(self) -> mp.mpf:
        return self.renyi(mp.mpf(1))
