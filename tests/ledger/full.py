"""How far the tests of durability go: a short while in the suite, as long as it takes in `make test-ledger`."""

from __future__ import annotations

import os
from typing import TypeVar

FULL = os.environ.get("TIGHTROPE_LEDGER_TESTS") == "full"
Amount = TypeVar("Amount", int, float)


def amount(quick: Amount, full: Amount) -> Amount:
    """So much here, or all where it is asked for."""
    return full if FULL else quick
