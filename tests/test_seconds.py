"""Time and memory as part of a question: the narrowest interval so far, said to be so, and never a wrong one."""

from __future__ import annotations

import json
import math
import time
from itertools import count

import pytest
from click.testing import CliRunner

import tightrope as tr
from tests.search import FULL
from tightrope.cli.app import app
from tightrope.cli.app import run as command_line
from tightrope.core.accountant import Case
from tightrope.core.engines.planner import SIMPLER_PAIRS, Planner, Point, Rule, SidePlanners
from tightrope.core.values import compute_budget
from tightrope.core.values.question import Question

SLACK = 8.0  # seconds of work: with other work beside it a call takes longer, and does no more

# Where all the time is given, these are narrow, and other tests hold them against the oracle.
QUESTIONS = (
    ("Gaussian(sigma=1).poisson(rate=0.01) * 1000", "epsilon", 1e-6),
    ("Gaussian(sigma=0.6).poisson(rate=1e-4) * 1000000", "epsilon", 1e-8),
    ("Gaussian(sigma=1).poisson(rate=6.5e-4) * 25", "epsilon", 1e-6),
    ("Gaussian(sigma=10) * 100", "epsilon", 1e-12),
    ("Laplace(scale=10) * 10 + Gaussian(sigma=10) * 10", "epsilon", 1e-6),
    ("DiscreteGaussian(sigma=10) * 100", "delta", 1.0),
    ("Laplace(scale=100) * 3000", "epsilon", 1e-6),
    ("RandomizedResponse(p=0.75, neighbours='add_remove').poisson(rate=0.1) * 256", "delta", 1.0),
    ("(Gaussian(sigma=3) * 10 + Laplace(scale=5)).poisson(rate=0.01) * 5", "epsilon", 1e-6),
    ("ApproximateDP(epsilon=0.5, delta=1e-5) * 3 + Gaussian(sigma=1).poisson(rate=0.01) * 100", "epsilon", 2e-4),
)
HARD = (
    "Gaussian(sigma=0.7).poisson(rate=1e-4) * 1000",
    "Gaussian(sigma=1e6).poisson(rate=0.1) * 10",
    "Laplace(scale=3).poisson(rate=0.02) * 100 + DiscreteGaussian(sigma=50).poisson(rate=0.1) * 77",
    "TruncatedGaussian(sigma=283, bounds=[-2500, 2500]) * 512",
    "DiscreteGaussian(sigma=1e5, sensitivity=100000) * 7",
    "Gaussian(sigma=1).poisson(rate=0.1).poisson(rate=0.3) * 3",
    "RandomizedResponse(epsilon=64, neighbours='add_remove') * 151338",
)
# Pairs that have simpler ones to fall back on.
LONG = (
    "Gaussian(sigma=1).random_allocation(steps=100)",
    "training(records=60000, batch=256, epochs=15, sigma=1.1, sampling='allocated')",
    "Laplace(scale=2).random_allocation(steps=50) * 2",
)
BY_NAME = (
    ("RandomizedResponse(epsilon=0.1, neighbours='add_remove') * 4", "buckets"),
    ("Laplace(scale=2).poisson(rate=0.3).poisson(rate=0.5) * 5000", "lattice"),
    ("Gaussian(sigma=1.059).poisson(rate=1.31e-4) * 19", "contour"),
)


def asked(expression: str, quantity: str, given: float, **settings: float) -> tr.Bound:
    run = tr.parse(expression)
    return run.epsilon(given, **settings) if quantity == "epsilon" else run.delta(given, **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def full() -> dict[str, tr.Bound]:
    """The answers with all the time that they need: intervals around the truth."""
    return {row[0]: asked(*row, seconds=600.0) for row in QUESTIONS}


@pytest.mark.parametrize("units", [1e2, 1e4, 3e5, 3e6, 1e7, 3e7, 1e8])
@pytest.mark.parametrize("row", QUESTIONS, ids=[row[0] for row in QUESTIONS])
def test_wherever_the_work_ends_the_answer_holds(
    row: tuple[str, str, float], units: float, full: dict[str, tr.Bound], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The allowance ends at seven places between nothing and plenty; the clock is far away."""
    monkeypatch.setattr(compute_budget, "UNITS_PER_SECOND", units / 100.0)
    expression, quantity, given = row
    bound = asked(expression, quantity, given, seconds=100.0)
    truth = full[expression]
    assert bound.lower <= truth.upper
    assert truth.lower <= bound.upper
    if FULL or units in (1e4, 1e7):
        again = asked(expression, quantity, given, seconds=100.0)
        assert (again.lower, again.upper) == (bound.lower, bound.upper), "work does not depend on the machine's load"
    assert bound.certificate is not None
    narrow = bound.width <= 1e-6 * bound.upper
    assert narrow or bound.certificate.exhausted == "time"


@pytest.mark.clock
@pytest.mark.parametrize(("expression", "engine"), [*((each, "auto") for each in HARD), *BY_NAME])
def test_the_deadline_is_honoured(expression: str, engine: str) -> None:
    """By the clock; what a call does until then is measured, not how long it had to wait for its turn."""
    for seconds in (0.01, 0.3):
        began = time.process_time()
        bound = tr.parse(expression).epsilon(1e-6, seconds=seconds, engine=engine)
        assert time.process_time() - began < seconds + SLACK
        assert 0.0 <= bound.lower <= bound.upper


@pytest.mark.clock
def test_many_points_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    run = tr.parse(HARD[0])
    began = time.process_time()
    bounds = run.epsilon([10.0**-power for power in range(2, 22)], seconds=1.0)
    assert time.process_time() - began < 1.0 + SLACK
    assert len(bounds) == 20
    whole = tr.parse(QUESTIONS[0][0]).curve(0.0, 4.0, 9, seconds=600.0)
    monkeypatch.setattr(compute_budget, "UNITS_PER_SECOND", 1e5)
    for short, long in zip(
        tr.parse(QUESTIONS[0][0]).curve(0.0, 4.0, 9, seconds=100.0).bounds, whole.bounds, strict=True
    ):
        assert short.lower <= long.upper
        assert long.lower <= short.upper


@pytest.mark.parametrize("looks", [1, 10, 30, 100, 300, 1000])
@pytest.mark.parametrize("expression", LONG)
def test_many_points_are_answered_where_the_first_take_all_the_time(
    expression: str, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that moves when it is looked at; not even simpler pairs can be asked for any more then."""
    run, ticks = tr.parse(expression), count()
    monkeypatch.setattr(compute_budget, "monotonic", lambda: next(ticks) / looks)
    deltas = run.curve(epsilons=[-1.0, 0.0, 1.0, 3.0, 8.0], seconds=1.0).bounds
    assert all(0.0 <= bound.lower <= bound.upper <= 1.0 for bound in deltas)
    epsilons = run.epsilon([1e-3, 1e-5, 1e-8], seconds=1.0)
    assert all(0.0 <= bound.lower <= bound.upper for bound in epsilons)
    for found in (deltas, epsilons):
        assert "time" in {bound.certificate.exhausted for bound in found if bound.certificate is not None}


def test_nobody_asks_simpler_pairs_where_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many points each would take as long as all that was kept."""
    asked = Planner._sides

    def refused(planner: Planner, rule: Rule) -> SidePlanners | None:
        return pytest.fail("they were asked") if rule is SIMPLER_PAIRS else asked(planner, rule)

    monkeypatch.setattr(Planner, "_sides", refused)
    with compute_budget.allowance(1.0) as meter:
        case = Case.of(tr.parse(LONG[0]), Question("delta"), several=True, aim=1e-4)
        meter.cancel()
        bound = case.bound(Point("delta", 1.0), meter)
    assert case.planners
    assert 0.0 <= bound.lower <= bound.upper < 1.0, "what needs no engine is known"


def test_a_wide_answer_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute_budget, "UNITS_PER_SECOND", 1e4)
    bound = tr.parse(QUESTIONS[0][0]).epsilon(1e-6, seconds=10.0)
    certificate = bound.certificate
    assert certificate is not None
    assert certificate.exhausted == "time"
    assert certificate.advice["seconds"] == 60.0
    assert bound.wide is not None
    assert bound.wide.startswith("time ran out")
    assert "seconds=60.0" in bound.wide
    assert bound.wide.endswith("may narrow it")


def test_the_command_line_adds_one_line_and_keeps_its_exit_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute_budget, "UNITS_PER_SECOND", 1e4)
    arguments = ["epsilon", QUESTIONS[0][0], "--delta", "1e-6"]
    found = CliRunner().invoke(app, arguments, standalone_mode=False)
    assert not found.return_value
    (line,) = (line for line in found.output.splitlines() if line.strip().startswith("wide:"))
    assert "time ran out" in line
    assert "--seconds 60" in line
    assert "=" not in line
    document = json.loads(CliRunner().invoke(app, [*arguments, "--json"], standalone_mode=False).output)
    assert document["certificate"]["exhausted"] == "time"
    assert document["certificate"]["advice"]["seconds"] == 60.0
    late = CliRunner().invoke(app, [*arguments, "--accuracy", "1e-6"], standalone_mode=False)
    assert late.return_value == 3
    with pytest.raises(tr.AccuracyNotReached):
        tr.parse(QUESTIONS[0][0]).epsilon(1e-6, accuracy=1e-6)


def test_a_narrow_answer_says_nothing() -> None:
    bound = tr.parse(QUESTIONS[0][0]).epsilon(1e-6)
    assert bound.wide is None
    assert bound.certificate is not None
    assert bound.certificate.exhausted is None
    assert not bound.certificate.advice


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, "10", True])
def test_seconds_are_a_positive_number(seconds: float) -> None:
    with pytest.raises(tr.InvalidParameter, match="seconds must be a number above 0"):
        tr.Gaussian(sigma=1.0).epsilon(1e-6, seconds=seconds)


def test_without_an_end() -> None:
    assert tr.Gaussian(sigma=1.0).epsilon(1e-6, seconds=math.inf).wide is None


def test_a_curve_says_that_it_is_wide_and_keeps_its_exit_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compute_budget, "UNITS_PER_SECOND", 1e4)
    arguments = ["curve", QUESTIONS[0][0], "--points", "5"]
    assert command_line(arguments) == 0
    assert "wide at some points: time ran out" in capsys.readouterr().err
    assert command_line([*arguments, "--accuracy", "1e-6"]) == 3
    with pytest.raises(tr.InvalidParameter, match="either epsilons, or start, stop and points"):
        tr.Gaussian(sigma=1.0).curve(0.0, epsilons=[1.0])


def test_an_answer_as_wide_as_it_was_asked_for_says_what_narrows_it() -> None:
    run = tr.Gaussian(sigma=1.0).poisson(rate=0.01, neighbours="replace") * 300
    bound = run.epsilon(1e-5, accuracy=1e-2, seconds=60.0)
    assert bound.wide is None or "accuracy=1e-06 may narrow it" in bound.wide
    assert bound.certificate.advice["accuracy"] == 1e-6
    assert "accuracy" not in run.epsilon(1e-5, accuracy=1e-6, seconds=60.0).certificate.advice
