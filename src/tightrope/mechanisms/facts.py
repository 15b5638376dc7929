"""Facts of mechanisms, and theorems that need them: the only place where a base is accepted or refused.

A mechanism states its facts, or derives them from those of its parts (docs/proofs/facts.md has each rule with its
proof). A theorem is a value that names the facts it needs. `Theorem.missing` compares the two; nobody else decides, and
no transformation looks at the class of its base.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ..calls import shortened
from ..errors import InvalidParameter
from ..operators import is_opaque
from ..relation import Direction, Relation

if TYPE_CHECKING:
    from .base import Mechanism


class Fact(Enum):
    """What a theorem may need of its base; the value completes the sentence "the base ..."."""

    ADD_REMOVE = "is about adding or removing a record, or holds under either relation"
    REPLACE = "is about replacing a record, or holds under either relation"
    SIZE = "runs on data of the size that it is given"
    ONE_RECORD = "is about all that a user holds"
    OTHERS = "has its pair whatever the other records are"
    EVERYWHERE = "has its pair between every two neighbours, wherever they are"
    GROUPS = "is known where neighbours differ in several records"
    GAUSSIAN = "is Gaussian noise"
    BOUNDED = "has a bounded privacy loss"
    TAILS = "has a privacy loss whose tails are known"
    ATTAINED = "has a witness: real neighbours with this pair"
    ALONE = "has a witness that needs no other records than those it is given"


class MissingFact(InvalidParameter):
    """A base lacks a fact that a theorem needs."""

    fact: Fact

    @classmethod
    def named(cls, message: str, fact: Fact) -> MissingFact:
        """With the fact; exceptions are pickled by their message and what was set on them."""
        refusal = cls(message)
        refusal.fact = fact
        return refusal


def sizes_in_groups(sizes: frozenset[int], size: int) -> frozenset[int]:
    """How many groups so many records are; two numbers, which no sample has, where the groups are not equal."""
    return frozenset(number for records in sizes for number in (records // size, -(-records // size)))


@dataclass(frozen=True, slots=True)
class Theorem:
    """name: how messages and tables call it. claim: one sentence. proof: its page in docs/proofs, with the section.

    needs: the facts of the base without which it is not used. instead: what to do, in place of what each fact says.
    lower: whether it speaks of lower ends; a fact that is missing then refuses nothing, and the answer does not call
    its lower end attained.
    """

    name: str
    claim: str
    reference: str
    proof: str
    needs: tuple[Fact, ...] = ()
    instead: str = ""
    lower: bool = False

    def missing(self, base: Mechanism, records: int | None = None) -> Fact | None:
        """The first fact that it needs and the base lacks; records: of the data that the base is given, None for a
        random number."""
        return next((fact for fact in self.needs if not _has(base, fact, records)), None)

    def holds(self, base: Mechanism, records: int | None = None) -> bool:
        """Whether the base has all that it needs."""
        return self.missing(base, records) is None

    def demand(self, base: Mechanism, records: int | None = None) -> None:
        """Refuses a base that lacks a fact, and names it."""
        fact = self.missing(base, records)
        if fact is not None:
            raise MissingFact.named(f"{self.name}: {self.instead or _refusal(base, fact, records)}", fact)


def _has(base: Mechanism, fact: Fact, records: int | None) -> bool:
    """Whether a mechanism has a fact."""
    match fact:
        case Fact.ADD_REMOVE:
            return base.relation in (None, Relation.ADD_REMOVE)
        case Fact.REPLACE:
            return base.relation in (None, Relation.REPLACE)
        case Fact.SIZE:
            return base.sizes <= {records}
        case Fact.ONE_RECORD:
            return max(base.sizes, default=1) == 1
        case Fact.OTHERS:
            return base.beside_others
        case Fact.EVERYWHERE:
            return base.everywhere
        case Fact.GROUPS:
            return base.known_in_groups
        case Fact.GAUSSIAN:
            return base.gaussian_noise
        case Fact.BOUNDED:
            return base.nameless.largest_loss() is not None
        case Fact.TAILS:
            return not any(is_opaque(base.pair(direction)) for direction in Direction)
        case Fact.ATTAINED:
            return base.attained
        case Fact.ALONE:
            return not base.needs_others(records)


def _refusal(base: Mechanism, fact: Fact, records: int | None) -> str:
    """What the base lacks, and what to change."""
    match fact:
        case Fact.ADD_REMOVE:
            return (
                "its base needs the sensitivity under adding or removing a record, and this base is about replacing "
                "one; sample once, or take a base with neighbours='add_remove'"
            )
        case Fact.REPLACE:
            return (
                "its base needs the sensitivity under replacing a record, and this base is about adding or removing "
                "one; sample once, or take a base with neighbours='replace'"
            )
        case Fact.SIZE:
            size = min(base.sizes - {records})
            given = "is of random size" if records is None else f"has {records}"
            return (
                f"the base runs on data of {size} records, and the sample that it would be given {given}; "
                "sample once, or make the sizes agree"
            )
        case Fact.ONE_RECORD:
            held = max(base.sizes)
            return (
                f"the base runs on {held} records, of which one is replaced, and all that a user holds may "
                f"differ; shuffle its .group(size={held}), or reports on one record each"
            )
        case Fact.GAUSSIAN:
            return (
                f"the base must be Gaussian noise (Gaussian, GDP, or a sum of them), not {shortened(repr(base))}; "
                "other noise is known for batches that .random_allocation(steps=) makes"
            )
        case Fact.BOUNDED:
            part = next(part for part, _ in base.terms if part.largest_loss() is None)
            pairs = [
                pair for direction in Direction for pair in (part.pair(direction), part.pair(direction).reversed())
            ]
            leaks = any(not pair.infinite_mass().is_zero() for pair in pairs)
            why = "it is (epsilon, delta)-private only, which the theorem does not cover"
            return (
                f"{shortened(repr(part))} cannot be shuffled: {why if leaks else 'its loss is not bounded'}; report "
                "through PureDP(epsilon), RandomizedResponse, Laplace or another base of bounded loss"
            )
        case Fact.TAILS:
            return f"only moments are known of {shortened(repr(base))}, and the theorem needs the tails of its loss"
        case Fact.OTHERS:
            return (
                f"{shortened(repr(base))} was measured on two data sets, and a sample or other users make other ones; "
                "measure the sampled algorithm itself, or give Finite(p, q) that holds whatever the other records are"
            )
        case Fact.EVERYWHERE | Fact.GROUPS:
            if base.sizes:
                return (
                    f"{shortened(repr(base))} samples from {min(base.sizes)} records, and a group may take several of "
                    "them away: account for the group of each part on its own"
                )
            return (
                f"the pair of {shortened(repr(base))} holds between two data sets alone, and a chain of neighbours "
                "leads to others; give what holds for the whole group instead"
            )
        case _:
            return f"it needs a base that {fact.value}, which {shortened(repr(base))} does not"
