"""The tables, as numbered steps: each is written once and never changed; a new one goes at the end.

What must never happen is forbidden here too, by checks and triggers, whatever a program above does: a counter beyond
its ceiling, an axis that comes back to life, a budget of which no `any` axis is left, a line of the audit that is
changed.
SQLite's tables are STRICT: in others a sum beyond 2^63 silently becomes a floating-point number.
"""

from __future__ import annotations

from collections.abc import Mapping

Statements = Mapping[str, tuple[str, ...]]  # by dialect

_TABLES = """
CREATE TABLE ledger_schema (version {int} NOT NULL){strict};
CREATE TABLE budget (
  id TEXT NOT NULL PRIMARY KEY, root TEXT NOT NULL, parent TEXT REFERENCES budget (id),
  kind TEXT NOT NULL, relation TEXT NOT NULL, privacy_unit TEXT NOT NULL,
  shared TEXT NOT NULL, promise TEXT NOT NULL, made {int} NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'frozen', 'exported')),
  compose TEXT NOT NULL CHECK (compose IN ('sum', 'parallel')),
  CHECK ((parent IS NULL) = (id = root))){strict};
CREATE TABLE axis (
  budget TEXT NOT NULL REFERENCES budget (id), name TEXT NOT NULL, position {int} NOT NULL,
  need TEXT NOT NULL CHECK (need IN ('all', 'any')), unit {int} NOT NULL CHECK (unit >= 1),
  total {int} NOT NULL, ceiling {int} NOT NULL, held {int} NOT NULL, spent {int} NOT NULL,
  dead {int} NOT NULL CHECK (dead IN (0, 1)), PRIMARY KEY (budget, name),
  CHECK (held >= 0), CHECK (spent >= 0), CHECK (total >= 0), CHECK (total <= ceiling),
  CHECK (ceiling <= 4611686018427387904), CHECK (held <= ceiling), CHECK (spent <= ceiling - held),
  CHECK (need = 'any' OR (spent <= total - held AND dead = 0))){strict};
CREATE TABLE reservation (
  id TEXT NOT NULL PRIMARY KEY, principal TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'running', 'committed', 'cancelled', 'refused')),
  claimant TEXT, made {int} NOT NULL, expires {int} NOT NULL, jobs TEXT NOT NULL, roots TEXT NOT NULL,
  additive {int} NOT NULL, evidence TEXT NOT NULL, note TEXT NOT NULL){strict};
CREATE INDEX reservation_due ON reservation (expires) WHERE state IN ('reserved', 'running');
CREATE TABLE charge (
  reservation TEXT NOT NULL REFERENCES reservation (id), budget TEXT NOT NULL, name TEXT NOT NULL,
  units {int} NOT NULL CHECK (units >= 0), PRIMARY KEY (reservation, budget, name),
  FOREIGN KEY (budget, name) REFERENCES axis (budget, name)){strict};
CREATE INDEX charge_axis ON charge (budget, name);
CREATE TABLE answer (
  principal TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL, reply TEXT NOT NULL, events TEXT NOT NULL,
  PRIMARY KEY (principal, key)){strict};
CREATE TABLE audit (
  root TEXT NOT NULL, seq {int} NOT NULL CHECK (seq >= 1), at {int} NOT NULL, actor TEXT NOT NULL,
  body TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (root, seq)){strict};
CREATE TABLE head (
  root TEXT NOT NULL PRIMARY KEY, seq {int} NOT NULL CHECK (seq >= 0), hash TEXT NOT NULL, at {int} NOT NULL){strict};
CREATE TABLE token (
  id TEXT NOT NULL PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'analyst', 'job', 'auditor', 'admin')),
  root TEXT, reservation TEXT, expires {int} NOT NULL, revoked {int} NOT NULL CHECK (revoked IN (0, 1))){strict}
"""

# A job that fits moves living counters only; the death of an axis is for ever; ceilings and units never change.
_AXIS_CHANGED = """
OLD.budget <> NEW.budget OR OLD.name <> NEW.name OR OLD.need <> NEW.need OR OLD.unit <> NEW.unit
OR OLD.ceiling <> NEW.ceiling OR NEW.total < OLD.total
OR (OLD.dead = 1 AND (NEW.dead = 0 OR NEW.held <> OLD.held OR NEW.spent <> OLD.spent))
"""
_SPENT_UP = "NEW.need = 'any' AND (NEW.dead = 1 OR NEW.spent > NEW.total - NEW.held)"  # one that was the last, perhaps
_NONE_LEFT = """
EXISTS (SELECT 1 FROM axis WHERE budget = NEW.budget AND need = 'any') AND NOT EXISTS (
  SELECT 1 FROM axis WHERE budget = NEW.budget AND need = 'any' AND dead = 0 AND spent <= total - held)
"""
_FORBIDDEN = (  # when, by the row alone, then by others too: few rows come so far
    ("audit_kept", "UPDATE", "audit", None, None, "the audit is written once"),
    ("audit_whole", "DELETE", "audit", None, None, "the audit is written once"),
    ("axis_kept", "UPDATE", "axis", _AXIS_CHANGED, None, "an axis keeps its ceiling, and stays dead"),
    ("axis_whole", "DELETE", "axis", None, None, "an axis stays"),
    ("axis_left", "UPDATE", "axis", _SPENT_UP, _NONE_LEFT, "no axis of the budget is left"),
)


def _sqlite_trigger(name: str, action: str, table: str, row: str | None, others: str | None, why: str) -> str:
    timing = "BEFORE" if others is None else "AFTER"
    conditions = " AND ".join(f"({text})" for text in (row, others) if text)
    when = f"WHEN {conditions} " if conditions else ""
    return f"CREATE TRIGGER {name} {timing} {action} ON {table} {when}BEGIN SELECT RAISE(ABORT, '{why}'); END"


def _postgresql_trigger(
    name: str, action: str, table: str, row: str | None, others: str | None, why: str
) -> tuple[str, str]:
    timing = "BEFORE" if others is None else "AFTER"
    body = f"RAISE EXCEPTION '{why}';"
    if others:
        body = f"IF {others} THEN {body} END IF; RETURN NEW;"
    when = f"WHEN ({row}) " if row else ""
    return (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN {body} END $body$",
        f"CREATE TRIGGER {name} {timing} {action} ON {table} FOR EACH ROW {when}EXECUTE FUNCTION {name}()",
    )


def _split(statements: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in statements.split(";") if word.strip())


def _statements(**types: str) -> tuple[str, ...]:
    return _split(_TABLES.format(**types))


FIRST: Statements = {
    "sqlite": (
        *_statements(int="INTEGER", strict=" STRICT"),
        *(_sqlite_trigger(*each) for each in _FORBIDDEN),
    ),
    "postgresql": (
        *_statements(int="BIGINT", strict=""),
        *(statement for each in _FORBIDDEN for statement in _postgresql_trigger(*each)),
        *(
            f"CREATE TRIGGER {table}_emptied BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION audit_whole()"
            for table in ("audit", "axis")
        ),
    ),
}

# How many jobs of each state a budget has, and which, the newest first: counted as they move, not when somebody looks.
_LOOKED_UP = """
ALTER TABLE ledger_schema ADD COLUMN repairs {int} NOT NULL DEFAULT 0;
DROP INDEX charge_axis;
CREATE TABLE tally (
  budget TEXT NOT NULL REFERENCES budget (id),
  state TEXT NOT NULL CHECK (state IN ('reserved', 'running', 'committed', 'cancelled', 'refused')),
  number {int} NOT NULL CHECK (number >= 0), PRIMARY KEY (budget, state)){strict};
CREATE TABLE place (
  budget TEXT NOT NULL REFERENCES budget (id), made {int} NOT NULL,
  reservation TEXT NOT NULL REFERENCES reservation (id), principal TEXT NOT NULL,
  PRIMARY KEY (budget, made, reservation)){strict};
CREATE INDEX place_mine ON place (budget, principal, made, reservation);
INSERT INTO place (budget, made, reservation, principal)
  SELECT DISTINCT c.budget, r.made, r.id, r.principal FROM charge AS c JOIN reservation AS r ON r.id = c.reservation;
INSERT INTO tally (budget, state, number)
  SELECT b.id, s.state, (SELECT count(*) FROM place AS p JOIN reservation AS r ON r.id = p.reservation
                         WHERE p.budget = b.id AND r.state = s.state)
  FROM budget AS b CROSS JOIN (SELECT 'reserved' AS state UNION ALL SELECT 'running' UNION ALL SELECT 'committed'
                               UNION ALL SELECT 'cancelled' UNION ALL SELECT 'refused') AS s;
WITH RECURSIVE way (leaf, id) AS (
  SELECT id, id FROM budget
  UNION ALL SELECT way.leaf, b.parent FROM way JOIN budget AS b ON b.id = way.id WHERE b.parent IS NOT NULL),
meant (reservation, budget) AS (
  SELECT DISTINCT r.id, way.id FROM reservation AS r CROSS JOIN {names} JOIN way ON way.leaf = j.key
  WHERE r.state = 'refused')
UPDATE tally SET number = (SELECT count(*) FROM meant WHERE meant.budget = tally.budget) WHERE state = 'refused'
"""

SECOND: Statements = {
    "sqlite": _split(_LOOKED_UP.format(int="INTEGER", strict=" STRICT", names="json_each(r.jobs) AS j")),
    "postgresql": _split(_LOOKED_UP.format(int="BIGINT", strict="", names="LATERAL json_each(r.jobs::json) AS j")),
}

STEPS: tuple[Statements, ...] = (FIRST, SECOND)
