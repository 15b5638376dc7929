"""The Skellam mechanism: the difference of two independent Poisson numbers as noise.

Pair: masses e^-v I_{|k - sensitivity|}(v) on the whole numbers against the same around 0, v the variance.
Guarantee: tight, also under composition; smaller whole shifts are dominated.
Reference: Agarwal, Kairouz, Liu 2021, The Skellam mechanism for differentially private federated learning.
Proof: docs/proofs/integer_noise.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import positive, whole

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
        from ..pairs.integer_noise.pair import IntegerNoisePair
        from ..pairs.integer_noise.skellam import SkellamNoise

        return IntegerNoisePair(SkellamNoise(self.variance), self.sensitivity)
