"""Sentences of a budget's report: why its promise holds, what that rests on, and what it does not speak of."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..extend.filing import AS_DRAWN, AS_GIVEN

PROOFS = "docs/proofs/ledger.md"
# The statement that makes sums of costs a promise, by kind.
THEOREMS = MappingProxyType(
    {
        "rdp": "Theorem Menu, with Theorem R and Theorem Slack",
        "plan": "Theorem D, Corollary plan",
        "gdp": "Theorem D, Corollary gdp",
        "zcdp": "Theorem R, Corollary zcdp, with Theorem Slack",
        "basic": "Theorem D, Corollary basic",
        "odometer": "Theorem Odometer",
    }
)
HELD = (
    "What is held or running counts as spent. A job that was claimed and never ended is spent in full when its time is "
    "over: a crash that depends on data is an answer."
)
CAPS = (
    "Caps of parts are fairness among those who spend. They do not bound what one of them learns: a refusal may tell "
    "something of the answers of the others. The promise is for all of them together."
)
AS_WRITTEN = (
    "Every job ran what its expression says, or less: its cost was worked out from the expression before it ran. "
    "Whether the code did so was not checked here."
)
ONCE = "One process ran each job, once. A second run draws fresh noise, and is a job of its own."
UNITS = "Every record belongs to whom the promise names, and neighbours differ as it says."
CUTS = (
    "The key of a partition is fixed for each record and known without looking at other records, a job of a partition "
    "reads that partition alone, and nobody has records in several of them."
)
ATTESTED = "Jobs that were cancelled after they were claimed read no data, as somebody attested."

ELSEWHERE = "What was computed from the same data and not charged to this budget: each such answer adds to the loss."
BEYOND = (
    "Another budget for the same people: both promises hold, and together they promise the sum only if the size of the "
    "second did not depend on answers of the first."
)
LOST = (
    "Lines that were cut off the end of the chain, or lost with an old backup: receipts and anchors that are kept "
    "elsewhere notice them, and this page holds a receipt."
)


def theorems(status: Mapping[str, Any]) -> str:
    """The statements that the promise rests on, by the names that the proofs have for them."""
    texts = [THEOREMS[status["kind"]]]
    if any(axis["total"] < axis["ceiling"] for axis in status["axes"]):
        texts.append("totals below the ceiling: Theorem Renewal")
    if status["parallel"]:
        texts.append("partitions: Theorem Parallel")
    return f"{'; '.join(texts)} ({PROOFS})"


def assumed(status: Mapping[str, Any]) -> list[str]:
    """All that the promise rests on."""
    cuts = [CUTS] if status["parallel"] else []
    return [HELD, CAPS, AS_WRITTEN, ONCE, UNITS, *cuts, ATTESTED, AS_DRAWN, AS_GIVEN]


def not_covered(status: Mapping[str, Any]) -> list[str]:
    """What the promise does not speak of."""
    return [ELSEWHERE, BEYOND, LOST]
