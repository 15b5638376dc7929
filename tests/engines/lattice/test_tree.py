"""Many distinct laws as a tree: every entry is within its radius, and the answers contain the truth."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tests.oracle.laplace_fold import LaplaceFold
from tightrope.core.numerics import convolution as fft_tree
from tightrope.core.numerics.convolution import Circular, TreeFactor
from tightrope.core.values import compute_budget
from tightrope.core.values.errors import WorkExhausted


def factors(seed: int, size: int) -> list[TreeFactor]:
    """Short laws of different lengths and counts, some known up to a radius."""
    rng = np.random.default_rng(seed)
    found = []
    for index in range(size):
        masses = rng.random(int(rng.integers(2, 9)))
        masses[rng.random(len(masses)) < 0.2] = 0.0
        masses[0] += 0.1
        found.append(TreeFactor(masses / masses.sum(), 1 + (index % 7 == 0), 1e-9 if index % 5 == 0 else 0.0))
    return found


def exact(parts: list[tuple[list[Fraction], int]]) -> list[Fraction]:
    """The whole convolution."""
    total = [Fraction(1)]
    for masses, uses in parts:
        for _ in range(uses):
            after = [Fraction(0)] * (len(total) + len(masses) - 1)
            for place, mass in enumerate(total):
                for index, entry in enumerate(masses):
                    after[place + index] += mass * entry
            total = after
    return total


@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_every_entry_is_within_its_radius(sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Factors and transforms are off by their radii, all in the same sense."""
    check_radius(factors(7, 21), sign, monkeypatch)


def test_short_transforms_carry_their_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Factors that are known exactly, so that nothing else hides it."""
    check_radius([each._replace(radius=0.0) for each in factors(7, 21)], 1, monkeypatch)


def check_radius(given: list[TreeFactor], sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    true_convolve = fft_tree.fft_convolve

    def noisy(spectra: object) -> Circular:
        power = true_convolve(spectra)  # type: ignore[arg-type]
        return Circular(power.masses + sign * 0.9 * power.radius, power.radius)

    monkeypatch.setattr(fft_tree, "convolve", noisy)
    found = fft_tree.gather(given, 1 << 20)
    assert len(found.factors) < fft_tree.GROUP
    truth = exact(
        [
            ([max(Fraction(float(x)) - sign * Fraction(each.radius), Fraction(0)) for x in each.masses], each.uses)
            for each in given
        ]
    )
    here = exact([([Fraction(float(x)) for x in each.masses], each.uses) for each in found.factors])
    assert len(truth) == len(here)
    off = max(abs(one - other) for one, other in zip(truth, here, strict=True))
    assert off <= Fraction(found.radius)
    assert found.radius <= 1e-7
    if sign:
        assert off >= Fraction(found.radius) / 1000, "the radius is not idle"


def test_nothing_to_gather() -> None:
    """Long factors, and few of them, are left alone; without radii nothing is carried."""
    given = [each._replace(radius=0.0) for each in factors(8, 40)]
    found = fft_tree.gather(given, 16)
    assert sorted(map(id, found.factors)) == sorted(map(id, given))
    assert found.radius == 0.0
    few = given[: 2 * fft_tree.GROUP - 1]
    assert len(fft_tree.gather(few, 1 << 20).factors) == len(few)
    assert [fft_tree.levels_of(size) for size in (1, 15, 16, 128, 500)] == [0, 0, 1, 2, 2]


def test_work_is_counted() -> None:
    with pytest.raises(WorkExhausted), compute_budget.allowance(1e-6):
        fft_tree.gather(factors(9, 200), 1 << 20)


def test_forty_distinct_laplaces() -> None:
    """Reaches 1/128 to 40/128, against an exact recursion."""
    run = tr.compose([tr.Laplace(scale=1.0, sensitivity=k / 128) for k in range(1, 41)])
    truth = LaplaceFold(tuple((1.0, k / 128, 1) for k in range(1, 41)))
    for epsilon in (0.0, 2.5):
        bound = run.delta(epsilon, engine="lattice")
        value = truth.delta(epsilon)
        assert arb(bound.lower) <= value <= arb(bound.upper)
        assert bound.upper - bound.lower <= 1e-6 * bound.upper
    found = run.epsilon(1e-5, engine="lattice")
    assert truth.delta(found.upper) <= arb(1e-5) <= truth.delta(found.lower)
    assert found.upper - found.lower <= 1e-6 * found.upper


def test_five_hundred_distinct_laplaces() -> None:
    """Against the integral of the exact transform, without any bound on its error."""
    run = tr.compose([tr.Laplace(scale=100 + i / 5) for i in range(500)])
    bound = run.epsilon(1e-5, seconds=120)
    assert bound.lower <= plain_epsilon([100 + i / 5 for i in range(500)], 1e-5) <= bound.upper
    assert bound.upper - bound.lower <= 1e-6 * bound.upper


def plain_epsilon(scales: list[float], delta: float) -> float:
    """epsilon by a product of exact characteristic functions under the tilted law, inverted on a fine even contour."""
    tilt, step, nodes = 28.0, 0.25, 1 << 11
    z = tilt + 1j * step * (np.arange(nodes) + 0.5)
    log_m = np.zeros(nodes, dtype=complex)
    for scale in scales:
        e = 1.0 / scale
        log_m += np.log(((z + 1.0) * np.exp(z * e) + z * np.exp(-(z + 1.0) * e)) / (2.0 * z + 1.0))
    low, high = 0.4, 0.7
    for _ in range(60):
        middle = (low + high) / 2.0
        value = step / math.pi * float(np.sum(np.exp(log_m - z * middle) / (z * (z + 1.0))).real)
        low, high = (middle, high) if value > delta else (low, middle)
    return low
