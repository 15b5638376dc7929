"""What is known of a composition without any engine: its infinite mass and the supremum of its loss.

w = 1 - prod (1 - w_i)^count_i, supremum = sum count_i sup_i. A tiny w is -expm1(sum count_i log1p(-w_i)).
For a delta so close to w that doubles cannot tell them apart, the composition without its leaks: if every use with an
infinite loss is, apart from outcomes that one side alone has, a law of which P and Q have the same mass 1 - w_i, then
delta(eps) = w + (1 - w) delta'(eps), delta' that of the renormalised laws. So epsilon at delta is epsilon' at
(delta - w)/(1 - w), whose digits are all its own.
Guarantee: exact, rounded outward; (delta - w)/(1 - w) to both sides. Proof: docs/proofs/hits.md, section 3.
Reference: Meiser, Mohammadi 2018, Def. 5 (the infinity bucket).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flint import arb

from ..numerics.balls import lower_float, upper_float, working_precision
from ..values.calls import rounded
from .selection import Term
from .tuning import NEXT_TO_MASS

EXTREME_BITS = 1200  # a mass of 5e-324 and its complement fit exactly
BESIDE_ONE = 2.0**-1000  # masses below lose digits, or all of them


@dataclass(frozen=True, slots=True)
class LossExtremes:
    """Balls around the infinite mass and the supremum of the finite losses; a comparison that holds is proven."""

    mass: arb
    supremum: arb

    def why_infinite(self, delta: float) -> str:
        """Why no epsilon will do below the mass, and which delta has one: delta(epsilon) falls to the mass."""
        low, high = chance(self.mass)
        finite = f"every delta above {high} has" if float(high) < 1.0 else "no delta below 1 is known to have"
        return f"the loss is infinite with probability {low} at least, above delta {delta!r}; {finite} a finite epsilon"

    def never_reached(self, delta: float) -> bool:
        """Whether delta is the infinite mass for certain and finite losses have no end: every epsilon has more delta.

        delta(epsilon) less the mass is the integral of (1 - e^(epsilon - loss)) over the finite losses above epsilon.
        """
        return bool(0.0 < delta < 1.0 and self.mass >= delta and self.mass <= delta and self.supremum == arb.pos_inf())

    def why_never(self, delta: float) -> str:
        """Why no epsilon will do at the mass itself."""
        return (
            f"the loss is infinite with probability {delta!r} and its finite values have no end: delta(epsilon) falls "
            f"to {delta!r} and never reaches it; every larger delta has a finite epsilon"
        )


class Leaky(Protocol):
    """A pair, or a finite law."""

    def infinite_mass(self) -> arb:
        """P-mass of infinite loss."""


def leaked(terms: Sequence[tuple[Leaky, int]]) -> arb:
    """The infinite mass of a composition."""
    with working_precision(EXTREME_BITS):
        return _leaked(terms)


def _leaked(terms: Sequence[tuple[Leaky, int]]) -> arb:
    """The same at the working precision."""
    masses = [(mass, count) for leaky, count in terms if not (mass := leaky.infinite_mass()).is_zero()]
    if not masses:
        return arb(0)
    if len(masses) == 1 and masses[0][1] == 1:
        return masses[0][0]
    survival = arb(1)
    for mass, count in masses:
        survival *= (1 - mass) ** count
    value = 1 - survival
    if not value < BESIDE_ONE:
        return value
    # Nothing beside 1, and above 0 all the same.
    return -sum((count * (-mass).log1p() for mass, count in masses), arb(0)).expm1()


def chance(mass: arb) -> tuple[str, str]:
    """A mass above 0 with three digits, rounded down and up; a power of ten where it is below every double."""
    low, high = lower_float(mass), upper_float(mass)
    if low > 0.0 or not mass > 0:
        return rounded(low, 3, up=False), rounded(high, 3, up=True)
    with working_precision(EXTREME_BITS):
        power = int(str((mass.log() / arb(10).log()).lower().floor().fmpq()))
        return f"1e{power}", f"1e{power + 2}"


def loss_extremes(terms: Sequence[Term]) -> LossExtremes:
    """The edges of a composition; a supremum that is not finite stays so: +inf, or nothing known."""
    with working_precision(EXTREME_BITS):
        supremum = sum((count * pair.loss_range().highest for pair, count in terms), arb(0))
        return LossExtremes(_leaked(terms), supremum)


def rest_above(mass: arb, delta: float) -> tuple[float, float] | None:
    """(delta - w)/(1 - w) rounded down and up, where delta is next to w and above it; else None."""
    with working_precision(EXTREME_BITS):
        above = arb(delta) - mass
        if not (mass > 0 and above > 0 and above < NEXT_TO_MASS * arb(delta)):
            return None
        share = above / (1 - mass)
        low, high = lower_float(share), upper_float(share)
    return (low, high) if low > 0.0 else None
