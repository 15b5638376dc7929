"""One question, asked of every method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..bound import Bound
from ..calls import checked
from ..errors import InvalidParameter, UnsupportedMechanism
from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import nonnegative, probability, whole
from ..transforms.composition import repeat

if TYPE_CHECKING:
    from .methods import Kind, Method


@dataclass(frozen=True, slots=True)
class Row:
    """A method's answer; inf for epsilon and 1 for delta mean that it has nothing to say."""

    method: str
    value: float
    kind: Kind
    distance: str
    why: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The certified interval, and what the others say."""

    expression: str
    quantity: str
    given: float
    truth: Bound
    rows: tuple[Row, ...]
    title: str = ""  # the expression as people read it: files by their names


@checked
def compare(run: Mechanism, delta: float | None = None, epsilon: float | None = None) -> Comparison:
    """Every method at one delta or at one epsilon."""
    if (delta is None) == (epsilon is None):
        raise InvalidParameter("compare needs either delta or epsilon")
    if delta is not None:
        quantity, given = "epsilon", probability("delta", delta)
        truth = run.epsilon(given)
    else:
        quantity, given = "delta", nonnegative("epsilon", epsilon if epsilon is not None else math.nan)
        truth = run.delta(given)
    from .methods import METHODS  # late: the classic bounds bring the engines along

    rows = tuple(_row(method, run, quantity, given, truth) for method in METHODS)
    return Comparison(repr(run), quantity, given, truth, rows, str(run))


def growth(
    run: Mechanism, counts: Sequence[int], delta: float | None = None, epsilon: float | None = None
) -> tuple[Comparison, ...]:
    """The comparison for run * count, for each of the counts."""
    times = [whole("count", count, least=1) for count in counts]
    if not times or sorted(set(times)) != times:
        raise InvalidParameter(f"the counts must rise, not {', '.join(map(str, counts)) or 'be none'}")
    return tuple(compare(repeat(run, count), delta, epsilon) for count in times)


def _row(method: Method, run: Mechanism, quantity: str, given: float, truth: Bound) -> Row:
    try:
        value = (method.epsilon if quantity == "epsilon" else method.delta)(run, given)
    except UnsupportedMechanism:
        value = math.inf if quantity == "epsilon" else 1.0
    return Row(method.name, value, method.kind, distance(value, truth, quantity), method.why)


def distance(value: float, truth: Bound, quantity: str) -> str:
    """How far a value is from the certified interval, in words."""
    if value == math.inf or (quantity == "delta" and value >= 1.0 > truth.upper):
        return "says nothing" if truth.upper < math.inf else "exact"
    if value < truth.lower:
        return f"too low by {_share(truth.lower - value, truth.lower)}"
    if value <= truth.upper or truth.upper == math.inf:
        return "exact"
    if truth.upper <= 0.0:
        return f"{value:.3g} above 0"
    ratio = value / truth.upper
    if ratio >= 100.0:
        return f"{ratio:,.0f} times" if ratio < 1e6 else f"{ratio:.1e} times"
    return f"{ratio:.3g} times" if ratio >= 2.0 else f"{_share(value - truth.upper, truth.upper)} above"


def _share(gap: float, whole_value: float) -> str:
    return f"{100.0 * gap / whole_value:.2g} %"
