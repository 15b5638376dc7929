"""Renyi divergences of every mechanism against quadratures and enumerations of their own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import pytest
from mpmath import mp, mpf

import tightrope as tr
from tests.oracle import chain, shuffled
from tests.oracle.selection import Runs, best
from tightrope.core.conversions.divergence import _without_masses, divergence, from_parts, of_pair
from tightrope.core.losses.cgf import cumulant_above
from tightrope.core.losses.operators.extremes import MaximumPair
from tightrope.core.losses.operators.fixed_size import FixedSizeSubsampledPair
from tightrope.core.losses.operators.group_privacy import GroupParticipationPair, GroupPrivacyPair
from tightrope.core.losses.operators.poisson import PoissonAdd
from tightrope.core.losses.pair import Pair

ORDERS = (0.3, 1.0, 8.5)
Profile = Callable[[mpf], mpf]
Rows = Sequence[tuple[Fraction | mpf, Fraction | mpf]]


def from_rows(rows: Rows, order: float) -> mpf:
    """The divergence of two finite laws, by its definition."""
    o = mpf(order)
    if order >= 1.0 and any(p and not q for p, q in rows):
        return mpf("inf")
    both = [
        (
            mpf(p.numerator) / p.denominator if isinstance(p, Fraction) else mpf(p),
            mpf(q.numerator) / q.denominator if isinstance(q, Fraction) else mpf(q),
        )
        for p, q in rows
        if p and q
    ]
    if order == 1.0:
        return mp.fsum(p * mp.log(p / q) for p, q in both)
    return mp.log(mp.fsum(p**o * q ** (1 - o) for p, q in both)) / (o - 1)


def from_profile(h: Profile, mirror: Profile, order: float, reach: float) -> mpf:
    """From H and the profile of the reversed pair, both at a >= 1: f'' (H(a) - (1 - a)_+) is what is summed."""
    o = mpf(order)
    front = mpf(1) if order == 1.0 else o * (o - 1)
    places = [mpf(reach) * k / 8 for k in range(9)]
    above = mp.quad(lambda t: mp.exp((o - 1) * t) * h(t), places)
    below = mp.quad(lambda t: mp.exp(-o * t) * mirror(t), places)  # a = e^-t: a^(o-2) a H_rev(e^t) a dt
    total = front * (above + below)
    return total if order == 1.0 else mp.log(1 + total) / (o - 1)


def gaussian(mu: float) -> Profile:
    return lambda t: mp.ncdf(mpf(mu) / 2 - t / mu) - mp.exp(t) * mp.ncdf(-mpf(mu) / 2 - t / mu)


def laplace(loss: float) -> Profile:
    return lambda t: 1 - mp.exp((t - loss) / 2) if t < loss else mpf(0)


def removed(base: Profile, rate: float) -> Profile:
    return lambda t: rate * base(mp.log1p(mp.expm1(t) / mpf(rate)))


def largest(*profiles: Profile) -> Profile:
    return lambda t: max(each(t) for each in profiles)


def holds(found: tr.Bound, truth: mpf, width: float) -> None:
    assert mpf(found.lower) <= truth * (1 + mpf("1e-13"))
    assert truth * (1 - mpf("1e-13")) <= mpf(found.upper)
    assert found.upper - found.lower <= width * found.upper


def between(pair: Pair, order: float, accuracy: float = 1e-3) -> tr.Bound:
    found = of_pair(pair, order, accuracy, proof=False)
    return tr.Bound(found.lower, found.upper)


def only(mechanism: tr.Mechanism, direction: tr.Direction = tr.Direction.REMOVE) -> Pair:
    return mechanism.pair(direction)


@pytest.mark.parametrize("order", ORDERS)
def test_without_replacement(order: float) -> None:
    """Glued: the sample above the loss 0, its mirror image below; once with a bounded loss, once without an end."""
    for base, profile, reach in (
        (tr.Laplace(scale=1.0), laplace(1.0), 1.0),
        (tr.Gaussian(sigma=1.0), gaussian(1.0), 60),
    ):
        pair = FixedSizeSubsampledPair(only(base), 0.125)
        with mp.workdps(20):
            side = cache(removed(profile, 0.125))
            holds(between(pair, order), from_profile(side, side, order, min(reach, 40.0)), 1e-3)


@pytest.mark.parametrize("order", ORDERS)
def test_the_largest_of_two_profiles(order: float) -> None:
    """Gaussian and Laplace cross: the moments add up to more, and each is less."""
    pair = MaximumPair((only(tr.Gaussian(sigma=2.0)), only(tr.Laplace(scale=1.5))))
    with mp.workdps(20):
        side = cache(largest(gaussian(0.5), laplace(1 / mpf(1.5))))
        holds(between(pair, order), from_profile(side, side, order, 16.0), 1e-3)


def sample_rows(order: float, rate: float, direction: str) -> mpf:
    """(Gaussian(1) + RandomizedResponse(3/4, neighbours='add_remove')).poisson: one integral for each answer."""
    o, r = mpf(order), mpf(rate)

    def integrand(x: mpf, answer: int) -> mpf:
        chances = (mpf(3) / 4, mpf(1) / 4)
        p, q = mp.npdf(x, 1) * chances[answer], mp.npdf(x, 0) * chances[1 - answer]
        one, other = ((1 - r) * q + r * p, q) if direction == "remove" else (q, (1 - r) * q + r * p)
        return one * mp.log(one / other) if order == 1.0 else one**o * other ** (1 - o)

    places = [-14, -6, -3, 0, 3, 6, 10, 16, 24]
    total = mp.fsum(mp.quad(lambda x, a=answer: integrand(x, a), places) for answer in (0, 1))
    return total if order == 1.0 else mp.log(total) / (o - 1)


@pytest.mark.parametrize(("order", "direction"), [(0.3, "add"), (1.0, "remove"), (8.5, "remove")])
def test_one_sample_for_several(order: float, direction: str) -> None:
    run = (tr.Gaussian(sigma=1.0) + tr.RandomizedResponse(p=0.75, neighbours="add_remove")).poisson(rate=0.125)
    with mp.workdps(20):
        truth = sample_rows(order, 0.125, direction)
    holds(run.renyi(order, direction=direction, accuracy=1e-3), truth, 1e-3)


@cache
def chain_rows(steps: tuple[tuple[tuple[Fraction, Fraction], ...], ...]) -> list[tuple[Fraction, Fraction]]:
    """The law of a chain: the edges of its power, between the sizes at which any of the steps has a corner."""
    sizes = {Fraction(0), Fraction(1)}
    for place, step in enumerate(steps):
        level = Fraction(0)
        for _, q in sorted(step, key=lambda row: row[0] / row[1], reverse=True):
            level += q
            corner = level
            for inner in steps[place + 1 :]:
                corner = chain.size_of(inner, corner)
            sizes.add(corner)
    ordered = sorted(sizes)
    powers = [chain.chain_power(steps, size) for size in ordered]
    return [
        (y1 - y0, x1 - x0)
        for (x0, x1), (y0, y1) in zip(itertools.pairwise(ordered), itertools.pairwise(powers), strict=True)
    ]


SKEWED = tuple((Fraction(p, 10), Fraction(q, 10)) for p, q in ((5, 1), (2, 3), (3, 6)))
EVEN = tuple((Fraction(p, 4), Fraction(q, 4)) for p, q in ((3, 1), (1, 3)))


@pytest.mark.parametrize("order", ORDERS)
def test_groups(order: float) -> None:
    """Chains of finite laws, and a chain whose length is random, in fractions."""
    skewed, even = (
        only(tr.Finite(p=[float(p) for p, _ in law], q=[float(q) for _, q in law])) for law in (SKEWED, EVEN)
    )
    with mp.workdps(20):
        pair = GroupPrivacyPair(((skewed, 2), (even, 1)))
        truth = from_rows(chain_rows((SKEWED, SKEWED, EVEN)), order)
        holds(between(pair, order), truth, 1e-12)
        if order > 1.0:
            assert cumulant_above(pair, order - 1.0) >= (order - 1.0) * truth * (1 - mpf("1e-13"))
    run = tr.RandomizedResponse(p=0.75, neighbours="add_remove").poisson(rate=0.25).group(size=3)
    weights = [math.comb(3, j) * Fraction(1, 4) ** j * Fraction(3, 4) ** (3 - j) for j in range(4)]
    sizes = sorted(
        {
            size
            for j in (1, 2, 3)
            for size in itertools.accumulate((q for _, q in chain_rows((EVEN,) * j)), initial=Fraction(0))
        }
    )
    powers = [weights[0] * x + sum(weights[j] * chain.chain_power((EVEN,) * j, x) for j in (1, 2, 3)) for x in sizes]
    rows = [
        (y1 - y0, x1 - x0)
        for (x0, x1), (y0, y1) in zip(itertools.pairwise(sizes), itertools.pairwise(powers), strict=True)
    ]
    for direction, law in ((tr.Direction.REMOVE, rows), (tr.Direction.ADD, [(q, p) for p, q in rows])):
        pair = only(run, direction)
        assert isinstance(pair, GroupParticipationPair)
        with mp.workdps(20):
            truth = from_rows(law, order)
            holds(between(pair, order), truth, 1e-12)
            if order > 1.0:
                assert cumulant_above(pair, order - 1.0) >= (order - 1.0) * truth * (1 - mpf("1e-13"))


@pytest.mark.parametrize(("law", "shape"), [("geometric", None), ("poisson", None), ("binomial", 4)])
@pytest.mark.parametrize("order", [0.5, 1.0, 2.0, 8.5])
def test_best_of(order: float, law: str, shape: float | None) -> None:
    """All scores of three outputs: none loses more than the upper end, and some as much as the lower one."""
    p, q = ([float(each[side]) for each in SKEWED] for side in (0, 1))
    run = tr.Finite(p=p, q=q).best_of(law=law, mean=2.5, shape=shape)
    runs = Runs(law, mpf(2.5), None if shape is None else mpf(shape))
    found = run.renyi(order, direction="remove", accuracy=10.0)
    with mp.workdps(20):
        real = []
        for scores in itertools.permutations(range(3)):
            laws = [best([mpf(side[index]) for index in scores], runs) for side in (p, q)]
            real.append(from_rows(list(zip(*laws, strict=True)), order))
        assert mpf(found.lower) <= max(real) * (1 + mpf("1e-13"))
        assert max(real) <= mpf(found.upper)
        if order > 1.0:
            assert cumulant_above(only(run), order - 1.0) >= (order - 1.0) * max(real)
    assert found.certificate is not None
    assert not found.certificate.tight
    assert found.certificate.attained


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0, 8.5, 256.0])
def test_shuffled(order: float) -> None:
    """Four reports by randomized response, counted: every change of one of them."""
    run = tr.RandomizedResponse(p=0.75).shuffle(users=4)
    found = run.renyi(order, accuracy=10.0)
    reports = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    with mp.workdps(20):
        real = []
        for others in itertools.product(range(2), repeat=3):
            p, q = (shuffled.counted([reports[first], *(reports[each] for each in others)]) for first in (0, 1))
            real.append(from_rows([(p[each], q[each]) for each in p], order))
        assert mpf(found.lower) <= max(real) * (1 + mpf("1e-13"))
        assert max(real) <= mpf(found.upper)


def test_infinite_orders_say_why() -> None:
    for run, order, why in (
        (tr.ApproximateDP(epsilon=1.0, delta=0.125), 1.0, "infinite with probability 0.125"),
        (tr.Gaussian(sigma=1.0), math.inf, "no upper end"),
        (tr.RenyiCurve(orders=(2.0,), divergences=(0.5,)), 3.0, "moments of this order are infinite"),
        (tr.RandomizedResponse(p=1.0, neighbours="add_remove"), 0.5, "no outcome"),
    ):
        found = run.renyi(order)
        assert found.lower == found.upper == math.inf
        assert found.certificate is not None
        assert why in found.certificate.reason


def test_mean_loss_and_sequences() -> None:
    run = tr.Laplace(scale=1.0) * 3
    assert run.mean_loss() == run.renyi(1.0)
    assert 3.0 * math.exp(-1.0) in run.mean_loss(direction="add")
    rising = run.renyi([0.0, 0.3, 1.0, 2.0, 1e6, math.inf])
    assert isinstance(rising, tuple)
    assert all(one.lower <= other.upper for one, other in itertools.pairwise(rising))
    assert rising[-1].upper == 3.0


def test_a_part_between_finite_pairs_is_named() -> None:
    found = tr.Laplace(scale=1.0).without_replacement(batch=1, records=8).renyi(2.0, accuracy=0.5)
    assert found.certificate is not None
    assert found.certificate.engine == "joint"
    assert found.certificate.budget.widest == "theorem"
    proven = tr.Laplace(scale=1.0).without_replacement(batch=1, records=8).renyi(2.0, accuracy=0.5, proof=True)
    assert proven.certificate is not None
    assert proven.certificate.arithmetic == "ball"


def test_identities() -> None:
    """One run, one record, a rate of one give the base."""
    base = tr.Gaussian(sigma=2.0)
    for same in (base.group(size=1), base.poisson(rate=1.0), base.best_of(law="geometric", mean=1.0)):
        assert same.renyi(3.0) == base.renyi(3.0) or same.renyi(3.0).lower == base.renyi(3.0).lower


def test_many_uses_and_deep_orders() -> None:
    """A count multiplies; at a high order the sample is the base but for its rate."""
    pair = FixedSizeSubsampledPair(only(tr.Gaussian(sigma=1.0)), 0.125)
    one, many = (divergence([(pair, count)], 2.0, 1e-3) for count in (1, 10**9))
    assert math.isclose(many.upper, 1e9 * one.upper, rel_tol=1e-12)
    deep = divergence([(pair, 1)], 256.0, 1e-6)
    assert deep.relative < 1e-9
    assert deep.lower <= 128.0 + 256.0 / 255.0 * math.log(0.125) + 1e-9 <= deep.upper + 1e-6


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_moments_of_groups_from_above(direction: str) -> None:
    """What weighs aliases: the float64 bound of K of a group in a sample, beside a sum of its own."""
    for sigma, rate, size, c in ((0.7, 0.2, 3, 1.0), (1.0, 1e-4, 2, 10.0), (3.0, 0.9, 8, 2.5), (20.0, 0.2, 8, 40.0)):
        known = only(tr.Gaussian(sigma=sigma).poisson(rate=rate).group(size=size), tr.Direction(direction)).cgf()
        assert known is not None
        mu, power = 1 / sigma, c + 1 if direction == "remove" else -c
        weights = [math.comb(size, j) * rate**j * (1 - rate) ** (size - j) for j in range(size + 1)]
        far = size * mu * (c + 1)
        low, high = (-10.0, 10.0 + far) if direction == "remove" else (-10.0 - far, 10.0)
        step = min(0.1, 0.4 / (size * mu))
        logs = []
        for index in range(int((high - low) / step) + 1):
            x = low + index * step
            ratio = math.fsum(w * math.exp(j * mu * x - (j * mu) ** 2 / 2) for j, w in enumerate(weights))
            logs.append(power * math.log(ratio) - x * x / 2)
        top = max(logs)
        truth = top + math.log(math.fsum(math.exp(log - top) for log in logs) * step / math.sqrt(2 * math.pi))
        assert truth - 1e-11 * (1 + abs(truth)) <= known.log_mgf_above(c) <= truth + 1e-6


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0, 100.0])
def test_a_sample_of_infinite_losses_has_none_when_a_record_is_added(order: float) -> None:
    """What its base is known for leaves these losses out, and says nothing above the sample."""
    leaky = tr.ApproximateDP(epsilon=1.0, delta=0.125)
    truth = leaky.poisson(rate=0.25).renyi(order, direction="add")
    pair = PoissonAdd(only(leaky, tr.Direction.ADD), 0.25)
    parts = from_parts(pair, order, lambda part: _without_masses(part, order))
    assert parts.lower <= truth.lower
    assert truth.upper <= parts.upper
    holds(between(pair, order), mpf(truth.lower), 1e-3)


def test_a_rho_says_little_below_order_one() -> None:
    """Of adding to a sample the loss ends soon, that of removing does not: small orders tell of the second."""
    rho, rate, order = 12.0, 0.5, 0.1
    with mp.workdps(30):
        mu, o = mp.sqrt(2 * rho), mpf(order)

        def term(x: mpf) -> mpf:
            return mp.npdf(x) ** o * ((1 - rate) * mp.npdf(x) + rate * mp.npdf(x, mu, 1)) ** (1 - o)

        exact = mp.log(mp.quad(term, [-12, -4, 0, 2, 4, 6, 9, 14, 20])) / (o - 1)
    assert tr.ZCDP(rho=rho).poisson(rate=rate).renyi(order, direction="add").upper >= exact
