"""Rules of the normal form: each names its proof, and what it makes lies below and above, by balls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from flint import arb

import tightrope as tr
from tightrope.core.engines import normal_form
from tightrope.core.engines.normal_form import FINITE_LOSSES, NEXT_KINDS, ONE_SAMPLE, RULES, SIMPLER_PAIRS, Rule, Terms
from tightrope.core.engines.tuning import KINDS_MIN
from tightrope.core.mechanisms.composition import terms_of
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction

PROOFS = Path(__file__).parents[2] / "docs" / "proofs"
EPSILONS = (-1.3, 0.0, 0.4, 1.7, 4.1)


def terms(run: tr.Mechanism, direction: Direction = Direction.REMOVE) -> Terms:
    return tuple(terms_of(run.nameless, direction))


def hockey_sticks(pairs: Terms) -> Sequence[arb]:
    ((pair, count),) = pairs
    assert count == 1
    return [pair.ball_hockey_stick(arb(epsilon)) for epsilon in EPSILONS]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_names_its_proof(rule: Rule) -> None:
    page, _, section = rule.proof.partition(", section ")
    text = (PROOFS / page).read_text("utf-8")
    assert not section or f"\n## {section}. " in text
    assert rule.theorem
    assert RULES.count(rule) == 1


def test_names_differ() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("run", [tr.Gaussian(sigma=1) * 3, tr.Laplace(scale=2).poisson(rate=0.1)], ids=str)
def test_most_terms_match_no_rule(run: tr.Mechanism) -> None:
    assert all(rule.sides(terms(run)) is None for rule in RULES)


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("base", [tr.Gaussian(sigma=0.7), tr.Laplace(scale=1)], ids=str)
def test_one_sample_lies_between(base: tr.Mechanism, direction: Direction) -> None:
    """0.3 * 0.3 is no double: the mixture of the mixture lies between those at the doubles beside it."""
    twice = terms(base.poisson(rate=0.3).poisson(rate=0.3), direction)
    sides = ONE_SAMPLE.sides(twice)
    assert sides is not None
    with working_precision(400):
        below, exact, above = map(hockey_sticks, (sides.below[0], twice, sides.above))
        assert all(not low > mid and not mid > high for low, mid, high in zip(below, exact, above, strict=True))
        assert any(low < high for low, high in zip(below, above, strict=True))
    assert ONE_SAMPLE.sides(terms(base.poisson(rate=0.3), direction)) is None


def test_conditioning_takes_the_leaks_away() -> None:
    leaky = tr.ApproximateDP(epsilon=0.5, delta=1e-3)
    sides = FINITE_LOSSES.sides(terms(leaky * 4))
    assert sides is not None
    assert sides.below == (sides.above,)
    (pair, count), (whole, uses) = sides.above[0], terms(leaky * 4)[0]
    assert count == uses == 4
    assert pair.infinite_mass().is_zero()
    with working_precision(200):
        mass = whole.infinite_mass()
        for epsilon in EPSILONS:
            rest = mass + (1 - mass) * pair.ball_hockey_stick(arb(epsilon))
            assert whole.ball_hockey_stick(arb(epsilon)).overlaps(rest)
    assert FINITE_LOSSES.sides(terms(tr.Gaussian(sigma=1) * 4)) is None


def test_simpler_pairs_lie_on_both_sides() -> None:
    run = tr.Gaussian(sigma=1.0).random_allocation(steps=2)
    sides = SIMPLER_PAIRS.sides(terms(run))
    assert sides is not None
    bound = run.delta(0.5)
    with working_precision(200):
        below = [pair.ball_hockey_stick(arb(0.5)) for ((pair, _),) in sides.below]
        ((above, _),) = sides.above
        assert all(not low > bound.upper for low in below)
        assert not above.ball_hockey_stick(arb(0.5)) < bound.lower


def test_few_kinds_stay_as_they_are() -> None:
    many = terms(tr.compose(tr.Gaussian(sigma=1 + step / 512).poisson(rate=0.01) for step in range(KINDS_MIN)))
    assert len(many) == KINDS_MIN
    assert NEXT_KINDS.sides(many[:40]) is None  # fewer than there are cells
    sides = NEXT_KINDS.sides(many)
    assert sides is not None
    for side in (*sides.below, sides.above):
        assert len(side) < KINDS_MIN
        assert sum(count for _, count in side) == KINDS_MIN


def test_a_pair_that_leaks_otherwise_keeps_all_as_they_are() -> None:
    """Where P leaks and Q does not, no mass is shared by both sides."""
    uneven = tr.Finite(p=[0.2, 0.8], q=[0.0, 1.0])
    known = normal_form.FINITE_LOSSES.sides(terms(uneven))
    (pair, _), *_ = terms(uneven)
    assert not pair.infinite_mass().is_zero()
    assert known is None or known.above[0][0].infinite_mass().is_zero()
