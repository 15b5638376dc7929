"""The faults that are made: those of Cosmic Ray's operators that fit arithmetic, and two of our own on its base class.

Left out: bit operations in place of arithmetic (every float raises a TypeError), decorators (caches), exceptions,
and names of variables. Added: a word for the other side in place of the right one, and a slack that is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import parso
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.operators.provider import OperatorProvider

ARITHMETIC = (("Add", "Sub"), ("Sub", "Add"), ("Mul", "Div"), ("Div", "Mul"), ("Pow", "Mul"))
COMPARISONS = (
    *(("Lt", "LtE"), ("LtE", "Lt"), ("Gt", "GtE"), ("GtE", "Gt")),
    *(("Lt", "Gt"), ("Gt", "Lt"), ("Eq", "NotEq"), ("NotEq", "Eq")),
)
OTHERS = (
    *("ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not", "AddNot"),
    *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "NumberReplacer", "ZeroIterationForLoop"),
)
SIDES = (
    *(("lower", "upper"), ("min", "max"), ("minimum", "maximum"), ("floor", "ceil"), ("above", "below")),
    *(("next_up", "next_down"), ("round_up", "round_down"), ("at_or_above", "at_or_below")),
    *(("ADD", "REMOVE"), ("least", "most"), ("log_lower", "log_upper"), ("lowest", "highest")),
)
OTHER_SIDE = {one: other for pair in SIDES for one, other in (pair, pair[::-1])}
SLACKS = ("round_up", "round_down", "next_up", "next_down")
NAMED_BY = ("param", "funcdef", "classdef", "import_from", "import_name", "import_as_name", "annassign", "global_stmt")


class SwapSides(Operator):  # type: ignore[misc]
    """min for max, lower for upper: the other side of the truth."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        if node.type == "name" and node.value in OTHER_SIDE and node.parent.type not in NAMED_BY:
            named = node.parent.type == "argument" and node.parent.children[0] is node
            if not named and (node.parent.type != "import_as_names"):
                yield (node.start_pos, node.end_pos)

    def mutate(self, node: Any, index: int) -> Any:
        node.value = OTHER_SIDE[node.value]
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("x = max(a, b)", "x = min(a, b)"),)


class DropSlack(Operator):  # type: ignore[misc]
    """round_up(value, units) as value: what the roundings cost is forgotten."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        if node.type in ("power", "atom_expr") and node.children[0].type == "name":
            called = len(node.children) == 2 and node.children[1].children[0].get_code().strip() == "("
            if called and node.children[0].value in SLACKS:
                yield (node.start_pos, node.end_pos)

    def mutate(self, node: Any, index: int) -> Any:
        given = node.children[1].children[1]
        first = given.children[0] if given.type == "arglist" else given
        return parso.parse(f"{node.get_first_leaf().prefix}({first.get_code().strip()})")

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("x = round_up(a + b, FEW)", "x = (a + b)"),)


def operators() -> dict[str, type[Operator]]:
    """Every operator by its name."""
    known = OperatorProvider()
    names = [
        *(f"ReplaceBinaryOperator_{old}_{new}" for old, new in ARITHMETIC),
        *(f"ReplaceComparisonOperator_{old}_{new}" for old, new in COMPARISONS),
        *OTHERS,
    ]
    return {name: known[name] for name in names} | {"SwapSides": SwapSides, "DropSlack": DropSlack}
