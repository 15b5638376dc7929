"""Where requests are answered: JSON in, JSON out, whoever asks (Python, the command line, a server).

A request that writes has a key. It is answered once: asked again with the same key and the same body, the first answer
is given again, and with another body it is refused. Prices are worked out before the transaction, which is short.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from time import monotonic, sleep
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, bindparam, select

import tightrope as tr

from .. import InvalidParameter
from . import chain, operations, tables
from . import errors as ledger_errors
from .chain import SYSTEM, Receipt, canonical, hashed
from .database import AGAIN_SECONDS, Database
from .errors import Cancelled, Claimed, KeyReused, LedgerError, Unavailable, WentBack
from .pricing import PriceHere, Pricer
from .transactions import jobs
from .transactions.entry import Actor, LedgerRequest, Recorded
from .transactions.tokens import known

REQUEST_BYTES = 1 << 16  # of one that is sent to a server
TOO_LARGE = f"a request has at most {REQUEST_BYTES:,} bytes"
_ANSWER = select(tables.answer).where(
    tables.answer.c.principal == bindparam("of"), tables.answer.c.key == bindparam("known")
)
WITNESSED = "the ledger does not have line {seq} of {root!r}, which it once answered with: an old backup was restored"


class Reply(NamedTuple):
    """What was answered, the receipts for it, and whether it had been answered before."""

    content: dict[str, Any]
    receipts: tuple[str, ...] = ()
    replayed: bool = False


class LedgerService(ABC):
    """Answers requests by name."""

    @abstractmethod
    def ask(self, name: str, body: Mapping[str, Any], key: str | None = None, nonce: str = "") -> Reply:
        """The answer; LedgerError and the errors of the package where there is none."""

    @abstractmethod
    def witness(self, receipts: Iterable[str], who: str = "a receipt") -> None:
        """WentBack where the ledger lacks a line that it once gave a receipt for; an authentic one freezes the root."""

    @abstractmethod
    def close(self) -> None:
        """Gives back what was opened."""


class LocalService(LedgerService):
    """On the database itself. secret: the ledger's key, kept outside of it, which makes receipts authentic."""

    def __init__(
        self, database: Database, actor: Actor, *, secret: bytes | None = None, pricer: Pricer | None = None
    ) -> None:
        self.database, self.actor, self.secret = database, actor, secret
        self.pricer = PriceHere() if pricer is None else pricer

    def as_actor(self, actor: Actor) -> LocalService:
        """The same for somebody else."""
        return LocalService(self.database, actor, secret=self.secret, pricer=self.pricer)

    def close(self) -> None:
        self.pricer.close()
        self.database.close()

    def __reduce__(self) -> tuple[object, ...]:
        return _reopened, (self.database.url, self.actor, self.secret)

    def __repr__(self) -> str:
        return f"{self.database.shown!r}"

    def named(self, root: str, known: Mapping[str, Any]) -> str:
        """The receipt of a line that an authentic anchor names."""
        return chain.receipt(root, int(known["seq"]), str(known["hash"]), self.secret)

    def token(self, secret: str) -> Actor:
        """Whose token this is."""
        with self.database.read() as connection:
            return known(connection, self.database.now(connection), secret)

    def ask(self, name: str, body: Mapping[str, Any], key: str | None = None, nonce: str = "") -> Reply:
        if name in operations.READS:
            with self.database.read() as connection:
                asking = LedgerRequest(connection, self.database.now(connection), self.actor, body)
                later = operations.READS[name].act(asking, self.pricer)
            return Reply(dict(later()))
        if name not in operations.WRITES:
            raise InvalidParameter(f"a ledger is not asked for {name!r:.40}")
        order, once = operations.WRITES[name], key or f"once-{uuid4().hex}"
        until = monotonic() + AGAIN_SECONDS
        while True:
            try:
                return self._write(order, name, body, once, nonce)
            except Unavailable as error:  # it may be back in a moment; what was written is found by its key
                if not error.passing or monotonic() > until:
                    raise
                sleep(0.1)

    def _write(self, order: operations.Write, name: str, body: Mapping[str, Any], key: str, nonce: str) -> Reply:
        content = order.checked(body)
        digest = hashed(canonical([name, content]))
        with self.database.read() as connection:
            asking = LedgerRequest(connection, self.database.now(connection), self.actor, content, nonce=nonce)
            before = self._before(asking, key, digest, order.claims(content))
            if before is not None:
                return before
            order.allow(asking)
            later = order.prepare(asking, self.pricer)
            due = jobs.due(connection, asking.now)
            roots = {*order.roots(asking), *(root for row in due for root in jobs.roots_of(row))}
        prepared = later()

        def work(connection: Connection) -> Reply | LedgerError:
            now, clock = self.database.now(connection), self.database.clock(connection)
            inside = LedgerRequest(connection, now, self.actor, content, prepared, nonce, clock)
            already = self._before(inside, key, digest, order.claims(content))
            if already is not None:
                return already
            order.allow(inside)
            self._expire(inside, roots)
            return self._done(inside, order.act(inside), key, digest)

        error = self.database.write(work, roots)
        if isinstance(error, LedgerError):
            raise error
        return error  # type: ignore[no-any-return]

    def _before(self, asking: LedgerRequest, key: str, digest: str, starting: bool) -> Reply | None:
        """What was answered to this key; KeyReused where it was another request."""
        row = asking.connection.execute(_ANSWER, {"of": asking.actor.name, "known": key}).one_or_none()
        if row is None:
            return None
        if row.body_hash != digest:
            raise KeyReused(f"the key {key!r:.100} was used for another request: take a new one")
        reply = json.loads(row.reply)
        if "error" in reply:
            raise again(reply["error"])
        if starting:
            self._expect_mine(asking, reply["id"])
        receipts = tuple(self._receipt(asking.connection, root, seq) for root, seq in json.loads(row.events))
        return Reply(reply, receipts, True)

    @staticmethod
    def _expect_mine(asking: LedgerRequest, identity: str) -> None:
        """What begins a job is answered again only while the job runs, and to the process that has it."""
        row = jobs.found_row(asking.connection, identity)
        if row.state == "cancelled":
            raise Cancelled("this job was cancelled since: reserve anew, under another key")
        if row.state != "running" or row.claimant != hashed(asking.nonce):
            raise Claimed("this job was begun before with the same key, and runs once: reserve anew, under another key")

    def _receipt(self, connection: Connection, root: str, seq: int) -> str:
        of = tables.audit.c
        digest = connection.execute(select(of.hash).where(of.root == root, of.seq == seq)).scalar_one()
        return chain.receipt(root, seq, digest, self.secret)

    def _expire(self, asking: LedgerRequest, roots: Iterable[str]) -> None:
        """What is over ends before anything new begins; chains that are not locked here wait for their own turn."""
        locked = set(roots)
        for row in jobs.due(asking.connection, asking.now):
            mine = jobs.roots_of(row)
            if set(mine) <= locked and self._open(asking.connection, mine):
                event = jobs.expired(asking.connection, row)
                for root in mine:
                    chain.append(asking.connection, root, asking.now, SYSTEM, event)  # whoever asks did not end it

    @staticmethod
    def _open(connection: Connection, roots: Iterable[str]) -> bool:
        of = tables.budget.c
        wanted = list(roots)
        states = connection.execute(select(of.state).where(of.id.in_(wanted))).scalars().all()
        return list(states) == ["open"] * len(wanted)

    def _done(self, asking: LedgerRequest, done: Recorded, key: str, digest: str) -> Reply | LedgerError:
        """Writes the lines and the answer; a refusal is an answer too, and stays."""
        reply = dict(done.reply) if done.refused is None else {**done.reply, "error": problem(done.refused)}
        keyed = {"principal": asking.actor.name, "key": key, "body_hash": digest, "reply": reply}
        lines = [
            chain.append(asking.connection, root, asking.now, asking.actor.name, {**event, **keyed})
            for root, event in sorted(done.events.items())
        ]
        if lines:
            events = canonical([[line.root, line.seq] for line in lines])
            row = {**keyed, "reply": canonical(reply), "events": events}
            asking.connection.execute(tables.answer.insert(), row)
        if done.refused is not None:
            return done.refused
        return Reply(reply, tuple(chain.receipt(line.root, line.seq, line.hash, self.secret) for line in lines))

    def witness(self, receipts: Iterable[str], who: str = "a receipt") -> None:
        shown = [Receipt.of(receipt, self.secret) for receipt in receipts]
        with self.database.read() as connection:
            missing = [receipt for receipt in shown if not receipt.stands(connection)]
        for each in missing:  # all of them: none may go on because another was noticed first
            if each.authentic and each.root != SYSTEM:
                self._freeze(each.root, WITNESSED.format(seq=each.seq, root=each.root))
        if missing:
            raise WentBack.of([(receipt.root, receipt.seq) for receipt in missing], who)

    def _freeze(self, root: str, why: str) -> None:
        try:
            self.as_actor(Actor("witness")).ask("freeze", {"root": root, "why": why}, f"witness-{uuid4().hex}")
        except (ledger_errors.NotFound, ledger_errors.Frozen):  # not even the budget is left, or it is still already
            return


def _reopened(url: str, actor: Actor, secret: bytes | None) -> LocalService:
    """The same desk in another process."""
    return LocalService(Database(url), actor, secret=secret)


def problem(error: Exception) -> dict[str, Any]:
    """An error as JSON, from which `again` makes the same."""
    kind = type(error)
    found = {"kind": kind.__name__, "message": str(error)}
    if isinstance(error, ledger_errors.BudgetExhausted):
        found["reservation"] = error.reservation
    return found


def again(found: Mapping[str, Any]) -> Exception:
    """The error that a problem tells of."""
    kind: Callable[..., Exception] = ledger_errors.LedgerError
    for module in (ledger_errors, tr):
        named = getattr(module, str(found["kind"]), None)
        if isinstance(named, type) and issubclass(named, tr.TightropeError):
            kind = named
    if kind is ledger_errors.BudgetExhausted:
        return kind(found["message"], found.get("reservation", ""))
    error: Exception | None = None
    if kind is tr.UnsupportedMechanism:
        error = tr.UnsupportedMechanism("")
    if kind is tr.ExpressionError:
        error = tr.ExpressionError("", "", int(found.get("column", 1)))
    if error is not None:
        error.args = (found["message"],)  # in the words that were used there
        return error
    if kind is ledger_errors.VerificationFailed:
        return ledger_errors.VerificationFailed(tuple(found.get("findings", (found["message"],))))
    return kind(found["message"])
