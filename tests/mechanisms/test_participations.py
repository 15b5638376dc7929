"""Records that take part in several steps: known sensitivities, ways to write them, and what is refused."""

from __future__ import annotations

import math
import pickle
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tightrope as tr
from tests.oracle import participation as oracle


def square_root(steps: int) -> list[float]:
    """Of the matrix of prefix sums."""
    found = [1.0]
    for m in range(1, steps):
        found.append(found[-1] * (2 * m - 1) / (2 * m))
    return found


def inverse_root(bands: int) -> list[float]:
    """Of its inverse, cut to so many coefficients."""
    found = [1.0]
    for m in range(1, bands):
        found.append(found[-1] * (2 * m - 3) / (2 * m))
    return found


GEOMETRIC = [1, 0.5, 0.25, 0.125]
MODULAR = [[((7 * i + 3 * j) % 5 + 1) / 5 if j <= i else 0.0 for j in range(9)] for i in range(9)]
HUB = [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]]
PREFIX, ROOT = [1.0] * 6, square_root(16)
RISING, RESTARTED = [0.25, 0.5, 1], {"toeplitz": ROOT, "steps": 12, "restart": 4}
Row = tuple[dict[str, Any], float, Fraction | None]
MATRICES: list[Row] = [
    ({"matrix": np.eye(10), "participations": 4, "separation": 2}, 2.0, Fraction(4)),
    ({"toeplitz": PREFIX, "steps": 6, "participations": 3, "separation": 2}, 5.2915026221292, Fraction(28)),
    ({"toeplitz": ROOT, "steps": 12, "participations": 3, "separation": 4}, 2.8995913837348, None),
    ({"toeplitz": ROOT, "steps": 12, "epochs": 3}, 2.8995913837348, None),
    ({"toeplitz": ROOT, "steps": 16, "participations": 4, "separation": 3}, 3.9899825431900, None),
    ({"toeplitz": ROOT[:4], "steps": 16, "participations": 4, "separation": 4}, 2.4399026619929, Fraction(381, 64)),
    ({"toeplitz": GEOMETRIC, "steps": 20, "participations": 5, "separation": 2}, 3.0233466556120, Fraction(585, 64)),
    ({"toeplitz": GEOMETRIC, "steps": 20, "participations": 3, "separation": 4}, 1.9960899278339, Fraction(255, 64)),
    ({"inverse": [1, -0.5, -0.125], "steps": 16, "participations": 4, "separation": 4}, 2.8172640945620, None),
    ({"inverse": inverse_root(4), "steps": 18, "participations": 3, "separation": 6}, 2.4463581762020, None),
    ({"toeplitz": RISING, "steps": 10, "participations": 3, "separation": 2}, 2.2220486043289, Fraction(79, 16)),
    ({"toeplitz": [1, 0, 1], "steps": 9, "participations": 4}, 3.7416573867739, Fraction(14)),
    ({**RESTARTED, "participations": 3, "separation": 4}, 2.1130176880471, Fraction(1143, 256)),
    ({**RESTARTED, "participations": 4, "separation": 2}, 2.7570931250141, Fraction(973, 128)),
    ({"matrix": MODULAR, "participations": 3, "separation": 2}, 4.4542114902640, None),
    ({"matrix": MODULAR, "patterns": [[0, 3, 4], [1, 5], [2, 6, 8]]}, 4.2848570571257, None),
    ({"toeplitz": [1, -0.5], "steps": 4, "participations": 4}, 2.7838821814150, Fraction(31, 4)),
    ({"toeplitz": [1, -0.5, -0.25], "steps": 5, "participations": 3}, 2.2638462845344, Fraction(41, 8)),
    ({"matrix": HUB, "participations": 3}, 5.1961524227066, None),
]  # fmt: skip
TREES: list[Row] = [
    ({"steps": 8, "participations": 2, "separation": 4}, 3.1622776601684, Fraction(10)),
    ({"steps": 12, "participations": 3, "separation": 4}, 3.6055512754640, Fraction(13)),
    ({"steps": 16, "participations": 4}, 7.7459666924148, Fraction(60)),
]


@pytest.mark.parametrize(
    ("make", "given", "norm", "square"),
    [(tr.MatrixMechanism, *row) for row in MATRICES] + [(tr.TreeAggregation, *row) for row in TREES],
)
def test_known_sensitivities(make: Any, given: dict[str, Any], norm: float, square: Fraction | None) -> None:
    """By brute force over all patterns in fractions, fourteen digits."""
    run = make(sigma=1.0, **given)
    found = run.total_sensitivity
    assert found.lower - 1e-12 <= norm <= found.upper + 1e-12
    assert found.width < 1e-12
    if square is not None:
        assert shift(run, 0) == shift(run, 1) == square
    assert run.attained
    for delta in (1e-2, 1e-9):
        below, above = (tr.Gaussian(sigma=1.0, sensitivity=norm + more).epsilon(delta) for more in (-1e-12, 1e-12))
        answer = run.epsilon(delta)
        assert below.lower <= answer.upper
        assert answer.lower <= above.upper
        assert answer.width < 1e-9


def shift(run: tr.Mechanism, end: int) -> Fraction:
    pair = (run.witnesses(tr.Direction.ADD)[0], run.pair(tr.Direction.ADD))[end]
    return sum((Fraction(d) ** 2 * count for _, d, count in pair.shifts), Fraction(0))  # type: ignore[attr-defined]


@pytest.mark.parametrize("make", [tr.MatrixMechanism, tr.TreeAggregation])
@pytest.mark.parametrize(
    "given",
    [
        {"participations": 3, "separation": 4},
        {"epochs": 4},
        {"separation": 5},
        {"patterns": [[0, 3, 7], [1], [2, 11]]},
        {"participations": 2, "restart": 6},
    ],
)
def test_texts_documents_and_copies(make: Any, given: dict[str, Any]) -> None:
    for encoder in ({"toeplitz": [1, 0.5, 0.25]}, {"inverse": (1, -0.5)}) if make is tr.MatrixMechanism else ({},):
        run = make(sigma=2, steps=12, sensitivity=0.5, **encoder, **given)
        copies: list[Any] = [tr.parse(repr(run)), tr.load(tr.dump(run)), pickle.loads(pickle.dumps(run))]
        for copy in copies:
            assert copy == run
            assert hash(copy) == hash(run)
            assert copy.total_sensitivity == run.total_sensitivity
        assert run != make(sigma=2, steps=12, sensitivity=0.5, **encoder)
        assert tr.parse(f"{run!r} * 3").epsilon(1e-6) == (run * 3).epsilon(1e-6)
        arrays = {key: [np.array(row) for row in value] if key == "patterns" else value for key, value in given.items()}
        assert make(sigma=2, steps=np.int64(12), sensitivity=0.5, **encoder, **arrays) == run


def test_one_participation_is_what_it_was() -> None:
    rows = [[1.0, 0.0], [0.3, 0.7]]
    plain = tr.MatrixMechanism(sigma=2, matrix=rows)
    for other in ({"participations": 1}, {"epochs": 1}, {"patterns": [[0], [1]]}, {"separation": 2}):
        run = tr.MatrixMechanism(sigma=2, matrix=rows, **other)
        assert shift(run, 0) == shift(run, 1) == shift(plain, 1)
    root = square_root(50)
    full = [[root[i - j] if j <= i else 0.0 for j in range(50)] for i in range(50)]
    assert shift(tr.MatrixMechanism(sigma=2, toeplitz=root, steps=50), 1) == shift(tr.MatrixMechanism(2, full), 1)
    assert tr.TreeAggregation(sigma=2, steps=100, epochs=1).epsilon(1e-6) == tr.TreeAggregation(2, 100).epsilon(1e-6)


def test_sampled_groups_by_coefficients_are_those_of_the_matrix() -> None:
    bands = [1.0, 0.5, 0.25]
    rows = [[bands[i - j] if 0 <= i - j < 3 else 0.0 for j in range(8)] for i in range(8)]
    for groups in (3, 4, 9):
        one = tr.MatrixMechanism(sigma=2, toeplitz=[*bands, 0.0], steps=8, rate=0.3, groups=groups)
        two = tr.MatrixMechanism(sigma=2, matrix=rows, rate=0.3, groups=groups)
        assert (one.norms, one.largest) == (two.norms, two.largest)
        assert one.relation is tr.Relation.ADD_REMOVE
    large = tr.MatrixMechanism(sigma=2, toeplitz=square_root(16), steps=2048, rate=0.01, groups=16)
    assert len(large.largest) == 128


@pytest.mark.parametrize("seed", range(4))
def test_replacing_a_record_costs_twice_as_much(seed: int) -> None:
    """No two contributions of norm 1 differ by more than twice the sensitivity, also in different steps; opposite ones
    in the worst pattern do."""
    draw, random_numbers = random.Random(seed), np.random.default_rng(seed)
    rows = [[draw.random() if j <= i else 0.0 for j in range(7)] for i in range(7)]
    run = tr.MatrixMechanism(sigma=1, matrix=rows, participations=3, separation=2)
    replaced = tr.MatrixMechanism(sigma=1, matrix=rows, sensitivity=2, participations=3, separation=2)
    assert shift(replaced, 1) == 4 * shift(run, 1)
    patterns, matrix = list(oracle.apart(7, 3, 2)), np.array(rows)
    largest = 0.0
    for one in patterns:
        for two in patterns:
            moved = np.zeros((7, 2))
            angles = random_numbers.uniform(0, 2 * math.pi, size=2)
            for pattern, sign, angle in ((one, 1.0, angles[0]), (two, -1.0, angles[draw.randint(0, 1)])):
                moved[list(pattern)] += sign * np.array([math.cos(angle), math.sin(angle)])
            largest = max(largest, float(np.linalg.norm(matrix @ moved)))
    assert largest <= replaced.total_sensitivity.upper
    worst = max(patterns, key=lambda pattern: oracle.all_equal(oracle.rows(rows), pattern))
    assert replaced.total_sensitivity.lower <= 2 * oracle.root(oracle.all_equal(oracle.rows(rows), worst)) * (1 + 1e-15)


@pytest.mark.parametrize("remove", [True, False])
def test_steps_may_look_at_what_was_told(remove: bool) -> None:
    """Two steps, a record in both, whose second vector is turned by what the first row was: integrated over two rows.

    It is 1 or -1 in the second step; an attacker cannot tell more than from N(S, 1), S of two equal vectors."""
    c0, c1 = 0.75, 0.5
    grid = np.linspace(-11.0, 12.0, 700)
    y0, y1 = np.meshgrid(grid, grid, indexing="ij")
    turned = np.where(y0 > 0.5, 1.0, -0.5)

    def density(there: float) -> Any:
        first, second = c0 * there, (c1 + c0 * turned) * there
        return np.exp(-((y0 - first) ** 2 + (y1 - second) ** 2) / 2.0) / (2.0 * math.pi)

    p, q = (density(1.0), density(0.0)) if remove else (density(0.0), density(1.0))
    run = tr.MatrixMechanism(sigma=1.0, matrix=[[c0, 0.0], [c1, c0]], participations=2)
    cell = (grid[1] - grid[0]) ** 2
    for epsilon in (0.0, 0.5, 1.5):
        seen = float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum() * cell)
        assert seen <= run.delta(epsilon).upper + 1e-5


def test_an_answer_between_two_ends_says_so() -> None:
    """Where the worst pattern is not found: the lower end is that of a real one."""
    draw = random.Random(1)
    rows = [[draw.gauss(0, 1) if j <= i else 0.0 for j in range(60)] for i in range(60)]
    run = tr.MatrixMechanism(sigma=20, matrix=rows, participations=12, separation=3)
    norm = run.total_sensitivity
    assert norm.lower < norm.upper
    assert not run.tight
    answer = run.epsilon(1e-6)
    assert answer.certificate is not None
    assert answer.certificate.attained
    assert answer.certificate.budget.widest == "theorem"
    one, two = (tr.Gaussian(sigma=20, sensitivity=each).epsilon(1e-6) for each in (norm.lower, norm.upper))
    assert one.lower * (1 - 1e-9) <= answer.lower <= one.upper * (1 + 1e-9)
    assert two.lower <= answer.upper <= two.upper * (1 + 1e-9)
    twice = (run * 2).delta(3.0)
    assert twice.lower < twice.upper
    assert run.poisson(0.1).epsilon(1e-6).upper > 0.0
    assert run.group(size=2).epsilon(1e-6).upper > answer.upper


def test_many_rounds() -> None:
    """Counts that no list of patterns could hold."""
    bands = square_root(16)
    run = tr.MatrixMechanism(sigma=4, toeplitz=bands, steps=2048, epochs=4)
    square = sum(Fraction(each) ** 2 for each in bands)
    assert shift(run, 0) == shift(run, 1) == 4 * square
    run = tr.MatrixMechanism(sigma=4, toeplitz=bands, steps=10**6, separation=1000)
    assert shift(run, 1) == 1000 * square
    noise = tr.MatrixMechanism(sigma=4, inverse=inverse_root(17), steps=10**6, epochs=4)
    assert noise.total_sensitivity.upper < 3.0
    assert noise.total_sensitivity.width < 1e-14


MATRIX = {"matrix": [[1.0, 0.0], [0.5, 1.0]]}
BANDED = {"toeplitz": [1.0, 0.5], "steps": 10}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "one of matrix"),
        ({**MATRIX, "toeplitz": [1]}, "one of matrix .* not by matrix and toeplitz"),
        ({"toeplitz": [1]}, "toeplitz needs steps"),
        ({"inverse": [1]}, "inverse needs steps"),
        ({"toeplitz": [0, 0, 1], "steps": 2}, "not 0"),
        ({"toeplitz": [], "steps": 2}, "at least one number"),
        ({"toeplitz": [math.nan], "steps": 2}, "finite"),
        ({"toeplitz": [math.inf], "steps": 2}, "finite"),
        ({"toeplitz": ["1"], "steps": 2}, "not the text"),
        ({"toeplitz": "1", "steps": 2}, "not the text"),
        ({"toeplitz": 1, "steps": 2}, "list of numbers"),
        ({"toeplitz": [[1]], "steps": 2}, "must be a number"),
        ({"toeplitz": {0: 1}, "steps": 2}, "list or an array"),
        ({"toeplitz": [1] * (2**20 + 1), "steps": 2}, "at most 1,048,576 coefficients"),
        ({"toeplitz": [1], "steps": 0}, "steps must be"),
        ({"toeplitz": [1], "steps": 1.5}, "steps must be"),
        ({"inverse": [0, 1], "steps": 2}, "has no inverse"),
        ({"inverse": [1, -3], "steps": 3000}, "grow beyond doubles"),
        ({"inverse": [1e-300, 1e300], "steps": 3}, "binary digits"),
        ({"inverse": [1, -1], "steps": 2**21}, "do not end"),
        ({**MATRIX, "steps": 3}, "2 columns"),
        ({**MATRIX, "restart": 1}, "block by block"),
        ({**BANDED, "restart": 0}, "restart must be"),
        ({**BANDED, "participations": 0}, "participations must be"),
        ({**BANDED, "separation": 1.5}, "separation must be"),
        ({**BANDED, "epochs": 3}, "participations and separation"),
        ({**BANDED, "epochs": 2, "separation": 5}, "not both"),
        ({**BANDED, "epochs": 2, "patterns": [[0]]}, "not both"),
        ({**BANDED, "patterns": []}, "at least one list"),
        ({**BANDED, "patterns": [[]]}, "from 0 to 9"),
        ({**BANDED, "patterns": [[10]]}, "from 0 to 9"),
        ({**BANDED, "patterns": [[-1]]}, "whole number from 0"),
        ({**BANDED, "patterns": [[0.5]]}, "whole number"),
        ({**BANDED, "patterns": [[1, 1]]}, "twice"),
        ({**BANDED, "patterns": [3]}, "list of steps"),
        ({**BANDED, "patterns": "ab"}, "list of lists"),
        ({**BANDED, "patterns": {0: [1]}}, "list or an array"),
        ({**BANDED, "rate": 0.1, "groups": 1}, "at most 1 coefficients"),
        ({**BANDED, "rate": 0.1, "groups": 2, "epochs": 2}, "leave out"),
        ({"inverse": [1, 0.5], "steps": 3, "rate": 0.1, "groups": 3}, "as toeplitz"),
        ({"toeplitz": [1], "steps": 2**21, "rate": 0.1, "groups": 3}, "at most 1,048,576 with rate"),
        ({"toeplitz": [1e300], "steps": 3, "sensitivity": 1e300, "participations": 2}, "products that are doubles"),
        ({"toeplitz": [1e-300], "steps": 3, "sensitivity": 1e-300, "participations": 2}, "products that are doubles"),
        ({"matrix": [[0.0, 0.0]], "participations": 2}, "an entry that is not 0"),
        ({"matrix": [[1.0] * 2000], "participations": 2}, "at most 1,024 columns"),
        ({"matrix": [[1.0] * 2000] * 2000}, "toeplitz="),
    ],
)
def test_what_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=said) as refusal:
        tr.MatrixMechanism(sigma=1.0, **given)
    assert "Gaussian" not in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"steps": 10, "epochs": 3}, "participations and separation"),
        ({"steps": 10, "patterns": [[10]]}, "from 0 to 9"),
        ({"steps": 10, "restart": 0}, "restart must be"),
        ({"steps": 10**7, "separation": 1}, "participations="),
    ],
)
def test_what_trees_refuse(given: dict[str, Any], said: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=said):
        tr.TreeAggregation(sigma=1.0, **given)


def test_the_advice_for_a_large_matrix_is_the_same_experiment() -> None:
    """Sampled groups and several participations of a matrix beyond the limit, by its coefficients."""
    small = [[1.0, 0.0, 0.0], [0.75, 1.0, 0.0], [0.0, 0.75, 1.0]]
    by_rows = tr.MatrixMechanism(sigma=1, matrix=small, participations=2, separation=1)
    by_bands = tr.MatrixMechanism(sigma=1, toeplitz=[1, 0.75], steps=3, participations=2, separation=1)
    assert by_rows.total_sensitivity == by_bands.total_sensitivity


@pytest.mark.parametrize("restart", [None, 4])
def test_trees_have_the_norms_of_their_nodes(restart: int | None) -> None:
    for steps in (5, 9, 14):
        for given, patterns in (
            ({"participations": 3, "separation": 2}, oracle.apart(steps, 3, 2)),
            ({"patterns": [[0, 4], [1, 2, 3]]}, [(0, 4), (1, 2, 3)]),
        ):
            run = tr.TreeAggregation(sigma=1, steps=steps, restart=restart, **given)
            rows = oracle.tree(steps, restart)
            truth = max(oracle.all_equal(rows, pattern) for pattern in patterns)
            assert [Fraction(end) for end in run.ends] == [truth, truth]
    assert tr.TreeAggregation(sigma=1, steps=100, restart=8).levels == 4
