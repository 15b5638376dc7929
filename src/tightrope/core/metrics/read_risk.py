"""What a release may cost one person: readings of one law, each with a sentence that a lawyer can read.

All but the odds are of the pair (with the record, without it), or of a replaced record: who accuses somebody says that
the record is in the data. What people report of themselves is about one of two values. Each holds for every person,
whatever the others' records are, and for an attacker who knows all of them.
Guarantee: every number is that of its reading, rounded towards more risk. Derivations: docs/risk.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..answers.known_deltas import sharing
from ..answers.risk import MEMBER_AXES, REPLACED_AXES, Risk, RiskRow
from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import probability
from ..values import compute_budget
from ..values.bound import Bound
from ..values.errors import InvalidParameter
from ..values.question import SECONDS, Direction, Options, Relation
from .ask import ask_each
from .risk_wording import assumed, local, meant, not_covered, of_values, worded

ONE_POINT = ("advantage", "bayes_accuracy", "epsilon")  # one point of the profile decides, and one attacker reaches it
UNREACHED = "reconstruction"  # its bound holds for every attacker, and none is known to reach it
READ_SHARE = 0.8  # of the time: for what is read off one direction; the odds are of both


def risk(mechanism: Mechanism, given: Mapping[str, float], options: Options, known: Bound | None = None) -> Risk:
    """The rows at prior, fpr, baseline and delta; known: epsilon at delta, where that was asked before."""
    if options.get("direction") is not None:
        raise InvalidParameter("risk takes no direction: it is about a person whose record is in the data")
    prior, fpr, baseline, delta = (probability(name, given[name]) for name in ("prior", "fpr", "baseline", "delta"))
    reported = local(mechanism)
    replaced = reported or mechanism.relation is Relation.REPLACE
    said: Callable[[str], str] = of_values if reported else str
    asked: list[tuple[str, Mapping[str, float]]] = [
        ("tpr", {"fpr": fpr}),
        ("advantage", {}),
        ("bayes_accuracy", {"prior": prior}),
        *([("posterior", {"prior": prior, "fpr": fpr})] if fpr else []),
        ("reconstruction", {"baseline": baseline}),
    ]
    way = None if replaced else Direction.REMOVE
    with sharing(), compute_budget.allowance(options.get("seconds", SECONDS)):
        with compute_budget.part(READ_SHARE if known is None else 1.0):
            bounds = ask_each(mechanism, asked, {**options, "direction": way})
        odds = mechanism.epsilon(delta, **options) if known is None else known
    found = [(*row, way, bound) for row, bound in zip(asked, bounds, strict=True)]
    rows, sharp = [], True
    for quantity, arguments, direction, bound in [*found, ("epsilon", {"delta": delta}, None, odds)]:
        reaches = _reaches(quantity, bound)
        with compute_budget.uncounted():  # to say what is known takes no time, and a longer call may have none left
            number, sentence, close = worded(quantity, arguments, bound, replaced, reaches)
        rows.append(RiskRow(quantity, arguments, direction, bound, number, said(sentence)))
        sharp = sharp and (quantity == UNREACHED or (reaches and close))
    rests_on, leaves_out = notes(mechanism, fpr)
    axes = REPLACED_AXES if replaced else MEMBER_AXES
    return Risk(
        mechanism,
        tuple(rows),
        meant=tuple(map(said, meant([row.bound for row in rows], replaced, sharp))),
        assumed=rests_on,
        not_covered=leaves_out,
        axis_names=(said(axes[0]), said(axes[1])),
    )


def notes(mechanism: Mechanism, fpr: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is assumed, and what is not covered, by any number of the run."""
    reported = local(mechanism)
    replaced = reported or mechanism.relation is Relation.REPLACE
    said: Callable[[str], str] = of_values if reported else str
    return tuple(map(said, assumed(mechanism, replaced))), tuple(map(said, not_covered(fpr, replaced)))


def _reaches(quantity: str, bound: Bound) -> bool:
    """Whether one attacker against some data gets as far as the lower end.

    Where several neighbours make the profile, one for each point of it, no single one need have its trade-off.
    """
    told = bound.certificate
    if told is None or quantity == UNREACHED:
        return False
    return told.tight or (told.attained and quantity in ONE_POINT)
