"""The distribution of the loss as a value: masses that contain the truth, atoms, infinite losses, pictures."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

import tightrope as tr
from tightrope.core.answers.loss_law import LossAtom, LossSide, loss_atoms, loss_edges
from tightrope.core.values import compute_budget


def normal_below(t: float, sigma: float) -> float:
    return 0.5 * math.erfc(-(t * sigma - 0.5 / sigma) / math.sqrt(2.0))


def test_masses_of_a_normal_law() -> None:
    law = tr.Gaussian(sigma=1.5).loss_law(12)
    assert [side.direction for side in law.sides] == [tr.Direction.REMOVE, tr.Direction.ADD]
    for side in law.sides:
        assert side.infinite == tr.Bound(0.0, 0.0)
        assert not side.atoms
        assert len(side.masses) == 12
        assert side.bars == side.masses
        for (low, high), mass in zip(pairwise(side.edges), side.masses, strict=True):
            truth = normal_below(high, 1.5) - normal_below(low, 1.5)
            assert mass.lower - 1e-15 <= truth <= mass.upper + 1e-15
        assert 0.997 < sum(mass.lower for mass in side.masses) <= 1.0


def test_atoms_are_found_with_their_mass() -> None:
    """Three responses: 3, 2, 1 or none of them true, with the masses of a binomial law."""
    law = (tr.RandomizedResponse(p=0.75) * 3).loss_law(40)
    masses = [Fraction(1, 64), Fraction(9, 64), Fraction(27, 64), Fraction(27, 64)]
    for side in law.sides:
        assert len(side.atoms) == 4
        for atom, mass, wins in zip(side.atoms, masses, (-3, -1, 1, 3), strict=True):
            assert atom.after < wins * math.log(3.0) <= atom.upto + 1e-15
            assert atom.mass.lower <= mass <= atom.mass.upper
            assert atom.mass.width < 1e-12
        assert max(bar.upper for bar in side.bars) < 1e-12


def test_cut_noise_is_known_at_every_edge() -> None:
    """One preparation serves all. The loss of one use is 1/2 - x, x normal and cut to [-1, 2]; below it is inf."""
    law = (tr.TruncatedGaussian(sigma=1.0, bounds=(-2.0, 2.0)) * 2).loss_law(8, direction="remove")
    (side,) = law.sides
    assert law.exhausted is None
    assert law.wide is None
    assert not side.atoms
    assert max(bound.width for bound in side.below) <= 1e-3
    whole, steps = math.erf(math.sqrt(2.0)), 4000
    for t, bound in zip(side.edges, side.below, strict=True):
        total = 0.0
        for index in range(steps):
            x = -1.0 + 3.0 * (index + 0.5) / steps
            low = min(max(1.0 - t - x, -1.0), 2.0)  # the other one is at least that
            other = (whole - math.erf(low / math.sqrt(2.0))) / (2.0 * whole)
            total += math.exp(-x * x / 2.0) * other * 3.0 / steps
        truth = total / (math.sqrt(2.0 * math.pi) * whole)
        assert bound.lower - 1e-7 <= truth <= bound.upper + 1e-7


def test_time_that_ends_early_is_told_and_makes_no_atoms() -> None:
    run = tr.TruncatedLaplace(scale=200.0, bounds=(-2500.0, 2500.0)) * 512
    law = run.loss_law(bins=6, direction="remove", seconds=0.01)
    assert law.exhausted == "time"
    assert law.wide is not None
    assert "seconds=" in law.wide
    assert not law.sides[0].atoms


def test_a_run_that_makes_its_parts_anew_is_answered_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute_budget, "UNITS_PER_SECOND", 1e3)
    run = tr.training(records=60000, batch=256, epochs=15, sigma=1.1, sampling="with_replacement")
    (side,) = run.loss_law(5, seconds=1.0).sides
    assert side.direction is None
    assert all(0.0 <= bound.lower <= bound.upper <= 1.0 for bound in side.below)


def test_an_interval_that_tells_nothing_is_no_atom() -> None:
    known = [tr.Bound(0.0, 0.0), tr.Bound(0.0, 0.7), tr.Bound(0.9, 1.0), tr.Bound(1.0, 1.0)]
    found = loss_atoms(lambda places: [tr.Bound(0.0, 1.0) for _ in places], [0.0, 1.0, 2.0, 3.0], known)
    assert found == ()


def test_infinite_losses_and_one_direction() -> None:
    law = (tr.ApproximateDP(epsilon=0.5, delta=0.0625) * 2).loss_law(20, direction="add")
    (side,) = law.sides
    assert side.infinite.lower <= 1.0 - 0.9375**2 <= side.infinite.upper
    assert len(side.atoms) == 3
    assert "infinite with probability [0.12" in str(law)
    assert pickle.loads(pickle.dumps(law)) == law
    rows = law.to_csv().splitlines()
    assert rows[0] == "direction,after,upto,lower,upper"
    assert len(rows) == 22
    assert rows[-1].startswith("add,inf,inf,0.12")


def test_one_loss_and_none() -> None:
    for mechanism in (tr.PureDP(epsilon=0.0), tr.ApproximateDP(epsilon=0.5, delta=1.0)):
        (side, _) = mechanism.loss_law(5).sides
        assert side.edges[0] < side.edges[-1]


def test_quantiles_a_few_doubles_apart_are_one_loss() -> None:
    for end in (-9685632.0, 1e-12, 0.3, 9685632.0):
        for other in (end, math.nextafter(end, math.inf), end * (1.0 + 2e-9)):
            edges = loss_edges([end, other], 100_000)
            assert all(low < high for low, high in pairwise(edges))
            assert edges[0] < min(end, other) <= max(end, other) < edges[-1]
    law = (tr.RandomizedResponse(epsilon=64.0) * 151338).loss_law(5, seconds=0.2)
    assert all(side.edges[0] < 64.0 * 151338 < side.edges[-1] for side in law.sides)


@pytest.mark.parametrize("direction", [None, "remove"])
def test_a_picture(direction: str | None, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    law = tr.TruncatedGaussian(sigma=2.0, bounds=(-4.0, 5.0)).loss_law(10, direction=direction)
    law.plot(tmp_path / "loss.png", "cut noise")
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    assert law._repr_png_() is not None
    with pytest.raises(tr.InvalidParameter, match="name must end"):
        law.plot(tmp_path / "loss.txt")


def test_what_is_no_distribution_is_refused() -> None:
    nothing = tr.Bound(0.0, 0.0)
    with pytest.raises(tr.InvalidParameter, match="edges that rise"):
        LossSide(tr.Direction.ADD, (1.0, 0.0), (nothing, nothing), (), nothing)
    with pytest.raises(tr.InvalidParameter, match="atom"):
        LossAtom(1.0, 1.0, nothing)
    with pytest.raises(tr.InvalidParameter, match="whole number"):
        tr.Gaussian(sigma=1.0).loss_law(0)


def test_too_many_points_are_refused_before_they_are_made() -> None:
    for points in (10**9, 10**30):
        with pytest.raises(tr.InvalidParameter, match="bins must be at most 100,000"):
            tr.Gaussian(sigma=1.0).loss_law(bins=points)
        with pytest.raises(tr.InvalidParameter, match="points must be at most 100,000"):
            tr.Gaussian(sigma=1.0).curve(points=points)
