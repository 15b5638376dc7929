"""What the tests of the ledger's commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ledger.shell import LedgerShell


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> LedgerShell:
    """A ledger in a folder of its own, named by the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIGHTROPE_LEDGER", "budget.db")
    for name in ("TIGHTROPE_LEDGER_KEY", "TIGHTROPE_LEDGER_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    found = LedgerShell(capsys, tmp_path)
    found.done("init")
    return found
