"""The hits engine: compositions of Poisson-sampled uses in which few hits, or hits that are seen, decide.

Hits that are seen are counted (engine.py: little noise); few hits leave a law that is short once the losses that
decide alone are cut off (cut.py); and a delta below every double is said at once: if the total of n uses exceeds
eps > 0, some use exceeds eps/n, so delta(eps) <= sum k_i P_i[l > eps/n].
Guarantee: lower <= delta <= upper. Proof: docs/proofs/hits.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flint import arb

from ...losses.operators.registered import finite_law, sampling_of, visible_participation
from ...numerics.balls import BITS_START, erfc, lower_float, upper_float, working_precision
from ...numerics.search import Inverse
from ...values import compute_budget
from ...values.bound import ErrorBreakdown, FrozenMapping, error_lines
from ...values.errors import Refusal, UnsupportedMechanism
from .. import tuning
from ..closed_form import engine
from ..closed_form.engine import BallList, FiniteTerm
from ..loss_extremes import leaked
from ..selection import Evaluation, Evaluator, SelfInverse, Term, inverse
from . import cut
from .cut import CutQuestion

# What a composition with visible hits can come to: a number of hits per term, with its mass and its loss.
#
# A use of ((1 - r) Q + r P, Q) is a hit where its base loss l exceeds l0 = log((1 - r)/r): what each pair tells of
# itself
# (operators.visible_participation). Numbers of hits are binomial; those that are too rare to be seen are left out, and
# their mass is bounded. Guarantee: masses and losses as balls, and a bound of the mass left out. Proof:
# docs/proofs/hits.md, section 1.


class SampledUses(NamedTuple):
    """One sampled term that is removed: uses, rate, and the variance mu^2 of a hit's loss."""

    uses: int
    rate: arb
    variance: arb


class Outcome(NamedTuple):
    """A number of hits per term: its mass, the loss that it has for certain, the variance of the rest."""

    mass: arb
    loss: arb
    variance: arb


@dataclass(frozen=True)
class VisibleParticipationParts:
    """A composition with visible hits: sampled terms, and what all of it has in any case."""

    hits: tuple[SampledUses, ...]
    finite: tuple[FiniteTerm, ...]
    loss: arb  # of additions
    variance: arb  # of plain Gaussians
    infinite: arb
    hidden: arb  # at or above the mass of uses that are not seen
    blur: arb  # an addition's loss may be less by that


def visible_participation_parts(terms: Sequence[Term]) -> VisibleParticipationParts:
    """The composition sorted, or UnsupportedMechanism; at the working precision."""
    hits: list[SampledUses] = []
    finite: list[FiniteTerm] = []
    loss, variance, hidden, blur = arb(0), arb(0), arb(0), arb(0)
    for pair, count in terms:
        law, use = finite_law(pair), visible_participation(pair)
        if law is not None:
            finite.append((law, count))
        elif use is None:
            raise UnsupportedMechanism("its hits cannot be told from its misses")
        elif 0.0 < use.chance < 1.0:
            hits.append(SampledUses(count, arb(use.chance), use.variance))
        else:
            variance += count * use.variance
        if use is not None:
            loss, hidden, blur = loss + count * use.sure, hidden + count * use.hidden, blur + count * use.blur
        if not hidden + blur < tuning.HIDDEN_MAX:
            raise UnsupportedMechanism("its noise hides whether a record took part")
    if hidden.is_zero():
        raise UnsupportedMechanism("nothing in it is sampled")
    return VisibleParticipationParts(tuple(hits), tuple(finite), loss, variance, leaked(finite), hidden, blur)


def hides_too_much(hidden: arb, delta: float | None, accuracy: float) -> bool:
    """Whether hits that are not told from misses leave more of delta open than the accuracy allows."""
    return delta is not None and not 2.0 * upper_float(hidden) <= accuracy * delta


def participation_visible(terms: Sequence[Term], delta: float | None, accuracy: float) -> bool:
    """Whether hits are told from misses, so that their number is all that is hidden."""
    try:
        with working_precision(BITS_START):
            return not hides_too_much(visible_participation_parts(terms).hidden, delta, accuracy)
    except UnsupportedMechanism:
        return False


def listed(
    terms: Sequence[Term], parts: VisibleParticipationParts, finite: BallList, log_least: float
) -> tuple[list[Outcome], arb]:
    """Every number of hits that is likelier than e^log_least, and a bound of the mass of the others."""
    least = arb(log_least).exp()
    atoms = [Outcome(atom.p, parts.loss + atom.loss, parts.variance) for atom in finite.atoms]
    dropped = arb(finite.dropped)
    for term in parts.hits:
        masses, first, cut = _binomial(term, least)
        if len(masses) * len(atoms) > tuning.PRODUCTS_MAX:
            raise UnsupportedMechanism("it has too many hits to list", Refusal.TOO_MUCH_WORK)
        compute_budget.spend(tuning.MULTIPLICATION * len(masses) * len(atoms))
        dropped += cut
        hit, missed = term.rate.log(), (-term.rate).log1p()
        rows = [(mass, m * hit + (term.uses - m) * missed, m * term.variance) for m, mass in enumerate(masses, first)]
        joined: list[Outcome] = []
        for before in atoms:
            for mass, loss, variance in rows:
                both = before.mass * mass
                if both > least:
                    joined.append(Outcome(both, before.loss + loss, before.variance + variance))
                else:
                    dropped += both
        atoms = joined
        if len(atoms) > tuning.OUTCOMES_MAX:
            raise UnsupportedMechanism("it has too many hits to list", Refusal.TOO_MUCH_WORK)
    return atoms, dropped


def _binomial(term: SampledUses, least: arb) -> tuple[list[arb], int, arb]:
    """Binomial masses down to `least` on both sides of the mode, the first number, and a bound of the rest."""
    count = term.uses
    mode = min(int(count * float(term.rate.mid())), count)  # or next to it: any start will do
    at_mode = arb(count + 1).lgamma() - arb(mode + 1).lgamma() - arb(count - mode + 1).lgamma()
    top = (at_mode + mode * term.rate.log() + (count - mode) * (-term.rate).log1p()).exp()
    down, below = _side(term, mode, top, least, -1)
    up, above = _side(term, mode, top, least, 1)
    return down[::-1] + up[1:], mode - len(down) + 1, below + above


def _side(term: SampledUses, mode: int, top: arb, least: arb, step: int) -> tuple[list[arb], arb]:
    """The masses from the mode on to one side, and a bound of those beyond the last."""
    odds, end = term.rate / (1 - term.rate), term.uses if step > 0 else 0

    def ratio(m: int) -> arb:
        """Of the mass next to m to that of m."""
        return arb(term.uses - m) / (m + 1) * odds if step > 0 else arb(m) / (term.uses - m + 1) / odds

    m, mass = mode, top
    side: list[arb] = []
    while mass > least and len(side) <= tuning.OUTCOMES_MAX:
        if len(side) % 1000 == 0:
            compute_budget.spend(1000 * tuning.MULTIPLICATION)
        side.append(mass)
        if m == end:
            return side, arb(0)
        m, mass = m + step, mass * ratio(m)
    following = ratio(m)
    if not following < 1:
        raise UnsupportedMechanism("it has too many hits to list", Refusal.TOO_MUCH_WORK)
    return side, mass / (1 - following)  # the ratios fall, so the rest is below a geometric series


# Sampled Gaussians whose hits are seen: little noise, so that every output tells whether its record took part.
#
# A use of ((1 - r) Q + r P, Q) is a hit where its base loss l exceeds l0 = log((1 - r)/r). Up to w = r P[l <= l0] +
# (1 - r) Q[l > l0] per use, its loss is log(1 - r) without and log r + l with a hit, and hits are binomial:
#     |delta(eps) - sum over m of Binomial(m; k, r) H_m(eps - m log r - (k - m) log(1 - r))| <= k w,
# H_m the profile of the Gaussian with variance m mu^2. An addition has the loss -log(1 - r), up to the same w.
# Nothing is as large as e^loss: only logarithms of it are formed.
# Guarantee: lower <= delta <= upper, in balls. Proof: docs/proofs/hits.md, section 1.
# Reference: Zhu, Dong, Wang 2021, Thm 11 (sampled pairs); Balle, Wang 2018, Thm 8 (H_m).

LOG_MIN = -760.0  # no double is as small


def prepare_visible(
    terms: Sequence[Term], epsilon: float | None, delta: float | None, accuracy: float
) -> VisibleEvaluator:
    """An evaluator for one direction; UnsupportedMechanism where hits are not seen or too many."""
    with working_precision(tuning.BITS):
        parts = visible_participation_parts(terms)
        finite = engine.ball_law(parts.finite) if engine.listed_atoms(parts.finite) <= tuning.OUTCOMES_MAX else None
    if finite is None:
        raise UnsupportedMechanism("its finite part has too many atoms to list", Refusal.TOO_MUCH_WORK)
    if hides_too_much(parts.hidden, delta, accuracy):
        raise UnsupportedMechanism("its noise hides more of delta than the accuracy allows")
    log_least = tuning.FIRST_LOOK if delta is None else math.log(max(delta, 1e-320)) - tuning.BELOW
    for _ in range(tuning.LISTS_MAX):
        with working_precision(tuning.BITS):
            atoms, dropped = listed(terms, parts, finite, max(log_least, LOG_MIN))
        evaluator = VisibleEvaluator(parts, atoms, dropped)
        if epsilon is None or log_least <= LOG_MIN:
            break
        high = evaluator.delta(epsilon).upper
        if upper_float(dropped) <= tuning.LEFT_OUT_SHARE * accuracy * high:
            break
        log_least = max(math.log(max(high, 1e-320)) - tuning.BELOW, log_least - tuning.LISTED_FURTHER)
    return evaluator


@dataclass(frozen=True)
class VisibleEvaluator(SelfInverse):
    """delta as a sum of Gaussian profiles, one for each number of hits."""

    arithmetic = "ball"
    parts: VisibleParticipationParts
    atoms: list[Outcome]
    dropped: arb

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"way": "visible hits", "atoms": len(self.atoms), "bits": tuning.BITS}

    def delta(self, epsilon: float) -> Evaluation:
        with working_precision(tuning.BITS):
            total, _, left_out = self._sum(arb(epsilon))
            hidden, unlisted = self.parts.hidden, self.dropped + left_out
            low = lower_float(self.parts.infinite + total - hidden)
            high = upper_float(self.parts.infinite + total + hidden + unlisted)
            rounding, seen_less, seen_more = (upper_float(value) for value in (total.rad(), hidden, hidden + unlisted))
        high = min(high, 1.0)
        above = error_lines(truncation=seen_more, rounding=rounding)
        return Evaluation(
            min(max(low, 0.0), high), high, ErrorBreakdown(above, error_lines(truncation=seen_less, rounding=rounding))
        )

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        at_zero = self.delta(0.0)
        if at_zero.upper <= delta:
            return Inverse(0.0, 0.0, at_zero, at_zero)
        guess = self._solved(delta, min(self._guess(delta), ceiling))
        found = _around(self, delta, ceiling, guess)
        return inverse(self, delta, ceiling, min(1e-12, accuracy / 8.0)) if found is None else found

    def _sum(self, epsilon: arb) -> tuple[arb, arb, arb]:
        """The sum over the atoms, minus its derivative, and a bound of the atoms too small to be summed."""
        total, slope, left_out = arb(0), arb(0), arb(0)
        heights = [_log_most(atom, epsilon) for atom in self.atoms]
        least = max(heights, default=0.0) - 2.0 * tuning.BELOW
        atoms = [atom for atom, height in zip(self.atoms, heights, strict=True) if height >= least]
        if len(atoms) < len(heights) and least > -math.inf:
            left_out = (len(heights) - len(atoms)) * arb(least).exp()
        for index, (mass, loss, variance) in enumerate(atoms):
            if index % 100 == 0:
                compute_budget.spend(tuning.EVALUATION * min(100, len(atoms) - index))
            profile, falling = _gaussian_hockey_stick(epsilon - loss + self.parts.blur * arb("0.5 +/- 0.5"), variance)
            total, slope = total + mass * profile, slope + mass * falling
        return total, slope, left_out

    def _guess(self, delta: float) -> float:
        """About the epsilon of this delta: by bisection in plain floats, where e^eps Q is left out."""
        with working_precision(tuning.BITS):
            rough = [
                (float(mass.mid()), float(loss.mid()), math.sqrt(float(variance.mid())))
                for mass, loss, variance in self.atoms
            ]
            infinite = float(self.parts.infinite.mid())
        low, high = 0.0, max((loss + mu * mu / 2.0 + 60.0 * mu for _, loss, mu in rough), default=0.0) + 1.0
        compute_budget.spend(tuning.BISECTIONS * len(rough) * 1e3)
        for _ in range(tuning.BISECTIONS):
            middle = 0.5 * (low + high)
            total = infinite + sum(mass * _rough(middle - loss, mu) for mass, loss, mu in rough)
            low, high = (middle, high) if total > delta else (low, middle)
        return high

    def _solved(self, delta: float, guess: float) -> float:
        """The guess made better by Newton on log delta, kept between what is known to be too small and too large."""
        low, high = 0.0, math.inf
        for _ in range(tuning.TILT_NEWTON_MAX):
            with working_precision(tuning.BITS):
                total, slope, _ = self._sum(arb(guess))
                wanted = arb(delta) - self.parts.infinite
                if not (total > 0 and slope > 0 and wanted > 0):
                    return guess
                off = float(((total / wanted).log() * total / slope).mid())
            low, high = (max(low, guess), high) if off > 0.0 else (low, min(high, guess))
            following = guess + off
            if not low <= following <= high:
                following = 0.5 * (low + high) if high < math.inf else 2.0 * guess
            moved, guess = abs(following - guess), following
            if moved <= tuning.PROVING_STEP * guess:
                break
        return guess


def _around(evaluator: VisibleEvaluator, delta: float, ceiling: float, guess: float) -> Inverse[Evaluation] | None:
    """Two points next to the guess that prove both ends; None where they are not found."""
    step = max(tuning.PROVING_STEP * guess, math.ulp(guess))
    low: tuple[float, Evaluation | None] | None = None
    high: tuple[float, Evaluation | None] | None = None
    for _ in range(tuning.PROVING_STEPS_MAX):
        if low is None:
            point = max(guess - step, 0.0)
            value = evaluator.delta(point)
            low = (point, value) if value.lower > delta else (0.0, None) if point == 0.0 else None
        if high is None:
            point = guess + step
            value = evaluator.delta(point)
            high = (point, value) if value.upper <= delta else (ceiling, None) if point >= ceiling else None
        if low is not None and high is not None:
            return Inverse(low[0], high[0], low[1], high[1])
        step *= 4.0
    return None


def _gaussian_hockey_stick(epsilon: arb, variance: arb) -> tuple[arb, arb]:
    """H(e^eps) of the Gaussian with this variance, Phi(a) - e^eps Phi(a - mu) at a = mu/2 - eps/mu, and the latter."""
    if variance.is_zero():
        falling = epsilon.exp() if epsilon < 0 else arb(0)
        return (-epsilon.expm1()).max(arb(0)), falling
    mu = variance.sqrt()
    a, root = mu / 2 - epsilon / mu, arb(2).sqrt()
    falling = epsilon.exp() * erfc((mu - a) / root) / 2
    return erfc(-a / root) / 2 - falling, falling


def _log_most(atom: Outcome, epsilon: arb) -> float:
    """At or above log of an atom's part of delta: H(e^eps) <= e^(-z^2/2), z = eps/mu - mu/2 >= 0, and H <= 1."""
    above = epsilon - atom.loss - atom.variance / 2
    if not above > 0:
        return upper_float(atom.mass.log())
    if atom.variance.is_zero():
        return -math.inf  # it does not lose epsilon
    return upper_float(atom.mass.log() - above * above / (2 * atom.variance))


def _rough(epsilon: float, mu: float) -> float:
    """Phi(a) in plain floats, above the profile by at most a factor of mu + 1 or so."""
    if mu == 0.0:
        return max(-math.expm1(min(epsilon, 1.0)), 0.0)
    return 0.5 * math.erfc((epsilon / mu - mu / 2.0) / math.sqrt(2.0))


TINIEST_DELTA = 5e-324


@dataclass(frozen=True)
class SomeUse(Evaluator):
    """delta between 0 and the union bound."""

    arithmetic = "ball"
    parameters = FrozenMapping({"way": "union bound"})
    terms: tuple[Term, ...]

    def delta(self, epsilon: float) -> Evaluation:
        uses = sum(count for _, count in self.terms)
        with working_precision(BITS_START):
            share = arb(epsilon) / uses
            most = sum((count * pair.ball_tails(share).p_above for pair, count in self.terms), arb(0))
            upper = min(upper_float(most), 1.0)
        return Evaluation(0.0, upper, ErrorBreakdown(error_lines(truncation=upper), error_lines()))


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float,
    proof: bool = False,
) -> Evaluator:
    """An evaluator for one direction and one question; a refusal takes a millisecond."""
    if any(sampling_of(pair) is not None for pair, _ in terms):
        use = SomeUse(tuple(terms))
        if epsilon is not None and epsilon > 0.0 and use.delta(epsilon).upper <= TINIEST_DELTA:
            return use
    try:
        return prepare_visible(terms, epsilon, delta, accuracy)
    except UnsupportedMechanism:
        if proof:
            raise

    asked = CutQuestion.of(terms)
    asked.check_short()

    return cut.prepare(asked, epsilon, delta, accuracy)
