"""Figure 1 of the source: every Renyi divergence smaller, and delta larger."""

from __future__ import annotations

import math

from studies.asking import certified, grid, upper
from studies.figure import DELTA, Figure, Panel
from tightrope import Gaussian, Mechanism, RandomizedResponse
from tightrope.core.conversions import renyi_accountant as renyi

ORDERS = tuple(1.0 + 10.0 ** (-1.0 + 2.5 * index / 24) for index in range(25))
RATES = grid(0.0, 1.0, 51)


def gauss() -> Mechanism:
    """Gaussian noise of the size of the sensitivity."""
    return Gaussian(sigma=1.0)


def response() -> Mechanism:
    """Randomized response that tells the truth with probability e/(1 + e)."""
    return RandomizedResponse(p=math.e / (1.0 + math.e), neighbours="add_remove")


def figure() -> Figure:
    """Renyi divergences, trade-offs and deltas of both."""
    both = (("Gaussian, sigma 1", gauss()), ("randomized response, p = e/(1+e)", response()))
    x = grid(0.0, 4.0, 41)
    near = (1.0 - 10.0 ** (-power / 3.0) for power in range(4, 16))  # the delta of the response ends at 1
    dense = tuple(sorted({*x, *near}))
    return Figure(
        "talk-figure-1",
        "Renyi divergences do not decide",
        "Gaussian noise (sigma 1) and randomized response (p = e/(1+e)). Top left: the response has the smaller Renyi "
        "divergence at every order. Top right: and yet the larger delta, up to an epsilon of 0.7 (it falls to 0 at 1, "
        "its largest loss). What follows from the Gaussian's divergences must hold for the response as well, so that "
        "no conversion, however sharp, gives the Gaussian's own delta. Bottom: the false negatives that a "
        "test must make at a rate of false positives; around 0.3 that of the response lies "
        "lower: an attacker does better there.",
        [
            Panel(
                "Renyi divergences",
                "order",
                "divergence",
                lines=[certified(name, ORDERS, [each.renyi(a) for a in ORDERS]) for name, each in both],
                log_x=True,
                log_y=False,
                y_limits=(0.0, 4.0),
            ),
            Panel(
                "deltas",
                "$\\varepsilon$",
                DELTA,
                lines=[
                    *(certified(name, dense, each.delta(dense)) for name, each in both),
                    upper("the Gaussian, from its divergences", x, lambda e: renyi.renyi_delta(gauss(), e)),
                ],
                y_limits=(1e-4, 1.0),
            ),
            Panel(
                "trade-offs",
                "false positive rate",
                "least false negative rate",
                lines=[certified(name, RATES, each.tradeoff_curve(fprs=RATES).bounds) for name, each in both],
                log_y=False,
            ),
        ],
    )
