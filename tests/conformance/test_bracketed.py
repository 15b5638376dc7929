"""Mechanisms whose law is known between two proven profiles: each beside quadrature, both directions, on samples too.

The truth is computed from finitely many normal variables in floats, to about 1e-12 for bins and 1e-6 for sets of steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pytest

import tightrope as tr
from tests.oracle import bins, several

EPSILONS = (0.25, 1.5)
MIXED = np.array([[1.0, 0, 0, 0], [0.5, 2, 0, 0], [0, 0.25, 1, 0], [1, 0, 0.5, 0.5]])


@dataclass(frozen=True)
class Bracketed:
    """A mechanism, and (remove, add) at an epsilon; about how far its ends may be apart, and what its truth is off."""

    mechanism: tr.Mechanism
    truth: Callable[[float], tuple[float, float]]
    apart: float  # of delta, in any of the questions
    off: float = 1e-9


def of_bins(sigma: float, matrix: np.ndarray, count: int, apart: float, **given: object) -> Bracketed:
    """A row for a matrix that the mechanism is given by its rows, or otherwise."""
    more = given or {"matrix": matrix.tolist()}
    made = tr.MatrixMechanism(sigma=sigma, bins=count, **more)  # type: ignore[arg-type]
    return Bracketed(made, cache(partial(bins.deltas, bins.bin_sums(matrix, count) / sigma)), apart)


def of_sets(sigma: float, steps: int, uses: int, apart: float) -> Bracketed:
    made = tr.Gaussian(sigma=sigma).random_allocation(steps=steps, uses=uses)
    return Bracketed(made, cache(partial(several.by_quadrature, sigma, steps, uses, points=121)), apart, 1e-6)


ROWS = (
    of_bins(3.0, bins.lower_toeplitz([1.0, 0.5], 4), 2, 1e-7, toeplitz=[1.0, 0.5], steps=4),
    of_bins(12.0, bins.lower_toeplitz([1.0, 0.5], 4), 2, 1e-9, toeplitz=[1.0, 0.5], steps=4),
    of_bins(1.0, bins.lower_toeplitz([1.0, 0.5], 3), 2, 0.05, toeplitz=[1.0, 0.5], steps=3),
    of_bins(4.0, bins.lower_toeplitz([1.0, 0.25], 6, 4), 3, 1e-6, toeplitz=[1.0, 0.25], steps=6, restart=4),
    of_bins(8.0, bins.lower_toeplitz([1.0, 0.5, 0.25, 0.125], 4), 3, 1e-6, inverse=[1.0, -0.5], steps=4),
    of_bins(4.0, MIXED, 3, 1e-3),
    of_sets(2.0, 4, 3, 1e-3),
)


def sampled(row: Bracketed, rate: float, epsilon: float) -> tuple[float, float]:
    """Of a Poisson sample, remove: H(a) = r H_1(1 + (a - 1)/r); add: (1 - a (1 - r)) H_1(a r/(1 - a (1 - r)))."""
    a = math.exp(epsilon)
    remove = rate * row.truth(math.log1p((a - 1.0) / rate))[0]
    rest = 1.0 - a * (1.0 - rate)
    return remove, rest * row.truth(math.log(a * rate / rest))[1] if rest > 0.0 else 0.0


@pytest.mark.parametrize(
    ("row", "rate"),
    [*((row, 1.0) for row in ROWS), *((row, 0.3) for row in ROWS[:3])],
    ids=lambda value: str(value.mechanism) if isinstance(value, Bracketed) else str(value),
)
def test_delta_is_on_both_sides_of_the_truth(row: Bracketed, rate: float) -> None:
    run = row.mechanism if rate == 1.0 else row.mechanism.poisson(rate=rate)
    for epsilon in EPSILONS:
        for direction, truth in zip(("remove", "add"), sampled(row, rate, epsilon), strict=True):
            found = run.delta(epsilon, direction=direction)
            assert found.lower <= truth + row.off * max(truth, 1e-3)
            assert truth <= found.upper + row.off * max(truth, 1e-3)
            assert found.width <= row.apart


@pytest.mark.parametrize("row", ROWS[:2], ids=lambda row: str(row.mechanism))
def test_epsilon_is_where_delta_is_the_truth(row: Bracketed) -> None:
    for delta in (1e-2,):
        found = row.mechanism.epsilon(delta)
        low, high = (max(row.truth(end)) for end in (found.lower, found.upper))
        assert low >= delta * (1 - 1e-6) - row.off * 1e-3 or found.lower == 0.0
        assert high <= delta * (1 + 1e-6) + row.off * 1e-3
        assert found.certificate is not None
        assert found.certificate.tight
