"""One number of a training run that is open: the least sigma, the most epochs or steps, the largest batch.

For sigma, a few quick answers tell where to look, since far off a delta may take long to tell; the search itself asks
as it always does, and once more without these ends where they were wrong.
Guarantee: that of `calibrate`: the value meets epsilon at delta by its own upper end, the next one is shown to miss it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, isqrt
from types import MappingProxyType
from typing import Any, Protocol, TypedDict, TypeVar, Unpack

from ..mechanisms.base import Mechanism
from ..mechanisms.training import LOADERS, training
from ..values import compute_budget
from ..values.errors import InvalidParameter, TightropeError
from ..values.question import SECONDS
from .calibration import Calibration, Missed, SearchOptions, Target, calibrate

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


# Rows of a table, one after the other: what one does not need of its share of the time goes to those after it.
#
# No row has less than an equal share while those before it keep theirs, so that one which is done within does not
# depend
# on the others; what is left at the end goes to those that were late. Time is what the work that was done
# is rated at, and no less than what the clock says where seconds were asked for.

ROW_SHARE_MIN = 0.25  # of an equal share, where rows before it took longer than they should


class Timed(Protocol):
    """A row that knows whether more time may help it, and how wide it is."""

    @property
    def late(self) -> bool: ...
    @property
    def width(self) -> float: ...


Kind = TypeVar("Kind", bound=Timed)


def in_turn(
    count: int, seconds: float, ask: Callable[[int, float], Kind], order: Sequence[int] | None = None
) -> tuple[Kind, ...]:
    """ask(index, seconds) for each index, in this order; once more for late rows, where there is more time than before.

    The narrower answer stays.
    """
    rated = isinstance(seconds, compute_budget.Rating)
    began, rows, had = compute_budget.monotonic(), dict[int, Kind](), dict[int, float]()

    def left(rows_left: int) -> float:
        gone = spent.seconds if rated else max(compute_budget.monotonic() - began, spent.seconds)
        return compute_budget.share_of(seconds, (seconds - gone) / rows_left)

    with compute_budget.tally() as spent:
        for place, index in enumerate(order or range(count)):
            had[index] = compute_budget.share_of(seconds, max(left(count - place), ROW_SHARE_MIN * seconds / count))
            rows[index] = ask(index, had[index])
        waiting = [index for index in rows if rows[index].late]
        for place, index in enumerate(waiting):
            share = left(len(waiting) - place)
            if share > had[index]:
                again = ask(index, share)
                rows[index] = again if again.width <= rows[index].width else rows[index]
    return tuple(rows[index] for index in range(count))


# The largest batch that meets a target over a number of epochs.
#
# steps = ceil(epochs records/batch) falls by whole numbers, so that epsilon is no monotone function of the batch: where
# steps are fewer than the batch has records, it rises while they stay, and falls where there is one less. It is
# monotone
# in the steps, each with the least batch that has so few, and in the batch while the steps stay.
# So small batches are searched as they are, large ones by their steps first, and then among those with these steps.
# Guarantee: the batch meets the target, the next one is shown to miss it. That no batch with fewer steps meets it rests
# on what `calibrate` rests on: where a value that was tried contradicts it, nothing is returned.

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
