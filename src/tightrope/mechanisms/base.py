"""What every mechanism is: a frozen value that can be composed, sampled and asked.

A leaf implements `pair`; everything else here is final. The questions delegate to `account` by a late import:
mechanisms are values and know no engine.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self, Unpack, overload

from ..calls import check_keywords, checked, checked_method, known_keywords
from ..question import Options, Question, parsed
from ..relation import Direction, Relation

if TYPE_CHECKING:
    from flint import acb

    from ..bound import Bound
    from ..curve import Curve
    from ..pair import Pair


class Mechanism(ABC):
    """A randomized algorithm, described by its dominating pair in each direction."""

    __slots__ = ()

    def __new__(cls, *arguments: object, **keywords: object) -> Self:
        if keywords and hasattr(cls.__init__, "__code__"):
            check_keywords(cls.__name__, known_keywords(cls.__init__), keywords)
        return super().__new__(cls)

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

    @property
    @abstractmethod
    def terms(self) -> tuple[tuple[Mechanism, int], ...]:
        """What is composed, as (mechanism, count)."""

    def __add__(self, other: Mechanism) -> Mechanism:
        if not isinstance(other, Mechanism):
            return NotImplemented
        from ..transforms.composition import compose

        return compose((self, other))

    def __radd__(self, other: object) -> Mechanism:
        """sum(parts) starts at 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, count: float) -> Mechanism:
        from ..transforms.composition import repeat

        return repeat(self, count)

    __rmul__ = __mul__

    @checked
    def poisson(self, rate: float) -> Mechanism:
        """Runs on a sample that takes each record independently with probability rate.

        Of a composition: one sample is drawn and all parts run on it, so a record is in all of them or in none. A new
        sample for each part is another experiment, A.poisson(rate) + B.poisson(rate); neither bounds the other.
        """
        from ..transforms.poisson import Poisson

        return Poisson(base=self, rate=rate)

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

    example is how it is written, for the listing; empty where no text can hold it.
    """

    __slots__ = ()
    example: ClassVar[str] = ""
    relation = None

    @property
    def tight(self) -> bool:
        return True

    @property
    def terms(self) -> tuple[tuple[Mechanism, int], ...]:
        return ((self, 1),)

    @property
    def parameters(self) -> dict[str, object]:
        """The keywords that make an equal mechanism, defaults left out.

        A field whose keyword would hide a question (epsilon, delta) has another name and its keyword as metadata.
        """
        return {
            item.metadata.get("keyword", item.name): getattr(self, item.name)
            for item in fields(self)  # type: ignore[arg-type]
            if item.compare and getattr(self, item.name) != item.default
        }

    @property
    def doubt(self) -> Fraction | None:
        """The probability that the draws which this rests on mislead; None where nothing was drawn."""
        return None

    def __repr__(self) -> str:
        return self._written()

    def _written(self, **instead: str) -> str:
        """The call that makes this; some values may be written another way."""
        given = ", ".join(f"{key}={instead.get(key, repr(value))}" for key, value in self.parameters.items())
        return f"{type(self).__name__}({given})"


def leaves(mechanism: Mechanism) -> frozenset[Leaf]:
    """What a mechanism is made from, each part once, however often and however deep it is used."""
    found: set[Leaf] = set()
    waiting: list[object] = [mechanism]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Leaf):
            found.add(each)
        elif isinstance(each, Mechanism):
            waiting += [getattr(each, item.name) for item in fields(each)]  # type: ignore[arg-type]
        elif isinstance(each, tuple):
            waiting += each
    return frozenset(found)


def confidence(mechanism: Mechanism) -> float | None:
    """How sure an answer is that rests on draws, rounded down: 1 - sum(1 - c_i), each data once; None without draws.

    0 stands for counts that are taken as the laws themselves. By the union bound, whatever the data have in common.
    """
    doubts = [leaf.doubt for leaf in leaves(mechanism) if leaf.doubt is not None]
    if not doubts:
        return None
    share = max(1 - sum(doubts, Fraction(0)), Fraction(0))
    found = float(share)
    # A confidence means the decimal that is printed, here as in a call.
    while Fraction(repr(found)) > share:
        found = math.nextafter(found, 0.0)
    return found
