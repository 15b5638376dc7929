"""Examples 14 and 15 of the talk, where Renyi divergences are infinite: certified, beside what autodp gives."""

from __future__ import annotations

import csv
import math
from functools import partial
from pathlib import Path
from typing import NamedTuple

from studies.claim import Claim
from studies.page import said
from tightrope import Bound, DistanceToInstability, GaussianVariance, Mechanism

RECORD = Path(__file__).resolve().parent.parent / "data" / "autodp.csv"
USES = (1, 10, 1000)
EPSILON, DELTA = 1.0, 1e-6
LOOSE = 1e-2  # delta at which epsilon is asked
WIDE = math.sqrt(2.0)  # the double above it: its square is 2 and 3e-16

OPENING = """### Examples 14 and 15: no Renyi divergence, and finite epsilons

Distance to instability (example 14: epsilon 1, delta 1e-6) has mass at infinite loss, and noise of the variance 2 or 1,
whichever the data say (example 15), has no moments of its loss from the order 2 on: Renyi divergences say nothing of
either. Their profiles compose all the same. The authors print no number for them, and autodp 0.2.3.1 has neither as a
mechanism; what it gives when both are described to it, as its manual says, is recorded by
`benchmarks/autodp_examples.py` (make bench-peers).

- By phi-functions (example 15): its quadrature takes 500 points for an integral whose integrand falls like
  t^(-1 - k/2) after k uses. For one use it is off by a quarter, below the truth, and negative at 5; for ten it
  has six digits at 1 and is nine times the truth at 10; for a thousand it says 1 everywhere.
- By phi-functions (example 14): mass at infinity is in no phi-function, and the phi-function of the rest does not
  fall at all, so that its integral does not converge.
- As an (epsilon, delta)-DP mechanism: one use is right, and a composition goes through Renyi divergences, which are
  infinite.

| example | uses | asked | certified | autodp |
|---|---|---|---|---|
"""


class Given(NamedTuple):
    """A row of the record."""

    how: str
    uses: int
    asked: str
    at: float
    given: str


def varied() -> Mechanism:
    """Example 15 at the variances that it prints, 2 with the record and 1 without."""
    return GaussianVariance(sigma1=WIDE, sigma2=1.0)


def unstable() -> Mechanism:
    """Example 14 (parameters are ours)."""
    return DistanceToInstability(epsilon=EPSILON, delta=DELTA)


def given() -> list[Given]:
    """What autodp gave."""
    with RECORD.open(newline="", encoding="utf-8") as file:
        return [
            Given(row["example"], int(row["uses"]), row["asked"], float(row["at"]), row["given"])
            for row in csv.DictReader(file)
        ]


def certified(row: Given) -> Bound:
    """The same question here; autodp's pair of example 15 is the one of a record that is removed."""
    if row.how.startswith("15"):
        return (varied() * row.uses).delta(row.at, direction="remove")
    run = unstable() * row.uses
    return run.epsilon(row.at) if row.asked == "epsilon" else run.delta(row.at)


def table() -> str:
    """The section."""
    rows = (
        f"| {row.how} | {row.uses:,} | {row.asked} at {row.at:g} | {said(certified(row))} | {_shown(row.given)} |\n"
        for row in given()
    )
    return OPENING + "".join(rows)


def _shown(text: str) -> str:
    try:
        return f"{float(text):.6g}"
    except ValueError:
        return text


def _finite(run: Mechanism) -> dict[str, partial[Bound]]:
    return {f"epsilon at 0.01, count {uses:,}": partial((run * uses).epsilon, LOOSE) for uses in USES}


CLAIMS = (
    Claim(
        "example-14",
        "talk, ex. 14",
        "distance to instability is (epsilon, delta)-DP, and its Renyi divergences are infinite at every order",
        {
            "delta at 1, of the given 1e-6": lambda: unstable().delta(1.0),
            "divergence of order 1.01": lambda: unstable().renyi(1.01),
        },
        lambda n: n["delta at 1, of the given 1e-6"].upper <= DELTA and n["divergence of order 1.01"].lower == math.inf,
        "with half of that delta: one of two different answers is told with probability delta/2",
    ),
    Claim(
        "example-15",
        "talk, ex. 15",
        "for the variances 2 and 1 the divergence is infinite at every order from 2 on",
        {
            "order 2": lambda: varied().renyi(2.0, direction="remove"),
            "order 1.99": lambda: varied().renyi(1.99, direction="remove"),
        },
        lambda n: n["order 2"].lower == math.inf and n["order 1.99"].upper < math.inf,
        "and finite below; with the laws exchanged it is finite at every order",
    ),
    Claim(
        "example-14-composed",
        "talk, ex. 14",
        "its profile gives what its divergences cannot: epsilon stays finite under composition",
        _finite(unstable()),
        lambda n: all(bound.upper < math.inf for bound in n.values()),
        "as long as delta is above the mass at infinity, 5e-7 for each use",
    ),
    Claim(
        "example-15-composed",
        "talk, ex. 15",
        "its profile gives what its divergences cannot: epsilon stays finite under composition",
        _finite(varied()),
        lambda n: all(bound.upper < math.inf for bound in n.values()),
        "exactly, by the chi-square law of the sum",
    ),
)
