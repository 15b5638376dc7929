"""A hostile reader edits documents: whatever is proved of one is true of what it says then.

What it says is asked of the accountant, which shares no code with the checker; what the accountant does not read, or
refuses, means nothing, and nothing may be proved of it.
"""

from __future__ import annotations

import json
import math
import random
import re
from typing import Any

import pytest

import tightrope as tr
from tests.search import cases
from tightrope import documents
from tightrope.checker.judge import PROVED, judged
from tightrope.checker.law import NotCheckable
from tightrope.core.values.errors import TightropeError
from tightrope.result import Result

RUNS = (
    "Gaussian(sigma=2.0) * 3",
    "Laplace(scale=2.0) * 2 + PureDP(epsilon=0.5)",
    "Finite(p=(0.5, 0.3, 0.2), q=(0.2, 0.8, 0.0)) * 2",
    "RandomizedResponse(p=0.75) * 5",
    "RandomizedResponse(p=0.75, neighbours='add_remove').poisson(rate=0.25)",
    "Gaussian(sigma=1.0).poisson(rate=0.25)",
    "Gaussian(sigma=1.0).poisson(rate=0.25).group(size=2)",
    "Gaussian(sigma=1.0).without_replacement(batch=5, records=50)",
    "Laplace(scale=1.0).group(size=2)",
    "TruncatedGaussian(sigma=2.0, bounds=(-6.0, 6.0))",
    "TruncatedLaplace(scale=2.0, bounds=(-6.0, 6.0), mode='clamp')",
    "Skellam(variance=9.0)",
    "BinomialNoise(trials=40)",
    "GaussianVariance(sigma1=1.2, sigma2=1.0) * 2",
    "GaussianMixture(sigma=1.0, shifts=(0.0, 1.0), weights=(0.5, 0.5))",
    "PrivacyCurve(epsilons=(0.5, 1.0), deltas=(0.01, 0.0001))",
    "TradeoffCurve(fprs=(0.0, 0.1, 1.0), fnrs=(1.0, 0.7, 0.0))",
    "ZCDP(rho=0.1) * 2",
    "RenyiCurve(orders=(2.0, 8.0), divergences=(0.1, 0.4))",
    "Exponential(epsilon=0.5)",
    "MatrixMechanism(sigma=2.0, matrix=((1.0, 0.0), (0.5, 1.0)))",
    "Gaussian(sigma=1.0).random_allocation(steps=5)",
    "Gaussian(sigma=1.0).shuffled_batches(steps=5)",
    "PermuteAndFlip(epsilon=0.5)",
    "TreeAggregation(sigma=3.0, steps=5)",
    "training(records=100, batch=10, steps=1, sigma=1.0)",
)
QUESTIONS = (("delta", {"epsilon": 0.4}), ("epsilon", {"delta": 0.01}), ("tpr", {"fpr": 0.1}), ("advantage", {}))
NUMBERS = (
    "0", "-1.0", "1e-300", "1e300", "1000000000000000000000000000000", "2.5", "0.1", "1", "3", "1e999", "True", "0x10",
    "1_0", "1.", ".5", "\u0663", "\uff11", "None", "'1'", "(1.0,)", "1e0", "0.30000000000000004", "-0.0", "2 * 3", "1j",
)  # fmt: skip
ENDINGS = (
    ".poisson(rate=0.5)",
    ".group(size=2)",
    ".without_replacement(batch=2, records=4)",
    " * 2",
    " * 0",
    " + PureDP(epsilon=0.1)",
    ".poisson(rate=0.5, neighbours='replace')",
    " + RandomizedResponse(p=0.75)",
    " # * 9",
    "\n",
    ".poisson(rate=0.5, rate=0.9)",
    ".poisson(0.5)",
    " * (2)",
    ".with_replacement(batch=2, records=4)",
    ".shuffle(users=3)",
    ".random_allocation(steps=4)",
    ".shuffled_batches(steps=4)",
    " + Gaussian(sigma=1.0).poisson(rate=0.5)",
    ".truncated_poisson(rate=0.1, cap=4, records=20)",
    ".group(size=2).poisson(rate=0.5)",
    ".best_of(law='geometric', mean=2.0)",
)
WORDS = (
    "sigma",
    "scale",
    "epsilon",
    "rate",
    "size",
    "neighbours",
    "mode",
    "sensitivity",
    "name",
    "GAUSSIAN",
    "Gaussi\u0430n",
)
HINTS = (
    None,
    {},
    {"engine": "lattice", "parameters": {"step": 1e-300, "theta": 1e300}},
    {"engine": "lattice", "parameters": {"step": 0.5, "theta": 7.0}},
    {"engine": "contour", "parameters": {"tilt": -3.0}},
)


def edited(source: random.Random, text: str) -> str:
    """One edit, or several, of an expression."""
    for _ in range(source.choice((0, 1, 1, 2))):
        kind = source.randrange(5)
        places = [match.span() for match in re.finditer(r"(?<![\w.])\d+(\.\d+)?", text)]
        if kind <= 1 and places:
            first, last = source.choice(places)
            text = text[:first] + source.choice(NUMBERS) + text[last:]
        elif kind == 2:
            text += source.choice(ENDINGS)
        elif kind == 3:
            text = re.sub(rf"\b{source.choice(WORDS)}\b", source.choice(WORDS), text, count=1)
        else:
            text = text.replace("(", f"({source.choice(WORDS)}={source.choice(NUMBERS)}, ", 1)
    return text


def truth(document: dict[str, Any], name: str) -> tuple[float, float] | None:
    """What the accountant says of the question as it is now; None where it says nothing."""
    arguments = {key: document[key] for key in ("epsilon", "delta", "fpr") if key in document and key != name}
    try:
        run = tr.parse(document["expression"])
        bound = getattr(run, name)(*arguments.values(), direction=document["only"], seconds=1.0)
    except (TightropeError, ValueError, TypeError, OverflowError):
        return None
    return bound.lower, bound.upper


@pytest.mark.parametrize("seed", range(cases(60, 20_000)))
def test_no_false_claim_is_proved(seed: int) -> None:
    source = random.Random(seed)
    text, (quantity, given) = source.choice(RUNS), source.choice(QUESTIONS)
    run = tr.parse(text)
    bound = getattr(run, quantity)(*given.values(), seconds=1.0)
    answer = json.loads(json.dumps(documents.plain(Result(repr(run), quantity, given, bound).document())))
    factor = source.choice((1.0, 1.0, 0.5, 0.999999, 1.000001, 2.0, 1.0 + 2.0**-52))
    answer["expression"] = edited(source, answer["expression"])
    answer["certificate"] = source.choice((answer["certificate"], *HINTS))
    answer["only"] = source.choice((None, None, "add", "remove"))
    for name in given:
        answer[name] = given[name] * source.choice((1.0, 1.0, 0.5, 2.0))
    for end in ("lower", "upper"):
        if isinstance(answer[end], float):
            answer[end] *= factor
    try:
        verdicts = {each.end: each.verdict for each in judged(answer, 1.0)}
    except NotCheckable:
        return
    proved = [end for end, verdict in verdicts.items() if verdict == PROVED]
    if not proved:
        return
    known = truth(answer, quantity)
    if re.search(r"e-?300|10{20}", answer["expression"]):
        return  # beyond what the accountant takes, with a meaning all the same
    assert known is not None, answer["expression"]
    if "lower" in proved:
        assert float(answer["lower"]) <= known[1] or math.isinf(known[1])
    if "upper" in proved:
        assert float(answer["upper"]) >= known[0]
