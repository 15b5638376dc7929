"""Pairs with finitely many losses.

H(e^eps) = w + sum over l > eps of p (1 - e^(eps - l)), w the mass of infinite loss: a sum of positive terms.
Guarantee: exact; float64 with the radius of kernels.enclosure.
Reference: Meiser, Mohammadi 2018, Def. 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb

from ...numerics.balls import BITS_START, complex_log, spreads, upper_float, working_precision
from ...numerics.contour_sum import TIME_ERROR
from ...numerics.double_double import DoubleDouble
from ...numerics.enclosures import Enclosure, enclosed
from ...numerics.quadrature import NO_ERROR, blurred, point_law, point_law_ball
from ...values.errors import Refusal, UnsupportedMechanism
from ...values.question import Direction
from ..atoms import Atom, Atoms, FiniteLaw, Lattice, listed_hockey_stick, ratio_ball
from ..capabilities import Moments
from ..cgf import BallTilted, CfDecay, Cumulants, LatticeCgf, Tilted, point_cumulants
from ..operators.registered import (
    allocated_pair_of,
    chained_pair,
    condition_on_finite_loss,
    dominates,
    finite_law,
    sampled_in_family,
    shifted_pair,
    subsampled_fixed_size,
)
from ..pair import BallTails, LossRange, Pair, Tails
from .geometric import group_privacy_law
from .laws import FixedSizeSubsampledLaw, ListedLaw, ProductLaw, RationalLaw, ResponseLaw, SampledLaw, listed_atoms

if TYPE_CHECKING:
    from ..cgf import Cgf


PRODUCT_MAX = 1024  # atoms of a product that is listed: what every engine goes through in no time


@dataclass(frozen=True)
class FinitePair(Pair):
    """The pair of a finite law."""

    law: FiniteLaw

    def tails(self, t: DoubleDouble) -> Tails:
        index = np.searchsorted(self.law.floats.loss.value, t.collapse(), side="right")
        return Tails(*(column[index] for column in self.law.floats.tails))

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        floats = self.law.floats
        return listed_hockey_stick(floats.p, floats.loss, floats.infinite, epsilon)

    def atoms(self) -> Atoms:
        p, loss, infinite, _ = self.law.floats
        with working_precision(BITS_START):
            lost = enclosed([self.law.lost_mass()])[0]
        return Atoms(p, p * (-loss).exp(), loss, infinite, lost)

    def ball_tails(self, t: arb) -> BallTails:
        atoms = self.law.listed()
        # Those that are for certain above (below), and those that may be.
        above = [atom for atom in atoms if atom.loss > t], [atom for atom in atoms if not atom.loss <= t]
        below = [atom for atom in atoms if atom.loss <= t], [atom for atom in atoms if not atom.loss > t]

        def mass(of: tuple[list[Atom], list[Atom]], field: int, start: arb) -> arb:
            sure, possible = (sum((atom[field] for atom in each), start) for each in of)
            return sure.union(possible)

        infinite, lost = self.law.infinite_mass(), self.law.lost_mass()
        return BallTails(mass(above, 0, infinite), mass(above, 1, arb(0)), mass(below, 0, arb(0)), mass(below, 1, lost))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        known = self.law.hockey_stick(epsilon)
        if known is not None:
            return known
        total = self.law.infinite_mass()
        for p, _, loss in self.law.listed():
            total += p * (-(epsilon - loss).expm1()).max(arb(0))
        return total

    def reversed(self) -> FinitePair:
        return FinitePair(self.law.reversed())

    def lattice(self) -> Lattice | None:
        return self.law.lattice()

    def infinite_mass(self) -> arb:
        return self.law.infinite_mass()

    def loss_range(self) -> LossRange:
        return self.law.loss_range()

    def cgf(self) -> Cgf:

        return finite_cgf(self)

    def compose_exact(self, like: Sequence[tuple[Pair, int]]) -> FinitePair | None:
        """All atoms listed, where they are few."""
        factors = [(pair.law, count) for pair, count in like if isinstance(pair, FinitePair)]
        if len(factors) < len(like) or listed_atoms([(law.size(), count) for law, count in factors]) > PRODUCT_MAX:
            return None
        return FinitePair(ProductLaw(tuple(factors)))

    def moments(self) -> FiniteMoments:
        return FiniteMoments(self)


class FiniteMoments(Moments[FinitePair]):
    def log_moment(self, z: acb) -> acb | None:

        return finite_log_moment(self.pair.law, z)


@chained_pair.register(FinitePair)
def _(own: FinitePair, links: Sequence[tuple[Pair, int]]) -> FinitePair | None:
    """Listed, where that can be done."""

    laws = [(pair.law, count) for pair, count in links if isinstance(pair, FinitePair)]
    law = group_privacy_law(laws) if len(laws) == len(links) else None
    return None if law is None else FinitePair(law)


@shifted_pair.register(FinitePair)
def _(pair: FinitePair, times: int) -> FinitePair | None:
    law = pair.law if times == 1 else pair.law.shifted(times)
    return None if law is None else FinitePair(law)


@allocated_pair_of.register(FinitePair)
def _(pair: FinitePair, steps: int, direction: Direction) -> FinitePair | None:
    """All atoms listed, where they are few."""

    with working_precision(BITS_START):
        few = allocated_atoms(pair.law, steps, direction) <= PRODUCT_MAX
    return FinitePair(AllocatedLaw(pair.law, steps, direction)) if few else None


@subsampled_fixed_size.register(FinitePair)
def _(pair: FinitePair, rate: float) -> FinitePair:
    return FinitePair(FixedSizeSubsampledLaw(pair.law, rate))


@sampled_in_family.register(FinitePair)
def _(pair: FinitePair, rate: float, direction: Direction) -> FinitePair:
    return FinitePair(SampledLaw(pair.law, rate, direction))


@condition_on_finite_loss.register(FinitePair)
def _(pair: FinitePair) -> Pair | None:
    if pair.infinite_mass().is_zero():
        return pair
    law = pair.law.conditioned_on_finite_loss()
    return None if law is None else FinitePair(law)


@finite_law.register(FinitePair)
def _(pair: FinitePair) -> FiniteLaw:
    return pair.law


@dominates.register(FinitePair)
def _(pair: FinitePair, other: Pair) -> bool:
    """Randomized response by larger odds, more leaks and fewer answers."""
    if isinstance(other, FinitePair) and isinstance(pair.law, ResponseLaw) and isinstance(other.law, ResponseLaw):
        mine, theirs = pair.law, other.law
        more = mine.epsilon >= theirs.epsilon and mine.delta >= theirs.delta
        return more and mine.categories <= theirs.categories
    return dominates.default(pair, other)


# Finite pairs: M(z) = sum p e^{z l} over the atoms of finite loss.
#
# The transform of finitely many atoms returns again and again, so nothing is known of its decay: a contour needs
# another
# part that falls. On a lattice it falls within half a period: |phi(t)|^2 <= 1 - 4 u sin^2(t step/2) with
# u = sum of w_n w_{n+1} over neighbouring tilted masses.
# Guarantee: exact. Proof: docs/proofs/contour.md, section 12.
# Reference: Zhu, Dong, Wang 2021, Sec. 4.

CONTOUR_ATOMS_MAX = 20_000


@dataclass(frozen=True)
class FiniteCgf(LatticeCgf):
    """K of a finite pair; atoms are (mass, loss) in plain floats."""

    pair: FinitePair
    atoms: tuple[tuple[float, float], ...]

    def cumulants(self, tilt: float) -> Cumulants:
        return point_cumulants(self.atoms, tilt)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return len(self.atoms)

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:

        centre = self.cumulants(tilt).mean
        with working_precision(BITS_START):
            balls = self.pair.law.listed()
            masses = enclosed([atom.p for atom in balls])
            offsets = enclosed([atom.loss - arb(centre) for atom in balls])
            missing = enclosed([self.pair.infinite_mass()])[0]
        return blurred(point_law(masses, offsets, centre, missing, tilt, NO_ERROR), TIME_ERROR)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        balls = self.pair.law.listed()
        losses, masses = tuple(atom.loss for atom in balls), tuple(atom.p for atom in balls)
        return point_law_ball(losses, masses, tilt, None)

    def own_period_cf_decay(self, tilt: float, own: Lattice) -> CfDecay:
        with working_precision(BITS_START):
            return NeighbourDecay(self._shared(tilt, own), own.step.ball())

    def _shared(self, tilt: float, own: Lattice) -> arb:
        """sum w_n w_{n+1} of the tilted masses, which sum to 1."""
        weights: dict[int, arb] = {}
        top = arb(max(loss for _, loss in self.atoms))
        base, width = ratio_ball(own.shift) + ratio_ball(own.factor).log(), own.step.ball()
        for atom in self.pair.law.listed():
            place = ((atom.loss - base) / width + arb(0.5)).floor().unique_fmpz()
            if place is None:
                return arb(0)
            weights[int(place)] = weights.get(int(place), arb(0)) + atom.p * (arb(tilt) * (atom.loss - top)).exp()
        shared = sum((weight * weights[n + 1] for n, weight in weights.items() if n + 1 in weights), arb(0))
        return shared / sum(weights.values(), arb(0)) ** 2


@dataclass(frozen=True)
class NeighbourDecay:
    """sqrt(1 - 4 u sin^2(t step/2)), which falls until t = pi/step."""

    shared: arb
    step: arb

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            half = (self.step * arb(radius)).min(arb.pi()) / 2
            return min(0.0, upper_float((-4 * self.shared * half.sin() ** 2).log1p() / 2))


def finite_cgf(pair: FinitePair) -> FiniteCgf:
    """The cgf of a finite pair that has finite losses, and not too many."""
    if pair.law.size() > CONTOUR_ATOMS_MAX:
        raise UnsupportedMechanism("it has too many atoms for a contour", Refusal.TOO_MUCH_WORK)
    with working_precision(BITS_START):
        points = tuple((float(atom.p.mid()), float(atom.loss.mid())) for atom in pair.law.listed())
    if not points or not all(mass > 0.0 and math.isfinite(loss) for mass, loss in points):
        raise UnsupportedMechanism("its atoms do not fit a contour; try engine='lattice'")
    return FiniteCgf(pair, points)


def finite_log_moment(law: FiniteLaw, z: acb) -> acb | None:
    """log of the sum as it stands, at any z; None without atoms or with too many."""
    if not 0 < law.size() <= CONTOUR_ATOMS_MAX:
        return None
    point = z.real if z.imag.is_zero() else z
    return complex_log(acb(sum((p * (point * loss).exp() for p, _, loss in law.listed()), acb(0))))


# One of several steps, chosen at random, of a law with few atoms: all that the steps may show, listed.
#
# Steps are counted by what they show: n_j of them atom j of the base, ratio y_j = p_j/q_j, 0 where P has no mass.
# Under Q the counts are multinomial, and the ratio of the two laws is the mean (sum n_j y_j)/steps.
# Guarantee: exact. Proof: docs/proofs/allocation.md, section 2.


@dataclass(frozen=True)
class AllocatedLaw(ListedLaw):
    """One of so many copies of Q is P, whichever, against copies of Q alone; for ADD the reverse, of a base that is."""

    base: FiniteLaw
    steps: int
    direction: Direction

    @property
    def _step(self) -> FiniteLaw:
        """With the record, and without it."""
        return self.base if self.direction is Direction.REMOVE else self.base.reversed()

    def _counted(self) -> list[Atom]:
        """(P, Q) of all counts but those where no step could have come from P."""
        step = self._step
        shown = [(atom.q, atom.loss.exp()) for atom in step.listed()]
        lost = step.lost_mass()
        shown += [] if lost.is_zero() else [(lost, arb(0))]
        factorials = [arb(1)]
        for n in range(1, self.steps + 1):
            factorials.append(factorials[-1] * n)
        powers = [[q**n / factorials[n] for n in range(self.steps + 1)] for q, _ in shown]
        found = []
        for row in spreads(self.steps, len(shown)):
            mass, mean = factorials[-1], arb(0)
            for count, known, (_, ratio) in zip(row, powers, shown, strict=True):
                mass, mean = mass * known[count], mean + count * ratio
            if not mean.is_zero():
                mean /= self.steps
                found.append(Atom(mass * mean, mass, mean.log()))
        return found

    def atoms(self) -> list[Atom]:
        found = self._counted()
        return found if self.direction is Direction.REMOVE else [Atom(q, p, -loss) for p, q, loss in found]

    def infinite_mass(self) -> arb:
        """The step of the record has it; for ADD all steps."""
        mass = self.base.infinite_mass()
        return mass if self.direction is Direction.REMOVE else mass**self.steps

    def lost_mass(self) -> arb:
        mass = self.base.lost_mass()
        return mass**self.steps if self.direction is Direction.REMOVE else mass

    def reversed(self) -> FiniteLaw:
        return AllocatedLaw(self.base.reversed(), self.steps, self.direction.opposite)


def allocated_atoms(base: FiniteLaw, steps: int, direction: Direction) -> int:
    """How many there are, about."""
    lost = base.lost_mass() if direction is Direction.REMOVE else base.infinite_mass()
    return listed_atoms([(base.size() + (not lost.is_zero()), steps)])


# What real neighbours of a noisy maximum show: two candidates, or two groups of equal ones, and how they move.
#
# With S the upper tail of the difference of both sides' noise, in units of its scale, the first is told with
# probability
# S(y) by one data set and with S(y + span) by the other, for any y. p = S(y) rounded down and q = S(y + span) rounded
# up
# to dyadic fractions are the laws of scores that move by no more than the span: (p, 1 - p) against (q, 1 - q).
# Guarantee: exactly real laws, in fractions. Proof: docs/proofs/noisy_max.md, section 2.

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
