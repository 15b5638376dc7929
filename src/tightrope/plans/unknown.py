"""One number of a training run that is open: the least sigma, the most epochs or steps, the largest batch.

For sigma, a few quick answers tell where to look, since far off a delta may take long to tell; the search itself asks
as it always does, and once more without these ends where they were wrong.
Guarantee: that of `calibrate`: the value meets epsilon at delta by its own upper end, the next one is shown to miss it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypedDict, Unpack

from .. import compute_budget
from ..calibrate import Calibration, SearchOptions, Target, calibrate
from ..errors import InvalidParameter, TightropeError
from ..mechanisms.base import Mechanism
from ..mechanisms.loaders import LOADERS
from ..mechanisms.training import training
from ..question import SECONDS

UNKNOWNS = ("sigma", "epochs", "batch", "steps")  # in this order one is found where several are open
WHOLE = ("epochs", "batch", "steps")
FOUND = MappingProxyType(
    {
        "sigma": "the least sigma",
        "epochs": "the most epochs",
        "batch": "the largest batch",
        "steps": "the most steps",
    }
)
QUICK_UNITS = 1e8  # of work: where an answer takes more, no others are asked beforehand
SIGMA_SHARE = 0.8  # of the work, for a search next to where these point
LOADER_AROUND, REPLACE_AROUND = 1.1, 1.5  # times: how far the sigma of other loaders lies from Poisson's, mostly
BINS_SHARE, BINS_CLOSE = 0.47, 1.25  # bins commonly need about so much of the noise of one order for all
BINS_AROUND = 2.0  # and if not, up to all of it
SIGMA_LOOKS = 14  # answers asked beforehand, at most
SIGMA_AROUND = 1.02  # times: how far the ends lie from where sigma is expected
SIGMA_FAR = 2.0**12  # a sigma beyond is not looked for in this way


class OpenPlan(TypedDict, total=False):
    """The keywords of tr.training, some of which may be lists."""

    records: int
    batch: int | Sequence[int] | None
    epochs: float | Sequence[float] | None
    steps: int | Sequence[int] | None
    sigma: float | Sequence[float] | None
    sampling: str
    cap: int | None
    group: int
    matrix: str
    toeplitz: Sequence[float] | None
    inverse: Sequence[float] | None
    bins: int | None
    separation: int | None


def solve(
    plan: Mapping[str, Any], unknown: str, epsilon: float, delta: float, **options: Unpack[SearchOptions]
) -> Calibration:
    """The best value of the unknown, which the plan leaves out."""
    if unknown not in UNKNOWNS:
        raise InvalidParameter(f"the unknown of a plan is one of {', '.join(UNKNOWNS)}, not {unknown!r:.40}")

    def make(value: float) -> Mechanism:
        return training(**{**plan, unknown: value})

    if unknown == "batch" and LOADERS.get(plan.get("sampling", "poisson"), LOADERS["poisson"]).correlated:
        raise InvalidParameter(
            f"batch is not looked for with sampling={plan['sampling']!r}: give it, and leave out sigma or epochs"
        )
    if unknown == "batch" and plan.get("epochs") is not None:
        from .batches import largest_batch

        return largest_batch(plan, epsilon, delta, options)
    named: SearchOptions = {**options, "parameter": unknown, "integer": unknown in WHOLE}
    with compute_budget.allowance(options.get("seconds", SECONDS)):
        if unknown == "sigma" and options.get("least") is None and options.get("most") is None:
            for near, around in _guesses(plan, epsilon, delta):
                calibration = _around(make, near, around, Target(epsilon=epsilon, delta=delta), named)
                if calibration is not None:
                    return calibration
        return calibrate(make, epsilon=epsilon, delta=delta, **named)


def _guesses(plan: Mapping[str, Any], epsilon: float, delta: float) -> Iterator[tuple[float, float]]:
    """About the sigma wanted, and the factor within which it should lie: by the run itself, or by Poisson batches."""
    sampling = plan.get("sampling", "poisson")
    if sampling == "bins" or plan.get("bins") is not None:  # one order for all needs more noise, and is quick to tell
        ordered = {**plan, "sampling": "in_order", "bins": None, "batch": training(**{**plan, "sigma": 1.0}).batch}
        near = _near(lambda sigma: training(**{**ordered, "sigma": sigma}), epsilon, delta)
        if near is not None:
            yield BINS_SHARE * near, BINS_CLOSE
            yield near / BINS_AROUND, BINS_AROUND
        return
    near = _near(lambda sigma: training(**{**plan, "sigma": sigma}), epsilon, delta)
    if near is not None:
        yield near, SIGMA_AROUND
    elif sampling != "poisson" and sampling in LOADERS:
        alike = {
            name: value for name, value in plan.items() if name in ("records", "batch", "epochs", "steps", "group")
        }
        near = _near(lambda sigma: training(**{**alike, "sigma": sigma}), epsilon, delta)
        if near is not None:
            moved = LOADERS[sampling].sensitivity
            yield near * moved, LOADER_AROUND if moved == 1.0 else REPLACE_AROUND


def _around(
    make: Callable[[float], Mechanism], near: float, around: float, target: Target, options: SearchOptions
) -> Calibration | None:
    """By a search next to where quick answers point; None where that does not come to its end, and there is time."""
    ends: SearchOptions = {**options, "least": near / around, "most": near * around}
    with compute_budget.part(SIGMA_SHARE) as meter:
        try:
            calibration = calibrate(make, target=target, **ends)
        except TightropeError:
            return None
    found = calibration.ended is None or calibration.missed is not None
    return calibration if found or meter.exhausted is not None else None


def _near(make: Callable[[float], Mechanism], epsilon: float, delta: float) -> float | None:
    """About the sigma whose epsilon is the one wanted, by secants in logs; None where that takes too long."""

    def excess(log_sigma: float) -> float | None:
        before = compute_budget.left()
        try:
            upper = make(math.exp(log_sigma)).epsilon(delta).upper
        except TightropeError:
            return None
        if before - compute_budget.left() > QUICK_UNITS or not 0.0 < upper < math.inf:
            return None
        return math.log(upper) - math.log(epsilon)

    if not 0.0 < epsilon < math.inf:
        return None
    low, high = -math.inf, math.inf  # where it is too small, and large enough
    point, slope = 0.0, -1.0
    before: tuple[float, float] | None = None
    for _ in range(SIGMA_LOOKS):
        value = excess(point)
        if value is None or abs(point) > math.log(SIGMA_FAR):
            return None
        if abs(value) < 0.1 * math.log(SIGMA_AROUND):
            return math.exp(point)
        low, high = (max(low, point), high) if value > 0.0 else (low, min(high, point))
        if before is not None and point != before[0]:
            slope = min((value - before[1]) / (point - before[0]), -0.1)
        before, point = (point, value), point - max(min(value / slope, 0.7), -0.7)
        if not low < point < high:
            point = (low + high) / 2.0
    return None
