"""Faults that the tests of mechanisms known by their divergences must kill: each drops or weakens one term."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from tests.mechanisms import test_renyi_only as tests
from tightrope.mechanisms import renyi_only
from tightrope.mechanisms.renyi_only import GaussianSparseVector

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


FAULTS = (
    Fault("one query for all", count_one_query, lambda _: tests.test_all_answers_tell_more_than_one_query()),
    Fault("outcomes forgotten", forget_the_outcomes, lambda _: tests.test_what_the_proof_says()),
)
