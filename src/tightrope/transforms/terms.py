"""The pairs of a run: what dominates its parts, and what lower ends speak of.

Under replacing a record there is no direction: a part that leaves the relation open may meet either order of its two
laws, anew at each use, so what dominates it is the maximum of both profiles.
Guarantee: the terms dominate the run; each choice of one floor per use is at or below it.
Reference: Zhu, Dong, Wang 2021, Thm 10 (composition); proof of the maximum: docs/proofs/points.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ..derived.group_privacy import group_privacy_pair
from ..derived.product import Factor, merged, product_pair
from ..mechanisms.base import Mechanism
from ..operators import shifted_pair
from ..pair import Pair
from ..relation import Direction, Relation

Choice = tuple[tuple[Pair, ...], int]  # alternatives for one use, and how many uses there are


def terms_of(law: Mechanism, direction: Direction) -> tuple[Factor, ...]:
    """(pair, count) of each part of a run without names; parts that tell more together are joined."""
    if law.relation is Relation.REPLACE:
        return _replaced_terms(law)
    return merged((part.pair(direction), count) for part, count in law.parts)


def choices_of(law: Mechanism, direction: Direction, pointwise: bool = False) -> tuple[Choice, ...]:
    """The floors of each part, and its count; pointwise: of one use those that are real at each point by itself."""
    if law.relation is Relation.REPLACE:
        return _replaced_choices(law)
    if pointwise and law.parts == ((law, 1),):
        return ((law.witnesses_once(direction), 1),)
    return tuple((part.witnesses(direction), count) for part, count in law.parts)


def witnessed_by_terms(law: Mechanism) -> bool:
    """Whether it is known, before any pair is made, that real neighbours have the terms themselves; a record that is
    replaced may meet either order of each use."""
    return law.relation is not Relation.REPLACE and law._witnessed_by_pair


def concentrated(law: Mechanism) -> tuple[Mechanism, Mechanism] | None:
    """What zCDP says of a run without names: what it adds up to, which bounds the run from above, and real uses below.

    None where a part has no rho of its own, or where the pairs lose nothing: a single use, and what composes exactly.
    Reference: Bun, Steinke 2016, Lemma 2.3 (rho adds up).
    """
    from ..mechanisms.renyi_curve import ZCDP
    from .composition import compose

    known = [(part.concentrated(), count) for part, count in law.parts]
    uses = [(use, count) for use, count in known if use is not None]
    if len(uses) < len(known) or not any(use.better for use, _ in uses):
        return None
    rho = sum((count * use.rho for use, count in uses), Fraction(0))
    least = float(rho)
    above = least if Fraction(least) >= rho else math.nextafter(least, math.inf)
    return ZCDP(rho=above), compose(use.witness * count for use, count in uses)


def replaced_pair(law: Mechanism, size: int = 1) -> Pair:
    """All of a run, which leaves the relation open or replaces a record, as one pair that is its own reverse.

    size: so many records are replaced.
    """
    return product_pair(_replaced_terms(law.nameless, size))


def replacement_witnesses(law: Mechanism, size: int = 1) -> tuple[Pair, ...]:
    """What lower ends of the same speak of; of several records, what replacing one already shows where shifts do not
    tell more."""
    found = []
    for run in fixed_choices(_replaced_choices(law.nameless)):
        shifted = [(shifted_pair(pair, size) or pair, count) for pair, count in run]
        found.append(product_pair(shifted))
    return tuple(dict.fromkeys(found))


def swapped_pair(law: Mechanism) -> Pair:
    """All of a run, which leaves the relation open or adds and removes records: one record out, another in."""
    return product_pair(
        (group_privacy_pair([(part.pair(direction), 1) for direction in Direction]), count) for part, count in law.terms
    )


def _replaced_terms(law: Mechanism, size: int = 1) -> tuple[Factor, ...]:
    return merged((part.replaced_pair(size), count) for part, count in law.parts)


def _replaced_choices(law: Mechanism) -> tuple[Choice, ...]:
    found = []
    for part, count in law.parts:
        both = [floor for direction in Direction for floor in part.witnesses(direction)]
        found.append((tuple(dict.fromkeys(both)), count))
    return tuple(found)


def fixed_choices(choices: Sequence[Choice]) -> list[tuple[Factor, ...]]:
    """Runs without adaptivity: the first floor of every part, the second, ...; a part without so many has its last."""
    most = max(len(floors) for floors, _ in choices)
    return [merged((floors[min(index, len(floors) - 1)], count) for floors, count in choices) for index in range(most)]
