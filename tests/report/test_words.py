"""Sentences about a bound: each promises no more than its certificate does."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import tightrope as tr
from tightrope.core.values.bound import ERROR_SOURCES as SOURCES
from tightrope.core.values.bound import ErrorBreakdown, error_lines
from tightrope.report.words import (
    at_most,
    briefly,
    budget_rows,
    cautions,
    chance,
    ends,
    gathered,
    neighbours_said,
    promise,
    rests_on,
)
from tightrope.result import Result

RUN = tr.Gaussian(sigma=2.0) * 3
CERTIFICATE = tr.Certificate("contour", "float64", "because", tr.Direction.REMOVE)


def answered(lower: float, upper: float, direction: tr.Direction | None = None, **changed: object) -> Result:
    told = replace(CERTIFICATE, **changed)  # type: ignore[arg-type]
    return Result(repr(RUN), "epsilon", {"delta": 1e-6}, tr.Bound(lower, upper, told), direction=direction)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1e-5, "1 in 100,000"),
        (0.5, "1 in 2"),
        (3e-5, "a chance of 3e-05"),
        (1e-300, "a chance of 1e-300"),
        (0.0, "never"),
        (1.0, "a chance of 1"),
    ],
)
def test_a_delta_as_a_chance(value: float, said: str) -> None:
    assert chance(value) == said


def test_the_headline_is_rounded_up() -> None:
    assert at_most(tr.Bound(1.0, 1.00001)) == "1.001"
    assert promise(answered(1.0, 1.00001), RUN).startswith("The run is differentially private with epsilon 1.001 at")


def test_one_direction_alone_is_no_promise_of_differential_privacy() -> None:
    result = answered(1.0, 1.5, tr.Direction.ADD)
    assert "the run is differentially private" not in promise(result, RUN).lower()
    assert "This alone is not differential privacy" in promise(result, RUN)
    assert any("Only the direction add" in each for each in cautions(result))


def test_without_a_finite_upper_end_nothing_is_promised() -> None:
    neither, open_end = answered(math.inf, math.inf), answered(2.0, math.inf)
    assert promise(neither, RUN) == "No finite epsilon holds at delta 1e-06 (1 in 1,000,000)."
    assert "nothing can be promised, and at least epsilon 2 is lost" in promise(open_end, RUN)
    assert "can be promised at" in promise(answered(math.inf, math.inf, attained=False, tight=False), RUN)
    for result in (neither, open_end):
        assert cautions(result) == ["There is no finite upper end: Because."]
        assert at_most(result.bound) == "none"
        assert "can be promised" not in ends(result.bound).replace("nothing can be promised", "")


def test_a_theorem_that_is_not_attained_says_nothing_of_the_run_below() -> None:
    assert "worst case that a theorem allows, not of the run" in ends(
        answered(1.0, 1.1, tight=False, attained=False).bound
    )
    assert "certainly lost" not in ends(answered(1.0, 1.1, tight=False, attained=False).bound)
    assert "a theorem that may not be sharp" in ends(answered(1.0, 1.1, tight=False).bound)
    assert "not be sharp" not in ends(answered(1.0, 1.1).bound)


def test_measured_and_claimed_runs_say_so() -> None:
    measured = answered(1.0, 1.1, confidence=0.95, tight=False, attained=False)
    assert promise(measured, RUN).startswith("With a confidence of 95 % in the measurements, the run is")
    assert "for the chances that were measured" in ends(measured.bound)
    assert any("95 % confidence" in each for each in cautions(measured))
    taken = answered(1.0, 1.1, confidence=0.0)
    assert promise(taken, RUN).startswith("If the measured counts are the true chances, the run is")
    claimed = answered(1.0, 1.1, parameters={"claimed": "densities that fall"})
    assert promise(claimed, RUN).startswith("If what was claimed of the run is true, the run is")
    assert any("densities that fall" in each for each in cautions(claimed))


def test_wide_answers_and_remarks_are_told() -> None:
    wide = answered(1.0, 30.0, exhausted="time", advice={"seconds": 100.0})
    assert any(each.startswith("The ends lie far apart: Time ran out; --seconds 100 may") for each in cautions(wide))
    assert not any("far" in each for each in cautions(answered(1.0, 1.1)))
    assert cautions(answered(1.0, 1.0, parameters={"remark": "delta is large"})) == ["Delta is large."]
    assert cautions(answered(1.0, 1.0)) == []


def test_what_is_said_of_some_deltas_names_them() -> None:
    first, second = answered(1.0, 1.0), answered(1.0, 30.0, exhausted="time")
    second = replace(second, arguments={"delta": 1e-9})
    assert gathered([first, second])[0].startswith("At delta 1e-09: The ends lie far apart")
    assert gathered([second, second])[0].startswith("The ends lie far apart")


@pytest.mark.parametrize(
    ("text", "said", "short"),
    [
        ("Gaussian(sigma=2).poisson(rate=0.1)", "one record may be added or removed", "one record may be added"),
        (
            "Gaussian(sigma=2).poisson(rate=0.1, neighbours='replace')",
            "one record may be replaced by any other",
            "if one record may be replaced",
        ),
        (
            "Gaussian(sigma=2).poisson(rate=0.1).group(size=3)",
            "up to 3 records of one person may be added or removed",
            "if up to 3 records of one person may be added",
        ),
        (
            "Gaussian(sigma=2).group(size=3).poisson(rate=0.1) + Gaussian(sigma=2).poisson(rate=0.1)",
            "as many records of one person as each part says",
            "as each part says",
        ),
        ("Gaussian(sigma=2)", "leaves open who is a neighbour", "described below"),
        ("Finite(p=[0.6, 0.4], q=[0.4, 0.6])", "(Finite): these two are the only neighbours", "and no others"),
        ("RandomizedResponse(p=0.75)", "any two values that one person may have", "the value of one person"),
        (
            "training(records=600, batch=20, epochs=1, sigma=1, sampling='fixed', group=2)",
            "up to 2 records of one person may be replaced",
            "if up to 2 records",
        ),
    ],
)
def test_neighbours_in_words(text: str, said: str, short: str) -> None:
    run = tr.parse(text)
    assert said in neighbours_said(run)
    assert short in briefly(run)


def test_guarantees_are_assumed() -> None:
    assert any("(PureDP)" in each for each in rests_on(tr.PureDP(epsilon=1.0) + RUN, []))
    assert not any("guarantee" in each for each in rests_on(RUN, []))


def test_every_source_of_error_has_words() -> None:
    lines = error_lines(**dict.fromkeys(SOURCES, 1e-9))
    rows = budget_rows(ErrorBreakdown(lines, error_lines(rounding=1e-8)))
    assert rows[0][0] == "rounding"
    assert {row[0].replace(" ", "_") for row in rows} == set(SOURCES)
    assert all(row[1].endswith(".") for row in rows)
    assert budget_rows(ErrorBreakdown()) == []
