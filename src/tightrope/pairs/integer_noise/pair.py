"""Integer noise around a whole shift D against the same around 0.

The loss log p_{k-D}/p_k rises with the output k, as the masses are log-concave. With S(k) = P[X >= k] and m the first
output whose loss exceeds t, P[l > t] = S(m - D), Q[l > t] = S(m) and H(e^t) = S(m - D) - e^t S(m).
The mirror k -> D + 2 centre - k exchanges P and Q: both directions are alike.
Guarantee: exact. float64 lists the outputs once, or reads balls. Proof: docs/proofs/integer_noise.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb

from ...facets.finite import Atoms, listed_hockey_stick
from ...facets.moments import Moments
from ...kernels.ball import BITS_START, enclose, working_precision
from ...kernels.double_double import DoubleDouble
from ...kernels.enclosure import Enclosure, FloatArray, enclosed, falling
from ...operators import has_bracket_only, shifted_pair
from ...pair import HOCKEY_STICK_COST, BallTails, LossRange, Pair, Tails
from .bend import Bend
from .crossing import FarSide, far_output, first_outputs, side_of
from .listing import LISTED_MAX, Listing
from .noise import IntegerNoise

if TYPE_CHECKING:
    from ...facets.cgf import Cgf
    from ...facets.resolution import Resolution

PLACES_FEW = 64  # places at which balls are read where the outputs are too many
OUTPUTS_SUMMED = 4096  # outputs: beyond, balls are as fast
BALL_COST = 3000


@dataclass(frozen=True)
class IntegerNoisePair(Pair):
    """Noise around `sensitivity` against noise around 0."""

    noise: IntegerNoise
    sensitivity: int

    def __post_init__(self) -> None:
        """Laws that have no output in common are like those of the least such shift."""
        if self.noise.last is not None and self.sensitivity > self.noise.last + 1:
            object.__setattr__(self, "sensitivity", self.noise.last + 1)

    @cached_property
    def listing(self) -> Listing:
        """The outputs in float64."""
        return Listing(self.noise, self.sensitivity)

    def tails(self, t: DoubleDouble) -> Tails:
        if self.listing.size > LISTED_MAX and t.hi.size <= PLACES_FEW:
            return self._tails_in_balls(t)
        m = self.listing.first_above(t.collapse())
        mirrored = self.noise.twice_centre - m + 1
        above = self.listing.above
        return Tails(above(m - self.sensitivity), above(m), above(mirrored + self.sensitivity), above(mirrored))

    def _tails_in_balls(self, t: DoubleDouble) -> Tails:
        rows = []
        for hi, lo in zip(t.hi.ravel().tolist(), t.lo.ravel().tolist(), strict=True):
            if np.isinf(hi):
                mass = enclose(self.infinite_mass)[1]
                rows.append([mass, 0.0, 1.0 - mass, 1.0] if hi > 0.0 else [1.0, 1.0 - mass, 0.0, mass])
            else:
                rows.append([enclose(partial(self._tail, hi, lo, i))[1] for i in range(4)])
        return Tails(*(np.array(column).reshape(t.hi.shape) for column in zip(*rows, strict=True)))

    def _tail(self, hi: float, lo: float, place: int) -> arb:
        return self.ball_tails(arb(hi) + arb(lo))[place]

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """A sum over the outputs that are listed where they are few, else by balls."""
        if self.listing.size <= OUTPUTS_SUMMED:
            atoms = self._atoms
            enclosure = listed_hockey_stick(atoms.p, atoms.loss, atoms.infinite, epsilon)
            return Enclosure(enclosure.value, enclosure.radius + self.listing.left_out)

        def ends(points: FloatArray) -> tuple[FloatArray, FloatArray]:
            found = [enclose(partial(self.ball_hockey_stick, arb(float(point)))) for point in points]
            return np.array([low for low, _ in found]), np.array([high for _, high in found])

        return falling(ends, epsilon)

    def ball_tails(self, t: arb) -> BallTails:
        noise, shift = self.noise, self.sensitivity
        side = side_of(noise, shift, t)
        if side in (FarSide.ABOVE, FarSide.BELOW):
            some = self._unseen()
            all_but = 1 - some
            above = side is FarSide.ABOVE
            return BallTails(some, some, all_but, all_but) if above else BallTails(all_but, all_but, some, some)
        found = [
            BallTails(noise.tail(m - shift), noise.tail(m), *(noise.tail(noise.mirror(k) + 1) for k in (m - shift, m)))
            for m in (() if side is FarSide.UNKNOWN else first_outputs(noise, shift, t))
        ]
        if not found:
            return BallTails(*(arb(0).union(arb(1)) for _ in range(4)))
        return BallTails(*(one.union(other) for one, other in zip(found[0], found[-1], strict=True)))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        """S(m - D) - e^eps S(m); an unsure m is harmless, because the true one attains the maximum."""
        power, side = epsilon.exp(), side_of(self.noise, self.sensitivity, epsilon)
        if side is FarSide.ABOVE:
            return self._unseen()
        if side is FarSide.BELOW:
            return 1 - power + power * self._unseen()
        if side is FarSide.UNKNOWN:
            return arb(0).union(arb(1))
        values = [
            self.noise.tail(m - self.sensitivity) - power * self.noise.tail(m)
            for m in first_outputs(self.noise, self.sensitivity, epsilon)
        ]
        return reduce(arb.max, values).max(arb(0)).min(arb(1)) if values else arb(0).union(arb(1))

    def _unseen(self) -> arb:
        """At most what either law has beyond the far output, which is not the last of all."""
        far = far_output(self.noise, self.sensitivity)
        return arb(0).union(self.noise.chernoff(far - self.sensitivity + 1))

    def reversed(self) -> IntegerNoisePair:
        return self

    def infinite_mass(self) -> arb:
        last = self.noise.last
        return arb(0) if last is None else self.noise.tail(last - self.sensitivity + 1)

    def loss_range(self) -> LossRange:
        last = self.noise.last
        if last is None:
            return LossRange(arb.neg_inf(), arb.pos_inf())
        if self.sensitivity > last:
            return LossRange(arb(0), arb(0))
        highest = self.noise.loss(last, self.sensitivity)
        return LossRange(-highest, highest)

    def atoms(self) -> Atoms | None:
        return None if self.listing.size > LISTED_MAX else self._atoms

    @cached_property
    def _atoms(self) -> Atoms:
        listing = self.listing
        with working_precision(BITS_START):
            alone = enclosed([self.infinite_mass()])[0]
        p, q = listing.law(self.sensitivity), listing.law(0)
        return Atoms(p, q, listing.loss, alone, alone, listing.left_out)

    def cgf(self) -> Cgf | None:
        from .cgf import IntegerNoiseCgf

        disjoint = self.noise.last is not None and self.sensitivity > self.noise.last
        return None if disjoint or self.listing.size > LISTED_MAX else IntegerNoiseCgf(self)

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair] | None:
        from .cells import bracket

        return bracket(self.noise, self.sensitivity, fine) if has_bracket_only(self) else None

    def hockey_stick_cost(self) -> int:
        return HOCKEY_STICK_COST if self.listing.size <= OUTPUTS_SUMMED else BALL_COST

    def moments(self) -> IntegerNoiseMoments:
        return IntegerNoiseMoments(self)


class IntegerNoiseMoments(Moments[IntegerNoisePair]):
    def log_moment(self, z: acb) -> acb | None:
        from .moments import log_moment

        return log_moment(self.pair.noise, self.pair.sensitivity, z)

    def zcdp_rho(self) -> arb | None:
        bend = Bend.of(self.pair.noise, self.pair.sensitivity)
        return None if bend is None else bend.rho()

    def approximate_zcdp(self) -> tuple[tuple[arb, arb], ...]:
        bend = Bend.of(self.pair.noise, self.pair.sensitivity)
        return () if bend is None else bend.lines()


@has_bracket_only.register(IntegerNoisePair)
def _(pair: IntegerNoisePair) -> bool:
    return pair.listing.size > LISTED_MAX


@shifted_pair.register(IntegerNoisePair)
def _(pair: IntegerNoisePair, times: int) -> IntegerNoisePair:
    return IntegerNoisePair(pair.noise, times * pair.sensitivity)
