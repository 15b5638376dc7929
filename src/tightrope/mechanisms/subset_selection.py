"""Subset selection: report a set of `size` of the categories, e^epsilon times as likely where it holds the true one.

Pair: with k categories, d = size and c = (k - 1) (d e^epsilon + k - d), of two categories only the first is in the set
with the masses d (k - d) e^epsilon / c and d (k - d) / c; only the second the other way round; both or none tell
nothing. So the losses are +-epsilon and 0, and no set needs to be listed.
Guarantee: tight, also under composition; every two categories have this pair.
Reference: Wang, Huang, Wang and others 2016, Mutual information optimally local private discrete distribution
estimation; Ye, Barg 2018, Optimal schemes for discrete distribution estimation under locally differential privacy.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction, Relation, relation_named
from .base import Leaf
from .parameters import positive, whole


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
        from ..pairs.finite.pair import FinitePair
        from ..pairs.finite.three_losses import SubsetLaw

        return FinitePair(SubsetLaw(self.epsilon_per_use, self.categories, self.size))
