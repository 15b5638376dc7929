"""Private selection: the best output of a random number of runs.

The mechanism is run K times, K drawn without looking at the data, and the output with the best score is told; nothing
where K = 0. The score is part of the output, or is made of it without the data.
Claim: H(a) <= P[K = 0] (1 - a)_+ + E[K] H_base(a e^-c), c the supremum of log phi'(g(x)) / phi'(x), per direction.
Reference: Liu, Talwar 2019; Papernot, Steinke 2022; Koskela, Redberg, Wang 2024. Proof: docs/proofs/selection.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..losses.pair import Pair
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation
from .base import largest_loss
from .composition import FIXED, Transformation, replaced_pair
from .parameters import finite, positive, whole
from .theorems import BEST_OF, ONE_RUN, WITNESS, Theorem

if TYPE_CHECKING:
    from flint import arb

    from ..losses.operators.private_selection import RepetitionLaw


LAWS = ("geometric", "negative_binomial", "logarithmic", "poisson", "binomial")
MEAN_MAX = 1e12


@dataclass(frozen=True, slots=True, repr=False)
class BestOf(Transformation):
    """The best output of K runs of the base, K random: told are that output and its score, nothing where K = 0."""

    call = "best_of"
    example = "PureDP(epsilon=0.1).best_of(law='geometric', mean=10)"
    formula = (
        "phi(z) = E z^K, c = sup log phi'(g(x))/phi'(x), g the power of the base: "
        "H(a) <= P[K = 0] (1 - a)_+ + E[K] Hb(a e^-c), and the mirror of the reverse"
    )
    theorem = (
        "Koskela, Redberg, Wang 2024, sharpened to the whole profile; Papernot, Steinke 2022; "
        "[proof](proofs/selection.md)"
    )
    tightness = (
        "Not tight. Lower ends are those of real scores: ones that rise or fall with the loss of the base, or tell "
        "nothing."
    )
    relations = "As the base."
    law: str
    mean: float
    shape: float | None = None

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            hint = f"; {FIXED}" if self.law in ("fixed", "constant") else ""
            raise InvalidParameter(f"law must be one of {', '.join(LAWS)}, not {self.law!r:.60}{hint}")
        mean = positive("mean", self.mean)
        if mean > MEAN_MAX:
            raise InvalidParameter(f"mean must be at most {MEAN_MAX:g}, not {self.mean!r}")
        object.__setattr__(self, "mean", mean)
        if self.law not in ("poisson", "binomial") and mean < 1.0:
            raise InvalidParameter(
                f"mean must be at least 1, not {self.mean!r}: with law={self.law!r} there is a run always; "
                "law='poisson' allows none"
            )
        object.__setattr__(self, "shape", self._shape(mean))
        self.rests_on.demand(self.base)

    def _shape(self, mean: float) -> float | None:
        if self.law == "negative_binomial":
            shape = finite("shape", 1.0 if self.shape is None else self.shape)
            if self.shape is None or not shape > -1.0 or shape == 0.0 or shape > 1e6:
                raise InvalidParameter(
                    f"shape must be given, above -1 and not 0, for law='negative_binomial', not {self.shape!r}; "
                    "shape 1 is law='geometric', shape 0 law='logarithmic'"
                )
            return shape
        if self.law == "binomial":
            if self.shape is None:
                raise InvalidParameter("shape must be given for law='binomial': the number of trials")
            trials = whole("shape", self.shape, least=1)
            if mean > trials:
                raise InvalidParameter(f"mean must be below shape, the number of trials, {trials}, not {self.mean!r}")
            if mean == trials > 1:
                raise InvalidParameter(
                    f"mean must be below shape, the number of trials, {trials}, not {self.mean!r}: {FIXED}"
                )
            return trials
        if self.shape is not None:
            raise InvalidParameter(f"shape must be left out for law={self.law!r}, not {self.shape!r}")
        return None

    @property
    def rests_on(self) -> Theorem:
        return ONE_RUN if self._once else BEST_OF

    @property
    def everywhere(self) -> bool:
        return self.base.everywhere

    @property
    def known_in_groups(self) -> bool:
        return self.base.known_in_groups

    @property
    def relation(self) -> Relation | None:
        return self.base.relation

    @property
    def _once(self) -> bool:
        """Whether there is one run, always."""
        return self.mean == 1.0 and (self.law not in ("poisson", "binomial") or self.shape == 1)

    @property
    def _runs(self) -> RepetitionLaw:
        from ..losses.operators.private_selection import BinomialRuns, NegativeBinomialRuns, PoissonRuns

        if self.law == "poisson":
            return PoissonRuns(self.mean)
        if self.law == "binomial":
            assert self.shape is not None
            return BinomialRuns(self.mean, int(self.shape))
        shapes = {"geometric": 1.0, "logarithmic": 0.0}
        return NegativeBinomialRuns(self.mean, shapes.get(self.law, self.shape or 0.0))

    @property
    def tight(self) -> bool:
        return self._once and self.base.tight

    @property
    def attained(self) -> bool:
        return WITNESS.holds(self.base)

    def pair(self, direction: Direction) -> Pair:
        return self._best(self.base.pair(direction))

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """The theorem for the two laws of a run, which are those of the group."""
        return self._best(self.base.group_pair(size, direction))

    def replaced_pair(self, size: int) -> Pair:
        return self._best(replaced_pair(self.base, size))

    def largest_loss(self) -> arb | None:
        """Of the base where each of its parts may meet either order."""
        return largest_loss([self.replaced_pair(1)])

    def _best(self, base: Pair) -> Pair:
        from ..losses.operators.private_selection import PrivateSelectionPair

        return base if self._once else PrivateSelectionPair(base, self._runs)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        from ..losses.operators.private_selection import FallingScoresPair, RisingPair, UnscoredPair

        pairs = self.base.witnesses(direction)
        if self._once:
            return pairs
        kinds = (
            (FallingScoresPair, RisingPair, UnscoredPair)
            if self.law in ("poisson", "binomial")
            else (FallingScoresPair, RisingPair)
        )
        plain = () if UnscoredPair in kinds else pairs  # one of at least one run, at random
        return (*(kind(floor, self._runs) for floor in pairs for kind in kinds), *plain)

    def group_tight(self, size: int) -> bool:
        return self._once and self.base.group_tight(size)
