"""Classes of one's own: a frozen dataclass and a pair, by the pair of something that is there or by tails in balls."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tightrope.core.losses.pair import Pair
from tightrope.core.mechanisms.composition import Transformation
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.double_double import double_double
from tightrope.core.numerics.enclosures import exact


@dataclass(frozen=True)
class Shift(tr.TailPair):
    """Gaussian noise with deviation 1 at mu and at 0, by its tails: the loss is N(+-mu^2/2, mu^2)."""

    mu: float

    def _places(self, t: arb) -> tuple[arb, arb]:
        mu = arb(self.mu)
        return (t / mu - mu / 2) / arb(2).sqrt(), (t / mu + mu / 2) / arb(2).sqrt()

    def above(self, t: arb) -> tuple[arb, arb]:
        p, q = self._places(t)
        return p.erfc() / 2, q.erfc() / 2

    def below(self, t: arb) -> tuple[arb, arb]:
        p, q = self._places(t)
        return (-p).erfc() / 2, (-q).erfc() / 2


@dataclass(frozen=True)
class Shifted(tr.Leaf):
    """Noise of one's own."""

    mu: float
    note: str = ""

    def pair(self, direction: tr.Direction) -> Pair:
        return Shift(self.mu) if direction is tr.Direction.REMOVE else Shift(self.mu).reversed()


@dataclass(frozen=True)
class Leaking(tr.TailPair):
    """Shift, but with probability 1/8 all is told, and with 1/16 on the other side."""

    def above(self, t: arb) -> tuple[arb, arb]:
        p, q = Shift(1.0).above(t)
        return arb(1) / 8 + arb(7) / 8 * p, arb(15) / 16 * q

    def below(self, t: arb) -> tuple[arb, arb]:
        p, q = Shift(1.0).below(t)
        return arb(7) / 8 * p, arb(1) / 16 + arb(15) / 16 * q

    def infinite_mass(self) -> arb:
        return arb(1) / 8

    def lost_mass(self) -> arb:
        return arb(1) / 16


class Gaussian(tr.Leaf):
    """Has the name of another one, and is no dataclass: equal to itself only."""

    def pair(self, direction: tr.Direction) -> Pair:
        return tr.Laplace(scale=1.0).pair(direction)


@dataclass(frozen=True)
class Vague(tr.TailPair):
    """A formula with a number that stays wide."""

    def above(self, t: arb) -> tuple[arb, arb]:
        return arb(0.5, 1e-9), arb(0.25)

    def below(self, t: arb) -> tuple[arb, arb]:
        return arb(0.5, 1e-9), arb(0.75)


def test_tails_of_ones_own_are_those_of_the_gaussian() -> None:
    own, known = Shifted(mu=1.5), tr.GDP(mu=1.5)
    for direction in ("remove", "add"):
        for epsilon in (-2.0, 0.0, 1.0, 6.0):
            one, two = own.delta(epsilon, direction=direction), known.delta(epsilon, direction=direction)
            assert one.lower <= two.upper
            assert two.lower <= one.upper
            assert one.width <= 1e-13
    one, two = (own * 4).epsilon(1e-5, accuracy=1e-2), (known * 4).epsilon(1e-5)
    assert one.lower <= two.upper
    assert two.lower <= one.upper
    sampled = own.poisson(rate=0.2).delta(0.5), known.poisson(rate=0.2).delta(0.5)
    assert sampled[0].upper == pytest.approx(sampled[1].upper, rel=1e-9)
    proven = own.delta(0.5, proof=True)
    assert proven.lower <= known.delta(0.5).upper


def test_the_arithmetics_agree() -> None:
    for pair in (Shift(0.7), Shift(0.7).reversed(), Leaking(), Leaking().reversed()):
        places = np.array([-np.inf, -30.0, -1.0, 0.0, 0.5, 9.0, np.inf])
        tails = pair.tails(double_double(places))
        profile = pair.hockey_stick(exact(places[1:-1]))
        with working_precision(200):
            for index, place in enumerate(places.tolist()[1:-1], start=1):
                for column, ball in zip(tails, pair.ball_tails(arb(place)), strict=True):
                    assert abs(arb(float(column[index])) - ball) <= 1e-13 * ball + 1e-313
                value = pair.ball_hockey_stick(arb(place))
                assert arb(float(profile.lower[index - 1])) <= value.upper()
                assert arb(float(profile.upper[index - 1])) >= value.lower()
        assert tails.p_above[0] == 1.0
        assert tails.p_below[-1] == 1.0 - tails.p_above[-1]
        assert tails.p_above[-1] == float(pair.infinite_mass().mid())
        assert tails.q_below[0] == float(pair.reversed().infinite_mass().mid())
        assert pair.reversed().reversed() == pair


def test_values() -> None:
    own = Shifted(mu=1.5)
    assert repr(own) == str(own) == "Shifted(mu=1.5)"
    assert repr(own.named("a")) == "Shifted(mu=1.5, name='a')"
    assert own == Shifted(1.5) != Shifted(1.5, note="x")
    assert (own + own).terms == ((own, 2),)
    assert pickle.loads(pickle.dumps(own * 3)) == own * 3
    assert own.parameters == {"mu": 1.5}
    assert repr(own.poisson(rate=0.5) * 2) == "Shifted(mu=1.5).poisson(rate=0.5) * 2"
    with pytest.raises(tr.DataError, match="a class of your own, which has no JSON"):
        tr.dump(own * 2)
    with pytest.raises(tr.DataError, match="a class of your own"):
        tr.dump(Gaussian())  # not that of the package
    with pytest.raises(TypeError, match="Shifted takes no 'nu'"):
        Shifted(nu=1.5)  # type: ignore[call-arg]
    assert Gaussian().delta(0.5) == tr.Laplace(scale=1.0).delta(0.5)
    with pytest.raises(TypeError, match="abstract"):
        tr.Leaf()  # type: ignore[abstract]


def test_numbers_that_stay_wide_are_told() -> None:
    with pytest.raises(tr.UnsupportedMechanism, match="must be a ball"):
        Vague().tails(double_double(np.array([0.0])))


@dataclass(frozen=True)
class Relayed(Transformation):
    """The base as it is, by a transformation that nobody registered."""

    base: tr.Mechanism
    call = "relayed"

    @property
    def relation(self) -> tr.Relation | None:
        return self.base.relation

    def pair(self, direction: tr.Direction) -> Pair:
        return self.base.pair(direction)


def test_an_own_transformation_has_no_json() -> None:
    own = Relayed(tr.Gaussian(sigma=2.0))
    assert own.delta(1.0) == tr.Gaussian(sigma=2.0).delta(1.0)
    for run in (own, own * 3 + tr.Laplace(scale=1.0)):
        with pytest.raises(tr.DataError, match="Relayed is a class of your own, which has no JSON"):
            tr.dump(run)
