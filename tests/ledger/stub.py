"""Budgets of a few units and jobs of given prices: no mathematics, so that a limit is met exactly and soon."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tightrope.ledger.filters.base import BudgetAxis, Design, Price, Wanted
from tightrope.ledger.pricing import Pricer

# What one step of job i costs on the axes of a kind, in their order; None: no finite amount.
STEPS: Mapping[str, tuple[tuple[int | None, ...], ...]] = {
    "basic": ((1, 0), (2, 1), (5, 0), (0, 1), (9, 3), (1, 1), (20, 0), (None, 0)),
    "zcdp": ((1, 0), (3, 0), (0, 1), (7, 1), (2, 2), (13, 0), (1, None), (4, 0)),
    "rdp": (
        (1, 2, 4, 0),
        (4, 2, 1, 0),
        (0, 0, 0, 1),
        (None, 3, 3, 0),
        (3, None, None, 1),
        (0, 5, 9, 0),
        (12, 0, 0, 0),
        (2, 2, 2, 2),
    ),
}
AXES = {"basic": ("epsilon", "delta"), "zcdp": ("rho", "slack"), "rdp": ("order 2", "order 4", "order 8", "slack")}
ADDITIVE = {"basic": False, "zcdp": True, "rdp": True}
LAST = {"basic": 6, "zcdp": 4, "rdp": 5}  # units of the axis that no renewal raises
_JOB = re.compile(r"Gaussian\(sigma=(\d+)\.0\)(?: \* (\d+))?")


def totals(kind: str, epsilon: int) -> tuple[int, ...]:
    """What a budget of so much has on each axis; below 0 where it never allows anything."""
    if kind == "rdp":
        return epsilon - 6, epsilon, epsilon // 2 + 3, LAST[kind]
    return epsilon, LAST[kind]


def job(number: int, times: int) -> str:
    """The expression of a job with the price of that number."""
    return f"Gaussian(sigma={number + 1}.0) * {times}"


class Given(Pricer):
    """Reads the price off the expression, and what a budget has off its epsilon."""

    def _found(self, kind: str, shared: Mapping[str, Any], expression: str, slack: float | None) -> Price:
        matched = _JOB.fullmatch(expression)
        assert matched is not None, expression
        steps, times = STEPS[kind][int(matched[1]) - 1], int(matched[2] or 1)
        units = [None if each is None else each * times for each in steps]
        return Price(dict(zip(AXES[kind], units, strict=True)), ADDITIVE[kind])

    def design(self, kind: str, wanted: Wanted, inherited: Mapping[str, Any] | None) -> Design:
        assert wanted.epsilon is not None
        epsilon = int(wanted.epsilon)
        most = epsilon if wanted.ceiling is None else int(wanted.ceiling)
        axes = tuple(
            BudgetAxis(
                name, "any" if name.startswith("order") else "all", max(now, 0), max(ceiling, 0), 1, dead=ceiling < 0
            )
            for name, now, ceiling in zip(AXES[kind], totals(kind, epsilon), totals(kind, most), strict=True)
        )
        return Design(kind, {"relation": wanted.relation.value, "kind": kind}, {"epsilon": epsilon}, axes)
