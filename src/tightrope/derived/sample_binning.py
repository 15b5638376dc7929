"""Poisson samples of many kinds between fewer: bases of one rate as their family pools them, rates by the next ones.

A sample at a higher rate dominates one at a lower rate of the same base, so each of many rates is replaced by one of
fewer on either side.
Guarantee: as facets.parameter_binning says. Proof: docs/proofs/poisson.md and docs/proofs/pools.md, section 4.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import partial

from ..facets.parameter_binning import ParameterBinning
from ..operators import bin_sampled, sampling_of
from ..pair import Pair, Sampling
from ..relation import Direction
from .poisson import poisson_pair

Samples = list[tuple[Sampling, int]]
BINNING_RATES_MAX = 8  # that are kept as they are


def bin_sample_parameters(like: Sequence[tuple[Pair, int]], cells: int, mixed: bool) -> ParameterBinning | None:
    """Pools of samples of one direction; None where they would be no fewer."""
    samples: Samples = [(known, count) for pair, count in like if (known := sampling_of(pair)) is not None]
    if len(like) <= 2 * cells or len(samples) < len(like):
        return None
    rates = sorted({sample.rate for sample, _ in samples})
    if len(rates) <= BINNING_RATES_MAX:
        return _by_rate(samples, cells, mixed)
    bases = len({sample.base for sample, _ in samples})
    kinds = cells if bases == 1 else min(len(rates), 2 * math.isqrt(cells))
    kept = sorted({rates[index * (len(rates) - 1) // kinds] for index in range(kinds + 1)})
    below = [
        (sampling._replace(rate=kept[bisect_right(kept, sampling.rate) - 1]), count) for sampling, count in samples
    ]
    above = [(sampling._replace(rate=kept[bisect_left(kept, sampling.rate)]), count) for sampling, count in samples]
    return ParameterBinning(_by_rate(below, cells, mixed).below, _by_rate(above, cells, mixed).above)


def _by_rate(samples: Samples, cells: int, mixed: bool) -> ParameterBinning:
    """The bases of each rate by themselves."""
    groups: dict[tuple[float, Direction, type[Pair]], dict[Pair, int]] = {}
    for sample, count in samples:
        group = groups.setdefault((sample.rate, sample.direction, type(sample.base)), {})
        group[sample.base] = group.get(sample.base, 0) + count
    pools = ParameterBinning([], [])
    for (rate, direction, _), bases in groups.items():
        make = partial(poisson_pair, rate=rate, direction=direction)
        uses = list(bases.items())
        pooled = bin_sampled(uses[0][0], uses, make, max(1, cells // len(groups)), mixed)
        same = [(make(base), count) for base, count in uses]
        pools.below.extend(same if pooled is None else pooled.below)
        pools.above.extend(same if pooled is None else pooled.above)
    return pools
