"""What is read of a ledger beside its answers: anchors, history, report; needs the extra ledger."""

from __future__ import annotations

from ..ledger.chain import canonical
from ..ledger.database import shown_address
from ..ledger.history import thinned
from ..ledger.ledger import own_file, read_anchor
from ..ledger.reports import gather as budget_report

__all__ = [
    "budget_report",
    "canonical",
    "own_file",
    "read_anchor",
    "shown_address",
    "thinned",
]
