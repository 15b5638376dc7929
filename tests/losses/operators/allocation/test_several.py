"""k of t steps of Gaussian noise beside its truth: quadrature, draws, counted sets, and what was measured before."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from flint import arb
from scipy.stats import norm

import tightrope as tr
from tests.oracle.several import by_draws, by_quadrature
from tests.search import FULL, cases
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.losses.operators.allocation import statistic
from tightrope.core.losses.operators.allocation.several_steps import (
    COARSE_GRADE,
    Chooser,
    SingleAim,
    sets_known,
    several_pair,
)
from tightrope.core.losses.operators.allocation.statistic import (
    Conditional,
    Labels,
    SeveralSteps,
    SumWindow,
    Values,
    values_of,
)
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.convolution import WeightedTerm, uncertain_spectrum, weighted_sum
from tightrope.core.numerics.counting import coverings, coverings_most
from tightrope.core.numerics.enclosures import around, exact
from tightrope.core.numerics.normal import cell_masses
from tightrope.core.values.question import Direction

WAYS = ("remove", "add")
FINE = Resolution(1000, 1e-12, False, 1e-3)
# sigma, steps, uses, delta, and the interval that was measured by another program.
MEASURED = [
    (0.55, 391, 2, 1e-3, 2.0735, 2.0772),
    (0.55, 391, 3, 1e-3, 2.8696, 2.8776),
    (0.55, 391, 5, 1e-3, 4.4021, 4.4145),
    (0.55, 391, 8, 1e-3, 6.7551, 6.7814),
    (0.55, 391, 3, 1e-6, 5.9883, 6.0286),
    (0.8, 100, 5, 1e-5, 4.5796, 4.5937),
    (1.0, 100, 2, 1e-5, 1.2041, 1.2063),
    (1.0, 100, 3, 1e-5, 1.7600, 1.7644),
    (1.0, 1000, 8, 1e-6, 1.5394, 1.5444),
]


def run(sigma: float, steps: int, uses: int) -> tr.Mechanism:
    return tr.Gaussian(sigma=sigma).random_allocation(steps=steps, uses=uses)


@pytest.mark.parametrize("row", MEASURED if FULL else MEASURED[2:3])
def test_inside_of_what_was_measured(row: tuple[float, int, int, float, float, float]) -> None:
    sigma, steps, uses, delta, least, most = row
    bound = run(sigma, steps, uses).epsilon(delta)
    assert least <= bound.lower <= bound.upper <= most
    assert bound.certificate.tight
    assert bound.certificate.attained


@pytest.mark.parametrize(
    ("sigma", "steps", "uses", "epsilon"),
    [(1.0, 3, 2, 0.5), (2.0, 3, 2, -0.2), (1.0, 4, 3, 1.0), (1.0, 3, 2, 0.0), (0.8, 4, 2, 1.0)][: cases(2, 5)],
)
def test_few_steps_beside_quadrature(sigma: float, steps: int, uses: int, epsilon: float) -> None:
    points = 401 if steps == 3 else 151
    for way, exact_delta in zip(WAYS, by_quadrature(sigma, steps, uses, epsilon, points), strict=True):
        bound = run(sigma, steps, uses).delta(epsilon, direction=way)
        assert bound.lower - 1e-6 <= exact_delta <= bound.upper + 1e-6
        assert bound.upper <= 1.05 * bound.lower


@pytest.mark.parametrize(("sigma", "steps", "uses", "count"), [(1.0, 100, 3, 1), (0.55, 391, 5, 1), (1.0, 100, 2, 2)])
def test_every_run_is_proven_in_balls(sigma: float, steps: int, uses: int, count: int) -> None:
    """Between its first step alone and as many uses of the base as there are."""
    proven = (run(sigma, steps, uses) * count).epsilon(1e-4, proof=True)
    base = tr.Gaussian(sigma=sigma)
    assert proven.certificate.arithmetic == "ball"
    assert proven.upper == pytest.approx((base * (uses * count)).epsilon(1e-4).upper, rel=1e-4)
    sampled = base.poisson(rate=uses / steps) * count
    assert proven.lower >= sampled.epsilon(1e-4).lower * (1 - 1e-3)
    plain = (run(sigma, steps, uses) * count).epsilon(1e-4)
    assert proven.lower <= plain.lower <= plain.upper <= proven.upper


@pytest.mark.parametrize(("way", "epsilon"), [("remove", 2.0), ("add", 0.5)])
def test_many_steps_beside_draws(way: str, epsilon: float) -> None:
    drawn = by_draws(0.55, 391, 5, epsilon, way, 200_000 if FULL else 20_000)
    bound = run(0.55, 391, 5).delta(epsilon, direction=way)
    assert bound.lower <= drawn.mean + 6.0 * drawn.error
    assert drawn.mean - 6.0 * drawn.error <= bound.upper


def table(steps: int, uses: int, direction: Direction = Direction.REMOVE, delta: float = 1e-3) -> Conditional:
    """The machinery alone, at sigma 1, for any number of uses."""
    chooser = Chooser(1.0, steps, uses, direction)
    shape = chooser.shape(SingleAim(delta, None))
    return Conditional(
        values_of(
            SeveralSteps(arb(1), steps, uses), *chooser.placed(shape, COARSE_GRADE.cells, 1e-12), (0, 1, 2, 3, 4)
        ),
        1e-12,
    )


@pytest.mark.parametrize("direction", Direction)
def test_one_use_holds_what_is_known_of_it(direction: Direction) -> None:
    found = table(3, 1, direction)
    a, truth = math.exp(0.5), dict(zip(WAYS, by_quadrature(1.0, 3, 1, 0.5, 401), strict=True))[direction.value]
    assert max(p - a * q for p, q in found.events(direction)) <= truth + 1e-6
    assert truth - 1e-6 <= found.hockey_stick(a, direction) <= 1.1 * truth


def test_all_steps_are_the_composition() -> None:
    for way in WAYS:
        assert run(1.0, 7, 7).delta(1.0, direction=way) == (tr.Gaussian(sigma=1.0) * 7).delta(1.0, direction=way)


def test_it_grows_with_the_uses_and_falls_with_the_noise() -> None:
    by_uses = [run(1.0, 30, uses).delta(1.0, direction="remove") for uses in ((1, 2, 4, 7) if FULL else (3, 7))]
    by_noise = [run(sigma, 30, 3).delta(1.0, direction="remove") for sigma in ((2.0, 1.0, 0.7) if FULL else (2.0,))]
    for chain in (by_uses, by_noise if FULL else by_noise + by_uses[:1]):
        for less, more in itertools.pairwise(chain):
            assert less.upper < more.lower


def test_two_epochs_are_between_two_pairs_of_two_laws() -> None:
    """Of two steps, one of which has a hole: products of events below, blocks above. Removing shows more."""
    bound = (run(0.55, 391, 5) * 2).epsilon(1e-3, direction=None if FULL else "remove")
    one_use_upper, blocks = 4.4145, 6.588
    assert one_use_upper < bound.lower <= bound.upper < blocks
    assert bound.upper <= 1.005 * bound.lower
    assert bound.certificate.tight
    # H of two uses at e^(2 e) is at least what both events together show.
    p, q = max(table(40, 5).events(Direction.REMOVE), key=lambda each: each[0] - math.e * each[1])
    shown = (run(1.0, 40, 5) * 2).delta(2.0, direction="remove")
    assert 0.0 < p * p - math.e**2 * q * q <= shown.upper


def test_extremes_are_answered_by_what_is_proven() -> None:
    for mechanism, delta in (
        (run(1.0, 12, 11), 1e-5),
        (run(1.0, 40, 3), 1e-300),
        *([(run(0.05, 50, 3), 1e-3), (run(1e4, 50, 3), 1e-3), (run(1.0, 40, 3), 0.5)] if FULL else []),
        *([(run(1.0, 1 << 20, 3), 1e-3)] if FULL else []),
    ):
        bound = mechanism.epsilon(delta, seconds=5.0 if FULL else 0.5)
        whole = tr.Gaussian(sigma=1.0) * 11 if "sigma=1.0" in repr(mechanism) else None
        assert 0.0 <= bound.lower <= bound.upper
        assert whole is None or bound.lower <= whole.epsilon(delta).upper
    assert run(20.0, 100, 3).delta(0.0, direction="add").lower > 0.0
    short = run(0.55, 391, 5).epsilon(1e-3, seconds=0.05)
    assert short.lower <= 4.4109
    assert short.upper >= 4.4052


def test_which_bases_have_a_pair_of_their_own() -> None:
    grouped = tr.Gaussian(sigma=2.0).group(size=2).random_allocation(steps=10, uses=2)
    assert grouped.tight
    other = tr.Laplace(scale=1.0).random_allocation(steps=10, uses=2)
    assert not other.tight
    assert not run(1e4, 50, 3).tight
    pair = tr.Gaussian(sigma=1.0).pair(Direction.REMOVE)
    assert sets_known(pair, 10, 2)
    assert not sets_known(pair, 10, 10)
    made = several_pair(pair, 10, 2, Direction.ADD)
    assert made.reversed() == several_pair(pair, 10, 2, Direction.REMOVE)
    lower, _ = made.bracket(FINE)
    assert lower.infinite_mass().is_zero()


@pytest.mark.parametrize(("steps", "size", "sets"), [(4, 2, 2), (4, 2, 3), (5, 3, 2), (3, 1, 4)])
def test_coverings_are_counted(steps: int, size: int, sets: int) -> None:
    seen: Counter[tuple[int, ...]] = Counter()
    for chosen in itertools.product(itertools.combinations(range(steps), size), repeat=sets):
        times = Counter(Counter(itertools.chain(*chosen)).values())
        covered = [times[r] for r in range(1, sets + 1)]
        seen[(steps - sum(covered), *covered)] += 1
    assert dict(seen) == coverings(steps, size, sets)
    assert len(seen) <= coverings_most(size, sets)


def test_masses_of_cells() -> None:
    points = np.array([-np.inf, -9.0, -3.0, -2.999, -0.1, 0.1, 0.1001, 4.0, 7.0, 7.0001, 30.0])
    for shift in (0.0, 1.5):
        made = cell_masses(points, around(shift, 1e-16))
        low, high = points[:-1], points[1:]
        with working_precision(200):
            for index, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
                ends = [arb(0) if z == -math.inf else (-((arb(z) - shift) / arb(2).sqrt())).erfc() / 2 for z in (a, b)]
                truth = float((ends[1] - ends[0]).mid())
                assert made.lower[index] <= truth * (1 + 1e-15) + 1e-300
                assert truth * (1 - 1e-15) <= made.upper[index]
        assert np.all(made.radius[1:9] <= 1e-12 * made.value[1:9] + 1e-300)
    assert norm.cdf(0.1) - norm.cdf(-0.1) == pytest.approx(cell_masses(points, exact(0.0)).value[4], rel=1e-12)


def test_weighted_sums_are_within_their_radius() -> None:
    rng = np.random.default_rng(3)
    laws = [rng.random(6) for _ in range(3)]
    terms = [WeightedTerm(0.5, (3, 1, 0)), WeightedTerm(0.25, (2, 1, 1)), WeightedTerm(1.0, (2, 2, 0))]
    spread = 1e-9
    factors = [uncertain_spectrum(around(law, np.full_like(law, spread)), 64) for law in laws]
    made = weighted_sum(factors, terms)
    for sign in (-1.0, 0.0, 1.0):
        truth = np.zeros(64)
        for weight, exponents in terms:
            row = np.ones(1)
            for law, count in zip(laws, exponents, strict=True):
                for _ in range(count):
                    row = np.convolve(row, law + sign * spread)
            truth[: len(row)] += weight * row
        assert np.all(abs(made.masses - truth) <= made.radius + 1e-12)
        assert np.sum(truth) <= made.total
    assert made.radius >= 1e-8  # what the radii of the cells alone can do


def listed(steps: int, uses: int, points: list[float], labels: Labels, window: SumWindow) -> Values:
    return values_of(SeveralSteps(arb(1), steps, uses), labels, window, (0, 1, 2, 3, 4))


def test_moments_of_each_value_beside_enumerated_cells() -> None:
    """Three steps, two uses, few labels: every moment is a sum over cells of products of moments of Y there."""
    points, first, steps, uses = [-np.inf, -1.0, 0.5, 1.25, 6.0], 0, 3, 2
    labels = Labels(np.array(points), first, 0.5, 0.7)
    window = SumWindow(-2, 64, (0.0, 0.5), 0.3, 0.3)
    values = listed(steps, uses, points, labels, window)
    cells = range(len(points) - 1)
    of_power = [
        [
            math.exp(r * (r - 1) / 2) * (norm.cdf(points[i + 1] - r) - norm.cdf(points[i] - r if i else -np.inf))
            for i in cells
        ]
        for r in range(5)
    ]
    sets = list(itertools.combinations(range(steps), uses))
    for order in range(5):
        truth = np.zeros(64)
        for places in itertools.product(cells, repeat=steps):
            for chosen in itertools.product(sets, repeat=order):
                times = Counter(itertools.chain(*chosen))
                truth[sum(places) + 2] += math.prod(of_power[times[s]][places[s]] for s in range(steps))
        truth /= len(sets) ** order
        moment = values.moments[order]
        assert np.all(moment.lower <= truth * (1 + 1e-11) + 1e-18)
        assert np.all(truth * (1 - 1e-11) - 1e-18 <= moment.upper)
        assert np.all(moment.radius[2:12] <= 1e-9)
    # The most that L can be, at the upper ends of the cells.
    ratios = np.exp(np.array(points[1:]) - 0.5)
    for places in itertools.product(cells, repeat=steps):
        largest = sum(math.prod(ratios[places[s]] for s in chosen) for chosen in sets) / len(sets)
        factors = sum(math.log1p(labels.x * ratios[place]) for place in places)
        most = factors - uses * math.log(labels.x) - math.log(len(sets))
        assert math.log(largest) <= most <= values.log_most[sum(places) + 2] + 1e-12
    # What lies beyond the last point counts, in the run and out of it.
    assert values.p_outside >= 2 * norm.sf(5.0)
    assert values.q_outside >= norm.sf(6.0)


def test_what_wraps_around_or_lies_outside_counts() -> None:
    labels = Labels(np.array([-np.inf, -1.0, 0.5, 1.25, 6.0]), 0, 0.5, 0.7)
    narrow = values_of(SeveralSteps(arb(1), 6, 2), labels, SumWindow(4, 8, (0.0, 0.5), 0.3, 0.3), (0, 1, 2))
    wide = values_of(SeveralSteps(arb(1), 6, 2), labels, SumWindow(0, 64, (0.0, 0.5), 0.3, 0.3), (0, 1, 2))
    for order in (0, 1, 2):
        truth = wide.moments[order]
        assert np.all(narrow.moments[order].lower <= truth.upper[4:12])
        assert np.all(truth.lower[4:12] <= narrow.moments[order].upper)
    for order, outside in ((0, narrow.q_outside), (1, narrow.p_outside)):
        truth = wide.moments[order]
        assert outside >= truth.lower[:4].sum() + truth.lower[12:].sum()


def test_what_wraps_around_is_never_cut_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that is more than a double holds says nothing; a smaller number in its place would be no bound."""
    monkeypatch.setattr(statistic._Moment, "_log_outside", lambda self, tilt: 2000.0)
    labels = Labels(np.array([-np.inf, -1.0, 0.5, 1.25, 6.0]), 0, 0.5, 0.7)
    values = values_of(SeveralSteps(arb(1), 6, 2), labels, SumWindow(4, 8, (0.0, 0.5), 0.3, 0.3), (0, 1, 2))
    for moment in values.moments.values():
        assert np.all(np.isinf(moment.radius))
    assert min(values.p_outside, values.q_outside) >= 1.0


def test_inequalities_hold_for_laws_of_one_value() -> None:
    """All moments of laws of two atoms: whatever the mean and the point, the bound is above."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        atoms, share = np.exp(rng.normal(0.0, 1.0, 2)), rng.random()
        weight = np.array([share, 1.0 - share])
        moments = {m: around(np.array([weight @ atoms**m]), np.zeros(1)) for m in range(5)}
        found = Conditional(Values(moments, np.array([math.log(atoms.max()) + 1e-9]), 0.0, 0.0), 0.0)
        for a in np.exp(rng.normal(0.0, 1.0, 4)).tolist():
            removed, added = weight @ np.maximum(atoms - a, 0.0), weight @ np.maximum(1.0 - a * atoms, 0.0)
            mean = float(weight @ atoms)  # not 1: the other way to say it adds 1 - a times what a mean of 1 would
            if a >= 1.0:
                assert found.hockey_stick(a, Direction.REMOVE) >= min(removed, 1.0) * (1 - 1e-12)
                assert found.hockey_stick(a, Direction.ADD) >= min(added, 1.0) * (1 - 1e-12)
            else:
                assert found.hockey_stick(a, Direction.REMOVE) >= min(removed + 1.0 - mean, 1.0) - 1e-12
