"""What each theorem about a transformation needs of its base, and what each mechanism has: written by hand.

tests/checker/test_hypotheses.py compares both with those of the accountant, which has them from elsewhere.
Proof: docs/proofs/facts.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .law import NotCheckable

ADD_REMOVE, REPLACE = "add_remove", "replace"  # whom neighbours differ by
SIZE = "size"  # the base runs on data of whatever size it is given
OTHERS = "others"  # its pair holds whatever the other records are
EVERYWHERE = "everywhere"  # and at every step of a chain of neighbours
GROUPS = "groups"  # it is known for groups of records
GAUSSIAN = "gaussian"  # it is Gaussian noise

Facts = frozenset[str]
NOISE: Facts = frozenset({ADD_REMOVE, REPLACE, SIZE, OTHERS, EVERYWHERE, GROUPS})

NEEDS: Mapping[str, Facts] = MappingProxyType(
    {
        "poisson": frozenset({ADD_REMOVE, SIZE, OTHERS}),
        "truncated_poisson": frozenset({ADD_REMOVE, SIZE, OTHERS}),
        "random_allocation": frozenset({ADD_REMOVE, SIZE, OTHERS}),
        "without_replacement": frozenset({REPLACE, SIZE, OTHERS}),
        "with_replacement": frozenset({REPLACE, SIZE, OTHERS, GROUPS}),
        "shuffled_batches": frozenset({GAUSSIAN}),
        "group": frozenset({GROUPS}),
    }
)

# Facts of noise that a mechanism lacks; those that are not named lack none.
LACKS: Mapping[str, Facts] = MappingProxyType(
    {
        "GaussianMixture": frozenset({REPLACE}),
        "RandomizedResponse": frozenset({ADD_REMOVE}),  # but with neighbours="add_remove", which lacks the other
        "SubsetSelection": frozenset({ADD_REMOVE}),
        "training": frozenset({REPLACE, SIZE}),
    }
)


def facts_of(name: str, given: Mapping[str, object]) -> Facts:
    """Those of a mechanism with these arguments."""
    lacks = LACKS.get(name, frozenset())
    if given.get("neighbours") == ADD_REMOVE and lacks == {ADD_REMOVE}:
        lacks = frozenset({REPLACE})
    if given.get("monotone") is True:  # scores that all move the same way: a record is added or removed
        lacks |= {REPLACE}
    if given.get("mode") == "clamp":  # the bounds stay where the query moves
        lacks |= {EVERYWHERE}
    return NOISE - lacks | ({GAUSSIAN} if name in ("Gaussian", "GDP") else frozenset())


def demand(transformation: str, facts: Facts) -> None:
    """Refuses a base that its theorem does not cover."""
    for missing in sorted(NEEDS[transformation] - facts):
        raise NotCheckable(f".{transformation} has no theorem for this base, which lacks the fact {missing!r}")


def after(transformation: str, facts: Facts, relation: str) -> Facts:
    """What a transformation of a base has; relation: whom its neighbours differ by, where it says so."""
    if transformation == "group":
        return facts
    lacks = {ADD_REMOVE, REPLACE, GAUSSIAN} - {relation}
    if transformation != "poisson":
        lacks |= {SIZE}
    if transformation in ("truncated_poisson", "random_allocation", "shuffled_batches"):
        lacks |= {EVERYWHERE, GROUPS}  # some have it; none is needed here
    if EVERYWHERE not in facts:
        lacks |= {GROUPS}
    return facts - lacks | {relation}


def together(parts: list[Facts]) -> Facts:
    """Of a sum: what all of its parts have; neighbours that they agree on are needed."""
    common = frozenset.intersection(*parts) if parts else NOISE
    if not common & {ADD_REMOVE, REPLACE}:
        raise NotCheckable("its parts disagree on what neighbours are, a record added or removed, or replaced")
    return common
