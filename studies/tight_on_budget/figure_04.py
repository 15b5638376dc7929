"""Figure 4: events are placed into buckets."""

from __future__ import annotations

import math

from studies.asking import grid
from studies.figure import Bars, Figure, Panel, Shape
from studies.tight_on_budget.lists import FACTOR, SAID, N, bars, panel, share, small


def figure() -> Figure:
    """Losses lifted to the end of their bucket, and what the lift misses of P_B."""
    x = grid(-1.6, 2.1, 3701)
    # Gaussian noise of sigma 1 around 1 and around 0: the loss of an output x is x - 1/2.
    losses = [(output - 0.5) / math.log(FACTOR) for output in x]
    indices = [float(min(max(math.ceil(loss), -N), N)) for loss in losses]
    found = small()
    estimate = bars("$B(i)/f^i$, what the label says of $P_B$", found, share)
    error = bars("$\\tilde\\ell(i)$, what it misses", found, lambda bucket: bucket.virtual_error)
    return Figure(
        "figure-04",
        "Events in buckets",
        f"Gaussian noise of sigma 1 in buckets of factor {FACTOR:g}, n = {N}. Left: an output counts with the next "
        "power of f at or above its ratio, never with a smaller one; what lies below -n is lifted furthest, what lies "
        "above n, further right, goes to infinity. Right: the mass under B of each bucket is B(i)/f^i and the error on "
        f"top of it; the list keeps both. {SAID}",
        [
            Panel(
                "placing outputs",
                "output x",
                "$\\log_f$ of the ratio $P_A(x)/P_B(x)$",
                shapes=[
                    Shape("ratio", x, losses),
                    Shape("label $i$ of its bucket", x, indices),
                    Shape("lift", x, indices, losses),
                ],
                log_y=False,
                x_limits=(x[0], x[-1]),
            ),
            panel("mass under B", estimate, Bars(error.label, error.x, error.heights, estimate.heights)),
        ],
    )
