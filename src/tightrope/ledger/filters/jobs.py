"""What a job is to every kind of budget: whether it may be charged at all, and the uses that it is made of.

Under replacing a record a part that leaves the relation open may meet either order of its two laws, anew at each use.
Where these differ, the worse of two whole runs bounds nothing, and each use is charged by itself. A transformation of
such a part (a group of records, the best of several runs) meets both orders within one use, and is refused.
An infinite loss of probability w+ under P and w- under Q: P = (1 - d) P* + d P', Q alike, d = max(w+, w-), with P*, Q*
the laws where both live. Proof: docs/proofs/ledger.md, Theorem Slack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import NamedTuple

from ... import Direction, GaussianSparseVector, Histograms, Mechanism, Relation, SparseVector, UnsupportedMechanism
from ...extend.laws import Pair
from ...extend.mechanisms import (
    RandomAllocation,
    ShuffledBatches,
    Transformation,
    confidence,
    leaves,
    settled,
    terms_of,
)
from ...extend.numbers import upper_float, working_precision
from ...extend.wording import shortened
from .. import units
from ..errors import RelationMismatch

# A secret between answers, a threshold or the step of a record: a whole job, whose slack no step bounds.
INTERACTIVE = (SparseVector, GaussianSparseVector, RandomAllocation, ShuffledBatches)
LEAK_BITS = 1200  # a mass of 5e-324 and its complement fit exactly


class Use(NamedTuple):
    """So many uses of one pair; leak bounds its infinite losses in either law."""

    pair: Pair
    times: int
    leak: Fraction


def check_relation(job: Mechanism, relation: Relation) -> None:
    """Refuses a job about other neighbours, and one whose loss is known with some confidence only."""
    if job.relation is not None and job.relation is not relation:
        raise RelationMismatch(
            f"{shortened(str(job))} is about neighbours of the relation {job.relation.value}, and the budget about "
            f"{relation.value}: charge it to a budget of its own relation"
        )
    if relation is Relation.REPLACE:
        for part, _ in job.terms:
            if isinstance(part, Transformation) and not one_law(part):
                raise refused(
                    part,
                    "its two laws differ, and where records are replaced both orders may be met within one use; say it "
                    "of a part that is its own reverse, such as PureDP",
                )
    if confidence(job) is not None or any(isinstance(leaf, Histograms) for leaf in leaves(job.nameless)):
        raise refused(job, "its loss was measured, so that a bound holds with some confidence only; a budget promises")


def refused(job: Mechanism, why: str) -> UnsupportedMechanism:
    """The error that says why this job has no price."""
    return UnsupportedMechanism(why, mechanism=shortened(str(job)))


def pieces(job: Mechanism, relation: Relation) -> tuple[tuple[Mechanism, int], ...]:
    """What is charged as one: the job, or each use where a part may meet either order of its laws."""
    open_parts = relation is Relation.REPLACE and job.relation is None
    return job.terms if open_parts and not all(one_law(part) for part, _ in job.terms) else ((job.nameless, 1),)


def one_law(part: Mechanism) -> bool:
    """Whether both orders of its laws are one where a record is replaced, of all that it is made from."""
    if isinstance(part, Transformation) and part.relation is None:
        return all(one_law(mechanism) for mechanism, _ in part.base.terms)
    return settled(part)


def uses(part: Mechanism, direction: Direction) -> tuple[Use, ...]:
    """The pairs of one part of a job, and what leaks."""
    with working_precision(LEAK_BITS):
        return tuple(
            Use(pair, count, max(_mass(pair), _mass(pair.reversed())))
            for pair, count in terms_of(part.nameless, direction)
        )


def leak(part: Mechanism) -> Fraction:
    """At or above the slack that one use of a part takes, in either direction; 0 where no loss is infinite."""
    fraction = max(sum((use.leak * use.times for use in uses(part, direction)), Fraction(0)) for direction in Direction)
    if fraction and _interactive(part):
        raise refused(part, "an interactive job with infinite losses cannot be charged as slack: this is not proven")
    return fraction


def all_costs(job: Mechanism, amounts: Mapping[str, tuple[Fraction, int]]) -> dict[str, int]:
    """Units of axes that must all hold, by (amount, unit); refuses a job that one of them can never hold."""
    found = {name: units.cost(amount, unit) for name, (amount, unit) in amounts.items()}
    known = {name: number for name, number in found.items() if number is not None}
    if len(known) < len(found):
        first = next(name for name in found if name not in known)
        raise refused(job, f"it costs more than the axis {first} of any budget holds")
    return known


def _interactive(part: object) -> bool:
    """Whether it is, or is made from, what keeps a secret between its answers."""
    if isinstance(part, tuple):
        return any(map(_interactive, part))
    if not isinstance(part, Mechanism):
        return False
    return isinstance(part, INTERACTIVE) or any(_interactive(getattr(part, field.name)) for field in fields(part))


def _mass(pair: Pair) -> Fraction:
    """At or above; exactly 0 where it is."""
    mass = pair.infinite_mass()
    return Fraction(0) if mass.is_zero() else Fraction(min(upper_float(mass), 1.0))
