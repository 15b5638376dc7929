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

from ..losses.atoms import LatticeStep
from ..losses.pair import Pair
from ..numerics.balls import BITS_START, upper_float, working_precision
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation
from .base import Mechanism
from .composition import IDENTITY, Transformation, replaced_pair, replacement_witnesses
from .parameters import whole
from .theorems import ONE_USER, SHUFFLE, WITNESS, Theorem

USERS_MAX = 10**10


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
        if self.users > USERS_MAX:
            raise InvalidParameter(
                f"users must be at most {USERS_MAX:,}, not {self.users}: more users tell less, so what holds for "
                "fewer holds for them"
            )
        self.rests_on.demand(self.base)

    @property
    def rests_on(self) -> Theorem:
        """Any two values of a user must be within the loss, not neighbours alone, where there are other users."""
        return ONE_USER if self.users == 1 else SHUFFLE

    @property
    def sizes(self) -> frozenset[int]:
        return frozenset({self.users})

    @property
    def everywhere(self) -> bool:
        """Whatever the values of the users are; one user is the base."""
        return self.users > 1 or self.base.everywhere

    @property
    def known_in_groups(self) -> bool:
        return self.users > 1 or self.base.known_in_groups

    @property
    def tight(self) -> bool:
        """Of a report that tells nothing, and of one user, whom nobody hides; without making pairs."""
        report = self.base.nameless.local_report()
        return report is not None and (self.users == 1 or report.loss.trivial)

    @property
    def attained(self) -> bool:
        return WITNESS.holds(self.base) if self.users == 1 else self.base.nameless.local_report() is not None

    def pair(self, direction: Direction) -> Pair:
        from ..losses.operators.shuffle.shuffled import ShuffledPair

        report, loss = self.base.nameless.local_report(), _loss(self.base.nameless)
        if loss.trivial:
            return IDENTITY.pair(direction)
        if self.users == 1:
            return replaced_pair(self.base)
        blanket = report is not None and report.categories > 2 and not report.shy
        return ShuffledPair(loss, self.users, report.categories if report is not None and blanket else None)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        from ..losses.operators.shuffle.shuffled import ShuffledPair
        from ..losses.operators.shuffle.shuffled_response import ShuffledRandomizedResponsePair

        report, loss = self.base.nameless.local_report(), _loss(self.base.nameless)
        if self.users == 1 and not loss.trivial:
            return replacement_witnesses(self.base)
        if loss.trivial or report is None:
            return (self.pair(direction),)
        _, categories, shy = report
        told = ShuffledRandomizedResponsePair(loss, self.users, categories or 2, shy and categories > 2)
        others: tuple[Pair, ...] = ()
        if categories != 2 and not shy:
            others = (ShuffledPair(loss, self.users, categories or 3, third=True),)
        return (told, told.reversed(), *others)


def _loss(base: Mechanism) -> LatticeStep:
    """At or above the largest loss of a report, whichever order its parts meet their laws in."""
    report = base.local_report()
    if report is not None:
        return report.loss
    with working_precision(BITS_START):
        largest = base.largest_loss()
        assert largest is not None, "SHUFFLE needs a bounded loss"
        return LatticeStep(Fraction(max(upper_float(largest), 0.0)), False)
