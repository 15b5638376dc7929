"""What is known of several uses of which only some show the record, and nobody knows which."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
from flint import arb

from tests.oracle.continuous import Gaussian
from tests.oracle.finite import FiniteLaw
from tests.oracle.precision import ball
from tightrope.core.losses.operators import registered as operators
from tightrope.core.numerics.balls import upper_float, working_precision

from .asked import BITS, Asked, meets
from .structure import COUNT, SHORT, exact_outputs, fold

STEPS = 2
TILT, NODE_STEP, NODES = 1.75, 2.5, 4


def allocated(asked: Asked) -> bool:
    """One step of two, against all outcomes in fractions."""
    found = operators.allocated_pair_of(asked.pair, STEPS, asked.way)
    if found is None or asked.rate < 1.0 or not isinstance(asked.law, FiniteLaw):
        return found is not None
    outputs = exact_outputs(asked.law)
    if len(outputs) < SHORT:
        both = [((p1 * q2 + q1 * p2) / STEPS, q1 * q2) for (p1, q1), (p2, q2) in product(outputs, outputs)]
        both = both if asked.direction == "remove" else [(q, p) for p, q in both]
        with working_precision(BITS):
            for alpha in (Fraction(1, 3), Fraction(1), Fraction(9, 8), Fraction(7, 2)):
                truth = sum((max(p - alpha * q, Fraction(0)) for p, q in both), Fraction(0))
                meets(
                    found.ball_hockey_stick(ball(alpha).log()), ball(truth) + arb(0, 1e-40), f"H({alpha}) of one of two"
                )
    return True


def hidden_participation(asked: Asked) -> bool:
    """Where every use shows the record nothing is hidden: at or below one use, and at or below several."""
    offered = bool(operators.hidden_participation(asked.pair, COUNT, 1))
    if offered:
        assert asked.rate == 1.0
        for uses, truth in ((1, asked.truth), (COUNT, fold(asked.law, asked.direction))):
            for pair in operators.hidden_participation(asked.pair, uses, uses):
                for epsilon in asked.epsilons():
                    with working_precision(BITS):
                        below, most = pair.ball_hockey_stick(arb(epsilon)), truth.delta(epsilon)
                        assert not below > most, f"delta({epsilon!r}) of {uses} uses is {below}, above {most}"
    return offered


def plainer(asked: Asked) -> bool:
    """No row of the table has it: their own profiles tell all."""
    assert operators.simpler_ends(asked.pair) is None
    return False


def ratio_transform(asked: Asked) -> bool:
    """Its values on a line, and what they are at most beyond a place, against sums over outputs in floats."""
    found = operators.ratio_transform(asked.pair)
    if found is not None:
        assert isinstance(asked.law, Gaussian)
        assert asked.rate == 1.0
        mu = float(asked.law.sensitivity) / float(asked.law.sigma)
        outputs = np.linspace(-11.0, 11.0, 6001)
        density = np.exp(-0.5 * outputs**2) / math.sqrt(2.0 * math.pi) * (outputs[1] - outputs[0])
        ratio = np.exp(mu * outputs - 0.5 * mu * mu)
        truth = [
            complex(np.sum(density * np.exp(-(TILT + 1j * node * NODE_STEP) * (ratio - 1.0)))) for node in range(NODES)
        ]
        with working_precision(BITS):
            values = found.values(arb(TILT), arb(NODE_STEP), NODES, -60.0)
            beyond = [found.fall(arb(TILT), arb(node * NODE_STEP)) for node in range(1, NODES)]
        for node, (value, right) in enumerate(zip(values, truth, strict=True)):
            off = abs(complex(value) - right)
            assert off <= 1e-12, f"at node {node}: {value}, not {right}"
        for node, fall in enumerate(beyond, 1):
            for later in range(node, NODES):
                size = abs(truth[later]) * (1.0 - 1e-9)
                assert size <= math.exp(upper_float(fall.log_bound)), f"node {later} is above the bound from {node} on"
                assert size * later * NODE_STEP <= upper_float(fall.slope), f"node {later}, slope from {node} on"
    return found is not None
