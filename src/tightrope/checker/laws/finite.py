"""Laws with finitely many losses: two lists of probabilities, randomized response, and integer Laplace noise.

Whatever is asked is a sum over the outputs that both P and Q have, each with its loss log(p/q), and the two masses that
only one of them has. Proof: docs/proofs/checker_grids.md, "Finite laws".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from flint import acb, arb, ctx

from ..law import CheckedLaw, exact

Outcome = tuple[arb, arb, arb]  # p > 0, q > 0, and the loss log(p/q)
CHECKED_LOSSES_MAX = 10_000


@dataclass(frozen=True)
class OutcomesLaw(CheckedLaw):
    """What follows from the list of outcomes, the mass of infinite loss, and the Q-mass where P has none."""

    kept: dict[int, list[Outcome]] = field(default_factory=dict, compare=False, repr=False, kw_only=True)

    def listed(self) -> list[Outcome]:
        """The outcomes at the precision of the moment, made once for each."""
        if ctx.prec not in self.kept:
            self.kept[ctx.prec] = self.outcomes()
        return self.kept[ctx.prec]

    def outcomes(self) -> list[Outcome]:
        """All that both laws have; outputs of one loss may be one."""
        raise NotImplementedError

    def lost(self) -> arb:
        """Q[P = 0]."""
        return arb(0)

    def tails(self, x: arb) -> tuple[arb, arb]:
        above_p, above_q = arb(0), arb(0)
        for p, q, loss in self.listed():
            if loss > x:
                above_p, above_q = above_p + p, above_q + q
            elif not loss <= x:  # not told apart: the hull of both
                above_p, above_q = above_p + p.union(arb(0)), above_q + q.union(arb(0))
        return above_p, above_q

    def moments(self, tilt: arb, step: arb, count: int) -> list[acb]:
        weights, turns, found = [], [], []
        for p, _, loss in self.listed():
            weights.append(acb(p * (tilt * loss).exp()))
            turns.append(acb(0, step * loss).exp())
        for _ in range(count):
            found.append(sum(weights, acb(0)))
            weights = [weight * turn for weight, turn in zip(weights, turns, strict=True)]
        return found

    def atoms(self) -> list[tuple[arb, arb]]:
        both = [(p, q) for p, q, _ in self.listed()]
        return [*both, (self.infinite(), arb(0)), (arb(0), self.lost())]

    def lattice(self) -> tuple[arb, arb] | None:
        """Two different losses are one, and so is none or one."""
        losses = [loss for _, _, loss in self.listed()]
        if len(losses) < 2:
            return (*losses, arb(0))[0], arb(1)
        gap = losses[1] - losses[0]
        return (losses[0], abs(gap)) if len(losses) == 2 and not gap.contains(0) else None


@dataclass(frozen=True)
class RatiosLaw(OutcomesLaw):
    """p and q, each meant as divided by its exact sum."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    def outcomes(self) -> list[Outcome]:
        return [(exact(p), exact(q), exact(p / q).log()) for p, q in self._merged()]

    def infinite(self) -> arb:
        return exact(sum((p for p, q in zip(self.p, self.q, strict=True) if not q), Fraction(0)) / sum(self.p))

    def lost(self) -> arb:
        return exact(sum((q for p, q in zip(self.p, self.q, strict=True) if not p), Fraction(0)) / sum(self.q))

    def reversed(self) -> RatiosLaw:
        """The same again where outputs can be paired so that each has the other's masses."""
        both = list(zip(self.p, self.q, strict=True))
        return self if sorted(both) == sorted((q, p) for p, q in both) else RatiosLaw(self.q, self.p)

    def lattice(self) -> tuple[arb, arb] | None:
        """The ratios are base g^n for one g > 1, which Euclid finds by division, where there is one."""
        ratios = sorted(p / q for p, q in self._merged())
        if not ratios:
            return arb(0), arb(1)
        common = Fraction(1)
        for gap in [after / before for before, after in pairwise(ratios)]:
            other = gap
            while other != 1 and common != 1:
                common, other = max(common, other), min(common, other)
                if (common / other).numerator >= common.numerator:  # powers of one number become shorter
                    return None
                common /= other
            common = max(common, other)
        return exact(ratios[0]).log(), exact(common).log() if common > 1 else arb(1)

    def _merged(self) -> list[tuple[Fraction, Fraction]]:
        """Outcomes of equal ratio are one."""
        whole, total = sum(self.p, Fraction(0)), sum(self.q, Fraction(0))
        merged: dict[Fraction, tuple[Fraction, Fraction]] = {}
        for p, q in zip(self.p, self.q, strict=True):
            if p and q:
                before = merged.get(p / q, (Fraction(0), Fraction(0)))
                merged[p / q] = before[0] + p / whole, before[1] + q / total
        return list(merged.values())


def response(p: Fraction, categories: int) -> RatiosLaw:
    """The truth with probability p, else any other category, all alike."""
    other = (1 - p) / (categories - 1)
    return RatiosLaw((p, other, other * (categories - 2)), (other, p, other * (categories - 2)))


@dataclass(frozen=True)
class LeakyResponseLaw(OutcomesLaw):
    """All is told with probability delta, else randomized response whose odds for the truth are e^epsilon.

    chains: whether it stands for every mechanism that shows no more, so that someone is several neighbours away.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    categories: int = 2
    chains: bool = False

    def outcomes(self) -> list[Outcome]:
        if self.delta == 1:
            return []
        epsilon = exact(self.epsilon)
        truth = exact(1 - self.delta) / (1 + (self.categories - 1) * (-epsilon).exp())
        other = truth * (-epsilon).exp()
        both = [(truth, other, epsilon), (other, truth, -epsilon)]
        rest = other * (self.categories - 2)
        return both if self.categories == 2 else [*both, (rest, rest, arb(0))]

    def shifted(self, size: int) -> OutcomesLaw | None:
        """Pure privacy size times is integer Laplace noise of scale 1/epsilon (docs/proofs/group.md, section 3)."""
        if size == 1 or not self.epsilon:
            return self if size == 1 else None
        return GeometricLaw(1 / self.epsilon, size) if self.chains and not self.delta else None

    def infinite(self) -> arb:
        return exact(self.delta)

    def lost(self) -> arb:
        return exact(self.delta)

    def reversed(self) -> LeakyResponseLaw:
        return self

    def lattice(self) -> tuple[arb, arb]:
        epsilon = exact(self.epsilon)
        return -epsilon, (epsilon if self.categories > 2 else 2 * epsilon) if self.epsilon else arb(1)


@dataclass(frozen=True)
class ThreeLossesLaw(OutcomesLaw):
    """Losses epsilon, -epsilon and 0: what a set of categories shows, or noise that falls in steps.

    The first has the mass `most` of P, the second e^-epsilon times as much (docs/mechanisms.md).
    """

    epsilon: Fraction
    categories: int = 0
    size: int = 0
    gamma: Fraction | None = None  # of a staircase, which has no categories; None: 1/(1 + e^{epsilon/2})

    def outcomes(self) -> list[Outcome]:
        epsilon = exact(self.epsilon)
        most, less = self._most(epsilon), (-epsilon).exp()
        rest = 1 - most * (1 + less)
        both = [(most, most * less, epsilon), (most * less, most, -epsilon)]
        return [*both, (rest, rest, arb(0))] if rest > 0 else both

    def _most(self, epsilon: arb) -> arb:
        fall = (-epsilon).exp()
        if self.categories:
            k, d = self.categories, self.size
            return d * (k - d) / ((k - 1) * (d + (k - d) * fall))
        if self.gamma is None:
            return 1 - (-epsilon / 2).exp() / 2
        gamma = exact(self.gamma)
        scale = gamma + fall * (1 - gamma)
        return (gamma + fall * (1 - 2 * gamma) / 2) / scale if self.gamma <= Fraction(1, 2) else 1 / (2 * scale)

    def reversed(self) -> ThreeLossesLaw:
        return self

    def lattice(self) -> tuple[arb, arb]:
        return -exact(self.epsilon), exact(self.epsilon)


@dataclass(frozen=True)
class GeometricLaw(OutcomesLaw):
    """Integer Laplace noise: losses (2x - sensitivity)/scale for x = 0, ..., sensitivity; all beyond share the ends.

    With a = e^{-1/scale} an output x has the mass (1 - a)/(1 + a) a^|x - sensitivity|, and all from 0 down, or from the
    sensitivity up, have a^|...|/(1 + a) together.
    """

    scale: Fraction
    sensitivity: int

    def __post_init__(self) -> None:
        if self.sensitivity > CHECKED_LOSSES_MAX:
            raise ValueError(f"more than {CHECKED_LOSSES_MAX:,} losses")

    def outcomes(self) -> list[Outcome]:
        found, shift = [], self.sensitivity
        ratio = (-1 / exact(self.scale)).exp()
        for x in range(shift + 1):
            share = (1 if x in (0, shift) else 1 - ratio) / (1 + ratio)
            found.append((share * ratio ** (shift - x), share * ratio**x, exact((2 * x - shift) / self.scale)))
        return found

    def reversed(self) -> GeometricLaw:
        return self

    def shifted(self, size: int) -> GeometricLaw:
        return GeometricLaw(self.scale, self.sensitivity * size)

    def lattice(self) -> tuple[arb, arb]:
        return exact(-self.sensitivity / self.scale), exact(2 / self.scale)
