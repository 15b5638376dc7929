"""The least noise that meets Vuvuzela's targets: mean and spread chosen together.

Cost is the mean, in messages. Clamped noise as the paper reads it may leak less at a lower mean, since clamping
hides what it clamps: under that reading the least mean says nothing. What costs is noise that cannot be negative and
moves with the query: cut noise, whose outputs below the shift tell everything. For each spread the least mean is found
to the last pair of messages, and certified on both sides; the least over a grid of spreads is the best found, no more.
Guarantee: both deltas of a row hold.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from studies.asking import SECONDS
from studies.tight_on_budget.vuvuzela import (
    DIAL_FEW,
    DIAL_MANY,
    TALK_FEW,
    TALK_MANY,
    TARGET,
    Noise,
    conversation_cut,
    cut,
)
from tightrope import Bound, Mechanism, calibrate

RECORD = Path(__file__).parent / "data" / "least_noise.csv"
HEADER = ("protocol", "rounds", "shape", "spread", "mean", "upper", "missed", "lower")
EPSILON, ABOVE = (math.nextafter(math.log(TARGET[0]), side) for side in (0.0, 1.0))  # around the logarithm
SHARES = (1.005, 1.02, 1.05, 1.09, 1.15, 1.25, 1.4, 1.6)  # of the least spread that meets the target with any mean
FINER = (0.99, 0.98, 1.01, 1.02)  # of the best of them
UNCUT = 40.0  # spreads of mean, beyond which nothing is cut


def dialing_cut(noise: Noise, rounds: int) -> Mechanism:
    """The dialing protocol with noise that is cut."""
    return cut(noise, 2.0) * rounds


@dataclass(frozen=True, slots=True)
class Case:
    """A protocol after so many rounds, and what its authors recommend."""

    protocol: str
    rounds: int
    run: Callable[[Noise, int], Mechanism]
    recommended: float


CASES = (
    Case("dialing", DIAL_FEW, dialing_cut, 8_000.0),
    Case("dialing", DIAL_MANY, dialing_cut, 20_000.0),
    Case("conversation", TALK_FEW, conversation_cut, 150_000.0),
    Case("conversation", TALK_MANY, conversation_cut, 450_000.0),
)


@dataclass(frozen=True, slots=True)
class Least:
    """The least mean at a spread: delta is at most `upper` there, and at least `lower` at the mean that misses."""

    protocol: str
    rounds: int
    shape: str
    spread: float
    mean: float
    upper: float
    missed: float
    lower: float


def least_mean(case: Case, shape: str, spread: float) -> Least:
    """By a search over even means, so that half of the noise is whole as well."""
    found = calibrate(
        lambda pairs: case.run(Noise(shape, 2.0 * pairs, spread), case.rounds),
        epsilon=EPSILON,
        delta=TARGET[1],
        integer=True,
        least=math.ceil(spread),
        most=math.ceil(UNCUT * spread),
        seconds=SECONDS,
    )
    assert found.missed is not None, (case, shape, spread)
    means = 2.0 * found.value, 2.0 * found.missed.value
    meets, misses = (
        _delta(case, Noise(shape, mean, spread), at) for mean, at in zip(means, (EPSILON, ABOVE), strict=True)
    )
    assert meets.upper <= TARGET[1] < misses.lower, (case, shape, spread, meets, misses)
    return Least(case.protocol, case.rounds, shape, spread, means[0], meets.upper, means[1], misses.lower)


def _delta(case: Case, noise: Noise, epsilon: float) -> Bound:
    return case.run(noise, case.rounds).delta(epsilon, seconds=SECONDS)


def least_spread(case: Case, shape: str) -> float:
    """The spread below which no mean will do, about: that of noise that is hardly ever cut."""

    def run(spread: float) -> Mechanism:
        return case.run(Noise(shape, 2.0 * round(UNCUT * spread / 2.0), spread), case.rounds)

    return calibrate(run, epsilon=EPSILON, delta=TARGET[1], tolerance=1e-4, least=10.0, most=1e6, seconds=SECONDS).value


def rows() -> list[Least]:
    """Every case and shape over a grid of spreads, which is finer around the best."""
    found: list[Least] = []
    for case in CASES:
        for shape in ("GS", "LP"):
            start = least_spread(case, shape)
            coarse = [least_mean(case, shape, float(round(start * share))) for share in SHARES]
            best = min(coarse, key=lambda row: row.mean)
            spreads = {float(round(best.spread * share)) for share in FINER} - {row.spread for row in coarse}
            fine = [least_mean(case, shape, spread) for spread in sorted(spreads) if spread > start]
            found += sorted([*coarse, *fine], key=lambda row: row.spread)
    return found


def write(found: Sequence[Least], path: Path = RECORD) -> None:
    """One row per spread."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows([getattr(row, name) for name in HEADER] for row in found)


def read(path: Path = RECORD) -> list[Least]:
    """The recorded rows."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Least(row["protocol"], int(row["rounds"]), row["shape"], *(float(row[name]) for name in HEADER[3:]))
            for row in csv.DictReader(file)
        ]


def best(found: Sequence[Least], case: Case, shape: str) -> Least:
    """The row of the least mean."""
    mine = [row for row in found if (row.protocol, row.rounds, row.shape) == (case.protocol, case.rounds, shape)]
    return min(mine, key=lambda row: row.mean)
