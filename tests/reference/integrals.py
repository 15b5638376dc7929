"""Integrals that take seconds each, stored: `python -m tests.reference.integrals` computes integrals.json again."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("integrals.json")
DIGITS = 40


def stored(name: str, *arguments: float | str) -> str:
    """The digits of one integral; a KeyError says which arguments are new."""
    return _rows()[name, arguments]


@cache
def _rows() -> dict[tuple[str, tuple[float | str, ...]], str]:
    rows = json.loads(FILE.read_text("utf-8"))["integrals"]
    return {(row["name"], tuple(row["arguments"])): row["value"] for row in rows}


def oracles() -> dict[str, Callable[..., Any]]:
    """By name what computes it; none of them uses the package."""
    from tests.conversions import test_divergence
    from tests.engines.contour import test_tiny
    from tests.mechanisms import test_density, test_exponential
    from tests.oracle import sampled_twice, transforms

    return {
        "two sampled Gaussians": transforms.two_uses,
        "one sampled Gaussian and another": sampled_twice.delta_of_both,
        "two noisy samples": test_tiny.two_uses,
        "a moment": test_divergence.moment_truth,
        "uses of Exponential": test_exponential.uses_truth,
        "two sampled uses of Exponential": test_exponential.sampled_uses_truth,
        "uses of a density": test_density.uses_truth,
    }


def main() -> None:
    """Writes the file with every value computed anew."""
    from mpmath import mp

    known = oracles()
    rows = []
    for row in json.loads(FILE.read_text("utf-8"))["integrals"]:
        found = known[row["name"]](*row["arguments"])
        with mp.workdps(DIGITS + 20):
            value = repr(float(found)) if isinstance(found, float) else mp.nstr(found, DIGITS)
        rows.append(row | {"value": value})
        print(row["name"], row["arguments"], value, flush=True)
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    FILE.write_text(f'{{"integrals": [\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
