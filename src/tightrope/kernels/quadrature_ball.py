"""Fourier transforms of tilted laws in balls.

The formulas of kernels.quadrature without their detours: balls carry every rounding, so
phi(t) = sum_x f_x e^{i t l_x} / sum_x f_x is summed as it stands, the quadrature error added as a radius.
Guarantee: every ball contains the truth. Proof: docs/proofs/contour.md, section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from flint import acb, arb, arb_mat


class BallError(Protocol):
    """Relative errors of a quadrature: of the transform at t >= 0, and of the mass left out on one side of the sum."""

    @property
    def ends(self) -> arb: ...
    def at(self, t: float) -> arb: ...


@dataclass(frozen=True, slots=True)
class BallLaw:
    """Losses and weights of a tilted law, and log M(c); without an error the sums are exact."""

    losses: tuple[arb, ...]
    weights: tuple[arb, ...]
    log_mgf: arb
    error: BallError | None

    @property
    def total(self) -> arb:
        """The mass that the weights stand for."""
        return total_mass(self.weights, self.error)

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        """phi(t) at t = 0, step, ..., (nodes - 1) step; the exponentials split into a matrix product."""
        block = max(1, math.isqrt(nodes))
        rows = -(-nodes // block)
        outer = [[(loss * (step * block * row)).sin_cos() for loss in self.losses] for row in range(rows)]
        inner = [[(loss * (step * column)).sin_cos() for column in range(block)] for loss in self.losses]
        # Real matrices, cosines over sines: Arb multiplies them several times faster than complex ones.
        left = [
            [weight * turn[part] for turn, weight in zip(row, self.weights, strict=True)]
            for part in (1, 0)
            for row in outer
        ]
        right = [[turn[part] for part in (1, 0) for turn in row] for row in inner]
        products = (arb_mat(left) * arb_mat(right)).tolist()
        sums = [
            acb(
                products[row][column] - products[rows + row][block + column],
                products[row][block + column] + products[rows + row][column],
            )
            for row in range(rows)
            for column in range(block)
        ]
        total, error = self.total, self.error
        if error is None:
            return [value / total for value in sums[:nodes]]
        assert isinstance(step, float)  # only exact sums are asked for at other times
        left_out = sum(self.weights, arb(0)) * error.ends
        values = []
        for index in range(nodes):
            slack = around_zero(left_out + total * error.at(step * index))
            values.append((sums[index] + acb(slack, slack)) / total)
        return values


def total_mass(weights: tuple[arb, ...], error: BallError | None) -> arb:
    """The integral behind a sum of weights."""
    mass = sum(weights, arb(0))
    return mass if error is None else mass * arb(1).union(1 + error.ends) / (1 + around_zero(error.at(0.0)))


def point_law_ball(losses: tuple[arb, ...], masses: tuple[arb, ...], tilt: float, error: BallError | None) -> BallLaw:
    """The law of given points, tilted by e^{tilt loss}."""
    weights = tuple(mass * (arb(tilt) * loss).exp() for loss, mass in zip(losses, masses, strict=True))
    return BallLaw(losses, weights, total_mass(weights, error).log(), error)


def around_zero(size: arb) -> arb:
    """The ball around 0 with this radius; everything if the size is not finite."""
    return arb(0, size.abs_upper()) if size.is_finite() else arb.nan()
