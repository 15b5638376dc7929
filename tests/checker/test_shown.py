"""Lower ends are proved of what real neighbours show, never of a bound that nobody attains."""

from __future__ import annotations

from typing import Any

import pytest

from tightrope.checker.judge import PROVED, judged

# Lower ends between what neighbours show and what a bound says; of the last two between the value and a larger one.
FALSE: list[tuple[str, str, dict[str, float], float]] = [
    # a batch of 9 holds fewer of a group than 9 draws on their own: at most .0122029589 by the largest pair
    (
        "delta",
        "Gaussian(sigma=1).without_replacement(batch=9, records=200, neighbours='add_remove').group(size=3)",
        {"epsilon": 0.3},
        0.0123,
    ),
    # the smaller neighbour has no batch of 5, the larger one leaves the record out once in six times
    (
        "delta",
        "Gaussian(sigma=1).without_replacement(batch=5, records=5, neighbours='add_remove')",
        {"epsilon": 0.0},
        0.36,
    ),
    # a record that is not in the batch makes room for one that shows a third thing
    (
        "delta",
        "Gaussian(sigma=1).poisson(rate=0.2, neighbours='replace').without_replacement(batch=5, records=10)",
        {"epsilon": 0.1},
        0.036,
    ),
    # two answers have nobody two neighbours away: tanh(1/4) = .2449 whatever the size of the group
    ("advantage", "RandomizedResponse(epsilon=0.5).group(size=2)", {}, 0.3),
    # two outcomes with rho 0.4 have .601, Gaussian noise erf(sqrt(0.1)) = .345; the chain of zCDP mechanisms is between
    ("advantage", "ZCDP(rho=0.1).group(size=2)", {}, 0.43),
    # through (.2, .5) and (.5, .45) goes no convex line that falls to (1, 0) and is not above .72 at .2
    ("delta", "TradeoffCurve(fprs=[0, 0.2, 0.5, 1], fnrs=[1, 0.5, 0.45, 0])", {"epsilon": 0.0}, 0.2),
    # order 30 bounds order 2 as well: .0725135 at most, and .1585 if only order 30 counted
    ("delta", "RenyiCurve(orders=[30], divergences=[0.001]) + ZCDP(rho=0.01)", {"epsilon": 0.0}, 0.08),
    # either keeps to .01 at order 2: .02 in all, and so the advantage is sqrt(e^.02 - 1)/2 = .071 at most
    (
        "advantage",
        "RenyiCurve(orders=[2, 3], divergences=[2.0, 0.01]) + RenyiCurve(orders=[2, 3], divergences=[0.01, 2.0])",
        {},
        0.1,
    ),
    # no epsilon of 0 or more has a delta of 0.9, or of more than erf(1/sqrt(8)) = .3829249
    ("gdp", "Gaussian(sigma=1)", {"delta_least": 0.9}, 0.5),
    ("gdp", "Gaussian(sigma=1)", {"delta_least": 0.382925}, 0.5),
]


@pytest.mark.parametrize(("quantity", "text", "given", "lower"), FALSE, ids=lambda each: str(each)[:40])
def test_what_nobody_shows_is_no_lower_end(quantity: str, text: str, given: dict[str, float], lower: float) -> None:
    case: dict[str, Any] = {"quantity": quantity, "expression": text, "lower": lower, "upper": 1.0, "only": None}
    assert judged({**case, **given}, 2.0)[0].verdict != PROVED


def test_what_somebody_shows_still_is_one() -> None:
    for quantity, text, given, lower, upper in (
        # erf(1/sqrt(8)) 5/6 for a larger neighbour
        (
            "delta",
            "Gaussian(sigma=1).without_replacement(batch=5, records=5, neighbours='add_remove')",
            {"epsilon": 0.0},
            0.3191,
            0.38293,
        ),
        ("advantage", "ZCDP(rho=0.1).group(size=2)", {}, 0.3452, 0.602),
        ("gdp", "Gaussian(sigma=1)", {"delta_least": 0.3829}, 1.0, 1.0),
        ("advantage", "PureDP(epsilon=0.5).group(size=2)", {}, 0.3934, 0.3935),
    ):
        case: dict[str, Any] = {"quantity": quantity, "expression": text, "lower": lower, "upper": upper, "only": None}
        assert [each.verdict for each in judged({**case, **given}, 10.0)] == [PROVED, PROVED]


def test_points_that_say_nothing_are_not_checkable() -> None:
    case = {"quantity": "delta", "expression": "PrivacyCurve(epsilons=[0.5], deltas=[1.0])", "epsilon": 0.5}
    found = judged({**case, "lower": 0.5, "upper": 0.9}, 2.0)
    assert [each.verdict for each in found] == ["not checkable", "not checkable"]
