"""The lattice engine on the reference vectors: time, peak memory, width, length and grids, as JSON lines.

Beside each, the time of dp-accounting at value_discretization_interval 1e-4 where that package is installed.
Run: python -m benchmarks.lattice [accuracy]
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tightrope as tr
from tightrope.expression import parse

VECTORS = Path(__file__).parents[1] / "tests" / "reference" / "vectors.json"
PEER_INTERVAL = 1e-4


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
        "peer_seconds": peer_seconds(expression, delta),
    }


def peer_seconds(expression: str, delta: float) -> float | None:
    """dp-accounting on the same composition, or None where it is not installed or has no such mechanism."""
    try:
        from dp_accounting import dp_event  # type: ignore[import-not-found, unused-ignore]
        from dp_accounting.pld import PLDAccountant  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return None
    events = []
    for part, count in parse(expression).terms:
        event = _event(part, dp_event)
        if event is None:
            return None
        events.append(dp_event.SelfComposedDpEvent(event, count))

    def ask() -> float:
        accountant = PLDAccountant(value_discretization_interval=PEER_INTERVAL)
        for event in events:
            accountant.compose(event)
        return float(accountant.get_epsilon(delta))

    return round(timed(ask)[0], 4)


def _event(part: object, events: Any) -> object | None:
    """The peer's name for a Gaussian or Laplace, sampled or not."""
    rate = getattr(part, "rate", None)
    base = getattr(part, "base", part)
    event: object
    if isinstance(base, tr.Gaussian):
        event = events.GaussianDpEvent(base.sigma)
    elif isinstance(base, tr.Laplace):
        event = events.LaplaceDpEvent(base.scale)
    else:
        return None
    sampled: object = event if rate is None else events.PoissonSampledDpEvent(rate, event)
    return sampled


def main(accuracy: float = 1e-4) -> None:
    """Prints one line per vector."""
    mechanisms = json.loads(VECTORS.read_text())["vectors"]
    for vector in mechanisms:
        row = lattice_row(vector["expression"], float(vector["delta"]), float(vector["epsilon"]), accuracy)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(*(float(argument) for argument in sys.argv[1:]))
