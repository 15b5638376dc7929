"""Shuffling: every user reports once through the base, and the reports are put in a random order.

Claim: with p = e^epsilon, epsilon the largest loss of the base where a user's value is replaced, C ~ Bin(users - 1,
2/(p + 1)), A ~ Bin(C, 1/2), D ~ Bern(p/(p + 1)), the pair P = law of (A + D, C - A + 1 - D), Q = the same with its
entries exchanged, dominates. It holds for every epsilon-LDP base, the same for all users, or one for each place in the
order that may depend on the reports before it. Bases that differ between users are not covered: then a report may tell
its sender. k-ary randomized response has a smaller pair of its own, by its privacy blanket.
Lower ends of PureDP and of randomized response are those of real reports; there is a gap. Of other bases they are those
of the dominating pair.
Reference: Feldman, McMillan, Talwar 2021, Thm 3.1 (with fewer clones), 2023, Thm 3.2 (stated with these, and withdrawn
for general bases by its errata); Balle, Bell, Gascon, Nissim 2019 (the blanket). Proof: docs/proofs/shuffle.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from flint import arb

from ..calls import shortened
from ..errors import InvalidParameter
from ..facets.lattice import LatticeStep
from ..kernels.ball import BITS_START, upper_float, working_precision
from ..mechanisms.approximate_dp import PureDP
from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import whole
from ..mechanisms.randomized_response import RandomizedResponse
from ..pair import Pair
from ..relation import Direction, Relation
from .base import Transformation
from .composition import IDENTITY
from .sampled import demand_relation
from .sizes import sizes
from .terms import replaced_floors, replaced_pair

USERS_MOST = 10**10


class _Report(NamedTuple):
    """The largest loss; categories: of randomized response, 0 for any other base; shy: the truth is its rarest report.

    real: whether reports are known that lower ends may speak of.
    """

    loss: LatticeStep
    categories: int
    shy: bool
    real: bool


@dataclass(frozen=True, slots=True, repr=False)
class Shuffle(Transformation):
    """One report of each user through the base, in random order; of a composition, all parts make up one report.

    The base is the randomizer of every user. Its pair is about replacing the user's value, all of it, and its loss is
    bounded.
    """

    call = "shuffle"
    example = "PureDP(epsilon=2).shuffle(users=100)"
    relation = Relation.REPLACE
    formula = (
        "p = e^epsilon, C ~ Bin(users - 1, 2/(p + 1)), A ~ Bin(C, 1/2), D ~ Bern(p/(p + 1)): "
        "P = law of (A + D, C - A + 1 - D), Q = that of (C - A + 1 - D, A + D)"
    )
    theorem = (
        "Feldman, McMillan, Talwar 2021, Thm 3.1, and 2023, Thm 3.2, whose errata leave general bases open: "
        "[proof of these](proofs/shuffle.md). Randomized response: Balle, Bell, Gascon, Nissim 2019"
    )
    tightness = (
        "Not tight. Lower ends of PureDP and RandomizedResponse are those of real reports, all other users holding one "
        "value; of other bases, a channel among them, they speak of the dominating pair."
    )
    relations = "The value of one user is replaced; the base is about that too. All users have the same base."
    users: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "users", whole("users", self.users, least=1))
        if self.users > USERS_MOST:
            raise InvalidParameter(
                f"users must be at most {USERS_MOST:,}, not {self.users}: more users tell less, so what holds for "
                "fewer holds for them"
            )
        demand_relation(self.base, Relation.REPLACE, "shuffling")
        held = max(sizes(self.base), default=1)
        if self.users > 1 and held > 1:  # any two values of a user must be within the loss, not neighbours alone
            raise InvalidParameter(
                f"shuffling: the base runs on {held} records, of which one is replaced, and all that a user holds may "
                f"differ; shuffle its .group(size={held}), or reports on one record each"
            )
        _report(self.base.nameless)

    @property
    def tight(self) -> bool:
        """Of a report that tells nothing, and of one user, whom nobody hides; without making pairs."""
        report = _named(self.base.nameless)
        return report is not None and (self.users == 1 or report.loss.trivial)

    @property
    def attained(self) -> bool:
        return self.base.attained if self.users == 1 else _named(self.base.nameless) is not None

    def pair(self, direction: Direction) -> Pair:
        from ..derived.shuffled.pair import ShuffledPair

        loss, categories, shy, _ = _report(self.base.nameless)
        if loss.trivial:
            return IDENTITY.pair(direction)
        if self.users == 1:
            return replaced_pair(self.base)
        return ShuffledPair(loss, self.users, categories if categories > 2 and not shy else None)

    def floors(self, direction: Direction) -> tuple[Pair, ...]:
        from ..derived.shuffled.pair import ShuffledPair
        from ..derived.shuffled.told_or_not import ToldOrNotPair

        loss, categories, shy, real = _report(self.base.nameless)
        if self.users == 1 and not loss.trivial:
            return replaced_floors(self.base)
        if loss.trivial or not real:
            return (self.pair(direction),)
        told = ToldOrNotPair(loss, self.users, categories or 2, shy and categories > 2)
        others: tuple[Pair, ...] = ()
        if categories != 2 and not shy:
            others = (ShuffledPair(loss, self.users, categories or 3, third=True),)
        return (told, told.reversed(), *others)


def _report(base: Mechanism) -> _Report:
    """What is known of a user's report; refuses a loss without a bound."""
    return _named(base) or _Report(LatticeStep(Fraction(_largest(base)), False), 0, False, False)


def _named(base: Mechanism) -> _Report | None:
    """Of randomizers whose reports are known."""
    if isinstance(base, PureDP):
        return _Report(LatticeStep(Fraction(base.epsilon_per_use), False), 0, False, True)
    if not isinstance(base, RandomizedResponse) or base.channel is not None:  # the blanket is that of equal categories
        return None
    many = base.categories
    if base.p is None:
        return _Report(LatticeStep(Fraction(base.epsilon_per_use or 0.0), False), many, False, True)
    truth = Fraction(base.p)
    if not 0 < truth < 1:
        return None
    odds = truth * (many - 1) / (1 - truth)
    return _Report(LatticeStep(max(odds, 1 / odds), True), many, odds < 1, True)


def _largest(base: Mechanism) -> float:
    """At or above the largest loss of either order; those of parts add up."""
    why = "its loss is not bounded"
    with working_precision(BITS_START):
        total = arb(0)
        for part, count in base.terms:
            for direction in Direction:
                pair = part.pair(direction)
                if not pair.infinite_mass().is_zero() or not pair.reversed().infinite_mass().is_zero():
                    why = "it is (epsilon, delta)-private only, which the theorem does not cover"
                elif pair.bounded():
                    continue
                raise InvalidParameter(
                    f"{shortened(repr(part))} cannot be shuffled: {why}; report through PureDP(epsilon), "
                    "RandomizedResponse, Laplace or another base of bounded loss"
                )
            lowest, highest = part.pair(Direction.REMOVE).loss_range()
            back, forth = part.pair(Direction.ADD).loss_range()
            total += count * highest.max(-lowest).max(forth.max(-back))
        return max(upper_float(total), 0.0)
