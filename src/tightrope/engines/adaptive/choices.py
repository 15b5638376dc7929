"""The game backwards: at each use the alternative that is worth more, from the last use to the first.

A state u stands for a label: the labels seen so far add up to u - u_0, each in steps of h. With so many uses to go,
    W(u) = P[accept], T(u) = e^(-u h) Q[accept], worth W(u) - T(u),
of the policy that is followed from u on. At the end, accept where u > 0: W = 1, T = e^(-u h). Before it,
    W(u) <- w + sum_x p(x) W(u + x), T(u) <- sum_x e^(x h) q(x) T(u + x)
of the alternative whose worth is larger; nothing is accepted where none is worth anything, below the window, or, by
T = e^(-u h), everything above it. W is rounded down and T up, so whatever was chosen, and why, it is a true event of a
true policy: P(A) >= W(u_0), Q(A) <= e^(u_0 h) T(u_0).
Guarantee: lower. Proof: docs/proofs/adaptive.md, sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from flint import arb, fmpz, fmpz_poly

from ... import compute_budget
from ..lattice.tuning import COEFFICIENT_SECONDS, LIMB_SECONDS
from .cells import Cells, Masses, Mesh, whole_above
from .tuning import CHOICE_UNITS

NOTHING = fmpz(0)


class Window(NamedTuple):
    """The states that are looked at, and those where the game may begin."""

    low: int
    high: int
    first: int
    last: int


class Labelled(Protocol):
    """Cells with the labels from start to stop."""

    @property
    def start(self) -> int: ...

    @property
    def stop(self) -> int: ...


class Event(NamedTuple):
    """An event of a policy: P(A) >= p / 2^bits, Q(A) <= e^(u h) tilted / 2^bits."""

    state: int
    p: float
    tilted: float


class _Values(NamedTuple):
    """W and T of the states from the first one on."""

    first: int
    p: Masses
    tilted: Masses


def events(stages: Sequence[Sequence[Cells]], window: Window, mesh: Mesh) -> list[Event]:
    """One for each state where the game may begin; each stage is a use and its alternatives."""
    reached = spans(stages, window)
    values = _Values(reached[-1][0], *_accepted(*reached[-1], mesh))
    for stage, (low, high) in zip(reversed(stages), reversed(reached[:-1]), strict=True):
        top = high + max(cells.stop for cells in stage)
        beyond = _accepted(values.first + len(values.p), top, mesh)
        after = _Values(values.first, values.p + beyond[0], values.tilted + beyond[1])
        values = _before(stage, after, low, high, mesh)
    columns = zip(values.p, values.tilted, strict=True)
    return [Event(state, int(p), int(tilted)) for state, (p, tilted) in enumerate(columns, start=values.first)]


def spans(stages: Sequence[Sequence[Labelled]], window: Window) -> list[tuple[int, int]]:
    """The first and the last state that is reached before each use, and after the last one."""
    found = [(window.first, window.last)]
    for stage in stages:
        low = max(found[-1][0] + min(labelled.start for labelled in stage), window.low)
        high = min(found[-1][1] + max(labelled.stop for labelled in stage), window.high)
        found.append((low, max(high, low)))
    return found


def _accepted(first: int, last: int, mesh: Mesh) -> tuple[Masses, Masses]:
    """Accept where u > 0, and end there."""
    one = fmpz(1) << mesh.bits
    scale, step = arb(one), arb(mesh.step)
    states = range(first, last + 1)
    p = [one if state > 0 else NOTHING for state in states]
    return p, [whole_above(scale * (-arb(state) * step).exp()) if state > 0 else NOTHING for state in states]


def _before(stage: Sequence[Cells], after: _Values, low: int, high: int, mesh: Mesh) -> _Values:
    """The states low to high one use earlier."""
    size = high - low + 1
    best_p, best_tilted, best = [NOTHING] * size, [NOTHING] * size, [NOTHING] * size
    after_p, after_tilted = fmpz_poly(after.p), fmpz_poly(after.tilted)
    for cells in stage:
        length = len(cells.p) + len(after.p)
        compute_budget.hold(length * (mesh.bits / 2.0 + 64.0))
        seconds = 2.0 * length * (LIMB_SECONDS * mesh.bits / 64.0 + COEFFICIENT_SECONDS)
        compute_budget.spend(seconds * compute_budget.UNITS_PER_SECOND + CHOICE_UNITS * size)
        # Entry i of the product is the state i - place.
        place = after.first - low - cells.stop
        p = _read(fmpz_poly(cells.p[::-1]) * after_p, place, size)
        tilted = _read(fmpz_poly(cells.tilted[::-1]) * after_tilted, place, size)
        for index in range(size):
            found_p = (p[index] >> mesh.bits) + cells.infinite
            found_tilted = -(-tilted[index] >> mesh.bits)
            worth = found_p - found_tilted
            if worth > best[index]:
                best_p[index], best_tilted[index], best[index] = found_p, found_tilted, worth
    return _Values(low, best_p, best_tilted)


def _read(product: fmpz_poly, place: int, size: int) -> Masses:
    """Entries from -place on, so many of them; those outside are 0."""
    entries = product.coeffs()
    front = min(max(place, 0), size)
    inner = entries[max(-place, 0) : max(size - place, 0)]
    return [NOTHING] * front + inner + [NOTHING] * (size - front - len(inner))
