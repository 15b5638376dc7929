"""Exponential: its logistic pair against integrals over outputs, its contour against the lattice, what it covers."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf

import tightrope as tr
from tests.reference.integrals import stored
from tests.search import FULL, cases
from tightrope.core.losses.cgf import cgf_of
from tightrope.core.losses.logistic import LogisticPair
from tightrope.core.losses.pair import TAIL_ERROR
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.double_double import double_double
from tightrope.core.numerics.enclosures import around, exact
from tightrope.core.values.errors import InvalidParameter
from tightrope.core.values.question import Direction

DIGITS = 60


def above(x: mpf) -> mpf:
    """P[X > x] for the standard logistic law."""
    return 1 / (1 + mp.exp(x))


def density(x: mpf) -> mpf:
    return above(x) * above(-x)


def crossing(loss: Callable[[mpf], mpf], t: float | mpf, edge: float) -> mpf:
    """Where a rising loss passes t; the losses saturate far inside this bracket."""
    low, high = -mpf(edge) - 250, 2 * mpf(edge) + 250
    for _ in range(min(mp.prec + 12, 204)):
        middle = (low + high) / 2
        low, high = (middle, high) if loss(middle) <= t else (low, middle)
    return low


def plain_loss(edge: float) -> Callable[[mpf], mpf]:
    """log of the ratio of the two densities at x, shifted against plain."""
    return lambda x: mpf(edge) + 2 * (mp.log1p(mp.exp(-x)) - mp.log1p(mp.exp(mpf(edge) - x)))


def sampled_loss(edge: float, rate: float, remove: bool) -> Callable[[mpf], mpf]:
    """Of the outputs x, or of -x for add, so that it rises; add exchanges the two laws, a mirror image."""
    base, share = plain_loss(edge), mpf(rate)
    if remove:
        return lambda x: mp.log1p(share * mp.expm1(base(x)))
    return lambda x: -mp.log1p(share * mp.expm1(-base(x)))


def sampled_delta(edge: float, rate: float, remove: bool, epsilon: mpf) -> mpf:
    """One sampled use, by the half-line of outputs where the loss exceeds epsilon."""
    loss = sampled_loss(edge, rate, remove)
    cut, alpha = crossing(loss, epsilon, edge), mp.exp(epsilon)
    p, q = above(cut - edge), above(cut)
    return (1 - mpf(rate)) * q + rate * p - alpha * q if remove else p - alpha * ((1 - mpf(rate)) * p + rate * q)


def fold(edge: float, count: int, epsilon: mpf, degree: int = 4) -> mpf:
    """E[delta of the rest at epsilon - loss], over the outputs of one use, x where P[X > x] = u."""
    if count == 1:
        if epsilon >= edge:
            return mpf(0)
        if epsilon <= -edge:
            return -mp.expm1(epsilon)
        ratio = mp.exp((epsilon - edge) / 2)
        cut = -mp.log((1 - ratio) / (ratio * mp.exp(edge) - 1))
        assert abs(plain_loss(edge)(cut) - epsilon) < mpf(10) ** (8 - mp.dps)
        return above(cut - edge) - mp.exp(epsilon) * above(cut)
    loss = plain_loss(edge)

    def at(u: mpf) -> mpf:
        return mpf(edge) + mp.log(1 / u - 1)

    kinks = [epsilon - (count - 1 - 2 * index) * mpf(edge) for index in range(count)]
    inside = [kink for kink in kinks if -edge < kink < edge]
    splits = [above(crossing(loss, kink, edge) - edge) for kink in inside]
    value, error = mp.quad(
        lambda u: fold(edge, count - 1, epsilon - loss(at(u)), degree),
        [mpf(0), *sorted(splits), mpf(1)],
        method="gauss-legendre",
        maxdegree=degree,
        error=True,
    )
    assert error <= 1e-12
    return value


def uses_truth(count: int, edge: float, share: float) -> mpf:
    """delta of several uses at this share of the largest loss."""
    with mp.workdps(20):
        return fold(edge, count, mpf(count * edge * share), degree=6 if count == 2 else 4)


def sampled_uses_truth(edge: float, rate: float, epsilon: float, remove: bool) -> mpf:
    """delta of two sampled uses."""
    loss = sampled_loss(edge, rate, remove)
    with mp.workdps(20):
        ends = [loss(mpf(-100)), loss(mpf(100))]
        kinks = [crossing(loss, epsilon - end, edge) for end in ends if ends[0] < epsilon - end < ends[1]]

        def mean(shift: float) -> mpf:
            """Over the outputs of a logistic law, x where P[X > x] = u."""
            splits = sorted(above(kink - shift) for kink in kinks)
            value, error = mp.quad(
                lambda u: sampled_delta(edge, rate, remove, epsilon - loss(shift + mp.log(1 / u - 1))),
                [mpf(0), *splits, mpf(1)],
                method="gauss-legendre",
                maxdegree=5,
                error=True,
            )
            assert error <= 1e-11
            return value

        return (1 - mpf(rate)) * mean(0.0) + rate * mean(edge) if remove else mean(edge)


def contains(bound: tr.Bound, truth: mpf, slack: float = 0.0) -> bool:
    return mpf(bound.lower) <= truth * (1 + slack) and truth * (1 - slack) <= mpf(bound.upper)


@pytest.mark.parametrize("edge", [1e-9, 0.01, 1.0, 30.0, 700.0])
def test_tails_on_both_sides(edge: float) -> None:
    shares = [-0.9999999, -0.99, -0.7, -0.31, -1e-5, 0.0, 1e-9, 0.2, 0.5, 0.93, 0.999, 1.0 - 1e-12]
    shares = shares if FULL or edge < 100.0 else shares[::3]  # 700 digits
    points = np.array([edge * share for share in shares])
    pair = LogisticPair(edge)
    found = pair.tails(double_double(points))
    with mp.workdps(700 if edge > 100.0 else DIGITS):
        for index, t in enumerate(points):
            cut = crossing(plain_loss(edge), float(t), edge)
            # The bracket ends within 10^-58; where the loss is flat the tails follow the cut all the same.
            truths = above(cut - edge), above(cut), above(edge - cut), above(-cut)
            for name, tail, truth in zip(found._fields, found, truths, strict=True):
                allowed = truth * TAIL_ERROR if truth >= 1e-300 else mpf("1e-313")
                assert abs(mpf(float(tail[index])) - truth) <= allowed, (name, t)
            with working_precision(400):
                balls = pair.ball_tails(arb(float(t)))
                for ball, truth in zip(balls, truths, strict=True):
                    assert abs(mpf(ball.mid().str(60, radius=False)) - truth) <= mpf("1e-30") * truth


def test_tails_beyond_the_losses() -> None:
    found = LogisticPair(1.0).tails(double_double(np.array([-np.inf, -1.5, 1.0, 2.0, np.inf])))
    assert found.p_above.tolist() == found.q_above.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert found.p_below.tolist() == found.q_below.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("edge", [0.3, 2.0, 8.0])
def test_profile_is_the_integral_over_outputs(edge: float) -> None:
    pair = LogisticPair(edge)
    with mp.workdps(30):
        for share in (-1.5, -0.999, -0.4, 0.0, 0.35, 0.9):
            epsilon = edge * share
            alpha = mp.exp(mpf(epsilon))
            cut = crossing(plain_loss(edge), epsilon, edge) if share > -1.0 else mpf(-300)
            pieces = sorted({cut, *(mpf(x) for x in (0.0, edge, edge + 20.0, edge + 80.0) if x > cut), mpf(300)})
            truth = mp.quad(lambda x, alpha=alpha: density(x - edge) - alpha * density(x), pieces)
            value = pair.hockey_stick(exact(np.array([epsilon])))
            assert mpf(float(value.lower[0])) - mpf("1e-20") <= truth <= mpf(float(value.upper[0])) + mpf("1e-20")
            assert value.upper[0] - value.lower[0] <= 1e-14 * value.upper[0]
            with working_precision(128):
                ball = pair.ball_hockey_stick(arb(epsilon))
                assert abs(mpf(ball.mid().str(30, radius=False)) - truth) < mpf("1e-18")
                assert ball.rad() < 1e-30


def test_profile_keeps_its_precision_at_the_ends() -> None:
    for edge in (1e-9, 1.0, 700.0):
        points = np.array([-edge * 1.5, -edge, edge * -0.25, 0.0, edge * (1.0 - 2.0**-40), edge, edge * 1.5])
        found = LogisticPair(edge).hockey_stick(exact(points))
        for index, epsilon in enumerate(points):
            with mp.workdps(400):
                inside = (1 - mp.exp((mpf(float(epsilon)) - edge) / 2)) ** 2 / -mp.expm1(-mpf(edge))
                outside = -mp.expm1(mpf(float(epsilon))) if epsilon < 0.0 else mpf(0)
                truth = inside if abs(epsilon) < edge else outside
                assert mpf(float(found.lower[index])) <= truth <= mpf(float(found.upper[index]))
            assert found.radius[index] <= 4e-15 * found.value[index] + 1e-320
        assert found.upper[-2:].tolist() == [0.0, 0.0]


def test_an_uncertain_point_is_covered_at_both_ends() -> None:
    pair = LogisticPair(1.0)
    for centre in (-1.0, 1.0):
        wide = pair.hockey_stick(around(np.array([centre]), np.array([1e-3])))
        for point in (centre - 1e-3, centre, centre + 1e-3):
            inner = pair.hockey_stick(exact(np.array([point])))
            assert wide.lower[0] <= inner.lower[0] + 1e-15
            assert inner.upper[0] <= wide.upper[0] + 1e-15
            with working_precision(128):
                ball = pair.ball_hockey_stick(arb(centre, 1e-3))
                assert ball.contains(pair.ball_hockey_stick(arb(point)).mid())
                whole, single = pair.ball_tails(arb(centre, 1e-3)), pair.ball_tails(arb(point))
                assert all(one.contains(other.mid()) for one, other in zip(whole, single, strict=True))


@pytest.mark.parametrize("edge", [1e-9, 0.4, 3.0])
def test_one_use_in_both_directions(edge: float) -> None:
    with mp.workdps(DIGITS):
        for share in (0.0, 0.2, 0.95):
            truth = fold(edge, 1, mpf(edge * share))
            for direction in Direction:
                bound = tr.Exponential(epsilon=edge).delta(edge * share, direction=direction.value)
                assert contains(bound, truth)
                assert bound.upper - bound.lower <= 1e-12 * bound.upper
                assert contains(tr.Exponential(epsilon=edge).delta(edge * share, proof=True), truth)


@pytest.mark.parametrize(
    "count, edge, share", [(2, 0.5, 0.0), (2, 0.5, 0.7), (2, 4.0, 0.3), (3, 0.5, 0.4), (3, 2.0, 0.1)]
)
def test_few_uses_against_integrals_over_outputs(count: int, edge: float, share: float) -> None:
    epsilon = count * edge * share
    with mp.workdps(DIGITS):
        truth = mpf(stored("uses of Exponential", count, edge, share))
    run = tr.Exponential(epsilon=edge) * count
    for keywords in ({"engine": "contour"}, {"engine": "lattice"}, {"engine": "contour", "proof": True}):
        bound = run.delta(epsilon, **keywords)
        assert contains(bound, truth, slack=1e-10)  # more than the quadrature errs
        assert bound.upper - bound.lower <= 1e-6 * bound.upper


def test_the_stored_integrals_are_computed_here() -> None:
    """The cheapest of them; the others by `python -m tests.reference.integrals`."""
    with mp.workdps(DIGITS):
        truth = mpf(stored("uses of Exponential", 2, 0.5, 0.7))
        assert abs(uses_truth(2, 0.5, 0.7) - truth) <= mpf("1e-18") * truth


@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize("edge, rate", [(0.5, 0.1), (2.0, 0.5), (10.0, 1e-3)])
def test_sampled_uses_against_integrals_over_outputs(edge: float, rate: float, remove: bool) -> None:
    mechanism = tr.Exponential(epsilon=edge).poisson(rate=rate)
    direction = "remove" if remove else "add"
    top = math.log1p(rate * math.expm1(edge)) if remove else -math.log1p(rate * math.expm1(-edge))
    with mp.workdps(DIGITS):
        for share in (0.0, 0.3, 0.9):
            truth = sampled_delta(edge, rate, remove, mpf(top * share))
            assert contains(mechanism.delta(top * share, direction=direction), truth)
            assert contains(mechanism.delta(top * share, direction=direction, proof=True), truth)


@pytest.mark.parametrize("remove", [True, False])
def test_two_sampled_uses_against_integrals_over_outputs(remove: bool) -> None:
    edge, rate, epsilon = 2.0, 0.5, 0.25
    with mp.workdps(DIGITS):
        truth = mpf(stored("two sampled uses of Exponential", edge, rate, epsilon, remove))
    run = tr.Exponential(epsilon=edge).poisson(rate=rate) * 2
    for proof in (False, True):
        bound = run.delta(epsilon, direction="remove" if remove else "add", proof=proof)
        assert contains(bound, truth, slack=1e-9)
        assert bound.upper - bound.lower <= 1e-5 * bound.upper


@pytest.mark.parametrize("expression", ["Exponential(epsilon=0.5) * 10", "Exponential(epsilon=0.1) * 100"])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.7])
def test_contour_lattice_and_proof_overlap(expression: str, epsilon: float) -> None:
    run = tr.parse(expression)
    contour, lattice = run.delta(epsilon, engine="contour"), run.delta(epsilon, engine="lattice")
    proof = run.delta(epsilon, engine="contour", proof=True)
    for one, other in itertools.combinations((contour, lattice, proof), 2):
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    assert contour.upper - contour.lower <= 1e-9 * contour.upper
    assert lattice.upper - lattice.lower <= 1e-6 * lattice.upper


def test_many_uses_approach_the_normal_limit() -> None:
    # Means and variances of the loss add up to 1/24 (1 + 2 c) and 1/12 of k e^2 each: GDP with mu^2 = k e^2/3 = 1/3.
    found = (tr.Exponential(epsilon=1e-6) * 10**12).epsilon(1e-6, engine="contour")  # of the pair itself
    limit = tr.GDP(mu=math.sqrt(1.0 / 3.0)).epsilon(1e-6)
    assert found.upper - found.lower <= 1e-9 * found.upper
    assert abs(found.upper - limit.upper) <= 1e-9


@pytest.mark.parametrize("edge", [1e-6, 0.2, 3.0, 40.0])
@pytest.mark.parametrize("tilt", [0.01, 1.0, 25.0])
def test_cgf_and_its_decay(edge: float, tilt: float) -> None:
    cgf = cgf_of(LogisticPair(edge))
    with mp.workdps(DIGITS):

        def moment(t: float) -> mpf:
            """E_P e^{(c + i t) l} by the density of the loss, e^{l/2} up to a constant on [-e, e]."""
            w = mpmath.mpc(mpf(tilt) + mpf(0.5), t) * edge
            return mp.sinh(w) / w / (mp.sinh(mpf(edge) / 2) / (mpf(edge) / 2))

        found = cgf.tilted(tilt, 0.0, 40.0).log_mgf
        truth = mp.log(moment(0.0).real)
        assert mpf(float(found.lower)) <= truth <= mpf(float(found.upper))
        cumulants = cgf.cumulants(tilt)
        assert abs(cumulants.value - truth) <= 1e-6 * truth + 1e-12
        for turn in (1e-3, 0.4, 1.5, 1.6, 3.0, 10.0, 1000.0):
            for decay in (cgf.cf_decay(tilt), cgf.ball_cf_decay(tilt)):
                bound = mpf(decay.log_bound(turn / edge))
                for further in (1.0, 1.001, 1.3, 2.0, 3.3, 4.7, 50.0):
                    assert mp.log(abs(moment(turn / edge * further) / moment(0.0))) <= bound + mpf("1e-40")


@pytest.mark.parametrize("edge", [0.7, 5.0])
def test_moments_are_integrals_over_outputs(edge: float) -> None:
    loss = plain_loss(edge)
    with mp.workdps(25):
        for tilt in (0.3, 2.0):
            pieces = [mpf(-80), mpf(-20), mpf(0), mpf(edge), mpf(edge) + 20, mpf(edge) + 80]
            truth = mp.log(mp.quad(lambda x, tilt=tilt: density(x - edge) * mp.exp(tilt * loss(x)), pieces))
            found = cgf_of(LogisticPair(edge)).tilted(tilt, 0.0, 40.0).log_mgf
            assert abs(mpf(float(found.value)) - truth) < mpf("1e-14")


def test_real_exponential_mechanisms_are_covered() -> None:
    source = random.Random(5)
    for _ in range(cases(2, 4)):
        epsilon, size = source.choice([0.3, 1.0, 4.0]), source.randint(2, 5)
        scores = [source.uniform(0.0, 3.0) for _ in range(size)]
        moved = [score + source.choice([-1.0, 1.0, source.uniform(-1.0, 1.0)]) for score in scores]
        p, q = ([math.exp(epsilon * score / 2.0) for score in row] for row in (scores, moved))
        p, q = ([mass / sum(row) for mass in row] for row in (p, q))
        for count in (1, 2, 3):
            asked = [0.0, 0.3 * epsilon, 0.8 * epsilon]
            for at, bound in zip(asked, (tr.Exponential(epsilon=epsilon) * count).delta(asked), strict=True):
                chosen = list(itertools.product(range(size), repeat=count))
                gains = (
                    math.prod(p[index] for index in row) - math.exp(at) * math.prod(q[index] for index in row)
                    for row in chosen
                )
                real = math.fsum(max(gain, 0.0) for gain in gains)
                assert real <= bound.upper + 1e-14


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_one_use_is_the_best_answer_over_all_ranges(epsilon: float) -> None:
    for share in (0.0, 0.5, 0.9):
        at, best = epsilon * share, 0.0
        for index in range(2001):
            top = epsilon * index / 2000  # losses top and top - epsilon, masses so that both laws sum to 1
            q = (math.exp(-top) - math.exp(-epsilon)) / -math.expm1(-epsilon)
            best = max(best, q * (math.exp(top) - math.exp(at)))
        bound = tr.Exponential(epsilon=epsilon).delta(at)
        assert best <= bound.upper * (1.0 + 1e-12)
        assert best >= bound.lower * (1.0 - 1e-3)


def test_expressions_and_documents_come_back() -> None:
    run = tr.Exponential(epsilon=0.1) * 20 + tr.Exponential(epsilon=0.25).poisson(rate=0.5)
    assert tr.parse(repr(run)) == run
    assert tr.load(tr.dump(run)) == run
    assert repr(tr.Exponential(0.1)) == "Exponential(epsilon=0.1)"


def test_the_lower_end_speaks_of_the_pair() -> None:
    assert not tr.Exponential(epsilon=1.0).tight
    assert not (tr.Exponential(epsilon=1.0) * 3 + tr.Gaussian(sigma=1.0)).tight
    assert tr.Exponential(epsilon=0.0).tight


def test_no_range_is_the_identity() -> None:
    assert tr.Exponential(epsilon=0).delta(0.0).upper == 0.0
    assert (tr.Exponential(epsilon=0) * 10).epsilon(0.0).upper == 0.0


def test_it_is_pure_too() -> None:
    run = tr.Exponential(epsilon=0.5) * 4
    assert run.epsilon(0.0).upper == 2.0
    assert run.delta(2.0).upper == 0.0


@pytest.mark.parametrize("epsilon", [-1.0, math.inf, math.nan, 1e-300, True, "1"])
def test_what_is_no_range_is_refused(epsilon: float) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        tr.Exponential(epsilon=epsilon)
