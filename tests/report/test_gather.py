"""The questions of a report: what is known of one narrows another, and no time is left without an answer."""

from __future__ import annotations

import math

import pytest

import tightrope as tr
from tightrope.report import value
from tightrope.report.gather import last_epsilon

RUN = tr.Gaussian(sigma=1.0)


def test_answers_of_a_report_agree() -> None:
    """What the curve finds of a run that took too long narrows what the sentences say, and the other way round."""
    found = tr.parse("PureDP(epsilon=1).shuffle(users=1000) * 10").report(delta=1e-6, seconds=0.3)
    assert found.risk is not None
    assert found.curve is not None
    uppers = [bound.upper for _, bound in found.curve]
    assert uppers == sorted(uppers, reverse=True)
    rows = {row.quantity: row.bound for row in found.risk.rows}
    assert rows["advantage"].upper <= uppers[0]
    assert all(found.results[0].bound.upper <= place or bound.upper > 1e-6 for place, bound in found.curve)


@pytest.mark.parametrize(
    ("ends", "stop"),
    [((1.0, 1.0), 1.5), ((2.0, 47.0), 80.0), ((0.0, 0.0), 4.0), ((3.0, math.inf), 4.0), ((math.inf, math.inf), 4.0)],
)
def test_curves_end_at_round_numbers_beyond(ends: tuple[float, float], stop: float) -> None:
    assert last_epsilon([tr.Bound(*ends)]) == stop


def test_the_odds_are_those_of_the_epsilon() -> None:
    found = RUN.report(delta=1e-6)
    assert found.risk is not None
    assert found.risk.rows[-1].bound is found.results[0].bound
    again = RUN.risk(delta=1e-6)
    assert [row.sentence for row in found.risk.rows] == [row.sentence for row in again.rows]
    assert (found.assumed, found.not_covered) == (again.assumed, again.not_covered)


def test_without_time_there_is_a_report_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value, "find_spec", lambda name: None)  # pictures take long, and are looked at elsewhere
    run = tr.Laplace(scale=3.0).poisson(rate=0.1) * 300 + tr.Gaussian(sigma=2.0)
    found = run.report(delta=1e-6, seconds=1e-3)
    assert found.results[0].bound.certificate is not None
    assert "Before you quote this number" in found.html()
