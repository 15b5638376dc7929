"""The lattice engine: certified bounds for any composition of any pairs.

    native     losses that lie on one lattice already
    grid       one in float64: masses, law, compose, tail_sum; work: points times transforms, told by its plan before
               anything is computed
    proof      a grid in exact integers: no noise at all, but fewer points
    narrowest  what several of them say together, as an interval of delta or of epsilon
Here: the search for a grid, one after the other until the width is met, where grid_plan.py says that the question lies;
and
integers where transforms tell too little. What each says is kept, so that trying another one costs time only.
Guarantee: upper and lower; what discretisation, windows, wrap-around and rounding cost is inside the interval.
Proof: docs/proofs/lattice.md.
Reference: Meiser, Mohammadi 2018 (privacy buckets); Koskela, Jaelkoe, Honkela 2020 (Fourier accountant).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from ...numerics.balls import BITS_START, working_precision
from ...numerics.convolution import POWER_MAX
from ...values import compute_budget
from ...values.errors import Refusal, UnsupportedMechanism, WorkExhausted
from .. import tuning
from ..selection import Evaluation, Evaluator, Term
from . import native as lattice_native
from .grid import LatticeEvaluator, grid_evaluator
from .grid_plan import Aim, GridPlan, GridWish, aim, plan
from .native import Narrowest, best_ends, relative_width, rounding_rules
from .proof import prepare_proof


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
    proof: exact integers and balls instead of transforms, on a grid of fewer points.
    """
    with working_precision(BITS_START):
        if any(not pair.infinite_mass() < 1 for pair, _ in terms):
            raise UnsupportedMechanism("all of its loss is infinite: delta is 1 at every epsilon")
    if any(count > POWER_MAX for _, count in terms):
        raise UnsupportedMechanism(f"the transforms are raised to powers up to {POWER_MAX} only")
    terms = tuple(terms)
    if proof:
        target = aim(terms, epsilon, delta, accuracy)
        made, point = prepare_proof(terms, target), target.point
        return Narrowest((made,), terms, target.wanted, point.epsilon, point.tilt, tuning.SEARCH_WIDTH)
    native = lattice_native.prepare(terms, epsilon, delta, accuracy)
    if native is not None:
        return Narrowest((native,), terms, accuracy, native.near, native.theta, tuning.SEARCH_WIDTH)
    enough = tuning.ENOUGH_FOR_EPSILON if epsilon is None else tuning.ENOUGH_FOR_DELTA
    return _refined(terms, aim(terms, epsilon, delta, accuracy), 0.5 * beat / accuracy, enough)


def _refined(terms: tuple[Term, ...], target: Aim, most: float, enough: float) -> Narrowest:
    """Grids until the width is met, the work is used up, or another one no longer helps.

    In units of the width wanted: with more than `most` to be expected nothing is done, `enough` ends the search.
    """
    found, done = _Found(terms, target), 0.0
    allowed = min(tuning.GRID_WORK_MAX, tuning.GRIDS_WORK * compute_budget.left() / tuning.TRANSFORM_UNITS)
    wish = GridWish(work=tuning.FIRST_GRID_WORK * allowed)
    made = plan(terms, target, wish)
    if made.expected > most:
        raise UnsupportedMechanism("no grid that the time allows would halve what is known", Refusal.TOO_MUCH_WORK)
    hopeless = target.tolerance < tuning.KNOWN_PER_WIDTH * target.wanted
    if hopeless:  # no tilt brings the losses that matter above the noise: integers have none
        found.take(prepare_proof(terms, target))
        if found.width <= tuning.INTEGERS_WIDTH:
            return found.together()
    tried: list[GridPlan] = []
    for _ in range(1 if hopeless else tuning.GRIDS_MAX):
        tried.append(made)
        done += made.work
        before = found.width
        try:
            trial = grid_evaluator(terms, target, made)
            value = found.take(trial)
        except WorkExhausted:
            if not found.kept:
                raise
            break
        if (
            found.width <= enough * target.wanted
            or done > tuning.LAST_GRID_WORK * allowed
            or found.upper < tuning.DELTA_TOLD
        ):
            break
        following = found.following(wish, trial, value, before)
        if following is None:
            break
        wish = following._replace(work=allowed - done)
        made = plan(terms, target, wish)
        if any(_alike(made, grid_plan) for grid_plan in tried):
            break
    few = sum(count for _, count in terms) <= tuning.RESCUE_USES_MAX
    if found.width > tuning.RESCUE_WIDTH * target.wanted and found.noisy and not hopeless and few:
        with suppress(WorkExhausted):
            found.take(prepare_proof(terms, target))
    return found.together()


@dataclass
class _Found:
    """The evaluators with the best ends at the epsilon of the aim, of all that were tried."""

    terms: tuple[Term, ...]
    target: Aim
    kept: tuple[Evaluator, ...] = ()
    width: float = math.inf  # relative, of all together
    upper: float = 1.0
    noisy: bool = False  # rounding was what made one of them wide

    def take(self, evaluator: Evaluator) -> Evaluation:
        """One more; what it says by itself."""
        near = self.target.point.epsilon
        value = evaluator.delta(near)
        self.noisy = self.noisy or rounding_rules(value)
        self.kept = best_ends((evaluator, *self.kept), near)
        merged = self.together().delta(near)
        self.width, self.upper = relative_width(merged), merged.upper
        return value

    def together(self) -> Narrowest:
        """The intersection of what was kept."""
        point = self.target.point
        return Narrowest(self.kept, self.terms, self.target.wanted, point.epsilon, point.tilt, math.inf)

    def following(self, wish: GridWish, trial: LatticeEvaluator, value: Evaluation, before: float) -> GridWish | None:
        """What the next grid should be like, after this one; None where neither grid nor rounding makes it wide."""
        wanted = self.target.wanted
        if trial.plan.levels and trial.blur > tuning.BLUR_MAX * wanted:
            return wish._replace(evolving=False)  # each block adds its own noise
        if rounding_rules(value):
            return wish._replace(finer=min(wish.finer, 1.0) * tuning.NOISY_FINER)
        if wish.finer > 1.0 and self.width > tuning.HELPED * before:
            return None
        missing = math.sqrt(relative_width(value) / wanted)  # the width falls with the square of the step
        return wish._replace(finer=max(wish.finer, 1.0) * min(max(1.2 * missing, 1.3), 8.0))


def _alike(one: GridPlan, other: GridPlan) -> bool:
    return abs(math.log(one.step / other.step)) < tuning.STEP_ALIKE and one.levels == other.levels
