"""Tree aggregation: noisy sums over the nodes of a binary tree, from which every prefix sum is made.

The leaves are the steps 1, ..., T; a node covers the steps (j - 1) 2^i + 1, ..., j 2^i, and each node that is complete
by step T is told with noise N(0, sigma^2), as soon as it is. A record is in one step, where it moves the sum by at most
`sensitivity`.
Pair: N(sqrt(levels) sensitivity, sigma^2) against N(0, sigma^2), levels = ceil(log2(T + 1)), the number of nodes above
step 1, which no other step exceeds. What a step adds may depend on all that was told before it.
Guarantee: tight, also under composition.
Reference: Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011; Kairouz, McMahan, Song, Thakkar, Thakurta, Xu 2021
(DP-FTRL). Proof: docs/proofs/matrix.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import positive, whole


@dataclass(frozen=True, slots=True, repr=False)
class TreeAggregation(Leaf):
    """Sums over the nodes of a binary tree of so many steps, with noise of deviation sigma on each.

    A record is in one step, of norm `sensitivity`. It is the binary mechanism of continual counting and of DP-FTRL.
    """

    example = "TreeAggregation(sigma=10, steps=1000) * 3"
    section = "training"
    formula = "P = N(sqrt(levels) sensitivity, sigma^2), Q = N(0, sigma^2), levels = ceil(log2(steps + 1))"
    theorem = (
        "Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011; Kairouz and others 2021; [proof](proofs/matrix.md)"
    )
    tightness = (
        "Tight, also under composition: a record in the first step attains it. What later steps add may depend on all "
        "that was told before."
    )
    relations = (
        "Any: the sum of one step moves by at most `sensitivity` (in L2 norm) between neighbours, the others do not. "
        "A record that is replaced by one of another step moves two: give the sum of both norms, 2 C for records of "
        "norm C. "
        "One epoch; several are a multiple, with a new tree each. The nodes told are those complete by the last step: "
        "of a tree that is padded to 2^k leaves up to its root, give 2^k steps."
    )
    sigma: float
    steps: int
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "steps", whole("steps", self.steps, least=1))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))

    @property
    def levels(self) -> int:
        """The nodes that a record of the first step is in: ceil(log2(steps + 1))."""
        return self.steps.bit_length()

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.gaussian.pair import GaussianPair

        return GaussianPair(((self.sigma, self.sensitivity, self.levels),))
