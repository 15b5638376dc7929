"""Many uses of Laplace noise, backwards: what the observer may still gain after each output.

Write a use's loss as l in [-e, e], e = sensitivity / scale. Its first law is e^{l/2} times e^{-e/2} times the symmetric
measure with atoms 1/2 at -e and e and density 1/4 between. With f_0(x) = (e^{x/2} - e^{epsilon - x/2})_+ and

    f_{j+1}(x) = (f_j(x + e) + f_j(x - e)) / 2 + (1/4) integral of f_j over [x - e, x + e],

e that of use j, delta(epsilon) = e^{-(sum of all e)/2} f_last(0). Each f_j is a sum over shifts s of functions
A(y) e^{y/2} + B(y) e^{-y/2} + C(y) of y = x - epsilon - s, cut off at y <= 0, with polynomials A, B, C; the integral of
such a function is of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb, arb_poly, ctx

from .precision import INVISIBLE, Number, ball, precision, refined


@dataclass(frozen=True)
class LaplaceFold:
    """Uses of Laplace noise, (scale, sensitivity, count) each."""

    uses: tuple[tuple[Number, Number, int], ...]

    def delta(self, epsilon: Number, bits: int = 100) -> arb:
        """The smallest delta at this epsilon; zero from the supremum of the loss on."""
        reaches = tuple(Fraction(shift) / Fraction(scale) for scale, shift, count in self.uses for _ in range(count))
        asked, total_reach = Fraction(epsilon), sum(reaches)
        if asked >= total_reach:
            return arb(0)

        def value() -> arb:
            total = arb(0)
            for shift, piece in _pieces(reaches, ctx.prec).items():
                place = -asked - shift
                if place > 0:
                    total += piece.at(ball(place))
            return total * ball((asked - total_reach) / 2).exp()

        return refined(value, bits, INVISIBLE)


@dataclass(frozen=True)
class Piece:
    """A(y) e^{y/2} + B(y) e^{-y/2} + C(y)."""

    grow: arb_poly
    fall: arb_poly
    flat: arb_poly

    def at(self, y: arb) -> arb:
        """Its value."""
        return self.grow(y) * (y / 2).exp() + self.fall(y) * (-y / 2).exp() + self.flat(y)

    def integral(self) -> Piece:
        """The antiderivative that vanishes at y = 0."""
        grow, fall = _solved(self.grow, arb(1) / 2), _solved(self.fall, -arb(1) / 2)
        return Piece(grow, fall, self.flat.integral() - grow(arb(0)) - fall(arb(0)))

    def __add__(self, other: Piece) -> Piece:
        return Piece(self.grow + other.grow, self.fall + other.fall, self.flat + other.flat)

    def times(self, factor: arb) -> Piece:
        """The multiple."""
        return Piece(self.grow * factor, self.fall * factor, self.flat * factor)


NOTHING = Piece(arb_poly([]), arb_poly([]), arb_poly([]))


def _solved(source: arb_poly, rate: arb) -> arb_poly:
    """The polynomial S with S' + rate S = source, so that (S e^{rate y})' = source e^{rate y}."""
    solution, rest = arb_poly([]), source
    for _ in range(len(source)):
        part = rest * (1 / rate)
        solution, rest = solution + part, arb_poly([]) - part.derivative()
    return solution


@lru_cache(maxsize=64)
def _pieces(reaches: tuple[Fraction, ...], bits: int) -> dict[Fraction, Piece]:
    """The last f without the factor e^{epsilon/2}, by shift; the same for every epsilon."""
    with precision(bits):
        quarter, half = arb(1) / 4, arb(1) / 2
        pieces = {Fraction(0): Piece(arb_poly([1]), arb_poly([-1]), NOTHING.flat)}
        for reach in reaches:
            after: dict[Fraction, Piece] = {}
            for shift, piece in pieces.items():
                gained = piece.integral().times(quarter)
                here = piece.times(half)
                after[shift - reach] = after.get(shift - reach, NOTHING) + here + gained
                after[shift + reach] = after.get(shift + reach, NOTHING) + here + gained.times(arb(-1))
            pieces = after
        return pieces
