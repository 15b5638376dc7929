"""Two measured histograms over the same bins, such as timings with and without a secret.

Without confidence the histograms are taken as the laws themselves: masses are the numbers divided by their exact sum.
With confidence c, drawn counts n_i of N give limits (Clopper-Pearson, at level (1 - c) / (4 bins) each), and the pair
dominates every pair of laws within them: with probability c, over the draws, no bound on the loss is too low.
Bins must be chosen before the draws; one that no draw hit still counts with what it could hold.
Guarantee: exact for the laws given; with confidence an upper bound, the lower end is that of the dominating pair.
Reference: Meiser, Mohammadi 2018, Sec. 5.3; Clopper, Pearson 1934. Proof: docs/proofs/classic.md, section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import InvalidParameter
from ..pair import Pair
from ..pairs.finite import FinitePair, RationalLaw
from ..pairs.histogram import law_within, lower_limit, upper_limit
from ..relation import Direction
from .base import Leaf
from .histogram_data import Source, read_pair
from .parameters import probability

KINDS = ("counts", "probabilities")


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Histograms(Leaf):
    """Measured: a with the record, b without; each an array, a .npy file or a CSV file."""

    a: Sequence[float]
    b: Sequence[float]
    kind: str = "counts"
    confidence: float | None = None

    def __init__(self, a: Source, b: Source, kind: str = "counts", confidence: float | None = None) -> None:
        if kind not in KINDS:
            raise InvalidParameter(f"kind must be 'counts' or 'probabilities', not {kind!r}")
        if confidence is not None:
            if kind != "counts":
                raise InvalidParameter("confidence needs counts: probabilities do not tell how many draws there were")
            confidence = probability("confidence", confidence)
            if not 0.0 < confidence < 1.0:
                raise InvalidParameter(f"confidence must lie between 0 and 1, not {confidence!r}")
        first, second = read_pair(a, b, kind)
        object.__setattr__(self, "a", first)
        object.__setattr__(self, "b", second)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "confidence", confidence)

    @property
    def tight(self) -> bool:
        return self.confidence is None

    def pair(self, direction: Direction) -> Pair:
        first, second = (self.a, self.b) if direction is Direction.REMOVE else (self.b, self.a)
        if self.confidence is None:
            return FinitePair(RationalLaw(_shares(first), _shares(second)))
        level = (1 - Fraction(self.confidence)) / (4 * len(first))
        return FinitePair(law_within(_limits(first, level, upper=True), _limits(second, level, upper=False)))


def _shares(values: Sequence[float]) -> tuple[Fraction, ...]:
    exact = tuple(map(Fraction, values))
    total = sum(exact, Fraction(0))
    return tuple(value / total for value in exact)


def _limits(counts: Sequence[float], level: Fraction, upper: bool) -> tuple[Fraction, ...]:
    total, limit = int(sum(counts)), upper_limit if upper else lower_limit
    by_count = {count: limit(int(count), total, level) for count in set(counts)}
    return tuple(by_count[count] for count in counts)
