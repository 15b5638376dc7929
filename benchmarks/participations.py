"""Processor time and width of the sensitivity of correlated noise with several participations, as JSON.

Each case is made anew; `width` is that of its total sensitivity, relative to the upper end.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Iterator
from typing import Any

import tightrope as tr

BANDS = 16
REPEATS = 5


def square_root(steps: int) -> list[float]:
    """Coefficients of the square root of the matrix of prefix sums."""
    found = [1.0]
    for m in range(1, steps):
        found.append(found[-1] * (2 * m - 1) / (2 * m))
    return found


def inverse_root(bands: int) -> list[float]:
    """Those of its inverse."""
    found = [1.0]
    for m in range(1, bands):
        found.append(found[-1] * (2 * m - 3) / (2 * m))
    return found


def cases() -> Iterator[tuple[str, type[tr.Mechanism], dict[str, Any]]]:
    """A name, and what is made."""
    draw, root = random.Random(1), square_root(BANDS)
    dense = [[draw.random() / (1 + i - j) if j <= i else 0.0 for j in range(300)] for i in range(300)]
    rising = sorted(draw.random() for _ in range(BANDS))
    signed = [draw.gauss(0, 1) for _ in range(BANDS)]
    yield "16 bands, 2,048 steps, 4 epochs", tr.MatrixMechanism, {"toeplitz": root, "steps": 2048, "epochs": 4}
    yield "16 bands, 10^6 steps", tr.MatrixMechanism, {"toeplitz": root, "steps": 10**6, "separation": 1000}
    yield "16 bands, 10^6 steps, close", tr.MatrixMechanism, {"toeplitz": root, "steps": 10**6, "separation": 5}
    yield "2,048 bands", tr.MatrixMechanism, {"toeplitz": square_root(2048), "steps": 2048, "epochs": 4}
    yield (
        "16 of the inverse, 10^6 steps",
        tr.MatrixMechanism,
        {"inverse": inverse_root(17), "steps": 10**6, "epochs": 4},
    )
    yield "restarts", tr.MatrixMechanism, {"toeplitz": root, "steps": 2048, "restart": 128, "separation": 100}
    yield "rising", tr.MatrixMechanism, {"toeplitz": rising, "steps": 2048, "participations": 20, "separation": 5}
    yield "both signs", tr.MatrixMechanism, {"toeplitz": signed, "steps": 2048, "participations": 6, "separation": 5}
    yield "dense, 300 steps", tr.MatrixMechanism, {"matrix": dense, "participations": 4, "separation": 10}
    yield "tree, 10^6 steps", tr.TreeAggregation, {"steps": 10**6, "participations": 8, "separation": 125000}


def main() -> None:
    rows = []
    for name, make, given in cases():
        seconds = math.inf
        for _ in range(REPEATS):
            began = time.process_time()
            run: Any = make(sigma=1.0, **given)  # type: ignore[call-arg]
            seconds = min(seconds, time.process_time() - began)
        norm = run.total_sensitivity
        width = norm.width / norm.upper
        rows.append({"case": name, "processor_seconds": seconds, "norm": norm.upper, "width": width})
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
