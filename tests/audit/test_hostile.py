"""A referee who wants a false refutation: each way is refused, corrected for, or stated in the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tightrope as tr
from tests.audit.test_audit import scored
from tightrope.audit.designs import Settings

SCORES, MEMBER = scored(1.0)
GIVEN: dict[str, Any] = {"scores": SCORES, "member": MEMBER, "design": "one-run", "delta": 1e-5}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"design": None}, "audit needs design: design says what was decided by chance"),
        ({"design": "one run"}, "not 'one run'"),
        ({"delta": None}, "audit needs delta"),
        ({"delta": 1.5}, "delta must lie in"),
        ({"delta": 1.0}, "delta 1 promises nothing"),
        ({"level": 1.0}, "level must lie in"),
        ({"level": 0.4}, "level must lie in"),
        ({"member": MEMBER[:-1]}, "one is needed for each score"),
        ({"member": MEMBER + 1.0}, "member must be 0 or 1, and is not at place"),
        ({"member": np.ones(400)}, "all are members, or none is"),
        ({"member": None}, "audit needs member"),
        ({"scores": [], "member": []}, "there are no scores"),
        ({"scores": "no such file.csv", "member": None}, "cannot be opened"),
        ({"coin": 0.0}, "coin must lie strictly between"),
        ({"coin": 0.9}, "do not look like coins"),
        ({"coin": 0.51, "sides": "both"}, "fair coins"),
        ({"sides": "maybe"}, "sides must be one of in, out, both"),
        ({"tail": "left"}, "tail must be one of"),
        ({"nan": "skip"}, "nan must be"),
        ({"ranks": [500]}, "no rank 500 among 400"),
        ({"ranks": [10, 10]}, "each rank once"),
        ({"seconds": 0}, "seconds must be"),
        ({"table": (1, 2, 3, 4)}, "needs one of"),
        ({"scores": None, "member": None}, "needs one of"),
        ({"scores": None, "member": None, "guesses": (10, 20, 5)}, "v <= r <= m"),
        ({"scores": None, "member": None, "guesses": (10, 8, 9)}, "v <= r <= m"),
        ({"scores": None, "member": None, "guesses": (10, 8)}, "three counts"),
        ({"scores": None, "member": None, "guesses": (10, 8, 5), "design": "runs"}, "about canaries of one run"),
        ({"scores": None, "member": None, "guesses": (10, 8, 5), "stopping": True}, "one test, fixed before the data"),
        ({"scores": None, "member": None, "table": (1, 2, 3)}, "four counts"),
        ({"scores": None, "member": None, "table": (1, 0, 2, 0)}, "both kinds are needed"),
        ({"scores": None, "member": None, "table": (1, 2, 3, 4), "design": "random-split"}, "tells nothing of pairs"),
        ({"scores": None, "member": None, "table": (90, 5, 5, 0)}, "do not look like coins"),
        ({"scores": None, "member": None, "table": (9, 1, 1, 9), "design": "members"}, "They bound no epsilon"),
        ({"canary": ["a"] * 400}, "the same canary is there twice"),
        ({"canary": [str(i) for i in range(400)], "design": "runs"}, "many runs of one canary"),
        ({"run": ["a"] * 400, "design": "runs"}, "the same run is there twice"),
        ({"run": [str(i % 2) for i in range(400)], "design": "random-split"}, "audit each run by itself"),
        ({"coin": 0.3, "design": "random-split"}, "a random split has fair coins|fair coins"),
        ({"claim": 3}, "claim must be a mechanism"),
        ({"claim": (1.0, 1e-5, 3)}, "a claim of two numbers"),
        ({"claim": (-1.0, 1e-5)}, "epsilon must be"),
        ({"claim": (1.0, 1.0)}, "promises nothing"),
        ({"claim": (1e4, 0.0)}, "at most 500"),
        ({"claim": "Gaussian(sigma=1"}, "column"),
        ({"claim": "Gaussian(sigma=1).poisson(rate=?)"}, "it is not proven that more noise promises more"),
        ({"claim": "(Gaussian(sigma=?) * 3).without_replacement(batch=10, records=100)"}, "not proven"),
        ({"claim": "Gaussian(sigma=1).poisson(rate=0.01, neighbours='replace')"}, "about another relation"),
        ({"claim": "Gaussian(sigma=1).poisson(rate=0.01)", "design": "random-split"}, "claim for replaced records"),
        ({"claim": "Gaussian(sigma=1).poisson(rate=0.01)", "neighbours": "replace"}, "about another relation"),
        ({"claim": "Gaussian(sigma=?)", "stopping": True}, "leave out stopping"),
        ({"neighbours": "other"}, "neighbours must be"),
        ({"neighbours": "other", "design": "random-split"}, "neighbours must be"),
        ({"claim": "GaussianVariance(sigma1=2, sigma2=1)", "design": "random-split"}, "about another relation"),
        ({"claim": "GaussianVariance(sigma1=2, sigma2=1)", "neighbours": "replace"}, "about another relation"),
        ({"coin": 0.3, "sides": "in", "design": "runs"}, "leave out coin"),
        ({"sides": "in", "design": "runs"}, "leave out sides"),
        ({"scores": None, "member": None, "table": (9, 1, 1, 9), "sides": "in"}, "leave out sides"),
        ({"scores": None, "member": None, "guesses": (10, 8, 5), "tail": "low"}, "leave out tail"),
        ({"scores": None, "member": None, "guesses": (10, 8, 5), "nan": "lowest"}, "leave out nan"),
        ({"scores": None, "member": None, "guesses": (10, 8, 5), "run": ["a"]}, "leave out run"),
        ({"scores": None, "member": None, "guesses": (10, 8, 5), "sides": "in", "design": "random-split"}, "no sides"),
        ({"scores": None, "member": None, "guesses": (9, 8, 5), "coin": 0.3, "design": "random-split"}, "fair coins"),
        ({"canary": ["a"] * 400, "design": "random-split"}, "the same canary is there twice"),
    ],
)
def test_refusals(changed: dict[str, Any], told: str) -> None:
    given = {**GIVEN, **changed}
    with pytest.raises((tr.InvalidParameter, tr.DataError, tr.ExpressionError), match=told) as caught:
        tr.audit(given.pop("scores"), given.pop("member"), **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("score,flag\n1,1\n", "column member once"),
        ("score,member,member\n1,1,0\n", "column member once"),
        ("1,1\n2,0\n", "column score once"),
        ("score,member\n1,1\nx,0\n", "a score and 0 or 1"),
        ("score,member\n1,1\n2\n", "a score and 0 or 1"),
        ("score,member\n1,1\n2,0.5\n", "member must be 0 or 1"),
        ("score,member\n1,1\n0,7,1\n", "in as many columns"),  # a decimal comma
        ("score,member\n1,1\n# 2,0\n", "a score and 0 or 1"),
        ("score,member\n", "there are no scores"),
        ("", "column score once"),
    ],
)
def test_files_that_are_refused(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(tr.DataError, match=told):
        tr.audit(path, design="one-run", delta=1e-5)
    with pytest.raises(tr.InvalidParameter, match="leave them out"):
        tr.audit(path, [1, 0], design="one-run", delta=1e-5)


@pytest.mark.parametrize("design", ["one-run", "random-split", "runs"])
def test_a_file_sorted_by_membership_leaks_nothing_through_ties(design: str) -> None:
    """All scores are equal, members come first: ties broken by the place in the file would find all of them."""
    member = np.arange(400) < 200
    for scores in (np.zeros(400), np.full(400, -np.inf)):
        found = tr.audit(scores, member, design=design, delta=1e-5)
        assert found.epsilon_lower == 0.0


def test_names_that_begin_with_a_hash_are_rows(tmp_path: Path) -> None:
    rows = [
        f"#{index},{float(score)!r},{int(flag)}" for index, (score, flag) in enumerate(zip(SCORES, MEMBER, strict=True))
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["# canaries of the first run", "canary,score,member", *rows]) + "\n", "utf-8")
    assert tr.audit(path, design="one-run", delta=1e-5) == tr.audit(SCORES, MEMBER, design="one-run", delta=1e-5)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_runs_with_the_same_coins_are_not_independent(turned: bool, named: bool) -> None:
    """Two trainings with one toss of the coins: Fisher's product would count the same luck twice."""
    draw = np.random.Generator(np.random.PCG64(2))
    coins = draw.random(60) < 0.5
    member = np.concatenate([coins, ~coins if turned else coins])
    order = np.concatenate([np.arange(60), 60 + draw.permutation(60)]) if named else np.arange(120)
    names = [str(index) for index in (order % 60).tolist()]
    given: dict[str, Any] = {"run": ["a"] * 60 + ["b"] * 60, "design": "one-run", "delta": 1e-5}
    given |= {"canary": names} if named else {}
    with pytest.raises(tr.DataError, match="toss new coins for each run"):
        tr.audit(draw.normal(size=120), member[order], **given)
    tr.audit(draw.normal(size=120), np.concatenate([coins, draw.random(60) < 0.5])[order], **given)


def test_the_order_of_ties_is_not_that_of_the_coins() -> None:
    """Coins of default_rng(seed), and an audit with that seed: two streams of numbers."""
    found = Settings(seed=5).draw().random(1000)
    assert abs(np.corrcoef(found, np.random.default_rng(5).random(1000))[0, 1]) < 0.1


def test_copies_of_rows_are_pointed_out() -> None:
    copied = tr.audit(np.repeat(SCORES, 2), np.repeat(MEMBER, 2), design="runs", delta=1e-5)
    assert any("leave copies out" in each for each in copied.warnings)
    assert not tr.audit(SCORES, MEMBER, design="runs", delta=1e-5).warnings


def test_a_fixed_number_of_members_is_pointed_out() -> None:
    told = tr.audit(SCORES, MEMBER, design="one-run", delta=1e-5).warnings
    assert any("exactly half of the canaries are in" in each for each in told)
    other = np.concatenate([MEMBER[:-1], [not MEMBER[-1]]])
    assert not tr.audit(SCORES, other, design="one-run", delta=1e-5).warnings


def test_what_the_answer_is_about_and_what_it_takes_for_granted_is_said() -> None:
    split = tr.audit(*scored(3.0), design="random-split", delta=1e-5, claim=(0.5, 1e-5))
    assert "for a replaced record" in split.sentences[0]
    assert "(0.5, 1e-05) for a replaced record is REFUTED" in split.sentences[1]
    assert "no other seed was tried before" in " ".join(split.assumptions)
    assert "none that was made is left out" in " ".join(tr.audit(*scored(1.0), design="runs", delta=0).assumptions)
    assert "whose coins were tossed are counted" in " ".join(tr.audit(**GIVEN).assumptions)


def test_how_many_guesses_are_needed_is_said_of_epsilon_too() -> None:
    found = tr.audit(design="one-run", guesses=(4, 4, 4), delta=0.0)
    assert found.epsilon_lower == 0.0
    assert "even 4 of 4 would not refute any: at least 5 guesses are needed, all of them right" in found.sentences[0]


@pytest.mark.parametrize("design", ["runs", "one-run"])
def test_no_p_is_0(design: str) -> None:
    """However rare: a probability that no double holds is not 0."""
    table = (100_000, 0, 0, 100_000)
    member = np.arange(4000) < 2000
    assert tr.audit(design=design, table=table, claim=(0.0, 0.0)).p_upper > 0.0  # type: ignore[operator]
    assert tr.audit(1.0 * member, member, design=design, claim=(0.0, 0.0)).p_upper > 0.0  # type: ignore[operator]


def test_ties_depend_on_the_seed_alone_and_it_is_said() -> None:
    scores, member = np.round(SCORES), MEMBER
    one = tr.audit(scores, member, design="one-run", delta=1e-5)
    assert one == tr.audit(scores, member, design="one-run", delta=1e-5)
    assert "with the seed 3" in " ".join(tr.audit(scores, member, design="one-run", delta=1e-5, seed=3).assumptions)
    assert one.settings["seed"] == 0


def test_looking_at_more_thresholds_costs() -> None:
    """Each test that is looked at has its share: the same count refutes less among more."""
    scores, member = scored(3.0)
    alone = tr.audit(scores, member, design="one-run", delta=1e-5, ranks=[160])
    among = tr.audit(scores, member, design="one-run", delta=1e-5, ranks=[160, 5, 6, 7, 8, 9])
    assert sum(test.weight for test in among.tests) <= 1.0
    share = next(test for test in among.tests if test.rank == 160)
    assert (share.count, share.weight) == (alone.tests[0].count, 1.0 / 6.0)
    with_share = tr.audit(
        scores, member, design="one-run", claim=(alone.epsilon_lower, 1e-5), ranks=[160, 5, 6, 7, 8, 9]
    )  # type: ignore[arg-type]
    assert with_share.tests[0].p <= 0.05 * (1.0 + 1e-9)


def test_the_threshold_with_a_random_number_of_guesses_is_not_offered() -> None:
    """A claim (0, .01), m = 10: noise and 10 guesses, or (0, .1)-private with 5; whoever lets r depend on the output
    rejects more often than the level. Here r is a rank, so the number of guesses never depends on the scores."""
    for mu in (0.0, 3.0):
        found = tr.audit(*scored(mu), design="one-run", delta=1e-5)
        assert [test.rank for test in found.tests] == [10, 20, 40, 80, 160]


def test_one_run_is_not_many() -> None:
    """Publish everything with probability 1/2 is (0, 1/2)-private, and in half of all runs every guess is right."""
    found = tr.audit(design="one-run", table=(500, 0, 0, 500), delta=0.5)
    assert found.epsilon_lower == 0.0
    wrong = tr.audit(design="runs", table=(500, 0, 0, 500), delta=0.5)
    assert wrong.epsilon_lower > 1.0  # type: ignore[operator]
    assert any("independent of each other" in each for each in wrong.assumptions)
