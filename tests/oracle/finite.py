"""Laws with finitely many outputs, or finitely many values of the density ratio, and products of them."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, cmp_to_key, lru_cache
from itertools import accumulate
from typing import NamedTuple

from flint import arb, ctx

from .exponentials import sign
from .precision import START, Number, ball, precision
from .truth import Choice, Law, Masses, Ratio


class Output(NamedTuple):
    """P, Q and their ratio; all outputs of one ratio may share an entry."""

    p: arb
    q: arb
    ratio: Ratio


class FiniteLaw(Law):
    """A law given by its outputs."""

    @abstractmethod
    def outputs(self) -> tuple[Output, ...]:
        """All outputs that either law has, at the precision in force."""

    def masses(self, choice: Choice) -> Masses:
        table = _table(self, ctx.prec)
        # Ratios ascend, so the chosen outputs are the last ones (remove) or the first ones (add).
        place = bisect_left(table.ratios, True, key=lambda ratio: choice.takes(ratio) == choice.remove)
        below, above = table.below[place], table.above[place]
        return Masses(*above, *below) if choice.remove else Masses(*below, *above)

    def ratio_range(self) -> tuple[Ratio | None, Ratio | None]:
        shared = [ratio for ratio in _table(self, START).ratios if ratio.factor]
        return (shared[0], shared[-1]) if shared else (Ratio(Fraction(1)), Ratio(Fraction(1)))


@dataclass(frozen=True)
class Histogram(FiniteLaw):
    """Two vectors of masses, each divided by its exact sum."""

    p: tuple[Number, ...]
    q: tuple[Number, ...]

    def outputs(self) -> tuple[Output, ...]:
        return tuple(
            Output(ball(p), ball(q), Ratio(p / q if q else None)) for p, q in zip(*self._exact, strict=True) if p or q
        )

    def alone(self) -> tuple[Fraction, Fraction]:
        pairs = list(zip(*self._exact, strict=True))
        return sum((p for p, q in pairs if not q), Fraction(0)), sum((q for p, q in pairs if not p), Fraction(0))

    @cached_property
    def _exact(self) -> tuple[list[Fraction], list[Fraction]]:
        return _normalised(self.p), _normalised(self.q)


def _normalised(masses: tuple[Number, ...]) -> list[Fraction]:
    exact = [Fraction(mass) for mass in masses]
    total = sum(exact)
    return [mass / total for mass in exact]


def response(p: Number, categories: int = 2) -> Histogram:
    """Randomized response that tells the truth with probability p; the true answers are categories 0 and 1."""
    truth = Fraction(p)
    other = (1 - truth) / (categories - 1)
    rest = (other * (categories - 2),) if categories > 2 else ()
    return Histogram((truth, other, *rest), (other, truth, *rest))


@dataclass(frozen=True)
class Leaky(FiniteLaw):
    """With probability delta the record leaks; otherwise randomized response whose odds are e^epsilon : 1."""

    epsilon: Number
    delta: Number = 0
    categories: int = 2

    def outputs(self) -> tuple[Output, ...]:
        epsilon, delta = Fraction(self.epsilon), Fraction(self.delta)
        odds, kept = ball(epsilon).exp(), ball(1 - delta)
        other = kept / (odds + self.categories - 1)
        truth = odds * other
        leaks = (
            Output(ball(delta), arb(0), Ratio(None)),
            Output(arb(0), ball(delta), Ratio(Fraction(0))),
        )
        answers = (
            Output(truth, other, Ratio(Fraction(1), epsilon)),
            Output(other, truth, Ratio(Fraction(1), -epsilon)),
            Output((self.categories - 2) * other, (self.categories - 2) * other, Ratio(Fraction(1))),
        )
        return (leaks if delta else ()) + (answers if delta < 1 else ())

    def alone(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.delta), Fraction(self.delta)


@dataclass(frozen=True)
class DiscreteLaplace(FiniteLaw):
    """Two-sided geometric noise: all integers up to 0 share a ratio, and so do all from the sensitivity on."""

    scale: Number
    sensitivity: int = 1

    def outputs(self) -> tuple[Output, ...]:
        scale, shift = Fraction(self.scale), self.sensitivity
        decay = (-ball(1 / scale)).exp()
        end, point = 1 / (1 + decay), (1 - decay) / (1 + decay)
        far = (-ball(shift / scale)).exp() * end
        inner = (
            Output(
                point * (-ball((shift - x) / scale)).exp(),
                point * (-ball(x / scale)).exp(),
                Ratio(Fraction(1), (2 * x - shift) / scale),
            )
            for x in range(1, shift)
        )
        reach = shift / scale
        return (Output(far, end, Ratio(Fraction(1), -reach)), *inner, Output(end, far, Ratio(Fraction(1), reach)))

    def alone(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(0)


@dataclass(frozen=True)
class Product(FiniteLaw):
    """Independent uses: (law, count) each; outputs with the same ratio are merged."""

    parts: tuple[tuple[FiniteLaw, int], ...]

    def outputs(self) -> tuple[Output, ...]:
        total: dict[Ratio, tuple[arb, arb]] = {Ratio(Fraction(1)): (arb(1), arb(1))}
        for law, count in self.parts:
            total = _convolved(total, _power(_merged(law.outputs()), count))
        return tuple(Output(p, q, ratio) for ratio, (p, q) in total.items())

    def alone(self) -> tuple[Fraction, Fraction]:
        p_kept = q_kept = Fraction(1)
        for law, count in self.parts:
            p_alone, q_alone = law.alone()
            p_kept *= (1 - p_alone) ** count
            q_kept *= (1 - q_alone) ** count
        return 1 - p_kept, 1 - q_kept


Cells = dict[Ratio, tuple[arb, arb]]


def _merged(outputs: tuple[Output, ...]) -> Cells:
    cells: Cells = {}
    for p, q, ratio in outputs:
        before = cells.get(ratio, (arb(0), arb(0)))
        cells[ratio] = (before[0] + p, before[1] + q)
    return cells


def _power(cells: Cells, count: int) -> Cells:
    result: Cells = {Ratio(Fraction(1)): (arb(1), arb(1))}
    while count:
        if count & 1:
            result = _convolved(result, cells)
        count >>= 1
        if count:
            cells = _convolved(cells, cells)
    return result


def _convolved(first: Cells, second: Cells) -> Cells:
    cells: Cells = {}
    for one, (p, q) in first.items():
        for two, (r, s) in second.items():
            ratio = _times(one, two)
            if ratio is None:
                continue
            before = cells.get(ratio, (arb(0), arb(0)))
            cells[ratio] = (before[0] + p * r, before[1] + q * s)
    return cells


def _times(one: Ratio, two: Ratio) -> Ratio | None:
    """The ratio of a pair of outputs; None where neither law has it."""
    if one.factor is None or two.factor is None:
        impossible = one.factor == 0 or two.factor == 0
        return None if impossible else Ratio(None)
    factor = one.factor * two.factor
    return Ratio(factor, one.exponent + two.exponent if factor else Fraction(0))


class Table(NamedTuple):
    """Ascending ratios, and P and Q of the outputs before and from each place on."""

    ratios: tuple[Ratio, ...]
    below: tuple[tuple[arb, arb], ...]
    above: tuple[tuple[arb, arb], ...]


@lru_cache(maxsize=256)
def _table(law: FiniteLaw, bits: int) -> Table:
    with precision(bits):
        outputs = sorted(law.outputs(), key=cmp_to_key(_compared))
        zero = (arb(0), arb(0))
        below = tuple(accumulate(outputs, _added, initial=zero))
        above = tuple(accumulate(reversed(outputs), _added, initial=zero))[::-1]
    return Table(tuple(output.ratio for output in outputs), below, above)


def _added(sums: tuple[arb, arb], output: Output) -> tuple[arb, arb]:
    return sums[0] + output.p, sums[1] + output.q


def _compared(one: Output, two: Output) -> int:
    """Which of two density ratios is larger, exactly."""
    first, second = one.ratio, two.ratio
    if first.factor is None or second.factor is None:
        return (first.factor is None) - (second.factor is None)
    return sign([(first.factor, first.exponent), (-second.factor, second.exponent)])
