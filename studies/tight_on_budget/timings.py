"""Recorded timings, what they leak, and the delay that hides it.

The delay: an answer leaves on the grid of the bins, plus Gaussian noise, but not before the last edge. Pair the
timings by rank: both laws are then mixtures of pairs that lie at most `distance` apart, and the hockey-stick divergence
is jointly convex, so that Gaussian noise of that sensitivity covers them.
Guarantee: the bounds speak of independent timings with the recorded shares, or, with a confidence, of every
pair of laws from which these counts are not surprising.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from tightrope import Bound, Calibration, Gaussian, calibrate
from tightrope.core.mechanisms.histograms import Histograms

RECORD = Path(__file__).parent / "data" / "timings.csv"
HEADER = ("comparison", "from_ns", "right", "wrong")
FACTOR, DELTA = 2.0, 1e-4


@dataclass(frozen=True, slots=True)
class Timings:
    """Counts per bin; the first bin holds everything faster too, the last one everything slower."""

    name: str
    starts: tuple[int, ...]
    right: tuple[int, ...]
    wrong: tuple[int, ...]

    @property
    def draws(self) -> int:
        """How many timings were recorded."""
        return sum(self.right) + sum(self.wrong)

    def histograms(self, confidence: float | None = None) -> Histograms:
        """The pair: a right first byte against a wrong one."""
        return Histograms(self.right, self.wrong, confidence=confidence)


def read(path: Path = RECORD) -> tuple[Timings, ...]:
    """The recorded comparisons."""
    rows: dict[str, list[tuple[int, int, int]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["comparison"], []).append((int(row["from_ns"]), int(row["right"]), int(row["wrong"])))
    return tuple(Timings(name, *zip(*found, strict=True)) for name, found in rows.items())


def write(path: Path, found: Sequence[Timings]) -> None:
    """One row per bin."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for each in found:
            writer.writerows((each.name, *row) for row in zip(each.starts, each.right, each.wrong, strict=True))


def leakage(timings: Timings, rounds: int, confidence: float | None) -> Bound:
    """delta at e^epsilon = 2 after so many observations; with confidence the two ends are those of different laws."""
    return (timings.histograms(confidence) * rounds).delta(
        math.log(FACTOR), accuracy=1e-2 if confidence is None else None
    )


def distance(timings: Timings) -> int:
    """How far a right and a wrong timing of the same rank can lie apart, in nanoseconds, exactly."""
    step = timings.starts[1] - timings.starts[0]
    right, wrong = sum(timings.right), sum(timings.wrong)
    ends = sorted({*(wrong * end for end in _ends(timings.right)), *(right * end for end in _ends(timings.wrong))})
    apart = 0
    for rank in ends:
        first = sum(1 for end in _ends(timings.right) if wrong * end < rank)
        second = sum(1 for end in _ends(timings.wrong) if right * end < rank)
        apart = max(apart, abs(first - second))
    return apart * step


def _ends(counts: Sequence[int]) -> list[int]:
    return list(accumulate(counts))


def hiding_noise(timings: Timings, rounds: int) -> Calibration:
    """The smallest deviation of a Gaussian delay, in nanoseconds, that is shown to meet the target."""
    apart = max(float(distance(timings)), 1.0)
    return calibrate(
        lambda sigma: Gaussian(sigma=sigma, sensitivity=apart) * rounds, epsilon=math.log(FACTOR), delta=DELTA
    )
