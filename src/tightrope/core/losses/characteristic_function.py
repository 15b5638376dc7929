"""The pair of a loss that is known by its log moment function only.

(Q, P) has E_Q[e^{-z l}] = E_P[e^{(-1 - z) l}], so K(-1 - z) is its log moment function. There are no tails and no
profile: the contour reads K, engines that need more refuse.
Guarantee: what holds for every loss with the claimed K. Proof: docs/proofs/moments.md.
Reference: Zhu, Dong, Wang 2021, Sec. 4.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

from flint import acb, arb

from ..numerics.balls import BITS_START, upper_float, working_precision
from ..numerics.enclosures import enclosed, exact
from ..values.errors import InvalidParameter, TightropeError, UnsupportedMechanism
from .capabilities import Moments
from .cgf import Cgf, Cumulants, beyond_pole
from .node_powers import PowerTilted
from .operators.registered import is_opaque
from .pair import LossRange, Pair

# What somebody claims of a loss: K(z) = log E_P[e^{z l}; l finite] on a strip, its infinite masses, and how it falls.
#
# Nothing here can be proven from values of K. What every loss must obey is tried at places without a pattern, and what
# a
# ball contradicts is refused: M(0) = 1 - w and M(-1) = 1 - v, w and v the masses that P and Q have alone; K real and
# convex on the real line; M(conj z) = conj M(z); |phi(t)| <= 1 and 1 - Re phi(2t) <= 4 (1 - Re phi(t)),
# phi(t) = M(c + it)/M(c) the transform of the tilted loss; Im phi(t) near t K'(c); and the fall that is claimed.
# Guarantee: none beyond the claims. Proof that the tries hold for every loss: docs/proofs/moments.md.
# Reference: Lukacs 1970, Characteristic Functions, Thm 4.1.2 and 4.3.

LogMoment = Callable[[acb], acb]
ClaimedDecay = Callable[[arb, arb], arb]

FALLING = "falling"
TRIED = 16
TRIED_AROUND = 8.0  # around [-1, 0]: where a strip without an end is tried
SPREADS = -3.0, 6.0  # log of the times that are tried, in units of the tilted loss
MASS_TOLERANCE = 1e-9  # of a mass above 0, which K tells with all its digits
QUOTIENT_STEPS = (2.0**-80, 2.0**-40, 2.0**-20, 2.0**-8)  # of a difference quotient: wider where K has few digits
QUOTIENT_BITS = 400
QUOTIENT_SURE = 100  # times as large as its radius
TURN_STEP = 2.0**-20  # in units of the tilted loss's size: how far from a tilt its slope is compared


@dataclass(frozen=True)
class Claims:
    """K and where it holds; decay: a function, "falling", or None where nothing is claimed."""

    log_moment: LogMoment
    strip: tuple[float, float]
    decay: ClaimedDecay | str | None
    infinite_mass: float
    lost_mass: float

    def at(self, z: acb) -> acb:
        """K(z) at the working precision; real on the real line."""
        low, high = self.strip
        if not (arb(low) <= z.real and z.real <= arb(high)):
            raise UnsupportedMechanism(f"log_moment is claimed for real parts from {low!r} to {high!r} only")
        found: object = _theirs("log_moment", lambda: self.log_moment(z))
        if not isinstance(found, (acb, arb, int)):
            raise InvalidParameter(
                f"log_moment must give a flint.acb, not {type(found).__name__}: numbers without a radius prove nothing"
            )
        value = acb(found)
        if not value.is_finite():
            raise UnsupportedMechanism(f"log_moment has no finite value at {_shown(z)}")
        return acb(value.real) if z.imag.is_zero() else value

    def log_fall(self, tilt: arb, radius: arb) -> float:
        """At or above log |M(c + it)/M(c)| for all |t| >= radius, as claimed."""
        if self.decay is None:
            return 0.0
        decay = self.decay
        if callable(decay):
            return min(0.0, upper_float(_theirs("decay", lambda: arb(decay(tilt, radius)))))
        return min(0.0, upper_float(self.at(acb(tilt, radius)).real - self.at(acb(tilt)).real))

    def slopes(self, tilt: float) -> tuple[float, float, float]:
        """K, K' and K'' by differences, approximately; beyond the strip a wall."""
        low, high = self.strip
        if not low < tilt < high:
            return beyond_pole(tilt, low if tilt <= low else high)
        room = min(tilt - low, high - tilt) / 4.0
        with working_precision(QUOTIENT_BITS):
            for step in (arb(min(value, room)) for value in QUOTIENT_STEPS):
                left, here, right = (self.at(acb(arb(tilt) + side * step)).real for side in (-1, 0, 1))
                first, second = (right - left) / (2 * step), (right - 2 * here + left) / step**2
                if second > QUOTIENT_SURE * second.rad():
                    break
            return float(here.mid()), float(first.mid()), max(float(second.mid()), 0.0)


def check(claims: Claims) -> None:
    """Refuses what a ball shows not to be the log moment function of a loss."""
    rng = random.Random(2016)
    with working_precision(BITS_START):
        _mass("infinite_mass", 0, claims)
        _mass("lost_mass", -1, claims)
        for _ in range(TRIED):
            _convex(claims, *sorted(_tilt(rng, claims) for _ in range(2)))
            tilt = _tilt(rng, claims)
            _, mean, variance = claims.slopes(tilt)
            spread = math.sqrt(variance) or 1.0
            _transform(claims, tilt, math.exp(rng.uniform(*SPREADS)) / spread, rng.uniform(1.0, 4.0))
            _turn(claims, tilt, TURN_STEP / (math.hypot(mean, spread) or 1.0))


def _theirs(name: str, value: Callable[[], Any]) -> Any:
    """What a function of somebody else gives; whatever it raises is said in one line."""
    try:
        return value()
    except TightropeError:
        raise
    except Exception as error:
        raise InvalidParameter(f"{name} fails: {type(error).__name__}: {str(error)!s:.80}") from error


def _tilt(rng: random.Random, claims: Claims) -> float:
    low, high = max(claims.strip[0], -1.0 - TRIED_AROUND), min(claims.strip[1], TRIED_AROUND)
    return round(rng.uniform(low, high) * 0.999, 9)


def _mass(name: str, place: int, claims: Claims) -> None:
    """M(0) = 1 - w, M(-1) = 1 - v."""
    value, claimed = -claims.at(acb(place)).real.expm1(), arb(getattr(claims, name))
    if abs(value - claimed) > MASS_TOLERANCE * claimed:
        raise InvalidParameter(
            f"log_moment({place}) must be log(1 - {name}), and {name} is {float(claimed)!r}: "
            f"it says {value.str(8, radius=False)}"
        )


def _convex(claims: Claims, left: float, right: float) -> None:
    ends = [claims.at(acb(tilt)).real for tilt in (left, right)]
    if claims.at(acb((arb(left) + arb(right)) / 2)).real > (ends[0] + ends[1]) / 2:
        raise InvalidParameter(f"log_moment is that of no loss: it is not convex from {left:.4g} to {right:.4g}")


def _transform(claims: Claims, tilt: float, time: float, further: float) -> None:
    """phi at t and at 2 t, and the fall from t on."""
    t = arb(time)
    whole, once, twice = claims.at(acb(tilt)), claims.at(acb(tilt, t)), claims.at(acb(tilt, 2 * t))
    place = f"at {tilt:.4g} + {t.str(4, radius=False)}i"
    if not claims.at(acb(tilt, -t)).exp().overlaps(once.exp().conjugate()):
        raise InvalidParameter(f"log_moment is that of no loss: {place} and its conjugate do not mirror each other")
    if once.real > whole.real:
        raise InvalidParameter(f"log_moment is that of no loss: it has a larger real part {place} than at {tilt:.4g}")
    near, far = 1 - (once - whole).exp().real, 1 - (twice - whole).exp().real
    if far > 4 * near:
        raise InvalidParameter(f"log_moment is that of no loss: its transform falls too fast {place}")
    later = claims.at(acb(tilt, further * t)).real - whole.real
    bound = claims.log_fall(arb(tilt), t)
    if later > bound:
        raise InvalidParameter(
            f"decay claims {bound:.4g} from |t| = {t.str(4, radius=False)} on at {tilt:.4g}, "
            f"log_moment has {later.str(4, radius=False)} further on"
        )


def _turn(claims: Claims, tilt: float, near: float) -> None:
    """|Im phi(t) - t m| <= t^2 E_c[l^2]/2, m = K'(c) between two secants, and E_c[l^2] by a second difference of M."""
    step = arb(min(near, (tilt - claims.strip[0]) / 4.0, (claims.strip[1] - tilt) / 4.0))
    left, whole, right = (claims.at(acb(arb(tilt) + side * step)).real for side in (-1, 0, 1))
    square = ((left - whole).expm1() + (right - whole).expm1()) / step**2
    turned = (claims.at(acb(tilt, step)) - whole).exp().imag / step
    spare = step * square / 2
    if turned > (right - whole) / step + spare or turned < (whole - left) / step - spare:
        raise InvalidParameter(
            f"log_moment is that of no loss: near {tilt:.4g} its imaginary part does not follow its slope; "
            "it must be a function of z, and neither of its real part alone nor of its conjugate"
        )


def _shown(z: acb) -> str:
    return f"{z.real.str(6, radius=False)} + {z.imag.str(6, radius=False)}i"


@dataclass(frozen=True)
class MomentPair(Pair):
    """The claims; flipped: P and Q exchanged."""

    claims: Claims
    flipped: bool = False

    def place(self, z: acb) -> acb:
        """Where K is asked for that of this pair at z."""
        return -1 - z if self.flipped else z

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        self._demand_reach()
        raise UnsupportedMechanism(
            "moments of its loss are all that is known, and a contour alone reads them: claim how they fall (decay), "
            "widen the strip, or compose it with noise that has a cgf, such as Gaussian"
        )

    tails = hockey_stick = ball_tails = ball_hockey_stick = _not_known

    def _demand_reach(self) -> None:
        """A contour runs through some tilt above 0."""
        if not self.tilts[1] > 0.0:
            side, own, other = ("left of -1", "add", "remove") if self.flipped else ("right of 0", "remove", "add")
            raise UnsupportedMechanism(
                f"log_moment is not claimed {side}, which direction='{own}' needs at epsilon 0 and above, and "
                f"direction='{other}' below 0; widen strip"
            )

    @property
    def tilts(self) -> tuple[float, float]:
        """The strip of this direction, approximately."""
        low, high = self.claims.strip
        return (-1.0 - high, -1.0 - low) if self.flipped else (low, high)

    def reversed(self) -> MomentPair:
        return MomentPair(self.claims, not self.flipped)

    def infinite_mass(self) -> arb:
        """Zero where that is claimed, else read off K."""
        claimed, place = (self.claims.infinite_mass, 0) if not self.flipped else (self.claims.lost_mass, -1)
        return -self.claims.at(acb(place)).real.expm1() if claimed else arb(0)

    def loss_range(self) -> LossRange:
        """Nothing is known."""
        return LossRange(arb.nan(), arb.nan())

    def cgf(self) -> MomentCgf:
        return self._cgf

    @cached_property
    def _cgf(self) -> MomentCgf:

        self._demand_reach()
        return MomentCgf(self)

    def moments(self) -> ClaimedMoments:
        return ClaimedMoments(self)


class ClaimedMoments(Moments[MomentPair]):
    def log_moment(self, z: acb) -> acb:
        return self.pair.claims.at(self.pair.place(z))


@is_opaque.register(MomentPair)
def _(pair: MomentPair) -> bool:
    return True


# K as it was claimed, on the nodes of a contour: each is one ball, and float64 is rounded from it.
#
# Guarantee: exact where the claims hold. Proof: docs/proofs/moments.md.

CLAIMED_POINTS = 1000  # points of a sum that take as long as one node of a short formula


@dataclass(frozen=True)
class MomentBallTilted:
    """The tilted loss in balls."""

    pair: MomentPair
    tilt: float

    @property
    def log_mgf(self) -> arb:
        return self.pair.moments().log_moment(acb(self.tilt)).real

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        whole, tilt = self.log_mgf, arb(self.tilt)
        return [(self.pair.moments().log_moment(acb(tilt, arb(step) * index)) - whole).exp() for index in range(nodes)]


@dataclass(frozen=True)
class MomentDecay:
    """The fall that is claimed."""

    pair: MomentPair
    tilt: float

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            return self.pair.claims.log_fall(self.pair.place(acb(self.tilt)).real, arb(radius))


@dataclass(frozen=True)
class MomentCgf(Cgf):
    """K of a pair that is known by it."""

    pair: MomentPair
    _slopes: dict[float, Cumulants] = field(default_factory=dict, compare=False, repr=False)

    def cumulants(self, tilt: float) -> Cumulants:
        if tilt not in self._slopes:
            flipped = self.pair.flipped
            value, mean, variance = self.pair.claims.slopes(-1.0 - tilt if flipped else tilt)
            self._slopes[tilt] = Cumulants(value, -mean if flipped else mean, variance)
        return self._slopes[tilt]

    def log_mgf_above(self, tilt: float) -> float:
        with working_precision(BITS_START):
            return upper_float(MomentBallTilted(self.pair, tilt).log_mgf)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return CLAIMED_POINTS

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> PowerTilted:

        law = MomentBallTilted(self.pair, tilt)
        with working_precision(BITS_START):
            return PowerTilted(enclosed([law.log_mgf])[0], exact(self.cumulants(tilt).mean), law)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> MomentBallTilted:
        return MomentBallTilted(self.pair, tilt)

    def ball_cf_decay(self, tilt: float) -> MomentDecay:
        return MomentDecay(self.pair, tilt)
