"""The tables as SQLAlchemy knows them, for questions; migrations.py makes them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, MetaData, Table, Text

WHOLE = BigInteger().with_variant(Integer, "sqlite")  # STRICT tables have no other name for it
_KNOWN = MetaData()


def _table(name: str, texts: str, wholes: str = "") -> Table:
    held = [Column(word, Text) for word in texts.split()]
    return Table(name, _KNOWN, *held, *(Column(word, WHOLE) for word in wholes.split()))


schema = _table("ledger_schema", "", "version repairs")
budget = _table("budget", "id root parent kind relation privacy_unit shared promise state compose", "made")
axis = _table("axis", "budget name need", "position unit total ceiling held spent dead")
reservation = _table("reservation", "id principal state claimant jobs roots evidence note", "made expires additive")
charge = _table("charge", "reservation budget name", "units")
answer = _table("answer", "principal key body_hash reply events")
audit = _table("audit", "root actor body prev hash", "seq at")
head = _table("head", "root hash", "seq at")
tally = _table("tally", "budget state", "number")
place = _table("place", "budget reservation principal", "made")
token = _table("token", "id sha256 role root reservation", "expires revoked")

REBUILT = (budget, axis, reservation, charge, answer, head, token, tally, place)  # what the audit alone must give again
GROWING = (reservation, charge, answer, place)  # with every job; the others with budgets and people
