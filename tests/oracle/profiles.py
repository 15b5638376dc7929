"""The largest hockey-stick divergence over pairs of laws: found in doubles, then worked out in whole numbers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from mpmath import mp, mpf

from .algorithms import BITS, DIGITS, ERROR, ONE, Algorithm, Both, Masses


def powers(epsilon: float) -> tuple[int, int]:
    """Whole numbers over 2^256 at or below and at or above e^epsilon."""
    with mp.workdps(DIGITS):
        number = int(mp.floor(mp.exp(mpf(epsilon)) * ONE))
    return number - (number >> 200) - 1, number + (number >> 200) + 1


class Profiles:
    """The pairs of neighbours of an algorithm in one direction, or in either."""

    def __init__(self, algorithm: Algorithm, pairs: Iterable[Both], forth: bool, back: bool) -> None:
        laws: dict[tuple[int, int], tuple[Masses, Masses]] = {}
        for one, other in pairs:
            p, q = algorithm.law(one), algorithm.law(other)
            if p == q:
                continue
            if forth:
                laws[id(p), id(q)] = p, q
            if back:
                laws[id(q), id(p)] = q, p
        self.laws = list(laws.values())
        self.p, self.q = (
            np.array([[mass / ONE for mass in pair[side]] for pair in self.laws], dtype=float).reshape(
                len(self.laws), algorithm.outputs
            )
            for side in (0, 1)
        )

    def largest(self, epsilon: float) -> tuple[Fraction, Fraction]:
        """Numbers at or below and at or above the largest delta; that at or below is of the best pair in doubles."""
        if not self.laws:
            with mp.workdps(DIGITS):
                number = max(Fraction(0), 1 - Fraction(powers(epsilon)[0], ONE))
            return number - ERROR, number + ERROR
        alpha = float(np.exp(epsilon))
        found = np.maximum(self.p - alpha * self.q, 0.0).sum(axis=1)
        best = float(found.max())
        near = np.flatnonzero(found >= best - 1e-9 * (1.0 + alpha))
        low, high = powers(epsilon)
        slack = ERROR * (2 + Fraction(high, ONE))
        values = [_excess(self.laws[index], high) for index in near[:3]]
        below = max(values) - slack
        above = max(_excess(self.laws[index], low) for index in near) + slack
        return max(below, Fraction(0)), above

    def kinks(self, most: int) -> list[float]:
        """Epsilons at which profiles bend: logs of ratios, spread over all that there are."""
        if not self.laws:
            return []
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = np.log(self.p / self.q)
        found = np.unique(np.round(losses[np.isfinite(losses)], 12))
        if len(found) > most:
            found = found[np.linspace(0, len(found) - 1, most).round().astype(int)]
        return [float(loss) for loss in found]


def _excess(pair: tuple[Masses, Masses], alpha: int) -> Fraction:
    """The sum of (p - alpha q) where it is above 0, alpha over 2^256."""
    total = 0
    for first, second in zip(*pair, strict=True):
        more = (first << BITS) - alpha * second
        if more > 0:
            total += more
    return Fraction(total, 1 << 2 * BITS)
