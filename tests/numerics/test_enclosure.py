"""Running-error arithmetic: the truth lies inside every radius, and no radius is idle."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from flint import arb

from tests.oracle.precision import precision
from tests.search import cases
from tightrope.core.numerics.enclosures import (
    Enclosure,
    around,
    count_enclosure,
    enclosing,
    exact,
    log_normal_sides,
    mills,
    where,
)

BITS = 400
POINTS = cases(2_500, 10_000)
SPOTS = cases(800, 2_000)  # within whose radius operands lie


def _mills(x: arb) -> arb:
    return (x * x / 2).exp() * (x / arb(2).sqrt()).erfc() * (arb.pi() / 2).sqrt()


def _log_phi(x: arb) -> arb:
    return ((-x / arb(2).sqrt()).erfc() / 2).log()


def _wide(rng: np.random.Generator, low: float, high: float, size: int = POINTS) -> np.ndarray:
    return rng.choice([-1.0, 1.0], size) * 10.0 ** rng.uniform(low, high, size)


class Operation(NamedTuple):
    computed: Callable[..., Enclosure]
    truth: Callable[..., arb]
    points: Callable[[np.random.Generator], tuple[np.ndarray, ...]]


OPERATIONS = {
    "sum": Operation(operator.add, operator.add, lambda rng: (_wide(rng, -3, 3), _wide(rng, -3, 3))),
    "difference": Operation(operator.sub, operator.sub, lambda rng: (_wide(rng, -3, 3), _wide(rng, -3, 3))),
    "product": Operation(operator.mul, operator.mul, lambda rng: (_wide(rng, -150, 150), _wide(rng, -150, 150))),
    "quotient": Operation(
        operator.truediv, operator.truediv, lambda rng: (_wide(rng, -150, 150), _wide(rng, -150, 150))
    ),
    "exp": Operation(Enclosure.exp, arb.exp, lambda rng: (rng.uniform(-700.0, 700.0, POINTS),)),
    "expm1": Operation(Enclosure.expm1, arb.expm1, lambda rng: (_wide(rng, -300, 2.8),)),
    "log": Operation(Enclosure.log, arb.log, lambda rng: (10.0 ** rng.uniform(-300.0, 300.0, POINTS),)),
    "log next to 1": Operation(Enclosure.log, arb.log, lambda rng: (rng.uniform(0.5, 2.0, POINTS),)),
    "log1p": Operation(Enclosure.log1p, arb.log1p, lambda rng: (10.0 ** rng.uniform(-300.0, 300.0, POINTS),)),
    "log1p left of 0": Operation(Enclosure.log1p, arb.log1p, lambda rng: (-rng.uniform(0.0, 0.999, POINTS),)),
    "sqrt": Operation(Enclosure.sqrt, arb.sqrt, lambda rng: (10.0 ** rng.uniform(-300.0, 300.0, POINTS),)),
    "mills": Operation(mills, _mills, lambda rng: (rng.uniform(0.0, 60.0, POINTS),)),
    "mills left of 0": Operation(mills, _mills, lambda rng: (rng.uniform(-37.0, 0.0, POINTS),)),
}


def _within(centres: np.ndarray, radii: np.ndarray, shares: np.ndarray) -> list[arb]:
    """Points at the given shares of the radii, exactly."""
    rows = zip(centres.tolist(), radii.tolist(), shares.tolist(), strict=True)
    return [arb(centre) + arb(radius) * arb(share) for centre, radius, share in rows]


def _errors(result: Enclosure, truths: list[arb]) -> np.ndarray:
    """|value - truth| rounded up, with containment asserted on the way; 0 where there is no truth to compare with."""
    errors = []
    values, lower, upper = result.value.tolist(), result.lower.tolist(), result.upper.tolist()
    for value, low, high, truth in zip(values, lower, upper, truths, strict=True):
        if truth.is_nan():  # log of a negative number: the operand's radius allows it
            errors.append(0.0)
            continue
        assert arb(low) <= truth <= arb(high), (value, low, high, truth)
        errors.append(float(abs(arb(value) - truth).upper()) if math.isfinite(value) else math.inf)
    return np.array(errors)


@pytest.mark.parametrize("name", OPERATIONS)
def test_rounding_of_one_operation(name: str) -> None:
    """Exact operands: inside the radius at every point, and the worst point comes within a factor 1,000 of it."""
    computed, truth, points = OPERATIONS[name]
    operands = points(np.random.default_rng(50))
    result = computed(*map(exact, operands))
    with precision(BITS):
        truths = [truth(*map(arb, row)) for row in zip(*(x.tolist() for x in operands), strict=True)]
        errors = _errors(result, truths)
    assert (errors <= result.radius).all()
    assert (errors / result.radius).max() > 1e-3


@pytest.mark.parametrize("size", [1e-14, 1e-6, 1e-2, 0.4])
@pytest.mark.parametrize("name", OPERATIONS)
def test_propagation_through_one_operation(name: str, size: float) -> None:
    """Operands anywhere within their radius, ends included; the worst comes within a factor 1,000."""
    computed, truth, points = OPERATIONS[name]
    rng = np.random.default_rng(51)
    centres = [x[:SPOTS] for x in points(rng)]
    radii = [abs(x) * size * rng.uniform(0.0, 1.0, x.size) for x in centres]
    result = computed(*(around(x, r) for x, r in zip(centres, radii, strict=True)))
    known = np.isfinite(result.radius)
    assert known.mean() > 0.5
    worst = np.zeros(SPOTS)
    with precision(BITS):
        for _ in range(3):
            shares = [rng.choice([-1.0, 1.0, 0.3, -0.7], x.size) for x in centres]
            places = [_within(*each) for each in zip(centres, radii, shares, strict=True)]
            truths = [truth(*row) for row in zip(*places, strict=True)]
            worst = np.maximum(worst, _errors(result, truths))
    assert (worst[known] / result.radius[known]).max() > 1e-3


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.01])
def test_both_sides_of_the_normal_law(size: float) -> None:
    """log Phi(u) and log Phi(-u), from far out to far in."""
    rng = np.random.default_rng(52)
    centres = np.concatenate([rng.uniform(-60.0, 15.0, 200), [0.0, -0.0, 1e-300, -1e-17, -200.0]])
    radii = abs(centres) * size * rng.uniform(0.0, 1.0, centres.size)
    found, other = log_normal_sides(around(centres, radii)), log_normal_sides(around(-centres, radii))
    with precision(BITS):
        for share in (-1.0, 0.3, 1.0):
            places = _within(centres, radii, np.full(centres.size, share))
            truths = [_log_phi(place) for place in places]
            assert max(_errors(found[0], truths)) <= max(found[0].radius)
            _errors(other[1], truths)
    assert (found[0].radius[:200] <= (1e-14 + 2.0 * size) * (1.0 + centres[:200] ** 2)).all()


UNARY: list[tuple[Callable[[Enclosure], Enclosure], Callable[[arb], arb]]] = [
    (lambda x: (x * x * -0.5).exp(), lambda x: (x * x * -0.5).exp()),
    (lambda x: (x * 0.25).expm1(), lambda x: (x * 0.25).expm1()),
    (lambda x: (x * x).log1p(), lambda x: (x * x).log1p()),
    (lambda x: (x * x + 0.5).log(), lambda x: (x * x + 0.5).log()),
    (lambda x: (x * x).sqrt(), lambda x: (x * x).sqrt()),
    (mills, _mills),
    (operator.neg, operator.neg),
    (lambda x: 1.0 - x, lambda x: 1 - x),
    (lambda x: 2.0 / x, lambda x: 2 / x),
]
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv]


def _formula(rng: np.random.Generator, depth: int) -> Callable[[list, int], object]:
    """A random formula that runs on a list of leaves: in Enclosure with side 0, in Arb with side 1."""
    if depth == 0:
        leaf = int(rng.integers(3))
        return lambda leaves, side: leaves[leaf]
    left = _formula(rng, depth - 1)
    if rng.random() < 0.5:
        both = UNARY[int(rng.integers(len(UNARY)))]
        return lambda leaves, side: both[side](left(leaves, side))  # type: ignore[arg-type]
    right = _formula(rng, depth - 1)
    operation = BINARY[int(rng.integers(4))]
    return lambda leaves, side: operation(left(leaves, side), right(leaves, side))


def test_random_formulas_enclose_the_truth() -> None:
    rng = np.random.default_rng(52)
    told = narrow = 0
    for _ in range(400):
        formula = _formula(rng, int(rng.integers(1, 6)))
        centres = [_wide(rng, -2, 1, 25) for _ in range(3)]
        radii = [abs(x) * 10.0 ** rng.uniform(-17.0, -5.0) * rng.choice([0.0, 1.0], 25) for x in centres]
        result = formula([around(x, r) for x, r in zip(centres, radii, strict=True)], 0)
        assert isinstance(result, Enclosure)
        with precision(BITS):
            leaves = [_within(x, r, rng.uniform(-1.0, 1.0, 25)) for x, r in zip(centres, radii, strict=True)]
            for low, high, *row in zip(result.lower.tolist(), result.upper.tolist(), *leaves, strict=True):
                truth = formula(row, 1)
                assert isinstance(truth, arb)
                if truth.is_exact() or truth.rel_accuracy_bits() >= 100:  # else Arb does not know it either
                    assert arb(low) <= truth <= arb(high), (low, high, truth)
                    told += 1
                    narrow += high - low <= 1e-3 * max(abs(low), abs(high))
    assert told > 7_000
    assert narrow > 0.7 * told


def test_sum_of_many_terms() -> None:
    """Terms that cancel: the radius follows the sum of sizes, not the result."""
    rng = np.random.default_rng(53)
    terms = _wide(rng, -8, 8, 50_000)
    radii = abs(terms) * 1e-6 * rng.choice([0.0, 1.0], terms.size)
    with precision(BITS):
        plain, spread = sum(map(arb, terms.tolist()), arb(0)), sum(map(arb, radii.tolist()), arb(0))
        rounded = exact(terms).sum()
        moved = around(terms, radii).sum()
        assert arb(float(rounded.lower)) <= plain <= arb(float(rounded.upper))
        for end in (plain - spread, plain + spread):
            assert arb(float(moved.lower)) <= end <= arb(float(moved.upper))
    assert exact(np.zeros(0)).sum().value == 0.0


def test_exp_of_a_wide_argument_that_underflows() -> None:
    """e^-1000 is 0 in doubles, e^(-1000 + 700) is not."""
    for result in (around(-1000.0, 700.0).exp(), around(-1000.0, 700.0).expm1() + 1.0):
        assert result.lower <= math.exp(-1700.0) <= math.exp(-300.0) <= result.upper


def test_quotient_that_underflows_over_a_wide_divisor() -> None:
    result = exact(3e-324) / around(1e12, 1e12 * (1.0 - 2.0**-50))
    with precision(BITS):
        truth = arb(3e-324) / (arb(1e12) * arb(2.0**-50) * 2)
    assert arb(float(result.lower)) <= truth <= arb(float(result.upper))


def test_tiny_products_keep_their_radius() -> None:
    x = around(3e-170, 2e-170)
    product = x * x
    with precision(BITS):
        assert arb(5e-170) ** 2 <= arb(float(product.upper))
        assert arb(float(product.lower)) <= arb(1e-170) ** 2


def test_root_at_zero() -> None:
    assert exact(0.0).sqrt().upper < 1e-300
    assert around(0.0, 1e-20).sqrt().upper >= 1e-10
    assert 1e-10 <= around(1e-30, 1e-20).sqrt().upper < 1.1e-10


@pytest.mark.parametrize(
    "unknown",
    [
        around(0.0, 1.0).log(),
        around(-0.5, 0.5).log1p(),
        exact(-1.0).log(),
        exact(-1.0).sqrt(),
        1.0 / around(1.0, 1.0),
        exact(0.0) / exact(0.0),
        exact(math.inf) - exact(math.inf),
        exact(math.inf) * exact(0.0),
        exact(math.nan) + 1.0,
        around(0.0, math.inf).exp(),
        around(1.0, math.nan) * 2.0,
        exact(1e308) * 1e10,
        exact(1000.0).exp(),
        mills(exact(-100.0)),
        mills(around(1.0, math.inf)),
        enclosing(0.0, math.inf) + 1.0,
        exact([1e308, 1e308]).sum(),
    ],
    ids=str,
)
def test_what_is_not_known_reaches_upward_without_end(unknown: Enclosure) -> None:
    assert unknown.upper == math.inf
    assert not np.isnan(unknown.lower)


def test_what_is_exact_stays_exact() -> None:
    for number in (0.0, 0.1, -5e-324, math.inf, -math.inf):
        assert exact(number).lower == exact(number).upper == number
        assert enclosing(number, number).lower == enclosing(number, number).upper == number


@pytest.mark.parametrize("count", [0, 3, 10**15, 2**53 + 1, 2**200 + 2**140 + 2**87 + 1, 10**300 + 1])
def test_whole_numbers_of_any_size(count: int) -> None:
    number = count_enclosure(count)
    assert Fraction(float(number.lower)) <= count <= Fraction(float(number.upper))
    assert abs(Fraction(float(number.value)) - count) <= Fraction(float(number.radius))
    assert (number.radius == 0.0) == (count <= 2**53)


def test_enclosing_contains_its_ends() -> None:
    rng = np.random.default_rng(54)
    low, high = _wide(rng, -320, 300), _wide(rng, -320, 300)
    for result in (enclosing(low, high), enclosing(high, low)):
        assert (result.lower <= np.minimum(low, high)).all()
        assert (result.upper >= np.maximum(low, high)).all()
    endless = enclosing([0.0, -math.inf, -1e308], [math.inf, 0.0, 1.7e308])
    assert (endless.lower <= [0.0, -math.inf, -1e308]).all()
    assert (endless.upper >= [math.inf, 0.0, 1.7e308]).all()


def test_choice_clipping_and_arrays_on_the_left() -> None:
    x = around([1.0, -2.0], [0.1, 0.2])
    chosen = where(np.array([True, False]), x, exact([5.0, 6.0]))
    np.testing.assert_array_equal(chosen.value, [1.0, 6.0])
    np.testing.assert_array_equal(chosen.radius, [0.1, 0.0])
    clipped = around([1.0, -0.1, -2.0], [0.1, 0.2, 0.2]).clip_below(0.0)  # above, on both sides, below
    np.testing.assert_array_equal(clipped.value, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(clipped.radius, [0.1, 0.2, 0.0])
    left = np.array([1.0, 2.0]) * x
    assert isinstance(left, Enclosure)
    np.testing.assert_array_equal(left.value, [1.0, -4.0])
    np.testing.assert_array_equal(x[1:].value, [-2.0])
