"""Privacy buckets: transforms against direct summation, as JSON on standard output.

speed: 2^18-fold with 100,001 buckets by transforms, beside 2^3-fold by direct summation, same leaf, same machine.
width: how much wider the interval is with transforms than with direct summation, relative to delta, on the same tree.
Seconds are those of the processor, in one thread: other work on the machine does not count.
"""

from __future__ import annotations

import json
import math
import platform
import time

from tightrope.core.engines.buckets.bucket_composition import pair_leaf, repeat
from tightrope.core.engines.buckets.bucket_list import TreeBuckets
from tightrope.core.engines.buckets.read import delta
from tightrope.core.losses.gaussian import GaussianPair

N = 50_000
SIGMA = 200.0 * math.sqrt(2.0)


def leaf(n: int, count: int, epsilon: float) -> TreeBuckets:
    """One use of the paper's Gauss mechanism, tilted for the question about `count` uses."""
    mu = math.sqrt(count) / SIGMA
    tilt = max(epsilon / mu**2 - 0.5, 1.0)  # the saddle point of a Gaussian
    step = 8.5 / SIGMA / n
    return pair_leaf(GaussianPair(((SIGMA, 1.0, 1),)), step, n, tilt * step)


def timed(n: int, count: int, epsilon: float, direct: bool | None) -> dict[str, object]:
    """Builds the list once and reads one delta."""
    began = time.process_time()
    buckets = repeat(leaf(n, count, epsilon), count, free=1e-12 / count, direct=direct)
    built = time.process_time()
    found = delta(buckets, epsilon)
    return {
        "n": n,
        "count": count,
        "epsilon": epsilon,
        "direct": bool(direct),
        "lower": found.lower,
        "upper": found.upper,
        "rounding": found.budget.upper["rounding"] + found.budget.lower["rounding"],
        "squarings": buckets.squarings,
        "u": buckets.u,
        "seconds": built - began,
        "seconds_delta": time.process_time() - built,
    }


def widening(fast: dict[str, object], slow: dict[str, object]) -> float:
    """(width with transforms - width with direct sums) / delta."""
    ends = [float(str(each[end])) for each in (fast, slow) for end in ("lower", "upper")]
    return ((ends[1] - ends[0]) - (ends[3] - ends[2])) / ends[3]


def main() -> None:
    """Prints everything that the figures above need."""
    timed(1000, 8, 0.02, None)  # libraries load here
    big = min((timed(N, 1 << 18, 8.0, None) for _ in range(5)), key=lambda each: float(str(each["seconds"])))
    small = timed(N, 8, 0.02, None)
    direct = timed(N, 8, 0.02, True)
    results = {
        "schema": 1,
        "python": platform.python_version(),
        "speed": {"fast": big, "direct": direct, "ratio": float(str(direct["seconds"])) / float(str(big["seconds"]))},
        "width": [
            {"fast": small, "direct": direct, "relative": widening(small, direct)},
            *(
                {"fast": fast, "direct": slow, "relative": widening(fast, slow)}
                for n, count, epsilon in ((2000, 1 << 9, 0.3), (8000, 1 << 12, 0.7))
                for fast, slow in [(timed(n, count, epsilon, False), timed(n, count, epsilon, True))]
            ),
        ],
    }
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
