"""Assertions: an interval that certainly misses the truth is found, and nothing else is."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

import tightrope as tr
from tests.oracle.precision import ball, precision
from tests.oracle.truth import Truth


def misses(bound: tr.Bound, truth: arb) -> str:
    """Why the bound does not contain the truth; empty if it does."""
    if arb(bound.lower) > truth:
        return f"lower {bound.lower!r} is above the truth {truth.str(30)} by {_share(bound.lower, truth)} of it"
    if arb(bound.upper) < truth:
        return f"upper {bound.upper!r} is below the truth {truth.str(30)} by {_share(bound.upper, truth)} of it"
    return ""


def _share(end: float, truth: arb) -> str:
    return (abs(arb(end) - truth) / abs(truth)).str(3, radius=False)


def misses_epsilon(bound: tr.Bound, truth: Truth, delta: float) -> str:
    """The same for epsilon at delta: read off delta at both ends, no inversion needed.

    delta falls strictly until it reaches the infinite mass, at the supremum of the finite losses.
    """
    wanted, mass = Fraction(delta), truth.infinite_mass()
    if wanted < mass:
        return "" if bound.upper == math.inf else f"upper {bound.upper!r}, but epsilon is infinite"
    supremum = truth.supremum()
    if supremum is None and wanted == mass:
        return "" if bound.upper == math.inf else f"upper {bound.upper!r}, but the loss is unbounded"
    with precision(300):
        if bound.upper < math.inf and truth.delta(bound.upper) > ball(wanted):
            return f"upper {bound.upper!r} is too low: delta there is {truth.delta(bound.upper).str(30)}"
        if bound.lower > 0.0:
            if bound.lower == math.inf:
                return "lower is infinite, but epsilon is finite"
            if supremum is not None and arb(bound.lower) > arb(0).max(supremum):
                return f"lower {bound.lower!r} is above the supremum {supremum.str(30)}"
            if truth.delta(bound.lower) < ball(wanted):
                return f"lower {bound.lower!r} is too high: delta there is {truth.delta(bound.lower).str(30)}"
    return ""


def relative_width(bound: tr.Bound) -> float:
    """Width over upper end; 0 for two equal ends."""
    if bound.lower == bound.upper:
        return 0.0
    return bound.width / bound.upper
