"""A finite pair below and one above integer noise of more outputs than can be listed.

At some outputs k the events {X >= k} have the masses S(k - D) and S(k): a pair below. Above, the hull of the profile at
the losses of these outputs, a = p_{k-D}/p_k, H(a) = S(k - D) - a S(k).
Guarantee: lower <= pair <= upper, as profiles, for whatever outputs. Proof: docs/proofs/points.md, sections 1 to 3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flint import arb

from ... import compute_budget
from ...kernels.ball import BITS_START, working_precision
from .noise import IntegerNoise

if TYPE_CHECKING:
    from ...facets.resolution import Resolution
    from ...pair import Pair

CHOSEN_OUTPUTS_MAX = 1500
CHOSEN_OUTPUT_UNITS = 2e4  # of work, for one output
CHOSEN_SPARE = 8.0


def bracket(noise: IntegerNoise, shift: int, fine: Resolution) -> tuple[Pair, Pair]:
    """At outputs that are evenly spread up to where P has less than the tail that is allowed."""
    from ...derived.polygon import above, below

    cells = max(2, min(fine.points, CHOSEN_OUTPUTS_MAX))
    compute_budget.spend(CHOSEN_OUTPUT_UNITS * cells)
    far = noise.reach(CHOSEN_SPARE - math.log(max(fine.tail, math.ulp(0.0)))) + shift
    near = noise.mirror(far) + shift
    if noise.last is not None:
        near, far = max(near, shift), min(far, noise.last)
    # Half of them are mirror images of the others, so that their tails are known.
    halves = [near + (far - near) * i // cells for i in range(cells // 2 + 1)]
    outputs = sorted({*halves, *(noise.mirror(k) + shift for k in halves)})
    events, profile = [], []
    with working_precision(BITS_START):
        for k in outputs:
            p, q, alpha = noise.tail(k - shift), noise.tail(k), noise.loss(k, shift).exp()
            events.append((p, q))
            profile.append((alpha, p - alpha * q))
        leak = arb(0) if noise.last is None else noise.tail(noise.last - shift + 1)
        return below([(leak, arb(0)), *events]), above(profile)
