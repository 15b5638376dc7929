"""Figure 6: the notation, on one list."""

from __future__ import annotations

import math

from studies.figure import Bars, Figure, Panel
from studies.tight_on_budget.lists import SAID, N, bars, panel, place, small
from tightrope import BucketList, Gaussian

EPSILON = 0.2
FINE = 1.2


def figure() -> Figure:
    """What of each bucket goes into delta, and the two error terms."""
    found = small(Gaussian(sigma=2.5), factor=FINE)
    found = found.compose(found)
    first = math.ceil(EPSILON / math.log(found.factor))
    return Figure(
        "figure-06",
        "The notation on one list",
        f"Two uses of Gaussian noise of sigma 2.5, factor f = {FINE:g}, n = {N}: a composition tree T = leaf x leaf "
        f"with u = {found.u}. Left: B(i), and what of it goes into delta at epsilon = {EPSILON:g}. The index j_epsilon "
        f"= {first} is the first with f^j >= e^epsilon; of the u buckets from there on the error is not used, from "
        f"{first + found.u} on it is, and B(infinity) counts in full. Right: the virtual error l~ is exact in every "
        f"bucket, the real error l is 0 in bucket -n, where events may be misplaced by any distance. {SAID}",
        [_delta_panel(found, first), _error_panel(found)],
    )


def _delta_panel(found: BucketList, first: int) -> Panel:
    near, far = range(first, min(first + found.u, N + 1)), range(first + found.u, N + 1)
    alpha = math.exp(EPSILON)
    shares = {index: found[index].mass.upper * (1.0 - alpha * found.factor**-index) for index in (*near, *far)}
    shares |= {index: shares[index] - alpha * found[index].real_error.lower for index in far}
    masses = bars("$B_T(i)$", found)
    drawn = [
        Bars("in delta, not corrected: $j \\leq i < j + u$", list(near), [max(shares[i], 0.0) for i in near]),
        Bars("in delta, corrected: $i \\geq j + u$", list(far), [max(shares[i], 0.0) for i in far]),
        Bars("in delta, in full: $B_T(\\infty)$", [place(math.inf)], [found.infinity.upper]),
    ]
    return panel(f"delta at epsilon {EPSILON:g}", masses, *drawn)


def _error_panel(found: BucketList) -> Panel:
    virtual = bars("$\\tilde\\ell_T(i)$, virtual error", found, lambda bucket: bucket.virtual_error)
    real = bars("$\\ell_T(i)$, real error", found, lambda bucket: bucket.real_error)
    return panel("error terms", virtual, Bars(real.label, real.x, real.heights, width=0.4))
