"""Whether a job fits: the one comparison that all promises rest on, without any database.

Every `all` axis of every budget on the way must hold the charge within its total; of the `any` axes of each budget, one
that was never exceeded must hold it within its total. An `any` axis that the charge takes beyond its ceiling dies.
Proof: docs/proofs/ledger.md, Theorem D, Menu, Renewal, Parallel blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..filters.base import Price
from ..units import amount
from .tree import Counter, Path

Costs = Mapping[str, Mapping[str, int | None]]  # by budget and axis; None: no finite cost
Place = tuple[str, str]  # budget and axis


@dataclass(frozen=True, slots=True)
class Fit:
    """What a charge would do: units on living axes, and axes that it ends; why is empty where it fits."""

    charges: tuple[tuple[str, str, int], ...]
    kills: tuple[Place, ...]
    why: str = ""


def spread(paths: Iterable[Path], prices: Mapping[str, Mapping[str, int | None]]) -> dict[str, dict[str, int | None]]:
    """What each budget is charged, where the budgets of several jobs may stand above one another."""
    found: dict[str, dict[str, int | None]] = {}
    for path in paths:
        for charged in path.charged:
            sums = found.setdefault(charged.id, {})
            for name, units in prices[path.charged[0].id].items():
                before = sums.get(name, 0)
                sums[name] = None if units is None or before is None else before + units
    return found


def fit(paths: Sequence[Path], axes: Mapping[str, Sequence[Counter]], costs: Costs) -> Fit:
    """Whether this charge fits all budgets that it meets, all or none."""
    charges: list[tuple[str, str, int]] = []
    kills: set[Place] = set()
    for name, cost in costs.items():
        for counter in axes[name]:
            units = cost.get(counter.name, 0)
            if counter.dead:
                continue
            if counter.need == "all":
                if units is None or counter.used + units > counter.total:
                    return Fit((), (), _short(counter, units))
                charges.append((name, counter.name, units))
            elif units is None or counter.used + units > counter.ceiling:
                kills.add((name, counter.name))
            else:
                charges.append((name, counter.name, units))
    kills |= beyond(paths, kills)
    charged = {(name, axis): units for name, axis, units in charges if (name, axis) not in kills}
    for name in {node.id for way in paths for node in (*way.charged, *way.beyond)}:
        if not left(axes[name], charged, kills):
            return Fit((), (), _none_left(name, axes[name], costs.get(name, {})))
    return Fit(tuple((*place, units) for place, units in charged.items()), tuple(sorted(kills)))


def unsettled(paths: Sequence[Path], axes: Mapping[str, Sequence[Counter]], prices: Mapping[str, Price]) -> str:
    """What more work on the price might spare the budgets, where work ended it; empty where that is nothing.

    An axis that even the lower end would exceed loses nothing by the upper end.
    """
    costs = spread(paths, {name: price.units for name, price in prices.items()})
    least = spread(paths, {name: {**price.units, **price.unfinished} for name, price in prices.items()})
    for name, cost in costs.items():
        for counter in axes[name]:
            units, low = cost.get(counter.name, 0), least[name].get(counter.name, 0)
            if counter.dead or units == low or low is None or counter.used + low > counter.ceiling:
                continue
            above = "infinity" if units is None else amount(units, counter.unit, up=True)
            return f"{counter.name} of {name!r} between {amount(low, counter.unit, up=False)} and {above}"
    return ""


def beyond(paths: Iterable[Path], kills: Iterable[Place]) -> set[Place]:
    """An order that dies in a partition dies in the block and in all that stands above."""
    ended = set(kills)
    return {
        (above.id, axis)
        for way in paths
        if way.beyond
        for name, axis in ended
        if name == way.top.id
        for above in way.beyond
    }


def left(axes: Sequence[Counter], charged: Mapping[Place, int], kills: Iterable[Place]) -> bool:
    """Whether an `any` axis lives and holds what it is charged; True where there are none."""
    ended = set(kills)
    choices = [axis for axis in axes if axis.need == "any"]
    return not choices or any(
        not choice.dead
        and (choice.budget, choice.name) not in ended
        and choice.used + charged.get((choice.budget, choice.name), 0) <= choice.total
        for choice in choices
    )


def more(way: Path, axes: Mapping[str, Sequence[Counter]], cost: Mapping[str, int | None]) -> int | None:
    """How many charges like this still fit, one after the other; None where there is no end."""
    counts = [_more_of_one(axes[node.id], cost) for node in way.charged]
    lasting = {
        counter.name: _times(counter, cost.get(counter.name, 0), counter.ceiling) for counter in axes[way.top.id]
    }
    for above in way.beyond:  # an order that dies below dies here: one that has room must last
        choices = [counter for counter in axes[above.id] if counter.need == "any"]
        alive = [lasting[choice.name] for choice in choices if not choice.dead and choice.used <= choice.total]
        if choices and None not in alive:
            counts.append(max((value for value in alive if value is not None), default=0))
    bounded = [count for count in counts if count is not None]
    return min(bounded) if bounded else None


def _more_of_one(axes: Sequence[Counter], cost: Mapping[str, int | None]) -> int | None:
    every = [_times(axis, cost.get(axis.name, 0), axis.total) for axis in axes if axis.need == "all"]
    some = [_times(axis, cost.get(axis.name, 0), axis.total) for axis in axes if axis.need == "any" and not axis.dead]
    if any(axis.need == "any" for axis in axes):
        every.append(None if None in some else max((value for value in some if value is not None), default=0))
    bounded = [value for value in every if value is not None]
    return min(bounded) if bounded else None


def _times(counter: Counter, units: int | None, most: int) -> int | None:
    if units is None or counter.used > most:
        return 0
    return None if units == 0 else (most - counter.used) // units


def _short(counter: Counter, units: int | None) -> str:
    needed = "no finite amount" if units is None else amount(units, counter.unit, up=True)
    return (
        f"the budget {counter.budget!r} has "
        f"{amount(counter.total - counter.used, counter.unit, up=False)} of {counter.name} left, "
        f"and this needs {needed}"
    )


def _none_left(name: str, axes: Sequence[Counter], cost: Mapping[str, int | None]) -> str:
    best = [axis for axis in axes if axis.need == "any" and not axis.dead and cost.get(axis.name, 0) is not None]
    if not best:
        return f"no order of the budget {name!r} that is left has a finite cost for this"
    roomy = max(best, key=lambda counter: (counter.total - counter.used - (cost.get(counter.name) or 0)) / counter.unit)
    return (
        f"no order of the budget {name!r} has room: {roomy.name} has "
        f"{amount(max(roomy.total - roomy.used, 0), roomy.unit, up=False)} left, and this needs "
        f"{amount(cost.get(roomy.name) or 0, roomy.unit, up=True)}"
    )
