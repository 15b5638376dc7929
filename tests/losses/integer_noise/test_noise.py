"""Masses and tails at any depth, by contours, sums and factorials, against Bessel functions and fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import pytest
from flint import arb, fmpq

from tests.oracle.integer_noise import mass, suffix
from tightrope.core.losses.integer_noise import noise as contour
from tightrope.core.losses.integer_noise.coins import CoinNoise
from tightrope.core.losses.integer_noise.noise import trapezoid
from tightrope.core.losses.integer_noise.skellam_noise import SkellamNoise
from tightrope.core.numerics.balls import working_precision

BITS = 128


def heads(trials: int, k: int) -> arb:
    """P[X >= k] by fractions."""
    total = Fraction(sum(math.comb(trials, j) for j in range(k, trials + 1)), 2**trials)
    return arb(fmpq(total.numerator, total.denominator))


@pytest.mark.parametrize(("variance", "outputs"), [(1e-12, (1, 4, 24)), (0.5, (1, 9, 120)), (40.0, (1, 7, 60, 400))])
def test_skellam(variance: float, outputs: tuple[int, ...]) -> None:
    noise = SkellamNoise(variance)
    for k in outputs:
        with working_precision(BITS):
            for found, truth in (
                (trapezoid(noise, k, True), suffix(variance, k, 200)),
                (noise.tail(k), suffix(variance, k, 200)),
                (trapezoid(noise, k, False), mass(variance, k, 200)),
                (noise.mass(-k), mass(variance, k, 200)),
                (noise.tail(1 - k), 1 - suffix(variance, k, 200)),
            ):
                assert found.overlaps(truth), (k, found, truth)
                assert found.rel_accuracy_bits() > 100, (k, found)


@pytest.mark.parametrize(
    ("trials", "outputs"), [(1, (1,)), (2, (1, 2)), (31, (16, 20, 31)), (600, (301, 350, 420, 599))]
)
def test_coins(trials: int, outputs: tuple[int, ...]) -> None:
    noise = CoinNoise(trials)
    for k in outputs:
        truth = heads(trials, k)
        with working_precision(BITS):
            each = [noise.tail(k), 1 - noise.tail(trials - k + 1)]
            if k < trials and 2 * k > trials:
                each += [trapezoid(noise, k, True), trapezoid(noise, k, False) + heads(trials, k + 1)]
            assert all(found.overlaps(truth) for found in each), k
            assert each[0].rel_accuracy_bits() > 100, k
        assert heads(trials, k + 1).overlaps(noise.tail(k + 1))


def _fewer(plain: Callable[..., tuple[int, float, float]], share: int, *asked: object) -> tuple[int, float, float]:
    nodes, left, right = plain(*asked)
    return nodes // share | 1, left, right


def test_nodes_are_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few of them, far apart or near each other: wider balls that contain the truth."""
    plain, noise, k, tail = contour._spacing, SkellamNoise(40.0), 9, suffix(40.0, 9, 200)
    for share in (3, 8, 20):
        few = partial(_fewer, plain, share)
        monkeypatch.setattr(contour, "_spacing", few)
        with working_precision(BITS):
            assert trapezoid(noise, k, True).overlaps(tail)
            assert trapezoid(noise, k, False).overlaps(mass(40.0, k, 200))
    monkeypatch.setattr(contour, "_spacing", plain)
    angle = SkellamNoise.plain_angle
    monkeypatch.setattr(SkellamNoise, "plain_angle", lambda self, s, fall: 0.2 * angle(self, s, fall))
    with working_precision(BITS):
        assert trapezoid(noise, k, True).overlaps(tail)


@pytest.mark.parametrize("noise", [SkellamNoise(1e12), SkellamNoise(1e6), CoinNoise(10**9)])
def test_large_noise_is_no_more_work(noise: SkellamNoise | CoinNoise) -> None:
    """Neighbouring tails differ by a mass, at every depth."""
    for depth in (0.0, 3.0, 12.0, 37.0):
        k = noise.twice_centre // 2 + 1 + round(depth * noise.spread)
        with working_precision(BITS):
            found = noise.tail(k) - noise.tail(k + 1) - noise.mass(k)
            assert found.contains(0)
            assert found.rad() < noise.mass(k) * arb(2) ** -70


def test_masses_go_on_from_each_other() -> None:
    for noise in (SkellamNoise(7.0), SkellamNoise(1e5), CoinNoise(900)):
        first = noise.twice_centre // 2 + 5
        with working_precision(BITS):
            for k, found in zip(range(first, first + 40), noise.masses(first, first + 39), strict=True):
                assert found.overlaps(noise.mass(k)), k
                assert found.rel_accuracy_bits() > 100
