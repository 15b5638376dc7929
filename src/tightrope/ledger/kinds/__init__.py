"""Kinds of budgets, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ... import InvalidParameter
from .base import BudgetKind
from .basic import BasicKind
from .gdp import GaussianKind
from .jobs import check_relation as check_relation
from .odometer import OdometerKind
from .plan import PlanKind
from .rdp import RenyiKind
from .zcdp import ConcentratedKind

KINDS: Mapping[str, BudgetKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (RenyiKind(), PlanKind(), GaussianKind(), ConcentratedKind(), BasicKind(), OdometerKind())
    }
)


def kind_of(name: str) -> BudgetKind:
    """The kind by this name."""
    if not isinstance(name, str) or name not in KINDS:
        raise InvalidParameter(f"kind must be one of {', '.join(KINDS)}, not {name!r:.40}")
    return KINDS[name]
