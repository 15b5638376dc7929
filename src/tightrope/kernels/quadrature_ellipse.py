"""Gauss-Legendre quadrature with a proven error, in balls.

If f is analytic inside the ellipse with foci +-half and semi-axes half (r +- 1/r)/2, and |f| <= M there, n nodes on
[-half, half] err by at most 8 half M r^{1-2n}/(r - 1): the rule is exact up to degree 2n - 1, its weights are positive,
and the Chebyshev series of f, cut there, is within 2 M r^{1-2n}/(r - 1) of f.
Guarantee: upper. Proof: docs/proofs/contour.md, section 5.
Reference: Trefethen 2019, Approximation Theory and Approximation Practice, Thm 8.2 and 19.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from flint import arb

SEMI_MINORS = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 2.8)
NODES_MOST = 2000


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
    return best if best is not None and best[1] <= NODES_MOST else None


def rule_error(ellipse: Ellipse, nodes: int, size: arb) -> EllipseError:
    """The error of the rule for an integrand of at most size e^{minor t} on the ellipse."""
    ratio = ellipse.ratio
    return EllipseError(8 * ellipse.half * size * ratio ** (1 - 2 * nodes) / (ratio - 1), ellipse.minor)


def rule(half: arb, nodes: int) -> list[tuple[arb, arb]]:
    """Nodes and weights on [-half, half]."""
    pairs = [arb.legendre_p_root(nodes, index, weight=True) for index in range(nodes)]
    return [(half * node, half * weight) for node, weight in pairs]
