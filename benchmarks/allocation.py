"""Widths and processor seconds of random allocation, as a table: sigma by steps by delta, one epoch, both directions.

    python -m benchmarks.allocation [accuracy ...]

Each cell is the relative width of epsilon and the processor seconds of a question at that accuracy, with 10 seconds.
"""

from __future__ import annotations

import sys
import time

from tightrope import Gaussian
from tightrope.core.values.errors import AccuracyNotReached

SIGMAS, STEPS, DELTAS = (0.5, 1.0, 2.0, 10.0), (2, 10, 100, 1000, 10_000), (1e-3, 1e-6, 1e-12)


def cell(sigma: float, steps: int, delta: float, direction: str, accuracy: float) -> str:
    """Width and time; ! where the accuracy was not reached."""
    mechanism = Gaussian(sigma=sigma).random_allocation(steps=steps)
    start, missed = time.process_time(), ""
    try:
        bound = mechanism.epsilon(delta=delta, direction=direction, accuracy=accuracy, seconds=10.0)
    except AccuracyNotReached as wide:
        bound, missed = wide.bound, "!"
    width = (bound.upper - bound.lower) / bound.upper if bound.upper > 0.0 else 0.0
    return f"{missed}{width:.0e} {time.process_time() - start:.1f}s"


def main() -> None:
    """The tables."""
    for accuracy in map(float, sys.argv[1:] or ["1e-3", "1e-4", "1e-6"]):
        heads = [f"{delta:.0e} {way}" for delta in DELTAS for way in ("remove", "add")]
        print(f"accuracy {accuracy:g}\n| sigma | steps | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 2)}")
        for sigma in SIGMAS:
            for steps in STEPS:
                cells = [cell(sigma, steps, delta, way, accuracy) for delta in DELTAS for way in ("remove", "add")]
                print(f"| {sigma} | {steps} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
