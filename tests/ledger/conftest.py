"""Databases for the tests of the ledger: SQLite always, PostgreSQL where `make test-ledger` has started one.

What is marked `postgresql` needs one: `-m postgresql` leaves out what the suite has asked on SQLite already.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ledger import cluster

POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.postgresql)
DATABASES = ("sqlite", POSTGRESQL) if os.environ.get(cluster.ADDRESS) else ("sqlite",)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What needs PostgreSQL is left out where there is none."""
    if item.get_closest_marker("postgresql") and not os.environ.get(cluster.ADDRESS):
        pytest.skip(f"{cluster.ADDRESS} is not set: make test-ledger")


@pytest.fixture(params=DATABASES)
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty place for a ledger, gone after the test."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'ledger.db'}"
        return
    server = os.environ[cluster.ADDRESS]
    url = cluster.fresh(server)
    yield url
    cluster.drop(server, url)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The address of an empty place for a ledger in one file."""
    return f"sqlite:///{tmp_path / 'ledger.db'}"
