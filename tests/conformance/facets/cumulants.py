"""K and what bounds it: formulas, quadratures, transforms, their decay, and the zCDP parameter."""

from __future__ import annotations

from flint import acb, arb

from tests.oracle.precision import precision
from tests.search import shared
from tightrope.core.losses.cgf import LOG_TOLERANCE, Cgf
from tightrope.core.losses.operators import registered as operators
from tightrope.core.numerics.balls import working_precision

from .asked import BITS, Asked, holds, meets

TILTS = (0.4, 5.0)
STEP, NODES, PICKED = 0.5, 7, (1, 6)


def cgf(asked: Asked) -> bool:
    found = asked.pair.cgf()
    if found is not None:
        for tilt in TILTS[:1] if asked.row.blur else shared(TILTS, asked.direction):
            whole = asked.moment(tilt)
            turned = {index: asked.moment(tilt, STEP * index) for index in PICKED}
            _in_floats(found, tilt, whole.real, turned)
            _in_balls(found, tilt, whole.real, turned)
            _decay(found, tilt, whole.real, turned)
    return found is not None


def _in_floats(found: Cgf, tilt: float, whole: arb, turned: dict[int, acb]) -> None:
    tilted = found.tilted(tilt, STEP * NODES, LOG_TOLERANCE)
    assert holds(tilted.log_mgf, whole.log()), f"K({tilt}) is {tilted.log_mgf}, not {whole.log().str(17)}"
    assert float(tilted.log_mgf.radius) <= 1e-11 * max(1.0, abs(float(tilted.log_mgf.value)))
    above = arb(found.log_mgf_above(tilt))
    assert not above < whole.log(), tilt
    guess = found.cumulants(tilt)  # only chooses where the contour runs
    assert abs(arb(guess.value) - whole.log()) <= 0.1 * (1 + abs(whole.log())), tilt
    drift = arb(float(tilted.drift.value), float(tilted.drift.radius))
    for count in (1, 3):
        factor = tilted.factor(STEP, NODES, count)
        for index, value in turned.items():
            with precision(BITS):
                phi = (value / whole) ** count
                computed = (acb(float(factor.log_modulus[index]), float(factor.phase[index]))).exp()
                computed *= acb(0, arb(STEP * index) * count * drift).exp()
                error = arb(float(factor.quadrature[index])) + arb(float(factor.rounding[index]))
                assert not abs(phi / computed - 1) > error.expm1(), (tilt, index, count)
                assert error < 1e-9, (tilt, index, count)
                assert not abs(phi).log() > float(factor.reach[index]), (tilt, index, count)


def _in_balls(found: Cgf, tilt: float, whole: arb, turned: dict[int, acb]) -> None:
    with working_precision(BITS):
        tilted = found.ball_tilted(tilt, STEP * NODES, 60.0)
        meets(tilted.log_mgf, whole.log(), f"K({tilt})")
        assert tilted.log_mgf.rad() < 1e-18, tilt
        phi = tilted.phi(STEP, NODES)
        for index, value in turned.items():
            assert phi[index].overlaps(value / whole), (tilt, index)
            assert phi[index].real.rad() < 1e-18, (tilt, index)


def _decay(found: Cgf, tilt: float, whole: arb, turned: dict[int, acb]) -> None:
    """The bound at a radius holds at every later time."""
    for decay in (found.cf_decay(tilt), found.ball_cf_decay(tilt)):
        for share in (1.0, 0.7, 0.3):
            for index, value in turned.items():
                bound = decay.log_bound(share * STEP * index)
                with precision(BITS):
                    assert not abs(value / whole).log() > bound, (tilt, index, share)


def sampled_cgf(asked: Asked) -> bool:
    """What the sample is asked for is what the base says."""
    if asked.rate == 1.0:
        return False
    sampling = operators.sampling_of(asked.pair)
    found = None if sampling is None else operators.sampled_cgf(sampling.base, asked.rate, asked.way)
    if found is not None:
        whole = asked.moment(TILTS[0])
        assert holds(found.tilted(TILTS[0], 0.0, LOG_TOLERANCE).log_mgf, whole.real.log())
        assert asked.pair.cgf() is not None
    return found is not None


def log_moment(asked: Asked) -> bool:
    """At real and at complex orders; logarithms are compared through their exponentials."""
    offered = False
    for z in (complex(0.4), complex(5.0), complex(2.0, 1.5)):
        with working_precision(BITS):
            found = asked.pair.moments().log_moment(acb(z.real, z.imag))
            if found is not None:
                offered = True
                truth = asked.moment(z.real, z.imag)
                assert found.exp().overlaps(truth), f"the moment at {z} is {found.exp()}, not {truth}"
                assert abs(found).rad() <= 1e-15, z
    return offered


def log_moment_above(asked: Asked) -> bool:
    offered = False
    for order in TILTS:
        with working_precision(BITS):
            found = asked.pair.moments().log_moment_above(order)
            if found is not None:
                offered = True
                assert not found < asked.moment(order).real.log(), order
    return offered


def zcdp_rho(asked: Asked) -> bool:
    with working_precision(BITS):
        found = asked.pair.moments().zcdp_rho()
        if found is not None:
            assert asked.truth.infinite_mass() == 0
            for order in TILTS:
                assert not asked.moment(order).real.log() > order * (arb(order) + 1) * found, order
    return found is not None
