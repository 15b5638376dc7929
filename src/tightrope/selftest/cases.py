"""A run and a question, drawn from a seed and the number of the case: the same on every machine, in any order."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction

from .enumeration import EnumeratedUse, Masses

CASE_OUTCOMES_MAX = 3000  # of all uses of finite laws together
GRAINS = 64  # of the masses of such a law

Source = random.Random


@dataclass(frozen=True)
class SelftestCase:
    """The expression of a run, what is asked of it, and its uses where they can be enumerated."""

    seed: int
    number: int
    expression: str
    quantity: str
    given: float
    uses: tuple[EnumeratedUse, ...] = ()

    @property
    def replay(self) -> str:
        """The command that does it again."""
        return f"tightrope selftest --seed {self.seed} --case {self.number}"


def drawn(seed: int, number: int) -> SelftestCase:
    """Case `number` of a seed: one in three is finite, one in three a sampled Gaussian, the others are mixed."""
    source = random.Random(f"{seed} {number}")
    uses: tuple[EnumeratedUse, ...] = ()
    if number % 3 == 0:
        expression, uses = _finite(source)
    elif number % 3 == 1:
        sigma, rate = _between(source, 0.4, 50.0), _between(source, 1e-4, 0.9)
        expression = f"Gaussian(sigma={sigma}).poisson(rate={rate}) * {_count(source, 1e5)}"
    else:
        expression = " + ".join(_part(source) for _ in range(source.randint(1, 3)))
    if source.random() < 0.5:
        return SelftestCase(seed, number, expression, "epsilon", _between(source, 1e-12, 1e-1), uses)
    epsilon = _between(source, 0.01, 5.0) * (-1.0 if source.random() < 0.1 else 1.0)
    return SelftestCase(seed, number, expression, "delta", epsilon, uses)


def _finite(source: Source) -> tuple[str, tuple[EnumeratedUse, ...]]:
    """One to three finite laws, sampled or not, as many uses of each as can be enumerated."""
    texts, uses, room = [], [], CASE_OUTCOMES_MAX
    for _ in range(source.randint(1, 3)):
        text, with_record, without = source.choice((_response, _listed))(source)
        if source.random() < 0.5:
            rate = _between(source, 0.01, 0.99)
            text, share = f"{text}.poisson(rate={rate})", Fraction(rate)
            with_record = tuple(share * p + (1 - share) * q for p, q in zip(with_record, without, strict=True))
        use = EnumeratedUse(with_record, without, _count(source, 60.0))
        while use.size > max(room, 1):
            use = EnumeratedUse(with_record, without, use.count - 1)
        if use.count:
            texts.append(f"{text} * {use.count}")
            uses.append(use)
            room //= use.size
    return " + ".join(texts), tuple(uses)


def _response(source: Source) -> tuple[str, Masses, Masses]:
    """Randomized response: the truth or one of the others."""
    categories, p = source.randint(2, 3), _between(source, 0.34, 0.99)
    truth = Fraction(p)
    other = (1 - truth) / (categories - 1)
    rest = (other,) * (categories - 2)
    return (
        f"RandomizedResponse(p={p}, categories={categories}, neighbours='add_remove')",
        (truth, other, *rest),
        (other, truth, *rest),
    )


def _listed(source: Source) -> tuple[str, Masses, Masses]:
    """Two laws of two or three outputs, some of which may be impossible."""
    outputs = source.randint(2, 3)
    laws = []
    for _ in range(2):
        cuts = sorted(source.randint(0, GRAINS) for _ in range(outputs - 1))
        ends = zip([0, *cuts], [*cuts, GRAINS], strict=True)
        laws.append(tuple(Fraction(high - low, GRAINS) for low, high in ends))
    p, q = ([float(mass) for mass in law] for law in laws)
    return f"Finite(p={p}, q={q})", laws[0], laws[1]


def _part(source: Source) -> str:
    """One mechanism of a mix, some times."""
    size, rate = _between(source, 0.5, 50.0), _between(source, 1e-3, 1.0)
    kinds = (
        f"Gaussian(sigma={size})",
        f"Laplace(scale={size})",
        f"Gaussian(sigma={size}).poisson(rate={rate})",
        f"Laplace(scale={size}).poisson(rate={rate})",
        f"DiscreteGaussian(sigma={size})",
        f"DiscreteLaplace(scale={size})",
        f"RandomizedResponse(p={_between(source, 0.5, 0.95)}, neighbours='add_remove')",
        f"ApproximateDP(epsilon={_between(source, 0.01, 2.0)}, delta={_between(source, 1e-20, 1e-12)})",
    )
    return f"{source.choice(kinds)} * {_count(source, 300.0)}"


def _between(source: Source, low: float, high: float) -> float:
    """Three digits, evenly on a log scale."""
    return min(max(float(f"{low * (high / low) ** source.random():.3g}"), low), high)


def _count(source: Source, most: float) -> int:
    return round(math.exp(source.random() * math.log(most)))
