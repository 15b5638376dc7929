"""Where the losses of a composition end, what decides alone there, and whether that leaves a short law.

With infima a_i and suprema b_i of the losses, A = sum k_i a_i and B = sum k_i b_i, a use of term i above
    top_i = eps - (A - a_i)   makes the total exceed eps whatever the others do, and one below
    bottom_i = eps - (B - b_i)   keeps it at or below eps.
Guarantee: none needed. Any window is valid, and one that is a hair too short costs a hair.
Proof: docs/proofs/hits.md, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...errors import UnsupportedMechanism
from ...kernels.ball import BITS_START, working_precision
from ...kernels.double_double import double_double
from ...kernels.enclosure import FloatArray, exact
from ...pair import Pair
from ..evaluation import Term
from . import tuning


@dataclass(frozen=True, slots=True)
class EndedTerm:
    """A term, and the infimum and the supremum of its losses as doubles."""

    pair: Pair
    count: int
    low: float
    high: float


class CutWindow(NamedTuple):
    """The losses of a term that do not decide alone, from bottom to top; at_low: they begin at its infimum."""

    bottom: float
    top: float
    at_low: bool

    @property
    def length(self) -> float:
        """top - bottom."""
        return self.top - self.bottom


@dataclass(frozen=True)
class CutQuestion:
    """A composition and its ends."""

    terms: tuple[Term, ...]
    ended: tuple[EndedTerm, ...]

    @staticmethod
    def of(terms: Sequence[Term]) -> CutQuestion:
        """The ends of the losses of every term."""
        with working_precision(BITS_START):
            ranges = [pair.loss_range() for pair, _ in terms]
            ends = [(float(each.lowest.mid()), float(each.highest.mid())) for each in ranges]
        return CutQuestion(tuple(terms), tuple(EndedTerm(*term, *end) for term, end in zip(terms, ends, strict=True)))

    def windows(self, epsilon: float) -> list[CutWindow]:
        """[bottom, top] of every term, about."""
        return [self._window(index, epsilon) for index in range(len(self.ended))]

    def _window(self, index: int, epsilon: float) -> CutWindow:
        own = self.ended[index]
        others = [(term, term.count - (place == index)) for place, term in enumerate(self.ended)]
        least = sum(count * term.low for term, count in others if count)
        most = sum(count * term.high for term, count in others if count)
        bottom = max(own.low, epsilon - most)
        return CutWindow(bottom, min(own.high, epsilon - least), bottom == own.low)

    def check_short(self) -> None:
        """Raises UnsupportedMechanism unless what all uses without a hit lose or gain together is small."""
        least = sum(term.count * term.low for term in self.ended)
        most = sum(term.count * term.high for term in self.ended)
        if len(self.ended) > tuning.TERMS_MAX or not (least >= -tuning.HITS_MAX or most <= tuning.HITS_MAX):
            raise UnsupportedMechanism("it has many hits, or losses without ends that would cut them short")

    def check(self, epsilon: float) -> None:
        """Raises UnsupportedMechanism where an even grid of the windows would not pay."""
        windows = self.windows(epsilon)
        cut = list(zip(self.ended, windows, strict=True))
        # An addition loses at most what epsilon is compared with, so that it is short in any case.
        body = sum(term.count * abs(term.low) for term, window in cut if window.at_low)
        if not (body <= tuning.BODY_MAX * epsilon and all(window.bottom < window.top < math.inf for window in windows)):
            raise UnsupportedMechanism("many small losses count: there is nothing to cut off")
        longest = max(window.length for window in windows)
        if not longest <= tuning.CUT_POINTS_MAX * epsilon:
            raise UnsupportedMechanism("epsilon is shorter than a step of the finest grid")
        if not longest <= tuning.BODY_POINTS_MAX * max(
            abs(term.low if window.at_low else term.high) for term, window in cut
        ):
            raise UnsupportedMechanism("its hits are too large beside its other losses")
        for ended_term, window in cut:
            edge = window.bottom + tuning.NEXT_TO_END * window.length
            if window.at_low and float(ended_term.pair.tails(double_double(np.array([edge]))).p_below[0]) < 0.5:
                raise UnsupportedMechanism("its losses are spread out: there is nothing to cut off")

    def single(self, epsilon: FloatArray) -> FloatArray:
        """About the delta of one use among all, the others without loss."""
        total = np.zeros_like(epsilon)
        for pair, count in self.terms:
            total = total + count * pair.hockey_stick(exact(epsilon)).value
        return np.minimum(total, 1.0)

    def single_epsilon(self, delta: float) -> float:
        """The epsilon where one use among all has about this delta."""
        low, high = 1e-12, 1.0
        while float(self.single(np.array([high]))[0]) > delta and high < 1e15:
            high *= 16.0
        for _ in range(12):
            points = np.geomspace(low, high, 17)
            place = int(np.clip(np.searchsorted(-self.single(points), -delta), 1, 16))
            low, high = float(points[place - 1]), float(points[place])
            if high / low < 1.0 + 1e-3:
                break
        return high
