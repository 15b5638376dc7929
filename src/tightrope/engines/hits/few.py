"""Few hits: grids of more and more points, at epsilon or where it lies.

A cut made for an epsilon is exact for every smaller one and valid for every larger one. The place of epsilon is looked
for on coarse grids; one fine grid a little above it serves the certified search.
Guarantee: upper and lower, as cut.py. Proof: docs/proofs/hits.md, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...errors import UnsupportedMechanism, WorkExhausted
from ..evaluation import Term
from ..lattice.narrowest import Narrowest, relative_width, rounding_rules
from . import tuning
from .cut import CutEvaluator, evaluator
from .ends import CutQuestion


def prepare(terms: Sequence[Term], epsilon: float | None, delta: float | None, accuracy: float) -> Narrowest:
    """An evaluator for one direction and one question; UnsupportedMechanism where hits are many or have no ends."""
    asked = CutQuestion.of(terms)
    asked.check_short()
    if epsilon is not None:
        asked.check(epsilon)
        return _refined(asked, epsilon, epsilon, accuracy, float(asked.single(np.array([epsilon]))[0]))
    assert delta is not None
    return _for_epsilon(asked, delta, accuracy)


def _for_epsilon(asked: CutQuestion, delta: float, accuracy: float) -> Narrowest:
    """Looks for the place of epsilon on coarse grids, then makes a fine one there."""
    near, coarse = _place(asked, delta)
    if not near > 0.0:
        return _narrowest(asked, coarse, math.inf, 0.0)
    low, high = (coarse.delta(near * factor).middle for factor in (1.0 - tuning.ROOM, 1.0 + tuning.ROOM))
    slope = math.log(low / high) / (2.0 * tuning.ROOM) if low > high > 0.0 else 1.0  # of log delta, per log epsilon
    accuracy = max(accuracy, tuning.ZERO_WIDTH / near) if near < tuning.NEAR_ZERO else accuracy
    try:
        made = _refined(asked, near, coarse.near, min(accuracy * slope, tuning.COARSE_WIDTH), delta)
    except WorkExhausted:
        made = _narrowest(asked, coarse, math.inf, near)
    return replace(made, slope=slope / near)


def _place(asked: CutQuestion, delta: float) -> tuple[float, CutEvaluator]:
    """About where epsilon lies, from that of a single use on; and the last coarse grid, which reaches beyond it."""
    near = asked.single_epsilon(delta)
    coarse: CutEvaluator | None = None
    for _ in range(tuning.SEARCHES_MOST):
        asked.check(near)
        reach = near * (1.0 + tuning.ROOM)
        try:
            coarse = evaluator(asked, reach, tuning.FIRST_POINTS, tuning.COARSE_WIDTH, delta)
        except WorkExhausted:
            if coarse is None:
                raise
            break
        if coarse.delta(near).lower > tuning.TOGETHER * delta:
            raise UnsupportedMechanism("many hits count together: there is nothing to cut off")
        found = _narrowest(asked, coarse, math.inf, near).inverse(delta, math.inf, 1e-3)
        before, near = near, found.lower + (min(found.upper, 2.0 * reach) - found.lower) / 2.0
        if not near > 0.0 or (found.upper <= reach and abs(near - before) < tuning.ROOM * near):
            break
    assert coarse is not None
    return near, coarse


def _refined(asked: CutQuestion, epsilon: float, reach: float, wanted: float, delta: float) -> Narrowest:
    """Grids of more points until delta at epsilon is as narrow as wanted, or the next one would take too long."""
    points = tuning.FIRST_POINTS
    best: tuple[float, CutEvaluator] | None = None
    for _ in range(tuning.ROUNDS_MOST):
        try:
            made = evaluator(asked, reach, points, wanted, delta)
        except WorkExhausted:
            if best is None:
                raise
            break
        value = made.delta(epsilon)
        width = relative_width(value)
        if best is None or width < best[0]:
            best = width, made
        finer = tuning.FINER * math.sqrt(width / (tuning.HAIR * wanted))
        if width <= tuning.HAIR * wanted or points * finer > tuning.POINTS_MOST or rounding_rules(value):
            break
        delta = max(value.lower, 0.1 * value.upper, 5e-324)
        points = math.ceil(points * max(finer, tuning.FINER_LEAST))
    assert best is not None
    return _narrowest(asked, best[1], wanted, epsilon)


def _narrowest(asked: CutQuestion, made: CutEvaluator, wanted: float, near: float) -> Narrowest:
    return Narrowest((made,), asked.terms, wanted, near, made.theta, math.inf)
