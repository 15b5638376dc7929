"""The question of a sweep, as a text: epsilon(delta=1e-6), tpr(fpr={fpr}), calibrate(epsilon=3, delta=1/{records}).

It is the call of a method of a mechanism, or of calibrate, whose arguments are numbers, words and arithmetic as in
expressions. Its `seconds` are those of the sweep.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import tightrope as tr

from .. import ExpressionError, InvalidParameter, Mechanism
from ..extend.expressions import Reader, scan, tree_of
from ..extend.questions import ARGUMENTS, Limits
from ..extend.wording import nearest, quoted
from .recipe import Pattern
from .values import Value

CALIBRATE, RISK = "calibrate", "risk"
QUANTITIES = (*ARGUMENTS, CALIBRATE, RISK)
OF_THE_SWEEP = ("self", "make", "target", "parameter", "seconds")


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and the keywords it is asked with."""

    quantity: str
    arguments: Mapping[str, Any]


def query_of(ask: Pattern, configuration: Mapping[str, Value]) -> Query:
    """The question for one configuration."""
    text = ask.filled(configuration)
    scan(text, unknown=False)
    call = tree_of(text)
    reader = Reader(text, None)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ExpressionError("a question is written as epsilon(delta=1e-6) or advantage()", text, 1)
    quantity = call.func.id
    if quantity not in QUANTITIES:
        known = f"; known: {', '.join(QUANTITIES)}"
        raise ExpressionError(
            f"there is no question {quoted(quantity)}{nearest(quantity, QUANTITIES) or known}", text, 1
        )
    if call.args:
        example = ", ".join(f"{name}=..." for name in taken(quantity)[:2])
        raise reader.error(f"{quantity} takes keywords here: {quantity}({example})", call.args[0])
    arguments: dict[str, Any] = {}
    for item in call.keywords:
        if item.arg is None or item.arg in arguments:
            raise reader.error("each keyword is written once, as keyword=value", item)
        if item.arg == "seconds":
            raise reader.error("seconds are those of the sweep: say them there", item)
        if item.arg not in taken(quantity):
            hint = nearest(item.arg, taken(quantity))
            raise reader.error(
                f"{quantity} takes no {quoted(item.arg)}; it takes {', '.join(taken(quantity))}{hint}", item
            )
        arguments[item.arg] = reader.argument(item.arg, item.value)
    for name in ARGUMENTS.get(quantity, ()):
        if name not in arguments and _needed(quantity, name):
            raise ExpressionError(f"{quantity} needs {name}: {quantity}({name}=...)", text, 1)
        if isinstance(arguments.get(name), tuple):
            raise InvalidParameter(f"{name} takes one number in each configuration; put a list of them into the grid")
    return Query(quantity, arguments)


def taken(quantity: str) -> tuple[str, ...]:
    """The keywords of a question."""
    if quantity == CALIBRATE:
        known = (*Limits.__annotations__, *signature(tr.calibrate).parameters)
        return tuple(dict.fromkeys(name for name in known if name not in OF_THE_SWEEP))
    return tuple(name for name in signature(getattr(Mechanism, quantity)).parameters if name not in OF_THE_SWEEP)


def _needed(quantity: str, name: str) -> bool:
    parameter = signature(getattr(Mechanism, quantity)).parameters[name]
    return parameter.default is parameter.empty
