"""Double-double arithmetic: a number as the unevaluated sum hi + lo of two doubles, |lo| <= ulp(hi) / 2.

Relative error per operation, u = 2**-53: sum and difference 4 u^2, product and root 8 u^2, quotient 16 u^2, exp and
expm1 2**-100, log and log1p 2**-98. It holds where every operand and result is 0 or of magnitude 2**-960 to 2**1000;
beyond, the error is that of a few roundings in double precision. Infinite operands give the limit, a form without
limit (inf - inf, 0 * inf, log of a negative number) gives NaN, and nothing warns.
Guarantee: approximate, within the errors above, under the constants of kernels.ulps. Proof: docs/proofs/rounding.md.
Reference: Joldes, Muller, Popescu 2017, "Tight and rigorous error bounds for basic building blocks of double-word
arithmetic", Alg. 6 (sum), Alg. 10 (product).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from flint import arb

from ..values import compute_budget

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

DOUBLE_DOUBLE_OPERATION = 60.0  # units of work, for one entry

# Half of the 27 bits that a split drops, and the mask that drops them.
_ROUND = np.int64(1 << 26)
_KEEP = np.int64(-(1 << 27))

# Below this a remainder loses bits to underflow, so that a quotient or root is better off without its correction.
_MIN = 2.0**-960

# e^x is 0 below -BEYOND and inf above it.
_EXPONENT_BEYOND = 800.0


@dataclass(frozen=True, slots=True, eq=False)
class DoubleDouble:
    """hi + lo, elementwise; both of equal shape, lo = 0 where hi is not finite."""

    hi: FloatArray
    lo: FloatArray

    # Lets array + Twofold reach __radd__ as a whole.
    __array_ufunc__: ClassVar[None] = None

    def collapse(self) -> FloatArray:
        """The nearest double. To compare two numbers take the sign of their collapsed difference."""
        return np.asarray(self.hi + self.lo)

    def __getitem__(self, index: Any) -> DoubleDouble:
        return DoubleDouble(np.asarray(self.hi[index]), np.asarray(self.lo[index]))

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(np.asarray(-self.hi), np.asarray(-self.lo))

    def __add__(self, other: DoubleDouble | npt.ArrayLike) -> DoubleDouble:
        return _sum(self, double_double(other))

    def __sub__(self, other: DoubleDouble | npt.ArrayLike) -> DoubleDouble:
        return _sum(self, -double_double(other))

    def __rsub__(self, other: npt.ArrayLike) -> DoubleDouble:
        return _sum(-self, double_double(other))

    def __mul__(self, other: DoubleDouble | npt.ArrayLike) -> DoubleDouble:
        return _product(self, double_double(other))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: DoubleDouble | npt.ArrayLike) -> DoubleDouble:
        return _quotient(self, double_double(other))

    def __rtruediv__(self, other: npt.ArrayLike) -> DoubleDouble:
        return _quotient(double_double(other), self)

    def floor(self) -> FloatArray:
        """The whole number at or below."""
        high: FloatArray = np.floor(self.hi)
        return np.where(high == self.hi, high + np.floor(self.lo), high)

    def half(self) -> DoubleDouble:
        """x / 2, exactly."""
        return DoubleDouble(np.asarray(0.5 * self.hi), np.asarray(0.5 * self.lo))

    def sqrt(self) -> DoubleDouble:
        """Square root: one Newton step from the root of hi."""
        with np.errstate(all="ignore"):
            root = np.sqrt(self.hi)
            square, error = _exact_product(root, root)
            step = (((self.hi - square) - error) + self.lo) / (2.0 * root)
            return _joined(root, _trusted(step, self.hi))

    def exp(self) -> DoubleDouble:
        """e^x = 2^m 2^(j/256) e^r; 0 at -inf, inf at inf and wherever it exceeds the doubles."""
        with np.errstate(all="ignore"):
            rest, power, row = _reduced(self)
            factor = DoubleDouble(_POWER_HI[row], _POWER_LO[row])
            return _scaled(_sum(factor, _product(factor, _expm1_series(rest))), power)

    def exp_collapsed(self) -> FloatArray:
        """e^x as a double, e^hi (1 + lo): relative error ulps.EXP + 3 units, a twentieth of the time of exp."""
        with np.errstate(all="ignore"):
            return np.asarray(np.exp(self.hi) * (1.0 + self.lo))

    def expm1(self) -> DoubleDouble:
        """e^x - 1, relative precision near 0; -1 at -inf.

        Without a power of two (m = 0) it is (2^(j/256) - 1) + 2^(j/256) (e^r - 1), whose terms cancel at most half.
        """
        with np.errstate(all="ignore"):
            rest, power, row = _reduced(self)
            factor = DoubleDouble(_POWER_HI[row], _POWER_LO[row])
            near = power == 0
            start = DoubleDouble(
                np.where(near, _POWERM1_HI[row], factor.hi),
                np.where(near, _POWERM1_LO[row], factor.lo),
            )
            total = _scaled(_sum(start, _product(factor, _expm1_series(rest))), power)
            return _sum(total, DoubleDouble(np.where(near, 0.0, -1.0), np.zeros_like(total.hi)))

    def log(self) -> DoubleDouble:
        """log x = k log 2 + log1p(m - 1) with x = 2^k m, m within a factor sqrt 2 of 1; -inf at 0."""
        with np.errstate(all="ignore"):
            mantissa, power = _centred(self)
            return _limited(_logarithm(_sum(mantissa, _MINUS_ONE), power), np.log(self.hi))

    def log1p(self) -> DoubleDouble:
        """log(1 + x), relative precision near 0; -inf at -1."""
        with np.errstate(all="ignore"):
            near = (self.hi > -0.25) & (self.hi < 0.375)
            whole = _sum(self, -_MINUS_ONE)
            mantissa, power = _centred(whole)
            excess = where(near, self, _sum(mantissa, _MINUS_ONE))
            return _limited(_logarithm(excess, np.where(near, 0, power)), np.log(whole.hi))


def double_double(value: DoubleDouble | npt.ArrayLike) -> DoubleDouble:
    """Doubles taken as they are."""
    if isinstance(value, DoubleDouble):
        return value
    array = np.asarray(value, dtype=np.float64)
    return DoubleDouble(array, np.zeros_like(array))


def double_double_of_ball(ball: arb) -> DoubleDouble:
    """The middle of a ball to twice the digits of a double; off by 2^-105 and its radius."""
    middle = ball.mid()
    high = float(middle)
    return double_double(high) + float(middle - arb(high))


def double_double_of_count(count: int) -> DoubleDouble:
    """A whole number of any size that fits into a double, to twice its digits."""
    high = float(count)
    return double_double(high) + float(count - int(high))


def where(condition: npt.NDArray[np.bool_], then: DoubleDouble, other: DoubleDouble) -> DoubleDouble:
    """Elementwise choice."""
    return DoubleDouble(np.where(condition, then.hi, other.hi), np.where(condition, then.lo, other.lo))


def _joined(first: FloatArray, rest: FloatArray, limit: FloatArray | None = None) -> DoubleDouble:
    """first + rest, exact for |rest| <= |first|; `limit` (or `first`) where an infinite operand spoilt the sum."""
    hi = first + rest
    lo = rest - (hi - first)
    good = np.isfinite(lo)
    if not good.all():
        hi, lo = np.where(good, hi, first if limit is None else limit), np.where(good, lo, 0.0)
    return DoubleDouble(np.asarray(hi), np.asarray(lo))


def _limited(inside: DoubleDouble, limit: FloatArray) -> DoubleDouble:
    """`limit` wherever it is infinite or NaN."""
    good = np.isfinite(limit)
    return inside if good.all() else DoubleDouble(np.where(good, inside.hi, limit), np.where(good, inside.lo, 0.0))


def _trusted(step: FloatArray, operand: FloatArray) -> FloatArray:
    """The correction, or 0 where the remainder that it came from may have underflowed."""
    tiny = abs(operand) < _MIN
    return np.where(tiny, 0.0, step) if tiny.any() else step


def _exact_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """s + e = a + b exactly, s the rounded sum (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _split(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a = head + tail exactly, 26 bits each; on the bits, so that large numbers do not overflow."""
    head = ((a.view(np.int64) + _ROUND) & _KEEP).view(np.float64)
    return head, a - head


def _exact_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """p + e = a b exactly, p the rounded product, unless it overflows or falls below 2**-960 (Dekker)."""
    p = a * b
    a_head, a_tail = _split(a)
    b_head, b_tail = _split(b)
    return p, (((a_head * b_head - p) + a_head * b_tail) + a_tail * b_head) + a_tail * b_tail


def _sum(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """x + y, also accurate where it cancels."""
    with np.errstate(all="ignore"):
        s, s_error = _exact_sum(x.hi, y.hi)
        t, t_error = _exact_sum(x.lo, y.lo)
        t = s_error + t
        middle = s + t
        return _joined(middle, (t - (middle - s)) + t_error, limit=s)


def _product(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """x y; the term lo lo is below the error stated."""
    if x.hi.size >= compute_budget.SIZE_MIN:
        compute_budget.spend(DOUBLE_DOUBLE_OPERATION * x.hi.size)
    with np.errstate(all="ignore"):
        p, error = _exact_product(x.hi, y.hi)
        return _joined(p, error + (x.hi * y.lo + x.lo * y.hi))


def _quotient(x: DoubleDouble, y: DoubleDouble) -> DoubleDouble:
    """x / y: the rounded quotient of the heads, then the remainder over y.hi."""
    with np.errstate(all="ignore"):
        q = x.hi / y.hi
        p, error = _exact_product(q, y.hi)
        step = (((x.hi - p) - error) + (x.lo - q * y.lo)) / y.hi
        return _joined(q, _trusted(step, x.hi))


def _reduced(x: DoubleDouble) -> tuple[DoubleDouble, IntArray, IntArray]:
    """x = (256 power + row - 128) log(2)/256 + rest to 2**-108, |rest| <= 0.00136; rest = x where |x| <= 0.00135."""
    hi = np.clip(x.hi, -_EXPONENT_BEYOND, _EXPONENT_BEYOND)
    lo = np.where(hi == x.hi, x.lo, 0.0)
    turns = np.rint(hi * _TURNS)
    first, error = _exact_sum(hi, -(turns * _STEP[0]))
    first, next_error = _exact_sum(first, -(turns * _STEP[1]))
    first, last_error = _exact_sum(first, lo)
    rest = _exact_sum(first, ((error + next_error) + last_error) - turns * _STEP[2])
    shifted = np.asarray(turns, dtype=np.int32) + np.int32(128)
    return DoubleDouble(*rest), shifted >> 8, shifted & 255


def _expm1_series(r: DoubleDouble) -> DoubleDouble:
    """e^r - 1 for |r| <= 0.00136 by Taylor: r + r^2 (1/2 + r (1/6 + r (1/24 + r (1/120 + ...)))).

    The terms from r^6/720 on are below 2**-57 of the result, so doubles are enough there.
    """
    x = r.hi
    tail = 1.0 / 720 + x * (1.0 / 5040 + x * (1.0 / 40320 + x * (1.0 / 362880 + x * (1.0 / 3628800))))
    series = _joined(_INVERSE_120.hi, _INVERSE_120.lo + x * tail)
    for constant in (_INVERSE_24, _INVERSE_6, _HALF):
        series = _plus(constant, _product(r, series))
    return _sum(r, _product(_product(r, r), series))


def _plus(large: DoubleDouble, small: DoubleDouble) -> DoubleDouble:
    """large + small for |small| <= |large| / 64."""
    s = large.hi + small.hi
    return _joined(s, (small.hi - (s - large.hi)) + (large.lo + small.lo))


def _scaled(x: DoubleDouble, power: IntArray) -> DoubleDouble:
    """x 2^power, lo = 0 where it overflows."""
    return _joined(np.ldexp(x.hi, power), np.ldexp(x.lo, power))


def _centred(x: DoubleDouble) -> tuple[DoubleDouble, IntArray]:
    """x = m 2^k with m in [0.70, 1.42]."""
    fraction, exponent = np.frexp(x.hi)
    power = exponent - (fraction < math.sqrt(0.5))
    return DoubleDouble(np.ldexp(x.hi, -power), np.ldexp(x.lo, -power)), power


def _logarithm(excess: DoubleDouble, power: IntArray) -> DoubleDouble:
    """power log 2 + log(1 + excess) for excess in [-0.3, 0.42]: one Newton step y + (excess - expm1(y)) / e^y."""
    guess = np.log1p(excess.hi)
    reached = double_double(guess).expm1()
    step = _sum(excess, -reached).hi / (1.0 + reached.hi)
    main = _joined(guess, step)
    return _sum(_product(_LOG_2, double_double(power)), main)


def _constant(numerator: int, denominator: int) -> DoubleDouble:
    """numerator / denominator, head and tail each correctly rounded."""
    hi = numerator / denominator
    top, bottom = hi.as_integer_ratio()
    lo = (numerator * bottom - top * denominator) / (denominator * bottom)
    return DoubleDouble(np.asarray(hi), np.asarray(lo))


def _fixed_log_2(bits: int) -> int:
    """log(2) 2**bits = 2 atanh(1/3) 2**bits, off by less than 2 for each of its bits / 3 terms."""
    total, power, odd = 0, (2 << bits) // 3, 1
    while power:
        total += power // odd
        power //= 9
        odd += 2
    return total


def _fixed_powers(bits: int) -> list[int]:
    """2**(j/256) 2**bits for j = -128 to 127, off by less than 2**20: eight square roots, then products."""
    root = 2 << bits
    for _ in range(8):
        root = math.isqrt(root << bits)
    powers = [1 << bits]
    while len(powers) < 256:
        powers.append((powers[-1] * root) >> bits)
    return [power >> 1 for power in powers[128:]] + powers[:128]


def _table(numerators: list[int], denominator: int) -> tuple[FloatArray, FloatArray]:
    """Heads and tails of many constants, read-only."""
    rows = [_constant(numerator, denominator) for numerator in numerators]
    hi, lo = np.array([row.hi for row in rows]), np.array([row.lo for row in rows])
    hi.setflags(write=False)
    lo.setflags(write=False)
    return hi, lo


def _pieces(numerator: int, bits: int) -> tuple[float, float, float]:
    """numerator / 2**bits in three doubles; the first two end in 19 zero bits, so that times 2**19 they stay exact."""
    cut = bits - 8 - 34
    first = numerator >> cut
    rest = numerator - (first << cut)
    second = rest >> (cut - 34)
    third = rest - (second << (cut - 34))
    return math.ldexp(first, cut - bits), math.ldexp(second, cut - 34 - bits), third / (1 << bits)


# Constants from integers of this many bits: far more than the 106 that two doubles hold.
_BITS: Final = 320
_MINUS_ONE: Final = double_double(-1.0)
_HALF: Final = double_double(0.5)
_INVERSE_6: Final = _constant(1, 6)
_INVERSE_24: Final = _constant(1, 24)
_INVERSE_120: Final = _constant(1, 120)
_LOG_2: Final = _constant(_fixed_log_2(_BITS), 1 << _BITS)
_TURNS: Final = 256.0 / math.log(2.0)
_STEP: Final = _pieces(_fixed_log_2(_BITS) >> 8, _BITS)
_POWER_HI, _POWER_LO = _table(_fixed_powers(_BITS), 1 << _BITS)
_POWERM1_HI, _POWERM1_LO = _table([power - (1 << _BITS) for power in _fixed_powers(_BITS)], 1 << _BITS)
