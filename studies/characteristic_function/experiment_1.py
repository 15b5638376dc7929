"""Experiment 1: the Gaussian mechanism over the count."""

from __future__ import annotations

from studies.asking import certified
from studies.figure import Figure, Line, Panel
from tightrope import Gaussian
from tightrope.core.conversions import renyi_accountant as renyi

COUNTS = tuple(2**power for power in range(11))
SIGMA, DELTA = 20.0, 1e-6


def figure() -> Figure:
    """epsilon over the count: certified, and the Renyi accountant."""
    runs = [Gaussian(sigma=SIGMA) * count for count in COUNTS]
    lines = [
        certified("certified", COUNTS, [run.epsilon(DELTA) for run in runs]),
        Line("Renyi, Markov", COUNTS, [renyi.markov_epsilon(run, DELTA) for run in runs]),
        Line("Renyi, best conversion", COUNTS, [renyi.renyi_epsilon(run, DELTA) for run in runs]),
    ]
    return Figure(
        "experiment-1",
        "Gaussian composition",
        f"Gaussian noise, sigma {SIGMA:g} (ours), epsilon at delta {DELTA:g} over the count. The interval comes from a "
        "closed form; the Renyi accountant is above it at every count, also with its best conversion.",
        [Panel(f"Gaussian, sigma {SIGMA:g}", "uses", f"epsilon at delta {DELTA:g}", lines=lines, log_x=True)],
    )
