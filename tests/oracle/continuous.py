"""Continuous laws: the outputs chosen are a half-line, measured by the two distribution functions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from .precision import Number, Real, ball
from .truth import Choice, Law, Masses, Ratio

ALL = Masses(arb(1), arb(1), arb(0), arb(0))
NONE = Masses(arb(0), arb(0), arb(1), arb(1))


class Rising(Law):
    """dP/dQ rises with the output, or with its size, and neither law has outputs of its own."""

    def masses(self, choice: Choice) -> Masses:
        low, high = self.ratio_range()
        first, last = (low, high) if choice.remove else (high, low)
        if choice.takes_all() if first is None else choice.takes(first):
            return ALL
        if choice.takes_none() if last is None else not choice.takes(last):
            return NONE
        right = self.right(choice)
        return right if choice.remove else swapped(right)

    @abstractmethod
    def right(self, choice: Choice) -> Masses:
        """Of the outputs of ratios above the crossing, which some are and some are not."""

    def alone(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(0)

    def ratio_range(self) -> tuple[Ratio | None, Ratio | None]:
        return None, None


@dataclass(frozen=True)
class Gaussian(Rising):
    """N(sensitivity, sigma^2) against N(0, sigma^2)."""

    sigma: Number
    sensitivity: Number = 1

    def right(self, choice: Choice) -> Masses:
        sigma, shift = ball(Fraction(self.sigma)), ball(Fraction(self.sensitivity))
        # log dP/dQ (x) = shift (2 x - shift) / (2 sigma^2)
        cut = shift / 2 + sigma * sigma / shift * choice.crossing().log()
        root = arb(2).sqrt() * sigma
        p_cut, q_cut = (cut - shift) / root, cut / root
        return Masses(p_cut.erfc() / 2, q_cut.erfc() / 2, (-p_cut).erfc() / 2, (-q_cut).erfc() / 2)


@dataclass(frozen=True)
class Centred(Rising):
    """N(0, first^2) against N(0, second^2), of deviations that differ."""

    first: Number
    second: Number

    def right(self, choice: Choice) -> Masses:
        first, second = Fraction(self.first), Fraction(self.second)
        # log dP/dQ (x) = log(second/first) + x^2 (1/second^2 - 1/first^2)/2
        square = (choice.crossing() * ball(first / second)).log() / ball(1 / second**2 - 1 / first**2)
        p, q = square.sqrt() / ball(first), square.sqrt() / ball(second)
        outside = Masses(p.erfc(), q.erfc(), p.erf(), q.erf())
        return outside if first > second else swapped(outside)

    def ratio_range(self) -> tuple[Ratio | None, Ratio | None]:
        end = Ratio(Fraction(self.second) / Fraction(self.first))
        return (end, None) if self.first > self.second else (None, end)


@dataclass(frozen=True)
class Laplace(Rising):
    """Laplace(sensitivity, scale) against Laplace(0, scale)."""

    scale: Number
    sensitivity: Number = 1

    def right(self, choice: Choice) -> Masses:
        scale, shift = ball(Fraction(self.scale)), ball(Fraction(self.sensitivity))
        # log dP/dQ (x) = (2 x - shift) / scale for 0 <= x <= shift, and constant outside.
        cut = shift / 2 + scale / 2 * choice.crossing().log()
        p_left, q_right = ((cut - shift) / scale).exp() / 2, (-cut / scale).exp() / 2
        return Masses(1 - p_left, q_right, p_left, 1 - q_right)

    def ratio_range(self) -> tuple[Ratio, Ratio]:
        reach = Fraction(self.sensitivity) / Fraction(self.scale)
        return Ratio(Fraction(1), -reach), Ratio(Fraction(1), reach)


@dataclass(frozen=True)
class Logistic(Rising):
    """Logistic(epsilon) against Logistic(0), both of scale 1."""

    epsilon: Number

    def right(self, choice: Choice) -> Masses:
        # dP/dQ (y) = c where sqrt(c) (1 + e^epsilon w) = e^{epsilon/2} (1 + w), w = e^-y
        root, grown = choice.crossing().sqrt(), ball(Fraction(self.epsilon)).exp()
        w = (grown.sqrt() - root) / (root * grown - grown.sqrt())
        return Masses(w * grown / (1 + w * grown), w / (1 + w), 1 / (1 + w * grown), 1 / (1 + w))

    def ratio_range(self) -> tuple[Ratio, Ratio]:
        reach = Fraction(self.epsilon)
        return Ratio(Fraction(1), -reach), Ratio(Fraction(1), reach)


@dataclass(frozen=True)
class Growing(Rising):
    """The density e^x/(e - 1) against the uniform one on [0, 1]."""

    def right(self, choice: Choice) -> Masses:
        whole = arb(1).expm1()
        cut = (choice.crossing() * whole).log()
        return Masses((arb(1).exp() - cut.exp()) / whole, 1 - cut, cut.expm1() / whole, cut)

    def ratio_range(self) -> tuple[Ratio, Ratio]:
        share = Real(_share)
        return Ratio(share), Ratio(share, Fraction(1))


def _share() -> arb:
    return 1 / arb(1).expm1()


def swapped(masses: Masses) -> Masses:
    """The same for the complement."""
    return Masses(masses.p_rest, masses.q_rest, masses.p, masses.q)
