"""Five thousand questions whose answers stay, bit by bit, whatever happens to the code.

    python -m benchmarks.still compare [GROUP...]        asks again; exits with 1 if an answer moved and is not listed
    python -m benchmarks.still record [GROUP...]         asks again, and writes the answers into benchmarks/still.jsonl
    python -m benchmarks.still against REV [GROUP...]    asks this tree and that commit, in place of the record
    python -m benchmarks.still draw                      draws questions (still_questions.py) and records them

A line of still.jsonl is a question and its answer: both ends as hexadecimal floats, the engine and its arithmetic, the
error breakdown of both ends, and the units of work; or the type of a refusal and a digest of its message. There is no
clock (TIGHTROPE_CLOCK=off), and OpenBLAS takes the kernels of the record, so an answer is the same on every machine
with AVX-512 and the same versions of numpy and scipy; on others last digits differ, and `against` compares. The work
alone depends a little on what the process was asked before. Kept are questions that take less than QUICK seconds
of a core; WORKERS=n asks with n processes.

benchmarks/still_moves.toml lists what may move and why. `[words]` are renamed engines, arithmetics and error sources. A
line of `moves` is the digest of the old answer, with the question where one is meant, so that it excuses no later move.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "benchmarks" / "still.jsonl"
MOVES = ROOT / "benchmarks" / "still_moves.toml"
QUICK = 0.3  # seconds of processor time: slower questions are not kept
MORE_WORK, SMALL_WORK = 1.1, 1e7  # a ratio that is a move, and units (10 ms) that are nobody's concern
SHOWN = 40  # moves that are printed in full
# Methods of compare: what is made from moments, from rho and from advanced composition.
CLASSIC = ("moments accountant", "zCDP", "Renyi, best conversion", "subgaussian fit", "advanced composition")
# Sums of products in another order differ by last digits: the kernels that the answers were recorded with.
KERNELS = {"OPENBLAS_CORETYPE": "SkylakeX"}
Answer = dict[str, Any]


class Question(NamedTuple):
    """A method of a mechanism, or of `compare`; calibrate: the least number in place of ? for (epsilon, delta)."""

    group: str
    text: str
    quantity: str
    given: Sequence[float]
    options: dict[str, Any]

    @property
    def name(self) -> str:
        arguments = [*map(repr, self.given), *(f"{key}={value!r}" for key, value in self.options.items())]
        return f"{self.text}.{self.quantity}({', '.join(arguments)})"


def digest(answer: Answer) -> str:
    """Of all but the work."""
    kept = {key: value for key, value in answer.items() if key not in ("work", "seconds")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:10]


# A process that answers.


class TooSlow(BaseException):
    """A question that is not kept; no Exception, so that no answer is made of what there is."""


def serve(seconds: float | None) -> None:
    """Answers the questions that come in, one a line, until there is none; gives up on one after so many seconds."""
    from tightrope.core.values.compute_budget import tally

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooSlow

    def answer(question: Question) -> Answer:
        with tally() as done:
            try:
                bound = asked(question)
            except Exception as refusal:  # a crash is an answer that moved, and the next question is asked
                told = hashlib.sha256(str(refusal).encode()).hexdigest()[:10]
                return {"refused": type(refusal).__name__, "message": told, "work": round(done.units)}
        found: Answer = {"ends": [bound.lower.hex(), bound.upper.hex()], "work": round(done.units)}
        if bound.certificate is None:
            return found
        certificate = bound.certificate
        above, below = (
            {source: size.hex() for source, size in side.items() if size}
            for side in (certificate.budget.upper, certificate.budget.lower)
        )
        # Most answers take as much away below as they add above.
        breakdown = {"errors": above} if above == below else {"above": above, "below": below}
        return {**found, "by": f"{certificate.engine} {certificate.arithmetic}", **breakdown}

    signal.signal(signal.SIGVTALRM, stop)
    for line in sys.stdin:
        question, began = Question(*json.loads(line)), time.process_time()
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds or 0.0)
            reply = answer(question)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        except TooSlow:
            reply = {"slow": True}
        print(json.dumps({**reply, "seconds": time.process_time() - began}), flush=True)


def asked(question: Question) -> Any:
    """The Bound."""
    import tightrope as tr

    if question.quantity == "calibrate":
        epsilon, delta = question.given
        found = tr.calibrate(
            lambda size: tr.parse(question.text.replace("?", repr(size))),
            epsilon=epsilon,
            delta=delta,
            **question.options,
        )
        return tr.Bound(found.value, found.value)
    run = density(question.text) if question.text.startswith("Density()") else tr.parse(question.text)
    if question.quantity in CLASSIC:
        rows = tr.compare(run, delta=question.given[0], methods=question.quantity).rows
        return tr.Bound(0.0, rows[0].value)
    return getattr(run, question.quantity)(*question.given, **question.options)


def density(text: str) -> Any:
    """No text can hold a density, so one stands for all: Density() * 3, Density().poisson(rate=0.1) * 3."""
    from flint import arb

    import tightrope as tr

    def bump(centre: float) -> Callable[[Any], Any]:
        return lambda x: -((x - arb(centre)) ** 2) / 2 - (2 * arb.pi()).log() / 2

    one = tr.Density(log_p=bump(0.5), log_q=bump(0.0), support=(-6.0, 6.5))
    first, count = text.split(" * ")
    rate = first.removeprefix("Density()").removeprefix(".poisson(rate=").removesuffix(")")
    return (one.poisson(rate=float(rate)) if rate else one) * int(count)


class Server:
    """A process that answers with the package of one tree."""

    def __init__(self, tree: Path, seconds: float | None = None) -> None:
        settings = {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1", "TIGHTROPE_CLOCK": "off", **KERNELS}
        command = [sys.executable, "-m", "benchmarks.still", "serve", *([] if seconds is None else [str(seconds)])]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **settings}, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, question: Question) -> Answer:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        found: Answer = json.loads(self._process.stdout.readline())
        return found

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def answers(tree: Path, questions: Sequence[Question], seconds: float | None = None) -> list[Answer]:
    """Of a tree, in order: each worker has its own share of the questions."""
    workers = int(os.environ.get("WORKERS", "1"))

    def share(index: int) -> list[Answer]:
        server, found = Server(tree, seconds), []
        for question in questions[index::workers]:
            found.append(server.ask(question))
            if index == 0 and len(found) % 200 == 0:
                print(f"{workers * len(found)} of {len(questions)}", file=sys.stderr, flush=True)
        server.close()
        return found

    with ThreadPoolExecutor(workers) as pool:
        shares = list(pool.map(share, range(workers)))
    return [shares[index % workers][index // workers] for index in range(len(questions))]


# The record.


def recorded(groups: Sequence[str] = ()) -> list[tuple[Question, Answer]]:
    """The questions with their recorded answers; all groups where none is named."""
    rows = [json.loads(line) for line in RECORD.read_text("utf-8").splitlines()]
    return [(Question(*row[:-1]), row[-1]) for row in rows if not groups or row[0] in groups]


def write(rows: Sequence[tuple[Question, Answer]]) -> None:
    kept = ([*question, {key: x for key, x in answer.items() if key != "seconds"}] for question, answer in rows)
    lines = (json.dumps(row, separators=(",", ":"), ensure_ascii=False) for row in kept)
    RECORD.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def record(groups: Sequence[str]) -> None:
    """Asks the recorded questions anew, all of them or these groups."""
    rows = recorded()
    chosen = [question for question, _ in rows if not groups or question.group in groups]
    fresh = iter(answers(ROOT, chosen))
    write([(question, next(fresh) if not groups or question.group in groups else old) for question, old in rows])


def draw() -> None:
    """Draws questions, leaves out those that take long, and records the others; says how many."""
    from benchmarks.still_questions import drawn

    questions = list(drawn())
    print(f"{len(questions)} drawn", flush=True)
    tried = zip(questions, answers(ROOT, questions, QUICK), strict=True)
    rows = [row for row in tried if row[1]["seconds"] < QUICK and "slow" not in row[1]]
    write(rows)
    print(f"{len(rows)} kept, answered in {sum(answer['seconds'] for _, answer in rows):.0f} s")
    for group, count in Counter(question.group for question, _ in rows).items():
        print(f"{count:>6} {group}")


# Two answers.


def ends(answer: Answer) -> tuple[float, float]:
    low, high = map(float.fromhex, answer["ends"])
    return low, high


def ratio(new: float, old: float) -> float:
    """1 where both are nothing, or both without end."""
    if new == old:
        return 1.0
    return new / old if old else float("inf")


def difference(old: Answer, new: Answer, words: Mapping[str, str]) -> tuple[str, str] | None:
    """What kind of move this is, and how far; None where the answer stays."""
    if "refused" in old or "refused" in new:
        before, after = (answer.get("refused", "answered") for answer in (old, new))
        if before != after:
            now = f" [{', '.join(map(repr, ends(new)))}]" if "ends" in new else ""
            was = f" [{', '.join(map(repr, ends(old)))}]" if "ends" in old else ""
            return "refusal", f"{before}{was}, now {after}{now}"
        return None if old["message"] == new["message"] else ("message", f"{before}, in other words")
    effort = ratio(new["work"], old["work"])
    if old["ends"] != new["ends"]:
        (low, high), (lower, upper) = ends(old), ends(new)
        meets = "meets it" if lower <= high and low <= upper else "DISJOINT"
        wider = ratio(upper - lower, high - low)
        text = f"[{low!r}, {high!r}], now [{lower!r}, {upper!r}]: {meets}, width x {wider:.4g}, work x {effort:.4g}"
        return "interval", text
    before, after = ([words.get(word, word) for word in answer.get("by", "").split()] for answer in (old, new))
    if before != after:
        return "engine", f"{old.get('by')}, now {new.get('by')}"
    if renamed(old, words) != renamed(new, words):
        return "breakdown", "other error breakdown"
    if effort > MORE_WORK and new["work"] > SMALL_WORK:
        return "work", f"work x {effort:.4g}"
    return None


def renamed(answer: Answer, words: Mapping[str, str]) -> list[dict[str, str]]:
    sides = [answer.get(side, {}) for side in ("errors", "above", "below")]
    return [{words.get(source, source): size for source, size in side.items()} for side in sides]


class Listed(NamedTuple):
    """What may move: by the digest of the old answer, alone or with the question."""

    words: Mapping[str, str]
    reasons: Mapping[str, str]

    def reason(self, question: Question, old: Answer) -> str | None:
        key = digest(old)
        return self.reasons.get(f"{key} {question.name}") or self.reasons.get(key)


def listed() -> Listed:
    moves = tomllib.loads(MOVES.read_text("utf-8"))
    reasons = {line: entry["reason"] for entry in moves.get("moved", []) for line in entry["moves"]}
    return Listed(moves.get("words", {}), reasons)


def judge(rows: Sequence[tuple[Question, Answer, Answer]]) -> int:
    """Prints what moved, from the old answer to the new one; how many of these are not listed."""
    allowed, kinds, excused = listed(), Counter[str](), Counter[str]()
    open_moves: list[tuple[str, str]] = []
    for question, old, new in rows:
        found = difference(old, new, allowed.words)
        if found is None:
            continue
        kinds[found[0]] += 1
        reason = allowed.reason(question, old)
        if reason is None:
            open_moves.append((f"{digest(old)} {question.name}", f"{found[0]}: {found[1]}"))
        else:
            excused[reason] += 1
    for line, what in open_moves[:SHOWN]:
        print(f"{line}\n    {what}")
    if len(open_moves) > SHOWN:
        print(f"... and {len(open_moves) - SHOWN} more")
    moved = sum(kinds.values())
    work = [sum(answer["work"] for answer in side) for side in ([x[1] for x in rows], [x[2] for x in rows])]
    told = f" ({', '.join(f'{count} {kind}' for kind, count in kinds.most_common())})" if moved else ""
    print(f"{len(rows)} questions: {len(rows) - moved} stay, {moved} moved{told}; work x {ratio(work[1], work[0]):.4f}")
    for reason, count in excused.most_common():
        print(f"{count:>6} listed: {reason}")
    print(f"{len(open_moves):>6} not listed in {MOVES.name}")
    return len(open_moves)


def compare(groups: Sequence[str]) -> int:
    """This tree and the record."""
    processor = Path("/proc/cpuinfo")
    if not (processor.exists() and "avx512f" in processor.read_text("utf-8")):
        print("no AVX-512 here: last digits differ from the record; use `against REV`", file=sys.stderr)
    rows = recorded(groups)
    fresh = answers(ROOT, [question for question, _ in rows])
    return judge([(question, old, new) for (question, old), new in zip(rows, fresh, strict=True)])


def against(revision: str, groups: Sequence[str]) -> int:
    """This tree and that commit, with the processor time of both."""
    other = ROOT / "build" / "still" / revision
    if not other.exists():
        subprocess.run(["git", "-C", str(ROOT), "worktree", "add", "--detach", str(other), revision], check=True)
    questions = [question for question, _ in recorded(groups)]
    before, after = answers(other, questions), answers(ROOT, questions)
    print(f"{'group':<26} {'asked':>5} {'before':>9} {'after':>9}  median ms; ratio of sums")
    for group in dict.fromkeys(question.group for question in questions):
        places = [index for index, question in enumerate(questions) if question.group == group]
        old, new = ([side[index]["seconds"] for index in places] for side in (before, after))
        middles = f"{1e3 * statistics.median(old):>9.2f} {1e3 * statistics.median(new):>9.2f}"
        print(f"{group:<26} {len(places):>5} {middles}  {sum(new) / sum(old):.3f}")
    return judge(list(zip(questions, before, after, strict=True)))


def main() -> None:
    match sys.argv[1:]:
        case ["record", *groups]:
            record(groups)
        case ["compare", *groups]:
            sys.exit(1 if compare(groups) else 0)
        case ["against", revision, *groups]:
            sys.exit(1 if against(revision, groups) else 0)
        case ["draw"]:
            draw()
        case ["serve", *seconds]:
            serve(float(seconds[0]) if seconds else None)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
