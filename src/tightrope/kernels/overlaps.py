"""How often a step is covered by m sets of k steps out of t, all sets alike and independent, counted in whole numbers.

nu_r steps lie in exactly r of the m sets; n(nu) of the C(t, k)^m choices have these numbers. One set more takes h_r of
the steps that r sets have, in C(nu_r, h_r) ways each, and these have r + 1 then.
Guarantee: exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

Coverage = tuple[int, ...]  # nu_0, ..., nu_m


def coverings(steps: int, size: int, sets: int) -> dict[Coverage, int]:
    """n(nu) for every nu = (nu_0, ..., nu_m) that occurs."""
    found: dict[Coverage, int] = {(steps,): 1}
    for _ in range(sets):
        more: dict[Coverage, int] = {}
        for covered, ways in found.items():
            for taken, choices in _draws(covered, size):
                after = tuple(
                    old - out + into for old, out, into in zip((*covered, 0), (*taken, 0), (0, *taken), strict=True)
                )
                more[after] = more.get(after, 0) + ways * choices
        found = more
    return found


def coverings_most(size: int, sets: int) -> int:
    """At least as many nu as there are: those with sum r nu_r = m k. Their number is a count of partitions."""
    counts = [1] + [0] * (size * sets)
    for part in range(1, sets + 1):
        for total in range(part, len(counts)):
            counts[total] += counts[total - part]
    return counts[-1]


def _draws(covered: Coverage, size: int) -> Iterator[tuple[Coverage, int]]:
    """All ways to take so many steps from classes of so many, and how many choices each way stands for."""
    if len(covered) == 1:
        if size <= covered[0]:
            yield (size,), math.comb(covered[0], size)
        return
    for taken in range(min(size, covered[-1]) + 1):
        here = math.comb(covered[-1], taken)
        for rest, ways in _draws(covered[:-1], size - taken):
            yield (*rest, taken), ways * here
