"""Moments of the loss of integer noise: M(z) = sum over k of p_{k-D}^{1+z} p_k^{-z}, over a window, and the rest.

c = Re z >= 0; M(z) = M(-1-z) for c <= -1, as the pair is its own mirror image; between, terms are at most
p_{k-D} + p_k. With l rising:
below the window l <= 0, so that what is left out has at most the P-mass there;
above it, between two outputs a < b, E[e^{cl}; a < k <= b] <= S(a + 1 - D) e^{c l(b)}, and of Skellam noise from b on
l(k) <= D asinh(k/v), so that the terms fall at least like a geometric series.
Guarantee: exact. Proof: docs/proofs/integer_noise.md, section 6.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from flint import acb, arb, ctx

from ... import compute_budget
from ...kernels.ball import BITS_START, complex_log, working_precision
from .bend import Bend
from .noise import LOG_TWO, IntegerNoise

OUTPUTS_ADDED = 100_000
WINDOW_UNITS = 4000.0  # of work, for one output in balls
PIECE_GROWTH = 8  # the width of a piece above the window, over its distance from the middle


class OutputWindow(NamedTuple):
    """Outputs from `first` to `last`."""

    first: int
    last: int


def window(noise: IntegerNoise, shift: int, tilt: float, log_tolerance: float) -> OutputWindow:
    """Outputs beyond which the terms of M(tilt), tilt >= 0, are below e^-log_tolerance of the largest, about."""
    middle = math.ceil((noise.twice_centre + shift) / 2)
    ends = (middle, 1 << 200) if noise.last is None else (max(middle, shift), noise.last)

    def log(k: int) -> float:
        y = abs(k - shift - 0.5 * noise.twice_centre)
        return -min(noise.depth(y), 1e9) + tilt * noise.plain_loss(float(k), shift)

    low, high = ends[0], ends[0]
    step = 1
    while high + step < ends[1] and log(high + step) > log(high):
        high, step = high + step, 2 * step
    low, high = max(low, high - step), min(ends[1], high + step)
    while high - low > 2:
        third = (high - low) // 3
        low, high = (low + third, high) if log(low + third) < log(high - third) else (low, high - third)
    top, peak = log(high), high
    step, low = 1, peak
    while high < ends[1] and log(high) > top - log_tolerance:
        low, high, step = high, min(ends[1], high + step), 2 * step
    while high - low > 1:
        between = (low + high) // 2
        low, high = (between, high) if log(between) > top - log_tolerance else (low, between)
    first = noise.mirror(noise.reach(log_tolerance - min(top, 0.0) + 8.0)) + shift
    least = -(1 << 200) if noise.last is None else shift
    return OutputWindow(max(least, min(first, middle)), high)


def log_terms(noise: IntegerNoise, shift: int, seen: OutputWindow) -> list[tuple[arb, arb]]:
    """log p_{k-D} and log p_k of the outputs of a window, at the working precision."""
    outputs = range(seen.first, seen.last + 1)
    compute_budget.spend(WINDOW_UNITS * len(outputs))
    middle = -(-noise.twice_centre // 2)
    far = max(max(k, noise.mirror(k)) for k in (seen.first - shift, seen.first, seen.last - shift, seen.last))
    logs = [mass.log() for mass in noise.masses(middle, far)]

    def at(k: int) -> arb:
        return logs[max(k, noise.mirror(k)) - middle]

    return [(at(k - shift), at(k)) for k in outputs]


def left_out(noise: IntegerNoise, shift: int, seen: OutputWindow, tilt: arb) -> arb:
    """At or above what the outputs beyond a window add to M(tilt), tilt > -1."""
    none = arb(0)
    if tilt < 0:
        places = (
            noise.mirror(seen.first - 1 - shift),
            noise.mirror(seen.first - 1),
            seen.last + 1 - shift,
            seen.last + 1,
        )
        return sum((noise.chernoff(place) for place in places), none)
    whole = noise.last is not None and seen.first <= shift
    below = none if whole else noise.chernoff(noise.mirror(seen.first - 1 - shift))
    total, start = below, seen.last
    if noise.last is None:
        return total + noise.growing(start, shift, tilt)
    while start < noise.last:
        stop = min(noise.last, start + max(1, (start - noise.twice_centre // 2) // PIECE_GROWTH))
        total += noise.chernoff(start + 1 - shift) * (tilt * noise.loss(stop, shift)).exp()
        start = stop
    return total


def _by_bend(noise: IntegerNoise, shift: int, z: acb) -> acb | None:
    """Around K at a real z, Re z > -1."""
    if not z.imag.is_zero():
        return None
    with working_precision(BITS_START + 2 * math.ceil(math.log2(2.0 + noise.spread))):  # more digits tell no more
        bend = Bend.of(noise, shift)
        value = None if bend is None else bend.log_moment(z.real if 2 * z.real >= -1 else -1 - z.real)
        return None if value is None else acb(value)


def log_moment(noise: IntegerNoise, shift: int, z: acb) -> acb | None:
    """K(z); None where too many outputs matter."""
    if noise.last is not None and shift > noise.last:
        return None
    if z.real <= -1:
        z = -1 - z
    tolerance = LOG_TWO * (ctx.prec + 8.0)
    if z.real >= 0:
        seen = window(noise, shift, float(z.real.upper()), tolerance)
    elif -1 < z.real < 0:
        reach = noise.reach(tolerance + 8.0)
        seen = OutputWindow(noise.mirror(reach), reach + shift)
        if noise.last is not None:
            seen = OutputWindow(max(seen.first, shift), min(seen.last, noise.last))
    else:
        return None
    if seen.last - seen.first > OUTPUTS_ADDED:
        return _by_bend(noise, shift, z)
    with working_precision(ctx.prec + 2 * (seen.last - seen.first + shift + 2).bit_length() + 32):
        terms = log_terms(noise, shift, seen)
        total = sum((((1 + z) * p - z * q).exp() for p, q in terms), acb(0))
        rest = arb(0, 1) * left_out(noise, shift, seen, z.real)
        if z.imag.is_zero():
            return acb((total.real + rest).log())
        return complex_log(total + acb(rest, rest))
