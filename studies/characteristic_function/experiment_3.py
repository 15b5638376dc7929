"""Experiment 3: the Poisson-sampled Gaussian over the count, and beside a Fourier accountant."""

from __future__ import annotations

from studies.asking import certified
from studies.characteristic_function.fourier import sampled_gaussian_delta
from studies.figure import Dot, Figure, Line, Panel
from tightrope import Bound, Direction, Gaussian, Mechanism
from tightrope.core.conversions import renyi_accountant as renyi

COUNTS = tuple(2**power for power in range(4, 17, 2))
SIGMA, RATE, DELTA = 2.0, 0.01, 1e-6
STEPS, EPSILON = 1000, 0.5  # of the comparison; ours, as the grid's end
POINTS = tuple(2**power for power in range(13, 21))
LENGTH = 10.0


def figure() -> Figure:
    """epsilon over the count: certified, and the Renyi accountant; errors over the size of a grid."""
    runs = [run(count) for count in COUNTS]
    lines = [
        certified("certified", COUNTS, [each.epsilon(DELTA) for each in runs]),
        Line("Renyi, Markov", COUNTS, [renyi.markov_epsilon(each, DELTA) for each in runs]),
        Line("Renyi, best conversion", COUNTS, [renyi.renyi_epsilon(each, DELTA) for each in runs]),
    ]
    truth = removed()
    return Figure(
        "experiment-3",
        "Poisson-sampled Gaussian",
        f"Gaussian noise, sigma {SIGMA:g}, on a sample that takes each record with probability {RATE:g} (ours). "
        f"Left: epsilon at delta {DELTA:g} over the count, in both directions (adding and removing a record), "
        "certified by the contour integral of the characteristic function; above it the Renyi accountant. Right: how "
        f"far a Fourier accountant on an even grid is off, in delta at epsilon {EPSILON:g} after {STEPS:,} steps, over "
        f"the size of its grid (from -{LENGTH:g} to {LENGTH:g}). With 100,000 points its error cannot be seen on a "
        f"plot, as the talk says; the dot is the whole width of the certified interval, from {nodes(truth)} nodes.",
        [
            Panel(f"sigma {SIGMA:g}, rate {RATE:g}", "uses", f"epsilon at delta {DELTA:g}", lines=lines, log_x=True),
            Panel(
                f"delta at epsilon {EPSILON:g}, {STEPS:,} steps",
                "points of the grid, or nodes",
                "relative error",
                lines=[Line("Fourier accountant, distance to the truth", POINTS, [error(n, truth) for n in POINTS])],
                dots=[Dot("width of the interval", nodes(truth), truth.width / truth.upper)],
                log_x=True,
            ),
        ],
    )


def run(count: int) -> Mechanism:
    """So many steps."""
    return Gaussian(sigma=SIGMA).poisson(rate=RATE) * count


def removed() -> Bound:
    """What the Fourier accountant approximates."""
    return run(STEPS).delta(EPSILON, direction=Direction.REMOVE)


def nodes(bound: Bound) -> int:
    """How many points of the characteristic function an answer took."""
    assert bound.certificate is not None
    found = bound.certificate.parameters["nodes"]
    assert isinstance(found, int)
    return found


def error(points: int, truth: Bound) -> float:
    """The largest relative distance of the Fourier accountant to the truth."""
    found = sampled_gaussian_delta(SIGMA, RATE, STEPS, EPSILON, points, LENGTH)
    return max(abs(found - truth.lower), abs(found - truth.upper)) / truth.lower
