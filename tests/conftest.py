"""Settings shared by every test."""

from __future__ import annotations

import os

os.environ["TIGHTROPE_CLOCK"] = "off"  # before the package is imported: for this process and all that it starts

import gc
import signal
import time
from collections.abc import Generator

import pytest
from hypothesis import settings

from tightrope.core.values import compute_budget

# The same examples on every run, and no clock: a failure here is a failure everywhere.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=False, database=None)
settings.load_profile("repeatable")

# A shell that puts `make test` into the background has it ignore interrupts; tests send some.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _work_without_a_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the work counts, so that a busy machine gives the same answers; tests of the clock are marked so."""
    if "clock" in request.keywords:
        monkeypatch.setattr(compute_budget, "monotonic", time.monotonic)
        monkeypatch.delenv(compute_budget.CLOCK, raising=False)
    else:
        monkeypatch.setattr(compute_budget, "monotonic", compute_budget.still)
        monkeypatch.setenv(compute_budget.CLOCK, "off")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thirteen thousand tests stay to the end: the collector of garbage looks at them neither now nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
