"""Adaptive composition: the only place that makes counts.

Claim: if (P1, Q1) dominates M1 and (P2, Q2) dominates M2 for every output of M1, the product pair dominates both
together. Equal parts are grouped and sorted, so a + b == b + a and a * 2 + a == a * 3.
Reference: Zhu, Dong, Wang 2021, Thm 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain

from ..derived.product import product_pair
from ..errors import InvalidParameter
from ..mechanisms.approximate_dp import PureDP
from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import WHOLE_MOST, whole
from ..pair import Pair
from ..relation import Direction, Relation

IDENTITY = PureDP(epsilon=0.0)


@dataclass(frozen=True, slots=True, repr=False)
class Composition(Mechanism):
    """Two or more uses; build it with +, * or compose."""

    parts: tuple[tuple[Mechanism, int], ...]

    def __repr__(self) -> str:
        return self._joined(repr)

    def __str__(self) -> str:
        return self._joined(str)

    def _joined(self, written: Callable[[Mechanism], str]) -> str:
        return " + ".join(written(part) + (f" * {count}" if count > 1 else "") for part, count in self.parts)

    @property
    def terms(self) -> tuple[tuple[Mechanism, int], ...]:
        return self.parts

    @property
    def relation(self) -> Relation | None:
        return next((part.relation for part, _ in self.parts if part.relation is not None), None)

    @property
    def tight(self) -> bool:
        return all(part.tight for part, _ in self.parts)

    def pair(self, direction: Direction) -> Pair:
        """All parts together as one pair: what one sample, drawn once for all of them, is a mixture of."""
        return product_pair((part.pair(direction), count) for part, count in self.parts)


def compose(*mechanisms: Mechanism | Iterable[Mechanism]) -> Mechanism:
    """All of them run, each may look at the outputs before it; nothing at all is the identity.

    They are given one by one, as one or more lists, or both.
    """
    counts: dict[Mechanism, int] = {}
    for mechanism in chain.from_iterable(map(_listed, mechanisms)):
        if not isinstance(mechanism, Mechanism):
            raise InvalidParameter(f"only mechanisms can be composed, not {mechanism!r:.60}")
        for part, count in mechanism.terms:
            counts[part] = counts.get(part, 0) + count
    return _grouped(counts)


def _listed(given: object) -> Iterable[object]:
    return given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def repeat(mechanism: Mechanism, count: float) -> Mechanism:
    """The mechanism run count times; 0 times is the identity."""
    times = whole("count", count, least=0)
    return _grouped({part: uses * times for part, uses in mechanism.terms})


def _grouped(counts: dict[Mechanism, int]) -> Mechanism:
    counts = {part: count for part, count in counts.items() if count and part != IDENTITY}
    relations = {part.relation for part in counts if part.relation is not None}
    if len(relations) > 1:
        raise InvalidParameter(
            "the parts disagree on what neighbours are (add/remove of a record against replacing one): "
            "account for each relation on its own"
        )
    for part, count in counts.items():
        if count > WHOLE_MOST:
            whole(f"the count of {part!r:.60}", count, least=1)
    parts = tuple(sorted(counts.items(), key=lambda item: repr(item[0])))
    if not parts:
        return IDENTITY
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    return Composition(parts=parts)
