"""Faults that the tests of the contour must kill: each drops or weakens one error term."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flint import arb

from tests.engines import test_parts as parts_tests
from tests.engines.contour import test_budget as budget
from tests.losses.sampled_gaussian import test_decay as decay_tests
from tests.losses.sampled_gaussian import test_partition as marks_tests
from tightrope.core.engines import saddle as contour_parts
from tightrope.core.engines.contour import sums as contour_float
from tightrope.core.engines.contour import way as contour_plan
from tightrope.core.engines.contour.sums import ContourBound
from tightrope.core.losses.sampled_gaussian import cf_decay as contour_decay_ball
from tightrope.core.losses.sampled_gaussian import cf_decay as contour_decay_float
from tightrope.core.losses.sampled_gaussian import likelihood as contour_decay
from tightrope.core.losses.sampled_gaussian import mixture_cgf as cgf_marked
from tightrope.core.losses.sampled_gaussian import mixture_quadrature as quadrature_ball
from tightrope.core.losses.sampled_gaussian import mixture_quadrature as quadrature_normal
from tightrope.core.losses.sampled_gaussian.likelihood import Edge
from tightrope.core.numerics import contour_sum, quadrature
from tightrope.core.numerics.enclosures import Enclosure, exact, where

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Fault:
    """What is broken, how, and the test that must fail then."""

    name: str
    apply: Callable[[Patch], None]
    killed_by: Callable[[Patch], None]


def drop_aliases(patch: Patch) -> None:
    patch.setattr(ContourBound, "_aliases", lambda self, *at: arb(0))


def drop_truncation(patch: Patch) -> None:
    patch.setattr(ContourBound, "_truncation", arb(0))


def look_at_the_last_node_only(patch: Patch) -> None:
    """Believes that a finite part has vanished for good because it is small now."""
    plain = contour_plan.find_reach

    def early(*arguments: Any) -> object:
        found = plain(*arguments)
        return None if found is None else (0.02 * found[0], found[1])

    patch.setattr(contour_plan, "find_reach", early)
    drop_truncation(patch)


def forget_the_power(patch: Patch) -> None:
    """Counts the error of one factor once, not count times."""
    plain = contour_sum.power

    def weak(transform: quadrature.Transform, count: float) -> contour_sum.Factor:
        strong = plain(transform, count)
        return dataclasses.replace(strong, quadrature=strong.quadrature / count, rounding=strong.rounding / count)

    patch.setattr(contour_sum, "power", weak)
    patch.setattr(budget, "power", weak)


def drop_float_ends(patch: Patch) -> None:
    patch.setattr(quadrature_normal, "_ends", lambda *arguments: 0.0)


def drop_ball_ends(patch: Patch) -> None:
    patch.setattr(quadrature_ball, "_ends", lambda *arguments: arb(0))


def drop_node_errors(patch: Patch) -> None:
    plain = contour_sum.contour_sum

    def bare(*arguments: Any) -> contour_sum.ContourSum:
        return dataclasses.replace(plain(*arguments), quadrature=0.0, rounding=0.0)

    patch.setattr(contour_float, "contour_sum", bare)


def double_the_radius_of_the_decay(patch: Patch) -> None:
    """Claims at R what holds at 2 R."""
    plain = contour_decay.exponent

    def eager(ops: object, cell: object, mu: object, power: float, radius: float, *rest: object) -> object:
        return plain(ops, cell, mu, power, 2.0 * radius, *rest)  # type: ignore[arg-type]

    for module in (contour_decay_float, contour_decay_ball):
        patch.setattr(module, "exponent", eager)


def drop_rare(patch: Patch) -> None:
    patch.setattr(contour_parts.Parts, "rare_mass", lambda self: arb(0))


def drop_body(patch: Patch) -> None:
    patch.setattr(ContourBound, "_left_out", lambda self, epsilon: (arb(0), self.rare))


def drop_hard_end(patch: Patch) -> None:
    """Forgets that a sum over nodes does not see where the law ends."""
    plain = quadrature_normal.mode_heights
    patch.setattr(quadrature_normal, "mode_heights", lambda *arguments: [0.0 for _ in plain(*arguments)])


def drop_hard_end_in_balls(patch: Patch) -> None:
    plain = quadrature_ball.StripError.at
    patch.setattr(quadrature_ball.StripError, "at", lambda self, t: plain(dataclasses.replace(self, edge=arb(0)), t))


def drop_leak(patch: Patch) -> None:
    patch.setattr(cgf_marked.RestrictedGaussianCgf, "leak", lambda self: arb(0))


def drop_the_way_back(patch: Patch) -> None:
    """Forgets that a shifted path has to return to the axis where the law ends."""
    plain, plain_ball = marks_tests.decay, marks_tests.ball_cf_decay
    patch.setattr(marks_tests, "decay", lambda *arguments: dataclasses.replace(plain(*arguments), end=0.0))
    patch.setattr(
        marks_tests, "ball_cf_decay", lambda *arguments: dataclasses.replace(plain_ball(*arguments), end=arb(0))
    )


def drop_the_end_of_an_addition(patch: Patch) -> None:
    patch.setattr(quadrature_normal, "_ends", lambda *arguments: 0.0)


def drop_hit_errors(patch: Patch) -> None:
    plain = contour_sum._hit_errors

    def bare(*arguments: Any) -> object:
        return tuple(0.0 * errors for errors in plain(*arguments))

    patch.setattr(contour_sum, "_hit_errors", bare)


def rare(proof: bool) -> Callable[[Patch], None]:
    return lambda patch: parts_tests.test_rare(patch, proof)


def hard_end(patch: Patch) -> None:
    marks_tests.test_transforms(*marks_tests.CASES[-1])


def aliases(proof: bool) -> Callable[[Patch], None]:
    return lambda patch: budget.test_aliases(patch, proof)


def truncation(proof: bool) -> Callable[[Patch], None]:
    return lambda patch: budget.test_truncation(patch, proof)


def noise(patch: Patch) -> None:
    budget.test_noise_of_the_claimed_size(patch, budget.HUNDRED_THOUSAND, 1e4)


def decay(patch: Patch) -> None:
    decay_tests.test_bound(*decay_tests.CASES[1])


def take_the_good_side_of_an_edge_for_all(patch: Patch) -> None:
    """Weights of marks as 1 wherever they are above a half."""
    plain = Edge.log_sides

    def eager(self: Edge, points: Any) -> tuple[Enclosure, Enclosure]:
        inside, outside = plain(self, points)
        return where(inside.value > -0.69, exact(0.0 * points), inside), outside

    patch.setattr(Edge, "log_sides", eager)


FAULTS = (
    Fault("aliases dropped in float64", drop_aliases, aliases(False)),
    Fault("aliases dropped in balls", drop_aliases, aliases(True)),
    Fault("truncation dropped in float64", drop_truncation, truncation(False)),
    Fault("truncation dropped in balls", drop_truncation, truncation(True)),
    Fault(
        "a look at the last node",
        look_at_the_last_node_only,
        lambda patch: budget.test_a_transform_that_revives_beyond_the_cut(2.0),
    ),
    Fault(
        "power lemma without the count", forget_the_power, lambda patch: budget.test_the_power_needs_all_of_its_radius()
    ),
    Fault("dropped ends in float64", drop_float_ends, lambda patch: budget.test_dropped_ends(patch, 1)),
    Fault("dropped ends in balls", drop_ball_ends, lambda patch: budget.test_dropped_ends(patch, -1)),
    Fault("node errors dropped", drop_node_errors, noise),
    Fault("decay claimed at half the radius", double_the_radius_of_the_decay, decay),
    Fault("rare outputs forgotten in float64", drop_rare, rare(False)),
    Fault("rare outputs forgotten in balls", drop_rare, rare(True)),
    Fault("body without a hit forgotten", drop_body, lambda patch: parts_tests.test_body()),
    Fault("hard end dropped in float64", drop_hard_end, hard_end),
    Fault("hard end dropped in balls", drop_hard_end_in_balls, hard_end),
    Fault(
        "weights above a half as 1",
        take_the_good_side_of_an_edge_for_all,
        lambda patch: marks_tests.test_transforms(*marks_tests.CASES[5]),
    ),
    Fault("leak of the body dropped", drop_leak, lambda patch: marks_tests.test_masses(1.0, 0.01, 2.5)),
    Fault(
        "way back to the axis dropped",
        drop_the_way_back,
        lambda patch: marks_tests.test_decay_where_the_law_ends(300.0),
    ),
    Fault("end of an addition dropped", drop_the_end_of_an_addition, marks_tests.test_an_addition_that_ends_too_early),
    Fault(
        "errors of hits dropped",
        drop_hit_errors,
        lambda patch: parts_tests.test_hits_need_all_of_their_radius("hits", 1.0, True),
    ),
)
