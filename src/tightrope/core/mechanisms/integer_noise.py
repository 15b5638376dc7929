"""The discrete Gaussian mechanism.

Pair: mass proportional to exp(-(x - sensitivity)^2 / (2 sigma^2)) on the integers against the same around 0; the
losses are sensitivity (2x - sensitivity) / (2 sigma^2).
Guarantee: tight, also under composition.
Reference: Canonne, Kamath, Steinke 2020, Def. 1 and Thm 7.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..losses.pair import Pair
from ..values.errors import InvalidParameter
from ..values.question import Direction
from .base import Leaf
from .parameters import positive, whole


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteGaussian(Leaf):
    """Adds integer Gaussian noise of parameter sigma to an integer query of the given sensitivity."""

    example = "DiscreteGaussian(sigma=5, sensitivity=2)"
    section = "noise"
    formula = (
        "On the integers P(x) ~ exp(-(x - sensitivity)^2/(2 sigma^2)), Q(x) ~ exp(-x^2/(2 sigma^2)); the losses are "
        "sensitivity (2 x - sensitivity)/(2 sigma^2)"
    )
    theorem = "Canonne, Kamath, Steinke 2020, Def. 1 and Thm 7"
    tightness = "Tight, also under composition: neighbours whose query results differ by the sensitivity attain it."
    relations = (
        "Either relation, with the sensitivity under it: the largest difference, a whole number, of the query on two "
        "neighbours. The query is one integer; several are composed."
    )
    sigma: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "sensitivity", whole("sensitivity", self.sensitivity, least=1))

    def pair(self, direction: Direction) -> Pair:
        from ..losses.discrete_gaussian import DiscreteGaussianPair

        return DiscreteGaussianPair(self.sigma, self.sensitivity)


# The discrete Laplace (two-sided geometric) mechanism.
#
# Pair: mass proportional to exp(-|x - sensitivity| / scale) on the integers against the same around 0. The losses are
# (2x - sensitivity) / scale for x = 0 .. sensitivity; all outputs beyond share the two ends.
# Guarantee: tight, also under composition.
# Reference: Ghosh, Roughgarden, Sundararajan 2009, Def. 2.2.


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteLaplace(Leaf):
    """Adds integer Laplace noise of the given scale to an integer query of the given sensitivity.

    It is the geometric mechanism, of ratio e^(-1/scale).
    """

    example = "DiscreteLaplace(scale=4)"
    section = "noise"
    formula = (
        "On the integers P(x) ~ exp(-|x - sensitivity|/scale), Q(x) ~ exp(-|x|/scale); the losses are (2 x - "
        "sensitivity)/scale for x = 0, ..., sensitivity, and all outputs beyond have one of the two ends"
    )
    theorem = "Ghosh, Roughgarden, Sundararajan 2009, Def. 2.2"
    tightness = "Tight, also under composition: neighbours whose query results differ by the sensitivity attain it."
    relations = (
        "Either relation, with the sensitivity under it: the largest difference, a whole number, of the query on two "
        "neighbours."
    )
    scale: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "sensitivity", whole("sensitivity", self.sensitivity, least=1))

    def pair(self, direction: Direction) -> Pair:
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.geometric import DiscreteLaplaceLaw

        return FinitePair(DiscreteLaplaceLaw(self.scale, self.sensitivity))


# The Skellam mechanism: the difference of two independent Poisson numbers as noise.
#
# Pair: masses e^-v I_{|k - sensitivity|}(v) on the whole numbers against the same around 0, v the variance.
# Guarantee: tight, also under composition; smaller whole shifts are dominated.
# Reference: Agarwal, Kairouz, Liu 2021, The Skellam mechanism for differentially private federated learning.
# Proof: docs/proofs/integer_noise.md.

VARIANCE_MAX = 1e30  # beyond, it is as good as Gaussian noise
SENSITIVITY_MAX = 10**9


@dataclass(frozen=True, slots=True, repr=False)
class Skellam(Leaf):
    """Adds the difference of two Poisson numbers to an integer query: variance is that of the noise.

    The variance is twice the mean of each Poisson number. sensitivity is the most that the query moves between
    neighbours, a whole number.
    """

    section = "noise"
    example = "Skellam(variance=100, sensitivity=2)"
    formula = (
        "masses e^-v I_|k-D|(v) against e^-v I_|k|(v), k whole, v = variance, D = sensitivity, I Bessel functions; "
        "loss log I_|k-D|(v)/I_|k|(v), which rises with k without end"
    )
    theorem = (
        "Skellam 1946 (the law); Baricz 2015 (Bessel functions are log-concave); Agarwal, Kairouz, Liu 2021 (the "
        "mechanism); [proof](proofs/integer_noise.md)"
    )
    tightness = "Tight, also under composition: a query that moves by the sensitivity attains it."
    relations = (
        "Either: sensitivity is the most that the query, a whole number, moves between neighbours, also up and down. "
        "One number per use; of vectors: SkellamVector."
    )
    variance: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", positive("variance", self.variance))
        object.__setattr__(self, "sensitivity", whole("sensitivity", self.sensitivity, least=1))
        if self.variance > VARIANCE_MAX or self.sensitivity > SENSITIVITY_MAX:
            raise InvalidParameter(
                f"variance must be at most {VARIANCE_MAX:.0e} and sensitivity {SENSITIVITY_MAX:.0e}, not "
                f"{self.variance:.3g} and {self.sensitivity:.3g}"
            )

    def pair(self, direction: Direction) -> Pair:
        from ..losses.integer_noise.integer_pair import IntegerNoisePair
        from ..losses.integer_noise.skellam_noise import SkellamNoise

        return IntegerNoisePair(SkellamNoise(self.variance), self.sensitivity)


# Binomial noise: heads among so many tosses of a fair coin.
#
# Pair: masses C(n, k - sensitivity)/2^n against C(n, k)/2^n, n the trials; the highest `sensitivity` outputs have an
# infinite loss.
# Guarantee: tight, also under composition; smaller whole shifts are dominated.
# Reference: Dwork, Kenthapadi, McSherry, Mironov, Naor 2006, Our data, ourselves.
# Proof: docs/proofs/integer_noise.md.

TRIALS_MAX = 10**15  # beyond, it is as good as Gaussian noise
TOSSES_SENSITIVITY_MAX = 10**9


@dataclass(frozen=True, slots=True, repr=False)
class BinomialNoise(Leaf):
    """Adds the number of heads among so many trials, tosses of a fair coin, to an integer query.

    sensitivity is the most that the query moves between neighbours, a whole number.
    """

    section = "noise"
    example = "BinomialNoise(trials=1000)"
    formula = (
        "masses C(n, k-D)/2^n against C(n, k)/2^n, n = trials, D = sensitivity; loss log C(n, k-D)/C(n, k), infinite "
        "for k > n with the mass of the D highest outputs, 2^-n (C(n, 0) + ... + C(n, D-1))"
    )
    theorem = (
        "Dwork, Kenthapadi, McSherry, Mironov, Naor 2006 (noise of coins); exact here; [proof](proofs/integer_noise.md)"
    )
    tightness = (
        "Tight, also under composition: a query that moves by the sensitivity attains it. From order 1 on every Renyi "
        "divergence is infinite, however many trials: the highest outputs are of one side alone."
    )
    relations = (
        "Either: sensitivity is the most that the query, a whole number, moves between neighbours, also up and down. "
        "With fewer trials than that, two outputs may tell everything: delta is 1."
    )
    trials: int
    sensitivity: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", whole("trials", self.trials, least=1))
        object.__setattr__(self, "sensitivity", whole("sensitivity", self.sensitivity, least=1))
        if self.trials > TRIALS_MAX or self.sensitivity > TOSSES_SENSITIVITY_MAX:
            raise InvalidParameter(
                f"trials must be at most {TRIALS_MAX:.0e} and sensitivity {TOSSES_SENSITIVITY_MAX:.0e}, not "
                f"{self.trials:.3g} and {self.sensitivity:.3g}"
            )

    def pair(self, direction: Direction) -> Pair:
        from ..losses.integer_noise.coins import coin_pair

        return coin_pair(self.trials, self.sensitivity)
