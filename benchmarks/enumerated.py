"""Random trees against the truth: the real algorithm on every tiny data set and all its neighbours.

tests/oracle/trees.py draws a tree, by what its theorems need and by what its base lacks, and works out the laws of its
outputs without the package. Here the same tree is given to the package as text. A comparison is one tree, one
direction (or a relation without any), one question and one number: delta at the kinks of the true profile, between
and beyond them, and epsilon at a few deltas. The upper end must be at or above the truth. Where the answer is called
tight and the data sets have the pair, the lower end must be at or below it. A tree may be refused, by
InvalidParameter, UnsupportedMechanism or another TightropeError; any other exception is a violation, and so is an
InternalContradiction.

Nearly all of the time is the package's own. Some epsilons of every direction are asked as a user asks, witnesses and
all; the others get the same upper ends without lower ends by witnesses, which are half of the work. A tree is left
where TICK seconds bring fewer than PER_TICK comparisons, but for every so manieth tree, which has PATIENT seconds.

Every process writes one line of JSON per tree into its journal, and a run that was interrupted goes on from there.
Usage: python -m benchmarks.enumerated [--checks N] [--processes P] [--seed S] [--journal FOLDER] [--until HH:MM].
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import multiprocessing
import pkgutil
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import FrameType

import tightrope as tr
from tests.oracle.leaves import ADD_REMOVE
from tests.oracle.profiles import Profiles
from tests.oracle.trees import Drawn, drawn
from tightrope import core
from tightrope.core.accountant import AIM, Case
from tightrope.core.engines.planner import Point
from tightrope.core.values import compute_budget
from tightrope.core.values.question import Question

CHECKS, PROCESSES, SEED = 1_000_000, 2, 1
JOURNAL = Path("build/enumerated")
FIXED = (-1.5, -0.25, 0.0, 0.2, 0.4, 0.7, 1.0, 1.5, 2.25, 4.0)
KINKS_MAX = 20
DELTAS = 2  # for which epsilon is asked
AS_USERS = 6  # epsilons of each direction in one question of the public interface
TICK, PER_TICK = 0.06, 5  # seconds of the processor, in which there are fewer comparisons: a tree is left
PATIENT, PATIENT_EVERY = 3.0, 64  # seconds of the processor, and trees
LATE = "took too long"
PROGRESS = 30.0  # seconds between two lines

# What refusals are counted by.
ABOUT = (
    "needs the sensitivity under adding",
    "needs the sensitivity under replacing",
    "disagree on what neighbours are",
    "may move from a cell to another",
    "runs on data of",
    "all that a user holds may differ",
    "must be Gaussian noise",
    "(epsilon, delta)-private only",
    "its loss is not bounded",
    "holds between two data sets alone",
    "may take several of them away",
    "left: take a smaller batch",
    "size must be at most",
    "only moments are known",
)


@dataclass
class Outcome:
    """What became of one tree."""

    index: int
    checks: int = 0
    attained: int = 0
    refused: str = ""
    violations: list[str] = field(default_factory=list)
    calls: Sequence[str] = ()
    relation: str = ""
    plain: bool = False
    seconds: float = 0.0  # of the processor


class Slow(BaseException):
    """A tree takes too long."""


def epsilons(profiles: Profiles) -> list[float]:
    """Kinks, the middles between them, a little beside them, and a few anywhere."""
    kinks = profiles.kinks(KINKS_MAX)
    middles = [(one + other) / 2 for one, other in itertools.pairwise(kinks)]
    beyond = [kinks[-1] + 0.125, kinks[0] - 0.125] if kinks else []
    return sorted({round(epsilon, 9) for epsilon in (*kinks, *middles, *beyond, *FIXED) if abs(epsilon) < 30})


def judge(case: Drawn, outcome: Outcome, most: int | None = None) -> Outcome:
    """Asks the package about a tree, and compares; most: epsilons in each direction, asked as a user asks."""
    outcome.calls, outcome.relation, outcome.plain = case.tree.calls, case.relation, case.plain
    try:
        mechanism = tr.parse(case.tree.text)
        for direction in ("remove", "add") if case.relation == ADD_REMOVE else (None,):
            compare(mechanism, case, direction, outcome, most)
    except tr.InternalContradiction as error:
        outcome.violations.append(f"{error} in {case.tree.text}")
    except tr.TightropeError as error:
        outcome.refused = reason(error)
    except Slow:
        outcome.refused = LATE
    except Exception as error:
        outcome.violations.append(f"{type(error).__name__}: {error} in {case.tree.text}")
    return outcome


def compare(mechanism: tr.Mechanism, case: Drawn, direction: str | None, outcome: Outcome, most: int | None) -> None:
    """All numbers of one direction."""
    profiles = Profiles(case.algorithm, case.neighbours, direction != "add", direction != "remove")
    points = epsilons(profiles)
    source = random.Random(f"{case.tree.text}{direction}")
    source.shuffle(points)
    points = points[:most]
    asked = f"{case.tree.text}, {direction or 'replace'}"
    truth: list[Fraction] = []

    def judged(epsilon: float, bound: tr.Bound) -> None:
        below, above = profiles.largest(epsilon)
        truth.append(above)
        outcome.checks += 1
        if Fraction(bound.upper) < below:
            outcome.violations.append(f"{asked}: delta at {epsilon!r} is {bound.upper!r}, true {float(below)!r}")
        if case.plain and case.tree.shown and direction and bound.certificate and bound.certificate.tight:
            outcome.attained += 1
            if Fraction(bound.lower) > above:
                outcome.violations.append(
                    f"{asked}: tight, delta at {epsilon!r} at least {bound.lower!r}, true {float(above)!r}"
                )

    as_users = len(points) if most is not None else AS_USERS
    for epsilon, bound in without_witnesses(mechanism, points[as_users:], direction):
        judged(epsilon, bound)
    first = sorted(points[:as_users])
    for epsilon, bound in zip(first, mechanism.delta(first, direction=direction), strict=True):
        judged(epsilon, bound)
    if most is not None:
        return
    deltas = sorted({float(above) for above in truth if 1e-12 < above < Fraction(99, 100)})
    for delta in source.sample(deltas, min(DELTAS, len(deltas))):
        bound = mechanism.epsilon(delta, direction=direction)
        outcome.checks += 1
        if bound.upper < float("inf") and profiles.largest(bound.upper)[0] > Fraction(delta):
            outcome.violations.append(f"{asked}: epsilon at {delta!r} is {bound.upper!r}, which has a larger delta")


def without_witnesses(
    mechanism: tr.Mechanism, epsilons: Sequence[float], direction: str | None
) -> Iterator[tuple[float, tr.Bound]]:
    """delta at each of them, both ends those of the pairs."""
    question = Question("delta", direction=direction)
    with compute_budget.allowance(question.seconds):
        case = Case.of(mechanism, question, several=True, aim=AIM, below=False)
        # Epsilons that rise reuse what was prepared for those before, on either side of 0.
        for epsilon in sorted(epsilons, key=lambda epsilon: (epsilon < 0.0, abs(epsilon))):
            if epsilon < 0.0 and not case.mirror:
                case = case.mirrored(several=True)
            with compute_budget.part(1.0) as meter:
                yield epsilon, case.answered(Point("delta", abs(epsilon)), meter)


def reason(error: tr.TightropeError) -> str:
    """The theorem, and what a refusal is about; without the mechanism and its numbers."""
    text = str(error).replace("\n", " ")
    known = next((words for words in ABOUT if words in text), None)
    return f"{text.split(':')[0][:40]}: {known}" if known else re.sub("[0-9][0-9.e-]*", "#", text)[:120]


def load() -> None:
    """Imports all that answers need: an import that is cut short by the timer leaves half a module behind."""
    for module in pkgutil.walk_packages(core.__path__, f"{core.__name__}."):
        importlib.import_module(module.name)
    for name in ("fft", "integrate", "optimize", "signal", "special", "stats"):
        importlib.import_module(f"scipy.{name}")


def attempt(seed: int, index: int) -> Outcome:
    """One tree, unless it takes too long."""
    patient = index % PATIENT_EVERY == 0
    outcome, before, began = Outcome(index), 0, time.process_time()

    def late(number: int, frame: FrameType | None) -> None:
        nonlocal before
        if patient or outcome.checks < before + PER_TICK:
            raise Slow
        before = outcome.checks

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, PATIENT if patient else TICK, TICK)
    try:
        case = drawn(seed, index)
        if case is None:
            outcome.refused = "too large to list"
        else:
            judge(case, outcome)
    except Slow:
        outcome.refused = LATE
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    outcome.seconds = round(time.process_time() - began, 4)
    return outcome


def records(folder: Path, seed: int) -> Iterator[Outcome]:
    """What journals hold; the last line may be half written."""
    for path in sorted(folder.glob(f"{seed}-*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            try:
                yield Outcome(**json.loads(line))
            except (json.JSONDecodeError, TypeError):
                continue


def work(seed: int, share: int, processes: int, checks: int, folder: str, until: float) -> None:
    """Every so manieth tree, until there are enough comparisons."""
    load()
    done = {outcome.index: outcome.checks for outcome in records(Path(folder), seed)}
    total = sum(number for index, number in done.items() if index % processes == share)
    index = share
    with Path(folder, f"{seed}-{processes}-{share}.jsonl").open("a", encoding="utf-8") as journal:
        while total < checks / processes and time.time() < until:
            if index not in done:
                outcome = attempt(seed, index)
                total += outcome.checks
                journal.write(json.dumps(asdict(outcome)) + "\n")
                journal.flush()
            index += processes


def summary(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """All that a run found."""
    return {
        "trees": len(outcomes),
        "checks": sum(outcome.checks for outcome in outcomes),
        "tight": sum(outcome.attained for outcome in outcomes),
        "seconds": round(sum(outcome.seconds for outcome in outcomes)),
        "refused": dict(Counter(outcome.refused for outcome in outcomes if outcome.refused).most_common()),
        "violations": [text for outcome in outcomes for text in outcome.violations],
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--checks", type=int, default=CHECKS)
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--journal", type=Path, default=JOURNAL)
    parser.add_argument("--until", default="", help="stop at this time, HH:MM UTC")
    return parser.parse_args()


def ending(text: str) -> float:
    """The next time of the day, in seconds."""
    if not text:
        return float("inf")
    now = datetime.now(UTC)
    hour, minute = map(int, text.split(":"))
    then = now.replace(hour=hour, minute=minute, second=0)
    return then.timestamp() + (86400 if then < now else 0)


def main() -> None:
    """Runs the processes, shows how far they are, and exits with 1 where something is wrong."""
    given = arguments()
    given.journal.mkdir(parents=True, exist_ok=True)
    until = ending(given.until)
    shares = [
        multiprocessing.Process(
            target=work, args=(given.seed, share, given.processes, given.checks, str(given.journal), until)
        )
        for share in range(given.processes)
    ]
    for process in shares:
        process.start()
    while any(process.is_alive() for process in shares):
        for process in shares:
            process.join(PROGRESS / len(shares))
        outcomes = list(records(given.journal, given.seed))
        wrong = sum(len(outcome.violations) for outcome in outcomes)
        checks = sum(outcome.checks for outcome in outcomes)
        print(
            f"{checks:,} of {given.checks:,} comparisons, {len(outcomes):,} trees, {wrong} violations",
            file=sys.stderr,
            flush=True,
        )
    found = summary(list(records(given.journal, given.seed)))
    print(json.dumps(found, indent=1))
    failed = any(process.exitcode for process in shares)
    sys.exit(1 if found["violations"] or failed else 0)


if __name__ == "__main__":
    main()
