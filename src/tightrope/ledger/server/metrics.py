"""What a server counts of itself, and how much of each budget is gone, in the text format of Prometheus.

tightrope_ledger_used_ratio{budget, axis}        from 0 to 1; axis "any" is the roomiest of those of which one must fit
tightrope_ledger_jobs{budget, state}
tightrope_ledger_requests_total{request, status}, tightrope_ledger_seconds_total{request}: since the server began
Names of budgets are those that the token of the request may see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "tightrope_ledger_"
HELP: Mapping[str, tuple[str, str]] = {
    "used_ratio": ("gauge", "Share of an axis that is held or spent."),
    "jobs": ("gauge", "Jobs of a budget, by state."),
    "requests_total": ("counter", "Answers since the server began."),
    "seconds_total": ("counter", "Seconds from request to answer."),
}


class ServerCounts:
    """Counted in the thread of the server's loop alone."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, str]] = Counter()
        self._seconds: dict[str, float] = {}

    def add(self, request: str, status: int, seconds: float) -> None:
        """One answer."""
        self._answers[request, str(status)] += 1
        self._seconds[request] = self._seconds.get(request, 0.0) + seconds

    def text(self, content: Mapping[str, Any]) -> str:
        """With what the ledger says of its budgets."""
        found = [
            *_family("used_ratio", ("budget", "axis"), content["used"]),
            *_family("jobs", ("budget", "state"), content["jobs"]),
            *_family("requests_total", ("request", "status"), [(*key, n) for key, n in sorted(self._answers.items())]),
            *_family("seconds_total", ("request",), sorted(self._seconds.items())),
        ]
        return "".join(f"{line}\n" for line in found)


def _family(name: str, labels: tuple[str, ...], rows: Iterable[Sequence[Any]]) -> Iterable[str]:
    kind, what = HELP[name]
    yield f"# HELP {PREFIX}{name} {what}"
    yield f"# TYPE {PREFIX}{name} {kind}"
    for row in rows:
        named = ",".join(f'{label}="{value}"' for label, value in zip(labels, row, strict=False))
        yield f"{PREFIX}{name}{{{named}}} {row[-1]!r}"
