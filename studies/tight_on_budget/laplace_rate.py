"""How fast Laplace noise becomes Gaussian: certified differences over the counts, and a theorem that covers them.

Section 6 of the paper leaves open why Laplace noise approaches Gaussian noise of half its variance.
    half     Gaussian, sigma = b
    matched  Gaussian of the same mean loss: sigma^2 = 1 / (2k), k = a - 1 + e^-a, a = 1/b (sensitivity 1)
Guarantee: both ends of a difference hold; the theorem's numbers are rounded up.
Reference: docs/proofs/laplace_to_gauss.md.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from flint import arb

from tightrope import AccuracyNotReached, Bound, Gaussian, Laplace, Mechanism
from tightrope.core.conversions.classical import at_or_above, at_or_below

RECORD = Path(__file__).parent / "data" / "laplace_rate.csv"
TOTAL = 1.0  # mu, which stays fixed in the first tables: the scale is sqrt(r) / mu
EPSILONS = {"total, at 0": 0.0, "total, at 4": 4.0}
AT_DELTA, FIXED = "total, at delta", "fixed"
COUNTS = tuple(4**power for power in range(10))  # square roots are exact, and so are scales
ACCURACY = 1e-7  # of an epsilon
SCALE, DELTA = 200.0, 1e-4  # of the last table: the paper's noise, without the cut
FIXED_COUNTS = tuple(2**power for power in range(0, 21, 2))


def mean_loss(largest: arb) -> arb:
    """k = a - 1 + e^-a."""
    return largest + (-largest).expm1()


def shortfall(largest: arb) -> arb:
    """q: twice the mean less the variance of the loss of one use; 0 for a Gaussian."""
    fall = (-largest).exp()
    return 2 * largest - 5 + 4 * (1 + largest) * fall + fall**2


def matched_bound(scale: float, count: int, epsilon: float) -> float:
    """At or above |delta of Laplace - delta of the matched Gaussian|: the better of both theorems."""
    tilt = saddle_tilt(scale, count, epsilon)
    middle = at_or_above(_middle, scale, count, epsilon)
    return min(middle, tilted_bound(scale, count, epsilon, tilt)) if tilt > 0.0 else middle


def half_bound(scale: float, count: int, epsilon: float) -> float:
    """At or above |delta of Laplace - delta of the Gaussian of half the variance|."""

    def formula() -> arb:
        largest = 1 / arb(scale)
        half, same = arb(count).sqrt() * largest, (2 * count * mean_loss(largest)).sqrt()
        between = half.union(same)
        density = (-((between / 2 - arb(epsilon) / between) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()
        return arb(matched_bound(scale, count, epsilon)) + (half - same) * density

    return at_or_above(formula)


def _middle(scale: float, count: int, epsilon: float) -> arb:
    """B, by the middle line."""
    largest, pi = 1 / arb(scale), arb.pi()
    m = count * mean_loss(largest)
    v = arb(0.25) + (pi / (2 * largest)) ** 2
    whole = (pi / m).sqrt() * (-m / 4).exp() / 2
    first, second = whole * (1 / (2 * m) + arb(0.25)), whole * (3 / (4 * m**2) + 1 / (4 * m) + arb(1) / 16)
    near = count * shortfall(largest) / (2 * pi) * (first + second / v)
    atoms = (-count * largest / 2).exp() * (1 + (largest / pi) ** 2) ** (arb(count) / 2)
    return (arb(epsilon) / 2).exp() * (near + 2 * largest / pi**2 * (atoms + (-m * v).exp()))


CELLS = 300  # of an integral that is bounded cell by cell


def tilted_bound(scale: float, count: int, epsilon: float, tilt: float) -> float:
    """B_c: the same difference by the line through a tilt c > 0, sharp at small deltas; inf where c is too large."""

    def formula() -> arb:
        a, c, pi = 1 / arb(scale), arb(tilt), arb.pi()
        m, v = count * mean_loss(a), arb(0.25) + (pi / (2 * a)) ** 2
        weight, square = count * shortfall(a) / 2, v - (c + 1) ** 2
        if not square > 1:
            return arb("inf")
        end = square.sqrt()
        most = ((1 + (c + 1) ** 2 / square) / (1 + (c + arb(0.5)) ** 2 / square)).sqrt() * (c * a).exp()
        atoms = ((most + (-(c + 1) * a).exp()) / 2) ** count
        far = (atoms + (m * (c * (c + 1) - square)).exp()) / end

        def inside(t: arb) -> arb:
            size = ((c**2 + t**2) * ((c + 1) ** 2 + t**2)).sqrt()
            return (m * (c * (c + 1) - t**2)).exp() * (weight * size**2 * (1 + size / v)).expm1() / size

        near = sum(((high - low) * inside(low.union(high)) for low, high in pairwise(_edges(m, end))), arb(0))
        return (-c * arb(epsilon)).exp() / pi * (near + far)

    return at_or_above(formula)


def _edges(m: arb, end: arb) -> list[arb]:
    """From 0 to the end: even where the Gaussian has its mass, and ever wider cells beyond."""
    wide = 10 / m.sqrt()
    if not wide < end:
        return [end * k / CELLS for k in range(CELLS + 1)]
    return [
        *(wide * k / CELLS for k in range(CELLS)),
        *(wide * (end / wide) ** (arb(k) / CELLS) for k in range(CELLS + 1)),
    ]


def saddle_tilt(scale: float, count: int, epsilon: float) -> float:
    """The tilt at which the matched Gaussian's line is lowest."""
    return epsilon / (2.0 * count * float(mean_loss(1 / arb(scale)))) - 0.5


def matched(scale: float, ask: Callable[[Mechanism], Bound], count: int) -> Bound:
    """The answer for the matched Gaussian, whose sigma lies between two doubles: more noise leaks less."""

    def sigma() -> arb:
        return 1 / (2 * mean_loss(1 / arb(scale))).sqrt()

    least, most = (ask(Gaussian(sigma=end) * count) for end in (at_or_above(sigma), at_or_below(sigma)))
    return Bound(least.lower, most.upper)


def difference(one: Bound, other: Bound) -> Bound:
    """one - other, rounded outward."""
    low, high = one.lower - other.upper, one.upper - other.lower
    return Bound(math.nextafter(low, -math.inf), math.nextafter(high, math.inf))


def times(bound: Bound, factor: float) -> Bound:
    """For a factor above 0, rounded outward."""
    return Bound(
        math.nextafter(factor * bound.lower, -math.inf),
        math.nextafter(factor * bound.upper, math.inf),
    )


@dataclass(frozen=True, slots=True)
class Row:
    """Laplace noise beside both Gaussians after so many uses; a difference is Laplace less Gauss."""

    table: str
    count: int
    laplace: Bound
    half: Bound
    matched: Bound

    @property
    def to_half(self) -> Bound:
        """Laplace less the Gaussian of half the variance."""
        return difference(self.laplace, self.half)

    @property
    def to_matched(self) -> Bound:
        """Laplace less the matched Gaussian."""
        return difference(self.laplace, self.matched)


def total_scale(count: int) -> float:
    """The scale that grows with the count, so that the total stays the same."""
    return math.sqrt(count) / TOTAL


def total_row(table: str, count: int) -> Row:
    """delta at the table's epsilon of noise of that scale."""
    return _row(table, count, total_scale(count), lambda run: sharpest_delta(run, EPSILONS[table]))


def sharpest_delta(run: Mechanism, epsilon: float) -> Bound:
    """The narrowest interval that the engines come to: the differences are small."""
    try:
        return run.delta(epsilon, accuracy=1e-12)
    except AccuracyNotReached as reached:
        return reached.bound


def delta_row(count: int) -> Row:
    """epsilon at DELTA of noise of that scale."""
    return _row(AT_DELTA, count, total_scale(count), lambda run: run.epsilon(DELTA, accuracy=ACCURACY))


def fixed_row(count: int) -> Row:
    """epsilon at DELTA of the paper's noise."""
    return _row(FIXED, count, SCALE, lambda run: run.epsilon(DELTA, accuracy=ACCURACY))


def _row(table: str, count: int, scale: float, ask: Callable[[Mechanism], Bound]) -> Row:
    laplace, half = ask(Laplace(scale=scale) * count), ask(Gaussian(sigma=scale) * count)
    return Row(table, count, laplace, half, matched(scale, ask, count))


def rows() -> list[Row]:
    """All tables."""
    totals = [total_row(table, count) for table in EPSILONS for count in COUNTS]
    return [*totals, *map(delta_row, COUNTS), *map(fixed_row, FIXED_COUNTS)]


HEADER = ("table", "count", *(f"{name}_{end}" for name in ("laplace", "half", "matched") for end in ("lower", "upper")))


def write(found: Sequence[Row], path: Path = RECORD) -> None:
    """One line per row."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for row in found:
            ends = (repr(end) for each in (row.laplace, row.half, row.matched) for end in (each.lower, each.upper))
            writer.writerow((row.table, row.count, *ends))


def read(path: Path = RECORD) -> list[Row]:
    """The recorded rows."""
    with path.open(newline="", encoding="utf-8") as file:
        return [_read(row) for row in csv.DictReader(file)]


def _read(row: dict[str, str]) -> Row:
    bounds = [Bound(float(row[f"{n}_lower"]), float(row[f"{n}_upper"])) for n in ("laplace", "half", "matched")]
    return Row(row["table"], int(row["count"]), *bounds)
