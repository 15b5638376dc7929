"""The transform's error constant, against roots of unity in Arb and against convolutions in exact integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx, fmpz_poly
from scipy.fft import irfft, rfft

from tightrope.core.numerics import convolution as fft
from tightrope.core.numerics.rounding import UNIT
from tightrope.core.values.errors import InvalidParameter


def _roots(length: int) -> np.ndarray:
    """e^(-2 pi i j / N) correctly rounded, from Arb."""
    before = ctx.prec
    ctx.prec = 80
    try:
        quarter = [(acb(0, -2) * arb.pi() * j / length).exp() for j in range(length)]
        return np.array([complex(float(z.real.mid()), float(z.imag.mid())) for z in quarter])
    finally:
        ctx.prec = before


@pytest.mark.parametrize("length", [8, 64, 1024, 8192, 32768])
def test_impulses_stay_within_the_error_constant(length: int) -> None:
    """An impulse reads the transform's own roots of unity: outputs are products of tabulated ones."""
    roots = _roots(length)
    rng = np.random.default_rng(length)
    for place in {1, length - 1, length // 2 + 1, *map(int, rng.integers(1, length, 6))}:
        impulse = np.zeros(length)
        impulse[place] = 1.0
        wanted = roots[np.arange(length // 2 + 1) * place % length]
        seen = float(np.abs(rfft(impulse) - wanted).max())
        assert seen <= fft.transform_error(length)
        assert seen <= (fft.TWIDDLE_ERROR + 2.0) * UNIT * (length.bit_length() - 1)


@pytest.mark.parametrize("length", [64, 4096])
def test_inverse_transform_of_a_line(length: int) -> None:
    """irfft of one frequency is a cosine, here against Arb."""
    roots = _roots(length)
    for place in (1, 3, length // 4 + 1):
        line = np.zeros(length // 2 + 1, dtype=complex)
        line[place] = 1.0
        wanted = 2.0 * roots[np.arange(length) * place % length].real / length
        assert np.abs(irfft(line, length) - wanted).max() <= 2.0 * fft.transform_error(length) / length


def _exact_power(masses: np.ndarray, count: int, length: int) -> list[Fraction]:
    """The circular power in integers over a common power of two."""
    whole = [int(x * 2.0**60) for x in masses]
    assert all(value / 2.0**60 == x for value, x in zip(whole, masses, strict=True))
    circular = [0] * length
    for index, value in enumerate((fmpz_poly(whole) ** count).coeffs()):
        circular[index % length] += int(value)
    return [Fraction(value, 1 << (60 * count)) for value in circular]


@pytest.mark.parametrize("count", [1, 2, 7, 64])
@pytest.mark.parametrize("seed", range(6))
def test_power_against_exact_integers(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    length = 256
    weights = rng.random(200) ** rng.integers(1, 12)
    masses = np.floor(weights / weights.sum() * 2.0**50) / 2.0**50
    power = fft.fft_convolve([(fft.spectrum(masses, length), count)])
    truth = _exact_power(masses, count, length)
    errors = [abs(Fraction(x) - y) for x, y in zip(map(float, power.masses), truth, strict=True)]
    assert max(errors) <= power.radius
    assert power.radius <= 1e-12 * count, "a radius that is a bound and no more useful is a defect too"


def test_product_of_distinct_laws_against_exact_integers() -> None:
    rng = np.random.default_rng(5)
    length, laws = 128, []
    for size, count in ((20, 3), (90, 2), (5, 11)):
        weights = rng.random(size)
        laws.append((np.floor(weights / weights.sum() * 2.0**50) / 2.0**50, count))
    power = fft.fft_convolve([(fft.spectrum(masses, length), count) for masses, count in laws])
    product = fmpz_poly([1])
    bits = 0
    for masses, count in laws:
        product *= fmpz_poly([int(x * 2.0**50) for x in masses]) ** count
        bits += 50 * count
    circular = [0] * length
    for index, value in enumerate(product.coeffs()):
        circular[index % length] += int(value)
    errors = [abs(Fraction(float(x)) - Fraction(y, 1 << bits)) for x, y in zip(power.masses, circular, strict=True)]
    assert max(errors) <= power.radius


def test_upper_sum_is_above_the_exact_sum() -> None:
    rng = np.random.default_rng(0)
    for size in (0, 1, 1000, 1024, 5000, 300_000):
        masses = rng.random(size) * 10.0 ** rng.integers(-20, 20, size)
        exact = sum((Fraction(float(x)) for x in masses), Fraction(0))
        assert Fraction(fft.upper_sum(masses)) >= exact
        assert fft.upper_sum(masses) <= float(exact) * (1.0 + 1e-12)


def test_refuses_what_it_cannot_bound() -> None:
    law = fft.spectrum(np.full(8, 0.5), 8)
    with pytest.raises(InvalidParameter):
        fft.fft_convolve([(law, 1000)])
    with pytest.raises(InvalidParameter):
        fft.fft_convolve([(law, 0)])
    with pytest.raises(InvalidParameter):
        fft.fast_length(1 << 27)
    assert [fft.fast_length(size) for size in (1, 8, 9, 1024, 1025)] == [8, 8, 16, 1024, 2048]
