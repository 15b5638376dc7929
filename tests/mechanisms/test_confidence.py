"""Confidence is carried: every answer from draws says how sure it is, and several add up their doubts."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.cli.app import run
from tightrope.core.mechanisms.base import confidence, leaves

SURE = tr.Histograms([900, 100], [880, 120], confidence=0.95)
LESS = tr.Histograms([90, 10], [88, 12], confidence=0.6)
PLAIN = tr.Histograms([90, 10], [88, 12])
GIVEN = tr.Histograms([0.5, 0.5], [0.25, 0.75], kind="probabilities")


@pytest.mark.parametrize(
    "mechanism, expected",
    [
        (tr.Gaussian(1.0), None),
        (GIVEN * 3, None),
        (SURE, 0.95),
        (SURE * 10**6, 0.95),
        (SURE + SURE.best_of("geometric", mean=2) * 7, 0.95),
        (SURE + LESS, 0.55),
        ((SURE + LESS) * 3 + tr.Gaussian(2.0), 0.55),
        (SURE + LESS + tr.Histograms([9, 1], [8, 2], confidence=0.25), 0.0),
        (PLAIN, 0.0),
        (SURE + PLAIN, 0.0),
        (SURE + GIVEN, 0.95),
    ],
)
def test_doubts_add_up_and_the_same_data_counts_once(mechanism: tr.Mechanism, expected: float | None) -> None:
    assert confidence(mechanism) == expected


def test_many_parts_are_rounded_down() -> None:
    parts = [tr.Histograms([90, 10 + i], [88, 12], confidence=c) for i, c in enumerate((0.9, 0.97, 1 - 1e-16, 0.99))]
    exact = 1 - sum(1 - Fraction(repr(part.confidence)) for part in parts)
    found = confidence(tr.compose(parts))
    assert found is not None
    assert Fraction(repr(found)) <= exact
    assert exact - Fraction(found) < Fraction(1, 10**15)
    assert leaves(tr.compose(parts) * 5 + tr.Gaussian(1.0)) == {*parts, tr.Gaussian(1.0)}


def test_certificates_carry_it_through_every_question() -> None:
    both = SURE + LESS.best_of("geometric", mean=2)
    bounds = [both.delta(0.5), both.epsilon(0.9), *both.curve(0.0, 1.0, 3).bounds, both.renyi(0.5)]
    plain = SURE + LESS
    found = tr.calibrate(lambda sigma: tr.Gaussian(sigma) + plain, epsilon=9.0, delta=0.9, tolerance=0.1)
    bounds += [found.bound, tr.compare(plain, delta=0.9).truth]
    for bound in bounds:
        assert bound.certificate is not None
        assert bound.certificate.confidence == 0.55
        assert bound.certificate.assurance == "holds with 55 % confidence"
    assert tr.Gaussian(1.0).delta(1.0).certificate.assurance == ""  # type: ignore[union-attr]
    assert both.curve(0.0, 1.0, 2).to_csv().splitlines()[0] == "epsilon,lower,upper,confidence"
    assert both.curve(0.0, 1.0, 2).to_csv().splitlines()[1].endswith(",0.55")


def test_the_command_line_says_it_in_text_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    both = repr(SURE + LESS)
    for command in (
        ["delta", both, "--epsilon", "0.5"],
        ["epsilon", both, "--delta", "0.9"],
        ["renyi", both, "--order", "0.5"],
        ["compare", both, "--delta", "0.9"],
        ["calibrate", f"{both} + Gaussian(sigma=?)", "--epsilon", "9", "--delta", "0.9"],
    ):
        assert run(command) == 0, command
        assert "holds with 55 % confidence" in capsys.readouterr().out
        assert run([*command, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["confidence"] == 0.55
    assert run(["curve", both, "--points", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith(",0.55")
    assert run(["delta", "Gaussian(sigma=1)", "--epsilon", "0.5", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["confidence"] is None
    assert run(["delta", repr(PLAIN), "--epsilon", "0.5"]) == 0
    assert "no confidence stated: counts are taken as the laws" in capsys.readouterr().out
