"""The questions that benchmarks/still.py holds still: drawn from fixed seeds and from what the tree knows already.

Plain noise and the zoo, every engine by name; the fuzz and its trees; the conformance table; the cases that other
libraries are asked; the texts of the pages; two transformations on several bases; every reading. The same in every run.
"""

from __future__ import annotations

import ast
import itertools
import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tightrope as tr
from benchmarks import fuzz
from benchmarks.peers.case import cases
from benchmarks.still import CLASSIC, ROOT, Question
from benchmarks.trees import known

VECTORS = ROOT / "tests" / "reference" / "vectors.json"
SEED = 2018
FUZZED, TREES = 500, 300

LEAVES = (
    "Gaussian(sigma={size})",
    "Gaussian(sigma={size}, sensitivity=2.5)",
    "GDP(mu=1/{size})",
    "Laplace(scale={size})",
    "DiscreteGaussian(sigma={size})",
    "DiscreteGaussian(sigma={size}, sensitivity=3)",
    "DiscreteLaplace(scale={size}, sensitivity=2)",
    "RandomizedResponse(p=0.5 + 0.2/(1 + {size}), neighbours='add_remove')",
    "RandomizedResponse(epsilon=1/{size}, categories=5, neighbours='add_remove')",
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
    "RandomizedResponse(channel=[[0.75, 0.25, 0], [0.25, 0.5, 0.25], [0, 0.25, 0.75]], neighbours='add_remove')",
    (
        "RandomizedResponse(channel=[[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.0625, 0.8125]], "
        "neighbours='add_remove')"
    ),
    "SubsetSelection(epsilon=1/{size}, categories=16, size=4, neighbours='add_remove')",
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
ENGINES = ("closed_form", "hits", "contour", "lattice", "joint", "buckets")


def log_uniform(source: random.Random, low: float, high: float) -> float:
    """Log-uniform, to three digits: text that people would write."""
    return float(f"{low * (high / low) ** source.random():.3g}")


def leaf(source: random.Random, low: float = 0.5, high: float = 30.0) -> str:
    """One mechanism of any kind."""
    return source.choice(LEAVES).format(size=log_uniform(source, low, high))


def asked(source: random.Random, group: str, text: str, **options: Any) -> Question:
    """A question about it, of either kind."""
    if options.get("direction", 0) is None:
        del options["direction"]
    if source.random() < 0.5:
        return Question(group, text, "epsilon", [log_uniform(source, 1e-15, 1e-2)], options)
    return Question(group, text, "delta", [log_uniform(source, 1e-3, 10.0)], options)


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


def plain() -> Iterator[Question]:
    """What people ask, and every engine by name."""
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
        yield Question("corners", text, "epsilon", [delta], {"proof": index % 10 == 0})
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
        yield from (Question("classic", text, name, [1e-6], {}) for name in CLASSIC)
    for index in range(80):
        text, order = mix(source, 1 + index % 2), log_uniform(source, 0.1, 200.0)
        options = {"direction": DIRECTIONS[index % 3]} if index % 3 else {}
        yield Question("renyi", text, "renyi", [order], options)


def zoo() -> Iterator[Question]:
    """Each mechanism of the zoo alone, in many samples, and beside others; drawn for itself, as it came later."""
    source = random.Random(SEED)
    for index, text in enumerate(ZOO):
        one = text.format(size=log_uniform(source, 0.5, 30.0))
        rate, count = log_uniform(source, 1e-3, 0.9), round(log_uniform(source, 2, 1e4))
        options = [{"direction": direction, "proof": index % 2 == 0} for direction in (*DIRECTIONS, *DIRECTIONS)]
        yield asked(source, "zoo", one, **options[index % 3])
        yield asked(source, "zoo", f"{one}.poisson(rate={rate}) * {count}", **options[index % 3 + 1])
        yield asked(source, "zoo", f"{one} * {count} + {mix(source, 1)}", direction=DIRECTIONS[(index + 2) % 3])


def drawn() -> Iterator[Question]:
    """All of them, group by group, each once; options that change nothing are left out."""
    names = set()
    groups = (vectors(), plain(), zoo(), fuzzed(), table(), peers(), pages(), two_deep(), readings())
    for question in itertools.chain(*groups):
        options = {name: value for name, value in question.options.items() if value not in (None, False)}
        plainly = question._replace(options=options)
        if plainly.name not in names:
            names.add(plainly.name)
            yield plainly


def vectors() -> Iterator[Question]:
    """The reference vectors, in both directions."""
    for vector in json.loads(VECTORS.read_text("utf-8"))["vectors"]:
        text, delta = vector["expression"], [float(vector["delta"])]
        for direction, proof in itertools.product(DIRECTIONS, (False, True)):
            yield Question("vectors", text, "epsilon", delta, {"direction": direction, "proof": proof})


# What the tree knows already.


def fuzzed() -> Iterator[Question]:
    """The first questions of the fuzz, a fifth of them with proof, and the engines that it asks besides."""
    for name, source, count in (("fuzz", fuzz.drawn, FUZZED), ("fuzz trees", fuzz.planted, TREES)):
        for index, case in enumerate(itertools.islice(source(fuzz.SEED), count)):
            yield Question(name, repr(case.mechanism), "epsilon", [case.delta], {"proof": index % 5 == 0})
            for engine in case.others:
                yield Question(name, repr(case.mechanism), "epsilon", [case.delta], {"engine": engine})


def table() -> Iterator[Question]:
    """Every row of the conformance table at each of its rates, in both directions, with proof and without."""
    from tests.conformance.cases import FEW_RATES, ROWS

    source = random.Random(SEED)
    for row, rate, direction in itertools.product(ROWS, FEW_RATES, DIRECTIONS[1:]):
        if isinstance(row.mechanism, tr.Density):
            continue
        text = repr(row.mechanism if rate == 1.0 else row.mechanism.poisson(rate=rate))
        for proof in (False, True):
            yield asked(source, "conformance table", text, direction=direction, proof=proof)
        composed = f"{text} * {round(log_uniform(source, 2, 300))}"
        question = asked(source, "conformance table", composed, direction=direction)
        if rate == 1.0:
            yield question


def peers() -> Iterator[Question]:
    """The cases of benchmarks/peers: as they are asked there, with proof, and in each direction."""
    for case in cases().values():
        for options in ({}, {"proof": True}, {"direction": "remove"}, {"direction": "add"}):
            match case.question:
                case "sigma":
                    given, quantity = [case.epsilon, case.delta], "calibrate"
                case "tpr":
                    given, quantity = [case.alpha], "tpr"
                case "advantage":
                    given, quantity = [], "advantage"
                case _:
                    given, quantity = [case.delta], "epsilon"
            yield Question("peers", case.expression, quantity, given, dict(options))


def pages() -> Iterator[Question]:
    """Every mechanism that a block of a page writes, as text or in Python."""
    source, texts = random.Random(SEED), dict[str, None]()
    for page in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        texts.update(dict.fromkeys(written(page)))
    for index, text in enumerate(texts):
        yield Question("pages", text, "epsilon", [1e-6], {"proof": index % 4 == 3})
        yield asked(source, "pages", text, direction=DIRECTIONS[index % 3])


def written(page: Path) -> Iterator[str]:
    """The mechanisms that the blocks of a page write."""
    from handbook.blocks import blocks, commands

    for block in blocks(page.read_text("utf-8")):
        if block.language == "console":
            for command in commands(block.body):
                yield from filter(known, command.words)
        if block.language == "python" and block.runs:
            for node in ast.walk(ast.parse(block.shown)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield from filter(known, [node.value])
                elif isinstance(node, ast.Call | ast.BinOp):
                    yield from filter(known, [ast.unparse(node).replace("tr.", "")])


# Two transformations.

BASES = (
    "Gaussian(sigma=2)",
    "Laplace(scale=3)",
    "DiscreteGaussian(sigma=3)",
    "RandomizedResponse(p=0.7)",
    "RandomizedResponse(p=0.7, neighbours='add_remove')",
    "PureDP(epsilon=0.4)",
    "Finite(p=[0.1, 0.2, 0.3, 0.4], q=[0.4, 0.3, 0.2, 0.1])",
)
CALLS = (
    "{0}.poisson(rate=0.05)",
    "{0}.poisson(rate=0.05, neighbours='replace')",
    "{0}.without_replacement(batch=10, records=1000)",
    "{0}.without_replacement(batch=10, records=1000, neighbours='add_remove')",
    "{0}.with_replacement(batch=10, records=1000)",
    "{0}.truncated_poisson(rate=0.05, cap=80, records=1000)",
    "{0}.random_allocation(steps=20)",
    "{0}.shuffled_batches(steps=20)",
    "{0}.shuffle(users=1000)",
    "{0}.group(size=2)",
    "{0}.best_of(law='geometric', mean=4)",
    "parallel({0}, Laplace(scale=4))",
    "({0} * 3)",
    "({0} + Exponential(epsilon=0.1))",
)


def two_deep() -> Iterator[Question]:
    """Each transformation of each transformation: an answer, or the refusal."""
    source = random.Random(SEED)
    for index, (base, inner, outer) in enumerate(itertools.product(BASES, CALLS, CALLS)):
        text = outer.format(inner.format(base))
        yield asked(source, "two deep", text, direction=DIRECTIONS[index % 3 if index % 2 else 0])


# Everything that can be read off.

READINGS: tuple[tuple[str, tuple[tuple[float, ...], ...]], ...] = (
    ("delta", ((-0.5,), (0.0,), (2.0,))),
    ("renyi", ((1.0,), (2.0,), (17.5,))),
    ("mean_loss", ((),)),
    ("loss_cdf", ((0.2,), (-1.0,))),
    ("loss_quantile", ((0.5,), (0.999,))),
    ("pdp", ((0.5,),)),
    ("tradeoff", ((0.01,), (0.3,))),
    ("tpr", ((0.001,), (0.1,))),
    ("advantage", ((),)),
    ("total_variation", ((),)),
    ("bayes_accuracy", ((0.1,), (0.5,))),
    ("posterior", ((0.5, 0.01),)),
    ("reconstruction", ((0.001,),)),
    ("gdp", ((0.0,), (1e-6,))),
    ("zcdp", ((math.inf,), (64.0,))),
)
READ = (
    "Gaussian(sigma=2)",
    "Gaussian(sigma=1).poisson(rate=0.01) * 1000",
    "Gaussian(sigma=2) * 10 + Laplace(scale=8) * 5",
    "Laplace(scale=3)",
    "Laplace(scale=3) * 20",
    "Laplace(scale=1).poisson(rate=0.1) * 30",
    "DiscreteGaussian(sigma=3) * 4",
    "DiscreteLaplace(scale=3) * 4",
    "RandomizedResponse(p=0.51) * 512",
    "PureDP(epsilon=0.1) * 10",
    "ApproximateDP(epsilon=0.3, delta=1e-5) * 4",
    "Exponential(epsilon=0.5) * 3",
    "Finite(p=[0.5, 0.25, 0.25, 0.0], q=[0.25, 0.5, 0.125, 0.125])",
    "Skellam(variance=16, sensitivity=2) * 3",
    "TruncatedGaussian(sigma=2, bounds=[-9, 9])",
    "GaussianMixture(sigma=2, shifts=[0, 1, 2], weights=[0.25, 0.5, 0.25]) * 5",
    "SparseVector(threshold_scale=4, query_scale=8, answers=2)",
    "ZCDP(rho=0.1)",
    "RenyiCurve(orders=[2, 8], divergences=[0.1, 0.5])",
    "PureDP(epsilon=1).shuffle(users=1000)",
    "Gaussian(sigma=4).random_allocation(steps=10)",
    "Laplace(scale=4).group(size=3)",
    "Gaussian(sigma=2).without_replacement(batch=10, records=1000) * 50",
    "PureDP(epsilon=0.1).best_of(law='geometric', mean=10)",
)


def readings() -> Iterator[Question]:
    """Each reading of each kind of mechanism, some with proof or in one direction."""
    points = ((quantity, given) for quantity, many in READINGS for given in many)
    for index, ((quantity, given), text) in enumerate(itertools.product(points, READ)):
        options = {"proof": True} if index % 3 == 1 else {"direction": DIRECTIONS[1 + index % 2]} if index % 3 else {}
        yield Question("readings", text, quantity, list(given), options)
