"""Time and peak memory of standard questions, as JSON on standard output.

Each case runs in a process of its own: the first answer there is cold (libraries load with it), then `seconds` is the
median of REPEATS warm ones, and `processor_seconds` the least processor time of one. Peak memory is that of the whole
process, imports included. Then come rows of training as it is run: the reference vectors, a curve of 50 points, and
calibrations, where `questions` tells how many questions about the value found would have taken as long; then every
reading of four runs, `given` being its arguments; and last `tightrope risk`, each time in a new process.
"""

from __future__ import annotations

import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tightrope import Bound

REPEATS = 7


def _mix(entries: int) -> str:
    """So many distinct mechanisms of four kinds."""
    kinds = (
        "Gaussian(sigma={0})",
        "Laplace(scale={0})",
        "DiscreteGaussian(sigma={0})",
        "ApproximateDP(epsilon=1/{0}, delta=1e-9)",
    )
    return " + ".join(kinds[index % 4].format(20 + index / 8) for index in range(entries))


def _distinct(part: str, values: Iterable[float]) -> str:
    """One part for each of many values."""
    return " + ".join(part.format(value) for value in values)


VECTORS = Path(__file__).resolve().parent.parent / "tests" / "reference" / "vectors.json"


def _clamped(mean: int, sigma: int, sensitivity: int) -> str:
    """Cover traffic: whole messages, at least 0."""
    return (
        f"TruncatedGaussian(sigma={sigma}, mean={mean}, bounds=[0, inf], mode='clamp', integer=True, "
        f"sensitivity={sensitivity})"
    )


def _vectors() -> list[Row]:
    """The reference vectors of training with differential privacy."""
    found = json.loads(VECTORS.read_text())["vectors"]
    return [
        (each["expression"], "epsilon", float(each["delta"]), False)
        for each in found
        if "poisson" in each["expression"]
    ]


Given = float | Mapping[str, float]
Row = tuple[str, str, Given, bool]

TRAINING = "Gaussian(sigma=1).poisson(rate=0.01) * 1000"
RUNS = (
    TRAINING,
    "Laplace(scale=10) * 100",
    "RandomizedResponse(p=0.51, neighbours='add_remove') * 512",
    (
        "Gaussian(sigma=5) * 3 + Laplace(scale=5) * 10 "
        "+ RandomizedResponse(p=0.6, neighbours='add_remove').poisson(rate=0.1) * 256"
    ),
)
READINGS: tuple[tuple[str, Mapping[str, float]], ...] = (
    ("tradeoff", {"fpr": 0.001}),
    ("tpr", {"fpr": 1e-9}),
    ("advantage", {}),
    ("bayes_accuracy", {"prior": 0.1}),
    ("posterior", {"prior": 0.1, "fpr": 0.001}),
    ("reconstruction", {"baseline": 1e-4}),
    ("gdp", {}),
    ("gdp", {"delta_least": 1e-6}),
    ("zcdp", {}),
    ("zcdp", {"order_most": 32.0}),
    ("renyi", {"order": 8.0}),
    ("mean_loss", {}),
    ("tradeoff_curve", {}),
)
RISK: Row = (TRAINING, "risk", {}, False)

# expression, quantity, given, proof; for a calibration the expression has a ?, and epsilon is CALIBRATED
CALIBRATED = 2.0
CASES: tuple[Row, ...] = (
    ("Gaussian(sigma=1)", "epsilon", 1e-6, False),
    ("Gaussian(sigma=1)", "epsilon", 1e-6, True),
    ("Gaussian(sigma=1) * 3", "epsilon", 1e-200, False),
    ("Gaussian(sigma=0.02)", "epsilon", 1e-6, False),
    ("Gaussian(sigma=1e-6)", "epsilon", 1e-6, False),
    ("Gaussian(sigma=1) * 10**9", "epsilon", 1e-6, False),
    ("Gaussian(sigma=5) * 3 + Gaussian(sigma=8) * 5 + PureDP(epsilon=0.1)", "epsilon", 1e-6, False),
    ("RandomizedResponse(p=0.51, neighbours='add_remove') * 512", "epsilon", 1e-4, False),
    ("Laplace(scale=2).poisson(rate=0.3)", "delta", 0.06, False),
    ("DiscreteGaussian(sigma=5)", "delta", 0.5, False),
    ("DiscreteGaussian(sigma=10) * 100", "delta", 1.0, False),
    ("DiscreteGaussian(sigma=10) * 100", "delta", 1.0, True),
    ("DiscreteGaussian(sigma=1000) * 10**6", "delta", 1.0, False),
    ("DiscreteGaussian(sigma=1000) * 10**6", "epsilon", 1e-6, False),
    ("DiscreteGaussian(sigma=1000) * 10**5", "epsilon", 1e-6, False),
    ("DiscreteGaussian(sigma=0.5, sensitivity=2) * 70", "delta", 590.6827003137449, True),
    ("PureDP(epsilon=0.125) * 1000 + PureDP(epsilon=0.25) * 10**9", "epsilon", 1e-6, False),
    ("DiscreteLaplace(scale=100, sensitivity=300) * 10**6", "epsilon", 1e-6, False),
    ("DiscreteLaplace(scale=1, sensitivity=199999)", "delta", 1.0, False),
    ("Exponential(epsilon=68719476736.0) * 10**7", "delta", 1.0, False),
    *((_mix(entries), "epsilon", 1e-6, False) for entries in (10, 50, 100, 200)),
    (_distinct("Laplace(scale={0})", (100 + i / 5 for i in range(500))), "epsilon", 1e-5, False),
    (
        _distinct("Gaussian(sigma={0}).poisson(rate=256/60000)", (1 + i / 500 for i in range(500))),
        "epsilon",
        1e-5,
        False,
    ),
    ("TruncatedGaussian(sigma=283, bounds=[-2500, 2500]) * 512", "delta", 0.2, False),
    ("TruncatedGaussian(sigma=283, bounds=[-2500, 2500]) * 512", "delta", 0.2, True),
    (f"{_clamped(4100, 833, 2)} * 8192", "delta", 0.6931471805599453, False),
    (f"({_clamped(45000, 7500, 2)} + {_clamped(22500, 3750, 1)}) * 524288", "delta", 0.6931471805599453, False),
    (f"({_clamped(45000, 7500, 2)} + {_clamped(22500, 3750, 1)}) * 524288", "delta", 0.6931471805599453, True),
    ("TruncatedGaussian(sigma=?, bounds=[-2500, 2500], mode='clamp') * 512", "calibrate", 1e-5, False),
    ("Laplace(scale=10) * 500", "epsilon", 1e-6, False),
    (
        "RandomizedResponse(p=0.6, neighbours='add_remove').poisson(rate=0.1) * 256 + Laplace(scale=5) * 10",
        "epsilon",
        1e-5,
        False,
    ),
    ("Gaussian(sigma=1).poisson(rate=0.1).poisson(rate=0.3) * 100", "epsilon", 1e-6, False),
    ("Gaussian(sigma=1.059).poisson(rate=1.31e-4) * 19", "epsilon", 4.67e-10, False),
    ("Gaussian(sigma=1).poisson(rate=0.01).group(size=8) * 1000", "epsilon", 1e-6, False),
    ("Gaussian(sigma=0.5).poisson(rate=0.01).group(size=32) * 1000", "epsilon", 1e-12, False),
    ("Gaussian(sigma=0.5).poisson(rate=0.01).group(size=32) * 10", "epsilon", 1e-10, False),
    ("Gaussian(sigma=1.059).poisson(rate=1.31e-4) * 19", "delta", 0.0174075, False),
    ("Gaussian(sigma=1).poisson(rate=6.5e-4) * 25", "epsilon", 1e-6, False),
    ("Gaussian(sigma=1793).poisson(rate=6.6e-12) * 33415", "epsilon", 2.5e-55, False),
    ("Gaussian(sigma=583973).poisson(rate=2e-9) * 138446", "epsilon", 8.5e-36, False),
    ("Gaussian(sigma=4.65).poisson(rate=1.06e-7) * 3", "epsilon", 9.96e-59, False),
    ("Gaussian(sigma=0.01).poisson(rate=0.5) * 100", "epsilon", 1e-6, False),
    ("Gaussian(sigma=0.01).poisson(rate=0.5) * 100", "epsilon", 1e-6, True),
    ("Gaussian(sigma=0.01).poisson(rate=1e-4) * 10**6", "epsilon", 1e-6, False),
    ("Gaussian(sigma=0.001).poisson(rate=0.1) * 10", "epsilon", 1e-6, False),
    ("Gaussian(sigma=1).poisson(rate=1e-300) * 2", "delta", 0.5, False),
    (
        "ApproximateDP(epsilon=0.5, delta=1e-5) * 3 + Gaussian(sigma=1).poisson(rate=0.01) * 100",
        "epsilon",
        2.9999700001000004e-05,
        False,
    ),
    ("GaussianVariance(sigma1=1.05, sigma2=1) * 1000", "epsilon", 1e-6, False),
    ("GaussianMixture(sigma=20, shifts=[0, 1, 2], weights=[0.25, 0.5, 0.25]) * 1000", "epsilon", 1e-6, False),
    ("Skellam(variance=10000, sensitivity=2) * 1000", "epsilon", 1e-6, False),
    ("SparseVector(threshold_scale=20, query_scale=40) * 100", "epsilon", 1e-6, False),
    ("DistanceToInstability(epsilon=0.01, delta=1e-12) * 1000", "epsilon", 1e-6, False),
    ("StabilityHistogram(epsilon=0.01, threshold=3000) * 1000", "epsilon", 1e-6, False),
    *_vectors(),
    ("Gaussian(sigma=1.1).poisson(rate=256/60000) * 14062", "curve", 4.0, False),
    ("Gaussian(sigma=1).poisson(rate=0.01) * 1000", "curve", 4.0, False),
    ("Gaussian(sigma=?).poisson(rate=256/60000) * 14062", "calibrate", 1e-5, False),
    ("Gaussian(sigma=?).poisson(rate=0.01) * 1000", "calibrate", 1e-6, False),
    *((run, quantity, given, False) for run in RUNS for quantity, given in READINGS),
    RISK,
)


def timed(ask: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """The last answer, and the times of the first and of all others."""
    times, processor = [], []
    for _ in range(REPEATS + 1):
        began, begun = time.perf_counter(), time.process_time()
        answer = ask()
        times.append(time.perf_counter() - began)
        processor.append(time.process_time() - begun)
    return answer, {
        "seconds_cold": times[0],
        "seconds": statistics.median(times[1:]),
        "processor_seconds": min(processor[1:]),
    }


def risk(expression: str) -> dict[str, object]:
    """The table of risks, in a new process each time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = used.ru_utime + used.ru_stime
    command = [sys.executable, "-m", "tightrope", "risk", expression]
    _, times = timed(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    times["processor_seconds"] = (used.ru_utime + used.ru_stime - began) / (REPEATS + 1)
    return {"expression": expression, "quantity": "risk", **times, "peak_megabytes": used.ru_maxrss / 1024}


def measure(expression: str, quantity: str, given: Given, proof: bool) -> dict[str, object]:
    """One case, in this process."""
    import tightrope as tr
    from tightrope.core.text.expressions import parse_template

    more: dict[str, float] = {}
    if quantity == "risk":
        return risk(expression)
    if isinstance(given, Mapping):
        reading = getattr(tr.parse(expression), quantity)
        answer, times = timed(lambda: reading(**given, proof=proof))
        bound = max(answer.bounds, key=_relative) if quantity == "tradeoff_curve" else answer
    elif quantity == "calibrate":
        make = parse_template(expression)
        found, times = timed(lambda: tr.calibrate(make, epsilon=CALIBRATED, delta=given, proof=proof))
        bound = found.bound
        _, one = timed(lambda: found.mechanism.epsilon(given, proof=proof))
        more["questions"] = times["processor_seconds"] / one["processor_seconds"]
    elif quantity == "curve":
        curve, times = timed(lambda: tr.parse(expression).curve(0.0, given, proof=proof))
        bound = curve.bounds[-1]
    else:
        mechanism = tr.parse(expression)
        ask = mechanism.epsilon if quantity == "epsilon" else mechanism.delta
        bound, times = timed(lambda: ask(given, proof=proof))
    certificate = bound.certificate
    return {
        "expression": expression,
        "quantity": quantity,
        "given": given,
        "proof": proof,
        "lower": bound.lower,
        "upper": bound.upper,
        "relative_width": _relative(bound),
        "engine": certificate.engine if certificate else None,
        "arithmetic": certificate.arithmetic if certificate else None,
        **times,
        **more,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _relative(bound: Bound) -> float:
    """The width by the upper end; 0 where both ends are the same, as infinity."""
    return 0.0 if bound.lower == bound.upper else bound.width / bound.upper


def main(arguments: list[str]) -> None:
    """Without arguments: every case in a process of its own. With a number: that case, here."""
    if arguments:
        print(json.dumps(measure(*CASES[int(arguments[0])])))
        return
    results = []
    for index in range(len(CASES)):
        done = subprocess.run([sys.executable, __file__, str(index)], stdout=subprocess.PIPE, check=True)
        results.append(json.loads(done.stdout))
    print(json.dumps({"schema": 1, "python": platform.python_version(), "results": results}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
