"""K of integer noise: sums over a window of outputs, with what lies beyond it as an error.

Outputs are nearly on a lattice, so the transform returns: bounds of |phi| hold up to a horizon.
Guarantee: exact, upper for decay. Proof: docs/proofs/integer_noise.md, sections 6 and 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from flint import arb

from ...errors import Refusal, UnsupportedMechanism
from ...facets.cgf import BallTilted, CfDecay, Cgf, Cumulants
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.quadrature_ball import BallLaw, total_mass
from .moments import OutputWindow, left_out, log_terms, window
from .pair import IntegerNoisePair

if TYPE_CHECKING:
    from ...kernels.enclosure import Enclosure, FloatArray
    from ...kernels.quadrature import TiltedLaw

CONTOUR_OUTPUTS = 40_000
SMOOTH_SPREAD = 8.0  # of noise whose losses are as good as a lattice
TURN, TURNS = 4.0 * math.pi / 3.0, 200.0  # up to where its decay is known, over the gap of the losses; of other noise
WINDOW_SPARE = 8.0
SHARE_MAX = 1e-6  # of what lies beyond a window
LOG_SUM_ERROR = 1e-6  # the error of the log of a sum in float64, at most, of numbers up to e^LOG_SUM_MAX
LOG_SUM_MAX = 1e8


@dataclass(frozen=True)
class WindowError:
    """What lies beyond a window, over what lies in it."""

    ends: arb

    def at(self, t: float) -> arb:
        """No other error."""
        return arb(0)


@dataclass(frozen=True)
class IntegerNoiseCgf(Cgf):
    """K of shifted integer noise."""

    pair: IntegerNoisePair

    def _window(self, tilt: float, log_tolerance: float) -> OutputWindow:
        seen = window(self.pair.noise, self.pair.sensitivity, tilt, log_tolerance + WINDOW_SPARE)
        if seen.last - seen.first > CONTOUR_OUTPUTS:
            raise UnsupportedMechanism("too many of its outputs matter for a contour", Refusal.TOO_MUCH_WORK)
        return seen

    def _listed(
        self, tilt: float, log_tolerance: float
    ) -> tuple[OutputWindow, Enclosure, Enclosure, FloatArray, float]:
        """The window, masses and losses of its outputs, and about their tilted weights and the log of their sum."""
        import numpy as np

        seen, listing = self._window(tilt, log_tolerance), self.pair.listing
        outputs = listing.outputs
        if not (len(outputs) and outputs[0] <= seen.first and seen.last <= outputs[-1] and listing.joined):
            raise UnsupportedMechanism("its tilted outputs are beyond float64; try engine='lattice'")
        kept = slice(seen.first - int(outputs[0]), seen.last - int(outputs[0]) + 1)
        loss, masses = listing.loss[kept], listing.law(self.pair.sensitivity)[kept]
        growth = tilt * loss.value
        top = float(np.max(growth))
        weights = masses.value * np.exp(growth - top)
        total = float(np.sum(weights))
        return seen, masses, loss, weights / total, top + math.log(total)

    def cumulants(self, tilt: float) -> Cumulants:
        _, _, loss, weights, log = self._listed(tilt, 30.0)
        mean = float(weights @ loss.value)
        return Cumulants(log, mean, max(float(weights @ (loss.value - mean) ** 2), 1e-300))

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        seen = self._window(tilt, log_tolerance)
        return seen.last - seen.first + 1

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> TiltedLaw:
        from ...kernels.contour_kernel import TIME_ERROR
        from ...kernels.enclosure import around, enclosed
        from ...kernels.quadrature import QuadratureError, blurred, point_law

        seen, masses, loss, weights, log = self._listed(tilt, log_tolerance)
        noise, shift = self.pair.noise, self.pair.sensitivity
        with working_precision(BITS_START):
            # A sum of so many doubles has nine digits for certain.
            share = upper_float(left_out(noise, shift, seen, arb(tilt)) * (LOG_SUM_ERROR - arb(log)).exp())
            rest = upper_float(left_out(noise, shift, seen, arb(0)))
            missing = enclosed([self.pair.infinite_mass()])[0] + around(0.5 * rest, 0.5 * rest + math.ulp(0.0))
        if not (share < SHARE_MAX and abs(log) < LOG_SUM_MAX):
            raise UnsupportedMechanism("its tilted outputs are beyond float64; try engine='lattice'")
        centre = float(weights @ loss.value)
        law = point_law(masses, loss - centre, centre, missing, tilt, QuadratureError(share, ()))
        return blurred(law, TIME_ERROR)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        seen, shift = self._window(tilt, log_tolerance), self.pair.sensitivity
        terms = log_terms(self.pair.noise, shift, seen)
        weights = tuple((p + arb(tilt) * (p - q)).exp() for p, q in terms)
        error = WindowError(left_out(self.pair.noise, shift, seen, arb(tilt)) / sum(weights, arb(0)))
        return BallLaw(tuple(p - q for p, q in terms), weights, total_mass(weights, error).log(), error)

    @cached_property
    def _gap(self) -> float:
        """Of neighbouring losses next to 0, about."""
        noise, shift = self.pair.noise, self.pair.sensitivity
        middle = (noise.twice_centre + shift) // 2
        with working_precision(BITS_START):
            return float((noise.loss(middle + 1, shift) - noise.loss(middle, shift)).mid())

    def horizon(self) -> float:
        return (TURN if self.pair.noise.spread >= SMOOTH_SPREAD else TURNS) / self._gap

    def cf_decay(self, tilt: float) -> CfDecay:
        from .decay import swept

        return swept(self.tilted(tilt, 0.0, 42.0), self.horizon())
