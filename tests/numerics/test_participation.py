"""Both ends of the largest norm contain the truth by its definition, for every rule and kind of matrix."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from tests.oracle import participation as oracle
from tests.search import cases
from tightrope.core.numerics import participation
from tightrope.core.numerics import participation as unit_vectors
from tightrope.core.numerics.columns import Columns, TreeColumns, inverse_toeplitz, toeplitz, whole_numbers
from tightrope.core.numerics.participation import (
    Apart,
    InOrder,
    Interval,
    Listed,
    Use,
    first_slots,
    largest_norm_square,
    largest_sum,
    norm_square,
)
from tightrope.core.values.errors import InvalidParameter

Rows = list[list[Fraction]]
Patterns = list[tuple[int, ...]]


def falling(draw: random.Random, many: int) -> list[float]:
    return sorted((abs(draw.gauss(0, 1)) for _ in range(many)), reverse=True)


def drawn(kind: str, seed: int) -> tuple[Interval, Rows, Patterns]:
    """Both ends for a random matrix of this kind, the matrix in fractions, and the patterns of a record."""
    draw = random.Random(f"{kind} {seed}")
    steps = draw.randint(1, 14 if draw.random() < 0.2 else 10)
    use, patterns = allowed(draw, steps)
    if kind == "tree":
        block = draw.choice([steps, draw.randint(1, steps)])
        return largest_norm_square(TreeColumns(steps, block), use), oracle.tree(steps, block), patterns
    if kind.startswith("matrix"):
        rows = tuple(
            tuple(
                0.0
                if draw.random() < 0.3 or (kind == "matrix lower" and j > i)
                else draw.gauss(0, 1)
                if kind == "matrix signed"
                else abs(draw.gauss(0, 1))
                for j in range(steps)
            )
            for i in range(steps if kind == "matrix lower" else draw.randint(1, 8))
        )
        return norm_square("matrix", rows, steps, steps, use), oracle.rows(rows), patterns
    if kind.startswith("inverse"):
        rest = [
            -abs(draw.random()) / 4 if kind == "inverse falling" else draw.gauss(0, 0.5)
            for _ in range(draw.randint(0, 4))
        ]
        given = (draw.choice([1.0, 0.7] if kind == "inverse falling" else [1.0, -2.0]), *rest)
        return norm_square("inverse", given, steps, steps, use), oracle.inverse(given, steps), patterns
    many = draw.randint(1, steps)
    given = tuple(
        falling(draw, many)
        if "falling" in kind
        else [sign * abs(draw.gauss(0, 1)) for sign in random_signs(draw, kind, many)]
    )
    if "alternating" in kind:
        given = tuple(value * (-1) ** index for index, value in enumerate(given))
    block = draw.randint(1, steps) if "restart" in kind else steps
    return norm_square("toeplitz", given, steps, block, use), oracle.toeplitz(given, steps, block), patterns


def random_signs(draw: random.Random, kind: str, many: int) -> list[int]:
    return [draw.choice((1, -1)) if "signed" in kind else 1 for _ in range(many)]


def allowed(draw: random.Random, steps: int) -> tuple[Use, Patterns]:
    if draw.random() < 0.2:
        epochs = draw.choice([each for each in range(1, steps + 1) if steps % each == 0])
        return InOrder(epochs), list(oracle.in_order(steps, epochs))
    if draw.random() < 0.2:
        listed = tuple(tuple(sorted(draw.sample(range(steps), draw.randint(1, min(steps, 5))))) for _ in range(3))
        return Listed(listed), list(listed)
    count, gap = draw.randint(1, 5), draw.randint(1, 5)
    return Apart(count, gap), list(oracle.apart(steps, count, gap))


NONNEGATIVE = (
    "matrix",
    "matrix lower",
    "toeplitz",
    "toeplitz falling",
    "toeplitz restart",
    "toeplitz falling restart",
    "tree",
)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("kind", NONNEGATIVE)
def test_matrices_without_negative_entries_are_exact(kind: str, seed: int) -> None:
    ends, rows, patterns = drawn(kind, seed)
    truth = max(oracle.all_equal(rows, pattern) for pattern in patterns)
    assert ends.lower <= truth <= ends.upper
    assert ends.upper - ends.lower <= Fraction(1, 10**12) * truth


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("kind", ["toeplitz falling alternating", "inverse falling"])
def test_signs_that_the_steps_can_undo(kind: str, seed: int) -> None:
    ends, rows, patterns = drawn(kind, seed)
    truth = max(oracle.along_a_line(rows, pattern) for pattern in patterns)
    assert ends.lower <= truth <= ends.upper
    assert ends.upper - ends.lower <= Fraction(1, 10**12) * truth


@pytest.mark.parametrize("seed", range(cases(7, 12)))
@pytest.mark.parametrize("kind", ["matrix signed", "toeplitz signed", "toeplitz signed restart", "inverse signed"])
def test_entries_of_both_signs(kind: str, seed: int) -> None:
    ends, rows, patterns = drawn(kind, seed)
    most = maximal(patterns)
    if len(most) > 20:
        most = random.Random(seed).sample(most, 20)
    assert ends.upper >= max(oracle.along_a_line(rows, pattern) for pattern in most)
    found = [oracle.vectors(rows, pattern) for pattern in most]
    assert float(ends.upper) >= max(lower for lower, _ in found) * (1 - 1e-10)
    if len(most) < 20:
        assert float(ends.lower) <= max(upper for _, upper in found) * (1 + 1e-10)


def maximal(patterns: Patterns) -> Patterns:
    return [pattern for pattern in patterns if not any(set(pattern) < set(other) for other in patterns)]


def slots(coefficients: Sequence[float], steps: int, count: int, gap: int) -> Fraction:
    return oracle.all_equal(oracle.toeplitz(coefficients, steps), range(0, steps, gap)[:count])


@pytest.mark.parametrize("seed", range(40))
def test_the_first_slots_are_added_up_exactly(seed: int) -> None:
    draw = random.Random(seed)
    steps, count, gap = draw.randint(1, 20), draw.randint(1, 8), draw.randint(1, 6)
    whole = [draw.randint(-5, 5) for _ in range(draw.randint(1, 25))]
    assert first_slots(whole, steps, count, gap) == slots(whole, steps, count, gap)


@pytest.mark.parametrize(
    ("coefficients", "steps", "count", "gap", "block"),
    [
        ((1.0, 0.0, 1.0), 9, 4, 1, 9),  # every second step
        ((1.0, 0.1, 0.2, 0.9), 11, 3, 2, 11),
        ((0.1, 0.2, 0.0, 0.9), 13, 4, 1, 13),
        ((1.0, 1.0, -1.0), 8, 3, 1, 8),  # neither signs nor order
        ((1.0, -0.5, 0.25, 0.5), 9, 4, 1, 9),
        ((1.0, 0.0, 0.75), 12, 3, 1, 7),  # of blocks
        ((1.0, 0.9, 0.1, 0.8), 11, 4, 2, 6),
    ],
)
def test_the_first_slots_where_they_are_not_the_worst(
    coefficients: tuple[float, ...], steps: int, count: int, gap: int, block: int
) -> None:
    """Coefficients that do not fall: the rule would be too low, and is not used."""
    rows = oracle.toeplitz(coefficients, steps, block)
    ends = norm_square("toeplitz", coefficients, steps, block, Apart(count, gap))
    first = oracle.all_equal(rows, range(0, steps, gap)[:count])
    measure = oracle.along_a_line if min(coefficients) < 0.0 else oracle.all_equal
    truth = max(measure(rows, pattern) for pattern in oracle.apart(steps, count, gap))
    assert first < truth <= ends.upper
    if min(coefficients) >= 0.0:
        assert ends.lower == ends.upper == truth


def test_trees_have_worse_patterns_than_the_first_slots() -> None:
    """Steps 0, 3, 6, 12, 15 have two pairs in nodes of four, steps 0, 3, 6, 9, 12 one."""
    ends = largest_norm_square(TreeColumns(16, 16), Apart(5, 3))
    rows = oracle.tree(16)
    assert ends.lower == ends.upper == max(oracle.all_equal(rows, pattern) for pattern in oracle.apart(16, 5, 3))
    assert ends.lower > oracle.all_equal(rows, (0, 3, 6, 9, 12))


def test_a_coefficient_that_rises_by_its_last_digit_is_no_falling_one() -> None:
    columns, _ = toeplitz((1.0, math.nextafter(1.0, 2.0), 0.5), 8, 8)
    assert not columns.fall(2)
    assert columns.fall(3)  # orthogonal
    columns, _ = toeplitz((1.0, -1.0, 0.5, -0.5), 8, 8)
    assert columns.fall(1)
    columns, _ = toeplitz((1.0, -1.0, -0.5), 8, 8)
    assert not columns.fall(1)


def test_inverse_coefficients_lie_within_their_slack() -> None:
    given = (0.7, -0.3, 0.1, -0.2)
    columns, exponent = inverse_toeplitz(given, 60, 60)
    truth = [row[0] for row in oracle.inverse(given, 60)]
    unit = Fraction(2) ** exponent
    errors = [abs(each * unit - true) for each, true in zip(columns.coefficients, truth, strict=False)]
    assert 0 < max(errors) <= columns.slack * unit < Fraction(1, 2**200)


def test_more_steps_than_the_error_of_an_inverse_allows() -> None:
    given = (1.0, -0.5, -0.125)
    columns, _ = inverse_toeplitz(given, 2**200, 2**200)
    assert columns.slack > 0
    with pytest.raises(InvalidParameter, match="at most 2"):
        inverse_toeplitz(given, 2**300, 2**300)
    assert inverse_toeplitz((1.0,), 2**300, 2**300)[0].slack == 0


def test_roundings_do_not_keep_an_inverse_from_falling() -> None:
    """The square root of prefix sums, inverted: its coefficients fall."""
    given, value = [1.0], 1.0
    for m in range(1, 17):
        value *= (m - 1.5) / m
        given.append(value)
    columns, _ = inverse_toeplitz(tuple(given), 2048, 2048)
    assert columns.fall(1)


@pytest.mark.parametrize("span", [0, 300, 600, 2000])
def test_doubles_as_whole_numbers(span: int) -> None:
    values = [1.5 * 2.0 ** (span // 2 if span < 2000 else 1000), -(2.0 ** -(span // 2 if span < 2000 else 1000)), 0.0]
    whole, exponent, exact = whole_numbers(values)
    unit = Fraction(2) ** exponent
    assert exact == (span <= 500)
    for given, found in zip(values, whole, strict=True):
        assert abs(found * unit) <= abs(Fraction(given))
        assert abs(Fraction(given) - found * unit) < (unit if not exact else Fraction(1, 10**400))
    assert whole_numbers([0.0, 0.0]) == ([0, 0], 0, True)


def test_columns_of_a_wide_span_keep_the_truth_inside() -> None:
    rows = ((1e200, 0.0, 1e-200), (1e200, 1e-100, 0.0), (0.0, 1e-200, 3e199))
    ends = norm_square("matrix", rows, 3, 3, Apart(2, 1))
    truth = max(oracle.all_equal(oracle.rows(rows), pattern) for pattern in oracle.apart(3, 2, 1))
    assert ends.lower < truth < ends.upper
    assert ends.upper - ends.lower < truth / 2**400


def test_coefficients_that_are_cut_off_to_zero_count() -> None:
    """A thousand of them, each below the last digit that is kept."""
    given = (1.0, *[2.0**-513] * 1000)
    columns, exponent = toeplitz(given, 1001, 1001)
    assert len(columns.coefficients) == 1
    missed = 1000 * Fraction(2) ** (2 * -513)  # the square of what a column lacks
    assert missed <= (columns.slack * Fraction(2) ** exponent) ** 2


def test_the_sum_over_vectors_has_ends_that_meet() -> None:
    ends = largest_sum([[9 - 3, -3, -3], [-3, 9 - 3, -3], [-3, -3, 9 - 3]])
    assert ends.lower <= 27 <= ends.upper
    assert ends.upper - ends.lower < Fraction(1, 10**11)
    assert largest_sum([[2, -1], [-1, 2]]) == Interval(Fraction(6), Fraction(6))
    many = [[3 if i == j else -1 if (i - j) % 140 in (1, 139) else 0 for j in range(140)] for i in range(140)]
    odd = [[*row[:139]] for row in many[:139]]
    odd[0][138] = odd[138][0] = -1  # an odd circle: no signs undo it
    rough = largest_sum(odd)
    assert rough.lower < rough.upper == 3 * 139 + 2 * 139
    assert rough.lower >= 3 * 139 + 2 * 137


def test_a_dual_that_no_factorisation_proves_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_vectors, "_positive_definite", lambda *_: False)
    assert largest_sum([[6, -3, -3], [-3, 6, -3], [-3, -3, 6]]).upper == 36


@pytest.mark.parametrize("seed", range(6))
def test_a_search_that_ends_early_keeps_the_truth_inside(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without time, and with words of 64 bits."""
    draw = random.Random(seed)
    rows = tuple(tuple(draw.random() if j <= i else 0.0 for j in range(12)) for i in range(12))
    truth = max(oracle.all_equal(oracle.rows(rows), pattern) for pattern in oracle.apart(12, 4, 2))
    for work, exact in ((0, 10**6), (10**5, 0), (0, 0)):
        monkeypatch.setattr(participation, "NODES_WORK", work)
        monkeypatch.setattr(participation, "EXACT_WORK", exact)
        monkeypatch.setattr(participation, "BANDED_WORK", 0)
        ends = norm_square("matrix", rows, 12, 12, Apart(4, 2))
        assert ends.lower <= truth <= ends.upper
        assert work == 0 or ends.upper - ends.lower <= truth / 2**45


@pytest.mark.parametrize("seed", range(cases(3, 6)))
@pytest.mark.parametrize("signed", [True, False])
def test_any_number_of_steps(seed: int, signed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all inner products are too many: by lags."""
    monkeypatch.setattr(participation, "SEARCHED_MAX", 0)
    draw = random.Random(seed)
    given = tuple(draw.gauss(0, 1) if signed else draw.random() for _ in range(4))
    rows = oracle.toeplitz(given, 11)
    for count, gap in ((3, 1), (4, 2), (11, 1), (2, 3)):
        ends = norm_square("toeplitz", given, 11, 11, Apart(count, gap))
        patterns = list(oracle.apart(11, count, gap))
        if signed:
            assert ends.upper >= max(oracle.along_a_line(rows, pattern) for pattern in patterns if len(pattern) < 5)
            if len(patterns) <= 10:
                most = max(oracle.vectors(rows, pattern)[1] for pattern in patterns)
                assert float(ends.lower) <= most * (1 + 1e-9)
        else:
            assert ends.lower <= max(oracle.all_equal(rows, pattern) for pattern in patterns) <= ends.upper


@pytest.mark.parametrize(("steps", "block", "count", "gap"), [(40, 40, 5, 3), (37, 37, 4, 7), (30, 8, 6, 3)])
def test_trees_by_levels_contain_what_the_dynamic_programme_finds(
    steps: int, block: int, count: int, gap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = largest_norm_square(TreeColumns(steps, block), Apart(count, gap))
    assert exact.lower == exact.upper
    monkeypatch.setattr(participation, "TREE_WORK", 0)
    rough = largest_norm_square(TreeColumns(steps, block), Apart(count, gap))
    assert rough.lower <= exact.lower <= rough.upper


def test_large_trees_in_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = largest_norm_square(TreeColumns(44, 44), InOrder(4))
    for work in (60, 3):
        monkeypatch.setattr(participation, "PATTERNS_WORK", work)
        some = largest_norm_square(TreeColumns(44, 44), InOrder(4))
        assert whole.lower == whole.upper
        assert some.lower <= whole.lower <= some.upper


@pytest.mark.parametrize(
    ("columns", "use", "said"),
    [
        (TreeColumns(10**9, 10**9), Apart(10**9, 1), "participations="),
        (toeplitz((0.5, 1.0), 10**9, 10**4)[0], Apart(10**9, 1), "that do not fall"),
        (toeplitz((1.0, 0.5), 10**9, 3)[0], Apart(10**9, 1), "restart makes too many"),
        (toeplitz((0.5, 1.0), 10**9, 3)[0], InOrder(10**3), "too many patterns"),
    ],
)
def test_what_is_too_long_is_refused(columns: Columns, use: Use, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(participation, "BLOCKS_WORK", 1000)
    monkeypatch.setattr(participation, "LAGS_WORK", 3)
    with pytest.raises(InvalidParameter, match=said):
        largest_norm_square(columns, use)


@pytest.mark.parametrize("signed", [True, False])
def test_every_step_of_a_large_matrix(signed: bool) -> None:
    """One pattern, which takes no search."""
    draw = random.Random(3)
    steps = 40
    rows = tuple(
        tuple((draw.gauss(0, 1) if signed else draw.random()) if j <= i else 0.0 for j in range(steps))
        for i in range(steps)
    )
    exact = oracle.rows(rows)
    for use in (Apart(steps, 1), InOrder(steps), Listed((tuple(range(steps)),))):
        ends = norm_square("matrix", rows, steps, steps, use)
        assert ends.lower <= ends.upper <= ends.lower * (1 + Fraction(1, 10**6))
        if signed:
            assert float(ends.upper) >= oracle.vectors(exact, range(steps))[0] * (1 - 1e-12)
        else:
            assert ends.lower == ends.upper == oracle.all_equal(exact, range(steps))
