"""Pairs told apart by a public index: both sides draw it from the same law, and show it.

Given I = i the pair is (P_i, Q_i): tails, profile and moments are sums with the weights w_i = P[I = i],
p(t) = sum w_i p_i(t), H(alpha) = sum w_i H_i(alpha). The disjoint union dominates the mixture, in which the index is
hidden: to hide it is to process the output.
Guarantee: exact; float64 with the radius of kernels.enclosure. Proof: docs/proofs/sampling.md, section 1.
Reference: Balle, Barthe, Gaboardi 2018, Sec. 2 (joint convexity).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb

from ..facets.cumulant import cumulant_above
from ..facets.finite import Atoms
from ..facets.lattice import ratio_ball
from ..facets.moments import Moments
from ..kernels.ball import BITS_START, complex_log, working_precision
from ..kernels.enclosure import Enclosure, enclosed, enclosing, exact
from ..operators import remake
from ..pair import BallTails, LossRange, Pair, Tails
from .public_mixture_cgf import PublicMixtureCgf

if TYPE_CHECKING:
    from ..facets.cgf import Cgf
    from ..kernels.double_double import DoubleDouble
    from ..relation import Direction

TOO_RARE = 2.0**-60  # of a sum: what is rarer changes no digit of it
SHARE_BITS = 256  # of every weight: far more than any answer needs


class Weights(ABC):
    """The law of an index. Instances are frozen values; what was worked out once is kept."""

    @abstractmethod
    def balls(self) -> Sequence[arb]:
        """P[I = i] for each i, at the working precision; they sum to 1."""

    def listed(self) -> Sequence[arb]:
        """The same to SHARE_BITS, worked out once: sums over many trials take long at many bits."""
        kept: Sequence[arb] | None = self.__dict__.get("_listed")
        if kept is None:
            with working_precision(SHARE_BITS):
                kept = self.__dict__["_listed"] = self.balls()
        return kept

    def enclosures(self) -> Enclosure:
        """The same in float64."""
        kept: Enclosure | None = self.__dict__.get("_enclosures")
        if kept is None:
            with working_precision(BITS_START):
                kept = self.__dict__["_enclosures"] = enclosed(self.listed())
        return kept


@dataclass(frozen=True)
class ExactWeights(Weights):
    """Weights that are fractions."""

    shares: tuple[Fraction, ...]

    def balls(self) -> Sequence[arb]:
        return [ratio_ball(share) for share in self.shares]


@dataclass(frozen=True, slots=True)
class PublicMixturePair(Pair):
    """The disjoint union of pairs with these weights, in the same order."""

    weights: Weights
    pairs: tuple[Pair, ...]

    def tails(self, t: DoubleDouble) -> Tails:
        # Positive terms, few of them: the sum has the relative error of its parts and a unit for each.
        sums = [np.zeros(t.hi.shape) for _ in Tails._fields]
        with np.errstate(under="ignore"):
            for share, _, pair in self._falling():
                told = reduce(np.minimum, sums) * TOO_RARE < share
                for total, part in zip(sums, pair.tails(t[told]) if told.any() else (), strict=False):
                    total[told] += share * part
        return Tails(*sums)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        value, radius = np.zeros(epsilon.value.shape), np.zeros(epsilon.value.shape)
        for share, off, pair in self._falling():
            before = Enclosure(value.copy(), radius.copy())
            # A part that is too rare to be seen beside those before it lies between nothing and its weight.
            told = before.lower * TOO_RARE < share
            rare = before + enclosing(0.0, math.nextafter(share + off, math.inf))
            value, radius = np.where(told, value, rare.value), np.where(told, radius, rare.radius)
            if told.any():
                part = before[told] + pair.hockey_stick(epsilon[told]) * Enclosure(np.asarray(share), np.asarray(off))
                value[told], radius[told] = part.value, part.radius
        return Enclosure(value, radius)

    def _falling(self) -> list[tuple[float, float, Pair]]:
        """Weights in float64, their radii and the pairs, the heaviest first."""
        shares = self.weights.enclosures()
        rows = zip(shares.value.tolist(), shares.radius.tolist(), self.pairs, strict=True)
        return sorted(rows, key=lambda row: -row[0])

    def ball_tails(self, t: arb) -> BallTails:
        found = [pair.ball_tails(t) for pair in self.pairs]
        return BallTails(*(self._sum(column) for column in zip(*found, strict=True)))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        return self._sum([pair.ball_hockey_stick(epsilon) for pair in self.pairs])

    def reversed(self) -> PublicMixturePair:
        return PublicMixturePair(self.weights, tuple(pair.reversed() for pair in self.pairs))

    def infinite_mass(self) -> arb:
        return self._sum([pair.infinite_mass() for pair in self.pairs])

    def loss_range(self) -> LossRange:
        ranges = [pair.loss_range() for pair in self.pairs]
        return LossRange(
            reduce(arb.min, (each.lowest for each in ranges)), reduce(arb.max, (each.highest for each in ranges))
        )

    def hockey_stick_cost(self) -> int:
        return sum(pair.hockey_stick_cost() for pair in self.pairs)

    def bases(self) -> tuple[Pair, ...]:
        return self.pairs

    def atoms(self) -> Atoms | None:
        listed = [pair.atoms() for pair in self.pairs]
        known = [atoms for atoms in listed if atoms is not None]
        if len(known) < len(listed):
            return None
        shares = self.weights.enclosures()
        p, q = (_joined([column[field] * shares[i] for i, column in enumerate(known)]) for field in (0, 1))
        loss = _joined([atoms.loss for atoms in known])
        infinite = _total([atoms.infinite * shares[i] for i, atoms in enumerate(known) if atoms.infinite.upper > 0.0])
        lost = _total([atoms.lost * shares[i] for i, atoms in enumerate(known) if atoms.lost.upper > 0.0])
        order = np.argsort(loss.value, kind="stable")
        # The weights sum to 1, so what is left out is at most the most that any part leaves out.
        return Atoms(p[order], q[order], loss[order], infinite, lost, max(atoms.left_out for atoms in known))

    def cgf(self) -> Cgf | None:
        found = [pair.cgf() for pair in self.pairs if pair.infinite_mass().is_zero()]
        known = tuple(cgf for cgf in found if cgf is not None)
        return PublicMixtureCgf(self.weights, known) if len(known) == len(self.pairs) else None

    def _sum(self, balls: Sequence[arb]) -> arb:
        return sum((share * ball for share, ball in zip(self.weights.listed(), balls, strict=True)), arb(0))

    def moments(self) -> PublicMixtureMoments:
        return PublicMixtureMoments(self)


@remake.register(PublicMixturePair)
def _(pair: PublicMixturePair, bases: Sequence[Pair]) -> PublicMixturePair:
    return PublicMixturePair(pair.weights, tuple(bases))


class PublicMixtureMoments(Moments[PublicMixturePair]):
    def log_moment(self, z: acb) -> acb | None:
        """log sum w_i e^(K_i(z))."""
        values = [pair.moments().log_moment(z) for pair in self.pair.pairs]
        moments = [value.exp() for value in values if value is not None]
        if len(moments) < len(values):
            return None
        shares = self.pair.weights.listed()
        return complex_log(sum((share * moment for share, moment in zip(shares, moments, strict=True)), acb(0)))

    def log_moment_above(self, order: float) -> arb:
        return self.pair._sum([arb(cumulant_above(pair, order)).exp() for pair in self.pair.pairs]).log()

    def zcdp_rho(self) -> arb | None:
        """The largest: moments are means of moments."""
        values = [pair.moments().zcdp_rho() for pair in self.pair.pairs]
        known = [value for value in values if value is not None]
        return reduce(arb.max, known) if len(known) == len(values) else None

    def gdp_mu(self) -> arb | None:
        """The largest."""
        values = [pair.moments().gdp_mu() for pair in self.pair.pairs]
        known = [value for value in values if value is not None]
        return reduce(arb.max, known) if len(known) == len(values) else None

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """The largest of those that have a share."""
        shares = zip(self.pair.weights.listed(), self.pair.pairs, strict=True)
        values = [pair.moments().gdp_mu_lower(direction) for share, pair in shares if share > 0]
        known = [value for value in values if value is not None]
        return reduce(arb.max, known) if known else None


def _joined(parts: Sequence[Enclosure]) -> Enclosure:
    return Enclosure(
        np.concatenate([np.atleast_1d(part.value) for part in parts]),
        np.concatenate([np.atleast_1d(part.radius) for part in parts]),
    )


def _total(parts: Sequence[Enclosure]) -> Enclosure:
    """Exactly nothing where there is nothing to add."""
    return reduce(Enclosure.__add__, parts) if parts else exact(0.0)
