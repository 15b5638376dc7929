"""Exact answers: a finite part times at most one other part whose profile is known.

delta(eps) = w + sum over the atoms (l, p) of the finite part of p H(e^(eps - l)), H the profile of the other part:
all Gaussians together, all Laplaces together, or one use of any pair; H(alpha) = (1 - alpha)_+ where there is none.
Guarantee: exact up to rounding and to the mass that the finite part drops. Proof: docs/proofs/closed_forms.md.
Reference: Zhu, Dong, Wang 2021, Thm 10; Balle, Wang 2018, Thm 8; Kairouz, Oh, Viswanath 2017, Thm 3.3.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from ...losses.atoms import Atom, FiniteLaw, power, product
from ...losses.operators.registered import finite_law
from ...losses.pair import HockeyStick, Pair
from ...numerics.balls import BITS_START, integer, lower_float, spreads, upper_float, working_precision
from ...numerics.counting import multinomial_masses
from ...numerics.enclosures import Enclosure, count_enclosure, exact
from ...numerics.rounding import next_down, next_up
from ...values.bound import ErrorBreakdown, error_lines
from ...values.errors import Refusal, UnsupportedMechanism, agreed
from .. import tuning
from ..loss_extremes import leaked
from ..selection import BallFormula, Evaluation, Evaluator, Term
from ..tuning import ATOMS_MAX, BINOMIAL_MAX, BINOMIAL_MIN, ROW_ENTRIES_MAX

# One law with two atoms, used very often: a binomial tail instead of a list of atoms.
#
# With J uses of the atom of higher loss l1 the loss is J l1 + (k - J) l2, so the best event is J >= m and
# delta(eps) = w + (1 - w) I_p(m, k - m + 1) - e^eps (1 - v) I_q(m, k - m + 1), I the regularised beta function,
# w and v the masses that P and Q have where the other has none.
# Guarantee: exact, in balls; the cost hardly depends on k. Proof: docs/proofs/closed_forms.md.
# Reference: Kairouz, Oh, Viswanath 2017, Thm 3.3.


def applies(law: FiniteLaw, count: int) -> bool:
    """Whether the law has two atoms and is used often."""
    return BINOMIAL_MIN <= count <= BINOMIAL_MAX and law.size() == 2


@dataclass(frozen=True)
class BinomialEvaluator(BallFormula):
    """Binomial tails in balls."""

    law: FiniteLaw
    count: int

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"atoms": self.count + 1}

    def ball(self, epsilon: arb) -> arb:
        law = self.law
        low, high = law.listed()
        if high.loss < low.loss:
            low, high = high, low
        if not high.loss > low.loss:
            return arb(0).union(arb(1))  # the order is not known at this precision
        kept_p, kept_q = (1 - law.infinite_mass()) ** self.count, (1 - law.lost_mass()) ** self.count
        edge = (epsilon - self.count * low.loss) / (high.loss - low.loss)
        first, last = integer(edge.lower().floor()), integer(edge.upper().floor())
        if first is None or last is None or last - first > 2:
            return arb(0).union(arb(1))
        best = arb(0)
        # The true threshold attains the maximum, so the others that the ball admits do no harm.
        for uses in range(first + 1, last + 2):
            p = kept_p * self._tail(high.p, low.p, uses)
            q = kept_q * self._tail(high.q, low.q, uses)
            best = best.max(p - epsilon.exp() * q)
        return (1 - kept_p) + best

    def _tail(self, high: arb, low: arb, least: int) -> arb:
        """P[J >= least] for J binomial of probability high/(high + low); from its complement where that is smaller.

        Arb takes seconds for a tail next to 1, and loses all digits.
        """
        if least <= 0:
            return arb(1)
        if least > self.count:
            return arb(0)
        first, second = arb(least), arb(self.count - least + 1)
        if least < self.count * high / (high + low):
            return 1 - (low / (high + low)).beta_lower(second, first, True)
        return (high / (high + low)).beta_lower(first, second, True)


# The composition of finite laws, atom by atom.
#
# A law with atoms (p_i, l_i) used k times has the atoms sum n_i l_i with the multinomial masses of (n_i); laws
# multiply.
# For two atoms only a window around the mean is listed: by Hoeffding the mass at a distance above T from the mean k p
# is at most 2 exp(-2 T^2 / k), which is DROPPED at T = sqrt(WINDOW k).
# Guarantee: exact up to the dropped mass, which is returned. Proof: docs/proofs/closed_forms.md.
# Reference: Kairouz, Oh, Viswanath 2017, Thm 3.3 (two atoms); Hoeffding 1963, Thm 1.

WINDOW = 381.5  # 2 exp(-763) < 2.3e-331
DROPPED = 5e-324

FiniteTerm = tuple[FiniteLaw, int]


class FloatList(NamedTuple):
    """Losses and P-masses of the composition in float64, and a bound on the P-mass left out."""

    loss: Enclosure
    mass: Enclosure
    dropped: float


class BallList(NamedTuple):
    """Atoms of the composition in balls, and a bound on the P-mass left out."""

    atoms: list[Atom]
    dropped: float


def listed_atoms(terms: Sequence[FiniteTerm]) -> int:
    """How many atoms the composition lists; more than ATOMS_MAX where there are too many to count."""
    total = 1
    for law, count in terms:
        total *= _rows(law.size(), count)
        if total > ATOMS_MAX:
            return ATOMS_MAX + 1
    return total


def _rows(atoms: int, count: int) -> int:
    if atoms <= 1:
        return 1
    if atoms == 2:
        return min(count + 1, 2 * math.isqrt(int(WINDOW * count)) + 8) if count < 2**52 else ATOMS_MAX + 1
    if count == 1:
        return atoms
    rows = math.comb(count + atoms - 1, atoms - 1) if count + atoms < ATOMS_MAX**0.5 else ATOMS_MAX + 1
    return rows if rows * atoms < ROW_ENTRIES_MAX else ATOMS_MAX + 1


def float_law(terms: Sequence[FiniteTerm]) -> FloatList:
    """The composition in float64."""
    loss, mass, dropped = exact(np.zeros(1)), exact(np.ones(1)), 0.0
    for law, count in terms:
        more_loss, more_mass, cut = _float_power(law, count)
        loss = Enclosure(loss.value[:, None], loss.radius[:, None]) + more_loss
        mass = Enclosure(mass.value[:, None], mass.radius[:, None]) * more_mass
        loss, mass = _flat(loss), _flat(mass)
        dropped += cut
    return FloatList(loss, mass, dropped)


def _float_power(law: FiniteLaw, count: int) -> FloatList:
    floats, atoms = law.floats, law.size()
    if count == 1 or atoms == 0:
        return FloatList(floats.loss, floats.p, 0.0)
    times = count_enclosure(count)
    survival = ((-floats.infinite).log1p() * times).exp()
    if atoms == 1:
        return FloatList(floats.loss * times, exact(np.ones(1)) * survival, 0.0)
    kept = 1.0 - floats.infinite
    rows, dropped = _float_rows(floats.p.value / float(kept.value), count)
    loss = exact(np.zeros(len(rows)))
    for index in range(atoms):
        loss = loss + exact(rows[:, index].astype(np.float64)) * floats.loss[index]
    return FloatList(loss, multinomial_masses(rows, floats.p / kept) * survival, dropped)


def _float_rows(probabilities: npt.NDArray[np.float64], count: int) -> tuple[npt.NDArray[np.int64], float]:
    if len(probabilities) == 2:
        first, last = _window(float(probabilities[0]), count)
        uses = np.arange(first, last + 1, dtype=np.int64)
        return np.stack([uses, count - uses], axis=1), DROPPED if last - first < count else 0.0
    return np.array(list(spreads(count, len(probabilities))), dtype=np.int64), 0.0


def _window(probability: float, count: int) -> tuple[int, int]:
    """First and last number of uses of one atom that are listed; the slack covers the rounding of the mean."""
    reach = math.isqrt(int(WINDOW * count)) + 3 + int(count * 2.0**-50)
    mean = int(probability * count)
    return max(0, mean - reach), min(count, mean + reach)


def _flat(numbers: Enclosure) -> Enclosure:
    return Enclosure(numbers.value.ravel(), numbers.radius.ravel())


def ball_law(terms: Sequence[FiniteTerm]) -> BallList:
    """The composition in balls, at the working precision."""
    powers = [_ball_power(law.listed(), count) for law, count in terms]
    return BallList(product(atoms for atoms, _ in powers), sum(dropped for _, dropped in powers))


def _ball_power(atoms: list[Atom], count: int) -> tuple[list[Atom], float]:
    if count > 1 and len(atoms) == 2:
        return _ball_binomial(atoms[0], atoms[1], count)
    return power(atoms, count), 0.0


def _ball_binomial(one: Atom, other: Atom, count: int) -> tuple[list[Atom], float]:
    """Masses by ratios of neighbours, from the first of the window on."""
    first, last = _window(float((one.p / (one.p + other.p)).mid()), count)
    choices = (arb(count + 1).lgamma() - arb(first + 1).lgamma() - arb(count - first + 1).lgamma()).exp()
    p = choices * one.p**first * other.p ** (count - first)
    q = choices * one.q**first * other.q ** (count - first)
    p_odds, q_odds = one.p / other.p, one.q / other.q
    listed = []
    for uses in range(first, last + 1):
        listed.append(Atom(p, q, uses * one.loss + (count - uses) * other.loss))
        ratio = arb(count - uses) / (uses + 1)
        p, q = p * ratio * p_odds, q * ratio * q_odds
    return listed, DROPPED if last - first < count else 0.0


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
    if len(finite) == len(terms) == 1 and applies(*finite[0]):
        return Sorted(finite, None)
    cost = 1 if other is None else other.hockey_stick_cost()
    if not finite and cost > tuning.HOCKEY_STICK_MAX:
        raise UnsupportedMechanism("its profile has too many terms to sum", Refusal.TOO_MUCH_WORK)
    if finite and listed_atoms(finite) * cost > atoms_most:
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
    if len(terms) == len(parts.finite) == 1 and applies(*parts.finite[0]):
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
        self._law: FloatList | None = float_law(finite) if finite else None

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
                self._laws[bits] = ball_law(self.parts.finite)
        return self._laws[bits]

    def _suffix(self) -> SuffixLaw | None:
        bits = ctx.prec
        if bits not in self._suffixes:
            with working_precision(bits + 64):
                self._suffixes[bits] = SuffixLaw.of(self._law())
        return self._suffixes[bits]
