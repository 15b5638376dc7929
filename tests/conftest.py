"""Settings shared by every test."""

from __future__ import annotations

from hypothesis import settings

# The same examples on every run, and no clock: a failure here is a failure everywhere.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("repeatable")
