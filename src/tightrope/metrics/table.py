"""One row per reading: the function that answers it, and what its arguments may be.

Its name is that of the method of a mechanism, and of the quantity in JSON; question.ARGUMENTS names its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from ..bound import Bound
from ..convert.divergence import checked_order
from ..mechanisms.parameters import probability
from .attacks import bayes_accuracy, distance
from .divergences import mean_loss, renyi
from .gdp import gdp
from .tradeoff import above_zero, posterior, reconstruction, tpr, tradeoff
from .zcdp import checked_order_most, zcdp

Check = Callable[[Any], float]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """answer takes the law, and its arguments by their names; a check refuses what an argument cannot be."""

    answer: Callable[..., Bound]
    checks: Mapping[str, Check] = field(default_factory=dict)

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, float]:
        """The arguments as doubles."""
        return {name: check(arguments[name]) for name, check in self.checks.items()}


READINGS: Mapping[str, MetricRow] = MappingProxyType(
    {
        "renyi": MetricRow(renyi, {"order": checked_order}),
        "mean_loss": MetricRow(mean_loss),
        "zcdp": MetricRow(zcdp, {"order_most": checked_order_most}),
        "advantage": MetricRow(distance),
        "total_variation": MetricRow(distance),
        "bayes_accuracy": MetricRow(bayes_accuracy, {"prior": partial(probability, "prior")}),
        "gdp": MetricRow(gdp, {"delta_least": partial(probability, "delta_least")}),
        "tradeoff": MetricRow(tradeoff, {"fpr": partial(probability, "fpr")}),
        "tpr": MetricRow(tpr, {"fpr": partial(probability, "fpr")}),
        "posterior": MetricRow(posterior, {"prior": partial(probability, "prior"), "fpr": above_zero}),
        "reconstruction": MetricRow(reconstruction, {"baseline": partial(probability, "baseline")}),
    }
)
