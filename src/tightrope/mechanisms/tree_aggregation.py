"""Tree aggregation: noisy sums over the nodes of a binary tree, from which every prefix sum is made.

The leaves are the steps 1, ..., T; a node covers the steps (j - 1) 2^i + 1, ..., j 2^i, and each node that is complete
by step T is told with noise N(0, sigma^2), as soon as it is. With `restart` a new tree begins after so many steps. A
record is in one step, or in several (patterns.py), and moves the sum of each by at most `sensitivity`.
Pair: N(sqrt(L) sensitivity, sigma^2) against N(0, sigma^2). Of a record in one step L = levels = ceil(log2(T + 1)), the
number of nodes above step 1, which no other step exceeds; of one in several L is the largest sum over the nodes of
(participations in it)^2. What a step adds may depend on all that was told before it.
Guarantee: tight, also under composition, where L is known exactly; else between two ends (kernels/participation.py).
Reference: Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011; Kairouz, McMahan, Song, Thakkar, Thakurta, Xu 2021
(DP-FTRL). Proof: docs/proofs/matrix.md, docs/proofs/correlated.md (several participations).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ..bound import Bound
from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import Matrix, positive, whole
from .patterns import patterns_of, root_bound, use_of


@dataclass(frozen=True, slots=True, repr=False)
class TreeAggregation(Leaf):
    """Sums over the nodes of a binary tree of so many steps, with noise of deviation sigma on each.

    A record adds a vector of norm `sensitivity` to a step. It is in one step, unless given: participations and
    separation, at most so many steps, any two at least so far apart; epochs, once in each of several passes over one
    tree, in the same order; patterns, lists of the steps (from 0) that a record may be in. restart: a new tree begins
    after so many steps. It is the binary mechanism of continual counting and of DP-FTRL.
    """

    example = "TreeAggregation(sigma=10, steps=1000) * 3"
    section = "training"
    formula = (
        "P = N(sqrt(levels) sensitivity, sigma^2), Q = N(0, sigma^2), levels = ceil(log2(steps + 1)); of "
        "records in several steps the largest sum over nodes of (participations in it)^2 stands for levels"
    )
    theorem = (
        "Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011; Kairouz and others 2021; "
        "[proof](proofs/matrix.md); several participations: [proof](proofs/correlated.md)"
    )
    tightness = (
        "Tight, also under composition: a record in the first step attains it. What later steps add may depend on all "
        "that was told before. Of several participations where the worst pattern is found, which is said by equal ends "
        "of total_sensitivity; else the answer lies between that of a real pattern and a bound for all."
    )
    relations = (
        "Any: the sum of each step that a record is in moves by at most `sensitivity` (in L2 norm) between neighbours, "
        "the others do not. A record that is replaced by one of other steps moves both: give the sum of both norms, "
        "2 C for records of norm C. Several epochs over one tree are epochs=; with a new tree each they are a "
        "multiple. The nodes told are those complete by the last step: of a tree that is padded to 2^k leaves up to "
        "its root, give 2^k steps."
    )
    sigma: float
    steps: int
    sensitivity: float = 1.0
    participations: int | None = None
    separation: int | None = None
    epochs: int | None = None
    patterns: Matrix | None = None
    restart: int | None = None
    ends: tuple[int, int] = field(init=False, compare=False)  # around the largest sum of squares over nodes

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "steps", whole("steps", self.steps, least=1))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))
        for name in ("participations", "separation", "epochs", "restart"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole(name, getattr(self, name), least=1))
        if self.patterns is not None:
            object.__setattr__(self, "patterns", patterns_of(self.patterns, self.steps))
        object.__setattr__(self, "ends", self._ends())

    def _ends(self) -> tuple[int, int]:
        use = use_of(self.steps, self.participations, self.separation, self.epochs, self.patterns)
        if use is None:
            return self.levels, self.levels
        from ..kernels.columns import TreeColumns
        from ..kernels.participation import largest_norm_square

        lower, upper = largest_norm_square(TreeColumns(self.steps, self._leaves), use)
        return int(lower), int(upper)

    @property
    def _leaves(self) -> int:
        return self.steps if self.restart is None else min(self.restart, self.steps)

    @property
    def levels(self) -> int:
        """The nodes that a record of the first step is in: ceil(log2(T + 1)), T the steps of one tree."""
        return self._leaves.bit_length()

    @property
    def total_sensitivity(self) -> Bound:
        """The largest norm by which a record moves all nodes together; the lower end is that of a real record."""
        lower, upper = (Fraction(self.sensitivity) ** 2 * end for end in self.ends)
        return root_bound(lower, upper)

    @property
    def tight(self) -> bool:
        return self.ends[0] == self.ends[1]

    @property
    def attained(self) -> bool:
        return True

    def pair(self, direction: Direction) -> Pair:
        return self._shifted(self.ends[1])

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        return (self._shifted(self.ends[0]),)

    def _shifted(self, squares: int) -> Pair:
        from ..pairs.gaussian.pair import GaussianPair

        return GaussianPair(((self.sigma, self.sensitivity, squares),))
