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
from ..kernels.ball import BITS_START, complex_log, working_precision
from ..kernels.enclosure import Enclosure, enclosed, enclosing, exact
from ..pair import BallTails, LossRange, Pair, Tails
from .union_cgf import UnionCgf

if TYPE_CHECKING:
    from ..facets.cgf import Cgf
    from ..kernels.twofold import Twofold
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
class UnionPair(Pair):
    """The disjoint union of pairs with these weights, in the same order."""

    weights: Weights
    pairs: tuple[Pair, ...]

    def tails(self, t: Twofold) -> Tails:
        # Positive terms, few of them: the sum has the relative error of its parts and a unit for each.
        sums = [np.zeros(t.hi.shape) for _ in Tails._fields]
        with np.errstate(under="ignore"):
            for share, _, pair in self._falling():
                told = reduce(np.minimum, sums) * TOO_RARE < share
                for total, part in zip(sums, pair.tails(t[told]) if told.any() else (), strict=False):
                    total[told] += share * part
        return Tails(*sums)

    def profile(self, epsilon: Enclosure) -> Enclosure:
        value, radius = np.zeros(epsilon.value.shape), np.zeros(epsilon.value.shape)
        for share, off, pair in self._falling():
            before = Enclosure(value.copy(), radius.copy())
            # A part that is too rare to be seen beside those before it lies between nothing and its weight.
            told = before.lower * TOO_RARE < share
            rare = before + enclosing(0.0, math.nextafter(share + off, math.inf))
            value, radius = np.where(told, value, rare.value), np.where(told, radius, rare.radius)
            if told.any():
                part = before[told] + pair.profile(epsilon[told]) * Enclosure(np.asarray(share), np.asarray(off))
                value[told], radius[told] = part.value, part.radius
        return Enclosure(value, radius)

    def _falling(self) -> list[tuple[float, float, Pair]]:
        """Weights in float64, their radii and the pairs, the heaviest first."""
        shares = self.weights.enclosures()
        rows = zip(shares.value.tolist(), shares.radius.tolist(), self.pairs, strict=True)
        return sorted(rows, key=lambda row: -row[0])

    def ball_tails(self, t: arb) -> BallTails:
        found = [each.ball_tails(t) for each in self.pairs]
        return BallTails(*(self._sum(column) for column in zip(*found, strict=True)))

    def ball_profile(self, epsilon: arb) -> arb:
        return self._sum([each.ball_profile(epsilon) for each in self.pairs])

    def reversed(self) -> UnionPair:
        return UnionPair(self.weights, tuple(each.reversed() for each in self.pairs))

    def infinite_mass(self) -> arb:
        return self._sum([each.infinite_mass() for each in self.pairs])

    def loss_range(self) -> LossRange:
        ranges = [each.loss_range() for each in self.pairs]
        return LossRange(
            reduce(arb.min, (each.lowest for each in ranges)), reduce(arb.max, (each.highest for each in ranges))
        )

    def profile_cost(self) -> int:
        return sum(each.profile_cost() for each in self.pairs)

    def bases(self) -> tuple[Pair, ...]:
        return self.pairs

    def over(self, bases: Sequence[Pair]) -> UnionPair:
        return UnionPair(self.weights, tuple(bases))

    def atoms(self) -> Atoms | None:
        listed = [each.atoms() for each in self.pairs]
        known = [each for each in listed if each is not None]
        if len(known) < len(listed):
            return None
        shares = self.weights.enclosures()
        p, q = (_joined([column[field] * shares[i] for i, column in enumerate(known)]) for field in (0, 1))
        loss = _joined([each.loss for each in known])
        infinite = _total([each.infinite * shares[i] for i, each in enumerate(known) if each.infinite.upper > 0.0])
        lost = _total([each.lost * shares[i] for i, each in enumerate(known) if each.lost.upper > 0.0])
        order = np.argsort(loss.value, kind="stable")
        # The weights sum to 1, so what is left out is at most the most that any part leaves out.
        return Atoms(p[order], q[order], loss[order], infinite, lost, max(each.left_out for each in known))

    def cgf(self) -> Cgf | None:
        found = [each.cgf() for each in self.pairs if each.infinite_mass().is_zero()]
        known = tuple(each for each in found if each is not None)
        return UnionCgf(self.weights, known) if len(known) == len(self.pairs) else None

    def log_moment(self, z: acb) -> acb | None:
        """log sum w_i e^(K_i(z))."""
        found = [each.log_moment(z) for each in self.pairs]
        moments = [each.exp() for each in found if each is not None]
        if len(moments) < len(found):
            return None
        shares = self.weights.listed()
        return complex_log(sum((share * each for share, each in zip(shares, moments, strict=True)), acb(0)))

    def log_moment_above(self, order: float) -> arb:
        return self._sum([arb(cumulant_above(each, order)).exp() for each in self.pairs]).log()

    def rho(self) -> arb | None:
        """The largest: moments are means of moments."""
        found = [each.rho() for each in self.pairs]
        known = [each for each in found if each is not None]
        return reduce(arb.max, known) if len(known) == len(found) else None

    def gaussian(self) -> arb | None:
        """The largest."""
        found = [each.gaussian() for each in self.pairs]
        known = [each for each in found if each is not None]
        return reduce(arb.max, known) if len(known) == len(found) else None

    def gaussian_limit(self, direction: Direction) -> arb | None:
        """The largest of those that have a share."""
        shares = zip(self.weights.listed(), self.pairs, strict=True)
        found = [pair.gaussian_limit(direction) for share, pair in shares if share > 0]
        known = [each for each in found if each is not None]
        return reduce(arb.max, known) if known else None

    def _sum(self, balls: Sequence[arb]) -> arb:
        return sum((share * each for share, each in zip(self.weights.listed(), balls, strict=True)), arb(0))


def _joined(parts: Sequence[Enclosure]) -> Enclosure:
    return Enclosure(
        np.concatenate([np.atleast_1d(each.value) for each in parts]),
        np.concatenate([np.atleast_1d(each.radius) for each in parts]),
    )


def _total(parts: Sequence[Enclosure]) -> Enclosure:
    """Exactly nothing where there is nothing to add."""
    return reduce(Enclosure.__add__, parts) if parts else exact(0.0)
