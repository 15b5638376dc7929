"""The questions of a report: what is known of one narrows another, and no time is left without an answer."""

from __future__ import annotations

import math

import pytest

import tightrope as tr
from tightrope.report import value
from tightrope.report.gather import falling, last_epsilon
from tightrope.result import Result

RUN = tr.Gaussian(sigma=1.0)


def test_deltas_fall() -> None:
    epsilons = (0.0, 1.0, 2.0, 3.0, 4.0)
    exact = [bound for _, bound in RUN.curve(epsilons=epsilons)]
    rough = [tr.Bound(0.0, 1.0), exact[1], tr.Bound(0.0, 1.0), exact[3], tr.Bound(0.0, 1.0)]
    known = Result(repr(RUN), "epsilon", {"delta": 1e-2}, RUN.epsilon(1e-2))
    found = falling(tr.Curve(epsilons, tuple(rough)), [known])
    assert all(
        each.lower <= sharp.lower and sharp.upper <= each.upper for each, sharp in zip(found, exact, strict=True)
    )
    assert found[0].lower == exact[1].lower
    assert found[2] == tr.Bound(1e-2, exact[1].upper)  # epsilon at 1e-2 lies above 2
    assert found[4].upper == exact[3].upper < 1e-2
    assert falling(tr.Curve(epsilons, tuple(rough)), [])[2] == tr.Bound(exact[3].lower, exact[1].upper)


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
