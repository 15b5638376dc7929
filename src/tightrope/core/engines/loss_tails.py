"""Tails of the loss of a composition: P[l > t] and P[l <= t] at any real t, in one direction.

From the sharpest on: nothing beyond the ends of the losses; the tails of one pair, where the composition is one; a
formula in balls; secants of what the engines say, of (P, Q) for t >= 0 and of (Q, P) for t < 0, whose loss is -l.
Guarantee: lower <= P[l > t] <= upper. Where the loss t has mass of its own and cannot be told from t, the interval
holds P[l >= t] too. Proof: docs/proofs/loss.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from flint import arb

from ..losses.atoms import SumLattice, sum_lattice
from ..losses.operators.poisson import sampled_once
from ..losses.operators.registered import has_bracket_only
from ..losses.pair import Pair, Tailed
from ..numerics import fp_environment
from ..numerics.balls import BITS_START, enclose, integer, lower_float, upper_float, working_precision
from ..numerics.rounding import next_down, next_up
from ..values import compute_budget
from ..values.bound import ErrorBreakdown, error_lines
from ..values.errors import InvalidParameter, Refusal, UnsupportedMechanism, WorkExhausted, agreed
from ..values.question import AUTO, Question
from . import fallback_bounds, tuning
from .loss_extremes import EXTREME_BITS, loss_extremes
from .planner import Answer, Point, answered, demand_normal, exact, nothing_known
from .selection import (
    CLOSED_FORM,
    ENGINE_NAMES,
    FALLBACK,
    BallFormula,
    Candidate,
    Engine,
    Evaluation,
    Evaluator,
    Promise,
    Term,
    candidates,
)
from .tuning import CELL_BITS_MAX, RATIO_BITS_MAX

# Between two neighbours of a lattice there is no loss: the cell that a number lies in.
#
# Losses are l_n = base + n step (losses/atoms.py). With l_n <= t < l_(n+1), P[l > t] = P[l > x] for every x in
# [l_n, l_(n+1)): whatever is read inside the cell is the tail at t, also where t is a loss itself.
# Guarantee: exact; None where the cell is not known. A logarithm of a rational number other than 1 is no rational
# number
# (Lindemann 1882), so t is a point of a lattice of logarithms only where these cancel, which is decided in rationals.
# Proof: docs/proofs/loss.md, section 3.

Cell = tuple[float, float]


def cell_of(terms: Sequence[Term], t: float) -> Cell | None:
    """Doubles a < b with l_n <= a, b <= l_(n+1) and l_n <= t < l_(n+1); None where none are known."""
    lattice = sum_lattice([(pair.lattice(), count) for pair, count in terms])
    place = None if lattice is None else place_of(lattice, t)
    if lattice is None or place is None:
        return None
    with working_precision(CELL_BITS_MAX):
        low, high = (lattice.base() + (place + more) * lattice.step.ball() for more in (0, 1))
        a, b = upper_float(low), lower_float(high)
    return (a, b) if a < b else None


def place_of(lattice: SumLattice, t: float) -> int | None:
    """The n with l_n <= t < l_(n+1)."""
    if not lattice.factors and not lattice.step.logarithm:
        return math.floor((Fraction(t) - lattice.shift) / lattice.step.number)
    bits = BITS_START
    while True:
        with working_precision(bits):
            steps = (arb(t) - lattice.base()) / lattice.step.ball()
            low, high = integer(steps.lower().floor()), integer(steps.upper().floor())
            if low is not None and low == high:
                return low
            if bits >= CELL_BITS_MAX:
                break
        bits *= 2
    return high if high is not None and _is_point(lattice, Fraction(t), high) else None


def _is_point(lattice: SumLattice, t: Fraction, place: int) -> bool:
    """Whether t is the point of this place, for certain: the logarithms cancel, and the rest is t."""
    powers, rest = list(lattice.factors), t - lattice.shift
    if lattice.step.logarithm:
        powers.append((lattice.step.number, place))
    else:
        rest -= place * lattice.step.number
    return rest == 0 and _is_one(powers)


def _is_one(powers: Sequence[tuple[Fraction, int]]) -> bool:
    """Whether the product of number^power is 1; False where that takes too many digits to say."""
    shared = math.gcd(*(power for _, power in powers))
    if shared == 0:
        return True
    reduced = [(number, power // shared) for number, power in powers]  # a positive root of 1 is 1
    length = sum((x.numerator.bit_length() + x.denominator.bit_length()) * abs(power) for x, power in reduced)
    return length <= RATIO_BITS_MAX and math.prod((x**power for x, power in reduced), start=Fraction(1)) == 1


# Tails from secants of the profile, which is convex.
#
# G(u) = u H(1/u) = E_Q[(u e^l - 1)_+] + u P[l = inf] is convex, with the slopes P[l > t] on the left of u = e^-t and
# P[l >= t] on its right. So for x < y
#     P[l >= y] <= S(x, y) <= P[l > x],   S(x, y) = (H(e^x) - e^(x - y) H(e^y)) / (1 - e^(x - y)),
# and likewise for the second law, H itself being convex in alpha:
#     Q[l >= y] <= S'(x, y) <= Q[l > x],  S'(x, y) = (H(e^x) - H(e^y)) / (e^y - e^x).
# P[l > t] and P[l >= t] both lie between S(t, t + h) and S(t - h, t): where t has mass of its own, that is their hull.
# Guarantee: lower and upper, whatever bounds H and however far h is. Proof: docs/proofs/loss.md, section 1.

NOTHING = Evaluation(0.0, 1.0, ErrorBreakdown())


def between(evaluator: Evaluator, t: float, reach: float, accuracy: float, second: bool) -> Evaluation:
    """The tail at t, between secants on both sides of it, no further to the left than reach."""
    right, left = _best(evaluator, t, math.inf, accuracy, second), _best(evaluator, t, -reach, accuracy, second)
    # A secant that ends far away is H itself, which is at most the tail of the first law.
    lower, upper = right.lower, left.upper
    if not second and lower < tuning.POOR * upper:
        lower = max(lower, evaluator.delta(t).lower)
    above, below = (_with_rest(lines, upper - lower) for lines in (left.budget.upper, right.budget.lower))
    return Evaluation(
        *agreed(lower, upper, "secants to the right", "secants to the left"), ErrorBreakdown(above, below)
    )


def inside(evaluator: Evaluator, cell: Cell, second: bool) -> Evaluation:
    """The tail in a cell without a loss, 0 <= a < b: there secants are tangents."""
    a, b = cell
    ends = [b, *(a + step for step in tuning.CELL_STEPS if a < a + step < b)]
    found = [evaluator.secant(a, end, second) for end in ends]
    best = min(found, key=_width)
    lower, upper = max(evaluation.lower for evaluation in found), min(evaluation.upper for evaluation in found)
    return Evaluation(*agreed(lower, upper, "one secant", "another secant"), best.budget)


def _best(evaluator: Evaluator, t: float, reach: float, accuracy: float, second: bool) -> Evaluation:
    """The secant from t on whose end is best, to the right for reach > 0, else to the left and no further than that."""
    best, least = NOTHING, max(tuning.STEP_MIN * abs(t), tuning.DISTANCE_MIN)
    with suppress(WorkExhausted):  # what was found holds
        at = evaluator.quickly(t)
        noise = (at.upper - at.lower) / at.upper if at.upper > 0.0 else 1.0
        step = math.sqrt(max(noise, tuning.NOISE_MIN))
        for _ in range(tuning.TRIES):
            step = _power_of_two(min(max(step, least), abs(reach), tuning.STEP_MAX))
            x, y = (t, t + step) if reach > 0.0 else (t - step, t)
            if not x < y:
                break
            evaluation = evaluator.secant(x, y, second)
            if evaluation.lower > best.lower if reach > 0.0 else evaluation.upper < best.upper:
                best = evaluation
            noise, slope = _width(evaluation), _curvature(evaluator, x, y, second, evaluation)
            if noise + slope <= tuning.NARROW * accuracy * (evaluation.lower + noise / 2.0):
                break
            step *= min(max(math.sqrt(noise / slope), 1.0 / 64.0), 64.0) if noise > 0.0 < slope else 0.125
    return best


def _power_of_two(step: float) -> float:
    """At or below the step: so t - step and t + step are doubles, mostly."""
    return math.ldexp(1.0, math.frexp(step)[1] - 1)


def _curvature(evaluator: Evaluator, x: float, y: float, second: bool, evaluation: Evaluation) -> float:
    """About how much the slope changes from x to y: what the half nearer to x tells less of."""
    half = x + (y - x) / 2.0
    if not x < half < y:
        return 0.0
    nearer = evaluator.secant(x, half, second)
    return 2.0 * abs(nearer.middle - evaluation.middle)


def _width(value: Evaluation) -> float:
    return value.upper - value.lower


def _with_rest(lines: Mapping[str, float], width: float) -> Mapping[str, float]:
    """The lines of H, and what the distance of the secants adds to them."""
    rest = max(width - sum(lines.values()), 0.0)
    return error_lines(**{**lines, "discretisation": lines["discretisation"] + rest})


def in_balls(formula: BallFormula, t: float, cell: Cell | None, below: bool) -> Evaluation:
    """P[l > t], or P[l <= t], from a formula for H in balls, at any real t: as sharp as precision makes it."""
    bits = tuning.BITS_FIRST
    while True:
        with working_precision(bits):
            value = _hull(formula, arb(t), None if cell is None else (arb(cell[0]), arb(cell[1])), bits)
            value = 1 - value if below else value
            if bits >= tuning.BITS_LAST or (value.is_finite() and value.rel_accuracy_bits() >= tuning.BITS_TOLD):
                low, high = max(lower_float(value), 0.0), min(upper_float(value), 1.0)
                lines = error_lines(rounding=high - low)
                return Evaluation(*agreed(low, high, "a tail", "the same tail"), ErrorBreakdown(lines, lines))
        bits *= 2


def _hull(formula: BallFormula, t: arb, cell: tuple[arb, arb] | None, bits: int) -> arb:
    """A ball around P[l > t]; outside of a cell around P[l >= t] too."""
    if cell is not None:
        return _secant_ball(formula, cell[0], cell[1])
    step = arb(2) ** -(bits // 4)
    return _secant_ball(formula, t, t + step).union(_secant_ball(formula, t - step, t))


def _secant_ball(formula: BallFormula, x: arb, y: arb) -> arb:
    return (formula.ball(x) - (x - y).exp() * formula.ball(y)) / -(x - y).expm1()


Terms = tuple[Term, ...]


class Wish(NamedTuple):
    """When an answer is good enough: as narrow as this, or told from a level (P[l <= t] >= p, or < p).

    enough: a width that will do, however small the tail is. again: nothing is prepared where something is.
    """

    accuracy: float
    level: float | None = None
    complemented: bool = False
    enough: float = 0.0
    again: bool = False

    def met(self, answer: Answer) -> bool:
        """Whether it is."""
        if answer.width <= self.enough or answer.meets(self.accuracy, "delta"):
            return True
        if self.level is None:
            return False
        answer = complement(answer) if self.complemented else answer
        return answer.lower >= self.level or answer.upper < self.level


@dataclass(frozen=True)
class Enclosed(Evaluator):
    """H between that of a composition which this one dominates, and that of one which dominates it."""

    below: Evaluator
    above: Evaluator

    @property
    def arithmetic(self) -> str:
        return self.above.arithmetic

    @property
    def parameters(self) -> Mapping[str, object]:
        return self.above.parameters

    def delta(self, epsilon: float) -> Evaluation:
        return self._met(self.below.delta(epsilon), self.above.delta(epsilon))

    def quickly(self, epsilon: float) -> Evaluation:
        return self._met(self.below.quickly(epsilon), self.above.quickly(epsilon))

    @staticmethod
    def _met(low: Evaluation, high: Evaluation) -> Evaluation:
        ends = agreed(low.lower, high.upper, "the lower rate", "the higher rate")
        return Evaluation(*ends, ErrorBreakdown(high.budget.upper, low.budget.lower))


@dataclass(frozen=True)
class Mirrored(Evaluator):
    """H at every real epsilon: below 0 from the pair (Q, P), whose H' has H(e^x) = 1 - e^x + e^x H'(e^-x)."""

    ahead: Evaluator
    behind: Evaluator

    @property
    def arithmetic(self) -> str:
        return self.ahead.arithmetic

    @property
    def parameters(self) -> Mapping[str, object]:
        return self.ahead.parameters

    def delta(self, epsilon: float) -> Evaluation:
        return self.ahead.delta(epsilon) if epsilon >= 0.0 else self._over(epsilon, self.behind.delta(-epsilon))

    def quickly(self, epsilon: float) -> Evaluation:
        return self.ahead.quickly(epsilon) if epsilon >= 0.0 else self._over(epsilon, self.behind.quickly(-epsilon))

    @staticmethod
    def _over(epsilon: float, evaluation: Evaluation) -> Evaluation:
        with working_precision(BITS_START):
            share, rest = arb(epsilon).exp(), -arb(epsilon).expm1()
            low, high = (
                lower_float(rest + share * arb(evaluation.lower)),
                upper_float(rest + share * arb(evaluation.upper)),
            )
        return Evaluation(max(low, 0.0), min(high, 1.0), evaluation.budget)

    def tail(self, t: float) -> Evaluation | None:
        return self.ahead.tail(t)

    def secant(self, x: float, y: float, second: bool) -> Evaluation:
        if x >= 0.0 or second:
            return self.ahead.secant(x, y, second)
        if y > 0.0:  # the longer part: what it says lies between the same two tails
            return self.secant(0.0, y, second) if y > -x else self.secant(x, 0.0, second)
        evaluation = self.behind.secant(-y, -x, True)
        low, high = rest_of(evaluation.upper, up=False), rest_of(evaluation.lower, up=True)
        return Evaluation(low, high, ErrorBreakdown(evaluation.budget.lower, evaluation.budget.upper))


class SecantSide:
    """Secants of one order of the pair: (P, Q), or (Q, P) where `second`; what was prepared serves the next if it can.

    mirror: the terms of the other order. unfinished: time or memory ended an engine; skipped: those that were not
    expected to pay.
    """

    def __init__(self, terms: Terms, mirror: Terms, question: Question, second: bool) -> None:
        self.terms, self.second, self._mirror = terms, second, mirror
        self.proof, self.auto = question.proof or not fp_environment.trusted(), question.engine_name == AUTO
        self._settings = question.settings
        self.rungs = candidates(question.engine_name, any(has_bracket_only(pair) for pair, _ in terms), self.proof)
        self._last: tuple[Candidate, Evaluator] | None = None
        self.unfinished = False
        self.skipped: set[Engine] = set()

    def tail(self, s: float, cell: Cell | None, wish: Wish) -> Answer:
        """The first law's P[l > s], or the second's; in the cell where there is one, else s >= 0 or next to it."""
        best = self._again(s, cell, wish)
        if best is not None and (wish.again or wish.met(best)):
            return best
        refusals: list[UnsupportedMechanism] = []
        for candidate in self.rungs:
            try:
                with (
                    compute_budget.part(1.0 if candidate is self.rungs[-1] else compute_budget.ENGINE_SHARE),
                    candidate.running(),
                ):
                    with compute_budget.part(tuning.PREPARE_SHARE):
                        evaluator = self._prepared(candidate, s, cell, wish)
                    answer = self._read(candidate, evaluator, s, cell, wish)
            except UnsupportedMechanism as refusal:
                if refusal.kind is Refusal.TOO_MUCH_WORK:
                    self.skipped.add(candidate.engine)
                refusals.append(refusal)
                continue
            except OverflowError:
                refusals.append(UnsupportedMechanism("its numbers leave the range of float64", Refusal.NEEDS_BALLS))
                continue
            except WorkExhausted:
                self.unfinished = True
                continue
            best = answer if best is None else common(best, answer)
            if wish.met(best):
                return best
        if best is not None:
            return best
        if refusals and not (self.auto or self.unfinished):
            raise refusals[-1]
        return self._fall_back(s, cell, wish)

    def _again(self, s: float, cell: Cell | None, wish: Wish) -> Answer | None:
        """What the evaluator that served last says here."""
        if self._last is None or not self._last[0].sound:
            return None
        if _next_to_zero(s, cell) and not isinstance(self._last[1], Mirrored):
            return None
        with suppress(UnsupportedMechanism, OverflowError, WorkExhausted), self._last[0].running():
            return self._read(*self._last, s, cell, wish)
        return None

    def _prepared(self, candidate: Candidate, s: float, cell: Cell | None, wish: Wish) -> Evaluator:
        """An engine's evaluator, sharper than what is read off it: secants have half of its digits."""
        least = tuning.SHARP_GRID if candidate.engine.promises(Promise.FLOAT_GRID) else tuning.SHARP_MIN
        sharp = max(wish.accuracy if candidate.engine.promises(Promise.SECANTS) else wish.accuracy**2 / 16.0, least)
        law: dict[str, object] = {"accuracy": sharp, **self._settings}
        own, other = (
            {**law, "second": each} if candidate.engine.promises(Promise.SECANTS) else law
            for each in (self.second, not self.second)
        )
        evaluator = _prepared(candidate, self.terms, max(s, 0.0), own)
        if _next_to_zero(s, cell):
            evaluator = Mirrored(evaluator, _prepared(candidate, self._mirror, max(-s, 0.0), other))
        self._last = candidate, evaluator
        return evaluator

    def _read(self, candidate: Candidate, evaluator: Evaluator, s: float, cell: Cell | None, wish: Wish) -> Answer:
        own = evaluator.tail(s) if s >= 0.0 and not self.second else None
        if own is not None:
            answer = answered(candidate, evaluator, own.lower, own.upper, own.budget)
            return replace(answer, reason=f"{answer.reason}; the tail itself")
        if cell is None:
            reach = math.inf if isinstance(evaluator, Mirrored) else s
            value = between(evaluator, s, reach, wish.accuracy, self.second)
        else:
            value = inside(evaluator, cell, self.second)
        answer = answered(candidate, evaluator, value.lower, value.upper, value.budget)
        return replace(answer, reason=f"{answer.reason}; the tail by secants of the profile")

    def _fall_back(self, s: float, cell: Cell | None, wish: Wish) -> Answer:
        """Moments and events, where no engine came to an end."""
        candidate = Candidate(FALLBACK, "ball" if self.proof else "float64")
        with (
            compute_budget.grace(),
            suppress(UnsupportedMechanism, OverflowError, WorkExhausted),
            candidate.running(),
        ):
            made = [fallback_bounds.prepare(terms, proof=self.proof) for terms in (self.terms, self._mirror)]
            return self._read(candidate, Mirrored(*made) if _next_to_zero(s, cell) else made[0], s, cell, wish)
        return _anything(s)


def _next_to_zero(s: float, cell: Cell | None) -> bool:
    """Whether secants need H on both sides of 0."""
    return cell is None and s < tuning.LOSS_NEAR_ZERO


def _prepared(candidate: Candidate, terms: Terms, epsilon: float, settings: Mapping[str, object]) -> Evaluator:
    """An evaluator; of samples of samples between those of the two rates that one sample may have."""
    ends = dict.fromkeys(tuple((sampled_once(pair)[end], count) for pair, count in terms) for end in (0, 1))
    made = [candidate.prepare(end, math.inf, epsilon=epsilon, delta=None, **settings) for end in ends]
    return made[0] if len(made) == 1 else Enclosed(*made)


def common(one: Answer, other: Answer) -> Answer:
    """What two intervals that both hold have in common, told by the narrower one."""
    narrow = min(one, other, key=lambda answer: answer.width)
    lower, upper = agreed(max(one.lower, other.lower), min(one.upper, other.upper))
    return replace(narrow, lower=lower, upper=upper)


class LossTails:
    """The loss of one direction of a composition."""

    def __init__(self, terms: Terms, question: Question) -> None:
        engine = question.engine_name
        if engine not in ENGINE_NAMES:
            raise InvalidParameter(f"engine must be one of {', '.join(ENGINE_NAMES)}, not {engine!r}")
        demand_normal(terms)
        self.terms, self._question = terms, question
        backward = tuple((pair.reversed(), count) for pair, count in terms)
        self.edges, self._mirror = loss_extremes(terms), loss_extremes(backward)
        self._infinite = min(max(lower_float(self.edges.mass), 0.0), 1.0)
        self._first, self._second = (
            SecantSide(terms, backward, question, False),
            SecantSide(backward, terms, question, True),
        )
        self._formula = _formula(terms) if engine in (AUTO, CLOSED_FORM.name) else None

    @property
    def skipped(self) -> set[Engine]:
        """The engines that were not expected to pay."""
        return self._first.skipped | self._second.skipped

    @property
    def sharp(self) -> bool:
        """Whether tails end where doubles do."""
        return self._formula is not None

    @property
    def reach(self) -> float:
        """No loss is below minus this."""
        return upper_float(self._mirror.supremum)

    def tail(self, t: float, below: bool, wish: Wish) -> Answer:
        """P[l > t], or P[l <= t] where `below`."""
        try:
            return self._tail(t, below, wish)
        except WorkExhausted:
            return self._within(_anything(t), below)

    def _tail(self, t: float, below: bool, wish: Wish) -> Answer:
        if math.isinf(t):
            share = arb((t > 0.0) == below)
            return exact(share, share, "no loss is beyond inf" if t > 0.0 else "no loss is -inf")
        with working_precision(EXTREME_BITS):
            if self.edges.supremum <= t:
                mass = 1 - self.edges.mass if below else self.edges.mass
                return exact(mass, mass, "at or above every finite loss", most=1.0)
            if arb(t) < -self._mirror.supremum:
                return exact(arb(not below), arb(not below), "below every loss")
        cell = cell_of(self.terms, t)
        if self._formula is not None:
            with suppress(UnsupportedMechanism):
                return self._exactly(t, cell, below)
        return self._within(self._searched(t, cell, below, wish), below)

    def _exactly(self, t: float, cell: Cell | None, below: bool) -> Answer:
        """By the tails of a pair, or a formula of H, in balls."""
        formula = self._formula
        if isinstance(formula, Tailed):
            at = t if cell is None else cell[0] + (cell[1] - cell[0]) / 2.0
            low, high = enclose(partial(_pair_tail, formula, at, below))
            low, high = max(low, 0.0), min(high, 1.0)
            lines = error_lines(rounding=high - low)
            ends = agreed(low, high, "the tail of a pair", "the same tail")
            return Answer(*ends, CLOSED_FORM, "ball", "one pair is all of it", {}, ErrorBreakdown(lines, lines))
        assert formula is not None
        value = in_balls(formula, t, cell, below)
        return answered(Candidate(CLOSED_FORM, "ball"), formula, value.lower, value.upper, value.budget)

    def _searched(self, t: float, cell: Cell | None, below: bool, wish: Wish) -> Answer:
        """By secants on the side that t is on; next to 0 those of the first law reach over to the other."""
        if cell[1] <= 0.0 if cell is not None else t <= -tuning.LOSS_NEAR_ZERO:
            answer = self._second.tail(-t, None if cell is None else (-cell[1], -cell[0]), wish)
            return answer if below else complement(answer)
        wish = wish._replace(complemented=True)
        answer = self._first.tail(t, None if cell is None else (max(cell[0], 0.0), cell[1]), wish)
        return complement(answer) if below else answer

    def _within(self, answer: Answer, below: bool) -> Answer:
        """Infinite losses are above every t."""
        low, high = (0.0, rest_of(self._infinite, up=True)) if below else (self._infinite, 1.0)
        lower, upper = agreed(
            max(answer.lower, low), min(answer.upper, high), "a tail", "the infinite losses beyond it"
        )
        return _rounded(replace(answer, lower=lower, upper=upper))


def _anything(t: float) -> Answer:
    lines = error_lines(truncation=1.0)
    return replace(nothing_known(Point("pdp", t)), budget=ErrorBreakdown(lines, lines))


def _rounded(answer: Answer) -> Answer:
    """What no line of the budget names is the rounding of tails to doubles."""
    above, below = answer.budget.upper, answer.budget.lower
    rest = answer.width - sum(above.values()) - sum(below.values())
    if not rest > 0.0:
        return answer
    made = (error_lines(**{**side, "rounding": next_up(side["rounding"] + rest)}) for side in (above, below))
    return replace(answer, budget=ErrorBreakdown(*made))


def complement(answer: Answer) -> Answer:
    """1 minus it."""
    low, high = rest_of(answer.upper, up=False), rest_of(answer.lower, up=True)
    return replace(answer, lower=low, upper=high, budget=ErrorBreakdown(answer.budget.lower, answer.budget.upper))


def rest_of(share: float, up: bool) -> float:
    """1 - share rounded to a side, for a share in [0, 1]; from 1/2 on it is a double."""
    rest = 1.0 - share
    if share >= 0.5 or share == 0.0:
        return rest
    return min(next_up(rest), 1.0) if up else next_down(rest)


def _pair_tail(pair: Tailed, t: float, below: bool) -> arb:
    tails = pair.ball_tails(arb(t))
    return tails.p_below if below else tails.p_above


def _formula(terms: Terms) -> Tailed | BallFormula | None:
    """What knows the tails of the composition, or a formula for its profile in balls; None where there is neither."""
    one = terms[0][0] if len(terms) == 1 and terms[0][1] == 1 else terms[0][0].compose_exact(terms)
    if isinstance(one, Pair) and not has_bracket_only(one):
        return one
    with suppress(UnsupportedMechanism):
        made = Candidate(CLOSED_FORM, "ball").prepare(terms, math.inf)  # refuses what takes too many terms
        return one if isinstance(one, Tailed) else made if isinstance(made, BallFormula) else None
    return None
