"""Faults that the tests of mechanisms known by their divergences must kill: each drops or weakens one term."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from tests.mechanisms import test_renyi_only as tests
from tightrope.core.losses.pair import Pair
from tightrope.core.mechanisms import renyi as renyi_only
from tightrope.core.mechanisms.renyi import GaussianSparseVector

from .contour_faults import Fault

Patch = pytest.MonkeyPatch


def count_one_query(patch: Patch) -> None:
    def rates(self: GaussianSparseVector, size: int) -> tuple[Fraction, Fraction]:
        few, every = plain(self, size)
        return few, every / self.queries

    plain = GaussianSparseVector._rates
    patch.setattr(GaussianSparseVector, "_rates", rates)


def forget_the_outcomes(patch: Patch) -> None:
    patch.setattr(renyi_only, "_log_outcomes", lambda queries, answers: arb(0))


def _line(patch: Patch, part: int) -> None:
    def curve(orders: object, moment: object, line: tuple[Fraction, Fraction]) -> Pair:
        less = (line[0] / 2, line[1]) if part == 0 else (line[0], line[1] / 2)
        return plain(orders, moment, less)  # type: ignore[arg-type]

    plain = renyi_only._curve
    patch.setattr(renyi_only, "_curve", curve)


def halve_the_rise(patch: Patch) -> None:
    _line(patch, 0)


def halve_the_level(patch: Patch) -> None:
    _line(patch, 1)


FAULTS = (
    Fault("half the rise of the line", halve_the_rise, lambda _: tests.test_a_line_holds_beyond_the_table()),
    Fault("half the level of the line", halve_the_level, lambda _: tests.test_a_line_holds_beyond_the_table()),
    Fault("one query for all", count_one_query, lambda _: tests.test_all_answers_tell_more_than_one_query()),
    Fault("outcomes forgotten", forget_the_outcomes, lambda _: tests.test_what_the_proof_says()),
)
