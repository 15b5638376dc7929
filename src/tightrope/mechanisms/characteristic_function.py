"""A mechanism given by the characteristic function of its privacy loss, or rather by its logarithm at complex points.

With (P, Q) the output laws with the record and without it, or a pair that dominates them, and l the privacy loss,
    K(z) = log_moment(z) = log E_P[e^{z l}; l finite].
K is a function of a flint.acb and gives one: a ball that contains the truth at the current precision, for every z whose
real part lies in the strip, ends included. K(it) is the log of the phi-function, K(a - 1) that of the Renyi moments.
Adding a record has K(-1 - z), so that the strip should reach below -1 and above 0.
Everything is proven from these claims, and they are yours: that K is what it says, that P and Q have the masses
infinite_mass and lost_mass where the other has none (above 0, K tells their digits), and how |M(c + it)| = |e^K| falls.
What can be tried is tried, and a K that no loss has is refused where that is seen. A certificate names the claims.
Guarantee: as that of the contour, for every mechanism that obeys the claims; one use, any composition with others that
have a cgf, one Poisson sample of these, Renyi divergences, the phi-function. Several samples are refused: moments do
not tell theirs.
Reference: Zhu, Dong, Wang 2021, Def. 15 (phi-functions). Proof: docs/proofs/moments.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InvalidParameter, UnsupportedMechanism
from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import probability, real

if TYPE_CHECKING:
    from ..pairs.moments.claims import ClaimedDecay, Claims, LogMoment


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
        from ..pairs.moments.claims import FALLING, check

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
        from ..pairs.moments.pair import MomentPair

        return MomentPair(self._claims, direction is Direction.ADD)

    @property
    def _claims(self) -> Claims:
        from ..pairs.moments.claims import Claims

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
