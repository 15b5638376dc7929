"""A claim as a value: what is said, which certified numbers decide it, and why it holds or not."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from studies.asking import SECONDS
from tightrope import Bound, Mechanism

RECORD = Path(__file__).parent / "data" / "claims.csv"
HEADER = ("claim", "quantity", "lower", "upper", "holds")

Numbers = Mapping[str, Bound]


@dataclass(frozen=True, slots=True)
class Claim:
    """holds(numbers) must follow from the ends of the bounds alone.

    digits: how many of a number that is an upper bound alone are shown.
    """

    key: str
    where: str
    says: str
    numbers: Mapping[str, Callable[[], Bound]]
    holds: Callable[[Numbers], bool]
    why: str
    digits: int = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim's numbers and its verdict."""

    key: str
    numbers: Numbers
    holds: bool


def decide(claim: Claim) -> Finding:
    """Asks for every number, then for the verdict."""
    numbers = {name: ask() for name, ask in claim.numbers.items()}
    return Finding(claim.key, numbers, claim.holds(numbers))


def delta_at(run: Mechanism, factor: float) -> Bound:
    """delta where e^epsilon is the factor; the double below its logarithm is asked, so that the upper end stands."""
    return run.delta(max(math.nextafter(math.log(factor), 0.0), 0.0), seconds=SECONDS)


def orders_below(value: Bound, reference: float) -> Bound:
    """How many powers of ten a positive value lies below the reference, rounded outward."""
    fewest, most = (math.log10(reference / end) for end in (value.upper, value.lower))
    return Bound(fewest - 1e-13, most + 1e-13)  # far above the rounding of a quotient and a logarithm


def write(findings: Sequence[Finding], path: Path = RECORD) -> None:
    """One row per number."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for finding in findings:
            writer.writerows(
                (finding.key, name, repr(bound.lower), repr(bound.upper), finding.holds)
                for name, bound in finding.numbers.items()
            )


def read(path: Path = RECORD) -> dict[str, Finding]:
    """The recorded findings by key."""
    numbers: dict[str, dict[str, Bound]] = {}
    holds: dict[str, bool] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            bound = Bound(float(row["lower"]), float(row["upper"]))
            numbers.setdefault(row["claim"], {})[row["quantity"]] = bound
            holds[row["claim"]] = row["holds"] == "True"
    return {key: Finding(key, found, holds[key]) for key, found in numbers.items()}
