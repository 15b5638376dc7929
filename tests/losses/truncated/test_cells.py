"""Rounded noise: moments, transforms and deltas against the outputs one by one."""

from __future__ import annotations

import math
import random

import pytest
from flint import acb, arb

import tightrope as tr
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.operators.registered import finite_law
from tightrope.core.losses.truncated.truncated_gaussian import CellSegment
from tightrope.core.losses.truncated.truncated_pair import TruncatedPair
from tightrope.core.mechanisms.truncated import TruncatedNoise
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction

BITS = 128


def outputs(noise: TruncatedNoise, direction: Direction) -> list[tuple[arb, arb]]:
    """Both masses of every whole output, ends included, as far as doubles can see; what one law alone has is left."""
    size = getattr(noise, "sigma", getattr(noise, "scale", 0.0))
    reach = 14 if isinstance(noise, tr.TruncatedGaussian) else 80

    def below(x: float, place: float) -> arb:
        if math.isinf(x):
            return arb(1 if x > 0 else 0)
        v = (arb(x) - place) / size
        if isinstance(noise, tr.TruncatedGaussian):
            return (-v / arb(2).sqrt()).erfc() / 2
        return v.exp() / 2 if v < 0 else 1 - (-v).exp() / 2

    low, high = (end if noise.mode == "cut" else end - noise.mean for end in noise.bounds)
    far = math.ceil(reach * size + noise.sensitivity)
    if noise.mode == "cut":
        first, last = max(low + noise.sensitivity, -far), min(high, far)
        points, kept = [float(k) for k in range(int(first), int(last) + 1)], below(high, 0.0) - below(low, 0.0)
    else:
        inner = range(int(max(low, -far)), int(min(high - 1, far)) + 1)
        points, kept = [-math.inf, *map(float, inner), math.inf], arb(1)
    found = []
    with_record = [below(x, noise.sensitivity) for x in points]
    without = [below(x, 0.0) for x in points]
    for index in range(len(points) - 1):
        p, q = ((column[index + 1] - column[index]) / kept for column in (with_record, without))
        found.append((p, q) if direction is Direction.REMOVE else (q, p))
    return found


LARGE = (
    tr.TruncatedGaussian(sigma=45.0, mean=230.0, bounds=(0.0, math.inf), mode="clamp", integer=True, sensitivity=2.0),
    tr.TruncatedGaussian(sigma=60.0, bounds=(-300.0, 350.0), integer=True, sensitivity=1.0),
    tr.TruncatedGaussian(sigma=50.0, mean=-20.0, bounds=(-40.0, 700.0), mode="clamp", integer=True, sensitivity=6.0),
    tr.TruncatedGaussian(sigma=48.0, bounds=(-math.inf, 100.0), integer=True, sensitivity=5.0),
)
COARSE = (
    tr.TruncatedGaussian(sigma=5.0, mean=18.0, bounds=(0.0, math.inf), mode="clamp", integer=True, sensitivity=2.0),
    tr.TruncatedGaussian(sigma=9.0, bounds=(-math.inf, 12.0), integer=True, sensitivity=3.0),
)
SMALL = (
    tr.TruncatedGaussian(sigma=3.0, bounds=(-9.0, 7.0), integer=True, sensitivity=2.0),
    tr.TruncatedGaussian(sigma=5.0, mean=2.0, bounds=(0.0, 9.0), mode="clamp", integer=True),
    tr.TruncatedLaplace(scale=4.0, mean=9.0, bounds=(0.0, math.inf), mode="clamp", integer=True, sensitivity=3.0),
    tr.TruncatedLaplace(scale=4.0, mean=-5.0, bounds=(0.0, 30.0), mode="clamp", integer=True, sensitivity=2.0),
    tr.TruncatedLaplace(scale=2.5, bounds=(-6.0, 20.0), integer=True, sensitivity=3.0),
    tr.TruncatedLaplace(scale=3.0, mean=1.0, bounds=(2.0, 3.0), mode="clamp", integer=True, sensitivity=4.0),
    tr.TruncatedLaplace(scale=3.0, mean=30.0, bounds=(2.0, 9.0), mode="clamp", integer=True, sensitivity=4.0),
    tr.TruncatedLaplace(scale=3.0, mean=-30.0, bounds=(-2.0, 9.0), mode="clamp", integer=True, sensitivity=4.0),
)


def moment(cells: list[tuple[arb, arb]], z: acb) -> acb:
    return sum((p * (z * (p / q).log()).exp() for p, q in cells if p > 1e-70 and q > 1e-70), acb(0))


@pytest.mark.parametrize("noise", [*LARGE, *COARSE, *SMALL], ids=str)
def test_moments_are_those_of_the_outputs(noise: TruncatedNoise) -> None:
    for direction in Direction:
        pair = noise.pair(direction)
        assert isinstance(pair, FinitePair if noise in SMALL else TruncatedPair)
        with working_precision(400):  # differences of distribution functions, far out
            cells = outputs(noise, direction)
        for z in (0.5, 1 + 2j, 6 + 40j, -0.5 + 1j, -3 + 2j, 1j):
            with working_precision(BITS):
                z = acb(complex(z).real, complex(z).imag)
                found, truth = pair.moments().log_moment(z), moment(cells, z)
                assert found is not None
                assert abs(found.exp() - truth).lower() <= 1e-25 * (1 + abs(truth)), (direction, z)
                assert found.exp().real.rad() < (1e-4 if noise in LARGE else 1e-20) * (1 + abs(truth)), (direction, z)


@pytest.mark.parametrize("noise", LARGE, ids=str)
def test_transforms_fall_up_to_the_horizon(noise: TruncatedNoise) -> None:
    rng = random.Random(7)
    pair = noise.pair(Direction.REMOVE)
    cgf = pair.cgf()
    assert cgf is not None
    horizon = cgf.horizon()
    assert math.isfinite(horizon)
    with working_precision(400):
        cells = [(p, q) for p, q in outputs(noise, Direction.REMOVE) if p > 1e-60 and q > 1e-60]
    for tilt in (0.5, 12.0):
        with working_precision(BITS):
            spread = math.sqrt(cgf.cumulants(tilt).variance)
            weights = [(p * (tilt * (p / q).log()).exp(), (p / q).log()) for p, q in cells]
            total = sum((weight for weight, _ in weights), arb(0))
            times = sorted(
                [10.0 ** rng.uniform(-1.0, 1.0) / spread for _ in range(6)] + [0.3 * horizon, 0.74 * horizon]
            )
            sizes = [
                abs(sum((weight * acb(0, arb(time) * loss).exp() for weight, loss in weights), acb(0))) / total
                for time in times
            ]
        decay = cgf.ball_cf_decay(tilt)
        bounds = [decay.log_bound(time) for time in times]
        for index, bound in enumerate(bounds):
            assert all(size.log() <= bound + 1e-12 for size in sizes[index:]), (tilt, times[index])
        assert bounds[-1] < -0.1


@pytest.mark.parametrize("index", range(4))
def test_deltas_meet_those_of_the_lattice(index: int) -> None:
    noise, epsilon = LARGE[index], (0.3, 0.1, 0.5, 0.3)[index]
    for count in (150, 401)[: 1 + index % 2]:
        run = noise * count
        found = [run.delta(epsilon, engine="contour", proof=proof, direction="remove") for proof in (False, True)]
        assert found[0].upper - found[0].lower <= 2e-3 * found[0].upper
        found.append(run.delta(epsilon, engine="lattice", direction="remove", accuracy=1e-4))
        assert max(bound.lower for bound in found) <= min(bound.upper for bound in found)


def test_what_returns_is_in_the_budget() -> None:
    """The transform of cells returns: the contour says what that may add, and no more digits than it has."""
    run = LARGE[0] * 128
    bound = run.delta(0.5, engine="contour", direction="remove")
    assert bound.certificate.budget.upper["truncation"] > 1e-8 * bound.upper
    odd = (LARGE[0] * 127).delta(0.5, engine="contour", direction="remove")
    assert odd.certificate.budget.upper["truncation"] > bound.certificate.budget.upper["truncation"]


def test_cells_know_when_they_are_too_coarse() -> None:
    few = tr.TruncatedGaussian(sigma=20.0, bounds=(0.0, math.inf), mean=90.0, mode="clamp", integer=True)
    assert few.pair(Direction.REMOVE).cgf() is None
    pair = LARGE[0].pair(Direction.REMOVE)
    assert isinstance(pair, TruncatedPair)
    with working_precision(BITS):
        stretch = pair.exact_losses().segment
        assert isinstance(stretch, CellSegment)
        # At a time where cells are opposite, nothing is claimed of the formula of the density.
        assert stretch.error(arb(1), arb(1.0 / float(stretch.turn))) > 1
        assert stretch.error(arb(1), arb(10)) < 2e-8


def test_rounded_laplace_noise_lies_on_a_lattice() -> None:
    pair = SMALL[2].pair(Direction.REMOVE)
    lattice = pair.lattice()
    assert lattice is not None
    assert lattice.step.number == 0.25
    law = finite_law(pair)
    assert law is not None
    assert law.size() == 5  # one below 0, three cells, one above 3
    assert SMALL[5].pair(Direction.REMOVE).lattice() is None  # its ends hide some of the slope
    assert (SMALL[2] * 1000).delta(1.0).certificate.engine == "contour"


@pytest.mark.parametrize("noise", SMALL[:2], ids=str)
def test_three_uses_output_by_output(noise: TruncatedNoise) -> None:
    for direction in Direction:
        with working_precision(BITS):
            cells = [(p, (p / q).log()) for p, q in outputs(noise, direction)]
            twice = [(p * other, loss + more) for p, loss in cells for other, more in cells]
            kept = sum((p for p, _ in cells), arb(0))
            truth = 1 - kept * kept * kept
            for p, loss in twice:
                truth += sum((p * other * (-(0.4 - loss - more).expm1()).max(arb(0)) for other, more in cells), arb(0))
        found = (noise * 3).delta(0.4, direction=direction.value)
        assert found.lower <= float(truth) * (1 + 1e-14)
        assert float(truth) <= found.upper * (1 + 1e-14)
        assert found.upper - found.lower < 1e-9
