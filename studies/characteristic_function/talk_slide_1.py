"""The slides on the moments accountant: sampled Gaussian noise, sigma 5 and 0.5."""

from __future__ import annotations

from studies.asking import certified
from studies.figure import Figure, Line, Panel
from tightrope import Gaussian, Mechanism
from tightrope.core.conversions import classical as advanced
from tightrope.core.conversions import renyi_accountant as renyi

RATE, DELTA = 0.001, 1e-8  # ours: the slides print neither
COUNTS = tuple(4**power for power in range(2, 10))


def step(sigma: float) -> Mechanism:
    """One step on a sample."""
    return Gaussian(sigma=sigma).poisson(rate=RATE)


def figure() -> Figure:
    """epsilon over the steps: certified, by moments, by advanced composition."""
    return Figure(
        "talk-slide-1",
        "The moments accountant on sampled Gaussian noise",
        f"epsilon at delta {DELTA:g} over the steps, each on a sample at rate {RATE:g} (rate and delta are ours; the "
        "slides print sigma alone). Moments end far below advanced composition, as the slides say, though not after "
        "the first few steps at sigma 5; the truth is below both: there a fifteenth of what the moments give after 16 "
        "steps, and four fifths after 262,144.",
        [_panel(5.0), _panel(0.5)],
    )


def _panel(sigma: float) -> Panel:
    runs = [step(sigma) * count for count in COUNTS]
    return Panel(
        f"sigma {sigma:g}",
        "steps",
        f"epsilon at delta {DELTA:g}",
        lines=[
            certified("certified", COUNTS, [run.epsilon(DELTA) for run in runs]),
            Line("moments accountant", COUNTS, [renyi.markov_epsilon(run, DELTA) for run in runs]),
            Line("advanced composition", COUNTS, [advanced.advanced_epsilon(run, DELTA) for run in runs]),
        ],
        log_x=True,
    )
