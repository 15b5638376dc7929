"""What a ledger gives: reservations, quotes, the state of a budget."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .. import Mechanism
from ..extend.wording import FrozenMapping
from .errors import Claimed, KeyReused, WrongState

if TYPE_CHECKING:
    from .ledger import Ledger

Job = str | Mechanism


def moment(milliseconds: int) -> str:
    """A time in UTC, to the second."""
    if milliseconds >= 1 << 58:
        return "never"
    return datetime.fromtimestamp(milliseconds / 1000, UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Quote:
    """What a job costs: units on each axis, None where that is no finite number.

    fits: now, on its budget and all above; more: how many like it, one after the other; None where there is no end.
    unsettled: what more work on the price might spare, where work ended it: reserving asks for consent then.
    """

    job: str
    fits: bool
    why: str
    more: int | None
    units: Mapping[str, int | None]
    additive: bool
    evidence: Mapping[str, Any]
    unsettled: str = ""

    @staticmethod
    def of(content: Mapping[str, Any]) -> Quote:
        """The quote that an answer holds, of a desk or of a server."""
        held = {name: content[name] for name in ("job", "fits", "why", "more", "additive")}
        held["unsettled"] = content.get("unsettled", "")
        return Quote(units=FrozenMapping(content["units"]), evidence=FrozenMapping(content["evidence"]), **held)

    def __str__(self) -> str:
        if not self.fits:
            return f"does not fit: {self.why}"
        times = "fits" if self.more is None else f"fits, {self.more:,} times"
        return f"{times}; work ended the price: {self.unsettled}" if self.unsettled else times


class Reservation:
    """A job that is paid for, from its reservation to its end; `document` is what the ledger last said of it."""

    __slots__ = ("_ledger", "document", "replayed")

    def __init__(self, ledger: Ledger, document: Mapping[str, Any], replayed: bool = False) -> None:
        self._ledger = ledger
        self.document = document
        self.replayed = replayed

    @property
    def id(self) -> str:
        """By which the ledger knows it."""
        return str(self.document["id"])

    @property
    def state(self) -> str:
        """reserved, running, committed, cancelled or refused, as last heard."""
        return str(self.document["state"])

    def __repr__(self) -> str:
        return f"Reservation({self.id!r}, {self.state})"

    def _move(self, name: str, **body: Any) -> Reservation:
        given = {key: value for key, value in body.items() if value is not None}
        key = f"{name}-{self.id}"
        reply = self._ledger._ask(name, {"reservation": self.id, **given}, key)
        self.document, self.replayed = reply.content, reply.replayed
        return self

    def claim(self, *, ttl: float | None = None) -> Reservation:
        """This call runs the job, and no other: Claimed. ttl: seconds from now after which it counts as done."""
        body = {"reservation": self.id} | ({} if ttl is None else {"ttl": ttl})
        reply = self._ledger._begin("claim", body, f"claim-{self.id}")
        if reply.replayed:
            raise Claimed("this job was claimed before, and runs once: reserve anew for another run")
        self.document, self.replayed = reply.content, False
        return self

    def commit(self, part: Job | Mapping[str, Job] | None = None, *, attest: str | None = None) -> Reservation:
        """The job ran: what was held is spent. part: the steps that ran, where costs add up step by step."""
        if isinstance(part, Mapping):
            written: Any = {name: _written(job) for name, job in part.items()}
        else:
            written = None if part is None else _written(part)
        return self._move("commit", part=written, attest=attest)

    def end(self, part: Job | None = None) -> Reservation:
        """Commits; where its time was over before, or it was committed, it stays as it is."""
        try:
            return self.commit(part)
        except (KeyReused, WrongState):
            self.document = self._ledger.reservation(self.id).document
            if self.state != "committed":
                raise
            return self

    def cancel(self, attest: str | None = None) -> Reservation:
        """The job does not run. attest: for one that was claimed, the statement that the data were never read."""
        return self._move("cancel", attest=attest)


def _written(job: Job) -> str:
    return repr(job) if isinstance(job, Mechanism) else job


class Status(Mapping[str, Any]):
    """A budget as it stood when it was asked: `promise`, `axes`, `odometer`, `jobs`; `more` where a job was given."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = FrozenMapping(content)

    def __getitem__(self, name: str) -> Any:
        return self._content[name]

    def __iter__(self) -> Any:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def __repr__(self) -> str:
        return f"Status({self['name']!r}, {self['kind']}, {self['state']})"

    def json(self) -> str:
        """The whole status as JSON on one line."""
        return json.dumps(dict(self._content), allow_nan=False, default=dict)
