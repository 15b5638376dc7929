"""The reference values of transformations: contained, as each is placed in the interval that answers the question.

inside: the truth, or a bound that the package attains, lies between both ends. upper: the value is what the upper end
bounds. floor: real neighbours show so much, and the lower end says so. above: a weaker bound, above the upper end.
A row with a share is asked in full searches only.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tightrope as tr
from tests.search import FULL

VALUES = json.loads((Path(__file__).parents[1] / "reference" / "transforms.json").read_text("utf-8"))["values"]
DECIMAL = Fraction(1, 10**14)  # the parameters are decimals there and doubles here
NARROW = Fraction(1, 10**5)  # between an end and the value that it bounds


def name(row: dict[str, Any]) -> str:
    return f"{row['expression']} {row['question']} {row.get('direction', '')} at {row['given']}, {row['value'][:8]}"


@cache
def answer(expression: str, question: str, given: str, direction: str | None, accuracy: float | None) -> tr.Bound:
    return getattr(tr.parse(expression), question)(float(given), direction=direction, accuracy=accuracy)


def widened(row: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """By 1e-14 of the value; half a unit of the last digit of one that is rounded to a few."""
    exact, digits = Fraction(row["value"]), len(row["value"].partition(".")[2])
    reach = Fraction(1, 2 * 10**digits) if row.get("rounded") else exact * DECIMAL
    return exact - reach, exact + reach


@pytest.mark.parametrize("row", [row for row in VALUES if FULL or "share" not in row], ids=name)
def test_values_are_where_they_belong(row: dict[str, Any]) -> None:
    bound = answer(row["expression"], row["question"], row["given"], row.get("direction"), row.get("accuracy"))
    lower, upper = Fraction(bound.lower), Fraction(bound.upper)
    least, most = widened(row)
    if row["place"] == "above":
        assert upper <= most
    else:
        assert least <= upper
    if row["place"] in ("inside", "upper"):
        assert lower <= most
    if row["place"] == "upper":
        assert upper <= most * (1 + NARROW)
    if row["place"] == "floor":
        assert lower >= least * (1 - NARROW)
