"""Table 1 of the talk: views of a guarantee, each with an example in certified numbers."""

from __future__ import annotations

from typing import NamedTuple

from studies.characteristic_function import experiment_3
from studies.characteristic_function.running_example import running_example
from studies.page import at_most, said
from tightrope import Gaussian
from tightrope.core.conversions import classical as optimal
from tightrope.core.conversions import normal_limit
from tightrope.core.conversions import renyi_accountant as renyi

OPENING = """### Table 1: views of a guarantee

What the talk says for and against each description of a mechanism, and a certified number that shows it. Here a
mechanism is kept as its dominating pair, from which all of them are read, so that none of these losses is made.

| view | for it | against it | example |
|---|---|---|---|
"""


class View(NamedTuple):
    """A row of the table."""

    name: str
    good: str
    bad: str
    example: str


def table() -> str:
    """The section."""
    return OPENING + "".join(f"| {' | '.join(view)} |\n" for view in views())


def views() -> tuple[View, ...]:
    """With numbers computed now."""
    example, trained, gauss = running_example(), Gaussian(sigma=1.0).poisson(rate=0.01) * 1000, Gaussian(sigma=1.0) * 16
    truth = experiment_3.removed()
    off = experiment_3.error(100_000, truth) * truth.upper
    return (
        View(
            "Renyi divergences",
            "composition adds",
            "turned into (epsilon, delta) with a loss",
            f"the running example at delta 1e-6: {said(example.epsilon(1e-6))}; from its divergences at best "
            f"{at_most(renyi.renyi_epsilon(example, 1e-6))}",
        ),
        View(
            "privacy profile",
            "tells what it means",
            "composing points of it is messy, and loses",
            f"16 Gaussians (sigma 1) at delta 1e-6: {said(gauss.epsilon(1e-6))}; from the best point of one use "
            f"{at_most(optimal.curve_epsilon(gauss, 1e-6))}",
        ),
        View(
            "trade-off function",
            "tells what it means, and has a central limit",
            "composing it is messy, and the limit is no bound",
            f"1,000 steps of Gaussian(1) at rate 0.01, delta 1e-6: {said(trained.epsilon(1e-6))}; the limit says "
            f"{normal_limit.limit_epsilon(trained, 1e-6):.4g}, which is too little",
        ),
        View(
            "density of the privacy loss",
            "composition by fast Fourier transforms",
            "needs a density or a grid, whose error has to be accounted for",
            f"1,000 steps of Gaussian(2) at rate 0.01, delta at 0.5: {said(truth)}; an even grid of 100,000 points is "
            f"off by {at_most(off)}",
        ),
        View(
            "characteristic function",
            "composition multiplies, and nothing is lost on the way back",
            "needs a formula or a quadrature, and a proof of how fast it falls",
            f"the same from {experiment_3.nodes(truth)} nodes, to within {at_most(truth.width)}",
        ),
    )
