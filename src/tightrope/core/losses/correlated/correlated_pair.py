"""The pair of a record whose bin is drawn: P the mixture of N(m_i, sigma^2 I) over the bins i, Q = N(0, sigma^2 I).

m_i is the sum of the columns of C in bin i, C lower triangular without an entry below 0; G_ij = <m_i, m_j>/sigma^2.
L = dP/dQ = W L', W = exp(sqrt(s) z - s/2) the factor that all bins share and L' the mean of exp(h_i - R_ii/2) with
R = G - s J, independent of it: E(L - c)_+ = E f(L') with f in polynomial.py. Below: f at the mean of L' (Jensen), what
one
bin shows, and polynomials below f; above: a Gaussian at the largest norm, and polynomials above f, of which the moments
of L' say the mean. Several uses are one: their L' multiply, and so do the moments; Gaussian noise adds to s.
    REMOVE   (P, Q):  H(a) = E(L - a)_+            ADD   (Q, P):  H(a) = E(1 - a L)_+ = a E(1/a - L)_+
Guarantee: `hockey_stick_bounds` and `between` are lower and upper. Proof: docs/proofs/correlated.md, sections 5 to 9.
Reference: Choquette-Choo, Ganesh, Haque, Steinke, Thakurta 2024 (the dominating pair of balls in bins); Kahane 1985
(comparison of Gaussian processes).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from flint import arb, arb_mat, fmpq, fmpz

from ...numerics import fp_environment
from ...numerics.balls import lower_float, upper_float, working_precision
from ...numerics.columns import BinGram
from ...numerics.rounding import UNIT
from ...values import compute_budget
from ...values.errors import UnsupportedMechanism, WorkExhausted
from ...values.question import Direction
from ..capabilities import Moments, ProfileBounds, Resolution
from ..gaussian import GaussianPair
from ..operators.allocation.allocated import allocated_pair
from ..operators.dyadic import DyadicPair
from ..operators.polygon import above, beneath
from ..operators.product import product_pair
from ..operators.registered import has_bracket_only, hockey_stick_bounds, simpler_ends
from ..pair import LossRange, Pair
from . import polynomial
from .polynomial import Hinge

# Moments of the rest of the likelihood ratio, without its common factor.
#
# L' = mean over i of exp(h_i - R_ii/2), h normal with covariance R = G - shared J: E L'^m = bins^-m times the sum over
# i_1, ..., i_m of exp(sum_{a < c} R_{i_a i_c}). The sum runs over the multisets I of the first m - 2, each with its
# multiplicity and weight, and over the last two by one product of matrices: with u_l = prod_{i in I} e^(R_il) it is
# u^T e^R u.
# All terms are above 0. Few of them are summed in balls; many in float64, where the relative error is at most one
# rounding for each factor and each number added.
# Guarantee: the moments lie in the balls. Proof: docs/proofs/correlated.md, section 6.

DEGREES = (2, 4, 6, 8)
MOMENT_BALL_PRODUCTS, MOMENT_FLOAT_PRODUCTS = 2e7, 4e9  # of the largest sum, up to which a degree is tried
MOMENT_BALL_ENTRIES = 4e5  # of rows of factors in balls
MOMENT_BALL_UNITS, MOMENT_FLOAT_UNITS = 40.0, 0.2  # of work, for one product
MOMENT_ROWS = 1024
MOMENT_LOG_MAX = 600.0  # of a term: doubles hold it
MOMENT_BITS = 192


def bits_of(gram: BinGram, scale: Fraction) -> int:
    """Bits that central moments lose to those around 0, and some."""
    size = float(gram.shared * gram.unit * scale) if gram.shared else 1.0
    return MOMENT_BITS + (0 if size >= 1.0 else math.ceil(-DEGREES[-1] * math.log2(max(size, 1e-300))))


def moments(gram: BinGram, scale: Fraction, degree: int, proof: bool) -> tuple[arb, ...] | None:
    """E L'^m for m = 0 to the degree, for G scale; None where they are too many terms to sum, or too large.

    proof: in balls alone. Both directions and all epsilons of a question ask for the same.
    """
    return compute_budget.kept(_moments, gram, scale, degree, proof)


def _moments(gram: BinGram, scale: Fraction, degree: int, proof: bool) -> tuple[arb, ...] | None:
    lower = (arb(1),) if degree == 2 else moments(gram, scale, degree - 2, proof)
    if lower is None:
        return None
    bins = gram.bins
    rows = math.comb(bins + degree - 3, degree - 2)
    with working_precision(bits_of(gram, scale)):
        matrix = exponents(gram, scale)
        orders = (degree,) if degree == 2 else (degree - 1, degree)
        if rows * bins <= MOMENT_BALL_ENTRIES and rows * bins**2 <= MOMENT_BALL_PRODUCTS:
            compute_budget.spend(MOMENT_BALL_UNITS * rows * bins**2)
            values = tuple(_in_balls(matrix, order) for order in orders)
        else:
            most = max(float(abs(entry).upper()) for row in matrix for entry in row)
            if (
                proof
                or not fp_environment.trusted()
                or rows * bins**2 > MOMENT_FLOAT_PRODUCTS
                or most * degree * (degree - 1) / 2 > MOMENT_LOG_MAX
            ):
                return None
            compute_budget.spend(MOMENT_FLOAT_UNITS * rows * bins**2)
            values = tuple(_in_floats(matrix, order) for order in orders)
    if not all(value.is_finite() for value in values):
        return None
    return (*lower, arb(1), *values) if degree == 2 else (*lower, *values)


def exponents(gram: BinGram, scale: Fraction) -> list[list[arb]]:
    """R = G - shared J, times the scale, at the working precision."""
    factor = _ball(gram.unit * scale)
    shared = _ball(gram.shared)
    off = arb(0, 1) * arb(fmpz(gram.slack))
    return [[(arb(fmpz(entry)) - shared + off) * factor for entry in row] for row in gram.entries]


def _ball(number: Fraction) -> arb:
    return arb(fmpz(number.numerator)) / arb(fmpz(number.denominator))


def _in_balls(matrix: Sequence[Sequence[arb]], order: int) -> arb:
    """E L'^order."""
    bins = len(matrix)
    e = [[entry.exp() for entry in row] for row in matrix]
    rows: list[tuple[list[arb], arb, int, int, int]] = [([arb(1)] * bins, arb(1), 1, 0, 0)]
    for size in range(order - 2):
        longer = []
        for factors, weight, ways, last, run in rows:
            for j in range(last, bins):
                again = run + 1 if j == last and size else 1
                product = [one * two for one, two in zip(factors, e[j], strict=True)]
                longer.append((product, weight * factors[j], ways * (size + 1) // again, j, again))
        rows = longer
    plain = arb_mat([row[0] for row in rows])
    weighted = arb_mat([[value * (row[1] * row[2]) for value in row[0]] for row in rows])
    total = plain.transpose() * weighted
    found = sum((total[i, j] * e[i][j] for i in range(bins) for j in range(bins)), arb(0))
    return found / arb(bins) ** order


def _in_floats(matrix: Sequence[Sequence[arb]], order: int) -> arb:
    """The same: every number is a sum of products of positive doubles."""
    bins = len(matrix)
    e = np.array([[float(entry.exp().mid()) for entry in row] for row in matrix])
    # Rows by rising last index, so that those with a last index up to j come first.
    factors, weights, ways, last, run = np.ones((1, bins)), np.ones(1), np.ones(1), np.zeros(1, int), np.zeros(1, int)
    total, added = np.zeros((bins, bins)), 0
    for size in range(order - 2):
        ends = np.searchsorted(last, np.arange(bins), side="right")
        blocks = []
        for j, end in enumerate(ends.tolist()):
            again = np.where((last[:end] == j) & (size > 0), run[:end] + 1, 1)
            product, weight = factors[:end] * e[j], weights[:end] * factors[:end, j]
            number = ways[:end] * (size + 1) / again  # whole numbers below 2^53: exact
            if size < order - 3:
                blocks.append((product, weight, number, np.full(end, j), again))
                continue
            scaled = weight * number
            for start in range(0, end, MOMENT_ROWS):
                compute_budget.spend(0.0)  # paid for already: a look at the clock
                part = product[start : start + MOMENT_ROWS]
                total += (part * scaled[start : start + MOMENT_ROWS, None]).T @ part
                added += 1
        if blocks:
            factors, weights, ways, last, run = (np.concatenate(column) for column in zip(*blocks, strict=True))
    if order == 2:
        total, added = np.ones((bins, bins)), 1
    value = math.fsum((total * e).ravel().tolist())
    factors_of_a_term = order * (order - 1) / 2 + 4
    units = 4.0 * factors_of_a_term + MOMENT_ROWS + added + 16.0
    with_slack = max(float((entry.exp().rad() / entry.exp()).upper()) for row in matrix for entry in row)
    relative = 1.01 * (units * UNIT + factors_of_a_term * (with_slack + 2.0**-52))
    return arb(value) * (1 + arb(0, relative)) / arb(bins) ** order


HEAVY_VARIANCE = 0.06  # variance of L' from which on lower degrees are tried too
PLAINER_BITS = 256
# Why an answer is wide, where no work narrows it.
BY_MOMENTS = (
    "moments of the likelihood ratio up to degree {} bound it from both sides, and these bounds are apart where bins "
    "differ much at this noise"
)
UNKNOWN_MOMENTS = "the moments of so many bins, or of bins so far apart, are not worked out, and the rest says little"
FEWER_BINS = "fewer bins or more noise have narrow answers"
ALLOCATED_SHIFT_MAX = 8.0  # deviations between bins: beyond, nobody takes one for another

Use = tuple[BinGram, Fraction, int]  # inner products, the factor that makes them those of G, and how often


@dataclass(frozen=True)
class BinsPair(Pair):
    """Uses of random bins, and Gaussian shifts (sigma, shift, count), composed."""

    uses: tuple[Use, ...]
    shifts: tuple[tuple[float, float, int], ...]
    direction: Direction

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("the law of random bins is not known by itself; engine='joint' composes it")

    tails = hockey_stick = ball_tails = ball_hockey_stick = _not_known

    def reversed(self) -> BinsPair:
        return BinsPair(self.uses, self.shifts, self.direction.opposite)

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        return LossRange(arb.neg_inf(), arb.pos_inf())

    def compose_exact(self, like: Sequence[tuple[Pair, int]]) -> BinsPair | None:
        """One pair, with Gaussians among them."""
        uses: dict[tuple[BinGram, Fraction], int] = {}
        shifts: list[tuple[float, float, int]] = []
        for pair, count in like:
            if isinstance(pair, BinsPair) and pair.direction is self.direction:
                for gram, scale, times in pair.uses:
                    uses[gram, scale] = uses.get((gram, scale), 0) + times * count
            elif not isinstance(pair, GaussianPair):
                return None
            shifts += [(sigma, shift, times * count) for sigma, shift, times in pair.shifts]
        known = tuple((gram, scale, count) for (gram, scale), count in uses.items())
        return BinsPair(known, tuple(sorted(shifts)), self.direction)

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:

        ends = finite_pairs(self.uses, self.shifts, fine)
        below, above = (end if self.direction is Direction.REMOVE else end.reversed() for end in ends)
        return below, above

    def _alike(self, bins: int, ends: Sequence[int], factor: arb, up: bool) -> list[Pair]:
        """Of this norm and this inner product: a common Gaussian, and random allocation of what is left.

        Where what is left tells the bins apart, one Gaussian of the norm above, and the common one below.
        """

        norm, common = ends
        whole, shared, rest = (
            (upper_float if up else lower_float)((arb(fmpz(square)) * factor).sqrt())
            for square in (norm, common, norm - common)
        )
        if rest > ALLOCATED_SHIFT_MAX:
            shared, rest = (whole if up else shared), 0.0
        found: list[Pair] = [GaussianPair(((1.0, shared, 1),))] if shared > 0.0 else []
        if rest > 0.0:
            found.append(allocated_pair(GaussianPair(((1.0, rest, 1),)), bins, self.direction))
        return found

    def largest(self) -> arb:
        """At or above the square of the largest norm of all uses together, at the working precision."""
        return self._added(lambda gram: max(row[i] for i, row in enumerate(gram.entries)) + gram.slack)

    def least(self) -> arb:
        """At or below the same of the least norm."""
        return self._added(lambda gram: max(min(row[i] for i, row in enumerate(gram.entries)) - gram.slack, 0))

    def spread(self) -> arb:
        """The variance s that all bins share."""
        return self._added(lambda gram: gram.shared)

    def _added(self, square: Any) -> arb:
        total = sum((count * ball(square(gram) * gram.unit * scale) for gram, scale, count in self.uses), arb(0))
        return total + sum((count * (arb(shift) / arb(sigma)) ** 2 for sigma, shift, count in self.shifts), arb(0))

    def moments(self) -> BinsMoments:
        return BinsMoments(self)


class BinsMoments(Moments[BinsPair]):
    def log_moment_above(self, order: float) -> arb:
        """That of the Gaussian at the largest norm, which dominates."""
        return self.pair.largest() * arb(order) * (1 + arb(order)) / 2

    def zcdp_rho(self) -> arb:
        return self.pair.largest() / 2

    def gdp_mu(self) -> arb:
        return self.pair.largest().sqrt()

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """Of the bin with the largest norm: L >= Y_i/bins, so that H(a) >= H_i(bins a)/bins."""
        if direction is not self.pair.direction:
            return None
        low = self.pair._added(lambda gram: max(max(row[i] for i, row in enumerate(gram.entries)) - gram.slack, 0))
        return low.sqrt().union(self.gdp_mu())


@simpler_ends.register(BinsPair)
def _(bins: BinsPair) -> tuple[tuple[Pair, ...], Pair]:
    """Bins of one norm, every two with one inner product: the least ones below, the largest above; and the factor
    that all bins share. Proof: docs/proofs/correlated.md, section 5."""
    own: Pair | None = GaussianPair(bins.shifts) if bins.shifts else None
    least, shared, most = ([] if own is None else [(own, 1)] for _ in range(3))
    with working_precision(PLAINER_BITS):
        for gram, scale, count in bins.uses:
            factor = ball(gram.unit * scale)
            norms = [row[i] for i, row in enumerate(gram.entries)]
            others = [entry for i, row in enumerate(gram.entries) for entry in row[:i]]
            low = [max(min(values) - gram.slack, 0) for values in (norms, others)]
            high = [max(values) + gram.slack for values in (norms, others)]
            low[1] = min(low)
            high[1] = min(high)
            for found, ends, up in ((least, low, False), (most, high, True)):
                found += [(pair, count) for pair in bins._alike(gram.bins, ends, factor, up)]
            shift = lower_float((ball(gram.shared) * factor).sqrt())
            shared += [(GaussianPair(((1.0, shift, 1),)), count)] if shift > 0.0 else []
    below = tuple(product_pair(each) for each in (shared, least) if each)
    return below, product_pair(most)


@hockey_stick_bounds.register(BinsPair)
def _(pair: BinsPair, proof: bool) -> BinsBounds:
    return BinsBounds(pair, proof)


@has_bracket_only.register(BinsPair)
def _(pair: BinsPair) -> bool:
    return True


class BinsBounds(ProfileBounds):
    """The profile of random bins, between two numbers."""

    def __init__(self, pair: BinsPair, proof: bool) -> None:
        self._pair, self._proof = pair, proof
        self._bits = max(bits_of(gram, scale) for gram, scale, _ in pair.uses)
        self._bits += sum(count for _, _, count in pair.uses).bit_length()
        self._degree: int | None = None
        self._floor: arb | None = None
        self._raw: dict[int, list[arb]] = {}

    def lower(self, epsilon: float) -> float:
        with working_precision(self._bits):
            return max(lower_float(self.at(arb(epsilon).exp(), above=False)), 0.0)

    def upper(self, epsilon: float) -> float:
        with working_precision(self._bits):
            return min(upper_float(self.at(arb(epsilon).exp(), above=True)), 1.0)

    @property
    def wide(self) -> bool:
        """By the variance of L'."""
        with working_precision(self._bits):
            degrees = self._degrees()
            return not degrees or not self.around_one(DEGREES[0], arb(1))[2] < HEAVY_VARIANCE

    @property
    def parameters(self) -> Mapping[str, object]:
        degrees = self._degrees()
        if not degrees:
            return {"limit": f"{UNKNOWN_MOMENTS}: {FEWER_BINS}"}
        return {"degree": degrees[0], "limit": BY_MOMENTS.format(degrees[0])}

    @property
    def bits(self) -> int:
        """What it works with."""
        return self._bits

    def at(self, alpha: arb, above: bool) -> arb:
        """H(alpha) is at most, or at least, this; at the working precision."""
        c, rising = self._place(alpha)
        return self._profile(alpha, rising, self.time_value(c, rising, above), above)

    def near(self, node: arb, alphas: Sequence[arb], above: bool) -> list[arb]:
        """The same at several alphas on one side of 1, by what is found for one next to them."""
        c, rising = self._place(node)
        places = [self._place(alpha)[0] for alpha in alphas]
        values = self.several(c, places, rising, above)
        return [self._profile(alpha, rising, value, above) for alpha, value in zip(alphas, values, strict=True)]

    def _place(self, alpha: arb) -> tuple[arb, bool]:
        """c, and which of the two hinges is the smaller one there."""
        remove = self._pair.direction is Direction.REMOVE
        return (alpha, bool(alpha >= 1)) if remove else (1 / alpha, bool(alpha < 1))

    def _profile(self, alpha: arb, rising: bool, value: arb, above: bool) -> arb:
        """H(alpha), from a number for the hinge: the other hinge is less or more by 1 - c."""
        remove = self._pair.direction is Direction.REMOVE
        value = value if remove else alpha * value
        if rising != remove:
            value += 1 - alpha
        nothing = (1 - alpha).max(arb(0))
        return value.min(arb(1)) if above else value.max(nothing)

    def time_value(self, c: arb, rising: bool, above: bool) -> arb:
        """A number above, or below, E(L - c)_+, or E(c - L)_+ where not rising."""
        best = self._closed(c, rising, above)
        spread = self._pair.spread()
        if not spread > 0:
            return best
        hinge, helped = Hinge(c, spread, rising), False
        for degree in self._degrees():
            central = self.around_one(degree, arb(1))
            found = polynomial.best(hinge, [float(each.mid()) for each in central], self._least(), above)
            if found is None:
                continue
            value = found.mean(central)
            improved = bool(value.upper() < best.upper() if above else value.lower() > best.lower())
            best = value if improved else best
            if (improved and central[2] < HEAVY_VARIANCE) or (helped and not improved):
                break
            helped = helped or improved
        return best

    def several(self, node: arb, places: Sequence[arb], rising: bool, above: bool) -> list[arb]:
        """The same at each of the places, by one polynomial for the node next to them.

        f_c(x) = (c/node) f_node(x node/c), so that a polynomial beside f_node is one beside each f_c, of another x.
        """
        values = [self._closed(c, rising, above) for c in places]
        spread = self._pair.spread()
        ratios = [c / node for c in places]
        farthest = reduce(arb.max, ratios).upper()
        for degree in self._degrees() if spread > 0 else ():
            central = [self.around_one(degree, ratio) for ratio in ratios]
            rough = [sum(float(each[j].mid()) for each in central) / len(central) for j in range(degree + 1)]
            least = (self._least() / farthest).min(arb(1) - arb(2) ** -20)
            found = polynomial.best(Hinge(node, spread, rising), rough, least, above)
            if found is None:
                continue
            for index, (ratio, law) in enumerate(zip(ratios, central, strict=True)):
                value, known = ratio * found.mean(law), values[index]
                if value.upper() < known.upper() if above else value.lower() > known.lower():
                    values[index] = value
            break
        return values

    def _closed(self, c: arb, rising: bool, above: bool) -> arb:
        """What is known without moments: the Gaussian at the largest norm above; below the mean of L', and what one
        bin shows."""
        pair, spread = self._pair, self._pair.spread()
        if above:
            return Hinge(c, pair.largest(), rising).at(arb(1)).height
        best = Hinge(c, spread, rising).at(arb(1)).height if spread > 0 else arb(0)
        if rising and self._few() and pair.least() > 0:
            bins = math.prod(gram.bins**count for gram, _, count in pair.uses)
            best = _larger(best, Hinge(c * bins, pair.least(), True).at(arb(1)).height)
        return best

    def _few(self) -> bool:
        return sum(count for _, _, count in self._pair.uses) <= 1000

    def _degrees(self) -> list[int]:
        """Those whose moments are known, the highest first."""
        if self._degree is None:
            self._degree = 0
            for degree in DEGREES:
                try:
                    known = all(
                        moments(gram, scale, degree, self._proof) is not None for gram, scale, _ in self._pair.uses
                    )
                except WorkExhausted:
                    if not self._degree:
                        raise
                    break
                if not known:
                    break
                self._degree = degree
        return [degree for degree in reversed(DEGREES) if degree <= self._degree]

    def _least(self) -> arb:
        """At or below every value of L': with weights w at which sum w_i h_i is 0, the mean is at least the product of
        (e^(h_i - R_ii/2)/(bins w_i))^w_i, a constant."""
        if self._floor is None:
            total = arb(0)
            for gram, scale, count in self._pair.uses:
                if gram.weights is None:
                    self._floor = arb(0)
                    return self._floor
                square = sum(
                    (
                        fraction * (row[i] - gram.shared)
                        for i, (fraction, row) in enumerate(zip(gram.weights, gram.entries, strict=True))
                    ),
                    Fraction(0),
                )
                entropy = sum(
                    (ball(weight) * ball(weight * gram.bins).log() for weight in gram.weights if weight), arb(0)
                )
                total += count * (ball(square * gram.unit * scale) / 2 + entropy)
            self._floor = (-total).exp()
        return self._floor

    def around_one(self, degree: int, ratio: arb) -> list[arb]:
        """E (L'/ratio - 1)^j up to this degree."""
        if degree not in self._raw:
            raw = [arb(1)] * (degree + 1)
            for gram, scale, count in self._pair.uses:
                known = moments(gram, scale, degree, self._proof)
                assert known is not None
                raw = [one * two**count for one, two in zip(raw, known, strict=True)]
            self._raw[degree] = raw
        raw = [value / ratio**i for i, value in enumerate(self._raw[degree])]
        return [
            sum((math.comb(j, i) * (-1) ** (j - i) * raw[i] for i in range(j + 1)), arb(0)) for j in range(degree + 1)
        ]


def _larger(one: arb, other: arb) -> arb:
    """The one with the larger lower end."""
    return one if one.lower() >= other.lower() else other


def ball(number: Fraction | int) -> arb:
    """A fraction, at the working precision."""
    return arb(fmpz(number.numerator)) / arb(fmpz(number.denominator))


# Finite pairs around random bins, for compositions with others: points of the profile on both sides.
#
# Above, the chords of h_j >= H(a_j). Below, H is convex: from l_j <= H(a_j) on it lies above the line that comes from h
# at any point before, and to the left of it above the line to h at any point after. Guarantee: lower and upper.
# Proof: docs/proofs/correlated.md, section 9; docs/proofs/points.md, sections 1 and 3.

POLYNOMIALS_MIN, POLYNOMIALS_MAX = 24, 96  # of polynomials on each side
POLYNOMIALS_UNITS = 6e7  # of work: two polynomials
PLACES_EACH = 24  # points for each node, which are cheap
SLOPES_FROM = 16  # points on either side that tell a slope
POLYNOMIALS_SHARE = 0.5  # of what is left
BODY_SHARE, BODY_DEVIATIONS = 0.75, 7.0  # of the nodes, evenly spread over so many deviations of the loss on each side
LOSSES_REACH = 600.0  # losses


def finite_pairs(
    uses: tuple[Use, ...], shifts: tuple[tuple[float, float, int], ...], fine: Resolution
) -> tuple[DyadicPair, DyadicPair]:
    """One below and one above, with the record and without it."""
    room = POLYNOMIALS_SHARE * compute_budget.left() / POLYNOMIALS_UNITS
    nodes = int(max(min(fine.points // 4, POLYNOMIALS_MAX, room), POLYNOMIALS_MIN))
    # Both directions, and all points of a question.
    return compute_budget.kept(_made, uses, shifts, nodes // 8 * 8, fine.tail, fine.proof)


def _made(
    uses: tuple[Use, ...], shifts: tuple[tuple[float, float, int], ...], nodes: int, tail: float, proof: bool
) -> tuple[DyadicPair, DyadicPair]:
    pair = BinsPair(uses, shifts, Direction.REMOVE)
    bounds = BinsBounds(pair, proof)
    known: list[tuple[fmpq, fmpq, arb]] = []
    marks = _losses(pair, nodes, tail)
    with working_precision(bounds.bits):
        for one, two in pairwise([*marks, math.inf]):
            places = [one] if two == math.inf else [one + (two - one) * k / PLACES_EACH for k in range(PLACES_EACH)]
            alphas = [math.exp(place) for place in places]
            balls = [arb(value) for value in alphas]
            low, high = (bounds.near(balls[len(balls) // 2], balls, above=side) for side in (False, True))
            for alpha, least, most in zip(alphas, low, high, strict=True):
                exact = fmpq(*alpha.as_integer_ratio())
                known.append((exact, max(least.lower().fmpq(), 1 - exact, fmpq(0)), most))
        highs = [(arb(each[0]), each[2]) for each in known]
        return beneath(_vertices(known)), above(highs)


def _losses(pair: BinsPair, nodes: int, tail: float) -> list[float]:
    """0 among them; even next to it, further apart beyond, as far as the largest norm may reach."""
    with working_precision(128):
        largest, spread = float(pair.largest().sqrt()), float(pair.spread().sqrt())
    scale = max(spread, 1e-3 * largest)
    deep = math.sqrt(2.0 * max(-math.log(max(tail, 1e-300)), 1.0))
    farthest = min(largest * (deep + largest / 2.0), LOSSES_REACH)
    near = min(BODY_DEVIATIONS * scale + scale * scale / 2.0, farthest)
    inside = np.linspace(0.0, near, max(int(BODY_SHARE * nodes / 2.0), 4) + 1)
    outside = np.geomspace(near, farthest, max(nodes - 2 * len(inside), 4) // 2 + 1)[1:]
    right = np.concatenate([inside, outside])
    return [float(each) for each in np.unique(np.concatenate([-right, right]))]


def _vertices(known: list[tuple[fmpq, fmpq, arb]]) -> list[tuple[fmpq, fmpq]]:
    """Corners of a curve that lies below H, from left to right: of the larger of two lines between neighbours."""
    a = [fmpq(0), *(each[0] for each in known)]
    low = [fmpq(1), *(each[1] for each in known)]
    high = [fmpq(1), *(min(each[2].upper().fmpq(), fmpq(1)) for each in known)]
    count = len(a)

    def after(j: int) -> fmpq:
        """How steeply H may fall from a_j on, at most."""
        falls = [(high[i] - low[j]) / (a[j] - a[i]) for i in range(max(j - SLOPES_FROM, 0), j)]
        return max(min(falls, default=fmpq(1)), fmpq(0))

    def before(j: int) -> fmpq:
        """How steeply it has fallen to the left of a_j, at least."""
        falls = [(low[j] - high[k]) / (a[k] - a[j]) for k in range(j + 1, min(j + 1 + SLOPES_FROM, count))]
        return max(max(falls, default=fmpq(0)), fmpq(0))

    found = [(a[0], low[0])]
    for j in range(count - 1):
        fall, rise, width = after(j), before(j + 1), a[j + 1] - a[j]
        # From the left low[j] - fall t, from the right low[j + 1] + rise (width - t), t = alpha - a[j].
        start, stop = max(low[j], low[j + 1] + rise * width), max(low[j + 1], low[j] - fall * width)
        found.append((a[j], start))
        if fall > rise:
            t = (low[j] - low[j + 1] - rise * width) / (fall - rise)
            if 0 < t < width:
                found.append((a[j] + t, max(low[j] - fall * t, fmpq(0))))
        found.append((a[j + 1], stop))
    fall = after(count - 1)
    if fall > 0:
        found.append((a[-1] + low[-1] / fall, fmpq(0)))
    return found
