"""What decides alone: its bounds hold the truth, at cuts that leave nothing open and at cuts that leave much."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import tightrope as tr
from tests.oracle.sampled_twice import Use, delta_of_two
from tightrope.core.engines.contour import engine as contour
from tightrope.core.engines.contour.way import DECIDED, DECIDED_HITS, Way
from tightrope.core.engines.decided import DecidedMass, cut_decided, decided_mass
from tightrope.core.engines.saddle import Parts
from tightrope.core.losses.cgf import cgf_of
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.errors import UnsupportedMechanism
from tightrope.core.values.question import Direction

CASES = [(1.01, 1.4e-4, 4.7e-5), (0.75, 1e-4, 1e-3), (1.5, 1e-3, 0.02), (2.0, 2e-5, 1e-3), (0.6, 1e-5, 0.5)]


def cut_at(sigma: float, rate: float, count: int, loss: float, s: float) -> Parts:
    cgf = cgf_of(tr.Gaussian(sigma=sigma).poisson(rate=rate).pair(Direction.REMOVE))
    partition = cgf.partition()
    assert partition is not None
    cut = partition.cut_above(loss)
    assert cut is not None
    return Parts([(cut, count)], (cut,), decided_tilt=s)


def window(parts: Parts) -> tuple[float, float, float]:
    """Where the cut lies, how wide it is, and where it ends."""
    marks = parts.cuts[0].window  # type: ignore[union-attr]
    return marks.edges[0].at, marks.edges[0].width, marks.end


def both(found: DecidedMass, epsilon: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    with working_precision(128):
        low, high = found.at(epsilon)
        return mpmath.mpf(low.lower().str(40, radius=False)), mpmath.mpf(high.upper().str(40, radius=False))


@pytest.mark.parametrize(("sigma", "rate", "epsilon"), CASES)
@pytest.mark.parametrize("share", [0.5, 0.999, 1.2, 3.0])
@pytest.mark.parametrize("balls", [False, True])
def test_one_use(sigma: float, rate: float, epsilon: float, share: float, balls: bool) -> None:
    """E_P[(1 - e^{eps - l})_+; rare] by quadrature at 40 digits: also where the cut is far below what decides."""
    parts = cut_at(sigma, rate, 1, share * epsilon, 1.0 / epsilon)
    at, width, end = window(parts)
    with working_precision(128):
        low, high = both(decided_mass(parts, balls), epsilon)
    with mpmath.workdps(40):
        mu, r, e = 1 / mpmath.mpf(sigma), mpmath.mpf(rate), mpmath.exp(mpmath.mpf(epsilon))

        def integrand(x: mpmath.mpf) -> mpmath.mpf:
            ratio = 1 - r + r * mpmath.exp(mu * x - mu * mu / 2)
            rare = mpmath.ncdf((x - at) / width) if x < end else mpmath.mpf(1)
            return mpmath.npdf(x) * max(ratio - e, mpmath.mpf(0)) * rare

        start = mpmath.log((e - 1 + r) / r) / mu + mu / 2
        points = sorted({start, *(p for p in (at - 2 * width, at, at + 2 * width, end, end + 2, end + 6) if p > start)})
        truth = mpmath.quad(integrand, [*points, points[-1] + 20])
        assert low <= truth * (1 + mpmath.mpf(10) ** -12)
        assert truth * (1 - mpmath.mpf(10) ** -12) <= high


@pytest.mark.parametrize(("sigma", "rate", "epsilon"), [(1.0, 1e-3, 2e-3), (1.5, 1e-2, 0.03), (0.8, 1e-2, 0.05)])
@pytest.mark.parametrize(("share", "tilt"), [(0.3, 2.0), (1.0, 10.0), (1.5, 30.0)])
def test_two_uses_together(sigma: float, rate: float, epsilon: float, share: float, tilt: float) -> None:
    """The same for two uses, as a trapezoid sum over both outputs; what others make up for is seen."""
    parts = cut_at(sigma, rate, 2, share * epsilon, tilt / epsilon)
    at, width, end = window(parts)
    with working_precision(128):
        found = decided_mass(parts, False)
        low, high = (float(end) for end in both(found, epsilon))
    x = np.linspace(-9.0, 14.0, 3001)
    density = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) * (x[1] - x[0])
    ratio = 1.0 - rate + rate * np.exp(x / sigma - 0.5 / sigma**2)
    phi = np.array([float(mpmath.ncdf(-(each - at) / width)) for each in x])
    kept = np.where(x < end, phi, 0.0)
    gain = np.maximum(np.outer(ratio, ratio) - math.exp(epsilon), 0.0)
    truth = float(np.sum(np.outer(density, density) * gain * (1.0 - np.outer(kept, kept))))
    assert low <= truth * (1.0 + 1e-5)
    assert truth * (1.0 - 1e-5) <= high
    if share < 1.0:
        assert low < 0.999 * truth, "what the others make up for was too small to see"


@pytest.mark.parametrize(
    ("way", "sigma", "rate", "epsilon"),
    [
        (DECIDED, 1.01, 1.4e-4, 4.7e-5),
        (DECIDED, 2.0, 2e-3, 2e-3),
        (DECIDED_HITS, 1.059, 1.31e-4, 0.0174075),
        (DECIDED_HITS, 1.0, 6.5e-4, 0.0337),
    ],
    ids=["cut", "cut, larger", "hits", "hits, larger"],
)
def test_two_removals(monkeypatch: pytest.MonkeyPatch, way: Way, sigma: float, rate: float, epsilon: float) -> None:
    monkeypatch.setattr(contour, "ways_of", lambda law, quick: (way,))
    run = tr.Gaussian(sigma=sigma).poisson(rate=rate) * 2
    for proof in (False, True):
        bound = run.delta(epsilon, engine="contour", direction="remove", proof=proof)
        truth = delta_of_two(Use(sigma, rate), Use(sigma, rate), epsilon)
        assert bound.lower <= truth * (1 + mpmath.mpf(10) ** -12)
        assert truth * (1 - mpmath.mpf(10) ** -12) <= bound.upper
        assert proof or bound.width < 1e-5 * bound.upper


@pytest.mark.parametrize(
    ("sigma", "rate", "count", "delta"),
    [
        (1.01, 1.4e-4, 2, 6.8e-5),
        (0.75, 1e-4, 2, 1e-5),
        (1.08, 2.6e-5, 5433, 3.6e-16),
        (2.034, 2e-5, 44, 6.9e-19),
        (0.979, 1.5545e-10, 893, 2.78e-22),
    ],
)
def test_it_meets_what_other_engines_say(sigma: float, rate: float, count: int, delta: float) -> None:
    run = tr.Gaussian(sigma=sigma).poisson(rate=rate) * count
    bound = run.epsilon(delta, direction="remove")
    assert bound.width <= 1e-6 * bound.upper
    assert run.delta(bound.upper, engine="lattice", direction="remove", seconds=1.0).lower <= delta
    assert run.delta(bound.lower, engine="lattice", direction="remove", seconds=1.0).upper >= delta


def test_others_than_removals_are_refused() -> None:
    cgfs = [(cgf_of(tr.Gaussian(sigma=1.0).pair(Direction.REMOVE)), 2)]
    assert cut_decided(cgfs, 1.0, -30.0) is None
    with pytest.raises(UnsupportedMechanism):
        decided_mass(Parts(cgfs, (None,), decided_tilt=1.0), False)
    parts = cut_at(1.0, 1e-3, 2, 0.1, 2.0**60)  # 1 + s is no double
    with pytest.raises(UnsupportedMechanism):
        decided_mass(parts, False)
