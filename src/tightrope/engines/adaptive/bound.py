"""Adaptive choices as lower bounds of delta and of epsilon.

Where every use may choose, from all that was seen before it, which of several pairs of real neighbours it meets,
    V_0(alpha) = (1 - alpha)_+, V_k(alpha) = max over the alternatives of E_P[V_(k-1)(alpha e^-l)]
is the profile of k uses: it may lie above those of all alternatives used throughout. An event A of any policy has
delta(eps) >= P(A) - e^eps Q(A), so that epsilon(delta) >= log((P(A) - delta) / Q(A)).
The events of one game (plan.py, choices.py) serve every epsilon; finer games follow until they gain little.
Guarantee: lower. Proof: docs/proofs/adaptive.md.
Reference: Zhu, Dong, Wang 2021, Thm 10 (adaptive composition).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from flint import arb

from ... import compute_budget
from ...errors import UnsupportedMechanism, WorkExhausted
from ...kernels import fp_environment
from ...kernels.ball import BITS_START, lower_float, some, working_precision
from . import tuning
from .cells import Mesh
from .choices import Event
from .plan import SPARE_BITS, Player, Sought, Steps

Reading = Callable[[Event, Mesh], arb]


def delta_at_least(steps: Steps, epsilon: float, *, known: float = 0.0, proof: bool = False) -> float:
    """At or below delta at an epsilon of either sign; known: a lower bound that there is, which tells where to look.

    Steps are alternatives and how many uses may each choose among them.
    """
    if epsilon < 0.0:
        backwards = [(tuple(pair.reversed() for pair in pairs), count) for pairs, count in steps]
        value = delta_at_least(backwards, -epsilon, proof=proof)
        with working_precision(BITS_START):  # H_a(P||Q) = 1 - a + a H_(1/a)(Q||P), docs/proofs/mirror.md
            return max(lower_float(-arb(epsilon).expm1() + arb(epsilon).exp() * arb(value)), 0.0)
    infinite = leaked(steps)
    if epsilon > tuning.LOSS_FAR or not adapts(steps):
        return infinite
    reading = partial(_delta, epsilon)
    proof = proof or not fp_environment.trusted()
    if not known > 0.0:
        known = _rounds(steps, Sought(epsilon, epsilon, tuning.TAIL_FIRST, proof), reading, 0.0, tuning.STATES_FIRST)
    tail = max(tuning.TAIL_RATIO * known, tuning.OUTSIDE_MIN)
    return max(_rounds(steps, Sought(epsilon, epsilon, tail, proof), reading, known), infinite)


def epsilon_at_least(steps: Steps, delta: float, *, known: float = 0.0, proof: bool = False) -> float:
    """At or below the least epsilon >= 0 with so much delta; known as in delta_at_least."""
    if leaked(steps) > delta:
        return math.inf
    if delta < tuning.DELTA_FAR or known > tuning.LOSS_FAR or not adapts(steps):
        return 0.0
    sought = Sought(known, math.inf, tuning.TAIL_RATIO * delta, proof or not fp_environment.trusted())
    return _rounds(steps, sought, partial(_epsilon, delta), known)


class Everywhere:
    """The events of one game that begins anywhere: rougher lower bounds of delta at every epsilon >= 0."""

    def __init__(self, steps: Steps, proof: bool) -> None:
        self._leaked = leaked(steps)
        self._events: list[Event] = []
        self._mesh = Mesh(1.0, 0)
        with suppress(WorkExhausted, UnsupportedMechanism, OverflowError):
            if adapts(steps):
                sought = Sought(0.0, math.inf, tuning.TAIL_FIRST, proof or not fp_environment.trusted())
                points = tuning.PROOF_STATES_MAX if sought.proof else tuning.STATES_EVERYWHERE
                self._events, self._mesh = Player(steps).play(sought, points)

    def delta_at_least(self, epsilon: float) -> float:
        """At or below delta."""
        return max(_best(self._events, self._mesh, partial(_delta, epsilon))[0], self._leaked)


def adapts(steps: Steps) -> bool:
    """Whether there is something to choose after something was seen, and not too much of it."""
    choices = sum(count for pairs, count in steps if len(pairs) > 1)
    return 0 < choices <= tuning.USES_MAX and sum(count for _, count in steps) > 1


def leaked(steps: Steps) -> float:
    """At or below the infinite mass of the alternatives that have most of it."""
    with working_precision(BITS_START):
        masses = []
        for pairs, count in steps:
            most = max((pair.infinite_mass() for pair in pairs), key=lambda mass: float(mass.mid()))
            masses.append((most, count))
        return max(lower_float(some(masses)), 0.0)


def _delta(epsilon: float, event: Event, mesh: Mesh) -> arb:
    """P(A) - e^epsilon Q(A), at or below."""
    weight = (arb(epsilon) + event.state * arb(mesh.step)).exp()
    return (arb(event.p) - weight * arb(event.tilted)) / arb(2) ** mesh.bits


def _epsilon(delta: float, event: Event, mesh: Mesh) -> arb:
    """log((P(A) - delta) / Q(A)), at or below; 0 where P(A) is not above delta."""
    left = arb(event.p) - arb(delta) * arb(2) ** mesh.bits
    if not left > 0:
        return arb(0)
    return (left / arb(event.tilted)).log() - event.state * arb(mesh.step) if event.tilted else arb.pos_inf()


def _best(events: Sequence[Event], mesh: Mesh, reading: Reading) -> tuple[float, int]:
    """The largest reading, not below 0, and the state of its event."""
    with working_precision(mesh.bits + SPARE_BITS):
        found = ((lower_float(reading(event, mesh)), event.state) for event in events)
        return max(((value, state) for value, state in found if value > 0.0), default=(0.0, 0))


def _rounds(steps: Steps, sought: Sought, reading: Reading, known: float, most: int = tuning.STATES_MAX) -> float:
    """The best event of games that become finer while they gain, and while there is work left for them."""
    player = Player(steps)
    best, points = 0.0, tuning.STATES_FIRST
    most = min(tuning.PROOF_STATES_MAX, most) if sought.proof else most
    enough = (1.0 - tuning.GAIN_MIN) * known
    with suppress(WorkExhausted, UnsupportedMechanism, OverflowError):
        while points <= most:
            before = compute_budget.left()
            events, mesh = player.play(sought, points)
            value, state = _best(events, mesh, reading)
            gained, best = abs(value - best), max(value, best)
            if best == math.inf or (best >= enough and gained <= tuning.GAIN_MIN * best):
                break
            spent = before - compute_budget.left() if before < math.inf else 0.0
            if tuning.SLOWER * spent > min(tuning.ADAPTIVE_SHARE * compute_budget.left(), tuning.ADAPTIVE_UNITS):
                break
            points *= 2
            if value >= enough > 0.0:
                sought = sought.around(-state * mesh.step, tuning.AROUND * mesh.step)
    return best
