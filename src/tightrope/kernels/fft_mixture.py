"""Weighted sums of convolutions of several laws by transforms, with a bound on every rounding.

Claim: for nonnegative x_0, ..., x_m, weights c >= 0 and exponents nu,
    |computed_j - (sum over nu of c_nu x_0^(*nu_0) * ... * x_m^(*nu_m))_j| <= radius,  * circular of length N,
    radius = 1/N sum over frequencies of [ sum c_nu B_nu sum_r nu_r e_r/M_r + powers sum c_nu B_nu + transform |G| ],
e_r the error of the transform F_r, M_r = max(|F_r|, min(|F_r| + e_r, sum of x_r)), B_nu = prod M_r^nu_r, G the computed
sum. `total` is at or above the sum of all entries.
Guarantee: entrywise, as kernels.fft. Proof: docs/proofs/allocation.md, section 13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from .. import compute_budget
from ..errors import InvalidParameter
from .directed import round_up
from .enclosure import Enclosure, FloatArray
from .fft import (
    COMPLEX_PRODUCT,
    FFT_SLACK,
    FFT_UNDERFLOW,
    ComplexArray,
    Transformed,
    backward,
    spectrum,
    transform_error,
)
from .ulps import UNIT

WEIGHT_UNITS = 8.0  # relative, of a weight: that of an exponential of a narrow ball
CONVOLVED_MAX = 1 << 26  # in one product: their roundings stay far below the slack of a radius
TERM_UNITS = 10.0  # of work: one frequency of one term


class WeightedSum(NamedTuple):
    """Entry j up to the radius, and at least the sum of all entries."""

    masses: FloatArray
    radius: float
    total: float


class WeightedTerm(NamedTuple):
    """c and nu."""

    weight: float
    exponents: tuple[int, ...]


def uncertain_spectrum(masses: Enclosure, length: int) -> Transformed:
    """Of masses that are known up to their radii; the middles are >= 0."""
    made = spectrum(masses.value, length)
    spread = round_up(float(np.sum(masses.radius)), 2.0 * len(masses.radius))
    return Transformed(made.values, made.error + spread, made.total + spread, length)


def weighted_sum(factors: Sequence[Transformed], terms: Sequence[WeightedTerm]) -> WeightedSum:
    """Every term has the same sum of exponents, at most CONVOLVED_MAX."""
    length = factors[0].length
    uses = sum(terms[0].exponents)
    if uses > CONVOLVED_MAX:
        raise InvalidParameter(f"a sum of convolutions takes at most {CONVOLVED_MAX} factors")
    half = length // 2 + 1
    compute_budget.spend(TERM_UNITS * half * (len(terms) + sum(_span(terms, r) for r in range(len(factors)))))
    powers, sizes, shares = [], [], []
    with np.errstate(under="ignore"):
        for r, factor in enumerate(factors):
            modulus = round_up(np.abs(factor.values), 8.0)
            most = np.maximum(modulus, np.minimum(modulus + factor.error, factor.total)) + 1e-300
            least = min(term.exponents[r] for term in terms)
            powers.append(_powers(factor.values, least, _span(terms, r)))
            sizes.append(_powers(most, least, _span(terms, r)))
            shares.append(factor.error / most)
        first = [min(term.exponents[r] for term in terms) for r in range(len(factors))]
        values: ComplexArray = np.zeros(half, dtype=np.complex128)
        bounds, errors = np.zeros(half), np.zeros(half)
        for weight, exponents in terms:
            product, size = weight * powers[0][exponents[0] - first[0]], weight * sizes[0][exponents[0] - first[0]]
            share = exponents[0] * shares[0]
            for r in range(1, len(factors)):
                if exponents[r]:
                    product = product * powers[r][exponents[r] - first[r]]
                    size = size * sizes[r][exponents[r] - first[r]]
                    share = share + exponents[r] * shares[r]
            values += product
            bounds += size
            errors += size * share
    rounding = math.expm1(1.01 * COMPLEX_PRODUCT * UNIT * (uses + len(factors)))
    rounding += (2.0 * len(terms) + WEIGHT_UNITS + 8.0) * UNIT
    made = _whole(errors, length) + rounding * _whole(bounds, length)
    made += transform_error(length) * (1.0 + rounding) * _whole(np.abs(values), length)
    total = float(bounds[0]) * FFT_SLACK
    return WeightedSum(backward(values, length), made / length * FFT_SLACK + FFT_UNDERFLOW, total)


def _span(terms: Sequence[WeightedTerm], r: int) -> int:
    exponents = [term.exponents[r] for term in terms]
    return max(exponents) - min(exponents) + 1


Base = TypeVar("Base", FloatArray, ComplexArray)


def _powers(base: Base, least: int, count: int) -> list[Base]:
    """base^least, and so many in a row; base^n with n - 1 products each."""
    first, square, left = np.ones_like(base), base, least
    while left:
        if left & 1:
            first = first * square
        left >>= 1
        if left:
            square = square * square
    found = [first]
    while len(found) < count:
        found.append(found[-1] * base)
    return found


def _whole(half: FloatArray, length: int) -> float:
    """Sum over all N frequencies, from the half that a real transform keeps."""
    return float(2.0 * np.sum(half) - half[0] - half[length // 2]) * FFT_SLACK
