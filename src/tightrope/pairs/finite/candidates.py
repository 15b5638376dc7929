"""What real neighbours of a noisy maximum show: two candidates, or two groups of equal ones, and how they move.

With S the upper tail of the difference of both sides' noise, in units of its scale, the first is told with probability
S(y) by one data set and with S(y + span) by the other, for any y. p = S(y) rounded down and q = S(y + span) rounded up
to dyadic fractions are the laws of scores that move by no more than the span: (p, 1 - p) against (q, 1 - q).
Guarantee: exactly real laws, in fractions. Proof: docs/proofs/noisy_max.md, section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from flint import arb

from ...facets.lattice import ratio_ball
from ...kernels.ball import BITS_START, working_precision
from ...pair import Pair
from .laws import RationalLaw
from .pair import FinitePair

SPAN_MAX = 1000  # of the laws that are listed: larger spans have them too


def exponential_tail(y: arb) -> arb:
    """One candidate against one, exponential noise: the difference is Laplace noise."""
    return (-y).exp() / 2


def gumbel_tail(y: arb) -> arb:
    """The same with Gumbel noise: the difference has the logistic law."""
    return 1 / (1 + y.exp())


def laplace_tail(y: arb) -> arb:
    """Two candidates of one score against two, Laplace noise: nearer to the Laplace pair than one against one."""
    fall = (-y).exp()
    return fall * (arb(5) / 6 - fall * (arb(1) / 3 + y / 8))


# S(y) for y >= 0, at the working precision; S(-y) = 1 - S(y).
TAILS: Mapping[str, Callable[[arb], arb]] = MappingProxyType(
    {"exponential": exponential_tail, "gumbel": gumbel_tail, "laplace": laplace_tail}
)


# y = place - share span of the listed laws, beside the one with its middle at 0. Exponential noise has its largest loss
# from y = 0 on, the others far out.
PLACES: Mapping[str, tuple[tuple[int, Fraction], ...]] = MappingProxyType(
    {
        "exponential": ((0, Fraction(0)), (0, Fraction(1, 4))),
        "gumbel": ((0, Fraction(0)), (2, Fraction(0))),
        "laplace": ((0, Fraction(0)), (2, Fraction(0))),
    }
)


def candidate_pairs(noise: str, span: Fraction) -> tuple[Pair, ...]:
    """A few gaps of the scores: a tie in the middle of the move, at its start, and others; each from both sides.

    span: by how much the difference of two scores moves, in units of the scale of the noise, above 0.
    """
    span = min(span, Fraction(SPAN_MAX))
    bits = BITS_START + max(span.denominator.bit_length() - span.numerator.bit_length(), 0)
    with working_precision(bits):
        middle = _upward(_tail(noise, span / 2))
        found = [(1 - middle, middle)]
        for place, share in PLACES[noise]:
            y = place - share * span
            p, q = _downward(_tail(noise, y)), _upward(_tail(noise, y + span))
            found += [(p, q), (1 - q, 1 - p)]
    return tuple(FinitePair(RationalLaw((p, 1 - p), (q, 1 - q))) for p, q in found)


def _tail(noise: str, y: Fraction) -> arb:
    tail = TAILS[noise](ratio_ball(abs(y)))
    return 1 - tail if y < 0 else tail


def _upward(ball: arb) -> Fraction:
    mantissa, exponent = ball.upper().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _downward(ball: arb) -> Fraction:
    mantissa, exponent = ball.lower().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
