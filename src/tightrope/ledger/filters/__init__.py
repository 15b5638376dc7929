"""Kinds of budgets, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ... import InvalidParameter
from .base import PrivacyFilter
from .basic import BasicFilter
from .gdp import GdpFilter
from .jobs import check_relation as check_relation
from .odometer import Odometer
from .plan import PlanFilter
from .rdp import RenyiFilter
from .zcdp import ConcentratedFilter

KINDS: Mapping[str, PrivacyFilter] = MappingProxyType(
    {
        kind.name: kind
        for kind in (RenyiFilter(), PlanFilter(), GdpFilter(), ConcentratedFilter(), BasicFilter(), Odometer())
    }
)


def kind_of(name: str) -> PrivacyFilter:
    """The kind by this name."""
    if not isinstance(name, str) or name not in KINDS:
        raise InvalidParameter(f"kind must be one of {', '.join(KINDS)}, not {name!r:.40}")
    return KINDS[name]
