"""The tables as the chains alone give them, for comparison with those that stand.

This shares nothing with the moves of book/ but the words of the events: what a commit or an expiry does to counters is
said here once more, with Python's integers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b, sha256
from secrets import token_bytes
from typing import Any

from .chain import GENESIS, SYSTEM, AuditLine, canonical, follows

Row = dict[str, Any]
Key = tuple[Any, ...]
KEYS = {
    "budget": ("id",),
    "axis": ("budget", "name"),
    "reservation": ("id",),
    "charge": ("reservation", "budget", "name"),
    "answer": ("principal", "key"),
    "head": ("root",),
    "token": ("id",),
    "tally": ("budget", "state"),
    "place": ("budget", "made", "reservation"),
}
STATES = ("reserved", "running", "committed", "cancelled", "refused")
HOLDING = ("reserved", "running")
AFTER = ("running", "committed", "cancelled")  # what a job becomes
WHILE_STILL = ("recover", "settle", "arrive", "clock")  # of a root that is frozen or left


def _digest(identity: str) -> bytes:
    """Short, of what there is very much."""
    return sha256(identity.encode("utf-8", "surrogatepass")).digest()[:16]


class RowSums:
    """Sums of keyed hashes, one for each table: equal where the same rows went in, in whatever order.

    The key is drawn anew, so that nobody can choose rows by which a sum stays.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self.key = token_bytes(32) if key is None else key
        self.sums: dict[str, int] = {}
        self.counts: dict[str, int] = {}

    def add(self, table: str, values: list[Any]) -> None:
        """One row."""
        digest = blake2b(json.dumps(values).encode(), key=self.key, digest_size=32).digest()
        self.sums[table] = (self.sums.get(table, 0) + int.from_bytes(digest)) % (1 << 256)
        self.counts[table] = self.counts.get(table, 0) + 1


class Replay:
    """Lines in, tables out; findings say where the lines themselves do not hold together."""

    def __init__(self, *, keep: bool = True) -> None:
        """keep: rows of jobs that are over, too; else these go into sums, and no more is held than what lives."""
        self.sums = None if keep else RowSums()
        self._over: set[bytes] = set()  # jobs that went into the sums
        self.tables: dict[str, dict[Key, Row]] = {name: {} for name in KEYS}
        self.findings: list[str] = []
        self._charged: dict[str, list[Row]] = {}
        self._states: dict[tuple[str, str], str] = {}  # of jobs, in each chain that knows of them
        self._made: dict[str, Row] = {}  # jobs as they were made
        self._moves: Mapping[str, Callable[[str, Row], None]] = {
            "begin": lambda root, body: None,
            "clock": lambda root, body: None,
            "create": self._create,
            "reserve": self._reserve,
            "refuse": self._reserve,
            "claim": self._claim,
            "commit": self._commit,
            "cancel": self._cancel,
            "expire": self._expire,
            "renew": self._renew,
            "freeze": lambda root, body: self._budget(root, "open", "frozen"),
            "export": lambda root, body: self._budget(root, "open", "exported"),
            "arrive": self._arrive,
            "recover": self._recover,
            "settle": self._settle,
            "token": self._token,
            "revoke": self._revoke,
            "rotate": self._rotate,
        }

    def chain(self, root: str, lines: Iterable[AuditLine]) -> None:
        """One chain, from its beginning."""
        self.begin(root)
        for line in lines:
            self.line(line)

    def begin(self, root: str) -> None:
        """A chain without lines."""
        self.tables["head"][(root,)] = {"root": root, "seq": 0, "hash": GENESIS, "at": 0}

    def line(self, line: AuditLine) -> None:
        """The next line of its chain."""
        head = self.tables["head"][(line.root,)]
        try:
            body = json.loads(line.body)
            expected = follows(head["seq"], body)
            back = line.at < head["at"] and body["event"] != "clock"  # which an administrator set back, on the record
            if line.seq != expected or line.prev != head["hash"] or not line.right or back:
                self.findings.append(f"{line.root}: line {line.seq} is not the one that was written")
            top = self.tables["budget"].get((line.root,))
            still = top is not None and top["state"] != "open" and body["event"] not in WHILE_STILL
            self._expect(not still, line.root, f"line {line.seq} moves it while it is still")
            self._moves[body["event"]](line.root, body)
            self._answer(line, body)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            self.findings.append(f"{line.root}: line {line.seq} cannot be read ({type(error).__name__}: {error})")
        head.update(seq=line.seq, hash=line.hash, at=line.at)

    def _put(self, table: str, row: Row) -> None:
        self.tables[table][tuple(row[name] for name in KEYS[table])] = dict(row)

    def _answer(self, line: AuditLine, body: Row) -> None:
        """Each keyed request is answered again as it was; one that wrote several lines names them all."""
        if "key" not in body:
            return
        place = (body["principal"], body["key"])
        if self.sums is not None:
            kept = body["body_hash"], canonical(body["reply"])
            self.sums.add("answer", [*place, *kept, line.root, line.seq])
            return
        known = self.tables["answer"].get(place)
        events = [] if known is None else json.loads(known["events"])
        self._put(
            "answer",
            {
                "principal": body["principal"],
                "key": body["key"],
                "body_hash": body["body_hash"],
                "reply": canonical(body["reply"]),
                "events": canonical(sorted([*events, [line.root, line.seq]])),
            },
        )

    def _expect(self, right: bool, root: str, what: str) -> None:
        """A line that no ledger writes; what it says is followed all the same, so that the tables are compared too."""
        if not right:
            self.findings.append(f"{root}: {what}")

    def _mine(self, root: str, budgets: Iterable[str]) -> None:
        """A chain moves its own budgets alone."""
        for name in budgets:
            self._expect(self.tables["budget"][(name,)]["root"] == root, root, f"a line moves {name}, of another root")

    def _create(self, root: str, body: Row) -> None:
        row = body["budget"]
        self._expect((row["id"],) not in self.tables["budget"], root, f"{row['id']} is made twice")
        self._expect(row["root"] == root, root, f"{row['id']} is made in another chain than its own")
        self._put("budget", row)
        for state in STATES:
            self._put("tally", {"budget": row["id"], "state": state, "number": 0})
        for axis in body["axes"]:
            new = axis["budget"] == row["id"] and not axis["held"] and not axis["spent"]
            self._expect(new, root, f"{row['id']} is made with an axis that is not new")
            self._put("axis", axis)
        if "reservation" in body:
            self._reserve(root, body)
        else:
            self._kill(root, body.get("kills", ()))

    def _kill(self, root: str, places: Iterable[Iterable[str]]) -> None:
        for budget, name in places:
            self._mine(root, [budget])
            self.tables["axis"][budget, name]["dead"] = 1

    def _reserve(self, root: str, body: Row) -> None:
        row = body["reservation"]
        new = (root, row["id"]) not in self._states and _digest(row["id"]) not in self._over
        self._expect(new, root, f"{row['id']} is made twice")
        first = self._made.setdefault(row["id"], dict(row))
        self._expect(first == row, root, f"{row['id']} is another job in another chain")
        self._states[root, row["id"]] = row["state"]
        self._kill(root, body["kills"])
        if (row["id"],) not in self.tables["reservation"]:  # the first of several chains that know of it
            self._put("reservation", row)
        for budget, name, units in body["charges"]:
            self._mine(root, [budget])
            charge = {"reservation": row["id"], "budget": budget, "name": name, "units": units}
            self.tables["charge"][row["id"], budget, name] = charge
            self._charged.setdefault(row["id"], []).append(charge)
            axis = self.tables["axis"][budget, name]
            if not axis["dead"]:
                axis["held" if row["state"] in HOLDING else "spent"] += units
                fits = (
                    units >= 0 and axis["held"] + axis["spent"] <= axis["total" if axis["need"] == "all" else "ceiling"]
                )
                self._expect(fits, root, f"{row['id']} was accepted beyond {name} of {budget}")
        mine = {budget for budget, _, _ in body["charges"]}
        for budget in mine:
            place = {"budget": budget, "made": row["made"], "reservation": row["id"], "principal": row["principal"]}
            self._put("place", place)
        if row["state"] == "refused":
            mine = {above for name in json.loads(row["jobs"]) for above in self._above(root, name)}
        self._count(mine, None, row["state"])
        self._drop(row["id"])

    def _above(self, root: str, name: str) -> Iterable[str]:
        """A budget of this chain, and all above it."""
        row = self.tables["budget"].get((name,))
        while row is not None and row["root"] == root:
            yield row["id"]
            row = self.tables["budget"].get((row["parent"],))

    def _count(self, budgets: Iterable[str], before: str | None, after: str) -> None:
        for budget in budgets:
            self.tables["tally"][budget, after]["number"] += 1
            if before is not None:
                self.tables["tally"][budget, before]["number"] -= 1

    def _drop(self, identity: str) -> None:
        """A job that is over in all its chains goes into the sums, where rows are not kept."""
        row = self.tables["reservation"].get((identity,))
        if self.sums is None or row is None or row["state"] in HOLDING:
            return
        roots = json.loads(row["roots"])
        if any(self._states.get((root, identity), "reserved") in HOLDING for root in roots):
            return
        self._over.add(_digest(identity))
        self._summed(row)
        for root in roots:
            del self._states[root, identity]
        del self._made[identity]

    def _summed(self, row: Row) -> None:
        assert self.sums is not None
        identity = row["id"]
        del self.tables["reservation"][(identity,)]
        self.sums.add("reservation", [row[name] for name in sorted(row)])
        charges = self._charged.pop(identity, [])
        for charge in charges:
            del self.tables["charge"][identity, charge["budget"], charge["name"]]
            self.sums.add("charge", [identity, charge["budget"], charge["name"], charge["units"]])
        for budget in {charge["budget"] for charge in charges}:
            place = self.tables["place"].pop((budget, row["made"], identity))
            self.sums.add("place", [budget, place["made"], place["principal"], identity])

    def finish(self) -> None:
        """What still lives goes into the sums too."""
        for row in list(self.tables["reservation"].values()):
            self._summed(row)

    def _claim(self, root: str, body: Row) -> None:
        self._move(root, body["reservation"], ("reserved",), "running")
        row = self.tables["reservation"][(body["reservation"],)]
        row.update(state="running", claimant=body["claimant"], expires=body["expires"])
        self._count({charge["budget"] for charge in self._charges(root, row["id"])}, "reserved", "running")

    def _commit(self, root: str, body: Row) -> None:
        identity = body["reservation"]
        fresh = {(budget, name): units for budget, name, units in body.get("units", ())}
        if fresh:
            held = {(row["budget"], row["name"]): row["units"] for row in self._charged.get(identity, ())}
            smaller = fresh.keys() == held.keys() and all(0 <= fresh[each] <= held[each] for each in fresh)
            additive = bool(self.tables["reservation"][(identity,)]["additive"])
            self._expect(
                smaller and additive and any(fresh.values()), root, f"{identity} ends with a part that it has not"
            )
        self._end(root, identity, ("running",), "committed", fresh)

    def _cancel(self, root: str, body: Row) -> None:
        self._end(root, body["reservation"], HOLDING if body["attest"] else ("reserved",), "cancelled")

    def _expire(self, root: str, body: Row) -> None:
        self._end(root, body["reservation"], ("running",) if body["to"] == "committed" else ("reserved",), body["to"])

    def _move(self, root: str, identity: str, known: tuple[str, ...], to: str) -> None:
        """A job goes where the states of a job allow."""
        state = self._states.get((root, identity), "unknown")
        self._expect(state in known and to in AFTER, root, f"{identity} is {state}, and is said to be {to} then")
        self._states[root, identity] = to

    def _end(
        self, root: str, identity: str, known: tuple[str, ...], to: str, fresh: Mapping[Key, int] | None = None
    ) -> None:
        before = self._states.get((root, identity), "unknown")
        self._move(root, identity, known, to)
        self._count({charge["budget"] for charge in self._charges(root, identity)}, before, to)
        for charge in self._charges(root, identity):
            axis = self.tables["axis"][charge["budget"], charge["name"]]
            held = charge["units"]
            if fresh:
                charge["units"] = fresh[charge["budget"], charge["name"]]
            if not axis["dead"]:
                axis["held"] -= held
                axis["spent"] += charge["units"] if to == "committed" else 0
        self.tables["reservation"][(identity,)]["state"] = to
        self._drop(identity)

    def _charges(self, root: str, identity: str) -> list[Row]:
        """Those of this chain's budgets: another chain says the same for its own."""
        mine = self._charged.get(identity, ())
        return [row for row in mine if self.tables["budget"][(row["budget"],)]["root"] == root]

    def _renew(self, root: str, body: Row) -> None:
        self._mine(root, body["totals"])
        for budget, totals in body["totals"].items():
            for name, total in totals.items():
                axis = self.tables["axis"][budget, name]
                self._expect(total >= axis["total"], root, f"{name} of {budget} has less than before")
                axis["total"] = total

    def _budget(self, root: str, known: str, state: str) -> None:
        row = self.tables["budget"][(root,)]
        self._expect(row["state"] == known, root, f"it is {row['state']}, and is said to be {state} then")
        row["state"] = state

    def _settle(self, root: str, body: Row) -> None:
        for identity in body["settled"]:
            self._end(root, identity, HOLDING, "committed")

    def _arrive(self, root: str, body: Row) -> None:
        self._budget(root, "exported", "open")
        self._settle(root, body)

    def _recover(self, root: str, body: Row) -> None:
        if root == SYSTEM:
            for row in self.tables["token"].values():
                row["revoked"] = 1
            return
        self._settle(root, body)
        self._budget(root, "frozen", "open")
        self._renew(root, body)
        self._reserve(root, body)

    def _token(self, root: str, body: Row) -> None:
        known = {row["id"] for row in self.tables["token"].values()}
        self._expect(
            root == SYSTEM and body["token"]["id"] not in known, root, f"the token {body['token']['id']} again"
        )
        if root == SYSTEM:
            self._put("token", body["token"])

    def _rotate(self, root: str, body: Row) -> None:
        if root == SYSTEM:
            row = self.tables["token"][(body["token"],)]
            self._expect(not row["revoked"], root, f"the token {body['token']} is good again after it was revoked")
            row.update(sha256=body["sha256"], expires=body["expires"])

    def _revoke(self, root: str, body: Row) -> None:
        if root == SYSTEM:
            self.tables["token"][(body["token"],)]["revoked"] = 1


def differences(given: Mapping[Key, Row], stand: Mapping[Key, Row], table: str) -> list[str]:
    """Where the rows that stand are not those that the chains give."""
    found = []
    for key in sorted({*given, *stand}, key=str):
        one, other = given.get(key), stand.get(key)
        if one == other:
            continue
        if one is None or other is None:
            how = "has no line in the audit" if one is None else "is missing"
            found.append(f"{table} {'/'.join(map(str, key))} {how}")
            continue
        found += [
            f"{table} {'/'.join(map(str, key))}: {column} is {other.get(column)!s:.60}, "
            f"and the audit gives {one[column]!s:.60}"
            for column in one
            if one[column] != other.get(column)
        ]
    return found


def broken(axes: Iterable[Row]) -> list[str]:
    """Counters that no audit may give: beyond a ceiling, or a budget without a living axis."""
    texts: list[str] = []
    alive: dict[str, bool] = {}
    for axis in axes:
        used, most = axis["held"] + axis["spent"], axis["total"] if axis["need"] == "all" else axis["ceiling"]
        if axis["held"] < 0 or axis["spent"] < 0 or used > most or axis["total"] > axis["ceiling"]:
            texts.append(f"{axis['budget']}: {axis['name']} has {used} of {most} units")
        if axis["need"] == "any":
            living = not axis["dead"] and used <= axis["total"]
            alive[axis["budget"]] = alive.get(axis["budget"], False) or living
    return texts + [f"{name}: no axis is left" for name, living in alive.items() if not living]
