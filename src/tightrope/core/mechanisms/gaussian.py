"""The Gaussian mechanism, and mu-Gaussian differential privacy: what can be told apart no better than its outputs.

Pair: N(sensitivity, sigma^2) against N(0, sigma^2); the loss is normal with mean mu^2/2 and variance mu^2, mu =
sensitivity / sigma.
Guarantee: tight, also under composition. Of mu-GDP the pair dominates; tight where the trade-off function is G_mu.
Reference: Balle, Wang 2018, Thm 8; Dong, Roth, Su 2021, Def. 2.6 and Cor. 2.13.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..losses.operators.poisson import poisson_pair
from ..losses.pair import Pair
from ..losses.participation_law import SHIFT_MAX, SHIFT_MIN, SHIFT_RATIO_MAX, WeightedShifts, resolved
from ..values.calls import cut
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation
from .base import Leaf, ZcdpUse
from .parameters import finite, in_order, positive, probability

if TYPE_CHECKING:
    from ..losses.gaussian import GaussianPair


@dataclass(frozen=True, slots=True, repr=False)
class Gaussian(Leaf):
    """Adds noise of standard deviation sigma to a query of the given L2 sensitivity.

    sigma over the sensitivity is the noise multiplier. DP-SGD is Gaussian(sigma).poisson(rate) * steps.
    """

    example = "Gaussian(sigma=2) * 10"
    section = "noise"
    formula = (
        "P = N(sensitivity, sigma^2), Q = N(0, sigma^2). With mu = sensitivity/sigma: H(e^t) = Phi(mu/2 - t/mu) - e^t "
        "Phi(-mu/2 - t/mu), and the loss is normal with mean mu^2/2 and variance mu^2"
    )
    theorem = "Balle, Wang 2018, Thm 8; Dong, Roth, Su 2022, Cor. 2.13"
    tightness = "Tight, also under composition: neighbours whose query results lie the sensitivity apart attain it."
    relations = (
        "Either relation, with the sensitivity under it: the largest L2 distance between the query on two neighbours. "
        "A sum of records clipped to norm C has C under adding or removing one, and 2 C under replacing one."
    )
    sigma: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))

    @property
    def gaussian_noise(self) -> bool:
        return True

    def concentrated(self, size: int = 1) -> ZcdpUse | None:
        """rho = mu^2/2, in a sum with parts that have less as zCDP."""
        mu = size * Fraction(self.sensitivity) / Fraction(self.sigma)
        return ZcdpUse(mu**2 / 2, self if size == 1 else self.group(size=size), better=False)

    def pair(self, direction: Direction) -> Pair:
        from ..losses.gaussian import GaussianPair

        return GaussianPair(((self.sigma, self.sensitivity, 1),))


@dataclass(frozen=True, slots=True, repr=False)
class GDP(Leaf):
    """Any mechanism that is mu-GDP."""

    example = "GDP(mu=0.5)"
    universal = True
    section = "promises"
    formula = "P = N(mu, 1), Q = N(0, 1): H(e^t) = Phi(mu/2 - t/mu) - e^t Phi(-mu/2 - t/mu)"
    theorem = "Dong, Roth, Su 2022, Def. 2.6 and Cor. 2.13"
    tightness = (
        "No better bound follows from the claim, also under composition: the Gaussian mechanism with sigma = "
        "sensitivity/mu attains it. A mechanism that does more than it claims loses less."
    )
    relations = "That of the claim."
    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", positive("mu", self.mu))

    @property
    def gaussian_noise(self) -> bool:
        return True

    def pair(self, direction: Direction) -> Pair:
        from ..losses.gaussian import GaussianPair

        return GaussianPair(((1.0, self.mu, 1),))


# Gaussian noise whose deviation depends on the data: two centred Gaussians.
#
# Pair: N(0, sigma1^2) with the record against N(0, sigma2^2) without it; the loss is affine in x^2.
# Guarantee: tight, also under composition, for data sets with these deviations; neighbours whose deviations are closer,
# on the same side, are dominated.
# Reference: Zhu, Dong, Wang 2021, Example 15; Nissim, Raskhodnikova, Smith 2007 (smooth sensitivity).
# Proof: docs/proofs/gaussian_variance.md.

DEVIATIONS_APART_MAX = 10**150  # squares of ratios stay within doubles


@dataclass(frozen=True, slots=True, repr=False)
class GaussianVariance(Leaf):
    """Gaussian noise of deviation sigma1 with the record and sigma2 without it, around the same answer."""

    example = "GaussianVariance(sigma1=1.2, sigma2=1) * 10"
    section = "noise"
    formula = (
        "P = N(0, sigma1^2), Q = N(0, sigma2^2); r = sigma1/sigma2: the loss of k uses is -k log r + (r^2 - 1) X, X a "
        "gamma variable of shape k/2 under P"
    )
    theorem = "Zhu, Dong, Wang 2021, Example 15: [proof](proofs/gaussian_variance.md)"
    tightness = (
        "Tight, also under composition: two data sets with exactly these deviations attain it. Neighbours whose ratio "
        "lies between 1 and sigma1/sigma2 are dominated."
    )
    relations = (
        "Noise whose deviation depends on the data (smooth sensitivity) around an answer that does not: where the "
        "answer moves as well this says nothing. Either relation; sigma1 is that of the data set with the record, or "
        "before it is replaced. Where a record may raise the deviation and may lower it, this covers one of both; an "
        "output of d coordinates is d uses."
    )
    sigma1: float
    sigma2: float

    def __post_init__(self) -> None:
        first, second = positive("sigma1", self.sigma1), positive("sigma2", self.sigma2)
        object.__setattr__(self, "sigma1", first)
        object.__setattr__(self, "sigma2", second)
        if not 1 <= Fraction(max(first, second)) / Fraction(min(first, second)) <= DEVIATIONS_APART_MAX:
            raise InvalidParameter(f"sigma1/sigma2 must lie between 1e-150 and 1e150, not {first!r}/{second!r}")

    def pair(self, direction: Direction) -> Pair:
        if self.sigma1 == self.sigma2:
            from ..losses.finite.finite_pair import FinitePair
            from ..losses.finite.laws import ResponseLaw

            return FinitePair(ResponseLaw(0.0, 0.0, 2))
        from ..losses.gaussian_variance import GaussianVariancePair, VarianceRatio

        ratio = VarianceRatio.of(self.sigma1, self.sigma2)
        return GaussianVariancePair(ratio if direction is Direction.REMOVE else ratio.inverse())


# A mixture of Gaussian shifts: what a record adds to the noise is drawn, and its size has this law.
#
# Pair: P = sum of weights[j] N(shifts[j], sigma^2) against Q = N(0, sigma^2) for removing a record, the reverse for
# adding one. The weights are the given doubles, but for the largest, which is what the others leave of 1.
# Guarantee: dominates, in any dimension and also under adaptive composition, every mechanism whose output without the
# record is N(q, sigma^2 I), and with it N(q + V, sigma^2 I) for a random V whose length is at most a variable that
# takes
# shifts[j] with probability weights[j], given all earlier outputs. Tight: vectors along one line attain it, at every
# use.
# Reference: Choquette-Choo, Ganesh, Steinke, Thakurta 2024, Privacy amplification for matrix mechanisms (mixtures of
# Gaussians); Ganesh 2024, Tight group-level DP guarantees for DP-SGD with sampling via mixture of Gaussians mechanisms.
# Proof: docs/proofs/gaussian_mixture.md, section 6.

WEIGHT_TOLERANCE = Fraction(1, 10**12)  # of the sum of the weights
COMPONENTS_MAX = 1024  # every tail is a sum over as many


@dataclass(frozen=True, slots=True, repr=False)
class GaussianMixture(Leaf):
    """Gaussian noise of deviation sigma on a sum that a record moves by shifts[j] with probability weights[j]."""

    example = "GaussianMixture(sigma=2, shifts=[0, 1, 2], weights=[0.25, 0.5, 0.25]) * 10"
    section = "noise"
    formula = (
        "remove: P = sum_j weights[j] N(shifts[j], sigma^2), Q = N(0, sigma^2); add: the reverse. "
        "One shift is Gaussian(sigma, sensitivity); shifts 0 and D with weights 1 - r and r are its .poisson(r)"
    )
    theorem = (
        "Choquette-Choo, Ganesh, Steinke, Thakurta 2024 (mixtures of Gaussians); Ganesh 2024; "
        "[proof](proofs/gaussian_mixture.md)"
    )
    tightness = (
        "Tight, also under composition, where the record's random contribution may lie along one line with just these "
        "lengths. Contributions that point in other directions, or are shorter, are dominated."
    )
    relations = (
        "A record is added or removed; shifts are the lengths of what it adds to the sum, all of one sign. Composed, "
        "the weights hold given all earlier outputs: draws that depend on each other need weights that do. Replacing a "
        "record is a removal and an addition, two mixtures at once, and is not this pair."
    )
    relation = Relation.ADD_REMOVE
    sigma: float
    shifts: Sequence[float]
    weights: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "shifts", _listed("shifts", self.shifts, finite))
        object.__setattr__(self, "weights", _listed("weights", self.weights, probability))
        if len(self.shifts) != len(self.weights):
            raise InvalidParameter(
                f"shifts and weights must have the same length, not {len(self.shifts)} and {len(self.weights)}"
            )
        total = sum(map(Fraction, self.weights), Fraction(0))
        if abs(total - 1) > WEIGHT_TOLERANCE:
            raise InvalidParameter(f"weights must sum to 1, not to {math.fsum(self.weights)!r}")
        _check_shifts(self.sigma, self._law())

    def _law(self) -> dict[float, Fraction]:
        """The weight of each shift that has one, by its size, from the least on; equal shifts are one."""
        pairs = [(shift, weight) for shift, weight in zip(self.shifts, self.weights, strict=True) if weight > 0.0]
        if min(shift for shift, _ in pairs) < 0.0 < max(shift for shift, _ in pairs):
            raise InvalidParameter("shifts must have one sign: give their sizes, whose mixture dominates the other")
        law: dict[float, Fraction] = {}
        for shift, weight in sorted((abs(shift), weight) for shift, weight in pairs):
            law[shift] = law.get(shift, Fraction(0)) + Fraction(weight)
        largest = max(law, key=lambda shift: law[shift])
        law[largest] += 1 - sum(law.values())
        return law

    def pair(self, direction: Direction) -> Pair:
        from ..losses.gaussian import GaussianPair

        law = self._law()
        shifts = tuple(law)
        base = GaussianPair(((self.sigma, shifts[-1], 1),))
        return base if len(law) == 1 else _mixture(base, law, direction)


def _mixture(base: GaussianPair, law: dict[float, Fraction], direction: Direction) -> Pair:
    """A Poisson sample where there is one shift beside 0, at a rate that is a double; else all of them."""
    from ..losses.gaussian_mixture.mixture_pair import GaussianMixturePair

    shifts, weights = tuple(law), tuple(law.values())
    rate = float(weights[-1])
    if len(shifts) == 2 and shifts[0] == 0.0 and Fraction(rate) == weights[-1]:
        return poisson_pair(base, rate, direction)
    largest = Fraction(shifts[-1])
    return GaussianMixturePair(base, WeightedShifts(tuple(Fraction(s) / largest for s in shifts), weights), direction)


def _listed(name: str, values: object, number: Callable[[str, float], float]) -> tuple[float, ...]:
    in_order(name, values)
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidParameter(f"{name} must be a list of numbers, not {cut(values, 60)}")
    found = tuple(number(f"{name}[{index}]", value) for index, value in enumerate(values))
    if not found:
        raise InvalidParameter(f"{name} must have at least one number")
    return found


def _check_shifts(sigma: float, law: dict[float, Fraction]) -> None:
    """Refuses a mixture that shows nothing, has too many parts, or is beyond doubles."""

    above = [Fraction(shift) / Fraction(sigma) for shift in law if shift > 0.0]
    if not above:
        raise InvalidParameter("shifts must have one that is not 0: without it nothing depends on the record")
    if len(law) > COMPONENTS_MAX:
        raise InvalidParameter(
            f"shifts must be at most {COMPONENTS_MAX} different ones, not {len(law)}: round some of them up to "
            "others, whose mixture dominates"
        )
    if len(above) > 1 and not resolved(above[0], above[-1]):
        raise InvalidParameter(
            f"shifts other than 0 must lie between {SHIFT_MIN} and {SHIFT_MAX:,.0f} sigma, the largest at most "
            f"{SHIFT_RATIO_MAX:,.0f} times the least, not {float(above[0]):.3g} and {float(above[-1]):.3g} sigma: "
            "round the least up, which dominates, or take more noise"
        )
