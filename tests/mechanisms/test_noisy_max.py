"""NoisyMax and PermuteAndFlip: their pairs against laws of random scores and searches for more, what attains them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.optimize import minimize

import tightrope as tr
from tests.oracle.noisy_max import LAWS, Array, Noise, noisy_max, permute_and_flip, profile, softmax
from tests.search import FULL, cases
from tightrope.core.losses.finite.finite_pair import FinitePair, candidate_pairs
from tightrope.core.numerics.enclosures import exact
from tightrope.core.values.errors import InvalidParameter
from tightrope.core.values.question import Direction, Relation

ROUNDING = 1e-12  # far above that of the laws
KINDS = ("exponential", "gumbel", "laplace")


def law(noise: Noise, scores: Sequence[float]) -> Array:
    return LAWS[noise](scores) if isinstance(noise, str) else noisy_max(scores, noise)


def allowed(span: float, noise: Noise, epsilon: float) -> float:
    """By formulas of its own: the power of a Laplace shift, of a logistic one for Gumbel noise."""
    if abs(epsilon) >= span:
        return max(-math.expm1(epsilon), 0.0)
    share = -math.expm1((epsilon - span) / 2.0)
    return share * share / -math.expm1(-span) if noise == "gumbel" else share


def drawn(draw: random.Random) -> tuple[Noise, list[float], list[float], bool]:
    """Noise, scores with ties and gaps of many sizes, how each moves, the sensitivity being 1, and whether one way."""
    count = draw.randint(2, 6)
    noise: Noise = draw.choice(("exponential", "exponential", "exponential", "gumbel", "laplace", "mixed"))
    if noise == "mixed":
        noise = tuple(draw.choice(KINDS) for _ in range(count))
    scores = [draw.choice((0.0, draw.gauss(0.0, 10.0 ** draw.uniform(-3.0, 1.0)))) for _ in range(count)]
    monotone = draw.random() < 0.5
    moves = [draw.choice((0.0, 1.0, draw.random())) for _ in range(count)]
    signs = [1.0 if monotone else draw.choice((-1.0, 1.0)) for _ in range(count)]
    way = draw.choice((-1.0, 1.0))
    return noise, scores, [way * sign * move for sign, move in zip(signs, moves, strict=True)], monotone


def mechanism(noise: Noise, sensitivity: float, monotone: bool) -> tr.NoisyMax:
    """Mixed noise is covered by what covers the exponential one."""
    kind = noise if isinstance(noise, str) else "exponential"
    return tr.NoisyMax(scale=1.0, sensitivity=sensitivity, noise=kind, monotone=monotone)


def excess(noise: Noise, sensitivity: float, span: float, point: Array) -> float:
    """What scores, moves and epsilon show beyond what is allowed."""
    count = len(point) // 2
    scores, moves, epsilon = point[:count], point[count:-1], float(point[-1]) * span
    p, q = law(noise, list(scores)), law(noise, list(scores + sensitivity * moves))
    return profile(p, q, epsilon) - allowed(span, noise, epsilon)


def searched(noise: Noise, start: Array, sensitivity: float, monotone: bool) -> Array:
    """Scores, moves and epsilon of the most excess that an optimiser finds."""
    count = len(start) // 2
    span = sensitivity * (1.0 if monotone else 2.0)
    low = 0.0 if monotone else -1.0
    bounds = [(-30.0, 30.0)] * count + [(low, 1.0)] * count + [(-0.999, 0.999)]
    clipped = np.clip(start, *np.array(bounds).T)
    steps = {"maxiter": 40 if FULL else 6}
    found = minimize(lambda x: -excess(noise, sensitivity, span, x), clipped, bounds=bounds, options=steps)
    return np.asarray(found.x)


@pytest.mark.parametrize("share", range(10))
def test_no_scores_show_more_than_the_pair(share: int) -> None:
    """1,000 random vectors in all, each moved by a neighbour and then by an optimiser that looks for an excess."""
    for case in range(cases(1, 100)):
        draw = random.Random(f"noisy max {share} {case}")
        noise, scores, moves, monotone = drawn(draw)
        sensitivity = draw.choice((1e-3, 0.1, 0.5, 1.0, 3.0))
        span = sensitivity * (1.0 if monotone else 2.0)
        moved = [score + sensitivity * move for score, move in zip(scores, moves, strict=True)]
        p, q = law(noise, scores), law(noise, moved)
        epsilons = np.linspace(-1.1 * span, 1.1 * span, 45)
        pair = mechanism(noise, sensitivity, monotone).pair(Direction.REMOVE).hockey_stick(exact(epsilons))
        for epsilon, known in zip(epsilons, pair.lower, strict=True):
            assert known == pytest.approx(allowed(span, noise, float(epsilon)), abs=ROUNDING)
            for one, other in ((p, q), (q, p)):
                assert profile(one, other, float(epsilon)) <= known + ROUNDING, (noise, scores, moved, epsilon)
        for begun in (moves, [1.0] + [0.0 if monotone else -1.0] * (len(moves) - 1)):
            way = [abs(move) for move in begun] if monotone else begun
            for at in (-0.4, 0.4) if FULL else (draw.uniform(-0.9, 0.9),):
                worst = searched(noise, np.array([*scores, *way, at]), sensitivity, monotone)
                assert excess(noise, sensitivity, span, worst) <= ROUNDING, (noise, worst)


def test_the_search_finds_what_there_is() -> None:
    """Two candidates attain the pair, and the optimiser finds them; wrong pairs are exceeded."""
    for noise in ("exponential", "gumbel"):
        best = max(
            excess(noise, 0.5, 1.0, searched(noise, np.array([gap, 0.0, -1.0, 1.0, 0.2]), 0.5, False))
            for gap in (-0.5, 0.0, 0.4)
        )
        assert -1e-7 <= best <= ROUNDING
    p, q = law("exponential", [0.5, 0.0]), law("exponential", [-0.5, 0.0])
    assert profile(p, q, 0.0) == pytest.approx(0.3934693, abs=1e-7)
    assert tr.PureDP(epsilon=1.0).delta(0.0).lower > 0.4621  # looser
    off = 0.38
    p, q = law("exponential", [off, 0.0]), law("exponential", [off - 1.0, 0.0])
    assert profile(p, q, 0.24) - tr.Exponential(epsilon=1.0).delta(0.24).upper == pytest.approx(0.158, abs=1e-3)
    # Scores that move both ways exceed what holds where all move one way.
    one_way = tr.NoisyMax(scale=1.0, sensitivity=0.5, monotone=True).delta(0.0).upper
    assert profile(law("exponential", [0.5, 0.0]), law("exponential", [0.0, 0.5]), 0.0) > one_way + 0.1


def test_laplace_noise_two_against_two() -> None:
    p, q = (noisy_max([at, at, 0.0, 0.0], "laplace") for at in (0.5, -0.5))
    assert profile(p, q, 0.0) == pytest.approx(0.28036, abs=1e-5)
    bound = tr.NoisyMax(scale=2.0, noise="laplace").delta(0.0)
    assert bound.lower == pytest.approx(profile(p, q, 0.0), rel=1e-12)
    assert bound.upper == pytest.approx(0.3934693, abs=1e-7)
    assert bound.certificate is not None
    assert (bound.certificate.tight, bound.certificate.attained) == (False, True)


def test_permute_and_flip_is_the_noisy_maximum() -> None:
    draw = random.Random(20210515)
    for count in (2, 3, 4, 5):
        scores = [draw.choice((0.0, draw.uniform(-5.0, 5.0))) for _ in range(count)]
        assert permute_and_flip(scores) == pytest.approx(noisy_max(scores), abs=1e-13)
        assert permute_and_flip(scores) == pytest.approx(LAWS["exponential"](scores), abs=1e-13)
        assert softmax(scores) == pytest.approx(noisy_max(scores, "gumbel"), abs=1e-13)


@pytest.mark.parametrize("noise", KINDS)
@pytest.mark.parametrize("span", [Fraction(1, 10**9), Fraction(7, 3), Fraction(30)])
def test_floors_are_scores_that_move_by_no_more_than_the_span(noise: str, span: Fraction) -> None:
    """Each law told by a gap before and one after; the gap is searched for, by the tails as they are integrated."""

    def tail(y: mpf) -> mpf:
        """Of the difference of both sides' noise: two against two for Laplace noise, else one against one."""
        if y < 0:
            return 1 - tail(-y)
        if noise == "exponential":
            return mp.exp(-y) / 2
        if noise == "gumbel":
            return 1 / (1 + mp.exp(y))
        return 5 * mp.exp(-y) / 6 - mp.exp(-2 * y) / 3 - y * mp.exp(-2 * y) / 8

    def place(mass: Fraction) -> mpf:
        """A few digits by halving, the others by secants."""
        low, high, wanted = mpf(-80), mpf(80), mpf(mass.numerator) / mass.denominator
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (middle, high) if tail(middle) > wanted else (low, middle)
        return mp.findroot(lambda y: tail(y) / wanted - 1, (low, high), tol=mpf(10) ** -140)

    found = candidate_pairs(noise, span)
    assert len(set(found)) == 5
    with mp.workdps(80):
        width = mpf(span.numerator) / span.denominator
        for pair in found:
            assert isinstance(pair, FinitePair)
            (p, _), (q, _) = pair.law.p, pair.law.q  # type: ignore[attr-defined]
            moved = place(q) - place(p)
            assert width * (1 - mpf(10) ** -20) <= moved <= width + mpf(10) ** -50


def test_the_tail_of_two_against_two() -> None:
    for at in (0.0, 0.3, 2.0):
        told = noisy_max([0.0, 0.0, at, at], "laplace")[:2].sum()
        fall = math.exp(-at)
        assert told == pytest.approx(5 * fall / 6 - fall * fall / 3 - at * fall * fall / 8, abs=1e-14)


def test_one_use_is_attained_and_many_have_real_floors() -> None:
    for run in (tr.NoisyMax(scale=2.0), tr.PermuteAndFlip(epsilon=1.0), tr.NoisyMax(scale=2.0, noise="gumbel")):
        for answer in (run.delta(0.3), run.epsilon(1e-3), run.poisson(rate=0.1).delta(0.01), run.delta(-0.4)):
            assert answer.certificate is not None
            assert (answer.certificate.tight, answer.certificate.attained) == (False, True)
            assert answer.width <= 1e-9 * answer.upper
        many = (run * 10).epsilon(0.01)
        assert many.certificate is not None
        assert many.certificate.attained
        assert 0.85 * many.upper < many.lower < 0.999 * many.upper
        assert run.renyi(2.0).lower < 0.999 * run.renyi(2.0).upper  # of one pair of neighbours, at all points
    single = tr.Exponential(epsilon=1.0)
    for answer, real in ((single.delta(0.3), True), ((single * 10).delta(3.0), False), (single.tpr(0.1), True)):
        assert answer.certificate is not None
        assert answer.certificate.attained is real
    assert single.renyi(2.0).certificate is not None
    assert not single.renyi(2.0).certificate.attained  # type: ignore[union-attr]


def test_two_uses_lie_above_all_real_ones() -> None:
    """The scores of each use are another's: the best of many gaps, two by two, is between both ends."""
    run, epsilon = tr.NoisyMax(scale=2.0) * 2, 0.3
    gaps = np.linspace(-1.5, 0.5, 41)
    laws = [(law("exponential", [-gap, 0.0]), law("exponential", [-gap - 1.0, 0.0])) for gap in gaps]
    best = max(profile(np.outer(p, r).ravel(), np.outer(q, s).ravel(), epsilon) for p, q in laws for r, s in laws)
    bound = run.delta(epsilon)
    assert 0.97 * best <= bound.lower <= best * (1.0 + 1e-3)  # floors are a few of these gaps, chosen one by one
    assert best <= bound.upper


@pytest.mark.parametrize("scale", [3.0, 7.0, 1e-3 / 3.0])
def test_gumbel_noise_of_a_span_that_is_no_double(scale: float) -> None:
    span = 2 / Fraction(scale)
    below, above = (
        tr.NoisyMax(scale=scale, noise="gumbel").witnesses_once(Direction.ADD)[0].epsilon,  # type: ignore[attr-defined]
        tr.NoisyMax(scale=scale, noise="gumbel").pair(Direction.ADD).epsilon,  # type: ignore[attr-defined]
    )
    assert Fraction(below) < span < Fraction(above)
    assert math.nextafter(below, math.inf) == above
    bound = tr.NoisyMax(scale=scale, noise="gumbel").delta(0.1)
    with mp.workdps(40):
        edge = mpf(span.numerator) / span.denominator
        truth = (1 - mp.exp((mpf(0.1) - edge) / 2)) ** 2 / -mp.expm1(-edge)
        assert mpf(bound.lower) <= truth <= mpf(bound.upper)


def test_monotone_is_about_adding_or_removing() -> None:
    run = tr.NoisyMax(scale=2.0, monotone=True)
    assert run.relation is Relation.ADD_REMOVE
    assert tr.NoisyMax(scale=2.0).relation is None
    for use in (
        lambda: run.shuffle(users=10),
        lambda: run.without_replacement(batch=2, records=10),
        lambda: run.with_replacement(batch=2, records=10),
        lambda: run + tr.PureDP(epsilon=1.0).shuffle(users=10),
    ):
        with pytest.raises(InvalidParameter, match=r"record|neighbours"):
            use()
    # One record out and another in: scores move both ways, by the sensitivity at most.
    swapped, both_ways = run.poisson(rate=1.0, neighbours="replace"), tr.NoisyMax(scale=2.0)
    for epsilon in (0.0, 0.3, 0.9):
        assert swapped.delta(epsilon).upper == pytest.approx(both_ways.delta(epsilon).upper, rel=1e-12)
    assert run.delta(0.0).upper == tr.NoisyMax(scale=2.0, sensitivity=0.5).delta(0.0).upper


def test_groups_and_samples_on_top() -> None:
    run = tr.NoisyMax(scale=4.0)
    assert run.group(size=2).delta(0.1).upper == pytest.approx(tr.NoisyMax(scale=2.0).delta(0.1).upper, rel=1e-12)
    assert not run.group(size=2).tight
    assert run.group(size=1).delta(0.1).upper == run.delta(0.1).upper
    assert run.poisson(rate=1.0).delta(0.1) == run.delta(0.1)
    users = run.shuffle(users=100).delta(0.05)
    assert users.upper == tr.PureDP(epsilon=0.5).shuffle(users=100).delta(0.05).upper
    assert run.best_of(law="geometric", mean=3.0).attained
    assert tr.PermuteAndFlip(epsilon=0.5).delta(0.1) == tr.NoisyMax(scale=4.0).delta(0.1)


def test_a_group_moves_real_scores_as_often_as_it_has_records() -> None:
    for one, many in (
        (tr.NoisyMax(scale=4.0, noise="laplace"), tr.NoisyMax(scale=4.0, sensitivity=6.0, noise="laplace")),
        (tr.PermuteAndFlip(epsilon=0.25), tr.PermuteAndFlip(epsilon=1.5)),
    ):
        group = one.group(size=2).group(size=3)
        assert group.attained
        assert not group.tight
        assert group.delta(0.3) == many.delta(0.3)
        assert (group * 5).delta(0.3).lower == (many * 5).delta(0.3).lower
    tenths = tr.PermuteAndFlip(epsilon=0.1).group_witness(3)
    assert tenths is not None
    assert Fraction(tenths.epsilon_per_use) < 3 * Fraction(0.1)  # 3 * 0.1 is rounded up
    assert (tr.PermuteAndFlip(epsilon=0.1).group(size=3) * 2).delta(0.0).certificate.attained  # type: ignore[union-attr]
    for beyond in (
        tr.NoisyMax(scale=1.0, sensitivity=1e308),
        tr.NoisyMax(scale=1.0, sensitivity=1e299, noise="gumbel"),
    ):
        assert beyond.group(size=100).witnesses(Direction.ADD) == (beyond.group(size=100).pair(Direction.ADD),)


@pytest.mark.parametrize("arguments", [{"scale": 1e-300, "sensitivity": 1e300}, {"scale": 1e300}, {"scale": 1e-4}])
def test_extreme_scales(arguments: dict[str, float]) -> None:
    """Of the floors smaller moves are taken."""
    run = tr.NoisyMax(**arguments)
    for answer in (run.delta(1.0), (run * 3).epsilon(1e-6)):
        assert 0.0 <= answer.lower <= answer.upper


def test_what_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="noise must be one of exponential, laplace, gumbel, not 'gauss'"):
        tr.NoisyMax(scale=1.0, noise="gauss")
    with pytest.raises(InvalidParameter, match="monotone must be True or False"):
        tr.NoisyMax(scale=1.0, monotone=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="scale must be a finite number above 0"):
        tr.NoisyMax(scale=0.0)
    for arguments in ({"scale": 1e300, "sensitivity": 1e-300}, {"scale": 1e-200, "sensitivity": 1e200}):
        with pytest.raises(InvalidParameter, match="sensitivity / scale must lie within"):
            tr.NoisyMax(**arguments, noise="gumbel")
    with pytest.raises(InvalidParameter, match="epsilon"):
        tr.PermuteAndFlip(epsilon=-1.0)


def test_texts() -> None:
    run = tr.NoisyMax(scale=3.0, noise="gumbel", monotone=True)
    assert repr(run) == "NoisyMax(scale=3.0, noise='gumbel', monotone=True)"
    assert tr.parse(repr(run)) == run
    assert tr.parse("PermuteAndFlip(epsilon=1) * 3") == tr.PermuteAndFlip(epsilon=1.0) * 3
