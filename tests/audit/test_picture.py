"""What the pictures of audits show: points of their curves, beside the truth; what their names say."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import tightrope as tr
from tests.audit.test_audit import scored
from tightrope.audit.band import fpr_upper, roc, roc_band, tpr_lower
from tightrope.audit.scores import read_scores

pytest.importorskip("matplotlib")


def lines(axes: Any) -> dict[str, Any]:
    """By their names."""
    return {str(line.get_label()).replace("\n", " "): line for line in axes.lines}


def binomial_tail(count: int, rate: float, least: int) -> Any:
    """P[Bin(count, rate) >= least], by its definition."""
    with mpmath.workdps(40):
        p = mpmath.mpf(rate)
        return mpmath.fsum(mpmath.binomial(count, j) * p**j * (1 - p) ** (count - j) for j in range(least, count + 1))


@pytest.mark.parametrize(("count", "rank"), [(1, 1), (20, 1), (20, 7), (300, 12), (300, 300)])
@pytest.mark.parametrize("doubt", [0.05, 1e-3])
def test_limits_of_the_band_are_certified_and_close(count: int, rank: int, doubt: float) -> None:
    """Beta(k, n - k + 1) is at most u where at least k of n uniforms are."""
    high, low = fpr_upper(count, rank, doubt), tpr_lower(count, rank, doubt)
    assert 1 - binomial_tail(count, high, rank) <= doubt
    assert binomial_tail(count, low, rank) <= doubt
    assert 1 - binomial_tail(count, high * (1 - 1e-8), rank) > doubt * (1 - 1e-12)
    assert binomial_tail(count, low * (1 + 1e-8), rank) > doubt * (1 - 1e-12)


def test_the_roc_counts_both_kinds_from_the_highest_score_down() -> None:
    data = read_scores([3.0, 2.0, 2.0, 1.0, 0.0], [1, 1, 0, 0, 1])
    fprs, tprs = roc(data)
    assert fprs.tolist() == pytest.approx([0.0, 0.5, 1.0, 1.0])
    assert tprs.tolist() == pytest.approx([1 / 3, 2 / 3, 2 / 3, 1.0])


def test_the_band_lies_below_the_true_roc() -> None:
    """Of scores that are normal, mu apart, the truth is Phi(Phi^-1(x) + mu): missed at most once in twenty."""
    from scipy.special import ndtr, ndtri

    draw = np.random.Generator(np.random.PCG64(5))
    missed = 0
    for _ in range(60):
        scores = draw.normal(size=120)
        member = np.arange(120) < 60
        band = roc_band(read_scores(scores + 1.5 * member, member), Fraction(1, 20))
        assert (np.diff(band.fprs) >= 0.0).all()
        assert (np.diff(band.tprs) >= 0.0).all()
        assert band.at(np.array([0.0]))[0] == 0.0
        missed += bool((band.tprs > ndtr(ndtri(np.minimum(band.fprs, 1.0)) + 1.5) + 1e-12).any())
    assert missed <= 6


def test_many_runs_show_the_roc_the_band_and_the_claim() -> None:
    found = tr.audit(*scored(2.5), design="runs", delta=1e-5, claim=tr.Gaussian(sigma=1.0))
    figure = found.plot()
    attack, over = figure.axes
    shown = lines(attack)
    assert attack.get_xscale() == attack.get_yscale() == "log"
    assert (attack.get_xlabel(), attack.get_ylabel()) == ("false positive rate", "true positive rate")
    seen = shown["seen"]
    data = found.data
    assert data is not None
    place, tpr = seen.get_xdata()[700], seen.get_ydata()[700]
    threshold = np.sort(data.outside)[::-1][int(place * len(data.outside))]
    assert tpr == pytest.approx(np.mean(data.inside > threshold), abs=0.01)
    band = shown["at least, at all rates at once, 95 % confidence"]
    claim = shown["the most that Gaussian(sigma=1.0) allows"]
    for rate, most in zip(claim.get_xdata(), claim.get_ydata(), strict=True):
        exact = mpmath.ncdf(mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(rate) - 1) + 1) if rate < 1 else 1
        assert exact - 1e-15 <= most <= exact + 1e-5
    assert np.interp(0.05, band.get_xdata(), band.get_ydata()) > np.interp(0.05, claim.get_xdata(), claim.get_ydata())
    names = [text.get_text() for text in attack.get_legend().get_texts()]
    assert "above that: refuted" in names
    assert over.get_xlabel() == "epsilon, at delta 1e-05"


def test_a_claim_that_is_kept_has_no_place_above_it() -> None:
    found = tr.audit(*scored(0.5), design="runs", claim=(1, 1e-5), tail="both")
    (attack,) = found.plot(panel="roc").axes
    shown = lines(attack)
    assert {"seen, high scores", "seen, low scores", "the most that (1,\u00a01e-05)-privacy allows"} <= set(shown)
    claim = shown["the most that (1,\u00a01e-05)-privacy allows"]
    at = np.interp(0.01, claim.get_xdata(), claim.get_ydata())
    assert np.e * 0.01 + 1e-5 <= at <= 1.03 * np.e * 0.01
    assert not any("refuted" in text.get_text() for text in attack.get_legend().get_texts())


def test_p_crosses_the_level_at_the_answer() -> None:
    found = tr.audit(design="one-run", guesses=(1000, 700, 640), delta=1e-5, claim=(1, 1e-5))
    axes = found.plot(panel="p").axes[0]
    shown = lines(axes)
    curve = shown["p, at most"]
    epsilons, values = curve.get_xdata(), curve.get_ydata()
    assert (np.diff(values) >= 0.0).all()
    place = list(epsilons).index(found.epsilon_lower)
    assert values[place] <= 0.05 < values[place + 1]
    assert shown["the level, 5 %"].get_ydata()[0] == pytest.approx(0.05)
    assert shown["refuted: epsilon 2.14105"].get_xdata() == [found.epsilon_lower]


def test_one_run_shows_the_least_right_guesses_that_refute() -> None:
    found = tr.audit(design="one-run", guesses=(100, 60, 50), claim=(1, 1e-5))
    (axes,) = found.plot(panel="guesses").axes
    shown = lines(axes)
    needed = shown["the least that refute (1,\u00a01e-05)-privacy"]
    assert len(needed.get_xdata()) >= 8
    for guesses, right in zip(needed.get_xdata(), needed.get_ydata(), strict=True):
        assert tr.audit(design="one-run", guesses=(100, guesses, right), claim=(1, 1e-5)).refuted
        assert not tr.audit(design="one-run", guesses=(100, guesses, right - 1), claim=(1, 1e-5)).refuted
    assert (shown["seen"].get_xdata()[0], shown["seen"].get_ydata()[0]) == (60, 50)
    assert axes.get_xlabel() == "guesses"


def test_one_run_against_a_curve_counts_what_linear_programs_refute() -> None:
    """One slope at a time needs 83 of 100; together they refute from 81 on."""
    run = "Gaussian(sigma=1).poisson(rate=0.01) * 1000"
    found = tr.audit(design="one-run", guesses=(1000, 100, 90), sides="in", claim=run)
    shown = lines(found.plot().axes[0])
    needed = next(line for name, line in shown.items() if name.startswith("the least that refute Gaussian"))
    least = int(dict(zip(needed.get_xdata(), needed.get_ydata(), strict=True))[100])
    assert least < 83
    for count in (least, least - 1):
        again = tr.audit(design="one-run", guesses=(1000, 100, count), sides="in", claim=run)
        assert again.refuted is (count == least)


def test_what_has_no_picture_says_so() -> None:
    with pytest.raises(tr.InvalidParameter, match="its design has no coin"):
        tr.audit(*scored(1.0), design="members").plot()
    with pytest.raises(tr.InvalidParameter, match="give delta"):
        tr.audit(design="runs", table=(60, 10, 940, 990), claim="Gaussian(sigma=1)").plot()
    found = tr.audit(design="runs", table=(60, 10, 940, 990), delta=0.0)
    with pytest.raises(tr.InvalidParameter, match="panel must be one of p for this audit"):
        found.plot(panel="roc")


def test_axes_of_the_caller_get_one_picture() -> None:
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    figure = tr.audit(design="one-run", guesses=(100, 60, 50), delta=1e-5).plot(ax=axes)
    assert figure.axes == [axes]
    assert "right ones" in axes.get_ylabel()
