"""Noise with a flat top, and how its two laws lie: the numbers that every formula of the pair is made of.

The density is K between 0 and W, K e^(b x) below and K e^(-a (x - W)) above; the shift is 1, so a is the largest loss
and -b the least. With x the shift of the threshold over its scale and s what the answers may add to a loss:
either way (queries move as they like) a = b = x + s and K = s/(4 log 2);
one way (those of the first law are the larger) a = s, b = x + s and K = s/(e log 2), or a b/(a + b) where that is less:
then W = 0, and the top has no width.
Guarantee: exact, in balls. Proof: docs/proofs/sparse_vector.md, sections 3 to 5.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from flint import arb

from ...errors import UnsupportedMechanism
from ...facets.lattice import ratio_ball
from ...kernels.ball import BITS_START, working_precision

BITS_MAX = 1 << 14  # no tie is known that lasts


class TopShape(NamedTuple):
    """high and low: a and b. top: K. width: W. over_high and over_low: K/a and K/b, the masses of the tails."""

    high: arb
    low: arb
    top: arb
    width: arb
    over_high: arb
    over_low: arb

    @property
    def first(self) -> arb:
        """Of a width below 1: the loss where both laws leave the top, on the left."""
        return self.low * (self.width - 1)

    @property
    def last(self) -> arb:
        """The same on the right."""
        return self.high * (1 - self.width)


class TopKind(NamedTuple):
    """What is decided once: whether the top has a width, and whether that is at least the shift."""

    flat: bool
    wide: bool


def kind_of(threshold: Fraction, answers: Fraction, rising: bool | None) -> TopKind:
    """By signs that more bits decide."""
    high, low = ends(threshold, answers, rising)
    flat = rising is None or _sign(lambda: 1 / _steepest(answers, rising) - ratio_ball(1 / high + 1 / low)) > 0
    wide = flat and _sign(lambda: 1 / _steepest(answers, rising) - ratio_ball(1 / high + 1 / low) - 1) > 0
    return TopKind(flat, wide)


def shape_of(threshold: Fraction, answers: Fraction, rising: bool | None, kind: TopKind) -> TopShape:
    """At the working precision."""
    high, low = ends(threshold, answers, rising)
    most, least = ratio_ball(high), ratio_ball(low)
    if not kind.flat:
        top = ratio_ball(high * low / (high + low))
        return TopShape(most, least, top, arb(0), ratio_ball(low / (high + low)), ratio_ball(high / (high + low)))
    top = _steepest(answers, rising)
    return TopShape(most, least, top, 1 / top - ratio_ball(1 / high + 1 / low), top / most, top / least)


def ends(threshold: Fraction, answers: Fraction, rising: bool | None) -> tuple[Fraction, Fraction]:
    """The largest loss, and the least with its sign changed."""
    most = threshold + answers
    return (answers if rising else most), (answers if rising is False else most)


def _steepest(answers: Fraction, rising: bool | None) -> arb:
    """How much the probability of any event may move at most."""
    turns = arb(4) if rising is None else arb(1).exp()
    return ratio_ball(answers) / (turns * arb(2).log())


def _sign(formula: Callable[[], arb]) -> int:
    bits = BITS_START
    while bits <= BITS_MAX:
        with working_precision(bits):
            value = formula()
            if value > 0 or value < 0:
                return 1 if value > 0 else -1
        bits *= 2
    raise UnsupportedMechanism("its losses cannot be told apart; choose another threshold_scale")
