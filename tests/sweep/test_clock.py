"""Which rows depend on the clock: those that say so, and no others."""

from __future__ import annotations

import pytest

from tests.search import cases
from tightrope.core.values import compute_budget
from tightrope.sweep.plan import plan_of

CASES = (
    ("Gaussian(sigma=1).poisson(rate=0.01) * 1000", "epsilon(delta=1e-6)"),
    ("Laplace(scale=3) * 5", "gdp(delta_least=1e-4)"),
    ("Laplace(scale=?) * 10", "calibrate(advantage=0.1)"),
    ("Gaussian(sigma=1) * 3", "risk(prior=0.1)"),
)


class Clock:
    """It stands still for so many looks at it, and then all time is over."""

    def __init__(self, looks: float) -> None:
        self.looks = looks
        self.seen = 0

    def __call__(self) -> float:
        self.seen += 1
        return 0.0 if self.seen <= self.looks else 1e9


@pytest.mark.parametrize(("make", "ask"), CASES, ids=[ask for _, ask in CASES])
def test_what_the_clock_changed_says_so(make: str, ask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock ends a question at many places: a row without the mark is what a clock that stands still gives."""
    job = plan_of("{run}", {"run": [make]}, ask, 10.0, draws=None, seed=None).job
    still = Clock(10**18)
    monkeypatch.setattr(compute_budget, "monotonic", still)
    told = job.answer(0, {"run": make})
    assert all(row.error is None and row.repeatable for row in told)
    tries, marked = cases(5, 60), 0
    for place in range(tries):
        monkeypatch.setattr(compute_budget, "monotonic", Clock(1 + place * still.seen // tries))
        found = job.answer(0, {"run": make})
        assert all(not row.repeatable for row in found) or found == told
        marked += not found[0].repeatable
    assert marked
