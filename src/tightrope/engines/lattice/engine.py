"""The lattice engine: certified bounds for any composition of any pairs.

Each pair is put on a grid twice, by chords for the upper end and by merged cells for the lower one, from different
formulas and into
different arrays; the laws are tilted to where the question lies, composed by transforms, and summed.
Guarantee: upper and lower; what discretisation, windows, wrap-around and rounding cost is inside the interval.
Proof: docs/proofs/lattice.md.
Reference: Meiser, Mohammadi 2018 (privacy buckets); Koskela, Jaelkoe, Honkela 2020 (Fourier accountant).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from ... import work
from ...bound import Budget, budget_lines
from ...errors import Refusal, UnsupportedMechanism, WorkExhausted
from ...kernels.ball import BITS_START, lower_float, working_precision
from ...kernels.enclosure import FloatArray
from ..evaluation import Evaluation, Evaluator, Term, named
from . import masses as lattice_masses
from . import native as lattice_native
from .aim import Aim, aim
from .compose import COARSER, Part, Total, compose, compose_alike, evolve, longest
from .law import Law, Side, coarsened_by_chords, coarsened_by_merging, tilted
from .narrowest import Narrowest, best_ends, relative_width, rounding_rules
from .plan import WORK_MOST, GridPlan, Ruler, blown_up, plan
from .proof import prepare_proof
from .sketch import Sketch
from .tail_sum import LowerSum, UpperSum, ends, infinite_mass, lower_sum_at, upper_sum_at

ATTEMPTS_MOST = 5
HAIR, DELTA_HAIR = 0.7, 0.95  # of the width asked for: what a search for epsilon adds must fit too
COARSER_TRIAL = 0.125  # of the grid before, where its rounding was too wide
EXACT = 1e-12  # what a search aims at where delta is not discretised
HOPELESS = 1e-13  # of the tilted law, per relative width wanted: a transform knows too little of it then
LOOSE = 0.1  # of delta: better than transforms do without hope
RESCUE, RESCUE_USES_MOST = 30.0, 10**9  # times the width that is wanted; powers of more uses take minutes
DELTA_LEAST = 1e-300  # tails are not told apart below
USES_MOST = 2**40
WORK_SHARE = 0.7  # of what is left: a search for epsilon follows
UNITS = 100.0  # of work, for a point in a transform
CUT_ROOM = 64  # points
ROOM = 50.0  # times the tolerance, a thousandth of the width: where that halves a transform
NEAR = 5.0  # in 1/theta: delta changes by e^5


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float = 1e-6,
    proof: bool = False,
    beat: float = math.inf,
) -> Evaluator:
    """An evaluator whose grid and tilt suit delta at this epsilon, or epsilon at this delta; others get wider
    intervals.

    beat: a relative width that is known already; what is not expected to halve it is refused before it is done.
    proof: exact integers and balls instead of transforms, on a grid of at most lattice_proof.POINTS_MOST points.
    """
    with working_precision(BITS_START):
        if any(not pair.infinite_mass() < 1 for pair, _ in terms):
            raise UnsupportedMechanism(named(terms), "all of its loss is infinite: delta is 1 at every epsilon")
    if any(count > USES_MOST for _, count in terms):
        raise UnsupportedMechanism(named(terms), f"the transforms are raised to powers up to {USES_MOST} only")
    terms = tuple(terms)
    if proof:
        target = aim(terms, epsilon, delta, accuracy)
        return Narrowest((prepare_proof(terms, target),), terms, target.wanted, *_place(target), EXACT)
    native = lattice_native.prepare(terms, epsilon, delta, accuracy)
    if native is not None:
        return Narrowest((native,), terms, accuracy, native.near, native.theta, EXACT)
    hair = HAIR if epsilon is None else DELTA_HAIR
    return _refined(terms, aim(terms, epsilon, delta, accuracy), 0.5 * beat / accuracy, hair)


def _refined(terms: tuple[Term, ...], target: Aim, most: float, hair: float) -> Narrowest:
    """Grids until the width is met, the work is used up, or another one no longer helps; what each says is kept.

    most: in units of the width wanted; where more than that is expected, nothing is done. hair: what is narrow enough.
    """
    near, finer, evolving = target.point.epsilon, 1.0, True
    done, width, noisy = 0.0, math.inf, False
    tried: list[GridPlan] = []
    kept: tuple[Evaluator, ...] = ()
    hopeless = target.tolerance < HOPELESS * target.wanted
    allowed = min(WORK_MOST, WORK_SHARE * work.left() / UNITS)
    made = plan(terms, target, work=0.6 * allowed)
    if made.expected > most:
        raise UnsupportedMechanism(
            named(terms), "no grid that the time allows would halve what is known", Refusal.TOO_MUCH_WORK
        )
    if hopeless:  # no tilt brings the losses that matter above the noise: integers have none
        kept = (prepare_proof(terms, target),)
        width = relative_width(kept[0].delta(near))
        if width <= LOOSE:
            return Narrowest(kept, terms, target.wanted, *_place(target), math.inf)
    for _ in range(1 if hopeless else ATTEMPTS_MOST):
        done += made.work
        tried.append(made)
        try:
            trial = _evaluator(terms, target, made)
            value = trial.delta(near)
        except WorkExhausted:
            if not kept:
                raise
            break
        noisy = noisy or rounding_rules(value)
        kept = best_ends((trial, *kept), near)
        merged = Narrowest(kept, terms, target.wanted, *_place(target), math.inf).delta(near)
        before, width = width, relative_width(merged)
        if width <= hair * target.wanted or done > 0.75 * allowed or merged.upper < DELTA_LEAST:
            break
        if made.levels and trial.blur > 0.1 * target.wanted:
            evolving = False  # each block adds its own noise
        elif rounding_rules(value):
            finer = min(finer, 1.0) * COARSER_TRIAL
        elif finer > 1.0 and width > 0.8 * before:
            break  # neither the grid nor its rounding is what makes it wide
        else:
            finer = max(finer, 1.0) * min(max(1.2 * math.sqrt(relative_width(value) / target.wanted), 1.3), 8.0)
        made = plan(terms, target, finer, evolving=evolving, work=allowed - done)
        if any(abs(math.log(made.step / each.step)) < 0.1 and made.levels == each.levels for each in tried):
            break
    few = sum(count for _, count in terms) <= RESCUE_USES_MOST
    if width > RESCUE * target.wanted and noisy and not hopeless and few:
        with suppress(WorkExhausted):
            kept = best_ends((prepare_proof(terms, target), *kept), near)
    return Narrowest(kept, terms, target.wanted, *_place(target), math.inf)


def _place(target: Aim) -> tuple[float, float]:
    """Where the question lies, and how steeply log delta falls there."""
    return target.point.epsilon, target.point.tilt


@dataclass(frozen=True)
class LatticeEvaluator(Evaluator):
    """Three composed laws: one above, and P and Q of the merged cells below."""

    upper: Total
    below: tuple[Total, Total] | None  # None where nothing is left after rounding
    infinite: tuple[float, float]  # at or below the true infinite mass; at or above what the upper law put there
    plan: GridPlan
    grids: tuple[int, ...]
    noise: float  # tilted mass that rounding added on the levels before the last
    uses: int
    known: dict[float, Evaluation] = field(default_factory=dict, compare=False, repr=False)  # what was asked before

    @property
    def arithmetic(self) -> str:
        return "float64"

    @property
    def blur(self) -> float:
        """What that mass is to delta, relatively."""
        return self.noise * blown_up(self.plan.saddle.tilt)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {
            "theta": self.plan.theta,
            "step": self.plan.step,
            "points": [ruler.size for ruler in self.plan.rulers],
            "grids": list(self.grids),
            "length": len(self.upper.masses),
        }

    def delta(self, epsilon: float) -> Evaluation:
        found = self.known.get(epsilon)
        if found is None:
            found = self.known[epsilon] = self._delta(epsilon)
        return found

    def _delta(self, epsilon: float) -> Evaluation:
        # delta falls with epsilon: far from the tilt a nearer epsilon may say more.
        near, reach = self.plan.saddle.epsilon, NEAR / self.plan.theta
        high = upper_sum_at(self.upper, epsilon, self.plan.unit)
        if epsilon > near + reach:
            high = min(high, upper_sum_at(self.upper, near + reach, self.plan.unit), key=_upper_end)
        low = LowerSum(0.0, 0.0, 0.0, 0.0)
        if self.below is not None:
            low = self._lower_at(epsilon)
            if epsilon < near - reach:
                low = max(low, self._lower_at(near - reach), key=_lower_end)
        leaked_low, leaked_high = self.infinite
        lower, upper = ends(self.infinite, low, high)
        gap = max(high.value - low.value, 0.0)
        return Evaluation(
            float(lower),
            float(upper),
            Budget(
                budget_lines(
                    discretisation=gap,
                    truncation=leaked_high - leaked_low + high.lost,
                    wrap_around=high.outside,
                    rounding=high.rounding + self.noise * max(high.value, 0.0),
                ),
                budget_lines(
                    discretisation=gap,
                    truncation=low.lost,
                    wrap_around=low.outside,
                    rounding=low.rounding + self.blur * max(low.value, 0.0),
                ),
            ),
        )

    def _lower_at(self, epsilon: float) -> LowerSum:
        """Half a step per use is how far a label may be from the loss of its cell: no event needs to start below."""
        assert self.below is not None
        p, q = self.below
        ahead = math.floor((epsilon / self.plan.unit - p.start) / p.step) - self.uses - CUT_ROOM
        return lower_sum_at(p, q, epsilon, max(ahead, 0) if ahead < len(p.masses) else 0)


def _upper_end(bound: UpperSum) -> float:
    return bound.upper


def _lower_end(bound: LowerSum) -> float:
    return bound.lower


def _evaluator(terms: Sequence[Term], target: Aim, made: GridPlan) -> LatticeEvaluator:
    upper, grids, leaked_high, noise = _upper(terms, target.sketches.each, made, target.tolerance)
    with working_precision(BITS_START):
        leaked_low = [(max(lower_float(pair.infinite_mass()), 0.0), count) for pair, count in terms]
    try:
        below = _lower(terms, made, target.tolerance)
    except UnsupportedMechanism:
        below = None  # a window that was cut takes more off each entry than there is
    return LatticeEvaluator(
        upper,
        below,
        (infinite_mass(leaked_low, upward=False), infinite_mass(leaked_high, upward=True)),
        made,
        grids,
        noise,
        sum(count for _, count in terms),
    )


def _upper(
    terms: Sequence[Term], sketches: Sequence[Sketch], made: GridPlan, tolerance: float
) -> tuple[Total, tuple[int, ...], list[tuple[float, int]], float]:
    """The law above, its grids, what went to infinite loss per term, and the noise of all levels."""
    parts: list[Part] = []
    grids: list[int] = []
    leaked = []
    noise = 0.0

    def coarsen(fine: Law, factor: int) -> Law:
        return coarsened_by_chords(fine, factor, fine.step * made.unit)

    for (pair, count), each, ruler in zip(terms, sketches, made.rulers, strict=True):
        width = ruler.step * made.unit
        found = lattice_masses.above(pair, _points(ruler, made.unit), width, each.median)
        leaked.append((found.infinite, count))
        law = tilted(found.masses, ruler.start, ruler.step, _slope(made, made.theta, ruler), Side.UP)

        evolved = evolve(law, count, ruler.levels, tolerance / len(terms), coarsen)
        parts += evolved.parts
        grids += [len(law.masses), *evolved.grids] if evolved.grids else []
        noise += evolved.noise
    total = compose(parts, tolerance, room=ROOM)
    return total, (*grids, len(total.masses)), leaked, noise


def _lower(terms: Sequence[Term], made: GridPlan, tolerance: float) -> tuple[Total, Total]:
    """P and Q of the merged cells, on one window."""
    p_parts: list[Part] = []
    q_parts: list[Part] = []
    for (pair, count), ruler in zip(terms, made.rulers, strict=True):
        found = lattice_masses.below(pair, _points(ruler, made.unit), ruler.step * made.unit)
        share = tolerance / len(terms)
        for masses, theta, side, parts in (
            (found.p, made.theta, Side.DOWN, p_parts),
            (found.q, made.theta + 1.0, Side.UP, q_parts),
        ):
            law = tilted(masses, ruler.start, ruler.step, _slope(made, theta, ruler), side)
            parts += evolve(law, count, ruler.levels, share, coarsened_by_merging).parts
    p = compose(p_parts, tolerance, least=longest(q_parts), room=ROOM)
    return p, compose_alike(q_parts, p)


def _points(ruler: Ruler, unit: float) -> FloatArray:
    """Exact doubles: the plan keeps every point within 52 bits of its unit."""
    return np.asarray((ruler.start + np.arange(ruler.size, dtype=np.int64) * ruler.step) * unit, dtype=np.float64)


def _slope(made: GridPlan, theta: float, ruler: Ruler) -> float:
    """theta per point; a power of two below that of the common step, so that coarsening meets it exactly."""
    return theta * made.step / float(COARSER**ruler.levels)
