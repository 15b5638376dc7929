"""Histograms: files and arrays, the confidence they cover, and dominance in exact fractions."""

from __future__ import annotations

import dataclasses
import functools
import math
import random
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from tests.search import FULL, cases
from tightrope.core.losses.finite import histogram
from tightrope.core.losses.finite.histogram import MassLimits, law_below, law_within, lower_limit, upper_limit
from tightrope.core.losses.finite.laws import RationalLaw
from tightrope.core.mechanisms.base import Mechanism
from tightrope.core.mechanisms.finite import Finite
from tightrope.core.mechanisms.histograms import Histograms
from tightrope.core.values.errors import DataError, InvalidParameter
from tightrope.core.values.question import Direction


def _profile(p: list[Fraction], q: list[Fraction], alpha: Fraction) -> Fraction:
    return sum((max(x - alpha * y, Fraction(0)) for x, y in zip(p, q, strict=True)), Fraction(0))


def test_counts_are_read_as_exact_shares() -> None:
    counts = Histograms([30, 10, 0], [10, 25, 5])
    shares = Finite(p=[0.75, 0.25, 0.0], q=[0.25, 0.625, 0.125])
    for direction in Direction:
        assert counts.pair(direction) == shares.pair(direction)
    assert counts.tight
    assert Histograms([0.75, 0.25], [0.5, 0.5], kind="probabilities").delta(0.0).upper == pytest.approx(0.25)


def test_files_of_every_kind_give_the_same(tmp_path: Path) -> None:
    direct = Histograms([3, 4, 5], [5, 0, 7])
    np.save(tmp_path / "a.npy", np.array([3, 4, 5]))
    (tmp_path / "b.csv").write_text("count\n5\n0\n\n7\n")
    assert Histograms(tmp_path / "a.npy", tmp_path / "b.csv", samples=False) == direct
    (tmp_path / "named_a.csv").write_text("# ticks\nbin,count\n1.0,3\n2.0,4\n3.0,5\n")
    (tmp_path / "named_b.csv").write_text("bin, count\n1, 5\n3, 7\n")
    named = Histograms(str(tmp_path / "named_a.csv"), str(tmp_path / "named_b.csv"))
    assert (named.a, named.b) == ((3, 4, 5), (5, 0, 7))
    assert hash(named) == hash(direct)


@pytest.mark.parametrize(
    "text, line, word",
    [
        ("3\n-1\n", 2, "0 or above"),
        ("3\nfour\n", 2, "number"),
        ("3\n2.5\n", 2, "count"),
        ("1,2,3\n", 1, "cells"),
        ("a,2\nb,3\na,4\n", 3, "before"),
        ("3\n4,5\n", 2, "cells"),
        ("nan\n1\n", 1, "number"),
        ("1e300\n", 1, "count"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_by_line(tmp_path: Path, text: str, line: int, word: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=word) as caught:
        Histograms(path, [1, 2], samples=False)
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_data_that_cannot_be_histograms_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "grid.npy", np.ones((2, 2)))
    (tmp_path / "empty.csv").write_text("count\n")
    (tmp_path / "named.csv").write_text("x,1\ny,2\n")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    for a, b in (
        ([1, 2], [1, 2, 3]),
        ([0, 0], [1, 2]),
        ([1, True], [1, 2]),
        (tmp_path / "absent.csv", [1]),
        (tmp_path / "absent.npy", [1]),
        (tmp_path / "grid.npy", [1]),
        (tmp_path / "empty.csv", [1]),
        (tmp_path / "binary.csv", [1]),
        (tmp_path / "named.csv", [1, 2]),
        (7, [1]),
    ):
        with pytest.raises(DataError):
            Histograms(a, b, samples=False)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="sum to 1"):
        Histograms([0.5, 0.4], [0.5, 0.5], kind="probabilities")
    with pytest.raises(InvalidParameter):
        Histograms([1], [1], kind="frequencies")
    with pytest.raises(InvalidParameter, match="counts"):
        Histograms([1.0], [1.0], kind="probabilities", confidence=0.9)
    for confidence in (0.0, 1.0, 1.5, math.nan):
        with pytest.raises(InvalidParameter):
            Histograms([1], [1], confidence=confidence)


@pytest.mark.parametrize("count, total", [(0, 10), (3, 10), (10, 10), (1, 10**6), (600_000, 10**6), (9, 10)])
@pytest.mark.parametrize("level", [Fraction(1, 20), Fraction(1, 10**9)])
def test_limits_err_with_the_level_at_most_and_nearly_reach_it(count: int, total: int, level: Fraction) -> None:
    low, high = lower_limit(count, total, level), upper_limit(count, total, level)
    assert low <= Fraction(count, total) <= high
    if count == 0:
        assert low == 0
    if count == total:
        assert high == 1
    if total > 10:
        return
    for limit, above in ((low, True), (high, False)):
        if limit in (0, 1):
            continue
        tail = [k for k in range(total + 1) if (k >= count if above else k <= count)]
        error = sum(math.comb(total, k) * limit**k * (1 - limit) ** (total - k) for k in tail)
        assert level * Fraction(99, 100) <= error <= level


def test_limits_of_large_counts_agree_with_quadrature() -> None:
    level = Fraction(1, 1000)
    with mpmath.workdps(40):
        high = mpmath.mpf(upper_limit(120, 5000, level).numerator) / upper_limit(120, 5000, level).denominator
        error = mpmath.betainc(5000 - 120, 121, 0, 1 - high, regularized=True)
        assert float(level) * (1 - 1e-6) <= error <= mpmath.mpf(1) / 1000


def test_the_law_of_limits_dominates_every_pair_within() -> None:
    draw = random.Random(5)
    for _ in range(200):
        size = draw.randint(1, 6)
        p = [Fraction(draw.randint(0, 6)) for _ in range(size)]
        q = [Fraction(draw.randint(0, 6)) for _ in range(size)]
        p[0] += 1
        q[-1] += 1
        p, q = [x / sum(p) for x in p], [x / sum(q) for x in q]
        p_up = [min(Fraction(1), x + Fraction(draw.randint(0, 5), 40)) for x in p]
        q_low = [max(Fraction(0), x - Fraction(draw.randint(0, 5), 40)) for x in q]
        p_low = [max(Fraction(0), x - Fraction(draw.randint(0, 5), 40)) for x in p]
        q_up = [min(Fraction(1), x + Fraction(draw.randint(0, 5), 40)) for x in q]
        law = law_within(MassLimits(p_low, p_up), MassLimits(q_low, q_up))
        assert sum(law.p) == sum(law.q) == 1
        assert all(x >= 0 for x in (*law.p, *law.q))
        for alpha in [Fraction(0), Fraction(10**6), *(Fraction(k, 7) for k in range(1, 40))]:
            truth, bound = _profile(p, q, alpha), _profile(list(law.p), list(law.q), alpha)
            assert truth <= bound <= min(_profile(p_up, q_low, alpha), Fraction(1))
        below = law_below(MassLimits(p_low, p_up), MassLimits(q_low, q_up))
        assert sum(below.p) == sum(below.q) == 1
        assert all(x >= 0 for x in (*below.p, *below.q))
        back = law_below(MassLimits(q_low, q_up), MassLimits(p_low, p_up))
        for alpha in [Fraction(0), *(Fraction(k, 7) for k in range(1, 40))]:
            assert _profile(list(below.p), list(below.q), alpha) <= _profile(p, q, alpha)
            assert _profile(list(back.q), list(back.p), alpha) == _profile(list(below.p), list(below.q), alpha)
        if (p_low, q_low) == (p_up, q_up):
            assert _profile(list(below.p), list(below.q), Fraction(1)) == _profile(p, q, Fraction(1))


def test_limits_do_not_forget_that_laws_add_up_to_one() -> None:
    """Two bins up, two down is the worst pair within: randomized response, 1,000 uses of it by a binomial sum.

    Limits alone let every bin be more likely with the record: an advantage next to 1.
    """
    run = Histograms([50_000] * 4, [50_000] * 4, confidence=0.95)
    low, high = (limit(50_000, 200_000, Fraction(1, 320)) for limit in (lower_limit, upper_limit))
    side = min(high - Fraction(1, 4), Fraction(1, 4) - low)
    with mpmath.workdps(40):
        up = mpmath.mpf(1) / 2 + 2 * mpmath.mpf(side.numerator) / side.denominator
        masses = [mpmath.binomial(1000, k) * up**k * (1 - up) ** (1000 - k) for k in range(1001)]
        truth = sum(max(masses[k] - masses[1000 - k], 0) for k in range(1001))
    bound = (run * 1000).advantage()
    assert truth <= bound.upper <= truth * (1 + mpmath.mpf("2e-3"))


def test_confidence_widens_and_more_draws_narrow() -> None:
    exact = Histograms([100, 200, 300], [120, 180, 290]).delta(0.1).upper
    few = Histograms([100, 200, 300], [120, 180, 290], confidence=0.95)
    many = Histograms([10_000, 20_000, 30_000], [12_000, 18_000, 29_000], confidence=0.95)
    surer = Histograms([10_000, 20_000, 30_000], [12_000, 18_000, 29_000], confidence=0.999)
    assert exact < many.delta(0.1).upper < surer.delta(0.1).upper < few.delta(0.1).upper < 1.0
    assert not few.tight
    assert few.attained
    assert few.delta(0.1).lower <= many.delta(0.1).lower <= exact
    assert 0.0 < many.advantage().lower < Histograms([100, 200, 300], [120, 180, 290]).advantage().upper


def test_the_stated_confidence_is_covered_in_many_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound must hold, at every alpha and in both directions, in at least the stated share of simulated draws."""
    monkeypatch.setattr(histogram, "upper_limit", functools.cache(upper_limit))  # the same few counts come up often
    monkeypatch.setattr(histogram, "lower_limit", functools.cache(lower_limit))
    generator = np.random.default_rng(20181015)
    p, q = np.array([0.5, 0.3, 0.19, 0.01]), np.array([0.4, 0.35, 0.25, 0.0])
    alphas = np.array([*np.arange(0.0, 4.0, 0.125), 1000.0])

    def profiles(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.maximum(first - alphas[:, None] * second, 0.0).sum(axis=1)

    truths = {Direction.REMOVE: profiles(p, q), Direction.ADD: profiles(q, p)}
    told = False
    draws, confidence, covered = cases(25, 2000), 0.8, 0
    for _ in range(draws):
        measured = Histograms(
            generator.multinomial(200, p).tolist(), generator.multinomial(300, q).tolist(), confidence=confidence
        )
        held = True
        for direction, truth in truths.items():
            law = measured.pair(direction).law  # type: ignore[attr-defined]
            bound = profiles(np.array(law.p, dtype=float), np.array(law.q, dtype=float))
            (floor,) = measured.witnesses(direction)
            least = floor.law  # type: ignore[attr-defined]
            below = profiles(np.array(least.p, dtype=float), np.array(least.q, dtype=float))
            told = told or below[8] > 0.0
            held = held and bool(np.all(bound >= truth - 1e-13) and np.all(below <= truth + 1e-13))
        covered += held
    assert covered >= confidence * draws
    assert told


@pytest.mark.parametrize(
    "a, b, finite",
    [
        ([900, 100, 3], [880, 120, 3], True),
        ([900, 100, 3], [880, 120, 0], False),
        ([5 * i % 41 for i in range(200)], [7 * i % 41 for i in range(200)], False),
        ([10**5, 10**4, 1], [10**5, 10**4, 0], False),
        ([200 + 97 * i % 1000 for i in range(60)], [210 + 97 * i % 1000 for i in range(60)], True),
    ],
)
def test_a_million_uses_at_99_per_cent(a: list[int], b: list[int], finite: bool) -> None:
    """Nearly all of the loss may be infinite: delta next to 1 is an answer, and so is an infinite epsilon."""
    run = Histograms(a, b, confidence=0.99) * 10**6
    delta, epsilon = run.delta(1.0), run.epsilon(1e-6)
    assert delta.upper == 1.0
    infinite = max(
        float(1 - (1 - sum(law.p[i] for i in range(len(law.p)) if not law.q[i])) ** 10) for law in _laws(run)
    )
    assert delta.certificate is not None
    assert epsilon.certificate is not None
    of_pair = delta.lower + delta.certificate.budget.lower["theorem"]
    assert infinite <= of_pair <= 1.0
    assert of_pair > 0.99
    assert (epsilon.upper < math.inf) == finite
    if finite:
        if FULL or len(a) < 60:  # 9 s for the long one
            assert run.delta(epsilon.upper).upper <= 1e-6 * (1 + 1e-4)
            assert run.delta(epsilon.upper * (1 - 1e-4)).upper > 1e-6
    else:
        assert "infinite" in epsilon.certificate.reason


def _laws(run: Mechanism) -> list[RationalLaw]:
    """Those of one use, in both directions; ten uses have less infinite mass than a million."""
    return [run.terms[0][0].pair(direction).law for direction in Direction]  # type: ignore[attr-defined]


@pytest.mark.parametrize("order", [1, -1])
def test_sorted_draws_choose_no_bins_with_confidence(order: int) -> None:

    draws = np.sort(np.random.default_rng(1).normal(size=500))[::order]
    with pytest.raises(DataError, match="draws of a are sorted"):
        Histograms(a=draws, b=draws + 0.1, samples=True, bins=8, confidence=0.95)
    Histograms(a=draws, b=draws + 0.1, samples=True, bins=[-1.0, 0.0, 1.0], confidence=0.95)
    Histograms(a=draws, b=draws + 0.1, samples=True, bins=8)


def test_a_confidence_is_not_put_on_afterwards() -> None:
    """Bins that saw the draws are no bins for a confidence: data are read anew."""
    draws = [float(index % 17) for index in range(200)]
    made = Histograms(a=draws, b=draws[::-1], samples=True, bins=4)
    with pytest.raises(InvalidParameter, match="anew"):
        dataclasses.replace(made, confidence=0.95)
