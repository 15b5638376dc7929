"""(xi, rho)-concentrated differential privacy as a value: D_a <= xi + rho a, the Renyi divergence at every order a > 1.

K(c) = c D_{1+c} <= c xi + c (c + 1) rho. rho-zCDP is (0, rho), pure epsilon-DP is (epsilon, 0); xi may be negative.
Composition adds both. To delta: e^(-(eps - xi - rho)^2 / (4 rho)), the classical conversion, and the best factor that
depends on the order alone, which is less.
Guarantee: upper, rounded outward. Proof: docs/proofs/classic.md, section 5.
Reference: Bun, Steinke 2016, Def. 1.1, Lemma 1.7, Prop. 1.3; Dwork, Rothblum 2016; Meiser, Mohammadi 2018, Sec. 5.7,
where orders from 0 on are meant, which leaves no room for a negative xi.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import nonnegative, probability, real, whole
from ..values.calls import checked_class, shortened
from ..values.errors import InvalidParameter, UnsupportedMechanism

Shape = Literal["fit", "zcdp", "pure"]


@checked_class
@dataclass(frozen=True, slots=True)
class Concentrated:
    """Any mechanism that is (xi, rho)-concentrated differentially private, in both directions.

    A sum is the composition of both, a product with a count that of so many; both are rounded up.
    """

    xi: float
    rho: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "xi", real("xi", self.xi) + 0.0)
        object.__setattr__(self, "rho", nonnegative("rho", self.rho))
        if not 0.0 <= self.xi + self.rho < math.inf:
            raise InvalidParameter(
                f"xi + rho bounds a divergence: it must be finite, 0 or above, not {self.xi!r} + {self.rho!r}"
            )

    @staticmethod
    def of(run: Mechanism, shape: Shape = "fit") -> Concentrated:
        """The line that is proven for a run: the sum of its parts, and the worse of both directions.

        fit: of a bounded loss, its mean and the variance that only its range decides; zCDP else. zcdp: xi is 0, rho
        that of the noise or L tanh(L/2) for losses in [-L, L]. pure: xi is the largest loss, rho is 0.
        """
        from .concentrated import SHAPES, lines

        if shape not in SHAPES:
            raise InvalidParameter(f"shape must be one of {', '.join(SHAPES)}, not {shape!r:.40}")
        concentrated = lines(run, SHAPES[shape])
        if concentrated is None:
            wanted = "a bounded loss" if shape == "pure" else "a bounded loss or Gaussian noise, and no infinite one"
            raise UnsupportedMechanism(
                f"no line is known above its Renyi divergences: each part needs {wanted}", mechanism=shortened(str(run))
            )
        return concentrated

    def __add__(self, other: Concentrated) -> Concentrated:
        if not isinstance(other, Concentrated):
            return NotImplemented
        return total([(self, 1), (other, 1)])

    def __radd__(self, other: object) -> Concentrated:
        """sum(parts) starts at 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, count: float) -> Concentrated:
        return total([(self, whole("count", count, least=0))])

    __rmul__ = __mul__

    def epsilon(self, delta: float, *, classical: bool = False) -> float:
        """At or above the smallest epsilon, 0 or above, at this delta; inf where there is none."""
        from .concentrated import line_epsilon

        return line_epsilon(self, probability("delta", delta), classical)

    def delta(self, epsilon: float, *, classical: bool = False) -> float:
        """At or above the smallest delta at this epsilon, 0 or above."""
        from .concentrated import line_delta

        return line_delta(self, nonnegative("epsilon", epsilon), classical)


def total(parts: list[tuple[Concentrated, int]]) -> Concentrated:
    """The composition of all of them."""
    from .classical import at_or_above, weighted_sum

    rho = at_or_above(weighted_sum, [(part.rho, count) for part, count in parts])
    xi = at_or_above(weighted_sum, [(part.xi, count) for part, count in parts])
    return Concentrated(xi, rho)
