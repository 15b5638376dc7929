"""A sample of `benchmarks/bucket_widths.py`: random skewed laws, whose widths fall with n, and lists as published."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from benchmarks.bucket_widths import case, measured
from tightrope import parse
from tightrope.core.engines.buckets.bucket_composition import compose_sequence, pair_leaf
from tightrope.core.engines.buckets.engine import prepare
from tightrope.core.values.question import Direction


@pytest.mark.parametrize("index", [28, 32, 82, 165])
def test_widths_fall(index: int) -> None:
    """Two losses far from 0; two that are far from even; an outcome that only Q has; a steep tilt."""
    found = measured(case(random.Random(f"2018 {index}")))
    assert found["meets"]
    assert found["converges"]


@pytest.mark.parametrize("direction", list(Direction))
def test_a_factor_of_ones_own_gives_the_published_list(direction: Direction) -> None:
    """Around a loss of 0, with lost events in bucket -n, squared where infinity grows."""
    run = parse("Histograms(a=[900, 100, 3, 0], b=[880, 120, 3, 4]) * 40")
    terms = [(part.pair(direction), count) for part, count in run.terms]
    made = prepare(terms, epsilon=1.0, factor=1.01, n=60, free_infinity_budget=0.0).buckets(0.0)
    step = math.log(1.01)
    plain = compose_sequence([(pair_leaf(pair, step, 60), count) for pair, count in terms])
    assert (made.shift, made.u, made.squarings) == (0, plain.u, plain.squarings)
    for one, other in ((made.masses, plain.masses), (made.real, plain.real), (made.alternative, plain.alternative)):
        assert np.array_equal(one.values, other.values)
    assert np.sum(plain.alternative.bounds()[0]) == pytest.approx(1.0, abs=0.01)
