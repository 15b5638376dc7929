"""The moments of a loss, and the Gaussians and zCDP that bound it: one value, by which a pair tells them all.

K(z) = log E_P[e^{z l}; l finite]. What is not known is None; the defaults are what the range of the loss says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from flint import arb

from ..numerics.balls import least_known
from ..numerics.normal import quantile_above
from .operators.registered import bin_parameters

if TYPE_CHECKING:
    from flint import acb

    from ..values.question import Direction
    from .pair import Pair


# A profile that is known between two numbers, which do not meet, at any epsilon.
#
# Guarantee: lower(e) <= H(e^e) <= upper(e).


class ProfileBounds(ABC):
    """Both ends, each by itself: a search for one needs no other."""

    @abstractmethod
    def lower(self, epsilon: float) -> float:
        """At or below H(e^epsilon)."""

    @abstractmethod
    def upper(self, epsilon: float) -> float:
        """At or above H(e^epsilon)."""

    @property
    @abstractmethod
    def wide(self) -> bool:
        """Whether the two are so far apart that several uses are better composed one by one."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, object]:
        """What the certificate tells about how it was computed."""


# The smallest rho of zero-concentrated privacy where a formula tells it: K(c) <= c (c + 1) rho for every c > 0.
#
# Losses in [-a, b]: the least of three. b, since D_o <= b at every order. L tanh(L/2), L the larger of a and b, which
# randomized response attains at order 1. (a + b)^2 tanh(h/2)/(4h), h = log((e^a - 1)/(1 - e^-b)): the inequality of
# Kearns and Saul for the two-point law with these losses; less where the range is skewed, the same where it is not.
# Laplace noise: e - 1 + e^-e, its divergence of order 1, at a shift of e scales.
# Guarantee: upper; L tanh(L/2) and Laplace's are attained. Proof: docs/proofs/zcdp.md, sections 1 to 3.
# Reference: Bun, Steinke 2016, Prop. 3.3 has L^2/2; Kearns, Saul 1998, Lemma 1.


def rho_of_range(lowest: arb | None, highest: arb) -> arb | None:
    """Of losses between these, None where none is the lowest; None where the highest is not finite."""
    if not highest.is_finite():
        return None
    if lowest is None:
        return highest
    most = abs(highest).max(abs(lowest))
    least = highest.min(most * (most / 2).tanh())
    spread, lean = highest - lowest, ((-lowest).expm1() / -(-highest).expm1()).log()
    if not lean.is_finite():  # an end next to 0, or beyond what has an exponential
        return least
    # tanh(h/2)/h is at most 1/2, its limit at 0.
    skewed = spread * spread / 4 * (arb(0.5) if lean.contains(0) else (lean / 2).tanh() / lean)
    return least.min(skewed) if skewed.is_finite() else least


def rho_of_laplace(edge: arb) -> arb:
    """e - 1 + e^-e = e^2/2 M(1, 3, -e), Kummer's function: nothing cancels for small e."""
    if edge > 1:
        return edge + (-edge).expm1()
    return edge * edge / 2 * (-edge).hypgeom_1f1(arb(1), arb(3))


# The smallest mu whose Gaussian pair dominates, where a formula tells it.
#
# Losses in [-a, b]: the two-point pair with these losses dominates, and its power has one corner, (Q*, P*), so that
# mu = Phi^-1(P*) - Phi^-1(Q*), P* = (1 - e^-a)/(1 - e^-(a + b)), Q* = e^-b P*. For a = b this is randomized response.
# Laplace noise at a shift of e scales: 2 Phi^-1(1 - e^(-e/2)/2).
# Guarantee: upper; attained by the two points, and by Laplace noise. Proof: docs/proofs/gdp.md, section 6.


def mu_of_range(lowest: arb, highest: arb) -> arb | None:
    """Of finite losses between these; None where they are too close to 0, or too far out, for balls to tell."""
    most = abs(highest).max(abs(lowest))
    if most.is_zero():
        return arb(0)
    both = -(lowest - highest).expm1()
    wrong, missed = (-highest).exp() * -lowest.expm1() / both, lowest.exp() * -(-highest).expm1() / both
    values = [quantile_above(wrong) + quantile_above(missed), _both_wrong((most / 2).tanh(), 1 / (1 + most.exp()))]
    return least_known(*(value if value.is_finite() else None for value in values))


def mu_of_laplace(edge: arb) -> arb:
    """Of Laplace noise."""
    return _both_wrong(-(-edge / 2).expm1(), (-edge / 2).exp() / 2)


def _both_wrong(advantage: arb, error: arb) -> arb:
    """The mu of the test with this error on both sides, which is (1 - advantage)/2; nothing cancels."""
    return 2 * arb(2).sqrt() * advantage.erfinv() if advantage < 0.5 else 2 * quantile_above(error)


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


# A pair that is known between two finite ones: how fine they are wanted.
#
# Some laws have a profile and no tails that doubles can hold: the maximum of several profiles, a chain of trade-offs, a
# bound on Renyi divergences. Under composition two finite pairs stand for such a law, one that it
# dominates and one that dominates it, and both are made finer until the answer is narrow.
# Guarantee: lower <= true <= upper, as profiles, also when composed. Proof: docs/proofs/joint.md, section 2.


@dataclass(frozen=True, slots=True)
class Resolution:
    """points of a finite law, the P-mass that may go to infinite loss, and whether balls alone are used.

    delta, epsilon: what is asked of all `uses` together, of which this is one, where that is known: what a law may
    aim at.
    """

    points: int
    tail: float
    proof: bool
    delta: float | None = None
    epsilon: float | None = None
    uses: int = 1


# Many kinds of uses between fewer: what a family may know of uses that differ in one number only.

if TYPE_CHECKING:
    Uses = Sequence[tuple[Pair, int]]


class ParameterBinning(NamedTuple):
    """Uses that are dominated, and uses that dominate, all of them taken together; fewer kinds than there were."""

    below: list[tuple[Pair, int]]
    above: list[tuple[Pair, int]]


def bin_parameters_of(uses: Uses, cells: int, mixed: bool) -> ParameterBinning | None:
    """Of a composition: what families pool, and all others as they are; None where none of them pools.

    cells: about how many kinds may be left. mixed: by combinations of two kinds, which are close and known by their
    moments only; else by the next kind on either side.
    """
    families: dict[type[Pair], list[tuple[Pair, int]]] = {}
    for pair, count in uses:
        families.setdefault(type(pair), []).append((pair, count))
    pools, some = ParameterBinning([], []), False
    for like in families.values():
        pooled = bin_parameters(like[0][0], like, max(1, cells * len(like) // len(uses)), mixed)
        some = some or pooled is not None
        pools.below.extend(like if pooled is None else pooled.below)
        pools.above.extend(like if pooled is None else pooled.above)
    return pools if some else None
