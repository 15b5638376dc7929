"""What every check is given: a pair of the table, one direction and rate of it, and its truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from flint import acb, arb

import tightrope as tr
from tests.conformance.cases import DIRECTIONS, Row, direction_of, last_epsilon, rates_of
from tests.oracle.parts import moment
from tests.oracle.precision import precision
from tests.oracle.truth import Law, Truth
from tightrope.core.losses.pair import Pair

RATES = (0.01, 0.3, 1.0)
BITS = 160


@dataclass(frozen=True)
class Asked:
    """The pair of one direction of a mechanism, sampled or not."""

    row: Row
    rate: float
    direction: str

    @cached_property
    def pair(self) -> Pair:
        leaf = self.row.mechanism
        mechanism = leaf if self.rate == 1.0 else leaf.poisson(rate=self.rate)
        return mechanism.pair(self.way)

    @property
    def way(self) -> tr.Direction:
        return direction_of(self.direction)

    @property
    def law(self) -> Law:
        return self.row.law

    @property
    def truth(self) -> Truth:
        return Truth(self.law, self.rate, self.direction)

    @property
    def base(self) -> Truth:
        """Without the sampling."""
        return Truth(self.law, 1, self.direction)

    def epsilons(self) -> tuple[float, ...]:
        """Places on both sides of zero, inside of the losses."""
        last = min(last_epsilon(self.truth), 30.0)
        return (-0.63 * last - 1e-3, 0.0, 0.211 * last, 0.77 * last)

    def moment(self, tilt: float, t: float = 0.0) -> acb:
        """E[e^{(tilt + it) l}; l finite]."""
        return moment(self.truth, tilt, t)


def every(row: Row) -> list[Asked]:
    """All rates and directions of a row."""
    rates = rates_of(row, RATES[1:] if row.blur else RATES)
    return [Asked(row, rate, direction) for rate in rates for direction in DIRECTIONS]


def holds(found: object, truth: arb) -> bool:
    """Whether an Enclosure of one number contains the truth; a truth that is a ball may reach beyond."""
    with precision(300):
        return not arb(float(found.lower)) > truth and not arb(float(found.upper)) < truth  # type: ignore[attr-defined]


def meets(found: arb, truth: arb, what: str) -> None:
    """Fails where two balls have nothing in common, and says how far apart they are."""
    assert found.overlaps(truth), f"{what} is {_digits(found)}, not {_digits(truth)}, off by {_digits(found - truth)}"


def _digits(number: arb) -> str:
    return number.str(17, radius=False)


def narrow(found: arb, digits: float = 1e-12) -> bool:
    """Whether a ball tells something."""
    return bool(found.rad() <= digits * abs(found).max(arb(1)))
