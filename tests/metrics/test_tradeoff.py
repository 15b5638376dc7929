"""Rates of attackers against closed forms and fractions: every end is on its side, and as near as promised."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import pytest

import tightrope as tr
from tightrope.core.metrics.law import Law

from ..oracle.readings import Family, GaussianReadings, LaplaceReadings, ResponseReadings, Two, posterior

WIDTH = 1e-6
RATES = (1e-100, 1e-3, 0.2, 0.5, 1.0 - 1e-12)


def close(bound: tr.Bound, truth: mp.mpf | Fraction, width: float = WIDTH) -> None:
    """The truth is inside, and the interval is as narrow as promised, or as doubles are."""
    with mp.workdps(60):
        exact = mp.mpf(truth.numerator) / truth.denominator if isinstance(truth, Fraction) else truth
        assert mp.mpf(bound.lower) <= exact <= mp.mpf(bound.upper)
        assert bound.upper - bound.lower <= width * bound.upper + 2.0**-1070


def smaller(bound: tr.Bound, other: tr.Bound, tpr: mp.mpf | Fraction) -> None:
    """Both rates hold the truth; the smaller has its digits."""
    close(bound, tpr)
    with mp.workdps(60):
        close(other, 1 - tpr, math.inf if tpr < 0.5 else WIDTH)
        assert other.upper <= 1.0


FAMILIES: list[tuple[tr.Mechanism, Family]] = [
    (tr.Gaussian(sigma=2), GaussianReadings(mp.mpf("0.5"))),
    (tr.Gaussian(sigma=1) * 16, GaussianReadings(mp.mpf(4))),
    (tr.Gaussian(sigma=1e4), GaussianReadings(mp.mpf("1e-4"))),
    (tr.Laplace(scale=0.5), LaplaceReadings(mp.mpf(2))),
    (tr.RandomizedResponse(p=0.75), ResponseReadings(mp.log(3))),
]


@pytest.mark.parametrize(("run", "family"), FAMILIES, ids=lambda each: str(each)[:30])
def test_closed_forms(run: tr.Mechanism, family: Family) -> None:
    powers, misses = run.tpr(RATES), run.tradeoff(RATES)
    with mp.workdps(60):
        for rate, power, miss in zip(RATES, powers, misses, strict=True):
            smaller(power, miss, family.tpr(mp.mpf(rate)))
        for prior in (1e-300, 0.5, 1.0 - 2.0**-53):
            close(run.bayes_accuracy(prior), family.bayes_accuracy(mp.mpf(prior)))
            close(run.posterior(prior, 1e-3), family.posterior(mp.mpf(prior), mp.mpf(1e-3)))
        close(run.advantage(), family.advantage())
        close(run.reconstruction(1e-4), family.tpr(mp.mpf(1e-4)))


def test_certain_of_the_record_or_nearly() -> None:
    """f of 1e-89 at a rate of a half, and the ends of what doubles can say."""
    run = tr.Gaussian(sigma=0.05)
    with mp.workdps(60):
        close(run.tradeoff(0.5), mp.ncdf(-1 / mp.mpf(0.05)))
    last = run.tradeoff(1e-30)  # 1e-17 in truth, and both rates are tiny
    assert 0.0 <= last.lower <= last.upper < 1e-15
    assert run.tpr(1e-30).upper <= 1.0


LAWS = {
    "leaky": Two.of((0.25, 0.5, 0.125, 0.125), (0, 0.5, 0.25, 0.25)),
    "lossy": Two.of((0.5, 0.25, 0.25, 0), (0.125, 0.375, 0.25, 0.25)),
    "both": Two.of((0.0625, 0.4375, 0.5, 0), (0, 0.5, 0.375, 0.125)),
    "skewed": Two.of((0.5, 0.25, 0.125, 0.125), (0.0625, 0.0625, 0.25, 0.625)),
}


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("name", LAWS)
def test_finite_laws(name: str, count: int) -> None:
    """Atoms, where f is linear, infinite losses of either side, both directions and the envelope of both."""
    two = LAWS[name]
    run = tr.Finite([float(each) for each in two.p], [float(each) for each in two.q]) * count
    laws = two.power(count)
    corner = float(laws.corners()[len(laws.corners()) // 2][0])
    rates = (0.0, 1e-9, corner, (1 + corner) / 2, 1.0)
    for direction, truth in (("remove", laws.tpr), ("add", laws.reversed().tpr), (None, laws.symmetric_tpr)):
        powers, misses = (asked(rates, direction=direction) for asked in (run.tpr, run.tradeoff))
        for at, power, miss in zip(rates, powers, misses, strict=True):
            exact = truth(Fraction(at))
            close(power, exact)
            close(miss, 1 - exact, WIDTH if exact > Fraction(1, 2) else math.inf)
    close(run.reconstruction(0.01), laws.tpr(Fraction(0.01)))
    chance, rate = Fraction(0.1), Fraction(0.01)
    close(run.posterior(0.1, 0.01, direction="add"), laws.reversed().posterior(chance, rate))
    close(run.posterior(0.1, 0.01), posterior(laws.symmetric_tpr(rate), chance, rate))
    for prior in (0.25, 0.75):
        close(run.bayes_accuracy(prior, direction="remove"), laws.bayes_accuracy(Fraction(prior)))
        close(run.bayes_accuracy(prior, direction="add"), laws.reversed().bayes_accuracy(Fraction(prior)))


@pytest.mark.parametrize("rate", [0.03])
def test_a_sampled_gaussian(rate: float) -> None:
    """One use: the likelihood rises with the output, so tests are thresholds; adding has the inverse."""
    run = tr.Gaussian(sigma=1).poisson(rate=rate)
    with mp.workdps(40):
        for fpr in (1e-15, 1e-3, 0.5, 0.98):
            cut = mp.findroot(lambda z, fpr=fpr: mp.log(mp.ncdf(-z)) - mp.log(fpr), mp.sqrt(2) * mp.erfinv(1 - 2 * fpr))
            truth = (1 - mp.mpf(rate)) * fpr + rate * mp.ncdf(1 - cut)
            smaller(run.tpr(fpr, direction="remove"), run.tradeoff(fpr, direction="remove"), truth)
            missed = float(1 - truth)  # f_add at f_remove(x) is x
            cut = mp.findroot(lambda z, y=missed: (1 - mp.mpf(rate)) * mp.ncdf(z) + rate * mp.ncdf(z - 1) - y, cut)
            smaller(run.tpr(missed, direction="add"), run.tradeoff(missed, direction="add"), mp.ncdf(cut))


def test_real_neighbours_below_and_the_dominating_pair_above() -> None:
    """Shuffled reports: lower ends are those of real runs, upper ends those of a pair that nobody attains."""
    run = tr.PureDP(1.0).shuffle(1000)
    power, miss = run.tpr(0.01), run.tradeoff(0.01)
    for at in (-0.3, 0.0, 0.3):  # every line of the profile lies above the power
        assert power.lower <= run.delta(at).upper + math.exp(at) * 0.01 + 1e-15
    assert power.upper - power.lower < 0.02 * power.upper
    assert abs(power.lower + miss.upper - 1.0) <= 1e-15
    certificate = power.certificate
    assert certificate is not None
    assert (certificate.attained, certificate.tight) == (True, False)
    assert certificate.budget.lower["theorem"] > 0.9 * power.width
    assert sum(certificate.budget.upper.values()) >= power.width * (1.0 - 1e-9)
    assert certificate.budget.widest == "theorem"  # more points would not help
    assert run.reconstruction(0.01) == power
    with pytest.raises(tr.InvalidParameter, match="direction must be left out"):
        run.reconstruction(0.01, direction="remove")


@pytest.mark.parametrize(
    "run",
    [
        tr.RenyiCurve(orders=[2, 8, 32], divergences=[0.1, 0.4, 2.0]),
        tr.TradeoffCurve(fprs=[0, 0.25, 1], fnrs=[1, 0.25, 0]) * 3,
        tr.PrivacyCurve(epsilons=[0, 1], deltas=[0.3, 0.05]),
        tr.Gaussian(sigma=1).poisson(rate=0.01) * 100,
    ],
    ids=str,
)
def test_rates_are_lines_below_the_profile(run: tr.Mechanism) -> None:
    """g(x) <= H(a) + a x at every a, with the curve of both directions; there and back: 1 - g is on the line."""
    rates = (1e-6, 0.05, 0.6)
    for rate, power in zip(rates, run.tpr(rates), strict=True):
        assert rate <= power.lower
        assert power.upper - power.lower <= WIDTH * power.upper
        for delta, at in zip(run.delta([-1.0, 0.1, 2.0]), (-1.0, 0.1, 2.0), strict=True):
            assert power.lower <= (delta.upper + math.exp(at) * rate) * (1 + 1e-12)


def test_a_given_polyline_comes_back() -> None:
    run = tr.TradeoffCurve(fprs=[0, 0.25, 1], fnrs=[1, 0.25, 0])
    for rate, miss in ((0.125, 0.625), (0.25, 0.25), (0.625, 0.125)):
        found = run.tradeoff(rate)
        assert found.lower <= miss <= found.upper <= found.lower + 1e-9


def test_what_cannot_be_asked() -> None:
    run = tr.Gaussian(sigma=1)
    with pytest.raises(tr.InvalidParameter, match="fpr must be above 0 for a posterior"):
        run.posterior(0.1, 0)
    with pytest.raises(tr.InvalidParameter, match="leave direction out"):
        run.reconstruction(0.1, direction="add")
    with pytest.raises(tr.InvalidParameter, match=r"fpr must lie in \[0, 1\]"):
        run.tpr(1.5)
    with pytest.raises(tr.InvalidParameter, match="only one of prior and fpr"):
        run.posterior([0.1], [0.1])
    with pytest.raises(tr.AccuracyNotReached):
        run.tpr(0.1, accuracy=1e-17)


@pytest.mark.parametrize("seconds", [1e-6, 0.003])
def test_time_that_ends_early(seconds: float) -> None:
    """What is known is the answer, and guessing is always known."""
    run = tr.Gaussian(sigma=1).poisson(rate=0.01) * 1000
    power = run.tpr(0.01, seconds=seconds)
    assert 0.01 <= power.lower <= 0.0291390946 <= power.upper <= 1.0
    guess, after = run.bayes_accuracy(0.3, seconds=seconds), run.posterior(0.1, 0.01, seconds=seconds)
    assert 0.7 <= guess.lower <= guess.upper <= 1.0
    assert 0.1 <= after.lower <= 0.24457 <= after.upper <= 1.0


def test_accuracy_and_proof() -> None:
    run = tr.Gaussian(sigma=1).poisson(rate=0.01) * 1000
    sharp, proven = run.tpr(0.01, accuracy=1e-9), run.tpr(0.01, proof=True)
    assert sharp.width <= 1e-9 * sharp.upper
    assert proven.lower <= sharp.upper
    assert sharp.lower <= proven.upper
    assert proven.certificate is not None
    assert proven.certificate.arithmetic == "ball"
    assert (tr.Gaussian(sigma=1) * 10**9).tradeoff(0.5).upper <= 5e-324


def test_digits_of_what_does_not_matter_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the largest loss of a smooth law delta is far below every width, and no engine is quick there."""
    asked, one_sided = [], Law.one_sided

    def noted(law: Law, t: float, aim: float | None = None) -> tr.Bound:
        asked.append(t)
        return one_sided(law, t, aim)

    monkeypatch.setattr(Law, "one_sided", noted)
    bound = tr.Exponential(epsilon=1.0).tradeoff(1e-3)
    assert 1.0 in asked
    assert not any(0.0 < abs(t - 1.0) < 1e-5 for t in asked)
    assert bound.width <= 1e-6 * bound.upper
