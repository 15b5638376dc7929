"""The ledger that the page shows: opened when it is first asked for, and read only.

No request that writes has a way through here: what can be asked are the methods below, each of which reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import InvalidParameter

if TYPE_CHECKING:
    from ..ledger import Ledger, Status

LEDGER_CONNECT_SECONDS = 5  # for which a PostgreSQL that does not answer is waited for
NO_LEDGER = "the explorer was started without a ledger: tightrope explore --ledger budget.db shows one"


class LedgerReader:
    """What is read of a ledger, by whoever opened the explorer; url and token are those of `tightrope.ledger.open`."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url, self._token = url, token
        self._opened: Ledger | None = None

    def _ledger(self) -> Ledger:
        """Opened, unless it is; one that is away is looked for again by the next question."""
        if self._opened is None:
            from .. import ledger

            self._opened = ledger.open(_patient(self._url), token=self._token)
        return self._opened

    def find(self) -> None:
        """Opens it; LedgerError where that is not possible."""
        self._ledger()

    def close(self) -> None:
        """Gives all connections back, until it is asked again."""
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    @property
    def shown(self) -> str:
        """The address as --ledger takes it, without any password."""
        if self._url.startswith("sqlite:///"):
            return self._url.removeprefix("sqlite:///")
        from ..extend.ledgers import shown_address

        return shown_address(self._url)

    def budgets(self) -> tuple[Mapping[str, Any], ...]:
        """All budgets that may be seen."""
        return self._ledger().budgets()

    def status(self, name: str, job: str | None = None) -> Status:
        """Promise, counters and odometer of one; with a job, what it would cost now. Nothing is held."""
        return self._ledger().status(name, job)

    def history(self, name: str) -> Mapping[str, Any]:
        """What was held and spent of it after each move."""
        return self._ledger().history(name)

    def reservations(self, name: str) -> tuple[Mapping[str, Any], ...]:
        """Its jobs, the newest first."""
        return self._ledger().reservations(name)


def _patient(url: str) -> str:
    """The same address; of PostgreSQL with a limit on the time that it takes to connect, unless it has one."""
    if not url.startswith("postgresql") or "connect_timeout=" in url:
        return url
    return f"{url}{'&' if '?' in url else '?'}connect_timeout={LEDGER_CONNECT_SECONDS}"


def shown_by(reader: LedgerReader | None) -> LedgerReader:
    """The ledger of the page; InvalidParameter where it has none."""
    if reader is None:
        raise InvalidParameter(NO_LEDGER)
    return reader
