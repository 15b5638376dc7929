"""A ledger behind a server, in each database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette")

from tests.ledger.server.serving import House, housed


@pytest.fixture
def house(ledger_url: str) -> Iterator[House]:
    """Its ledger is whole at the end, whatever was asked."""
    with housed(ledger_url) as made:
        yield made
        made.ledger.verify()
