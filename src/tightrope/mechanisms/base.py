"""What every mechanism is: a frozen value that can be composed, sampled and asked.

A leaf implements `pair`; everything else here is final. The questions delegate to `account` by a late import:
mechanisms are values and know no engine.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self, Unpack, overload

from ..bound import FrozenMapping
from ..calls import checked, checked_method, shortened
from ..question import Options, Question, parsed
from ..relation import Direction, Relation
from .named import NamedType
from .parameters import one_line
from .transformed import Transformable

if TYPE_CHECKING:
    from flint import acb

    from ..bound import Bound
    from ..curve import Curve
    from ..loss_law import LossLaw
    from ..pair import Pair


SHOWN = 8  # numbers in a title


@dataclass(frozen=True, slots=True, repr=False, eq=False)  # what is no dataclass itself equals itself only
class Mechanism(Transformable, metaclass=NamedType):
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

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """The dominating pair where neighbours differ in a group of so many records, all removed or all added."""
        from ..derived.grouped import group_pair

        return group_pair(self.pair(direction), size)

    def group_tight(self, size: int) -> bool:
        """Whether a real group attains the profile of `group_pair`, also under composition."""
        return size == 1 and self.tight

    def floors(self, direction: Direction) -> tuple[Pair, ...]:
        """Pairs at or below, for lower ends, where they are not the dominating pair: any may be chosen at each use."""
        return (self.pair(direction),)

    @property
    def attained(self) -> bool:
        """Whether real neighbours give the floors, also under composition; else lower ends speak of the pair."""
        return self.tight

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
        from ..transforms.composition import added

        return added(self, other)

    def __radd__(self, other: object) -> Mechanism:
        """sum(parts) starts at 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, count: float) -> Mechanism:
        from ..transforms.composition import repeat

        return repeat(self, count)

    __rmul__ = __mul__

    @overload
    def epsilon(self, delta: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def epsilon(self, delta: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def epsilon(self, delta: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """The smallest epsilon, 0 or above, for which this is (epsilon, delta)-DP; a sequence gives a tuple.

        accuracy: width wanted, relative to the upper end; without it 1e-6 is aimed at and never an error.
        proof: ball arithmetic only. engine: auto or an engine's name. direction: add, remove, or None for the worse.
        seconds: what the call may take, 10 without it; when they are up, the narrowest interval so far is the answer,
        and its certificate says so.
        """
        from .. import account

        return account.ask(self, Question("epsilon", **options), delta)

    @overload
    def delta(self, epsilon: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def delta(self, epsilon: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def delta(self, epsilon: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """The smallest delta for which this is (epsilon, delta)-DP; arguments as for `epsilon`.

        epsilon may be below 0, down to -inf: the profile at alpha = e^epsilon < 1, which composition needs.
        """
        from .. import account

        return account.ask(self, Question("delta", **options), epsilon)

    @checked_method
    def curve(
        self,
        start: float | None = None,
        stop: float | None = None,
        points: int | None = None,
        *,
        epsilons: Iterable[float] | None = None,
        **options: Unpack[Options],
    ) -> Curve:
        """delta at equally spaced epsilons (50 from 0 to 4), or at these epsilons, which must rise; of either sign.

        Without accuracy, 1e-4 is aimed at; the other arguments are those of `epsilon`.
        """
        from .. import account

        grid = account.grid(start, stop, points, epsilons)
        return account.curve(self, Question("delta", **options), grid)

    @overload
    def pdp(self, epsilon: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def pdp(self, epsilon: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def pdp(self, epsilon: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """Probabilistic DP: P[loss > epsilon], at any real epsilon; arguments as for `epsilon`.

        The loss log dP/dQ is that of the dominating pair, under its first law; the worse direction has the larger one.
        Where epsilon is a loss that has mass of its own and cannot be told from it, P[loss >= epsilon] is inside too.
        Other than delta, this may grow when the output is processed further.
        """
        from .. import account

        return account.ask(self, Question("pdp", **options), epsilon)

    @overload
    def loss_cdf(self, t: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def loss_cdf(self, t: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def loss_cdf(self, t: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """P[loss <= t] = 1 - pdp(t), at any real t; the worse direction has the smaller one. See `pdp`.

        At inf it is 1, infinite losses included, and at -inf 0; as t grows it tends to 1 - delta(inf), which leaves
        them out.
        """
        from .. import account

        return account.ask(self, Question("loss_cdf", **options), t)

    @overload
    def loss_quantile(self, p: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def loss_quantile(self, p: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def loss_quantile(self, p: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """The smallest t with P[loss <= t] >= p; the worse direction has the larger one. See `pdp`.

        inf where infinite losses are likelier than 1 - p, -inf at p = 0, the supremum of the loss at p = 1.
        """
        from .. import account

        return account.ask(self, Question("loss_quantile", **options), p)

    @checked_method
    def loss_law(self, bins: int = 60, **options: Unpack[Options]) -> LossLaw:
        """The distribution of the loss as certified masses of so many bins, with atoms and infinite losses; see `pdp`.

        Bins reach from the smallest to the largest loss but for two in a thousand; without a direction both are there.
        An atom is listed where it has most of the mass of its bin. Accuracy is not insisted on: every mass is known
        roughly before any is refined, and `.wide` says what was left open where that can be seen.
        """
        from ..loss_picture import loss_law

        return loss_law(self, Question("loss_cdf", **options), bins)

    @overload
    def renyi(self, order: float, *, direction: Direction | str | None = ...) -> Bound: ...
    @overload
    def renyi(self, order: Iterable[float], *, direction: Direction | str | None = ...) -> tuple[Bound, ...]: ...
    @checked_method
    def renyi(
        self, order: float | Iterable[float], *, direction: Direction | str | None = None
    ) -> Bound | tuple[Bound, ...]:
        """The Renyi divergence of any order from 0 to inf, always in ball arithmetic; a sequence gives a tuple.

        Order 1 is the Kullback-Leibler divergence, order inf the supremum of the loss. direction as for `epsilon`.
        """
        from ..convert import divergence

        return divergence.renyi(self, order, parsed(direction))

    @checked_method
    def cgf(self, z: complex, *, direction: Direction | str = "remove") -> acb:
        """A ball (flint.acb) around K(z) = log E_P[e^{z l}; l finite], l the privacy loss; any z where it is finite.

        Compositions add up; the imaginary part is known up to multiples of 2 pi.
        """
        from ..convert import divergence

        return divergence.composed_cgf(self, z, Direction(direction))

    @checked_method
    def phi(self, t: float, *, direction: Direction | str = "remove") -> acb:
        """A ball (flint.acb) around the phi-function E_P[e^{i t l}; l finite] of the privacy loss."""
        from ..convert import divergence

        return divergence.phi(self, t, Direction(direction))


class Leaf(Mechanism):
    """A mechanism that is not made from others; its fields are its parameters.

    Yours is a frozen dataclass with a method `pair`, which gives (P, Q) for Direction.REMOVE and (Q, P) for ADD.
    example is how it is written, for the listing; empty where no text can hold it.
    """

    __slots__ = ()
    example: ClassVar[str] = ""
    universal: ClassVar[bool] = False  # whether it stands for every mechanism with its trade-off
    relation = None

    def __init_subclass__(cls) -> None:
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # a dataclass makes none where it finds one

    @property
    def tight(self) -> bool:
        return True

    def group_tight(self, size: int) -> bool:
        """Proof: docs/proofs/group.md, sections 2 and 5."""
        shift = size == 1 or self.universal or self.pair(Direction.REMOVE).shifted(size) is not None
        return self.tight and shift

    @property
    def nameless(self) -> Self:
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
        long = {key: value for key, value in self._given().items() if isinstance(value, tuple) and len(value) > SHOWN}
        return self._written(**{key: f"[{len(value)} numbers]" for key, value in long.items()})

    def _written(self, **instead: str) -> str:
        """The call that makes this; some values may be written another way."""
        given = [f"{key}={instead.get(key, repr(value))}" for key, value in self._given().items()]
        given += [] if self.name is None else [f"name={self.name!r}"]
        return f"{type(self).__name__}({', '.join(given)})"


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
    found = sorted({leaf.claimed for leaf in leaves(mechanism)} - {""})
    return {"claimed": "; ".join(found)} if found else {}


def confidence(mechanism: Mechanism) -> float | None:
    """How sure an answer is that rests on draws, rounded down: 1 - sum(1 - c_i), each data once; None without draws.

    0 stands for counts that are taken as the laws themselves. By the union bound, whatever the data have in common.
    """
    doubts = [leaf.doubt for leaf in leaves(mechanism.nameless) if leaf.doubt is not None]
    if not doubts:
        return None
    share = max(1 - sum(doubts, Fraction(0)), Fraction(0))
    found = float(share)
    # A confidence means the decimal that is printed, here as in a call.
    while Fraction(repr(found)) > share:
        found = math.nextafter(found, 0.0)
    return found
