"""Budgets of a tree, and which of them a charge meets.

A charge meets the budget that it is for and all that stand above it. A parallel block was charged to what stands above
when it was made, so a charge in one of its partitions ends below it; what dies in a partition dies above the block too,
since the block's charge promised for every order (docs/proofs/ledger.md, Parallel blocks).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select

from .. import tables
from ..errors import Frozen, NotFound
from .entry import NAME

# Questions of every transaction, made once: to make one takes longer than to ask it.
_NODE = select(tables.budget).where(tables.budget.c.id == bindparam("name"))
_STATE = select(tables.budget.c.state).where(tables.budget.c.id == bindparam("name"))
_AXES = (
    select(tables.axis)
    .where(tables.axis.c.budget.in_(bindparam("names", expanding=True)))
    .order_by(tables.axis.c.position)
)


@dataclass(frozen=True, slots=True)
class BudgetNode:
    """A budget as its row says."""

    id: str
    root: str
    parent: str | None
    kind: str
    relation: str
    privacy_unit: str
    shared: Mapping[str, Any]
    promise: Mapping[str, Any]
    state: str
    parallel: bool
    made: int


@dataclass(frozen=True, slots=True)
class Counter:
    """An axis as its row says."""

    budget: str
    name: str
    need: str
    unit: int
    total: int
    ceiling: int
    held: int
    spent: int
    dead: bool

    @property
    def used(self) -> int:
        """What counts as gone: what is held may have been read already."""
        return self.held + self.spent


@dataclass(frozen=True, slots=True)
class Path:
    """What a charge meets, from the budget up; beyond is what stands behind a parallel edge, block included."""

    charged: tuple[BudgetNode, ...]
    beyond: tuple[BudgetNode, ...]

    @property
    def top(self) -> BudgetNode:
        """The last that is charged: a root, or a partition of a block."""
        return self.charged[-1]


def node(connection: Connection, name: str) -> BudgetNode:
    """The budget of this name; NotFound."""
    row = None
    if NAME.fullmatch(name):  # letters that no name has are not for a database either
        row = connection.execute(_NODE, {"name": name}).one_or_none()
    if row is None:
        raise NotFound(f"there is no budget {name!r:.120}")
    return BudgetNode(
        row.id,
        row.root,
        row.parent,
        row.kind,
        row.relation,
        row.privacy_unit,
        json.loads(row.shared),
        json.loads(row.promise),
        row.state,
        row.compose == "parallel",
        row.made,
    )


def path(connection: Connection, name: str) -> Path:
    """From the budget up to its root."""
    charged = [node(connection, name)]
    beyond: list[BudgetNode] = []
    while (above := (beyond or charged)[-1].parent) is not None:
        budget_node = node(connection, above)
        (beyond if beyond or budget_node.parallel else charged).append(budget_node)
    return Path(tuple(charged), tuple(beyond))


def counters(connection: Connection, names: Iterable[str]) -> dict[str, list[Counter]]:
    """The axes of these budgets, by budget, in their order."""
    wanted = sorted(set(names))
    found: dict[str, list[Counter]] = {name: [] for name in wanted}
    for row in connection.execute(_AXES, {"names": wanted}):
        found[row.budget].append(
            Counter(
                row.budget, row.name, row.need, row.unit, row.total, row.ceiling, row.held, row.spent, bool(row.dead)
            )
        )
    return found


def moving(connection: Connection, roots: Iterable[str]) -> None:
    """Frozen, unless all these roots may be written to."""
    for name in roots:
        state = connection.execute(_STATE, {"name": name}).scalar()
        if state not in (None, "open"):
            how = "was exported and goes on elsewhere" if state == "exported" else "is frozen: it waits for recovery"
            raise Frozen(f"the budget {name!r:.120} {how}")
