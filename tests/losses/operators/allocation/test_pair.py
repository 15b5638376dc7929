"""One of several steps: against quadrature for two Gaussian steps, and against all outcomes of finite bases."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from flint import arb

import tightrope as tr
from tightrope.core import accountant as account
from tightrope.core.conversions.renyi_accountant import renyi_delta
from tightrope.core.engines.normal_form import plain_ends
from tightrope.core.engines.planner import Answer, Planner, Point, nothing_known
from tightrope.core.losses.operators.allocation.allocated import AllocatedPair, allocated_pair
from tightrope.core.losses.operators.poisson import poisson_pair
from tightrope.core.losses.operators.registered import simpler_ends
from tightrope.core.values import compute_budget
from tightrope.core.values.question import Direction, Question

REMOVE, ADD = Direction.REMOVE, Direction.ADD


def answer(
    base: tr.Mechanism, steps: int, direction: Direction, epsilon: float, accuracy: float = 1e-4, count: int = 1
) -> Answer:
    pair = AllocatedPair(base.pair(direction), steps, direction)  # also where a list of atoms would tell
    with compute_budget.allowance(10.0):
        return Planner([(pair, count)], Question("delta"), several=False).answer(Point("delta", epsilon), accuracy)


# E(mean of two lognormals - alpha)_+ by quadrature, 20 digits.
@pytest.mark.parametrize(
    ("direction", "epsilon", "delta"),
    [
        (REMOVE, 1.0, 0.059206501085892653279),
        (ADD, 1.0, 0.050197662369488236353),
        (REMOVE, 0.5, 0.14917752313552017226),
        (ADD, 0.5, 0.14268696582374320298),
    ],
)
def test_two_gaussian_steps(direction: Direction, epsilon: float, delta: float) -> None:
    found = answer(tr.Gaussian(sigma=1.0), 2, direction, epsilon)
    assert found.lower <= delta <= found.upper
    assert found.relative_width <= 1e-4


def enumerated(p: list[Fraction], q: list[Fraction], steps: int, count: int) -> list[tuple[Fraction, Fraction]]:
    """(P, Q) of all outcomes of so many epochs."""
    epoch = []
    for row in itertools.product(range(len(p)), repeat=steps):
        others = [math.prod((q[i] for i in row[:k] + row[k + 1 :]), start=Fraction(1)) for k in range(steps)]
        mixed = sum((p[i] * rest for i, rest in zip(row, others, strict=True)), Fraction(0)) / steps
        epoch.append((mixed, others[0] * q[row[0]]))
    found = [(Fraction(1), Fraction(1))]
    for _ in range(count):
        found = [(a * c, b * d) for a, b in found for c, d in epoch]
    return found


@pytest.mark.parametrize("direction", [REMOVE, ADD])
@pytest.mark.parametrize(
    ("p", "q", "steps", "count"),
    [
        ((0.5, 0.25, 0.25, 0.0), (0.25, 0.5, 0.0, 0.25), 3, 1),  # infinite losses of both orders
        ((1.0, 0.0), (0.125, 0.875), 5, 1),  # mostly at the ratio 0
        ((0.125, 0.875), (1.0, 0.0), 5, 1),
        ((0.75, 0.25), (0.25, 0.75), 2, 3),
        ((0.5, 0.5, 0.0), (0.5, 0.0, 0.5), 2, 2),
    ],
)
def test_all_outcomes_of_finite_bases(
    p: tuple[float, ...], q: tuple[float, ...], steps: int, count: int, direction: Direction
) -> None:
    rows = enumerated([Fraction(x) for x in p], [Fraction(x) for x in q], steps, count)
    rows = rows if direction is REMOVE else [(b, a) for a, b in rows]
    for epsilon in (0.0, 0.7):
        alpha = Fraction(math.exp(epsilon))
        exact = float(sum((max(a - alpha * b, Fraction(0)) for a, b in rows), Fraction(0)))
        found = answer(tr.Finite(p=p, q=q), steps, direction, epsilon, count=count)
        assert found.lower <= exact * (1 + 1e-14)
        assert exact * (1 - 1e-14) <= found.upper
        assert found.upper - found.lower <= 1e-3 * exact


def test_one_step_is_the_base() -> None:
    base = tr.Gaussian(sigma=1.0).pair(REMOVE)
    assert allocated_pair(base, 1, REMOVE) is base
    two = allocated_pair(base, 2, REMOVE)
    assert two.reversed().reversed() == two


def test_moments_where_infinite_losses_become_finite() -> None:
    """E[L^-c; L > 0] of means of three ratios, 0 or 1/0.91: for ADD zeros of the base are finite losses here."""
    base = tr.Finite(p=(0.0, 1.0), q=(0.09, 0.91)).pair(ADD)
    assert AllocatedPair(base, 3, ADD).moments().log_moment_above(2.0) is None
    assert AllocatedPair(base, 3, ADD).moments().zcdp_rho() is None
    run = (tr.Finite(p=(0.0, 1.0), q=(0.09, 0.91)) + tr.Gaussian(sigma=1e3)).random_allocation(steps=3)
    assert renyi_delta(run, 0.1) >= 3 * 0.09 * 0.91**2 * (1 - math.exp(0.1) * 2 / 3 / 0.91)
    # For REMOVE zeros are finite on both sides: E[L^(1 + c)] <= E[Y^(1 + c)].
    known = AllocatedPair(base.reversed(), 3, REMOVE).moments().log_moment_above(2.0)
    rows = ((math.comb(3, k) * 0.91**k * 0.09 ** (3 - k), k / 3 / 0.91) for k in range(4))
    assert known is not None
    assert sum(mass * ratio**3 for mass, ratio in rows) <= math.exp(float(known.upper()))


@pytest.mark.parametrize("direction", [REMOVE, ADD])
def test_where_no_grid_reaches(direction: Direction) -> None:
    """Wide answers lie between a sample, or the largest output, and the base: little noise, and tiny deltas."""

    def cut(sigma: float, steps: int, point: Point) -> Answer:
        pair = AllocatedPair(tr.Gaussian(sigma=sigma).pair(direction), steps, direction)
        return Planner([(pair, 1)], Question("delta"), several=False)._within(nothing_known(point), point)

    found = cut(0.01, 10, Point("delta", 2.0))
    assert 1.0 - 1e-9 < found.lower <= found.upper <= 1.0
    deep, base = cut(1.0, 7, Point("epsilon", 1e-300)), tr.Gaussian(sigma=1.0).epsilon(1e-300)
    assert 1.0 < deep.lower < deep.upper <= base.upper * (1 + 1e-12)


def test_simpler_pairs_below_and_above() -> None:
    """At two Gaussian steps, by the quadrature of above: each is on its side, and through maps of the pair too."""
    for direction, delta in ((REMOVE, 0.059206501085892653279), (ADD, 0.050197662369488236353)):
        pair = AllocatedPair(tr.Gaussian(sigma=1.0).pair(direction), 2, direction)
        ends, thinner = plain_ends(pair), plain_ends(poisson_pair(pair, 0.5, direction))
        assert len(ends.below) == len(thinner.below) == 3
        assert all(float(each.ball_hockey_stick(arb(1.0)).lower()) < delta for each in ends.below)
        assert float(ends.above.ball_hockey_stick(arb(1.0)).upper()) > delta
        assert thinner.above == poisson_pair(ends.above, 0.5, direction)
        assert thinner.below == tuple(poisson_pair(each, 0.5, direction) for each in ends.below)


def test_coarse_answers_of_both_directions_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should time run out in the finer ones; what both say is the answer."""
    asked, plain = [], Planner.answer

    def answer(self: Planner, point: Point, accuracy: float) -> Answer:
        if any(simpler_ends(pair) is not None for pair, _ in self.terms):
            asked.append(accuracy)
            if accuracy < account.COARSE_AIM:
                return nothing_known(point)
        return plain(self, point, accuracy)

    monkeypatch.setattr(Planner, "answer", answer)
    found = tr.Gaussian(sigma=1.0).random_allocation(steps=3).delta(1.0)
    assert asked[0] == account.COARSE_AIM > asked[-1]
    assert found.upper < 0.5 < 1.001 * found.lower / found.upper
