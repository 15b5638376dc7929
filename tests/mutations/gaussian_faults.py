"""Faults that the tests of the smallest mu must kill."""

from __future__ import annotations

import math

from flint import arb

from tests.metrics import test_gaussian_scan as scan
from tests.metrics import test_gdp as readings
from tightrope.core.metrics import gdp
from tightrope.core.metrics import gdp as gaussian_scan
from tightrope.core.metrics import gdp as gaussian_tail

from .contour_faults import Fault, Patch


def look_at_ends_only(patch: Patch) -> None:
    """Between two points mu may be larger than at both."""
    patch.setattr(gaussian_scan, "cell_most", lambda first, last: (max(first.most, last.most), math.nan))


def forget_bounded_parts(patch: Patch) -> None:
    """Their largest losses move the tail of the others."""
    plain = gaussian_tail._stays_above
    patch.setattr(gaussian_tail, "_stays_above", lambda mu, start, line: plain(mu, start, line._replace(s=arb(0))))


def forget_the_reverse(patch: Patch) -> None:
    """Below alpha = 1 one direction needs the profile of its reverse."""
    plain = gdp._orders
    patch.setattr(gdp, "_orders", lambda law: plain(law)[:1])


FAULTS: tuple[Fault, ...] = (
    Fault("cells by their ends", look_at_ends_only, lambda patch: scan.test_a_chord_is_met_inside()),
    Fault(
        "bounded parts forgotten",
        forget_bounded_parts,
        lambda patch: scan.test_a_gaussian_stays_above_for_ever((50.0, 4.0)),
    ),
    Fault("reverse forgotten", forget_the_reverse, lambda patch: readings.test_one_direction_needs_both_orders()),
)
