"""Random trees of mechanisms and transformations, as in `make fuzz`: text and JSON go both ways, all are answered."""

from __future__ import annotations

import math
import random

import pytest

import tightrope as tr
from benchmarks.trees import both_ways, log_uniform, tree
from tests.search import cases

SEED, SECONDS = 13, 0.3


@pytest.mark.parametrize("index", range(cases(3, 200)))
def test_trees_are_answered(index: int) -> None:
    source = random.Random(SEED * 1000 + index)
    mechanism, delta = tr.parse(tree(source)), log_uniform(source, 1e-30, 1e-2)
    assert both_ways(mechanism)
    bound = mechanism.epsilon(delta, seconds=SECONDS)
    assert 0.0 <= bound.lower <= bound.upper
    if bound.upper < math.inf:
        back = mechanism.delta(bound.upper, seconds=SECONDS)
        assert back.lower <= delta * (1 + 1e-12), (bound, back)
