"""Shuffled batches against all orders of tiny data sets, and what the transformation says and refuses."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import pytest
from mpmath import mp, mpf, ncdf

import tightrope as tr
from tests.oracle.shuffled_batches import OFF, profile, squares, squares_in_batches, sums
from tightrope.core.losses.finite.largest import LargestLaw
from tightrope.core.mechanisms.allocation import square_blocks
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.counting import squares_law
from tightrope.core.values.question import Direction

EPSILONS = (0.0, 0.5, 1.5, 3.0)
ALPHAS = [math.exp(each) for each in EPSILONS]


def worst(sizes: tuple[int, ...], group: int, sigma: float) -> list[float]:
    """The largest profile over data sets in which a group is replaced by others."""
    best = [0.0] * len(ALPHAS)
    for rest in combinations_with_replacement((-1, 0, 1), sum(sizes) - group):
        for first, second in ((1, -1), (1, 0)):
            one, other = (sums((*rest, *[each] * group), sizes) for each in (first, second))
            for p, q in ((one, other), (other, one)):
                best = [max(pair) for pair in zip(best, profile(p, q, sigma, ALPHAS), strict=True)]
    return best


@pytest.mark.parametrize(
    ("sizes", "group", "sigma"),
    [((2, 2), 1, 1.0), ((2, 1), 1, 2.0), ((1, 1, 1), 1, 1.0), ((2, 2), 2, 2.0), ((2, 1), 2, 1.5), ((1, 1, 1), 2, 2.0)],
    ids=str,
)
def test_all_orders_lie_between_the_ends(sizes: tuple[int, ...], group: int, sigma: float) -> None:
    run = tr.Gaussian(sigma=sigma).shuffled_batches(steps=len(sizes)).group(size=group)
    shown = worst(sizes, group, sigma)
    for bound, truth in zip(run.delta(EPSILONS), shown, strict=True):
        assert bound.lower <= truth + OFF
        assert truth <= bound.upper + OFF
        assert group > 1 or bound.lower >= 0.75 * truth - OFF


@pytest.mark.parametrize(("mu", "steps", "hits"), [(2.0, 100, 1), (2.0 / 3, 3, 2), (8.0, 10**9, 32)], ids=str)
def test_cells_of_the_largest_coordinate(mu: float, steps: int, hits: int) -> None:
    """Every cell at 60 digits, the tails by a series of their own: 1 - (1 - x)^n."""
    law = LargestLaw(mu, steps, hits)
    edges = law._edges()
    with mp.workdps(60):
        plain, moved = [[ncdf(mpf(each) - off) for each in edges] for off in (0, mpf(mu))]
        q = [mpf(0), *(each**steps for each in plain), mpf(1)]
        p = [mpf(0), *(b**hits * a ** (steps - hits) for a, b in zip(plain, moved, strict=True)), mpf(1)]
        with working_precision(128):
            atoms = law.listed()
            assert len(atoms) == len(edges) + 1
            assert all(one.loss < other.loss for one, other in pairwise(atoms))
            for atom, (low, high), (less, more) in zip(atoms, pairwise(p), pairwise(q), strict=True):
                for ball, exact in ((atom.p, high - low), (atom.q, more - less)):
                    if exact > mpf(10) ** -30:  # below, these digits are too few
                        assert abs(mpf(float(ball)) / exact - 1) < 1e-13
                assert atom.p > 0
                assert atom.q > 0


def test_a_record_against_nothing_shows_less() -> None:
    """The best event {some coordinate > C} for a record against nothing, with and without the term that it moves."""
    run = tr.Gaussian(sigma=1.0).shuffled_batches(steps=100)
    thresholds = [mpf(place) / 10 for place in range(20, 60)]
    masses = [(1 - ncdf(c - 2) * ncdf(c) ** 99, 1 - ncdf(c - 1) * ncdf(c) ** 99) for c in thresholds]
    for epsilon in (1.0, 2.0, 4.0):
        shown = max(p - mp.exp(epsilon) * q for p, q in masses)
        assert run.delta(epsilon).lower > 1.5 * float(shown) > 0.0


def test_poisson_samples_are_no_bound() -> None:
    """Chua et al. 2024: at the same sigma and the same mean size of a batch, also where a record is replaced."""
    shuffled = tr.parse("Gaussian(sigma=0.5).shuffled_batches(steps=100)").delta(8.0)
    for neighbours in ("add_remove", "replace"):
        poisson = tr.parse(f"Gaussian(sigma=0.5).poisson(rate=0.01, neighbours='{neighbours}') * 100")
        assert shuffled.lower > 10_000 * poisson.delta(8.0, accuracy=0.1).upper


def test_one_step_is_the_base_at_twice_the_sensitivity() -> None:
    for text, same in (
        ("Gaussian(sigma=1.5, sensitivity=3)", "Gaussian(sigma=1.5, sensitivity=6)"),
        ("GDP(mu=0.3)", "GDP(mu=0.6)"),
        (
            "(Gaussian(sigma=2) + Gaussian(sigma=3))",
            "Gaussian(sigma=2, sensitivity=2) + Gaussian(sigma=3, sensitivity=2)",
        ),
    ):
        one, base = tr.parse(f"{text}.shuffled_batches(steps=1)"), tr.parse(same)
        assert (one * 3).delta(1.0).upper == (base * 3).delta(1.0).upper
        assert one.tight
        assert one.delta(1.0).lower == base.delta(1.0).lower
    grouped = tr.Gaussian(sigma=9).shuffled_batches(steps=1).group(size=5)
    assert grouped.tight
    assert grouped.delta(1.0).upper == pytest.approx(tr.Gaussian(sigma=9, sensitivity=10).delta(1.0).upper, rel=1e-14)


def test_epochs_and_steps() -> None:
    """More epochs never cost less; more steps change no upper end, and show less."""
    run = tr.Gaussian(sigma=1.0).shuffled_batches(steps=50)
    answers = [(run * epochs).epsilon(1e-5) for epochs in (1, 6)]
    assert all(one.lower < other.lower and one.upper < other.upper for one, other in pairwise(answers))
    ends = [tr.Gaussian(sigma=1.0).shuffled_batches(steps=steps).epsilon(1e-5) for steps in (1, 2, 10**4)]
    assert len({each.upper for each in ends}) == 1
    assert all(one.lower > other.lower > 0.0 for one, other in pairwise(ends))
    certificate = answers[0].certificate
    assert certificate is not None
    assert certificate.attained
    assert not certificate.tight
    assert certificate.relation is tr.Relation.REPLACE


@pytest.mark.parametrize(("balls", "boxes"), [(1, 3), (3, 2), (4, 5), (5, 1), (6, 3)])
def test_balls_in_boxes(balls: int, boxes: int) -> None:
    assert squares_law(balls, boxes) == squares(balls, boxes)


@pytest.mark.parametrize("sizes", [(3, 3, 3), (3, 3, 1), (2, 2, 2, 1), (4, 2), (1, 1, 1, 1), (3, 3, 3, 2)], ids=str)
def test_batches_whose_last_is_smaller_are_as_boxes_with_one_less(sizes: tuple[int, ...]) -> None:
    """The sum of squares is stochastically larger for balls; in as many boxes as batches it need not be."""
    for group in range(1, min(5, sum(sizes)) + 1):
        real, boxes = squares_in_batches(group, sizes), squares(group, len(sizes) - 1)
        for square in real:
            assert sum(w for at, w in real.items() if at >= square) <= sum(w for at, w in boxes.items() if at >= square)
    uneven, even = squares_in_batches(2, (30, 30, 1)), squares(2, 3)
    assert uneven[4] > even[4]


def test_rare_divisions_count_as_more() -> None:
    law = squares_law(32, 234)
    blocks = square_blocks(law.items())
    assert sum(share for share, _ in blocks) == 1
    for square in law:
        above, counted = (sum(w for at, w in some if at >= square) for some in (law.items(), [b[::-1] for b in blocks]))
        assert above <= counted
    assert len(blocks) < 60


def test_groups_lose_less_than_if_all_shared_a_batch() -> None:
    """By how many records of the group share a batch; beyond 32 records as if all did."""
    run = tr.Gaussian(sigma=4.0).shuffled_batches(steps=1000)
    for size in (2, 8):
        found = run.group(size=size).delta(1.0)
        spread, joint = (tr.Gaussian(sigma=4.0, sensitivity=2 * many).delta(1.0) for many in (math.sqrt(size), size))
        assert spread.lower * (1 - 1e-9) <= found.upper < 0.9 * joint.upper
        assert 0.0 < found.lower < spread.upper
    many = tr.Gaussian(sigma=100.0).shuffled_batches(steps=1000).group(size=33)
    same = tr.Gaussian(sigma=100.0, sensitivity=66.0).delta(0.1)
    assert many.delta(0.1).upper == pytest.approx(same.upper, rel=1e-14)


def test_two_divisions_of_two_records() -> None:
    """Two records of a user in three batches, the last of which may be empty: together with probability 1/2."""
    found = tr.Gaussian(sigma=3.0).shuffled_batches(steps=3).group(size=2).delta(0.5)
    apart, together = (tr.Gaussian(sigma=3.0, sensitivity=each).delta(0.5) for each in (2 * math.sqrt(2), 4.0))
    assert found.upper == pytest.approx((apart.upper + together.upper) / 2, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "Laplace(scale=1).shuffled_batches(steps=10)",
        "(Gaussian(sigma=1) + Laplace(scale=1)).shuffled_batches(steps=10)",
        "Gaussian(sigma=1).poisson(rate=0.1).shuffled_batches(steps=10)",
        "Gaussian(sigma=1).without_replacement(batch=1, records=2).shuffled_batches(steps=10)",
        "parallel(Gaussian(sigma=1), Gaussian(sigma=2)).shuffled_batches(steps=10)",
        "Gaussian(sigma=1).shuffled_batches(steps=10).shuffled_batches(steps=10)",
        "Gaussian(sigma=1).shuffled_batches(steps=10).poisson(rate=0.1)",
        "Gaussian(sigma=1).shuffled_batches(steps=10).truncated_poisson(rate=0.1, cap=3, records=9)",
        "Gaussian(sigma=1).shuffled_batches(steps=10).shuffle(users=10)",
        "Gaussian(sigma=1).shuffled_batches(steps=10) + Gaussian(sigma=1).poisson(rate=0.1)",
        "parallel(Gaussian(sigma=1).shuffled_batches(steps=10), Gaussian(sigma=1))",
        "Gaussian(sigma=1).shuffled_batches(steps=0)",
        "Gaussian(sigma=1).shuffled_batches(steps=2.5)",
        "Gaussian(sigma=1).shuffled_batches(steps=10000000000000)",
    ],
)
def test_refusals(text: str) -> None:
    with pytest.raises(tr.TightropeError) as refused:
        tr.parse(text)
    assert "\n" not in str(refused.value)


def test_batches_of_an_epoch_over_a_sample() -> None:
    """What is sampled first, and then walked through: replacing a record is what both are about."""
    inner = tr.Gaussian(sigma=2.0).shuffled_batches(steps=10)
    outer = inner.without_replacement(batch=100, records=1000)
    whole = inner.without_replacement(batch=100, records=100)
    assert not outer.attained
    assert whole.attained
    assert not inner.without_replacement(batch=9, records=9).attained  # fewer records than batches
    assert outer.delta(0.5).upper < inner.delta(0.5).upper == pytest.approx(whole.delta(0.5).upper, rel=1e-12)
    assert inner.best_of(law="geometric", mean=2.0).relation is tr.Relation.REPLACE


@pytest.mark.parametrize(("sigma", "steps"), [(1e-4, 2), (0.05, 10**12), (150.0, 2), (1e9, 10**12)], ids=str)
def test_extreme_noise(sigma: float, steps: int) -> None:
    run = tr.Gaussian(sigma=sigma).shuffled_batches(steps=steps)
    for delta in (1e-300, 1e-5):
        found = run.epsilon(delta)
        assert 0.0 <= found.lower <= found.upper


def test_below_epsilon_0() -> None:
    run = tr.Gaussian(sigma=1.0).shuffled_batches(steps=10)
    below, above = run.delta(-0.5), run.delta(0.5)
    mirror = [-math.expm1(-0.5) + math.exp(-0.5) * end for end in (above.lower, above.upper)]
    assert below.upper == pytest.approx(mirror[1], rel=1e-12)
    assert below.lower == pytest.approx(mirror[0], rel=0.05)


def test_both_orders_are_floors() -> None:
    floors = tr.Gaussian(sigma=1.0).shuffled_batches(steps=20).witnesses(Direction.REMOVE)
    assert floors[0].reversed() == floors[1] != floors[0]
    assert floors[0].reversed().reversed() == floors[0]


def test_fractions_of_the_sum() -> None:
    """The sum of all batches: N(2, 20) against N(0, 20), at most."""
    floors = tr.Gaussian(sigma=1.0).shuffled_batches(steps=20).witnesses(Direction.ADD)
    with working_precision(128):
        mu = floors[2].moments().gdp_mu()
    assert mu is not None
    assert Fraction(float(mu)) ** 2 <= Fraction(4, 20)
    assert float(mu) == pytest.approx(math.sqrt(0.2), rel=1e-15)
