"""The largest batch that meets a target over a number of epochs.

steps = ceil(epochs records/batch) falls by whole numbers, so that epsilon is no monotone function of the batch: where
steps are fewer than the batch has records, it rises while they stay, and falls where there is one less. It is monotone
in the steps, each with the least batch that has so few, and in the batch while the steps stay.
So small batches are searched as they are, large ones by their steps first, and then among those with these steps.
Guarantee: the batch meets the target, the next one is shown to miss it. That no batch with fewer steps meets it rests
on what `calibrate` rests on: where a value that was tried contradicts it, nothing is returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, isqrt
from typing import Any

from .. import compute_budget
from ..calibrate import Calibration, Missed, SearchOptions, Target, calibrate
from ..mechanisms.loaders import LOADERS
from ..mechanisms.training import training
from ..question import SECONDS

LARGEST = "no batch may have more"
FIRST_SHARE = 0.6  # of the work: the first of two searches


def largest_batch(plan: Mapping[str, Any], epsilon: float, delta: float, options: SearchOptions) -> Calibration:
    """By the batch where it is small, or where only the passes of an epoch count; else by the steps."""

    def make(batch: float) -> training:
        return training(**{**plan, "batch": int(batch)})

    def search(least: float | None = None, most: float | None = None) -> Calibration:
        ends: SearchOptions = {**options, "parameter": "batch", "integer": True, "least": least, "most": most}
        return calibrate(make, epsilon=epsilon, delta=delta, **ends)

    one = make(1)  # what is wrong with the rest is said at once
    drawn = Fraction(repr(plan["epochs"])) * plan["records"]  # records in all batches together
    largest = min(plan["records"], plan.get("cap") or plan["records"])
    turn = isqrt(int(drawn))
    with compute_budget.allowance(options.get("seconds", SECONDS)):
        everyone = make(largest)
        if (bound := everyone.epsilon(delta)).upper <= epsilon:
            return Calibration("batch", largest, Target(epsilon=epsilon, delta=delta), everyone, bound, None, LARGEST)
        if LOADERS[one.sampling].passes or not 0 < turn < largest:
            return search(options.get("least"), options.get("most"))
        if make(turn).epsilon(delta).upper > epsilon:
            return search(most=turn)
        steps: SearchOptions = {**options, "parameter": "steps", "integer": True, "most": ceil(drawn / turn)}
        with compute_budget.part(FIRST_SHARE):
            by_steps = calibrate(lambda many: make(ceil(drawn / int(many))), epsilon=epsilon, delta=delta, **steps)
        beyond = by_steps.missed
        if beyond is not None and beyond.value == by_steps.value - 1:
            most = ceil(drawn / int(beyond.value)) - 1
        elif beyond is None and by_steps.value == ceil(drawn / largest) and bound.lower > epsilon:
            most, beyond = largest - 1, Missed(largest, bound, everyone)  # no batch has fewer steps
        else:
            return replace(by_steps, parameter="batch", value=ceil(drawn / int(by_steps.value)), missed=None)
        top = make(most)
        if (bound := top.epsilon(delta)).upper > epsilon:
            return search(least=ceil(drawn / int(by_steps.value)), most=most)
        calibration = replace(by_steps, parameter="batch", value=most, mechanism=top, bound=bound)
        return replace(calibration, missed=replace(beyond, value=most + 1), ended=None)
