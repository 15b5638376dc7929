"""Whether a job fits: the one comparison that all promises rest on, without any database.

Every `all` axis of every budget on the way must hold the charge within its total; of the `any` axes of each budget, one
that was never exceeded must hold it within its total. An `any` axis that the charge takes beyond its ceiling dies.
Proof: docs/proofs/ledger.md, Theorem D, Menu, Renewal, Parallel blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
    for each in paths:
        for charged in each.charged:
            sums = found.setdefault(charged.id, {})
            for name, units in prices[each.charged[0].id].items():
                before = sums.get(name, 0)
                sums[name] = None if units is None or before is None else before + units
    return found


def fit(paths: Sequence[Path], axes: Mapping[str, Sequence[Counter]], costs: Costs) -> Fit:
    """Whether this charge fits all budgets that it meets, all or none."""
    charges: list[tuple[str, str, int]] = []
    kills: set[Place] = set()
    for name, cost in costs.items():
        for each in axes[name]:
            units = cost.get(each.name, 0)
            if each.dead:
                continue
            if each.need == "all":
                if units is None or each.used + units > each.total:
                    return Fit((), (), _short(each, units))
                charges.append((name, each.name, units))
            elif units is None or each.used + units > each.ceiling:
                kills.add((name, each.name))
            else:
                charges.append((name, each.name, units))
    kills |= beyond(paths, kills)
    charged = {(name, axis): units for name, axis, units in charges if (name, axis) not in kills}
    for name in {each.id for way in paths for each in (*way.charged, *way.beyond)}:
        if not left(axes[name], charged, kills):
            return Fit((), (), _none_left(name, axes[name], costs.get(name, {})))
    return Fit(tuple((*place, units) for place, units in charged.items()), tuple(sorted(kills)))


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
    choices = [each for each in axes if each.need == "any"]
    return not choices or any(
        not each.dead
        and (each.budget, each.name) not in ended
        and each.used + charged.get((each.budget, each.name), 0) <= each.total
        for each in choices
    )


def more(way: Path, axes: Mapping[str, Sequence[Counter]], cost: Mapping[str, int | None]) -> int | None:
    """How many charges like this still fit, one after the other; None where there is no end."""
    counts = [_more_of_one(axes[each.id], cost) for each in way.charged]
    lasting = {each.name: _times(each, cost.get(each.name, 0), each.ceiling) for each in axes[way.top.id]}
    for above in way.beyond:  # an order that dies below dies here: one that has room must last
        choices = [each for each in axes[above.id] if each.need == "any"]
        alive = [lasting[each.name] for each in choices if not each.dead and each.used <= each.total]
        if choices and None not in alive:
            counts.append(max((each for each in alive if each is not None), default=0))
    bounded = [each for each in counts if each is not None]
    return min(bounded) if bounded else None


def _more_of_one(axes: Sequence[Counter], cost: Mapping[str, int | None]) -> int | None:
    every = [_times(each, cost.get(each.name, 0), each.total) for each in axes if each.need == "all"]
    some = [_times(each, cost.get(each.name, 0), each.total) for each in axes if each.need == "any" and not each.dead]
    if any(each.need == "any" for each in axes):
        every.append(None if None in some else max((each for each in some if each is not None), default=0))
    bounded = [each for each in every if each is not None]
    return min(bounded) if bounded else None


def _times(each: Counter, units: int | None, most: int) -> int | None:
    if units is None or each.used > most:
        return 0
    return None if units == 0 else (most - each.used) // units


def _short(each: Counter, units: int | None) -> str:
    needed = "no finite amount" if units is None else amount(units, each.unit, up=True)
    return (
        f"the budget {each.budget!r} has {amount(each.total - each.used, each.unit, up=False)} of {each.name} left, "
        f"and this needs {needed}"
    )


def _none_left(name: str, axes: Sequence[Counter], cost: Mapping[str, int | None]) -> str:
    best = [each for each in axes if each.need == "any" and not each.dead and cost.get(each.name, 0) is not None]
    if not best:
        return f"no order of the budget {name!r} that is left has a finite cost for this"
    roomy = max(best, key=lambda each: (each.total - each.used - (cost.get(each.name) or 0)) / each.unit)
    return (
        f"no order of the budget {name!r} has room: {roomy.name} has "
        f"{amount(max(roomy.total - roomy.used, 0), roomy.unit, up=False)} left, and this needs "
        f"{amount(cost.get(roomy.name) or 0, roomy.unit, up=True)}"
    )
