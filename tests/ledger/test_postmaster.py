"""PostgreSQL itself is killed again and again while eight processes spend: what it had answered, it still knows."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("psycopg")

from tests.ledger.cluster import ADDRESS, Cluster
from tests.ledger.conftest import DATABASES
from tests.ledger.full import amount
from tests.ledger.team import SPENDERS, team
from tests.ledger.witness import expect_kept

BETWEEN = 0.05  # seconds, from look to look
LATER = 0.3  # within which the kill comes, when all is under way


@pytest.mark.skipif("postgresql" not in DATABASES, reason=f"{ADDRESS} is not set: make test-ledger")
def test_a_postmaster_that_is_killed(tmp_path: Path) -> None:
    random = Random(11)
    with Cluster() as cluster:
        url = cluster.fresh()
        with team(url, tmp_path) as spenders:
            for _ in range(amount(3, 20)):
                before = spenders.done("committed")
                while spenders.done("committed") < before + SPENDERS:
                    spenders.watch(BETWEEN)
                spenders.watch(LATER * random.random())
                cluster.kill()
                cluster.start()
        expect_kept(url, spenders.journals)
        assert spenders.done("committed") > amount(3, 20) * SPENDERS
