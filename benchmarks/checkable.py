"""What verify proves: each mechanism by itself, under each transformation, and by each reading, into docs/checkable.md.

    python -m benchmarks.checkable            # some minutes
    python -m benchmarks.checkable --check    # whether the first table is as it is written there

A cell of the first table says whether the checker has a law for it; where the accountant itself refuses it is empty.
A cell of the second is an answer of one use, whose two ends are given to the checker for a few seconds each.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import tightrope as tr
from benchmarks.verified import CLOCK, MECHANISMS, READINGS
from tightrope.checker.expression import run_of
from tightrope.checker.judge import PROVED, judged
from tightrope.checker.law import NotCheckable
from tightrope.core.values.errors import TightropeError
from tightrope.documents import plain
from tightrope.result import Result

PAGE = Path(__file__).resolve().parents[1] / "docs" / "checkable.md"
SECONDS = 4.0
TRANSFORMATIONS = {
    "alone": "",
    "poisson": ".poisson(rate=0.1)",
    "poisson, replace": ".poisson(rate=0.1, neighbours='replace')",
    "without replacement": ".without_replacement(batch=10, records=100)",
    "with replacement": ".with_replacement(batch=10, records=100)",
    "capped poisson": ".truncated_poisson(rate=0.1, cap=20, records=100)",
    "group": ".group(size=3)",
    "sampled group": ".poisson(rate=0.1).group(size=3)",
    "allocation": ".random_allocation(steps=10)",
    "shuffled batches": ".shuffled_batches(steps=10)",
    "shuffle": ".shuffle(users=50)",
    "best of": ".best_of(law='geometric', mean=5.0)",
}
HEAD = """# What verify proves, by mechanism, transformation and reading

Made by `python -m benchmarks.checkable`. [Why believe it](trust.md) says what a proof is.

## Laws

*yes*: the checker has a law for it, and proves answers that its engines can follow in the time that it is given.
*no*: it has none, and says so. Empty: the accountant refuses, as no theorem covers it. Sums of what is known are known.

"""
WHY = """
Why not: `.shuffle` and `.best_of` are bounded by constructions of their own, which the checker does not have yet;
groups of laws that are no shift need a chain of laws; samples of several mechanisms at once need a joint law; several
epochs of an allocation need the law of one.

## Readings

One use of each, at arguments as `benchmarks.verified` draws them: how many of the two ends are proved within a few
seconds each; empty where the accountant refuses. Several uses are proved where delta is enclosed finely enough.

"""


def example(template: str, ends: Mapping[str, tuple[float, float]]) -> str:
    """A mechanism in the middle of its range."""
    values = {name: low if low == high else (low * high) ** 0.5 for name, (low, high) in ends.items()}
    return template.format(
        **{name: round(value) if name == "n" else float(f"{value:.3g}") for name, value in values.items()}
    )


def laws() -> str:
    """The first table."""
    lines = ["| mechanism | " + " | ".join(TRANSFORMATIONS) + " |", "|---" * (len(TRANSFORMATIONS) + 1) + "|"]
    for template, ends in MECHANISMS:
        text = example(template, ends)
        lines.append(f"| `{text}` | " + " | ".join(_known(text + call) for call in TRANSFORMATIONS.values()) + " |")
    return "\n".join(lines) + "\n"


def _known(text: str) -> str:
    try:
        run_of(text)
    except NotCheckable:
        try:
            tr.parse(text)
        except TightropeError:
            return ""
        return "no"
    return "yes"


def readings() -> str:
    """The second table."""
    names = [quantity for quantity, *_ in READINGS]
    lines = ["| mechanism | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for template, ends in MECHANISMS:
        if template.startswith("training"):  # a composition of Gaussian noise on samples, not one use
            continue
        text = example(template, ends)
        cells = [_proved(text, quantity, arguments) for quantity, arguments, _ in READINGS]
        lines.append(f"| `{text}` | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def _proved(text: str, quantity: str, arguments: Mapping[str, tuple[float, float]]) -> str:
    given = {
        name: low if low == high else float(f"{(low * high) ** 0.5:.3g}") for name, (low, high) in arguments.items()
    }
    try:
        run = tr.parse(text)
        bound = getattr(run, quantity)(*given.values(), seconds=2.0)
    except TightropeError:
        return ""
    document = json.loads(json.dumps(plain(Result(repr(run), quantity, given, bound).document())))
    return str(sum(each.verdict == PROVED for each in judged(document, SECONDS)))


def main() -> int:
    """Writes the page, or compares its first table."""
    if "--check" in sys.argv:
        return 0 if laws() in PAGE.read_text("utf-8") else 1
    PAGE.write_text(HEAD + laws() + WHY + readings(), "utf-8")
    return 0


if __name__ == "__main__":
    if os.environ.get("TIGHTROPE_CLOCK") != "off":  # seconds are those of this thread
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.checkable", *sys.argv[1:]], CLOCK)
    raise SystemExit(main())
