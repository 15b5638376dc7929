"""Statements on sampling, groups, shuffling and selection, held against tiny data sets with all their neighbours.

Nothing here uses the package: what it relies on is true, and the numbers that its documents quote are right.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from math import comb

import numpy as np
import pytest
from mpmath import mp, mpf

from tests.oracle import amplified, two_points
from tests.oracle import enumerate_data as data
from tests.oracle.adaptive import (
    ERROR,
    Array,
    Neighbours,
    adaptive,
    alphas,
    both,
    counted,
    fold,
    largest,
    neighbours,
    product,
)
from tests.oracle.selection import Runs, best

F = Fraction
ALPHAS = alphas(61)
NOISES = {
    "Gaussian 0.6": data.discrete_gaussian(F(3, 5)),
    "Gaussian 1.5": data.discrete_gaussian(F(3, 2)),
    "geometric 1/3": data.geometric(F(1, 3)),
}
noises = pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)


def at(alpha: float, *pairs: Neighbours) -> float:
    return float(adaptive([list(pairs)], [alpha])[0])


def shifted(noise: data.Noise, first: dict[int, Fraction], second: dict[int, Fraction] | None = None) -> Neighbours:
    return data.mixture(noise, first, {0: F(1)} if second is None else second)


def binomial(trials: int, rate: Fraction) -> dict[int, Fraction]:
    return {k: comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)}


def sampled(noise: data.Noise, rate: Fraction, shift: int = 1) -> Neighbours:
    return shifted(noise, {0: 1 - rate, shift: rate})


def glued(base: Neighbours, rate: Fraction) -> Callable[[Array], Array]:
    g = data.number(rate)

    def above(alpha: Array) -> Array:
        return g * base.hockey_stick(1 + (alpha - 1) / g)

    return lambda alpha: np.where(
        alpha >= 1, above(np.maximum(alpha, 1)), 1 - alpha + alpha * above(1 / np.minimum(alpha, 1))
    )


def equal(one: Array, other: Array) -> bool:
    return bool(np.max(np.abs(one - other)) <= ERROR)


def test_the_recursion_is_the_fold_where_there_is_no_choice() -> None:
    pair = sampled(NOISES["Gaussian 1.5"], F(1, 3))
    assert equal(adaptive([[pair]] * 3, ALPHAS), fold(pair, 3).hockey_stick(ALPHAS))
    assert equal(adaptive([[pair], [pair.swapped]], ALPHAS), product(pair, pair.swapped).hockey_stick(ALPHAS))
    assert equal(pair.swapped.hockey_stick(ALPHAS), 1 - ALPHAS + ALPHAS * pair.hockey_stick(1 / ALPHAS))
    assert equal(pair.hockey_stick(ALPHAS), np.array([np.maximum(pair.p - a * pair.q, 0).sum() for a in ALPHAS]))


def leaky(epsilon: str, delta: str) -> tuple[list[mpf], list[mpf]]:
    with mp.workdps(30):
        odds, leak = mp.exp(mpf(epsilon)), mpf(delta)
        told, lie = (1 - leak) * odds / (1 + odds), (1 - leak) / (1 + odds)
        return [leak, told, lie, mpf(0)], [mpf(0), lie, told, leak]


def test_few_outputs_are_counted() -> None:
    """Leaky randomized response (1, .05), sampled at .3, 50 uses at epsilon 1: .731; glued at 1/4, 10 uses: .2060."""
    p, q = leaky("1", "0.05")
    with mp.workdps(30):
        share = mpf("0.3")
        sample = neighbours(
            *(
                [data.number(x) for x in law]
                for law in ([share * a + (1 - share) * b for a, b in zip(p, q, strict=True)], q)
            )
        )
        told = mp.e / (1 + mp.e)
        low = (1 - told) + (2 * told - 1) / 4
        glue = neighbours(
            *([data.number(x) for x in law] for law in ((low, 1 - told, told - low), (1 - told, low, told - low)))
        )
    assert equal(counted(sample, 3).hockey_stick(ALPHAS), fold(sample, 3).hockey_stick(ALPHAS))
    assert at(math.e, counted(sample, 50)) == pytest.approx(0.7308106626419, rel=1e-11)
    assert at(math.exp(0.2), glue) == pytest.approx(0.05598491684016907865, rel=1e-13)
    assert at(math.exp(0.5), counted(glue, 10)) == pytest.approx(0.20603021711092949027, rel=1e-13)


def test_what_another_dominates_changes_nothing() -> None:
    law = data.noisy_sum(data.with_replacement(2), NOISES["Gaussian 0.6"])
    every = [data.pairs(law, iter([each]))[0] for each in data.replacing(2)]
    kept = largest(every)
    assert len(kept) < len(every)
    assert equal(adaptive([every] * 2, ALPHAS), adaptive([kept] * 2, ALPHAS))


@noises
@pytest.mark.parametrize(("records", "batch"), [(2, 1), (3, 2), (4, 1)])
def test_batches_without_replacement(noise: data.Noise, records: int, batch: int) -> None:
    """Glued under replace; under add and remove the Poisson pair of the base under replace, also adaptively."""
    scheme, rate = data.without_replacement(batch), F(batch, records)
    base = shifted(noise, {2: F(1)})
    found = data.of_sums(scheme, noise, data.replacing(records))
    assert equal(adaptive([found], ALPHAS), glued(base, rate)(ALPHAS))
    removed = data.of_sums(scheme, noise, data.lacking(records)) if batch < records else []
    pair = sampled(noise, rate, 2)
    for count in (1, 2):
        assert equal(adaptive([removed] * count, ALPHAS), adaptive([[pair]] * count, ALPHAS))
        added = [each.swapped for each in removed]
        assert equal(adaptive([added] * count, ALPHAS), adaptive([[pair.swapped]] * count, ALPHAS))


def test_two_batches_of_two_kinds() -> None:
    """One direction twice is too small, glued twice is above what can be attained: .1467 < .1535 < .1604."""
    noise, alpha = data.discrete_gaussian(F(1)), math.exp(0.5)
    one = sampled(noise, F(1, 2))
    found = data.of_sums(data.without_replacement(1), noise, data.replacing(2, (0, 1)))
    assert at(alpha, fold(one, 2)) == pytest.approx(0.146657, abs=5e-7)
    assert float(adaptive([found] * 2, [alpha])[0]) == pytest.approx(0.153529, abs=5e-7)
    base = shifted(noise, {1: F(1)})
    losing = base.p > base.q
    q, p = base.q[losing], (base.p[losing] + base.q[losing]) / 2
    rest = [1 - p.sum() - q.sum()]
    pair = Neighbours(np.concatenate([p, q, rest]), np.concatenate([q, p, rest]))
    assert at(alpha, fold(pair, 2)) == pytest.approx(0.160401, abs=5e-7)


@noises
@pytest.mark.parametrize(("records", "batch"), [(2, 2), (2, 3), (3, 2)])
def test_draws_with_replacement(noise: data.Noise, records: int, batch: int) -> None:
    """The sum over multiplicities is valid; the mixture of shifts is below the truth."""
    found = adaptive([data.of_sums(data.with_replacement(batch), noise, data.replacing(records))], ALPHAS)
    eta = data.number(1 - (1 - F(1, records)) ** batch)
    weights = binomial(batch, F(1, records))
    mixed = shifted(noise, {2 * k: weight for k, weight in weights.items()})
    bound = sum(
        data.number(weights[k]) * shifted(noise, {2 * k: F(1)}).hockey_stick(1 + (ALPHAS - 1) / eta)
        for k in range(1, batch + 1)
    )
    above = ALPHAS >= 1
    assert np.all(found[above] <= bound[above] + ERROR)
    assert np.all(found >= mixed.hockey_stick(ALPHAS) - ERROR)


def test_the_mixture_of_draws_does_not_dominate() -> None:
    noise, alpha = NOISES["Gaussian 1.5"], math.exp(0.3)
    law = data.noisy_sum(data.with_replacement(3), noise)
    assert at(alpha, *data.pairs(law, iter([((-1, 0), (0, 1))]))) == pytest.approx(0.5559, abs=5e-5)
    mixed = shifted(noise, {2 * k: weight for k, weight in binomial(3, F(1, 2)).items()})
    assert at(alpha, mixed, mixed.swapped) == pytest.approx(0.5318, abs=5e-5)


@noises
@pytest.mark.parametrize("rate", [F(1, 5), F(3, 4)])
def test_poisson_samples(noise: data.Noise, rate: Fraction) -> None:
    """Tight for both relations, several uses too; groups are mixtures of shifts."""
    scheme = data.poisson(rate)
    replaced = shifted(noise, {0: 1 - rate, 1: rate}, {0: 1 - rate, -1: rate})
    assert equal(
        adaptive([data.of_sums(scheme, noise, data.replacing(3))] * 2, ALPHAS), fold(replaced, 2).hockey_stick(ALPHAS)
    )
    for group in (1, 2, 3):
        found = data.of_sums(scheme, noise, data.lacking(3, group))
        pair = shifted(noise, binomial(group, rate))
        assert equal(adaptive([found] * 2, ALPHAS), fold(pair, 2).hockey_stick(ALPHAS))
        back = [each.swapped for each in found]
        assert equal(adaptive([back] * 2, ALPHAS), fold(pair.swapped, 2).hockey_stick(ALPHAS))


@noises
@pytest.mark.parametrize(("records", "batch", "group"), [(4, 2, 2), (5, 3, 2), (5, 2, 3)])
def test_groups_of_batches(noise: data.Noise, records: int, batch: int, group: int) -> None:
    """Hypergeometric mixtures of shifts by 2, where the others fill a batch."""
    found = data.of_sums(data.without_replacement(batch), noise, data.lacking(records, group))
    weights = {
        2 * j: F(comb(group, j) * comb(records - group, batch - j), comb(records, batch))
        for j in range(min(group, batch) + 1)
    }
    pair = shifted(noise, {shift: weight for shift, weight in weights.items() if weight})
    assert equal(adaptive([found], ALPHAS), pair.hockey_stick(ALPHAS))
    assert equal(adaptive([[each.swapped for each in found]], ALPHAS), pair.swapped.hockey_stick(ALPHAS))


def test_groups_of_both_kinds_are_worse() -> None:
    """One added and one removed: .3972, two removed or added: .3743."""
    law = data.noisy_sum(data.poisson(F(3, 5)), NOISES["Gaussian 0.6"])
    alpha = np.exp(np.longdouble("0.9"))
    assert at(alpha, *data.pairs(law, iter([((1,), (-1,))]))) == pytest.approx(0.39721435853081303912, rel=1e-14)
    pure = both(data.pairs(law, data.lacking(4, 2)))
    assert at(alpha, *pure) == pytest.approx(0.37426403802069176272, rel=1e-14)


@noises
@pytest.mark.parametrize(("records", "cap"), [(2, 1), (3, 1), (4, 2)])
@pytest.mark.parametrize("rate", [F(1, 4), F(3, 5)])
def test_truncated_samples(noise: data.Noise, records: int, cap: int, rate: Fraction) -> None:
    """A public index: with W the sample of the others is full, and the record takes the place of one of them."""
    full = sum(weight for k, weight in binomial(records - 1, rate).items() if k >= cap)
    over = sum(weight for k, weight in binomial(records, rate).items() if k > cap)
    parts = ((1 - full, sampled(noise, rate)), (full, sampled(noise, F(cap, records) * over / full, 2)))
    found = data.of_sums(data.truncated_poisson(rate, cap), noise, data.lacking(records))
    for back in (False, True):
        bound = sum(data.number(w) * (pair.swapped if back else pair).hockey_stick(ALPHAS) for w, pair in parts)
        truth = adaptive([[each.swapped for each in found] if back else found], ALPHAS)
        assert np.all(truth <= bound + ERROR)


def randomizers(odds: mpf, count: int) -> Iterator[list[list[mpf]]]:
    """Extremal ones on three inputs: all entries of a column are s or s odds, the rows sum to 1."""
    source = random.Random(7)
    columns = [each for each in itertools.product((0, 1), repeat=3) if 0 < sum(each) < 3]
    while count:
        chosen = source.sample(columns, 3)
        matrix = mp.matrix([[odds if bits[x] else mpf(1) for bits in chosen] for x in range(3)])
        if abs(mp.det(matrix)) > 1e-9:
            scale = mp.lu_solve(matrix, mp.matrix([1, 1, 1]))
            if min(scale) > 0:
                count -= 1
                yield [[matrix[x, y] * scale[y] for y in range(3)] for x in range(3)]


@pytest.mark.parametrize("epsilon", [F(1, 2), F(1), F(3)])
@pytest.mark.parametrize("users", [2, 3])
def test_clones_cover_every_randomizer(epsilon: Fraction, users: int) -> None:
    with mp.workdps(30):
        odds = mp.exp(amplified.real(epsilon))
        bound = amplified.clones(epsilon, users, 2 / (odds + 1))
        grid = np.exp(np.linspace(0, 1, 9, dtype=np.longdouble) * float(epsilon))
        most = np.array([float(bound(mpf(repr(float(a))))) for a in grid])
        kinds = [data.told_apart(2, epsilon), data.told_apart(3, epsilon), *randomizers(odds, 6)]
        for kind in kinds:
            found = data.pairs(data.reports(kind), data.replacing(users, range(len(kind))))
            assert np.all(adaptive([found], grid) <= most + 1e-14)


def test_users_with_randomizers_of_their_own_are_not_covered() -> None:
    """Disjoint alphabets tell everyone apart: .4621 where the clones of two users say .3378."""
    with mp.workdps(30):
        assert float(mp.tanh(mpf(1) / 2)) == pytest.approx(0.4621, abs=5e-5)
        assert float(amplified.clones(1, 2, 2 / (mp.e + 1))(mpf(1))) == pytest.approx(0.3378, abs=5e-5)


RUNS = (
    Runs("geometric", mpf(2)),
    Runs("negative_binomial", mpf(3), F(1, 2)),
    Runs("negative_binomial", mpf(3), mpf(2)),
    Runs("logarithmic", mpf(2)),
    Runs("poisson", mpf("0.5")),
    Runs("poisson", mpf(3)),
    Runs("binomial", mpf(2), 4),
)


@pytest.mark.parametrize("runs", RUNS, ids=str)
def test_the_best_of_many(runs: Runs) -> None:
    """H_A(a) <= phi(0)(1 - a)_+ + E[K] H(a e^-c), c = sup log phi'(g(x)) / phi'(x) over the trade-off."""
    source = random.Random(3)
    with mp.workdps(30):
        phi = runs.generating()
        for _ in range(3):
            laws = [[mpf(source.randint(1, 9)) for _ in range(3)] for _ in range(2)]
            p, q = ([each / mp.fsum(law) for each in law] for law in laws)
            base = neighbours(map(data.number, p), map(data.number, q))
            _, ps, qs = base.corners
            xs = np.linspace(0, 1, 120)[:-1]
            slope = [float(mp.diff(phi, mpf(x))) for x in xs]
            power = np.interp(xs, qs.astype(float), ps.astype(float))
            c = max(
                math.log(float(mp.diff(phi, mpf(min(g, 1 - 1e-12)))) / s) for g, s in zip(power, slope, strict=True)
            )
            bound = float(phi(0)) * np.maximum(1 - ALPHAS, 0) + float(runs.mean) * base.hockey_stick(
                ALPHAS * math.exp(-c - 0.05)
            )
            for order in itertools.permutations(range(3)):
                pair = neighbours(*(map(data.number, best([law[i] for i in order], runs)) for law in (p, q)))
                assert np.all(pair.hockey_stick(ALPHAS) <= bound + 1e-12)


def test_the_laws_of_the_number_of_runs() -> None:
    with mp.workdps(30):
        for runs in RUNS:
            phi = runs.generating()
            assert mp.almosteq(phi(mpf(1)), 1, 1e-25)
            assert mp.almosteq(mp.diff(phi, 1), runs.mean, 1e-12)
            assert runs.law in ("poisson", "binomial") or abs(phi(mpf(0))) < 1e-25


def test_the_largest_loss_of_a_selection() -> None:
    """Randomized response, K geometric with mean 2, the truth scores higher or lower: 1.31055."""
    with mp.workdps(30):
        told = mp.e / (1 + mp.e)
        losses = []
        for p in ((told, 1 - told), (1 - told, told)):
            first, second = (best(law, RUNS[0])[1:] for law in (p, p[::-1]))
            losses += [abs(mp.log(a / b)) for a, b in zip(first, second, strict=True)]
        assert float(max(losses)) == pytest.approx(1.3105500901261999926, rel=1e-14)


def truncated(rate: str, cap: int, records: int) -> amplified.Profile:
    full, mean = amplified.truncation(rate, cap, records)
    one, two = (amplified.mixture(1, {0: 1 - share, shift: share}) for share, shift in ((mpf(rate), 1), (mean, 2)))
    return lambda alpha: (1 - full) * one(alpha) + (full * two(alpha) if full else 0)


@pytest.mark.parametrize(("records", "value"), [(10, "0.0289"), (20, "0.0955"), (30, "0.1151"), (200, "0.0061")])
def test_truncated_samples_of_more_records_may_tell_more(records: int, value: str) -> None:
    with mp.workdps(40):
        assert abs(truncated("0.5", 10, records)(mp.e) - mpf(value)) <= mpf(10) ** -4 / 2


def test_a_group_by_tradeoffs_alone_is_far_off() -> None:
    """Groups of three, discrete Gaussian 1, rate .2, epsilon 1: .0609, and .0800 from one record's trade-off."""
    noise, rate = data.discrete_gaussian(F(1)), F(1, 5)
    assert at(math.e, shifted(noise, binomial(3, rate))) == pytest.approx(0.0609, abs=5e-5)
    _, p, q = sampled(noise, rate).corners
    power = partial(np.interp, xp=q.astype(float), fp=p.astype(float))
    size = np.linspace(0, 1, 20001)
    assert np.max(power(power(power(size))) - math.e * size) == pytest.approx(0.0800, abs=5e-5)


@pytest.mark.parametrize(
    ("epsilon", "allowed", "most", "value"),
    [
        (0.5, lambda p, q: two_points.renyi(p, q, 2.0), 0.1, 0.038272169679499049826),
        (1.0, two_points.concentrated, 0.5, 0.21491114459689771692),
        (0.0, two_points.concentrated, 0.5, 0.4790984231166210564),
        (0.0, two_points.one_way, 0.5, 0.48557),
    ],
    ids=["order 2", "zCDP", "zCDP at 0", "zCDP one way at 0"],
)
def test_worst_mechanisms_of_renyi_curves(
    epsilon: float, allowed: two_points.Divergence, most: float, value: float
) -> None:
    assert two_points.largest(math.exp(epsilon), allowed, most) == pytest.approx(value, rel=1e-5)
