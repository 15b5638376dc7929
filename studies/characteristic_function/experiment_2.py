"""Experiment 2: mechanisms of different kinds together."""

from __future__ import annotations

from studies.asking import certified
from studies.figure import Figure, Line, Panel
from tightrope import Gaussian, Laplace, Mechanism, RandomizedResponse
from tightrope.core.conversions import renyi_accountant as renyi

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128)
DELTA = 1e-6


def figure() -> Figure:
    """epsilon over the number of rounds, each with a Gaussian, a Laplace and a randomized response."""
    runs = [round_of(count) for count in COUNTS]
    lines = [
        certified("certified", COUNTS, [run.epsilon(DELTA, accuracy=1e-4) for run in runs]),
        Line("Renyi, Markov", COUNTS, [renyi.markov_epsilon(run, DELTA) for run in runs]),
        Line("Renyi, best conversion", COUNTS, [renyi.renyi_epsilon(run, DELTA) for run in runs]),
    ]
    return Figure(
        "experiment-2",
        "Heterogeneous composition",
        "Each round is a Gaussian (sigma 20), a Laplace (scale 20) and a randomized response (p = 0.51), all ours. "
        f"Losses of different kinds add up like any others: epsilon at delta {DELTA:g}, certified, below the Renyi "
        "accountant.",
        [Panel("Gaussian + Laplace + response", "rounds", f"epsilon at delta {DELTA:g}", lines=lines, log_x=True)],
    )


def round_of(count: int) -> Mechanism:
    """So many rounds of all three."""
    return (Gaussian(sigma=20.0) + Laplace(scale=20.0) + RandomizedResponse(p=0.51)) * count
