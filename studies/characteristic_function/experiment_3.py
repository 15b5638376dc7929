"""Experiment 3: the Poisson-sampled Gaussian over the count."""

from __future__ import annotations

from studies.asking import certified
from studies.figure import Figure, Line, Panel
from tightrope import Gaussian
from tightrope.convert import renyi

COUNTS = tuple(2**power for power in range(4, 17, 2))
SIGMA, RATE, DELTA = 2.0, 0.01, 1e-6


def figure() -> Figure:
    """epsilon over the count: certified, and the Renyi accountant."""
    runs = [Gaussian(sigma=SIGMA).poisson(rate=RATE) * count for count in COUNTS]
    lines = [
        certified("certified", COUNTS, [run.epsilon(DELTA) for run in runs]),
        Line("Renyi, Markov", COUNTS, [renyi.markov_epsilon(run, DELTA) for run in runs]),
        Line("Renyi, best conversion", COUNTS, [renyi.renyi_epsilon(run, DELTA) for run in runs]),
    ]
    return Figure(
        "experiment-3",
        "Poisson-sampled Gaussian",
        f"Gaussian noise, sigma {SIGMA:g}, on a sample that takes each record with probability {RATE:g}: epsilon at "
        f"delta {DELTA:g} over the count, in both directions (adding and removing a record), certified by the contour "
        "integral of the characteristic function; above it the Renyi accountant.",
        [Panel(f"sigma {SIGMA:g}, rate {RATE:g}", "uses", f"epsilon at delta {DELTA:g}", lines=lines, log_x=True)],
    )
