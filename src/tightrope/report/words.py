"""Sentences about a bound that anybody can read: what it promises, what it leaves open, and where its width is from.

Every number is rounded towards more loss. A sentence that promises something names all that the promise rests on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from .. import Bound, Certificate, Direction, ErrorBreakdown, Mechanism, Relation, training
from ..extend.mechanisms import group_sizes, is_local, leaves
from ..extend.result import Result, why_wide
from ..extend.training import LOADERS
from ..extend.wording import rounded, short

HEADLINE_DIGITS = 4
CHANCE_MAX = 10**15  # smaller chances are said as numbers only
ENDS_APART = 10.0  # an upper end so many times the lower one is far from it

DIRECTED = MappingProxyType(
    {
        Direction.REMOVE: "how much likelier an output may be with the record than without it",
        Direction.ADD: "how much likelier an output may be without the record than with it",
    }
)

# What makes both ends differ, by the names of the budget.
SOURCES = MappingProxyType(
    {
        "discretisation": "Losses that lie close together were treated as one.",
        "truncation": "Losses that are too unlikely to follow were counted as the worst ones, or left out below.",
        "wrap_around": "A transform is periodic: what lies beyond its range comes back at the other end.",
        "quadrature": "An integral was replaced by a sum of finitely many terms.",
        "rounding": "Every step of the computation was rounded.",
        "theorem": "The theorem allows a worse case than was found among real neighbours.",
    }
)

RECORDS = MappingProxyType(
    {
        Relation.ADD_REMOVE: (
            "Two data sets are neighbours if one of them has {one} more and all else is the same: {one} may be added "
            "or removed."
        ),
        Relation.REPLACE: (
            "Two data sets are neighbours if they have the same number of records and differ in {one} only: {one} may "
            "be replaced by any other. A number for replaced records does not compare with one for records that are "
            "added or removed."
        ),
    }
)
BRIEFLY = MappingProxyType(
    {
        Relation.ADD_REMOVE: "if {one} may be added or removed",
        Relation.REPLACE: "if {one} may be replaced",
    }
)
VALUES = "People report about themselves: neighbours are any two values that one person may have."
OPEN_RELATION = (
    "Nothing is sampled, so the run itself leaves open who is a neighbour: its parameters say what {one} may change at "
    "most. The number holds for the neighbours that these parameters were worked out for: {one} added or removed, or "
    "replaced by another. Which of the two it is belongs into this report."
)


GIVEN_LAWS = (
    "Parts of the run are given by their outputs on two data sets ({names}): these two are the only neighbours that "
    "they speak of."
)
AS_CLAIMED = "Parts of the run are given by a guarantee ({names}), and have it. That was not checked here."
AS_DRAWN = (
    "Noise and samples are drawn from exactly the laws that are described, afresh each time, and nobody can foresee "
    "them. Whether the code does so was not checked here."
)
AS_GIVEN = "Numbers of the run mean the doubles nearest to the decimals that are written."
CLIPPED = "The gradient of each record is clipped, and sigma is the deviation of the noise in units of that norm."
TRIALS = "Trial runs on the same records, such as those that chose the settings: they are releases too."


def chance(value: float) -> str:
    """1 in 100,000, where that is easier to read than the number."""
    if value == 0.0:
        return "never"
    one = 1 / Fraction(repr(value))
    if 1 < one <= CHANCE_MAX and one.denominator == 1:
        return f"1 in {int(one):,}"
    return f"a chance of {short(value)}"


def at_most(bound: Bound) -> str:
    """The upper end with a few digits, rounded up."""
    return "none" if bound.upper == math.inf else rounded(bound.upper, HEADLINE_DIGITS, up=True)


def both_ends(bound: Bound) -> tuple[str, str]:
    """Lower and upper end with all digits that they share and one more, rounded outward."""
    low, high = str(bound).strip("[]").split(", ")
    return low, high


def promise(result: Result, mechanism: Mechanism) -> str:
    """What can be promised, in one sentence with all its conditions."""
    bound, delta = result.bound, result.arguments["delta"]
    at = f"delta {short(delta)} ({chance(delta)})"
    if bound.upper == math.inf:
        return _nothing(bound, at)
    told = bound.certificate
    under = "" if told is None else _conditions(told)
    epsilon = f"epsilon {at_most(bound)} at {at}"
    if result.direction is None:
        text = f"the run is differentially private with {epsilon}, {briefly(mechanism)}."
    else:
        text = (
            f"one direction has {epsilon}: {DIRECTED[result.direction]}. This alone is not differential privacy, which "
            "needs both directions; the other one may cost more."
        )
    text = under + text
    return text[0].upper() + text[1:]


def _nothing(bound: Bound, at: str) -> str:
    if bound.lower == math.inf:
        about = bound.certificate
        if about is not None and not about.attained:
            return f"No finite epsilon can be promised at {at}: what is known of the run allows none."
        return f"No finite epsilon holds at {at}."
    return f"No finite epsilon could be proven at {at}: nothing can be promised, and at least {_least(bound)} is lost."


def _least(bound: Bound) -> str:
    return f"epsilon {rounded(bound.lower, HEADLINE_DIGITS, up=False)}"


def _conditions(told: Certificate) -> str:
    """What a promise rests on beyond the description of the run."""
    found = []
    if told.confidence == 0.0:
        found.append("if the measured counts are the true chances")
    elif told.confidence is not None:
        share = (100 * Decimal(repr(told.confidence))).normalize()
        found.append(f"with a confidence of {share:f} % in the measurements")
    if "claimed" in told.parameters:
        found.append("if what was claimed of the run is true")
    return " and ".join(found) + ", " if found else ""


def ends(bound: Bound) -> str:
    """What the two ends speak of: it is not always the run itself that reaches the lower one."""
    told = bound.certificate
    if told is not None and told.confidence is not None:
        return (
            "The ends are those of the smallest such epsilon for the chances that were measured. The lower end speaks "
            "of the measurements, and of no more than these."
        )
    if told is not None and not told.attained:
        below = "The lower end speaks of the worst case that a theorem allows, not of the run: how much real data lose "
        return f"{_above(bound, 'is that of this theorem, and ')} {below}at least is not known here."
    sharp = "" if told is None or told.tight else "comes from a theorem that may not be sharp, and "
    return (
        "The smallest such epsilon lies between the two ends, with every rounding accounted for. "
        f"{_above(bound, sharp)} The lower end is certainly lost in the worst case that the description of the run "
        "allows."
    )


def _above(bound: Bound, whose: str) -> str:
    if bound.upper == math.inf:
        return "The upper end is infinite: nothing can be promised."
    return f"The upper end {whose}can be promised."


def cautions(result: Result) -> list[str]:
    """What whoever quotes this number should know."""
    bound, told = result.bound, result.bound.certificate
    texts: list[str] = []
    if told is None:
        return texts
    if bound.upper == math.inf:
        texts.append(f"There is no finite upper end: {sentence(told.reason)}")
    elif (wide := why_wide(bound, _option)) is not None:
        wide = wide.replace("the dominating pair", "the worst case that a theorem allows")
        far = bound.upper > ENDS_APART * bound.lower
        texts.append(f"The ends lie {'far ' if far else ''}apart: {sentence(wide)} The upper end holds all the same.")
    if result.direction is not None:
        texts.append(
            f"Only the direction {result.direction.value} was asked for; the other one may cost more, and differential "
            "privacy needs both."
        )
    if told.assurance:
        texts.append(sentence(f"the run was measured, and this {told.assurance}"))
    if "claimed" in told.parameters:
        texts.append(sentence(f"all of this rests on a claim that was not checked: {told.parameters['claimed']}"))
    if "remark" in told.parameters:
        texts.append(sentence(str(told.parameters["remark"])))
    return texts


def _option(name: str, value: object) -> str:
    return f"--{name}" if value is True else f"--{name} {short(value) if isinstance(value, float) else value}"


def sentence(text: str) -> str:
    """With a capital and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def gathered(results: Sequence[Result]) -> list[str]:
    """The cautions of all results, each once; one that is about some of them only says of which."""
    said: dict[str, list[str]] = {}
    for result in results:
        for caution in cautions(result):
            said.setdefault(caution, []).append(short(result.arguments["delta"]))
    some = len(results)
    return [text if len(at) == some else f"At delta {' and '.join(at)}: {text}" for text, at in said.items()]


def neighbours_said(mechanism: Mechanism) -> str:
    """Who counts as a neighbour, with as many records as a person may have."""
    relation, one = mechanism.relation, _one(mechanism)
    laws = of_section(mechanism, "laws")
    given = [GIVEN_LAWS.format(names=laws)] if laws else []
    if is_local(mechanism) and not given:
        return VALUES.format(one=one)
    if relation is not None:
        return " ".join([RECORDS[relation].format(one=one), *given])
    return " ".join(given or [OPEN_RELATION.format(one=one)])


def briefly(mechanism: Mechanism) -> str:
    """The same in half a line."""
    relation, laws = mechanism.relation, of_section(mechanism, "laws")
    text = "for the neighbours that are described below"
    if is_local(mechanism):
        text = "for the value of one person"
    elif relation is not None:
        text = BRIEFLY[relation].format(one=_one(mechanism))
    return f"between the two data sets whose outputs were given ({laws}), and no others" if laws else text


def of_section(mechanism: Mechanism, section: str) -> str:
    """The kinds of mechanisms in it that stand in this section of the listing."""
    return ", ".join(sorted({type(leaf).__name__ for leaf in leaves(mechanism.nameless) if leaf.section == section}))


def _one(mechanism: Mechanism) -> str:
    sizes = group_sizes(mechanism.nameless)
    if len(sizes) > 1:
        return "as many records of one person as each part says with group(size)"
    return "one record" if sizes == {1} else f"up to {max(sizes):,} records of one person"


def rests_on(mechanism: Mechanism, assumed: Sequence[str]) -> list[str]:
    """All that is assumed: what the sentences on one person assume, and what every number does."""
    if not isinstance(mechanism, training):
        claims = of_section(mechanism, "promises")
        return [*assumed, *([AS_CLAIMED.format(names=claims)] if claims else []), AS_DRAWN, AS_GIVEN]
    loader = sentence(f"batches: {LOADERS[mechanism.sampling].assumed}").replace("`", "")
    return [*assumed, loader, CLIPPED, AS_DRAWN, AS_GIVEN]


def leaves_out(mechanism: Mechanism, not_covered: Sequence[str]) -> list[str]:
    """All that is not covered."""
    return [*not_covered, *([TRIALS] if isinstance(mechanism, training) else [])]


def budget_rows(budget: ErrorBreakdown) -> list[tuple[str, str, str, str]]:
    """Each source that counts, in words, and what it took above and below, rounded up; the largest first."""
    rows = []
    for name, said in SOURCES.items():
        above, below = budget.upper.get(name, 0.0), budget.lower.get(name, 0.0)
        if above or below:
            shown = (rounded(value, 2, up=True) for value in (above, below))
            rows.append((above + below, (name.replace("_", " "), said, *shown)))
    return [(name, said, above, below) for _, (name, said, above, below) in sorted(rows, reverse=True)]
