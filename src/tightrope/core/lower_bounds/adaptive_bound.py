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
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeVar

from flint import arb

from ..engines import tuning
from ..engines.joint.bracket import bracket
from ..engines.selection import Term
from ..engines.tuning import MASS_SECONDS, TAILS_UNITS
from ..losses.capabilities import Resolution
from ..losses.operators.product import product_pair
from ..losses.pair import Pair
from ..numerics import fp_environment
from ..numerics.balls import BITS_START, lower_float, some, working_precision
from ..numerics.double_double import double_double
from ..values import compute_budget
from ..values.errors import UnsupportedMechanism, WorkExhausted
from .choices import Event, Mesh, Window, events, float_events, float_merged, whole_merged

# A rough picture of a pair, to choose labels and a window from: cells of its loss at every scale.
#
# In float64 or, for a proof, in balls alone.
# Guarantee: none needed. Every choice made from it is valid; a bad one costs width or time only.

Four = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Rough:
    """Cells with some P-mass, by rising loss: their mass, its ratio to that of Q as a loss, and both edges."""

    cells: tuple[tuple[float, float, float, float], ...]

    def ends(self, tail: float) -> tuple[float, float]:
        """Losses beyond which at most so much P-mass lies, below and above."""
        low, high = self.cells[0][2], self.cells[-1][3]
        left = tail
        for mass, _, bottom, _ in self.cells:
            low, left = bottom, left - mass
            if left < 0.0:
                break
        left = tail
        for mass, _, _, top in reversed(self.cells):
            high, left = top, left - mass
            if left < 0.0:
                break
        return low, high

    def cgf(self, tilt: float) -> float:
        """About log E_P[e^(tilt loss)]."""
        most = max(tilt * loss for _, loss, _, _ in self.cells)
        return most + math.log(math.fsum(mass * math.exp(tilt * loss - most) for mass, loss, _, _ in self.cells))


def rough(pair: Pair, proof: bool) -> Rough:
    """Its cells between powers of two, and finer; nothing where it has no mass at finite losses."""
    finer = tuning.PROOF_SCALE if proof else tuning.SCALE
    powers = (2.0 ** (place / finer) for place in range(tuning.SCALE_MIN * finer, tuning.SCALE_MAX * finer + 1))
    sizes = [size for size in powers if size < tuning.LOSS_FAR]
    edges = [*(-size for size in reversed(sizes)), 0.0, *sizes]
    tails = _ball_tails(pair, edges) if proof else _float_tails(pair, edges)
    with working_precision(BITS_START):
        infinite = float(pair.infinite_mass().mid())
        lost = float(pair.reversed().infinite_mass().mid())
    ends = [(1.0, 1.0 - lost, 0.0, lost), *tails, (infinite, 0.0, 1.0 - infinite, 1.0)]
    bounds = [-tuning.LOSS_FAR, *edges, tuning.LOSS_FAR]
    found = []
    for (low, high), (bottom, top) in zip(pairwise(ends), pairwise(bounds), strict=True):
        upper = low[0] < 0.5
        p, q = (low[0] - high[0], low[1] - high[1]) if upper else (high[2] - low[2], high[3] - low[3])
        if p > 0.0:
            found.append((p, min(max(math.log(p / q), bottom), top) if q > 0.0 else top, bottom, top))
    return Rough(tuple(found) or ((1.0, 0.0, -tuning.LOSS_FAR, tuning.LOSS_FAR),))


def _ball_tails(pair: Pair, edges: list[float]) -> list[Four]:
    compute_budget.spend(0.5 * MASS_SECONDS * compute_budget.UNITS_PER_SECOND * len(edges))
    with working_precision(BITS_START):
        tailses = (pair.ball_tails(arb(edge)) for edge in edges)
        return [(float(a.mid()), float(b.mid()), float(c.mid()), float(d.mid())) for a, b, c, d in tailses]


def _float_tails(pair: Pair, edges: list[float]) -> list[Four]:
    import numpy as np

    compute_budget.spend(TAILS_UNITS * len(edges))
    columns = [column.tolist() for column in pair.tails(double_double(np.array(edges)))]
    return list(zip(*columns, strict=True))


# Which stages, which states, how many bits: everything about a game that is chosen, and from which nothing follows.
#
# Parts without a choice come first, as one stage: what they show helps every choice after them. A law without tails of
# its own, such as a product, is replaced by a finite pair that it dominates.
# Guarantee: every plan is a true policy, so any of them is valid. Proof: docs/proofs/adaptive.md, section 5.

Steps = Sequence[tuple[tuple[Pair, ...], int]]
Stages = tuple[tuple[tuple[Pair, ...], int], ...]
Made = TypeVar("Made")
SPARE_BITS = 64  # of the working precision, above those of a mass


class Sought(NamedTuple):
    """The epsilons between which the game may begin, how little may be left out, and whether balls alone are used."""

    least: float
    most: float
    tail: float
    proof: bool

    def around(self, epsilon: float, reach: float) -> Sought:
        """Nearer to this one, where several are looked at."""
        if self.least == self.most:
            return self
        return self._replace(least=max(self.least, epsilon - reach), most=min(self.most, epsilon + reach))


class Player:
    """Plays the game of some steps at any fineness; rough pictures of its pairs are kept."""

    def __init__(self, steps: Steps) -> None:
        self._stages = _stages([(pairs, count) for pairs, count in steps if count])
        pairs = [pair for alternatives, _ in steps for pair in alternatives]
        self._leaks = not all(pair.infinite_mass().is_zero() for pair in pairs)
        self._loses = not all(pair.reversed().infinite_mass().is_zero() for pair in pairs)
        self._pictures: dict[Pair, Rough] = {}
        self._spans: dict[tuple[Stages, float], tuple[float, float]] = {}

    def play(self, sought: Sought, points: int) -> tuple[list[Event], Mesh]:
        """The events of a game on about so many states, and its mesh."""
        fine = Resolution(points, sought.tail, sought.proof)
        stages = [(tuple(_known(terms, fine) for terms in stage), times) for stage, times in self._stages]
        pairs = dict.fromkeys(pair for stage, _ in stages for pair in stage)
        drawn = {pair: self._drawn(pair, sought.proof) for pair in pairs}
        low, high = self._reached(tuple(stages), sought.tail, drawn)
        most = min(sought.most, max(high, sought.least))
        # No finite loss leads back from below -high, or away from above -low.
        bottom = low - most if self._leaks else max(low - most, -high)
        top = high - sought.least if self._loses else min(high - sought.least, -low)
        uses = sum(times for _, times in stages)
        longest = max(above - below for below, above in (each.ends(sought.tail / uses) for each in drawn.values()))
        span = max(top - bottom, min(longest, tuning.LOSS_FAR) / tuning.LAW_LONGEST, tuning.STATES_NARROWEST)
        step = _five_bits(span / points)
        first, last = math.floor(-most / step) - tuning.STARTS, math.ceil(-sought.least / step) + tuning.STARTS
        window = Window(min(math.floor(bottom / step), first), max(math.ceil(top / step), last, 1), first, last)
        labels = {pair: _labels(drawn[pair], sought.tail / uses, step) for pair in pairs}
        if not sought.proof:
            merged = {pair: float_merged(pair, *labels[pair], step) for pair in pairs}
            return float_events(_line(stages, merged), window, step), Mesh(step, 0)
        mesh = Mesh(step, math.ceil(math.log2(uses * points / sought.tail)) + tuning.ADAPTIVE_GUARD)
        with working_precision(mesh.bits + SPARE_BITS):
            whole = {pair: whole_merged(pair, *labels[pair], mesh) for pair in pairs}
            return events(_line(stages, whole), window, mesh), mesh

    def _reached(self, stages: Stages, tail: float, drawn: Mapping[Pair, Rough]) -> tuple[float, float]:
        """About where the total loss lies, worked out once: finer games have the same ends."""
        if (stages, tail) not in self._spans:
            pictures = [([drawn[pair] for pair in stage], times) for stage, times in stages]
            self._spans[stages, tail] = _ends(pictures, tail)
        return self._spans[stages, tail]

    def _drawn(self, pair: Pair, proof: bool) -> Rough:
        if pair not in self._pictures:
            self._pictures[pair] = rough(pair, proof)
        return self._pictures[pair]


def _stages(steps: Steps) -> list[tuple[list[list[Term]], int]]:
    """Alternatives and how often: first all that has no choice, then the choices as they come."""
    alone = [(pairs[0], count) for pairs, count in steps if len(pairs) == 1]
    found: list[tuple[list[list[Term]], int]] = [([alone], 1)] if alone else []
    return found + [([[(pair, 1)] for pair in pairs], count) for pairs, count in steps if len(pairs) > 1]


def _known(terms: Sequence[Term], fine: Resolution) -> Pair:
    """The product itself where its tails are known, else a finite pair that it dominates."""
    return bracket(product_pair(terms), fine).lower


def _line(stages: Sequence[tuple[Sequence[Pair], int]], cells: Mapping[Pair, Made]) -> list[list[Made]]:
    """The cells of the alternatives, use by use."""
    return [[cells[pair] for pair in stage] for stage, times in stages for _ in range(times)]


def _labels(drawn: Rough, tail: float, step: float) -> tuple[int, int]:
    """Of the cells where the loss lies, but for so much P-mass beyond either end."""
    low, high = drawn.ends(tail)
    return round(low / step), round(high / step)


def _ends(stages: Sequence[tuple[Sequence[Rough], int]], tail: float) -> tuple[float, float]:
    """About where the total loss lies, whatever is chosen: by Chernoff under P, or by the ends of the parts."""
    low = sum(times * min(each.cells[0][2] for each in stage) for stage, times in stages)
    high = sum(times * max(each.cells[-1][3] for each in stage) for stage, times in stages)
    least, most, number = tuning.ADAPTIVE_TILTS
    for place in range(number):
        tilt = least * (most / least) ** (place / (number - 1))
        up, down = (
            sum(times * max(each.cgf(side * tilt) for each in stage) for stage, times in stages) for side in (1.0, -1.0)
        )
        high, low = min(high, (up - math.log(tail)) / tilt), max(low, -(down - math.log(tail)) / tilt)
    return _near(low), _near(high)


def _near(loss: float) -> float:
    return min(max(loss, -tuning.LOSS_FAR), tuning.LOSS_FAR)


def _five_bits(step: float) -> float:
    """A little below, with few bits, so that edges are doubles."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(32.0 * mantissa), exponent - 5)


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
        known = _rounds(
            steps, Sought(epsilon, epsilon, tuning.ADAPTIVE_TAIL_FIRST, proof), reading, 0.0, tuning.STATES_FIRST
        )
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
                sought = Sought(0.0, math.inf, tuning.ADAPTIVE_TAIL_FIRST, proof or not fp_environment.trusted())
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
