"""Random answers of all engines, given to the checker as they are and with one end moved inward by their width.

Usage: python -m benchmarks.verified [CASES] [--first N] [--seconds S] [--journal FILE]
Every answer is asked as users ask it (2 s) and written as JSON; the checker has S seconds for it. All of these are
seconds of processor time, so that a busy machine changes nothing. Then one end, drawn at random, is moved inward by the
answer's own width, which makes it false or the exact value: it must not be proved.
Answers of zero width are not moved. A line of JSON per case goes to the journal, and a run goes on where one ended; the
sum is printed at the end, by engine. Exit code 1 where a true end was refuted or a moved one proved.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import tightrope as tr
from tightrope.checker.judge import PROVED, REFUTED, UNDECIDED, judged
from tightrope.errors import TightropeError
from tightrope.result import Result
from tightrope.selftest.cases import drawn

SEED_OF_CASES = 17
ANSWERED_IN = 2.0
ROOT = Path(__file__).resolve().parents[1]


def one(number: int, seconds: float) -> dict[str, Any]:
    """A case: what the engine was, and what the checker says of both ends and of a moved one."""
    case = drawn(SEED_OF_CASES, number)
    run = tr.parse(case.expression)
    try:
        ask = run.epsilon if case.quantity == "epsilon" else run.delta
        bound = ask(case.given, seconds=ANSWERED_IN)
    except TightropeError as error:
        return {"case": number, "expression": case.expression, "refused": str(error)}
    given = {"delta" if case.quantity == "epsilon" else "epsilon": case.given}
    document = json.loads(json.dumps(Result(repr(run), case.quantity, given, bound).document()))
    began = time.process_time()
    verdicts = judged(document, seconds)
    found: dict[str, Any] = {
        "case": number,
        "expression": repr(run),
        "asked": case.quantity,
        "given": case.given,
        "engine": document["certificate"]["engine"],
        "ends": [bound.lower, bound.upper],
        "verdicts": {each.end: each.verdict for each in verdicts},
        "why": [each.why for each in verdicts if each.verdict == UNDECIDED],
        "cpu": time.process_time() - began,
    }
    if 0.0 < bound.width < float("inf"):
        end = random.Random(number).choice(("lower", "upper"))
        width = bound.upper - bound.lower
        moved = {"lower": bound.lower + width, "upper": bound.upper - width}[end]
        other = {"lower": 0.0, "upper": "inf" if case.quantity == "epsilon" else 1.0}  # proved by definition
        false = judged({**document, **other, end: moved}, seconds)
        found["moved"] = {"end": end, "verdict": next(each.verdict for each in false if each.end == end)}
    return found


def summed(rows: list[dict[str, Any]]) -> bool:
    """Prints the counts; whether nothing was wrong."""
    engines: dict[str, Counter[str]] = {}
    moved: Counter[str] = Counter()
    for row in rows:
        if "refused" in row:
            continue
        engines.setdefault(row["engine"], Counter()).update(row["verdicts"].values())
        engines[row["engine"]]["answers"] += 1
        moved[row["moved"]["verdict"] if "moved" in row else "zero width"] += 1
    print(f"{'engine':<14}{'answers':>9}{PROVED:>9}{REFUTED:>9}{UNDECIDED:>15}")
    for name, counts in [*sorted(engines.items()), ("all", sum(engines.values(), Counter()))]:
        print(f"{name:<14}{counts['answers']:>9}{counts[PROVED]:>9}{counts[REFUTED]:>9}{counts[UNDECIDED]:>15}")
    print("one end moved inward: " + ", ".join(f"{count} {word}" for word, count in sorted(moved.items())))
    cpu = sorted(row["cpu"] for row in rows if "cpu" in row)
    if cpu:
        median, most = cpu[len(cpu) // 2], cpu[-1]
        print(f"CPU of a check: median {median:.2f} s, 90 % {cpu[len(cpu) * 9 // 10]:.2f} s, most {most:.1f} s")
    wrong = [row for row in rows if REFUTED in row.get("verdicts", {}).values()]
    wrong += [row for row in rows if row.get("moved", {}).get("verdict") == PROVED]
    for row in wrong:
        print(json.dumps(row))
    return not wrong


def main() -> int:
    """The cases that the journal does not have yet, and the sum of all."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("cases", type=int, nargs="?", default=1000)
    reader.add_argument("--first", type=int, default=1)
    reader.add_argument("--stride", type=int, default=1, help="every so manyth case, for several processes")
    reader.add_argument("--seconds", type=float, default=120.0)
    reader.add_argument("--journal", type=Path, default=ROOT / "build" / "verified.jsonl")
    asked = reader.parse_args()
    time.monotonic = time.process_time
    asked.journal.parent.mkdir(exist_ok=True)
    rows = (
        [json.loads(line) for line in asked.journal.read_text("utf-8").splitlines()] if asked.journal.exists() else []
    )
    done = {row["case"] for row in rows}
    with asked.journal.open("a", encoding="utf-8") as journal:
        for number in range(asked.first, asked.cases + 1, asked.stride):
            if number not in done:
                rows.append(one(number, asked.seconds))
                journal.write(json.dumps(rows[-1]) + "\n")
                journal.flush()
    return 0 if summed(rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
