"""How far the tests of durability go, as TIGHTROPE_LEDGER_TESTS says.

Not set: moments, in the suite. `short`: `make test-ledger`, for continuous integration. `full`: `make
test-ledger-full`, for every night and before a release, as long as it takes to meet what is rare.
"""

from __future__ import annotations

import os
from typing import TypeVar

EXTENTS = ("", "short", "full")
EXTENT = EXTENTS.index(os.environ.get("TIGHTROPE_LEDGER_TESTS", ""))
Amount = TypeVar("Amount", int, float)


def amount(quick: Amount, short: Amount, full: Amount) -> Amount:
    """So much of it, at the extent that is asked for."""
    return (quick, short, full)[EXTENT]
