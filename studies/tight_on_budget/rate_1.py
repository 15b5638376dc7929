"""The rate at which Laplace noise becomes Gaussian, drawn and told from the record of laplace_rate.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from flint import arb

from studies.figure import Figure, Line, Panel
from studies.page import at_most, said
from studies.tight_on_budget.laplace_rate import (
    AT_DELTA,
    DELTA,
    EPSILONS,
    FIXED,
    SCALE,
    TOTAL,
    Row,
    half_bound,
    matched_bound,
    mean_loss,
    read,
    times,
    total_scale,
)
from tightrope import Bound
from tightrope.core.conversions.classical import at_or_above

Theorem = Callable[[float, int, float], float]


CAPTION = (
    "Left: the distance of delta at epsilon {epsilon:g} between r uses of Laplace noise of scale sqrt(r) (ours) and "
    "Gaussian noise, of half the variance and matched. The first falls like r^(-1/2), the second like 1/r; the theorem "
    "covers both, and for the matched Gaussian it equals the distance to first order. Right: scale {scale:g} as in "
    "the paper, without the cut: epsilon at delta {delta:g}. Against half the variance the distance ends at 1/600 "
    "of epsilon; against the matched Gaussian it goes on falling."
)

WHY = f"""\
### How fast Laplace noise becomes Gaussian

Section 6 leaves for future work why the curve of Laplace noise approaches that of Gaussian noise of half its variance.
A [theorem](proofs/laplace_to_gauss.md) says why and how fast, with constants. On the middle line
between the two laws both characteristic functions are real; that of Laplace noise is a product over its zeros, and its
logarithm differs from a Gaussian's of the same mean loss only in the fourth order of 1/scale. So the nearest Gaussian
is not the one of half the variance, b^2, but the matched one, b^2 + b/3 + 1/36 + ... (a second theorem, on a tilted
line, covers small deltas).

First the total stays fixed: r uses of scale sqrt(r), mu = {TOTAL:g} (parameters are ours). Differences are Laplace less
Gauss; p is the exponent of r^-p since the row above; beside each stands what the theorem allows at most.
"""

THEN = f"""
Then the paper's scale {SCALE:g}, without the cut: epsilon at delta {DELTA:g}. Relative to epsilon the distance to half
the variance does not vanish: it falls to a thousandth and then grows towards 1/600, a third of the largest loss, by
which the mean losses differ. The (epsilon, delta) parameters "coincide from a sufficiently high number of
observations" (1.1) to that share.

| uses | Laplace | Gauss, half the variance | relative difference | to matched, relative |
|---|---|---|---|---|
"""


def figure() -> Figure:
    """Differences at a fixed total with the theorem above them, and at a fixed scale."""
    rows = read()
    table, epsilon = next(iter(EPSILONS.items()))
    growing, fixed = ([row for row in rows if row.table == name and row.count > 1] for name in (table, FIXED))
    counts = [row.count for row in growing]
    gap = at_or_above(_gap)
    return Figure(
        "rate-1",
        "How fast Laplace noise becomes Gaussian",
        CAPTION.format(epsilon=epsilon, scale=SCALE, delta=DELTA),
        [
            Panel(
                f"total fixed: delta at epsilon {epsilon:g}",
                "uses",
                "distance of delta",
                lines=[
                    _distances("half the variance", growing, lambda row: row.to_half),
                    _distances("matched", growing, lambda row: row.to_matched),
                    _covered("theorem, half the variance", counts, half_bound, epsilon),
                    _covered("theorem, matched", counts, matched_bound, epsilon),
                ],
                log_x=True,
            ),
            Panel(
                f"scale {SCALE:g}: epsilon at delta {DELTA:g}",
                "uses",
                "distance of epsilon, relative",
                lines=[
                    _distances("half the variance", fixed, lambda row: _share(row.to_half, row.laplace)),
                    _distances("matched", fixed, lambda row: _share(row.to_matched, row.laplace)),
                    Line("its limit for half the variance", [row.count for row in fixed], [gap] * len(fixed)),
                ],
                log_x=True,
            ),
        ],
    )


def _gap() -> arb:
    """1 - 2k/a^2 at the paper's scale."""
    largest = 1 / arb(SCALE)
    return 1 - 2 * mean_loss(largest) / largest**2


def _distances(label: str, rows: Sequence[Row], of: Callable[[Row], Bound]) -> Line:
    found = [_size(of(row)) for row in rows]
    return Line(label, [row.count for row in rows], [each.upper for each in found], [each.lower for each in found])


def _covered(label: str, counts: Sequence[int], theorem: Theorem, epsilon: float) -> Line:
    return Line(label, counts, [theorem(total_scale(count), count, epsilon) for count in counts])


def _size(bound: Bound) -> Bound:
    """The absolute value."""
    if bound.lower < 0.0 < bound.upper:
        return Bound(0.0, max(-bound.lower, bound.upper))
    least, most = sorted((abs(bound.lower), abs(bound.upper)))
    return Bound(least, most)


def _share(part: Bound, whole: Bound) -> Bound:
    """part over a positive whole, rounded outward."""
    ends = [one / other for one in (part.lower, part.upper) for other in (whole.lower, whole.upper)]
    return Bound(math.nextafter(min(ends), -math.inf), math.nextafter(max(ends), math.inf))


def _exponent(before: Bound, after: Bound, ratio: int) -> str:
    """p of r^-p between two counts, or nothing where the sign changes."""
    (a, b), (c, d) = ((each.lower, each.upper) for each in (before, after))
    if min(a, c) <= 0.0 <= max(b, d):
        return ""
    sizes = _size(before), _size(after)
    ends = (math.log(sizes[0].lower / sizes[1].upper), math.log(sizes[0].upper / sizes[1].lower))
    low, high = (end / math.log(ratio) for end in ends)
    return str(Bound(low - 1e-14, high + 1e-14))


def section() -> str:
    """What section 6 leaves open, with both tables."""
    totals = "".join(_total(table, epsilon) for table, epsilon in EPSILONS.items())
    fixed = "".join(
        f"| {row.count:,} | {row.laplace} | {row.half} | {_share(row.to_half, row.laplace)} "
        f"| {_share(row.to_matched, row.laplace)} |\n"
        for row in read()
        if row.table == FIXED
    )
    return WHY + totals + _at_delta() + THEN + fixed


def _total(table: str, epsilon: float) -> str:
    rows = [row for row in read() if row.table == table]
    before = [None, *rows]
    head = (
        f"\n| uses | delta at epsilon {epsilon:g} | sqrt(r) times the difference to half the variance | p | theorem "
        "| r times the difference to matched | p | theorem |\n|---|---|---|---|---|---|---|---|\n"
    )
    return head + "".join(_line(row, last, epsilon) for last, row in zip(before, rows, strict=False))


def _at_delta() -> str:
    rows = [row for row in read() if row.table == AT_DELTA]
    head = (
        f"\n| uses | epsilon at delta {DELTA:g} | sqrt(r) times the difference to half the variance | p "
        "| r times the difference to matched | p |\n|---|---|---|---|---|---|\n"
    )
    lines = ""
    for before, row in zip([None, *rows], rows, strict=False):
        first, second = _exponents(before, row)
        lines += (
            f"| {row.count:,} | {said(row.laplace)} | {times(row.to_half, math.sqrt(row.count))} | {first} "
            f"| {times(row.to_matched, row.count)} | {second} |\n"
        )
    return head + lines


def _exponents(before: Row | None, row: Row) -> tuple[str, str]:
    if before is None:
        return "", ""
    ratio = row.count // before.count
    return _exponent(before.to_half, row.to_half, ratio), _exponent(before.to_matched, row.to_matched, ratio)


def _line(row: Row, before: Row | None, epsilon: float) -> str:
    count, scale, root = row.count, total_scale(row.count), math.sqrt(row.count)
    first, second = _exponents(before, row)
    return (
        f"| {count:,} | {said(row.laplace)} | {times(row.to_half, root)} | {first} "
        f"| {at_most(root * half_bound(scale, count, epsilon))} | {times(row.to_matched, count)} | {second} "
        f"| {at_most(count * matched_bound(scale, count, epsilon))} |\n"
    )
