"""The lattice engine on the reference vectors: time, peak memory, width, length and grids, as JSON lines.

Run: python -m benchmarks.lattice [accuracy]
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import tightrope as tr
from tightrope.core.text.expressions import parse

VECTORS = Path(__file__).parents[1] / "tests" / "reference" / "vectors.json"


def timed(function: Callable[[], object]) -> tuple[float, object]:
    """Seconds and result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def lattice_row(expression: str, delta: float, truth: float, accuracy: float) -> dict[str, object]:
    """One question through the public interface."""
    mechanism = parse(expression)
    seconds, bound = timed(lambda: mechanism.epsilon(delta, engine="lattice", accuracy=accuracy))
    assert isinstance(bound, tr.Bound)
    assert bound.certificate is not None
    parameters = bound.certificate.parameters
    return {
        "expression": expression,
        "delta": delta,
        "seconds": round(seconds, 4),
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "relative_width": bound.width / bound.upper,
        "contained": bound.lower <= truth * (1.0 + 1e-14) and truth * (1.0 - 1e-14) <= bound.upper,
        "length": parameters.get("length"),
        "grids": parameters.get("grids"),
    }


def main(accuracy: float = 1e-4) -> None:
    """Prints one line per vector."""
    mechanisms = json.loads(VECTORS.read_text())["vectors"]
    for vector in mechanisms:
        row = lattice_row(vector["expression"], float(vector["delta"]), float(vector["epsilon"]), accuracy)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(*(float(argument) for argument in sys.argv[1:]))
