"""Verdicts of an audit, from its document alone.

A statement of an audit is a claim as slopes, H(e^epsilon) <= remove and <= add, tests with what each saw, and p_upper.
Shown here: that each slope follows from the claim, that p_upper is at or above the probability of what was seen under
every mechanism with these slopes (p_values.py), that it is refuted where it says so, and that the head of the document
says nothing else. What was seen is nobody's to check. Proof: docs/proofs/audit.md, section 14.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from .clock import now
from .expression import terms_of
from .judge import PROVED, REFUTED, UNDECIDED, EndVerdict, judged
from .law import NotCheckable, exact, precision
from .p_values import CheckedSlope, fisher, number, program_p, test_p

AUDIT_BITS = 160
Verdicts = list[EndVerdict]
METHODS = {"runs": ("M1", "M2", "E1"), "one-run": ("O2", "E2"), "random-split": ("O2", "E2"), "members": ()}
HEADS = {"epsilon": ("epsilon_lower",), "claim": ("p_upper", "claim_refuted")}
HEADS["parameter"] = ("parameter", "refuted_from", "mu_lower")
NOISES = {"sigma": "Gaussian", "scale": "Laplace"}  # of which more promises more: section 12


def judged_audit(document: Mapping[str, Any], seconds: float) -> list[tuple[str, str, Verdicts]]:
    """Of each statement: the expression, what it says in a line, and the verdicts of its parts."""
    try:
        with precision(AUDIT_BITS):
            found = [_statement(document, each, seconds) for each in document["statements"]]
            why = _unlike(document)
            if why:
                found.append(("", "audit: its head", [EndVerdict("level", document["level"], REFUTED, why)]))
            return found
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError, ZeroDivisionError) as error:
        raise NotCheckable(f"this is no audit: {type(error).__name__}, {error!s:.80}") from None


def _statement(document: Mapping[str, Any], said: Mapping[str, Any], seconds: float) -> tuple[str, str, Verdicts]:
    until = now() + seconds
    p, level = number(said["p_upper"]), decimal(document["level"])
    found, slopes = _slopes(document, said, seconds / 2)
    verdict, why = _p_value(document, said, slopes, exact(p), until)
    found.append(EndVerdict("p at most", said["p_upper"], verdict, why))
    try:
        right = said["refuted"] is (p <= 1 - level) and _repeated(document, said) and _named(document, said)
        verdict, why = (PROVED, "") if right else (REFUTED, "no")
    except NotCheckable as error:  # of a family
        verdict, why = UNDECIDED, str(error)
    found.append(EndVerdict("refuted at level", document["level"], verdict, why))
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


def _named(document: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Whether the head names what this statement is about: delta, the claim, or the family."""
    claim, text = document["claim"], said["expression"]
    if said["about"] == "epsilon":
        return bool(not text and number(said["epsilon"]) >= 0 and _delta_named(document["delta"]) == said["delta"])
    if said["about"] == "claim":
        return bool(claim == (text or f"({_digits(said['epsilon'])}, {_digits(said['delta'])})"))
    name, mu, value = document["parameter"], document["mu_lower"], said["value"]
    if not said["refuted"]:
        return not mu
    calls = set(re.findall(r"(\w+)\s*\(", claim))
    if claim.count("?") != 1 or not re.search(rf"\b{re.escape(name)}\s*=\s*\?", claim):
        return False
    if not calls <= {NOISES[name], "poisson"} or number(value) <= 0:
        return False
    if mu is not None and (claim.replace(" ", "") != "Gaussian(sigma=?)" or not 0 <= number(mu) * number(value) <= 1):
        return False
    return terms_of(claim.replace("?", repr(value))) == terms_of(text)


def _digits(value: object) -> str:
    """As the head writes a double."""
    return repr(float(number(value))).removesuffix(".0")


def _delta_named(value: object) -> object:
    if not 0 <= number(value) < 1:
        raise ValueError("a delta lies in [0, 1)")
    return value


def _unlike(document: Mapping[str, Any]) -> str:
    """What the head, the design and the tests say that the statements do not show; empty if nothing."""
    design, tests, settings = document["design"], document["tests"], document["settings"]
    names = [said["about"] for said in document["statements"]]
    if not Fraction(1, 2) <= decimal(document["level"]) < 1:
        return "a level lies in [0.5, 1)"
    if len(set(names)) < len(names) or not set(names) <= set(HEADS):
        return "a statement is about epsilon, the claim or a parameter, and there is one of each at most"
    if any(document[field] is not None for name in set(HEADS) - set(names) for field in HEADS[name]):
        return "it says what none of its statements shows"
    if document["claim"] is not None and not {"claim", "parameter"} & set(names):
        return "no statement is about its claim"
    if design == "members" and (names or tests):
        return "without a coin there is nothing to state"
    replaced = design == "random-split"
    if replaced and settings["neighbours"] != "replace":
        return "a random split replaces records"
    for index, test in enumerate(tests):
        if test["method"] not in METHODS[design] or (test["group"] and design != "one-run"):
            return f"test {index + 1} is not one of its design"
        if test["trials"] != test.get("n1", test["trials"]):
            return f"test {index + 1} has two numbers of trials"
        if test["method"] == "O2" and (test["coin"] != settings["coin"] or (replaced and test["sides"] != "both")):
            return f"test {index + 1} has another coin, or guesses that pairs do not have"
        if test["p"] != document["statements"][-1]["p_each"][index]:
            return f"test {index + 1} has two p-values"
    return ""


def _slopes(
    document: Mapping[str, Any], said: Mapping[str, Any], seconds: float
) -> tuple[Verdicts, list[CheckedSlope | None]]:
    """Those that follow from the claim; of a run each delta is proved as any other answer is."""
    found: Verdicts = []
    slopes: list[CheckedSlope | None] = []
    replaced = document["settings"]["neighbours"] == "replace"
    if replaced and "poisson" in said["expression"]:
        why = "samples of replaced records are not known to the checker"
        return [EndVerdict("slopes", len(said["slopes"]), UNDECIDED, why)], [None for _ in said["slopes"]]
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
        if replaced:  # either order of the two records
            sides = dict.fromkeys(sides, max(sides.values()))
        slopes.append(CheckedSlope(a, exact(sides["remove"]), exact(sides["add"])) if holds else None)
    return found, slopes


def _delta(expression: str, slope: Mapping[str, Any], side: str, seconds: float) -> EndVerdict:
    """Whether delta at the epsilon of the slope is at most what it says, in one direction."""
    question = {"quantity": "delta", "expression": expression, "epsilon": slope["epsilon"], "lower": 0}
    verdict = judged({**question, "upper": slope[side], "only": side}, seconds)[1]
    return EndVerdict(f"slope {slope['epsilon']!r} {side}", verdict.value, verdict.verdict, verdict.why, verdict.found)


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
        if index in programs and test["method"] == "O2" and None not in slopes:
            value = value.min(program_p(test, [slope for slope in slopes if slope is not None], programs[index]))
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
