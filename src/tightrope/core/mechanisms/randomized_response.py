"""Randomized response: report the truth with probability p, else one of the other categories, uniformly; or by a
channel, a matrix whose rows are the laws of the report for each true value.

Pair: (p, (1-p)/(m-1), ...) against ((1-p)/(m-1), p, ...) for m categories; the losses are +-log(p (m-1)/(1-p)) and 0.
Of a channel: the largest profile of all ordered pairs of rows, which is that of a finite pair, in exact fractions; a
row is taken as the given doubles divided by their exact sum, which must be 1 up to 1e-12.
Guarantee: tight, also under composition; of a channel where one pair of rows has the largest profile everywhere. Else
one use attains it, at each epsilon by some pair of rows, and lower ends choose among the rows.
Reference: Warner 1965; Kairouz, Oh, Viswanath 2016, Sec. 4. Proof: docs/proofs/channel.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ..losses.atoms import LatticeStep
from ..losses.pair import Pair
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation, relation_named
from .base import Leaf, LocalReport
from .parameters import Matrix, masses, matrix, nonnegative, positive, probability, shape, shares, whole

if TYPE_CHECKING:
    from ..losses.finite.curves import Channel


CHANNEL_MAX = 60_000  # probabilities, times the rows that each row is compared with
WITNESSES_MAX = 16  # pairs of rows that lower ends look at


@dataclass(frozen=True, slots=True, repr=False, init=False)
class RandomizedResponse(Leaf):
    """Reports one of so many categories: the truth with probability p, else any other one; or by a channel.

    Give p, or epsilon, the log of the odds of the truth against any other one, or a channel: channel[i][j] is the
    probability of the report j where i is the truth. Also called k-RR, GRR or direct encoding.
    neighbours: "replace", where the truth is the value of one user, or "add_remove", where it is computed of all the
    data and a record that comes or goes may turn it into any other.
    """

    example = "RandomizedResponse(p=0.51) * 512"
    section = "local"
    formula = (
        "m categories: (p, (1 - p)/(m - 1), rest) against ((1 - p)/(m - 1), p, rest); e^epsilon = p (m - 1)/(1 - p). "
        "channel: H(a) = max over ordered pairs of rows of sum (P_j - a Q_j)_+"
    )
    theorem = "Warner 1965; Kairouz, Oh, Viswanath 2016; of a channel: [proof](proofs/channel.md)"
    tightness = (
        "Tight, also under composition: any two categories attain it. A channel: where one pair of rows has the "
        "largest profile everywhere; else one use attains it, and composed the lower end is that of the best pairs of "
        f"rows found, of the {WITNESSES_MAX} that make up most of the profile."
    )
    relations = (
        "The value of one user is replaced, by any other one, and may be another at each use; a user who comes or goes "
        "is seen to report. neighbours='add_remove': the value is computed of all the data, and a record that comes or "
        "goes may turn it into any other. Of a channel whose user "
        "has one value throughout, the largest over two rows of Finite(p, q) * count is no more. Of one bit per "
        "category, each kept with probability p (basic RAPPOR), two differ: RandomizedResponse(p) * 2."
    )
    p: float | None = None
    epsilon_per_use: float | None = field(default=None, metadata={"keyword": "epsilon"})
    categories: int = 2
    channel: Matrix | None = None
    neighbours: str = "replace"
    largest: Channel | None = field(default=None, init=False, compare=False)  # of the rows, against each other

    def __init__(
        self,
        p: float | None = None,
        epsilon: float | None = None,
        categories: int = 2,
        channel: Matrix | None = None,
        neighbours: str = "replace",
        *,
        name: str | None = None,
    ) -> None:
        if sum(given is not None for given in (p, epsilon, channel)) != 1:
            raise InvalidParameter("RandomizedResponse takes either p (probability of the truth), epsilon or channel")
        object.__setattr__(self, "p", None if p is None else probability("p", p))
        object.__setattr__(self, "epsilon_per_use", None if epsilon is None else nonnegative("epsilon", epsilon))
        object.__setattr__(self, "categories", whole("categories", categories, least=2))
        object.__setattr__(self, "neighbours", relation_named(neighbours).value)
        rows = None if channel is None else _rows(channel, self.categories)
        object.__setattr__(self, "channel", rows)
        object.__setattr__(self, "largest", None if rows is None else _largest(rows))

    @property
    def relation(self) -> Relation:
        return Relation(self.neighbours)

    @property
    def tight(self) -> bool:
        return self.largest is None or len(self.largest.ways) <= 1

    @property
    def attained(self) -> bool:
        """By rows of the channel, other ones at each use: a user may have another value each time."""
        return True

    def pair(self, direction: Direction) -> Pair:
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.laws import ResponseLaw, response_law

        if self.largest is not None:
            return FinitePair(self.largest.law)
        if self.p is not None:
            return FinitePair(response_law(self.p, self.categories))
        return FinitePair(ResponseLaw(self.epsilon_per_use or 0.0, 0.0, self.categories))

    def local_report(self) -> LocalReport | None:
        """Of equal categories, whose privacy blanket is known; not of a channel, nor where a report tells all."""
        if self.channel is not None:
            return None
        if self.p is None:
            return LocalReport(LatticeStep(Fraction(self.epsilon_per_use or 0.0), False), self.categories, False)
        truth = Fraction(self.p)
        if not 0 < truth < 1:
            return None
        odds = truth * (self.categories - 1) / (1 - truth)
        return LocalReport(LatticeStep(max(odds, 1 / odds), True), self.categories, odds < 1)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        if self.largest is None or self.tight:
            return (self.pair(direction),)
        from ..losses.finite.finite_pair import FinitePair

        return tuple(map(FinitePair, self.largest.ways[:WITNESSES_MAX]))


def _rows(channel: Matrix, categories: int) -> tuple[tuple[float, ...], ...]:
    if categories != 2:
        raise InvalidParameter("categories must be left out where a channel is given: they are its rows")
    many, long = shape(channel)
    if many * (many - 1) * long > CHANNEL_MAX:
        raise InvalidParameter(
            f"channel must have rows * (rows - 1) * columns of at most {CHANNEL_MAX:,}, not {many} rows of {long}: "
            "merge reports, or give the two rows that differ most as Finite(p, q)"
        )
    rows = matrix("channel", channel)
    if len(rows) < 2:
        raise InvalidParameter("channel must have at least two rows, one for each value that a user may have")
    return tuple(masses(f"channel[{index}]", row) for index, row in enumerate(rows))


def _largest(rows: tuple[tuple[float, ...], ...]) -> Channel:
    from ..losses.finite.curves import channel_of

    return channel_of([shares(row) for row in rows])


# Subset selection: report a set of `size` of the categories, e^epsilon times as likely where it holds the true one.
#
# Pair: with k categories, d = size and c = (k - 1) (d e^epsilon + k - d), of two categories only the first is in the
# set
# with the masses d (k - d) e^epsilon / c and d (k - d) / c; only the second the other way round; both or none tell
# nothing. So the losses are +-epsilon and 0, and no set needs to be listed.
# Guarantee: tight, also under composition; every two categories have this pair.
# Reference: Wang, Huang, Wang and others 2016, Mutual information optimally local private discrete distribution
# estimation; Ye, Barg 2018, Optimal schemes for discrete distribution estimation under locally differential privacy.


@dataclass(frozen=True, slots=True, repr=False, init=False)
class SubsetSelection(Leaf):
    """Reports a set of `size` out of so many categories, one with the truth in it e^epsilon times as often.

    Of size 1 it is randomized response. neighbours: as of RandomizedResponse.
    """

    example = "SubsetSelection(epsilon=1, categories=16, size=4)"
    section = "local"
    formula = (
        "k categories, d = size, c = (k - 1) (d e^epsilon + k - d): losses +epsilon with mass d (k - d) e^epsilon / c, "
        "-epsilon with d (k - d) / c, 0 with the rest"
    )
    theorem = "Wang et al. 2016; Ye, Barg 2018: sizes about k/(e^epsilon + 1) estimate best"
    tightness = "Tight, also under composition: any two categories attain it."
    relations = (
        "The category of one user is replaced, by any other; with neighbours='add_remove' it is computed of all the "
        "data, and a record that comes or goes may turn it into any other. `size` is that of the sets which are drawn: "
        "papers round k/(e^epsilon + 1) in different ways, so it has no default."
    )
    epsilon_per_use: float = field(metadata={"keyword": "epsilon"})
    categories: int
    size: int
    neighbours: str = "replace"

    def __init__(
        self, epsilon: float, categories: int, size: int, neighbours: str = "replace", *, name: str | None = None
    ) -> None:
        object.__setattr__(self, "neighbours", relation_named(neighbours).value)
        object.__setattr__(self, "epsilon_per_use", positive("epsilon", epsilon))
        object.__setattr__(self, "categories", whole("categories", categories, least=2))
        object.__setattr__(self, "size", whole("size", size, least=1))
        if self.size >= self.categories:
            raise InvalidParameter(f"size must be below categories, {self.categories}, not {self.size}")

    @property
    def relation(self) -> Relation:
        return Relation(self.neighbours)

    def pair(self, direction: Direction) -> Pair:
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.laws import SubsetLaw

        return FinitePair(SubsetLaw(self.epsilon_per_use, self.categories, self.size))
