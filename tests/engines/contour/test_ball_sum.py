"""The same nodes in float64 and in balls: each has what the other says, of whole laws and of hits alone."""

from __future__ import annotations

import dataclasses
import math

import pytest
from flint import arb

import tightrope as tr
from tests.engines.test_parts import cut_and_split
from tightrope.core.engines import saddle as contour_parts
from tightrope.core.engines.contour.engine import tried
from tightrope.core.engines.contour.sums import Nodes, _ball, ball_nodes, float_nodes
from tightrope.core.engines.contour.way import WHOLE, Approach, ContourLaw, ContourTarget
from tightrope.core.engines.saddle import find_saddle
from tightrope.core.losses.cgf import cgf_of
from tightrope.core.values.question import Direction

FEW = 12  # nodes: enough to tell, few enough for balls
CLOSE = 1e-7


def whole(expression: str, epsilon: float) -> tuple[Approach, contour_parts.Parts, float]:
    terms = [(part.pair(Direction.REMOVE), uses) for part, uses in tr.parse(expression).terms]
    cgfs = [(cgf_of(pair), count) for pair, count in terms]
    approach = Approach(ContourLaw(cgfs, arb(0)), ContourTarget(epsilon, None, None, 1e-6), WHOLE)
    return approach, contour_parts.Parts(cgfs), epsilon


CASES = {
    "hits": cut_and_split(1.05),
    "two terms": whole("Gaussian(sigma=1).poisson(rate=0.1) * 7 + Laplace(scale=3) * 3", 1.0),
}


def apart(one: arb, other: arb) -> float:
    return float(abs(one - other).upper())


@pytest.mark.parametrize("case", CASES)
def test_nodes_agree(case: str) -> None:
    approach, parts, epsilon = CASES[case]
    saddle = find_saddle(parts, epsilon, None)
    plan = dataclasses.replace(tried(approach, parts, saddle).bound.nodes.plan, nodes=FEW)
    floats, balls = float_nodes(parts, plan), ball_nodes(parts, plan)
    body = sum(count * cgf.cumulants(parts.body_tilt).value for cgf, count in parts.terms)
    for nodes in (floats, balls):
        assert (nodes.log_body is None) is (case != "hits")
        if nodes.log_body is not None:
            assert abs(float(nodes.log_body.mid()) - body) <= CLOSE
    assert apart(floats.log_scale, balls.log_scale) <= CLOSE
    assert apart(floats.log_alias, balls.log_alias) <= CLOSE
    # A bound by the one lies at or above the number that the other encloses.
    assert floats.log_alias.upper() >= balls.log_alias.lower()
    assert_sums_agree(floats, balls, epsilon)


def assert_sums_agree(floats: Nodes, balls: Nodes, epsilon: float) -> None:
    for one, other in (
        (floats.sum(epsilon), balls.sum(epsilon)),
        (floats.ramp(epsilon, 1e-3, False), balls.ramp(epsilon, 1e-3, False)),
        (floats.ramp(epsilon, 1e-3, True), balls.ramp(epsilon, 1e-3, True)),
    ):
        assert not abs(one.value - other.value) > one.quadrature + other.quadrature
    (log, rate), (ball_log, ball_rate) = floats.slope(epsilon), balls.slope(epsilon)
    assert abs(log - ball_log) <= 1e-6
    assert abs(rate - ball_rate) <= 1e-6


def test_a_sum_that_is_not_finite_says_nothing() -> None:
    for value, radius in ((math.inf, 1.0), (1.0, math.inf), (math.nan, 1.0), (1.0, math.nan)):
        assert _ball(value, radius).is_nan()
