"""Faults that would let a ledger be overspent, each by hand, and the tests that must notice.

Usage: python -m tests.ledger.cluster python -m benchmarks.mutants.ledger [NAME...]
Each is a text that is put in the place of another in a copy of the tree, whose tests then run; the first, which changes
nothing, must pass them all. Without PostgreSQL (the first half of the command) the faults of its locks are left out.
Printed: a line for each, with the test that failed. Exit code 1 where one was not noticed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parents[2]
LEDGER = "src/tightrope/ledger"
COPIED = ("src", "tests", "benchmarks", "pyproject.toml")
SECONDS = 300.0
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Fault:
    """One text in the place of another, once; tests that must fail with it. postgresql: noticed there alone."""

    name: str
    file: str
    before: str
    after: str
    tests: str
    postgresql: bool = False


FAULTS = (
    Fault(
        "nothing",
        "database.py",
        'begun(connection, "IMMEDIATE")',
        'begun(connection, "IMMEDIATE")',
        "test_database.py book test_units.py test_menu.py test_domination.py test_executors.py",
    ),
    Fault(
        "no BEGIN IMMEDIATE",
        "database.py",
        'begun(connection, "IMMEDIATE")',
        'begun(connection, "DEFERRED")',
        "test_database.py",
    ),
    Fault(
        "no line of writers",
        "database.py",
        "fcntl.flock(turn, fcntl.LOCK_EX)",
        "fcntl.flock(turn, fcntl.LOCK_SH)",
        "test_database.py",
    ),
    Fault("no FOR UPDATE", "database.py", "    .with_for_update()\n", "", "test_database.py", True),
    Fault("one lock of several", "database.py", '{"roots": roots}', '{"roots": roots[:1]}', "test_database.py", True),
    Fault("commits not on disk", "sqlite_file.py", '"synchronous=FULL"', '"synchronous=NORMAL"', "test_database.py"),
    Fault("commits not on disk: PostgreSQL", "database.py", "_commit = on", "_commit = off", "test_database.py", True),
    Fault(
        "no CHECK of totals",
        "migrations.py",
        "need = 'any' OR (spent <= total - held AND dead = 0)",
        "1 = 1",
        "test_database.py",
    ),
    Fault(
        "no CHECK of ceilings", "migrations.py", "CHECK (spent <= ceiling - held)", "CHECK (1 = 1)", "test_database.py"
    ),
    Fault("a dead axis may be revived", "migrations.py", "NEW.dead = 0 OR", "1 = 0 OR", "test_database.py"),
    Fault("the last axis may die", "migrations.py", "NEW.dead = 1 OR", "1 = 0 OR", "test_database.py"),
    Fault(
        "dead axes count again",
        "transactions/fit.py",
        "            if counter.dead:\n                continue\n",
        "",
        "transactions/test_fit.py",
    ),
    Fault(
        "a dead axis is left",
        "transactions/fit.py",
        "        not choice.dead\n        and ",
        "        ",
        "transactions/test_fit.py",
    ),
    Fault("a dead axis is moved", "transactions/jobs.py", " AND axis.dead = 0", "", "transactions/test_deaths.py"),
    Fault(
        "what dies below lives above",
        "transactions/fit.py",
        "    kills |= beyond(paths, kills)\n",
        "",
        "transactions/test_fit.py",
    ),
    Fault(
        "beyond a total", "transactions/fit.py", "units > counter.total:", "units > counter.ceiling:", "transactions"
    ),
    Fault("floor for ceil", "units.py", "math.ceil(", "math.floor(", "test_units.py"),
    Fault("totals rounded up", "units.py", "math.floor(", "math.ceil(", "test_units.py"),
    Fault(
        "refund on expiry",
        "transactions/jobs.py",
        'to = "committed" if row.state == "running" else "cancelled"',
        'to = "cancelled"',
        "transactions/test_jobs.py",
    ),
    Fault(
        "a crash is free",
        "transactions/jobs.py",
        "        if not attest:\n",
        "        if False:\n",
        "transactions/test_jobs.py",
    ),
    Fault(
        "a replayed start runs again",
        "service.py",
        "        if starting:\n",
        "        if False:\n",
        "transactions/test_jobs.py test_executors.py",
    ),
    Fault(
        "a replayed spend runs again",
        "ledger.py",
        "        if spending.replayed:\n",
        "        if False:\n",
        "transactions/test_jobs.py test_executors.py",
    ),
    Fault(
        "two claimants",
        "service.py",
        " or row.claimant != hashed(asking.nonce):",
        ":",
        "transactions/test_claims.py transactions/test_jobs.py",
    ),
    Fault(
        "claimed after it ended",
        "transactions/jobs.py",
        'if row.state in ("running", "committed"):',
        "if False:",
        "transactions/test_claims.py",
    ),
    Fault(
        "no weights",
        "menu.py",
        "((arb(weight) * rest).log() - log_kappa)",
        "(rest.log() - log_kappa)",
        "test_menu.py test_filters.py",
    ),
    Fault(
        "an odometer without weights",
        "menu.py",
        "- (arb(weight) * rest).log() / (a - 1)",
        "- rest.log() / (a - 1)",
        "test_menu.py test_filters.py",
    ),
    Fault("weights above 1", "menu.py", "if sum(map(Fraction, found.values())) > 1:", "if False:", "test_menu.py"),
    Fault(
        "compared at the ends of cells alone",
        "domination.py",
        "all(_covered(first, second, mu, slack) for first, second in pairwise(corners))",
        "all(_covered(each, each, mu, slack) for each in corners)",
        "test_domination.py",
    ),
    Fault(
        "divergence in one direction",
        "filters/rdp.py",
        "[uses(part, direction) for direction in Direction]",
        "[uses(part, Direction.ADD)]",
        "filters/test_leaks.py",
    ),
    Fault("a frozen root moves", "transactions/tree.py", 'if state not in (None, "open"):', "if False:", "book"),
)


def copied(fault: Fault, folder: Path) -> None:
    """The tree with the fault in it."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, folder / name)
    file = folder / LEDGER / fault.file
    text = file.read_text("utf-8")
    if text.count(fault.before) != 1:
        raise SystemExit(f"{fault.name}: {fault.file} has its text {text.count(fault.before)} times, and it must be 1")
    file.write_text(text.replace(fault.before, fault.after), "utf-8")


def noticed(fault: Fault) -> str:
    """The first test that failed; empty where none did."""
    with tempfile.TemporaryDirectory() as folder:
        copied(fault, Path(folder))
        tests = [f"tests/ledger/{each}" for each in fault.tests.split()]
        options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", "--hypothesis-seed=0", "-m", "not cluster"]
        found = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": f"{folder}/src"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    if found.returncode == 0:
        return ""
    if found.returncode != 1:  # no test ran
        raise SystemExit(f"{fault.name}: {found.stdout[-800:]}{found.stderr[-800:]}")
    failed = FAILED.search(found.stdout)
    return failed[1] if failed else "?"


def main(wanted: list[str]) -> int:
    missed = 0
    for fault in FAULTS:
        if wanted and fault.name not in wanted:
            continue
        if fault.postgresql and "TIGHTROPE_POSTGRESQL" not in os.environ:
            print(f"{fault.name}: needs PostgreSQL", flush=True)
            continue
        began = monotonic()
        by = noticed(fault)
        right = (by == "") == (fault.before == fault.after)
        missed += not right
        print(
            f"{'' if right else 'WRONG: '}{fault.name}: {by or 'no test failed'} ({monotonic() - began:.0f} s)",
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
