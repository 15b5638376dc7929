"""What every mechanism is: a frozen value that can be composed, sampled and asked.

A leaf implements `pair`; everything else here is final. What it can be asked is in `readable` and `attackable`, what it
can be turned into in `transformed`, each by a late import: mechanisms are values and know no engine.
"""

from __future__ import annotations

import math
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from inspect import Parameter, Signature, cleandoc, signature
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Self

from ..losses.capabilities import has_bounded_loss
from ..losses.operators.group_privacy import group_pair
from ..losses.operators.registered import shifted_pair
from ..values import compute_budget
from ..values.bound import FrozenMapping
from ..values.calls import check_keywords, check_needed, checked, shortened, taken_by
from ..values.question import Direction, Relation
from .asked import Attackable, Readable
from .parameters import one_line
from .theorems import Fact, Theorem

if TYPE_CHECKING:
    from flint import arb

    from ..losses.atoms import LatticeStep
    from ..losses.pair import Pair


# The type of every mechanism: a call takes a name beside what the constructor takes, so no mechanism asks for it.

# What help says of a mechanism beneath its docstring, by the texts of the class.
TOLD = (
    ("Pair", "formula"),
    ("Theorem", "theorem"),
    ("Neighbours", "relations"),
    ("Tightness", "tightness"),
    ("Example", "example"),
)
HELP_COLUMNS = 96


class NamedType(ABCMeta):
    # Makes mechanisms: checks the keywords, hands all but the name to the constructor, and sets the name.
    # A docstring here would hide the property, by which help ends with what a mechanism says of itself.

    @property
    def __doc__(cls) -> str | None:
        own: str | None = vars(cls).get("__doc__")
        said = [f"{title}: {text}" for title, name in TOLD if (text := getattr(cls, name, ""))]
        if not own or not getattr(cls, "formula", ""):
            return own
        from textwrap import fill

        shown = [fill(each, HELP_COLUMNS, subsequent_indent="    ", break_on_hyphens=False) for each in said]
        return "\n\n".join([cleandoc(own), *shown])

    @__doc__.setter
    def __doc__(cls, text: str | None) -> None:  # a dataclass without a docstring is given one
        type.__dict__["__doc__"].__set__(cls, text)

    def __call__(cls, *arguments: Any, name: str | None = None, **keywords: Any) -> Any:
        own: Any = cls
        if not cls.__abstractmethods__ and hasattr(own.__init__, "__code__"):
            known, names, must = taken_by(own.__init__)
            if not keywords.keys() <= names:
                check_keywords(cls.__name__, dict.fromkeys((*known, "name")), keywords)
            if not keywords.keys() >= set(must[1 + len(arguments) :]):
                known = (*known, "name")
                check_needed(cls.__name__, own.__init__, dict.fromkeys(known), 1 + len(arguments), keywords)
        given = None if name is None else one_line("name", name)
        with compute_budget.uncounted():  # a value is no question: it can be made when time is up
            made = super().__call__(*arguments, **keywords)
        object.__setattr__(made, "name", given)
        return made

    @property
    def __signature__(cls) -> Signature:
        """What a call takes: all that the constructor does, and the name."""
        own: Any = cls
        taken = dict(signature(own.__init__).parameters)
        taken.pop("self", None)
        options = [parameter.name for parameter in taken.values() if parameter.kind is Parameter.VAR_KEYWORD]
        for given in fields(own) if options else ():
            keyword = given.metadata.get("keyword", given.name)
            if given.init and keyword not in taken:
                taken[keyword] = Parameter(
                    keyword, Parameter.KEYWORD_ONLY, default=given.default, annotation=given.type
                )
        for option in options:
            taken.pop(option)
        taken.setdefault("name", Parameter("name", Parameter.KEYWORD_ONLY, default=None, annotation="str | None"))
        return Signature(list(taken.values()))


# The transformations as methods: what every mechanism can be turned into.


class Transformable:
    """The methods that make transformations; each is a row of the registry, and a class in mechanisms/."""

    __slots__ = ()

    if not TYPE_CHECKING:  # a checker still sees what is not there

        def __getattr__(self, name: str) -> NoReturn:
            """What is not there; with the reason, where it is refused on purpose."""
            from .composition import REFUSED

            why = f": {REFUSED[name]}" if name in REFUSED else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{why}", name=name, obj=self)

    @checked
    def poisson(self: Any, rate: float, neighbours: str = "add_remove", *, name: str | None = None) -> Mechanism:
        """Runs on a sample that takes each record independently with probability rate.

        neighbours: "add_remove", or "replace"; in both cases the sensitivity of this is that under adding or removing a
        record.

        Of a composition: one sample is drawn and all parts run on it, so a record is in all of them or in none. A new
        sample for each part is another experiment, A.poisson(rate) + B.poisson(rate); neither bounds the other.
        """
        from .poisson import Poisson

        return Poisson(base=self, rate=rate, neighbours=neighbours, name=name)

    @checked
    def without_replacement(
        self: Any, batch: int, records: int, neighbours: str = "replace", *, name: str | None = None
    ) -> Mechanism:
        """Runs on a batch of so many of the records, all such batches alike.

        The sensitivity of this is that under replacing a record, whatever the neighbours: 2 C for records clipped to
        norm C. neighbours: "replace", or "add_remove", where the data have one record more or less and a batch is as
        large as before. Of a composition: one batch is drawn and all parts run on it.
        """
        from .fixed_size import WithoutReplacement

        return WithoutReplacement(base=self, batch=batch, records=records, neighbours=neighbours, name=name)

    @checked
    def group(self: Any, size: int, *, name: str | None = None) -> Mechanism:
        """Neighbours differ in a group of `size` records, all of them removed or all of them added.

        Of a composition: the same group at every use, (A * 9).group(k) = A.group(k) * 9. A.group(k).poisson(rate)
        samples groups (users), A.poisson(rate).group(k) samples records.
        """
        from .groups import Group

        return Group.of(self, size=size, name=name)

    @checked
    def shuffle(self: Any, users: int, *, name: str | None = None) -> Mechanism:
        """Every one of so many users reports once through this, and the reports are put in a random order.

        This is the randomizer, the same for all users: PureDP(epsilon) for any that is epsilon-private,
        RandomizedResponse, or another mechanism of bounded loss, which is about replacing the user's value. Of a
        composition: all parts make up one report. Randomizers that differ between users are not covered.
        """
        from .shuffle import Shuffle

        return Shuffle(base=self, users=users, name=name)

    @checked
    def with_replacement(self: Any, batch: int, records: int, *, name: str | None = None) -> Mechanism:
        """Runs on so many draws from the records, each of any record; neighbours differ by a record that is replaced.

        The sensitivity of this is that under replacing a record: 2 C for records clipped to norm C. A record drawn
        several times counts as often. Of a composition: one batch is drawn and all parts run on it.
        """
        from .fixed_size import WithReplacement

        return WithReplacement(base=self, batch=batch, records=records, name=name)

    @checked
    def truncated_poisson(self: Any, rate: float, cap: int, records: int, *, name: str | None = None) -> Mechanism:
        """Runs on a Poisson sample at this rate; of one with more records than the cap, so many, all choices alike.

        The sensitivity of this is that under adding or removing a record: C for records clipped to norm C. records is
        the size of the data; neighbours have one record more or one less. Of a composition: one sample for all parts.
        """
        from .poisson import TruncatedPoisson

        return TruncatedPoisson(base=self, rate=rate, cap=cap, records=records, name=name)

    @checked
    def random_allocation(self: Any, steps: int, uses: int = 1, *, name: str | None = None) -> Mechanism:
        """Runs at each of so many steps; every record takes part in `uses` of them, chosen by itself at random.

        One epoch over batches that are filled so (balls and bins), * epochs where they are filled anew for each. The
        sensitivity of this is that under adding or removing a record: C for records clipped to norm C. Of a
        composition: all of it is one step.
        """
        from .allocation import RandomAllocation

        return RandomAllocation(base=self, steps=steps, uses=uses, name=name)

    @checked
    def shuffled_batches(self: Any, steps: int, *, name: str | None = None) -> Mechanism:
        """One epoch over so many batches, consecutive parts of the data in random order; a record is replaced.

        This is Gaussian noise, its sensitivity that under adding or removing a record: C for records clipped to norm C.
        Every record is in one batch. Several epochs are several uses. Upper ends have no amplification, lower ends are
        those of real neighbours; Poisson samples at the rate 1/steps are no bound for this.
        """
        from .allocation import ShuffledBatches

        return ShuffledBatches(base=self, steps=steps, name=name)

    @checked
    def best_of(self: Any, law: str, mean: float, shape: float | None = None, *, name: str | None = None) -> Mechanism:
        """The best output of a random number of runs, drawn without looking at the data; its mean is `mean`.

        law: geometric, negative_binomial (shape eta, above -1), logarithmic, all of at least one run; poisson and
        binomial (shape trials), which may have none. Of a composition: all of it is one run.
        """
        from .best_of import BestOf

        return BestOf(base=self, law=law, mean=mean, shape=shape, name=name)


SHOWN = 8  # numbers in a title
CHAIN = Theorem(
    "chains of neighbours",
    "the power of the best test of a chain is the composition of those of its steps",
    "Dong, Roth, Su 2022, Thm 2.14",
    "group.md, section 1",
    (Fact.EVERYWHERE,),
)


class LocalReport(NamedTuple):
    """The largest loss; categories: of randomized response, 0 where any report of this loss is meant; shy: the truth is
    its rarest report."""

    loss: LatticeStep
    categories: int
    shy: bool


class ZcdpUse(NamedTuple):
    """zCDP of one use: its rho, and a real mechanism of this kind, of which lower ends may speak.

    better: whether many uses may have less than the composition of their pairs.
    """

    rho: Fraction
    witness: Mechanism
    better: bool = True


def largest_loss(pairs: Sequence[Pair]) -> arb | None:
    """At or above the largest finite loss of these pairs in either order, at the working precision; None where one is
    not bounded for certain."""
    from flint import arb

    largest = arb(0)
    for pair in pairs:
        if not has_bounded_loss(pair):
            return None
        lowest, highest = pair.loss_range()
        largest = largest.max(highest.max(-lowest))
    return largest


@dataclass(frozen=True, slots=True, repr=False, eq=False)  # what is no dataclass itself equals itself only
class Mechanism(Readable, Attackable, Transformable, metaclass=NamedType):
    """A randomized algorithm, described by its dominating pair in each direction.

    name is what answers, plots and tables call it; it changes no answer.
    """

    name: str | None = field(default=None, kw_only=True)

    @abstractmethod
    def pair(self, direction: Direction) -> Pair:
        """The dominating pair of one use."""

    @property
    @abstractmethod
    def relation(self) -> Relation | None:
        """The neighbouring relation a transformation has fixed; None while it is open."""

    @property
    @abstractmethod
    def tight(self) -> bool:
        """Whether one real pair of neighbours attains the profile, also under composition."""

    # Facts, which theorems need (theorems.py); docs/proofs/facts.md derives them from those of the parts.

    @property
    @abstractmethod
    def sizes(self) -> frozenset[int]:
        """How many records, users or groups its outermost samples are drawn from; empty for data of any size."""

    @property
    @abstractmethod
    def beside_others(self) -> bool:
        """Whether the pair holds for a record whatever the others are, as for whoever else is in a sample."""

    @property
    @abstractmethod
    def everywhere(self) -> bool:
        """Whether the pair dominates every two neighbours, so that a chain of neighbours has a chain of pairs."""

    @property
    @abstractmethod
    def known_in_groups(self) -> bool:
        """Whether it is known where neighbours differ in several records."""

    @property
    @abstractmethod
    def gaussian_noise(self) -> bool:
        """Whether it adds Gaussian noise to a vector that moves by its sensitivity, and nothing else."""

    def one_event(self, size: int) -> bool:
        """Whether real groups attain the chain by one event for every part of the group, as in a sample.

        A leaf does whose groups attain it, and a sum of Gaussians, which is one shift. The chain of any other product,
        or of a sample, is more than what groups show. Proof: docs/proofs/group.md, section 6.
        """
        return self.group_tight(size) and shifted_pair(self.pair(Direction.REMOVE), size) is not None

    def largest_loss(self) -> arb | None:
        """At or above the largest privacy loss of any two values of a record, whichever order each part meets them in,
        at the working precision; None where it is not known to be bounded."""
        return largest_loss([self.pair(direction) for direction in Direction])

    def concentrated(self, size: int = 1) -> ZcdpUse | None:
        """zCDP where neighbours differ in so many records, by a theorem that holds beside that of the pair."""
        return None

    def local_report(self) -> LocalReport | None:
        """What is known of the reports of one user, where this is a randomizer whose worst reports are known."""
        return None

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """The dominating pair where neighbours differ in a group of so many records, all removed or all added: a chain
        of so many neighbours."""

        self.demand_chain(size)
        return group_pair(self.pair(direction), size)

    def replaced_pair(self, size: int) -> Pair:
        """The dominating pair, its own reverse, where so many records are replaced: each may meet either order."""
        from ..losses.operators.extremes import maximum_pair

        self.demand_chain(size)
        return group_pair(maximum_pair(self.pair(direction) for direction in Direction), size)

    def demand_chain(self, size: int) -> None:
        """Refuses a chain of several neighbours where the pair does not hold between every two."""
        if size > 1:
            CHAIN.demand(self)

    def group_tight(self, size: int) -> bool:
        """Whether a real group attains the profile of `group_pair`, also under composition."""
        return size == 1 and self.tight

    def group_witness(self, size: int) -> Mechanism | None:
        """One whose floors are real for a group of so many records, where these are not the pair; None: not known."""
        return None

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        """Pairs at or below, for lower ends, where they are not the dominating pair: any may be chosen at each use."""
        return (self.pair(direction),)

    @property
    def _witnessed_by_pair(self) -> bool:
        """Whether it is known, before any pair is made, that the only floor is the dominating pair itself."""
        own = type(self)
        return own.witnesses is Mechanism.witnesses and own.witnesses_once is Mechanism.witnesses_once

    @property
    def attained(self) -> bool:
        """Whether real neighbours give the floors, also under composition; else lower ends speak of the pair."""
        return self.tight

    def needs_others(self, batch: int | None) -> bool:
        """Whether its floors rest on more records than one, which a sample may lack: of so many, or a random number."""
        return False

    def witnesses_once(self, direction: Direction) -> tuple[Pair, ...]:
        """The same of one use alone, where real neighbours have each point of a trade-off, others at other points."""
        return self.witnesses(direction)

    @property
    def attained_once(self) -> bool:
        """Whether real neighbours give the floors of one use, point by point."""
        return self.attained

    def remark(self, quantity: str, given: float) -> str:
        """What whoever asks this should know beside the answer, for its certificate; empty where there is nothing."""
        return ""

    @property
    @abstractmethod
    def nameless(self) -> Mechanism:
        """This mechanism without any name, parts that are equal then counted together; what every question is about."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, object]:
        """The keywords that make this, defaults left out; those of a part by its name, such as GM1:sigma."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What people read: the name, else the expression with named parts by their names, such as GM1 * 3 + GM2."""

    @property
    def parts(self) -> tuple[tuple[Mechanism, int], ...]:
        """What this is made of, as it was written: (mechanism, count)."""
        return ((self, 1),)

    @property
    def terms(self) -> tuple[tuple[Mechanism, int], ...]:
        """What is composed, as (mechanism, count), whatever the names."""
        return self.nameless.parts

    @property
    def names(self) -> Mapping[str, int]:
        """How often each part runs, by its name, or its kind where it has none."""
        return FrozenMapping({self._key: 1})

    @property
    @abstractmethod
    def _key(self) -> str:
        """What a composition calls this among its names."""

    @checked
    def named(self, name: str | None) -> Self:
        """The same by this name, a text of one line; None takes the name away. No answer changes."""
        return self._with(name=None if name is None else one_line("name", name))

    def _with(self, **changed: object) -> Self:
        """A copy with other values in some fields, which nobody checks again; what was worked out is kept."""
        twin = object.__new__(type(self))
        getattr(twin, "__dict__", {}).update(getattr(self, "__dict__", {}))
        for each in fields(self):
            object.__setattr__(twin, each.name, changed.get(each.name, getattr(self, each.name)))
        return twin

    def __add__(self, other: Mechanism) -> Mechanism:
        if not isinstance(other, Mechanism):
            return NotImplemented
        from .composition import added

        return added(self, other)

    def __radd__(self, other: object) -> Mechanism:
        """sum(parts) starts at 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, count: float) -> Mechanism:
        from .composition import repeat

        return repeat(self, count)

    __rmul__ = __mul__


class Leaf(Mechanism):
    """A mechanism that is not made from others; its fields are its parameters.

    Yours is a frozen dataclass with a method `pair`, which gives (P, Q) for Direction.REMOVE and (Q, P) for ADD.
    example is how it is written, for the listing; empty where no text can hold it: snippet is how Python makes one.
    """

    __slots__ = ()
    example: ClassVar[str] = ""
    snippet: ClassVar[str] = ""  # statements, the last of which calls it own
    section: ClassVar[str] = ""  # of the listing: one of registry.SECTIONS
    # For the listing: the pair, its reference and proof, what attains it, which neighbours and what the sensitivity is.
    formula: ClassVar[str] = ""
    theorem: ClassVar[str] = ""
    tightness: ClassVar[str] = ""
    relations: ClassVar[str] = ""
    universal: ClassVar[bool] = False  # whether it stands for every mechanism with its trade-off

    def __init_subclass__(cls) -> None:
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # a dataclass makes none where it finds one

    @property
    def relation(self) -> Relation | None:
        return None

    @property
    def tight(self) -> bool:
        return True

    def group_tight(self, size: int) -> bool:
        """Proof: docs/proofs/group.md, sections 2 and 5."""
        shift = size == 1 or self.universal or shifted_pair(self.pair(Direction.REMOVE), size) is not None
        return self.tight and shift

    @property
    def sizes(self) -> frozenset[int]:
        return frozenset()

    @property
    def beside_others(self) -> bool:
        return True

    @property
    def everywhere(self) -> bool:
        return True

    @property
    def known_in_groups(self) -> bool:
        return self.everywhere

    @property
    def gaussian_noise(self) -> bool:
        return False

    def one_event(self, size: int) -> bool:
        return self.group_tight(size)

    @property
    def nameless(self) -> Mechanism:
        return self if self.name is None else self._with(name=None)

    @property
    def parameters(self) -> Mapping[str, object]:
        """The keywords that make an equal mechanism, defaults and the name left out."""
        return FrozenMapping(self._given())

    @property
    def label(self) -> str:
        return str(self) if self.name is None else self.name

    @property
    def _key(self) -> str:
        return type(self).__name__ if self.name is None else self.name

    def _given(self) -> dict[str, object]:
        """A field whose keyword would hide a question (epsilon, delta) has another name and its keyword as metadata."""
        return {
            item.metadata.get("keyword", item.name): getattr(self, item.name)
            for item in fields(self)
            if item.compare and item.name != "name" and getattr(self, item.name) != item.default
        }

    @property
    def doubt(self) -> Fraction | None:
        """The probability that the draws which this rests on mislead; None where nothing was drawn."""
        return None

    @property
    def claimed(self) -> str:
        """What a bound rests on that only its user knows, for the certificate; empty where the parameters say all."""
        return ""

    def __repr__(self) -> str:
        return self._written()

    def __str__(self) -> str:
        """For people: many numbers by how many they are."""
        given = {key: value for key, value in self._given().items() if isinstance(value, tuple)}
        return self._written(**{key: text for key, value in given.items() if (text := _shortened(value))})

    def _written(self, **instead: str) -> str:
        """The call that makes this; some values may be written another way."""
        given = [f"{key}={instead.get(key, repr(value))}" for key, value in self._given().items()]
        given += [] if self.name is None else [f"name={self.name!r}"]
        return f"{type(self).__name__}({', '.join(given)})"


def _shortened(values: tuple[object, ...]) -> str:
    """Many numbers, or rows of them, by how many they are; nothing where they are few."""
    rows = [row for row in values if isinstance(row, tuple)]
    if rows:
        return f"[{len(rows)} rows of {len(rows[0])}]" if sum(map(len, rows)) > SHOWN else ""
    return f"[{len(values)} numbers]" if len(values) > SHOWN else ""


def leaves(mechanism: Mechanism) -> frozenset[Leaf]:
    """What a mechanism is made from, each part once, however often and however deep it is used."""
    found: set[Leaf] = set()
    waiting: list[object] = [mechanism]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Leaf):
            found.add(each)
        elif isinstance(each, Mechanism):
            waiting += [getattr(each, item.name) for item in fields(each)]
        elif isinstance(each, tuple):
            waiting += each
    return frozenset(found)


def called(mechanism: Mechanism, law: Mechanism) -> str:
    """The label, not too long, where names set the mechanism apart from its law without them; else nothing."""
    return "" if law is mechanism else shortened(mechanism.label)


def claims(mechanism: Mechanism) -> dict[str, object]:
    """What the certificate says of claims; nothing where there are none."""
    texts = sorted({leaf.claimed for leaf in leaves(mechanism)} - {""})
    return {"claimed": "; ".join(texts)} if texts else {}


def confidence(mechanism: Mechanism) -> float | None:
    """How sure an answer is that rests on draws, rounded down: 1 - sum(1 - c_i), each data once; None without draws.

    0 stands for counts that are taken as the laws themselves. By the union bound, whatever the data have in common.
    """
    doubts = [leaf.doubt for leaf in leaves(mechanism.nameless) if leaf.doubt is not None]
    if not doubts:
        return None
    share = max(1 - sum(doubts, Fraction(0)), Fraction(0))
    value = float(share)
    # A confidence means the decimal that is printed, here as in a call.
    while Fraction(repr(value)) > share:
        value = math.nextafter(value, 0.0)
    return value
