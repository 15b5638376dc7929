"""Two bounds of one number that cross are no answer: faults put in on purpose are loud, whatever asks; and bounds of
numbers that are known to be ordered are."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

import tightrope as tr
from tightrope.cli.app import FAULT, run
from tightrope.core import accountant as account
from tightrope.core.engines import fallback_bounds
from tightrope.core.engines import planner as concentrated
from tightrope.core.engines import selection as evaluation
from tightrope.core.engines.closed_form.engine import BallEvaluator, Sorted
from tightrope.core.engines.joint.engine import OnceEvaluator
from tightrope.core.engines.planner import Answer, Planner, Point, common, nothing_known
from tightrope.core.engines.selection import CLOSED_FORM
from tightrope.core.losses.pair import Sampling
from tightrope.core.values.errors import InternalContradiction, agreed
from tightrope.core.values.question import Question

SHUFFLED = "Gaussian(sigma=1).shuffled_batches(steps=10)"  # its lower end is that of real neighbours


def too_high(*asked: object, **named: object) -> Answer:
    """A floor above every truth."""
    return replace(nothing_known(Point("epsilon", 1e-6)), lower=1e6)


def test_a_floor_above_the_pair_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "highest", too_high)
    with pytest.raises(InternalContradiction, match="what real neighbours lose") as found:
        tr.parse(SHUFFLED).epsilon(1e-6)
    error = found.value
    assert error.lower == 1e6 > error.upper
    assert "epsilon at delta 1e-06 of Gaussian(sigma=1.0).shuffled_batches(steps=10)" in str(error)
    assert "please report" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.lower, again.upper) == (str(error), error.lower, error.upper)


def test_the_command_line_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(account, "highest", too_high)
    assert run(["epsilon", SHUFFLED, "--delta", "1e-6"]) == FAULT
    told = capsys.readouterr()
    assert not told.out
    assert told.err.count("\n") == 1
    assert "two bounds contradict each other" in told.err


def test_events_above_moments_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback_bounds, "lower_by_events", lambda terms, epsilon: 2.0)
    rough = fallback_bounds.prepare(((tr.Laplace(scale=1).pair(tr.Direction.REMOVE), 3),))
    with pytest.raises(InternalContradiction, match="single events"):
        rough.delta(0.5)


def test_two_directions_engines_or_answers_that_cross_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    one = replace(nothing_known(Point("delta", 1.0)), engine=CLOSED_FORM, lower=0.5)
    other = replace(one, lower=0.1, upper=0.4)
    with pytest.raises(InternalContradiction, match=r"at least 0\.5 by closed_form, at most 0\.4"):
        common([one, other], ())
    monkeypatch.setattr(Planner, "answer", lambda self, point, accuracy: replace(one, upper=0.25))
    with pytest.raises(InternalContradiction):
        tr.Laplace(scale=1).delta(1.0)


def test_no_evaluator_clips_an_end_at_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault in a formula, or in what a sample asks of its product, is loud there already."""
    laplace = tr.Laplace(scale=1).pair(tr.Direction.REMOVE)
    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "enclose", lambda formula: (0.6, 0.4))
        with pytest.raises(InternalContradiction, match="a formula"):
            BallEvaluator(Sorted((), laplace)).delta(0.5)
    with monkeypatch.context() as patch:
        patch.setattr(concentrated, "above_by_rho", lambda terms, point, mass: 0.0)
        leaky = tr.ApproximateDP(epsilon=1, delta=0.25).pair(tr.Direction.REMOVE)
        with pytest.raises(InternalContradiction, match="the infinite mass"):
            Planner(((leaky, 1),), Question("delta"), False)._unknown(Point("delta", 1.0))
    product = Planner(((laplace, 2),), Question("delta"), False)
    sampled = OnceEvaluator(Sampling(laplace, 0.3, tr.Direction.REMOVE), product, 1e-6)
    crossed = iter([replace(nothing_known(Point("delta", 1.0)), upper=0.1), replace(one_half(), upper=0.6)])
    monkeypatch.setattr(product, "answer", lambda point, accuracy: next(crossed))
    with pytest.raises(InternalContradiction, match="the product at a larger epsilon"):
        sampled.delta(0.5)


def test_a_curve_that_rises_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    run, answer = tr.Laplace(scale=1), Planner.answer
    assert run.delta([0.25, 0.75, 0.5])[0].lower > run.delta(0.5).upper

    def rising(self: Planner, point: Point, accuracy: float) -> Answer:
        found = answer(self, point, accuracy)
        return replace(found, lower=0.3, upper=0.4) if point.given > 0.7 else found

    monkeypatch.setattr(Planner, "answer", rising)
    with pytest.raises(InternalContradiction, match=r"delta at epsilon 0\.75 of Laplace.*at a smaller value"):
        run.delta([0.75, 0.5])


def one_half() -> Answer:
    return replace(nothing_known(Point("delta", 1.0)), lower=0.5)


def test_the_pair_of_many_laws_may_lose_more_than_each_of_them() -> None:
    """Upper ends by moments of each law, lower ends of the pair of all: only there no contradiction."""
    above, below = replace(one_half(), lower=0.0, upper=0.4), one_half()
    many = tr.ZCDP(rho=0.5).pair(tr.Direction.REMOVE)
    for pair in (many, tr.ZCDP(rho=0.5).poisson(rate=0.5).pair(tr.Direction.REMOVE)):
        found = common([above, below], ((pair, 3),))
        assert (found.lower, found.upper) == (0.4, 0.4)
    with pytest.raises(InternalContradiction):
        common([above, below], ((tr.Laplace(scale=1).pair(tr.Direction.REMOVE), 3),))


def test_ends_that_agree_are_left_as_they_are() -> None:
    assert agreed(0.25, 0.25) == (0.25, 0.25)
    assert agreed(0.0, float("inf")) == (0.0, float("inf"))


BASES = ("Gaussian(sigma=2)", "Laplace(scale=3)", "DiscreteLaplace(scale=3)", "Exponential(epsilon=0.5)")
LARGER: list[Callable[[int], str]] = [
    *[lambda step, base=base: f"{base}.group(size={1 + step})" for base in BASES],
    *[lambda step, base=base: f"{base}.poisson(rate={0.1 + 0.2 * step})" for base in BASES],
    *[lambda step, base=base: f"{base} * {1 + 3 * step}" for base in BASES],
    lambda step: f"ZCDP(rho=0.5).group(size={1 + step})",
    lambda step: f"Gaussian(sigma=2).without_replacement(batch={2 + 2 * step}, records=20)",
    lambda step: f"RandomizedResponse(epsilon=1).shuffle(users={40 - 10 * step})",
]


@pytest.mark.parametrize("make", LARGER, ids=lambda make: make(1))
def test_more_records_samples_and_uses_lose_more(make: Callable[[int], str]) -> None:
    """Each is a processing of the next one, so no lower end lies above a later upper end."""
    for ask in (lambda run: run.epsilon(1e-4, seconds=2), lambda run: run.delta(0.5, seconds=2)):
        found = [ask(tr.parse(make(step))) for step in range(4)]
        for index, less in enumerate(found):
            assert all(less.lower <= more.upper for more in found[index + 1 :])


@pytest.mark.parametrize("base", [*BASES, "Gaussian(sigma=1).poisson(rate=0.2) * 5", SHUFFLED])
def test_many_values_at_once_and_one_by_one_agree(base: str) -> None:
    run = tr.parse(base)
    places = (-0.5, 0.0, 0.25, 1.0, 2.0)
    for one, many in zip([run.delta(each) for each in places], run.delta(places), strict=True):
        agreed(max(one.lower, many.lower), min(one.upper, many.upper))
    falling = run.delta(places)
    assert all(more.lower <= less.upper for less, more in pairwise(falling))


@pytest.mark.parametrize("name", ["Gaussian(sigma=2, sensitivity={})", "Laplace(scale=3, sensitivity={})"])
def test_a_group_is_the_longer_shift(name: str) -> None:
    for size in (2, 3, 7):
        grouped, longer = tr.parse(name.format(1)).group(size=size), tr.parse(name.format(size))
        assert grouped.epsilon(1e-5) == longer.epsilon(1e-5)
