"""Eight processes spend, and one of them is killed again and again: nothing is overspent, and nothing is lost."""

from __future__ import annotations

from pathlib import Path
from random import Random
from time import monotonic

import pytest

pytest.importorskip("sqlalchemy")

from tests.ledger.full import amount
from tests.ledger.team import SPENDERS, team
from tests.ledger.witness import expect_kept

BETWEEN = 0.7  # seconds, from kill to kill


def test_spenders_that_are_killed(ledger_url: str, tmp_path: Path) -> None:
    seconds, random = amount(6.0, 12.0, 60.0), Random(7)
    with team(ledger_url, tmp_path) as spenders:
        began = monotonic()
        while monotonic() < began + seconds or min(map(spenders.done, ("committed", "refused"))) < SPENDERS:
            spenders.watch(BETWEEN)
            spenders.kill(random)
    expect_kept(ledger_url, spenders.journals)
