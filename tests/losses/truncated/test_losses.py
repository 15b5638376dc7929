"""Moments, transforms and their decay for truncated noise, against integrals of the two densities themselves."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from flint import acb, arb

import tightrope as tr
from tightrope.core.mechanisms.truncated import TruncatedNoise
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.errors import InvalidParameter, UnsupportedMechanism
from tightrope.core.values.question import Direction

BITS = 100
PANELS, TURNS_MAX = 48, 25.0  # how fast an integrand may turn for its rules
with working_precision(BITS):
    RULE = [arb.legendre_p_root(24, index, weight=True) for index in range(24)]


def noises(seed: int, count: int) -> list[TruncatedNoise]:
    """Both noises, cut or clamped, open on either side or not, near and far ends, small and large shifts."""
    rng = random.Random(seed)
    found: list[TruncatedNoise] = []
    while len(found) < count:
        make = rng.choice([tr.TruncatedGaussian, tr.TruncatedLaplace])
        size = 10.0 ** rng.uniform(-1.0, 3.0)
        low, high = sorted(rng.choice([-1.0, 1.0]) * size * 10.0 ** rng.uniform(-1.5, 1.0) for _ in range(2))
        bounds = (low if rng.random() < 0.8 else -math.inf, high if rng.random() < 0.8 else math.inf)
        shift = size * 10.0 ** rng.uniform(-3.0, 0.5)
        mode, mean = rng.choice(["cut", "clamp"]), rng.choice([0.0, size * rng.uniform(-2.0, 2.0)])
        # Short numbers: the oracle adds them up in floats.
        bounds, shift, mean = tuple(map(short, bounds)), short(shift), short(mean)
        try:
            made = make(size, bounds=bounds, mode=mode, sensitivity=shift, mean=mean)
        except InvalidParameter:
            continue  # the bounds leave nothing
        if made.mode == "clamp" or not high - low <= shift:
            found.append(made)
    return found


def short(number: float) -> float:
    return math.ldexp(round(math.ldexp(number, 20)), -20) if math.isfinite(number) else number


class Oracle:
    """M(z) of one direction, from the two densities: integrals between the ends, and the ends as outputs."""

    def __init__(self, noise: TruncatedNoise, direction: Direction) -> None:
        self.width = getattr(noise, "sigma", getattr(noise, "scale", 0.0))
        self.normal = isinstance(noise, tr.TruncatedGaussian)
        self.remove = direction is Direction.REMOVE
        self.cut = noise.mode == "cut"
        self.shift = noise.sensitivity
        # In units of the width, around the place of the noise without the record.
        self.low, self.high = noise.bounds if self.cut else [end - noise.mean for end in noise.bounds]

    def constant(self) -> arb:
        return arb(self.width) * ((2 * arb.pi()).sqrt() if self.normal else 2)

    def integral(self, z: acb, start: float, stop: float, first: float, second: float) -> acb:
        """Of p^(1+z) q^(-z), p and q around first and second, by Gauss-Legendre rules between all their corners."""
        pieces = [start + (stop - start) * index / PANELS for index in range(1, PANELS)]
        pieces += [self.shift * index / 16 for index in range(17)]
        ends = sorted({start, stop, *(place for place in pieces if start < place < stop)})
        total = acb(0)
        for a, b in itertools.pairwise(ends):
            half, middle = (arb(b) - arb(a)) / 2, (arb(b) + arb(a)) / 2
            for node, weight in RULE:
                x = middle + half * node
                exponent = (1 + z) * self.exponent(x, first) - z * self.exponent(x, second)
                total += half * weight * exponent.exp()
        return total / self.constant()

    def exponent(self, x: arb, place: float) -> arb:
        """log of the density around a place, without its constant."""
        v = (x - place) / self.width
        return -v * v / 2 if self.normal else -abs(v)

    def far(self, z: acb) -> tuple[float, float]:
        """Where nothing is left on either side."""
        span = (11.0 if self.normal else 50.0) * self.width + self.shift * (1.0 + abs(float(z.real)))
        return -span, span

    def moment(self, z: acb) -> acb:
        first, second = (self.shift, 0.0) if self.remove else (0.0, self.shift)
        near, far = self.far(z)
        if self.cut:
            start = max(self.low + self.shift if self.low > -math.inf else near, near)
            stop = min(self.high, far)
            kept = self.integral(acb(0), max(self.low, near), min(self.high, far), 0.0, 0.0)
            return self.integral(z, start, stop, first, second) / kept
        total = self.integral(z, max(self.low, near), min(self.high, far), first, second)
        for start, stop in ((near, max(self.low, near)), (min(self.high, far), far)):
            if start < stop:
                p, q = (self.integral(acb(0), start, stop, place, place) for place in (first, second))
                total += p * (z * (p / q).log()).exp()
        return total


@pytest.mark.parametrize("seed", range(2))
def test_moments_at_complex_points(seed: int) -> None:
    rng = random.Random(seed)
    for noise in noises(seed, 5):
        direction = rng.choice(list(Direction))
        pair, oracle = noise.pair(direction), Oracle(noise, direction)
        size = noise.sensitivity / oracle.width
        most = 1e6 if size * 1e6 < TURNS_MAX else TURNS_MAX / size
        for tilt, time in ((rng.uniform(1.0, 30.0), rng.uniform(1.0, 9.0)), (0.7, most), (-1.8, 2.0)):
            if abs(tilt) * size > 20.0:
                continue
            with working_precision(BITS):
                z = acb(tilt, time)
                truth, found = oracle.moment(z), pair.moments().log_moment(z)
                assert found is not None
                slack = arb(10) ** -16 * abs(oracle.moment(acb(tilt)))  # where the integrals end, and of their rules
                assert abs(found.exp() - truth) <= slack, (noise, direction, z, found.exp(), truth)


@pytest.mark.parametrize("seed", range(3))
def test_transforms_fall_as_they_are_said_to(seed: int) -> None:
    """At many times from the radius on, for tilts small and large."""
    rng = random.Random(seed + 100)
    for noise in noises(seed + 100, 8):
        pair = noise.pair(rng.choice(list(Direction)))
        cgf = pair.cgf()
        if cgf is None:
            continue
        for tilt in (0.25, 8.0, 200.0):
            decay = cgf.ball_cf_decay(tilt)
            spread = math.sqrt(cgf.cumulants(tilt).variance)
            times = sorted(10.0 ** rng.uniform(-2.0, 2.5) / spread for _ in range(24))
            with working_precision(BITS):
                law = cgf.ball_tilted(tilt, times[-1], 60.0)
                sizes = [abs(law.phi(time, 2)[1]).log() for time in times]
            for index, time in enumerate(times):
                bound = decay.log_bound(time)
                for size in sizes[index:]:
                    assert size <= bound + 1e-12, (noise, tilt, time)


@pytest.mark.parametrize("seed", range(2))
def test_contours_and_lattices_meet(seed: int) -> None:
    """delta in float64 and in balls against the lattice, which knows no cgf."""
    rng = random.Random(seed + 200)
    asked = 0
    for noise in noises(seed + 200, 6):
        run, epsilon = noise * int(10.0 ** rng.uniform(0.5, 3.0)), 10.0 ** rng.uniform(-2.0, 0.5)
        direction = rng.choice(list(Direction))
        try:
            found = [run.delta(epsilon, engine="contour", direction=direction, proof=proof) for proof in (False, True)]
        except UnsupportedMechanism:
            continue
        found.append(run.delta(epsilon, engine="lattice", direction=direction, accuracy=1e-3))
        assert max(bound.lower for bound in found) <= min(bound.upper for bound in found), (run, epsilon, direction)
        asked += 1
    assert asked >= 2


def test_the_paper_s_case_in_full() -> None:
    """512 uses cut at 8.8 sigma: twelve digits in float64, and the transform of the mechanism itself."""
    noise = tr.TruncatedGaussian(sigma=200.0 * math.sqrt(2.0), bounds=[-2500.0, 2500.0])
    quick, proven = ((noise * 512).delta(0.2, proof=proof) for proof in (False, True))
    assert proven.lower <= quick.upper
    assert quick.lower <= proven.upper
    assert quick.upper - quick.lower < 1e-10 * quick.upper
    assert {quick.certificate.engine, proven.certificate.engine} == {"contour"}
    with working_precision(BITS):
        assert abs(noise.phi(3.0, direction="remove") - Oracle(noise, Direction.REMOVE).moment(acb(0, 3))) < 1e-16
    assert noise.renyi(2.0).lower == math.inf  # some outputs tell everything
    assert 0.0 < noise.renyi(0.5).upper < 1e-5


def test_nodes_where_the_transform_may_vanish() -> None:
    """A transform that is zero within its ball counts as an error of its own size, never as a number."""
    from tightrope.core.losses.node_powers import PowerTilted
    from tightrope.core.numerics.enclosures import exact

    class Vanishing:
        log_mgf = arb(0)

        def phi(self, step: float | arb, nodes: int) -> list[acb]:
            return [acb(1), acb(arb(0, 1e-3), arb(0, 1e-3)), acb(0.5, 0.25)][:nodes]

    factor = PowerTilted(exact(0.0), exact(0.0), Vanishing()).factor(1.0, 3, 4)
    assert factor.log_modulus[1] == -math.inf
    assert factor.rounding[1] == math.inf
    assert 4.0 * math.log(math.sqrt(2.0) * 1e-3) <= factor.reach[1] <= 4.0 * math.log(2e-3)
    assert np.isfinite(factor.reach).all()
    assert factor.log_modulus[2] == pytest.approx(4.0 * math.log(abs(0.5 + 0.25j)))


def test_rho_and_moments_hold_together() -> None:
    """K(c) <= c (c + 1) rho with K by integrals of the densities; no rho where a loss is infinite."""
    seen = 0
    for noise in noises(300, 10):
        for direction in Direction:
            with working_precision(BITS):
                rho = noise.pair(direction).moments().zcdp_rho()
                if rho is None:
                    continue
                assert noise.mode == "clamp" or math.isinf(noise.bounds[direction is Direction.REMOVE])
                for order in (0.05, 1.0, 6.0):
                    truth = Oracle(noise, direction).moment(acb(order)).real.log()
                    assert truth <= order * (order + 1.0) * rho + 1e-15, (noise, direction, order)
            seen += 1
    assert seen >= 4
