"""Mutants of the rooms that a bound rests on, each given to the tests that reach it.

Usage: python -m benchmarks.mutants [--sample N] [--seed S] [--only ROOM ...] [--deep] [--list]
A journal in build/mutants keeps what was found; a second run goes on where the first one ended.
--deep gives survivors to four times as many tests. Exits with 1 where a survivor has no verdict in
tests/mutations/survivors.toml.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.mutants.reach import COSTS, FOLDER, TESTS, record
from benchmarks.mutants.run import load, outcome
from benchmarks.mutants.sample import PACKAGE, Mutant, sampled
from benchmarks.mutants.verdicts import verdict

JOURNAL = FOLDER / "journal.jsonl"
ROOMS = (
    *("core/numerics", "core/losses/gaussian.py", "core/losses/sampled_gaussian", "core/losses/laplace.py"),
    *("core/losses/finite", "core/losses/operators", "core/engines/contour", "core/engines/lattice"),
    *("core/engines/closed_form", "core/engines/hits", "core/engines/joint", "core/mechanisms", "checker"),
)
SAMPLE, SEED = 6, 2026
DEEP = 4.0


def files(rooms: tuple[str, ...]) -> Iterator[Path]:
    """The files of these rooms; those that only list numbers to choose are left to the plan."""
    for room in rooms:
        at = PACKAGE / room
        for file in [at] if at.suffix == ".py" else sorted(at.rglob("*.py")):
            if file.name not in ("__init__.py", "tuning.py"):
                yield file


def journal() -> dict[str, dict[str, object]]:
    """What is known of each mutant: its last row."""
    if not JOURNAL.exists():
        return {}
    rows = (json.loads(line) for line in JOURNAL.read_text().splitlines())
    return {row["key"]: row for row in rows}


def keep(mutant: Mutant, row: dict[str, object]) -> dict[str, object]:
    """Writes a row, at once."""
    whole = {"key": mutant.key, "path": mutant.path, "operator": mutant.operator} | row
    with JOURNAL.open("a") as file:
        file.write(json.dumps(whole) + "\n")
    return whole


def run(arguments: argparse.Namespace) -> int:
    """Each mutant that is not known yet; what survived and has no verdict is printed."""
    known, openly = journal(), 0
    for file in files(tuple(arguments.only) or ROOMS):
        for mutant in sampled(file, arguments.sample, arguments.seed):
            row = known.get(mutant.key)
            if row is None and arguments.list:
                continue
            left = row is not None and row["status"] == "survived" and verdict(row) is None
            deep = bool(left and arguments.deep and row and not row.get("deep"))
            if row is None or deep or (left and arguments.again):
                row = keep(mutant, outcome(mutant, DEEP if deep else 1.0) | {"deep": deep})
            if row["status"] in ("survived", "unreached") and verdict(row) is None:
                openly += 1
                print(f"{row['path']}:{row['line']} {row['operator']} {row['status']}", flush=True)
                print(f"  - {row['before']}\n  + {row['after']}", flush=True)
    print(f"{openly} without a verdict")
    return int(openly > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--again", action="store_true", help="survivors once more, after tests were added")
    parser.add_argument("--list", action="store_true", help="runs nothing")
    arguments = parser.parse_args()
    if not COSTS.exists():
        record([f"tests/{room}" for room in TESTS])
    load()
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
