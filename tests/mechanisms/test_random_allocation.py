"""Random allocation beside its truth: enumerated, integrated, drawn; what is claimed of it, and what is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tests.oracle import allocated as truth
from tests.oracle import enumerate_data as data
from tests.oracle.adaptive import ERROR, Neighbours, fold, neighbours, product
from tests.search import FULL, cases
from tightrope.core.losses.operators.registered import allocated_pair_of
from tightrope.core.mechanisms.allocation import _classes, _rest, _square
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.counting import divisions_law
from tightrope.core.values.question import Direction, Relation

GAUSSIAN = tr.Gaussian(sigma=1.0)
WAYS = ("remove", "add")
EPSILONS = [-1.0, -0.21875, 0.0, 0.34375, 1.0, 1.5] if FULL else [-0.21875, 0.34375]
# Two laws with outputs that only one of them has, both or the second alone; a response; noise on three integers.
LEAKY = ([0.125, 0.375, 0.5, 0.0], [0.0, 0.25, 0.5, 0.25])
HIDDEN = ([0.5, 0.5, 0.0], [0.375, 0.375, 0.25])
RESPONSE = ([0.75, 0.25], [0.25, 0.75])
NOISE = {-1: data.number(Fraction(1, 8)), 0: data.number(Fraction(3, 4)), 1: data.number(Fraction(1, 8))}
SHIFT = ([0.0, 0.125, 0.75, 0.125], [0.125, 0.75, 0.125, 0.0])


def finite(laws: tuple[list[float], list[float]]) -> tr.Mechanism:
    return tr.Finite(p=laws[0], q=laws[1])


def held(run: tr.Mechanism, real: Neighbours, *, equal: bool = True, narrow: float = 1e-6) -> None:
    """The truth is inside, in both directions; equal: it is all that the run can show."""
    for way, pair in zip(WAYS, (real, real.swapped), strict=True):
        exact = pair.hockey_stick(np.exp(np.array(EPSILONS, dtype=np.longdouble)))
        for value, bound in zip(exact, run.delta(EPSILONS, direction=way), strict=True):
            assert value <= bound.upper + ERROR, (way, bound, value)
            if equal:
                assert bound.lower <= value + ERROR, (way, bound, value)
                assert bound.width <= narrow * bound.upper + 1e-12, (way, bound)


@pytest.mark.parametrize("laws", [LEAKY, HIDDEN, RESPONSE, SHIFT], ids=["leaky", "hidden", "response", "shift"])
@pytest.mark.parametrize("steps", [2, 3, 5])
def test_enumerated_steps(laws: tuple[list[float], list[float]], steps: int) -> None:
    run = finite(laws).random_allocation(steps=steps)
    held(run, truth.allocated(neighbours(*laws), steps))
    assert run.tight


def test_enumerated_epochs_and_others() -> None:
    pair = neighbours(*LEAKY)
    once = truth.allocated(pair, 2)
    run = finite(LEAKY).random_allocation(steps=2)
    held(run * 2, fold(once, 2))
    held(run + finite(RESPONSE), product(once, neighbours(*RESPONSE)))
    held(run.random_allocation(steps=2), truth.allocated(pair, 4))
    held((finite(RESPONSE) * 2).random_allocation(steps=2), truth.allocated(fold(neighbours(*RESPONSE), 2), 2))
    sampled = Neighbours(once.p / 4 + 3 * once.q / 4, once.q)
    held(run.poisson(rate=0.25), sampled)
    inside = Neighbours(pair.p / 4 + 3 * pair.q / 4, pair.q)
    held(finite(LEAKY).poisson(rate=0.25).random_allocation(steps=3), truth.allocated(inside, 3))


@pytest.mark.parametrize(("steps", "uses"), [(4, 2), (5, 2), (5, 3)])
def test_several_uses_are_below_their_blocks(steps: int, uses: int) -> None:
    for laws in (LEAKY, RESPONSE):
        run = finite(laws).random_allocation(steps=steps, uses=uses)
        held(run, truth.blocks(neighbours(*laws), steps, uses))
        held(run, truth.allocated(neighbours(*laws), steps, uses), equal=False)
        assert not run.tight
        assert not run.attained
    certificate = run.delta(0.5).certificate
    assert not certificate.tight
    assert not certificate.attained


def test_all_steps_are_a_composition() -> None:
    for base in (GAUSSIAN, finite(LEAKY), GAUSSIAN + tr.Laplace(scale=2.0), tr.ZCDP(rho=0.1)):
        for steps in (1, 4):
            run, plain = base.random_allocation(steps=steps, uses=steps), base * steps
            assert run.tight == plain.tight
            assert run.attained == plain.attained
            for one, other in zip(run.delta([-0.5, 0.5]), plain.delta([-0.5, 0.5]), strict=True):
                assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), rel=1e-12)
                assert steps > 1 or (one.lower, one.upper) == (other.lower, other.upper)
    one = GAUSSIAN.random_allocation(steps=1)
    assert one.epsilon(1e-6).upper == GAUSSIAN.epsilon(1e-6).upper
    assert one.group(size=3).delta(1.0).upper == GAUSSIAN.group(size=3).delta(1.0).upper
    exponential = tr.Exponential(epsilon=1.0)
    assert exponential.random_allocation(steps=1).attained_once
    assert not exponential.random_allocation(steps=2).attained_once


FEW = [(1.0, 3, 0.5), (0.6, 2, 0.25), (1.0, 2, 1.0), (3.0, 4, 0.1), (0.5, 3, 2.0)]
MANY = [
    (2.0, 100, 0.1),
    (0.5, 100, 11.0),
    (1.0, 10, 0.5),
    (1.0, 100, 0.2),
    (0.5, 1000, 3.0),
    (5.0, 1000, 0.03),
    (1.0, 10_000, 0.01),
]


@pytest.mark.parametrize(("sigma", "steps", "epsilon"), FEW[: cases(1, 5)] + MANY[: cases(2, 7)])
def test_steps_of_gaussian_noise(sigma: float, steps: int, epsilon: float) -> None:
    """Beside integrals, those of a transform from eight steps on, and beside draws."""
    run = tr.Gaussian(sigma=sigma).random_allocation(steps=steps)
    integral = truth.gaussian(sigma, steps, epsilon, 120) if steps < 8 else truth.gaussian_many(sigma, steps, epsilon)
    draws = cases(4_000, max(4_000, 20_000_000 // steps))
    for way, exact in zip(WAYS, integral, strict=True):
        if way == "add" and exact < 1e-12:
            continue  # out of reach for draws
        bound = run.delta(epsilon, direction=way, accuracy=1e-3)
        if epsilon < 2.5:  # the transform loses digits with e^epsilon
            assert bound.lower <= exact + 1e-12
            assert exact - 1e-12 <= bound.upper
        assert truth.drawn(sigma, steps, epsilon, way, draws).agrees(bound.lower, bound.upper)


def test_more_steps_never_cost_more() -> None:
    for base in (GAUSSIAN, finite(LEAKY)) if FULL else (finite(LEAKY), finite(RESPONSE)):
        chain = [base.random_allocation(steps=steps).delta([-0.5, 0.25]) for steps in (1, 2, 3, 7, 40)]
        for more, less in pairwise(chain):
            for one, other in zip(more, less, strict=True):
                assert other.upper <= one.upper * (1 + 1e-6)
                assert other.lower <= one.upper
    # Between one use and all, each costs more than the one before, by its blocks.
    uses = [finite(LEAKY).random_allocation(steps=6, uses=uses).delta(0.5).upper for uses in (1, 2, 3, 6)]
    assert uses == sorted(uses)


def scattered_truth(size: int, mu: float, epsilon: float, way: str) -> float:
    """delta of two steps of noise 1 in which each of so many records moves one by mu: a sum on a fine grid."""
    y = np.linspace(-9.0, 9.0 + 2 * mu, 401)
    shown = np.exp(mu * np.arange(size + 1)[:, None] * y - (mu * np.arange(size + 1)[:, None]) ** 2 / 2.0)
    ratio = sum(math.comb(size, j) / 2.0**size * np.outer(shown[j], shown[size - j]) for j in range(size + 1))
    weight = np.exp(-(y**2) / 2.0) / math.sqrt(2.0 * math.pi) * (y[1] - y[0])
    gain = ratio - math.exp(epsilon) if way == "remove" else 1.0 - math.exp(epsilon) * ratio
    return float(weight @ np.maximum(gain, 0.0) @ weight)


@pytest.mark.parametrize(("size", "sigma", "epsilon"), [(2, 1.0, 0.5), (2, 4.0, 0.125), (3, 2.0, 1.0)])
def test_groups_of_gaussian_noise(size: int, sigma: float, epsilon: float) -> None:
    run = tr.Gaussian(sigma=sigma).random_allocation(steps=2).group(size=size)
    for way in WAYS:
        exact = scattered_truth(size, 1.0 / sigma, epsilon, way)
        assert exact * (1.0 - 1e-3) <= run.delta(epsilon, direction=way, accuracy=1e-3).upper <= 2.0 * exact


@pytest.mark.parametrize(("size", "steps"), [(2, 2), (3, 2), (8, 235), (5, 4)])
def test_classes_of_divisions_are_above_each(size: int, steps: int) -> None:
    law = sorted(divisions_law(size, steps), key=lambda row: (_square(row[0]), row[0]))
    assert sum(share for _, share in law) == 1
    rows, passed = iter(law), Fraction(0)
    for share, above in _classes(law):
        assert len(above) <= steps
        members = Fraction(0)
        while members < share:
            parts, own = next(rows)
            members += own
            assert len(parts) <= len(above)
            assert all(j <= most for j, most in zip(parts, above, strict=False))
        assert members == share
        passed += share
    assert passed + sum(share for _, share in _rest(law, 1 - passed)) == 1


def test_groups_are_chains() -> None:
    run = finite(SHIFT).random_allocation(steps=2).group(size=2)
    assert not run.tight
    shown = data.pairs(truth.transcripts(NOISE, 2), data.lacking(2, 2))
    for way in WAYS:
        bound = run.delta(0.34375, direction=way)
        real = max(
            (pair if way == "remove" else pair.swapped).hockey_stick(np.exp(np.longdouble(0.34375))) for pair in shown
        )
        assert 0.9 * bound.upper < real <= bound.upper
    user = finite(RESPONSE).group(size=2).random_allocation(steps=3)
    chained = tr.parse("Finite(p=[0.75, 0.25], q=[0.25, 0.75]).group(size=2)")
    assert user.delta(0.25).upper < chained.delta(0.25).upper


def test_what_attains_it_is_what_attains_the_base() -> None:
    loose = tr.DistanceToInstability(epsilon=1.0, delta=1e-3)
    assert loose.attained == loose.random_allocation(steps=1).attained
    rows = (
        (GAUSSIAN, True, True),
        (GAUSSIAN.poisson(rate=0.1), True, True),
        (GAUSSIAN.group(size=2), True, True),
        (tr.PureDP(epsilon=1.0), True, True),
        (tr.NoisyMax(scale=1.0), False, True),
        (tr.Exponential(epsilon=1.0), False, False),
        (tr.parallel(GAUSSIAN, tr.Laplace(scale=1.0)), False, True),
        (tr.PureDP(epsilon=0.5).best_of(law="geometric", mean=2.0), False, True),
        (GAUSSIAN.poisson(rate=0.1).random_allocation(steps=4, uses=2), False, False),
        (finite(LEAKY).poisson(rate=0.1).group(size=2), False, False),
    )
    for base, tight, attained in rows:
        run = base.random_allocation(steps=3)
        assert (run.tight, run.attained) == (tight, attained), base
        assert run.relation is Relation.ADD_REMOVE
    assert GAUSSIAN.random_allocation(steps=3).poisson(rate=0.5).tight
    assert not GAUSSIAN.random_allocation(steps=3).group(size=2).tight
    # A count that must be known needs other records, whose steps nobody knows.
    counted = [each for each in (tr.StabilityHistogram(epsilon=1.0, threshold=10.0), loose) if each.needs_others(None)]
    assert counted
    assert not any(each.random_allocation(steps=3).attained for each in counted)


def test_floors_of_the_base_are_allocated() -> None:
    cells = tr.parallel(finite(LEAKY), finite(RESPONSE))
    run = cells.random_allocation(steps=3)
    bound = run.delta(0.34375, direction="remove")
    shown = [truth.allocated(neighbours(*laws), 3) for laws in (LEAKY, RESPONSE)]
    real = max(float(pair.hockey_stick(np.longdouble(math.exp(0.34375)))) for pair in shown)
    assert bound.lower == pytest.approx(real, rel=1e-6)
    assert bound.lower <= real + ERROR
    assert real <= bound.upper
    assert len(run.witnesses(Direction.ADD)) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GAUSSIAN.random_allocation(steps=0), "steps must be a whole number from 1"),
        (lambda: GAUSSIAN.random_allocation(steps=2.5), "steps must be a whole number"),
        (lambda: GAUSSIAN.random_allocation(steps=math.nan), "steps must be a whole number"),
        (lambda: GAUSSIAN.random_allocation(steps=4, uses=0), "uses must be a whole number from 1"),
        (lambda: GAUSSIAN.random_allocation(steps=4, uses=5), "uses must be at most steps, 4, not 5"),
        (
            lambda: GAUSSIAN.poisson(rate=0.1, neighbours="replace").random_allocation(steps=2),
            "random allocation: its base needs the sensitivity under adding or removing a record",
        ),
        (
            lambda: GAUSSIAN.truncated_poisson(rate=0.1, cap=3, records=9).random_allocation(steps=2),
            "random allocation: the base runs on data of 9 records",
        ),
        (
            lambda: GAUSSIAN.random_allocation(steps=2).without_replacement(batch=2, records=9),
            "its base needs the sensitivity under replacing a record",
        ),
        (
            lambda: finite(RESPONSE).random_allocation(steps=2).shuffle(users=9),
            "its base needs the sensitivity under replacing a record",
        ),
        (
            lambda: GAUSSIAN.random_allocation(steps=2) + GAUSSIAN.without_replacement(batch=2, records=9),
            "disagree on what neighbours are",
        ),
    ],
)
def test_what_is_refused(make: object, message: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=message):
        make()  # type: ignore[operator]


def test_it_goes_both_ways_and_keeps_its_name() -> None:
    run = GAUSSIAN.random_allocation(steps=12, uses=3, name="epoch") * 4 + GAUSSIAN.random_allocation(steps=5)
    assert tr.parse(repr(run)) == run
    assert tr.load(tr.dump(run)) == run
    assert pickle.loads(pickle.dumps(run)) == run
    assert repr(GAUSSIAN.random_allocation(5, 1)) == "Gaussian(sigma=1.0).random_allocation(steps=5)"
    with pytest.raises(tr.TightropeError, match="steps"):
        tr.parse("Gaussian(sigma=1).random_allocation()")


def test_the_same_batches_in_every_epoch_are_one_allocation_of_all() -> None:
    kept = (finite(RESPONSE) * 2).random_allocation(steps=3)
    fresh = finite(RESPONSE).random_allocation(steps=3) * 2
    assert kept.delta(0.5).lower > fresh.delta(0.5).upper


def test_other_questions_are_answered_or_refused_in_one_line() -> None:
    run = tr.RandomizedResponse(epsilon=2.0, neighbours="add_remove").random_allocation(steps=50) * 2
    assert run.renyi(2.0).lower <= 2.0 * run.zcdp().upper
    assert run.delta(0.5, proof=True).upper == pytest.approx(run.delta(0.5).upper)
    assert run.advantage().upper == pytest.approx(run.delta(0.0).upper)
    assert run.gdp().upper < (tr.RandomizedResponse(epsilon=2.0, neighbours="add_remove") * 2).gdp().upper
    found = tr.calibrate(
        lambda steps: tr.RandomizedResponse(epsilon=2.0, neighbours="add_remove").random_allocation(steps=steps),
        epsilon=0.5,
        delta=1e-3,
        integer=True,
    )
    assert found.bound.upper <= 0.5 < found.missed.bound.lower
    epoch = GAUSSIAN.random_allocation(steps=7)
    assert epoch.gdp(seconds=0.2).lower == pytest.approx(1.0)  # far out it is what its step is
    assert epoch.gdp(seconds=0.2).upper == pytest.approx(1.0)
    # E L^2 = 1 + (E Y^2 - 1)/steps, in the worse direction at least.
    assert epoch.renyi(2.0, accuracy=0.05).upper >= math.log1p(math.expm1(1.0) / 7)
    with pytest.raises(tr.UnsupportedMechanism) as refused:
        epoch.cgf(1.0)
    assert "\n" not in str(refused.value)


def test_the_pair_between_bounds_holds_the_listed_law() -> None:
    """The grids of any base, asked for one whose law can be listed."""
    from tightrope.core.losses.capabilities import Resolution
    from tightrope.core.losses.operators.allocation.allocated import AllocatedPair

    for laws, direction in ((LEAKY, Direction.REMOVE), (HIDDEN, Direction.ADD)):
        base = finite(laws).pair(direction)
        exact = allocated_pair_of(base, 5, direction)
        assert exact is not None
        below, above = AllocatedPair(base, 5, direction).bracket(Resolution(points=200, tail=1e-12, proof=False))
        for epsilon in (-0.5, 0.0, 0.3, 1.0):
            at = arb(epsilon)
            with working_precision(128):
                assert not below.ball_hockey_stick(at) > exact.ball_hockey_stick(at)
                assert not exact.ball_hockey_stick(at) > above.ball_hockey_stick(at)
