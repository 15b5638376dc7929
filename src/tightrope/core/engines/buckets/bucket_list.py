"""A privacy bucket list with error-correction terms, rounding enclosed.

For a composition tree T with factor f = e^step and even n, B_T(i), l_T(i) (real error) and l~_T(i) (virtual error) are
those of definitions 4 and 7, i = -n ... n, infinity. A list holds three measures on these indices:
    masses       B_T(i),  the P_A-mass of bucket i
    real         C_T(i) = B_T(i)/f^i + l_T(i),   what the real error lets us know of its P_B-mass
    alternative  Q_T(i) = B_T(i)/f^i + l~_T(i),  its P_B-mass itself (lemma 11)
because V of definition 7 makes C and Q plain convolutions: (B1/f^j + x)(B2/f^k + y) = B1 B2/f^(j+k) + V(j, k, x, y).
With slack s >= 0, the rounding of indices, every event x of index i < infinity satisfies
    P_A(x) <= e^s f^i P_B(x)  and  C_T(x) <= e^s min(P_B(x), P_A(x) f^(u - i)),
which for s = 0 are lemma 6, lemmas 10 with 11, and lemma 12.
Reference: Meiser, Mohammadi 2018, Defs. 3, 4, 6, 7, 8, Lemmas 6 to 12. Proof: docs/proofs/buckets.md, lemmas 1 to 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from ...numerics.enclosures import FloatArray
from ...numerics.rounding import FEW, MILLIONS, THOUSANDS, TINIEST, UNIT, round_down, round_up
from ...values.errors import InvalidParameter
from ..tuning import FALL_RATES, FLATTEST_FALL, STEEPEST_FALL, TREE_TEXT_MAX

# A composition tree as it was written (definition 3), from left to right.
#
#     leaf x2 squared x4 x (other squared)
# is: a leaf composed with itself, squared, composed with itself twice over, composed with the squaring of another leaf.
# Composition is not associative, so the order is part of the result.


@dataclass(frozen=True, slots=True)
class Written:
    """A tree as text; doublings counts the compositions with itself that come last."""

    text: str = "leaf"
    doublings: int = 0
    bare: bool = True  # a leaf, which needs no brackets

    def __str__(self) -> str:
        return f"{self.text} x{2**self.doublings}" if self.doublings else self.text

    def composed(self, other: Written, same: bool) -> Written:
        """T x T' of two lists, or T x T of one and the same."""
        if same:
            return replace(self, doublings=self.doublings + 1, bare=False)
        return _made(f"{self} x {other}" if other.bare else f"{self} x ({other})")

    def squared(self) -> Written:
        """The squaring node."""
        return _made(f"{self} squared")


def _made(text: str) -> Written:
    half = TREE_TEXT_MAX // 2
    return Written(text if len(text) <= TREE_TEXT_MAX else f"{text[:half]} ... {text[-half:]}", bare=False)


N_MAX = 1 << 23  # 4 n + 1 points must fit the longest transform
LOG_2 = math.log(2.0)
VANISHED = 1e-290  # at or above what underflow may hide of a sum


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """A measure X on the indices -n ... n and infinity, in numbers tilted to be largest where delta is made.

    X(i) is about 2^scale e^(-slope i) values[i + n]; X(infinity) is about the share `infinity` of the whole mass, whose
    log is log_whole, up to whole_doubt. With D the exact minus these,
    |D(infinity) + sum over i >= s of D(i)| <= 2^scale e^(-slope s) radius + floor for s = -n ... n, where closed,
    |sum over i >= s of D(i)| <= 2^scale e^(-slope s) radius, where not closed,
    and the share errs by at most floor. The masses of P_A are closed: what lies at infinity counts for delta.
    Capping at -n and at infinity leaves closed sums alone and composition only adds them up: two numbers are enough.
    total is at or above the sum of all numbers of a closed measure, untilted.
    log_moments[j] is at or above log sum over finite i of X(i) e^(rates[j] i step), for the exact X, with
    rates[0] step = slope. They bound what lies above n (Chernoff) without help from the rounded numbers.
    """

    values: FloatArray
    infinity: float
    slope: float
    scale: int
    radius: float
    floor: float
    total: float
    rates: FloatArray
    log_moments: FloatArray
    closed: bool = True
    log_whole: float = 0.0
    whole_doubt: float = 0.0

    def __post_init__(self) -> None:
        for array in (self.values, self.rates, self.log_moments):
            array.setflags(write=False)

    @property
    def moment(self) -> float:
        """At or above 2^-scale sum over finite i of X(i) e^(slope i)."""
        exponent = float(self.log_moments[0]) - self.scale * LOG_2
        return round_up(math.exp(exponent), THOUSANDS) if exponent < 700.0 else math.inf

    @property
    def n(self) -> int:
        return len(self.values) // 2

    @property
    def flat(self) -> float:
        """What every sum may err by besides the radius."""
        return self.floor if self.closed else 0.0

    def weights(self, first: int, last: int, lift: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """2^scale e^(lift - slope i) for i = first ... last, and the relative error of each, lift taken exactly."""
        exponent = (self.scale * LOG_2 + lift) - self.slope * np.arange(first, last + 1, dtype=np.float64)
        with np.errstate(under="ignore", over="ignore"):
            return np.exp(exponent), (4.0 * (abs(self.scale) + 2.0 * abs(lift) + np.abs(exponent)) + 8.0) * UNIT

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Doubles around X(i), i = -n ... n: D(i) is a difference of two neighbouring sums."""
        weight, units = self.weights(-self.n, self.n)
        doubt = round_up(self.radius * (1.0 + math.exp(-self.slope)), THOUSANDS)
        flat = round_up(2.0 * self.flat, THOUSANDS)
        with np.errstate(all="ignore"):
            low = np.maximum((self.values - doubt) * weight * (1.0 - units) - flat, 0.0)
            high = (self.values + doubt) * weight * (1.0 + units) + flat
        return np.maximum(round_down(low, 4.0) - TINIEST, 0.0), round_up(high, 4.0) + TINIEST

    def infinity_bounds(self) -> tuple[float, float]:
        """Doubles around X(infinity)."""
        low, high = self.infinity - self.floor, self.infinity + self.floor
        if not high < math.inf:  # a NaN too: numbers have left the doubles, and nothing is known
            return 0.0, 1.0
        return max(round_down(low, 4.0), 0.0), min(round_up(high, 4.0), 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class TreeBuckets:
    """The list of one valid composition tree (definition 3)."""

    step: float  # log of the factor
    u: int  # how many buckets too high the real error may be, definition 7
    leaves: int
    squarings: int
    masses: Measure
    real: Measure
    alternative: Measure
    leaked: float  # at or below the P_A-mass of events that have P_B = 0; they all have index infinity
    bounded: bool  # no event at all has index infinity
    slack: float
    top: int  # no finite index above
    falls: Falls
    shift: Fraction = Fraction(0)  # what the labels leave out: index i stands for losses up to i step + shift
    tree: Written = field(default_factory=Written)

    def __post_init__(self) -> None:
        check_shape(self.step, self.n)

    @property
    def n(self) -> int:
        return self.masses.n

    @property
    def factor(self) -> float:
        """f_T, to the nearest double."""
        return math.exp(self.step)

    @property
    def highest(self) -> float:
        """No finite loss is above, and not below 0."""
        most = Fraction(self.step) * self.top + self.shift + Fraction(self.slack)
        return max(round_up(float(most), FEW), 0.0)

    @property
    def infinity(self) -> tuple[float, float]:
        """Doubles around B_T(infinity)."""
        low, high = (0.0, 0.0) if self.bounded else self.masses.infinity_bounds()
        return max(low, self.leaked), max(high, self.leaked)


def check_shape(step: float, n: int) -> None:
    """The validity rules of definition 3: f > 1 and n an even natural number."""
    if not 0.0 < step < math.inf:
        raise InvalidParameter(f"the factor of a bucket list must be above 1 and finite, not e^{step!r}")
    if n < 2 or n % 2 or n > N_MAX:
        raise InvalidParameter(f"n must be an even number from 2 to {N_MAX}, not {n}")


def check_composable(one: TreeBuckets, other: TreeBuckets) -> None:
    """Definition 3: f and n of a composition node are defined only where both children agree."""
    if one.n != other.n:
        raise InvalidParameter(f"only lists of equal n can be composed, not {one.n} and {other.n}")
    if one.step != other.step:
        raise InvalidParameter(
            f"only lists of equal factor can be composed, not {one.factor!r} and {other.factor!r}: square the finer one"
        )
    if one.masses.slope != other.masses.slope:
        raise InvalidParameter("only lists of equal tilt can be composed")


# What capping at -n costs, before it is done: the other end of the rule for squaring.
#
# An event that falls below -n keeps its masses and gets the label -n, which is too high. With W the sum over all
# cappings
# of f^-n P_B(capped), the capped tree's delta_up is above that of the uncapped one by at most e^s W, and its delta_low
# is
# below by at most e^(u step + s) W: as much as P_A-mass moved to infinity would cost.
# By Chernoff f^-n P_B[loss < -n step] <= min over rates r >= 1 of E_A[e^(-r loss)] e^(-r n step), and moments multiply.
# Guarantee: none needed, it steers. Proof: docs/proofs/buckets.md, lemma 7.


@dataclass(frozen=True, slots=True, eq=False)
class Falls:
    """About log E_A[e^(-rate loss)] of the uncapped tree for some rates, and about W so far."""

    rates: FloatArray
    log_moments: FloatArray
    lowest: float  # loss
    cost: float = 0.0

    @staticmethod
    def of(masses: Measure, step: float) -> Falls:
        """Those of a leaf."""
        reach = masses.n * step
        rates = 1.0 + np.geomspace(FLATTEST_FALL, STEEPEST_FALL, FALL_RATES) / reach
        filled = np.flatnonzero(masses.values > 0.0)
        index = filled - float(masses.n)
        logs = np.log(masses.values[filled]) + masses.scale * LOG_2 - masses.slope * index
        moments = np.full(len(rates), -math.inf)
        for j, rate in enumerate(rates):
            if len(filled):
                exponent = logs - rate * step * index
                most = float(np.max(exponent))
                moments[j] = most + math.log(float(np.sum(np.exp(exponent - most))))
        return Falls(rates, moments, float(index[0]) * step if len(filled) else 0.0)

    def with_other(self, other: Falls, reach: float) -> Falls:
        """Those of a composition that caps below -reach."""
        same = other.rates is self.rates or np.array_equal(other.rates, self.rates)
        added = other.log_moments if same else np.interp(self.rates, other.rates, other.log_moments)
        moments, lowest = self.log_moments + added, self.lowest + other.lowest
        falls = lowest < -round_up(reach, MILLIONS)
        fallen = math.exp(min(float(np.min(moments - self.rates * reach)), 0.0)) if falls else 0.0
        return replace(self, log_moments=moments, lowest=lowest, cost=self.cost + other.cost + fallen)
