"""Bucket lists against trees listed event by event: containment in the published values and in the truth."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tests.oracle import bucket_truth
from tests.oracle.bucket_truth import Tree
from tests.search import cases
from tightrope.core.engines.buckets import read as buckets_read
from tightrope.core.engines.buckets.bucket_composition import compose, events_leaf, square
from tightrope.core.engines.buckets.bucket_list import Measure, TreeBuckets
from tightrope.core.losses.atoms import Atoms
from tightrope.core.numerics.enclosures import exact
from tightrope.core.numerics.rounding import UNIT
from tightrope.core.values.errors import InvalidParameter

EPSILONS = (0.0, 0.013, 0.2, 0.7, 1.5, 3.0)
SHARES = 1 << 12  # masses are multiples of 1/4096: exact in float64 and in fractions


def arrays_leaf(p: Sequence[float], q: Sequence[float], step: float, n: int, slope: float = 0.0) -> TreeBuckets:
    """The leaf of two probability vectors over the same events."""
    first, second = np.array(p), np.array(q)
    both = (first > 0.0) & (second > 0.0)
    common = exact(first[both]), exact(second[both])
    alone = [exact(float(each[~both].sum())) for each in (first, second)]
    return events_leaf(Atoms(*common, (common[0] / common[1]).log(), *alone), step, n, slope)


def _errors(buckets: TreeBuckets, measure: Measure) -> tuple[np.ndarray, np.ndarray]:
    """Doubles around the error terms X(i) - B(i)/f^i, i = -n ... n: never below 0 (lemma 9)."""
    (low, high), (b_low, b_high) = measure.bounds(), buckets.masses.bounds()
    label = np.arange(-buckets.n, buckets.n + 1) * buckets.step
    fall, units = np.exp(-label), (2.0 * np.abs(label) + 16.0) * UNIT
    least, most = low - b_high * fall * (1.0 + units), high - b_low * fall * (1.0 - units)
    wide = 8.0 * UNIT * (high + b_high * fall)
    return np.maximum(least - wide, 0.0), np.maximum(most + wide, 0.0)


def _masses(rng: random.Random, size: int) -> list[Fraction]:
    cuts = sorted(rng.randrange(SHARES + 1) for _ in range(size - 1))
    parts = [b - a for a, b in zip([0, *cuts], [*cuts, SHARES], strict=True)]
    return [Fraction(part, SHARES) for part in parts]


def _grown(rng: random.Random, direct: bool | None) -> tuple[TreeBuckets, Tree]:
    """A random tree of up to 5 leaves: lists of the engine beside lists of events."""
    step, n = rng.choice((0.03, 0.1, 0.25)), rng.choice((4, 10, 30))
    slope = rng.choice((0.0, 0.5, 3.0)) * step
    forest = []
    for _ in range(rng.randint(1, 5)):
        size = rng.randint(2, 4)
        p, q = _masses(rng, size), _masses(rng, size)
        if rng.random() < 0.4:  # a law close to its neighbour, as in practice
            q = [a + Fraction(rng.randint(-8, 8), SHARES) if a > Fraction(9, SHARES) else a for a in p]
            q[q.index(max(q))] += 1 - sum(q)
        forest.append(
            (arrays_leaf([*map(float, p)], [*map(float, q)], step, n, slope), bucket_truth.leaf(p, q, step, n))
        )
    while len(forest) > 1 or rng.random() < 0.3:
        if rng.random() < 0.4:
            forest = [(square(mine), bucket_truth.square(tree)) for mine, tree in forest]
        if len(forest) > 1:
            rng.shuffle(forest)
            (one, tree_one), (other, tree_other) = forest.pop(), forest.pop()
            forest.append((compose(one, other, direct), bucket_truth.compose(tree_one, tree_other)))
    return forest[0]


def _contains(low: np.ndarray, high: np.ndarray, exact: list[object]) -> None:
    for place, value in enumerate(exact):
        assert mpmath.mpf(float(low[place])) <= _real(value) <= mpmath.mpf(float(high[place])), place


def _real(value: object) -> mpmath.mpf:
    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    return mpmath.mpf(value)


@pytest.mark.parametrize("direct", [True, False], ids=["direct", "fast"])
@pytest.mark.parametrize("seed", range(cases(20, 150)))
def test_random_trees(seed: int, direct: bool) -> None:
    mine, tree = _grown(random.Random(f"{seed} {direct}"), direct)
    assert mine.u == tree.u
    with mpmath.workdps(50):
        for epsilon in EPSILONS:
            found = buckets_read.delta(mine, epsilon)
            truth = bucket_truth.delta(tree, epsilon)
            assert found.lower <= truth <= found.upper
            up, low = bucket_truth.published(tree, epsilon)
            # As published, up to the rounding stated; the lower end may be better by the mass where P_B = 0.
            assert found.upper >= up or found.upper == 1.0
            assert found.upper <= up + 4.0 * found.budget.upper["rounding"] + 1e-10
            assert found.lower >= low - 4.0 * found.budget.lower["rounding"] - 1e-10
            if mine.masses.slope == 0.0:
                assert max(found.budget.upper["rounding"], found.budget.lower["rounding"]) < 1e-11
            assert buckets_read.delta_uncorrected(mine, epsilon) >= min(up, mpmath.mpf(1))
            above = buckets_read.probabilistic(mine, epsilon)
            assert above.lower <= bucket_truth.loss_above(tree, epsilon) <= above.upper
        for order in (1.5, 2.0, 8.0):
            low_end, high_end = buckets_read.renyi(mine, order)
            assert low_end <= bucket_truth.renyi(tree, order) <= high_end


@pytest.mark.parametrize("direct", [True, False], ids=["direct", "fast"])
@pytest.mark.parametrize("seed", range(cases(6, 40)))
def test_lists_enclose_the_published_ones(seed: int, direct: bool) -> None:
    """Lemmas 8 to 12: total mass 1, error terms at or above 0, l <= l~, the virtual error exact, l bounded by u."""
    mine, tree = _grown(random.Random(f"lists {seed}"), direct)
    made = bucket_truth.lists(tree)
    with mpmath.workdps(50):
        _contains(*mine.masses.bounds(), made.masses)
        low, high = mine.infinity
        assert low <= _real(made.infinity) <= high
        virtual_low, virtual_high = _errors(mine, mine.alternative)
        _contains(virtual_low, virtual_high, made.virtual)
        real_low, real_high = _errors(mine, mine.real)
        masses_low, masses_high = mine.masses.bounds()
        total = (float(np.sum(masses_low)) + low, float(np.sum(masses_high)) + high)
        assert total[0] <= 1.0 <= total[1]
        assert mine.masses.slope > 0.0 or total[1] - total[0] < 1e-9
        assert np.all(real_low >= 0.0)
        assert np.all(real_low <= virtual_high)
        label = np.arange(-mine.n, mine.n + 1) * mine.step
        assert np.all(real_low <= masses_high * np.exp(-label) * np.expm1(mine.u * mine.step) * (1.0 + 1e-9))
        for place, value in enumerate(made.real):
            # Never above the published l, and equal to it up to rounding where bucket -n is more than noise.
            assert real_low[place] <= value + mpmath.mpf(10) ** -40
            assert value <= real_high[place] or mine.masses.values[0] <= 1e3 * mine.masses.radius


def test_printed_virtual_error_of_the_corner_breaks_lemma_11() -> None:
    """Two falls capped at -n: V as printed leaves P_A/f^i + l~ below P_B; the list keeps the P_B-mass itself."""
    step = 0.5
    p, q = [Fraction(1, 64), Fraction(63, 64)], [Fraction(63, 64), Fraction(1, 64)]
    low, mine = bucket_truth.leaf(p, q, step, 8), arrays_leaf([*map(float, p)], [*map(float, q)], step, 8)
    tree, pair = bucket_truth.compose(low, low), compose(mine, mine)
    capped = [event for event in tree.events if event.index == -8]
    assert len(capped) == 1
    with mpmath.workdps(50):
        share = _real(capped[0].p) * mpmath.exp(8 * mpmath.mpf(step))
        assert share + capped[0].printed < _real(capped[0].q) - mpmath.mpf("1e-6")
        low_end, high_end = pair.alternative.bounds()
        assert low_end[0] <= _real(capped[0].q) <= high_end[0]


def test_validity_rules() -> None:
    """Definition 3: n even, f > 1, equal factors and equal n below a composition node."""
    p, q = [0.25, 0.75], [0.5, 0.5]
    with pytest.raises(InvalidParameter, match="even"):
        arrays_leaf(p, q, 0.1, 5)
    with pytest.raises(InvalidParameter, match="above 1"):
        arrays_leaf(p, q, 0.0, 4)
    one = arrays_leaf(p, q, 0.1, 4)
    with pytest.raises(InvalidParameter, match="equal n"):
        compose(one, arrays_leaf(p, q, 0.1, 6))
    with pytest.raises(InvalidParameter, match="equal factor"):
        compose(one, square(one))
    with pytest.raises(InvalidParameter, match="equal tilt"):
        compose(one, arrays_leaf(p, q, 0.1, 4, 0.05))
    assert compose(square(one), square(one)).u == 4
