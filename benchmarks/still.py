"""A thousand questions whose answers are to stay where they are, whatever happens to the code.

    still.py record [GROUP...]        asks every question once and writes benchmarks/still.json; other groups stay
    still.py compare [GROUP...]       asks again: exits with 1 where an answer left its record (overlap, truth, width)
    still.py against REV [GROUP...]   times both, question by question in turn, this tree and that commit

All engines, both directions, every mechanism that text can hold, proof and not, the corners of the fuzz. An answer
holds still where it overlaps the recorded one, contains the truth where that is known (tests/reference), and is at
most 1 % wider, unless it is narrower than 1e-9 of its upper end. Times are processor time, a process for each tree,
both asked the same question in turn REPEATS times; a group's time is the median over its questions of the medians.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
RECORD = HERE / "still.json"
VECTORS = HERE.parent / "tests" / "reference" / "vectors.json"
SEED, REPEATS, SLOW = 2018, 5, 1.0  # what takes longer than SLOW seconds is timed once
WIDER, NARROW = 1.01, 1e-9
FIRSTS = 9  # new processes, for the time of the first answer

LEAVES = (
    "Gaussian(sigma={size})",
    "Gaussian(sigma={size}, sensitivity=2.5)",
    "GDP(mu=1/{size})",
    "Laplace(scale={size})",
    "DiscreteGaussian(sigma={size})",
    "DiscreteGaussian(sigma={size}, sensitivity=3)",
    "DiscreteLaplace(scale={size}, sensitivity=2)",
    "RandomizedResponse(p=0.5 + 0.2/(1 + {size}))",
    "RandomizedResponse(epsilon=1/{size}, categories=5)",
    "PureDP(epsilon=1/{size})",
    "ApproximateDP(epsilon=1/{size}, delta=1e-9)",
    "Exponential(epsilon=1/{size})",
    "Finite(p=[0.5, 0.25, 0.25, 0.0], q=[0.25, 0.5, 0.125, 0.125])",
    "Finite(p=[0.1, 0.2, 0.3, 0.4], q=[0.4, 0.3, 0.2, 0.1])",
    "Histograms(a=[900, 100, 3], b=[880, 120, 3])",
    "Histograms(a=[900, 100], b=[880, 120], confidence=0.95)",
    "TruncatedGaussian(sigma={size}, bounds=[-9, 9])",
    "TruncatedGaussian(sigma={size}, bounds=[-9, 9], mode='clamp')",
    "TruncatedLaplace(scale={size}, bounds=[-9, 9])",
    "TruncatedLaplace(scale={size}, bounds=[-9, 9], integer=True)",
)
ZOO = (  # what deployments add to plain noise
    "GaussianVariance(sigma1=1 + 1/{size}, sigma2=1)",
    "GaussianVariance(sigma1=1, sigma2=1 + 1/{size})",
    "GaussianMixture(sigma={size}, shifts=[0, 1, 2], weights=[0.25, 0.5, 0.25])",
    "GaussianMixture(sigma=2*{size}, shifts=[0, 0.5, 3], weights=[0.98, 0.015, 0.005])",
    "Skellam(variance={size}**2, sensitivity=2)",
    "BinomialNoise(trials=1000)",
    "BinomialNoise(trials=64, sensitivity=3)",
    "Staircase(epsilon=1/{size})",
    "Staircase(epsilon=1/{size}, gamma=0.25, sensitivity=2)",
    "RandomizedResponse(channel=[[0.75, 0.25, 0], [0.25, 0.5, 0.25], [0, 0.25, 0.75]])",
    "RandomizedResponse(channel=[[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.0625, 0.8125]])",
    "SubsetSelection(epsilon=1/{size}, categories=16, size=4)",
    "TreeAggregation(sigma=4*{size}, steps=1000)",
    "MatrixMechanism(sigma={size}, matrix=[[1, 0, 0], [0.5, 1, 0], [0.375, 0.5, 1]])",
    "NoisyMax(scale=4*{size})",
    "NoisyMax(scale={size}, noise='gumbel', monotone=True)",
    "PermuteAndFlip(epsilon=1/{size})",
    "DistanceToInstability(epsilon=1/{size}, delta=1e-9)",
    "StabilityHistogram(epsilon=1/{size}, threshold=20*{size})",
    "SparseVector(threshold_scale=2*{size}, query_scale=4*{size}, answers=2)",
    "SparseVector(threshold_scale={size}, query_scale={size}, monotone=True)",
    "GaussianSparseVector(threshold_sigma=4*{size}, query_sigma=8*{size}, queries=1000)",
    "SkellamVector(variance=100*{size}, l1=50, l2=10)",
)
DIRECTIONS = (None, "remove", "add")
# Methods of compare: what is made from moments, from rho and from advanced composition.
CLASSIC = ("moments accountant", "zCDP", "Renyi, best conversion", "subgaussian fit", "advanced composition")
ENGINES = ("closed_form", "hits", "contour", "lattice", "joint", "buckets")


class Case(NamedTuple):
    """One question: quantity is epsilon, delta or renyi, given the other number or the order."""

    group: str
    text: str
    quantity: str
    given: float
    options: dict[str, Any]
    truth: str | None = None

    @property
    def name(self) -> str:
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"{self.text}.{self.quantity}({self.given!r}{options})"


def vectors() -> Iterator[Case]:
    """The reference vectors, in both directions, with their truth."""
    for each in json.loads(VECTORS.read_text())["vectors"]:
        for direction, proof in itertools.product(("remove", "add"), (False, True)):
            if direction in each:
                options = {"direction": direction, "proof": proof}
                yield Case("vectors", each["expression"], "epsilon", float(each["delta"]), options, each[direction])
        yield Case("vectors", each["expression"], "epsilon", float(each["delta"]), {}, each["epsilon"])


def log_uniform(source: random.Random, low: float, high: float) -> float:
    """Log-uniform, to three digits: text that people would write."""
    return float(f"{low * (high / low) ** source.random():.3g}")


def leaf(source: random.Random, low: float = 0.5, high: float = 30.0) -> str:
    """One mechanism of any kind."""
    return source.choice(LEAVES).format(size=log_uniform(source, low, high))


def asked(source: random.Random, group: str, text: str, **options: Any) -> Case:
    """A question about it, of either kind."""
    if options.get("direction", 0) is None:
        del options["direction"]
    if source.random() < 0.5:
        return Case(group, text, "epsilon", log_uniform(source, 1e-15, 1e-2), options)
    return Case(group, text, "delta", log_uniform(source, 1e-3, 10.0), options)


def training(source: random.Random) -> str:
    """DP-SGD as it is run."""
    sigma, rate, count = (log_uniform(source, *ends) for ends in ((0.4, 10.0), (1e-4, 0.5), (1, 1e6)))
    return f"Gaussian(sigma={sigma}).poisson(rate={rate}) * {round(count)}"


def corner(source: random.Random) -> tuple[str, float]:
    """A sampled Gaussian of any kind, and a tiny delta."""
    sigma, rate, count = (log_uniform(source, *ends) for ends in ((1e-3, 1e6), (1e-12, 0.5), (1, 1e6)))
    rate = 1.0 - rate if source.random() < 0.25 else rate
    return f"Gaussian(sigma={sigma}).poisson(rate={rate!r}) * {round(count)}", log_uniform(source, 1e-60, 1e-2)


def mix(source: random.Random, parts: int, most: float = 1e3) -> str:
    """Several parts, some of them sampled, each some times."""
    written = []
    for _ in range(parts):
        sampled = f".poisson(rate={log_uniform(source, 1e-3, 0.9)})" if source.random() < 0.3 else ""
        written.append(f"{leaf(source)}{sampled} * {round(log_uniform(source, 1.0, most))}")
    return " + ".join(written)


def suited(source: random.Random, engine: str, index: int) -> str:
    """What an engine that is insisted on mostly can answer."""
    if engine == "hits":
        sigma, rate = log_uniform(source, 0.02, 2.0), log_uniform(source, 1e-7, 1e-3)
        return f"Gaussian(sigma={sigma}).poisson(rate={rate}) * {round(log_uniform(source, 1, 50))}"
    if engine == "joint":
        return f"({mix(source, 2, 3.0)}).poisson(rate={log_uniform(source, 1e-3, 1)}) * {1 + index % 3}"
    if engine == "closed_form":
        return f"{leaf(source)} + RandomizedResponse(p=0.6) * {1 + index}"
    if engine == "buckets" or index % 3:
        return mix(source, 1 + index % 2, 300.0)
    return training(source)


def drawn() -> Iterator[Case]:
    """The cases, group by group; the same in every run."""
    yield from vectors()
    source = random.Random(SEED)
    for text, direction, proof in itertools.product(LEAVES, DIRECTIONS, (False, True)):
        one = text.format(size=log_uniform(source, 0.1, 100.0))
        yield asked(source, "one use", one, direction=direction, proof=proof)
        rate = log_uniform(source, 1e-6, 1.0)
        yield asked(source, "one sampled use", f"{one}.poisson(rate={rate})", direction=direction, proof=proof)
    for text, direction in itertools.product(LEAVES, DIRECTIONS):
        one, count = text.format(size=log_uniform(source, 1.0, 100.0)), round(log_uniform(source, 2, 1e4))
        yield asked(source, "many uses", f"{one} * {count}", direction=direction)
    for index in range(150):
        yield asked(source, "training", training(source), direction=DIRECTIONS[index % 3], proof=index % 5 == 0)
    for index in range(120):
        text, delta = corner(source)
        yield Case("corners", text, "epsilon", delta, {"proof": index % 10 == 0})
    for index in range(110):
        yield asked(source, "mixes", mix(source, 2 + index % 4), direction=DIRECTIONS[index % 3])
    for index in range(40):
        inner = mix(source, 1 + index % 2, 3.0)
        yield asked(source, "one sample for several", f"({inner}).poisson(rate={log_uniform(source, 1e-3, 1)})")
    for index, engine in itertools.product(range(24), ENGINES):
        options = {
            "engine": engine,
            "direction": DIRECTIONS[index % 3],
            "proof": index % 4 == 3 and engine != "buckets",
        }
        yield asked(source, f"engine {engine}", suited(source, engine, index), **options)
    for index in range(16):
        text = f"Density() * {1 + index}" if index % 2 else f"Density().poisson(rate=0.0{index + 1}) * {10 * index + 1}"
        yield asked(source, "densities", text, direction=DIRECTIONS[index % 3], proof=index % 5 == 4)
    for index in range(6):
        text = (training(source), mix(source, 2), mix(source, 1))[index % 3]
        yield from (Case("classic", text, name, 1e-6, {}) for name in CLASSIC)
    for index in range(80):
        text, order = mix(source, 1 + index % 2), log_uniform(source, 0.1, 200.0)
        options = {"direction": DIRECTIONS[index % 3]} if index % 3 else {}
        yield Case("renyi", text, "renyi", order, options)

    yield from zoo()


def zoo() -> Iterator[Case]:
    """Each mechanism of the zoo alone, in many samples, and beside others; drawn for itself, as it came later."""
    source = random.Random(SEED)
    for index, text in enumerate(ZOO):
        one = text.format(size=log_uniform(source, 0.5, 30.0))
        rate, count = log_uniform(source, 1e-3, 0.9), round(log_uniform(source, 2, 1e4))
        options = [{"direction": direction, "proof": index % 2 == 0} for direction in (*DIRECTIONS, *DIRECTIONS)]
        yield asked(source, "zoo", one, **options[index % 3])
        yield asked(source, "zoo", f"{one}.poisson(rate={rate}) * {count}", **options[index % 3 + 1])
        yield asked(source, "zoo", f"{one} * {count} + {mix(source, 1)}", direction=DIRECTIONS[(index + 2) % 3])


def serve() -> None:
    """Answers the questions that come in, one a line, until there is none."""
    from flint import arb

    import tightrope as tr
    from tightrope import work

    # What a question may take is counted in processor time: other work on the machine moves no answer.
    work.monotonic = time.process_time

    def bump(centre: float) -> Callable[[Any], Any]:
        return lambda x: -((x - arb(centre)) ** 2) / 2 - (2 * arb.pi()).log() / 2

    # No text can hold a density, so one stands for all: made once, as its user would.
    density = tr.Density(log_p=bump(0.5), log_q=bump(0.0), support=(-6.0, 6.5))

    def run(text: str) -> tr.Mechanism:
        if not text.startswith("Density()"):
            return tr.parse(text)
        first, count = text.split(" * ")
        rate = first.removeprefix("Density()").removeprefix(".poisson(rate=").removesuffix(")")
        return (density.poisson(rate=float(rate)) if rate else density) * int(count)

    def asked(case: Case) -> tr.Bound:
        if case.quantity not in CLASSIC:
            found: tr.Bound = getattr(run(case.text), case.quantity)(case.given, **case.options)
            return found
        rows = tr.compare(run(case.text), delta=case.given, methods=case.quantity).rows
        return tr.Bound(0.0, rows[0].value)

    def answer(case: Case) -> dict[str, Any]:
        began = time.process_time()
        try:
            bound = asked(case)
        except tr.TightropeError as refusal:
            return {"error": type(refusal).__name__, "seconds": time.process_time() - began}
        seconds, certificate = time.process_time() - began, bound.certificate
        found = {"lower": bound.lower, "upper": bound.upper, "seconds": seconds}
        return found if certificate is None else {**found, "by": f"{certificate.engine} {certificate.arithmetic}"}

    for line in sys.stdin:
        print(json.dumps(answer(Case(*json.loads(line)))), flush=True)


class Server:
    """A process that answers with the package of one tree."""

    def __init__(self, tree: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(Path(__file__).resolve()), "serve"]
        self._process = subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, case: Case) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(case), file=self._process.stdin, flush=True)
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def relative(row: dict[str, Any]) -> float:
    """Width over the upper end."""
    width = float(row["upper"]) - float(row["lower"])
    return width / float(row["upper"]) if width > 0.0 else 0.0


def faults(case: Case, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a new answer, beside the recorded one."""
    if "error" in new or "error" in old:
        if new.get("error") != old.get("error") and "error" in new:
            yield f"was answered, and is refused: {new['error']}"
        return
    if case.group == "classic":  # an upper bound alone
        if new["upper"] > WIDER * old["upper"]:
            yield f"was {old['upper']!r}, now {new['upper']!r}"
        return
    if new["lower"] > old["upper"] or old["lower"] > new["upper"]:
        yield f"disjoint: {old['lower']!r}, {old['upper']!r} and {new['lower']!r}, {new['upper']!r}"
    if case.truth is not None and not contains(new, case.truth):
        yield f"does not contain {case.truth}: {new['lower']!r}, {new['upper']!r}"
    widths = relative(old), relative(new)
    if widths[1] > NARROW and not widths[1] <= WIDER * widths[0]:
        yield f"wider: {widths[0]:.3g}, now {widths[1]:.3g} ({old.get('by')}, {new.get('by')})"


def contains(row: dict[str, Any], truth: str) -> bool:
    """Whether the interval contains the decimal, which is rounded in its last digit."""
    from decimal import Decimal

    last = Decimal((0, (1,), int(Decimal(truth).as_tuple().exponent)))
    return bool(Decimal(row["lower"]) <= Decimal(truth) + last and Decimal(truth) - last <= Decimal(row["upper"]))


def record(groups: Sequence[str]) -> None:
    """Asks everything once, in this tree, or these groups alone."""
    kept = [[*case, old] for case, old in recorded(()) if case.group not in groups] if groups else []
    server, rows, total = Server(HERE.parent), kept, 0.0
    for index, case in enumerate(case for case in drawn() if not groups or case.group in groups):
        found = server.ask(case)
        rows.append([*case, found])
        total += found["seconds"]
        if index % 50 == 49:
            print(f"{index + 1} asked, {total:.0f} s", file=sys.stderr, flush=True)
    server.close()
    RECORD.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def recorded(groups: Sequence[str]) -> list[tuple[Case, dict[str, Any]]]:
    """The questions with their recorded answers; all groups where none is named."""
    rows = [(Case(*row[:-1]), row[-1]) for row in json.loads(RECORD.read_text())]
    return [row for row in rows if not groups or row[0].group in groups]


def compare(groups: Sequence[str]) -> int:
    """Asks again; how many answers did not hold still."""
    server, bad = Server(HERE.parent), 0
    for case, old in recorded(groups):
        for fault in faults(case, old, server.ask(case)):
            bad += 1
            print(f"{case.group}: {case.name}: {fault}", flush=True)
    server.close()
    print(f"{len(recorded(groups))} questions, {bad} faults")
    return bad


def against(revision: str, groups: Sequence[str]) -> int:
    """Times this tree and that commit, in turn."""
    other = HERE.parent / "build" / "still" / revision
    if not other.exists():
        subprocess.run(["git", "-C", str(HERE.parent), "worktree", "add", "--detach", str(other), revision], check=True)
    servers = Server(other), Server(HERE.parent)
    times: dict[str, list[tuple[float, float]]] = {}
    bad = 0
    for case, old in recorded(groups):
        rows = [[server.ask(case) for server in servers]]
        for fault in faults(case, old, rows[0][1]):
            bad += 1
            print(f"{case.name}: {fault}", flush=True)
        if rows[0][0]["seconds"] < SLOW:
            rows = [[server.ask(case) for server in servers] for _ in range(REPEATS)]
        before, after = (statistics.median(row[side]["seconds"] for row in rows) for side in (0, 1))
        times.setdefault(case.group, []).append((before, after))
    for server in servers:
        server.close()
    print(f"{'group':<24} {'cases':>5} {'before':>9} {'after':>9}  median ms; ratio of medians, of sums")
    for group, each in times.items():
        before, after = (1e3 * statistics.median(pair[side] for pair in each) for side in (0, 1))
        sums = [sum(pair[side] for pair in each) for side in (0, 1)]
        print(f"{group:<24} {len(each):>5} {before:>9.2f} {after:>9.2f}  {after / before:.3f} {sums[1] / sums[0]:.3f}")
    firsts = [first(tree) for _ in range(FIRSTS) for tree in (other, HERE.parent)]
    print(f"first answer of a process: {statistics.median(firsts[::2]):.3f} s, {statistics.median(firsts[1::2]):.3f} s")
    return bad


def first(tree: Path) -> float:
    """Processor time of a new process until its first answer."""
    code = (
        "import time, tightrope as tr; tr.Gaussian(sigma=1).poisson(rate=.01).epsilon(1e-6); print(time.process_time())"
    )
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    return float(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout)


def main() -> None:
    """One of the three commands."""
    match sys.argv[1:]:
        case ["record", *groups]:
            record(groups)
        case ["compare", *groups]:
            sys.exit(1 if compare(groups) else 0)
        case ["against", revision, *groups]:
            sys.exit(1 if against(revision, groups) else 0)
        case ["serve"]:
            serve()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
