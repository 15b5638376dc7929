"""Binomial noise: heads among so many tosses of a fair coin.

Pair: masses C(n, k - sensitivity)/2^n against C(n, k)/2^n, n the trials; the highest `sensitivity` outputs have an
infinite loss.
Guarantee: tight, also under composition; smaller whole shifts are dominated.
Reference: Dwork, Kenthapadi, McSherry, Mironov, Naor 2006, Our data, ourselves.
Proof: docs/proofs/integer_noise.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import whole

TRIALS_MAX = 10**15  # beyond, it is as good as Gaussian noise
SENSITIVITY_MAX = 10**9


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
        if self.trials > TRIALS_MAX or self.sensitivity > SENSITIVITY_MAX:
            raise InvalidParameter(
                f"trials must be at most {TRIALS_MAX:.0e} and sensitivity {SENSITIVITY_MAX:.0e}, not "
                f"{self.trials:.3g} and {self.sensitivity:.3g}"
            )

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.integer_noise.coins import coin_pair

        return coin_pair(self.trials, self.sensitivity)
