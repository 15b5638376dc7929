"""Settings shared by every test."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tightrope import work

# The same examples on every run, and no clock: a failure here is a failure everywhere.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def _work_without_a_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the work counts, so that a busy machine gives the same answers; tests of the clock are marked so."""
    if "clock" not in request.keywords:
        monkeypatch.setattr(work, "monotonic", float)
