"""Fourier transforms of tilted laws in balls.

The formulas of kernels.quadrature without their detours: balls carry every rounding, so
phi(t) = sum_x f_x e^{i t l_x} / sum_x f_x is summed as it stands, the quadrature error added as a radius.
Gauss-Legendre quadrature: if f is analytic inside the ellipse with foci +-half and semi-axes half (r +- 1/r)/2, and
|f| <= M there, n nodes on [-half, half] err by at most 8 half M r^{1-2n}/(r - 1): the rule is exact up to degree
2n - 1, its weights are positive, and the Chebyshev series of f, cut there, is within 2 M r^{1-2n}/(r - 1) of f.
Guarantee: every ball contains the truth. Proof: docs/proofs/contour.md, section 5.
Reference: Trefethen 2019, Approximation Theory and Approximation Practice, Thm 8.2 and 19.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from flint import acb, arb, arb_mat

SEMI_MINORS = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 2.8)
RULE_NODES_MAX = 2000


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


@dataclass(frozen=True, slots=True)
class Ellipse:
    """The ellipse with foci +-half and this semi-minor axis, as a double; the rest in balls."""

    half: arb
    minor: float

    @property
    def ratio(self) -> arb:
        """r, the sum of the semi-axes divided by half the distance of the foci."""
        slope = arb(self.minor) / self.half
        return slope + (1 + slope * slope).sqrt()

    @property
    def major(self) -> arb:
        """The semi-major axis."""
        return (self.half * self.half + arb(self.minor) ** 2).sqrt()


@dataclass(frozen=True, slots=True)
class EllipseError:
    """size e^{minor t}: the relative error at t of a transform whose integrand grows like that on the ellipse."""

    size: arb
    minor: float

    @property
    def ends(self) -> arb:
        return arb(0)

    def at(self, t: float) -> arb:
        """An upper bound at t >= 0."""
        return self.size * (arb(self.minor) * arb(t)).exp()


def choose_rule(
    half: arb, log_size: Callable[[Ellipse], float], reach: float, log_tolerance: float
) -> tuple[Ellipse, int] | None:
    """The ellipse that needs the fewest nodes, and their number; log_size is log M at t = 0, relative."""
    best: tuple[Ellipse, int] | None = None
    for minor in SEMI_MINORS:
        ellipse = Ellipse(half, minor)
        ratio = float(ellipse.ratio.mid())
        need = log_size(ellipse) + minor * reach + log_tolerance + math.log(8.0 * float(half.mid()) / (ratio - 1.0))
        nodes = max(2, math.ceil(0.5 + 0.5 * need / math.log(ratio)))
        if best is None or nodes < best[1]:
            best = (ellipse, nodes)
    return best if best is not None and best[1] <= RULE_NODES_MAX else None


def rule_error(ellipse: Ellipse, nodes: int, size: arb) -> EllipseError:
    """The error of the rule for an integrand of at most size e^{minor t} on the ellipse."""
    ratio = ellipse.ratio
    return EllipseError(8 * ellipse.half * size * ratio ** (1 - 2 * nodes) / (ratio - 1), ellipse.minor)


def rule(half: arb, nodes: int) -> list[tuple[arb, arb]]:
    """Nodes and weights on [-half, half]."""
    pairs = [arb.legendre_p_root(nodes, index, weight=True) for index in range(nodes)]
    return [(half * node, half * weight) for node, weight in pairs]
