"""Random answers, and what the checker says of each of their ends, as they are and one of them moved inward.

    python -m benchmarks.verified                   # 2,000 cases, at most 10 s of CPU each for a check
    python -m benchmarks.verified 300 --seconds 30  # fewer, and longer

One case in four is drawn as `tightrope selftest` draws; the others from every mechanism, alone, often, among others, in
samples and in groups, and from every reading. A second document each, where one end, drawn at random, is moved inward
by the answer's own width, which makes it false or the exact value: it must not be proved. Answers of zero width are not
moved. A line of JSON per case goes to the journal, and a run goes on where one ended; the sum is printed at the end, by
engine, mechanism, transformation and reading. Exit code 1 where a true end was refuted or a moved one proved.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tightrope as tr
from tightrope.checker.judge import PROVED, REFUTED, UNDECIDED, judged
from tightrope.core.values.errors import TightropeError
from tightrope.documents import plain
from tightrope.result import Result
from tightrope.selftest.cases import drawn

SEED_OF_CASES = 17
ANSWERED_IN = 2.0
CLOCK = {**os.environ, "TIGHTROPE_CLOCK": "off"}
CASES, SECONDS = 2000, 10.0
ROOT = Path(__file__).resolve().parents[1]
Source = random.Random

# A mechanism each, with numbers between these, evenly on a log scale, or whole ones.
MECHANISMS: tuple[tuple[str, Mapping[str, tuple[float, float]]], ...] = (
    ("Gaussian(sigma={a})", {"a": (0.6, 30.0)}),
    ("GDP(mu={a})", {"a": (0.05, 2.0)}),
    ("GaussianVariance(sigma1={a}, sigma2=1.0)", {"a": (1.05, 1.4)}),
    ("GaussianMixture(sigma={a}, shifts=[0.0, 1.0, 2.0], weights=[0.75, 0.125, 0.125])", {"a": (0.8, 8.0)}),
    ("Laplace(scale={a})", {"a": (0.7, 30.0)}),
    ("TruncatedGaussian(sigma={a}, bounds=[-40.0, 40.0])", {"a": (2.0, 7.0)}),
    ("TruncatedGaussian(sigma={a}, bounds=[-6.0, 6.0], mode='clamp')", {"a": (1.0, 4.0)}),
    ("TruncatedLaplace(scale={a}, bounds=[-30.0, 30.0])", {"a": (0.8, 3.0)}),
    ("TruncatedLaplace(scale={a}, bounds=[-6.0, 6.0], mode='clamp')", {"a": (0.8, 3.0)}),
    ("DiscreteGaussian(sigma={a})", {"a": (0.7, 20.0)}),
    ("DiscreteLaplace(scale={a})", {"a": (0.7, 20.0)}),
    ("Skellam(variance={a})", {"a": (2.0, 200.0)}),
    ("BinomialNoise(trials={n})", {"n": (20, 400)}),
    ("RandomizedResponse(p={a}, neighbours='add_remove')", {"a": (0.55, 0.95)}),
    ("RandomizedResponse(p={a}, categories=3)", {"a": (0.4, 0.9)}),
    ("SubsetSelection(epsilon={a}, categories=8, size=3)", {"a": (0.2, 2.0)}),
    ("Staircase(epsilon={a})", {"a": (0.2, 2.0)}),
    ("PureDP(epsilon={a})", {"a": (0.05, 2.0)}),
    ("ApproximateDP(epsilon={a}, delta=1e-09)", {"a": (0.05, 2.0)}),
    ("Finite(p=[0.5, 0.3, 0.2], q=[0.25, 0.5, 0.25])", {}),
    ("PrivacyCurve(epsilons=[0.5, {a}], deltas=[0.01, 1e-09])", {"a": (1.0, 3.0)}),
    ("TradeoffCurve(fprs=[0.0, 0.125, 1.0], fnrs=[1.0, {a}, 0.0])", {"a": (0.5, 0.8)}),
    ("RenyiCurve(orders=[2.0, 8.0], divergences=[{a}, 0.8])", {"a": (0.05, 0.2)}),
    ("ZCDP(rho={a})", {"a": (0.01, 1.0)}),
    ("MatrixMechanism(sigma={a}, matrix=[[1.0, 0.0], [0.5, 1.0]])", {"a": (1.0, 8.0)}),
    ("TreeAggregation(sigma={a}, steps=16)", {"a": (2.0, 20.0)}),
    ("Exponential(epsilon={a})", {"a": (0.05, 1.0)}),
    ("NoisyMax(scale={a})", {"a": (2.0, 20.0)}),
    ("PermuteAndFlip(epsilon={a})", {"a": (0.05, 1.0)}),
    ("SparseVector(threshold_scale={a}, query_scale=8.0)", {"a": (2.0, 10.0)}),
    ("StabilityHistogram(epsilon={a}, threshold=40.0)", {"a": (0.2, 1.0)}),
    ("DistanceToInstability(epsilon={a}, delta=1e-09)", {"a": (0.1, 1.0)}),
    ("training(records=20000, batch={n}, steps=200, sigma=1.1)", {"n": (50, 400)}),
    ("training(records=20000, batch={n}, steps=200, sigma=1.1, group=4)", {"n": (50, 200)}),
)
TRANSFORMATIONS: tuple[tuple[str, int], ...] = (  # how often
    ("", 10),
    (".poisson(rate={r})", 6),
    (".group(size={k})", 3),
    (".poisson(rate={r}).group(size={k})", 2),
    (".group(size={k}).poisson(rate={r})", 1),
    (".without_replacement(batch=20, records=1000)", 2),
    (".with_replacement(batch=20, records=1000)", 1),
    (".truncated_poisson(rate=0.02, cap=60, records=1000)", 1),
    (".random_allocation(steps=50)", 1),
    (".shuffled_batches(steps=50)", 1),
    (".poisson(rate={r}, neighbours='replace')", 1),
    (".shuffle(users=50)", 1),
    (".best_of(law='geometric', mean=5.0)", 1),
)
READINGS: tuple[tuple[str, Mapping[str, tuple[float, float]], int], ...] = (
    ("epsilon", {"delta": (1e-9, 1e-2)}, 10),
    ("delta", {"epsilon": (0.05, 4.0)}, 6),
    ("tpr", {"fpr": (1e-4, 0.5)}, 3),
    ("tradeoff", {"fpr": (1e-4, 0.5)}, 2),
    ("advantage", {}, 2),
    ("bayes_accuracy", {"prior": (0.05, 0.9)}, 1),
    ("posterior", {"prior": (0.05, 0.5), "fpr": (1e-3, 0.3)}, 1),
    ("reconstruction", {"baseline": (1e-3, 0.3)}, 1),
    ("renyi", {"order": (1.5, 32.0)}, 1),
    ("mean_loss", {}, 1),
    ("zcdp", {"order_most": (float("inf"), float("inf"))}, 1),
    ("gdp", {"delta_least": (0.0, 0.0)}, 1),
    ("pdp", {"epsilon": (0.1, 3.0)}, 1),
    ("loss_quantile", {"p": (0.5, 0.99)}, 1),
)


@dataclass(frozen=True)
class AskedCase:
    """A run and a question, and by what names they are counted."""

    expression: str
    quantity: str
    given: Mapping[str, float]
    mechanism: str
    transformation: str


def asked(number: int) -> AskedCase:
    """The case of a number: the same on every machine."""
    source = random.Random(f"verified {SEED_OF_CASES} {number}")
    if number % 4 == 0:
        case = drawn(SEED_OF_CASES, number)
        return AskedCase(case.expression, case.quantity, {_argument(case.quantity): case.given}, "selftest", "selftest")
    transformation = source.choices([text for text, _ in TRANSFORMATIONS], [often for _, often in TRANSFORMATIONS])[0]
    one = source.choice(MECHANISMS)
    texts = [_filled(source, one, transformation)]
    if source.random() < 0.2:
        texts.append(_filled(source, source.choice(MECHANISMS), transformation if source.random() < 0.5 else ""))
    expression = " + ".join(f"{text} * {_count(source)}" for text in texts)
    quantity, arguments, _ = source.choices(READINGS, [often for *_, often in READINGS])[0]
    given = {name: _between(source, *ends) for name, ends in arguments.items()}
    name = one[0].split("(")[0] + (" clamp" if "clamp" in one[0] else "") + (", sums" if len(texts) > 1 else "")
    return AskedCase(expression, quantity, given, name, re.sub(r"\(.*?\)", "", transformation) or "alone")


def _filled(source: Source, mechanism: tuple[str, Mapping[str, tuple[float, float]]], transformation: str) -> str:
    text, ends = mechanism
    values: dict[str, float] = {
        name: round(_between(source, *each)) if name == "n" else _between(source, *each) for name, each in ends.items()
    }
    return text.format(**values) + transformation.format(r=_between(source, 0.003, 0.5), k=source.randint(2, 6))


def _count(source: Source) -> int:
    return 1 if source.random() < 0.3 else round(math.exp(source.random() * math.log(300)))


def _between(source: Source, low: float, high: float) -> float:
    """Three digits, evenly on a log scale."""
    if not low < high:
        return low
    return min(max(float(f"{low * (high / low) ** source.random():.3g}"), low), high)


def _argument(quantity: str) -> str:
    return "delta" if quantity == "epsilon" else "epsilon"


def one(number: int, seconds: float) -> dict[str, Any]:
    """A case: what the engine was, and what the checker says of both ends and of a moved one."""
    case = asked(number)
    found: dict[str, Any] = {
        "case": number,
        "expression": case.expression,
        "asked": case.quantity,
        "given": dict(case.given),
        "mechanism": case.mechanism,
        "transformation": case.transformation,
    }
    try:
        run = tr.parse(case.expression)
        bound = getattr(run, case.quantity)(*case.given.values(), seconds=ANSWERED_IN)
    except TightropeError as error:
        return {**found, "refused": str(error)}
    document = json.loads(json.dumps(plain(Result(repr(run), case.quantity, case.given, bound).document())))
    began = time.process_time()
    verdicts = judged(document, seconds)
    found |= {
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
        false = judged({**document, end: moved}, seconds)
        found["moved"] = {"end": end, "verdict": next(each.verdict for each in false if each.end == end)}
    return found


def summed(rows: list[dict[str, Any]]) -> bool:
    """Prints the counts; whether nothing was wrong."""
    moved: Counter[str] = Counter()
    answered = [row for row in rows if "refused" not in row]
    for row in answered:
        moved[row["moved"]["verdict"] if "moved" in row else "zero width"] += 1
    for by in ("engine", "transformation", "asked", "mechanism"):
        _table(answered, by)
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


def _table(rows: list[dict[str, Any]], by: str) -> None:
    kinds: dict[str, Counter[str]] = {}
    for row in rows:
        kinds.setdefault(row[by], Counter()).update(row["verdicts"].values())
        kinds[row[by]]["answers"] += 1
    print(f"{by:<30}{'answers':>9}{PROVED:>9}{REFUTED:>9}{UNDECIDED:>15}{'share':>7}")
    for name, counts in [*sorted(kinds.items()), ("all", sum(kinds.values(), Counter()))]:
        share = counts[PROVED] / max(2 * counts["answers"], 1)
        print(
            f"{name:<30}{counts['answers']:>9}{counts[PROVED]:>9}{counts[REFUTED]:>9}{counts[UNDECIDED]:>15}{share:>7.2f}"
        )


def main() -> int:
    """The cases that the journal does not have yet, and the sum of all."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("cases", type=int, nargs="?", default=CASES)
    reader.add_argument("--first", type=int, default=1)
    reader.add_argument("--stride", type=int, default=1, help="every so manyth case, for several processes")
    reader.add_argument("--seconds", type=float, default=SECONDS)
    reader.add_argument("--journal", type=Path, default=ROOT / "build" / "verified.jsonl")
    asked = reader.parse_args()
    if os.environ.get("TIGHTROPE_CLOCK") != "off":  # seconds are those of this thread, whatever else runs
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks.verified", *sys.argv[1:]], CLOCK)
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
