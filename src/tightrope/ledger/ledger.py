"""A ledger as Python sees it: budgets that many people spend, and nobody can overspend.

    ledger = tr.ledger.open("sqlite:///budget.db")
    with ledger.spend("census", "Gaussian(sigma=10)", key="table-7"):
        ...                                         # runs only if it is paid for
Everything here is a request to a desk, on this machine's database or behind a server; the answers are the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Any, TextIO
from uuid import uuid4

from .. import InvalidParameter, Mechanism
from . import chain, maintenance
from .chain import AuditLine, hashed
from .errors import Claimed, Denied, LedgerError, WrongState
from .forking import GATE
from .pricing import PriceHere
from .repricing import repriced
from .service import LedgerService, LocalService, Reply
from .transactions.tokens import new_secret
from .values import Job, Quote, Reservation, Status, moment

HOUR = 3600.0
HOLDERS_ONLY = "this is for whoever has the database: open it by its own address"


class Ledger:
    """Opened by `tightrope.ledger.open`. It may be used by threads, survives a fork, and can be pickled for workers."""

    def __init__(self, desk: LedgerService, claimant: str | None = None) -> None:
        self._desk, self._claimant = desk, claimant
        self._seen: dict[str, str] = {}  # the last receipt of each root
        self._begun: dict[str, object] = {}  # keys of jobs that were begun here, and whose call that was
        self._mine = token_hex(16)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._desk, self._claimant)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self._desk!r})"

    def close(self) -> None:
        """Gives all connections back."""
        self._desk.close()

    @property
    def nonce(self) -> str:
        """Of this process: what it claimed, no other process runs. A claimant that was given stands for it: a job of a
        shell claims in one process and commits in another."""
        if self._claimant is not None:
            return self._claimant
        return hashed(self._mine + GATE.process)[:32]

    def _ask(self, name: str, body: Mapping[str, Any], key: str | None = None) -> Reply:
        reply = self._desk.ask(name, body, key, self.nonce)
        for receipt in reply.receipts:
            self._seen[receipt.split(":", 1)[0]] = receipt
        return reply

    def as_claimant(self, claimant: str) -> Ledger:
        """The same ledger, on which this text claims and commits, in whatever process: one for each run of a job."""
        if not isinstance(claimant, str) or not 0 < len(claimant) <= 200 or not claimant.isprintable():
            raise InvalidParameter(f"claimant is a text of one line, at most 200 letters, not {claimant!r:.60}")
        return type(self)(self._desk, claimant)

    @property
    def receipts(self) -> tuple[str, ...]:
        """The last receipt of each root that this object wrote to: shown again, they notice a ledger that went back."""
        return tuple(self._seen.values())

    def create(
        self,
        name: str,
        *,
        relation: str | None = None,
        unit: str | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        kind: str | None = None,
        key: str | None = None,
        **options: Any,
    ) -> Status:
        """A budget, which promises (epsilon, delta) to every `unit` under the relation, whatever is asked of it.

        kind: rdp (unless given), plan, gdp, zcdp, basic or odometer. parent: the budget that it is a part of, which
        has the same relation, unit and kind. ceiling: epsilon up to
        which `renew` may go, and what is promised. slack: the part of delta that jobs may use up. plan: {job: count}.
        floor: mu^2 that gdp promises from the start. rho: for zcdp instead of epsilon and delta. orders: {order:
        weight} for rdp and odometer. parallel: a block of partitions, its children.
        """
        said = {"relation": relation, "unit": unit, "kind": kind}
        known = {"kind": "rdp"} if options.get("parent") is None else self.status(options["parent"])
        terms = {text: known.get(text) if value is None else value for text, value in said.items()}
        body = {"name": name, "epsilon": epsilon, "delta": delta, **terms}
        if options.get("plan") is not None:
            options["plan"] = {_text(job): count for job, count in options["plan"].items()}
        if options.get("orders") is not None:
            options["orders"] = {str(order): weight for order, weight in options["orders"].items()}
        self._ask("create", {**body, **options}, key)
        return self.status(name)

    def renew(self, name: str, *, epsilon: float, key: str | None = None) -> Status:
        """Raises what may be spent up to this epsilon, at most the ceiling."""
        self._ask("renew", {"name": name, "epsilon": epsilon}, key)
        return self.status(name)

    def budgets(self) -> tuple[Mapping[str, Any], ...]:
        """All budgets that may be seen."""
        return tuple(self._ask("budgets", {}).content["budgets"])

    def quote(self, budget: str, job: Job, *, slack: float | None = None) -> Quote:
        """What a job would cost now, whether it fits, and how many like it; nothing is held."""
        return Quote.of(self._ask("quote", {"budget": budget, "job": _text(job), "slack": slack}).content)

    def reserve(
        self,
        jobs: Mapping[str, Job],
        key: str,
        *,
        ttl: float = HOUR,
        start: bool = False,
        slack: float | None = None,
        note: str = "",
        worse: bool = False,
    ) -> Reservation:
        """Holds what these jobs cost, each on its budget and all above it, all or none; BudgetExhausted is final.

        The same key always has the same answer. start: the job is claimed by this process at once; who gets that answer
        first may run it (replayed is False), also where it was asked for again because the first answer was lost.
        ttl: seconds after which it ends by itself: given back where it was never claimed, else committed.
        worse: consent to the upper end of a price that work ended before it was known well; without it such a job is
        refused, and may be asked for again.
        """
        if not isinstance(jobs, Mapping):
            raise InvalidParameter('jobs says which budget pays for what, as in {"census": "Gaussian(sigma=10)"}')
        body = {
            "jobs": {name: _text(job) for name, job in jobs.items()},
            "ttl": ttl,
            "start": start,
            "slack": slack,
            "note": note,
            **({"worse": True} if worse else {}),
        }
        once = _key(key)
        reply = self._begin("reserve", body, once) if start else self._ask("reserve", body, once)
        return Reservation(self, reply.content, reply.replayed)

    def _begin(self, name: str, body: Mapping[str, Any], key: str) -> Reply:
        """The answer to what begins a job. It is new for whoever gets it first from this object: an answer that was
        lost on its way is asked for again. To another process it is not given: Claimed."""
        mine = object()
        first = self._begun.setdefault(key, mine) is mine
        try:
            reply = self._ask(name, body, key)
        except BaseException:
            if first:  # nobody was told that it may run
                del self._begun[key]
            raise
        named = self._claimant is not None  # which other processes may have too
        return reply._replace(replayed=not first or (reply.replayed and named))

    def reservation(self, identity: str) -> Reservation:
        """One that was made before, as it stands."""
        return Reservation(self, self._ask("reservation", {"reservation": identity}).content, True)

    def reservations(
        self, name: str, *, state: str | None = None, most: int | None = None
    ) -> tuple[Mapping[str, Any], ...]:
        """Those of a budget, the newest first; of one state, or at most so many."""
        return tuple(islice(self._pages(name, state), most))

    def _pages(self, name: str, state: str | None) -> Iterator[Mapping[str, Any]]:
        """One page after the other, as they are needed."""
        body = {"name": name} if state is None else {"name": name, "state": state}
        while True:
            page = self._ask("reservations", body).content
            yield from page["reservations"]
            if page.get("next") is None:
                return
            body["after"] = page["next"]

    @contextmanager
    def spend(
        self,
        budget: str,
        job: Job,
        key: str,
        *,
        ttl: float = HOUR,
        slack: float | None = None,
        note: str = "",
        worse: bool = False,
    ) -> Iterator[Reservation]:
        """Runs its body once, if it is paid for, and commits; an exception leaves it running, which counts as spent.

        With a key that was used before, the body does not run: Claimed. A job that took longer than ttl is spent
        already when it ends.
        """
        spending = self.reserve({budget: job}, key, ttl=ttl, start=True, slack=slack, note=note, worse=worse)
        if spending.replayed:
            raise Claimed(
                f"the job of key {key!r:.100} was begun before, and runs once: take a new key for another run"
            )
        yield spending
        if spending.state == "running":
            spending.end()

    def status(self, name: str, job: Job | None = None, *, slack: float | None = None) -> Status:
        """Promise, counters and odometer; with a job, how many more like it fit."""
        body: dict[str, Any] = {"name": name}
        if job is not None:
            body |= {"job": _text(job), "slack": slack}
        return Status(self._ask("status", body).content)

    def history(self, name: str) -> Mapping[str, Any]:
        """What was held and spent after each move."""
        return self._ask("history", {"name": name}).content

    def audit(self, root: str, after: int = 0) -> Iterator[Mapping[str, Any]]:
        """The lines of a root's chain, from the one after this number."""
        while True:
            found = self._ask("audit", {"root": root, "after": after}).content
            yield from found["lines"]
            if not found["more"]:
                return
            after = found["lines"][-1]["seq"]

    def set_clock(self, why: str) -> Mapping[str, Any]:
        """Time goes on from the database's clock, after one that ran ahead and was set right; it stays in the audit."""
        return self._ask("clock", {"why": why}).content

    def freeze(self, root: str, why: str) -> None:
        """Nothing more is answered for this root until it is recovered."""
        self._ask("freeze", {"root": root, "why": why})

    def token(
        self,
        name: str,
        *,
        role: str,
        root: str | None = None,
        reservation: str | None = None,
        seconds: float = 90 * 86_400.0,
    ) -> str:
        """A new token for a server's users; it is shown here once, and its hash is kept."""
        secret = new_secret()
        body = {"name": name, "role": role, "root": root, "reservation": reservation, "seconds": seconds}
        self._ask("token", {**body, "sha256": hashed(secret)})
        return secret

    def tokens(self) -> tuple[Mapping[str, Any], ...]:
        """All tokens: whose, of which role, for what, until when, and whether they are good; no secret is known."""
        return tuple(self._ask("tokens", {}).content["tokens"])

    def rotate(self, name: str, *, seconds: float = 90 * 86_400.0) -> str:
        """A new secret for a token, shown here once; the old one is worth nothing from now on."""
        secret = new_secret()
        self._ask("rotate", {"name": name, "seconds": seconds, "sha256": hashed(secret)})
        return secret

    def revoke(self, name: str) -> None:
        """The token of this name is worth nothing from now on."""
        self._ask("revoke", {"name": name})

    def anchor(self) -> dict[str, Any]:
        """The heads of all chains with what was used, to be kept elsewhere: it notices a ledger that went back."""
        found = self._ask("anchor", {}).content
        return maintenance.signed(found, self._desk.secret) if isinstance(self._desk, LocalService) else found

    def _local(self) -> LocalService:
        if not isinstance(self._desk, LocalService):
            raise LedgerError(HOLDERS_ONLY)
        return self._desk

    def verify_prices(self) -> Mapping[str, Any]:
        """Prices every job of the chains again, here: VerificationFailed where one was charged less than it costs.

        Gives how many were priced, how many of them cost less now than they were charged, and how many older lines do
        not say with what slack they were priced.
        """
        roots = [str(budget["name"]) for budget in self.budgets() if budget["parent"] is None]
        pricer = self._desk.pricer if isinstance(self._desk, LocalService) else PriceHere()
        return repriced(lambda: (AuditLine(**line) for root in roots for line in self.audit(root)), pricer)

    def verify(self, anchor: Mapping[str, Any] | None = None, receipts: Iterable[str] = ()) -> Mapping[str, Any]:
        """Rebuilds all tables from the audit and compares them; VerificationFailed, or WentBack against an anchor.

        An authentic anchor or receipt that the ledger lacks freezes its root. Behind a server, who may read the audit
        verifies the chains alone: that they are whole, and that no counter which they give is beyond its ceiling.
        """
        if not isinstance(self._desk, LocalService):
            roots = [str(budget["name"]) for budget in self.budgets() if budget["parent"] is None]
            if not roots:
                raise Denied("nothing was verified, as this token sees no root: ask with one for an auditor")
            found = maintenance.verify_chains({root: self.audit(root) for root in roots}, anchor)
        else:
            with self._desk.database.read() as connection:
                found = maintenance.verify(connection)
        self.compare(anchor, receipts)
        return found

    def compare(self, anchor: Mapping[str, Any] | None = None, receipts: Iterable[str] = ()) -> None:
        """WentBack where the ledger lacks a line that these witness."""
        desk, shown = self._desk, list(receipts)
        if anchor is not None:
            heads = {root: each for root, each in maintenance.anchored(anchor)["roots"].items() if each["seq"]}
            if not isinstance(desk, LocalService):  # a server is shown the heads as receipts
                shown += [chain.receipt(root, each["seq"], each["hash"], None) for root, each in heads.items()]
            else:
                if maintenance.authentic(anchor, desk.secret):
                    told = (desk.named(root, each) for root, each in heads.items())
                    desk.witness(told, f"the anchor of {moment(anchor['at'])}")
                with desk.database.read() as connection:
                    maintenance.compare(connection, anchor)
        desk.witness(shown)

    def recover(
        self, root: str, why: str, *, anchor: Mapping[str, Any] | None = None, complete: bool = False
    ) -> Mapping[str, Any]:
        """Opens a frozen root after a restore: counters are raised to the anchor's, and all that is left is burnt.

        complete: the anchor is from after the last charge that anybody made, before the loss and since, so that nothing
        needs to be burnt. root "_ledger": all tokens are revoked.
        """
        if complete and anchor is None:
            raise InvalidParameter("complete is said of an anchor: give the one that was made after the last charge")
        known: Mapping[str, Any] = {}
        if anchor is not None:
            known = maintenance.anchored(anchor)["roots"].get(root, {})
        body = {
            "root": root,
            "why": why,
            "spent": known.get("used", {}),
            "dead": known.get("dead", {}),
            "witnessed": known.get("seq", 0),
            "at": 0 if anchor is None else anchor["at"],
            "burn": not complete,
        }
        return self._ask("recover", body).content

    def backup(self, path: str | Path) -> None:
        """A copy of one moment, made by the database itself."""
        maintenance.backup(self._local().database, path)

    def export(self, path: str | Path, *, again: bool = False) -> int:
        """Writes the chains of all roots that are spent here to a new file, and closes them for good; how many lines.

        Frozen where a root waits for recovery: it could be recovered in both places. again: also those that left
        before, whose file was lost and imported nowhere.
        """
        desk, place = self._local(), Path(path)
        with open(place, "x", encoding="utf-8", opener=own_file) as file:
            try:
                count = self._exported(desk, file, again)
            except BaseException:
                place.unlink()  # what was closed stays so, and leaves with again=True
                raise
            file.flush()
            os.fsync(file.fileno())
        return count - 1

    def _exported(self, desk: LocalService, file: TextIO, again: bool) -> int:
        leaving: set[str] = {
            budget["name"]
            for budget in self.budgets()
            if again and budget["parent"] is None and budget["state"] == "exported"
        }
        while True:
            roots = [budget for budget in self.budgets() if budget["parent"] is None and budget["state"] != "exported"]
            if not roots and not leaving:
                raise WrongState(
                    "all roots have left before: if their file was lost, and imported nowhere, export again"
                )
            for each in sorted(roots, key=lambda root: root["state"]):  # frozen comes before open, and is refused
                leaving.add(each["name"])
                self._ask("export", {"root": each["name"], "why": f"exported to {Path(file.name).name}"})
            with desk.database.read() as connection:
                lines = maintenance.exported(connection, leaving, desk.secret)
                if lines is not None:  # else somebody began a root in between
                    return sum(file.write(line + "\n") > 0 for line in lines)

    def migrate(self, backup: str | Path | None = None) -> int:
        """Takes the steps that a newer program brings, between two verifications, with a backup before."""
        return maintenance.migrate(self._local().database, backup)


def own_file(path: str, flags: int) -> int:
    """An opener of files that nobody but their owner reads."""
    return os.open(path, flags, 0o600)


def read_anchor(path: str | Path) -> Mapping[str, Any]:
    """An anchor from its file."""
    try:
        document = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidParameter(f"{path} cannot be read as an anchor: {error!s:.100}") from None
    if not isinstance(document, Mapping):
        raise InvalidParameter(f"{path} is no anchor")
    return maintenance.anchored(document)


def _text(job: Job) -> str:
    return repr(job) if isinstance(job, Mechanism) else job


def _key(key: object) -> str:
    if key is None:
        return uuid4().hex
    if not isinstance(key, str) or not key or len(key) > 200 or not key.isprintable():
        raise InvalidParameter(f"key is a text of at most 200 letters that names this request, not {key!r:.60}")
    return key
