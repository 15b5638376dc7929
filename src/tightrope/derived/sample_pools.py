"""Poisson samples of many kinds between fewer: bases of one rate as their family pools them, rates by the next ones.

A sample at a higher rate dominates one at a lower rate of the same base, so each of many rates is replaced by one of
fewer on either side.
Guarantee: as facets.pools says. Proof: docs/proofs/poisson.md and docs/proofs/pools.md, section 4.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import partial

from ..facets.pools import Pools
from ..pair import Pair, Sampling
from ..relation import Direction
from .poisson import poisson_pair

Samples = list[tuple[Sampling, int]]
POOL_RATES_MOST = 8  # that are kept as they are


def sample_pools(like: Sequence[tuple[Pair, int]], cells: int, mixed: bool) -> Pools | None:
    """Pools of samples of one direction; None where they would be no fewer."""
    samples: Samples = [(known, count) for pair, count in like if (known := pair.sampling()) is not None]
    if len(like) <= 2 * cells or len(samples) < len(like):
        return None
    rates = sorted({sample.rate for sample, _ in samples})
    if len(rates) <= POOL_RATES_MOST:
        return _by_rate(samples, cells, mixed)
    bases = len({sample.base for sample, _ in samples})
    kinds = cells if bases == 1 else min(len(rates), 2 * math.isqrt(cells))
    kept = sorted({rates[index * (len(rates) - 1) // kinds] for index in range(kinds + 1)})
    below = [(each._replace(rate=kept[bisect_right(kept, each.rate) - 1]), count) for each, count in samples]
    above = [(each._replace(rate=kept[bisect_left(kept, each.rate)]), count) for each, count in samples]
    return Pools(_by_rate(below, cells, mixed).below, _by_rate(above, cells, mixed).above)


def _by_rate(samples: Samples, cells: int, mixed: bool) -> Pools:
    """The bases of each rate by themselves."""
    groups: dict[tuple[float, Direction, type[Pair]], dict[Pair, int]] = {}
    for sample, count in samples:
        group = groups.setdefault((sample.rate, sample.direction, type(sample.base)), {})
        group[sample.base] = group.get(sample.base, 0) + count
    found = Pools([], [])
    for (rate, direction, _), bases in groups.items():
        make = partial(poisson_pair, rate=rate, direction=direction)
        uses = list(bases.items())
        pooled = uses[0][0].sampled_pools(uses, make, max(1, cells // len(groups)), mixed)
        same = [(make(base), count) for base, count in uses]
        found.below.extend(same if pooled is None else pooled.below)
        found.above.extend(same if pooled is None else pooled.above)
    return found
