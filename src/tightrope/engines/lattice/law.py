"""Tilted laws on an even grid, each entry rounded to one side.

Entry i stands for the mass e^(log_scale - slope i) masses_i at the label start + i step (integers, in units of a
power of
two). An UP law is at or above the true one entry by entry, apart from tilted mass `lost` that it does not show;
a DOWN law is at or below.
Guarantee: every function here keeps the side. Proof: docs/proofs/lattice.md, lemmas 1, 3 and 7.
Reference: Meiser, Mohammadi 2018, Def. 8 (squaring); Koskela, Jaelkoe, Honkela 2020, Sec. 5 (grids).
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ...errors import UnsupportedMechanism
from ...kernels.directed import round_down, round_up
from ...kernels.enclosure import FloatArray
from ...kernels.fft import upper_sum


class Side(enum.Enum):
    """Which way every rounding goes."""

    UP = 1
    DOWN = -1

    def push(self, units: float | FloatArray) -> FloatArray:
        """The factor that outweighs a relative error of so many UNITs."""
        one = np.ones(())
        return round_up(one, units) if self is Side.UP else round_down(one, units)


@dataclass(frozen=True, slots=True)
class LatticeLaw:
    """A law as described above; `lost` is 0 for DOWN, whose missing mass is on the safe side."""

    masses: FloatArray
    start: int
    step: int
    slope: float
    log_scale: Fraction
    lost: float
    side: Side
    origin: int  # a label of the grid that P and Q share, however each was cut: coarser cells are counted from it

    @property
    def total(self) -> float:
        """At or above the tilted mass, the lost part included."""
        return upper_sum(self.masses) + round_up(self.lost, 4.0)


def tilted(masses: FloatArray, start: int, step: int, slope: float, side: Side) -> LatticeLaw:
    """Tilts masses that already lie on their side: times e^(slope i), scaled to sum to about 1."""
    if not (np.all(np.isfinite(masses)) and np.any(masses > 0.0)):
        raise UnsupportedMechanism("its masses are below every double, or not known")
    index = np.arange(len(masses), dtype=np.float64)
    with np.errstate(all="ignore"):
        rough = np.where(masses > 0.0, np.log(np.maximum(masses, 5e-324)) + slope * index, -np.inf)
        weights = np.exp(rough - np.max(rough))
        centre = round(float(np.dot(weights, index) / np.sum(weights)))
        scale = float(np.max(rough) + np.log(np.sum(weights)) - slope * centre)
        exponent = slope * (index - centre) - scale
        half = np.exp(0.5 * np.where(masses > 0.0, exponent, 0.0))  # two factors: one alone may overflow
        tilts = masses * half * half * side.push(INPUT_UNITS + 2.0 * abs(slope * (index - centre)) + 2.0 * abs(scale))
    lost = VANISHED if side is Side.UP else 0.0
    return LatticeLaw(tilts, start, step, slope, Fraction(scale) + Fraction(slope) * centre, lost, side, start)


# Roundings of one tilted entry: the mass itself, two exponentials, two products, the factor.
INPUT_UNITS = 20.0
VANISHED = 1e-290  # tilted mass that may vanish below the smallest double


def trimmed(law: LatticeLaw, tolerance: float) -> LatticeLaw:
    """Without the ends that hold at most the tolerance: dropped (DOWN) or counted as lost (UP)."""
    front = int(np.searchsorted(np.cumsum(law.masses), tolerance / 4.0))
    back = int(np.searchsorted(np.cumsum(law.masses[::-1]), tolerance / 4.0))
    kept = law.masses[front : len(law.masses) - back]
    if not len(kept):
        return law
    cut = upper_sum(law.masses[:front]) + upper_sum(law.masses[len(law.masses) - back :])
    return replace(
        law,
        masses=kept,
        start=law.start + front * law.step,
        log_scale=law.log_scale - Fraction(law.slope) * front,
        lost=round_up(law.lost + cut, 4.0) if law.side is Side.UP else 0.0,
    )


def coarsened_by_chords(law: LatticeLaw, factor: int, width: float) -> LatticeLaw:
    """Every mass is split between its two neighbours on a grid `factor` times coarser, so that P and Q are both kept.

    At distance b steps above the left neighbour the right one gets the share (1 - e^(-b h)) / (1 - e^(-factor h)),
    the left one e^(-b h) (1 - e^(-(factor - b) h)) / (1 - e^(-factor h)).
    width: the step h of the law as a loss.
    """
    offsets = np.arange(factor, dtype=np.float64)
    right = np.expm1(-offsets * width) / np.expm1(-factor * width)
    left = np.expm1(-(factor - offsets) * width) / np.expm1(-factor * width)
    padded = np.pad(law.masses, (0, -len(law.masses) % factor)).reshape(-1, factor)
    # Above the left neighbour by b steps, the tilt changes by -b slope on the left and (factor - b) slope on the right;
    # the rest of the left share, e^(-b h), has the same kind of exponent, and its rounding grows with h as well.
    push = law.side.push(40.0 + 4.0 * factor * (1.0 + abs(law.slope) + width))
    coarse = np.zeros(len(padded) + 1)
    coarse[:-1] = padded @ (left * np.exp(-offsets * (width + law.slope)))
    coarse[1:] += padded @ (right * np.exp((factor - offsets) * law.slope))
    return _normalised(replace(law, masses=coarse * push, step=law.step * factor, slope=law.slope * factor))


def coarsened_by_merging(law: LatticeLaw, factor: int) -> LatticeLaw:
    """Every run of `factor` cells becomes one cell, labelled by its middle; P and Q are merged alike."""
    half = factor // 2
    lead = (law.start - law.origin) // law.step % factor
    front = half + lead
    padded = np.pad(law.masses, (front, -(len(law.masses) + front) % factor)).reshape(-1, factor)
    # Cell a holds the entries factor a - half + b; its label is the mean of theirs.
    middle = (factor - 1) / 2.0
    moves = np.exp((middle - np.arange(factor)) * law.slope)
    push = law.side.push(40.0 + 4.0 * factor * (1.0 + abs(law.slope)))
    shift = law.step * (2 * half - factor + 1)  # twice the way from entry factor a down to that mean; steps are even
    return _normalised(
        replace(
            law,
            masses=(padded @ moves) * push,
            start=law.start - lead * law.step - shift // 2,
            origin=law.origin - shift // 2,
            step=law.step * factor,
            slope=law.slope * factor,
            log_scale=law.log_scale + Fraction(law.slope) * (lead + Fraction(shift, 2 * law.step)),
            lost=round_up(law.lost * math.exp(law.slope * factor), 8.0),
        )
    )


def _normalised(law: LatticeLaw) -> LatticeLaw:
    """Scaled to sum to about 1 again; the scale is kept exactly."""
    total = float(np.sum(law.masses))
    if not 0.0 < total < math.inf:
        raise UnsupportedMechanism("its tilted masses leave the range of doubles; ask another way")
    scale = math.log(total)
    factor = math.exp(-scale)
    units = 8.0 + 2.0 * abs(scale)
    lost = round_up(law.lost * factor, 2.0 * units)
    return replace(
        law, masses=law.masses * factor * law.side.push(units), log_scale=law.log_scale + Fraction(scale), lost=lost
    )
