"""Two measured histograms over the same bins, such as timings with and without a secret.

Without confidence the histograms are taken as the laws themselves: masses are the numbers divided by their exact sum.
With confidence c, drawn counts n_i of N give limits (Clopper-Pearson, at level (1 - c) / (4 bins) each), and the pair
dominates every pair of laws within them, which all dominate the pair of lower ends: with probability c, over the draws,
no bound on the loss is too low, and no lower end too high.
Bins must be chosen before the draws; one that no draw hit still counts with what it could hold. What is measured is
the bin of an output: a finer look at the output may tell more.
Guarantee: exact for the laws given; with confidence an upper and a lower bound, which hold together.
Reference: Meiser, Mohammadi 2018, Sec. 5.3; Clopper, Pearson 1934. Proof: docs/proofs/classic.md, section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, TypedDict, Unpack

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction
from .base import SHOWN, Leaf
from .data_file import data_file
from .parameters import probability, shares

if TYPE_CHECKING:
    from ..pairs.finite.histogram import MassLimits
    from ..pairs.finite.laws import RationalLaw
    from .binning import Bins
    from .samples import Source as Given

    Source = tuple[float, ...]  # what a and b are once made; expressions look for this word

    class HistogramOptions(TypedDict, total=False):
        """How data are read, and the name."""

        samples: bool | None
        bins: Bins | None
        width: float | None
        column: str
        name: str | None


KINDS = ("counts", "probabilities")


class _Anew:
    """Asked for when data are read, and then forgotten: dataclasses.replace cannot know whether bins saw the draws."""

    def __get__(self, made: object, owner: type) -> None:
        if made is not None:
            raise InvalidParameter("Histograms are made anew from their data: whether draws chose the bins is not kept")


@dataclass(frozen=True, slots=True, repr=False)
class Histograms(Leaf):
    """Measured: a with the record, b without; each an array, or a .csv, .npy or .parquet file.

    samples: True for raw draws, counted over the same bins for both: bins are edges or their number, width is that of
    each bin, column names a column of the files. False says that files without a heading hold counts.
    kind: "counts" or "probabilities". confidence: of the limits within which the drawn counts leave the laws; without
    it they are taken as the laws themselves.
    """

    example = "Histograms(a=[900, 100], b=[880, 120], confidence=0.95)"
    section = "laws"
    formula = (
        "Without confidence P = a, Q = b, each divided by its exact sum. With it H(alpha) is the convex hull of "
        "(0, 1), of sum over the bins of (p_up - alpha q_low)_+ and of three more bounds, since laws sum to 1, with "
        "the Clopper-Pearson limits of each bin at level (1 - confidence)/(4 bins)"
    )
    theorem = "Meiser, Mohammadi 2018, Sec. 5.3; limits: Clopper, Pearson 1934; [proof](proofs/classic.md)"
    tightness = (
        "Without confidence exact for the laws given. With it both ends hold together with that probability over the "
        "draws: the upper one for all laws within the limits, the lower one for tests that claim the likeliest bins."
    )
    relations = (
        "Those between which was measured: a with the record, b without it. What was not measured, such as other "
        "neighbours or a finer look at the output, is not covered."
    )
    a: Source
    b: Source
    kind: str = "counts"
    confidence: float | None = None
    samples: InitVar[bool | None] = _Anew()
    bins: InitVar[Bins | None] = None
    width: InitVar[float | None] = None
    column: InitVar[str] = ""
    sources: tuple[str, str] = field(default=("", ""), init=False, compare=False)  # of the files, for titles

    if TYPE_CHECKING:  # a call takes more than the fields hold

        def __init__(
            self,
            a: Given,
            b: Given,
            kind: str = "counts",
            confidence: float | None = None,
            **options: Unpack[HistogramOptions],
        ) -> None: ...

    def __post_init__(self, samples: bool | None, bins: Bins | None, width: float | None, column: str) -> None:
        a, b, kind, confidence = self.a, self.b, self.kind, self.confidence
        if kind not in KINDS:
            raise InvalidParameter(f"kind must be 'counts' or 'probabilities', not {kind!r:.60}")
        if samples not in (True, False, None) or (samples and kind != "counts"):
            raise InvalidParameter("samples must be True for raw draws, False for numbers per bin, and leaves no kind")
        if not samples and (bins is not None or width is not None or column):
            raise InvalidParameter("bins, width and column are for raw draws: say samples=True")
        if confidence is not None:
            if kind != "counts":
                raise InvalidParameter("confidence needs counts: probabilities do not tell how many draws there were")
            confidence = probability("confidence", confidence)
            if not 0.0 < confidence < 1.0:
                raise InvalidParameter(f"confidence must lie between 0 and 1, not {confidence!r}")
        pair: tuple[Sequence[float], Sequence[float]]
        if samples:
            from .binning import counted

            pair = counted(a, b, bins, width, column, split=confidence is not None)
        else:
            from .histogram_data import read_pair

            pair = read_pair(a, b, kind, said=samples is False)
        object.__setattr__(self, "a", pair[0])
        object.__setattr__(self, "b", pair[1])
        object.__setattr__(self, "confidence", confidence)
        object.__setattr__(self, "sources", (_name(a), _name(b)))

    @property
    def numbers(self) -> tuple[Sequence[float], Sequence[float]]:
        """What a and b were read as."""
        return self.a, self.b

    def __str__(self) -> str:
        """For people: files by name, and many numbers by how many they are."""
        a, b = map(_short, self.numbers, self.sources)
        return self._written(a=a, b=b)

    @property
    def doubt(self) -> Fraction | None:
        """1 - confidence, as its decimals are written; 1 without, where counts are taken as the laws themselves."""
        if self.kind != "counts":
            return None
        return 1 - (Fraction(0) if self.confidence is None else Fraction(repr(self.confidence)))

    @property
    def tight(self) -> bool:
        return self.confidence is None

    @property
    def attained(self) -> bool:
        """By the two laws that were measured."""
        return True

    @property
    def beside_others(self) -> bool:
        return False

    @property
    def everywhere(self) -> bool:
        """What was measured are two laws; other neighbours were not."""
        return False

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.finite.histogram import law_within

        return self._made(direction, law_within)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        from ..pairs.finite.histogram import law_below

        return (self._made(direction, law_below),)

    def _made(self, direction: Direction, within: Callable[[MassLimits, MassLimits], RationalLaw]) -> Pair:
        """The pair of the laws given, or what is made of their limits."""
        from ..pairs.finite.laws import RationalLaw
        from ..pairs.finite.pair import FinitePair

        first, second = self.numbers if direction is Direction.REMOVE else reversed(self.numbers)
        doubt = self.doubt
        if self.confidence is None or doubt is None:
            return FinitePair(RationalLaw(shares(first), shares(second)))
        level = doubt / (4 * len(first))
        return FinitePair(within(_limits(first, level), _limits(second, level)))


def _limits(counts: Sequence[float], level: Fraction) -> MassLimits:
    from ..pairs.finite.histogram import MassLimits, lower_limit, upper_limit

    total = int(sum(counts))
    by_count = {
        count: (lower_limit(int(count), total, level), upper_limit(int(count), total, level)) for count in set(counts)
    }
    return MassLimits(*([by_count[count][side] for count in counts] for side in (0, 1)))


def _name(source: Given) -> str:
    return data_file(source).name if isinstance(source, (str, PathLike)) else ""


def _short(values: Sequence[float], name: str) -> str:
    if name:
        return repr(name)
    return repr(values) if len(values) <= SHOWN else f"[{len(values)} numbers]"
