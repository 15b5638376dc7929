"""The Laplace mechanism.

Pair: Laplace(sensitivity, scale) against Laplace(0, scale); the loss lies in [-e, e], e = sensitivity / scale, with
P-atoms 1/2 at e and exp(-e)/2 at -e, and the density exp((l - e)/2)/4 between.
Guarantee: tight, also under composition.
Reference: Dwork, McSherry, Nissim, Smith 2006, Prop. 1; Koskela, Jaelkoe, Honkela 2020, Sec. 6.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..losses.pair import Pair
from ..values.question import Direction
from .base import Leaf
from .parameters import positive, probability


@dataclass(frozen=True, slots=True, repr=False)
class Laplace(Leaf):
    """Adds Laplace noise of the given scale to a query of the given L1 sensitivity."""

    example = "Laplace(scale=10) * 3"
    section = "noise"
    formula = (
        "P = Laplace(sensitivity, scale), Q = Laplace(0, scale). With e = sensitivity/scale: H(e^t) = 1 - e^((t - "
        "e)/2) for |t| <= e, and 0 beyond e; the loss is e with probability 1/2, -e with e^-e/2, and has the density "
        "e^((l - e)/2)/4 between"
    )
    theorem = "Dwork, McSherry, Nissim, Smith 2006, Prop. 1; law of the loss: Koskela, Jaelkoe, Honkela 2020, Sec. 6"
    tightness = (
        "Tight, also under composition: neighbours whose query results differ by the sensitivity in one number attain "
        "it."
    )
    relations = (
        "Either relation, with the sensitivity under it: the largest L1 distance between the query on two neighbours."
    )
    scale: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))

    def pair(self, direction: Direction) -> Pair:
        from ..losses.laplace import LaplacePair

        return LaplacePair(self.scale, self.sensitivity)


# Staircase noise: a density that falls by e^-epsilon at (k + gamma) D, k = 0, 1, ..., on both sides of 0.
#
# Pair: the noise X at 0 and at D, the sensitivity, which is the width of the steps and cancels. The losses are +epsilon
# with the mass p, -epsilon with e^-epsilon p, and 0 with the rest; p (1 - e^-epsilon) = P[|X| <= D/2].
# Guarantee: tight, also under composition; a shift s < D is dominated. On either side of 0 the steps lie D apart, so
# between x and x - s lies at most one of each side, and the loss is +-epsilon or 0. The mirror x -> s - x exchanges P
# and
# Q: P[-epsilon] = e^-epsilon P[epsilon], and p_s = P[epsilon] fixes the pair. The density is symmetric and falls from
# 0,
# so p_s (1 - e^-epsilon) = total variation = P[|X| <= s/2], which grows with s; the pair of a smaller p_s is that of
# the
# larger with some of its answers silenced.
# Reference: Geng, Viswanath 2016, The optimal noise-adding mechanism in differential privacy; the gamma that is taken
# where none is given, 1 / (1 + e^(epsilon/2)), has the least E|X|.


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Staircase(Leaf):
    """Adds noise whose density falls by e^-epsilon in steps as wide as the sensitivity.

    gamma is the share of the first step; without it, the one of the least absolute error.
    """

    example = "Staircase(epsilon=1) * 10"
    section = "noise"
    formula = (
        "losses +epsilon with mass p, -epsilon with e^-epsilon p, 0 with the rest; with a = e^-epsilon and "
        "c = g + a (1 - g): p = (g + a (1 - 2 g)/2)/c for gamma g <= 1/2, 1/(2 c) above; "
        "g = 1/(1 + e^(epsilon/2)), where none is given, has p = 1 - e^(-epsilon/2)/2"
    )
    theorem = "Geng, Viswanath 2016 (the noise); that smaller shifts tell less: mechanisms/laplace.py"
    tightness = "Tight, also under composition: two data whose query differs by the sensitivity attain it."
    relations = (
        "Any: the query, a real number, moves by at most `sensitivity` between neighbours, and the steps of the noise "
        "are as wide. So `sensitivity` says what noise is drawn, and no answer depends on it."
    )
    epsilon_per_use: float = field(metadata={"keyword": "epsilon"})
    gamma: float | None = None
    sensitivity: float = 1.0

    def __init__(
        self, epsilon: float, gamma: float | None = None, sensitivity: float = 1.0, *, name: str | None = None
    ) -> None:
        object.__setattr__(self, "epsilon_per_use", positive("epsilon", epsilon))
        object.__setattr__(self, "gamma", None if gamma is None else probability("gamma", gamma))
        object.__setattr__(self, "sensitivity", positive("sensitivity", sensitivity))

    def pair(self, direction: Direction) -> Pair:
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.laws import StaircaseLaw

        return FinitePair(StaircaseLaw(self.epsilon_per_use, self.gamma))
