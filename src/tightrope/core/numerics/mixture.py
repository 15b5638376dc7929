"""The map that a mixture makes on logarithms of ratios, and its inverse, once per arithmetic.

Of p/q = e^x the mixture ((1 - r) q + r p)/q has the logarithm y = log(1 + r (e^x - 1)), at log(1 - r) or above, so
x = log(1 + (e^y - 1)/r). Where exponentials are large they are not formed:
y = x + log r + log(1 + (1 - r)/r e^-x) and x = y - log r + log(1 - (1 - r) e^-y).
A mixture in the denominator, p/((1 - r) p + r q), is the mirror image: x and y with their signs changed.
Guarantee: exact; float64 with the radii of its arithmetic. Proof: docs/proofs/poisson.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from .double_double import double_double
from .double_double import where as double_double_where
from .enclosures import exact, where

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from flint import arb

    from .double_double import DoubleDouble
    from .enclosures import Enclosure


LARGE_GROWTH = 1.0  # from here on e^-x is formed, and not e^x
STEEP_GROWTH = 30.0  # the same in plain floats
LOSS_FAR = 600.0  # the same where e^x costs no digits: the doubles end at e^709


def mixed(x: arb, rate: arb) -> arb:
    """y in balls."""
    if x > LARGE_GROWTH:
        return x + rate.log() + ((1 - rate) / rate * (-x).exp()).log1p()
    return (rate * x.expm1()).log1p()


def unmixed(y: arb, rate: arb) -> arb:
    """x in balls; not finite where y is not told from log(1 - r), or lies below."""
    if y > LARGE_GROWTH:
        return y - rate.log() + ((rate - 1) * (-y).exp()).log1p()
    return (y.expm1() / rate).log1p()


def reaches(y: arb, rate: arb) -> bool | None:
    """Whether y is above log(1 - r), so that there is an x; None where that cannot be told."""
    if y > LARGE_GROWTH:
        return True
    growth = y.expm1() / rate
    return True if growth > -1 else False if growth < -1 else None


def mixed_plain(x: float, rate: float) -> float:
    """y in plain floats, without a radius: for choices; it neither overflows nor cancels."""
    if x > STEEP_GROWTH:
        return x + math.log(rate + (1.0 - rate) * math.exp(-x))
    if x > -1.0 or rate < 0.5:
        return math.log1p(rate * math.expm1(x))
    return math.log((1.0 - rate) + rate * math.exp(x))


def mixed_enclosure(x: Enclosure, rate: float) -> Enclosure:
    """y in float64."""

    far = x + exact(rate).log() + ((1.0 - exact(rate)) / rate * (-x).exp()).log1p()
    return where(x.value > LOSS_FAR, far, (x.expm1() * rate).log1p())


class Unmixed(NamedTuple):
    """x, where y is surely above log(1 - r), and where it is surely below; x is 0 where it is not above."""

    x: Enclosure
    inside: npt.NDArray[np.bool_]
    outside: npt.NDArray[np.bool_]


def unmixed_enclosure(y: Enclosure, rate: float) -> Unmixed:
    """x in float64."""
    import numpy as np

    with np.errstate(all="ignore"):
        growth = y.expm1() / rate
        large = y.value > LARGE_GROWTH
        inside = large | (growth.lower > -1.0)
        near = where(inside, growth, exact(np.zeros_like(growth.value))).log1p()
        far = y - exact(rate).log() + (-((1.0 - exact(rate)) * (-y).exp())).log1p()
        return Unmixed(where(large, far, near), inside, growth.upper < -1.0)


def unmixed_double_double(y: DoubleDouble, rate: float) -> tuple[DoubleDouble, npt.NDArray[np.bool_]]:
    """x and where it exists, -inf elsewhere, to the precision of two doubles."""
    import numpy as np

    growth = y.expm1() / rate
    reach = (growth + 1.0).collapse() >= 0.0
    x = double_double_where(reach, growth, double_double(-1.0)).log1p()
    large = y.hi > LARGE_GROWTH
    if large.any():
        x = double_double_where(
            large, y - double_double(rate).log() + ((double_double(rate) - 1.0) * (-y).exp()).log1p(), x
        )
    return x, np.asarray(reach)
