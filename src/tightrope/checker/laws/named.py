"""Mechanisms by their names and arguments: which law each of them means (docs/mechanisms.md)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ..law import CheckedLaw
from . import bounded, curves
from .arguments import NEARLY, Numbers, flag, neighbours_named, positive, probability, real, rising, whole
from .discrete import DiscreteGaussianLaw
from .finite import GeometricLaw, LeakyResponseLaw, RatiosLaw, ThreeLossesLaw, response
from .gaussian import GaussianLaw
from .integer import CoinsLaw, SkellamLaw
from .laplace import LaplaceLaw
from .mixture import GaussianMixtureLaw
from .renyi import DivergencesLaw
from .truncated import TruncatedLaw
from .variance import VarianceLaw


def gaussian(sigma: Fraction, sensitivity: Fraction = Fraction(1)) -> CheckedLaw:
    return GaussianLaw((positive(sensitivity) / positive(sigma)) ** 2)


def gdp(mu: Fraction) -> CheckedLaw:
    return GaussianLaw(positive(mu) ** 2)


def variance(sigma1: Fraction, sigma2: Fraction) -> CheckedLaw:
    square = (positive(sigma1) / positive(sigma2)) ** 2
    if square == 1:
        raise ValueError("the deviations are the same")
    return VarianceLaw(square)


def mixture(sigma: Fraction, shifts: Numbers, weights: Numbers) -> CheckedLaw:
    """Equal shifts are one; the largest weight is what the others leave."""
    found: dict[Fraction, Fraction] = {}
    if len(shifts) != len(weights) or any(real(shift) < 0 for shift in shifts):
        raise ValueError("shifts of 0 or more, and as many weights")
    pairs = sorted((real(shift), probability(weight)) for shift, weight in zip(shifts, weights, strict=True))
    for shift, weight in pairs:
        if weight:
            found[shift] = found.get(shift, Fraction(0)) + weight
    largest = max(found, key=lambda shift: found[shift])
    rest = 1 - sum(found.values(), Fraction(0))
    if abs(rest) > NEARLY or not max(found) > 0:
        raise ValueError("weights that sum to 1, and a shift above 0")
    found[largest] += rest
    square = 1 / positive(sigma) ** 2
    if len(found) == 1:
        return GaussianLaw(square * max(found) ** 2)
    return GaussianMixtureLaw(square, tuple(found), tuple(found.values()))


def laplace(scale: Fraction, sensitivity: Fraction = Fraction(1)) -> CheckedLaw:
    return LaplaceLaw(positive(sensitivity) / positive(scale))


def truncated(
    laplace: bool,
    width: Fraction,
    mean: Fraction = Fraction(0),
    bounds: Numbers = (),
    mode: str = "cut",
    integer: bool = False,
    sensitivity: Fraction = Fraction(1),
) -> CheckedLaw:
    low, high, centre, shift = (*map(real, bounds), real(mean), positive(sensitivity))
    exactly = {number.denominator for number in (low, high, centre, shift)} == {1}
    if not low < high or mode not in ("cut", "clamp") or (flag(integer) and not exactly):
        raise ValueError("two bounds that rise, and whole numbers for whole outputs")
    if mode == "cut":
        return TruncatedLaw(laplace, positive(width), shift, low, high, False, integer)
    left, right = low - centre, high - centre - integer  # an output at the upper bound comes from more than one less
    if not left < right:
        raise ValueError("bounds that are too near")
    return TruncatedLaw(laplace, positive(width), shift, left, right, True, integer)


def truncated_gaussian(sigma: Fraction, **more: object) -> CheckedLaw:
    return truncated(False, sigma, **more)  # type: ignore[arg-type]


def truncated_laplace(scale: Fraction, **more: object) -> CheckedLaw:
    return truncated(True, scale, **more)  # type: ignore[arg-type]


def discrete_gaussian(sigma: Fraction, sensitivity: int = 1) -> CheckedLaw:
    return DiscreteGaussianLaw(positive(sigma) ** 2, whole(sensitivity))


def discrete_laplace(scale: Fraction, sensitivity: int = 1) -> CheckedLaw:
    return GeometricLaw(positive(scale), whole(sensitivity))


def skellam(variance: Fraction, sensitivity: int = 1) -> CheckedLaw:
    return SkellamLaw(whole(sensitivity), positive(variance))


def coins(trials: int, sensitivity: int = 1) -> CheckedLaw:
    return CoinsLaw(whole(sensitivity), whole(trials))


def randomized_response(
    p: Fraction | None = None,
    epsilon: Fraction | None = None,
    categories: int = 2,
    channel: None = None,
    neighbours: str = "replace",
) -> CheckedLaw:
    if channel is not None or (p is None) == (epsilon is None) or whole(categories) < 2:
        raise ValueError("p or epsilon, and categories")
    neighbours_named(neighbours)
    if epsilon is not None:
        return LeakyResponseLaw(positive(epsilon), Fraction(0), categories)
    return response(probability(p), categories)


def subset(epsilon: Fraction, categories: int, size: int, neighbours: str = "replace") -> CheckedLaw:
    neighbours_named(neighbours)
    if not whole(size) < whole(categories):
        raise ValueError("a size below categories")
    return ThreeLossesLaw(positive(epsilon), categories, size)


def staircase(epsilon: Fraction, gamma: Fraction | None = None, sensitivity: Fraction = Fraction(1)) -> CheckedLaw:
    positive(sensitivity)
    return ThreeLossesLaw(positive(epsilon), gamma=None if gamma is None else probability(gamma))


def pure(epsilon: Fraction) -> CheckedLaw:
    return LeakyResponseLaw(real(epsilon) and positive(epsilon), chains=True)


def approximate(epsilon: Fraction, delta: Fraction) -> CheckedLaw:
    return LeakyResponseLaw(real(epsilon) and positive(epsilon), probability(delta))


def finite(p: Numbers, q: Numbers) -> CheckedLaw:
    if len(p) != len(q) or any(abs(sum(map(probability, fractions), Fraction(0)) - 1) > NEARLY for fractions in (p, q)):
        raise ValueError("p and q are lists of probabilities")
    return RatiosLaw(tuple(map(Fraction, p)), tuple(map(Fraction, q)))


def privacy_curve(epsilons: Numbers, deltas: Numbers, both_directions: bool = True) -> CheckedLaw:
    rising(epsilons, deltas)
    return curves.privacy_curve(tuple(map(real, epsilons)), tuple(map(probability, deltas)), flag(both_directions))


def tradeoff_curve(fprs: Numbers, fnrs: Numbers, both_directions: bool = True, points_only: bool = False) -> CheckedLaw:
    """Below points that no convex function goes through the curve is a bound, and nobody shows it."""
    rising(fprs, fnrs)
    rates = tuple(map(probability, fprs)), tuple(map(probability, fnrs))
    if flag(points_only) or any(x + y > 1 + NEARLY for x, y in zip(*rates, strict=True)):
        raise ValueError("lines between rates that guessing does not reach")
    law = curves.tradeoff_curve(*rates, flag(both_directions))
    return law if curves.bends_one_way(*rates) else bounded.BoundedLaw(law, once=False)


def renyi_curve(orders: Numbers, divergences: Numbers, both_directions: bool = True) -> CheckedLaw:
    rising(orders, divergences)
    table = tuple(zip(map(real, orders), map(real, divergences), strict=True))
    if not flag(both_directions) or table[0][0] < 1 or min(divergences) < 0:
        raise ValueError("orders from 1 on and divergences of 0 or more, in both directions")
    return DivergencesLaw(table)


def zcdp(rho: Fraction, delta: Fraction = Fraction(0)) -> CheckedLaw:
    return DivergencesLaw((), positive(rho), probability(delta))


def exponential(epsilon: Fraction) -> CheckedLaw:
    return bounded.exponential(positive(epsilon))


def noisy_max(
    scale: Fraction, sensitivity: Fraction = Fraction(1), noise: str = "exponential", monotone: bool = False
) -> CheckedLaw:
    """Scores move by the sensitivity, apart or all the same way."""
    if noise not in ("exponential", "laplace"):
        raise ValueError("exponential or Laplace noise")
    law = bounded.noisy_max((1 if flag(monotone) else 2) * positive(sensitivity) / positive(scale))
    return law if noise == "exponential" else replace(law, once=False)


def permute_and_flip(epsilon: Fraction) -> CheckedLaw:
    return bounded.noisy_max(positive(epsilon))


def tree(sigma: Fraction, steps: int, sensitivity: Fraction = Fraction(1)) -> CheckedLaw:
    """A record is in one step, which at most ceil(log2(steps + 1)) nodes cover."""
    return GaussianLaw(whole(steps).bit_length() * (positive(sensitivity) / positive(sigma)) ** 2)


def matrix(sigma: Fraction, matrix: tuple[Numbers, ...], sensitivity: Fraction = Fraction(1)) -> CheckedLaw:
    """C x with noise in every entry, where a record is in one step: the longest column."""
    if not matrix or len({len(row) for row in matrix}) != 1 or not matrix[0]:
        raise ValueError("a list of rows")
    longest = max(sum(real(row[j]) ** 2 for row in matrix) for j in range(len(matrix[0])))
    return GaussianLaw(longest * (positive(sensitivity) / positive(sigma)) ** 2)
