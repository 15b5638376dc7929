"""Powers of laws by the fast Fourier transform, with a bound on every rounding.

Claim: a real transform of length N = 2^L made of butterflies errs in every output by at most
transform_error(N) times the sum of the absolute inputs. From it, for nonnegative x_i and counts k_i,
    |computed_j - (x_1^(*k_1) * x_2^(*k_2) * ...)_j| <= radius for every j, * circular of length N,
    radius = 1/N sum over frequencies of [ B sum_i k_i e_i / M_i + (power error + transform error) |G| ],
e_i the error of the transform F_i, M_i = max(|F_i|, min(|F_i| + e_i, sum x_i)), B = prod M_i^k_i, G the computed
product.
Guarantee: entrywise, under TWIDDLE_ERROR. Proof: docs/proofs/lattice.md, lemmas 5 and 6.
Reference: Higham 2002, Thm 24.2 (path argument); Brent, Percival, Zimmermann 2007, Thm 1 (complex product).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from .directed import round_up
from .enclosure import FloatArray
from .ulps import UNIT

ComplexArray = npt.NDArray[np.complex128]

# Assumed bound on the error of one tabulated root of unity, in UNIT; tests/kernels/test_fft.py measures it against Arb.
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


def convolve(factors: Sequence[tuple[Transformed, int]]) -> Circular:
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
