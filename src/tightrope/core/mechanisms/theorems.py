"""The theorems that transformations rest on, each with the facts that it needs of its base.

Those of upper ends come first: a base that lacks a fact is refused by name. Those of lower ends say when real
neighbours have them; a base that lacks a fact there keeps its upper end, and the answer does not call its lower end
attained. docs/transformations.md has the table, tests/mechanisms/test_theorems.py a base without each of the facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ..losses.operators.registered import is_opaque
from ..values.calls import shortened
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation

if TYPE_CHECKING:
    from .base import Mechanism


# Facts of mechanisms, and theorems that need them: the only place where a base is accepted or refused.
#
# A mechanism states its facts, or derives them from those of its parts (docs/proofs/facts.md has each rule with its
# proof). A theorem is a value that names the facts it needs. `Theorem.missing` compares the two; nobody else decides,
# and
# no transformation looks at the class of its base.


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


SAMPLED = (Fact.ADD_REMOVE, Fact.SIZE, Fact.OTHERS)
BATCHED = (Fact.REPLACE, Fact.SIZE, Fact.OTHERS)

DISAGREE = (
    "the parts disagree on what neighbours are (add/remove of a record against replacing one): give them the same "
    "neighbours=, where they take it, or account for each relation on its own"
)
COMPOSITION = Theorem(
    "composition",
    "the product of the pairs of the parts, each for whatever came before it",
    "Zhu, Dong, Wang 2021, Thm 10",
    "facts.md, section 1",
    (Fact.ADD_REMOVE,),
    DISAGREE,
)
COMPOSITION_REPLACED = Theorem(
    "composition",
    "the product of the pairs of the parts where a record is replaced, each its own reverse",
    "Zhu, Dong, Wang 2021, Thm 10, and ours",
    "facts.md, section 1",
    (Fact.REPLACE,),
    DISAGREE,
)
ALL_RECORDS = Theorem(
    "Poisson sampling",
    "with rate 0 or 1 nobody, or everybody, is sampled: the pair of nothing, or that of the base",
    "by definition",
    "poisson.md",
    (Fact.ADD_REMOVE,),
)
POISSON = Theorem(
    "Poisson sampling",
    "((1 - rate) Q + rate P, Q) dominates for remove, its reverse for add",
    "Zhu, Dong, Wang 2021, Thm 11",
    "poisson.md",
    SAMPLED,
)
POISSON_REPLACED = Theorem(
    "Poisson sampling",
    "a replaced record of Gaussian noise M: ((1 - rate) M(0) + rate M(C), (1 - rate) M(0) + rate M(-C)); of other "
    "noise the chain of the sampled remove and add pairs",
    "Zhu, Dong, Wang 2021, Thm 11, and ours",
    "sampling.md, section 5",
    SAMPLED,
)
CAPPED_POISSON = Theorem(
    "Poisson sampling with a cap",
    "the union of the Poisson sample and of that of the base under replacing, by whether the sample is cut",
    "ours",
    "sampling.md, section 6",
    SAMPLED,
)
WITHOUT_REPLACEMENT = Theorem(
    "sampling without replacement",
    "the glued pair at batch/records where a record is replaced, the Poisson sample where one comes or goes",
    "Balle, Barthe, Gaboardi 2018, Thm 9; Zhu, Dong, Wang 2021, Thm 11 and Prop. 30",
    "sampling.md, sections 2 and 3",
    BATCHED,
)
ONE_DRAW = Theorem(
    "sampling with replacement",
    "one draw, or none, is a sample without replacement",
    "by definition",
    "sampling.md, section 4",
    BATCHED,
)
WITH_REPLACEMENT = Theorem(
    "sampling with replacement",
    "the glued union, over how often a record is drawn, of the base where so many records are replaced",
    "Balle, Barthe, Gaboardi 2018, Thm 10",
    "sampling.md, section 4",
    (*BATCHED, Fact.GROUPS),
)
SHUFFLE = Theorem(
    "shuffling",
    "counts of clones at the largest loss of a report, whichever two values a user may have",
    "Feldman, McMillan, Talwar 2021, Thm 3.1; Balle, Bell, Gascon, Nissim 2019",
    "shuffle.md",
    (Fact.REPLACE, Fact.ONE_RECORD, Fact.OTHERS, Fact.BOUNDED),
)
ONE_USER = Theorem(
    "shuffling",
    "one user, whom nobody hides: the base where the value is replaced",
    "by definition",
    "shuffle.md",
    (Fact.REPLACE, Fact.ONE_RECORD, Fact.BOUNDED),
)
BEST_OF = Theorem(
    "the best of several runs",
    "H(a) <= P[K = 0] (1 - a)_+ + E[K] H_base(a e^-c)",
    "Liu, Talwar 2019; Papernot, Steinke 2022; Koskela, Redberg, Wang 2024",
    "selection.md",
    (Fact.TAILS,),
)
ONE_RUN = Theorem("the best of several runs", "one run is the base", "by definition", "selection.md")
PARALLEL = Theorem(
    "parallel",
    "the largest profile of the cells, of which a record is in one",
    "McSherry 2009, for pure mechanisms",
    "points.md, section 6",
    (Fact.ADD_REMOVE,),
    "a record is added or removed; one that is replaced may move from a cell to another, which changes both: account "
    "for the cells with neighbours='add_remove', or compose them",
)
ALLOCATION = Theorem(
    "random allocation",
    "the mean of the likelihood ratios of all steps, one of which has the record",
    "Feldman, Shenfeld 2025 and 2026; Chua et al. 2025",
    "allocation.md",
    SAMPLED,
)
ALLOCATED_SETS = Theorem(
    "random allocation, several uses",
    "the mean over all sets of steps of the products of their likelihood ratios, between a sum of labels and its "
    "conditional moments; the base has what one use needs, too",
    "ours; the square: Scarf 1958",
    "allocation.md, sections 10 to 14",
    (Fact.GAUSSIAN,),
)
EVERY_STEP = Theorem(
    "random allocation",
    "with as many uses as steps every record is in every step: a composition",
    "by definition",
    "allocation.md",
    (Fact.ADD_REMOVE,),
)
SHUFFLED_BATCHES = Theorem(
    "shuffled batches",
    "given the order one batch differs: Gaussian noise at twice the sensitivity",
    "Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang 2024 (lower end)",
    "shuffled_batches.md",
    (Fact.GAUSSIAN,),
)
GROUP = Theorem(
    "groups",
    "the law of the group: that of the k-fold shift, or a chain of k neighbours",
    "Dong, Roth, Su 2022, Thm 2.14",
    "group.md",
    (Fact.GROUPS,),
)
GROUP_CONCENTRATED = Theorem(
    "groups of what is zCDP",
    "rho size^2 at every order",
    "Bun, Steinke 2016, Prop. 1.9",
    "group.md, section 9",
    (Fact.EVERYWHERE,),
)
GROUP_IN_SAMPLE = Theorem(
    "groups in a sample",
    "a mixture of chains, by how many of the group are in the sample",
    "Ganesh 2024",
    "group.md, section 6",
    (Fact.EVERYWHERE,),
)
GROUP_SCATTERED = Theorem(
    "groups in an epoch",
    "by which of the group share a step",
    "ours",
    "allocation.md, section 6",
    (Fact.GAUSSIAN,),
)
GROUP_IN_BATCH = Theorem(
    "groups in a batch",
    "the glued union, by how many of the replaced records are in the batch",
    "Balle, Barthe, Gaboardi 2018, Thm 10, and ours",
    "group.md, section 7",
    (Fact.GROUPS,),
)

SAMPLE_WITNESS = Theorem(
    "a witness of a sample",
    "the neighbours of the base, sampled, have the mixture of its laws",
    "by definition",
    "facts.md, section 4",
    (Fact.ATTAINED, Fact.ALONE),
    lower=True,
)
WITNESS = Theorem(
    "a witness of the whole data",
    "the neighbours of the base",
    "by definition",
    "facts.md, section 4",
    (Fact.ATTAINED,),
    lower=True,
)

THEOREMS = tuple(value for value in tuple(globals().values()) if isinstance(value, Theorem))
