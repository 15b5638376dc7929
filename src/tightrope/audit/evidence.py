"""Tests that were fixed before the data, what each saw, and what follows of them together.

Within a group p = min_j p_j/w_j with weights of sum 1 (union bound); of independent groups, such as several runs,
p = w sum_{j<n} (-log w)^j/j!, w the product of their n p-values (Fisher).
The largest epsilon that is refuted is any at which a certified p is at most alpha: a stronger claim implies it.
Guarantee: upper for p, lower for what is refuted.
Reference: docs/proofs/audit.md, sections 5, 9, 11 and 12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from flint import arb

from ..core.numerics.balls import BITS_START, upper_float, working_precision
from ..core.numerics.rounding import FEW, next_down, next_up, round_down
from ..core.values import compute_budget
from ..core.values.errors import WorkExhausted
from .claims import EPSILON_AUDITED_MAX, SlopeClaim
from .events import AuditEvent

SEARCH_MAX = 80  # values that a search asks for
SEARCH_NARROW = 1e-13  # relative: so close a search comes
COARSELY = 1e-3
NEAR_BEST = 1.25  # what is rough is closer than that, so that a test beyond it is not the best


@dataclass(frozen=True)
class WeightedEvent:
    """An event, and the share of the error probability that was set aside for it."""

    event: AuditEvent
    weight: float

    def limit(self, alpha: Fraction) -> float:
        """A double below alpha w, so far that p/w is at most alpha after it was rounded up."""
        return round_down(at_most(alpha * Fraction(self.weight)), FEW)


@dataclass(frozen=True)
class Verdict:
    """p, and that of each test in its order."""

    p: float
    each: tuple[float, ...]


@dataclass(frozen=True)
class Evidence:
    """Groups of tests; those of one group share the error probability, groups are independent."""

    groups: tuple[tuple[WeightedEvent, ...], ...]

    @property
    def tests(self) -> tuple[WeightedEvent, ...]:
        """Those of all groups in their order."""
        return tuple(test for group in self.groups for test in group)

    def joined(self, values: Sequence[float]) -> Verdict:
        """The p-value of all tests together, from that of each."""
        tests = self.tests
        least = [min(weighted(values[index], tests[index].weight) for index in row) for row in self._places()]
        return Verdict(fisher(least), tuple(values))

    def p_upper(self, claim: SlopeClaim) -> Verdict:
        """Roughly for all, then as sharply as is known for those that may be the best of their group."""
        tests = self.tests
        values = [test.event.rough(claim) for test in tests]
        weighed = [value / test.weight for value, test in zip(values, tests, strict=True)]
        for best, group in zip(self.best(values), self._places(), strict=True):
            for index in group:
                if weighed[index] <= NEAR_BEST * weighed[best]:
                    values[index] = min(values[index], tests[index].event.p_upper(claim))
        return self.joined(values)

    def best(self, values: Sequence[float]) -> list[int]:
        """The test of each group that is nearest to a refutation, by its place among all tests."""
        tests = self.tests
        return [min(row, key=lambda index: values[index] / tests[index].weight) for row in self._places()]

    def _places(self) -> list[range]:
        """Of the tests of each group, among all tests."""
        ends = list(accumulate((len(group) for group in self.groups), initial=0))
        return [range(*each) for each in pairwise(ends)]

    def largest(self, family: Callable[[float], SlopeClaim], alpha: Fraction) -> float:
        """The largest epsilon whose claim is refuted at alpha; 0 where none is."""
        if len(self.groups) > 1:
            return largest(
                lambda value: self.p_upper(family(value)).p, at_most(alpha), narrow=self.tests[0].event.narrow
            )
        found, best = 0.0, None
        for test in self.tests:
            limit = test.limit(alpha)
            if test.event.rough(family(found)) <= limit:
                best = test
                found = largest(lambda value, e=test.event: e.rough(family(value)), limit, found, COARSELY)  # type: ignore[misc]
        if best is None:  # coarse bounds refute nothing; a sharp one may
            best = min(self.tests, key=lambda test: test.event.rough(family(0.0)) / test.weight)
        return largest(lambda value: best.event.p_upper(family(value)), best.limit(alpha), found, best.event.narrow)


def largest(p: Callable[[float], float], limit: float, start: float = 0.0, narrow: float = SEARCH_NARROW) -> float:
    """The largest value found with p at or below the limit, from start on; 0 where start has none."""
    try:
        low, at_low = start, p(start)
        if at_low > limit:
            return 0.0 if start == 0.0 else largest(p, limit, 0.0, narrow)
        step, high, at_high = max(start * 0.01, 0.125), math.inf, 1.0
        while high == math.inf:
            value = min(low + step, EPSILON_AUDITED_MAX)
            at = p(value)
            if at > limit:
                high, at_high = value, at
            elif value == EPSILON_AUDITED_MAX:
                return value
            else:
                low, at_low, step = value, at, 2.0 * step
    except WorkExhausted:
        if start == 0.0:
            raise
        return start
    return narrowed(p, limit, (low, at_low), (high, at_high), narrow)


def narrowed(
    p: Callable[[float], float], limit: float, low: tuple[float, float], high: tuple[float, float], narrow: float
) -> float:
    """Regula falsi in log p (Illinois), every third step a bisection; ends at the lower value, which was certified."""
    goal, side = math.log(max(limit, 1e-300)), 0
    lifted = [math.log(max(low[1], 1e-300)) - goal, math.log(max(high[1], 1e-300)) - goal]
    a, b = low[0], high[0]
    for step in range(SEARCH_MAX):
        if b - a <= narrow * max(abs(b), 1e-3):
            break
        share = lifted[0] / (lifted[0] - lifted[1]) if lifted[0] < lifted[1] else 0.5
        value = a + (b - a) * (0.5 if step % 3 == 2 else min(max(share, 1e-6), 1.0 - 1e-6))
        if not a < value < b:
            break
        try:
            at = p(value)
        except WorkExhausted:
            break
        height = math.log(max(at, 1e-300)) - goal
        if at <= limit:
            a, lifted[0] = value, height
            lifted[1] *= 0.5 if side == 1 else 1.0
            side = 1
        else:
            b, lifted[1] = value, height
            lifted[0] *= 0.5 if side == -1 else 1.0
            side = -1
    return a


def fisher(values: Sequence[float]) -> float:
    """w sum_{j<n} (-log w)^j/j!, the chance that a product of n independent p-values is at most w."""
    if len(values) == 1 or min(values) <= 0.0:
        return values[0] if len(values) == 1 else 0.0
    with compute_budget.uncounted(), working_precision(BITS_START):
        logs = -sum((arb(min(value, 1.0)).log() for value in values), arb(0))
        term, total = arb(1), arb(0)
        for index in range(len(values)):
            total += term
            term = term * logs / (index + 1)
        return min(upper_float((-logs).exp() * total), 1.0)


def weighted(p: float, weight: float) -> float:
    """p/w, rounded up."""
    return min(at_least(Fraction(p) / Fraction(weight)), 1.0)


def equal_weight(count: int) -> float:
    """1/count, rounded down, so that so many of them are at most 1."""
    return at_most(Fraction(1, count))


def at_most(value: Fraction) -> float:
    """The largest double that is not above."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else next_down(nearest)


def at_least(value: Fraction) -> float:
    """The smallest double that is not below."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else next_up(nearest)
