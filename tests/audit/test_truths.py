"""Values of docs/proofs/audit.md, computed apart in balls, fractions and quadrature: each is contained."""

from __future__ import annotations

from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.audit.certificates import multipliers
from tightrope.audit.claims import ClaimSlope, SlopeClaim, run_claim
from tightrope.audit.events import AuditEvent
from tightrope.audit.evidence import Evidence, WeightedEvent
from tightrope.audit.many_runs import CountEvent, RankEvent
from tightrope.audit.one_run import GuessEvent

ALPHA = Fraction(1, 20)
PRIVATE = SlopeClaim.private


def largest(event: AuditEvent, delta: float) -> float:
    return Evidence(((WeightedEvent(event, 1.0),),)).largest(lambda epsilon: PRIVATE(epsilon, delta), ALPHA)


@pytest.mark.parametrize(
    ("event", "delta", "truth"),
    [
        (GuessEvent(1000, 700, 640), 0.0, 2.14112959817466991),
        (GuessEvent(1000, 700, 640), 1e-5, 2.14105431054053123),
        (GuessEvent(1000, 700, 640, "in"), 1e-5, 2.14109196078855155),
        (GuessEvent(100, 100, 100), 0.0, 3.49296543115229335),
        (GuessEvent(100, 100, 100), 1e-5, 3.49290104810182501),
        (GuessEvent(1000, 100, 97, "in"), 1e-5, 2.50181315531002626),
        (GuessEvent(1000, 1000, 600), 0.0, 0.297467923649347529),
        (GuessEvent(1000, 1000, 600), 1e-5, 0.297389649661003959),
    ],
)
def test_the_largest_epsilon_of_guesses(event: GuessEvent, delta: float, truth: float) -> None:
    found = largest(event, delta)
    assert found <= truth <= found + 1e-11


def test_it_is_sharper_than_the_published_bound() -> None:
    assert largest(GuessEvent(1000, 700, 640), 1e-5) > 2.14019818076850815


@pytest.mark.parametrize(
    ("event", "epsilon", "delta", "truth"),
    [
        (GuessEvent(1000, 700, 640), 2.0, 0.0, 0.00270614372154455117),
        (GuessEvent(1000, 700, 640), 2.0, 1e-5, 0.00275315165180020280),
        (GuessEvent(1000, 700, 640, "in"), 2.0, 1e-5, 0.00272964768667237698),
        (GuessEvent(3, 3, 1), 0.0, 0.001, 0.875875),
    ],
)
def test_p_of_guesses(event: GuessEvent, epsilon: float, delta: float, truth: float) -> None:
    found = event.p_upper(PRIVATE(epsilon, delta))
    assert truth * (1.0 - 1e-15) <= found <= truth * (1.0 + 1e-14)


def test_the_share_of_delta() -> None:
    """The budget is m delta, so that a delta of 1/m adds beta (1 - beta)/(k b_k)."""
    event = GuessEvent(1000, 700, 640)
    share = 1000.0 * (event.p_upper(PRIVATE(2.0, 1e-3)) - event.p_upper(PRIVATE(2.0, 0.0)))
    assert share == pytest.approx(1000.0 * 0.00470079302556516248, rel=1e-9)


def test_the_published_bound_is_below_the_truth_where_beta_is_large() -> None:
    """Publish a uniform guess, wrong in all three with (1 - 7 delta)/8 and any other way with (1 + delta)/8."""
    assert GuessEvent(3, 3, 1).p_upper(PRIVATE(0.0, 0.001)) >= 0.875875 > 0.87575


@pytest.mark.parametrize(
    ("event", "epsilon", "delta", "truth"),
    [
        (RankEvent(100, 100, 1, 1), 0.0, 0.0, 0.5),
        (RankEvent(100, 100, 1, 3), 0.0, 0.0, 100 * 99 * 98 / (200 * 199 * 198)),
        (RankEvent(1000, 1000, 1, 20), 1.0, 0.0, 0.001853991026246104),
        (RankEvent(1000, 1000, 1, 20), 1.0, 1e-5, 0.001860861127778145),
        (RankEvent(1000, 1000, 11, 60), 1.0, 0.0, 0.008510963076777085),
        (RankEvent(1000, 1000, 11, 60), 1.0, 1e-5, 0.008527053549713607),
        (RankEvent(500, 500, 1, 40), 2.0, 1e-5, 0.006011653765334566),
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_p_of_ranks(event: RankEvent, epsilon: float, delta: float, truth: float, reverse: bool) -> None:
    asked = RankEvent(event.n1, event.n0, event.rank, event.count, reverse)
    found = asked.p_upper(PRIVATE(epsilon, delta))
    assert truth * (1.0 - 1e-15) <= found <= 1.003 * truth
    assert found <= asked.rough(PRIVATE(epsilon, delta)) <= 1.1 * truth


@pytest.mark.parametrize(
    ("event", "delta", "truth"),
    [
        (RankEvent(1000, 1000, 11, 60), 0.0, 1.212204426157),
        (RankEvent(1000, 1000, 11, 60), 1e-5, 1.212019587645),
        (RankEvent(1000, 1000, 1, 20), 1e-5, 1.824057406142),
        (CountEvent(1000, 1000, 10, 60), 0.0, 1.13041),
    ],
)
def test_the_largest_epsilon_of_runs(event: AuditEvent, delta: float, truth: float) -> None:
    found = largest(event, delta)
    assert found <= truth + 5e-6 <= found + 5e-4


def test_p_of_counts() -> None:
    found = CountEvent(1000, 1000, 10, 60).p_upper(PRIVATE(1.0, 0.0))
    assert 0.016929718 <= found <= 0.016949411


DPSGD = SlopeClaim(
    tuple(
        ClaimSlope(*each)
        for each in (
            (0.5, 0.03056802434716043, 0.023931934158596273),
            (1.0, 0.002612420578637826, 0.000794590173579334),
            (1.5, 0.0001092559076692612, 3.4163140687181607e-06),
            (2.0, 2.6655719247746008e-06, 1.067162021377948e-09),
            (2.5, 4.9044077413794514e-08, 1.2531219703400168e-14),
        )
    )
)


@pytest.mark.parametrize(
    ("r", "k", "truth", "by_slopes"),
    [
        (100, 80, 0.0788760463109, None),
        (100, 85, 0.0201913710069, 0.03119),
        (100, 90, 0.0024074230229, 0.01843),
        (50, 45, 0.0209840966912, 0.04294),
    ],
)
def test_multipliers_against_a_training_run(r: int, k: int, truth: float, by_slopes: float | None) -> None:
    event = GuessEvent(1000, r, k, "in")
    found = multipliers(event, DPSGD)
    assert found is not None
    assert truth - 1e-10 <= found.bound(event, DPSGD) <= truth + 1e-10
    if by_slopes is not None:
        assert event.p_upper(DPSGD) == pytest.approx(by_slopes, abs=5e-6)


def test_the_deltas_of_that_run() -> None:
    run = tr.parse("Gaussian(sigma=1).poisson(rate=0.01) * 1000")
    for slope, other in zip(
        run_claim(run, [each.epsilon for each in DPSGD.slopes], 10.0).slopes, DPSGD.slopes, strict=True
    ):
        assert slope.remove == pytest.approx(other.remove, rel=1e-9)
        assert slope.add == pytest.approx(other.add, rel=1e-9)


@pytest.mark.parametrize(
    ("event", "truth"),
    [
        (GuessEvent(100, 100, 80), 0.3776580482651),
        (GuessEvent(100, 100, 95), 0.0270908995996),
        (GuessEvent(1000, 100, 97, "in"), 0.0565859205944),
    ],
)
def test_multipliers_against_a_gaussian(event: GuessEvent, truth: float) -> None:
    slopes = run_claim(tr.Gaussian(sigma=1.0), [0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5], 10.0)
    found = multipliers(event, slopes)
    assert found is not None
    assert truth - 1e-10 <= found.bound(event, slopes) <= truth + 1e-10
