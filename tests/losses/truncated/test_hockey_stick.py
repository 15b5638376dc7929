"""Profiles of truncated noise in float64 against balls: inside, outside and on the ends of the losses."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tightrope.core.losses.truncated.cut import ClampedPair, CutPair
from tightrope.core.losses.truncated.truncated_pair import by_formula
from tightrope.core.numerics.balls import BITS_START, enclose, working_precision
from tightrope.core.numerics.enclosures import around, exact
from tightrope.core.values.errors import InvalidParameter
from tightrope.core.values.question import Direction


def pairs(seed: int) -> list[CutPair | ClampedPair]:
    """Both noises, cut or clamped, open on either side or not, with small and large shifts."""
    rng = random.Random(seed)
    found: list[CutPair | ClampedPair] = []
    while len(found) < 12:
        make = rng.choice([tr.TruncatedGaussian, tr.TruncatedLaplace])
        size = 10.0 ** rng.uniform(-1.0, 2.0)
        low, high = sorted(rng.uniform(-6.0, 6.0) * size for _ in range(2))
        bounds = (low if rng.random() < 0.8 else -math.inf, high if rng.random() < 0.8 else math.inf)
        shift = size * 10.0 ** rng.uniform(-2.5, 0.8)
        mode, mean = rng.choice(["cut", "clamp"]), rng.choice([0.0, size * rng.uniform(-1.0, 1.0)])
        try:
            made = make(size, bounds=bounds, mode=mode, sensitivity=shift, mean=mean)
        except InvalidParameter:
            continue  # the bounds leave nothing
        for direction in Direction:
            pair = made.pair(direction)
            assert isinstance(pair, CutPair | ClampedPair)
            found.append(pair)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_profiles_contain_those_in_balls(seed: int) -> None:
    for pair in pairs(seed):
        with working_precision(BITS_START):
            ends = [float(end.mid()) for end in pair.loss_range()]
        low, high = max(ends[0], -20.0), min(ends[1], 20.0)
        beside = [math.nextafter(end, side) for end in (low, high) for side in (-99.0, 99.0)]
        points = np.unique([*np.linspace(low - 1.0, high + 1.0, 15), low, high, *beside, 0.0, 1e-9, -1e-9])
        assert by_formula(pair.noise, exact(points))
        truth = [enclose(lambda point=float(point), pair=pair: pair.ball_hockey_stick(arb(point))) for point in points]
        for radius in (0.0, 1e-12):
            found = pair.hockey_stick(around(points, np.full_like(points, radius)))
            for point, value, radius_here, (least, most) in zip(points, found.value, found.radius, truth, strict=True):
                assert value - radius_here <= most, (pair, point)
                assert least <= value + radius_here, (pair, point)
        # Where the noise is not truncated to a sliver, nothing is lost.
        found = pair.hockey_stick(exact(points))
        if pair.ends is not None and pair.ends.kept.value > 0.1:
            assert np.all(found.radius <= 1e-13), pair


def test_beyond_the_range_of_e_to_epsilon() -> None:
    pair = tr.TruncatedGaussian(sigma=0.02, bounds=(-1.0, 1.0)).pair(Direction.REMOVE)
    found = pair.hockey_stick(exact([0.0, 720.0, 3000.0]))
    for point, value, radius in zip((0.0, 720.0, 3000.0), found.value, found.radius, strict=True):
        least, most = enclose(lambda point=point: pair.ball_hockey_stick(arb(point)))
        assert value - radius <= most
        assert least <= value + radius


def test_the_case_of_the_paper() -> None:
    """512 uses of noise cut at 8.8 sigma: as Gaussians up to 512 times its infinite mass."""
    run = tr.TruncatedGaussian(sigma=283, bounds=[-2500, 2500]) * 512
    bound = run.delta(0.2, seconds=60)
    assert bound.upper - bound.lower <= 1e-6 * bound.upper
    plain = (tr.Gaussian(sigma=283) * 512).delta(0.2, proof=True)
    with working_precision(BITS_START):
        leaked = 512 * float(run.terms[0][0].pair(Direction.REMOVE).infinite_mass().upper())
    # Cutting changes each law by at most 2 P[|noise| > 2500 - 1] < 2e-18 in total variation, beside the infinite mass.
    slack = leaked + 512 * 1e-17
    assert bound.lower <= plain.upper + slack
    assert plain.lower - slack <= bound.upper
