"""Figures 4 to 10: the lists that are drawn are those of the laws that they say."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from studies.figure import Bars, Panel
from studies.reproduce import compute
from studies.tight_on_budget.lists import FACTOR, N, place


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def _leaf(mean: float, factor: float = FACTOR, mu: float = 1.0) -> list[float]:
    """-n ... n and infinity, of losses N(mean, mu^2)."""
    cuts = [(i * math.log(factor) - mean) / mu for i in range(-N, N + 1)]
    below = [_normal(cut) for cut in cuts]
    return [below[0], *(b - a for a, b in pairwise(below)), 1.0 - below[-1]]


def _heights(panel: Panel, *labels: int) -> list[float]:
    """By bucket, of the bars with these numbers."""
    found: dict[float, float] = {}
    for label in labels:
        bars: Bars = panel.bars[label]
        found |= dict(zip(bars.x, bars.heights, strict=True))
    return [found.get(place(index), 0.0) for index in (*range(-N, N + 1), math.inf)]


def test_figure_4_has_the_mass_under_b() -> None:
    panel = compute("tight_on_budget.figure_04").panels[1]
    truth = [*_leaf(-0.5)[:-1], 0.0]
    shown = [a + b for a, b in zip(_heights(panel, 0), _heights(panel, 1), strict=True)]
    assert shown[:-1] == pytest.approx(truth[:-1], abs=1e-9)
    assert _heights(panel, 1)[-1] == 0.0


def test_figure_5_has_both_directions() -> None:
    first, second = compute("tight_on_budget.figure_05").panels
    for panel in (first, second):
        assert math.fsum(_heights(panel, 0, 1)) == pytest.approx(1.0, abs=1e-9)
    # Run with probability 1/2: the loss log(1/2 + e^(x - 1/2)/2) of the mixture at x is never below -log 2.
    assert _heights(first, 0, 1)[:2] == pytest.approx([0.0, 0.0], abs=1e-9)
    top = math.log(2.0 * FACTOR**N - 1.0) + 0.5
    assert _heights(first, 0, 1)[-1] == pytest.approx(1.0 - (_normal(top) + _normal(top - 1.0)) / 2.0, abs=1e-9)


def test_figures_7_and_8_compose() -> None:
    before, after = compute("tight_on_budget.figure_07").panels
    leaf = _leaf(0.5)
    assert _heights(before, 0, 1, 2) == pytest.approx(leaf, abs=1e-9)
    truth = [0.0] * (2 * N + 2)
    for j, p in enumerate(leaf[:-1], start=-N):
        for k, q in enumerate(leaf[:-1], start=-N):
            truth[2 * N + 1 if j + k > N else max(j + k, -N) + N] += p * q
    truth[-1] += 1.0 - (1.0 - leaf[-1]) ** 2
    assert _heights(after, 0) == pytest.approx(truth, abs=1e-9)
    assert after.bars[1].heights[0] == pytest.approx(leaf[N - 2] * leaf[N + 4], abs=1e-9)
    parts, whole = compute("tight_on_budget.figure_08").panels
    assert math.fsum(parts.bars[0].heights) == pytest.approx(truth[N + 2], abs=1e-9)
    assert _heights(whole, 0, 1) == pytest.approx(truth, abs=1e-9)


def test_figure_6_sums_to_delta() -> None:
    left, right = compute("tight_on_budget.figure_06").panels
    shares = math.fsum(height for bars in left.bars[1:] for height in bars.heights)
    mu, epsilon = math.sqrt(2.0) / 2.5, 0.2
    truth = _normal(mu / 2.0 - epsilon / mu) - math.exp(epsilon) * _normal(-mu / 2.0 - epsilon / mu)
    assert truth <= shares <= 3.0 * truth
    virtual, real = _heights(right, 0), _heights(right, 1)
    assert real[0] == 0.0 < virtual[0]
    assert all(low <= high + 1e-9 for low, high in zip(real, virtual, strict=True))


def test_figure_9_merges_pairs() -> None:
    before, after = compute("tight_on_budget.figure_09").panels
    groups = range(len(before.bars))
    fine, coarse = _heights(before, *groups), _heights(after, *groups)
    assert fine == pytest.approx(_leaf(0.5), abs=1e-9)
    wanted = [0.0, 0.0, fine[0], fine[1] + fine[2], fine[3] + fine[4], fine[5] + fine[6], fine[7] + fine[8], 0.0, 0.0]
    assert coarse == pytest.approx([*wanted, fine[-1]], abs=1e-9)


def test_figure_10_follows_its_rule() -> None:
    infinity, factor, uncorrected, delta = compute("tight_on_budget.figure_10").panels
    rule, _, never = infinity.lines
    assert all(after <= 2.2 * before * (1.0 + 1e-6) for before, after in pairwise(rule.upper))
    assert never.upper[-1] > 0.99
    for way in (0, 1, 2):
        steps, u = factor.shapes[way].y, uncorrected.shapes[way].y
        for k in range(1, len(steps)):
            squared = steps[k] > 1.5 * steps[k - 1]
            assert u[k] == 2.0 * (math.ceil(u[k - 1] / 2.0) + 1.0 if squared else u[k - 1])
    line = delta.lines[0]
    assert line.lower is not None
    for uses, low, high in zip(line.x, line.lower, line.upper, strict=True):
        mu = math.sqrt(uses) / (200.0 * math.sqrt(2.0))
        epsilon = 1.5 * mu
        truth = _normal(mu / 2.0 - 1.5) - math.exp(epsilon) * _normal(-mu / 2.0 - 1.5)
        assert low <= truth * (1.0 + 1e-9)
        assert high >= truth * (1.0 - 1e-9)
