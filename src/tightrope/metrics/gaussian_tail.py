"""How far out a Gaussian pair is above a composition for ever: what finitely many points leave open.

Unbounded parts have K(c) <= c (c + 1) rho (Moments.zcdp_rho), bounded ones K(c) <= c s, s their largest loss. Together,
with v = 2 rho, H(e^t) <= e^(-(t - s - v/2)^2/(2 v)) c^c/(c + 1)^(c + 1), c = (t - s - v/2)/v > 0. For a mu with mu^2 >
v let r(t) be the log of H_mu(e^t) over that. With x = t/mu - mu/2 > 0, y = x + mu,
r'(t) >= t (1/v - 1/mu^2) - s/v - k/t, k = 1 + (x/y + y/x)/2 + 1/(x y) - min(1, t/(t - s + v/2)), which falls with t, so
that k at the start will do. The integral of the right side is least at its only zero: r >= 0 there proves it for all t
from the start on.
Guarantee: proven in balls. Proof: docs/proofs/gdp.md, section 5.
Reference: Bun, Steinke 2016, Prop. 1.3; Canonne, Kamath, Steinke 2020, Prop. 12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from flint import arb

from ..engines.evaluation import Term
from ..kernels.ball import BITS_START, upper_float, working_precision
from ..kernels.normal_shift import hockey_stick
from ..pair import Pair

TAIL_BITS = 3 * BITS_START  # H_mu cancels where mu is small
SHIFT_HALVINGS = 45  # halvings of an interval of mu


class Line(NamedTuple):
    """K(c) <= c s + c (c + 1) v/2 for every c > 0, of all parts together."""

    s: arb
    v: arb


def lines(terms: Sequence[Term]) -> tuple[Line, ...]:
    """By zCDP for all parts, and by what each has for its large losses; none where a part has neither."""
    with working_precision(TAIL_BITS):
        known = [(_of_pair(pair), count) for pair, count in terms]
        found = []
        for place in range(max((len(each) for each, _ in known), default=1)):
            parts = [(each[min(place, len(each) - 1)], count) for each, count in known]
            s, rho = (sum((count * line[end] for line, count in parts), arb(0)) for end in (0, 1))
            found.append(Line(s, 2 * rho))
        return tuple(line for line in found if line.s.is_finite() and line.v.is_finite())


def _of_pair(pair: Pair) -> tuple[tuple[arb, arb], ...]:
    """(s, rho) with K(c) <= c s + c (c + 1) rho, of one use, from its own rho to what it has for its large losses."""
    rho, highest = pair.moments().zcdp_rho(), pair.loss_range().highest
    top = ((highest.max(arb(0)), arb(0)),) if highest.is_finite() else ()
    return (arb(0), arb.pos_inf() if rho is None else rho), *pair.moments().approximate_zcdp(), *top


def stays_above(mu: float, start: float, known: Sequence[Line]) -> bool:
    """Whether H_mu(e^t) is proven to be at or above H(e^t) for every t >= start."""
    with working_precision(TAIL_BITS):
        return any(_stays_above(arb(mu), arb(start), line) for line in known)


def _stays_above(mu: arb, start: arb, line: Line) -> bool:
    s, v = line
    if v.is_zero():
        return bool(start >= s)
    if not (v > 0 and v < mu * mu and start > s + v / 2 and start > mu * mu / 2):
        return False
    x, y = start / mu - mu / 2, start / mu + mu / 2
    kappa = 1 + (x / y + y / x) / 2 + 1 / (x * y) - (start / (start - s + v / 2)).min(arb(1))
    pull, drop = 1 / v - 1 / (mu * mu), s / v
    lowest = ((drop + (drop * drop + 4 * pull * kappa).sqrt()) / (2 * pull)).max(start)
    fall = pull * (lowest * lowest - start * start) / 2 - drop * (lowest - start) - kappa * (lowest / start).log()
    gap = start - s - v / 2
    c = gap / v
    peak = c * (1 / c).log1p() + c.log1p()  # -log of c^c/(c + 1)^(c + 1)
    return bool(hockey_stick(mu, start).log() + gap * gap / (2 * v) + peak + fall >= 0)


def least_above(start: float, known: Sequence[Line], least: float) -> float:
    """About the smallest mu >= least for which that is proven; inf where none is."""
    low, high = least, math.sqrt(2.0 * start)
    with working_precision(TAIL_BITS):
        roots = [upper_float(line.v.sqrt()) for line in known]
    low = max(low, min(roots, default=math.inf))
    if stays_above(least, start, known):
        return least
    step, trial = 1e-9, low
    while trial < high:
        trial = low * (1.0 + step)
        if stays_above(trial, start, known):
            break
        step *= 2.0
    else:
        return math.inf
    low = max(low, low * (1.0 + step / 2.0))
    for _ in range(SHIFT_HALVINGS):
        middle = (low + trial) / 2.0
        if not low < middle < trial or trial - low < 1e-12 * trial:
            break
        low, trial = (low, middle) if stays_above(middle, start, known) else (middle, trial)
    return trial
