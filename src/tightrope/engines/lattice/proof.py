"""The lattice in exact integers: masses from balls, products of integer polynomials, every rounding to one side.

A law is a polynomial whose coefficients are masses in units of 2^-bits. Products are exact; dividing by 2^bits again is
rounded up for the law above and for Q, down for P. Ends that hold no more than a threshold are cut: above, the top
goes to infinite loss and the bottom moves up to the first entry kept; below, both are left out of the event, for P
and Q alike.
Neither tilt, nor window, nor wrap-around, nor transform error: float64 chooses the grid and nothing else.
Guarantee: upper and lower, by construction. Proof: docs/proofs/lattice.md, lemmas 1, 2 and 10.
Reference: Meiser, Mohammadi 2018, Def. 3 to 5 (buckets); Johansson 2017 (balls).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from flint import arb, fmpz, fmpz_poly

from ... import work
from ...bound import Budget, budget_lines
from ...errors import UnsupportedMechanism
from ...kernels.ball import integer, lower_float, upper_float, working_precision
from ...pair import Pair
from ..evaluation import Evaluation, Evaluator, Term
from . import tuning
from .aim import Aim
from .plan import GridPlan, GridWish, Ruler, plan

# Seconds for a proof, for a limb of a product, for a coefficient, for the masses of a point: they choose the grid only.
GUARD_BITS = 64
ODDS_BITS = 96  # e^eps, for the comparison of P and Q

L = TypeVar("L")


@dataclass(frozen=True)
class Whole:
    """Masses coefficients / 2^bits at the labels start + i step, and the mass of infinite loss."""

    masses: fmpz_poly
    start: int
    step: int
    infinite: int


@dataclass(frozen=True)
class GridCells:
    """P-masses rounded down and Q-masses rounded up, on the same labels."""

    p: fmpz_poly
    q: fmpz_poly
    start: int
    step: int


@dataclass(frozen=True)
class ProofEvaluator(Evaluator):
    """The composed law above, the composed cells below."""

    arithmetic = "ball"
    above: Whole
    below: GridCells
    leaked: int
    bits: int
    plan: GridPlan

    @property
    def parameters(self) -> Mapping[str, object]:
        length = self.above.masses.degree() + 1
        return {
            "step": self.plan.step,
            "bits": self.bits,
            "points": [ruler.size for ruler in self.plan.rulers],
            "grids": [length],
            "length": length,
        }

    def delta(self, epsilon: float) -> Evaluation:
        lower, upper = self._lower(epsilon), self._upper(epsilon)
        lines = budget_lines(discretisation=upper - lower)
        return Evaluation(lower, upper, Budget(lines, lines))

    def _upper(self, epsilon: float) -> float:
        """infinite + sum over l_j > eps of Y_j (1 - e^(eps - l_j)), in balls."""
        with working_precision(self.bits + 2 * GUARD_BITS):
            step = arb(self.plan.step)
            first = self.above.start
            place = (arb(epsilon) / arb(self.plan.unit) - first) / (step / arb(self.plan.unit))
            skipped = max(_floor(place), -1) + 1  # a label at eps itself adds nothing
            coefficients = self.above.masses.coeffs()[skipped:]
            total = sum(coefficients, fmpz(0))
            ratio = (-step).exp()
            falling = arb(0)
            for coefficient in reversed(coefficients):
                falling = falling * ratio + coefficient
            away = (arb(first) * arb(self.plan.unit) + skipped * step - arb(epsilon)).max(arb(0))
            value = (arb(self.above.infinite) + total - (-away).exp() * falling) / arb(2) ** self.bits
            return min(upper_float(value), 1.0)

    def _lower(self, epsilon: float) -> float:
        """The best suffix of P - e^eps Q in exact integers, e^eps rounded up."""
        with working_precision(self.bits + 2 * GUARD_BITS):
            # With odds of 2^(bits + 1) no event that has Q-mass counts, nor with larger ones.
            odds = fmpz(_ceil(arb(min(epsilon, self.bits + 1.0)).exp() * arb(2) ** ODDS_BITS))
            best = running = fmpz(0)
            p, q = self.below.p.coeffs(), self.below.q.coeffs()
            one = fmpz(1) << ODDS_BITS
            for index in range(max(len(p), len(q)) - 1, -1, -1):
                running += (p[index] * one if index < len(p) else fmpz(0)) - (
                    odds * q[index] if index < len(q) else fmpz(0)
                )
                best = max(best, running)
            value = arb(self.leaked) / arb(2) ** self.bits + arb(best) / arb(2) ** (self.bits + ODDS_BITS)
            return max(lower_float(value), 0.0)


def prepare_proof(terms: Sequence[Term], target: Aim) -> ProofEvaluator:
    """Masses in balls at as many bits as delta needs, then integers only."""
    uses = sum(count for _, count in terms)
    log_least = min(target.point.log_delta, 0.0) + math.log(min(target.wanted, 1.0)) - 10.0
    bits = math.ceil(-log_least / math.log(2.0)) + uses.bit_length() + GUARD_BITS
    made = _affordable(terms, replace(target, window=target.plain), bits)
    step = made.rulers[0].step
    above = Whole(fmpz_poly([1 << bits]), 0, step, 0)
    below = GridCells(fmpz_poly([1 << bits]), fmpz_poly([1 << bits]), 0, step)
    with working_precision(bits + 2 * GUARD_BITS):
        survival, cut = arb(1), _floor(arb(log_least).exp() * arb(2) ** bits)
        for (pair, count), ruler in zip(terms, made.rulers, strict=True):
            share = max(cut // (4 * len(terms)), 1)
            above = _times(above, _power(_above(pair, ruler, made, bits), count, bits, share, _times), bits, share)
            cells = _power(_below(pair, ruler, made, bits), count, bits, share, _times_cells)
            below = _times_cells(below, cells, bits, share)
            survival *= (1 - pair.infinite_mass()) ** count
        leaked = _floor((1 - survival) * arb(2) ** bits)
    return ProofEvaluator(above, below, max(leaked, 0), bits, made)


def _affordable(terms: Sequence[Term], target: Aim, bits: int) -> GridPlan:
    """The finest grid that the time allows: so many limbs in each product, and masses in balls at every point."""
    limbs = bits / 64.0
    seconds = min(tuning.PROOF_SECONDS, tuning.PROOF_WORK * work.left() / work.UNITS_PER_SECOND)
    products = sum(
        3.0 * count.bit_length() * (tuning.LIMB_SECONDS * limbs + tuning.COEFFICIENT_SECONDS) for _, count in terms
    )
    most = int(min(max(seconds / products, 1 << 10), tuning.INTEGER_POINTS_MOST))
    wish = GridWish(evolving=False, points=most)
    made = plan(terms, target, wish)
    late = sum(ruler.size for ruler in made.rulers) * tuning.MASS_SECONDS * (1.0 + limbs / 8.0) / max(seconds, 1e-3)
    return made if late <= 1.0 else plan(terms, target, wish._replace(finer=1.0 / late))


def _above(pair: Pair, ruler: Ruler, made: GridPlan, bits: int) -> Whole:
    """Chords: the mass from l_i on is H_i + (H_(i-1) - H_i) / (1 - e^-h), one before the first point."""
    scale, span = arb(2) ** bits, -(-arb(ruler.step * made.unit)).expm1()
    profile = [pair.ball_profile(arb((ruler.start + i * ruler.step) * made.unit)) for i in _paid(0, ruler.size, bits)]
    tails = [arb(1), *(here + (before - here) / span for before, here in pairwise(profile))]
    tails.append(profile[-1])
    masses = [max(_ceil((tails[i] - tails[i + 1]) * scale), 0) for i in range(ruler.size)]
    return Whole(fmpz_poly(masses), ruler.start, ruler.step, max(_ceil(profile[-1] * scale), 0))


def _below(pair: Pair, ruler: Ruler, made: GridPlan, bits: int) -> GridCells:
    """Merged cells around the points; the outer ones reach to the ends of the finite losses."""
    scale = arb(2) ** bits
    half = ruler.step // 2
    tails = [
        pair.ball_tails(arb((ruler.start + i * ruler.step - half) * made.unit)) for i in _paid(1, ruler.size, bits)
    ]
    p = [1 - pair.infinite_mass(), *(each.p_above - pair.infinite_mass() for each in tails), arb(0)]
    q = [1 - pair.reversed().infinite_mass(), *(each.q_above for each in tails), arb(0)]
    return GridCells(
        fmpz_poly([max(_floor((p[i] - p[i + 1]) * scale), 0) for i in range(ruler.size)]),
        fmpz_poly([max(_ceil((q[i] - q[i + 1]) * scale), 0) for i in range(ruler.size)]),
        ruler.start,
        ruler.step,
    )


def _paid(start: int, stop: int, bits: int) -> Iterator[int]:
    """The numbers from start on, each when there is work left for masses in balls at one point."""
    units = 0.5 * tuning.MASS_SECONDS * (1.0 + bits / 512.0) * work.UNITS_PER_SECOND
    for number in range(start, stop):
        if (number - start) % tuning.PAID_AT_ONCE == 0:
            work.spend(units * min(tuning.PAID_AT_ONCE, stop - number))
        yield number


def _pay(one: fmpz_poly, other: fmpz_poly, bits: int) -> None:
    """For a product, before it is made."""
    size = one.degree() + other.degree() + 2
    work.hold(size * (bits / 2.0 + 64.0))
    work.spend(size * (tuning.LIMB_SECONDS * bits / 64.0 + tuning.COEFFICIENT_SECONDS) * work.UNITS_PER_SECOND)


def _power(law: L, count: int, bits: int, cut: int, times: Callable[[L, L, int, int], L]) -> L:
    """count copies by squaring; a law that will be used m times may lose a share of 1/m of the cut."""
    result: L | None = None
    square, left = law, count
    while True:
        if left & 1:
            result = square if result is None else times(result, square, bits, max(cut // 64, 1))
        left >>= 1
        if not left:
            assert result is not None
            return result
        square = times(square, square, bits, max(cut // (64 * left), 1))


def _times(one: Whole, other: Whole, bits: int, cut: int) -> Whole:
    """The product, rounded up; its top goes to infinite loss, its bottom moves up to the first entry kept."""
    _pay(one.masses, other.masses, bits)
    masses = [-(-coefficient >> bits) for coefficient in (one.masses * other.masses).coeffs()]
    infinite = one.infinite + other.infinite - (one.infinite * other.infinite >> bits)
    top = light(reversed(masses), cut)
    infinite += int(sum(masses[len(masses) - top :], fmpz(0)))
    masses = masses[: len(masses) - top]
    bottom = light(masses, cut)
    if bottom < len(masses):
        masses[bottom] += sum(masses[:bottom], fmpz(0))
    else:
        infinite += int(sum(masses, fmpz(0)))  # a cut larger than the law must not lose it
    return Whole(fmpz_poly(masses[bottom:]), one.start + other.start + bottom * one.step, one.step, infinite)


def _times_cells(one: GridCells, other: GridCells, bits: int, cut: int) -> GridCells:
    """The products, P rounded down and Q up; both without the ends where P is light."""
    _pay(one.p, other.p, bits)
    p = [coefficient >> bits for coefficient in (one.p * other.p).coeffs()]
    _pay(one.q, other.q, bits)
    q = [-(-coefficient >> bits) for coefficient in (one.q * other.q).coeffs()]
    bottom, top = light(p, cut), len(p) - light(reversed(p), cut)
    start = one.start + other.start + bottom * one.step
    return GridCells(fmpz_poly(p[bottom:top]), fmpz_poly(q[bottom:top]), start, one.step)


def light(masses: Iterable[fmpz], cut: int) -> int:
    """How many of the first entries hold at most the cut together."""
    total, size = fmpz(0), 0
    for mass in masses:
        total += mass
        if total > cut:
            break
        size += 1
    return size


def _floor(ball: arb) -> int:
    return _whole(ball.lower().floor())


def _ceil(ball: arb) -> int:
    return _whole(ball.upper().ceil())


def _whole(ball: arb) -> int:
    number = integer(ball)
    if number is None:
        raise UnsupportedMechanism("its masses cannot be enclosed at this precision")
    return number
