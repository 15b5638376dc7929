"""PostgreSQL itself is killed again and again while eight processes spend: what it had answered, it still knows."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("psycopg")

from tests.ledger.cluster import Cluster
from tests.ledger.full import amount
from tests.ledger.team import SPENDERS, team
from tests.ledger.witness import expect_kept

BETWEEN = 0.05  # seconds, from look to look
LATER = 0.3  # within which the kill comes, when all is under way


@pytest.mark.postgresql
def test_a_postmaster_that_is_killed(tmp_path: Path) -> None:
    random, kills = Random(11), amount(3, 5, 20)
    with Cluster() as cluster:
        url = cluster.fresh()
        with team(url, tmp_path) as spenders:
            for _ in range(kills):
                before = spenders.done("committed")
                while spenders.done("committed") < before + SPENDERS:
                    spenders.watch(BETWEEN)
                spenders.watch(LATER * random.random())
                cluster.kill()
                cluster.start()
        expect_kept(url, spenders.journals)
        assert spenders.done("committed") > kills * SPENDERS
