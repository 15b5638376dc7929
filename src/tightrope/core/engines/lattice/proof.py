"""The lattice in exact integers: masses from balls, products of integer polynomials, every rounding to one side.

Laws are those of proof.py: neither tilt, nor window, nor wrap-around, nor transform error. float64 chooses the grid and
nothing else.
Guarantee: upper and lower, by construction. Proof: docs/proofs/lattice.md, lemmas 1, 2 and 10.
Reference: Meiser, Mohammadi 2018, Def. 3 to 5 (buckets); Johansson 2017 (balls).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import TypeVar

from flint import arb, fmpz, fmpz_poly

from ...losses.pair import Pair
from ...numerics.balls import integer, lower_float, upper_float, working_precision
from ...numerics.enclosures import FloatArray
from ...numerics.rounding import round_down, round_up
from ...values import compute_budget
from ...values.bound import ErrorBreakdown, error_lines
from ...values.errors import Refusal, UnsupportedMechanism
from .. import tuning
from ..loss_extremes import leaked
from ..selection import Evaluation, Evaluator, Term
from . import grid as lattice_masses
from .grid_plan import Aim, GridPlan, GridWish, plan

# Laws on an even grid in whole numbers: nothing cancels, no transform adds noise, and every rounding has its side.
#
# Entry i of a law has the mass masses_i / 2^bits at the label (start + i) h. A WholeUpper dominates: its top goes to
# infinite loss, its bottom moves up, products are rounded up. WholeCells speak of events "sum of labels >= c": P is
# rounded down, Q up, and labels may be merged. Masses come from float64 with its radius, or from balls.
# Guarantee: every function here keeps the side. Proof: docs/proofs/joint.md, section 3, and docs/proofs/lattice.md,
# lemmas 1 to 3 and 10.
# Reference: Meiser, Mohammadi 2018, Def. 3 to 5 and 8 (buckets, squaring); Johansson 2017 (balls).

GUARD_BITS = 64
ENTRY_UNITS = 32.0  # roundings of one entry in float64: a difference of tails, and this factor

Masses = list[fmpz]


@dataclass(frozen=True, slots=True)
class WholeUpper:
    """A law that dominates, and its mass of infinite loss."""

    masses: Masses
    start: int
    infinite: int

    def times(self, other: WholeUpper, bits: int, cut: int) -> WholeUpper:
        """Both together; what holds at most the cut leaves at either end."""
        masses = [-(-value >> bits) for value in _product(self.masses, other.masses, bits)]
        start = self.start + other.start
        infinite = self.infinite + other.infinite - (self.infinite * other.infinite >> bits)
        top = len(masses) - _light(reversed(masses), cut)
        if top == 0:
            return WholeUpper(masses, start, infinite)  # a cut larger than the law must not lose it
        infinite += int(sum(masses[top:], fmpz(0)))
        bottom = min(_light(masses[:top], cut), top - 1)
        first = sum(masses[: bottom + 1], fmpz(0))
        return WholeUpper([first, *masses[bottom + 1 : top]], start + bottom, infinite)

    def coarser(self, step: float, bits: int) -> WholeUpper:
        """Every second label goes; its mass is split between its neighbours so that P and Q are both kept."""
        scale, fall = arb(2) ** bits, (-arb(step)).exp()
        left, right = above(scale * fall / (1 + fall)), above(scale / (1 + fall))
        lead = self.start % 2
        masses = [fmpz(0)] * ((len(self.masses) + lead) // 2 + 1)
        for index, mass in enumerate(self.masses, start=lead):
            if index % 2:
                masses[index // 2] += -(-mass * left >> bits)
                masses[index // 2 + 1] += -(-mass * right >> bits)
            else:
                masses[index // 2] += mass
        return WholeUpper(masses, (self.start - lead) // 2, self.infinite)


@dataclass(frozen=True, slots=True)
class WholeCells:
    """P-masses rounded down and Q-masses rounded up, on the same labels."""

    p: Masses
    q: Masses
    start: int

    def times(self, other: WholeCells, bits: int, cut: int) -> WholeCells:
        """Both together, without the ends where P is light: what Q has at the top stays above every label."""
        p = [value >> bits for value in _product(self.p, other.p, bits)]
        q = [-(-value >> bits) for value in _product(self.q, other.q, bits)]
        size, start = max(len(p), len(q)), self.start + other.start
        p, q = p + [fmpz(0)] * (size - len(p)), q + [fmpz(0)] * (size - len(q))  # a polynomial forgets zeros at its end
        bottom, top = _light(p, cut), size - _light(reversed(p), cut)
        if bottom >= top:
            return WholeCells(p, q, start)
        q[top - 1] = sum(q[top - 1 :], fmpz(0))
        return WholeCells(p[bottom:top], q[bottom:top], start + bottom)

    def coarser(self, step: float, bits: int) -> WholeCells:
        """Two labels become one; P and Q alike."""
        lead = self.start % 2
        p, q = ([fmpz(0)] * lead + column + [fmpz(0)] for column in (self.p, self.q))
        p, q = ([a + b for a, b in zip(values[::2], values[1::2], strict=False)] for values in (p, q))
        return WholeCells(p, q, (self.start - lead) // 2)


L = TypeVar("L", WholeUpper, WholeCells)


def power(law: L, uses: int, bits: int, cut: int, result: L | None = None) -> L:
    """So many uses by squaring, beside a result; a law that will be used m times may lose a share of 1/m of the cut."""
    while True:
        if uses & 1:
            result = law if result is None else result.times(law, bits, max(cut // 64, 1))
        uses >>= 1
        if not uses:
            assert result is not None
            return result
        law = law.times(law, bits, max(cut // (64 * uses), 1))


def together(laws: Sequence[L], bits: int, cut: int) -> L:
    """One use of each."""
    return reduce(lambda one, other: one.times(other, bits, cut), laws)


def float_upper(pair: Pair, points: FloatArray, step: float, start: int, median: float, bits: int) -> WholeUpper:
    """Chords on the points, which are (start + i) step exactly, in float64."""
    found = lattice_masses.masses_above(pair, points, step, median)
    entries = round_up(found.masses, ENTRY_UNITS)
    return WholeUpper([_float_above(entry, bits) for entry in entries], start, int(_float_above(found.infinite, bits)))


def ball_upper(pair: Pair, points: FloatArray, step: float, start: int, bits: int) -> WholeUpper:
    """The same in balls: the mass from l_i on is H_i + (H_(i-1) - H_i) / (1 - e^-h), one before the first point."""
    scale, span = arb(2) ** bits, -(-arb(step)).expm1()
    profile = [pair.ball_hockey_stick(arb(point)) for point in _paid(points, bits)]
    tails = [arb(1), *(here + (before - here) / span for before, here in pairwise(profile)), profile[-1]]
    masses = [fmpz(max(above((here - after) * scale), 0)) for here, after in pairwise(tails)]
    return WholeUpper(masses, start, max(above(profile[-1] * scale), 0))


def float_cells(pair: Pair, points: FloatArray, step: float, start: int, bits: int) -> WholeCells:
    """Merged cells around the points in float64; the outer ones reach to the ends of the finite losses."""
    found = lattice_masses.masses_below(pair, points, step)
    p, q = round_down(found.p, ENTRY_UNITS), round_up(found.q, ENTRY_UNITS)
    return WholeCells([_float_below(each, bits) for each in p], [_float_above(each, bits) for each in q], start)


def ball_cells(pair: Pair, points: FloatArray, step: float, start: int, bits: int) -> WholeCells:
    """The same in balls."""
    scale, half, leaked = arb(2) ** bits, arb(step) / 2, pair.infinite_mass()
    tails = [pair.ball_tails(arb(point) - half) for point in _paid(points[1:], bits)]
    p = [1 - leaked, *(tail.p_above - leaked for tail in tails), arb(0)]
    q = [1 - pair.reversed().infinite_mass(), *(tail.q_above for tail in tails), arb(0)]
    return WholeCells(
        [fmpz(max(below((here - after) * scale), 0)) for here, after in pairwise(p)],
        [fmpz(max(above((here - after) * scale), 0)) for here, after in pairwise(q)],
        start,
    )


def _paid(points: FloatArray, bits: int) -> Iterator[float]:
    """The points, each when there is work left for masses in balls there."""
    units = 0.5 * tuning.MASS_SECONDS * (1.0 + bits / 512.0) * compute_budget.UNITS_PER_SECOND
    for place, point in enumerate(points.tolist()):
        if place % tuning.PAID_AT_ONCE == 0:
            compute_budget.spend(units * min(tuning.PAID_AT_ONCE, len(points) - place))
        yield point


def _product(one: Masses, other: Masses, bits: int) -> Masses:
    """Exact, in units of 2^-2 bits; paid before it is made."""
    length = len(one) + len(other)
    if length > tuning.WHOLE_LENGTH_MAX:
        raise UnsupportedMechanism("its law in whole numbers needs too long a grid", Refusal.TOO_MUCH_WORK)
    compute_budget.hold(length * (bits / 2.0 + 64.0))
    compute_budget.spend(
        length * (tuning.LIMB_SECONDS * bits / 64.0 + tuning.COEFFICIENT_SECONDS) * compute_budget.UNITS_PER_SECOND
    )
    left = fmpz_poly(one)
    return (left * (left if other is one else fmpz_poly(other))).coeffs()


def _light(masses: Iterable[fmpz], cut: int) -> int:
    """How many of the first entries hold at most the cut together."""
    total, size = fmpz(0), 0
    for mass in masses:
        total += mass
        if total > cut:
            break
        size += 1
    return size


def _float_above(value: float, bits: int) -> fmpz:
    numerator, denominator = float(value).as_integer_ratio()
    return fmpz(-(-(numerator << bits) // denominator))


def _float_below(value: float, bits: int) -> fmpz:
    numerator, denominator = float(value).as_integer_ratio()
    return fmpz((numerator << bits) // denominator)


def above(ball: arb) -> int:
    """The least whole number at or above."""
    return _known(integer(ball.upper().ceil()))


def below(ball: arb) -> int:
    """The largest whole number at or below."""
    return _known(integer(ball.lower().floor()))


def _known(number: int | None) -> int:
    if number is None:
        raise UnsupportedMechanism("its masses cannot be enclosed at this precision")
    return number


ODDS_BITS = 96  # e^eps, for the comparison of P and Q


@dataclass(frozen=True)
class ProofEvaluator(Evaluator):
    """The composed law above, the composed cells below."""

    arithmetic = "ball"
    above: WholeUpper
    below: WholeCells
    origin: int  # of the labels, in units of the plan
    leaked: int
    bits: int
    plan: GridPlan

    @property
    def parameters(self) -> Mapping[str, object]:
        length = len(self.above.masses)
        return {
            **self.plan.parameters,
            "bits": self.bits,
            "grids": [length],
            "length": length,
        }

    def delta(self, epsilon: float) -> Evaluation:
        lower, upper = self._lower(epsilon), self._upper(epsilon)
        lines = error_lines(discretisation=upper - lower)
        return Evaluation(lower, upper, ErrorBreakdown(lines, lines))

    def _upper(self, epsilon: float) -> float:
        """infinite + sum over l_j > eps of Y_j (1 - e^(eps - l_j)), in balls."""
        with working_precision(self.bits + 2 * GUARD_BITS):
            step = arb(self.plan.step)
            first = arb(self.origin) * arb(self.plan.unit) + self.above.start * step
            skipped = max(below((arb(epsilon) - first) / step), -1) + 1  # a label at eps itself adds nothing
            kept = self.above.masses[skipped:]
            ratio = (-step).exp()
            falling = arb(0)
            for mass in reversed(kept):
                falling = falling * ratio + mass
            away = (first + skipped * step - arb(epsilon)).max(arb(0))
            total = arb(self.above.infinite) + sum(kept, fmpz(0))
            return min(upper_float((total - (-away).exp() * falling) / arb(2) ** self.bits), 1.0)

    def _lower(self, epsilon: float) -> float:
        """The best suffix of P - e^eps Q in exact integers, e^eps rounded up."""
        with working_precision(self.bits + 2 * GUARD_BITS):
            # With odds of 2^(bits + 1) no event that has Q-mass counts, nor with larger ones.
            odds = above(arb(min(epsilon, self.bits + 1.0)).exp() * arb(2) ** ODDS_BITS)
            best = running = fmpz(0)
            for p, q in zip(reversed(self.below.p), reversed(self.below.q), strict=True):
                running += (p << ODDS_BITS) - odds * q
                best = max(best, running)
            value = arb(self.leaked) / arb(2) ** self.bits + arb(best) / arb(2) ** (self.bits + ODDS_BITS)
            return max(lower_float(value), 0.0)


def prepare_proof(terms: Sequence[Term], target: Aim) -> ProofEvaluator:
    """Masses in balls at as many bits as delta needs, then integers only."""
    uses = sum(count for _, count in terms)
    log_least = min(target.point.log_delta, 0.0) + math.log(min(target.wanted, 1.0)) - 10.0
    bits = math.ceil(-log_least / math.log(2.0)) + uses.bit_length() + GUARD_BITS
    made = _affordable(terms, replace(target, window=target.plain), bits)
    uppers, cells, origin = [], [], 0
    with working_precision(bits + 2 * GUARD_BITS):
        cut = max(below(arb(log_least).exp() * arb(2) ** bits) // (4 * len(terms)), 1)
        for (pair, count), ruler in zip(terms, made.rulers, strict=True):
            points = ruler.points(made.unit)
            uppers.append(power(ball_upper(pair, points, made.step, 0, bits), count, bits, cut))
            cells.append(power(ball_cells(pair, points, made.step, 0, bits), count, bits, cut))
            origin += count * ruler.start
        surely = max(below(leaked(terms) * arb(2) ** bits), 0)
        return ProofEvaluator(together(uppers, bits, cut), together(cells, bits, cut), origin, surely, bits, made)


def _affordable(terms: Sequence[Term], target: Aim, bits: int) -> GridPlan:
    """The finest grid that the time allows: so many limbs in each product, and masses in balls at every point."""
    limbs = bits / 64.0
    seconds = min(tuning.PROOF_SECONDS, tuning.PROOF_WORK * compute_budget.left() / compute_budget.UNITS_PER_SECOND)
    products = sum(
        3.0 * count.bit_length() * (tuning.LIMB_SECONDS * limbs + tuning.COEFFICIENT_SECONDS) for _, count in terms
    )
    most = int(min(max(seconds / products, 1 << 10), tuning.INTEGER_POINTS_MAX))
    wish = GridWish(evolving=False, points=most)
    made = plan(terms, target, wish)
    late = sum(ruler.size for ruler in made.rulers) * tuning.MASS_SECONDS * (1.0 + limbs / 8.0) / max(seconds, 1e-3)
    return made if late <= 1.0 else plan(terms, target, wish._replace(finer=1.0 / late))
