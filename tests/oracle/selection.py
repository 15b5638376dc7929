"""The best of K runs: the exact law of the run with the highest score, K random with generating function phi.

Outputs are ordered by score, worst first; the best of K runs is at or below y with probability phi(M(<= y)), and there
is none with probability phi(0). Numbers have 40 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mpmath import mp, mpf

DIGITS = 40
Generating = Callable[[mpf], mpf]


@dataclass(frozen=True)
class Runs:
    """K by its law, its mean, and its shape: eta of a negative binomial, trials of a binomial."""

    law: str
    mean: mpf
    shape: mpf | None = None

    def generating(self) -> Generating:
        """E z^K."""
        mean = mpf(self.mean)
        if self.law == "poisson":
            return lambda z: mp.exp(mean * (z - 1))
        if self.law == "binomial":
            assert self.shape is not None
            return lambda z: (1 - mean / self.shape + mean / self.shape * z) ** self.shape
        if self.law == "geometric":
            return lambda z: z / mean / (1 - (1 - 1 / mean) * z)
        stop = self._stop()
        if self.law == "logarithmic":
            return lambda z: mp.log1p(-(1 - stop) * z) / mp.log(stop)
        eta = mpf(self.shape)
        return lambda z: ((1 - (1 - stop) * z) ** -eta - 1) / (stop**-eta - 1)

    def _stop(self) -> mpf:
        """The gamma that gives the mean."""

        def excess(stop: mpf) -> mpf:
            if self.law == "logarithmic":
                return (1 / stop - 1) / mp.log(1 / stop) - self.mean
            eta = mpf(self.shape)
            return eta * (1 - stop) / stop / (1 - stop**eta) - self.mean

        return mp.findroot(excess, (mpf(10) ** -6, 1 - mpf(10) ** -6), solver="anderson", tol=mpf(10) ** -60)


def best(masses: Sequence[mpf], runs: Runs) -> list[mpf]:
    """The law of the best, outputs from the worst score to the best; first the mass of no run at all."""
    with mp.workdps(DIGITS):
        phi = runs.generating()
        below = [mp.fsum(masses[:count]) for count in range(len(masses))] + [mpf(1)]
        found = [phi(each) for each in below]
        return [found[0], *(high - low for low, high in pairwise(found))]
