"""Kinds of sampled Gaussians between fewer: by the definition of the profile, and composed."""

from __future__ import annotations

import pytest
from flint import acb, arb
from mpmath import mp, mpf

import tightrope as tr
from tightrope.core.engines.planner import Planner, Point
from tightrope.core.losses.capabilities import ParameterBinning, bin_parameters_of
from tightrope.core.losses.cgf import cgf_of
from tightrope.core.losses.operators.parameter_binning import ParameterBinningPair
from tightrope.core.losses.operators.registered import sampling_of
from tightrope.core.mechanisms.composition import terms_of
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction, Question

mp.dps = 40


def profile(mu: mpf, rate: mpf, direction: Direction, alpha: mpf) -> mpf:
    """integral of (p - alpha q)_+ of the sampled pair, where its sign changes at one point."""
    # p - alpha q for remove: N_0 (1 - rate - alpha) + rate N_mu; for add: N_0 (1 - alpha (1 - rate)) - alpha rate N_mu.
    rest, part = (1 - rate - alpha, rate) if direction is Direction.REMOVE else (1 - alpha * (1 - rate), -alpha * rate)
    if rest >= 0 and part >= 0:
        return rest + part
    if rest <= 0 and part <= 0:
        return mpf(0)
    at = mp.log(-rest / part) / mu + mu / 2
    above, shifted = mp.ncdf(-at), mp.ncdf(mu - at)
    return rest * above + part * shifted if part > 0 else rest * (1 - above) + part * (1 - shifted)


def told(pools: ParameterBinning, direction: Direction, rate: float, alpha: mpf) -> dict[tuple[str, int, float], mpf]:
    """The profile of every use in the pools of both sides."""
    found = {}
    for side, ((pair, _),) in (("below", pools.below), ("above", pools.above)):
        assert isinstance(pair, ParameterBinningPair)
        heights = [
            profile(1 / mpf(sampling_of(kind).base.shifts[0][0]), mpf(rate), direction, alpha) for kind in pair.kinds
        ]
        for index, cell in enumerate(pair.cells):
            for weight, _ in cell.weights:
                found[side, index, weight] = heights[cell.low] + mpf(weight) * (heights[cell.high] - heights[cell.low])
    return found


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(("low", "high", "rate"), [(0.9, 1.3, 0.01), (5.0, 5.5, 0.3), (0.5, 0.52, 0.9)])
def test_each_use_lies_between_by_the_definition(direction: Direction, low: float, high: float, rate: float) -> None:
    sigmas = [low, high, low * 1.001, *(low + (high - low) * share for share in (0.2, 0.45, 0.5, 0.7, 0.99))]
    pools = bin_parameters_of(
        terms_of(tr.compose([tr.Gaussian(s).poisson(rate) for s in sigmas]), direction), 3, mixed=True
    )
    assert pools is not None
    for epsilon in (-2.0, -0.3, -0.001, 0.0, 1e-4, 0.02, 0.5, 3.0, 9.0):
        alpha = mp.exp(mpf(epsilon))
        truth = sorted(profile(1 / mpf(sigma), mpf(rate), direction, alpha) for sigma in sigmas)
        found = told(pools, direction, rate, alpha)
        below = sorted(value for (side, *_), value in found.items() if side == "below")
        above = sorted(value for (side, *_), value in found.items() if side == "above")
        assert len(below) == len(above) == len(truth)
        tiny = mpf(10) ** -30
        assert all(a <= b + tiny for a, b in zip(below, truth, strict=True))
        assert all(a >= b - tiny for a, b in zip(above, truth, strict=True))


RUN = tr.compose([tr.Gaussian(1.0 + 0.004 * index).poisson(0.02) * (1 + index % 3) for index in range(14)])


@pytest.mark.parametrize("direction", list(Direction))
def test_compositions_lie_between(direction: Direction) -> None:
    terms, question = terms_of(RUN, direction), Question("epsilon")
    exact = Planner(terms, question, False).answer(Point("epsilon", 1e-6), 1e-9)
    widths = []
    for mixed, cells in ((True, 6), (False, 6)):
        pools = bin_parameters_of(terms, cells, mixed)
        assert pools is not None
        below, above = (Planner(side, question, False).answer(Point("epsilon", 1e-6), 1e-7) for side in pools)
        assert below.lower <= exact.upper
        assert exact.lower <= above.upper
        assert below.width < 1e-5 * exact.upper > above.width
        widths.append(above.upper - below.lower)
    assert widths[0] < widths[1]


@pytest.mark.parametrize("direction", list(Direction))
def test_both_arithmetics_agree(direction: Direction) -> None:
    pools = bin_parameters_of(terms_of(RUN, direction), 3, mixed=True)
    assert pools is not None
    step, nodes = 4.0, 3
    for ((pair, _),) in pools:
        cgf = cgf_of(pair)
        law, factor = cgf.tilted(2.0, 8.0, 42.0), cgf.tilted(2.0, 8.0, 42.0).factor(step, nodes, 1)
        with working_precision(100):
            ball = cgf.ball_tilted(2.0, 8.0, 42.0)
            assert law.log_mgf.lower <= float(ball.log_mgf.mid()) <= law.log_mgf.upper <= cgf.log_mgf_above(2.0)
            for index, phi in enumerate(ball.phi(step, nodes)):
                turn = float(factor.phase[index]) + step * index * float(law.drift.value)
                near = acb(arb(float(factor.log_modulus[index])), arb(turn)).exp()
                assert abs(near - phi) < 1e-11
                for decay in (cgf.cf_decay(2.0), cgf.ball_cf_decay(2.0)):
                    assert not abs(phi).log() > decay.log_bound(step * index)


def test_what_is_not_pooled_stays() -> None:
    terms = terms_of(RUN + tr.Laplace(scale=3.0) * 2, Direction.REMOVE)
    pools = bin_parameters_of(terms, 4, mixed=False)
    assert pools is not None
    assert (tr.Laplace(scale=3.0).pair(Direction.REMOVE), 2) in pools.below
    assert (tr.Laplace(scale=3.0).pair(Direction.REMOVE), 2) in pools.above
    assert sum(count for _, count in pools.below) == sum(count for _, count in terms)
    assert bin_parameters_of(terms, 100, mixed=True) is None


def test_many_rates_are_replaced_by_the_next_ones() -> None:
    run = tr.compose([tr.Gaussian(1.0).poisson(0.01 + 0.001 * index) for index in range(40)])
    terms = terms_of(run, Direction.REMOVE)
    pools = bin_parameters_of(terms, 8, mixed=True)
    assert pools is not None
    assert all(len(side) <= 10 and sum(count for _, count in side) == 40 for side in pools)
    exact, *ends = (
        Planner(side, Question("epsilon"), False).answer(Point("epsilon", 1e-6), 1e-6) for side in (terms, *pools)
    )
    assert ends[0].lower < exact.lower <= exact.upper < ends[1].upper
