"""Which stages, which states, how many bits: everything about a game that is chosen, and from which nothing follows.

Parts without a choice come first, as one stage: what they show helps every choice after them. A law without tails of
its own, such as a product, is replaced by a finite pair that it dominates.
Guarantee: every plan is a true policy, so any of them is valid. Proof: docs/proofs/adaptive.md, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from ...derived.product import product_pair
from ...facets.resolution import Resolution
from ...kernels.ball import working_precision
from ...pair import Pair
from ..evaluation import Term
from ..joint.bracket import bracket
from . import tuning
from .cells import Mesh, whole_merged
from .choices import Event, Window, events
from .float_choices import float_events, float_merged
from .rough import Rough, rough

Steps = Sequence[tuple[tuple[Pair, ...], int]]
Stages = tuple[tuple[tuple[Pair, ...], int], ...]
Made = TypeVar("Made")
SPARE_BITS = 64  # of the working precision, above those of a mass


class Sought(NamedTuple):
    """The epsilons between which the game may begin, how little may be left out, and whether balls alone are used."""

    least: float
    most: float
    tail: float
    proof: bool

    def around(self, epsilon: float, reach: float) -> Sought:
        """Nearer to this one, where several are looked at."""
        if self.least == self.most:
            return self
        return self._replace(least=max(self.least, epsilon - reach), most=min(self.most, epsilon + reach))


class Player:
    """Plays the game of some steps at any fineness; rough pictures of its pairs are kept."""

    def __init__(self, steps: Steps) -> None:
        self._stages = _stages([(pairs, count) for pairs, count in steps if count])
        pairs = [pair for alternatives, _ in steps for pair in alternatives]
        self._leaks = not all(pair.infinite_mass().is_zero() for pair in pairs)
        self._loses = not all(pair.reversed().infinite_mass().is_zero() for pair in pairs)
        self._pictures: dict[Pair, Rough] = {}
        self._spans: dict[tuple[Stages, float], tuple[float, float]] = {}

    def play(self, sought: Sought, points: int) -> tuple[list[Event], Mesh]:
        """The events of a game on about so many states, and its mesh."""
        fine = Resolution(points, sought.tail, sought.proof)
        stages = [(tuple(_known(terms, fine) for terms in stage), times) for stage, times in self._stages]
        pairs = dict.fromkeys(pair for stage, _ in stages for pair in stage)
        drawn = {pair: self._drawn(pair, sought.proof) for pair in pairs}
        low, high = self._reached(tuple(stages), sought.tail, drawn)
        most = min(sought.most, max(high, sought.least))
        # No finite loss leads back from below -high, or away from above -low.
        bottom = low - most if self._leaks else max(low - most, -high)
        top = high - sought.least if self._loses else min(high - sought.least, -low)
        uses = sum(times for _, times in stages)
        longest = max(above - below for below, above in (each.ends(sought.tail / uses) for each in drawn.values()))
        span = max(top - bottom, min(longest, tuning.LOSS_FAR) / tuning.LAW_LONGEST, tuning.STATES_NARROWEST)
        step = _five_bits(span / points)
        first, last = math.floor(-most / step) - tuning.STARTS, math.ceil(-sought.least / step) + tuning.STARTS
        window = Window(min(math.floor(bottom / step), first), max(math.ceil(top / step), last, 1), first, last)
        labels = {pair: _labels(drawn[pair], sought.tail / uses, step) for pair in pairs}
        if not sought.proof:
            merged = {pair: float_merged(pair, *labels[pair], step) for pair in pairs}
            return float_events(_line(stages, merged), window, step), Mesh(step, 0)
        mesh = Mesh(step, math.ceil(math.log2(uses * points / sought.tail)) + tuning.ADAPTIVE_GUARD)
        with working_precision(mesh.bits + SPARE_BITS):
            whole = {pair: whole_merged(pair, *labels[pair], mesh) for pair in pairs}
            return events(_line(stages, whole), window, mesh), mesh

    def _reached(self, stages: Stages, tail: float, drawn: Mapping[Pair, Rough]) -> tuple[float, float]:
        """About where the total loss lies, worked out once: finer games have the same ends."""
        if (stages, tail) not in self._spans:
            pictures = [([drawn[pair] for pair in stage], times) for stage, times in stages]
            self._spans[stages, tail] = _ends(pictures, tail)
        return self._spans[stages, tail]

    def _drawn(self, pair: Pair, proof: bool) -> Rough:
        if pair not in self._pictures:
            self._pictures[pair] = rough(pair, proof)
        return self._pictures[pair]


def _stages(steps: Steps) -> list[tuple[list[list[Term]], int]]:
    """Alternatives and how often: first all that has no choice, then the choices as they come."""
    alone = [(pairs[0], count) for pairs, count in steps if len(pairs) == 1]
    found: list[tuple[list[list[Term]], int]] = [([alone], 1)] if alone else []
    return found + [([[(pair, 1)] for pair in pairs], count) for pairs, count in steps if len(pairs) > 1]


def _known(terms: Sequence[Term], fine: Resolution) -> Pair:
    """The product itself where its tails are known, else a finite pair that it dominates."""
    return bracket(product_pair(terms), fine).lower


def _line(stages: Sequence[tuple[Sequence[Pair], int]], cells: Mapping[Pair, Made]) -> list[list[Made]]:
    """The cells of the alternatives, use by use."""
    return [[cells[pair] for pair in stage] for stage, times in stages for _ in range(times)]


def _labels(drawn: Rough, tail: float, step: float) -> tuple[int, int]:
    """Of the cells where the loss lies, but for so much P-mass beyond either end."""
    low, high = drawn.ends(tail)
    return round(low / step), round(high / step)


def _ends(stages: Sequence[tuple[Sequence[Rough], int]], tail: float) -> tuple[float, float]:
    """About where the total loss lies, whatever is chosen: by Chernoff under P, or by the ends of the parts."""
    low = sum(times * min(each.cells[0][2] for each in stage) for stage, times in stages)
    high = sum(times * max(each.cells[-1][3] for each in stage) for stage, times in stages)
    least, most, number = tuning.TILTS
    for place in range(number):
        tilt = least * (most / least) ** (place / (number - 1))
        up, down = (
            sum(times * max(each.cgf(side * tilt) for each in stage) for stage, times in stages) for side in (1.0, -1.0)
        )
        high, low = min(high, (up - math.log(tail)) / tilt), max(low, -(down - math.log(tail)) / tilt)
    return _near(low), _near(high)


def _near(loss: float) -> float:
    return min(max(loss, -tuning.LOSS_FAR), tuning.LOSS_FAR)


def _five_bits(step: float) -> float:
    """A little below, with few bits, so that edges are doubles."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(32.0 * mantissa), exponent - 5)
