"""Linear convolution of nonnegative arrays with a bound on the rounding, by direct sums or by transforms.

For weights e^(-slope i) the bound is on every weighted tail of the error d = computed - exact:
    |sum over i >= s of d_i e^(-slope i)| <= noise e^(-slope s)   for all s, i counted along the output.
Direct sums: each output is a sum of m products, so |d_i| <= (m + 2) u computed_i and noise = (m + 2) u |computed|_1.
Transforms: |d|_2 <= (3 t + 16 u) max(|x|_1 |y|_2, |x|_2 |y|_1), t the relative error of one transform in the Euclidean
norm, and by Cauchy-Schwarz noise = |d|_2 (1 - e^(-2 slope))^(-1/2), or |d|_2 sqrt(length) if that is less.
Guarantee: upper bound on the rounding, under the constants of kernels.fft. Proof: docs/proofs/buckets.md, lemma 5.
Reference: Higham 2002, Thm 24.2 (transforms in the Euclidean norm), Sec. 3.1 (sums in any order).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ..values import compute_budget
from ..values.errors import InvalidParameter
from .enclosures import Enclosure, FloatArray
from .rounding import BILLION, MILLIONS, UNIT, round_up

# Powers of laws by the fast Fourier transform, with a bound on every rounding.
#
# Claim: a real transform of length N = 2^L made of butterflies errs in every output by at most
# transform_error(N) times the sum of the absolute inputs. From it, for nonnegative x_i and counts k_i,
#     |computed_j - (x_1^(*k_1) * x_2^(*k_2) * ...)_j| <= radius for every j, * circular of length N,
#     radius = 1/N sum over frequencies of [ B sum_i k_i e_i / M_i + (power error + transform error) |G| ],
# e_i the error of the transform F_i, M_i = max(|F_i|, min(|F_i| + e_i, sum x_i)), B = prod M_i^k_i, G the computed
# product.
# Guarantee: entrywise, under TWIDDLE_ERROR. Proof: docs/proofs/lattice.md, lemmas 5 and 6.
# Reference: Higham 2002, Thm 24.2 (path argument); Brent, Percival, Zimmermann 2007, Thm 1 (complex product).

ComplexArray = npt.NDArray[np.complex128]

# Assumed bound on the error of one tabulated root of unity, in UNIT; tests/numerics/test_fft.py measures it against
# Arb.
TWIDDLE_ERROR = 6.0
COMPLEX_PRODUCT = math.sqrt(5.0) * 1.001  # relative error of one complex product, in UNIT
LEVELS_MAX = 26
POWER_MAX = 1 << 40  # uses
FFT_SLACK = 1.0 + 1e-6  # covers the rounding of a radius itself: sums of at most 2^26 positive terms
FFT_UNDERFLOW = (
    1e-290  # what underflow can hide in a product of at most 2^40 factors whose masses multiply to e^50 or less
)
MODULUS_GROWTH_MAX = 50.0


class Transformed(NamedTuple):
    """The transform of nonnegative masses: values for half of the frequencies, error of each, sum of the masses."""

    values: ComplexArray
    error: float
    total: float
    length: int


class Circular(NamedTuple):
    """A circular convolution: entry j, exact up to the radius."""

    masses: FloatArray
    radius: float


def fast_length(size: int) -> int:
    """The smallest length of at least `size` that the transform takes: a power of two, 8 or more."""
    length = 1 << max(size - 1, 7).bit_length()
    if length > 1 << LEVELS_MAX:
        raise InvalidParameter(f"a transform of {size} points is longer than 2^{LEVELS_MAX}")
    return length


def transform_error(length: int) -> float:
    """Error of one output per unit of absolute input: each of log2 N levels multiplies by a root and adds once."""
    levels = length.bit_length() - 1
    return 1.01 * levels * (1.0 + COMPLEX_PRODUCT + TWIDDLE_ERROR) * UNIT


def upper_sum(masses: FloatArray) -> float:
    """At or above the sum of nonnegative numbers; rows of 1024 first, so that the error is 1024 + n/1024 units."""
    rows = masses[: len(masses) // 1024 * 1024].reshape(-1, 1024).sum(axis=1)
    rest = masses[len(rows) * 1024 :]
    return round_up(float(rows.sum() + rest.sum()), 2100.0 + len(rows))


def forward(values: FloatArray, length: int) -> ComplexArray:
    """The real transform, by scipy's own code whatever backend the process chose: the error bound is about that."""
    from scipy.fft import rfft, set_backend

    with set_backend("scipy", only=True):
        transformed: ComplexArray = rfft(values, length)
    return transformed


def backward(values: ComplexArray, length: int) -> FloatArray:
    """The inverse of the real transform; values may be overwritten."""
    from scipy.fft import irfft, set_backend

    with set_backend("scipy", only=True):
        transformed: FloatArray = irfft(values, length, overwrite_x=True)
    return transformed


def spectrum(masses: FloatArray, length: int) -> Transformed:
    """Transforms masses >= 0, padded with zeros."""
    if len(masses) > length:
        raise InvalidParameter(f"{len(masses)} masses do not fit a transform of length {length}")
    total = upper_sum(masses)
    values = forward(masses, length)
    return Transformed(values, transform_error(length) * total * FFT_SLACK, total, length)


def fft_convolve(factors: Sequence[tuple[Transformed, int]]) -> Circular:
    """The circular convolution of each factor's masses taken count times."""
    length = factors[0][0].length
    uses = sum(count for _, count in factors)
    if any(count < 1 for _, count in factors) or uses > POWER_MAX:
        raise InvalidParameter("a transform is raised to a power from 1 to 2^40")
    if sum(count * math.log(max(transformed.total, 1e-300)) for transformed, count in factors) > MODULUS_GROWTH_MAX:
        raise InvalidParameter("the masses of a law must sum to about 1 before it is raised to a power")
    product = _product(factors)
    propagated = _propagated(factors)
    size = float(_whole_sum(np.abs(product), length))
    powers = math.expm1(1.01 * COMPLEX_PRODUCT * UNIT * uses)
    made = (propagated + (powers + transform_error(length) * (1.0 + powers)) * size) / length
    return Circular(backward(product, length), made * FFT_SLACK + FFT_UNDERFLOW)


def _product(factors: Sequence[tuple[Transformed, int]]) -> ComplexArray:
    """prod F_i^k_i by repeated squaring: relative error (1 + COMPLEX_PRODUCT UNIT)^(sum k_i) - 1."""
    result: ComplexArray | None = None
    with np.errstate(under="ignore"):
        for transformed, count in factors:
            base, left = transformed.values, count
            while left:
                if left & 1:
                    result = base if result is None else result * base
                left >>= 1
                if left:
                    base = base * base
    assert result is not None
    return result


def _propagated(factors: Sequence[tuple[Transformed, int]]) -> float:
    """Sum over all frequencies of what the errors of the forward transforms become in the product.

    B = prod M_i^k_i and S = B sum_i k_i e_i/M_i grow factor by factor: (B, S) becomes (B b, S b + B s). All terms are
    positive, so that roundings add up to a few units per factor.
    """
    whole, share = np.ones(1), np.zeros(1)
    with np.errstate(under="ignore"):
        for transformed, count in factors:
            modulus = round_up(np.abs(transformed.values), 8.0)
            most = np.maximum(modulus, np.minimum(modulus + transformed.error, transformed.total)) + 1e-300
            if count == 1:
                share = share * most + whole * transformed.error
                whole = whole * most
                continue
            # k log M is trusted to 1e-12 where it matters: beyond -700 the power is nothing.
            logarithm = count * np.log(most)
            power = np.exp(logarithm + 1e-12 * np.abs(logarithm))
            share = share * power + whole * (power * (count * transformed.error / most))
            whole = whole * power
        return round_up(_whole_sum(share, factors[0][0].length) * FFT_SLACK, 8.0 * len(factors))


def _whole_sum(half: FloatArray, length: int) -> float:
    """Sum over all N frequencies, from the half that a real transform keeps."""
    return float(2.0 * np.sum(half) - half[0] - half[length // 2]) * FFT_SLACK


CONVOLUTION_UNDERFLOW = 1e-290  # what products below the smallest double can hide
DIRECT_MAX = 400  # up to this length direct sums are as fast as transforms
SPARSE_MAX = 70  # so many entries that are not 0 are no slower one by one


class Convolved(NamedTuple):
    """The convolution, clipped at 0 since the exact one is nonnegative, and its noise as defined above."""

    values: FloatArray
    noise: float


PRODUCT, ENTRY = 0.5, 150.0  # units of work: one product of a direct sum, one entry of the transforms


def convolve(x: FloatArray, y: FloatArray, slope: float, direct: bool | None = None) -> Convolved:
    """x * y; direct=None takes direct sums where they are as fast. Equal objects are transformed once."""
    if direct or (direct is None and min(len(x), len(y)) <= DIRECT_MAX):
        compute_budget.spend(PRODUCT * len(x) * len(y))
        return _direct(x, y)
    if direct is None and min(np.count_nonzero(x), np.count_nonzero(y)) <= SPARSE_MAX:
        compute_budget.spend(PRODUCT * SPARSE_MAX * max(len(x), len(y)))
        return _sparse(x, y)
    compute_budget.spend(ENTRY * (len(x) + len(y)))
    return _fast(x, y, slope)


def upper_norm(x: FloatArray) -> float:
    """At or above the Euclidean norm; the error of a sum of up to 2^26 squares stays far below the slack."""
    with np.errstate(under="ignore"):
        return round_up(float(np.sqrt(np.dot(x, x))), BILLION) + 1e-150


def upper_total(x: FloatArray) -> float:
    """At or above the sum of nonnegative numbers."""
    return round_up(float(np.sum(x)), BILLION)


def _direct(x: FloatArray, y: FloatArray) -> Convolved:
    with np.errstate(under="ignore"):
        values = np.convolve(x, y)
    return Convolved(values, 1.01 * (min(len(x), len(y)) + 2) * UNIT * upper_total(values) + CONVOLUTION_UNDERFLOW)


def _sparse(x: FloatArray, y: FloatArray) -> Convolved:
    """Direct sums over the entries of one factor that are not 0: exact zeros stay exact."""
    if np.count_nonzero(y) < np.count_nonzero(x):
        x, y = y, x
    places = np.flatnonzero(x)
    values = np.zeros(len(x) + len(y) - 1)
    with np.errstate(under="ignore"):
        for place in places:
            values[place : place + len(y)] += x[place] * y
    return Convolved(values, 1.01 * (len(places) + 2) * UNIT * upper_total(values) + CONVOLUTION_UNDERFLOW)


def _fast(x: FloatArray, y: FloatArray, slope: float) -> Convolved:
    size = len(x) + len(y) - 1
    same = y is x
    x_start, x = _trimmed(x)
    y_start, y = (x_start, x) if same else _trimmed(y)
    length = fast_length(len(x) + len(y) - 1)
    values = np.zeros(size)
    with np.errstate(under="ignore"):
        first = forward(x, length)
        product = np.square(first) if same else first * forward(y, length)
        start, inner = x_start + y_start, len(x) + len(y) - 1
        np.maximum(backward(product, length)[:inner], 0.0, out=values[start : start + inner])
    bulk = max(upper_total(x) * upper_norm(y), upper_norm(x) * upper_total(y))
    error = 1.01 * (3.0 * transform_error(length) + 16.0 * UNIT) * bulk
    spread = min(math.sqrt(length), 1.0 / math.sqrt(-math.expm1(-2.0 * slope)) if slope > 0.0 else math.inf)
    return Convolved(values, round_up(error * spread, MILLIONS) + CONVOLUTION_UNDERFLOW)


def _trimmed(x: FloatArray) -> tuple[int, FloatArray]:
    """Without the exact zeros at both ends, and how many were cut off in front."""
    filled = x > 0.0
    first = int(np.argmax(filled))
    return first, x[first : len(x) - int(np.argmax(filled[::-1]))]


# Weighted sums of convolutions of several laws by transforms, with a bound on every rounding.
#
# Claim: for nonnegative x_0, ..., x_m, weights c >= 0 and exponents nu,
#     |computed_j - (sum over nu of c_nu x_0^(*nu_0) * ... * x_m^(*nu_m))_j| <= radius,  * circular of length N,
#     radius = 1/N sum over frequencies of [ sum c_nu B_nu sum_r nu_r e_r/M_r + powers sum c_nu B_nu + transform |G| ],
# e_r the error of the transform F_r, M_r = max(|F_r|, min(|F_r| + e_r, sum of x_r)), B_nu = prod M_r^nu_r, G the
# computed
# sum. `total` is at or above the sum of all entries.
# Guarantee: entrywise, as kernels.fft. Proof: docs/proofs/allocation.md, section 13.

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


# Many short factors of one convolution, gathered as a tree before the long transform.
#
# A factor of n entries in a transform of N points costs N log N however small n is. GROUP factors of n entries have a
# composition of GROUP n, which a short transform gives without wrap-around; such compositions are the factors of the
# next
# level. With x_i known up to r_i per entry, and M_i >= sum (x_i + r_i),
#     |prod* x_i^(*k_i) - what it would be with the true x_i| <= sum_i k_i r_i / M_i prod_j M_j^k_j   in every entry:
# an error of one entry is spread by the other factors, never raised.
# Guarantee: entrywise. Proof: docs/proofs/lattice.md, lemma 12.
# Reference: Meiser, Mohammadi 2018, Sec. 4 (composition trees).

GROUP = 8  # fewer make more levels and more noise, more make longer transforms for the same factors
POINT_UNITS = 20.0  # of work per point of a transform: the spectrum, its modulus, the product


class TreeFactor(NamedTuple):
    """Nonnegative masses, each within `radius` of the truth, taken so many times."""

    masses: FloatArray
    uses: int
    radius: float = 0.0

    @property
    def entries(self) -> int:
        """Of all its uses together."""
        return self.uses * (len(self.masses) - 1) + 1


class Gathered(NamedTuple):
    """Fewer factors of the same convolution, and how far any entry of it is off because of their radii."""

    factors: list[TreeFactor]
    radius: float
    lengths: list[int]


def levels_of(factors: int) -> int:
    """How many levels a tree over so many factors has."""
    value = 0
    while factors >= 2 * GROUP:
        factors, value = -(-factors // GROUP), value + 1
    return value


def gather(factors: Sequence[TreeFactor], length: int) -> Gathered:
    """Groups of factors that are short for a transform of this length become one, level by level."""
    left = list(factors)
    lengths: list[int] = []
    while True:
        left.sort(key=lambda factor: factor.entries)
        short = sum(GROUP * factor.entries <= length for factor in left)
        if short < 2 * GROUP:
            return Gathered(left, carried(left), lengths)
        nodes = [_joined(left[first : min(first + GROUP, short)]) for first in range(0, short, GROUP)]
        lengths += [len(node.masses) for node in nodes]
        left = nodes + left[short:]


def carried(factors: Sequence[TreeFactor]) -> float:
    """sum_i k_i r_i / M_i prod_j M_j^k_j, rounded up."""
    if not any(factor.radius for factor in factors):
        return 0.0
    totals = [
        (upper_sum(factor.masses) + factor.radius * len(factor.masses)) * FFT_SLACK + 1e-300 for factor in factors
    ]
    logs = [factor.uses * math.log(total) for factor, total in zip(factors, totals, strict=True)]
    size = math.exp(math.fsum(logs) + 1e-12 * math.fsum(map(abs, logs)))
    share = math.fsum(factor.uses * factor.radius / total for factor, total in zip(factors, totals, strict=True))
    return size * share * FFT_SLACK


def _joined(group: Sequence[TreeFactor]) -> TreeFactor:
    """One factor of all entries of the group's composition; the truth is nowhere below 0, so nor is it."""
    entries = sum(factor.entries - 1 for factor in group) + 1
    length = fast_length(entries)
    compute_budget.spend(POINT_UNITS * length * (len(group) + 1))
    power = fft_convolve([(spectrum(factor.masses, length), factor.uses) for factor in group])
    return TreeFactor(np.maximum(power.masses[:entries], 0.0), 1, (power.radius + carried(group)) * FFT_SLACK)
