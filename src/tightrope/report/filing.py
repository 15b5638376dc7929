"""What a report says of itself: whose it is, of which system, who made it and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..extend.documents import Date, dated
from ..extend.parameters import one_line

TITLE = "Differential privacy report"
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class Filing:
    """Texts of one line each; date is ISO 8601, a day or a time in UTC."""

    title: str
    system: str
    organisation: str
    author: str
    date: str

    @staticmethod
    def of(given: Mapping[str, Any], date: Date) -> Filing:
        """The texts that were given; those left out are empty, the title that of all reports."""
        named = {name: given.get(name) for name in ("title", "system", "organisation", "author")}
        told = {name: "" if value is None else one_line(name, value) for name, value in named.items()}
        return Filing(**{**told, "title": told["title"] or TITLE}, date=dated(date))

    @property
    def day(self) -> str:
        """The date as people write it, with the time where there is one."""
        found = datetime.fromisoformat(self.date)
        time = f", {found:%H:%M} UTC" if "T" in self.date else ""
        return f"{found.day} {MONTHS[found.month - 1]} {found.year}{time}"
