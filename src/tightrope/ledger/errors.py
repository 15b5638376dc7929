"""What a ledger answers instead of what was asked.

    LedgerError (TightropeError)
    ├── BudgetExhausted        the job does not fit what is left; final for its key
    ├── Conflict               what was asked does not fit what stands
    │   ├── WrongState         of the reservation
    │   ├── Claimed            by another process: a job runs once
    │   ├── Frozen             the budget answers nothing more until it is looked after
    │   ├── Cancelled          the reservation was given back, or expired before it was claimed
    │   ├── KeyReused          the same key, another request
    │   └── WentBack           the ledger knows less than it once said: an old backup
    ├── NotFound               no such budget or reservation, or not for these eyes
    ├── Denied                 no token, or one that may not do this
    ├── NotAdditive            a part of this charge cannot be given back
    ├── RelationMismatch       the job is about other neighbours than the budget
    ├── Unavailable            the ledger cannot be reached or is busy; ask again
    └── VerificationFailed     what stands does not follow from what was written down; .findings

code is what HTTP answers, exit what the command line does, urn the type of the problem.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from .. import TightropeError


class LedgerError(TightropeError):
    """Base class of what a ledger refuses."""

    code: ClassVar[int] = 400
    exit: ClassVar[int] = 2
    urn: ClassVar[str] = "invalid"


class BudgetExhausted(LedgerError):
    """The job does not fit; reservation is the id under which the refusal is recorded."""

    code, exit, urn = 409, 4, "budget-exhausted"

    def __init__(self, message: str, reservation: str = "") -> None:
        super().__init__(message)
        self.reservation = reservation


class Conflict(LedgerError):
    """What was asked does not fit what stands."""

    code, exit, urn = 409, 5, "conflict"


class WrongState(Conflict):
    """The reservation is not where this could be done to it."""

    urn = "wrong-state"


class Claimed(Conflict):
    """Another process has this job, or had it."""

    urn = "claimed"


class Frozen(Conflict):
    """Nothing moves here until somebody looks after it."""

    urn = "frozen"


class Cancelled(Conflict):
    """The reservation was given back."""

    code, urn = 410, "reservation-cancelled"


class KeyReused(Conflict):
    """The key was used for another request."""

    code, urn = 422, "key-reused"


class WentBack(Conflict):
    """The ledger has less than it once said; findings: one line for each chain that lacks something."""

    code, urn = 412, "ledger-went-back"

    def __init__(self, message: str, findings: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.findings = findings or (message,)

    @staticmethod
    def of(missing: Iterable[tuple[str, int]], who: str) -> WentBack:
        """Roots and numbers of lines that a witness knows, and the ledger does not have."""
        lines = [f"{who} names line {seq} of {root!r}, which the ledger does not have" for root, seq in missing]
        why = ": an old backup was restored, or its audit was cut"
        more = f", and {len(lines) - 1} more" if len(lines) > 1 else ""
        return WentBack(lines[0] + more + why, tuple(lines))


class NotFound(LedgerError):
    """Nothing here by this name, or nothing for these eyes."""

    code, urn = 404, "not-found"


class Denied(LedgerError):
    """A token is missing, unknown, over, or may not do this."""

    code, urn = 403, "denied"


class Unauthenticated(Denied):
    """No token, or none that is known and in time."""

    code, urn = 401, "unauthenticated"


class NotAdditive(LedgerError):
    """This charge is for the whole job."""

    code, urn = 422, "not-additive"


class RelationMismatch(LedgerError):
    """Other neighbours than the budget's."""

    code, urn = 422, "relation-mismatch"


class Unavailable(LedgerError):
    """Busy, or out of reach; what was asked may be asked again with the same key. passing: it may be back soon."""

    code, exit, urn = 503, 5, "unavailable"

    def __init__(self, message: str, *, passing: bool = True) -> None:
        super().__init__(message)
        self.passing = passing


class VerificationFailed(LedgerError):
    """What stands does not follow from what was written down; findings: one line each."""

    code, exit, urn = 500, 6, "verification-failed"

    def __init__(self, findings: tuple[str, ...]) -> None:
        super().__init__("; ".join(findings[:3]) + (f"; and {len(findings) - 3} more" if len(findings) > 3 else ""))
        self.findings = findings
