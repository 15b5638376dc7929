"""The Gaussian that pays for a job: above profiles by mpmath at random epsilons, and hardly more than needed."""

from __future__ import annotations

import math
import random

import mpmath
import pytest

import tightrope as tr
from tightrope.ledger.domination import ProfileCorner, dominated, least_square, outline

SLACK = 1e-9


def gaussian_hockey_stick(mu: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    """At any epsilon; mu > 0."""
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def beside(losses: list[tuple[mpmath.mpf, mpmath.mpf]], mu: float, epsilon: float) -> mpmath.mpf:
    """The profile of (mass, loss) points together with a Gaussian: the mean of its profile at epsilon - loss."""
    if not mu:
        return sum(mass * max(-mpmath.expm1(epsilon - loss), 0) for mass, loss in losses)
    return sum(mass * gaussian_hockey_stick(mpmath.mpf(mu), epsilon - loss) for mass, loss in losses)


def laplace_beside(edge: float, mu: float, epsilon: float) -> mpmath.mpf:
    """The loss of Laplace noise under P: edge with 1/2, -edge with e^-edge/2, density e^((l - edge)/2)/4 between."""
    ends = [(mpmath.mpf(1) / 2, mpmath.mpf(edge)), (mpmath.exp(-edge) / 2, -mpmath.mpf(edge))]
    inner = mpmath.quad(
        lambda loss: mpmath.exp((loss - edge) / 2) / 4 * gaussian_hockey_stick(mpmath.mpf(mu), epsilon - loss),
        [-edge, 0, edge],
    )
    return beside(ends, mu, epsilon) + inner


def response(epsilon: float) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """Randomized response under P."""
    p = 1 / (1 + mpmath.exp(-epsilon))
    return [(p, mpmath.mpf(epsilon)), (1 - p, -mpmath.mpf(epsilon))]


def right(floor: float, square: float, slack: float, epsilon: float) -> mpmath.mpf:
    mu = mpmath.sqrt(mpmath.mpf(floor) ** 2 + square)
    return slack + (1 - mpmath.mpf(slack)) * gaussian_hockey_stick(mu, mpmath.mpf(epsilon))


def test_laplace_with_a_floor_costs_less_than_its_epsilon_squared() -> None:
    floor = math.sqrt(0.1)
    found = least_square(tr.Laplace(scale=10.0), floor, SLACK).square
    assert 0.0097 < found < 0.01
    rng = random.Random(1)
    with mpmath.workdps(30):
        places = [0.0, 0.1] + [rng.uniform(0.0, 2.2) for _ in range(40)]
        truths = [(laplace_beside(0.1, floor, place), place) for place in places]
        assert all(truth <= right(floor, found, SLACK, place) for truth, place in truths)
        assert any(truth > right(floor, 0.99 * found, SLACK, place) for truth, place in truths)


@pytest.mark.parametrize("floor", [0.0, 0.3])
@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_randomized_response(epsilon: float, floor: float) -> None:
    job = tr.PureDP(epsilon=epsilon) + tr.PureDP(epsilon=epsilon / 2)
    found = least_square(job, floor, SLACK).square
    losses = [(p * q, a + b) for p, a in response(epsilon) for q, b in response(epsilon / 2)]
    rng = random.Random(2)
    with mpmath.workdps(30):
        places = [0.0, epsilon / 2] + [rng.uniform(0.0, 1.5 * epsilon + 6 * floor) for _ in range(300)]
        truths = [(beside(losses, floor, place), place) for place in places]
        assert all(truth <= right(floor, found, SLACK, place) for truth, place in truths)
        assert any(truth > right(floor, 0.99 * found, SLACK, place) for truth, place in truths)


def test_both_directions_of_a_sample() -> None:
    """Remove is the worse one beyond 0; the other is below the same Gaussian, which is symmetric."""
    job = tr.Gaussian(sigma=1.0).poisson(rate=0.05) * 20
    found = least_square(job, 0.4, SLACK).square
    run = job + tr.GDP(mu=0.4)
    epsilons = [0.013 + 0.117 * index for index in range(25)]
    with mpmath.workdps(30):
        for direction in ("add", "remove"):
            bounds = run.delta(epsilons, direction=direction)
            for place, bound in zip(epsilons, bounds, strict=True):
                assert bound.lower <= right(0.4, found, SLACK, place)
                # At alpha < 1, both sides as they are there.
                assert run.delta(-place, direction=direction).lower <= right(0.4, found, SLACK, -place)


def test_the_cost_fits_hardly() -> None:
    for job, floor in ((tr.Laplace(scale=10.0), 0.3), (tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 1000, 0.4)):
        found = least_square(job, floor, SLACK).square
        corners = outline(job, floor, SLACK)
        assert dominated(corners, floor, SLACK, found)
        assert not dominated(corners, floor, SLACK, 0.99 * found)


def test_points_alone_prove_nothing() -> None:
    """Corners on the right side itself, far apart: it dips below their chord."""
    with mpmath.workdps(30):
        on = [ProfileCorner(place, float(right(0.0, 1.0, SLACK, place)) * (1.0 - 1e-9)) for place in (0.0, 3.0)]
    far = ProfileCorner(8.0, SLACK)
    assert not dominated([*on, far], 0.0, SLACK, 1.0)
    assert dominated([*on, far], 0.0, SLACK, 36.0)


def test_what_is_missing_is_not_dominated() -> None:
    assert not dominated([], 0.0, SLACK, 1.0)
    assert not dominated([ProfileCorner(0.1, 0.0)], 0.0, SLACK, 1.0)  # nothing is said from 0 on
    assert not dominated([ProfileCorner(0.0, 2e-9)], 0.0, SLACK, 1.0)  # beyond the last corner there is more than slack
    assert dominated([ProfileCorner(0.0, 1e-9)], 0.0, SLACK, 1.0)


def test_corners_that_time_left_out_do_not_matter() -> None:
    from tightrope.ledger.domination import _hull

    corners = [
        ProfileCorner(0.0, 0.5),
        ProfileCorner(1.0, 1.0),
        ProfileCorner(2.0, 0.1),
        ProfileCorner(2.0, 0.2),
        ProfileCorner(3.0, 0.0),
    ]
    assert _hull(corners) == (ProfileCorner(0.0, 0.5), ProfileCorner(2.0, 0.1), ProfileCorner(3.0, 0.0))
    far = [ProfileCorner(0.0, 0.5), ProfileCorner(1e5, 0.4), ProfileCorner(2e5, 0.0)]
    assert _hull(far)[0] == far[0]
    assert _hull(far)[-1] == far[-1]


def test_infinite_losses_need_slack() -> None:
    with pytest.raises(tr.UnsupportedMechanism, match="slack"):
        least_square(tr.ApproximateDP(epsilon=0.1, delta=1e-6), 0.0, 1e-9)
    found = least_square(tr.ApproximateDP(epsilon=0.1, delta=1e-9), 0.0, 2e-9).square
    pure = least_square(tr.PureDP(epsilon=0.1), 0.0, 1e-9).square
    assert found == pytest.approx(pure, rel=1e-3)


def test_less_than_the_slack_costs_next_to_nothing() -> None:
    assert least_square(tr.PureDP(epsilon=1e-12), 0.0, 1e-9).square < 2.0**-50
    assert least_square(tr.PureDP(epsilon=1e-12), 0.5, 1e-9).square < 1e-4
