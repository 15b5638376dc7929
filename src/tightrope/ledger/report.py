"""A budget's report as a value: what was gathered, as a page, as JSON, and in a few lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..extend import documents
from ..extend.filing import Filing
from ..extend.reports import Filed
from .table import odometer_words, promised, state_words, used_words

if TYPE_CHECKING:
    from ..extend.filing import Page


@dataclass(frozen=True, slots=True, repr=False)
class BudgetReport(Filed):
    """One budget as of the last line of its chain. findings: why it cannot be relied on; nothing where it can."""

    filing: Filing
    status: Mapping[str, Any]
    tree: tuple[Mapping[str, Any], ...]
    jobs: tuple[Mapping[str, Any], ...]
    prices: tuple[Mapping[str, Any], ...]
    refused: int
    renewed: tuple[int, ...]
    moments: tuple[Mapping[str, Any], ...]
    chain: Mapping[str, Any]
    verified: Mapping[str, Any]
    findings: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<BudgetReport: {self.status['name']}, line {self.chain['seq']}>"

    def summary(self) -> list[str]:
        """For people, in a few lines."""
        held = "verified" if not self.findings else f"NOT VERIFIED: {self.findings[0]}"
        return [
            f"{self.status['name']}: {promised(self.status)}",
            f"  used      {used_words(self.status)}; what is held counts",
            f"  odometer  {odometer_words(self.status)}",
            f"  jobs      {state_words({**self.status['jobs'], 'refused': self.refused})}",
            f"  chain     line {self.chain['seq']} of {self.chain['root']}, {self.chain['hash']}",
            f"  {held}",
        ]

    def document(self) -> str:
        """All of it as JSON; units are whole numbers, of which `unit` make 1."""
        tree = [{"name": each["name"], "depth": each["depth"], "axes": each["axes"]} for each in self.tree]
        content = {
            "report": "ledger",
            "title": self.filing.title,
            **{name: getattr(self.filing, name) for name in ("system", "organisation", "author")},
            "promise": promised(self.status),
            "budget": {name: value for name, value in self.status.items() if name != "jobs"},
            "parts": tree,
            "counts": {**self.status["jobs"], "refused": self.refused},
            "jobs": list(self.jobs),
            "prices": list(self.prices),
            "renewed": list(self.renewed),
            "chain": dict(self.chain),
            "verified": not self.findings,
            "findings": list(self.findings),
        }
        return documents.write_dated(documents.plain(content), self.filing.date)

    def _page(self) -> Page:
        """What its files show."""
        from .report_page import budget_page

        return budget_page(self)
