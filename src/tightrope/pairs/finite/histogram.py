"""The pair that every pair within given limits stays below.

If p_i <= p_up_i and q_i >= q_low_i for all bins, H(alpha) <= G(alpha) = sum (p_up_i - alpha q_low_i)_+, alpha >= 0.
The lower convex envelope of min(G, 1) and the point (0, 1) is the profile of a finite law: the bins whose ratio
exceeds alpha*, where the tangent from (0, 1) touches G, and one atom at log alpha* for all others.
Guarantee: dominates, in exact fractions. Proof: docs/proofs/classic.md, section 6.
Reference: Clopper, Pearson 1934; Zhu, Dong, Wang 2021, Prop. 10 (pairs of a profile).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb, fmpq

from ...derived.shuffled.binomial import at_least, at_most
from ...kernels.ball import BITS_START, working_precision
from .laws import RationalLaw


def upper_limit(count: int, total: int, level: Fraction) -> Fraction:
    """A probability p with P[Bin(total, p) <= count] <= level: too low with probability at most level."""
    from scipy.special import betaincinv

    if count == total:
        return Fraction(1)
    guess = 1.0 - float(betaincinv(total - count, count + 1, float(level)))
    return _certified(guess, 1, lambda p: at_most(total, count, p, 1 - p), level)


def lower_limit(count: int, total: int, level: Fraction) -> Fraction:
    """A probability p with P[Bin(total, p) >= count] <= level: too high with probability at most level."""
    from scipy.special import betaincinv

    if count == 0:
        return Fraction(0)
    guess = float(betaincinv(count, total - count + 1, float(level)))
    return _certified(guess, -1, lambda p: at_least(total, count, p, 1 - p), level)


def _certified(guess: float, side: int, error: Callable[[arb], arb], level: Fraction) -> Fraction:
    """The guess, moved outward until a ball shows that the error is at most the level."""
    with working_precision(2 * BITS_START):
        wanted = arb(fmpq(level.numerator, level.denominator))
        step = 1e-13
        while step < 1.0:
            point = guess * (1.0 + side * step)
            if not 0.0 < point < 1.0:
                break
            if error(arb(point)) <= wanted:
                return Fraction(point)
            step *= 4.0
    return Fraction(1) if side > 0 else Fraction(0)


def law_within(p_up: Sequence[Fraction], q_low: Sequence[Fraction]) -> RationalLaw:
    """The law that dominates all pairs within the limits."""
    infinite = sum((p for p, q in zip(p_up, q_low, strict=True) if not q), Fraction(0))
    if infinite >= 1:
        return RationalLaw((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    bins = sorted(((p / q, p, q) for p, q in zip(p_up, q_low, strict=True) if q), reverse=True)
    best, kept = Fraction(0), 0
    p_above, q_above = infinite, Fraction(0)
    for index, (ratio, p, q) in enumerate(bins):
        if not ratio:
            break
        reach = (1 - p_above) / ratio + q_above  # (1 - G(ratio)) / ratio: how steep the line from (0, 1) is
        if p_above <= 1 and reach > best:
            best, kept = reach, index
        p_above, q_above = p_above + p, q_above + q
    if not best:
        return RationalLaw((infinite, 1 - infinite, Fraction(0)), (Fraction(0), Fraction(0), Fraction(1)))
    p_kept = infinite + sum((p for _, p, _ in bins[:kept]), Fraction(0))
    q_kept = sum((q for _, _, q in bins[:kept]), Fraction(0))
    top = bins[:kept]
    return RationalLaw(
        (infinite, *(p for _, p, _ in top), 1 - p_kept, Fraction(0)),
        (Fraction(0), *(q for _, _, q in top), best - q_kept, 1 - best),
    )
