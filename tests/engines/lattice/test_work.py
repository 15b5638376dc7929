"""The lattice's work is bounded before it starts, what several grids say is intersected, and epsilon is inverted from
both ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import pytest

from tests.engines.lattice.asking import terms_of
from tests.oracle import enumeration
from tightrope.core.engines import tuning
from tightrope.core.engines.lattice import compose as lattice_compose
from tightrope.core.engines.lattice import engine as lattice
from tightrope.core.engines.lattice import grid_plan as lattice_plan
from tightrope.core.engines.lattice.grid import grid_evaluator
from tightrope.core.engines.lattice.grid_plan import GridWish, aim
from tightrope.core.engines.lattice.native import Narrowest
from tightrope.core.engines.selection import Evaluation, Evaluator
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.finite.laws import RationalLaw
from tightrope.core.values.bound import ErrorBreakdown, error_lines

TEN = " + ".join(
    f"Gaussian(sigma={1 + 0.3 * index}).poisson(rate={0.1 / (index + 1):.4g}) * 1000000000" for index in range(10)
)
HARD = (
    ("Gaussian(sigma=2.464761088106309).poisson(rate=3.151365410349752e-05) * 3000", 1.1148799614588426e-55),
    ("Gaussian(sigma=0.3).poisson(rate=0.9) * 1000000000", 1e-300),
    ("Laplace(scale=20).poisson(rate=1e-06) * 1000000000", 1e-20),
    (TEN, 1e-10),
)


@pytest.mark.parametrize("expression, delta", HARD)
@pytest.mark.parametrize("accuracy", [1e-6, 1e-12])
def test_work_is_bounded_before_it_starts(expression: str, delta: float, accuracy: float) -> None:
    """Whatever is asked, the plan keeps its points and its work."""
    terms = terms_of(expression, "remove")
    target = aim(terms, None, delta, accuracy)
    for evolving in (True, False):
        for finer in (1.0, 100.0):
            made = lattice_plan.plan(terms, target, GridWish(finer, evolving))
            assert made.work <= 1.3 * tuning.GRID_WORK_MAX  # a step is rounded to whole units
            assert max(ruler.size for ruler in made.rulers) <= 1.3 * tuning.GRID_POINTS_MAX


def test_a_window_that_was_cut_still_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """With far too few points the interval is wide, and contains the truth."""
    outcomes: enumeration.Outcomes = (
        (Fraction(1, 2), Fraction(1, 4)),
        (Fraction(3, 10), Fraction(1, 2)),
        (Fraction(1, 5), Fraction(1, 4)),
    )
    monkeypatch.setattr(lattice_compose, "WINDOW_MAX", 64)
    p, q = zip(*outcomes, strict=True)
    terms = [(FinitePair(RationalLaw(p, q)), 12)]
    low, high = enumeration.delta(enumeration.composed([(outcomes, 12)]), 0.5)
    made = lattice_plan.plan(terms, aim(terms, 0.5, None, 1e-4), GridWish())
    for value in (
        grid_evaluator(terms, aim(terms, 0.5, None, 1e-4), made).delta(0.5),
        lattice.prepare(terms, epsilon=0.5, accuracy=1e-4).delta(0.5),
    ):
        assert Fraction(value.lower) <= high
        assert low <= Fraction(value.upper)


@pytest.mark.parametrize(
    "expression, epsilon",
    [
        ("PureDP(epsilon=0.0691052577756107) * 5 + PureDP(epsilon=0.1629880928776856) * 257", 13.1),
        (
            "TruncatedLaplace(scale=77, mean=1300, bounds=(0, 2600), mode='clamp', integer=True, sensitivity=2) * 1024",
            1.0,
        ),
    ],
)
def test_more_accuracy_asked_does_not_give_less(expression: str, epsilon: float) -> None:
    terms = terms_of(expression, "remove")
    values = [lattice.prepare(terms, epsilon=epsilon, accuracy=accuracy).delta(epsilon) for accuracy in (1e-4, 1e-8)]
    assert max(value.lower for value in values) <= min(value.upper for value in values)
    for value, accuracy in zip(values, (1e-4, 1e-8), strict=True):
        assert value.upper - value.lower <= accuracy * value.upper


@dataclass(frozen=True)
class Exponential(Evaluator):
    """delta(eps) = e^(-rate eps), known up to factors."""

    rate: float
    under: float
    over: float

    @property
    def arithmetic(self) -> str:
        return "float64"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"rate": self.rate}

    def delta(self, epsilon: float) -> Evaluation:
        value = math.exp(-self.rate * epsilon)
        lines = error_lines(rounding=value * (self.over - self.under))
        return Evaluation(value * self.under, min(value * self.over, 1.0), ErrorBreakdown(lines, lines))


def test_the_narrowest_of_two() -> None:
    """The ends come from different evaluators, and the budget owns up to the whole width."""
    both = Narrowest((Exponential(1.0, 0.5, 1.01), Exponential(1.0, 0.98, 2.0)), (), 1.0, 1.0, 1.0, math.inf)
    value, exact = both.delta(1.0), math.exp(-1.0)
    assert value.lower == 0.98 * exact
    assert value.upper == 1.01 * exact
    assert sum(value.budget.upper.values()) >= value.upper - value.lower
    assert sum(value.budget.lower.values()) >= value.upper - value.lower


@pytest.mark.parametrize("slope", [0.1, 1.0, 2.5, 40.0])
@pytest.mark.parametrize("near", [0.0, 1e-3, 4.0, 5.01, 300.0])
def test_epsilon_from_both_ends(near: float, slope: float) -> None:
    """A bad guess of where and how steep costs steps, not truth."""
    evaluator = Narrowest((Exponential(2.0, 1.0 - 1e-6, 1.0 + 1e-6),), (), 1.0, near, slope, math.inf)
    found = evaluator.inverse(math.exp(-10.0), math.inf, 1e-6)
    assert found.lower <= 5.0 <= found.upper
    assert found.upper - found.lower <= 5e-6
    assert found.at_lower is not None
    assert found.at_upper is not None
    assert found.at_upper.upper <= math.exp(-10.0) < found.at_lower.lower


def test_epsilon_zero_is_found() -> None:
    evaluator = Narrowest((Exponential(2.0, 0.9, 1.1),), (), 1.0, 1.0, 2.0, math.inf)
    assert evaluator.inverse(1.0, math.inf, 1e-6).upper == 0.0
