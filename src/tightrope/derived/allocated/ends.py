"""Finite pairs from the laws of a sum: one above, one below.

With x = S/t the ratio of the two laws: above, an atom of mass m at x has Q-mass m and P-mass m x, and value without
mass is P-mass of infinite loss; below, a cell has Q-mass m and P-mass v/t. In whole numbers over 2^bits: the corners
of the trade-off are rounded up in P and down in Q above, the other way below. For the other order the two exchange
places.
Guarantee: `above` dominates, `below` is dominated. Proof: docs/proofs/allocation.md, section 9.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from flint import arb

from ... import compute_budget
from ...errors import Refusal, UnsupportedMechanism
from ...kernels.ball import integer
from ...kernels.directed import round_down, round_up
from ...kernels.ulps import UNIT
from ...relation import Direction
from ..dyadic import DyadicPair
from ..polygon import SPARE_BITS, Corner, concave
from .laws import MergedLaw, SplitLaw, SumLaw

MEAN_BITS_MAX = 1 << 11
ENDS_POINT = 3e4  # units of work, for both pairs
ROUNDED_MAX = 2.0**-5  # relative: beyond, a law in float64 says little

Whole = tuple[int, int]  # mantissa, exponent


def above(law: SplitLaw, steps: int, direction: Direction) -> DyadicPair:
    """Atoms, from the largest loss on."""
    _demand(law)
    compute_budget.spend(0.5 * ENDS_POINT * len(law.points))
    masses = round_up(law.columns[0], 2.0 * law.units)
    infinite = round_up(law.beyond / steps, 2.0 * law.units) if direction is Direction.REMOVE else 0.0
    zero = float(round_up(law.zero[0], 2.0 * law.units))
    bits = _bits([*masses, *(masses * law.points / steps), infinite, zero])
    rows = []
    for mass, point in zip(masses.tolist(), law.points.tolist(), strict=True):
        if mass:
            rows.append(
                (
                    _whole(_product(mass, point), bits, steps, up=direction is Direction.REMOVE),
                    _whole(_number(mass), bits, 1, up=direction is Direction.ADD),
                )
            )
    if direction is Direction.REMOVE:
        rows = [(_whole(_number(infinite), bits, 1, up=True), 0), *reversed(rows)]
    else:
        rows = [(_whole(_number(zero), bits, 1, up=True), 0), *((q, p) for p, q in rows)]
    return concave(_clipped(rows, 1 << bits), bits)


def below(law: MergedLaw, steps: int, infinite: arb, direction: Direction) -> DyadicPair:
    """Events of the cells with the largest losses; infinite: P-mass of infinite loss for REMOVE."""
    _demand(law)
    compute_budget.spend(0.5 * ENDS_POINT * len(law.points))
    (m, v), (zero, _) = law.columns, law.zero
    units = 2.0 * law.units + 4.0
    remove = direction is Direction.REMOVE
    m, v = (round_up(m, units), round_down(v, units)) if remove else (round_down(m, units), round_up(v, units))
    with np.errstate(all="ignore"):
        order = np.argsort(np.where(m > 0.0, v / m, np.inf if remove else -np.inf), kind="stable")
    order = order[::-1] if remove else order
    bits = _bits([*m, *(v / steps), zero])
    if remove:
        p = max(integer((infinite * arb(2) ** bits).lower().floor()) or 0, 0)
    else:
        p = _whole(_number(float(round_down(zero, units))), bits, 1, up=False)
    q, one, corners = 0, 1 << bits, [(0, p)]
    for mass, value in zip(m[order].tolist(), v[order].tolist(), strict=True):
        masses, values = _whole(_number(mass), bits, 1, up=remove), _whole(_number(value), bits, steps, up=not remove)
        p, q = (p + values, q + masses) if remove else (p + masses, q + values)
        if p >= one or q >= one:
            break
        corners.append((q, p))
    return concave(corners, bits)


def _clipped(rows: Iterable[Corner], one: int) -> list[Corner]:
    """Corners (q, p) of the sums of rows (p, q); where p reaches one, the curve ends on its edge."""
    p = q = 0
    found = []
    for more_p, more_q in rows:
        if p + more_p >= one:
            found.append((min(q + more_q * (one - p) // more_p, one), one))
            break
        p, q = p + more_p, min(q + more_q, one)
        found.append((q, p))
    return found


def _demand(law: SumLaw) -> None:
    if not law.units * UNIT <= ROUNDED_MAX:
        raise UnsupportedMechanism("so many steps round too often in float64; ask for fewer", Refusal.TOO_MUCH_WORK)


def _bits(masses: Iterable[float]) -> int:
    """Over which the least that is not 0 keeps some bits."""
    least = min((mass for mass in masses if mass > 0.0), default=1.0)
    return min(SPARE_BITS + max(-math.frexp(least)[1], 0), MEAN_BITS_MAX)


def _number(value: float) -> Whole:
    mantissa, exponent = math.frexp(value)
    return int(math.ldexp(mantissa, 53)), exponent - 53


def _product(one: float, other: float) -> Whole:
    (first, low), (second, high) = _number(one), _number(other)
    return first * second, low + high


def _whole(number: Whole, bits: int, parts: int, up: bool) -> int:
    """number 2^bits / parts, rounded to a whole number."""
    mantissa, exponent = number
    shift = exponent + bits
    top, bottom = (mantissa << shift, parts) if shift >= 0 else (mantissa, parts << -shift)
    return -(-top // bottom) if up else top // bottom
