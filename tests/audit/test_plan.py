"""Plans are estimates that say so, by audits like those that follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tightrope as tr
from tightrope.audit.plan import PlannedSize

TRUTH = tr.Gaussian(sigma=0.4)


@pytest.mark.parametrize("design", ["runs", "one-run", "random-split"])
def test_an_audit_of_that_size_refutes_as_often(design: str) -> None:
    plan = tr.plan_audit(TRUTH, design=design, epsilon=1.5, delta=1e-5, seconds=60.0)
    assert plan.size is not None
    assert plan.sentence.startswith("Estimate: about ")
    at = next(each for each in plan.tried if each.size == plan.size)
    assert isinstance(at, PlannedSize)
    assert at.power_lower <= at.refuted / at.audits <= at.power_upper
    assert at.refuted >= 0.8 * at.audits
    draw, found, audits = np.random.Generator(np.random.PCG64(3)), 0, 40
    for _ in range(audits):
        member = draw.random(plan.size) < 0.5 if design == "one-run" else np.arange(plan.size) < plan.size // 2
        scores = draw.normal(size=plan.size) + member / 0.4
        found += tr.audit(scores, member, design=design, claim=(1.5, 1e-5), delta=0.5).refuted is True
    assert found >= 0.55 * audits


def test_a_claim_that_the_truth_meets_is_not_planned_for() -> None:
    with pytest.raises(tr.InvalidParameter, match="no audit refutes 50 but by chance"):
        tr.plan_audit(TRUTH, design="runs", epsilon=50.0, delta=1e-5)


def test_what_is_not_enough_is_said() -> None:
    plan = tr.plan_audit("Gaussian(sigma=0.5)", design="one-run", epsilon=4.0, delta=1e-5, most=40)
    assert plan.size is None
    assert "are not enough" in str(plan)
    assert max(each.size for each in plan.tried) == 40


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"design": "members"}, "to be planned"),
        ({"power": 1.0}, "power must lie in"),
        ({"level": 0.2}, "level in"),
        ({"most": 3}, "most must be"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"truth": 3}, "truth must be a mechanism"),
        ({"truth": "Gaussian(sigma=1).poisson(rate=0.1, neighbours='replace')"}, "added or left out"),
    ],
)
def test_refusals_of_plans(changed: dict[str, Any], told: str) -> None:
    given: dict[str, Any] = {"truth": TRUTH, "design": "runs", "epsilon": 1.0, "delta": 1e-5, **changed}
    with pytest.raises(tr.InvalidParameter, match=told):
        tr.plan_audit(given.pop("truth"), **given)
