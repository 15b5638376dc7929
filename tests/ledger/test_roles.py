"""The roles that docs/ledger.md sets up in PostgreSQL: the ledger can do all its work, and never change the audit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.ledger import cluster
from tightrope import ledger as tl

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "ledger.md"
(GRANTS,) = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
OWNER, WORKER = "ledger_owner", "ledger_worker"
pytestmark = pytest.mark.postgresql


@pytest.fixture
def worker_url() -> Iterator[str]:
    """The address of a ledger for a role that has what the page grants, and nothing more."""
    server = os.environ[cluster.ADDRESS]
    url = cluster.fresh(server)
    name = url.partition("@/")[2].partition("?")[0]
    with psycopg.connect(server, autocommit=True) as connection:
        for role in (f"{OWNER} NOLOGIN", f"{WORKER} LOGIN"):
            try:
                connection.execute(f"CREATE ROLE {role}")
            except psycopg.errors.DuplicateObject:
                continue
        connection.execute(f"ALTER DATABASE {name} OWNER TO {OWNER}")
        connection.execute(f"GRANT {OWNER} TO {WORKER}")
    mine = url.replace("ledger@", f"{WORKER}@")
    tl.init(f"{mine}&options=-crole%3D{OWNER}").close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"REVOKE {OWNER} FROM {WORKER}")
        connection.execute(GRANTS.replace("TO ledger", f"TO {WORKER}"))
    yield mine
    cluster.drop(server, url)


def test_the_ledger_works_with_what_the_page_grants(worker_url: str, tmp_path: Path) -> None:
    with tl.open(worker_url) as ledger:
        ledger.create("b", epsilon=4.0, delta=1e-6, relation="add_remove", unit="one person", ceiling=8.0)
        ledger.create("part", epsilon=4.0, delta=1e-6, relation="add_remove", unit="one person", parent="b")
        with ledger.spend("part", "Gaussian(sigma=10) * 3", "one") as spending:
            spending.commit(part="Gaussian(sigma=10) * 2")
        ledger.reserve({"part": "Gaussian(sigma=10)"}, "two").cancel()
        ledger.renew("b", epsilon=6.0)
        ledger.token("ann", role="viewer", root="b")
        ledger.revoke("ann")
        ledger.freeze("b", "a test")
        ledger.recover("b", "a test", anchor=ledger.anchor(), complete=True)
        ledger.recover("_ledger", "a test")
        ledger.verify()
        ledger.export(tmp_path / "out.jsonl")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET actor = 'eve'",
        "DELETE FROM audit",
        "TRUNCATE audit",
        "DELETE FROM axis",
        "DELETE FROM charge",
        "DELETE FROM answer",
        "ALTER TABLE audit DISABLE TRIGGER ALL",
        "DROP TRIGGER audit_kept ON audit",
        "DROP TABLE audit",
        "CREATE OR REPLACE FUNCTION audit_kept() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "SET session_replication_role = replica",
        f"SET ROLE {OWNER}",
    ],
)
def test_the_ledger_cannot_change_what_was_written(worker_url: str, statement: str) -> None:
    with (
        psycopg.connect(worker_url) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(statement)
