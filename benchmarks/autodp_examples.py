"""What autodp gives for examples 14 and 15 of the talk, into studies/data/autodp.csv, which docs/paper.md shows.

It has neither as a mechanism and its authors print no number for them, so that both are described to it as its manual
says: example 15 by its two phi-functions, composed by the analytical Fourier accountant; example 14 as an
(epsilon, delta)-DP mechanism, composed by Composition, and by the phi-functions of its finite losses.
Of phi-functions only deltas are asked: its search for an epsilon among them ends at 0 with the scipy of today, also
for Gaussian noise.

Usage: python benchmarks/autodp_examples.py, in an environment that has autodp (make bench-peers).
"""

from __future__ import annotations

import contextlib
import csv
import io
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RECORD = Path(__file__).resolve().parent.parent / "studies" / "data" / "autodp.csv"
VARIANCES = (2.0, 1.0)
EPSILON, DELTA = 1.0, 1e-6
# Uses, and at which epsilons delta is asked.
ASKED = {1: (1.0, 5.0), 10: (1.0, 5.0, 10.0), 1000: (150.0, 200.0, 250.0)}
ASKED_DELTA = 1e-2  # at which epsilon is asked of (epsilon, delta)


def described(update: object, kind: str) -> Any:
    """A mechanism of one's own."""
    from autodp.autodp_core import Mechanism

    made = Mechanism()
    made.name, made.params = "ours", {}
    made.propagate_updates(update, kind)
    return made


def varied() -> Any:
    """N(0, 2) against N(0, 1): the loss is a shift and a multiple of a chi-square."""
    first, second = VARIANCES
    slope, shift = 0.5 / second - 0.5 / first, 0.5 * np.log(second / first)

    def p_to_q(t: float) -> complex:
        return complex(1j * t * shift - 0.5 * np.log(1.0 - 2j * t * first * slope))

    def q_to_p(t: float) -> complex:
        return complex(-1j * t * shift - 0.5 * np.log(1.0 + 2j * t * second * slope))

    return described((p_to_q, q_to_p), "log_phi")


def unstable() -> Any:
    """Answers that differ: both say nothing with 1 - delta/2, the rest is mass at plus infinity, which no phi holds."""

    def finite(t: float) -> complex:
        return complex(np.log1p(-DELTA / 2.0))

    return described((finite, finite), "log_phi")


def quietly(ask: Callable[[float], object], at: float) -> str:
    """The number, or the kind of error."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return repr(float(ask(at)))  # type: ignore[arg-type]
        except Exception as error:  # whatever it raises is its answer
            return type(error).__name__


def main() -> None:
    """Every question, one row each."""
    from autodp.transformer_zoo import ComposeAFA, Composition

    warnings.simplefilter("ignore")
    rows = []
    for how, mechanism in (("15, phi-functions", varied()), ("14, phi-functions", unstable())):
        for uses, epsilons in ASKED.items():
            made = ComposeAFA()([mechanism], [uses])
            rows += [(how, uses, "delta", at, quietly(made.get_approx_delta, at)) for at in epsilons]
    pure = described((EPSILON, DELTA), "approxDP")
    for uses in ASKED:
        made = pure if uses == 1 else Composition()([pure], [uses])
        rows.append(("14, (epsilon, delta)", uses, "epsilon", ASKED_DELTA, quietly(made.get_approxDP, ASKED_DELTA)))
    with RECORD.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("example", "uses", "asked", "at", "given"))
        writer.writerows(rows)
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
