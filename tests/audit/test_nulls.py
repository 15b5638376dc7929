"""Simulated audits: where the claim is true it is refuted at most as often as the level says; where it is not, often.

Each design's rule is worked out once, by certified bounds: the least count that refutes at each rank. 10,000 audits of
each in a full search; a rate is held against the level with a doubt of one in 10,000 for each assertion.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import tightrope as tr
from tests.search import cases
from tightrope.audit.betting import CoinBets, RoundBets
from tightrope.audit.certificates import multipliers
from tightrope.audit.claims import SlopeClaim, run_claim
from tightrope.audit.designs import Settings, evidence_of_scores
from tightrope.audit.events import AuditEvent
from tightrope.audit.evidence import Evidence, WeightedEvent
from tightrope.audit.many_runs import CountEvent
from tightrope.audit.one_run import GuessEvent
from tightrope.audit.scores import Scored
from tightrope.core.numerics.enclosures import FloatArray

ALPHA, DOUBT = Fraction(1, 20), 1e-4
GAUSSIAN = run_claim(tr.Gaussian(sigma=1.0), [0.25 * index for index in range(17)], 60.0)


def refuting(test: WeightedEvent, claim: SlopeClaim, programs: bool) -> float:
    """The least count of this test that refutes the claim; inf where none does."""
    limit = test.limit(ALPHA)

    def p(event: AuditEvent) -> float:
        by_slopes = event.p_upper(claim)
        if not programs or by_slopes <= limit or not isinstance(event, GuessEvent):
            return by_slopes
        found = multipliers(event, claim)
        return by_slopes if found is None else min(by_slopes, found.bound(event, claim))

    low, high = 0, test.event.trials
    if p(test.event.with_count(high)) > limit:
        return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if p(test.event.with_count(middle)) <= limit else (middle, high)
    return high


def rejected(evidence: Evidence, least: list[float]) -> bool:
    return any(test.event.count >= count for test, count in zip(evidence.tests, least, strict=True))


def rate(design: str, settings: Settings, mu: float, audits: int, claim: SlopeClaim, programs: bool = True) -> int:
    """How many of so many audits refute the claim where the attack is mu away."""
    draw = np.random.Generator(np.random.PCG64(11))
    found, least = 0, []
    for _ in range(audits):
        evidence = evidence_of_scores(design, drawn(design, draw, mu), settings)
        least = least or [refuting(test, claim, programs) for test in evidence.tests]
        found += rejected(evidence, least)
    return found


def drawn(design: str, draw: np.random.Generator, mu: float) -> Scored:
    """400 runs, or 200 canaries: noise on one number for each."""
    if design == "one-run":
        member = draw.random(200) < 0.5
    else:
        member = draw.permutation(np.arange(400) < 200)
    return Scored(draw.normal(size=len(member)) + mu * member, member)


def at_most(count: int, audits: int, level: float) -> bool:
    return bool(stats.binom.sf(count - 1, audits, level) >= DOUBT)


def at_least(count: int, audits: int, level: float) -> bool:
    return bool(stats.binom.cdf(count, audits, level) >= DOUBT)


@pytest.mark.parametrize(
    ("design", "settings", "claim", "mu"),
    [
        ("runs", Settings(), GAUSSIAN, 1.0),
        ("runs", Settings(tail="both"), GAUSSIAN, 1.0),
        ("runs", Settings(), SlopeClaim.private(0.0, 0.0), 0.0),
        ("one-run", Settings(), GAUSSIAN, 1.0),
        ("one-run", Settings(sides="out"), GAUSSIAN, 1.0),
        ("one-run", Settings(sides="both"), SlopeClaim.private(0.0, 0.0), 0.0),
        ("random-split", Settings(sides="both"), GAUSSIAN, math.sqrt(0.5)),
        ("random-split", Settings(sides="both"), SlopeClaim.private(0.0, 0.0), 0.0),
    ],
)
def test_false_alarms(design: str, settings: Settings, claim: SlopeClaim, mu: float) -> None:
    """The mechanism is the worst that the claim allows for a single record: replaced ones are sqrt 2 apart."""
    audits = cases(400, 10_000)
    assert at_most(rate(design, settings, mu, audits, claim), audits, 0.05)


def test_false_alarms_of_counts() -> None:
    """M2 at a threshold fixed before, where the best test of mu = 1 has the rates Phi(-1/2) and Phi(1/2)."""
    audits, draw = cases(200, 10_000), np.random.Generator(np.random.PCG64(7))
    low, high = stats.norm.cdf([-0.5, 0.5])
    tables: dict[tuple[int, int], bool] = {}
    found = 0
    for table in zip(draw.binomial(200, low, audits).tolist(), draw.binomial(200, high, audits).tolist(), strict=True):
        if table not in tables:
            tables[table] = CountEvent(200, 200, *table).p_upper(GAUSSIAN) <= ALPHA
        found += tables[table]
    assert at_most(found, audits, 0.05)


def test_a_guess_at_random_is_called_out_as_often_as_it_may() -> None:
    """One test of a null that is attained: the level is used up, as far as counts allow."""
    audits, nothing = cases(2000, 10_000), SlopeClaim.private(0.0, 0.0)
    found = rate("one-run", Settings(sides="both", ranks=(200,)), 0.0, audits, nothing)
    least = refuting(WeightedEvent(GuessEvent(200, 200, 0), 1.0), nothing, programs=False)
    exact = stats.binom.sf(least - 1, 200, 0.5)
    assert at_most(found, audits, float(exact))
    assert at_least(found, audits, float(exact))


@pytest.mark.parametrize(("mu", "least"), [(1.5, 0.96), (2.0, 0.999)])
def test_power_of_many_runs(mu: float, least: float) -> None:
    """Clopper and Pearson over all thresholds refute mu = 1 in .1385 of audits where mu is 1.5, DKW in .5385."""
    audits = cases(300, 2000)
    assert at_least(rate("runs", Settings(), mu, audits, GAUSSIAN), audits, least)


@pytest.mark.parametrize(("mu", "least"), [(2.5, 0.12), (3.0, 0.55), (4.0, 0.975)])
def test_power_of_one_run(mu: float, least: float) -> None:
    """The published recursion refutes mu = 1 in .0306, .2496 and .8848 of these audits."""
    audits = cases(300, 4000)
    settings = Settings(ranks=(5, 10, 20, 40, 80))
    assert at_least(rate("one-run", settings, mu, audits, GAUSSIAN), audits, least)


def test_false_alarms_of_bets_that_are_looked_at_after_each_round() -> None:
    draw, audits = np.random.Generator(np.random.PCG64(5)), cases(40, 10_000)
    found = sum(
        RoundBets.of(draw.normal(size=200) + 1.0, draw.normal(size=200)).p_upper(GAUSSIAN) <= 0.05
        for _ in range(audits)
    )
    assert at_most(found, audits, 0.05)
    assert RoundBets.of(draw.normal(size=200) + 3.0, draw.normal(size=200)).p_upper(GAUSSIAN) <= 0.05


def test_false_alarms_of_bets_on_coins() -> None:
    draw, audits = np.random.Generator(np.random.PCG64(5)), cases(200, 10_000)
    claim = SlopeClaim.private(1.0, 1e-5)
    right: FloatArray = draw.random((audits, 300)) < math.e / (1.0 + math.e)
    found = sum(CoinBets.of(row, GuessEvent(300, 300, 0)).p_upper(claim) <= 0.05 for row in right)
    assert at_most(found, audits, 0.05)
    assert CoinBets.of(draw.random(300) < 0.95, GuessEvent(300, 300, 0)).p_upper(claim) <= 0.05
