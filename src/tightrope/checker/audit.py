"""Verdicts of an audit, from its document alone.

A statement of an audit is a claim as slopes, H(e^epsilon) <= remove and <= add, tests with what each saw, and p_upper.
Shown here: that each slope follows from the claim, that p_upper is at or above the probability of what was seen under
every mechanism with these slopes (p_values.py), and that it is refuted where it says so. What was seen is nobody's to
check. Proof: docs/proofs/audit.md, section 14.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from .clock import now
from .judge import PROVED, REFUTED, UNDECIDED, EndVerdict, judged
from .law import NotCheckable, exact, precision
from .p_values import CheckedSlope, fisher, number, program_p, test_p

AUDIT_BITS = 160
Verdicts = list[EndVerdict]


def judged_audit(document: Mapping[str, Any], seconds: float) -> list[tuple[str, str, Verdicts]]:
    """Of each statement: the expression, what it says in a line, and the verdicts of its parts."""
    try:
        with precision(AUDIT_BITS):
            return [_statement(document, each, seconds) for each in document["statements"]]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError, ZeroDivisionError) as error:
        raise NotCheckable(f"this is no audit: {type(error).__name__}, {error!s:.80}") from None


def _statement(document: Mapping[str, Any], said: Mapping[str, Any], seconds: float) -> tuple[str, str, Verdicts]:
    until = now() + seconds
    p, level = number(said["p_upper"]), decimal(document["level"])
    found, slopes = _slopes(said, seconds / 2)
    verdict, why = _p_value(document, said, slopes, exact(p), until)
    found.append(EndVerdict("p at most", said["p_upper"], verdict, why))
    right = said["refuted"] is (p <= 1 - level) and _repeated(document, said)
    found.append(EndVerdict("refuted at level", document["level"], PROVED if right else REFUTED, "" if right else "no"))
    about = {"epsilon": f"epsilon {said['epsilon']!r} at delta {said['delta']!r}", "claim": "the claim"}
    text = str(said["expression"]) or f"({said['epsilon']!r}, {said['delta']!r})-privacy"
    return text, f"audit: {about.get(said['about'], 'the least private of a family')}", found


def _repeated(document: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Whether what the audit says at its head is what this statement says."""
    if said["about"] == "epsilon":
        return bool(document["epsilon_lower"] == (said["epsilon"] if said["refuted"] else 0))
    if said["about"] == "claim":
        return document["claim_refuted"] is said["refuted"] and document["p_upper"] == said["p_upper"]
    return bool(document["refuted_from"] == (said["value"] if said["refuted"] else None))


def _slopes(said: Mapping[str, Any], seconds: float) -> tuple[Verdicts, list[CheckedSlope | None]]:
    """Those that follow from the claim; of a run each delta is proved as any other answer is."""
    found: Verdicts = []
    slopes: list[CheckedSlope | None] = []
    share = seconds / max(2 * len(said["slopes"]), 1)
    for each in said["slopes"]:
        sides = {side: number(each[side]) for side in ("remove", "add")}
        if said["expression"]:
            verdicts = [_delta(said["expression"], each, side, share) for side in sides]
            found += verdicts
            holds = all(verdict.verdict == PROVED for verdict in verdicts)
        else:
            holds = each["epsilon"] == said["epsilon"] and all(
                delta >= number(said["delta"]) for delta in sides.values()
            )
        a = exact(number(each["epsilon"])).exp()
        slopes.append(CheckedSlope(a, exact(sides["remove"]), exact(sides["add"])) if holds else None)
    return found, slopes


def _delta(expression: str, slope: Mapping[str, Any], side: str, seconds: float) -> EndVerdict:
    """Whether delta at the epsilon of the slope is at most what it says, in one direction."""
    question = {"quantity": "delta", "expression": expression, "epsilon": slope["epsilon"], "lower": 0}
    found = judged({**question, "upper": slope[side], "only": side}, seconds)[1]
    return EndVerdict(f"slope {slope['epsilon']!r} {side}", found.value, found.verdict, found.why, found.found)


def _p_value(
    document: Mapping[str, Any], said: Mapping[str, Any], slopes: Sequence[CheckedSlope | None], p: arb, until: float
) -> tuple[str, str]:
    """Whether the p-value of all tests together is at most p."""
    if p >= 1:
        return PROVED, "by definition"
    shown = [slope for slope in slopes if slope is not None]
    if not shown:
        return UNDECIDED, "none of its slopes is proved"
    programs = {each["test"]: each for each in said["certificates"]}
    groups: dict[int, list[tuple[arb, Fraction]]] = {}
    for index, test in enumerate(document["tests"]):
        weight, goal = number(test["weight"]), p * exact(number(test["weight"]))
        if not 0 < weight <= 1:
            raise ValueError("a weight lies in (0, 1]")
        stated = exact(number(said["p_each"][index]))
        # Of several groups each p-value counts; of one group the least of all does.
        several = document["tests"][-1]["group"] > 0
        value = test_p(test, shown, stated if several else goal, until) if several or stated <= goal else arb(1)
        if index in programs and None not in slopes:
            value = value.min(program_p(test, [each for each in slopes if each is not None], programs[index]))
        groups.setdefault(test["group"], []).append((value, weight))
    values = []
    for group in groups.values():
        if sum(weight for _, weight in group) > 1:
            return UNDECIDED, "the weights of its tests are more than 1 together"
        least = arb(1)
        for value, weight in group:
            least = least.min(value / exact(weight))
        values.append(least)
    found = fisher(values)
    if found <= p:
        return PROVED, ""
    return UNDECIDED, f"shown to be at most {found.upper().str(6, radius=False)}; give more seconds"


def decimal(value: object) -> Fraction:
    """The decimal that was written: 0.95 is 19/20."""
    number(value)
    return Fraction(repr(value))
