"""The Gaussian that pays for a job: the least c with M x E <= E x G_sqrt(c) x ApproximateDP(0, d).

E = G_mu0 is the floor, which may be nothing. The right side has the profile R(a) = d + (1 - d) H_mu(a), with
mu^2 = mu0^2 + c.
For any t, the test that accepts where the loss of the Gaussian exceeds t gives a line below it,
    R(a) >= d + (1 - d) (Phi(mu/2 - t/mu) - a Phi(-mu/2 - t/mu)),   the tangent at a = e^t.
The profile of the left side is convex in a = e^epsilon, so between two epsilons it lies below the chord of upper ends.
Where such a line lies above the chord at both ends of a cell, R is above the left side on all of the cell; beyond the
last epsilon the left side is at most d. To compare at the ends alone would prove nothing: R dips between them.
For a < 1 both sides follow from those of the other direction at 1/a, as R is that of a symmetric pair: so the worse of
both directions is looked at, from a = 1 on.
Guarantee: upper; all comparisons in balls. Proof: docs/proofs/ledger.md, Theorem D and its check.
Reference: Dong, Roth, Su 2022, Cor. 2.13 (the profile of a Gaussian); Zhu, Dong, Wang 2021, Lemma 9 (convexity).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from flint import arb

from .. import GDP, Bound, Mechanism, UnsupportedMechanism, WorkExhausted
from ..extend import work
from ..extend.numbers import BITS_START, normal_above, normal_level, shift_above, upper_float, working_precision
from ..extend.wording import shortened

CHECK_CELLS_FIRST, CHECK_CELLS = 48, 512  # roughly first, and finely where that is cheap
WIDE_FACTOR = 1.1  # an upper end above so many times the lower one, where work ended the search, needs consent
FINE_SHARE = 0.125  # of the work that is left
OUTLINE_SECONDS = work.Rating(5.0)  # where nobody else has said how long it may take
NEAR_FIRST, NEAR_GROWTH = 2.0**-12, 1.25  # of c above what single points ask for: the first try, and the next ones
NEAR_TRIES = 80
LINE_PLACES = (0.5, 0.25, 0.75, 0.0, 1.0)  # where in a cell a tangent may touch
CHECK_BITS = 2 * BITS_START  # next to mu = 0 half of them cancel
LEAST_SQUARE = 2.0**-80  # far below a unit


def ended_by_work(bound: Bound) -> bool:
    """Whether more work may have made the upper end much smaller; which bound it is depends on work units alone."""
    certificate = bound.certificate
    ended = certificate is not None and certificate.exhausted is not None
    return ended and not bound.upper <= WIDE_FACTOR * bound.lower


class ProfileCorner(NamedTuple):
    """An epsilon, and a number at or above delta there."""

    epsilon: float
    delta: float
    ended: bool = False  # whether work ended the search of it while its ends were far apart


class LeastSquare(NamedTuple):
    """At or above the least c; ended where work ended the search of the profile that it pays for."""

    square: float
    ended: bool


def least_square(job: Mechanism, floor: float, slack: float) -> LeastSquare:
    """At or above the least c; floor is mu0, slack is d > 0. UnsupportedMechanism where none is found."""
    corners = outline(job, floor, slack)
    return LeastSquare(_paid(job, corners, floor, slack), any(corner.ended for corner in corners))


def _paid(job: Mechanism, corners: Sequence[ProfileCorner], floor: float, slack: float) -> float:
    asked = max((_asked(corner, slack) for corner in corners), default=0.0)
    if not math.isfinite(asked):
        raise UnsupportedMechanism("no Gaussian is known that pays for it", mechanism=shortened(str(job)))
    base = max(asked * asked - floor * floor, 0.0)
    more = max(base * NEAR_FIRST, LEAST_SQUARE)
    for _ in range(NEAR_TRIES):
        if dominated(corners, floor, slack, base + more):
            return base + more
        more *= NEAR_GROWTH if base > more else 2.0
    raise UnsupportedMechanism("no Gaussian that pays for it was found", mechanism=shortened(str(job)))


def outline(job: Mechanism, floor: float, slack: float) -> tuple[ProfileCorner, ...]:
    """Upper ends of delta of the left side at rising epsilons from 0 on, the last at most the slack."""
    run = job + GDP(mu=floor) if floor > 0.0 else job
    with work.allowance(OUTLINE_SECONDS):
        bound = run.epsilon(slack)
        last, ended = bound.upper, ended_by_work(bound)
        if not math.isfinite(last):
            raise UnsupportedMechanism(
                f"no epsilon is known beyond which its delta is at most the slack {slack!r}; give a larger one",
                mechanism=shortened(str(job)),
            )
        return (
            (ProfileCorner(0.0, slack, ended),)
            if last == 0.0
            else _hull([*_corners(run, last, slack), ProfileCorner(last, slack, ended)])
        )


def _corners(run: Mechanism, last: float, slack: float) -> list[ProfileCorner]:
    """Roughly, and where that took little of the work, finely too."""
    before = work.left()
    found = _sampled(run, last, CHECK_CELLS_FIRST, slack)
    if (before - work.left()) * CHECK_CELLS / CHECK_CELLS_FIRST <= FINE_SHARE * work.left():
        with suppress(WorkExhausted):
            found += _sampled(run, last, CHECK_CELLS, slack)
    return found


def _sampled(run: Mechanism, last: float, cells: int, slack: float) -> list[ProfileCorner]:
    """At so many epsilons below the last; what work does not allow is at most 1."""
    curve = run.curve(epsilons=[last * index / cells for index in range(cells)])
    return [ProfileCorner(place, bound.upper, bound.upper > slack and ended_by_work(bound)) for place, bound in curve]


def _hull(corners: list[ProfileCorner]) -> tuple[ProfileCorner, ...]:
    """Those on the lower convex hull in alpha: a corner above the chord of two others only makes the bound worse.

    It only chooses: chords of any corners hold, and the first and the last are kept.
    """
    kept: list[ProfileCorner] = []
    for corner in sorted(corners):
        if kept and kept[-1].epsilon == corner.epsilon:  # the lowest came first
            continue
        while len(kept) > 1 and _above(kept[-2], kept[-1], corner):
            kept.pop()
        kept.append(corner)
    return tuple(kept)


def _above(first: ProfileCorner, middle: ProfileCorner, second: ProfileCorner) -> bool:
    """Whether the middle is above the chord, about."""
    start, place, stop = (math.exp(corner.epsilon - second.epsilon) for corner in (first, middle, second))
    share = (place - start) / (stop - start) if stop > start else 0.0
    return middle.delta > first.delta + share * (second.delta - first.delta)


def dominated(corners: Sequence[ProfileCorner], floor: float, slack: float, square: float) -> bool:
    """Whether the right side with this c is certainly above the chords of all cells, and beyond them."""
    if not corners or corners[0].epsilon != 0.0 or corners[-1].delta > slack:
        return False
    with working_precision(CHECK_BITS):
        mu = (arb(floor) ** 2 + arb(square)).sqrt()
        return all(_covered(first, second, mu, slack) for first, second in pairwise(corners))


def _covered(first: ProfileCorner, second: ProfileCorner, mu: arb, slack: float) -> bool:
    """Whether some line below the right side is above both corners."""
    if max(first.delta, second.delta) <= slack:
        return True
    for place in LINE_PLACES:
        t = arb(first.epsilon) * (1 - place) + arb(second.epsilon) * place
        above, below = normal_above(t / mu - mu / 2), normal_above(t / mu + mu / 2)
        lines = (
            arb(slack) + (1 - arb(slack)) * (above - arb(corner.epsilon).exp() * below) for corner in (first, second)
        )
        if all(line >= corner.delta for line, corner in zip(lines, (first, second), strict=True)):
            return True
    return False


def _asked(corner: ProfileCorner, slack: float) -> float:
    """About the mu that this point alone asks for; it only chooses where to look."""
    with working_precision(CHECK_BITS):
        share = upper_float((arb(corner.delta) - arb(slack)) / (1 - arb(slack)))
    return shift_above(corner.epsilon, normal_level(share)) if share > 0.0 else 0.0
