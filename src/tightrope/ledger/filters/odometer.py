"""Budgets without a total: nothing is promised beforehand, and what was used is told at any time.

The axes and prices are those of rdp; axes end where an axis can hold no more, and where a job has no price there.
Guarantee: P(A and epsilon_used <= e) <= e^e Q(A) + delta for all events A, all e, at any stopping time, slack
included in delta. Proof: docs/proofs/ledger.md, Theorem Odometer.
Reference: Rogers, Roth, Ullman, Vadhan 2016 (odometers); Feldman, Zrnic 2021, Sec. 4; Whitehouse et al. 2023.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import units
from ..menu import axis_name, even_weights
from .base import BudgetAxis, Design, Wanted
from .rdp import RenyiFilter, chosen_weights, shared_menu
from .terms import SLACK_SHARE, check_inherited, checked_delta, checked_slack, refuse_others, slack_axis


class Odometer(RenyiFilter):
    """No total."""

    name = "odometer"

    def design(self, wanted: Wanted, inherited: Mapping[str, Any] | None) -> Design:
        refuse_others(self.name, wanted, ("delta", "slack", "orders"))
        check_inherited(wanted, inherited)
        delta = checked_delta(wanted.delta)
        slack = checked_slack(wanted.slack, delta, SLACK_SHARE)
        weights = chosen_weights(wanted, inherited) or even_weights()
        most, unit = units.UNITS_MAX, units.LOSS_UNIT
        axes = [BudgetAxis(axis_name(order), "any", most, most, unit) for order in weights]
        return Design(
            self.name, shared_menu(wanted, weights), {"delta": delta, "slack": slack}, (*axes, slack_axis(slack))
        )
