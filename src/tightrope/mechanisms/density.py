"""A mechanism given by two smooth densities: a researcher's own noise.

With the record its output has the density e^log_p, without it e^log_q. Both are formulas, smooth on the support:
a finite interval (low, high), or several, each with functions of its own where they differ. The functions are called
once, with an argument that writes the formula down and has no value to branch on. Logarithms, because a density itself
loses all its digits where it is small.
Mass outside of the support is counted as infinite loss: cut where it is far below every delta of interest.
Guarantee: the pair dominates every mechanism with these densities on the support. Where P or Q is shown to have mass
outside, the lower end speaks of the dominating pair; the mechanism loses less, by at most that mass per use.
Reference: Zhu, Dong, Wang 2021, Def. 7. Proof: docs/proofs/density.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..bound import Bound
from ..errors import InvalidParameter
from ..kernels.ball import lower_float, upper_float
from ..pair import Pair
from ..relation import Direction
from .base import Leaf

if TYPE_CHECKING:
    from ..pairs.density.formula import Function
    from ..pairs.density.pair import DensityPair

Support = Sequence[float] | Sequence[Sequence[float]]
WIDEST = 1e300


@dataclass(frozen=True, repr=False)
class Density(Leaf):
    """Outputs with the log densities log_p (with the record) and log_q (without) on the support.

    log_p, log_q: a function, or one for each interval of the support.
    support: (low, high), or a list of such intervals from left to right.
    """

    section = "laws"
    snippet = """import tightrope as tr
from flint import arb

def normal(shift):
    return lambda x: -((x - shift) ** 2) / 2 - (2 * arb.pi()).log() / 2

own = tr.Density(log_p=normal(1), log_q=normal(0), support=(-9, 10))"""
    formula = (
        "P and Q have the densities e^log_p and e^log_q on the support: H(a) = integral of (e^log_p - a e^log_q)_+, "
        "plus the mass of P outside"
    )
    theorem = "Zhu, Dong, Wang 2021, Def. 7; [proof](proofs/density.md)"
    tightness = (
        "Tight, also under composition, where no mass is shown to lie outside of the support; else lower ends speak "
        "of the dominating pair, which loses more by at most that mass per use."
    )
    relations = "Those between which the densities were taken: log_p with the record, log_q without it."
    log_p: Function | Sequence[Function]
    log_q: Function | Sequence[Function]
    support: Support

    def __post_init__(self) -> None:
        support = _intervals(self.support)
        object.__setattr__(self, "support", support)
        for name in ("log_p", "log_q"):
            object.__setattr__(self, name, _functions(name, getattr(self, name), len(support)))
        self.pair(Direction.REMOVE)  # what is wrong with the functions is said here

    def __str__(self) -> str:
        """For people: functions by their names."""
        return self._written(log_p=_names(self.log_p), log_q=_names(self.log_q))

    @property
    def tight(self) -> bool:
        return all(mass.lower == 0.0 for mass in self.outside)

    @property
    def outside(self) -> tuple[Bound, Bound]:
        """The masses that P and Q have outside of the support."""
        analysis = self._pair.analysis
        first, second = (
            Bound(max(lower_float(mass), 0.0), upper_float(mass)) for mass in (analysis.outside_p, analysis.outside_q)
        )
        return first, second

    def pair(self, direction: Direction) -> Pair:
        return self._pair if direction is Direction.REMOVE else self._pair.reversed()

    @cached_property
    def _pair(self) -> DensityPair:
        from ..pairs.density.pair import density_pair
        from ..pairs.density.series import piece_of

        checked: Any = zip(self.log_p, self.log_q, self.support, strict=True)  # type: ignore[arg-type]
        return density_pair(tuple(piece_of(log_p, log_q, low, high) for log_p, log_q, (low, high) in checked))


def _intervals(support: Support) -> tuple[tuple[float, float], ...]:
    try:
        pairs: Iterable[Any] = support if isinstance(support[0], Sequence) else (support,)
        ends = [(float(low), float(high)) for low, high in pairs]
    except (TypeError, ValueError, IndexError):
        raise InvalidParameter(f"support must be (low, high) or a list of such pairs, not {support!r:.60}") from None
    flat = [end for pair in ends for end in pair]
    if not all(abs(end) <= WIDEST for end in flat):
        raise InvalidParameter(
            f"support must be finite, not {support!r:.60}: cut the tails off where they hold too little to matter; "
            "what lies outside counts as infinite loss"
        )
    if any(low >= high for low, high in ends) or any(one[1] > two[0] for one, two in pairwise(ends)):
        raise InvalidParameter(f"the intervals of support must rise from left to right, not {support!r:.60}")
    return tuple(ends)


def _functions(name: str, given: Function | Sequence[Function], count: int) -> tuple[Function, ...]:
    functions = (given,) * count if callable(given) else tuple(given) if isinstance(given, Sequence) else ()
    if len(functions) != count or not all(callable(function) for function in functions):
        raise InvalidParameter(f"{name} must be a function, or a list of {count}, one for each interval of the support")
    return functions


def _names(functions: Function | Sequence[Function]) -> str:
    given = (functions,) if callable(functions) else functions
    return ", ".join(getattr(each, "__name__", type(each).__name__).strip("<>") for each in given)
