"""Pairs of smooth densities, plain or Poisson-sampled in either direction, by Gauss-Legendre rules with proven errors.

M(z) = integral of p e^{z l} over the support. On a cell of width w the rule with n nodes errs by at most
w^(2n+1) n!^4 / ((2n+1) (2n)!^2) times coefficient 2n of the integrand anywhere in the cell, and for |Im z| <= T that is
at most the one of A(y) e^{T B(y)}, where A and B majorise the series of p e^{c l} and of l without its constant.
Sampling changes the functions: for remove log p' = log q + log(1 - r + r e^l) and l' = log(1 - r + r e^l), for add
log p' = log p and l' = -log(1 - r + r e^-l); what lies outside of the support becomes one more atom.
Guarantee: upper error, relative to M(c). Proof: docs/proofs/density.md, section 4.
Reference: Zhu, Dong, Wang 2021, Sec. 4; Davis, Rabinowitz 1984, Sec. 2.7 (error of the rule).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

from flint import arb, arb_series

from ...errors import UnsupportedMechanism
from ...facets.cgf import LOG_TOLERANCE, CfDecay, Cgf, Cumulants, NoCfDecay, Tilted, point_cumulants
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.quadrature_ball import BallLaw, EllipseError, rule
from .decay import density_decay
from .pair import DensityPair
from .series import Logs, Piece, everywhere, logs, series_arithmetic

NODES = 16
RULE_DEGREE = 2 * NODES
GROUPS = 240  # points of the plain sums that choose a contour
RULE_CELLS_MAX = 2000
TURNS_PER_NODE = 2.0  # radians of e^{itl} that a node can hold
HALVINGS_MAX = 50
LAWS_KEPT = 32
CELL_SHARE = 256.0  # of the error allowed in all: what one cell may have


Place = tuple[int, int, int]  # which of the 2^depth parts of which run


class Node(NamedTuple):
    """A point of the rule: its weight times the density of P, and its loss."""

    mass: arb
    loss: arb


@dataclass(frozen=True)
class SmoothLaw:
    """The two log densities of one direction: those of the pair, or of its mixture with rate below 1."""

    pair: DensityPair
    rate: float
    sign: int  # 1 for remove, -1 for add

    def at(self, piece: Piece, x: arb, length: int) -> Logs:
        """Series of log p and of the loss at a point or a ball of points."""
        return self.sampled(logs(piece, x, length))

    def sampled(self, given: Logs) -> Logs:
        """What flipping and sampling make of the two series."""
        log_p, loss = given
        if self.pair.flipped:
            log_p, loss = log_p - loss, -loss
        if self.rate == 1.0:
            return Logs(log_p, loss)
        rate = arb(self.rate)
        mixed = (1 - rate + rate * (self.sign * loss).exp()).log()
        return Logs(log_p - loss + mixed, mixed) if self.sign > 0 else Logs(log_p, -mixed)

    def atoms(self) -> list[Node]:
        """What the mass outside of the support becomes: nothing that is finite, unless sampled."""
        if self.rate == 1.0:
            return []
        kept = 1 - arb(self.rate)
        if self.sign > 0:
            return [Node(kept * self.pair.reversed().infinite_mass(), kept.log())]
        return [Node(self.pair.infinite_mass(), -kept.log())]


@dataclass(frozen=True)
class DensityCgf(Cgf):
    """K of a pair of densities, sampled with the given rate; sign 1 for remove, -1 for add."""

    law: SmoothLaw
    _laws: dict[tuple[float, float, float], BallLaw] = field(default_factory=dict, compare=False, repr=False)
    _nodes: dict[Place, list[Node]] = field(default_factory=dict, compare=False, repr=False)
    _wholes: dict[Place, Logs] = field(default_factory=dict, compare=False, repr=False)

    def cumulants(self, tilt: float) -> Cumulants:
        if not self._groups:
            raise UnsupportedMechanism("its two laws have no part in common in float64; try engine='lattice'")
        return point_cumulants(self._groups, tilt)

    @cached_property
    def _groups(self) -> list[tuple[float, float]]:
        """(P-mass, loss) of parts of the support, in plain floats."""
        rate = self.law.rate
        parts = (part for branch in self.law.pair.branches for part in branch.parts(GROUPS))
        points = [(one, two) for one, two in parts if one > 0.0 and two > 0.0]
        if self.law.sign > 0:
            mixed = [((1.0 - rate) * two + rate * one, two) for one, two in points]
        else:
            mixed = [(one, (1.0 - rate) * one + rate * two) for one, two in points]
        return [(one, math.log(one / two)) for one, two in mixed]

    def log_mgf_above(self, tilt: float) -> float:
        law = self.ball_tilted(tilt, 0.0, LOG_TOLERANCE)
        with working_precision(BITS_START):
            return upper_float(law.log_mgf)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        with series_arithmetic(2):
            lowest, highest = self.law.pair.loss_range()
            least = math.ceil(reach * float(highest - lowest) / TURNS_PER_NODE)
        if least > RULE_CELLS_MAX * NODES:
            return least  # too many to be worth listing
        try:
            return len(self.ball_tilted(tilt, reach, log_tolerance).losses)
        except UnsupportedMechanism:
            return RULE_CELLS_MAX * NODES * NODES

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:
        from ...kernels.enclosure import enclosed, exact
        from ...kernels.quadrature import QuadratureError, TiltedLaw

        law, centre = self.ball_tilted(tilt, reach, log_tolerance), self.cumulants(tilt).mean
        assert law.error is not None
        with working_precision(BITS_START):
            scale = law.log_mgf.exp().mid()
            return TiltedLaw(
                exact(centre),
                enclosed([law.log_mgf])[0],
                enclosed([loss - arb(centre) for loss in law.losses]),
                enclosed([weight / scale for weight in law.weights]),
                QuadratureError(upper_float(law.error.at(0.0)), ()),
            )

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        return density_decay(self.law, self.ball_tilted, tilt) or NoCfDecay()

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallLaw:
        """The nodes of all cells with their tilted masses, good for transforms up to the reach."""
        key = (tilt, reach, log_tolerance)
        law = self._laws.get(key)  # another thread may empty the dictionary at any time
        if law is None:
            if len(self._laws) >= LAWS_KEPT:
                self._laws.clear()
            with series_arithmetic(RULE_DEGREE + 1):
                law = self._laws[key] = self._made(tilt, reach, log_tolerance)
        return law

    def _made(self, tilt: float, reach: float, log_tolerance: float) -> BallLaw:
        allowed = (arb(self.cumulants(tilt).value) - log_tolerance).exp() / CELL_SHARE
        nodes, error = list(self.law.atoms()), arb(0)
        for number, run in enumerate(self.law.pair.analysis.runs):
            piece = self.law.pair.pieces[run[0].piece]
            waiting = [(run[0].low, run[-1].high, 0, 0)]
            while waiting:
                low, high, depth, place = waiting.pop()
                key = (number, depth, place)
                if key not in self._wholes:
                    self._wholes[key] = everywhere(partial(self.law.at, piece), low, high, RULE_DEGREE)
                missed, kept = _error(self._wholes[key], high - low, tilt, reach, allowed)
                if missed is not None:
                    error += missed
                    nodes += self._rule(key, piece, low, high) if kept else []
                    continue
                if depth > HALVINGS_MAX or len(nodes) > RULE_CELLS_MAX * NODES:
                    raise UnsupportedMechanism("its quadrature needs too many nodes; try engine='lattice'")
                middle = ((low + high) / 2).mid()
                waiting += [(low, middle, depth + 1, 2 * place), (middle, high, depth + 1, 2 * place + 1)]
        losses = tuple(node.loss for node in nodes)
        weights = tuple(node.mass * (arb(tilt) * node.loss).exp() for node in nodes)
        total = sum(weights, arb(0)) + arb(0, 1) * error
        if not total > 0:
            raise UnsupportedMechanism("its quadrature is not precise enough; try engine='lattice'")
        # The error was made for the reach: it is the same at every t up to there.
        return BallLaw(losses, weights, total.log(), EllipseError((error / total).upper(), 0.0))

    def _rule(self, key: Place, piece: Piece, low: arb, high: arb) -> list[Node]:
        """The nodes of one cell; they do not depend on the tilt."""
        if key not in self._nodes:
            middle, found = (low + high) / 2, []
            for offset, weight in rule((high - low) / 2, NODES):
                here = self.law.at(piece, middle + offset, 1)
                found.append(Node(weight * here.log_p[0].exp(), here.loss[0]))
            self._nodes[key] = found
        return self._nodes[key]


def _error(whole: Logs, width: arb, tilt: float, reach: float, allowed: arb) -> tuple[arb | None, bool]:
    """A bound of what the cell misses and whether its nodes are needed; None where it must be halved.

    n nodes miss width^(2n+1) n!^4 / ((2n+1) (2n)!^2) times a Taylor coefficient of degree 2n.
    """
    log, length = whole.log_p + arb(tilt) * whole.loss, RULE_DEGREE + 1
    if not all(log[j].is_finite() and whole.loss[j].is_finite() for j in range(length)):
        return None, True
    density = log.exp()
    mass = (density[0] * width).upper()
    if mass <= allowed:
        return mass, False
    size = arb_series([abs(density[j]).upper() for j in range(length)], length)
    speed = arb_series([arb(0), *(abs(whole.loss[j]).upper() * reach for j in range(1, length))], length)
    constant = arb(math.factorial(NODES)) ** 4 / ((2 * NODES + 1) * arb(math.factorial(2 * NODES)) ** 2)
    missed = ((size * speed.exp())[RULE_DEGREE] * width**length * constant).upper()
    return (missed, True) if missed <= allowed else (None, True)
