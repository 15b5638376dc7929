"""Each theorem is used only where its base has the facts that it needs: a base without each of them, refused by name.

Without the need the same base is accepted, so that nothing else refuses it: who drops a need fails here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest

import tightrope as tr
from tightrope.core.mechanisms import theorems as t
from tightrope.core.mechanisms.allocation import scattered_pair
from tightrope.core.mechanisms.base import CHAIN
from tightrope.core.mechanisms.fixed_size import fixed_size_participation_pair
from tightrope.core.mechanisms.theorems import Fact, MissingFact, Theorem
from tightrope.core.values.errors import InvalidParameter
from tightrope.core.values.question import Direction

REPLACED = tr.RandomizedResponse(p=0.75)
ADDED = tr.Laplace(scale=1).poisson(rate=0.5)
BATCH = tr.Laplace(scale=1).without_replacement(batch=5, records=20)
EITHER = tr.Laplace(scale=1).without_replacement(batch=5, records=20, neighbours="add_remove")
CLAMPED = tr.TruncatedLaplace(scale=1, bounds=[2, math.inf], mode="clamp")
MEASURED = tr.Histograms(a=[900, 100], b=[880, 120])
MOMENTS = tr.CharacteristicFunction(log_moment=lambda z: z * (z + 1) / 8, strip=(-20.0, 20.0))

Make = Callable[[], object]
# Made of a base that lacks the fact, and no other that the theorem needs.
LACKING: Mapping[tuple[Theorem, Fact], Make] = {
    (t.COMPOSITION, Fact.ADD_REMOVE): lambda: ADDED + REPLACED,
    (t.COMPOSITION_REPLACED, Fact.REPLACE): lambda: BATCH + ADDED,
    (t.ALL_RECORDS, Fact.ADD_REMOVE): lambda: REPLACED.poisson(rate=1),
    (t.POISSON, Fact.ADD_REMOVE): lambda: REPLACED.poisson(rate=0.5),
    (t.POISSON, Fact.SIZE): lambda: EITHER.poisson(rate=0.5),
    (t.POISSON_REPLACED, Fact.ADD_REMOVE): lambda: REPLACED.poisson(rate=0.5, neighbours="replace"),
    (t.POISSON_REPLACED, Fact.SIZE): lambda: EITHER.poisson(rate=0.5, neighbours="replace"),
    (t.CAPPED_POISSON, Fact.ADD_REMOVE): lambda: REPLACED.truncated_poisson(rate=0.5, cap=2, records=9),
    (t.CAPPED_POISSON, Fact.SIZE): lambda: EITHER.truncated_poisson(rate=0.5, cap=20, records=90),
    (t.WITHOUT_REPLACEMENT, Fact.REPLACE): lambda: ADDED.without_replacement(batch=1, records=2),
    (t.WITHOUT_REPLACEMENT, Fact.SIZE): lambda: BATCH.without_replacement(batch=10, records=50),
    (t.ONE_DRAW, Fact.REPLACE): lambda: ADDED.with_replacement(batch=1, records=2),
    (t.ONE_DRAW, Fact.SIZE): lambda: BATCH.with_replacement(batch=1, records=2),
    (t.WITH_REPLACEMENT, Fact.REPLACE): lambda: ADDED.with_replacement(batch=2, records=2),
    (t.WITH_REPLACEMENT, Fact.SIZE): lambda: BATCH.with_replacement(batch=2, records=2),
    (t.WITH_REPLACEMENT, Fact.GROUPS): lambda: CLAMPED.with_replacement(batch=2, records=2).with_replacement(
        batch=2, records=2
    ),
    (t.SHUFFLE, Fact.REPLACE): lambda: ADDED.shuffle(users=3),
    (t.SHUFFLE, Fact.ONE_RECORD): lambda: BATCH.shuffle(users=3),
    (t.SHUFFLE, Fact.BOUNDED): lambda: tr.Gaussian(sigma=1).shuffle(users=3),
    (t.ONE_USER, Fact.REPLACE): lambda: ADDED.shuffle(users=1),
    (t.ONE_USER, Fact.BOUNDED): lambda: tr.Gaussian(sigma=1).shuffle(users=1),
    (t.BEST_OF, Fact.TAILS): lambda: MOMENTS.best_of(law="geometric", mean=2),
    (t.PARALLEL, Fact.ADD_REMOVE): lambda: tr.parallel(REPLACED, ADDED),
    (t.ALLOCATED_SETS, Fact.GAUSSIAN): lambda: t.ALLOCATED_SETS.demand(tr.Laplace(scale=1)),
    (t.ALLOCATION, Fact.ADD_REMOVE): lambda: REPLACED.random_allocation(steps=3),
    (t.ALLOCATION, Fact.SIZE): lambda: EITHER.random_allocation(steps=3),
    (t.POISSON, Fact.OTHERS): lambda: MEASURED.poisson(rate=0.5),
    (t.POISSON_REPLACED, Fact.OTHERS): lambda: MEASURED.poisson(rate=0.5, neighbours="replace"),
    (t.CAPPED_POISSON, Fact.OTHERS): lambda: MEASURED.truncated_poisson(rate=0.5, cap=2, records=9),
    (t.WITHOUT_REPLACEMENT, Fact.OTHERS): lambda: MEASURED.without_replacement(batch=1, records=2),
    (t.ONE_DRAW, Fact.OTHERS): lambda: MEASURED.with_replacement(batch=1, records=2),
    (t.WITH_REPLACEMENT, Fact.OTHERS): lambda: t.WITH_REPLACEMENT.demand(MEASURED, 2),
    (t.SHUFFLE, Fact.OTHERS): lambda: MEASURED.shuffle(users=3),
    (t.ALLOCATION, Fact.OTHERS): lambda: MEASURED.random_allocation(steps=3),
    (t.ONE_USER, Fact.ONE_RECORD): lambda: BATCH.shuffle(users=1),
    (t.EVERY_STEP, Fact.ADD_REMOVE): lambda: REPLACED.random_allocation(steps=3, uses=3),
    (t.SHUFFLED_BATCHES, Fact.GAUSSIAN): lambda: tr.Laplace(scale=1).shuffled_batches(steps=3),
    (t.GROUP, Fact.GROUPS): lambda: MEASURED.group(size=2),
    (t.GROUP_CONCENTRATED, Fact.EVERYWHERE): lambda: t.GROUP_CONCENTRATED.demand(CLAMPED),
    (t.GROUP_IN_SAMPLE, Fact.EVERYWHERE): lambda: CLAMPED.poisson(rate=0.5).group_pair(2, Direction.REMOVE),
    (t.GROUP_SCATTERED, Fact.GAUSSIAN): lambda: scattered_pair(tr.Laplace(scale=1), 2, 3, Direction.REMOVE),
    (t.GROUP_IN_BATCH, Fact.GROUPS): lambda: fixed_size_participation_pair(MEASURED, _hits()),
    (CHAIN, Fact.EVERYWHERE): lambda: MEASURED.group_pair(2, Direction.REMOVE),
}
# Of lower ends: a transformation whose witness is not known.
UNWITNESSED: Mapping[tuple[Theorem, Fact], Callable[[], tr.Mechanism]] = {
    (t.SAMPLE_WITNESS, Fact.ATTAINED): lambda: tr.Exponential(epsilon=1).poisson(rate=0.5),
    (t.SAMPLE_WITNESS, Fact.ALONE): lambda: tr.StabilityHistogram(epsilon=1, threshold=5).poisson(rate=0.5),
    (t.WITNESS, Fact.ATTAINED): lambda: tr.Exponential(epsilon=1).poisson(rate=1),
}


def _hits() -> object:
    from tightrope.core.losses.participation_law import HypergeometricParticipation

    return HypergeometricParticipation(4, 2, 2)


@contextmanager
def without(theorem: Theorem, fact: Fact) -> Iterator[None]:
    """The theorem, one of its needs forgotten."""
    needs = theorem.needs
    object.__setattr__(theorem, "needs", tuple(need for need in needs if need is not fact))
    try:
        yield
    finally:
        object.__setattr__(theorem, "needs", needs)


def refusal_of(make: Make) -> MissingFact | None:
    """The fact that is missing, if one is."""
    try:
        make()
    except MissingFact as error:
        return error
    except (InvalidParameter, AssertionError):  # what the theorem would have kept away
        return None
    return None


def test_there_is_a_base_without_each_fact_that_a_theorem_needs() -> None:
    upper = {(theorem, fact) for theorem in (*t.THEOREMS, CHAIN) if not theorem.lower for fact in theorem.needs}
    lower = {(theorem, fact) for theorem in t.THEOREMS if theorem.lower for fact in theorem.needs}
    assert set(LACKING) == upper
    assert set(UNWITNESSED) == lower


@pytest.mark.parametrize(("theorem", "fact"), LACKING, ids=lambda each: getattr(each, "name", str(each)))
def test_a_base_that_lacks_a_fact_is_refused_for_it_alone(theorem: Theorem, fact: Fact) -> None:
    make = LACKING[theorem, fact]
    with pytest.raises(InvalidParameter, match=f"^{theorem.name}: "):
        make()
    with without(theorem, fact):
        refusal = refusal_of(make)  # another need of this theorem may be asked, or this need of another theorem
        assert refusal is None or refusal.fact is not fact or not str(refusal).startswith(f"{theorem.name}: ")


@pytest.mark.parametrize(("theorem", "fact"), UNWITNESSED, ids=lambda each: getattr(each, "name", str(each)))
def test_a_lower_end_without_its_witness_is_not_called_attained(theorem: Theorem, fact: Fact) -> None:
    make = UNWITNESSED[theorem, fact]
    assert not make().attained
    with without(theorem, fact):
        assert make().attained


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "truth"),
    [
        (CLAMPED.group(size=2), 0.0, 0.43233235838169365),  # 1/2 - e^-2/2: the noise around 2 exceeds 2, or around 0
        (CLAMPED.with_replacement(batch=2, records=2), 0.5, 0.12229),  # half one copy, a quarter two
        (
            (tr.Finite([0.5, 0.5], [0.9, 0.1]) + tr.Finite([0.9, 0.1], [0.5, 0.5]))
            .best_of("geometric", mean=2)
            .shuffle(users=2),
            3.0,
            0.000907,
        ),
    ],
)
def test_bases_that_lacked_a_fact_are_bounded_from_above(mechanism: tr.Mechanism, epsilon: float, truth: float) -> None:
    bound = mechanism.delta(epsilon)
    assert bound.upper >= truth
    if bound.certificate.tight:
        assert bound.lower <= truth


def test_a_clamp_in_a_group_is_the_clamp_of_the_longer_shift() -> None:
    longer = tr.TruncatedLaplace(scale=1, bounds=[2, math.inf], mode="clamp", sensitivity=3)
    for epsilon in (0.0, 0.5, 1.0, 1.5):
        assert CLAMPED.group(size=3).delta(epsilon) == longer.delta(epsilon)


MANY = tr.RandomizedResponse(p=0.75).without_replacement(batch=1, records=10)  # a bit of ten, drawn and reported
PAIRED = tr.training(records=2, batch=2, steps=1, sigma=1, sampling="fixed", group=2)
UNEVEN = tr.Laplace(scale=0.05).without_replacement(batch=3, records=5).group(size=2)
KEPT = tr.Histograms(a=[0.75, 0.25], b=[0.25, 0.75], kind="probabilities")


@pytest.mark.parametrize(
    "accepted",
    [
        lambda: MANY.shuffle(users=1),  # one user flips ten bits: 0.5 at epsilon 0, and the pair of one record has 0.05
        lambda: PAIRED.without_replacement(batch=2, records=4),  # 0.614 where records were counted as groups: 0.477
        lambda: UNEVEN.without_replacement(batch=3, records=4),  # 0.700, and 0.675 if all groups had two records
        lambda: KEPT.poisson(rate=0.5),  # 0.375 beside another record; a pair of two data sets has 0.25
        lambda: KEPT.shuffle(users=2),
    ],
)
def test_what_holds_in_one_place_or_for_one_record_is_not_taken_further(accepted: Make) -> None:
    with pytest.raises(InvalidParameter):
        accepted()


def test_groups_of_what_is_known_in_one_order_are_not_called_tight() -> None:
    """Under replacing each of two records may meet either order: the laws overlap in 1/4 at least, by the claim."""
    claim = tr.TradeoffCurve(fprs=[0, 0.5, 1], fnrs=[1, 0, 0], both_directions=False)
    bound = claim.poisson(rate=1, neighbours="replace").group(size=2).delta(0.0)
    assert not bound.certificate.tight
    assert not bound.certificate.attained
