"""Faults that the tests of a sum by its transform must kill: what wraps around, what is left out, a bound too low."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flint import arb

from tests.losses.operators.allocation import test_smooth as smooth
from tightrope.core.losses import gaussian as ratio
from tightrope.core.losses.cgf import RatioDecay
from tightrope.core.losses.operators.allocation import allocated as sums

from .contour_faults import Fault, Patch


def forget_aliases(patch: Patch) -> None:
    patch.setattr(sums, "_missing", lambda left, aliases: arb(0, left.upper()))


def forget_what_is_left_out(patch: Patch) -> None:
    """A third of the nodes, and nothing said of the others."""
    plain = sums._table

    def table(*given: Any) -> Any:
        made = plain(*given)
        few = made.line.nodes // 3
        return replace(made, puts=made.puts[:few], parts=made.parts[:few], left_put=arb(0), left_part=arb(0))

    patch.setattr(sums, "_table", table)


def fall_of_the_unmoved_line(patch: Patch) -> None:
    """The factor of the moved line forgotten."""
    plain = ratio.GaussianRatio.fall

    def fall(self: Any, real: arb, least: arb) -> RatioDecay:
        found = plain(self, real, least)
        return RatioDecay(found.log_bound - 1, found.slope / 3)

    patch.setattr(ratio.GaussianRatio, "fall", fall)


def few_points(patch: Patch) -> None:
    """A third of the points, and no word of what they miss."""
    plain = ratio._strip
    patch.setattr(ratio, "_strip", lambda mu, nats: plain(mu, nats / 12.0))
    patch.setattr(ratio, "_missed", lambda theta, strip: arb(0))


FAULTS = (
    Fault("aliases of a sum", forget_aliases, lambda _: smooth.test_another_line_gives_the_same()),
    Fault("nodes left out", forget_what_is_left_out, lambda _: smooth.test_another_line_gives_the_same()),
    Fault("the moved line", fall_of_the_unmoved_line, lambda _: smooth.test_transform_on_a_line_and_beyond(1.0)),
    Fault("few points of psi", few_points, lambda _: smooth.test_transform_on_a_line_and_beyond(1.0)),
)
