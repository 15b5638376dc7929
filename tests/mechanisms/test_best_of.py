"""`.best_of` against exact laws of the best run, all orders of three outputs; its parameters, values and refusals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

import pytest
from flint import arb
from mpmath import exp, mp, mpf, ncdf

import tightrope as tr
from tests.oracle.selection import Runs, best
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.losses.operators import private_selection
from tightrope.core.losses.operators.polygon import around
from tightrope.core.losses.operators.private_selection import (
    BinomialRuns,
    FallingScoresPair,
    NegativeBinomialRuns,
    PoissonRuns,
    PrivateSelectionPair,
    RepetitionLaw,
    RisingPair,
    _ScoredPair,
)
from tightrope.core.numerics.balls import working_precision

LAWS = [
    ("geometric", 2.0, None),
    ("negative_binomial", 3.0, 2.5),
    ("negative_binomial", 1.5, -0.5),
    ("logarithmic", 2.5, None),
    ("poisson", 1.5, None),
    ("poisson", 0.25, None),
    ("binomial", 1.5, 4),
]


@pytest.mark.parametrize(("law", "mean", "shape"), LAWS)
def test_laws_of_the_number_of_runs(law: str, mean: float, shape: float | None) -> None:
    """phi, and phi' by a difference, against the formulas of the oracle, whose orders enumerated.py compares."""
    runs: RepetitionLaw = {
        "poisson": lambda: PoissonRuns(mean),
        "binomial": lambda: BinomialRuns(mean, int(shape or 0)),
    }.get(law, lambda: NegativeBinomialRuns(mean, {"geometric": 1.0, "logarithmic": 0.0}.get(law, shape or 0.0)))()
    with mp.workdps(80), working_precision(256):
        phi = Runs(law, mpf(mean), None if shape is None else mpf(shape)).generating()
        step = mpf(10) ** -30
        slopes = []
        for z in (mpf(0.25), mpf(0.75)):
            found = runs.phi(arb(float(z)))
            assert found.rad() < 1e-30
            assert abs(read(found) - phi(z)) < mpf("1e-35")
            slopes.append((phi(z + step) - phi(z - step)) / (2 * step))
        assert abs(read(runs.none()) - phi(mpf(0))) < mpf("1e-35")
        assert abs(read(runs.log_ratio(arb(0.25), arb(0.75))) - mp.log(slopes[1] / slopes[0])) < mpf("1e-30")
        assert abs((phi(mpf(1)) - phi(1 - step)) / step - mean) < mpf("1e-25")


@pytest.mark.parametrize(("mean", "shape"), [(10.0, -0.999), (3.0, -0.9999), (1e12, -0.99), (2.0, -1.0 + 2.0**-53)])
def test_shapes_near_the_least_have_their_mean(mean: float, shape: float) -> None:
    """E[K] = eta (1 - gamma) / (gamma (1 - gamma^eta)), about -eta gamma^(-1 - eta): gamma is below every double."""
    with mp.workdps(80), working_precision(256):
        log_gamma = read(NegativeBinomialRuns(mean, shape).log_gamma())
        eta = mpf(shape)
        assert abs(-eta * mp.exp(-(1 + eta) * log_gamma) / mean - 1) < mpf("1e-40")


def read(ball: arb) -> mpf:
    return mpf(ball.mid().str(60, radius=False))


def test_randomized_response_with_two_runs_on_average() -> None:
    """The largest loss of real scores is 1.3105500901261999926; pure DP alone would say 3."""
    run = tr.RandomizedResponse(epsilon=1.0, neighbours="add_remove").best_of(law="geometric", mean=2)
    bound = run.epsilon(1e-25)
    assert 1.31055009012 < bound.lower <= 1.3105500901261999926 < bound.upper < 1.6211002
    assert not bound.certificate.tight
    assert bound.certificate.attained
    assert "theorem" in bound.certificate.budget.lower


@pytest.mark.parametrize("shape", [0.5, 1.0, 3.0])
def test_pure_dp_stays_below_the_known_bound(shape: float) -> None:
    """(eta + 2) epsilon, which many runs come close to."""
    for mean, share in ((1.5, 0.0), (1e6, 0.9)):
        bound = tr.PureDP(epsilon=0.5).best_of(law="negative_binomial", mean=mean, shape=shape).epsilon(0.0)
        assert share * (shape + 2) * 0.5 <= bound.upper <= (shape + 2) * 0.5


def test_poisson_runs_add_the_total_variation() -> None:
    """c = mean TV."""
    bound = tr.PureDP(epsilon=1.0).best_of(law="poisson", mean=3).epsilon(0.0)
    assert bound.upper == pytest.approx(1 + 3 * math.tanh(0.5), rel=1e-9)


@pytest.mark.parametrize("law", ["geometric", "logarithmic"])
def test_one_run_is_the_base(law: str) -> None:
    base = tr.Gaussian(sigma=1.5) + tr.Laplace(scale=2)
    once = base.best_of(law=law, mean=1)
    assert once.delta(0.5) == base.poisson(rate=1).delta(0.5)
    assert once.tight
    assert tr.PureDP(epsilon=1).best_of(law="binomial", mean=1, shape=1).delta(0.5) == tr.PureDP(epsilon=1).delta(0.5)


def test_between_two_finite_pairs() -> None:
    """Of a base that is not finite; real scores are below the bound, and one use of the base is too."""
    base = tr.Gaussian(sigma=4).pair(tr.Direction.REMOVE)
    for law in (NegativeBinomialRuns(10.0, 1.0), PoissonRuns(2.0)):
        fine = Resolution(256, 1e-12, proof=False)
        below, above = PrivateSelectionPair(base, law).bracket(fine)
        real = [kind(base, law).bracket(fine)[0] for kind in (FallingScoresPair, RisingPair)]
        with working_precision(128):
            for epsilon in (-0.5, 0.0, 0.5, 1.5):
                low, high, *floors = (each.ball_hockey_stick(arb(epsilon)) for each in (below, above, *real))
                assert low.lower() <= high.upper()
                assert high - low < 2e-2
                assert all(floor.lower() <= high.upper() for floor in floors)
                # By the theorem itself, with a c that is large enough: that of the steepest line.
                worst = law.none() * (-arb(epsilon).expm1()).max(arb(0)) + law.mean * base.ball_hockey_stick(
                    arb(epsilon) - law.log_ratio(arb(0), arb(1))
                )
                assert high.lower() <= worst.min(arb(1)) + 1e-3
        assert isinstance(FallingScoresPair(base, law).reversed(), RisingPair)


GEOMETRIC = NegativeBinomialRuns(10.0, 1.0)


@pytest.mark.parametrize(
    ("kinds", "law"),
    [
        ((RisingPair,), GEOMETRIC),
        ((FallingScoresPair,), GEOMETRIC),
        ((RisingPair,), PoissonRuns(2.0)),
        ((FallingScoresPair,), PoissonRuns(2.0)),
        ((FallingScoresPair, FallingScoresPair), GEOMETRIC),
        ((RisingPair, RisingPair), GEOMETRIC),
    ],
)
def test_real_scores_are_bracketed_from_both_sides(kinds: Sequence[type[_ScoredPair]], law: RepetitionLaw) -> None:
    """The largest P(A) - e^epsilon Q(A) over the events {x > t} of two normal laws, each through phi by mpmath."""

    def phi(z: mpf) -> mpf:
        return z / (10 - 9 * z) if law is GEOMETRIC else exp(2 * (z - 1))

    def best(mass: mpf) -> mpf:
        for kind in reversed(kinds):
            mass = phi(mass) - phi(mpf(0)) if kind is FallingScoresPair else 1 - phi(1 - mass)
        return mass

    none, made = phi(mpf(0)), tr.Gaussian(sigma=2).pair(tr.Direction.REMOVE)
    for kind in reversed(kinds):
        made = kind(made, law)
    below, above = made.bracket(Resolution(512, 1e-12, proof=False))
    places = [mpf(step) / 50 for step in range(-400, 401)]
    events = [(best(ncdf(mpf("0.5") - t)), best(ncdf(-t))) for t in places]
    for epsilon in (-0.5, 0.0, 0.3, 1.0):
        share = exp(epsilon)
        truth = max(max(p - share * q, p + none - share * (q + none)) for p, q in events)
        with working_precision(128):
            low, high = (each.ball_hockey_stick(arb(epsilon)) for each in (below, above))
        grid = 1e-4  # places are not everywhere: the largest over them may be this much less
        assert float(low.lower()) <= truth + grid
        assert truth <= float(high.upper())
        assert float((high - low).upper()) < 2e-2


def test_a_run_of_runs_has_its_divergence() -> None:
    """Brackets of one pair that crossed; a score that tells nothing leaves one use of the base, of divergence 0.01."""
    bound = tr.Gaussian(sigma=10).best_of("geometric", mean=10).best_of("geometric", mean=10).renyi(2, seconds=2)
    assert 0.01 * (1 - 1e-4) <= bound.lower <= bound.upper < 2


def test_a_score_may_tell_nothing() -> None:
    """Then one of the runs is told at random, which is the base."""
    base = tr.PureDP(epsilon=0.1)
    run = base.best_of(law="geometric", mean=10)
    assert run.delta(0.0).lower >= base.delta(0.0).lower * (1 - 1e-9)


def test_of_a_product() -> None:
    """All of it is one run: what only the joint engine knows is bracketed inside."""
    base = tr.RandomizedResponse(epsilon=0.5, neighbours="add_remove") * 5 + tr.Exponential(epsilon=0.1)
    bound = base.best_of(law="poisson", mean=2).delta(0.5, direction="remove", seconds=2)
    assert base.delta(0.5).lower < bound.upper < 1
    assert bound.lower > 0


def test_values_go_both_ways() -> None:
    for law, mean, shape in LAWS:
        run = (tr.PureDP(epsilon=0.5) * 2).best_of(law=law, mean=mean, shape=shape)
        assert tr.parse(repr(run)) == run
        assert tr.load(tr.dump(run)) == run
        assert run.relation is None
    assert repr(tr.PureDP(epsilon=1).best_of(law="geometric", mean=2)).endswith(".best_of(law='geometric', mean=2.0)")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"law": "fixed", "mean": 3}, "fixed number"),
        ({"law": "uniform", "mean": 3}, "one of geometric"),
        ({"law": "geometric", "mean": 0.5}, "at least 1"),
        ({"law": "geometric", "mean": 2, "shape": 1}, "left out"),
        ({"law": "geometric", "mean": float("inf")}, "mean"),
        ({"law": "negative_binomial", "mean": 2}, "shape must be given"),
        ({"law": "negative_binomial", "mean": 2, "shape": -1}, "above -1"),
        ({"law": "negative_binomial", "mean": 2, "shape": 0}, "logarithmic"),
        ({"law": "binomial", "mean": 2}, "number of trials"),
        ({"law": "binomial", "mean": 2, "shape": 2}, "fixed number"),
        ({"law": "binomial", "mean": 3, "shape": 2}, "below shape"),
        ({"law": "binomial", "mean": 1, "shape": 2.5}, "shape"),
        ({"law": "poisson", "mean": 0}, "mean"),
    ],
    ids=str,
)
def test_refusals_say_what_to_change(given: dict[str, object], said: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=said):
        tr.PureDP(epsilon=1).best_of(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("base", [tr.PureDP(epsilon=0.1), tr.Laplace(scale=10)])
def test_a_bounded_loss_caps_what_many_runs_add(base: tr.Mechanism) -> None:
    """(eta + 2) epsilon (Papernot, Steinke 2022, Cor. 3), however small gamma is."""
    best = base.best_of(law="negative_binomial", mean=1e12, shape=-0.5)
    assert best.delta(0.150001, seconds=2.0).upper < 1e-12


@pytest.mark.parametrize(("law", "mean", "shape"), [LAWS[0], LAWS[2], LAWS[4]])
def test_outputs_that_one_law_never_has(law: str, mean: float, shape: float | None) -> None:
    """The power is flat there, as if losses had no lower end: nothing caps what the runs add."""
    p, q = (0.5, 0.5, 0.0), (0.25, 0.5, 0.25)
    run, runs = tr.Finite(p=p, q=q).best_of(law=law, mean=mean, shape=shape), Runs(law, mpf(mean), shape)
    for direction, (first, second) in (("remove", (p, q)), ("add", (q, p))):
        epsilons = (0.78, 2.0)
        bounds = run.delta(epsilons, direction=direction)
        assert all(bound.upper <= 1 for bound in bounds)
        for order in permutations(range(3)):
            likely, other = (best([mpf(masses[each]) for each in order], runs) for masses in (first, second))
            for epsilon, bound in zip(epsilons, bounds, strict=True):
                real = mp.fsum(max(x - mp.exp(epsilon) * y, 0) for x, y in zip(likely, other, strict=True))
                assert real <= bound.upper * (1 + 1e-15)


def test_ends_of_losses_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every point asks for them, also where time is up: worked out anew each time they took all of it."""
    times = []
    monkeypatch.setattr(private_selection, "around", lambda *asked: times.append(1) or around(*asked))
    pair = PrivateSelectionPair(tr.SparseVector(2, 4).pair(tr.Direction.REMOVE), PoissonRuns(3.0))
    with working_precision(128):
        assert [pair.loss_range() for _ in range(3)].count(pair.loss_range()) == 3
        assert pair.moments().zcdp_rho() is not None
    assert len(times) == 1  # it is its own reverse
    with working_precision(256):
        assert pair.loss_range().highest.rad() <= pair.loss_range().lowest.rad()
    assert len(times) == 2
