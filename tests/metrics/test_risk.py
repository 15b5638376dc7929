"""The risk of one person: numbers by closed forms, rounded outward, and words for each relation."""

from __future__ import annotations

import math
import pickle
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import tightrope as tr
from tightrope.core.answers.risk import Risk
from tightrope.core.metrics.read_risk import _reaches
from tightrope.core.metrics.risk_wording import PLACES, worded
from tightrope.core.values.bound import Certificate

JARGON = re.compile(
    r"epsilon|delta|prior\b|posterior|\bDP\b|neighbour|mechanism|adversar|hypothes|positive|negative|\b[tf]pr\b|bayes|"
    r"divergence|renyi|profile|trade-?off|dominat|sensitivity|baseline|quantile|noise|interval",
    re.IGNORECASE,
)
RUNS = [
    tr.Gaussian(sigma=1.0),
    tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 1000,
    tr.Gaussian(sigma=1.0).without_replacement(batch=2, records=2) * 3,
    tr.RandomizedResponse(p=0.75).without_replacement(batch=1, records=2) * 2,
    tr.ApproximateDP(epsilon=1.0, delta=0.01),
    tr.Exponential(epsilon=0.5) * 4,
    tr.Laplace(scale=3.0).group(size=3),
    tr.PureDP(epsilon=0.0),
    tr.Histograms(a=[900, 100], b=[880, 120], confidence=0.95),
    tr.Histograms(a=[900, 100], b=[880, 120]),
]


def rows(risk: Risk) -> dict[str, Any]:
    return {row.quantity: row for row in risk.rows}


def first(number: str) -> Fraction:
    return Fraction(number.split()[0].replace(",", ""))


@pytest.mark.parametrize(("sigma", "prior", "fpr", "baseline"), [(1.0, 0.1, 1e-3, 1e-4), (0.5, 0.7, 0.25, 1e-9)])
def test_the_numbers_of_one_gaussian(sigma: float, prior: float, fpr: float, baseline: float) -> None:
    """Closed forms; each number lies at or above, by less than two in its last digit."""
    with mp.workdps(40):
        mu = 1 / mp.mpf(sigma)

        def power(x: float) -> mp.mpf:
            return mp.ncdf(mp.sqrt(2) * mp.erfinv(2 * mp.mpf(x) - 1) + mu)

        odds = (1 - mp.mpf(prior)) / prior
        threshold = mu / 2 - mp.log(odds) / mu
        accuracy = prior * mp.ncdf(threshold) + (1 - mp.mpf(prior)) * mp.ncdf(mu - threshold)
        posterior = prior * power(fpr) / (prior * power(fpr) + (1 - mp.mpf(prior)) * fpr)
        people = 1000 if baseline > 1e-3 else round(1 / baseline)
        exact = {
            "tpr": 1000 * power(fpr),
            "advantage": 1000 * mp.ncdf(mu / 2),
            "bayes_accuracy": 1000 * accuracy,
            "posterior": 1000 * posterior,
            "reconstruction": people * power(baseline),
        }
        found = rows(tr.Gaussian(sigma=sigma).risk(prior=prior, fpr=fpr, baseline=baseline))
        for quantity, value in exact.items():
            number = mp.mpf(float(first(found[quantity].number)))
            assert 0 <= number - value < 0.011 * max(value, 10), quantity
            assert found[quantity].number.split()[0] in found[quantity].sentence
    epsilon = found["epsilon"].bound
    assert mp.e**epsilon.lower <= first(found["epsilon"].number) < mp.e**epsilon.upper * 1.01


def certified(lower: float, upper: float) -> tr.Bound:
    return tr.Bound(lower, upper, Certificate("", "", "", None))


@pytest.mark.parametrize("upper", [0.0273, 0.1, 0.3, 1.0, 5e-324, 0.9999999999999999, 1e-7, 0.5])
def test_counts_are_rounded_up_by_exact_fractions(upper: float) -> None:
    for quantity, given in (("tpr", {"fpr": 1e-3}), ("reconstruction", {"baseline": 1e-4}), ("tpr", {"fpr": 0.0})):
        found = worded(quantity, given, certified(upper / 2, upper), False, True)
        people = Fraction(found.number.split()[-1].replace(",", ""))
        number = first(found.number)
        assert number >= Fraction(upper) * people
        assert number - Fraction(upper) * people < max(number / 99, Fraction(1, 10**320))
        reached = re.search(r"reaches ([^)]*)\)", found.sentence)
        (plain,) = given.values()  # which is reached in any case
        assert (reached is None) is (upper <= plain or quantity == "reconstruction")
        assert reached is None or first(reached[1]) <= max(Fraction(upper / 2), Fraction(repr(plain))) * people
    coin = worded("advantage", {}, certified(upper, upper), False, True)
    assert 0 <= first(coin.number) - 500 * (1 + Fraction(upper)) < Fraction(str(PLACES))
    odds = worded("epsilon", {"delta": 1e-6}, certified(upper, upper), False, True)
    with mp.workdps(40):
        assert first(odds.number) >= mp.e ** mp.mpf(upper)


def test_a_lower_end_is_told_only_where_an_attacker_reaches_it() -> None:
    wide = certified(0.2, 0.3)
    told = worded("tpr", {"fpr": 0.1}, wide, False, True)
    assert "(and some attacker reaches 200)" in told.sentence
    assert not told.sharp
    assert "reaches" not in worded("tpr", {"fpr": 0.1}, wide, False, False).sentence
    sampled = tr.Gaussian(sigma=1.0).without_replacement(batch=1, records=2) * 2
    found = rows(sampled.risk(fpr=0.25))
    certificate = found["tpr"].bound.certificate
    assert certificate.attained
    assert not certificate.tight
    assert "reaches" not in found["tpr"].sentence  # several neighbours, each at some point
    assert "reaches" not in found["posterior"].sentence
    assert any("real attackers may reach less" in note.lower() for note in sampled.risk().meant)
    assert any("sharp" in note for note in tr.Gaussian(sigma=1.0).risk().meant)


def test_no_attacker_is_said_to_guess_a_record_as_often_as_the_limit() -> None:
    coin = tr.RandomizedResponse(p=0.75)  # two outputs: of n records each with 1/n, sum max P_z(y)/n = 3/(2n), not 3/n
    assert first(rows(coin.risk(baseline=1e-4))["reconstruction"].number) >= 3
    assert any("guessed value is a limit" in note for note in coin.risk().meant)
    assert "reaches" not in worded("reconstruction", {"baseline": 0.1}, certified(0.2, 0.3), False, False).sentence
    assert not _reaches("reconstruction", rows(coin.risk())["reconstruction"].bound)


@pytest.mark.parametrize("run", RUNS, ids=repr)
def test_the_page_has_no_jargon_and_says_who_is_meant(run: tr.Mechanism) -> None:
    risk = run.risk()
    page = "\n".join([*(row.sentence for row in risk.rows), *risk.meant, *risk.assumed, *risk.not_covered])
    assert JARGON.findall(page) == []
    assert "{" not in page
    replaced = run.relation is tr.Relation.REPLACE
    sentences = " ".join(row.sentence for row in risk.rows)
    assert ("in the data" in sentences) is not replaced
    assert ("record is A" in sentences) is replaced
    for row in risk.rows:
        assert row.sentence in re.sub(r"\s+", " ", str(risk))
        assert row.direction is (None if replaced or row.quantity == "epsilon" else tr.Direction.REMOVE)
        given = {**row.arguments, "direction": row.direction}
        again = getattr(run, row.quantity)(**given)
        assert max(again.lower, row.bound.lower) <= min(again.upper, row.bound.upper)
    assert pickle.loads(pickle.dumps(risk)) == risk
    assert risk.rows[0].number in risk._repr_html_()


def test_what_a_page_assumes_follows_the_run() -> None:
    def page(run: tr.Mechanism) -> str:
        return re.sub(r"\s+", " ", str(run.risk()))

    assert "one record, which is in the data or not" in page(RUNS[1])
    assert "has the record A" not in page(RUNS[1])
    assert "read 'is in the data' as 'has the record A'" in page(RUNS[0])
    assert "which is A or B" in page(RUNS[2])
    assert "up to 3 records" in page(RUNS[6])
    assert "holds with 95 % confidence" in page(RUNS[8])
    assert "taken for the true chances" in page(RUNS[9])
    inner = tr.Gaussian(sigma=9.0).group(size=2)
    for run in (inner.poisson(rate=0.1), tr.parallel(inner, tr.Laplace(scale=3.0).group(size=2)), inner * 2):
        assert "up to 2 records" in page(run)
    assert "up to 6 records" in page(inner.group(size=3))
    assert "as many records as each part of the run says" in page(tr.parallel(inner, tr.Laplace(scale=3.0)))
    mixed = tr.Laplace(scale=3.0).group(size=2) + tr.Gaussian(sigma=2.0)
    assert "as many records as each part of the run says" in page(mixed)
    ordered = tr.Finite(p=[0.5, 0.5], q=[0.25, 0.75])
    assert "has the record A" not in page(ordered)
    claimed = tr.CharacteristicFunction(lambda z: z * (z + 1) / 50, (-99, 98), decay="falling") * 20
    assert "as claimed" in page(claimed)


@pytest.mark.parametrize(
    "report",
    [
        tr.RandomizedResponse(p=0.75),
        tr.RandomizedResponse(channel=[[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]).named("survey") * 2,
        tr.SubsetSelection(epsilon=1.0, categories=10, size=3).group(size=2),
    ],
)
def test_a_report_is_about_one_of_two_values(report: tr.Mechanism) -> None:
    """Nobody is in any data, and no sentence is one short: the numbers are those of the worse order."""
    risk = report.risk()
    page = re.sub(r"\s+", " ", str(risk))
    assert "people whose value is A" in page
    assert "the attacker knows how likely each value is" in page
    assert re.search(r"A person has (one value, which is|up to 2 values, which are those of) A or ", page)
    assert not re.search("record|in the data|accuse", page)
    for row in risk.rows:
        again = getattr(report, row.quantity)(**row.arguments)
        assert row.direction is None
        assert max(again.lower, row.bound.lower) <= min(again.upper, row.bound.upper)


def test_sampled_reports_and_mixes_are_of_people_in_the_data() -> None:
    coin = tr.RandomizedResponse(p=0.75, neighbours="add_remove")
    for run in (coin.poisson(rate=0.1), coin + tr.Laplace(scale=2.0), tr.parallel(coin, coin * 2)):
        assert "people who are not in the data" in re.sub(r"\s+", " ", str(run.risk()))


def test_corners_of_what_is_given() -> None:
    leaky, clean = tr.ApproximateDP(epsilon=1.0, delta=0.01), tr.Gaussian(sigma=1.0)
    never = rows(leaky.risk(fpr=0.0))
    assert "posterior" not in never
    assert never["tpr"].sentence.startswith(
        "An attacker who never accuses anybody wrongly correctly accuses at most 10"
    )
    assert never["epsilon"].number == "no limit"
    assert rows(clean.risk(fpr=0.0))["tpr"].sentence.endswith("accuses nobody rightly.")
    assert first(rows(clean.risk(fpr=1.0))["tpr"].number) == 1000
    for prior in (0.0, 1.0):
        sure = rows(clean.risk(prior=prior))
        assert first(sure["bayes_accuracy"].number) == 1000
        assert first(sure["posterior"].number) == 1000 * prior
    assert first(rows(clean.risk(baseline=0.0))["reconstruction"].number) == 0
    assert first(rows(clean.risk(baseline=1.0))["reconstruction"].number) == 1000
    assert rows(clean.risk(delta=0.0))["epsilon"].number == "no limit"
    assert not worded("epsilon", {"delta": 0.0}, certified(1.0, math.inf), False, True).sharp  # nothing is known above
    assert "nothing of use" in rows(tr.PureDP(epsilon=800.0).risk())["epsilon"].sentence  # e^800 is no double
    assert "1 in 1,000,000,000 " in rows(clean.risk(delta=1e-9))["epsilon"].sentence
    rare = rows(clean.risk(prior=1e-6, fpr=2.5e-5))
    assert "with a chance of 1 in 1,000,000," in rare["posterior"].sentence
    assert "2.5 of 100,000 people" in rare["tpr"].sentence
    assert "999,999 times" in rare["bayes_accuracy"].sentence


def test_the_picture_shows_the_attacker_beside_guessing(tmp_path: Path) -> None:
    risk = tr.Gaussian(sigma=1.0).risk(fpr=0.01)
    figure = risk.plot(tmp_path / "risk.png")
    assert (tmp_path / "risk.png").stat().st_size > 10_000
    every, small = figure.axes
    for axes in (every, small):
        lines = {str(line.get_label()): np.asarray(line.get_data()) for line in axes.lines}
        fprs, tprs = lines["the best attacker, at most"]
        exact = [float(mp.ncdf(mp.sqrt(2) * mp.erfinv(2 * x - 1) + 1)) for x in fprs if 0 < x < 1]
        assert all(0 <= most - value < 0.02 for most, value in zip(tprs[(fprs > 0) & (fprs < 1)], exact, strict=True))
        assert (lines["guessing"][0] == lines["guessing"][1]).all()
    assert [text.get_text() for text in small.texts] == [f"at most {risk.rows[0].number}"]
    assert every.get_xlabel() == "wrongly accused, of all who are not in the data"
    replaced = RUNS[3].risk(fpr=0.0).plot(ax=figure.add_subplot())
    assert replaced is figure
    assert "whose record is B" in figure.axes[-1].get_xlabel()
    assert len(figure.axes[-1].texts) == 0  # there is no rate to mark
    tr.RandomizedResponse(p=0.75).risk().plot(ax=(report := figure.add_subplot()))
    assert "whose value is B" in report.get_xlabel()


def test_what_is_refused() -> None:
    run = tr.Gaussian(sigma=1.0)
    with pytest.raises(tr.InvalidParameter, match="takes no direction"):
        run.risk(direction="add")
    for name in ("prior", "fpr", "baseline", "delta"):
        with pytest.raises(tr.InvalidParameter, match=name):
            run.risk(**{name: 1.5})
    with pytest.raises(TypeError, match="did you mean prior"):
        run.risk(priors=0.1)  # type: ignore[call-arg]
    with pytest.raises(tr.AccuracyNotReached):
        (tr.Laplace(scale=1.0).without_replacement(batch=10, records=100) * 3).risk(accuracy=1e-12, seconds=0.5)


def test_a_small_lower_end_is_no_zero_beside_a_large_upper_one() -> None:
    told = worded("epsilon", {"delta": 1e-6}, tr.Bound(9.2, 33.5), replaced=True, reaches=True)
    assert "at most 353,900,000,000,000 times" in told.sentence
    assert "(and some attacker reaches 9,897)" in told.sentence


def test_a_delta_of_zero_adds_nothing_to_a_sentence() -> None:
    pure, approximate = (tr.PureDP(epsilon=1.0).risk(delta=delta).rows[-1].sentence for delta in (0.0, 1e-3))
    assert "that chance if they are" in pure
    assert "that chance plus 1 in 1,000 if they are" in approximate
