"""The exponential mechanism, and every other mechanism of bounded range.

It draws r with probability proportional to e^(epsilon u(r) / (2 D)), D the sensitivity of the scores u, or without the
2 where all scores move the same way: then the losses against a neighbour lie in an interval of length epsilon, which is
all that is used. Report-noisy-max with Gumbel noise is the same mechanism.
Guarantee: the logistic pair dominates. One use attains it at each epsilon, by a neighbour that depends on epsilon;
under composition no single one does, and the lower end is that of the dominating pair (NoisyMax with Gumbel noise, the
same mechanism by its scale, has that of real scores).
Reference: McSherry, Talwar 2007; Dong, Durfee, Rogers 2020, Sec. 3. Proof: docs/proofs/exponential.md.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

from ..losses.operators.poisson import rate_ends
from ..losses.operators.registered import shifted_pair
from ..losses.pair import Pair
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation
from .approximate_dp import PureDP
from .base import Leaf, ZcdpUse
from .parameters import flag, nonnegative, positive

EPSILON_MIN = 1e-280  # below, halves and products of losses leave the range of doubles


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Exponential(Leaf):
    """The exponential mechanism, and any other whose losses against a neighbour span at most epsilon."""

    example = "Exponential(epsilon=0.1) * 20"
    section = "selection"
    formula = (
        "P = Logistic(epsilon, 1), Q = Logistic(0, 1): H(e^t) = (1 - e^((t - epsilon)/2))^2/(1 - e^-epsilon) for |t| "
        "<= epsilon, and 0 beyond epsilon"
    )
    theorem = "McSherry, Talwar 2007; Dong, Durfee, Rogers 2020, Sec. 3; [proof](proofs/exponential.md)"
    tightness = (
        "One use attains it at each epsilon, by scores that depend on epsilon. Composed, no single pair of neighbours "
        "does, and lower ends speak of the dominating pair."
    )
    relations = (
        "Either relation, with the sensitivity D of each score under it: r is drawn with probability ~ e^(epsilon "
        "u(r)/(2 D)), or e^(epsilon u(r)/D) where all scores move the same way: counts do so where a record is added "
        "or removed, not where one is replaced."
    )
    epsilon_per_use: float = field(metadata={"keyword": "epsilon"})

    def __init__(self, epsilon: float, *, name: str | None = None) -> None:
        given = nonnegative("epsilon", epsilon)
        if 0.0 < given < EPSILON_MIN:
            raise InvalidParameter(f"epsilon must be 0 or at least {EPSILON_MIN}, not {epsilon!r}")
        object.__setattr__(self, "epsilon_per_use", given)

    @property
    def tight(self) -> bool:
        return self.epsilon_per_use == 0.0

    @property
    def attained_once(self) -> bool:
        """By two candidates. Proof: docs/proofs/exponential.md, section 3."""
        return True

    def concentrated(self, size: int = 1) -> ZcdpUse | None:
        """rho = epsilon^2/8; a group moves scores so many times as far. Two candidates whose odds start even are real.

        Reference: Cesar, Rogers 2021, Lemma 3.2. Proof: docs/proofs/exponential.md, section 6.
        """
        epsilon = size * Fraction(self.epsilon_per_use)
        return ZcdpUse(epsilon**2 / 8, PureDP(float(epsilon / 2))) if epsilon else None

    def pair(self, direction: Direction) -> Pair:
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.laws import ResponseLaw
        from ..losses.logistic import LogisticPair

        if self.epsilon_per_use == 0.0:
            return FinitePair(ResponseLaw(0.0, 0.0, 2))
        return LogisticPair(self.epsilon_per_use)


# The noisy maximum: which of several candidates has the largest score once noise is added to each.
#
# Pair: with s = 2 sensitivity / scale, or sensitivity / scale where all scores move the same way, the Laplace pair of
# the largest loss s; it dominates for independent noise with a density and a hazard rate of at most 1/scale. For Gumbel
# noise the logistic pair of s, which is smaller.
# Guarantee: the pair dominates. One use attains it at every point, exponential and Gumbel noise, by scores that depend
# on
# the point; under composition no single ones do, and lower ends are those of some real scores.
# Not covered: noise on a grid, and noise rounded to floating-point numbers, which have ties.
# Reference: the theorem is ours; Ding et al. 2021 (permute-and-flip is exponential noise); McKenna, Sheldon 2020; Dong,
# Durfee, Rogers 2020 (Gumbel noise). Proof: docs/proofs/noisy_max.md.

NOISES = ("exponential", "laplace", "gumbel")
GUMBEL_SPANS = (1e-280, 1e300)  # of the doubles that halves and products of losses stay within


@dataclass(frozen=True, slots=True, repr=False)
class NoisyMax(Leaf):
    """Tells which candidate has the largest score plus noise, and nothing else; noise is added to every score.

    scale is that of the noise, 2 sensitivity/epsilon for epsilon in one use; sensitivity is how far a single score
    moves between neighbours; monotone: all scores move the same way where a record is added or removed. Noise is
    continuous and independent: rounded noise is not covered.
    """

    example = "NoisyMax(scale=20) * 10"
    section = "selection"
    formula = (
        "s = 2 sensitivity/scale, monotone: sensitivity/scale. Exponential and Laplace noise: P = Laplace(s, 1), Q = "
        "Laplace(0, 1), H(e^t) = 1 - e^((t - s)/2) for |t| <= s. Gumbel noise: P = Logistic(s, 1), Q = Logistic(0, 1)"
    )
    theorem = (
        "ours, for independent noise with a density and a hazard rate of at most 1/scale; Gumbel noise: Dong, Durfee, "
        "Rogers 2020, Sec. 3; [proof](proofs/noisy_max.md). Noise on a grid or rounded to floating-point numbers is "
        "not covered"
    )
    tightness = (
        "Not tight. One use with exponential or Gumbel noise attains every point, each by scores of its own; Laplace "
        "noise loses less than its pair. Lower ends are those of real scores, composed: of two candidates, or of two "
        "against two, whose gap may be another one at each use."
    )
    relations = (
        "Either relation, with the sensitivity of each score under it. monotone=True is about adding or removing a "
        "record: where one is replaced, scores move both ways. If all move one way there too, halve the sensitivity "
        "instead."
    )
    scale: float
    sensitivity: float = 1.0
    noise: str = "exponential"
    monotone: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))
        if self.noise not in NOISES:
            raise InvalidParameter(f"noise must be one of {', '.join(NOISES)}, not {self.noise!r:.60}")
        flag("monotone", self.monotone)
        if self.noise == "gumbel" and not GUMBEL_SPANS[0] <= self._span <= GUMBEL_SPANS[1]:
            least, most = GUMBEL_SPANS
            raise InvalidParameter(
                f"sensitivity / scale must lie within {least:g} and {most:g} for noise='gumbel', not "
                f"{self.sensitivity!r} / {self.scale!r}"
            )

    @property
    def _span(self) -> Fraction:
        """s."""
        return (1 if self.monotone else 2) * Fraction(self.sensitivity) / Fraction(self.scale)

    @property
    def relation(self) -> Relation | None:
        return Relation.ADD_REMOVE if self.monotone else None

    @property
    def tight(self) -> bool:
        return False

    @property
    def attained(self) -> bool:
        return True

    def pair(self, direction: Direction) -> Pair:
        return self._pairs()[1]

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        from ..losses.finite.finite_pair import candidate_pairs

        return candidate_pairs(self.noise, self._span)

    def witnesses_once(self, direction: Direction) -> tuple[Pair, ...]:
        return self.witnesses(direction) if self.noise == "laplace" else (self._pairs()[0],)

    def group_witness(self, size: int) -> NoisyMax | None:
        """The sensitivity so many times, or the double below. Proof: docs/proofs/noisy_max.md, section 3."""
        with suppress(OverflowError, InvalidParameter):  # beyond what the noise is known for
            return NoisyMax(self.scale, _times_below(self.sensitivity, size), self.noise, self.monotone)
        return None

    def _pairs(self) -> tuple[Pair, Pair]:
        """At or below, and at or above: one and the same unless s is no double and the family needs one."""
        from ..losses.laplace import LaplacePair
        from ..losses.logistic import LogisticPair

        if self.noise != "gumbel":
            pair = shifted_pair(LaplacePair(self.scale, self.sensitivity), 1 if self.monotone else 2)
            assert pair is not None
            return pair, pair
        below, above = rate_ends(self._span)
        return LogisticPair(below), LogisticPair(above)


@dataclass(frozen=True, slots=True, repr=False, init=False)
class PermuteAndFlip(Leaf):
    """Candidates in random order, each taken with probability e^(epsilon (its score - the best) / (2 sensitivity)).

    The 2 is left out where all scores move the same way between neighbours. It is NoisyMax with exponential noise.
    """

    example = "PermuteAndFlip(epsilon=0.1) * 10"
    section = "selection"
    formula = "P = Laplace(epsilon, 1), Q = Laplace(0, 1): H(e^t) = 1 - e^((t - epsilon)/2) for |t| <= epsilon"
    theorem = (
        "ours, for NoisyMax with exponential noise of scale 2 sensitivity/epsilon, which has the same answers: Ding et "
        "al. 2021; McKenna, Sheldon 2020 (the mechanism); [proof](proofs/noisy_max.md). Coins must be exact"
    )
    tightness = (
        "Not tight, but one use attains every point, each by scores of its own. Composed, lower ends are those of real "
        "scores: two candidates, whose gap may be another one at each use."
    )
    relations = (
        "Either relation, with the sensitivity of each score under it. The 2 may be left out only if all scores move "
        "the same way: counts do so where a record is added or removed, not where one is replaced."
    )
    epsilon_per_use: float = field(metadata={"keyword": "epsilon"})

    def __init__(self, epsilon: float, *, name: str | None = None) -> None:
        object.__setattr__(self, "epsilon_per_use", nonnegative("epsilon", epsilon))

    @property
    def tight(self) -> bool:
        return self.epsilon_per_use == 0.0

    @property
    def attained(self) -> bool:
        return True

    def pair(self, direction: Direction) -> Pair:
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.laws import ResponseLaw
        from ..losses.laplace import LaplacePair

        if self.epsilon_per_use == 0.0:
            return FinitePair(ResponseLaw(0.0, 0.0, 2))
        return LaplacePair(1.0, self.epsilon_per_use)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        from ..losses.finite.finite_pair import candidate_pairs

        if self.epsilon_per_use == 0.0:
            return (self.pair(direction),)
        return candidate_pairs("exponential", Fraction(self.epsilon_per_use))

    def witnesses_once(self, direction: Direction) -> tuple[Pair, ...]:
        return (self.pair(direction),)

    def group_witness(self, size: int) -> PermuteAndFlip | None:
        with suppress(OverflowError, InvalidParameter):
            return PermuteAndFlip(_times_below(self.epsilon_per_use, size))
        return None


def _times_below(value: float, size: int) -> float:
    """So many times the value, or the double below that."""

    return rate_ends(size * Fraction(value))[0]
