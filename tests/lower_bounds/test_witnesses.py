"""Lower ends by what real neighbours lose, and runs in which a record is replaced."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

import tightrope as tr
from tightrope import result
from tightrope.core.engines.planner import Answer, Planner, Point
from tightrope.core.losses.pair import Pair
from tightrope.core.mechanisms.base import Leaf
from tightrope.core.values import compute_budget
from tightrope.core.values.errors import AccuracyNotReached, InvalidParameter
from tightrope.core.values.question import Direction, Relation


@dataclass(frozen=True, slots=True, repr=False)
class Loose(Leaf):
    """Dominated by one Gaussian, and two others are real."""

    sigma: float
    tight = False
    attained = True
    relation = Relation.REPLACE

    def pair(self, direction: Direction) -> Pair:
        return tr.Gaussian(sigma=self.sigma).pair(direction)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        return tuple(tr.Gaussian(sigma=share * self.sigma).pair(direction) for share in (1.5, 1.25))


@dataclass(frozen=True, slots=True, repr=False)
class Either(Leaf):
    """Integer noise on half of the records: each use shows the sample's pair or its reverse."""

    tight = False
    attained = True
    relation = Relation.REPLACE

    def pair(self, direction: Direction) -> Pair:
        return tr.DiscreteGaussian(sigma=1.0).pair(direction)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        pair = tr.DiscreteGaussian(sigma=1.0).poisson(rate=0.5).pair(Direction.REMOVE)
        return pair, pair.reversed()


RUN = Loose(sigma=2.0) * 10
ABOVE, BELOW = tr.Gaussian(sigma=2.0) * 10, tr.Gaussian(sigma=2.5) * 10


@pytest.mark.parametrize(("quantity", "given"), [("delta", 1.0), ("delta", -0.7), ("epsilon", 1e-5)])
def test_the_upper_end_is_that_of_the_pair_and_the_lower_that_of_the_largest_floor(quantity: str, given: float) -> None:
    found = getattr(RUN, quantity)(given)
    above, below = (getattr(each, quantity)(given) for each in (ABOVE, BELOW))
    assert found.lower == pytest.approx(below.lower, rel=1e-9)
    assert found.upper == pytest.approx(above.upper, rel=1e-9)
    certificate = found.certificate
    assert certificate is not None
    assert (certificate.attained, certificate.tight) == (True, False)
    assert "what real neighbours lose" in str(certificate)
    assert certificate.budget.widest == "theorem"
    assert "no more is proven" in str(found.wide)


def test_floors_may_be_chosen_anew_at_each_use() -> None:
    run, truth = Either() * 2, 0.153528748541102
    mirrored = 0.486589233427  # 1 - 1/a + 1/a times the same: each alternative is the reverse of the other
    for found, exact in ((run.delta(0.5), truth), (run.delta(-0.5), mirrored)):
        assert (1.0 - 1e-9) * exact <= found.lower <= (1.0 + 1e-9) * exact
    curve = run.curve(epsilons=[-0.5, 0.5])
    assert [bound.lower for bound in curve.bounds] == pytest.approx([mirrored, truth], rel=1e-3)
    assert run.epsilon(0.1535).lower == pytest.approx(0.50010949, rel=1e-6)
    assert run.delta(0.5, engine="lattice").lower < 0.147  # what is insisted on adapts to nothing


def test_time_that_ends_leaves_an_answer() -> None:
    for seconds in (1e-6, 1e-3, 0.01):
        found = (Either() * 2).delta(-0.5, seconds=seconds)
        assert 0.0 <= found.lower <= 0.4866
        assert found.upper >= 0.4865


def test_floors_are_there_where_the_pair_takes_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    below, answer = BELOW.epsilon(1e-5).lower, Planner.answer

    def slow(self: Planner, point: Point, accuracy: float) -> Answer:
        if self.terms == ((Loose(sigma=2.0).pair(Direction.REMOVE), 10),):
            monkeypatch.setattr(compute_budget, "monotonic", lambda: math.inf)
        return answer(self, point, accuracy)

    monkeypatch.setattr(Planner, "answer", slow)
    assert RUN.epsilon(1e-5).lower == pytest.approx(below, rel=1e-9)


def test_time_that_ends_does_not_take_the_certificate() -> None:
    run = tr.Gaussian(sigma=1.0).poisson(rate=0.3, neighbours="replace") * 2
    for seconds in (1e-9, 1e-4, 1e-3):
        found = run.epsilon(1e-5, proof=True, seconds=seconds)
        assert found.lower <= 4.38571
        assert found.upper >= 4.38570
        assert found.certificate is not None
        assert (found.certificate.tight, found.certificate.exhausted) == (True, "time")


def test_replacing_has_no_direction() -> None:
    found = RUN.delta(1.0)
    assert found.certificate is not None
    assert found.certificate.direction is None
    document = result.write([result.Result(repr(ABOVE), "delta", {"epsilon": 1.0}, found)], several=False)
    for line in ('"direction": null', '"attained": true'):
        assert line in document
    assert result.write(result.read(document), several=False) == document
    for ask in (RUN.delta, RUN.epsilon, RUN.renyi):
        with pytest.raises(InvalidParameter, match="direction must be left out"):
            ask(0.5, direction="add")
    assert [side.name for side in RUN.loss_law(4).sides] == ["replace"]


def test_the_gap_of_a_theorem_is_not_closed_by_asking() -> None:
    with pytest.raises(AccuracyNotReached):
        RUN.delta(1.0, accuracy=1e-3)


def test_calibration_is_about_the_dominating_pair() -> None:
    loose = tr.calibrate(lambda sigma: Loose(sigma=sigma) * 10, epsilon=2.0, delta=1e-5)
    tight = tr.calibrate(lambda sigma: tr.Gaussian(sigma=sigma) * 10, epsilon=2.0, delta=1e-5)
    assert loose.value == tight.value
    assert loose.missed is not None


def test_what_is_refused_says_why() -> None:
    with pytest.raises(AttributeError, match="no filter on privacy-loss distributions is proven"):
        RUN.filter  # noqa: B018
    with pytest.raises(tr.ExpressionError, match="no filter on privacy-loss distributions is proven"):
        tr.parse("Gaussian(sigma=1).filter()")
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        RUN.nothing  # noqa: B018
