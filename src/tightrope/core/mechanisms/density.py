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

from ..losses.pair import Pair
from ..numerics.balls import lower_float, upper_float
from ..values.bound import Bound
from ..values.errors import InvalidParameter, UnsupportedMechanism
from ..values.question import Direction
from .base import Leaf
from .parameters import probability, real

if TYPE_CHECKING:
    from ..losses.characteristic_function import ClaimedDecay, Claims, LogMoment
    from ..losses.density.density_pair import DensityPair
    from ..losses.density.series import Function


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
        from ..losses.density.density_pair import density_pair
        from ..losses.density.series import piece_of

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


# A mechanism given by the characteristic function of its privacy loss, or rather by its logarithm at complex points.
#
# With (P, Q) the output laws with the record and without it, or a pair that dominates them, and l the privacy loss,
#     K(z) = log_moment(z) = log E_P[e^{z l}; l finite].
# K is a function of a flint.acb and gives one: a ball that contains the truth at the current precision, for every z
# whose
# real part lies in the strip, ends included. K(it) is the log of the phi-function, K(a - 1) that of the Renyi moments.
# Adding a record has K(-1 - z), so that the strip should reach below -1 and above 0.
# Everything is proven from these claims, and they are yours: that K is what it says, that P and Q have the masses
# infinite_mass and lost_mass where the other has none (above 0, K tells their digits), and how |M(c + it)| = |e^K|
# falls.
# What can be tried is tried, and a K that no loss has is refused where that is seen. A certificate names the claims.
# Guarantee: as that of the contour, for every mechanism that obeys the claims; one use, any composition with others
# that
# have a cgf, one Poisson sample of these, Renyi divergences, the phi-function. Several samples are refused: moments do
# not tell theirs.
# Reference: Zhu, Dong, Wang 2021, Def. 15 (phi-functions). Proof: docs/proofs/moments.md.


@dataclass(frozen=True, repr=False)
class CharacteristicFunction(Leaf):
    """A loss with the log moment function log_moment, a function of flint.acb, on a strip of real parts.

    strip: (low, high), low at most -1 and high at least 0; infinite where there is no end.
    decay: a function of c and r, both flint.arb, at or above log |M(c + it)/M(c)| for all |t| >= r and every c in the
    strip; "falling" where |M(c + it)| never rises with |t|, so that K itself tells; None where nothing is claimed, as
    for atoms: then something else in the composition must fall.
    infinite_mass, lost_mass: of P where Q has none, and of Q where P has none.
    """

    section = "laws"
    snippet = """import math
import tightrope as tr

def normal(z):  # the loss of Gaussian noise as wide as the sensitivity
    return z * (z + 1) / 2

own = tr.CharacteristicFunction(log_moment=normal, strip=(-math.inf, math.inf), decay="falling")"""
    formula = (
        "K(z) = log_moment(z) = log E_P[e^(z l); l finite], l the loss. Delta is an integral of e^K along a line in "
        "the strip; adding a record has K(-1 - z)"
    )
    theorem = "Zhu, Dong, Wang 2021, Def. 15; [proof](proofs/moments.md)"
    tightness = "Both ends hold for every mechanism that obeys the claims, which the certificate names."
    relations = "Those between which the moments were taken: P with the record, Q without it."
    log_moment: LogMoment
    strip: tuple[float, float]
    decay: ClaimedDecay | str | None = None
    infinite_mass: float = 0.0
    lost_mass: float = 0.0

    def __post_init__(self) -> None:
        from ..losses.characteristic_function import FALLING, check

        if not callable(self.log_moment):
            raise InvalidParameter(f"log_moment must be a function of a flint.acb, not {self.log_moment!r:.60}")
        if not (self.decay is None or self.decay == FALLING or callable(self.decay)):
            raise InvalidParameter(f"decay must be a function of c and r, 'falling' or None, not {self.decay!r:.60}")
        object.__setattr__(self, "strip", _strip(self.strip))
        for name in ("infinite_mass", "lost_mass"):
            mass = probability(name, getattr(self, name))
            if mass == 1.0:
                raise InvalidParameter(f"{name} must be below 1, where the loss has finite values")
            object.__setattr__(self, name, mass)
        try:
            check(self._claims)
        except UnsupportedMechanism as refusal:
            raise InvalidParameter(refusal.hint) from None

    def __str__(self) -> str:
        """For people: functions by their names."""
        shown = {"log_moment": _name(self.log_moment)}
        return self._written(**shown, **({"decay": _name(self.decay)} if callable(self.decay) else {}))

    @property
    def claimed(self) -> str:
        return f"log_moment{' and decay' if self.decay else ''} of {self}, as claimed"

    def pair(self, direction: Direction) -> Pair:
        from ..losses.characteristic_function import MomentPair

        return MomentPair(self._claims, direction is Direction.ADD)

    @property
    def _claims(self) -> Claims:
        from ..losses.characteristic_function import Claims

        return Claims(self.log_moment, self.strip, self.decay, self.infinite_mass, self.lost_mass)


def _strip(given: object) -> tuple[float, float]:
    try:
        low, high = (real("an end of strip", end) for end in given)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise InvalidParameter(f"strip must be (low, high), the real parts of z, not {given!r:.60}") from None
    if not (low <= -1.0 and high >= 0.0) or high - low <= 1.0:
        raise InvalidParameter(f"strip must reach from -1 or less to 0 or more, and further on one side, not {given!r}")
    return low, high


def _name(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>")
