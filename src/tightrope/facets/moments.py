"""The moments of a loss, and the Gaussians and zCDP that bound it: one value, by which a pair tells them all.

K(z) = log E_P[e^{z l}; l finite]. What is not known is None; the defaults are what the range of the loss says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from .concentrated import rho_of_range
from .gaussian import mu_of_range

if TYPE_CHECKING:
    from flint import acb, arb

    from ..pair import Pair
    from ..relation import Direction

Family = TypeVar("Family", bound="Pair", covariant=True)


class Moments(Generic[Family]):
    """What the range of the loss tells; a family knows more."""

    __slots__ = ("pair",)

    def __init__(self, pair: Family) -> None:
        self.pair = pair

    def log_moment(self, z: acb) -> acb | None:
        """K(z) by a formula, at the working precision; None where there is none at this z. Guarantee: exact.

        +inf at a real z where the moment is infinite.
        """
        return None

    def log_moment_above(self, order: float) -> arb | None:
        """At or above K(order), order > 0, by an inequality, where there is no formula. Guarantee: upper."""
        return None

    def divergence(self, order: float) -> tuple[arb, arb] | None:
        """Ends of the largest Renyi divergence of this order, above 0, of what it stands for, where K is no formula."""
        return None

    def zcdp_rho(self) -> arb | None:
        """zCDP: K(c) <= c (c + 1) rho for every c > 0; by the range of the loss where no more is known, such as
        L tanh(L/2) for losses in [-L, L].

        Guarantee: upper. Proof: docs/proofs/zcdp.md, section 2.
        """
        if not self.pair.infinite_mass().is_zero():
            return None
        lowest, highest = self.pair.loss_range()
        return rho_of_range(lowest if has_bounded_loss(self.pair) else None, highest)

    def approximate_zcdp(self) -> tuple[tuple[arb, arb], ...]:
        """(s, rho) with K(c) <= c s + c (c + 1) rho for every c > 0, where that rho is less than its own; falling rho.

        Guarantee: upper. Proof: docs/proofs/gdp.md, section 5.
        """
        return ()

    def gdp_mu(self) -> arb | None:
        """GDP: a mu whose Gaussian pair dominates it; by the range of the loss where no more is known.

        Guarantee: upper. Proof: docs/proofs/gdp.md, section 6.
        """
        return mu_of_range(*self.pair.loss_range()) if has_bounded_loss(self.pair) else None

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """A mu whose Gaussian it follows far out: H(a) >= c H_mu(C a) for every a > 0, with some c, C > 0.

        For REMOVE H is its own profile, for ADD that of its reverse. Then no smaller mu dominates, and mu^2 add up.
        inf where that holds for every mu: then none dominates.
        Proof: docs/proofs/gdp.md, section 6.
        """
        return None


def has_bounded_loss(pair: Pair) -> bool:
    """Whether the loss is bounded for certain, and finite under both laws."""
    lowest, highest = pair.loss_range()
    if not (lowest.is_finite() and highest.is_finite()):
        return False
    return bool(pair.infinite_mass().is_zero() and pair.reversed().infinite_mass().is_zero())
