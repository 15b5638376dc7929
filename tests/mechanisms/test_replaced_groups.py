"""Groups of records under sampling by theorems of their own, against all tiny data sets: one use, several epsilons."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import tightrope as tr
from tests.mechanisms.enumerated import NOISES, Relation, lacking, replacing_many
from tests.oracle import enumerate_data as data
from tests.oracle.adaptive import ERROR, adaptive, both, largest

F = Fraction
EPSILONS = np.array([-1.09375, 0.0, 0.34375, 1.15625])

# The sensitivity of the noise, the call, the scheme and the neighbours.
ROWS: tuple[tuple[int, str, data.Scheme, Relation], ...] = (
    (1, "poisson(rate=0.25, neighbours='replace').group(size=2)", data.poisson(F(1, 4)), replacing_many(3, 2)),
    (1, "poisson(rate=0.75, neighbours='replace').group(size=3)", data.poisson(F(3, 4)), replacing_many(3, 3)),
    (2, "without_replacement(batch=1, records=3).group(size=2)", data.without_replacement(1), replacing_many(3, 2)),
    (2, "without_replacement(batch=2, records=4).group(size=2)", data.without_replacement(2), replacing_many(4, 2)),
    (2, "with_replacement(batch=2, records=3).group(size=2)", data.with_replacement(2), replacing_many(3, 2)),
    (2, "with_replacement(batch=2, records=2).group(size=2)", data.with_replacement(2), replacing_many(2, 2)),
    *(
        (
            1,
            f"truncated_poisson(rate=0.5, cap={cap}, records=3).group(size=2)",
            data.truncated_poisson(F(1, 2), cap),
            lacking(larger, 2),
        )
        for cap, larger in ((1, 3), (2, 3), (2, 5))
    ),
)


def ends(row: tuple[int, str, data.Scheme, Relation], noise: int) -> list[tuple[tr.Bound, float, bool]]:
    """The answers, what all neighbours show, and whether both are said to be one."""
    shift, call, scheme, relation = row
    text, masses = NOISES[noise]
    run = tr.parse(f"{text.format(shift)}.{call}")
    found = data.of_sums(scheme, masses, relation())
    directions = (None,) if relation.func is data.replacing_many else ("remove", "add")
    answers = []
    for direction in directions:
        swapped = [each.swapped for each in found]
        seen = largest(both(found)) if direction is None else (found if direction == "remove" else swapped)
        truth = adaptive([seen], np.exp(EPSILONS.astype(np.longdouble)))
        bounds = run.delta(EPSILONS.tolist(), direction=direction)
        answers += [(bound, float(exact), run.tight) for bound, exact in zip(bounds, truth, strict=True)]
    return answers


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1] + f" {row[3].args}")
def test_all_groups_lie_below_the_upper_end(row: tuple[int, str, data.Scheme, Relation]) -> None:
    for bound, exact, tight in ends(row, 1):
        assert exact <= bound.upper + ERROR
        if tight:
            assert bound.upper <= exact + 1e-6


def test_replaced_groups_of_poisson_samples_are_attained() -> None:
    for row in ROWS[:2]:
        assert all(tight for *_, tight in ends(row, 1))


def test_a_cap_that_is_reached_always_makes_batches_of_fixed_size() -> None:
    """Which real groups attain: but for 1e-90 the sample has more than 100 of 1,000 records."""
    capped = tr.parse("Gaussian(sigma=1).truncated_poisson(rate=0.5, cap=100, records=1000).group(size=2)")
    fixed = tr.parse(
        "Gaussian(sigma=1, sensitivity=2)"
        ".without_replacement(batch=100, records=1000, neighbours='add_remove').group(size=2)"
    )
    assert fixed.tight
    for epsilon in (1.0, 5.0, 8.0):
        assert fixed.delta(epsilon).lower <= capped.delta(epsilon).upper


@pytest.mark.parametrize("size", [2, 8, 32])
def test_groups_in_training(size: int) -> None:
    """At 60,000 records and batches of 256: finite, and in this order of the ways to sample."""
    batch, records, rate = 256, 60_000, 256 / 60_000
    made = partial("{}.group(size={}) * 200".format)
    poisson, capped = (
        tr.parse(made(f"Gaussian(sigma=1.1).{call}", size)).epsilon(1e-5)
        for call in (f"poisson(rate={rate!r})", f"truncated_poisson(rate={rate!r}, cap=400, records={records})")
    )
    fixed = tr.parse(
        made(f"Gaussian(sigma=1.1, sensitivity=2).without_replacement(batch={batch}, records={records})", size)
    )
    assert poisson.upper <= capped.upper < 1.001 * poisson.upper
    assert capped.upper < fixed.epsilon(1e-5, accuracy=0.01).upper < 1000.0
