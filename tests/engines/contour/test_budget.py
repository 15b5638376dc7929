"""Each error term of the contour is real: made visible on purpose, the interval still holds, and needs that term."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import acb, arb

import tightrope as tr
from tests.oracle import transforms
from tightrope.core.engines.contour import engine as contour
from tightrope.core.engines.contour import way as contour_plan
from tightrope.core.engines.contour.way import WHOLE, Fallen, Falling, LogBounds
from tightrope.core.engines.saddle import NodeStep
from tightrope.core.engines.selection import Evaluation
from tightrope.core.losses.gaussian import GaussianCgf
from tightrope.core.losses.sampled_gaussian import mixture_quadrature as quadrature_ball
from tightrope.core.losses.sampled_gaussian import mixture_quadrature as quadrature_normal
from tightrope.core.losses.sampled_gaussian.node_grid import PLAIN, Grid
from tightrope.core.numerics import quadrature
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.contour_sum import NodeSpectrum, bell, contour_sum, power, smooth
from tightrope.core.numerics.enclosures import around, exact
from tightrope.core.numerics.quadrature import Transform
from tightrope.core.values.question import Direction

VECTORS = json.loads((Path(__file__).parents[2] / "reference" / "vectors.json").read_text())["vectors"]
THOUSAND = VECTORS[0]
HUNDRED_THOUSAND = VECTORS[2]


def evaluate(expression: str, epsilon: float, proof: bool) -> Evaluation:
    """delta of the remove direction, by a contour for the whole law: what is made wide on purpose stays as it is."""
    terms = [(part.pair(Direction.REMOVE), count) for part, count in tr.parse(expression).terms]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contour, "ways_of", lambda law, quick: (WHOLE,))
        return contour.prepare(terms, epsilon=epsilon, accuracy=1e-9, proof=proof).delta(epsilon)


def assert_holds(found: Evaluation, delta: str) -> None:
    """The vector's delta belongs to its epsilon up to the digits of the latter."""
    exact_delta, digits = Fraction(delta), Fraction(1, 10**12)
    assert Fraction(found.lower) <= exact_delta * (1 + digits)
    assert exact_delta * (1 - digits) <= Fraction(found.upper)


@pytest.mark.parametrize("proof", [False, True])
def test_aliases(monkeypatch: pytest.MonkeyPatch, proof: bool) -> None:
    """A step far too long: the sum exceeds the truth, and only the aliases keep the lower end below it."""
    plain = contour_plan.choose_step

    def longer(*arguments: object) -> NodeStep:
        step = plain(*arguments)  # type: ignore[arg-type]
        return dataclasses.replace(step, step=3.0 * step.step)

    monkeypatch.setattr(contour_plan, "choose_step", longer)
    found = evaluate(THOUSAND["expression"], float(THOUSAND["epsilon"]), proof)
    assert_holds(found, THOUSAND["delta"])
    middle = (found.lower + found.upper + found.budget.lower["wrap_around"]) / 2.0
    assert middle > 1.00001 * float(THOUSAND["delta"]), "the aliases were too small to see"


@pytest.mark.parametrize("proof", [False, True])
def test_truncation(monkeypatch: pytest.MonkeyPatch, proof: bool) -> None:
    """A sum cut far too early."""

    def early(falling: list[Falling], *rest: object) -> tuple[float, LogBounds]:
        return 3.0, tuple(Fallen(decay.log_bound(3.0), uses, ratio) for decay, uses, ratio in falling)

    monkeypatch.setattr(contour_plan, "find_reach", early)
    found = evaluate(THOUSAND["expression"], float(THOUSAND["epsilon"]), proof)
    assert_holds(found, THOUSAND["delta"])
    middle = (found.lower + found.upper) / 2.0
    assert abs(middle / float(THOUSAND["delta"]) - 1.0) > 1e-3, "the cut was too small to see"


@pytest.mark.parametrize("epsilon", [2.0, 4.0])
def test_a_transform_that_revives_beyond_the_cut(epsilon: float) -> None:
    """512 responses vanish between their returns at multiples of 2 pi/step; a weak Gaussian alone ends them."""
    sigma, count, p = 60.0, 512, 0.51
    mechanism = f"RandomizedResponse(p={p}) * {count} + Gaussian(sigma={sigma})"
    with working_precision(200):
        mu, ratio = 1 / arb(sigma), (arb(p) / (1 - arb(p))).log()
        total = arb(0)
        for lies in range(count + 1):
            mass = math.comb(count, lies) * arb(p) ** (count - lies) * (1 - arb(p)) ** lies
            left = arb(epsilon) - ratio * (count - 2 * lies)
            above = [((left / mu + side * mu / 2) / arb(2).sqrt()).erfc() / 2 for side in (-1, 1)]
            total += mass * (above[0] - left.exp() * above[1])
        for proof in (False, True):
            found = evaluate(mechanism, epsilon, proof)
            assert arb(found.lower) <= total <= arb(found.upper)
            assert found.upper - found.lower <= 1e-9 * found.upper


@pytest.mark.parametrize("factor", [1.0, 1e4])
@pytest.mark.parametrize("vector", [THOUSAND, HUNDRED_THOUSAND], ids=["10^3", "10^5"])
def test_noise_of_the_claimed_size(monkeypatch: pytest.MonkeyPatch, vector: dict[str, str], factor: float) -> None:
    """Transforms moved by all of their claimed error, or by far more and so claimed, never break containment."""
    plain = quadrature.transform
    rng = np.random.default_rng(5)
    for turn in (1.0, -1.0, 1j, None):

        def noisy(law: quadrature.TiltedLaw, step: float, nodes: int, turn: complex | None = turn) -> Transform:
            found = plain(law, step, nodes)
            angles = rng.uniform(0.0, 2.0 * np.pi, nodes)
            direction = np.exp(1j * angles) if turn is None else np.full(nodes, turn)
            moved = found.deviation + 0.999 * (found.quadrature + factor * found.rounding) * direction
            return Transform(moved, found.quadrature, factor * found.rounding)

        monkeypatch.setattr(quadrature, "transform", noisy)
        assert_holds(evaluate(vector["expression"], float(vector["epsilon"]), False), vector["delta"])


def test_the_power_needs_all_of_its_radius() -> None:
    """Transforms too large by e everywhere: the radius of the power covers it, half of the radius does not."""
    count, step, nodes, error = 1000, 0.125, 60, 1e-9
    times = step * np.arange(nodes, dtype=np.float64)
    variance, tilt = 2e-3, 3.0
    phi = np.exp(-0.5 * variance * times**2)
    truth = NodeSpectrum(times, step, exact(0.0), bell(exact(variance * count), times))
    value = contour_sum(truth, smooth(tilt, times), exact(0.0)).value
    for claimed, enough in ((error, True), (0.5 * error, False)):
        moved = Transform((phi - 1.0 + error).astype(np.complex128), np.full(nodes, claimed), np.zeros(nodes))
        spectrum = dataclasses.replace(truth, product=power(moved, float(count)))
        found = contour_sum(spectrum, smooth(tilt, times), exact(0.0))
        assert (abs(found.value - value) <= found.quadrature + found.rounding) is enough


@pytest.mark.parametrize("sign", [1, -1])
def test_dropped_ends(monkeypatch: pytest.MonkeyPatch, sign: int) -> None:
    """A grid cut where the density is still 1 % of its top: the claimed error covers what is missing."""
    sigma, rate, tilt, step, nodes = 1.0, 0.3, 2.0, 0.25, 12
    short = Grid(0.125, 0.0, 20, 44, PLAIN) if sign > 0 else Grid(0.125, -0.5, 20, 20, PLAIN)
    monkeypatch.setattr(quadrature_normal, "choose_grid", lambda *arguments: short)
    monkeypatch.setattr(quadrature_ball, "choose_grid", lambda *arguments: short)
    law = quadrature_normal.sampled_normal(exact(1.0) / exact(sigma), rate, sign, tilt, step * nodes, 40.0)
    found = quadrature.transform(law, step, nodes)
    with working_precision(128):
        truth = [transforms.sampled_normal(sigma, rate, sign, acb(tilt, step * index)) for index in (0, 3, 11)]
        assert not abs(truth[0].real.log() - arb(float(law.log_mgf.value))) > arb(float(law.log_mgf.radius))
        assert abs(truth[0].real.log() - arb(float(law.log_mgf.value))) > 1e-6, "the ends were too small to see"
        for index, value in zip((3, 11), truth[1:], strict=True):
            deviation = acb(float(found.deviation[index].real), float(found.deviation[index].imag))
            turn = acb(0, arb(step * index) * arb(float(law.drift.value))).exp()
            error = abs((1 + deviation) * turn - value / truth[0])
            assert not error > arb(float(found.quadrature[index] + found.rounding[index]))
        ball = quadrature_ball.sampled_normal_ball(1 / arb(sigma), rate, sign, tilt, step * nodes, 40.0)
        assert ball.log_mgf.overlaps(truth[0].real.log())
        phi = ball.phi(step, nodes)
        for index, value in zip((3, 11), truth[1:], strict=True):
            assert phi[index].overlaps(value / truth[0])


@pytest.mark.parametrize("off", [-1e-6, 1e-6])
def test_a_scale_within_a_radius(monkeypatch: pytest.MonkeyPatch, off: float) -> None:
    """K(c) known up to a radius only, and off by half of it: every use brings its radius into the scale."""
    plain = GaussianCgf.tilted

    def doubtful(self: GaussianCgf, *arguments: float) -> object:
        found: Any = plain(self, *arguments)
        return dataclasses.replace(found, log_mgf=around(float(found.log_mgf.value) + off, 2.0 * abs(off)))

    truth = (tr.Gaussian(sigma=2.0) * 5).delta(1.0, proof=True)
    monkeypatch.setattr(GaussianCgf, "tilted", doubtful)
    found = evaluate("Gaussian(sigma=2.0) * 5", 1.0, proof=False)
    assert found.lower <= truth.lower
    assert truth.upper <= found.upper
    assert found.upper - found.lower < 1e-4 * found.upper
