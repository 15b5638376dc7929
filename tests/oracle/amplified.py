"""Closed forms of transformed profiles: mixtures of shifted noise, glued profiles, counts of shuffled reports.

Profiles are functions of alpha = e^epsilon. Each is the sum of (P - alpha Q)_+ written out; none is certified, all are
good to about 30 digits at 40.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from mpmath import mp, mpf

Profile = Callable[[mpf], mpf]
Number = mpf | Fraction | int | str


def real(value: Number) -> mpf:
    """At the precision in force."""
    return mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mpf(value)


def mirror(profile: Profile) -> Profile:
    """That of (Q, P)."""
    return lambda alpha: 1 - alpha + alpha * profile(1 / alpha)


def mixture(sigma: Number, weights: Mapping[int, Number], others: Mapping[int, Number] | None = None) -> Profile:
    """sum weights_c N(c, sigma^2) against N(0, sigma^2), or against another mixture below it; shifts rise, loss too."""
    first, second = weights, {0: 1} if others is None else others
    spread = real(sigma)

    def profile(alpha: mpf) -> mpf:
        def excess(x: mpf) -> mpf:
            return _log_density(first, spread, x) - _log_density(second, spread, x) - mp.log(alpha)

        low, high = -200 * spread, 200 * spread
        if excess(low) >= 0:
            return 1 - alpha
        if excess(high) <= 0:
            return mpf(0)
        while high - low > mpf(10) ** -36:
            middle = (low + high) / 2
            low, high = (low, middle) if excess(middle) > 0 else (middle, high)
        tails = (sum(real(w) * mp.ncdf((c - low) / spread) for c, w in law.items()) for law in (first, second))
        return next(tails) - alpha * next(tails)

    return profile


def _log_density(weights: Mapping[int, Number], sigma: mpf, x: mpf) -> mpf:
    return mp.log(mp.fsum(real(w) * mp.exp((2 * c * x - c * c) / (2 * sigma * sigma)) for c, w in weights.items()))


def binomial(trials: int, rate: Number) -> dict[int, mpf]:
    """The law of the number of successes."""
    p = real(rate)
    return {k: mp.binomial(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)}


def glued(base: Profile, rate: Number) -> Profile:
    """rate H(1 + (alpha - 1) / rate) from 1 on, its mirror below."""
    g = real(rate)

    def above(alpha: mpf) -> mpf:
        return g * base(1 + (alpha - 1) / g)

    return lambda alpha: above(alpha) if alpha >= 1 else mirror(above)(alpha)


def with_replacement(groups: Callable[[int], Profile], batch: int, records: int) -> Profile:
    """sum over multiplicities k of Bin(batch, 1/records)(k) H_k(1 + (alpha - 1) / eta), from 1 on."""
    eta = 1 - (1 - mpf(1) / records) ** batch
    weights = binomial(batch, Fraction(1, records))
    return lambda alpha: mp.fsum(weights[k] * groups(k)(1 + (alpha - 1) / eta) for k in range(1, batch + 1))


def truncation(rate: Number, cap: int, records: int) -> tuple[mpf, mpf]:
    """P[Bin(n - 1, r) >= cap], and the mean rate at which a record is in a sample that the others fill."""
    others, whole = binomial(records - 1, rate), binomial(records, rate)
    full = mp.fsum(others[k] for k in range(cap, records))
    if not full:
        return full, mpf(0)
    return full, mpf(cap) / records * mp.fsum(whole[k] for k in range(cap + 1, records + 1)) / full


def clones(epsilon: Number, users: int, probability: mpf) -> Profile:
    """C of the others are clones; the counts of the two symbols among them and the record."""
    odds = mp.exp(real(epsilon))

    def profile(alpha: mpf) -> mpf:
        return mp.fsum(
            share * mp.fsum(max(p - alpha * q, mpf(0)) for p, q in _counts(count + 1, odds))
            for count, share in binomial(users - 1, probability).items()
        )

    return profile


def _counts(reports: int, odds: mpf) -> Sequence[tuple[mpf, mpf]]:
    """Of reports - 1 fair symbols and one that is a with odds (P) or b with odds (Q): the law of how many are a."""
    fair = binomial(reports - 1, Fraction(1, 2)) | {-1: mpf(0), reports: mpf(0)}
    truth, lie = odds / (1 + odds), 1 / (1 + odds)
    return [(truth * fair[a - 1] + lie * fair[a], lie * fair[a - 1] + truth * fair[a]) for a in range(reports + 1)]


def responses(epsilon: Number, users: int, categories: int, others: int) -> Profile:
    """Shuffled randomized response: the record is 0 or 1, the others all hold category `others`; (0 first, 1 first)."""
    odds = mp.exp(real(epsilon))
    told, lie = odds / (odds + categories - 1), 1 / (odds + categories - 1)
    law = [told if y == others else lie for y in range(min(categories, 3))]
    assert categories <= 3

    def profile(alpha: mpf) -> mpf:
        total = mpf(0)
        for counts in _splits(users, len(law)):
            base = mp.factorial(users) / mp.fprod(mp.factorial(c) for c in counts)
            base *= mp.fprod(share**c for share, c in zip(law, counts, strict=True))
            ratios = [
                mp.fsum(((told if x == y else lie) / law[y]) * counts[y] / users for y in range(len(law)))
                for x in (0, 1)
            ]
            total += base * max(ratios[0] - alpha * ratios[1], mpf(0))
        return total

    return profile


def _splits(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in _splits(total - first, parts - 1)]
