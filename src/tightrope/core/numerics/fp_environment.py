"""What float64 results rest on and nobody can prove here: looked at where they are about to be used.

The modes of the processor (round to nearest, ties to even, gradual underflow) belong to the running thread, and any
library may change them at any time, so they are tried at every question: a few sums and products. The accuracy of the
library's functions (kernels.ulps) does not change: it is tried once per process, at a few hundred hard points.
Where one fails there is a FloatingPointError, and balls answer: they are integers inside. Only doubles below the
normal ones are misread by them without gradual underflow: those are refused on the way in, and none comes out.
numpy's warnings are off inside `float64`, whatever the process chose: kernels look at their results instead.
Proof: docs/proofs/rounding.md, section 5.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
from flint import arb

from . import rounding
from .balls import gradual_underflow, working_precision

TRIALS = 17  # of one function: odd, so that both the vector and the scalar code of a library are tried
TRUTH_BITS = 160


def rounds_to_nearest(one: float = 1.0, half: float = 2.0**-53) -> bool:
    """Whether sums of this thread are rounded to nearest, ties to even."""
    odd = one + 2.0 * half
    return one + half == one and -one - half == -one and odd + half > odd and -odd - half < -odd


def modes_hold() -> bool:
    """Whether this thread rounds to nearest and underflows gradually, now."""
    return rounds_to_nearest() and gradual_underflow()


def trusted() -> bool:
    """Whether float64 can be trusted, now and in this thread."""
    return modes_hold() and libraries_hold()


@contextmanager
def float64() -> Iterator[None]:
    """Inside, float64 can be trusted and numpy warns of nothing; FloatingPointError where it cannot."""
    if not trusted():
        raise FloatingPointError("float64's rounding or underflow, or a library, is not what the bounds rest on here")
    with quiet():
        yield


def quiet() -> AbstractContextManager[None]:
    """numpy warns of nothing in this thread; for float64 that chooses and proves nothing."""
    return np.errstate(all="ignore")


def demand_erfcx() -> None:
    """FloatingPointError where erfcx is not as accurate as assumed; by itself, since scipy is slow to load."""
    if not erfcx_holds():
        raise FloatingPointError("the erfcx of float64 is not what the bounds rest on")


def misread(value: object) -> bool:
    """Whether a value has doubles below the normal ones, anywhere, and this thread would take them for others."""
    return not gradual_underflow() and any(_is_subnormal(number) for number in _numbers(value))


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _numbers(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _numbers(part)


def _is_subnormal(number: float) -> bool:
    """From its bits: arithmetic may take it for 0."""
    bits = int.from_bytes(struct.pack(">d", number), "big") & ~(1 << 63)
    return 0 < bits < 1 << 52


@cache
def libraries_hold() -> bool:
    """Whether every function of kernels.ulps but erfcx keeps its constant at its hard points; once per process."""
    with np.errstate(all="ignore"):
        return all(_holds(*row) for row in _rows()) and _arctangents_hold() and _products_hold()


@cache
def erfcx_holds() -> bool:
    """The same for erfcx."""
    from scipy import special

    x = np.concatenate([_spread(-26.0, 0.0), _spread(0.0, 30.0), 10.0 ** _spread(-9.0, 8.0)])
    with np.errstate(all="ignore"), special.errstate(all="ignore"):
        return _holds(special.erfcx, _erfcx, x, lambda at: float(rounding.ERFCX + min(at, 0.0) ** 2), _relative)


Truth = Callable[[arb], arb]
Size = Callable[[arb, float], arb]


def _rows() -> Iterable[tuple[Callable[..., Any], Truth, Any, Callable[[float], float], Size]]:
    """Functions, their truths, points, units and what these are relative to."""
    # Odd multiples of log(2)/2 are the ends of every reduction of e^x; the rest is spread over all magnitudes.
    ends = (2.0 * np.arange(TRIALS) - TRIALS) * (0.5 * math.log(2.0))
    powers = np.concatenate([ends, _spread(-745.0, 709.7), _spread(-1.0, 1.0)])
    smalls = 10.0 ** _spread(-300.0, -1.0)
    near_one = 1.0 + _spread(-0.3, 0.4)
    sizes = 10.0 ** _spread(-307.0, 308.0)
    angles = np.concatenate(
        [_spread(-7.0, 7.0), 2.0 ** _spread(-30.0, 29.9), np.arange(TRIALS) * (1e4 * math.pi / 2.0)]
    )
    plain, math_powers = (np.exp, np.expm1, np.log, np.log1p), np.concatenate([_spread(-700.0, 700.0), smalls])
    both = (plain, (_each(math.exp), _each(math.expm1), _each(math.log), _each(math.log1p)))
    for exp, expm1, log, log1p in both:
        given = powers if exp is np.exp else math_powers
        yield exp, arb.exp, given, lambda _: rounding.EXP, _relative
        yield expm1, arb.expm1, np.concatenate([given, -smalls]), lambda _: rounding.EXPM1, _relative
        yield log, arb.log, np.concatenate([near_one, sizes]), lambda _: rounding.LOG, _relative
        yield log1p, arb.log1p, np.concatenate([near_one - 1.0, sizes, -smalls]), lambda _: rounding.LOG1P, _relative
    yield np.sin, arb.sin, angles, lambda at: rounding.SINE * min(abs(at), 1.0), lambda *_: arb(1)
    yield np.cos, arb.cos, angles, lambda _: rounding.COSINE, lambda *_: arb(1)
    yield lambda x: np.logaddexp(0.0, x), _softplus, _spread(-40.0, 40.0), lambda _: rounding.LOGADDEXP, _relative


def _arctangents_hold() -> bool:
    """arctan2 and hypot, of two arguments each."""
    y, x = 10.0 ** _spread(-30.0, 3.0), 10.0 ** _spread(3.0, -9.0)
    with working_precision(TRUTH_BITS):
        for sign in (1.0, -1.0):
            for at_y, at_x, angle, size in zip(
                y.tolist(),
                (sign * x).tolist(),
                np.arctan2(y, sign * x).tolist(),
                np.hypot(y, sign * x).tolist(),
                strict=True,
            ):
                turn, length = arb.atan2(arb(at_y), arb(at_x)), (arb(at_y) ** 2 + arb(at_x) ** 2).sqrt()
                if not abs(turn - angle) <= rounding.ARCTANGENT * rounding.UNIT * abs(turn):
                    return False
                if not abs(length - size) <= rounding.HYPOT * rounding.UNIT * length:
                    return False
    return True


def _products_hold() -> bool:
    """Whether a matrix product is one of doubles: 2^26 + 1 squared, summed with what cancels its top, is exact."""
    size = 9
    left = np.full((size, size), 2.0**26 - 1.0)
    right = np.full((size, size), 2.0**26 - 1.0) - np.arange(size)[:, None]
    exact = sum((2**26 - 1) * (2**26 - 1 - index) for index in range(size))
    return bool(np.all(abs(left @ right - float(exact)) <= size * rounding.UNIT * 1.01 * exact))


def _holds(
    function: Callable[..., Any], truth: Truth, points: Any, units: Callable[[float], float], size: Size
) -> bool:
    """Whether the function errs by at most its units of the size; a NaN fails."""
    values = np.asarray(function(points)).tolist()
    with working_precision(TRUTH_BITS):
        for at, value in zip(points.tolist(), values, strict=True):
            exact = truth(arb(at))
            allowed = max(size(exact, at) * rounding.UNIT, arb(rounding.SUBNORMAL)) * units(at)
            if not abs(exact - value) <= allowed:
                return False
    return True


def _relative(truth: arb, _: float) -> arb:
    return abs(truth)


def _each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of Python's own on an array."""
    return lambda points: [function(at) for at in points.tolist()]


def _spread(low: float, high: float) -> Any:
    """TRIALS numbers between low and high whose digits have no pattern: multiples of the golden ratio."""
    return low + (high - low) * np.modf(np.arange(1.0, TRIALS + 1.0) * 0.6180339887498949)[0]


def _erfcx(x: arb) -> arb:
    return (x * x).exp() * x.erfc()


def _softplus(x: arb) -> arb:
    return x.exp().log1p()
