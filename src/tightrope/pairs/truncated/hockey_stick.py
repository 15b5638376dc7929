"""Profiles of truncated noise: by a formula in float64, or read off balls.

Guarantee: exact, with the radius of kernels.enclosure. Proof: docs/proofs/truncated.md, "Profiles in float64".
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import arb

from ...kernels.ball import BITS_START, enclose, working_precision
from ...kernels.enclosure import Enclosure, FloatArray, enclosed, enclosing, exact, falling, where
from .noise import Place, ShiftedNoise

if TYPE_CHECKING:
    from .pair import TruncatedPair

FORMULA_EPSILON_MAX = 700.0  # of epsilon, for e^epsilon in float64


class Ends(NamedTuple):
    """Where half-lines {output > x} may start: between two places, or at the cuts alone, each with its p and q.

    low, high: the losses of the noise at the two places. beyond: what both laws lack above, and kept: what both are
    divided by, before the noise was truncated.
    """

    low: Enclosure
    high: Enclosure
    cuts: tuple[tuple[Enclosure, Enclosure], ...]
    beyond: Enclosure
    kept: Enclosure


def by_formula(noise: ShiftedNoise, epsilon: Enclosure) -> bool:
    """Whether float64 has a formula: outputs that are not rounded, a shift that is a double, e^eps within range."""
    even = not noise.whole and Fraction(float(noise.shift)) == noise.shift
    return even and not bool(np.any(epsilon.value > FORMULA_EPSILON_MAX))


def hockey_stick_by_ends(ends: Ends, noise: ShiftedNoise, epsilon: Enclosure) -> Enclosure:
    """H = (H_0 + (e^eps - 1) beyond) / kept, H_0 that of the noise itself, where its half-line starts between the ends;
    elsewhere the best of the cuts, max p - e^eps q. Where that cannot be told it lies between the two.
    """
    with np.errstate(all="ignore"):
        growth = epsilon.exp()
        values = [p - growth * q if q.upper > 0.0 else p + epsilon * 0.0 for p, q in ends.cuts]
        lower = np.max([np.maximum(value.lower, 0.0) for value in values], axis=0)
        upper = np.max([np.maximum(value.upper, 0.0) for value in values], axis=0)
        free = (noise.hockey_stick(epsilon) + epsilon.expm1() * ends.beyond) / ends.kept
        inside = (epsilon.lower >= ends.low.upper) & (epsilon.upper <= ends.high.lower)
        outside = (epsilon.upper < ends.low.lower) | (epsilon.lower > ends.high.upper)
        edge = enclosing(lower, np.maximum(upper, free.upper))
        return where(inside, free, where(outside, enclosing(lower, upper), edge))


def ends_at(pair: TruncatedPair, low: Place, high: Place, beyond: Enclosure, kept: Enclosure) -> Ends:
    """Half-lines between two places, from either of them on, and those that hold everything, or nothing."""
    with working_precision(BITS_START):
        losses = enclosed([pair.noise.ball_loss_at(place) for place in (low, high)])
    cuts = [(exact(1.0), exact(1.0)), (exact(0.0), exact(0.0))]
    cuts += [_cut(pair, place) for place in (low, high) if not isinstance(place, float)]
    return Ends(losses[0], losses[1], tuple(cuts), beyond, kept)


def _cut(pair: TruncatedPair, x: arb) -> tuple[Enclosure, Enclosure]:
    return enclosed_ball(lambda: pair.ball_above(x)[0]), enclosed_ball(lambda: pair.ball_above(x)[1])


def enclosed_ball(ball: Callable[[], arb]) -> Enclosure:
    return enclosing(*enclose(ball))


def hockey_stick_by_balls(pair: TruncatedPair, epsilon: Enclosure) -> Enclosure:
    """H in float64, read off balls entry by entry: the half-line is known, so an entry costs two error functions."""

    def ends(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        known = zip(points, pair.noise.sure_crossings(points), strict=True)
        found = [enclose(partial(pair.ball_hockey_stick, arb(float(at)), crossing)) for at, crossing in known]
        return np.array([low for low, _ in found]), np.array([high for _, high in found])

    return falling(ends, epsilon)
