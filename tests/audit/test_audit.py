"""tr.audit as users call it: designs, claims, what is refused, what is said."""

from __future__ import annotations

import json
import math
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tightrope.audit.result import AuditStatement, AuditTest
from tightrope.core.numerics.enclosures import FloatArray
from tightrope.core.values import compute_budget

SCHEMA = Draft202012Validator(json.loads((Path(tr.__file__).parent / "schema" / "audit.json").read_text("utf-8")))
DPSGD = "Gaussian(sigma=1).poisson(rate=0.01) * 1000"


def scored(mu: float, count: int = 400, seed: int = 1) -> tuple[FloatArray, Any]:
    """Scores of a fair coin each, mu apart."""
    draw = np.random.Generator(np.random.PCG64(seed))
    member = draw.permutation(np.arange(count) < count // 2)
    return draw.normal(size=count) + mu * member, member


def checked(found: tr.AuditResult) -> tr.AuditResult:
    """Its document is as the schema says, and the checker proves all of it but bets."""
    text = found.to_json("2026-11-16")
    SCHEMA.validate(json.loads(text))
    verdicts = tr.verify(text)
    assert verdicts.unchanged
    assert not verdicts.count("refuted")
    assert verdicts.proved or "E1" in found.method or "E2" in found.method
    return found


def test_the_newcomer_with_640_of_700() -> None:
    found = checked(tr.audit(design="one-run", guesses=(1000, 700, 640), delta=1e-5, claim=(1, 1e-5)))
    assert 2.14105 <= found.epsilon_lower <= 2.14105431054053123  # type: ignore[operator]
    assert found.refuted is True
    assert found.p_upper is not None
    assert found.p_upper <= 0.0025
    assert found.sentences[0].startswith("At least epsilon 2.14105 at delta 1e-05, with 95 % confidence")
    assert "REFUTED" in found.sentences[1]
    assert found == tr.audit(design="one-run", guesses=(1000, 700, 640), delta=1e-5, claim=(1, 1e-5))
    assert isinstance(found.tests[0], AuditTest)
    assert isinstance(found.statements[0], AuditStatement)
    assert found.p_at(found.epsilon_lower) <= 0.05 < found.p_at(2.1411)  # type: ignore[arg-type]


@pytest.mark.parametrize("design", ["runs", "one-run", "random-split"])
def test_null_scores_refute_nothing(design: str) -> None:
    """With |mu| of a Gaussian fitted to one tail, such scores were called epsilon 3.54 and 5.92. Epsilon 0 itself is
    refuted in one audit of twenty at most, and then little beyond it."""
    found = [tr.audit(*scored(0.0, seed=100 + seed), design=design, delta=1e-5).epsilon_lower for seed in range(10)]
    assert found.count(0.0) >= 9
    assert max(found) < 0.03  # type: ignore[type-var, operator]


@pytest.mark.parametrize(("low", "high"), [(-1.0, 0.0), (-3.0, 0.0)])
def test_scores_that_point_the_other_way_refute_nothing(low: float, high: float) -> None:
    """Members below the others: a one-sided attack finds nothing, and the sign is not dropped."""
    scores, member = scored(low)
    for design in ("runs", "one-run", "random-split"):
        assert tr.audit(scores, member, design=design, delta=1e-5).epsilon_lower == high
        turned = tr.audit(scores, member, design=design, delta=1e-5, tail="low").epsilon_lower
        both = tr.audit(scores, member, design=design, delta=1e-5, tail="both").epsilon_lower
        assert turned is not None
        assert both is not None
        assert both <= turned


def test_a_run_is_refuted_by_its_own_curve() -> None:
    found = checked(tr.audit(design="one-run", guesses=(1000, 100, 90), sides="in", delta=1e-5, claim=DPSGD))
    assert found.refuted is True
    assert "O4" in found.method
    weaker = tr.audit(design="one-run", guesses=(1000, 100, 80), sides="in", claim=DPSGD)
    assert weaker.refuted is False
    assert weaker.epsilon_lower is None
    assert 0.0640 <= weaker.p_upper <= 0.0789  # type: ignore[operator]
    assert "no proof of the claim" in weaker.sentences[0]
    assert "83 of 100" in weaker.sentences[0]


def test_many_runs_against_a_claim_and_a_family() -> None:
    scores, member = scored(2.0)
    found = checked(tr.audit(scores, member, design="runs", delta=1e-5, claim=tr.Gaussian(sigma=1.0)))
    assert found.refuted is True
    assert found.epsilon_lower is not None
    assert 1.0 < found.epsilon_lower < tr.Gaussian(sigma=0.5).epsilon(1e-5).upper
    family = checked(tr.audit(scores, member, design="runs", claim="Gaussian(sigma=?)"))
    assert family.refuted_from is not None
    assert 0.5 < family.refuted_from < 0.7
    assert family.mu_lower is not None
    assert 0.0 <= 1.0 / family.refuted_from - family.mu_lower < 1e-15
    assert family.refuted is None
    at = tr.audit(scores, member, design="runs", claim=tr.Gaussian(sigma=1.001 * family.refuted_from))
    assert at.refuted is True


def test_a_family_of_training_runs() -> None:
    scores, member = scored(4.0, count=200)
    family = "Gaussian(sigma=?).poisson(rate=0.01) * 1000"
    found = tr.audit(scores, member, design="one-run", claim=family)
    assert found.parameter == "sigma"
    assert found.refuted_from is not None
    assert 0.1 < found.refuted_from < 1.0
    assert found.mu_lower is None
    assert "This is about that family of curves, and no other." in found.sentences[0]


def test_a_family_of_which_nothing_is_refuted() -> None:
    found = checked(tr.audit(design="one-run", guesses=(100, 10, 5), claim="Gaussian(sigma=?)"))
    assert found.refuted_from is None
    assert found.mu_lower == 0.0
    assert "no proof" in found.sentences[0]


def test_numbers_of_any_kind_are_doubles() -> None:
    found = checked(tr.audit(design="one-run", guesses=(100, 100, 99), claim=(Fraction(1, 2), np.float64(0.1))))
    assert found == tr.audit(design="one-run", guesses=(100, 100, 99), claim=(0.5, 0.1))
    assert found.claim == "(0.5, 0.1)"


def test_tables() -> None:
    found = checked(tr.audit(design="runs", table=(60, 10, 940, 990), delta=0.0))
    assert 1.1303 < found.epsilon_lower <= 1.13042  # type: ignore[operator]
    assert found.method == "M2"
    one = checked(tr.audit(design="one-run", table=(60, 10, 440, 490), delta=1e-5))
    assert one.tests[0].parameters["sides"] == "both"
    assert (one.tests[0].count, one.tests[0].trials) == (550, 1000)


def test_several_runs_of_many_canaries_are_joined() -> None:
    scores, member = scored(3.0, count=400)
    run = ["first"] * 200 + ["second"] * 200
    found = checked(tr.audit(scores, member, design="one-run", run=run, delta=1e-5))
    alone = [
        tr.audit(scores[rows], member[rows], design="one-run", delta=1e-5) for rows in (slice(200), slice(200, 400))
    ]
    assert found.epsilon_lower > min(each.epsilon_lower for each in alone)  # type: ignore[type-var, operator]
    assert "Fisher" in found.method
    assert {test.group for test in found.tests} == {0, 1}


@pytest.mark.parametrize("design", ["runs", "one-run", "random-split"])
def test_bets(design: str) -> None:
    found = checked(tr.audit(*scored(3.0), design=design, delta=1e-5, claim=(0.5, 1e-5), stopping=True))
    assert found.refuted is True
    assert found.epsilon_lower > 0.5  # type: ignore[operator]
    null = tr.audit(*scored(0.0), design=design, delta=1e-5, stopping=True)
    assert null.epsilon_lower == 0.0


def test_bets_against_a_family() -> None:
    found = tr.audit(*scored(3.0), design="runs", claim="Gaussian(sigma=?)", stopping=True)
    assert found.refuted_from is not None
    assert 1.0 / 3.0 < found.refuted_from < 1.0


def test_a_list_without_a_coin_bounds_no_epsilon() -> None:
    found = tr.audit(*scored(5.0), design="members", delta=1e-5, claim=(1, 1e-5))
    assert found.epsilon_lower is None
    assert found.p_upper is None
    assert found.refuted is None
    assert "They bound no epsilon: who is a member was not decided by chance" in found.sentences[0]
    assert found.sentences[-1] == "Neither an epsilon nor a claim was audited."
    SCHEMA.validate(json.loads(found.to_json()))
    with pytest.raises(tr.InvalidParameter, match="its design has no coin"):
        found.p_at(1.0)


def test_what_it_rests_on_is_said() -> None:
    told = " ".join(tr.audit(*scored(1.0), design="one-run", delta=1e-5, coin=0.5).assumptions)
    for words in ("coin of its own with probability 0.5", "guesses (in) 10, 20, 40, 80, 160", "seed 0", "fixed before"):
        assert words in told
    assert "uniformly random part of one pool" in " ".join(
        tr.audit(*scored(1.0), design="random-split", delta=0.0).assumptions
    )


def test_nothing_is_ever_called_proven() -> None:
    for mu in (0.0, 4.0):
        found = tr.audit(*scored(mu), design="runs", delta=1e-5, claim=tr.Gaussian(sigma=1.0))
        text = f"{found} {found._repr_html_()} {found!r}".lower()
        assert "no proof" in text or "refuted" in text
        for word in ("is private", "is proven", "holds for the mechanism", "satisfies", "safe"):
            assert word not in text


def test_files(tmp_path: Path) -> None:
    scores, member = scored(3.0)
    rows = [
        f"{score!r},{int(flag)},x,{index}"
        for index, (score, flag) in enumerate(zip(scores.tolist(), member, strict=True))
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["Score,member,note,canary", *rows]) + "\n", "utf-8")
    found = tr.audit(path, design="one-run", delta=1e-5)
    assert found == tr.audit(scores, member, design="one-run", delta=1e-5)
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"score": scores, "member": member.astype(int), "canary": list(map(str, range(400)))})
    parquet.write_table(table, tmp_path / "scores.parquet")
    assert tr.audit(tmp_path / "scores.parquet", design="one-run", delta=1e-5) == found


def test_infinite_scores_are_scores() -> None:
    scores, member = scored(3.0)
    scores[np.argmax(scores)] = math.inf
    scores[np.argmin(scores)] = -math.inf
    for design in ("runs", "one-run", "random-split"):
        assert tr.audit(scores, member, design=design, delta=1e-5).epsilon_lower > 0.0  # type: ignore[operator]
    same = np.full(400, math.inf)
    for design in ("runs", "one-run", "random-split"):
        assert tr.audit(same, member, design=design, delta=1e-5).epsilon_lower == 0.0


def test_nan_is_the_lowest_score_if_asked_for() -> None:
    scores, member = scored(3.0)
    scores[3] = math.nan
    with pytest.raises(tr.DataError, match=r"place 4 is NaN"):
        tr.audit(scores, member, design="one-run", delta=1e-5)
    found = tr.audit(scores, member, design="one-run", delta=1e-5, nan="lowest")
    assert found == tr.audit(np.where(np.isnan(scores), -math.inf, scores), member, design="one-run", delta=1e-5)


def test_a_busy_machine_answers_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds that nobody asked for are a measure of work: a clock that runs a thousand times as fast ends nothing."""
    given: dict[str, Any] = {"design": "one-run", "guesses": (1000, 100, 90), "sides": "in", "claim": DPSGD}
    found, start = tr.audit(**given), time.monotonic()
    monkeypatch.setattr(compute_budget, "monotonic", lambda: start + 1000.0 * (time.monotonic() - start))
    assert tr.audit(**given) == found
    with pytest.raises(tr.WorkExhausted):
        tr.audit(*scored(1.0, count=100_000), design="runs", delta=1e-5, seconds=1.0)


def test_seconds_are_honoured() -> None:
    with pytest.raises(tr.WorkExhausted):
        tr.audit(*scored(1.0, count=100_000), design="runs", delta=1e-5, seconds=1e-4)
    found = tr.audit(*scored(3.0, count=200), design="one-run", claim=tr.Gaussian(sigma=1.0), seconds=0.3)
    assert found.p_upper is not None
