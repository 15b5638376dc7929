"""Exact answers: a finite part times at most one other part whose profile is known.

delta(eps) = w + sum over the atoms (l, p) of the finite part of p H(e^(eps - l)), H the profile of the other part:
all Gaussians together, all Laplaces together, or one use of any pair; H(alpha) = (1 - alpha)_+ where there is none.
Guarantee: exact up to rounding and to the mass that the finite part drops. Proof: docs/proofs/closed_forms.md.
Reference: Zhu, Dong, Wang 2021, Thm 10; Balle, Wang 2018, Thm 8; Kairouz, Oh, Viswanath 2017, Thm 3.3.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from flint import arb, ctx

from ...bound import ErrorBreakdown, error_lines
from ...errors import Refusal, UnsupportedMechanism, agreed
from ...facets.finite import Atom
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.directed import next_down, next_up
from ...kernels.enclosure import Enclosure, exact
from ...operators import finite_law
from ...pair import HockeyStick, Pair
from ..evaluation import BallFormula, Evaluation, Evaluator, Term
from ..extremes_of_loss import leaked
from . import binomial_tail, finite_part, tuning
from .binomial_tail import BinomialEvaluator
from .finite_part import BallList, FiniteTerm, FloatList


@dataclass(frozen=True, slots=True)
class Sorted:
    """A composition sorted by what is known of it: finite laws, and one profile for all the rest."""

    finite: tuple[FiniteTerm, ...]
    other: HockeyStick | None


def split(terms: Sequence[Term], atoms_most: int) -> Sorted:
    """Sorts the terms, or raises UnsupportedMechanism with the reason."""
    if _formula(terms):
        return Sorted((), terms[0][0])
    laws = [(finite_law(pair), count) for pair, count in terms]
    finite = tuple((law, count) for law, count in laws if law is not None)
    other = _compose_exact([term for term, (law, _) in zip(terms, laws, strict=True) if law is None])
    if len(finite) == len(terms) == 1 and binomial_tail.applies(*finite[0]):
        return Sorted(finite, None)
    cost = 1 if other is None else other.hockey_stick_cost()
    if not finite and cost > tuning.HOCKEY_STICK_MAX:
        raise UnsupportedMechanism("its profile has too many terms to sum", Refusal.TOO_MUCH_WORK)
    if finite and finite_part.listed_atoms(finite) * cost > atoms_most:
        raise UnsupportedMechanism("its finite part has too many atoms to list")
    return Sorted(finite, other)


def _formula(terms: Sequence[Term]) -> bool:
    """Whether this is one use of a finite law whose profile needs no list of atoms."""
    law = finite_law(terms[0][0]) if len(terms) == 1 and terms[0][1] == 1 else None
    with working_precision(BITS_START):
        return law is not None and law.hockey_stick(arb(1)) is not None


def _compose_exact(rest: Sequence[Term]) -> HockeyStick | None:
    """One profile for what is not finite."""
    if not rest or (len(rest) == 1 and rest[0][1] == 1):
        return rest[0][0] if rest else None
    profile = rest[0][0].compose_exact(rest)
    if profile is None:
        raise UnsupportedMechanism("there is no closed form for these together")
    return profile


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float = 0.0,
    proof: bool = False,
) -> Evaluator:
    """An evaluator in float64, or in balls for proofs and for sums of Laplaces; it suits every question alike."""
    parts = split(terms, tuning.BALL_ATOMS_MAX if proof else tuning.ATOMS_MAX)
    if len(terms) == len(parts.finite) == 1 and binomial_tail.applies(*parts.finite[0]):
        if epsilon is None and not proof and accuracy > tuning.BINOMIAL_ROUGHLY:
            raise UnsupportedMechanism("a search on beta functions takes long", Refusal.TOO_MUCH_WORK)
        return BinomialEvaluator(*parts.finite[0])
    # What is no pair is known in balls only, and a formula is faster than a list.
    if proof or not isinstance(parts.other, Pair | None) or _formula(terms):
        return BallEvaluator(parts)
    mass = leaked(parts.finite)  # the profile of the other part counts its own
    return FloatEvaluator(parts.finite, parts.other, (lower_float(mass), upper_float(mass)))


class FloatEvaluator(Evaluator):
    """float64 with a radius."""

    arithmetic = "float64"

    def __init__(self, finite: Sequence[FiniteTerm], other: Pair | None, mass: tuple[float, float]) -> None:
        self._other, self._mass = other, mass
        self._law: FloatList | None = finite_part.float_law(finite) if finite else None

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"atoms": 0 if self._law is None else len(self._law.mass.value)}

    def delta(self, epsilon: float) -> Evaluation:
        with np.errstate(all="ignore"):  # an overflow ends in an infinite radius, which lower and upper read as unknown
            total, dropped = self._sum(epsilon)
        leaked_low, leaked_high = self._mass
        low = max(float(total.lower) + leaked_low, leaked_low, 0.0)
        high = float(total.upper) + leaked_high + dropped
        # One more addition on each side, rounded outward unless nothing was added.
        low = max(next_down(low), 0.0) if leaked_low else low
        high = min(next_up(high) if leaked_high or dropped else high, 1.0)
        rounding = float(total.radius)
        return Evaluation(
            *agreed(low, high, "a sum of profiles", "the same sum"),
            ErrorBreakdown(error_lines(rounding=rounding, truncation=dropped), error_lines(rounding=rounding)),
        )

    def _sum(self, epsilon: float) -> tuple[Enclosure, float]:
        point, other = exact(epsilon), self._other
        if self._law is None:
            return (_no_loss(point) if other is None else other.hockey_stick(point)), 0.0
        loss, mass, dropped = self._law
        if other is None:
            ahead = loss.upper > epsilon
            return (mass[ahead] * _no_loss(point - loss[ahead])).sum(), dropped
        return (mass * other.hockey_stick(point - loss)).sum(), dropped


def _no_loss(epsilon: Enclosure) -> Enclosure:
    return (-epsilon.expm1()).clip_below(0.0)


@dataclass(frozen=True)
class SuffixLaw:
    """A finite law sorted by loss, with the masses of everything from each atom on."""

    atoms: list[Atom]
    p: list[arb]  # P-mass of atom i and all that follow
    q: list[arb]
    lowest: list[arb]  # at or below every loss from i on
    highest: list[arb]  # at or above every loss before i

    @staticmethod
    def of(law: BallList) -> SuffixLaw | None:
        """None where a loss is not known at this precision."""
        if not all(atom.loss.is_finite() for atom in law.atoms):
            return None
        atoms = sorted(law.atoms, key=lambda atom: atom.loss.mid())
        p, q, lowest, highest = [arb(0)], [arb(0)], [arb.pos_inf()], [arb.neg_inf()]
        for atom in reversed(atoms):
            p.append(p[-1] + atom.p)
            q.append(q[-1] + atom.q)
            lowest.append(_least(lowest[-1], atom.loss.lower()))
        for atom in atoms:
            highest.append(-_least(-highest[-1], -atom.loss.upper()))
        return SuffixLaw(atoms, p[::-1], q[::-1], lowest[::-1], highest)

    def hockey_stick(self, epsilon: arb) -> arb:
        """Everything surely above epsilon, plus max(p - alpha q, 0) of each atom that may be."""
        alpha = epsilon.exp()
        last = bisect.bisect_right(self.lowest, epsilon)  # from here on all are above
        first = max(bisect.bisect_right(self.highest, epsilon) - 1, 0)  # before it none is
        total = self.p[last] - alpha * self.q[last]
        for p, q, _ in self.atoms[first:last]:
            total += (p - alpha * q).max(arb(0))
        return total


def _least(one: arb, other: arb) -> arb:
    """The smaller of two exact numbers."""
    return one if one < other else other


@dataclass
class BallEvaluator(BallFormula):
    """Balls: every rounding enclosed; the finite part is listed once per precision."""

    parts: Sorted
    _laws: dict[int, BallList] = field(default_factory=dict)
    _suffixes: dict[int, SuffixLaw | None] = field(default_factory=dict)

    @property
    def parameters(self) -> Mapping[str, object]:
        atoms = max((len(law.atoms) for law in self._laws.values()), default=0)
        return {"atoms": atoms, "bits": max(self._laws, default=0)}

    def ball(self, epsilon: arb) -> arb:
        finite = self.parts.finite
        if not finite:
            return self._other(epsilon)
        leaked = arb(1)
        for law, count in finite:
            leaked *= (1 - law.infinite_mass()) ** count
        listed = self._law()
        if self.parts.other is None:
            suffix = self._suffix()
            if suffix is None:
                return arb(0).union(arb(1))
            total = suffix.hockey_stick(epsilon)
        else:
            total = sum((atom.p * self._other(epsilon - atom.loss) for atom in listed.atoms), arb(0))
        return (1 - leaked) + total + arb(0).union(arb(listed.dropped))

    def _other(self, epsilon: arb) -> arb:
        if self.parts.other is not None:
            return self.parts.other.ball_hockey_stick(epsilon)
        return (-epsilon.expm1()).max(arb(0))

    def _law(self) -> BallList:
        bits = ctx.prec
        if bits not in self._laws:
            # Ratios of neighbours and running sums lose a bit per doubling of their number.
            with working_precision(bits + 64):
                self._laws[bits] = finite_part.ball_law(self.parts.finite)
        return self._laws[bits]

    def _suffix(self) -> SuffixLaw | None:
        bits = ctx.prec
        if bits not in self._suffixes:
            with working_precision(bits + 64):
                self._suffixes[bits] = SuffixLaw.of(self._law())
        return self._suffixes[bits]
