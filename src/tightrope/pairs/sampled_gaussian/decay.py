"""A bound on |phi(t)| for all t >= R at once: the decay of a sampled normal along the contour.

phi is the transform of log g under the density proportional to n g^a (grid). Moving the path of
integration to x + i y(x), 0 <= y <= pi/(2 mu), gives for every t >= R
|phi(t)| <= E[exp(U)],  U = y^2/2 + log|1 + i y'| + a log|g(x + iy)/g(x)| - R arg g(x + iy),
because arg g >= 0. Here y = Y (1 - e^{-b R mu pi/Y}), pi(x) the share of the shifted component, rising with x; for
a < 0, where |g|^a grows off the real axis, Y is at most R/(|a| mu), so that the drop outweighs it. On a cell U is
bounded through the monotonicity of each part, and so is the mass of the cell through its log slope.
With a window (window) the density has its weight, the lift y^2/2 grows by what each edge adds, and the path
comes back to the real axis at the hard end, which costs at most Y f(end) e^{lift Y^2/2}, f the density.
One formula for two arithmetics: numbers are arrays of doubles, or balls.
Guarantee: upper. Proof: docs/proofs/contour.md, section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

from .window import SoftWindow

Number = Any  # arrays of doubles, or balls: both have the operators

SHIFTS = ((0.1, 0.3), (0.35, 0.8))  # (Y as a fraction of pi/mu, b); the first for small radii
EDGE_HEIGHTS = (3.0, 8.0)  # in widths of the narrowest edge: how far to shift at most


class Arithmetic(Protocol):
    """What the formula needs beyond operators."""

    def exp(self, x: Number) -> Number: ...
    def log(self, x: Number) -> Number: ...
    def expm1(self, x: Number) -> Number: ...
    def log1p(self, x: Number) -> Number: ...
    def sin(self, x: Number) -> Number: ...
    def cos(self, x: Number) -> Number: ...
    def angle(self, y: Number, x: Number) -> Number: ...
    def smaller(self, x: Number, y: Number) -> Number: ...
    def softplus(self, x: Number) -> Number: ...


@dataclass(frozen=True, slots=True)
class EdgeWeight:
    """An edge on a cell: its width, log of the largest 1 - weight, and minus the log of the least weight."""

    width: float
    log_missing: Number
    log_inside: Number


@dataclass(frozen=True, slots=True)
class DecayCell:
    """Ends of a cell, the share pi of the shifted component there, 1 - pi, and the edges of the window."""

    left: Number
    right: Number
    share_left: Number
    share_right: Number
    other_left: Number
    other_right: Number
    marks: tuple[EdgeWeight, ...] = ()

    def spread(self, ops: Arithmetic) -> tuple[Number, Number]:
        """The least and the most of pi (1 - pi) on the cell.

        It is at most 1/4 and at most the larger pi times the larger 1 - pi; concave, so least at an end.
        """
        most = ops.smaller(self.share_right * self.other_left, self.share_left * 0 + 0.25)
        return ops.smaller(self.share_left * self.other_left, self.share_right * self.other_right), most

    def log_modulus(self, ops: Arithmetic, spread: tuple[Number, Number], half: Number, power: float) -> Number:
        """At or above a log|g(x + iy)/g(x)|, half the sine of mu y/2."""
        least, most = spread
        return ops.log1p((least if power >= 0.0 else most) * half * half * -4.0) * (0.5 * power)

    def turn(self, ops: Arithmetic, angle: Number) -> Number:
        """At or below arg g(x + iy), where mu y is at least this angle."""
        return ops.angle(self.share_left * ops.sin(angle), self.other_left + self.share_left * ops.cos(angle))


@dataclass(frozen=True, slots=True)
class MixedCell:
    """Ends of a cell, the mean S of the hits there, from below and from above, and its variance V on the cell.

    log|g(x + iy)/g(x)| lies between 2 V log(1 - sin^2(mu y/2)) and -2 V sin^2(mu y/2), arg g at or above S sin(mu y).
    """

    left: Number
    right: Number
    share_left: Number
    share_right: Number
    least: Number
    most: Number
    marks: tuple[EdgeWeight, ...] = ()

    def spread(self, ops: Arithmetic) -> tuple[Number, Number]:
        """The least and the most of V on the cell."""
        return self.least, self.most

    def log_modulus(self, ops: Arithmetic, spread: tuple[Number, Number], half: Number, power: float) -> Number:
        """At or above a log|g(x + iy)/g(x)|, half the sine of mu y/2."""
        square, (least, most) = half * half, spread
        return least * square * (-2.0 * power) if power >= 0.0 else most * ops.log1p(-square) * (2.0 * power)

    def turn(self, ops: Arithmetic, angle: Number) -> Number:
        """At or below arg g(x + iy), where mu y is at least this angle."""
        return self.share_left * ops.sin(angle)


@dataclass(frozen=True, slots=True)
class UnevenCell(MixedCell):
    """The same of a mixture whose zeros are not known to be real, mu its largest shift, mu y at most pi/2.

    |g(x + iy)/g(x)|^2 >= 1 - V (mu y)^2 only, and (mu y)^2 <= 4 q (1 + 0.4675 q), q = sin^2(mu y/2) <= 1/2.
    """

    def log_modulus(self, ops: Arithmetic, spread: tuple[Number, Number], half: Number, power: float) -> Number:
        if power >= 0.0:
            return MixedCell.log_modulus(self, ops, spread, half, power)
        square, most = half * half, spread[1]
        return ops.log1p(most * square * (square * 0.4675 + 1.0) * -4.0) * (0.5 * power)


Cell = DecayCell | MixedCell


def shifts(marked: SoftWindow) -> list[tuple[float, float, float]]:
    """Y as a fraction of pi/mu, b, and the most that Y may be: what to try."""
    most = [height * marked.narrowest for height in EDGE_HEIGHTS] if marked.edges else [math.inf]
    return [(fraction, eagerness, limit) for fraction, eagerness in SHIFTS for limit in most]


def shift_height(ops: Arithmetic, mu: Number, power: float, radius: float, height: Number, limit: float) -> Number:
    """Y: as given, or what the power and the edges allow."""
    if power < 0.0:
        return ops.smaller(height, radius / (mu * -power))
    return height if limit == math.inf else ops.smaller(height, height * 0 + limit)


def edge_lift(ops: Arithmetic, mark: EdgeWeight, high: Number) -> Number:
    """log of how much a weight grows at most between x and x + iy, 0 <= y <= high.

    With v = y/width and p the largest 1 - weight: v^2/2, or log(1 + p e^{v^2/2}) - log(1 - p).
    """
    whole = high * high * 0.5 / mark.width / mark.width
    return ops.smaller(whole, ops.softplus(whole + mark.log_missing) + mark.log_inside)


def exponent(
    ops: Arithmetic, cell: Cell, mu: Number, power: float, radius: float, height: Number, eagerness: Number
) -> tuple[Number, Number]:
    """An upper bound of U on the cell, and the sum of the sizes of its parts (for rounding)."""
    scale = radius * eagerness * mu / height
    low, high = height * -ops.expm1(cell.share_left * -scale), height * -ops.expm1(cell.share_right * -scale)
    spread = cell.spread(ops)
    steep = spread[1] * ops.exp(cell.share_left * -scale) * mu * mu * (radius * eagerness)
    bend = ops.log1p(steep * steep) * 0.5
    lift = high * high * 0.5
    for mark in cell.marks:
        lift = lift + edge_lift(ops, mark, high)
    turn_low, turn_high = low * mu, high * mu
    half = ops.sin((turn_low if power >= 0.0 else turn_high) * 0.5)
    modulus = cell.log_modulus(ops, spread, half, power)
    drop = radius * cell.turn(ops, turn_low)
    return lift + bend + modulus - drop, lift + bend + abs(modulus) + drop


def log_masses(
    ops: Arithmetic, cell: Cell, logs: tuple[Number, Number, Number], mu: Number, power: float
) -> tuple[Number, Number]:
    """Logs of a lower and an upper bound of the mass of a cell, divided by its width.

    logs: the log density at the left end, in the middle and at the right end. Its slope lies within s +- r; with L in
    the middle Jensen gives the lower bound L - r width/4, and sinh(v)/v <= e^{v^2/6} the upper one
    L + r width/2 + (s width)^2/24. Where the density is steep, its value at an end is the better upper bound: divided
    by v where it falls from there at least at the rate v/width, v > 1.
    """
    left_log, middle_log, right_log = logs
    width = cell.right - cell.left
    first, second = (cell.share_left, cell.share_right) if power >= 0.0 else (cell.share_right, cell.share_left)
    lowest, highest = first * mu * power - cell.right, second * mu * power - cell.left
    spread, slope = (highest - lowest) * 0.5, (highest + lowest) * 0.5 * width
    from_middle = middle_log + spread * width * 0.5 + slope * slope / 24.0
    from_left = left_log - ops.smaller(highest * -1.0, highest * 0.0) * width - _log_above_one(ops, highest * -width)
    from_right = right_log - ops.smaller(lowest, lowest * 0.0) * width - _log_above_one(ops, lowest * width)
    return middle_log - spread * width * 0.25, ops.smaller(from_middle, ops.smaller(from_left, from_right))


def _log_above_one(ops: Arithmetic, x: Number) -> Number:
    """log max(x, 1)."""
    return ops.log(ops.smaller(x * -1.0, x * 0.0 - 1.0) * -1.0)


def tail_slopes(
    left: Number, right: Number, share_left: Number, mu: Number, power: float, most: int = 1
) -> tuple[Number, Number]:
    """How fast the log density falls at least beyond the first and the last edge."""
    if power >= 0.0:
        return -left, right - mu * power * most
    return share_left * mu * power - left, right
