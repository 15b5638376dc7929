"""Between two neighbours of a lattice there is no loss: the cell that a number lies in.

Losses are l_n = base + n step (facets/lattice.py). With l_n <= t < l_(n+1), P[l > t] = P[l > x] for every x in
[l_n, l_(n+1)): whatever is read inside the cell is the tail at t, also where t is a loss itself.
Guarantee: exact; None where the cell is not known. A logarithm of a rational number other than 1 is no rational number
(Lindemann 1882), so t is a point of a lattice of logarithms only where these cancel, which is decided in rationals.
Proof: docs/proofs/loss.md, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from ...facets.lattice import SumLattice, sum_lattice
from ...kernels.ball import BITS_START, integer, lower_float, upper_float, working_precision
from ..evaluation import Term
from .tuning import CELL_BITS_MAX, RATIO_BITS_MAX

Cell = tuple[float, float]


def cell_of(terms: Sequence[Term], t: float) -> Cell | None:
    """Doubles a < b with l_n <= a, b <= l_(n+1) and l_n <= t < l_(n+1); None where none are known."""
    lattice = sum_lattice([(pair.lattice(), count) for pair, count in terms])
    place = None if lattice is None else place_of(lattice, t)
    if lattice is None or place is None:
        return None
    with working_precision(CELL_BITS_MAX):
        low, high = (lattice.base() + (place + more) * lattice.step.ball() for more in (0, 1))
        a, b = upper_float(low), lower_float(high)
    return (a, b) if a < b else None


def place_of(lattice: SumLattice, t: float) -> int | None:
    """The n with l_n <= t < l_(n+1)."""
    if not lattice.factors and not lattice.step.logarithm:
        return math.floor((Fraction(t) - lattice.shift) / lattice.step.number)
    bits = BITS_START
    while True:
        with working_precision(bits):
            steps = (arb(t) - lattice.base()) / lattice.step.ball()
            low, high = integer(steps.lower().floor()), integer(steps.upper().floor())
            if low is not None and low == high:
                return low
            if bits >= CELL_BITS_MAX:
                break
        bits *= 2
    return high if high is not None and _is_point(lattice, Fraction(t), high) else None


def _is_point(lattice: SumLattice, t: Fraction, place: int) -> bool:
    """Whether t is the point of this place, for certain: the logarithms cancel, and the rest is t."""
    powers, rest = list(lattice.factors), t - lattice.shift
    if lattice.step.logarithm:
        powers.append((lattice.step.number, place))
    else:
        rest -= place * lattice.step.number
    return rest == 0 and _is_one(powers)


def _is_one(powers: Sequence[tuple[Fraction, int]]) -> bool:
    """Whether the product of number^power is 1; False where that takes too many digits to say."""
    shared = math.gcd(*(power for _, power in powers))
    if shared == 0:
        return True
    reduced = [(number, power // shared) for number, power in powers]  # a positive root of 1 is 1
    length = sum((x.numerator.bit_length() + x.denominator.bit_length()) * abs(power) for x, power in reduced)
    return length <= RATIO_BITS_MAX and math.prod((x**power for x, power in reduced), start=Fraction(1)) == 1
