"""riskcal: trade-off curves of dp-accounting's distributions."""

from __future__ import annotations

from typing import Any

from ..case import Case
from .answer import Answer, asks, steps_of


def covered(case: Case) -> None:
    """DP-SGD."""
    asks(case, "epsilon", "advantage", "tpr")
    steps_of(case, "gaussian")


def by_curves(case: Case) -> Answer:
    """Its accountant for DP-SGD."""
    from riskcal.accountants import CTDAccountant

    accountant: Any = CTDAccountant()
    # What as many calls of step() leave behind.
    accountant.history = [(step["sigma"], step.get("rate", 1.0), step["count"]) for step in case.steps]
    if case.question == "advantage":
        return Answer(upper=float(accountant.get_advantage()))
    if case.question == "tpr":
        return Answer(upper=1.0 - float(accountant.get_beta(alpha=case.alpha)))
    return Answer(upper=float(accountant.get_epsilon(delta=case.delta)))
