"""Marks, and what lies beyond the nodes: weights and what they miss make 1, slopes are bounds, no end is free."""

from __future__ import annotations

import pytest
from flint import arb

from tests.oracle.precision import precision
from tightrope.core.losses.sampled_gaussian.likelihood import WHOLE, Edge, SoftWindow, likelihood
from tightrope.core.losses.sampled_gaussian.mixture_quadrature import _ball_ends as _ends
from tightrope.core.losses.sampled_gaussian.node_grid import Grid, restricted_strip

WINDOWS = [
    SoftWindow((Edge(1.0, 0.3, 1),)),
    SoftWindow((Edge(1.0, 0.3, -1),)),
    SoftWindow((Edge(-1.0, 0.2, 1), Edge(0.5, 2.5, -1))),
    SoftWindow((Edge(-1.0, 2.0, 1), Edge(0.5, 0.4, -1))),
]


@pytest.mark.parametrize("window", WINDOWS)
def test_weight_and_what_it_misses(window: SoftWindow) -> None:
    with precision(100):
        for x in (-3.0, -1.0, 0.2, 0.9, 4.0):
            at = arb(x)
            assert (window.ball_weight(at) + window.ball_missing(at)).overlaps(arb(1))
            assert window.ball_weight(at).rad() < 1e-25
            assert window.ball_missing(at).rad() < 1e-25


@pytest.mark.parametrize("window", WINDOWS)
def test_the_log_weight_is_as_steep_as_is_said_everywhere_to_the_left(window: SoftWindow) -> None:
    gap = arb(2) ** -40
    with precision(200):
        for x in (-2.0, -0.5, 0.6, 1.1, 2.0):
            bound = window.ball_slope_left_of(arb(x))
            assert window.slope_left_of(x) <= bound.upper()
            for back in (0.0, 0.3, 1.0, 3.0):
                at = arb(x) - back
                slope = (window.ball_weight(at).log() - window.ball_weight(at - gap).log()) / gap
                assert bound <= slope + 1e-9


@pytest.mark.parametrize("right", [0, 1, 2, 3])
def test_nodes_that_end_before_the_density_falls_prove_nothing(right: int) -> None:
    """It falls to the right from power mu on: nodes that end before leave anything possible."""
    law, power = likelihood(1.0, 0.3), 4.0
    with precision(100):
        grid = Grid(1.0, 1.0, 20, right, restricted_strip(law, WHOLE))
        weights = tuple(arb(1) for _ in range(grid.size))
        found = _ends(arb(1), grid, arb(power), law, WHOLE, weights, arb(grid.size))
        assert found == arb.pos_inf()
