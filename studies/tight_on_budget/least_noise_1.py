"""The least noise that meets Vuvuzela's targets, drawn and told from the record of least_noise.py."""

from __future__ import annotations

from collections.abc import Sequence

from studies.figure import Figure, Line, Panel
from studies.page import said
from studies.tight_on_budget.least_noise import CASES, EPSILON, Case, Least, best, read
from studies.tight_on_budget.vuvuzela import DIAL_MANY, Noise, dialing
from tightrope.core.values.calls import rounded


def figure() -> Figure:
    """The least mean over the spread."""
    return Figure(
        "least-noise-1",
        "The least noise that meets the target",
        "For each spread the least mean of cut noise with which the protocol meets e^epsilon = 2, delta = 1e-4 (both "
        "components for conversation): two messages less are shown to miss it. Too small a spread leaks through what "
        "is seen, too large a one through what is cut.",
        [_panel(case, read()) for case in CASES],
    )


def _panel(case: Case, found: Sequence[Least]) -> Panel:
    lines = []
    for shape, label in (("GS", "Gaussian noise"), ("LP", "Laplace noise")):
        mine = [row for row in found if (row.protocol, row.rounds, row.shape) == (case.protocol, case.rounds, shape)]
        lines.append(Line(label, [r.spread for r in mine], [r.mean for r in mine], [r.missed for r in mine]))
    title = f"{case.protocol}, {case.rounds:,} rounds"
    return Panel(title, "spread", "least mean, messages", lines=lines, log_y=False)


def section() -> str:
    """The best of each, beside what was recommended."""
    found, table = read(), ""
    for case in CASES:
        for shape in ("GS", "LP"):
            row = best(found, case, shape)
            table += (
                f"| {case.protocol}, {case.rounds:,} rounds | {shape}({row.mean:,.0f}, {row.spread:,.0f}) "
                f"| {case.recommended / row.mean:.2f} | {rounded(row.upper, 6, up=True)} | {row.missed:,.0f} "
                f"| {rounded(row.lower, 6, up=False)} |\n"
            )
    low, high = (dialing(Noise("GS", mean, 833.0), DIAL_MANY).delta(EPSILON) for mean in (0.0, 4_100.0))
    return (
        "### The least noise that meets the targets\n\n"
        "Clamped noise as the paper reads it may leak *less* at a lower mean, since clamping hides what it clamps: "
        f"GS(0, 833) has delta {said(low)} after {DIAL_MANY:,} rounds of dialing, GS(4.1k, 833) {said(high)}. Under "
        "that reading a mean is nothing to pay for. It pays for noise that cannot be "
        "negative and moves with the query: noise that is cut at 0, of which fewer messages than the shift tell "
        "everything. With it, both components for conversation, the least means found are these; the third column is "
        "how many times more the authors of Vuvuzela recommend.\n\n"
        "| protocol | best found | times less | delta, at most | a mean of | has delta, at least |\n"
        "|---|---|---|---|---|---|\n"
        f"{table}\n"
        "At each spread of the grid (figure) both are proven: the mean that is given meets the target, and a lower one "
        "misses it, two messages lower in this table. That no spread between those of the grid allows a lower mean is "
        "not proven.\n"
    )
