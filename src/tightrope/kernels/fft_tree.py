"""Many short factors of one convolution, gathered as a tree before the long transform.

A factor of n entries in a transform of N points costs N log N however small n is. GROUP factors of n entries have a
composition of GROUP n, which a short transform gives without wrap-around; such compositions are the factors of the next
level. With x_i known up to r_i per entry, and M_i >= sum (x_i + r_i),
    |prod* x_i^(*k_i) - what it would be with the true x_i| <= sum_i k_i r_i / M_i prod_j M_j^k_j   in every entry:
an error of one entry is spread by the other factors, never raised.
Guarantee: entrywise. Proof: docs/proofs/lattice.md, lemma 12.
Reference: Meiser, Mohammadi 2018, Sec. 4 (composition trees).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .. import compute_budget
from .enclosure import FloatArray
from .fft import FFT_SLACK, convolve, fast_length, spectrum, upper_sum

GROUP = 8  # fewer make more levels and more noise, more make longer transforms for the same factors
POINT_UNITS = 20.0  # of work per point of a transform: the spectrum, its modulus, the product


class TreeFactor(NamedTuple):
    """Nonnegative masses, each within `radius` of the truth, taken so many times."""

    masses: FloatArray
    uses: int
    radius: float = 0.0

    @property
    def entries(self) -> int:
        """Of all its uses together."""
        return self.uses * (len(self.masses) - 1) + 1


class Gathered(NamedTuple):
    """Fewer factors of the same convolution, and how far any entry of it is off because of their radii."""

    factors: list[TreeFactor]
    radius: float
    lengths: list[int]


def levels_of(factors: int) -> int:
    """How many levels a tree over so many factors has."""
    value = 0
    while factors >= 2 * GROUP:
        factors, value = -(-factors // GROUP), value + 1
    return value


def gather(factors: Sequence[TreeFactor], length: int) -> Gathered:
    """Groups of factors that are short for a transform of this length become one, level by level."""
    left = list(factors)
    lengths: list[int] = []
    while True:
        left.sort(key=lambda factor: factor.entries)
        short = sum(GROUP * factor.entries <= length for factor in left)
        if short < 2 * GROUP:
            return Gathered(left, carried(left), lengths)
        nodes = [_joined(left[first : min(first + GROUP, short)]) for first in range(0, short, GROUP)]
        lengths += [len(node.masses) for node in nodes]
        left = nodes + left[short:]


def carried(factors: Sequence[TreeFactor]) -> float:
    """sum_i k_i r_i / M_i prod_j M_j^k_j, rounded up."""
    if not any(factor.radius for factor in factors):
        return 0.0
    totals = [
        (upper_sum(factor.masses) + factor.radius * len(factor.masses)) * FFT_SLACK + 1e-300 for factor in factors
    ]
    logs = [factor.uses * math.log(total) for factor, total in zip(factors, totals, strict=True)]
    size = math.exp(math.fsum(logs) + 1e-12 * math.fsum(map(abs, logs)))
    share = math.fsum(factor.uses * factor.radius / total for factor, total in zip(factors, totals, strict=True))
    return size * share * FFT_SLACK


def _joined(group: Sequence[TreeFactor]) -> TreeFactor:
    """One factor of all entries of the group's composition; the truth is nowhere below 0, so nor is it."""
    entries = sum(factor.entries - 1 for factor in group) + 1
    length = fast_length(entries)
    compute_budget.spend(POINT_UNITS * length * (len(group) + 1))
    power = convolve([(spectrum(factor.masses, length), factor.uses) for factor in group])
    return TreeFactor(np.maximum(power.masses[:entries], 0.0), 1, (power.radius + carried(group)) * FFT_SLACK)
