"""The tables as the chains alone give them, for comparison with those that stand.

This shares nothing with the moves of book/ but the words of the events: what a commit or an expiry does to counters is
said here once more, with Python's integers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
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
}
HOLDING = ("reserved", "running")


class Replay:
    """Lines in, tables out; findings say where the lines themselves do not hold together."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[Key, Row]] = {name: {} for name in KEYS}
        self.findings: list[str] = []
        self._charged: dict[str, list[Row]] = {}
        self._over: set[tuple[str, str]] = set()  # chains, and jobs that ended in them
        self._moves: Mapping[str, Callable[[str, Row], None]] = {
            "begin": lambda root, body: None,
            "create": self._create,
            "reserve": self._reserve,
            "refuse": self._reserve,
            "claim": self._claim,
            "commit": self._commit,
            "cancel": lambda root, body: self._end(root, body["reservation"], "cancelled"),
            "expire": lambda root, body: self._end(root, body["reservation"], body["to"]),
            "renew": self._renew,
            "freeze": lambda root, body: self._budget(root, "frozen"),
            "export": lambda root, body: self._budget(root, "exported"),
            "arrive": lambda root, body: self._budget(root, "open"),
            "recover": self._recover,
            "settle": self._settle,
            "token": self._token,
            "revoke": self._revoke,
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
            if line.seq != expected or line.prev != head["hash"] or not line.right or line.at < head["at"]:
                self.findings.append(f"{line.root}: line {line.seq} is not the one that was written")
            self._moves[body["event"]](line.root, body)
            self._answer(line, body)
        except (KeyError, TypeError, ValueError) as error:
            self.findings.append(f"{line.root}: line {line.seq} cannot be read ({type(error).__name__}: {error})")
        head.update(seq=line.seq, hash=line.hash, at=line.at)

    def _put(self, table: str, row: Row) -> None:
        self.tables[table][tuple(row[name] for name in KEYS[table])] = dict(row)

    def _answer(self, line: AuditLine, body: Row) -> None:
        """Each keyed request is answered again as it was; one that wrote several lines names them all."""
        if "key" not in body:
            return
        place = (body["principal"], body["key"])
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

    def _create(self, root: str, body: Row) -> None:
        self._put("budget", body["budget"])
        for axis in body["axes"]:
            self._put("axis", axis)
        if "reservation" in body:
            self._reserve(root, body)
        else:
            self._kill(body.get("kills", ()))

    def _kill(self, places: Iterable[Iterable[str]]) -> None:
        for budget, name in places:
            self.tables["axis"][budget, name]["dead"] = 1

    def _reserve(self, root: str, body: Row) -> None:
        row = body["reservation"]
        self._kill(body["kills"])
        if (row["id"],) not in self.tables["reservation"]:  # the first of several chains that know of it
            self._put("reservation", row)
        for budget, name, units in body["charges"]:
            charge = {"reservation": row["id"], "budget": budget, "name": name, "units": units}
            self.tables["charge"][row["id"], budget, name] = charge
            self._charged.setdefault(row["id"], []).append(charge)
            axis = self.tables["axis"][budget, name]
            if not axis["dead"]:
                axis["held" if row["state"] in HOLDING else "spent"] += units
                if axis["held"] + axis["spent"] > axis["total" if axis["need"] == "all" else "ceiling"]:
                    self.findings.append(f"{root}: {row['id']} was accepted beyond {name} of {budget}")
        if row["state"] not in HOLDING:
            self._over.add((root, row["id"]))

    def _claim(self, root: str, body: Row) -> None:
        self._expect_held(root, body["reservation"])
        row = self.tables["reservation"][(body["reservation"],)]
        row.update(state="running", claimant=body["claimant"], expires=body["expires"])

    def _commit(self, root: str, body: Row) -> None:
        fresh = {(budget, name): units for budget, name, units in body.get("units", ())}
        self._end(root, body["reservation"], "committed", fresh)

    def _end(self, root: str, identity: str, state: str, fresh: Mapping[Key, int] | None = None) -> None:
        self._expect_held(root, identity)
        self._over.add((root, identity))
        for charge in self._charges(root, identity):
            axis = self.tables["axis"][charge["budget"], charge["name"]]
            held = charge["units"]
            if fresh:
                charge["units"] = fresh[charge["budget"], charge["name"]]
            if not axis["dead"]:
                axis["held"] -= held
                axis["spent"] += charge["units"] if state == "committed" else 0
        self.tables["reservation"][(identity,)]["state"] = state

    def _expect_held(self, root: str, identity: str) -> None:
        """What has ended neither begins nor ends again."""
        if (root, identity) in self._over:
            self.findings.append(f"{root}: {identity} moves after it had ended")

    def _charges(self, root: str, identity: str) -> list[Row]:
        """Those of this chain's budgets: another chain says the same for its own."""
        mine = self._charged.get(identity, ())
        return [row for row in mine if self.tables["budget"][(row["budget"],)]["root"] == root]

    def _renew(self, root: str, body: Row) -> None:
        for budget, totals in body["totals"].items():
            for name, total in totals.items():
                self.tables["axis"][budget, name]["total"] = total

    def _budget(self, root: str, state: str) -> None:
        self.tables["budget"][(root,)]["state"] = state

    def _settle(self, root: str, body: Row) -> None:
        for identity in body["settled"]:
            self._end(root, identity, "committed")

    def _recover(self, root: str, body: Row) -> None:
        if root == SYSTEM:
            for row in self.tables["token"].values():
                row["revoked"] = 1
            return
        self._settle(root, body)
        self._budget(root, "open")
        self._renew(root, body)
        self._reserve(root, body)

    def _token(self, root: str, body: Row) -> None:
        if root == SYSTEM:
            self._put("token", body["token"])

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
    found: list[str] = []
    alive: dict[str, bool] = {}
    for axis in axes:
        used, most = axis["held"] + axis["spent"], axis["total"] if axis["need"] == "all" else axis["ceiling"]
        if axis["held"] < 0 or axis["spent"] < 0 or used > most or axis["total"] > axis["ceiling"]:
            found.append(f"{axis['budget']}: {axis['name']} has {used} of {most} units")
        if axis["need"] == "any":
            living = not axis["dead"] and used <= axis["total"]
            alive[axis["budget"]] = alive.get(axis["budget"], False) or living
    return found + [f"{name}: no axis is left" for name, living in alive.items() if not living]
