"""Old spellings of public names do what they did, and say at the caller's line what they are called now."""

from __future__ import annotations

import pytest

import tightrope as tr


def test_the_old_name_of_an_error_breakdown_warns() -> None:
    with pytest.warns(
        DeprecationWarning, match="tightrope.Budget is deprecated .* use tightrope.ErrorBreakdown"
    ) as told:
        assert tr.Budget is tr.ErrorBreakdown
    assert told[0].filename == __file__


def test_a_name_that_never_was_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Budgets'"):
        tr.Budgets  # type: ignore[attr-defined]  # noqa: B018
